import type { FailureDocument } from '../schemas.js';
import type { GlobalOptions } from './command-line.js';
import { explain } from './explain.js';
import { bytesOfText, displayPath, isSnapError, pathToJson } from './library.js';
import { helpHint } from './usage-hints.js';
import { OutputFailed } from './output.js';
import { nextCommand, type Hint, type NextCommand } from './next-command.js';
import { HintedError, UsageError } from './usage-error.js';

/** A failure as both kinds of reader get it. */
export interface Failure {
  readonly exitCode: number;
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  /** Bytes. */
  readonly paths: readonly string[];
  /** Printed as it is before the error: help, or the stack and versions of a bug. */
  readonly before: string;
}

interface About {
  readonly globals: GlobalOptions;
  readonly commandName: string;
  readonly versions: { readonly program: string; readonly node: string };
}

/** What went wrong, with exit code and next step; anything but our own errors is a bug. */
export function failureOf(error: unknown, about: About): Failure {
  const { globals, commandName, versions } = about;
  const next = nextCommand(globals);
  if (error instanceof HintedError) return { ...failureOf(error.cause, about), hint: hintText(error.hint, next) };
  if (isSnapError(error)) {
    const before = error.code === 'INTERNAL' ? bugReport(error, versions) : '';
    return { ...explain(error, next), code: error.code, message: error.message, before };
  }
  if (error instanceof OutputFailed) {
    return { exitCode: 1, code: 'INTERNAL', message: error.message, hint: '', paths: [], before: '' };
  }
  if (error instanceof UsageError) {
    const { message, help } = error;
    const hint = hintText(error.hint ?? helpHint(commandName), next);
    return { exitCode: 2, code: 'USAGE', message, hint, paths: [], before: help };
  }
  return {
    exitCode: 1,
    code: 'INTERNAL',
    message: error instanceof Error ? error.message || error.name : String(error),
    hint: `This is a bug; please report it with all of the above. Check the store: ${next('doctor')}`,
    paths: [],
    before: bugReport(error, versions),
  };
}

function hintText(hint: Hint, next: NextCommand): string {
  return typeof hint === 'string' ? hint : hint(next);
}

/** For stderr: what, where, why, then the next command to type. */
export function failureText({ before, message, hint, paths }: Failure): string {
  const named = paths.filter((path) => !message.includes(displayPath(path)));
  const more = named.length > shownPaths ? [`  … and ${named.length - shownPaths} more`] : [];
  const lines = [
    `jackin-snap: ${shown(message)}`,
    ...named.slice(0, shownPaths).map((path) => `  ${displayPath(path)}`),
    ...more,
    ...(hint === '' ? [] : [`  ${shown(hint)}`]),
  ];
  return `${before}${lines.join('\n')}\n`;
}

const shownPaths = 20;

const shown = (text: string): string => displayPath(bytesOfText(text));

export function failureDocument(
  { code, message, hint, paths }: Failure,
  about: { readonly command: string; readonly messages: readonly string[]; readonly elapsed: number },
): FailureDocument {
  return {
    schema_version: '1',
    command: about.command,
    ok: false,
    error: { code, message: message === '' ? code : message, hint, paths: paths.map(pathToJson) },
    messages: about.messages,
    timing: { elapsed_seconds: about.elapsed },
  };
}

/** The stack and the versions: what a report of a bug needs. */
function bugReport(error: unknown, versions: About['versions']): string {
  const lines = [stackOf(error), `jackin-snap ${versions.program}, node ${versions.node}`];
  for (let cause = causeOf(error); cause !== undefined; cause = causeOf(cause)) {
    lines.splice(-1, 0, `caused by: ${stackOf(cause)}`);
  }
  return lines
    .flatMap((text) => text.split('\n'))
    .map((line) => `${shown(line)}\n`)
    .join('');
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
