import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { storeGit } from '../support/store-git.js';
import { userGit, writeFiles } from '../support/user-git.js';
import { onPath, refsIn, savedTwice } from './remote-scene.js';
import { Scene, said } from './scene.js';

// A remote over HTTP: git's own server side behind a small server that asks for a password.

const password = 'correct horse';

/** Hands a request to `git http-backend`, as web servers do. */
function handOn(root: string, request: IncomingMessage, response: ServerResponse): void {
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const backend = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      REMOTE_USER: 'me',
      PATH_INFO: decodeURIComponent(path),
      QUERY_STRING: query,
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
  });
  request.pipe(backend.stdin);
  const chunks: Buffer[] = [];
  backend.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  backend.on('close', () => {
    const all = Buffer.concat(chunks);
    const end = all.indexOf('\r\n\r\n');
    const headers = all
      .subarray(0, end)
      .toString('latin1')
      .split('\r\n')
      .map((line) => line.split(/: */, 2) as [string, string]);
    const status = Number.parseInt(headers.find(([key]) => key === 'Status')?.[1] ?? '200');
    response.writeHead(status, Object.fromEntries(headers.filter(([key]) => key !== 'Status')));
    response.end(all.subarray(end + 4));
  });
}

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server: Server = createServer(answer);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

let scene: Scene;
let host: string;
let path: string;

beforeEach(async () => {
  const made = await savedTwice();
  scene = made.scene;
  userGit(made.remote, ['config', 'http.receivepack', 'true']);
  path = encodeURIComponent(basename(made.remote));
  host = await serve((request, response) => {
    const given = Buffer.from((request.headers.authorization ?? '').replace('Basic ', ''), 'base64').toString();
    if (given === `me:${password}`) handOn(dirname(made.remote), request, response);
    else response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="r"' }).end();
  });
});

const withPassword = (word: string): string => `http://me:${encodeURIComponent(word)}@${host}/${path}`;

describe('over http', () => {
  test('goes there and back with a password in the URL, which is shown and kept nowhere', async () => {
    const pushed = await scene.json(['push', withPassword(password)]);
    expect(pushed.data).toMatchObject({ remote: `http://***@${host}/${path}`, pushed: [{ seq: 1 }, { seq: 2 }] });
    const to = new Scene();
    const fetched = await to.json(['fetch', withPassword(password)]);
    expect(refsIn(to)).toEqual(refsIn(scene));
    expect(said(pushed) + said(fetched)).not.toMatch(/horse/);
    expect(storeGit(to.dataDir, ['config', '--list', '--local']).stdout).not.toContain('http');
  });

  test('is refused with a wrong one or none, at once and without showing it', async () => {
    for (const remote of [withPassword('wrong battery'), `http://${host}/${path}`]) {
      for (const command of ['push', 'fetch']) {
        const run = await scene.json([command, remote], { code: 9 });
        expect(run.document.error).toMatchObject({ code: 'REMOTE_FAILED' });
        expect(said(run)).not.toMatch(/battery/);
      }
    }
  });

  test('takes the password from a helper that was named, or from ~/.netrc', async () => {
    const remote = `http://${host}/${path}`;
    const log = join(scene.area, 'helper-log');
    const script = `#!/bin/sh\necho "$1" >>'${log}'\n[ "$1" = get ] && printf 'username=me\\npassword=${password}\\n'\n:\n`;
    const env = { PATH: onPath(join(scene.area, 'bin'), 'git-credential-mine', script) };
    writeFiles(scene.home, { '.gitconfig': '[credential]\n\thelper = mine\n' });
    await scene.run(['push', remote], { env, code: 9 });
    await scene.run(['push', '--credential-helper', 'mine', remote], { env });
    expect(readFileSync(log, 'utf8')).toContain('get');
    await scene.run(['fetch', '--credential-helper', join(scene.area, 'bin/git-credential-mine'), remote]);
    writeFiles(scene.home, { '.netrc': `machine 127.0.0.1 login me password "${password}"\n` });
    expect((await scene.json(['push', remote])).data.present).toHaveLength(2);
  });

  test.each(['ext::sh -c "touch RAN"', 'file:///', 'git://127.0.0.1:1/x', 'ftp://127.0.0.1:1/x'])(
    'is led to no other protocol: %s',
    async (elsewhere) => {
      const redirecting = await serve((_, response) => {
        response.writeHead(302, { Location: elsewhere }).end();
      });
      const { document } = await scene.json(['fetch', `http://${redirecting}/x`], { code: 9 });
      expect(document.error).toMatchObject({ code: 'REMOTE_FAILED' });
      expect(scene.has('RAN')).toBe(false);
    },
  );

  test('takes no words of the server for its own', async () => {
    const odd = await serve((_, response) => {
      response.writeHead(500, { 'Content-Type': 'text/plain' }).end('\x1b]0;evil\x07 words\n'.repeat(1000));
    });
    const run = await scene.run(['fetch', `http://${odd}/x`], { code: 9 });
    expect(run.stderr).not.toContain('\x1b');
    expect(run.stderr.length).toBeLessThan(2000);
  });
});
