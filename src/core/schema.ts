import { config } from 'zod/mini';
import en from 'zod/v4/locales/en.js';

/*
 * zod in its small form, as far as files and records are described with it: the large one, in which the documents of the
 * command line are described for others, takes four times as long to load.
 */

// Without words, all that zod says of a value is that it is invalid. A program that uses this library may have its own.
if (config().localeError === undefined) config(en());

export {
  _default,
  array,
  base64,
  boolean,
  catch,
  discriminatedUnion,
  enum,
  extend,
  int,
  literal,
  maximum,
  maxLength,
  minimum,
  minLength,
  nullable,
  nullish,
  object,
  optional,
  pipe,
  positive,
  prettifyError,
  readonly,
  record,
  refine,
  regex,
  startsWith,
  strictObject,
  string,
  superRefine,
  transform,
  union,
  unknown,
} from 'zod/mini';
export type { core, infer, ZodMiniType } from 'zod/mini';
