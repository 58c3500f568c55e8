/** Finds secrets by content. */
export interface SecretScanner {
  /**
   * Whether a text seems to hold a secret.
   * @throws anything at all where it could not be looked at: then it must count as one
   */
  holdsSecret(path: string, text: string): Promise<boolean>;
}

/**
 * A name that credentials have, with a value of some length that is no reference: `"ANTHROPIC_API_KEY": "…"`,
 * `export TOKEN=…`, `Authorization: Bearer …`. A scanner knows the forms that vendors give to their tokens; many have none.
 */
export function looksLikeCredential(text: string): boolean {
  for (const match of text.matchAll(assignment)) {
    const { value } = match.groups ?? {};
    if (value !== undefined && !isReference(value)) return true;
  }
  return false;
}

const assignment =
  /(?:(?:_|\b)(?:token|key|secret|password|passwd)|api[-_]?key|access[-_]?token|auth[-_]?token|client[-_]?secret|authorization|x-api-key)["']?[ \t]*(?::|=)[ \t]*["']?(?:(?:bearer|basic|token)[ \t]+)?(?<value>[^\s"',;]{12,})/gi;

/** Names where the secret is, and holds none. */
function isReference(value: string): boolean {
  return /^(?:\$|%|op:\/\/|<|\{\{|env:|process\.env|os\.|\.{3}|\*{3})/i.test(value) || /^[a-z_.()[\]-]+$/i.test(value);
}
