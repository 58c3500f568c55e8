import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFifo } from '../../support/build-tree.js';
import { hostileContent } from './hostile-content.js';
import { someEntries, someObject } from './hostile-entries.js';
import type { HostileKind } from './hostile-kind.js';

const inStore = [
  'hooks/post-update',
  'hooks/reference-transaction',
  'commondir',
  'shallow',
  'config.worktree',
  'info/grafts',
];
const leading = ['info/attributes', 'objects/info/alternates', 'objects/info/http-alternates', 'objects/info/packs'];
const replaced = [
  'refs/jackin/t/9',
  'refs/jackin',
  'refs/replace',
  'objects/ab',
  'HEAD',
  'config',
  'packed-refs',
  'last-packed-ref',
  'FETCH_HEAD',
];

const kinds: readonly HostileKind[] = [
  {
    name: 'refs',
    craft: (store, random) => {
      const name = random.pick([
        't/2',
        't/007',
        't/99999999999999999999',
        't/x',
        '-x/1',
        'T/1',
        '../x/1',
        't/2/3',
        'u/1',
        't/0',
      ]);
      const to = random.pick<[string, () => string]>([
        ['a commit', () => store.sound('')],
        ['a tree', () => store.sound(':mounts')],
        ['a file', () => store.sound(':mounts/m/top')],
        ['nothing', () => '1'.repeat(40)],
        ['garbage', () => 'garbage'],
        ['a ref elsewhere', () => 'ref: refs/jackin/t/1'],
        ['a way out', () => 'ref: ../../../../etc/passwd'],
      ]);
      const path = join(store.at('refs/jackin'), name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `${to[1]()}\n`);
      return `${name} is ${to[0]}`;
    },
  },
  {
    name: 'grafts',
    craft: (store, random, outside) => {
      store.snapshot({ mount: store.tree(someEntries(store, random, outside)) });
      const [from, to] = [
        store.sound(random.pick(['', ':mounts/m/top', ':mounts/m', ':mounts/m/d'])),
        someObject(store, random, outside),
      ];
      const path = store.at(`refs/replace/${from}`);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `${to}\n`);
      return `${from} is replaced by ${to}`;
    },
  },
  {
    name: 'files of a store',
    spoilsAll: true,
    craft: (store, random, outside) => {
      const name = random.pick([...inStore, ...leading]);
      const path = store.at(name);
      mkdirSync(dirname(path), { recursive: true });
      const text = random.pick([
        `${outside}\n`,
        '* filter=evil diff=evil\n',
        `#!/bin/sh\nexec '${store.trap}'\n`,
        '../../..\n',
      ]);
      writeFileSync(path, text, { mode: 0o755 });
      return `${name}: ${text}`;
    },
  },
  {
    name: 'settings of a store',
    craft: (store, random) => {
      const keys = ['core.fsmonitor', 'core.hooksPath', 'core.pager', 'diff.external', 'gpg.program', 'alias.rev-list'];
      const more = [
        'core.alternateRefsCommand',
        'core.sshCommand',
        'gc.recentObjectsHook',
        'uploadpack.packObjectsHook',
      ];
      const key = random.pick([...keys, ...more]);
      const [section, name] = key.split('.');
      writeFileSync(
        store.at('config'),
        `[core]\n\tbare = true\n\trepositoryformatversion = 0\n[${section}]\n\t${name} = ${store.trap}\n`,
      );
      return key;
    },
  },
  {
    name: 'links and pipes in a store',
    spoilsAll: true,
    craft: (store, random, outside) => {
      const name = random.pick(replaced);
      const path = store.at(name);
      rmSync(path, { recursive: true, force: true });
      mkdirSync(dirname(path), { recursive: true });
      const isPipe = random.oneIn(3);
      if (isPipe) makeFifo(path);
      else symlinkSync(random.pick([outside, `${outside}/d/e/one`, '/etc/passwd', '..', name]), path);
      return `${name} is a ${isPipe ? 'pipe' : 'link'}`;
    },
  },
];

export const hostileKinds: readonly HostileKind[] = [...hostileContent, ...kinds];
