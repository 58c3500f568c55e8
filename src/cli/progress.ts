import type { SingleBar } from 'cli-progress';
import type { Progress } from '../index.js';

export interface ProgressDisplay {
  readonly update: (progress: Progress) => void;
  /** Takes the line away, so that something else can be written. A later update brings it back. */
  readonly stop: () => void;
}

export const noProgress: ProgressDisplay = { update: () => undefined, stop: () => undefined };

const verbs: Readonly<Record<Progress['phase'], string>> = {
  scan: 'Reading',
  store: 'Storing',
  compare: 'Comparing',
  restore: 'Restoring',
  verify: 'Verifying',
  export: 'Exporting',
  check: 'Checking',
  fetch: 'Receiving',
  push: 'Sending',
};

export interface ProgressPlace {
  readonly terminal: NodeJS.WritableStream;
  readonly columns: number;
  /** Seconds since the command started. */
  readonly elapsed: () => number;
}

// What is done before that needs no line that flickers by.
const patience = 0.4;

/** One line on the terminal: phase, files, bytes, rate, and what remains once the total is known. */
export function progressOn(place: ProgressPlace): ProgressDisplay {
  let Bar: typeof SingleBar | undefined;
  let loading = false;
  let bar: SingleBar | undefined;
  let phase: { readonly name: Progress['phase']; readonly began: number } | undefined;
  let line = '';

  const load = async (): Promise<void> => {
    loading = true;
    ({ SingleBar: Bar } = (await import('cli-progress')).default);
  };

  return {
    update(progress) {
      const now = place.elapsed();
      if (phase?.name !== progress.phase) phase = { name: progress.phase, began: now };
      if (now < patience) return;
      line = progressLine(progress, { seconds: now - phase.began, columns: place.columns });
      if (Bar === undefined) {
        if (!loading) void load();
        return;
      }
      if (bar === undefined) {
        bar = new Bar({ ...barOptions, stream: place.terminal, format: () => line });
        bar.start(Number.MAX_SAFE_INTEGER, 0);
      }
      bar.update(progress.files);
    },
    stop() {
      bar?.stop();
      bar = undefined;
    },
  };
}

// The cursor and the line wrap stay as they are: a killed process could not set them back.
const barOptions = { clearOnComplete: true, hideCursor: false, linewrap: true, gracefulExit: false, fps: 8 } as const;

export function progressLine(
  progress: Progress,
  { seconds, columns }: { readonly seconds: number; readonly columns: number },
): string {
  const { bytes, totalBytes } = progress;
  const rate = seconds >= 1 ? Math.round(bytes / seconds) : 0;
  const parts = [
    verbs[progress.phase].padEnd(9),
    doneBar(progress),
    filesDone(progress),
    totalBytes === null ? shortSize(bytes) : `${shortSize(bytes)} of ${shortSize(totalBytes)}`,
    rate > 0 ? `${shortSize(rate)}/s` : '',
    rate > 0 && totalBytes !== null && totalBytes > bytes ? `${Math.ceil((totalBytes - bytes) / rate)} s left` : '',
  ];
  return parts
    .filter((part) => part !== '')
    .join('  ')
    .slice(0, Math.max(1, columns - 1));
}

/** What comes from elsewhere or goes there is not in files. */
function filesDone({ phase, files, totalFiles }: Progress): string {
  if (phase === 'fetch') return '';
  const what = phase === 'push' ? 'objects' : 'files';
  return totalFiles === null ? `${files} ${what}` : `${files} of ${totalFiles} ${what}`;
}

const barWidth = 20;

function doneBar({ files, bytes, totalFiles, totalBytes }: Progress): string {
  const [done, total] = totalBytes ? [bytes, totalBytes] : [files, totalFiles ?? 0];
  if (total === 0) return '';
  const filled = Math.round(barWidth * Math.min(1, done / total));
  return `[${'#'.repeat(filled)}${' '.repeat(barWidth - filled)}]`;
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Of a fixed look, so that the line does not jump. */
function shortSize(bytes: number): string {
  const step = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${(bytes / 1024 ** step).toFixed(step === 0 ? 0 : 1)} ${units[step] ?? 'B'}`;
}
