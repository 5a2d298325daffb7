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
import type { SpeechOptions } from '../engines/engine.js';
import { wordsOf, type LinePiece, type SpokenSentence } from './line-piece.js';
import { RunPart, SentenceRun } from './sentence-run.js';
import type { SpeechPaces } from './speech-pace.js';

/** Of one utterance. */
export interface UtteranceTerms {
  readonly options: SpeechOptions | undefined;
  /** Of all of it. */
  readonly signal: AbortSignal;
  /** The sentence need not be made; `isFirst` of the utterance. */
  readonly isKept?: (sentence: SpokenSentence, isFirst: boolean) => boolean;
  /** Told of each piece when it is read, which may be long before its turn. */
  readonly onRead?: () => void;
}

export class RunJoiner {
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
