import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runSnap, runSnapJson, snapBin } from '../support/cli.js';
import { tempDir } from '../support/temp.js';
import type { CodeBlock } from './console-blocks.js';
import { codeBlocks, readPage } from './console-blocks.js';

const checkout = resolve(import.meta.dirname, '../..');
const page = 'README.md';
const blocks = codeBlocks(page);

describe('the README', () => {
  test('is followed from its first command to its last', () => {
    const area = tempDir();
    const { folder, env } = makeProject(area, 'empty');
    const scripts = ofLanguage('sh').map(({ text }) => text);
    expect(scripts.length).toBeGreaterThan(4);

    const outputs = scripts.map((script) => sh(script, folder, env));

    const [minute = '', look = '', , keep = '', gone = ''] = outputs;
    expect(minute).toContain('Saved snapshot 1 of project-');
    expect(minute).toMatch(/^-make something$/m);
    expect(minute).toContain('Take this back: jackin-snap undo');
    expect(look).toContain('before the change');
    expect(readFileSync(join(area, 'as-it-was/plan.txt'), 'utf8')).toBe('make something\n');
    expect(existsSync(join(area, 'as-it-was.tar.gz'))).toBe(true);
    expect(readFileSync(join(folder, 'plan.txt'), 'utf8')).toBe('make something\nmore\n');
    expect(keep).toContain('all whole and restorable');
    expect(gone).toContain('refs/jackin/shop/1');
    expect(gone).toContain('"format": "1"');
    expect(readFileSync(join(area, 'home/.jackin/snapshots/copy/project/plan.txt'), 'utf8')).toBe('make something\n');
  });

  test('has two commands that set a checkout up: a save, and the tests', () => {
    const setUp = /Each of these does all the set-up there is:\n\n((?: {4}.*\n)+)/.exec(readPage(page))?.[1];
    expect(setUp).toBe('    bin/jackin-snap save <folder>\n    npm test\n');
    const { scripts } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    expect(scripts).toHaveProperty('test');
  });

  test('shows a JSON document as it is', async () => {
    const area = tempDir();
    const { folder } = makeProject(area);
    const shown = JSON.parse(ofLanguage('json')[0]!.text);
    const { document } = await runSnapJson(['-i', 'shop', 'save'], { cwd: folder, dataDir: join(area, 'data') });
    expect(Object.keys(document)).toEqual(Object.keys(shown));
    expect(document.data).toMatchObject(shown.data);
  });

  test('has the exit codes that help prints', async () => {
    const { stdout } = await runSnap(['restore', '--help']);
    const codes = [...stdout.slice(stdout.indexOf('Exit codes:')).matchAll(/^ {2}(\d+) +(.+)$/gm)];
    expect(codes.length).toBeGreaterThan(8);
    for (const [, code = '', meaning = ''] of codes) {
      const row = new RegExp(`^\\| ${code}(, 143)? +\\| ([^|]*)\\|$`, 'm').exec(readPage(page))?.[2];
      expect(row, code).toContain(meaning);
    }
  });

  test('has a table of all settings with their defaults', async () => {
    const rows = [...readPage(page).matchAll(/^\| `([a-z_]+)` +\| (?:`([^`]*)`)? *\| ([^|]+?) *\|$/gm)];
    const documented = Object.fromEntries(rows.map(([, key = '', value = '']) => [key, value]));
    const area = tempDir();
    const { folder } = makeProject(area);
    await runSnap(['save'], { cwd: folder, dataDir: join(area, 'data') });
    const { stdout } = await runSnap(['instance', 'show'], { cwd: folder, dataDir: join(area, 'data') });
    const shown = [...stdout.matchAll(/^ {2}([a-z_]+)=(.*)$/gm)].map(([, key = '', value = '']) => [key, value]);
    expect(shown.length).toBeGreaterThan(10);
    expect(documented).toMatchObject(Object.fromEntries(shown));
  });

  test('has a library example that plain node runs, and that does what it says', () => {
    const area = tempDir();
    const [printed] = ofLanguage('text');
    install(area);
    expect(readPage(page)).toContain('node example.mjs');
    writeFileSync(join(area, 'example.mjs'), ofLanguage('js')[0]!.text);

    const env = { PATH: process.env['PATH'], HOME: area, TMPDIR: area, LC_ALL: 'C' };
    const ran = spawnSync(process.execPath, ['example.mjs'], { cwd: area, encoding: 'utf8', env });
    expect(ran.stderr).toBe('');
    expect(ran.stdout.replace(/project-\w+/, 'project-FOLDER')).toBe(printed!.text);
    expect(readdirSync(area).filter((name) => /^project-.*-snapshots$/.test(name))).toHaveLength(1);
  });

  test('has a library example that is TypeScript, too: it compiles against the types of the package', () => {
    const area = tempDir();
    install(area);
    writeFileSync(join(area, 'example.ts'), ofLanguage('js')[0]!.text);
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--noEmit'];
    const target = ['--module', 'nodenext', '--target', 'es2022', '--types', 'node'];
    const compiled = spawnSync(
      process.execPath,
      [join(checkout, 'node_modules/typescript/bin/tsc'), ...strict, ...target, 'example.ts'],
      { cwd: area, encoding: 'utf8' },
    );
    expect({ status: compiled.status, said: compiled.stdout }).toEqual({ status: 0, said: '' });
  });
});

function ofLanguage(language: string): CodeBlock[] {
  return blocks.filter((block) => block.language === language);
}

interface Project {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

function makeProject(area: string, how: 'empty' | 'full' = 'full'): Project {
  const folder = join(area, 'project');
  for (const path of ['home', 'project', 'programs']) mkdirSync(join(area, path), { recursive: true });
  if (how === 'full') {
    mkdirSync(join(folder, 'src'));
    writeFileSync(join(folder, 'plan.txt'), 'make something\n');
    writeFileSync(join(folder, 'src/main.c'), 'int main(void) { return 0; }\n');
  }
  symlinkSync(snapBin, join(area, 'programs/jackin-snap'));
  const path = [join(area, 'programs'), dirname(process.execPath), process.env['PATH'] ?? '/usr/bin:/bin'].join(':');
  return { folder, env: { PATH: path, HOME: join(area, 'home'), LC_ALL: 'C', TZ: 'UTC' } };
}

function sh(script: string, cwd: string, env: Project['env']): string {
  const { status, stdout, stderr } = spawnSync('sh', ['-e', '-c', script], { cwd, env, encoding: 'utf8' });
  expect({ status, script, said: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, script, said: '' });
  return stdout + stderr;
}

/** As npm would: the package and the types of node, by name. */
function install(area: string): void {
  mkdirSync(join(area, 'node_modules/@types'), { recursive: true });
  symlinkSync(checkout, join(area, 'node_modules/jackin-snap'));
  symlinkSync(join(checkout, 'node_modules/@types/node'), join(area, 'node_modules/@types/node'));
  writeFileSync(join(area, 'package.json'), '{"type":"module"}\n');
}
