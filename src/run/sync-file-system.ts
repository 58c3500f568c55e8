import { spawn } from 'node:child_process';

const ownDescriptors = '/proc/self/';

/**
 * Makes everything on the file system of a held directory durable.
 * @param pid our own process
 * @param directory path of the directory, or of our descriptor of it (below /proc/self/)
 * @returns false when there is no program that does it, or it failed
 */
export function syncFileSystem(directory: string, pid: number): Promise<boolean> {
  const path = directory.startsWith(ownDescriptors)
    ? `/proc/${String(pid)}/${directory.slice(ownDescriptors.length)}`
    : directory;
  // Programs of the system alone: what the caller's PATH leads to may lie in a mount.
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C' };
  const child = spawn('sync', ['-f', '--', path], { cwd: '/', env, stdio: 'ignore' });
  return new Promise((resolve) => {
    child.on('error', () => {
      resolve(false);
    });
    child.on('exit', (code) => {
      resolve(code === 0);
    });
  });
}
