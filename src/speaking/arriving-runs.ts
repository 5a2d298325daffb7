// The pieces of a text that arrives, joined to runs as they come. While a run
// takes sentences they are handed to it at once, whoever speaks it: an engine
// reads its text faster than it speaks it. Beyond that nothing is read ahead.
import type { LinePiece } from './line-piece.js';
import type { RunJoiner } from './run-joiner.js';
import type { SentenceRun } from './sentence-run.js';

export class ArrivingRuns implements AsyncIterable<LinePiece> {
  readonly #source: AsyncIterator<LinePiece>;
  readonly #joiner: RunJoiner;
  /** Not taken yet. */
  readonly #pieces: LinePiece[] = [];
  #end: { readonly error?: unknown } | undefined;
  #wakeReader: (() => void) | undefined;
  #wakeJoiner: (() => void) | undefined;

  constructor(source: AsyncIterable<LinePiece>, joiner: RunJoiner) {
    this.#source = source[Symbol.asyncIterator]();
    this.#joiner = joiner;
  }

  /** For one reader. Throws what the source throws after all that came before it, and the failure of a run that waits for text. */
  async *[Symbol.asyncIterator](): AsyncGenerator<LinePiece, void, undefined> {
    void this.#join();
    try {
      for (;;) {
        const piece = this.#pieces.shift();
        if (piece !== undefined) yield piece;
        else if (this.#end === undefined) await this.#more();
        else if ('error' in this.#end) throw this.#end.error;
        else return;
      }
    } finally {
      this.#end ??= {};
      this.#wakeJoiner?.();
      this.#leaveSource();
    }
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wakeReader = resolve;
      this.#wakeJoiner?.();
    });
  }

  async #join(): Promise<void> {
    let run: SentenceRun | undefined;
    try {
      while (this.#end === undefined) {
        const next = await unlessItFails(this.#source.next(), run);
        if (next.done === true) break;
        const sentence = this.#joiner.sentenceOf(next.value);
        if (sentence !== undefined && run?.takes(sentence) === true) {
          this.#give(run.add(sentence));
          continue;
        }
        run?.end();
        run = undefined;
        await this.#allTaken();
        if (sentence !== undefined) run = this.#joiner.begin(sentence);
        this.#give(sentence === undefined ? next.value : (run?.add(sentence) ?? sentence));
        if (run === undefined) await this.#allTaken();
      }
      this.#end ??= {};
    } catch (error) {
      this.#end ??= { error };
    } finally {
      run?.end();
      this.#leaveSource();
      this.#wakeReader?.();
    }
  }

  #give(piece: LinePiece): void {
    this.#pieces.push(piece);
    this.#wakeReader?.();
  }

  /** Resolves when the reader asks for what is not there yet, or has left. */
  async #allTaken(): Promise<void> {
    while (this.#end === undefined && this.#pieces.length > 0) {
      await new Promise<void>((resolve) => (this.#wakeJoiner = resolve));
    }
  }

  /** Not awaited: a producer that hangs in its own clean-up holds nobody here. */
  #leaveSource(): void {
    this.#source.return?.().then(undefined, () => undefined);
  }
}

/** What comes, or the failure of the run that waits for it. */
function unlessItFails<T>(next: Promise<T>, run: SentenceRun | undefined): Promise<T> {
  if (run === undefined) return next;
  const failed = run.synthesized.then(
    () => next,
    (error: unknown) => {
      throw error;
    },
  );
  return Promise.race([next, failed]);
}
