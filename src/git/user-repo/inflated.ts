import type { Buffer } from 'node:buffer';
import { inflateSync } from 'node:zlib';

import { systemCode } from '../../errors.js';

/** Larger commits exist in nobody's repository but a hostile one. */
export const largestCommit: number = 4 * 1024 * 1024;

/** Undefined when it is damaged or would grow beyond the limit. What follows the compressed data is not looked at. */
export function inflated(content: Buffer, limit: number): Buffer | undefined {
  try {
    return inflateSync(content, { maxOutputLength: Math.max(1, limit) });
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}
