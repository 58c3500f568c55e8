import type { JsonPath } from './entry-path.js';
import * as z from './schema.js';

export const jsonPathSchema: z.ZodMiniType<JsonPath> = z.union([z.string(), z.strictObject({ base64: z.base64() })]);
