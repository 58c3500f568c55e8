import type { ImportResult, JackinSession } from '../../index.js';
import { displayPath } from '../library.js';
import type { NextCommand } from '../next-command.js';
import { counted, subject, textOf } from './format.js';
import type { TextStyle } from './style.js';
import { type Column, tabbedText, tableText } from './table.js';
import { wrapped } from './wrap.js';

/** The sessions that jackin has, or the instances that were made for them. */
export async function importText(result: ImportResult, style: TextStyle, next: NextCommand): Promise<string> {
  const { sessions, imported } = result;
  if (imported.length > 0) return importedText(result, style, next);
  if (sessions.length === 0) return '';
  if (!style.terminal) return tabbedText(tabbed, sessions);
  const columns: readonly Column<JackinSession>[] = [
    { title: 'CONTAINER', text: ({ container }) => subject(container) },
    { title: 'STATUS', text: statusText },
    { title: 'AGENT', text: ({ agent }) => subject(agent), rank: 1 },
    { title: 'UPDATED', text: ({ updatedAt }) => subject(updatedAt), rank: 2 },
    { title: 'INSTANCE', text: ({ imported: is }) => (is ? 'yes' : 'no'), rank: 3 },
    { title: 'ROLE', text: ({ role }) => subject(role), below: true },
  ];
  const table = await tableText(columns, sessions, { width: style.columns, heading: style.paint.bold });
  return `${table}${textOf([`Make instances: ${next('instance import jackin CONTAINER', null)}, or --all.`])}`;
}

const tabbed: readonly ((session: JackinSession) => string)[] = [
  ({ container }) => subject(container),
  ({ status }) => subject(status),
  ({ recorded }) => subject(recorded),
  ({ role }) => subject(role),
  ({ workspace }) => subject(workspace ?? ''),
  ({ imported }) => (imported ? 'imported' : ''),
];

function statusText({ status, recorded }: JackinSession): string {
  return subject(status === recorded ? status : `${status} (jackin: ${recorded})`);
}

function importedText({ imported }: ImportResult, style: TextStyle, next: NextCommand): string {
  return textOf(
    imported.flatMap(({ name, mounts }) => [
      `Instance ${name} has ${counted(mounts.length, 'mount')}.`,
      ...mounts.map((mount) => wrapped([`  ${mount.name}`, ` ${displayPath(mount.path)}`], style, 4)),
      `  Save it: ${next('save', name)}`,
    ]),
  );
}
