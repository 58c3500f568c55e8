import type { Random } from '../../support/random.js';
import type { CraftedStore, Raw } from './crafted-store.js';
import { someEntries } from './hostile-entries.js';
import type { HostileKind } from './hostile-kind.js';

const told = (entries: readonly Raw[]): string =>
  entries.map(({ mode, name }) => `${mode} ${JSON.stringify(name.slice(0, 40))}`).join(', ');

/** A value that no program of ours writes there. */
function someValue(random: Random, outside: string): unknown {
  return random.pick<unknown>([
    ...[
      null,
      true,
      -1,
      0,
      1e300,
      1.5,
      9007199254740993,
      '',
      '..',
      '../../x',
      '/',
      outside,
      'm/../..',
      '\x1b[2J',
      'x\ny',
    ],
    ...[[], {}, [[]], [null], { __proto__: 1 }, { path: '../x' }, { base64: '!' }, { base64: 'Li4=' }, '9'.repeat(400)],
    Array.from({ length: 20_000 }, () => 'x'),
  ]);
}

/** Sets something somewhere in a document to something else. */
function spoil(document: Record<string, unknown>, random: Random, outside: string): string {
  let at: Record<string, unknown> = document;
  const path: string[] = [];
  for (;;) {
    const key = random.pick(Object.keys(at));
    path.push(key);
    const inner = at[key];
    const isDeeper = typeof inner === 'object' && inner !== null && Object.keys(inner).length > 0;
    if (isDeeper && !random.oneIn(3)) {
      at = inner as Record<string, unknown>;
      continue;
    }
    if (random.oneIn(6)) Reflect.deleteProperty(at, key);
    else at[key] = someValue(random, outside);
    return `${path.join('.')} = ${JSON.stringify(at[key] ?? 'nothing').slice(0, 60)}`;
  }
}

const paths = [
  '..',
  '../x',
  '/etc/x',
  'd/../../x',
  'd',
  'd/e/one',
  'top',
  'new',
  '',
  '.',
  'd//e',
  'd/e/one/below',
  '.git',
];

function someLine(random: Random, outside: string): string {
  const line: Record<string, unknown> = { path: random.pick([...paths, outside]) };
  const keys: readonly (readonly [string, unknown])[] = [
    ['mode', random.pick([0o4755, 0o7777, 0, 0o2777, 65536])],
    ['uid', random.pick([0, 65534, 4294967295, 1e12])],
    ['gid', 0],
    ['size', random.pick([0, 1, 1e15, Number.MAX_SAFE_INTEGER])],
    ['linked_to', random.pick([...paths, outside])],
    ['bare', true],
    ['sparse', true],
    ['reason', random.pick(['secret', 'absent', 'incomplete', 'evil', 'git_dir'])],
    ['directory', true],
  ];
  for (const [key, value] of keys) if (random.oneIn(3)) line[key] = value;
  return JSON.stringify(line);
}

const lines = (random: Random, outside: string): string =>
  Array.from({ length: 1 + random.below(5) }, () => `${someLine(random, outside)}\n`).join('');

function deepTree(store: CraftedStore, depth: number): string {
  let oid = store.tree([{ mode: '100644', name: 'f', oid: store.sound(':mounts/m/top') }]);
  for (let level = 0; level < depth; level += 1) oid = store.tree([{ mode: '40000', name: 'd', oid }]);
  return oid;
}

function wideTree(store: CraftedStore, levels: number): string {
  let oid = store.sound(':mounts/m/top');
  for (let level = 0; level < levels; level += 1) {
    const mode = level === 0 ? '100644' : '40000';
    oid = store.tree(Array.from({ length: 10 }, (_, at) => ({ mode, name: `d${at}`, oid })));
  }
  return oid;
}

const kinds: readonly HostileKind[] = [
  {
    name: 'tree',
    craft: (store, random, outside) => {
      const entries = someEntries(store, random, outside);
      store.snapshot({ mount: store.tree(entries) });
      return told(entries);
    },
  },
  {
    name: 'tree below',
    craft: (store, random, outside) => {
      const entries = someEntries(store, random, outside);
      store.snapshot({ mount: store.tree([{ mode: '40000', name: 'd', oid: store.tree(entries) }]) });
      return told(entries);
    },
  },
  {
    name: 'a link and what lies below it',
    craft: (store, random, outside) => {
      const link = {
        mode: '120000',
        name: 'd',
        oid: store.write('blob', random.pick([outside, `${outside}/d`, '..'])),
      };
      const below = { mode: '40000', name: 'd', oid: store.tree(someEntries(store, random, outside)) };
      store.snapshot({ mount: store.tree(random.oneIn(2) ? [link, below] : [below, link]) });
      return told([link, below]);
    },
  },
  {
    name: 'manifest',
    craft: (store, random, outside) => {
      let what = '';
      store.snapshot({ manifest: store.manifest((manifest) => (what = spoil(manifest, random, outside))) });
      return what;
    },
  },
  {
    name: 'attributes',
    craft: (store, random, outside) => {
      const attributes = lines(random, outside);
      store.snapshot({ attributes });
      return attributes;
    },
  },
  {
    name: 'observed',
    craft: (store, random, outside) => {
      const observed = lines(random, outside);
      store.snapshot({ observed });
      return observed;
    },
  },
  {
    name: 'message',
    craft: (store, random) => {
      const change = random.pick<[string, (text: string) => string]>([
        ['another number', (text) => text.replace('Jackin-Seq: 2', 'Jackin-Seq: 1')],
        ['another instance', (text) => text.replace('Jackin-Instance: t', 'Jackin-Instance: ../x')],
        ['a newer format', (text) => text.replace('Jackin-Format: 1', 'Jackin-Format: 99')],
        ['control characters', (text) => text.replace(/\n\n.*\n/, '\n\n\x1b]0;evil\x07\x9b2J\n')],
        ['no trailers', (text) => text.replace(/\n\nJackin[^]*/, '\n')],
        ['a path that leads up', (text) => text.replace(/Jackin-Mount: m plain .*/, 'Jackin-Mount: ../m plain /..')],
        ['a huge line', (text) => `${text}Jackin-Phase: ${'x'.repeat(2_000_000)}\n`],
        ['a parent', (text) => text.replace('\nauthor', `\nparent ${'1'.repeat(40)}\nauthor`)],
        ['an odd date', (text) => text.replace(/Jackin-Created: .*/, 'Jackin-Created: never')],
        ['no tree', (text) => text.replace(/^tree .*\n/, '')],
      ]);
      store.snapshot({ message: change[1] });
      return change[0];
    },
  },
  {
    name: 'many levels',
    craft: (store, random) => {
      const depth = random.pick([50, 200, 600]);
      store.snapshot({ mount: deepTree(store, depth) });
      return `${depth} levels`;
    },
  },
  {
    // Up to four levels it may be read in full; beyond, it is refused.
    name: 'a tree that grows',
    craft: (store, random) => {
      const levels = random.oneIn(2) ? 1 + random.below(4) : 5 + random.below(200);
      const tells = levels > 6 && random.oneIn(2);
      const stored = `Jackin-Stored: ${String(Math.min(10 ** levels, Number.MAX_SAFE_INTEGER))} 1`;
      const message = (text: string): string => (tells ? text.replace(/Jackin-Stored: .*/, stored) : text);
      const mount = wideTree(store, levels);
      const below = store.tree([{ mode: '40000', name: 'd', oid: mount }]);
      store.snapshot({ mount: random.oneIn(3) ? below : mount, message });
      return `10 to the power of ${levels} files${tells ? ', as it tells' : ''}`;
    },
  },
  {
    name: 'content that grows',
    craft: (store, random) => {
      const size = random.pick([1, 16, 64]) * 1024 * 1024;
      const name = random.pick(['big', '.gitignore', '.gitattributes']);
      store.snapshot({
        mount: store.tree([
          { mode: random.pick(['100644', '120000']), name, oid: store.write('blob', Buffer.alloc(size, ' ')) },
        ]),
      });
      return `${size} bytes as ${name}`;
    },
  },
  {
    name: 'lists that grow',
    craft: (store, random, outside) => {
      const list = `${someLine(random, outside)}\n`.repeat(100_000);
      store.snapshot(random.oneIn(2) ? { attributes: list } : { observed: list });
      return '100,000 lines';
    },
  },
];

/** What a snapshot holds: trees, lists, messages. */
export const hostileContent: readonly HostileKind[] = [...kinds];
