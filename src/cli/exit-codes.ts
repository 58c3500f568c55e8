/** What each exit code says, as help prints it. */
export const exitCodes = {
  0: 'done, complete',
  1: 'the system failed (a disk error, say), or a bug',
  2: 'wrong usage or configuration',
  3: 'no such snapshot, instance or path',
  4: 'refused by a guard',
  5: 'confirmation needed or declined; nothing changed',
  6: 'partial: some paths could not be read or restored; they are named',
  7: 'the store or a snapshot is damaged',
  8: 'busy: somebody else holds the lock',
  9: 'git missing or too old, no space, no permission, no such remote',
  130: 'interrupted; nothing half-done is visible',
} as const;

export type ExitCode = keyof typeof exitCodes;
