import type { RunRequest } from '../../core/requests.js';
import type { RunResult } from '../../core/run-results.js';
import type { Context } from '../context.js';
import { exitPolicyFor, noteKept } from './exit-policy.js';
import { type StartCommand, run } from './run.js';

/**
 * Like `run`, in the user's own folders. Whatever the exit policy is, they stay as they are: `keep` notes that the work
 * is to stay, and nothing is discarded.
 */
export async function runInFolder(
  context: Context,
  undisturbed: Context,
  request: RunRequest,
  start: StartCommand,
): Promise<RunResult> {
  const { result } = await run(context, undisturbed, request, start);
  const { instance, messages } = result;
  if (exitPolicyFor(undisturbed.registry.find(instance)) !== 'keep') return result;
  const noted = await noteKept(undisturbed, instance);
  return { ...result, exitDecision: noted.decision, messages: [...messages, ...noted.messages] };
}
