import { lintSource } from '@secretlint/core';
import type { SecretLintRulePresetCreator } from '@secretlint/types';

import { type SecretScanner, looksLikeCredential } from '../core/content-secrets.js';

const preset = ['@secretlint', 'secretlint-rule-preset-recommend'].join('/');

/** By a name that the compiler does not follow: the package's types name packages that do not come with it. */
let rules: Promise<{ readonly creator: SecretLintRulePresetCreator }> | undefined;

/** Secrets as secretlint's recommended rules know them, and whatever stands behind the name of a credential. */
export const secretScanner: SecretScanner = {
  async holdsSecret(path: string, text: string): Promise<boolean> {
    if (looksLikeCredential(text)) return true;
    rules ??= import(preset) as NonNullable<typeof rules>;
    const { creator } = await rules;
    const { messages } = await lintSource({
      source: { filePath: `/${path}`, content: text, contentType: 'text', ext: extensionOf(path) },
      // What a comment in the text says of the scanner has no say: an agent may have written it.
      options: {
        noPhysicFilePath: true,
        config: { rules: [{ id: preset, rule: creator }] },
      },
    });
    return messages.length > 0;
  },
};

function extensionOf(path: string): string {
  return /\.[^./]+$/.exec(path)?.[0] ?? '';
}
