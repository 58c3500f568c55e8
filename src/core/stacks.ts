/** A kind of project, known by file names in a directory, and what its tools make again there and below. */
export interface Stack {
  readonly name: string;
  /** Each inner list is one way to be found: a directory that has all of its names. `*.ext` stands for any such name. */
  readonly detect: readonly (readonly string[])[];
  /** gitignore patterns relative to the directory. */
  readonly patterns: readonly string[];
}

export interface StackExcludes {
  readonly stack: string;
  readonly patterns: readonly string[];
}

const python = ['.venv/', '__pycache__/', '.pytest_cache/', '.mypy_cache/', '.ruff_cache/', '*.pyc', '*.egg-info/'];

/*
 * Only what can be made again. Left out on purpose, because people keep state there by hand: vendor/, dist/, out/,
 * build/, tmp/, log/, *.tfstate, *.dot, the database of beads; and so `go`, which would have nothing else.
 */
export const stacks: readonly Stack[] = [
  { name: 'node', detect: [['package.json']], patterns: ['node_modules/', '.next/', '.turbo/', '.nuxt/', '.vercel/'] },
  { name: 'rust', detect: [['Cargo.toml']], patterns: ['target/'] },
  { name: 'python-uv', detect: [['uv.lock']], patterns: python },
  { name: 'python-poetry', detect: [['poetry.lock']], patterns: python },
  {
    name: 'java-gradle',
    detect: [['build.gradle'], ['build.gradle.kts'], ['settings.gradle'], ['settings.gradle.kts']],
    patterns: ['.gradle/', '*.class'],
  },
  { name: 'java-maven', detect: [['pom.xml']], patterns: ['target/', '*.class'] },
  { name: 'ruby-bundler', detect: [['Gemfile'], ['Gemfile.lock']], patterns: ['vendor/bundle/', '.bundle/'] },
  { name: 'elixir-mix', detect: [['mix.exs'], ['mix.lock']], patterns: ['_build/', 'deps/', 'erl_crash.dump'] },
  {
    name: 'haskell-cabal',
    detect: [['cabal.project'], ['*.cabal'], ['stack.yaml']],
    patterns: ['dist-newstyle/', '.stack-work/'],
  },
  { name: 'terraform', detect: [['*.tf']], patterns: ['.terraform/'] },
  { name: 'tla-java', detect: [['*.cfg', '*.tla']], patterns: ['tla/states/'] },
  {
    name: 'beads',
    detect: [['.beads']],
    patterns: ['.beads/*.sock', '.beads/*.lock', '.beads/*.pid', '.beads/*.log', '.beads/*credential*'],
  },
];

/**
 * The stacks that a directory with these names belongs to. Their patterns hold for the directory and all below it;
 * a path that the user's repository tracks is exempt.
 */
export function stackExcludes(namesInDirectory: readonly string[]): readonly StackExcludes[] {
  const seen = new Set<string>();
  for (const name of namesInDirectory) noteMarker(name, seen);
  if (seen.size === 0) return none;
  return stacks
    .filter((stack) => stack.detect.some((names) => names.every((name) => seen.has(name))))
    .map((stack) => ({ stack: stack.name, patterns: stack.patterns }));
}

const none: readonly StackExcludes[] = [];

const markers: ReadonlySet<string> = new Set(stacks.flatMap((stack) => stack.detect.flat()));

function noteMarker(name: string, seen: Set<string>): void {
  if (markers.has(name)) seen.add(name);
  const dot = name.lastIndexOf('.');
  if (dot < 0) return;
  const ending = `*${name.slice(dot)}`;
  if (markers.has(ending)) seen.add(ending);
}
