// How much of an utterance one generation speaks: a sentence, or all that can be
// spoken together (run-joiner.ts), so that the voice does not change between
// sentences.
import type { SpeechOptions } from '../engines/engine.js';
import { type LinePiece, type LinePieces, type SpokenSentence, wordsOf } from './line-piece.js';
import { RunPart, SentenceRun, SpeechPaces } from './sentence-run.js';

export class Continuity {
  readonly mode: 'sentence' | 'utterance';
  readonly #paces = new SpeechPaces();

  constructor(mode: 'sentence' | 'utterance') {
    this.mode = mode;
  }

  /** The pieces of an utterance as a line takes them. Those that arrive are read ahead while a run takes them. */
  join(pieces: LinePieces, terms: UtteranceTerms): LinePieces {
    if (this.mode === 'sentence') return pieces;
    const joiner = new RunJoiner(this.#paces, terms);
    return Symbol.iterator in pieces ? joiner.whole(pieces) : new ArrivingRuns(pieces, joiner);
  }
}

// Puts the sentences of one utterance together to runs.
//
// A new run, and with it a new generation, begins where the voice or the language
// changes, where a sentence was kept and need not be made, where a sound comes
// between, or a pause that is stated, and where the engine has no room for one more. An engine
// that takes no further text, or a limit that is said of each sentence, leaves
// each its own.
//
// What a run makes is not kept as what its sentences sound like: a part of it
// depends on all that was said before, and its ends are an estimate. Only a
// sentence that is an utterance of its own is.

/** Of one utterance. */
interface UtteranceTerms {
  readonly options: SpeechOptions | undefined;
  /** Of all of it. */
  readonly signal: AbortSignal;
  /** The sentence need not be made; `isFirst` of the utterance. */
  readonly isKept?: (sentence: SpokenSentence, isFirst: boolean) => boolean;
  /** Told of each piece when it is read, which may be long before its turn. */
  readonly onRead?: () => void;
}

class RunJoiner {
  readonly #paces: SpeechPaces;
  readonly #terms: UtteranceTerms;
  #isFirst = true;

  constructor(paces: SpeechPaces, terms: UtteranceTerms) {
    this.#paces = paces;
    this.#terms = terms;
  }

  /** A text that is there whole: each run has all of its text before it begins. */
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
    // A sentence on its own is made, and kept, as it would be in any case.
    return groups.flatMap((group) => (group.pieces.length === 1 ? [group.first] : group.pieces));
  }

  /** The sentence that may be spoken together with others; undefined where the piece stands alone. To be asked once for each piece, in order. */
  sentenceOf(piece: LinePiece): SpokenSentence | undefined {
    this.#terms.onRead?.();
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    if ('write' in piece || piece instanceof RunPart || !this.#fits(piece)) return undefined;
    return this.#terms.isKept?.(piece, isFirst) === true ? undefined : piece;
  }

  /** A run for this sentence, which is to be added. */
  begin({ voice }: SpokenSentence): SentenceRun {
    const { options, signal } = this.#terms;
    return new SentenceRun({ voice, options, signal, pace: this.#paces.of(voice) });
  }

  #fits(sentence: SpokenSentence): boolean {
    const { engine } = sentence.voice;
    const { speed, gain } = sentence.delivery ?? {};
    return (
      speed === undefined &&
      gain === undefined &&
      engine.capabilities.textStreaming &&
      this.#terms.options?.maxNewTokens === undefined &&
      Buffer.byteLength(wordsOf(sentence)) <= (engine.mostText ?? 0)
    );
  }
}

// The pieces of a text that arrives, joined to runs as they come. While a run
// takes sentences they are handed to it at once, whoever speaks it: an engine
// reads its text faster than it speaks it. Beyond that nothing is read ahead.

class ArrivingRuns implements AsyncIterable<LinePiece> {
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
