import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type JsonRun, Scene, keptReasons, planned } from './scene.js';

function ownPreset(scene: Scene, name: string, text: string): void {
  mkdirSync(join(scene.dataDir, 'stacks'), { recursive: true, mode: 0o700 });
  writeFileSync(join(scene.dataDir, 'stacks', `${name}.toml`), text);
}

const dart = 'detect = ["pubspec.yaml"]\npatterns = [".dart_tool/", "gen/"]\n';

function leftOut({ data }: JsonRun): readonly string[] {
  return data.observed_only.map(({ path }: { readonly path: string }) => path);
}

function messagesOf({ document }: JsonRun): string {
  return document.messages.join('\n');
}

describe('presets of the user', () => {
  test('are in force where they are found, from the next save on, and no longer when they are gone', async () => {
    const scene = new Scene();
    scene.write({ 'app/pubspec.yaml': 'x', 'app/gen/x': 'x', 'gen/y': 'y' });
    expect(leftOut(await scene.save())).toEqual([]);
    ownPreset(scene, 'dart', dart);
    expect(leftOut(await scene.save())).toEqual(['app/gen']);
    ownPreset(scene, 'dart', dart.replace('"gen/"', '"none/"'));
    expect(leftOut(await scene.save())).toEqual([]);
    ownPreset(scene, 'dart', dart);
    expect(leftOut(await scene.save())).toEqual(['app/gen']);
    rmSync(join(scene.dataDir, 'stacks/dart.toml'));
    expect(leftOut(await scene.save())).toEqual([]);
  });

  test('what they protected stays protected when their file has changed or is gone', async () => {
    const scene = new Scene();
    ownPreset(scene, 'dart', dart);
    scene.write({ 'pubspec.yaml': 'x', a: 'a' });
    await scene.save();
    rmSync(join(scene.dataDir, 'stacks/dart.toml'));
    scene.write({ 'gen/x': 'precious', new: 'n' });
    const restored = await scene.restore();
    expect(planned(restored)).toEqual(['delete new']);
    expect(keptReasons(restored)).toMatchObject({ 'gen/x': 'excluded' });
    expect(scene.read('gen/x')).toBe('precious');
  });

  test('a snapshot that names one which is gone is compared, restored and shown', async () => {
    const scene = new Scene();
    ownPreset(scene, 'dart', `${dart}opt_in = true\n`);
    scene.write({ 'pubspec.yaml': 'x', 'gen/x': 'x' });
    await scene.save();
    await scene.run(['instance', 'set', 'more_stacks=dart']);
    expect(leftOut(await scene.save())).toEqual(['gen']);
    await scene.run(['instance', 'set', 'more_stacks=']);
    rmSync(join(scene.dataDir, 'stacks/dart.toml'));
    scene.write({ 'pubspec.yaml': 'y' });
    expect((await scene.run(['diff', 'latest', '--name-only'])).stdout).toBe('m/pubspec.yaml\n');
    expect((await scene.run(['show', 'latest'])).stdout).toContain('dart: .dart_tool/ gen/');
    await scene.restore('latest');
    expect([scene.read('pubspec.yaml'), scene.read('gen/x')]).toEqual(['x', 'x']);
  });

  test('one that came since protects too', async () => {
    const scene = new Scene();
    scene.write({ 'pubspec.yaml': 'x', a: 'a' });
    await scene.save();
    ownPreset(scene, 'dart', dart);
    scene.write({ 'gen/x': 'precious' });
    await scene.restore();
    expect(scene.read('gen/x')).toBe('precious');
  });

  test.each([
    { name: 'dart', text: `${dart}exclude = ["x"]\n`, line: 3, says: 'exclude: there is no such field' },
    { name: 'dart', text: 'detect = ["x"]\npatterns = [\n  "a",\n  "!b"\n]\n', line: 4, says: 'only leaves out' },
    { name: 'dart', text: 'detect = ["a/b"]\npatterns = ["c"]\n', line: 1, says: 'a name to look for' },
    { name: 'dart', text: 'detect = ["x"]\npatterns = ["**"]\n', line: 2, says: 'everything' },
    { name: 'dart', text: 'detect = ["x"]\npatterns = ["?*"]\n', line: 2, says: 'everything' },
    { name: 'dart', text: 'detect = []\npatterns = ["x"]\n', line: 1, says: 'at least one' },
    { name: 'dart', text: 'detect = ["x"\npatterns = ["x"]\n', line: 2, says: 'no TOML' },
    { name: 'dart', text: `detect = ["x"]\npatterns = ["x"]\n#${'x'.repeat(8200)}`, line: 1, says: '8192 bytes' },
    { name: 'dart', text: `detect = ["x"]\npatterns = ${JSON.stringify(many(51))}\n`, line: 2, says: '50 patterns' },
    { name: 'dart', text: `detect = ${JSON.stringify(many(11))}\npatterns = ["x"]\n`, line: 1, says: '10 files' },
    { name: 'node', text: dart, line: 1, says: 'built-in' },
    { name: 'Dart_', text: dart, line: 1, says: 'its name' },
  ])('$name with "$says" is rejected as a whole, and saves say so before anything is stored', async (sample) => {
    const scene = new Scene();
    scene.write({ a: 'a' });
    await scene.save();
    ownPreset(scene, sample.name, sample.text);
    const file = join(scene.dataDir, 'stacks', `${sample.name}.toml`);
    const refused = await scene.json(['save'], { code: 2 });
    expect(refused.document.error).toMatchObject({ code: 'CONFIGURATION_INVALID' });
    expect(refused.document.error?.message).toContain(`line ${sample.line}: `);
    const validated = await scene.run(['stacks', 'validate', file], { code: 2 });
    expect(validated.stdout).toContain(`rejected: ${file}:${sample.line}: `);
    expect(validated.stdout).toContain(sample.says);
    expect(await scene.list()).toHaveLength(1);
    await scene.run(['save', '--no-stacks']);
  });

  test('a link in place of a file is none', async () => {
    const scene = new Scene();
    scene.write({ 'dart.toml': dart });
    await scene.save();
    mkdirSync(join(scene.dataDir, 'stacks'));
    symlinkSync(scene.at('dart.toml'), join(scene.dataDir, 'stacks/dart.toml'));
    await scene.run(['save'], { code: 2 });
    await scene.run(['stacks', 'validate', scene.at('dart.toml')]);
  });
});

function many(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `n${at}`);
}

describe('presets that are asked for by name', () => {
  test('a setting brings them into force, and snapshots say so', async () => {
    const scene = new Scene();
    scene.write({ 'go.mod': 'x', 'vendor/x': 'x' });
    expect(leftOut(await scene.save())).toEqual([]);
    await scene.run(['instance', 'set', 'more_stacks=go']);
    expect(leftOut(await scene.save())).toEqual(['vendor']);
    const shown = (await scene.json(['show', 'latest'])).data;
    expect(shown.stacks).toContainEqual({ mount: 'm', name: 'go', detect: [['go.mod']], patterns: ['vendor/'] });
  });

  test('are refused when they are set, and again by a save when they are gone since', async () => {
    const scene = new Scene();
    ownPreset(scene, 'dart', dart);
    scene.write({ a: 'a' });
    await scene.save();
    const refused = await scene.run(['instance', 'set', 'more_stacks=dart,nothing'], { code: 2 });
    expect(refused.stderr).toContain('names nothing, and there is no such preset');
    await scene.save();
    await scene.run(['instance', 'set', 'more_stacks=dart']);
    rmSync(join(scene.dataDir, 'stacks/dart.toml'));
    await scene.run(['save'], { code: 2 });
    await scene.run(['instance', 'set', 'more_stacks=']);
    await scene.save();
  });
});

describe('a recommendation', () => {
  const recommendation = 'recommended = ["go"]\n';

  test('is only in force once it is approved, for this path and this content', async () => {
    const scene = new Scene();
    scene.write({ '.jackin-snap.toml': recommendation, 'go.mod': 'x', 'vendor/x': 'x' });
    const first = await scene.save();
    expect(leftOut(first)).toEqual([]);
    expect(messagesOf(first)).toContain('not in force');
    await scene.run(['stacks', 'approve', scene.mount]);
    const second = await scene.save();
    expect([leftOut(second), messagesOf(second)]).toEqual([['vendor'], '']);
    scene.write({ '.jackin-snap.toml': `${recommendation}# changed\n` });
    const third = await scene.save();
    expect(leftOut(third)).toEqual([]);
    expect(messagesOf(third)).toContain('other stack presets than were approved');
    scene.write({ '.jackin-snap.toml': recommendation });
    expect(leftOut(await scene.save())).toEqual(['vendor']);
    await scene.run(['stacks', 'revoke', scene.mount]);
    expect(leftOut(await scene.save())).toEqual([]);
  });

  test.each([
    'recommended = ["go"]\npatterns = ["src/"]\n',
    '[stacks.x]\ndetect = ["a"]\n',
    'recommended = ["../x"]\n',
    'recommended = "go"\n',
    'recommended = [\n',
    `recommended = ["go"]\n#${'x'.repeat(8200)}`,
  ])('that says anything but names is not approved: %j', async (text) => {
    const scene = new Scene();
    scene.write({ '.jackin-snap.toml': text });
    await scene.save();
    const refused = await scene.json(['stacks', 'approve', scene.mount], { code: text.length > 8000 ? 3 : 2 });
    expect(refused.document.ok).toBe(false);
  });

  test('of a preset that is not there is not approved', async () => {
    const scene = new Scene();
    scene.write({ '.jackin-snap.toml': 'recommended = ["own"]\n', 'go.mod': 'x', x: 'x' });
    await scene.save();
    await scene.run(['stacks', 'approve', scene.mount], { code: 2 });
    ownPreset(scene, 'own', 'detect = ["go.mod"]\npatterns = ["x"]\nopt_in = true\n');
    expect(leftOut(await scene.save())).toEqual([]);
    await scene.run(['stacks', 'approve', scene.mount]);
    expect(leftOut(await scene.save())).toEqual(['x']);
    renameSync(join(scene.dataDir, 'stacks/own.toml'), join(scene.dataDir, 'own.toml'));
    expect(messagesOf(await scene.save())).toContain('not there any more');
  });

  test('the approval lies outside the folder, readable for its owner alone', async () => {
    const scene = new Scene();
    scene.write({ '.jackin-snap.toml': recommendation });
    await scene.save();
    await scene.run(['stacks', 'approve'], { cwd: scene.mount });
    expect(readFileSync(scene.at('.jackin-snap.toml'), 'utf8')).toBe(recommendation);
    expect(scene.has('stacks')).toBe(false);
  });
});

describe('explain', () => {
  test('names the pattern, and where it stands', async () => {
    const scene = new Scene();
    scene.write({
      'package.json': '{}',
      'node_modules/x/index.js': 'x',
      'web/.gitignore': '# generated\n*.js\n!kept.js\n',
      'web/a.js': 'a',
      'web/kept.js': 'k',
      '.env': 's',
      big: 'x'.repeat(2000),
      a: 'a',
    });
    await scene.save();
    await scene.run(['instance', 'set', 'max_file_size=1000']);
    const paths = ['node_modules/x/index.js', 'web/a.js', 'web/kept.js', '.env', 'big', 'a', 'nothing.pem'];
    const { explanations } = (await scene.json(['explain', ...paths])).data;
    expect(explanations).toMatchObject([
      { outcome: 'left_out', reason: 'excluded', rule: { kind: 'stack', preset: 'node', pattern: 'node_modules/' } },
      { outcome: 'observed_only', rule: { kind: 'ignore_file', file: 'web/.gitignore', line: 2, pattern: '*.js' } },
      { outcome: 'stored', rule: { kind: 'none' } },
      { outcome: 'observed_only', reason: 'secret', rule: { kind: 'secret', pattern: '.env' } },
      { outcome: 'observed_only', reason: 'too_large', rule: { kind: 'size_limit', limit: 1000 } },
      { outcome: 'stored', rule: { kind: 'none' } },
      { outcome: 'absent', rule: { kind: 'secret', pattern: '*.pem' } },
    ]);
    const text = (await scene.run(['explain', 'web/a.js'])).stdout;
    expect(text).toContain('observed only, ignored');
    expect(text).toContain('pattern *.js in web/.gitignore, line 2');
  });
});
