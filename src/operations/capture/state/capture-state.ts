import { type HostPath, hostPathBelow, pathFromJson, textOfBytes } from '../../../core/entry-path.js';
import { type MountName, parseMountName } from '../../../core/ids.js';
import type { InstanceRecord, MountRecord } from '../../../core/instance-record.js';
import { unknownAuthModes } from '../../../core/jackin/configuration.js';
import { stateAtMost } from '../../../core/jackin/state-paths.js';
import type { JackinManifest } from '../../../core/jackin/manifest.js';
import type { ObjectWriter, WritableDirectory } from '../../../core/ports.js';
import type { StateMissing } from '../../../core/state/results.js';
import { isSnapError, systemCode } from '../../../errors.js';
import type { Context } from '../../context.js';
import { attributesOf, usualAttributes } from '../attributes.js';
import { type CapturedTree, capture } from '../capture.js';
import type { MountAttributes } from '../capture-mounts.js';
import { HeldContent } from './held-content.js';
import { scannedTree } from './scanned-tree.js';
import { StateRules } from './state-rules.js';

/** What a session's agents keep below jackin's data, as it was captured. */
export interface CapturedState {
  /** Where it lies. It is a mount of the snapshot's and none of the instance's. */
  readonly mount: MountRecord;
  readonly captured: CapturedTree;
  readonly attributes: MountAttributes;
}

/** State, or why none is stored: in a word for the snapshot, and in words for people. */
export type StateCapture = { readonly state: CapturedState } | NoState;

interface NoState {
  readonly reason: StateMissing;
  readonly why: string;
}

/**
 * Captures what may be stored of a session's state. Nothing of that fails a save: what forbids it is said.
 * @param writer nothing reaches it that was not scanned
 */
export async function captureState(
  context: Context,
  record: InstanceRecord,
  writer: Pick<ObjectWriter, 'writeBlob' | 'writeTree'>,
): Promise<StateCapture> {
  const origin = record.recovery?.jackin ?? null;
  if (origin === null) return { reason: 'no_session', why: `instance ${record.name} is no session of jackin's` };
  const home = await homeOf(context, record.name, origin.manifest, pathFromJson(origin.home));
  if (typeof home !== 'string') return home;
  const root = openHome(context, home);
  if (root === undefined) return { reason: 'home_absent', why: 'its folder cannot be opened' };
  try {
    return { state: await captureHome(context, record, { root, home }, writer) };
  } finally {
    root.close();
  }
}

/** Where the agents' home lies, if what may be said of its logins is known. */
async function homeOf(
  context: Context,
  container: string,
  manifest: JackinManifest,
  jackinHome: string,
): Promise<HostPath | NoState> {
  try {
    const home = await context.jackin(textOfBytes(jackinHome));
    const now = home.manifest(manifest.container_base);
    if (now === undefined) return { reason: 'session_gone', why: `jackin has nothing of ${container} any more` };
    const { auth } = home.configuration(now.workspace_name ?? null, now.role_key);
    const [unknown] = unknownAuthModes(auth);
    if (unknown !== undefined) {
      const mode = JSON.stringify(unknown.mode);
      return { reason: 'mode_unknown', why: `${unknown.agent}.auth_forward is ${mode}, which is not known` };
    }
  } catch (error) {
    if (!isSnapError(error)) throw error;
    const why = `how logins are handed over cannot be read: ${error.message.replace(/\.$/, '')}`;
    return { reason: 'mode_unreadable', why };
  }
  return placeOf(context, jackinHome as HostPath, manifest.container_base);
}

/** jackin makes these folders itself: a link in the place of one was planted. */
function placeOf({ host }: Context, jackinHome: HostPath, container: string): HostPath | NoState {
  const real = host.realPath(jackinHome);
  if (real === undefined) return { reason: 'home_absent', why: "jackin's home is not there" };
  const expected = hostPathBelow(real, `data/${container}/home`);
  if (host.realPath(expected) === expected) return expected;
  return { reason: 'home_absent', why: 'its folder is not there, or leads elsewhere' };
}

function openHome({ host }: Context, path: HostPath): WritableDirectory | undefined {
  try {
    return host.openMount(path);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

async function captureHome(
  context: Context,
  record: InstanceRecord,
  { root, home }: { readonly root: WritableDirectory; readonly home: HostPath },
  writer: Pick<ObjectWriter, 'writeBlob' | 'writeTree'>,
): Promise<CapturedState> {
  const held = new HeldContent(context.hasher);
  let total = 0;
  const walked = await capture({
    root,
    rules: new StateRules(root.identity.dev),
    writer: held,
    cache: undefined,
    recorder: undefined,
    grafts: undefined,
    momentNs: BigInt(context.now().getTime()) * 1_000_000n,
    scope: null,
    hasRoom: (bytes) => total + bytes <= stateAtMost,
    interruption: context.interruption,
    onFile: (bytes) => (total += bytes),
  });
  const captured = await scannedTree(walked, held, { scanner: await context.secretScanner(), writer });
  const defaults = usualAttributes(captured.entries.values());
  return {
    mount: { name: nameBeside(record), path: home, ...root.identity },
    captured,
    attributes: { defaults, lines: attributesOf(captured, defaults) },
  };
}

/** No mount of the instance has it. */
function nameBeside({ mounts }: InstanceRecord): MountName {
  for (let number = 1; ; number++) {
    const name = parseMountName(number === 1 ? 'state' : `state-${String(number)}`);
    if (!mounts.some((mount) => mount.name === name)) return name;
  }
}
