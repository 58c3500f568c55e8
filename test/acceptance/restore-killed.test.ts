import { describe, test } from 'vitest';
import { Stage, everyMoment, now } from './killed-restore.js';
import { expectSame } from './scene.js';

describe('a restore killed at any of its changes', () => {
  test.each([
    { way: 'taken back by recover', args: ['recover', '--abort'], share: 0 },
    { way: 'finished by recover', args: ['recover', '--continue'], share: 1 },
    { way: 'finished by the same restore', args: ['restore', '1'], share: 2 },
  ])('is $way', async ({ args, share }) => {
    const stage = new Stage(['one']);
    const { wasThen, wasNow, moments } = await stage.begin();
    const backwards = args.includes('--abort');
    for (const at of moments.filter((moment) => everyMoment || moment % 3 === share)) {
      await stage.kill(['restore', '1', '--yes'], at);
      stage.expectNothingHalfWritten();
      await stage.run([...args, '--yes']);
      expectSame(backwards ? wasNow : wasThen, `killed at its change ${at}: the folder`);
      stage.expectNothingLeft();
      if (!backwards) stage.fill(now);
    }
  });
});
