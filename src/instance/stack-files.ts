import { lstatSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';

import { type HostPath, bytesOfText, displayPath, pathFromJson, pathToJson } from '../core/entry-path.js';
import { jsonPathSchema } from '../core/json-path.js';
import { builtInPresets } from '../core/stacks/built-in.js';
import { isPresetName } from '../core/stacks/preset-name.js';
import { type PresetProblem, type StackPreset, presetLimits, toPreset } from '../core/stacks/preset.js';
import { SnapError, systemCode } from '../errors.js';
import { makeDirectoryDurably, removeUnfinished, writeDurably } from '../fs/durable.js';
import { readRegularFile } from '../fs/regular-file.js';
import { digest } from './host.js';
import { onFirstUse } from '../core/on-first-use.js';
import * as z from '../core/schema.js';

export interface Problem {
  readonly line: number;
  readonly problem: string;
}

type Checked =
  | { readonly preset: StackPreset; readonly problems: null }
  | { readonly preset: null; readonly problems: readonly Problem[] };

interface Approval {
  readonly sha256: string;
  readonly presets: readonly string[];
}

/**
 * The presets that a user has written, `stacks/<name>.toml` in the data directory, and what they have approved,
 * `stacks/approved/`, a file for each path.
 */
export class StackFiles {
  readonly #directory: string;

  constructor(dataDirectory: string) {
    this.#directory = join(dataDirectory, 'stacks');
  }

  /** Read anew each time. @throws SnapError CONFIGURATION_INVALID */
  async presets(): Promise<readonly StackPreset[]> {
    if (this.#names().length > presetLimits.presets) {
      const problem = `there are more than ${String(presetLimits.presets)} presets`;
      throw invalid(this.#directory, [{ line: 1, problem }]);
    }
    const presets: StackPreset[] = [];
    for (const { file, checked } of await this.files()) {
      if (checked.preset === null) throw invalid(file, checked.problems);
      presets.push(checked.preset);
    }
    return presets;
  }

  async files(): Promise<{ readonly file: string; readonly checked: Checked }[]> {
    const files = this.#names().map((name) => join(this.#directory, name));
    const found = [];
    for (const file of files) found.push({ file, checked: await checkFile(bytesOfText(file) as HostPath) });
    return found;
  }

  #names(): string[] {
    return namesIn(this.#directory)
      .filter((name) => name.endsWith('.toml'))
      .sort();
  }

  async check(path: HostPath): Promise<Checked> {
    return checkFile(path);
  }

  async readRecommendation(file: HostPath, content: string): Promise<readonly string[]> {
    const { read } = await parse<readonly string[]>(Buffer.from(content, 'latin1'), (value) => {
      const parsed = recommendationSchema().safeParse(value);
      if (parsed.success) return parsed.data.recommended;
      return parsed.error.issues.flatMap((issue): PresetProblem[] =>
        issue.code === 'unrecognized_keys'
          ? issue.keys.map((key) => ({ key: [key], problem: `${key}: it may name presets, and nothing else` }))
          : [{ key: issue.path, problem: issue.message }],
      );
    });
    if (isProblems(read)) throw invalid(displayPath(file), read);
    return read;
  }

  approval(file: HostPath): Approval | undefined {
    const place = this.#approvalFile(file);
    const text = readIfThere(place);
    if (text === undefined) return undefined;
    try {
      const { path, sha256, presets } = approvalSchema().parse(JSON.parse(text.toString('utf8')));
      if (pathFromJson(path) === file) return { sha256, presets };
    } catch (cause) {
      throw invalid(place, [{ line: 1, problem: 'it is no approval' }], cause);
    }
    throw invalid(place, [{ line: 1, problem: 'it is the approval of another path' }]);
  }

  setApproval(file: HostPath, approval: Approval | null): void {
    const place = this.#approvalFile(file);
    if (approval === null) {
      rmSync(place, { force: true });
      return;
    }
    makeDirectoryDurably(join(this.#directory, 'approved'));
    removeUnfinished(join(this.#directory, 'approved'));
    const { sha256, presets } = approval;
    writeDurably(place, `${JSON.stringify({ format: '1', path: pathToJson(file), sha256, presets }, null, 1)}\n`);
  }

  #approvalFile(file: HostPath): string {
    return join(this.#directory, 'approved', `${digest(file)}.json`);
  }
}

/** It may say nothing else: whoever writes in a mount is not trusted with patterns. */
const recommendationSchema = onFirstUse(() =>
  z.strictObject({
    recommended: z
      .array(z.string().check(z.refine(isPresetName, 'this cannot be the name of a preset')), 'it is a list of names')
      .check(z.maxLength(presetLimits.presets)),
  }),
);

const approvalSchema = onFirstUse(() =>
  z.object({
    format: z.literal('1'),
    path: jsonPathSchema,
    sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
    presets: z.array(z.string()),
  }),
);

async function checkFile(path: HostPath): Promise<Checked> {
  const refused = (problem: string): Checked => ({ preset: null, problems: [{ line: 1, problem }] });
  const name = basename(path, '.toml');
  if (!path.endsWith('.toml') || !isPresetName(name))
    return refused('its name is that of the preset: lower-case words joined by dashes, and .toml');
  if (builtInPresets.some((preset) => preset.name === name)) return refused('a built-in preset has this name');
  const bytes = Buffer.from(path, 'latin1');
  const stat = lstatSync(bytes, { throwIfNoEntry: false });
  if (stat?.isFile() !== true) return refused(stat === undefined ? 'there is no such file' : 'it is no regular file');
  if (stat.size > presetLimits.bytes) return refused(`it is larger than ${String(presetLimits.bytes)} bytes`);
  const { read } = await parse(readFileSync(bytes), (value) => toPreset(name, value));
  return isProblems(read) ? { preset: null, problems: read } : { preset: read, problems: null };
}

/** What a check makes of a text, or all that is wrong with it and on which lines. */
async function parse<Read extends object>(
  content: Buffer,
  check: (value: unknown) => Read | readonly PresetProblem[],
): Promise<{ readonly read: Read | readonly Problem[] }> {
  // Loaded for the first file of this kind: most have none.
  const { parseToml, TomlProblem } = await import('./toml.js');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    return { read: [{ line: 1, problem: 'it is not UTF-8' }] };
  }
  try {
    const toml = parseToml(text);
    const found = check(toml.value);
    if (!isKeyed(found)) return { read: found };
    return {
      read: found.map(({ key, problem }) => ({ line: toml.lineOf(key) ?? 1, problem: `${nameOf(key)}${problem}` })),
    };
  } catch (error) {
    if (!(error instanceof TomlProblem)) throw error;
    return { read: [{ line: error.line, problem: `it is no TOML: ${error.message}` }] };
  }
}

function nameOf(key: readonly PropertyKey[]): string {
  return key.length === 0 ? '' : `${key.map(String).join('.')}: `;
}

function isProblems(found: object): found is readonly Problem[] {
  return Array.isArray(found) && typeof found[0] === 'object';
}

function isKeyed(found: object): found is readonly PresetProblem[] {
  return isProblems(found);
}

function invalid(file: string, problems: readonly Problem[], cause?: unknown): SnapError<'CONFIGURATION_INVALID'> {
  const [first, ...others] = problems;
  const more = others.length === 0 ? '' : ` (and ${String(others.length)} more)`;
  const problem = first === undefined ? 'it is not in order' : `line ${String(first.line)}: ${first.problem}${more}`;
  return new SnapError('CONFIGURATION_INVALID', `${file}: ${problem}.`, { file, problem }, { cause });
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readRegularFile(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
