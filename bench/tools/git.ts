import type { Command, Measured } from '../command.js';
import { measure, measureAll, run } from '../command.js';
import type { Surroundings, Tool, ToolStore } from './tool.js';

/** Plain git with a private git directory: `add -A -f` and `write-tree`, and `checkout-index -a -f`. */
export function git(surroundings: Surroundings): Tool {
  return {
    name: 'git',
    open: async (place, folder) => {
      await run({ program: 'git', arguments: ['init', '-q', '--bare', place], cwd: '/', env: surroundings.env });
      return new GitStore(surroundings, place, folder);
    },
  };
}

export class GitStore implements ToolStore {
  private readonly surroundings: Surroundings;
  readonly place: string;
  private readonly folder: string;

  constructor(surroundings: Surroundings, place: string, folder: string) {
    this.surroundings = surroundings;
    this.place = place;
    this.folder = folder;
  }

  readonly save = (): Promise<Measured> =>
    measureAll([this.command(['add', '-A', '-f', '.']), this.command(['write-tree'])]);

  readonly restoreInto = (folder: string): Promise<Measured> =>
    measure(this.command(['checkout-index', '-a', '-f'], folder));

  /** Saves, and makes the tree a commit on a branch, so that `gc` sees a history. Returns the time of both. */
  async commit(): Promise<Measured> {
    const saved = await this.save();
    const tree = saved.output.trim();
    const parents = (await this.commits(1)).flatMap((commit) => ['-p', commit]);
    const made = await measure(this.command(['commit-tree', ...parents, '-m', 'saved', tree]));
    const moved = await measure(this.command(['update-ref', 'refs/heads/saved', made.output.trim()]));
    return { ...saved, seconds: saved.seconds + made.seconds + moved.seconds };
  }

  /** The newest commits, newest first. */
  async commits(limit: number): Promise<string[]> {
    const listed = await run(this.command(['rev-list', `--max-count=${limit}`, '--branches']));
    return listed.split('\n').filter(Boolean);
  }

  measured(words: readonly string[]): Promise<Measured> {
    return measure(this.command(words));
  }

  private command(words: readonly string[], folder = this.folder): Command {
    const place = [`--git-dir=${this.place}`, `--work-tree=${folder}`, '-c', 'core.bare=false'];
    return {
      program: 'git',
      arguments: [...place, ...words],
      cwd: folder,
      env: { ...this.surroundings.env, ...gitIdentity },
    };
  }
}

const gitIdentity = {
  GIT_AUTHOR_NAME: 'bench',
  GIT_AUTHOR_EMAIL: 'bench@localhost',
  GIT_COMMITTER_NAME: 'bench',
  GIT_COMMITTER_EMAIL: 'bench@localhost',
};
