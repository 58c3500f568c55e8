import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';

/**
 * Adds snapshots to a store that holds one, until it holds so many: each the same tree, with a number, an id, a time and
 * a predecessor of its own, and its graft, as refs-layout.md has it. Saving them one by one would take an hour.
 */
export function addSnapshots(dataDir: string, total: number): void {
  const store = join(dataDir, 'store.git');
  const first = git(store, ['rev-parse', 'refs/jackin/bench/1']).trim();
  const commit = git(store, ['cat-file', 'commit', first]);
  const stream: string[] = [];
  let previous = { id: first, shown: first };
  for (let seq = 2; seq <= total; seq++) {
    const snapshot = numbered(commit, seq, previous.id);
    const id = idOf(snapshot);
    const graft = snapshot.replace('\n', `\nparent ${previous.id}\n`);
    const parent = seq === 2 ? first : `:${seq - 1}`;
    stream.push(imported(`refs/jackin/bench/${seq}\nmark :${seq}`, snapshot));
    stream.push(imported(`refs/replace/${id}`, graft, `from ${parent}\n`));
    previous = { id, shown: idOf(graft) };
  }
  git(store, ['fast-import', '--quiet', '--done'], `${stream.join('')}done\n`);
  const last = git(store, ['rev-parse', `refs/jackin/bench/${total}`, `refs/replace/${previous.id}`]);
  if (last !== `${previous.id}\n${previous.shown}\n`) throw new Error('the snapshots came out with other ids.');
}

function numbered(commit: string, seq: number, previous: string): string {
  const created = /^Jackin-Created: (.*)$/m.exec(commit)?.[1] ?? '';
  const time = Date.parse(created) + 1000 * (seq - 1);
  return commit
    .replace(/^Jackin-Seq: .*$/m, `Jackin-Seq: ${seq}`)
    .replace(/^Jackin-Id: .*$/m, `Jackin-Id: ${base32(time, 10)}${base32(seq, 16)}`)
    .replace(/^Jackin-Created: .*$/m, `Jackin-Created: ${new Date(time).toISOString()}`)
    .replace(/^(Jackin-Stored: .*)$/m, `$1\nJackin-Previous: ${previous}`)
    .replaceAll(/^((?:author|committer) .*) \d+ \+0000$/gm, `$1 ${Math.floor(time / 1000)} +0000`);
}

// A ULID is a time and random digits; here they are the number, so that no two are the same.
function base32(value: number, length: number): string {
  const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  let text = '';
  for (let rest = value; text.length < length; rest = Math.floor(rest / 32)) text = digits[rest % 32]! + text;
  return text;
}

function idOf(commit: string): string {
  return createHash('sha1')
    .update(`commit ${Buffer.byteLength(commit)}\0${commit}`)
    .digest('hex');
}

// The commit as a command of git's fast-import, which names by marks what it has just written.
function imported(refAndMark: string, commit: string, parent = ''): string {
  const end = commit.indexOf('\n\n');
  const headers = commit.slice(0, end).split('\n');
  const message = commit.slice(end + 2);
  const people = headers.filter((line) => /^(author|committer) /.test(line)).join('\n');
  const tree = headers[0]!.replace('tree ', 'M 040000 ');
  return `commit ${refAndMark}\n${people}\ndata ${Buffer.byteLength(message)}\n${message}${parent}${tree} ""\n\n`;
}

function git(store: string, words: readonly string[], input = ''): string {
  const { error, status, stdout, stderr } = spawnSync('git', [`--git-dir=${store}`, ...words], {
    env: { ...process.env, GIT_NO_REPLACE_OBJECTS: '1' },
    input,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (error !== undefined || status !== 0) throw new Error(`git ${words[0]}: ${stderr}`, { cause: error });
  return stdout;
}
