import { expect, test } from 'vitest';
import { unknownAuthModes } from '../../../src/core/jackin/configuration.js';

const known: Readonly<Record<string, readonly string[]>> = {
  claude: ['sync', 'api_key', 'oauth_token', 'ignore'],
  codex: ['sync', 'api_key', 'ignore'],
  amp: ['sync', 'api_key', 'ignore'],
  kimi: ['sync', 'api_key', 'ignore'],
  'kimi-code': ['sync', 'api_key', 'ignore'],
  opencode: ['sync', 'api_key', 'ignore'],
  grok: ['sync', 'api_key', 'ignore'],
  github: ['sync', 'token', 'ignore'],
};

test.each(Object.keys(known))('%s has its own ways of login', (agent) => {
  for (const mode of ['sync', 'api_key', 'oauth_token', 'token', 'ignore', 'Sync', '', null]) {
    const unknown = mode === null || known[agent]?.includes(mode) !== true;
    expect(unknownAuthModes([{ agent, mode }])).toEqual(unknown ? [{ agent, mode }] : []);
  }
});

test('of an agent that is not known no way is', () => {
  expect(unknownAuthModes([{ agent: 'another', mode: 'sync' }])).toHaveLength(1);
});
