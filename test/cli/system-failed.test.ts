import { describe, expect, test } from 'vitest';
import { systemCode, systemFault } from '../../src/errors.js';

const failed = (code: string): Error => Object.assign(new Error(`${code}: something`), { code });

describe('an error of the system', () => {
  test.each([
    { code: 'EIO', fault: 'EIO' },
    { code: 'EMFILE', fault: 'EMFILE' },
    { code: 'Unknown system error -117', fault: 'EUCLEAN' },
    { code: 'ENOENT', fault: undefined },
    { code: 'EINVAL', fault: undefined },
    { code: 'ERR_INVALID_ARG_TYPE', fault: undefined },
  ])('$code is a fault of the system: $fault', ({ code, fault }) => {
    expect(systemFault(failed(code))).toBe(fault);
  });

  test('a full quota has its name, though Node has none for it', () => {
    expect(systemCode(failed('Unknown system error -122'))).toBe('EDQUOT');
  });
});
