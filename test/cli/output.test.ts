import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { processOutput, ReaderGone } from '../../src/cli/output.js';

const failing = (code: string): Writable =>
  new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error(code), { code })) });
const taking = (chunks: string[], delay = 0): Writable =>
  new Writable({
    highWaterMark: 1,
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(chunk.toString());
      setTimeout(done, delay);
    },
  });

describe('output', () => {
  test('a write resolves when the reader took it', async () => {
    const chunks: string[] = [];
    const { stdout } = processOutput({ stdin: {}, stdout: taking(chunks, 5), stderr: taking([]) });
    const order: string[] = [];
    const writes = ['a', 'b'].map((chunk) => stdout.write(chunk).then(() => order.push(`${chunk} taken`)));
    order.push('asked');
    await Promise.all(writes);
    expect(order).toEqual(['asked', 'a taken', 'b taken']);
    expect(chunks).toEqual(['a', 'b']);
  });

  test('a reader of stdout who went away is told apart from failures', async () => {
    const gone = processOutput({ stdin: {}, stdout: failing('EPIPE'), stderr: taking([]) });
    await expect(gone.stdout.write('a')).rejects.toBeInstanceOf(ReaderGone);
    const full = processOutput({ stdin: {}, stdout: failing('ENOSPC'), stderr: taking([]) });
    await expect(full.stdout.write('a')).rejects.toMatchObject({
      name: 'Error',
      message: expect.stringContaining('ENOSPC'),
    });
  });

  test('words that nobody reads on stderr do not matter', async () => {
    const { stderr } = processOutput({ stdin: {}, stdout: taking([]), stderr: failing('EPIPE') });
    await expect(stderr.write('a')).resolves.toBeUndefined();
  });

  test('the width is that of the terminal, else 80', () => {
    const wide = Object.assign(taking([]), { isTTY: true, columns: 120 });
    expect(processOutput({ stdin: {}, stdout: wide, stderr: taking([]) }).columns).toBe(120);
    expect(processOutput({ stdin: {}, stdout: taking([]), stderr: wide }).columns).toBe(120);
    expect(processOutput({ stdin: {}, stdout: taking([]), stderr: taking([]) }).columns).toBe(80);
  });
});
