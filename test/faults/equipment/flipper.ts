import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const checkout = process.env['JACKIN_TEST_CHECKOUT'] ?? join(import.meta.dirname, '../../..');
const numbers: Readonly<Record<string, number>> = { x64: 316, arm64: 276 };
const nobody = 65_534;

/** Whoever flips is another user where that can be had. */
export const flipperUid: number = process.getuid?.() === 0 ? nobody : (process.getuid?.() ?? nobody);

export function lacksFlipper(): string | undefined {
  if (process.platform !== 'linux' || numbers[process.arch] === undefined) return 'renameat2 of Linux on x64 or arm64';
  return existsSync('/usr/bin/perl') || spawnSync('perl', ['-v']).status === 0 ? undefined : 'perl';
}

/** Starts to exchange each path for the other; answers how to end it, which tells how often that was done. */
export async function startFlipper(pairs: readonly (readonly [string, string])[]): Promise<() => Promise<number>> {
  const script = join(checkout, 'test/faults/equipment/flip.pl');
  const args = [script, String(numbers[process.arch]), String(flipperUid), '300', ...pairs.flat()];
  const child = spawn('perl', args, { cwd: '/', stdio: ['pipe', 'pipe', 'inherit'] });
  const end = (): void => void child.kill('SIGKILL');
  process.once('exit', end);
  let said = '';
  const closed = new Promise<void>((done) => child.once('close', () => done()));
  const ready = new Promise<void>((done) => {
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.startsWith('ready\n')) done();
    });
  });
  await Promise.race([ready, closed]);
  return async () => {
    child.stdin.end();
    await closed;
    process.off('exit', end);
    const flips = /^ready\n(\d+)\n$/.exec(said)?.[1];
    if (flips === undefined) throw new Error(`The flipper said ${JSON.stringify(said)}.`);
    return Number(flips);
  };
}
