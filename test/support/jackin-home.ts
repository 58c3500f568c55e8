import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { userGit, userGitText } from './user-git.js';

/*
 * jackin's data and configuration as jackin writes them, and a docker that says what a test wants it to.
 */

export interface SessionOptions {
  readonly id?: string;
  readonly container?: string;
  readonly role?: string;
  readonly workspace?: string | null;
  readonly status?: string;
  readonly outcome?: string;
  /** Further or other fields of the manifest. */
  readonly manifest?: Readonly<Record<string, unknown>>;
}

export interface IsolatedTree {
  readonly path: string;
  readonly branch: string;
  readonly base: string;
}

export class FakeJackin {
  readonly home: string;
  readonly configuration: string;
  readonly #docker: string;
  readonly #rows = new Map<string, unknown>();

  constructor(area: string) {
    this.home = join(area, 'jackin-home');
    this.configuration = join(area, 'jackin-config');
    this.#docker = join(area, 'docker');
    for (const path of [this.data, join(this.configuration, 'workspaces'), join(this.#docker, 'bin')])
      mkdirSync(path, { recursive: true });
    this.#write(join(this.data, 'instances.json.lock'), '');
    const script = join(this.#docker, 'bin', 'docker');
    writeFileSync(script, dockerScript(this.#docker));
    chmodSync(script, 0o755);
  }

  get data(): string {
    return join(this.home, 'data');
  }

  /** What a command needs to find it all. */
  get env(): Record<string, string> {
    return {
      JACKIN_HOME_DIR: this.home,
      JACKIN_CONFIG_DIR: this.configuration,
      PATH: `${join(this.#docker, 'bin')}:${process.env['PATH'] ?? '/usr/bin:/bin'}`,
    };
  }

  /** A session with its manifest, its row in the index, its claim and its agent's home. @returns its container's name */
  session(options: SessionOptions = {}): string {
    const manifest = manifestOf(options);
    const container = manifest.container_base;
    this.#write(this.#record(container, 'instance.json'), json({ ...manifest, ...options.manifest }));
    this.#write(join(this.data, `${container}.lock`), '');
    this.#write(join(this.data, container, 'home', '.claude.json'), '{}\n');
    const { instance_id, container_base, workspace_name, workspace_label, workdir, role_key, agent_runtime } = manifest;
    const { status, updated_at } = manifest;
    const row = { instance_id, container_base, workspace_name, workspace_label, workdir, role_key, agent_runtime };
    this.#rows.set(container, { ...row, status, updated_at });
    this.#write(join(this.data, 'instances.json'), json({ version: 1, instances: [...this.#rows.values()] }));
    return container;
  }

  /** The isolation file of a session. */
  isolation(container: string, records: readonly Readonly<Record<string, unknown>>[], version = 1): void {
    this.#write(this.#record(container, 'isolation.json'), json({ version, records }));
  }

  /** A real worktree of a repository for a session, with its record. */
  worktree(container: string, repository: string, destination: string, workspace = 'shop'): IsolatedTree {
    const inner = destination.replace(/^\/+|\/+$/g, '');
    const path = join(this.data, container, 'git/worktree/repo', inner, container);
    const branch = `jackin/scratch/${container}`;
    mkdirSync(dirname(path), { recursive: true });
    userGit(repository, ['worktree', 'add', '-q', '-b', branch, path, 'HEAD']);
    const base = userGitText(repository, ['rev-parse', 'HEAD']);
    this.isolation(container, [
      {
        workspace,
        mount_dst: destination,
        original_src: repository,
        isolation: 'worktree',
        worktree_path: path,
        scratch_branch: branch,
        base_commit: base,
        selector_key: 'smith',
        container_name: container,
        cleanup_status: 'active',
      },
    ]);
    return { path, branch, base };
  }

  workspace(name: string, toml: string): void {
    this.#write(join(this.configuration, 'workspaces', `${name}.toml`), toml);
  }

  config(toml: string): void {
    this.#write(join(this.configuration, 'config.toml'), toml);
  }

  /** What docker says of a container from now on; null: it has none of that name. */
  container(name: string, inspect: Readonly<Record<string, unknown>> | null): void {
    if (inspect === null) rmSync(join(this.#docker, `${name}.json`), { force: true });
    else this.#write(join(this.#docker, `${name}.json`), JSON.stringify(inspect));
  }

  running(name: string, mounts: readonly unknown[] = []): void {
    this.container(name, { State: { Status: 'running', ExitCode: 0, OOMKilled: false }, Mounts: mounts });
  }

  exited(name: string, code: number, oom = false): void {
    this.container(name, { State: { Status: 'exited', ExitCode: code, OOMKilled: oom }, Mounts: [] });
  }

  /** Docker's daemon does not answer. */
  dockerDown(): void {
    this.#write(join(this.#docker, 'down'), '');
  }

  /** The environment and words that docker was last called with. */
  get lastCall(): string {
    return join(this.#docker, 'call');
  }

  /** What an ordinary clean exit does, and `purge`. */
  purge(container: string): void {
    this.container(container, null);
    rmSync(join(this.data, container), { recursive: true });
    rmSync(join(this.data, `${container}.lock`), { force: true });
  }

  #record(container: string, name: string): string {
    return join(this.data, container, '.jackin', name);
  }

  #write(path: string, content: string): void {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function manifestOf({ id = 'k7p2m9xa', role = 'smith', workspace = 'shop', ...options }: SessionOptions) {
  const container = options.container ?? `jk-${id}-${workspace === null ? '' : `${workspace}-`}${role}`;
  return {
    version: 2,
    instance_id: id,
    container_base: container,
    created_at: '2026-03-01T10:00:00Z',
    updated_at: '2026-03-01T10:05:00Z',
    ...(workspace === null ? {} : { workspace_name: workspace }),
    workspace_label: workspace ?? 'adhoc',
    workdir: '/workspace',
    host_workdir_fingerprint: 'sha256:00',
    role_key: role,
    role_display_name: 'Smith',
    agent_runtime: 'claude',
    role_source_git: 'https://example.com/smith.git',
    role_source_ref: null,
    image_tag: `jk_${role}:latest`,
    status: options.status ?? 'active',
    ...(options.outcome === undefined ? {} : { last_attach_outcome: options.outcome }),
    docker: { role_container: container, dind_container: `${container}-dind`, network: `${container}-net` },
    backend: 'docker',
    sessions: [],
    role_git_sha: 'f'.repeat(40),
    base_image_ref: 'construct:1',
    base_image_digest: null,
    supported_agents: ['claude'],
  };
}

function dockerScript(folder: string): string {
  return [
    '#!/bin/sh',
    `{ echo "$@"; env; } > '${folder}/call'`,
    'for name; do :; done',
    `if [ -e '${folder}/down' ]; then echo 'Cannot connect to the Docker daemon.' >&2; exit 1; fi`,
    `if [ -e "${folder}/$name.json" ]; then cat "${folder}/$name.json"; exit 0; fi`,
    'echo "Error response from daemon: No such container: $name" >&2',
    'exit 1',
    '',
  ].join('\n');
}
