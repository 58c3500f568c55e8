import { Buffer } from 'node:buffer';

/** What a delta makes of its base; undefined when it is damaged or would make more than `limit` bytes. */
export function applyDelta(base: Buffer, delta: Buffer, limit: number): Buffer | undefined {
  const source = readSize(delta, 0);
  const target = source && readSize(delta, source.end);
  if (!target || source.value !== base.length || target.value > limit) return undefined;
  const result = Buffer.alloc(target.value);
  let filled = 0;
  for (let at = target.end; at < delta.length;) {
    const step = readStep(base, delta, at);
    if (step === undefined || filled + step.bytes.length > result.length) return undefined;
    filled += step.bytes.copy(result, filled);
    at = step.end;
  }
  return filled === result.length ? result : undefined;
}

interface Step {
  readonly bytes: Buffer;
  readonly end: number;
}

/** One instruction: bytes of the base, or bytes that follow. */
function readStep(base: Buffer, delta: Buffer, at: number): Step | undefined {
  const sign = delta[at] ?? 0;
  if (sign === 0) return undefined;
  if (sign < 0x80) {
    const end = at + 1 + sign;
    return end <= delta.length ? { bytes: delta.subarray(at + 1, end), end } : undefined;
  }
  const offset = readParts(delta, at + 1, sign & 15);
  const length = readParts(delta, offset.end, (sign >> 4) & 7);
  const count = length.value === 0 ? 0x10000 : length.value;
  if (length.end > delta.length || offset.value + count > base.length) return undefined;
  return { bytes: base.subarray(offset.value, offset.value + count), end: length.end };
}

/** A number of which only the bytes that are not zero are there, lowest first; `bits` says which. */
function readParts(delta: Buffer, start: number, bits: number): { value: number; end: number } {
  let value = 0;
  let end = start;
  for (let place = 0; bits >> place > 0; place += 1) {
    if (((bits >> place) & 1) === 1) value += (delta[end++] ?? 0) * 256 ** place;
  }
  return { value, end };
}

function readSize(delta: Buffer, start: number): { value: number; end: number } | undefined {
  let value = 0;
  for (let at = start; at < delta.length && at < start + 6; at += 1) {
    const byte = delta[at] ?? 0;
    value += (byte & 0x7f) * 128 ** (at - start);
    if (byte < 0x80) return { value, end: at + 1 };
  }
  return undefined;
}
