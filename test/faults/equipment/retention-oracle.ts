interface Marks {
  readonly emergencies: ReadonlySet<number>;
  readonly pinned: ReadonlySet<number>;
  /** How many of each kind are kept. */
  readonly last: number;
  readonly emergency: number;
}

/** By their numbers alone: the first, the latest, the last of each kind, and pinned ones are kept. */
export function keptByNumber(seqs: readonly number[], { emergencies, pinned, last, emergency }: Marks): Set<number> {
  const all = [...seqs].sort((a, b) => a - b);
  return new Set([
    ...all.slice(0, 1),
    ...all.slice(-1),
    ...pinned,
    ...all.filter((seq) => !emergencies.has(seq)).slice(-last),
    ...all.filter((seq) => emergencies.has(seq)).slice(-emergency),
  ]);
}
