import { spawn } from 'node:child_process';
import { isAbsolute } from 'node:path';

import { type ContainerMount, type ContainerState, type ContainerView, dockerStates } from '../core/containers.js';

export interface DockerProgram {
  readonly path: string;
  /** All that it gets of the environment. */
  readonly env: Readonly<Record<string, string>>;
}

const variables = ['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_TLS_VERIFY'];
const folders = ['DOCKER_CERT_PATH', 'DOCKER_CONFIG', 'HOME', 'XDG_RUNTIME_DIR'];

/**
 * What docker gets of the caller's environment: where its daemon is. Its folders may name programs: they must not lie where
 * an agent writes. One that is empty or relative is none.
 */
export function dockerEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  isTrusted: (folder: string) => boolean,
): Record<string, string> {
  const kept = [...variables, ...folders.filter((name) => isAbsolute(env[name] ?? '') && isTrusted(env[name] ?? ''))];
  const entries = kept.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  return { ...Object.fromEntries(entries), LC_ALL: 'C' };
}

const patienceMs = 10_000;

/** More than docker has to say of one container. */
const outputLimit = 4 * 1024 * 1024;

/** What docker says of a container. It is asked, and nothing else; what it says may be anything. */
export async function lookAtContainer(docker: DockerProgram, name: string): Promise<ContainerView> {
  const answer = await ask(docker, ['container', 'inspect', '--format', '{{json .}}', '--', name]);
  if (typeof answer === 'string') return { state: 'unknown', why: answer };
  if (answer.exitCode === 0) return viewOf(answer.output);
  if (/no such container/i.test(answer.errors))
    return { state: 'not_found', exitCode: null, oomKilled: false, mounts: [] };
  return { state: 'unknown', why: `docker failed: ${firstLine(answer.errors)}` };
}

interface Answer {
  readonly exitCode: number;
  readonly output: string;
  readonly errors: string;
}

/** @returns why there is no answer, in words, where there is none */
function ask({ path, env }: DockerProgram, args: readonly string[]): Promise<Answer | string> {
  return new Promise((resolve) => {
    // A terminal's signals are for us.
    const child = spawn(path, args, { cwd: '/', env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const said = { output: '', errors: '' };
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      resolve('docker did not answer in time');
    }, patienceMs);
    const hear = (which: keyof typeof said) => (chunk: Buffer) => {
      if (said[which].length < outputLimit) said[which] += chunk.toString('utf8');
    };
    child.stdout.on('data', hear('output'));
    child.stderr.on('data', hear('errors'));
    child.on('error', (error) => {
      clearTimeout(timer);
      resolve(`docker could not be started (${error.message})`);
    });
    child.on('close', (exitCode) => {
      clearTimeout(timer);
      resolve({ exitCode: exitCode ?? 1, ...said });
    });
  });
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0]?.slice(0, 200) ?? '';
}

const states: ReadonlySet<unknown> = new Set<ContainerState>(dockerStates);

function viewOf(output: string): ContainerView {
  const container = objectIn(parsed(output));
  const state = objectIn(container['State']);
  const status = state['Status'];
  if (!states.has(status)) return { state: 'unknown', why: 'docker gave an answer that cannot be read' };
  const exitCode = state['ExitCode'];
  return {
    state: status as ContainerState,
    exitCode: typeof exitCode === 'number' ? exitCode : null,
    oomKilled: state['OOMKilled'] === true,
    mounts: Array.isArray(container['Mounts']) ? container['Mounts'].flatMap(mountOf) : [],
  };
}

/** Only folders of the host: volumes are docker's own. */
function mountOf(value: unknown): ContainerMount[] {
  const { Type: type, Source: source, Destination: destination, RW: writable } = objectIn(value);
  if (type !== 'bind' || typeof source !== 'string' || typeof destination !== 'string') return [];
  return [{ source, destination, readonly: writable === false }];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function objectIn(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
