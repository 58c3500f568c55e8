import * as z from 'zod';

import type { JsonPath } from './entry-path.js';

export const jsonPathSchema: z.ZodType<JsonPath> = z.union([z.string(), z.strictObject({ base64: z.base64() })]);
