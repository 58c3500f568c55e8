import { bytesOfText, displayPath } from '../../core/entry-path.js';
import { parseInstanceName } from '../../core/ids.js';
import type { InstanceName } from '../../core/ids.js';
import type { InstanceRecord } from '../../core/instance-record.js';
import type { JackinHome } from '../../core/jackin/home.js';
import type { IndexRow } from '../../core/jackin/instance-index.js';
import type { ImportRequest } from '../../core/requests.js';
import type { ImportResult, JackinSession } from '../../core/recovery-results.js';
import type { InstanceSummary } from '../../core/results.js';
import { SnapError, isSnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { lockForSnapshot } from '../locking.js';
import { noteLostStore } from '../lost-store.js';
import { summarizeInstance } from '../session/instances.js';
import { type ImportHints, importedRecord, leftOutText } from './imported-record.js';
import { statusOf } from './session.js';

/**
 * Makes or updates an instance for each of jackin's that the selector names (a role key, an instance id or a container's
 * name), or for all. With neither, nothing is changed: the answer has what there is. Only our own records are written.
 * @throws SnapError JACKIN_NOT_FOUND, CONFIGURATION_INVALID, JACKIN_VERSION_UNKNOWN, INSTANCE_CLOSED, USAGE
 */
export async function importSessions(
  look: Context,
  open: () => Context,
  request: ImportRequest,
): Promise<ImportResult> {
  const home = await look.jackin();
  const rows = home.instances();
  const { selector, all = false } = request;
  if (selector === undefined && !all)
    return { sessions: await describeAll(look, home, rows), imported: [], messages: emptyNotes(home, rows) };
  const chosen = selector === undefined ? rows.filter(isKept) : rowsOf(home, rows, selector);
  const hints = hintsFor(home, request, chosen.length);
  const imported: InstanceSummary[] = [];
  const messages = [...(chosen.length === 0 ? [] : noteLostStore(look)), ...emptyNotes(home, rows)];
  for (const { container_base: container } of chosen) {
    const made = await orTell(all, messages, () => importOne(open(), parseInstanceName(container), hints));
    if (made === undefined) continue;
    imported.push(await summarizeInstance(look, made));
    messages.push(...(made.recovery?.left_out ?? []).map((mount) => `${container}: ${leftOutText(mount)}.`));
  }
  return { sessions: [], imported, messages };
}

function emptyNotes(home: JackinHome, rows: readonly IndexRow[]): string[] {
  if (rows.length > 0) return [];
  const why = home.exists() ? 'nothing in it is of a session' : 'there is no such folder';
  return [
    `jackin has no session in ${displayPath(bytesOfText(home.path))}: ${why}. JACKIN_HOME_DIR says where else it keeps them.`,
  ];
}

/** @throws SnapError USAGE where what is said of one session would be said of several */
function hintsFor(home: JackinHome, { named = [], plan }: ImportRequest, sessions: number): ImportHints {
  if (sessions !== 1 && (named.length > 0 || plan !== undefined))
    throw new SnapError('USAGE', 'Folders and a plan are those of one session: choose one.', { what: 'instance name' });
  return { named, plan: plan === undefined ? null : home.dryRunPlan(plan.file, plan.text) };
}

/** One of many that cannot be imported is told of, and stops no other. */
async function orTell<T>(many: boolean, messages: string[], act: () => Promise<T>): Promise<T | undefined> {
  try {
    return await act();
  } catch (error) {
    if (!many || !isSnapError(error) || error.code === 'BUSY') throw error;
    messages.push(error.message);
    return undefined;
  }
}

async function importOne(context: Context, name: InstanceName, hints: ImportHints): Promise<InstanceRecord> {
  await context.store.prepare();
  const locks = await lockForSnapshot(context, name);
  try {
    const record = await importedRecord(context, name, hints);
    context.registry.write(record);
    return record;
  } finally {
    locks.release();
  }
}

/** Those that jackin still has something of. */
function isKept({ status }: IndexRow): boolean {
  return status !== 'purged';
}

function rowsOf(home: JackinHome, rows: readonly IndexRow[], selector: string): readonly IndexRow[] {
  const found = rows.filter(({ container_base: container }) => container === selector);
  if (found.length > 0) return found;
  const matching = rows.filter((row) => row.instance_id === selector || row.role_key === selector).filter(isKept);
  if (matching.length > 0) return matching;
  const message = `jackin has no instance ${JSON.stringify(selector)} in ${home.path}.`;
  throw new SnapError('JACKIN_NOT_FOUND', message, { selector });
}

async function describeAll(
  context: Context,
  home: JackinHome,
  rows: readonly IndexRow[],
): Promise<readonly JackinSession[]> {
  return Promise.all(
    rows.map(async (row) => ({
      container: row.container_base,
      id: row.instance_id,
      role: row.role_key,
      workspace: row.workspace_name ?? null,
      agent: row.agent_runtime,
      updatedAt: row.updated_at,
      recorded: row.status,
      status: await statusNow(context, home, row),
      imported: context.registry.find(parseInstanceName(row.container_base)) !== undefined,
    })),
  );
}

async function statusNow(context: Context, home: JackinHome, { container_base, status }: IndexRow): Promise<string> {
  try {
    const manifest = home.manifest(container_base);
    return manifest === undefined ? status : (await statusOf(context, manifest, manifest)).status;
  } catch (error) {
    if (!isSnapError(error)) throw error;
    return status;
  }
}
