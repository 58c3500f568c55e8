import { describe, expect, test } from 'vitest';

import type { EntryPath, HostPath } from '../../src/core/entry-path.js';
import { isSecret, isSecretMount, isWithinSecret } from '../../src/core/secrets.js';

const path = (text: string): EntryPath => text as EntryPath;

describe('files', () => {
  test.each([
    '.env',
    '.env.local',
    '.env.example.local',
    '.env.',
    'a/b/.env.production',
    'x.pem',
    '.pem',
    'server.key',
    'id_rsa',
    'id_rsa.pub',
    'id_ed25519_work',
    'credentials.json',
    '.netrc',
    '.npmrc',
    '.pypirc',
    '.git-credentials',
    'line\nbreak.key',
    '.env.\n',
    'd/\xff.pem',
  ])('%j is secret, also as a link or pipe', (name) => {
    expect(['file', 'symlink', 'special'].map((kind) => isSecret(path(name), kind as 'file'))).toEqual([
      true,
      true,
      true,
    ]);
  });

  test.each([
    '.env.example',
    '.env.sample',
    '.env.template',
    'env',
    '.envrc',
    'x.pem.txt',
    'key',
    'my_id_rsa',
    'credentials.json5',
    '.npmrc~',
    '.ssh',
    'x.env',
    'a.key/b',
    '.env.d/x',
  ])('%j is not', (name) => expect(isSecret(path(name), 'file')).toBe(false));
});

describe('directories', () => {
  test.each(['.ssh', 'a/.aws', '.gnupg', '.kube', 'x/y/.docker', '.config/gh', 'home/.config/gcloud'])(
    '%j is secret',
    (name) => {
      expect(isSecret(path(name), 'directory')).toBe(true);
      expect(isWithinSecret(path(`${name}/below/it`), 'file')).toBe(true);
    },
  );

  test.each(['.env', 'x.pem', 'gh', 'config/gh', '.config', '.config/x/gh', 'x.config/gh', '.sshx'])(
    '%j is not',
    (name) => {
      expect(isSecret(path(name), 'directory')).toBe(false);
      expect(isWithinSecret(path(`${name}/below/it`), 'file')).toBe(false);
    },
  );

  test('knows .config/gh when the mount is .config', () => {
    expect(isSecret(path('gh'), 'directory', '.config')).toBe(true);
    expect(isSecret(path('x/gh'), 'directory', '.config')).toBe(false);
  });
});

describe('mounts', () => {
  test.each(['/home/me/.ssh', '/home/me/.ssh/keys', '/root/.config/gh', '/a/.config/gcloud/x', '/home/me/.docker/'])(
    '%j is secret',
    (host) => {
      expect(isSecretMount(host as HostPath)).toBe(true);
    },
  );

  test.each(['/home/me', '/home/me/.config', '/home/me/gh', '/home/me/.config/x/gh', '/home/me/ssh'])(
    '%j is not',
    (host) => {
      expect(isSecretMount(host as HostPath)).toBe(false);
    },
  );
});
