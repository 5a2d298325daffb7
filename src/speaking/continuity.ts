// Joins the sentences of an utterance into runs (sentence-run.ts): one generation of the engine speaks a run, so that the
// voice does not change between its sentences.
//
// A new run begins where the voice or the language changes, after a sentence that was kept and need not be made, after a
// recorded sound or a stated pause, and when the engine has no room for one more sentence. A sentence stays on its own if
// its engine takes no further text, or if a limit holds for each sentence.
//
// The sound of a run is not kept for its sentences: it depends on the text before, and the ends are estimates. Only a
// sentence without a run is kept.
import type { SpeechOptions } from '../engines/engine.js';
import { type SpokenSentence, wordsOf } from './line-piece.js';
import { RunPart, SentenceRun, SpeechPaces, type LinePiece, type LinePieces } from './sentence-run.js';

export class Continuity {
  readonly mode: 'sentence' | 'utterance';
  readonly #paces = new SpeechPaces();

  constructor(mode: 'sentence' | 'utterance') {
    this.mode = mode;
  }

  /** Joins the pieces of an utterance for its line. Pieces that arrive are read ahead while a run takes them. */
  join(pieces: LinePieces, options: JoinOptions): LinePieces {
    if (this.mode === 'sentence') return pieces;
    const joiner = new RunJoiner(this.#paces, options);
    return Symbol.iterator in pieces ? joiner.whole(pieces) : new ArrivingRuns(pieces, joiner);
  }
}

/** Options for joining the pieces of one utterance. */
interface JoinOptions {
  readonly options: SpeechOptions | undefined;
  /** Aborts the whole utterance. */
  readonly signal: AbortSignal;
  /** True if the sentence need not be made. `isFirst`: it is the first piece of the utterance. */
  readonly isKept?: (sentence: SpokenSentence, isFirst: boolean) => boolean;
  /** Called for each piece when it is read, which may be long before its turn. */
  readonly onRead?: () => void;
}

class RunJoiner {
  readonly #paces: SpeechPaces;
  readonly #options: JoinOptions;
  #isFirst = true;

  constructor(paces: SpeechPaces, options: JoinOptions) {
    this.#paces = paces;
    this.#options = options;
  }

  /** Joins a whole text: each run has all of its text before it begins. */
  whole(pieces: Iterable<LinePiece>): LinePiece[] {
    const groups: { readonly run?: SentenceRun; readonly pieces: LinePiece[]; readonly first: LinePiece }[] =
      [];
    for (const piece of pieces) {
      const sentence = this.sentenceOf(piece);
      const last = groups.at(-1);
      if (sentence === undefined) {
        groups.push({ pieces: [piece], first: piece });
      } else if (last?.run?.takes(sentence) === true) {
        last.pieces.push(last.run.add(sentence));
      } else {
        const run = this.begin(sentence);
        groups.push({ run, pieces: [run.add(sentence)], first: piece });
      }
    }
    for (const { run } of groups) run?.end();
    // A run of one sentence is made, and kept, as a sentence without a run.
    return groups.flatMap((group) => (group.pieces.length === 1 ? [group.first] : group.pieces));
  }

  /**
   * The piece as a sentence that can be spoken together with others; undefined if it stands alone. Call it once for each
   * piece, in order.
   */
  sentenceOf(piece: LinePiece): SpokenSentence | undefined {
    this.#options.onRead?.();
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    if ('write' in piece || piece instanceof RunPart || !this.#fits(piece)) return undefined;
    return this.#options.isKept?.(piece, isFirst) === true ? undefined : piece;
  }

  /** Begins a run for this sentence; the caller then adds it. */
  begin({ voice }: SpokenSentence): SentenceRun {
    const { options, signal } = this.#options;
    return new SentenceRun({ voice, options, signal, pace: this.#paces.of(voice) });
  }

  #fits(sentence: SpokenSentence): boolean {
    const { engine } = sentence.voice;
    const { speed, gain } = sentence.delivery ?? {};
    return (
      speed === undefined &&
      gain === undefined &&
      engine.capabilities.textStreaming &&
      this.#options.options?.maxNewTokens === undefined &&
      Buffer.byteLength(wordsOf(sentence)) <= (engine.mostText ?? 0)
    );
  }
}

/**
 * Joins pieces of a text that arrives. Sentences go into an open run at once, because an engine reads text faster than it
 * speaks. Beyond that nothing is read ahead.
 */
class ArrivingRuns implements AsyncIterable<LinePiece> {
  readonly #source: AsyncIterator<LinePiece>;
  readonly #joiner: RunJoiner;
  /** Joined and not taken by the reader. */
  readonly #pieces: LinePiece[] = [];
  #end: { readonly error?: unknown } | undefined;
  #wakeReader: (() => void) | undefined;
  #wakeJoiner: (() => void) | undefined;

  constructor(source: AsyncIterable<LinePiece>, joiner: RunJoiner) {
    this.#source = source[Symbol.asyncIterator]();
    this.#joiner = joiner;
  }

  /** For one reader. An error of the source, or of a run that waits for text, comes after the pieces before it. */
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

  /** Resolves when the reader waits for a piece, or has left. */
  async #allTaken(): Promise<void> {
    while (this.#end === undefined && this.#pieces.length > 0) {
      await new Promise<void>((resolve) => (this.#wakeJoiner = resolve));
    }
  }

  /** Not awaited, because a producer may hang in its own clean-up. */
  #leaveSource(): void {
    this.#source.return?.().then(undefined, () => undefined);
  }
}

/** Resolves with the next piece, or rejects with the failure of the run that waits for it. */
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
