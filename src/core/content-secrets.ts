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
 * The forms of the agents' own logins, and of some that scanners do not know, are looked for wherever they stand.
 */
export function looksLikeCredential(text: string): boolean {
  if (form.test(text)) return true;
  for (const match of text.matchAll(assignment)) {
    const { value } = match.groups ?? {};
    if (value !== undefined && !isReference(value)) return true;
  }
  return false;
}

const assignment =
  /(?:(?:_|\b)(?:token|key|secret|password|passwd)|api[-_]?key|access[-_]?token|auth[-_]?token|client[-_]?secret|authorization|x-api-key)["']?[ \t]*(?::|=)[ \t]*["']?(?:(?:bearer|basic|token)[ \t]+)?(?<value>[^\s"',;]{12,})/gi;

/** Each begins where a word does, so that looking takes no longer than the text is long. */
const form = new RegExp(
  [
    String.raw`(?<![\w-])(?:`,
    [
      // Anthropic, OpenAI and others; a digit or capital tells them from words that begin so.
      String.raw`sk-(?=[a-z_-]*[\dA-Z])[\w-]{20,}`,
      String.raw`xai-\w{20,}`,
      String.raw`sgamp_\w{20,}`,
      // Signed tokens (JWT), as logins by browser have.
      String.raw`eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}`,
      String.raw`gl(?:pat|dt|rt|ptt|ft|soat|imt|cbt)-[\w-]{20,}`,
      String.raw`AIza[\w-]{35}`,
      String.raw`ya29\.[\w-]{20,}`,
      String.raw`A[KS]IA[0-9A-Z]{16}`,
      String.raw`hf_[A-Za-z0-9]{30,}`,
      String.raw`[rs]k_live_\w{20,}`,
    ].join('|'),
    ')',
  ].join(''),
);

/** Names where the secret is, and holds none. */
function isReference(value: string): boolean {
  return /^(?:\$|%|op:\/\/|<|\{\{|env:|process\.env|os\.|\.{3}|\*{3})/i.test(value) || /^[a-z_.()[\]-]+$/i.test(value);
}
