/** Lets the event loop do what waits: long work in pieces must not hold up signals and progress. */
export function otherWork(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
