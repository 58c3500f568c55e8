/** Names of refs of one kind. Git keeps each as a path: where one is a file, none can be below it. */
export class RefNames {
  readonly #names = new Set<string>();
  /** What is the beginning of a name, up to a slash. */
  readonly #above = new Set<string>();

  constructor(names: Iterable<string>) {
    for (const name of names) this.add(name);
  }

  add(name: string): void {
    this.#names.add(name);
    for (const above of namesAbove(name)) this.#above.add(above);
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** One that the name cannot be beside: above it, or below. */
  clashWith(name: string): string | undefined {
    const above = namesAbove(name).find((one) => this.#names.has(one));
    if (above !== undefined || this.#names.has(name) || !this.#above.has(name)) return above;
    return [...this.#names].find((one) => one.startsWith(`${name}/`));
  }
}

/** `a/b/c` is below `a` and `a/b`. */
export function namesAbove(name: string): string[] {
  const parts = name.split('/');
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('/'));
}
