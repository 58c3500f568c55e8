import { describe, expect, test } from 'vitest';
import { secretScanner } from '../../src/scan/secret-scanner.js';

const holds = (text: string, path = '.claude/skills/one/SKILL.md'): Promise<boolean> =>
  secretScanner.holdsSecret(path, text);

/** In the forms that vendors give to theirs, put together so that no scanner finds them here. */
const letters = '1234567890abcdefghijklmnopqrstuvwxyz';
const vendors = {
  'a token of GitHub': ['gh', `p_${letters}`],
  'one for actions': ['gh', `s_${letters}`],
  'a token of npm': ['npm', `_${letters}`],
  'a hook of Slack': ['https://hooks.slack', '.com/services/T12345678/B12345678/abcdefghijklmnopqrstuvwx'],
  'a key of AWS': ['AWS_SECRET_ACCESS_KEY=wJalr', 'XUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzKEY'],
  'a password in an address': ['postgres://user:pa55w0rd', 'XyZ@db.internal:5432/shop'],
  'a private key': [
    `-----BEGIN RSA PRIVATE KEY-----\n`,
    `${'MIIEpAIBAAKCAQEA1c7+9z5Pad7OejecsQ0buZj4mEIIGvJ0EDWdMvhv+VZMHsqo\n'.repeat(20)}-----END RSA PRIVATE KEY-----\n`,
  ],
};

describe('a secret', () => {
  test.each(Object.entries(vendors))('is found: %s', async (_, parts) => {
    const secret = parts.join('');
    expect(await holds(secret)).toBe(true);
    expect(await holds(`# A skill\n\nSome text, then ${secret}\nand more.\n`)).toBe(true);
    expect(await holds(`{ "note": ${JSON.stringify(secret)} }\n`, '.claude/plugins/p.json')).toBe(true);
  });

  test('is found after a comment that tells a scanner to look away', async () => {
    const secret = vendors['a token of GitHub'].join('');
    expect(await holds(`<!-- secretlint-disable -->\n${secret}\n`)).toBe(true);
    expect(await holds(`// secretlint-disable-next-line\nconst a = '${secret}';\n`, '.claude/hooks/a.js')).toBe(true);
    expect(await holds(`# secretlint-disable\n${secret}\n# secretlint-enable\n`, '.claude/hooks/a.sh')).toBe(true);
  });

  test('is found whatever the file is called', async () => {
    const secret = vendors['a token of npm'].join('');
    for (const path of ['a', '.claude/skills/a.unknown', '.claude/skills/\xe9.md', 'package-lock.json', 'a.lock'])
      expect(await holds(secret, path), path).toBe(true);
  });

  test('is found in a large text, at its end', async () => {
    const secret = vendors['a token of GitHub'].join('');
    expect(await holds(`${'a line of text\n'.repeat(60_000)}${secret}\n`)).toBe(true);
  });
});

describe('no secret', () => {
  test.each([
    '',
    '{ "model": "opus", "permissions": { "allow": ["Bash(npm test)"] } }\n',
    '# Reviewer\n\nReview what changed. Never print tokens, keys or passwords.\n',
    'model = "o4"\napproval_policy = "on-request"\n[mcp_servers.docs]\ncommand = "docs"\nenv = { TOKEN = "$DOCS_TOKEN" }\n',
    '#!/bin/sh\nexec curl -H "Authorization: Bearer $TOKEN" https://example.com\n',
  ])('is found in %j', async (text) => {
    expect(await holds(text)).toBe(false);
  });
});
