import { Buffer } from 'node:buffer';

import { withoutSecrets } from '../../core/remote/address.js';
import type { Remote } from '../../core/remote/remotes.js';
import { SnapError } from '../../errors.js';
import { noSpace } from '../../fs/durable.js';
import { isDiskFull } from '../full-disk.js';
import { type GitCommand, type GitRunner, throwIfInterrupted } from '../run-git.js';

/** More of the list of a remote's refs is not borne. */
const outputAtMost = 64 * 1024 * 1024;

/** Runs git against a remote, whatever the exit code is; what it prints is bounded. */
export async function runBounded(
  git: GitRunner,
  remote: Remote,
  command: GitCommand,
): Promise<{ readonly exitCode: number; readonly stdout: string; readonly stderr: string }> {
  const running = await git.start(command);
  const chunks: Buffer[] = [];
  let bytes = 0;
  running.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= outputAtMost) chunks.push(chunk);
    else running.kill();
  });
  const { exitCode, stderr } = await running.end;
  throwIfInterrupted(git.signal);
  if (bytes > outputAtMost) throw tooLarge(remote, outputAtMost, 'ref_list');
  return { exitCode, stderr, stdout: Buffer.concat(chunks).toString('utf8') };
}

/** What git's failure over a remote is: one message with its own words, without what may be a password. */
export function remoteFailure(git: GitRunner, { address }: Remote, stderr: string): SnapError {
  const { dataDir } = git.settings;
  const said = wordsOf(stderr, address);
  const told = said === '' ? '' : ` git said: ${JSON.stringify(said)}.`;
  const message = `The remote ${JSON.stringify(address.shown)} could not be used.${told}`;
  const failure = new SnapError('REMOTE_FAILED', message, { remote: address.shown, said });
  return isDiskFull(dataDir) ? noSpace(dataDir, failure) : failure;
}

export function tooLarge(
  { address }: Remote,
  limit: number,
  what: 'transfer' | 'ref_list',
): SnapError<'REMOTE_TOO_LARGE'> {
  const sent = what === 'transfer' ? 'what came' : 'its list of refs';
  const message = `The remote ${JSON.stringify(address.shown)} sent more than is borne: ${sent} is over ${String(limit)} bytes.`;
  return new SnapError('REMOTE_TOO_LARGE', message, { remote: address.shown, limit, what });
}

const saidAtMost = 600;

/** Its last words say why; what it said of its progress is left out. */
export function wordsOf(stderr: string, address: Remote['address']): string {
  const lines = Buffer.from(stderr, 'latin1')
    .toString('utf8')
    .split(/[\r\n]+/)
    .map((line) => withoutSecrets(line, address))
    .filter((line) => line !== '' && !isProgress(line));
  return lines.join(' ').slice(-saidAtMost);
}

/** Whether git says there how far it is. */
export function isProgress(line: string): boolean {
  return /^(?:remote: )?(?:[A-Z][a-z]+ [a-z ]+: +[0-9]+|Delta compression using |Total [0-9]+ \()/.test(line);
}
