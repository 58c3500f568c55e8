import type { ShowResult, StateGroup, StateLeftOut, StateLeftOutReason, StateMissing } from '../../index.js';
import { displayPath } from '../library.js';
import type { NextCommand } from '../next-command.js';
import { counted, grouped, shown, sizeText } from './format.js';
import type { TextStyle } from './style.js';
import { reasonWords } from './text-save.js';
import { words, wrapped } from './wrap.js';

/** What a snapshot holds of a session's state: whose, of what kind, and what of it was left out and why. */
export function stateLines({ state, snapshot }: ShowResult, style: TextStyle, next: NextCommand): readonly string[] {
  if (state === undefined) return [];
  const title = style.paint.bold('State of the session');
  if (!state.stored) {
    const why = missingWords[state.reason as StateMissing] ?? shown(state.reason);
    return ['', title, wrapped(words(`  None is stored: ${why}.`), style, 4)];
  }
  const { path, files, sizeBytes, contents, leftOut } = state;
  return [
    '',
    title,
    wrapped([`  ${counted(files, 'file')}, ${sizeText(sizeBytes)}, from`, displayPath(path)], style, 4),
    ...[...byAgent(contents)].map(([agent, groups]) => groupLine(agent, groups, style)),
    ...(leftOut.length === 0 ? [] : [`  Left out of it: ${grouped(leftOut.length)}`]),
    ...leftOutLines(leftOut),
    wrapped(['  Have it back:', next(`restore ${snapshot.instance}/${snapshot.seq} --state --to DIR`, null)], style, 4),
  ];
}

function byAgent(groups: readonly StateGroup[]): ReadonlyMap<string, readonly StateGroup[]> {
  const agents = new Map<string, StateGroup[]>();
  for (const group of groups) agents.set(group.agent, [...(agents.get(group.agent) ?? []), group]);
  return agents;
}

function groupLine(agent: string, groups: readonly StateGroup[], style: TextStyle): string {
  const parts = groups.map(({ kind, files, sizeBytes }, index) => {
    const end = index < groups.length - 1 ? ',' : '';
    return `${kind} ${grouped(files)} (${sizeText(sizeBytes)})${end}`;
  });
  return wrapped([`  ${agent}:`, ...parts], style, 4);
}

function leftOutLines(entries: readonly StateLeftOut[]): readonly string[] {
  const reasons = new Map<StateLeftOutReason, string[]>();
  for (const { path, reason } of entries) reasons.set(reason, [...(reasons.get(reason) ?? []), displayPath(path)]);
  return [...reasons].flatMap(([reason, paths]) => [
    `  ${leftOutWords[reason]}`,
    ...paths.map((path) => `    ${path}`),
  ]);
}

const leftOutWords: Readonly<Record<StateLeftOutReason, string>> = {
  ...reasonWords,
  credential: 'credential, by its name',
  excluded: 'not on the list of what may be stored',
  secret: 'a secret was found in it',
  unsupported: 'cannot be looked at for secrets',
};

const missingWords: Readonly<Partial<Record<StateMissing, string>>> = {
  no_session: 'the instance is no session of jackin',
  session_gone: 'jackin had nothing of the session any more',
  mode_unknown: 'how a login is handed over was not known to this program',
  mode_unreadable: 'how logins are handed over could not be read',
  home_absent: "the agents' home was not there, or led elsewhere",
};
