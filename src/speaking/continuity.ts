// Joins the sentences of an utterance into runs (sentence-run.ts): one generation of the engine speaks a run,
// so that the voice does not change between its sentences.
//
// A new run begins where the voice or the language changes, after a sentence that was kept and need not be
// made, after a recorded sound or a stated pause, and when the engine has no room for one more sentence. A
// sentence stays on its own if its engine takes no further text, or if a limit holds for each sentence.
//
// The sound of a run is not kept for its sentences: it depends on the text before, and the ends are
// estimates. Only a sentence without a run is kept.
import type { SpeechOptions } from '../engines/engine.js';
import type { ResolvedVoice } from '../engines/routing.js';
import { type SpokenSentence, wordsOf } from './speech-piece.js';
import { RunPart, SentenceRun, SpeechPace, type SpeechPiece, type SpeechPieces } from './sentence-run.js';

const MOST_VOICES = 1000; // with a measured pace; the oldest one is forgotten first

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

/** `sentence` is the piece if a run may speak it, and undefined if it stands alone. */
interface Candidate {
  readonly piece: SpeechPiece;
  readonly sentence: SpokenSentence | undefined;
}

export class Continuity {
  readonly mode: 'sentence' | 'utterance';
  readonly #paces = new Map<string, SpeechPace>();

  constructor(mode: 'sentence' | 'utterance') {
    this.mode = mode;
  }

  /** Joins the pieces of an utterance for its pipeline. The pieces are for one reader. */
  join(pieces: SpeechPieces, options: JoinOptions): SpeechPieces {
    return this.mode === 'sentence' ? pieces : this.#joined(pieces, options);
  }

  /** The pace of a voice, which all of its runs measure. */
  paceOf({ engine, voice, language, reference }: ResolvedVoice): SpeechPace {
    const key = JSON.stringify([engine.name, voice, language, reference?.hash]);
    const known = this.#paces.get(key);
    if (known !== undefined) return known;
    const pace = new SpeechPace(language);
    this.#paces.set(key, pace);
    const [oldest] = this.#paces.keys();
    if (oldest !== undefined && this.#paces.size > MOST_VOICES) this.#paces.delete(oldest);
    return pace;
  }

  /**
   * A run of a whole text has all of its text before it begins. An open run takes sentences of an arriving
   * text at once, because an engine reads text faster than it speaks. Beyond that nothing is read ahead. An
   * error of the source, or of a run that waits for text, comes after the pieces before it.
   */
  async *#joined(pieces: SpeechPieces, options: JoinOptions): AsyncGenerator<SpeechPiece, void, undefined> {
    const isWhole = Symbol.iterator in pieces;
    const source = candidates(pieces, options);
    try {
      let next = await source.next();
      while (next.done !== true) {
        const { piece, sentence } = next.value;
        if (sentence === undefined) {
          yield piece;
          next = await source.next();
          continue;
        }
        const { voice } = sentence;
        const run = new SentenceRun({ ...options, voice, pace: this.paceOf(voice) });
        run.add(sentence);
        const following = fill(run, source);
        following.catch(() => undefined); // the error is thrown after the sentences of the run
        if (isWhole) await following;
        // A run of one sentence is made, and kept, as a sentence without a run.
        if (isWhole && run.size === 1) yield sentence;
        else yield* run.parts();
        next = await following;
      }
    } finally {
      // Not awaited, because a producer may hang in its own clean-up.
      source.return().then(undefined, () => undefined);
    }
  }
}

async function* candidates(
  pieces: SpeechPieces,
  options: JoinOptions,
): AsyncGenerator<Candidate, void, undefined> {
  let isFirst = true;
  for await (const piece of pieces) {
    options.onRead?.();
    const isAlone =
      'write' in piece ||
      piece instanceof RunPart ||
      !fits(piece, options.options) ||
      options.isKept?.(piece, isFirst) === true;
    isFirst = false;
    yield { piece, sentence: isAlone ? undefined : piece };
  }
}

/** True if its engine can speak the sentence together with others. */
function fits(sentence: SpokenSentence, options: SpeechOptions | undefined): boolean {
  const { engine } = sentence.voice;
  const { speed, gain } = sentence.delivery ?? {};
  return (
    speed === undefined &&
    gain === undefined &&
    engine.capabilities.textStreaming &&
    options?.maxNewTokens === undefined &&
    Buffer.byteLength(wordsOf(sentence)) <= (engine.mostText ?? 0)
  );
}

/**
 * Adds sentences while the run takes them, then ends it. Resolves with the first piece that it does not take.
 */
async function fill(
  run: SentenceRun,
  source: AsyncIterator<Candidate, void>,
): Promise<IteratorResult<Candidate, void>> {
  try {
    for (;;) {
      const reading = source.next();
      const next = await Promise.race([reading, run.synthesized.then(() => reading)]); // or the run fails
      const sentence = next.done === true ? undefined : next.value.sentence;
      if (sentence === undefined || !run.takes(sentence)) return next;
      run.add(sentence);
    }
  } finally {
    run.end();
  }
}
