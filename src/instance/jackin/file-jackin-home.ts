import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

import {
  type ConfiguredMount,
  type DryRunPlan,
  type JackinConfiguration,
  dirtyExitPolicies,
} from '../../core/jackin/configuration.js';
import type { JackinHome } from '../../core/jackin/home.js';
import { type IndexRow, indexVersion, instanceIndexSchema } from '../../core/jackin/instance-index.js';
import { type IsolationRecord, isolationFileSchema, isolationVersion } from '../../core/jackin/isolation.js';
import { type JackinManifest, jackinManifestSchema, jackinManifestVersion } from '../../core/jackin/manifest.js';
import { isSnapError } from '../../errors.js';
import { userHome } from '../user-home.js';
import { parseDryRunPlan } from './dry-run-plan.js';
import { environmentNames } from './environment.js';
import { type GlobalMount, globalMounts } from './global-mounts.js';
import { readJsonFile } from './json-file.js';
import { invalid, namesIn } from './read-file.js';
import { type TomlFile, checkedAt, readTomlFile } from './toml-file.js';
import { type Workspace, authForwards, readWorkspace, roleEnvironment } from './workspace-file.js';
import * as z from '../../core/schema.js';

/** Where jackin keeps things: `JACKIN_HOME_DIR` and `JACKIN_CONFIG_DIR`, or below the user's home. */
export interface JackinPlaces {
  readonly home: string;
  readonly configuration: string;
  readonly userHome: string | undefined;
}

export function jackinPlaces(env: Readonly<Record<string, string | undefined>>, cwd: string): JackinPlaces {
  const home = userHome(env);
  const at = (key: string, otherwise: string): string =>
    resolve(cwd, (env[key] ?? '') === '' ? join(home ?? '/', otherwise) : (env[key] ?? ''));
  return {
    home: at('JACKIN_HOME_DIR', '.jackin'),
    configuration: at('JACKIN_CONFIG_DIR', join('.config', 'jackin')),
    userHome: home,
  };
}

/** jackin's data and configuration as files. They are opened for reading, one by one, and nothing else. */
export class FileJackinHome implements JackinHome {
  readonly path: string;
  readonly #places: JackinPlaces;

  constructor(places: JackinPlaces) {
    this.path = places.home;
    this.#places = places;
  }

  exists(): boolean {
    return existsSync(this.path);
  }

  instances(): readonly IndexRow[] {
    const file = join(this.path, 'data', 'instances.json');
    const index = readJsonFile(file, { version: indexVersion, schema: instanceIndexSchema });
    const rows = new Map((index?.instances ?? []).map((row) => [row.container_base, row]));
    for (const container of namesIn(join(this.path, 'data'))) {
      // A manifest is believed before the index.
      const row = isContainerName(container) ? this.#rowOf(container) : undefined;
      if (row !== undefined) rows.set(container, row);
    }
    return [...rows.values()].sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1));
  }

  manifest(container: string): JackinManifest | undefined {
    if (!isContainerName(container)) return undefined;
    const file = this.#record(container, 'instance.json');
    const manifest = readJsonFile(file, { version: jackinManifestVersion, schema: jackinManifestSchema() });
    if (manifest !== undefined && manifest.container_base !== container)
      throw invalid(file, `container_base: it is that of ${JSON.stringify(manifest.container_base)}`);
    return manifest;
  }

  isolation(container: string): readonly IsolationRecord[] {
    if (!isContainerName(container)) return [];
    const file = this.#record(container, 'isolation.json');
    return readJsonFile(file, { version: isolationVersion, schema: isolationFileSchema })?.records ?? [];
  }

  configuration(workspaceName: string | null, role: string): JackinConfiguration {
    const { configuration, userHome } = this.#places;
    const config = readTomlFile(join(configuration, 'config.toml')) ?? noFile;
    const workspace =
      (workspaceName === null ? undefined : readWorkspace(configuration, config, workspaceName, role)) ?? noWorkspace;
    const { dirty_exit_policy: ofAll = 'ask' } = checkedAt(config, [], config.value, globalSchema);
    return {
      auth: narrowest([...authForwards(config.value), ...workspace.auth]),
      mounts: allMounts(workspace.mounts, globalMounts(config, role, userHome)),
      environment: [
        ...environmentNames(config.value['env'], 'global'),
        ...environmentNames(roleEnvironment(config.value, role), 'role'),
        ...workspace.environment,
      ],
      dirtyExitPolicy: workspace.dirtyExitPolicy ?? ofAll,
      recovery: workspace.recovery,
    };
  }

  dryRunPlan(file: string, text: string): DryRunPlan {
    return parseDryRunPlan(file, text);
  }

  #record(container: string, name: string): string {
    return join(this.path, 'data', container, '.jackin', name);
  }

  #rowOf(container: string): IndexRow | undefined {
    try {
      return this.manifest(container);
    } catch (error) {
      if (!isSnapError(error)) throw error;
      return { ...unreadable, container_base: container };
    }
  }
}

const noWorkspace: Workspace = { auth: [], mounts: [], environment: [], dirtyExitPolicy: undefined, recovery: null };

const noFile: TomlFile = { path: 'config.toml', value: {}, lineOf: () => undefined };

/** Listed so that nobody thinks that it is gone. */
const unreadable: Omit<IndexRow, 'container_base'> = {
  instance_id: '',
  workspace_label: '',
  role_key: '',
  agent_runtime: '',
  status: 'unreadable',
  updated_at: '',
};

/** Of two mounts at one place in the container, the workspace's own counts. */
function allMounts(own: Workspace['mounts'], global: readonly GlobalMount[]): ConfiguredMount[] {
  const taken = new Set(own.map(({ destination }) => destination));
  return [
    ...own.map((mount) => ({ ...mount, from: 'workspace' as const })),
    ...global
      .filter(({ destination }) => !taken.has(destination))
      .map((mount) => ({ ...mount, isolation: 'shared' as const, from: 'global' as const })),
  ];
}

const globalSchema = z.object({ dirty_exit_policy: z.optional(z.enum(dirtyExitPolicies)) });

/** A DNS label: no name leads out of the data. */
function isContainerName(name: string): boolean {
  return /^[a-z0-9][a-z0-9-]{0,62}$/.test(name);
}

/** The last that is said of an agent holds. */
function narrowest(auth: Workspace['auth']): Workspace['auth'] {
  return [...new Map(auth.map((one) => [one.agent, one])).values()];
}
