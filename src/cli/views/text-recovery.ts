import type { RecoveryMount, RecoveryResult, StartingPoint } from '../../index.js';
import { displayPath } from '../library.js';
import type { NextCommand } from '../next-command.js';
import { counted, subject, textOf } from './format.js';
import type { TextStyle } from './style.js';
import { decisionText, endText } from './text-list.js';
import { words, wrapped } from './wrap.js';

/** Where an instance's folders are from, how it was launched, and what can be gone back to. */
export function recoveryText(result: RecoveryResult, style: TextStyle, next: NextCommand): string {
  const { instance, index, mounts, policy, latest, latestHoldsState, start, snapshots, store } = result;
  const field = (name: string, text: string): string =>
    wrapped([`  ${name.padEnd(10)}`, ...words(subject(text))], style, 13);
  return textOf([
    style.paint.bold(`Instance ${instance}`),
    ...sessionFields(result).map(([name, text]) => field(name, text)),
    field('snapshots', latest === null ? 'none' : `${counted(snapshots, 'snapshot')}, latest ${latest.seq}`),
    ...(latestHoldsState ? [field('state', 'in the latest')] : []),
    field('level', policy.snapshot),
    field('stored in', displayPath(store)),
    '',
    style.paint.bold('Mounts'),
    ...mounts.flatMap((mount) => mountLines(mount, style)),
    ...(index.left_out.length === 0 ? [] : ['', style.paint.bold('Left out')]),
    ...index.left_out.map(({ container_path: path, reason }) =>
      wrapped([`  ${jsonPathText(path)}`, ` ${reason}`], style, 4),
    ),
    ...launchLines(result, style),
    ...(start === null ? [] : ['', ...nextLines(start, next)]),
  ]);
}

type Fields = readonly (readonly [name: string, text: string])[];

function sessionFields({ recorded, session, ended, exit, owner, index }: RecoveryResult): Fields {
  const manifest = index.jackin?.manifest;
  const fields: [name: string, text: string][] = [];
  if (!recorded) fields.push(['record', 'none here: this is what its last snapshot has']);
  if (manifest !== undefined) {
    const { instance_id: id, role_key: role, agent_runtime: agent } = manifest;
    fields.push(['jackin', `instance ${id}, role ${role}, agent ${agent}`]);
  }
  if (session !== null) fields.push(['status', statusText(session)]);
  if (ended !== null) fields.push(['ended', endText(ended)]);
  if (exit !== null) fields.push(['decided', decisionText(exit)]);
  fields.push(['active', owner ?? 'no']);
  if (index.cleanup !== null) fields.push(['at exit', `${index.cleanup} (work left in isolated mounts)`]);
  return fields;
}

function statusText({ status, recorded, container }: NonNullable<RecoveryResult['session']>): string {
  const says = recorded === null || recorded === status ? '' : `, jackin says ${recorded}`;
  return `${status}${says}, container ${container.replace('_', ' ')}`;
}

function mountLines(mount: RecoveryMount, style: TextStyle): readonly string[] {
  const { name, path, present, source, containerPath, isolation, kind, repository } = mount;
  const from = containerPath === null ? '' : ` at ${displayPath(containerPath)}`;
  const made = isolation === null ? '' : `${isolation.kind} of ${jsonPathText(isolation.original)}, `;
  const facts = [kind, ...repositoryFacts(repository), ...isolationFacts(isolation)].filter((fact) => fact !== null);
  return [
    wrapped([`  ${name}`, ` ${displayPath(path)}`, ...(present ? [] : [' (gone)'])], style, 4),
    wrapped(['   ', ...words(subject(`${made}found in: ${source}${from}`))], style, 6),
    ...(facts.length === 0 ? [] : [wrapped(['   ', ...words(subject(facts.join(', ')))], style, 6)]),
  ];
}

function isolationFacts(isolation: RecoveryMount['isolation']): (string | null)[] {
  if (isolation === null) return [];
  const { base_commit: base, cleanup_status: status } = isolation;
  return [base === null ? null : `made from ${base.slice(0, 12)}`, status];
}

function repositoryFacts(repository: RecoveryMount['repository']): string[] {
  if (repository === null) return [];
  const { head, branch, upstream, ahead, dirty, operation } = repository;
  return [
    `${branch ?? 'detached'} at ${head?.slice(0, 12) ?? 'no commit'}`,
    ...(upstream === null ? ['no upstream'] : [`upstream ${upstream}`]),
    ...(ahead === undefined ? [] : [`${ahead} ahead`]),
    ...(dirty === null ? ['dirty or not: not known'] : [dirty ? 'dirty' : 'clean']),
    ...(operation === null ? [] : [`in the middle of a ${operation}`]),
  ];
}

function launchLines({ index: { launch } }: RecoveryResult, style: TextStyle): string[] {
  if (launch === null) return [];
  const { image, role, base, agent, workspace, workdir, backend, environment } = launch;
  const line = (name: string, text: string): string =>
    wrapped([`  ${name.padEnd(10)}`, ...words(subject(text))], style, 13);
  return [
    '',
    style.paint.bold('Launch'),
    line('agent', `${agent} in ${workspace ?? 'no workspace'}, ${workdir}, ${backend}`),
    line('role', [role.key, role.git, role.ref, role.commit].filter((part) => (part ?? '') !== '').join(' ')),
    ...(image === null ? [] : [line('image', image)]),
    ...(base.image === null ? [] : [line('base', [base.image, base.digest ?? 'digest not known'].join(' '))]),
    ...(environment.length === 0
      ? []
      : [line('variables', environment.map(({ name, from, kind }) => `${name} (${from}, ${kind})`).join(', '))]),
  ];
}

function nextLines({ instance, seq, chosen }: StartingPoint, next: NextCommand): string[] {
  if (chosen === 'newest')
    return [
      `What snapshot ${seq} has: ${next(`tree ${instance}/${seq}`, null)}`,
      `Have it again: ${next(`recovery restore ${instance} --to DIR`, null)}`,
    ];
  return [
    `What has changed since snapshot ${seq}: ${next(`recovery diff ${instance}`, null)}`,
    `What going back would do: ${next(`recovery restore ${instance} --dry-run`, null)}`,
  ];
}

function jsonPathText(path: string | { readonly base64: string }): string {
  return typeof path === 'string' ? subject(path) : '(not UTF-8)';
}
