import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { directory, file } from '../support/tree-plan.js';
import { Stage } from './killed-restore.js';
import { expectSame } from './scene.js';

// From 256 files on they wait until all are durable; those of new folders in one place.
const lost = Array.from({ length: 300 }, (_, at) =>
  file(`lost/${at % 7}/file ${at}`, `lost ${at}`, at % 2 ? 0o644 : 0o755),
);
const trees = {
  then: [file('kept', 'v1'), ...lost, file('kept folder/edited', 'v1'), directory('lost/empty', 0o711)],
  now: [file('kept', 'v2'), file('kept folder/edited', 'v2'), file('kept folder/new', 'new')],
};

test('a restore of many files that is killed anywhere is finished, or taken back, and nothing waits for ever', async () => {
  const stage = new Stage(['one'], trees);
  const { wasThen, wasNow, moments } = await stage.begin();
  const last = moments.length - 1;
  const staging = (): string[] => readdirSync(stage.mounts[0]!).filter((name) => name.startsWith('.jackin-'));
  let staged = 0;
  for (const part of [0.01, 0.03, 0.2, 0.4, 0.6, 0.8, 0.97]) {
    const at = moments[Math.round(last * part)]!;
    for (const [way, outcome] of [
      ['--abort', wasNow],
      ['--continue', wasThen],
    ] as const) {
      await stage.kill(['restore', '1', '--yes'], at);
      staged += staging().length;
      await stage.run(['recover', way, '--yes']);
      expectSame(outcome, `killed at ${at}, ${way}`);
      stage.expectNothingLeft();
      stage.fill(trees.now);
    }
  }
  expect(staged).toBeGreaterThan(0);
});
