import { userInfo } from 'node:os';
import { expect, test } from 'vitest';

import { jackinPlaces } from '../../src/instance/jackin/file-jackin-home.js';
import { userHome } from '../../src/instance/user-home.js';

const listed = userInfo().homedir;

test.each([
  { env: { HOME: '/h' }, home: '/h' },
  { env: { HOME: '' }, home: listed },
  { env: { HOME: 'h' }, home: listed },
  { env: { HOME: '.' }, home: listed },
  { env: {}, home: listed },
])('of $env the home directory is $home', ({ env, home }) => {
  expect(userHome(env)).toBe(home);
  expect(jackinPlaces(env, '/cwd')).toEqual({
    home: `${home}/.jackin`,
    configuration: `${home}/.config/jackin`,
    userHome: home,
  });
});
