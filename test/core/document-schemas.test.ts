import { expect, test } from 'vitest';
import * as schemas from '../../src/schemas.js';

test.each(schemas.documentCommands.map((command) => ({ command })))(
  '$command is described as a JSON Schema',
  ({ command }) => {
    expect(schemas.documentSchema(command).toJSONSchema({ io: 'input' })).toMatchObject({
      anyOf: [{ type: 'object' }, { type: 'object' }],
    });
  },
);

test.each(Object.entries(schemas).filter(([name]) => name.endsWith('DataSchema')))(
  '%s is described as a JSON Schema',
  (_, schema) => {
    const { toJSONSchema } = schema as { toJSONSchema: (parameters: { io: 'input' }) => unknown };
    expect(toJSONSchema({ io: 'input' })).toMatchObject({ $schema: expect.any(String) as string });
  },
);
