import { knownFailure } from '../errors.js';
import { refusalWithin } from './data-directory.js';

/** A full or failing disk or a closed data directory is no bug, wherever it shows. */
export function withKnownFailures<Api extends object>(api: Api, dataDirectory: string): Api {
  const wrapped = Object.entries(api).map(
    ([name, member]: [string, unknown]) => [name, wrap(member, dataDirectory)] as const,
  );
  return Object.fromEntries(wrapped) as Api;
}

function wrap(member: unknown, dataDirectory: string): unknown {
  if (typeof member === 'object' && member !== null) return withKnownFailures(member, dataDirectory);
  if (typeof member !== 'function') return member;
  return async (...args: unknown[]): Promise<unknown> => {
    try {
      return await (member as (...given: unknown[]) => unknown)(...args);
    } catch (error) {
      throw refusalWithin(dataDirectory, error) ?? knownFailure(error) ?? error;
    }
  };
}
