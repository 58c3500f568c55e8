import { bytesOfText } from '../entry-path.js';
import { parseIgnorePattern } from '../ignore-pattern.js';
import { onFirstUse } from '../on-first-use.js';
import * as z from '../schema.js';

/** A kind of project: how a directory of it is told, and what its tools make again there and below. */
export interface StackPreset {
  readonly name: string;
  /** For people; '' where there is none. */
  readonly description: string;
  /** Each inner list is one way to be found: a directory that has all of its names. `*.ext` stands for any such name. */
  readonly detect: readonly (readonly string[])[];
  /** gitignore patterns relative to the directory; none takes anything back. */
  readonly patterns: readonly string[];
  /** In force only where it is asked for by its name. */
  readonly optIn: boolean;
}

/** The most that a preset's file may hold. */
export const presetLimits: Readonly<Record<'bytes' | 'patterns' | 'detect' | 'presets', number>> = {
  bytes: 8 * 1024,
  patterns: 50,
  detect: 10,
  presets: 100,
};

const detectName = z.string().check(
  z.refine(isMarker, {
    error: 'a name to look for is one name, or *.ext: no other wildcard, no slash, no control character',
  }),
);

const pattern = z.string().check(
  z.superRefine((text, context) => {
    const problem = patternProblem(text);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  }),
);

/** A preset as its file has it. Unknown fields are refused: nobody is to believe that they do something. */
const presetSchema = onFirstUse(() =>
  z.strictObject({
    description: z._default(z.string().check(z.maxLength(200, 'at most 200 characters')), ''),
    detect: z
      .array(
        z.union(
          [detectName, z.array(detectName).check(z.minLength(1))],
          'a name, or a list of names that are all there',
        ),
      )
      .check(
        z.minLength(1, 'at least one file to look for'),
        z.refine(
          (ways) => ways.flat().length <= presetLimits.detect,
          `at most ${presetLimits.detect} files to look for`,
        ),
      ),
    patterns: z
      .array(pattern)
      .check(
        z.minLength(1, 'at least one pattern'),
        z.maxLength(presetLimits.patterns, `at most ${presetLimits.patterns} patterns`),
      ),
    opt_in: z._default(z.boolean(), false),
  }),
);

/** What is wrong with a file, and at which key of it. */
export interface PresetProblem {
  readonly key: readonly PropertyKey[];
  readonly problem: string;
}

/** The preset in what a file says, or all that is wrong with it. */
export function toPreset(name: string, value: unknown): StackPreset | readonly PresetProblem[] {
  const parsed = presetSchema().safeParse(value);
  if (!parsed.success) return parsed.error.issues.flatMap(problemsOf);
  const { description, detect, patterns, opt_in: optIn } = parsed.data;
  return {
    name,
    description,
    detect: detect.map((way) => (typeof way === 'string' ? [way] : way)),
    patterns,
    optIn,
  };
}

function problemsOf(issue: z.core.$ZodIssue): readonly PresetProblem[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ key: [...issue.path, key], problem: 'there is no such field' }));
  const inner = issue.code === 'invalid_union' ? issue.errors.flat().find(({ code }) => code === 'custom') : undefined;
  return [{ key: issue.path, problem: (inner ?? issue).message }];
}

function isMarker(text: string): boolean {
  const name = text.startsWith('*.') ? text.slice(2) : text;
  if (name === '' || name === '.' || name === '..' || (name !== text && name.includes('.'))) return false;
  return name.length <= 200 && !hasControl(text) && !/[/*?[\]\\]/.test(name);
}

function patternProblem(text: string): string | undefined {
  if (text.trim() === '') return 'a pattern is empty';
  if (text.trim() !== text || hasControl(text))
    return 'a pattern begins or ends with a space, or has a control character';
  if (text.length > 200) return 'a pattern is longer than 200 characters';
  if (text.startsWith('!')) return 'a preset only leaves out: no pattern begins with !';
  if (text.startsWith('#')) return 'a pattern that begins with # is a comment';
  if (/^[/*?]*$/.test(text)) return 'this pattern would leave out everything';
  return parseIgnorePattern(bytesOfText(text)) === undefined ? 'git knows no such pattern' : undefined;
}

function hasControl(text: string): boolean {
  return /[\0-\x1f\x7f]/.test(text);
}
