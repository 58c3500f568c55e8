import type { InstanceName, Seq } from '../core/ids.js';
import type { InstanceRecord } from '../core/instance-record.js';
import { SnapError, isSnapError } from '../errors.js';
import type { Context } from './context.js';
import { raiseLastSeq } from './last-seq.js';

/*
 * A store that was removed must not look like one that was never made. Every record of an instance is written after the
 * store is made, so that a record without a store proves that there was one.
 */

/** What is lost, in words; null while the store is there, or was never made. */
export function lostStore(context: Context): string | null {
  if (context.store.exists()) return null;
  const names = recordedNames(context);
  // Looked at once more: a first save may have made both meanwhile.
  if (names.length === 0 || context.store.exists()) return null;
  const shown = names.slice(0, atMost).join(', ') + (names.length > atMost ? ', …' : '');
  return `The store is gone (store.git in the data directory), and with it the earlier snapshots of ${shown}.`;
}

/** @throws SnapError STORE_DAMAGED */
export function refuseLostStore(context: Context): void {
  const problem = lostStore(context);
  if (problem !== null) throw new SnapError('STORE_DAMAGED', problem, { problem });
}

/**
 * To be called before a new store takes its place: the highest numbers that other files still tell are noted as used.
 * @returns what is to be said of it
 */
export function noteLostStore(context: Context): readonly string[] {
  const problem = lostStore(context);
  if (problem === null) return [];
  for (const record of context.registry.all()) noteHighest(context, record);
  return [`${problem} A new one was made. If there is a copy, put it in its place before you go on.`];
}

/** The same with what is lost among the messages, or in the error: the new store is there, and nobody would say it later. */
export async function sayingLost<Result extends { readonly messages: readonly string[] }>(
  lost: readonly string[],
  act: () => Promise<Result>,
): Promise<Result> {
  try {
    const result = await act();
    return lost.length === 0 ? result : { ...result, messages: [...lost, ...result.messages] };
  } catch (error) {
    if (lost.length === 0 || !isSnapError(error)) throw error;
    throw new SnapError(error.code, [error.message, ...lost].join(' '), error.data, { cause: error });
  }
}

const atMost = 5;

function recordedNames({ registry }: Context): readonly InstanceName[] {
  const names = [...registry.all(), ...registry.damaged()].map(({ name }) => name);
  return [...new Set(names)].sort();
}

function noteHighest({ registry }: Context, { name, exit }: InstanceRecord): void {
  // Where one of these cannot be read, the instance is damaged, and its save says so.
  if (registry.damaged().some((damaged) => damaged.name === name)) return;
  const numbers = [registry.lastRestore(name) ?? 0, exit?.snapshot ?? 0, ...registry.fetched(name).keys()];
  const highest = numbers.reduce((most, number) => Math.max(most, number), 0);
  raiseLastSeq(registry, name, highest as Seq);
}
