import { join } from 'node:path';

import type { HostPath } from '../../src/core/entry-path.js';
import { bytesOfText } from '../../src/core/entry-path.js';
import type { InstanceName, Seq, SnapshotId } from '../../src/core/ids.js';
import type { InstanceRecord } from '../../src/core/instance-record.js';
import type { HeldLock, InstanceRegistry, Locks } from '../../src/core/ports.js';
import { openMount } from '../../src/fs/held-directory.js';
import { hasher } from '../../src/git/pack/hasher.js';
import * as host from '../../src/instance/host.js';
import type { Context } from '../../src/operations/context.js';
import { Interruption } from '../../src/operations/interruption.js';
import { tempDir } from '../support/temp.js';
import { MemoryStore, type Step } from './memory-store.js';

/** A context in memory over real folders: every step is noted, and may be made to fail. */
export class MemoryContext {
  readonly area = tempDir('operation');
  readonly steps: string[] = [];
  /** Called with each step's name and how often it came so far. */
  onStep: (name: string, time: number) => void = () => undefined;
  readonly store: MemoryStore;
  readonly records = new Map<string, InstanceRecord>();
  readonly lastSeqs = new Map<string, Seq>();
  readonly activities = new Map<string, string>();
  readonly held = new Set<string>();
  readonly signal = new AbortController();
  cwd: string = this.area;
  instance: string | null = null;
  moment = new Date('2026-03-01T12:00:00Z');
  #ids = 0;

  constructor() {
    this.store = new MemoryStore((name) => this.step(name));
  }

  readonly step: Step = (name) => {
    this.steps.push(name);
    this.onStep(name, this.steps.filter((other) => other === name).length);
  };

  get context(): Context {
    return {
      store: this.store.port,
      locks: this.#locks(),
      registry: this.#registry(),
      journals: {
        pending: () => [],
        read: () => undefined,
        create: () => this.#unused(),
        reopen: () => this.#unused(),
      },
      drillNotes: { all: () => [], write: () => undefined, forget: () => undefined },
      processes: { startOf: () => undefined, bootId: () => 'boot' },
      host: {
        cwd: bytesOfText(this.cwd) as HostPath,
        home: '/home/somebody' as HostPath,
        dataDirectory: bytesOfText(join(this.area, 'data')) as HostPath,
        openMount: (path) => (this.step('openMount'), openMount(path)),
        realPath: (path) => host.realPath(path) as HostPath | undefined,
        identity: host.identity,
        isHome: (path) => path === '/home/somebody',
        worktreesDirectory: bytesOfText(join(this.area, 'data', 'worktrees')) as HostPath,
        makePrivateDirectories: host.makePrivateDirectories,
        makeDirectory: host.makeDirectory,
        digest: host.digest,
        freeBytes: () => 1e12,
        caller: () => null,
        syncFileSystem: () => Promise.resolve(false),
        mountPointsBelow: () => new Set(),
      },
      statCaches: {
        read: () => (this.step('readStats'), undefined),
        removeDamaged: () => 0,
        newRecorder: () => ({
          enter: () => undefined,
          leave: () => undefined,
          adopt: () => undefined,
          write: () => this.step('writeStats'),
        }),
      },
      repositories: {
        read: () => Promise.resolve(undefined),
        countAhead: () => this.#unused(),
        readWork: () => this.#unused(),
        readSelfRunning: () => Promise.resolve(new Map()),
      },
      gitStates: {
        protect: () => Promise.resolve({ kind: 'unprotected', why: 'a context in memory has none' }),
        prepareRestore: () => this.#unused(),
        newCheck: () => this.#unused(),
      },
      stackFiles: {
        presets: () => Promise.resolve([]),
        files: () => Promise.resolve([]),
        check: () => this.#unused(),
        readRecommendation: () => this.#unused(),
        approval: () => undefined,
        setApproval: () => undefined,
      },
      worktrees: () => this.#unused(),
      remotes: () => this.#unused(),
      hasher,
      startRestoreThreads: () => Promise.resolve(undefined),
      now: () => this.moment,
      graceSeconds: 600,
      newId: () => `01KJMMA2QTMZ27P0NSGC0MP${String(++this.#ids).padStart(3, '0')}` as SnapshotId,
      interruption: new Interruption(this.signal.signal),
      onProgress: () => undefined,
      program: 'jackin-snap/test',
      instance: this.instance as InstanceName | null,
      newArchive: () => this.#unused(),
      containers: { look: () => Promise.resolve({ state: 'unknown', why: 'nobody asked' }) },
      jackin: () =>
        Promise.resolve({
          path: '/none',
          exists: () => false,
          instances: () => [],
          manifest: () => undefined,
          isolation: () => [],
          configuration: () => this.#unused(),
          dryRunPlan: () => this.#unused(),
        }),
      secretScanner: () => this.#unused(),
      pid: 1,
    };
  }

  #registry(): InstanceRegistry {
    return {
      all: () => [...this.records.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
      damaged: () => [],
      find: (name) => this.records.get(name),
      write: (record) => {
        this.step('writeRecord');
        this.records.set(record.name, record);
      },
      remove: (name) => void this.records.delete(name),
      lastSeq: (name) => this.lastSeqs.get(name),
      recordLastSeq: (name, seq) => {
        this.step('recordLastSeq');
        this.lastSeqs.set(name, seq);
      },
      lastRestore: () => undefined,
      recordRestore: () => this.step('recordRestore'),
      fetched: () => new Map(),
      recordFetched: () => this.step('recordFetched'),
      readActivity: (name) => this.activities.get(name),
      writeActivity: (name, text) => void this.activities.set(name, text),
      clearActivity: (name) => void this.activities.delete(name),
      worktrees: () => [],
      findWorktree: () => undefined,
      writeWorktree: () => undefined,
      forgetWorktree: () => undefined,
      clearUnfinished: () => undefined,
    };
  }

  #locks(): Locks {
    const take = (name: string): Promise<HeldLock> => {
      this.step(`lock ${name}`);
      this.held.add(name);
      return Promise.resolve({ release: () => void this.held.delete(name) });
    };
    return {
      instance: (name) => take(`instance ${name}`),
      storeShared: () => take('store shared'),
      storeExclusive: () => take('store exclusive'),
      housekeeping: () => take('housekeeping'),
    };
  }

  #unused(): never {
    throw new Error('a context in memory cannot do that');
  }
}
