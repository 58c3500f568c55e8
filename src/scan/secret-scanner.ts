import { lintSource } from '@secretlint/core';
import type { SecretLintRuleCreator } from '@secretlint/types';

import { type SecretScanner, looksLikeCredential } from '../core/content-secrets.js';

const preset = ['@secretlint', 'secretlint-rule-preset-recommend'].join('/');

/** By which a text tells the scanner to look away. An agent may have written it, so that it has no say. */
const byComments = ['@secretlint', 'secretlint-rule-filter-comments'].join('/');

/** By a name that the compiler does not follow: the package's types name packages that do not come with it. */
let loaded: Promise<{ readonly rules: readonly SecretLintRuleCreator[] }> | undefined;

/** Secrets as secretlint's recommended rules know them, and whatever stands behind the name of a credential. */
export const secretScanner: SecretScanner = {
  async holdsSecret(path: string, text: string): Promise<boolean> {
    if (looksLikeCredential(text)) return true;
    loaded ??= import(preset) as NonNullable<typeof loaded>;
    const rules = (await loaded).rules.filter(({ meta }) => meta.id !== byComments);
    const { messages } = await lintSource({
      source: { filePath: `/${path}`, content: text, contentType: 'text', ext: extensionOf(path) },
      options: { noPhysicFilePath: true, config: { rules: rules.map((rule) => ({ id: rule.meta.id, rule })) } },
    });
    return messages.length > 0;
  },
};

function extensionOf(path: string): string {
  return /\.[^./]+$/.exec(path)?.[0] ?? '';
}
