import { expect, test } from 'vitest';
import { Stage } from './killed-restore.js';
import { expectSame } from './scene.js';

test('an instance is not closed while a restore is pending, so that it can be ended and taken back', async () => {
  const stage = new Stage(['one']);
  const { wasThen, wasNow, moments } = await stage.begin();
  await stage.kill(['restore', '1', '--yes'], moments.at(-1)! >> 1);
  const cwd = stage.mounts[0]!;
  for (const args of [
    ['instance', 'close'],
    ['discard', '--yes'],
  ]) {
    const { document } = await stage.scene.json(args, { code: 4, cwd });
    expect(document.error, args.join(' ')).toMatchObject({ code: 'RESTORE_PENDING' });
    expect(document.error?.hint).toMatch(/recover --continue[^]*recover --abort/);
  }
  await stage.run(['recover', '--continue', '--yes']);
  expectSame(wasThen);
  await stage.run(['undo', '--yes']);
  expectSame(wasNow);
  await stage.run(['instance', 'close']);
  stage.expectNothingLeft();
});
