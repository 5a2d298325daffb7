// One text being spoken in a call, from its arrival to its last packet.
//
//   waiting ──▶ speaking ──▶ spoken
//      │           ├───────▶ interrupted
//      └───────────┴───────▶ failed
//
// It is spoken when its last packet left, not when the engine finished: the end
// travels through the playout as a mark.
import { isAborted, type ErrorCode, ParleyError, asParleyError } from '../errors.js';
import { decodeMark } from '../rtp/marks.js';
import type { SpeechLine, SpokenSentence } from './speech-line.js';
import { spokenText } from './spoken-text.js';

export type UtteranceState = 'waiting' | 'speaking' | 'spoken' | 'interrupted' | 'failed';

const NEXT: Readonly<Record<UtteranceState, readonly UtteranceState[]>> = {
  waiting: ['speaking', 'spoken', 'interrupted', 'failed'],
  speaking: ['spoken', 'interrupted', 'failed'],
  spoken: [],
  interrupted: [],
  failed: [],
};

export interface UtteranceEnd {
  readonly end: 'spoken' | 'interrupted' | 'failed';
  /** What was heard of it. */
  readonly text: string;
  /** Sound sent, in milliseconds. */
  readonly durationMs: number;
  readonly error?: ParleyError;
}

interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
}

export type UtteranceEvent =
  | { type: 'utterance.started'; utterance: number; firstPacketMs: number; queuedMs: number }
  | { type: 'sentence.started'; utterance: number; sentence: number; text: string }
  | { type: 'sentence.spoken'; utterance: number; sentence: number; text: string }
  | { type: 'utterance.spoken'; utterance: number; text: string; durationMs: number }
  | { type: 'utterance.interrupted'; utterance: number; text: string; durationMs: number }
  | { type: 'utterance.failed'; utterance: number; text: string; error: Failure };

export interface UtteranceParts {
  readonly line: SpeechLine;
  /** Length of one frame of the call's codec. */
  readonly frameMs: number;
  /** When the text arrived, on the media plane's clock. */
  readonly receivedAtMs: number;
  /** Frames of this utterance that have left. */
  readonly sentFrames: () => number;
  /** Queues the end of the utterance where the line could not; false when there is no queue left. */
  readonly queueEnd: () => boolean;
  readonly emit: (event: UtteranceEvent) => void;
}

function toTenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}

export class Utterance {
  /** Also the number of its track in the playout. */
  readonly number: number;
  /** Resolves, never rejects, once the last packet left or the utterance was given up. */
  readonly ended: Promise<UtteranceEnd>;
  readonly #parts: UtteranceParts;
  readonly #controller = new AbortController();
  #state: UtteranceState = 'waiting';
  #error: ParleyError | undefined;
  #resolve!: (end: UtteranceEnd) => void;
  #pushed: Promise<void> = Promise.resolve();

  constructor(number: number, parts: UtteranceParts) {
    this.number = number;
    this.#parts = parts;
    this.ended = new Promise((resolve) => (this.#resolve = resolve));
  }

  get state(): UtteranceState {
    return this.#state;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Resolves when its line pushes no more, so that the next utterance may. */
  get pushed(): Promise<void> {
    return this.#pushed;
  }

  start(sentences: AsyncIterable<SpokenSentence> | Iterable<SpokenSentence>, turn: Promise<void>): void {
    this.#pushed = this.#parts.line
      .run(sentences, turn, this.signal)
      .catch((error: unknown) => this.#lineFailed(asParleyError(error, 'ENGINE_FAILED')))
      // It may have failed before its turn, while those before it still push.
      .then(() => turn);
  }

  /** The producer of the text has nothing more for now. */
  textPauses(): void {
    this.#parts.line.textPauses();
  }

  #lineFailed(error: ParleyError): void {
    if (this.#isOver() || (isAborted(error) && this.signal.aborted)) return;
    this.#error = error;
    // The failure is told when what was queued of it has been heard.
    const { line, queueEnd } = this.#parts;
    if (line.begun && (line.flushed || queueEnd())) return;
    this.#finish('failed', this.#parts.sentFrames());
  }

  /** A fact told by the playout: everything before this mark has left. */
  markReached(mark: number, sentAtMs: number): void {
    if (this.#isOver()) return;
    const { kind, index } = decodeMark(mark);
    const segment = this.#parts.line.segments[index];
    if (kind === 'track-ended') {
      this.#finish(this.#error === undefined ? 'spoken' : 'failed', this.#parts.sentFrames());
    } else if (kind === 'segment-started') {
      if (this.#state === 'waiting') this.#started(sentAtMs);
      this.#tell('sentence.started', index, segment?.text);
    } else {
      this.#tell('sentence.spoken', index, segment?.text);
    }
  }

  #started(sentAtMs: number): void {
    const { receivedAtMs, line, emit } = this.#parts;
    this.#step('speaking');
    emit({
      type: 'utterance.started',
      utterance: this.number,
      firstPacketMs: toTenths(sentAtMs - receivedAtMs),
      queuedMs: toTenths((line.queuedAtMs ?? sentAtMs) - receivedAtMs),
    });
  }

  #tell(type: 'sentence.started' | 'sentence.spoken', sentence: number, text = ''): void {
    this.#parts.emit({ type, utterance: this.number, sentence, text });
  }

  /** Told that what was queued of it is dropped after these frames; returns what was heard. */
  interrupted(sentFrames: number): string {
    return this.#isOver() ? '' : this.#finish('interrupted', sentFrames);
  }

  #finish(end: UtteranceEnd['end'], sentFrames: number): string {
    const { line, frameMs, emit } = this.#parts;
    const text = spokenText(line.segments, sentFrames, frameMs);
    const durationMs = sentFrames * frameMs;
    const utterance = this.number;
    this.#step(end);
    this.#controller.abort();
    const error = this.#error;
    if (error !== undefined && end === 'failed') {
      emit({
        type: 'utterance.failed',
        utterance,
        text,
        error: { code: error.code, message: error.message },
      });
    } else if (end !== 'failed') {
      emit({ type: `utterance.${end}`, utterance, text, durationMs });
    }
    this.#resolve({ end, text, durationMs, ...(error === undefined ? {} : { error }) });
    return text;
  }

  #step(next: UtteranceState): void {
    if (!NEXT[this.#state].includes(next)) {
      throw new ParleyError('WRONG_STATE', `an utterance that is ${this.#state} cannot become ${next}`);
    }
    this.#state = next;
  }

  #isOver(): boolean {
    return NEXT[this.#state].length === 0;
  }
}
