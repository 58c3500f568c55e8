import { isSnapError } from '../errors.js';

/** For whoever goes on without what is missing or damaged: that is for others to find. */
export async function ifSound<Answer>(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isSnapError(error, 'STORE_DAMAGED')) return undefined;
    throw error;
  }
}
