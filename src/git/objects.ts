import type { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';

import type { ObjectId } from '../core/ids.js';
import type { ObjectReader, ObjectType } from '../core/ports.js';
import { SnapError } from '../errors.js';
import { ByteSource } from './byte-source.js';
import { objectHeader } from './pack/format.js';
import { type GitRunner, type RunningGit, throwIfInterrupted } from './run-git.js';

interface Found {
  readonly oid: ObjectId;
  readonly type: string;
  readonly size: number;
}

interface Question {
  readonly name: string;
  readonly about: 'contents' | 'info';
  session: Promise<Session>;
}

/** git maps packs in pieces, and by default gives none back: one large file would count as memory in full. */
const littleMapped = ['-c', 'core.packedGitWindowSize=16m', '-c', 'core.packedGitLimit=64m'];

type OnChunk = (chunk: Buffer) => void | Promise<void>;

const skippedAtMost = 1024 * 1024;
const noLimit = Number.MAX_SAFE_INTEGER;

/**
 * Reads objects through one `git cat-file` that lives as long as the reader. Questions may be asked side by
 * side; answers come one after the other, so what `stream` calls must not wait for another answer of this reader.
 *
 * Content is checked against its id. A process that dies over an object is replaced, and only that object fails.
 */
export class BatchReader implements ObjectReader {
  readonly #git: GitRunner;
  #session: Promise<Session> | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  /** Asked, and waited for. */
  readonly #waiting = new Set<Question>();
  /** What was asked before anybody wanted the answers; they come in this order, after those that are waited for. */
  #expected: Question[] = [];
  #isClosed = false;

  constructor(git: GitRunner) {
    this.#git = git;
  }

  async read(name: string, type: ObjectType, limit?: number): Promise<{ oid: ObjectId; content: Buffer }> {
    const found = await this.find(name, type, limit);
    if (found === undefined) throw damaged(name, 'it is missing');
    return found;
  }

  find(name: string, type: ObjectType, limit?: number): Promise<{ oid: ObjectId; content: Buffer } | undefined> {
    return this.#ask(name, async (session) => {
      const found = await session.header();
      if (found === undefined) return undefined;
      const problem = problemOf(found, name, type, limit ?? noLimit);
      if (problem !== undefined) return session.skip(found, damaged(name, problem));
      const content = await session.content(found.size);
      if (hashOf(found, [content]) !== found.oid) throw damaged(name, 'its content does not match its id');
      return { oid: found.oid, content };
    });
  }

  /** The size of a blob, in bytes. @throws SnapError STORE_DAMAGED when it is missing or no blob */
  size(oid: ObjectId): Promise<number> {
    return this.#ask(
      oid,
      async (session) => {
        const found = await session.header();
        if (found === undefined) throw damaged(oid, 'it is missing');
        session.atBoundary = true;
        const problem = problemOf(found, oid, 'blob', noLimit);
        if (problem !== undefined) throw damaged(oid, problem);
        return found.size;
      },
      'info',
    );
  }

  async stream(oid: ObjectId, onChunk: OnChunk): Promise<void> {
    await this.#streamed(oid, 'blob', onChunk);
  }

  /** Whether what the store gives for an id is that object, of whatever type; the same as `stream`. @returns its size */
  check(oid: ObjectId): Promise<number> {
    return this.#streamed(oid, null, () => undefined);
  }

  #streamed(oid: ObjectId, type: ObjectType | null, onChunk: OnChunk): Promise<number> {
    return this.#ask(oid, async (session) => {
      const found = await session.header();
      if (found === undefined) throw damaged(oid, 'it is missing');
      const problem = problemOf(found, oid, type ?? found.type, noLimit);
      if (problem !== undefined) return session.skip(found, damaged(oid, problem));
      const sum = createHash('sha1').update(objectHeader(found.type, found.size));
      await session.stream(found.size, (chunk) => {
        sum.update(chunk);
        return onChunk(chunk);
      });
      if (sum.digest('hex') !== oid) throw damaged(oid, 'its content does not match its id');
      return found.size;
    });
  }

  /** Starts git before there is a question. */
  start(): void {
    // A failure is that of the first question.
    this.#started().catch(() => undefined);
  }

  expect(oids: readonly ObjectId[]): void {
    if (oids.length === 0) return;
    const session = this.#put(oids);
    this.#expected.push(...oids.map((name) => ({ name, about: 'contents' as const, session })));
  }

  /** Ends git. What is still asked, or waits for its answer, fails: it must not start another one that nobody ends. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const session = this.#session;
    this.#session = undefined;
    // One that could not be started failed the questions that it was to answer.
    await session?.then(
      (started) => started.end(),
      () => undefined,
    );
  }

  /** Puts the question at once, so that git works ahead, and reads the answer when it is its turn. */
  async #ask<Answer>(
    name: string,
    answer: (session: Session) => Promise<Answer>,
    about: Question['about'] = 'contents',
  ): Promise<Answer> {
    if (/[\n\0]|[^\x00-\xff]/.test(name)) {
      const message = `${JSON.stringify(name)} cannot be asked for by name.`;
      throw new SnapError('INTERNAL', message, { what: 'object name' });
    }
    const passedOver = this.#passOver(name, about);
    const question = this.#expected.shift() ?? { name, about, session: this.#put([name], about) };
    this.#waiting.add(question);
    const turn = this.#turn.then(async () => {
      for (const { session } of passedOver) await this.#pass(session);
      return await this.#answer(question, answer);
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  /** What was expected before the name, and is not wanted after all: all of it, where the name is not expected. */
  #passOver(name: string, about: Question['about']): Question[] {
    const at = this.#expected.findIndex((question) => question.name === name && question.about === about);
    return this.#expected.splice(0, at < 0 ? this.#expected.length : at);
  }

  /** Whatever is the matter with an answer that nobody wants: it is no reason to fail. */
  async #pass(asked: Promise<Session>): Promise<void> {
    const session = await asked;
    if (session.broken) return;
    const isPast = await session.pass().catch((error: unknown) => {
      if (error instanceof EndOfAnswers) return false;
      throw error;
    });
    if (!isPast) this.#abandon(asked, session);
  }

  #put(names: readonly string[], about: Question['about'] = 'contents'): Promise<Session> {
    const session = this.#started();
    session.then(
      (started) => {
        started.ask(names, about);
      },
      () => undefined,
    );
    return session;
  }

  #started(): Promise<Session> {
    if (this.#isClosed) throw usedAfterEnd();
    const command = { args: [...littleMapped, 'cat-file', '--batch-command', '--buffer'] };
    return (this.#session ??= this.#git.start(command, true).then((git) => new Session(git)));
  }

  async #answer<Answer>(question: Question, answer: (session: Session) => Promise<Answer>): Promise<Answer> {
    throwIfInterrupted(this.#git.signal);
    const asked = question.session;
    const session = await asked.finally(() => this.#waiting.delete(question));
    if (session.broken) throw usedAfterEnd();
    try {
      return await answer(session);
    } catch (error) {
      if (!session.atBoundary) this.#abandon(asked, session);
      throw error instanceof EndOfAnswers ? await this.#explain(session, question.name) : error;
    }
  }

  /** Ends the process. What it was asked besides, and is waited for, is asked of another one, in the same order. */
  #abandon(asked: Promise<Session>, session: Session): void {
    session.break();
    if (this.#session === asked) this.#session = undefined;
    this.#expected = this.#expected.filter((question) => question.session !== asked);
    if (this.#isClosed) return;
    for (const question of this.#waiting)
      if (question.session === asked) question.session = this.#put([question.name], question.about);
  }

  /** Why git's answers ended: it fails by exit code over a damaged object, and by a signal when somebody kills it. */
  async #explain(session: Session, name: string): Promise<SnapError> {
    const { exitCode, stderr } = await session.ended;
    throwIfInterrupted(this.#git.signal);
    const failure = this.#git.failure({ args: ['cat-file'] }, exitCode, stderr);
    return exitCode === 128 ? damaged(name, 'git cannot read it', failure) : failure;
  }
}

function usedAfterEnd(): SnapError<'INTERNAL'> {
  return new SnapError('INTERNAL', 'An object reader was used after its end.', { what: 'reader' });
}

class EndOfAnswers extends SnapError<'INTERNAL'> {
  constructor() {
    super('INTERNAL', 'git ended in the middle of an answer.', { what: 'git cat-file' });
  }
}

/** One process, and where we are in its output. */
class Session {
  readonly #git: RunningGit;
  readonly #source: ByteSource;
  broken = false;
  /** True between answers: the next question's answer comes next. */
  atBoundary = true;

  constructor(git: RunningGit) {
    this.#git = git;
    this.#source = new ByteSource(git.stdout);
  }

  get ended(): RunningGit['end'] {
    return this.#git.end;
  }

  ask(names: readonly string[], about: Question['about']): void {
    this.#git.stdin.write(`${names.map((name) => `${about} ${name}\n`).join('')}flush\n`, 'latin1');
  }

  /** Undefined when git says that nothing has this name. */
  async header(): Promise<Found | undefined> {
    this.atBoundary = false;
    const line = await this.#source.line();
    if (line === undefined) throw new EndOfAnswers();
    const [, oid, type, size] = /^([0-9a-f]{40}) ([a-z]+) ([0-9]+)$/.exec(line) ?? [];
    if (oid === undefined || type === undefined) {
      this.atBoundary = true;
      return undefined;
    }
    return { oid: oid as ObjectId, type, size: Number(size) };
  }

  async content(size: number): Promise<Buffer> {
    const content = await this.#source.exactly(size + 1);
    if (content === undefined) throw new EndOfAnswers();
    this.atBoundary = true;
    return content.subarray(0, size);
  }

  async stream(size: number, onChunk: OnChunk): Promise<void> {
    for (let left = size; left > 0;) {
      const chunk = await this.#source.upTo(left);
      if (chunk === undefined) throw new EndOfAnswers();
      left -= chunk.length;
      await onChunk(chunk);
    }
    await this.content(0);
  }

  /** Gets past an answer that nobody wants. A long one is not waited for: false. */
  async pass(): Promise<boolean> {
    const found = await this.header();
    if (found === undefined) return true;
    if (found.size > skippedAtMost) return false;
    await this.content(found.size);
    return true;
  }

  /** Gets past an answer that is of no use, then fails with `error`. A long one is not waited for. */
  async skip(found: Found, error: SnapError): Promise<never> {
    if (found.size <= skippedAtMost) await this.content(found.size);
    throw error;
  }

  break(): void {
    this.broken = true;
    this.#git.kill();
    this.#source.close();
  }

  async end(): Promise<void> {
    this.#git.stdin.end();
    if (!this.atBoundary) this.break();
    this.#source.close();
    await this.#git.end.catch(() => undefined);
  }
}

function problemOf(found: Found, name: string, type: string, limit: number): string | undefined {
  if (found.type !== type) return `it is a ${found.type}, not a ${type}`;
  if (found.size > limit) return `it has ${String(found.size)} bytes, more than the ${String(limit)} that it may have`;
  return /^[0-9a-f]{40}$/.test(name) && found.oid !== name ? 'another object came instead' : undefined;
}

function hashOf({ type, size }: Found, content: readonly Buffer[]): string {
  const sum = createHash('sha1').update(objectHeader(type, size));
  for (const chunk of content) sum.update(chunk);
  return sum.digest('hex');
}

function damaged(name: string, problem: string, cause?: unknown): SnapError<'STORE_DAMAGED'> {
  return new SnapError(
    'STORE_DAMAGED',
    `The object ${JSON.stringify(name)} is damaged: ${problem}.`,
    { problem: `${name}: ${problem}` },
    { cause },
  );
}
