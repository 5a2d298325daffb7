// One utterance of a call: it follows a text from its arrival to its last packet and reports each step as an
// event.
//
//   waiting ──▶ speaking ──▶ spoken
//      │           ├───────▶ interrupted
//      └───────────┴───────▶ failed
//
// An utterance is spoken when its last packet was sent, not when the engine finished: its end travels through
// the playout as a mark.
import { forClient, isAborted, GIVEN_UP, ParleyError, asParleyError } from '../errors.js';
import { decodeMark } from '../encoding/marks.js';
import type { WordTime } from '../engines/engine.js';
import type { SpeechPieces } from '../speaking/sentence-run.js';
import type { SpeechPipeline } from '../speaking/speech-pipeline.js';
import type { CallEvent } from './call-events.js';
import { packetTimes, type SpokenSegment } from '../speaking/spoken-text.js';

type UtteranceState = 'waiting' | 'speaking' | 'spoken' | 'interrupted' | 'failed';

const NEXT: Readonly<Record<UtteranceState, readonly UtteranceState[]>> = {
  waiting: ['speaking', 'spoken', 'interrupted', 'failed'],
  speaking: ['spoken', 'interrupted', 'failed'],
  spoken: [],
  interrupted: [],
  failed: [],
};

/** The input of the caller that interrupts an utterance: none, a key, speech, or either. */
export const INTERRUPTIBLE = ['none', 'dtmf', 'speech', 'any'] as const;
export type Interruptible = (typeof INTERRUPTIBLE)[number];

export interface UtteranceEnd {
  readonly end: 'spoken' | 'interrupted' | 'failed';
  /** The text that was sent. */
  readonly text: string;
  /** Sound sent, in milliseconds. */
  readonly durationMs: number;
  readonly error?: ParleyError;
}

/** The sound of an utterance in the call: a CallTrack. */
interface UtteranceSound {
  /** Milliseconds of it that were sent. */
  readonly sentMs: number;
  textSent(segments: readonly SpokenSegment[], sentMs: number): string;
  /** Frames from the beginning of the word in which the sound stopped up to there. */
  unfinishedFrames(segments: readonly SpokenSegment[]): number;
  /** Queues the end of the utterance if the pipeline could not; false if there is no queue left. */
  queueEnd(): boolean;
}

interface UtteranceParts {
  readonly pipeline: SpeechPipeline;
  readonly sound: UtteranceSound;
  /** Arrival of the text, on the clock of the media plane. */
  readonly receivedAtMs: number;
  readonly interruptible: Interruptible;
  /** `failure` is the error of `utterance.failed`, as it was. */
  readonly emit: (event: CallEvent, failure?: ParleyError) => void;
}

function toTenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}

export class Utterance {
  /** Also the number of its track in the playout. */
  readonly number: number;
  /** Resolves, never rejects, once the last packet was sent or the utterance was given up. */
  readonly ended: Promise<UtteranceEnd>;
  readonly #parts: UtteranceParts;
  readonly #controller = new AbortController();
  #state: UtteranceState = 'waiting';
  #error: ParleyError | undefined;
  #resolve!: (end: UtteranceEnd) => void;
  #pushed: Promise<void> = Promise.resolve();
  #sentenceAtMs: number | undefined;

  constructor(number: number, parts: UtteranceParts) {
    this.number = number;
    this.#parts = parts;
    this.ended = new Promise((resolve) => (this.#resolve = resolve));
  }

  get state(): UtteranceState {
    return this.#state;
  }

  get interruptible(): Interruptible {
    return this.#parts.interruptible;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Resolves when its pipeline pushes no more, so that the next utterance may push. */
  get pushed(): Promise<void> {
    return this.#pushed;
  }

  start(sentences: SpeechPieces, turn: Promise<void>): void {
    this.#pushed = this.#parts.pipeline
      .run(sentences, turn, this.signal)
      .catch((error: unknown) => this.#pipelineFailed(asParleyError(error, 'ENGINE_FAILED')))
      // It may have failed before its turn, while those before it still push.
      .then(() => turn);
  }

  /** The producer of the text has nothing more for now. */
  textPauses(): void {
    this.#parts.pipeline.textPauses();
  }

  /** The first sentence of a text in tokens is whole. */
  sentenceArrives(atMs: number): void {
    this.#sentenceAtMs = atMs;
  }

  #pipelineFailed(error: ParleyError): void {
    if (this.#isOver() || (isAborted(error) && this.signal.aborted)) return;
    this.#error = error;
    // The failure is reported when the queued sound has been sent.
    const { pipeline, sound } = this.#parts;
    if (pipeline.begun && (pipeline.flushed || sound.queueEnd())) return;
    this.#finish('failed', sound.sentMs);
  }

  /** The call goes on through another port. */
  moved(): void {
    this.#parts.pipeline.moved();
  }

  /** Its queued sound was lost on the way from one port to another. */
  lost(error: ParleyError): void {
    if (this.#isOver() || !this.#parts.pipeline.begun) return;
    this.#error ??= error;
    this.#finish('failed', this.#parts.sound.sentMs);
  }

  /** The playout reports that everything before this mark was sent. */
  markReached(mark: number, sentAtMs: number): void {
    if (this.#isOver()) return;
    const { kind, index } = decodeMark(mark);
    const segment = this.#parts.pipeline.segments[index];
    if (kind === 'track-ended') {
      this.#error ??= this.#parts.pipeline.failure;
      this.#finish(this.#error === undefined ? 'spoken' : 'failed', this.#parts.sound.sentMs);
    } else if (kind === 'segment-started') {
      if (this.#state === 'waiting') this.#started(sentAtMs);
      this.#emitMarks(segment?.delivery?.marksBefore);
      this.#emitSentence('sentence.started', index, segment?.text);
    } else {
      this.#emitSentence('sentence.spoken', index, segment?.text);
      this.#emitMarks(segment?.delivery?.marksAfter);
    }
  }

  #emitMarks(marks: readonly string[] = []): void {
    for (const mark of marks) this.#parts.emit({ type: 'mark.reached', utterance: this.number, mark });
  }

  #started(sentAtMs: number): void {
    const { receivedAtMs, pipeline, emit } = this.#parts;
    this.#step('speaking');
    const sentenceAtMs = this.#sentenceAtMs;
    emit({
      type: 'utterance.started',
      utterance: this.number,
      ...(sentenceAtMs === undefined ? {} : { sentenceMs: toTenths(sentenceAtMs - receivedAtMs) }),
      firstPacketMs: toTenths(sentAtMs - receivedAtMs),
      queuedMs: toTenths((pipeline.queuedAtMs ?? sentAtMs) - receivedAtMs),
    });
  }

  #emitSentence(type: 'sentence.started' | 'sentence.spoken', sentence: number, text = ''): void {
    this.#parts.emit({ type, utterance: this.number, sentence, text });
  }

  /** Times of the words of a sentence from its first packet; empty if they are not known. */
  wordTimes(sentence: number): readonly WordTime[] {
    const segment = this.#parts.pipeline.segments[sentence];
    return segment === undefined ? [] : packetTimes(segment);
  }

  /** Frames that have left of the word in which the sound stands still. */
  get unfinishedFrames(): number {
    return this.#parts.sound.unfinishedFrames(this.#parts.pipeline.segments);
  }

  /** The caller's sound has paused its voice, or the voice goes on. */
  reportPause(type: 'utterance.paused' | 'utterance.resumed'): void {
    if (!this.#isOver()) this.#parts.emit({ type, utterance: this.number });
  }

  /**
   * Its queued sound was dropped after `sentMs` milliseconds, of which the last `unheardMs` were still on
   * their way. Returns the text that was sent.
   */
  interrupted(sentMs: number, unheardMs = 0): string {
    return this.#isOver() ? '' : this.#finish('interrupted', sentMs, unheardMs);
  }

  #finish(end: UtteranceEnd['end'], durationMs: number, unheardMs = 0): string {
    const { pipeline, sound, emit } = this.#parts;
    const text = sound.textSent(pipeline.segments, durationMs);
    const utterance = this.number;
    this.#step(end);
    this.#controller.abort(GIVEN_UP);
    const error = this.#error;
    if (error !== undefined && end === 'failed') {
      const told = { code: error.code, message: forClient(error).message };
      emit({ type: 'utterance.failed', utterance, text, error: told }, error);
    } else if (end === 'interrupted') {
      const heard = sound.textSent(pipeline.segments, Math.max(0, durationMs - unheardMs));
      emit({ type: 'utterance.interrupted', utterance, text, heard, durationMs });
    } else {
      emit({ type: 'utterance.spoken', utterance, text, durationMs });
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
