import { expect, test } from 'vitest';

import { dockerEnvironment } from '../../src/run/look-at-container.js';

test('docker gets no folder that is relative, empty or where an agent writes', () => {
  const env = {
    HOME: '',
    XDG_RUNTIME_DIR: 'run',
    DOCKER_CONFIG: '/mount/docker',
    DOCKER_CERT_PATH: '/certs',
    PATH: '/x',
  };
  const kept = dockerEnvironment({ ...env, DOCKER_HOST: 'unix:///d' }, (folder) => !folder.startsWith('/mount'));
  expect(kept).toEqual({ DOCKER_CERT_PATH: '/certs', DOCKER_HOST: 'unix:///d', LC_ALL: 'C' });
});
