import { getHeapStatistics, setFlagsFromString } from 'node:v8';

import type { RestorePreview, RestoreRequest, RestoreResult } from '../../index.js';
import { ReaderGone } from '../output.js';
import type { Context, Outcome } from '../session.js';

export interface RestoreManner {
  readonly dryRun: boolean;
  readonly yes: boolean;
  readonly verbose: boolean;
  readonly allowLarge: boolean;
  readonly what: 'restore' | 'undo' | 'recover';
  /** The command that takes it back; null for what is itself taken back. */
  readonly undo: string | null;
}

/** How a restore gets to know what the user agrees to. */
export type RestoreConsent = Pick<RestoreRequest, 'confirm' | 'allowLarge' | 'confirmLarge'>;

/**
 * A large plan stays while garbage is made beside it, which V8 would let grow as large as the plan. The process does
 * nothing else, so that its settings are ours to change. A small plan would only be slower for it.
 */
function collectEarlierOnceLarge(): { stop: () => void } {
  const watch = setInterval(() => {
    if (getHeapStatistics().used_heap_size < largeHeap) return;
    clearInterval(watch);
    setFlagsFromString('--heap-growing-percent=25');
  }, 20).unref();
  return { stop: () => clearInterval(watch) };
}

const largeHeap = 40 * 1024 * 1024;

/** What restore, undo and recover share: show the plan, ask, do it, and tell what came of it. */
export async function carryOutRestore(
  context: Context,
  manner: RestoreManner,
  run: (consent: RestoreConsent) => Promise<RestoreResult>,
): Promise<Outcome> {
  const watch = collectEarlierOnceLarge();
  const { surroundings, stopProgress, globals } = context;
  const [{ agreeTo, canAsk }, { largeQuestion, planText, restoredText, failureLines }, { restoreData }] =
    await Promise.all([import('../confirm.js'), import('../views/text-restore.js'), import('../views/json-change.js')]);
  const style = { ...(await context.style()), verbose: manner.verbose };
  let preview: RestorePreview | undefined;

  const result = await run({
    confirm: async (plan) => {
      stopProgress();
      preview = plan;
      if (plan.plan.length === 0) return true;
      const asks = !manner.yes;
      await unlessGone(showPlan(planText(plan, style), asks, context));
      if (asks) await sayNotes(plan.messages, context);
      return agreeTo(await deedOf(plan, manner), manner, surroundings);
    },
    allowLarge: manner.allowLarge,
    confirmLarge: canAsk(surroundings.output) ? (large) => surroundings.ask(largeQuestion(large)) : undefined,
  }).finally(watch.stop);

  const plan =
    preview === undefined || preview.plan.length === 0
      ? planText({ ...result, snapshot: result.fromSnapshot }, style)
      : '';
  const already = preview !== undefined && !manner.yes && !globals.json ? new Set(preview.messages) : new Set<string>();
  return {
    data: () => restoreData(result),
    text: () => plan + (result.dryRun ? '' : restoredText(result, manner.undo, style)),
    report: !result.dryRun,
    messages: result.messages.filter((message) => !already.has(message)),
    warnings: failureLines(result),
    exitCode: result.failed.length > 0 ? 6 : 0,
  };
}

/** That nobody reads the plan is no reason to end well without having done anything. */
async function unlessGone(words: Promise<void>): Promise<void> {
  try {
    await words;
  } catch (error) {
    if (!(error instanceof ReaderGone)) throw error;
  }
}

/** The plan goes where it is read: before a question, that is where the question is asked. */
async function showPlan(text: string, asks: boolean, { surroundings: { output }, globals }: Context): Promise<void> {
  const asking = asks && output.stdinIsTerminal && output.stderrIsTerminal;
  if (globals.json) return asking ? output.stderr.write(text) : undefined;
  if (asking && !output.stdoutIsTerminal) return output.stderr.write(text);
  if (asks || !globals.quiet) await output.stdout.write(text);
}

async function sayNotes(messages: readonly string[], { surroundings: { output } }: Context): Promise<void> {
  const { shown } = await import('../views/format.js');
  for (const message of messages) await output.stderr.write(`note: ${shown(message)}\n`);
}

async function deedOf({ plan, snapshot }: RestorePreview, { what }: RestoreManner): Promise<string> {
  const { grouped } = await import('../views/format.js');
  const deeds = { undo: 'take the last restore back', recover: 'go on' } as const;
  const verb = what === 'restore' ? `restore snapshot ${snapshot.seq}` : deeds[what];
  const count = plan.length === 1 ? '1 change' : `${grouped(plan.length)} changes`;
  return `${verb}, with ${count}`;
}
