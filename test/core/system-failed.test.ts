import { describe, expect, test } from 'vitest';
import { systemCode, systemFault } from '../../src/errors.js';

const failed = (code: string, errno?: number): Error => Object.assign(new Error(`${code}: something`), { code, errno });

describe('an error of the system', () => {
  test.each([
    { code: 'EIO', fault: 'EIO' },
    { code: 'EMFILE', fault: 'EMFILE' },
    { code: 'Unknown system error -117', errno: -117, fault: 'EUCLEAN' },
    { code: 'ENOENT', fault: undefined },
    { code: 'EINVAL', fault: undefined },
    { code: 'ERR_INVALID_ARG_TYPE', fault: undefined },
  ])('$code is a fault of the system: $fault', ({ code, errno, fault }) => {
    expect(systemFault(failed(code, errno))).toBe(fault);
  });

  test.each(['Unknown system error -122', 'UNKNOWN'])('a full quota has its name, which Node calls %s', (code) => {
    expect(systemCode(failed(code, -122))).toBe('EDQUOT');
  });
});
