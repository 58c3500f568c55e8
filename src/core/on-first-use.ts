/**
 * Makes a value when it is first asked for, and hands out that one from then on. For what takes time to make and what
 * most commands do without: the schema of a rare file, say.
 */
export function onFirstUse<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
