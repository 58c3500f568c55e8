import type { InstanceName } from '../../core/ids.js';
import { type InstanceRecord, exitPolicyOf } from '../../core/instance-record.js';
import type { DirtyExitPolicy } from '../../core/jackin/configuration.js';
import { isSnapError, systemCode } from '../../errors.js';
import type { Context } from '../context.js';
import { instanceOfFolder } from '../session/choose-instance.js';

/*
 * What is to become of a session that ends with the command that `run` started, as its operator set it.
 */

/** Of an instance that is not there, or closed, nobody set anything. */
export function exitPolicyFor(record: InstanceRecord | undefined): DirtyExitPolicy {
  return record === undefined || record.state === 'closed' ? 'ask' : exitPolicyOf(record);
}

/** That of the folder that a worktree is made for: its own instance is not there yet. */
export function exitPolicyOfFolder(context: Context): DirtyExitPolicy {
  try {
    return exitPolicyFor(instanceOfFolder(context, context.host.cwd));
  } catch (error) {
    if (!isSnapError(error, 'INSTANCE_AMBIGUOUS')) throw error;
    return 'ask';
  }
}

/** Notes that the work is to stay; a decision that was taken before is left alone. What fails here is only said. */
export async function noteKept(
  context: Context,
  instance: InstanceName,
): Promise<{ readonly decision: 'keep' | null; readonly messages: readonly string[] }> {
  try {
    if (context.registry.find(instance)?.exit?.decision !== 'keep') {
      const { noteKeep } = await import('../assess/decide.js');
      await noteKeep(context, instance, null);
    }
    return { decision: 'keep', messages: [] };
  } catch (error) {
    if (!isSnapError(error) && systemCode(error) === undefined) throw error;
    return {
      decision: null,
      messages: [`That its work is to be kept could not be noted: ${(error as Error).message}`],
    };
  }
}
