import { type HostPath, bytesOfText, displayPath, hostPathBelow } from '../../core/entry-path.js';
import { parseRemote, refusedRemote } from '../../core/remote/address.js';
import type { RemoteAddress } from '../../core/remote/address.js';
import type { FetchRequest, PushRequest } from '../../core/remote/results.js';
import type { Remote, Remotes } from '../../core/remote/remotes.js';
import { SnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { liesIn, overlap } from '../session/folders.js';

/**
 * The remote that was named, once it is known that nobody who works in a mount has a say in how it is reached: git starts
 * what the configuration of a local repository names, and ssh what its own does.
 * @throws SnapError REMOTE_REFUSED, REMOTE_FAILED where there is no repository at a path
 */
export function chooseRemote(
  context: Context,
  remotes: Remotes,
  { remote, credentialHelper, mayAsk = false }: PushRequest | FetchRequest,
): Remote {
  const address = parseRemote(remote);
  const directory = address.protocol === 'file' ? localRepository(context, remotes, address) : null;
  if (address.protocol === 'ssh') refuseSshOfMount(context, remotes, address);
  const { home } = context.host;
  const readsHome = home !== null && !mounts(context).some(({ path }) => liesIn(context, home, path));
  return { address, directory, credentialHelper: credentialHelper ?? null, mayAsk, readsHome };
}

function localRepository(context: Context, remotes: Remotes, address: RemoteAddress): HostPath {
  const typed = bytesOfText(address.location);
  const path = typed.startsWith('/') ? (typed as HostPath) : hostPathBelow(context.host.cwd, typed);
  const real = context.host.realPath(path);
  if (real === undefined) throw noRepository(address, `There is nothing at ${displayPath(path)}.`);
  const found = remotes.findRepository(real);
  if (found === undefined) {
    const what = `There is no repository in ${displayPath(real)} that is bare or has a .git folder of its own.`;
    throw noRepository(address, what);
  }
  if ('detour' in found)
    throw refusedRemote(address.shown, `${displayPath(found.detour)} in it leads to another repository`);
  for (const place of [found.directory, ...found.reads]) refuseWithinFolders(context, address, place);
  return found.directory;
}

function noRepository({ shown }: RemoteAddress, what: string): SnapError<'REMOTE_FAILED'> {
  return new SnapError('REMOTE_FAILED', `The remote ${JSON.stringify(shown)} could not be used. ${what}`, {
    remote: shown,
    said: '',
  });
}

/** Nothing that git would read may be the agents', nor the store. */
function refuseWithinFolders(context: Context, { shown }: RemoteAddress, place: HostPath): void {
  if (overlap(context, place, context.host.dataDirectory))
    throw refusedRemote(shown, `${displayPath(place)} is in the data directory`);
  const mount = mounts(context).find(({ path }) => overlap(context, place, path));
  if (mount === undefined) return;
  const where = `the folder ${displayPath(mount.path)} of instance ${mount.instance}`;
  throw refusedRemote(shown, `${displayPath(place)} is in ${where}, where programs may have been named for it`);
}

function refuseSshOfMount(context: Context, { sshDirectory }: Remotes, { shown }: RemoteAddress): void {
  const mount = mounts(context).find(({ path }) => overlap(context, sshDirectory, path));
  if (mount === undefined) return;
  const where = `in the folder ${displayPath(mount.path)} of instance ${mount.instance}`;
  throw refusedRemote(shown, `what ssh is set up with is ${where}, and may name programs`);
}

function mounts({ registry }: Context): { readonly instance: string; readonly path: HostPath }[] {
  return registry.all().flatMap((record) => record.mounts.map(({ path }) => ({ instance: record.name, path })));
}
