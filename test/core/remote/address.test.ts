import { describe, expect, test } from 'vitest';
import { parseRemote, withoutSecrets } from '../../../src/core/remote/address.js';

describe('what a remote may be', () => {
  test.each([
    ['https://host/a.git', 'https', 'https://host/a.git'],
    ['http://host:8080/a.git', 'http', 'http://host:8080/a.git'],
    ['ssh://git@host:22/a.git', 'ssh', 'ssh://git@host:22/a.git'],
    ['git://host/a', 'git', 'git://host/a'],
    ['host:a.git', 'ssh', 'host:a.git'],
    ['git@host:a.git', 'ssh', 'git@host:a.git'],
    ['[::1]:a.git', 'ssh', '[::1]:a.git'],
    ['me@[::1]:a.git', 'ssh', 'me@[::1]:a.git'],
    ['file:///srv/a%20b.git', 'file', '/srv/a b.git'],
    ['/srv/a.git', 'file', '/srv/a.git'],
    ['../a.git', 'file', '../a.git'],
    ['./a:b', 'file', './a:b'],
    ['origin', 'file', 'origin'],
  ])('%s is one of protocol %s', (text, protocol, shown) => {
    expect(parseRemote(text)).toMatchObject({ protocol, shown, secrets: [] });
  });

  test.each([
    ['', 'it is empty'],
    ['-u', 'begins with "-"'],
    ['--upload-pack=sh', 'begins with "-"'],
    ['ext::sh -c x', 'helper'],
    ['fd::3', 'helper'],
    ['::x', 'helper'],
    ['http::https://h/', 'helper'],
    ['ftp://h/', 'protocol'],
    ['HTTPS://h/', 'protocol'],
    ['ssh+git://h/', 'protocol'],
    ['ssh://-oProxyCommand=x/a', 'begins with "-"'],
    ['ssh://-l@h/a', 'begins with "-"'],
    ['-oProxyCommand=x:a', 'begins with "-"'],
    ['a@-oProxyCommand=x:a', 'begins with "-"'],
    ['host:-a', 'path begins with "-"'],
    [':a', 'no host'],
    ['https:///a', 'no host'],
    ['file://host/a', 'three slashes'],
    ['file:///a%', 'cannot be read'],
    ['file:///a%0ab', 'cannot be read'],
    [' /a', 'a space'],
    ['/a\nb', 'control'],
    ['/a\u202eb', 'control'],
  ])('%j is refused: %s', (text, why) => {
    expect(() => parseRemote(text)).toThrow(expect.objectContaining({ code: 'REMOTE_REFUSED' }) as Error);
    expect(() => parseRemote(text)).toThrow(why);
  });
});

describe('what may be a password', () => {
  const remotes = [
    ['https://me:hunter2@host/a', 'https://***@host/a'],
    ['https://token-of-mine@host/a', 'https://***@host/a'],
    ['https://a@b:p%40ss@host/a', 'https://***@host/a'],
    ['https://host/a?private_token=hunter2', 'https://host/a?***'],
    ['ssh://me:hunter2@host/a', 'ssh://me:***@host/a'],
  ] as const;

  test.each(remotes)('%s is shown as %s', (text, shown) => {
    const address = parseRemote(text);
    expect(address.shown).toBe(shown);
    expect(address.location).toBe(text);
  });

  test.each([
    'https://me:hunter2@host/\x07',
    'http::https://me:hunter2@h/',
    ' https://me:hunter2@h/',
    'file://me:hunter2@h/a',
  ])('is not in the refusal of %j', (text) => {
    expect(() => parseRemote(text)).toThrow(expect.objectContaining({ code: 'REMOTE_REFUSED' }) as Error);
    expect(() => parseRemote(text)).not.toThrow(/hunter2/);
  });

  test.each(remotes)('of %s is in no message', (text) => {
    const said = withoutSecrets(`fatal: '${text}' failed: hunter2 p@ss token-of-mine\x1b[31m\n`, parseRemote(text));
    for (const secret of parseRemote(text).secrets) expect(said).not.toContain(secret);
    expect(said).not.toMatch(/\p{Cc}/u);
  });

  test('of another URL is not shown either', () => {
    const said = withoutSecrets('redirected to https://u:pw@elsewhere/x', parseRemote('https://host/a'));
    expect(said).toBe('redirected to https://***@elsewhere/x');
  });
});
