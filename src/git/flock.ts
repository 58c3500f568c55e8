import { spawn } from 'node:child_process';
import { closeSync, constants, fstatSync, ftruncateSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';

import type { InstanceName } from '../core/ids.js';
import type { HeldLock, Locks } from '../core/ports.js';
import { SnapError, systemCode } from '../errors.js';
import { makeDirectoryDurably, writeFully } from '../fs/durable.js';
import { readRegularFile } from '../fs/regular-file.js';
import { type ProgramSearch, Programs } from './programs.js';
import { endOf, throwIfInterrupted } from './run-git.js';

/** Who we are, for the message that somebody who waits for us gets. */
export interface LockHolder {
  readonly pid: number;
  readonly command: string;
}

export interface LockOptions extends ProgramSearch {
  readonly holder: LockHolder;
  readonly signal?: AbortSignal | undefined;
  /** Where the descriptors of the locks that are held are kept, for processes that must hold them too. */
  readonly held?: Set<number>;
}

type Kind = 'exclusive' | 'shared';

const defaultWait = 10;
/** The exit code that we ask flock for, when the wait was in vain; it has no other meaning there. */
const waitedInVain = 111;
/** These start with a character that no instance name starts with. */
const storeLock = '_store';
const housekeepingLock = '_housekeeping';

/**
 * Locks of the kernel (flock) on files below `<dataDir>/locks`. Node cannot take them itself: flock(1) takes them on
 * a descriptor that it inherits, so that they belong to this process's open file and go with it, however it ends.
 * What the files contain is for messages only.
 *
 * Failures: BUSY after the wait (10 seconds unless told otherwise), GIT_MISSING naming flock, INTERRUPTED.
 */
export function openLocks(options: LockOptions): Locks {
  const programs = new Programs(options);
  const lock = (name: string, kind: Kind, waitSeconds = defaultWait): Promise<HeldLock> =>
    takeLock({ ...options, program: programs.find('flock'), name, kind, waitSeconds });
  return {
    instance: async (name: InstanceName, waitSeconds) => lock(name, 'exclusive', waitSeconds),
    storeShared: async (waitSeconds) => lock(storeLock, 'shared', waitSeconds),
    storeExclusive: async (waitSeconds) => lock(storeLock, 'exclusive', waitSeconds),
    housekeeping: async (waitSeconds) => lock(housekeepingLock, 'exclusive', waitSeconds),
  };
}

interface LockRequest extends LockOptions {
  readonly program: string;
  readonly name: string;
  readonly kind: Kind;
  readonly waitSeconds: number;
}

async function takeLock(request: LockRequest): Promise<HeldLock> {
  const directory = join(request.dataDir, 'locks');
  makeDirectoryDurably(directory);
  const path = join(directory, `${request.name}.lock`);
  for (;;) {
    const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
    try {
      await waitForLock(request, fd, path);
      // Somebody may have removed the file while we waited: a lock on a nameless file keeps nobody out.
      if (stillNames(path, fd)) return hold(fd, request);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    closeSync(fd);
  }
}

async function waitForLock(request: LockRequest, fd: number, path: string): Promise<void> {
  throwIfInterrupted(request.signal);
  const mode = request.kind === 'exclusive' ? '-x' : '-s';
  const args = [mode, '-w', String(request.waitSeconds), '-E', String(waitedInVain), '3'];
  const child = spawn(request.program, args, {
    stdio: ['ignore', 'ignore', 'pipe', fd],
    env: { LC_ALL: 'C' },
    cwd: '/',
    detached: true,
  });
  const { exitCode, stderr } = await endOf(child, request.signal);
  if (exitCode === 0) return;
  if (exitCode === waitedInVain) throw busy(request.name, path);
  throw new SnapError(
    'GIT_FAILED',
    `flock failed with exit code ${String(exitCode)}: ${JSON.stringify(stderr.trim())}.`,
    { command: 'flock', exitCode },
  );
}

function hold(fd: number, { kind, holder, held }: LockRequest): HeldLock {
  if (kind === 'exclusive') describe(fd, `${JSON.stringify(holder)}\n`);
  held?.add(fd);
  let isHeld = true;
  return {
    release() {
      if (!isHeld) return;
      isHeld = false;
      held?.delete(fd);
      if (kind === 'exclusive') describe(fd, '');
      closeSync(fd);
    },
  };
}

/** Only for the eyes of who waits: a full disk must not keep anyone from locking. */
function describe(fd: number, text: string): void {
  try {
    ftruncateSync(fd);
    writeFully(fd, Buffer.from(text, 'utf8'), 0);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
  }
}

function busy(name: string, path: string): SnapError<'BUSY'> {
  const lock = name.startsWith('_') ? 'the store' : `instance ${name}`;
  const holder = holderIn(path);
  return new SnapError('BUSY', `Somebody else works on ${lock}: ${holder}.`, { lock, holder });
}

function holderIn(path: string): string {
  try {
    const { pid, command } = JSON.parse(readRegularFile(path, 'utf8')) as Partial<LockHolder>;
    return `process ${Number(pid)} (${String(command)})`;
  } catch (error) {
    if (systemCode(error) === undefined && !(error instanceof SyntaxError)) throw error;
    return 'another process';
  }
}

function stillNames(path: string, fd: number): boolean {
  const named = statSync(path, { bigint: true, throwIfNoEntry: false });
  const held = fstatSync(fd, { bigint: true });
  return named?.ino === held.ino && named.dev === held.dev;
}
