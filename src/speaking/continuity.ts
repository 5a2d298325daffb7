// How much of an utterance one generation speaks: a sentence, or all that can be
// spoken together (run-joiner.ts), so that the voice does not change between
// sentences.
import { ArrivingRuns } from './arriving-runs.js';
import type { LinePieces } from './line-piece.js';
import { RunJoiner, type UtteranceTerms } from './run-joiner.js';
import { SpeechPaces } from './speech-pace.js';

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
