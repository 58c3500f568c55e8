/** Numbers that look random and follow from a seed alone, on every machine and version of Node. */
export interface Random {
  /** A whole number from 0 up to, not including, `limit`. */
  below(limit: number): number;
  /** True once in `times`. */
  oneIn(times: number): boolean;
  /** One of a list that is not empty. */
  pick<T>(list: readonly T[]): T;
  /** `length` bytes as latin1. */
  bytes(length: number): string;
}

/** mulberry32. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (limit: number): number => next() % limit;
  return {
    below,
    oneIn: (times) => below(times) === 0,
    pick: (list) => list[below(list.length)]!,
    bytes: (length) => Array.from({ length }, () => String.fromCharCode(below(256))).join(''),
  };
}
