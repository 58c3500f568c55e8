import { describe, expect, test } from 'vitest';
import type { ContainerView } from '../../../src/core/containers.js';
import type { JackinManifest } from '../../../src/core/jackin/manifest.js';
import { sessionStatus } from '../../../src/core/jackin/session-status.js';

function manifest(status: string, outcome?: string): JackinManifest {
  return { status, ...(outcome === undefined ? {} : { last_attach_outcome: outcome }) } as JackinManifest;
}

type Seen = Exclude<ContainerView, { readonly state: 'unknown' }>;

const container = (state: Seen['state'], more: Partial<Seen> = {}): ContainerView => ({
  state,
  exitCode: null,
  oomKilled: false,
  mounts: [],
  ...more,
});
const unknown: ContainerView = { state: 'unknown', why: 'no docker' };

interface Row {
  readonly says: string;
  readonly is: ContainerView;
  readonly status: string;
  readonly outcome?: string;
}

describe('what a session really is', () => {
  test.each<Row>([
    { says: 'crashed', is: container('running'), status: 'running' },
    { says: 'clean_exited', is: container('created'), status: 'running' },
    { says: 'running', is: container('paused'), status: 'running' },
    { says: 'running', is: container('restarting'), status: 'running' },
    { says: 'running', is: container('removing'), status: 'removing' },
    { says: 'active', is: container('not_found'), status: 'killed_by_host' },
    { says: 'running', is: container('exited', { exitCode: 137 }), status: 'killed_by_host' },
    { says: 'running', is: container('exited', { exitCode: 0, oomKilled: true }), status: 'killed_by_host' },
    { says: 'running', is: container('exited', { exitCode: 0 }), status: 'exited' },
    { says: 'active', is: container('dead', { exitCode: 1 }), status: 'crashed' },
    { says: 'active', is: unknown, status: 'active' },
    { says: 'failed_setup', is: container('not_found'), status: 'failed_setup' },
    { says: 'failed_setup', outcome: 'exit:1', is: container('not_found'), status: 'killed_by_host' },
    { says: 'failed_setup', outcome: '', is: container('not_found'), status: 'failed_setup' },
    { says: 'failed_setup', is: container('exited', { oomKilled: true }), status: 'killed_by_host' },
    { says: 'failed_setup', is: unknown, status: 'failed_setup' },
    { says: 'preserved_dirty', is: container('exited', { exitCode: 137 }), status: 'preserved_dirty' },
    { says: 'superseded', is: unknown, status: 'superseded' },
  ])('$status where jackin says $says ($outcome) and its container is $is.state', ({ says, outcome, is, status }) => {
    expect(sessionStatus(manifest(says, outcome), 'jk', is)).toMatchObject({
      status,
      recorded: says,
      container: is.state,
    });
  });

  test('what jackin has no more is purged, unless its container lives', () => {
    expect(sessionStatus(undefined, 'jk', container('not_found'))).toMatchObject({ status: 'purged', recorded: null });
    expect(sessionStatus(undefined, 'jk', unknown).status).toBe('purged');
    expect(sessionStatus(undefined, 'jk', container('running')).status).toBe('running');
  });
});

describe('who may be at work in it', () => {
  test.each([
    { is: container('running'), owner: 'container jk is running' },
    { is: container('created'), owner: 'container jk is created' },
    { is: container('exited'), owner: null },
    { is: container('dead'), owner: null },
    { is: container('not_found'), owner: null },
    { is: unknown, owner: 'whether container jk runs cannot be found out: no docker' },
  ])('is $owner where its container is $is.state', ({ is, owner }) => {
    expect(sessionStatus(manifest('active'), 'jk', is).owner).toBe(owner);
  });

  test('is nobody where jackin saw that the container is gone', () => {
    expect(sessionStatus(undefined, 'jk', unknown).owner).toBeNull();
  });
});
