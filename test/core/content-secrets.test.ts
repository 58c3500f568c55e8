import { describe, expect, test } from 'vitest';
import { looksLikeCredential } from '../../src/core/content-secrets.js';

const value = 'aB3dE5fG7hJ9kL1mN';

describe('what looks like a credential', () => {
  test.each([
    `{ "ANTHROPIC_API_KEY": "${value}" }`,
    `{"api_key":"${value}"}`,
    `{ "apiKey": "${value}" }`,
    `{ "accessToken": "${value}" }`,
    `{ "refresh_token" : "${value}" }`,
    `export GITHUB_TOKEN=${value}`,
    `export GITHUB_TOKEN="${value}"`,
    `token = '${value}'`,
    `password: ${value}`,
    `PASSWD=${value}`,
    `client-secret = ${value}`,
    `Authorization: Bearer ${value}`,
    `  "Authorization": "Basic ${value}"`,
    `x-api-key: ${value}`,
    `curl -H 'X-Api-Key: ${value}' https://example.com`,
    `many lines\n\nand then\nDB_PASSWORD=${value}\nmore\n`,
    `TOKEN=\${TOKEN}\nOTHER_TOKEN=${value}`,
  ])('%j', (text) => {
    expect(looksLikeCredential(text)).toBe(true);
  });

  const digits = '1234567890'.repeat(4);
  test.each([
    ['sk-ant-oat01', `-abc_DEF-${digits}`],
    ['sk-proj', `-abcDEF${digits}`],
    ['sk', `-${digits}`],
    ['xai', `-${digits}`],
    ['sgamp_user', `_01ABC_${digits}`],
    ['eyJhbGciOiJIUzI1NiJ9', '.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N'],
    ['glpat', `-${digits}`],
    ['AIza', digits.slice(0, 35)],
    ['ya29', `.${digits}`],
    ['AKIA', 'IOSFODNN7ABCDEFG'],
    ['hf', `_${digits}`],
    ['sk_live', `_${digits}`],
  ])('a token that begins with %s, wherever it stands', (...parts) => {
    const token = parts.join('');
    for (const text of [token, `It is ${token}.`, `["${token}"]`, `a=${token}\n`, `<${token}>`])
      expect(looksLikeCredential(text), text).toBe(true);
  });

  test.each([
    '',
    'sk-learn-is-a-library-with-a-long-name',
    'task-ABCDEFGHIJ1234567890abc',
    'the header eyJhbGciOiJIUzI1NiJ9 alone',
    'glass-of-water-and-something-else',
    'no name of anything',
    '{ "model": "opus" }',
    'export GITHUB_TOKEN=$GITHUB_TOKEN',
    'token: ${{ secrets.TOKEN_OF_THIS }}',
    'api_key = "op://vault/item/field"',
    'api_key: env:ANTHROPIC_API_KEY',
    'apiKey: process.env.ANTHROPIC_API_KEY',
    'api_key = os.environ["KEY_OF_THIS"]',
    'password: <your password here>',
    'token: {{ token_of_this }}',
    'API_KEY=...your-key-goes-here',
    'secret: ************',
    'key = some_long_identifier',
    'password = short',
    'The token is described below, in a long sentence.',
    'keyboard: 123456789012345',
  ])('and what does not: %j', (text) => {
    expect(looksLikeCredential(text)).toBe(false);
  });

  test('takes no time over what never ends', () => {
    const texts = ['token='.repeat(100_000), `key${' '.repeat(500_000)}`, `authorization: ${'bearer '.repeat(50_000)}`];
    for (const begin of ['sk-', 'sk-a', '-sk-', 'eyJ', 'eyJaaaaaaaaa.', 'xai-', 'gl', 'hf_ '])
      texts.push(begin.repeat(200_000));
    const start = performance.now();
    for (const text of texts) looksLikeCredential(text);
    expect(performance.now() - start).toBeLessThan(5000);
  });
});
