import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { HostPath } from '../../src/core/entry-path.js';
import { parseRemote } from '../../src/core/remote/address.js';
import type { Remote } from '../../src/core/remote/remotes.js';
import { Programs } from '../../src/git/programs.js';
import { locationOf, networkFor, otherSide } from '../../src/git/remote/network.js';
import { tempDir } from '../support/temp.js';

const env = {
  ...{ HOME: '/home/me', SSH_AUTH_SOCK: '/agent', https_proxy: 'http://proxy', SSL_CERT_FILE: '/certs', DISPLAY: ':0' },
  ...{ GIT_SSH_COMMAND: 'evil', GIT_ASKPASS: 'evil', SSH_ASKPASS: 'evil', GIT_SSL_NO_VERIFY: '1', GIT_TRACE: '/t' },
  ...{ GIT_PROXY_SSL_KEY: 'x', LD_PRELOAD: 'evil', GIT_CONFIG_COUNT: '1', GIT_EXEC_PATH: '/evil' },
};

function remote(text: string, more: Partial<Remote> = {}): Remote {
  return {
    address: parseRemote(text),
    directory: null,
    credentialHelper: null,
    mayAsk: false,
    readsHome: true,
    ...more,
  };
}

function programs(forbidden: readonly string[] = [], path = '/usr/bin:/bin'): Programs {
  return new Programs({ dataDir: '/none', env: { PATH: path }, forbiddenDirectories: () => forbidden });
}

function folderWith(program: string): string {
  const folder = tempDir('bin');
  writeFileSync(join(folder, program), '#!/bin/sh\n');
  chmodSync(join(folder, program), 0o755);
  return folder;
}

describe('what git gets to reach a remote', () => {
  test.each([
    ['/srv/r.git', ['GIT_ALLOW_PROTOCOL', 'GIT_TERMINAL_PROMPT'], 'file'],
    ['git://host/r', ['GIT_ALLOW_PROTOCOL', 'GIT_TERMINAL_PROMPT', 'HOME'], 'git'],
    ['https://host/r', ['GIT_ALLOW_PROTOCOL', 'GIT_TERMINAL_PROMPT', 'HOME', 'SSL_CERT_FILE', 'https_proxy'], 'https'],
  ])('%s: of the environment no more than %j', (text, names, protocol) => {
    const { environment, configuration } = networkFor(remote(text), env, programs());
    expect(Object.keys(environment).sort()).toEqual(names);
    expect(environment['GIT_ALLOW_PROTOCOL']).toBe(protocol);
    expect(configuration).toContain('http.sslVerify=true');
    expect(configuration.join()).not.toContain('credential');
  });

  test('no home of its own that is empty or relative', () => {
    for (const home of ['', 'home', '.']) {
      const odd = { ...env, HOME: home, XDG_CONFIG_HOME: home, XDG_RUNTIME_DIR: home };
      const { environment } = networkFor(remote('https://host/r'), odd, programs());
      expect(Object.keys(environment).filter((name) => /^(?:HOME|XDG_)/.test(name))).toEqual([]);
    }
  });

  test('ssh by its path, quoted, and without asking', () => {
    const folder = join(tempDir('odd'), "it's");
    mkdirSync(folder);
    writeFileSync(join(folder, 'ssh'), '#!/bin/sh\n');
    chmodSync(join(folder, 'ssh'), 0o755);
    const { environment } = networkFor(remote('host:r'), env, programs([], folder));
    expect(environment['GIT_SSH_COMMAND']).toContain(`it'\\''s/ssh' -o`);
    expect(environment['GIT_SSH_COMMAND']).toContain('-o BatchMode=yes');
    expect(environment['SSH_AUTH_SOCK']).toBe('/agent');
    const asking = networkFor(remote('host:r', { mayAsk: true }), env, programs([], folder));
    expect(asking).toMatchObject({ onTerminal: true, environment: { GIT_TERMINAL_PROMPT: '1' } });
    expect(asking.environment['GIT_SSH_COMMAND']).not.toContain('BatchMode');
  });

  test('no ssh of a mount', () => {
    const folder = folderWith('ssh');
    expect(() => networkFor(remote('host:r'), env, programs([folder], folder))).toThrow(
      expect.objectContaining({ code: 'GIT_MISSING' }) as Error,
    );
  });

  test('nothing of a home that is in a mount', () => {
    expect(networkFor(remote('https://h/r', { readsHome: false }), env, programs()).environment).not.toHaveProperty(
      'HOME',
    );
  });

  test.each(['cache', 'store', 'mine'])('the credential helper %s, where it is asked for', (credentialHelper) => {
    const { configuration, environment } = networkFor(
      remote('https://h/r', { credentialHelper }),
      env,
      programs([], folderWith('git-credential-mine')),
    );
    expect(configuration.at(-1)).toMatch(new RegExp(`^credential\\.helper=.*${credentialHelper}$`));
    expect(environment).toHaveProperty('DISPLAY');
  });

  test.each(['nowhere', '!touch RAN', 'cache --timeout=3', '-x', '', '../x', '/a\nb', 'a;b', '"x"'])(
    'no credential helper %j',
    (credentialHelper) => {
      expect(() => networkFor(remote('https://h/r', { credentialHelper }), env, programs())).toThrow(
        expect.objectContaining({ code: 'REMOTE_REFUSED' }) as Error,
      );
    },
  );

  test('no credential helper in a mount, and a path of odd characters as one word', () => {
    const folder = folderWith('helper');
    const at = (path: string) => networkFor(remote('https://h/r', { credentialHelper: path }), env, programs([folder]));
    expect(() => at(join(folder, 'helper'))).toThrow('credential helper');
    expect(at('/opt/my helper').configuration.at(-1)).toBe("credential.helper='/opt/my helper'");
  });

  test('the other side is ours only where it is local', () => {
    expect(otherSide(remote('https://h/r'), 'upload-pack')).toEqual([]);
    const [option = ''] = otherSide(remote('/r'), 'receive-pack');
    expect(option).toMatch(/^--receive-pack=GIT_ALLOW_PROTOCOL=none .*core\.hooksPath=\/dev\/null.* receive-pack$/);
    expect(locationOf(remote('/r', { directory: '/srv/r.git' as HostPath }))).toBe('/srv/r.git');
    expect(() => locationOf(remote('/r', { directory: '/srv/\xff' as HostPath }))).toThrow('not UTF-8');
  });
});
