// Defines what the dialects that speak without a call share: the parts they are built from, and the queue
// that speaks the texts of one socket in order and can be emptied at any moment.
import { ParleyError } from '../../errors.js';
import type { SentenceSpeaker } from '../../speaking/spoken-sentences.js';
import type { Time } from '../../time.js';
import type { ReportFailure } from '../http/error-reply.js';
import type { SpeechOptionLimits } from '../http/message-fields.js';

interface SpeechSocketLimits extends SpeechOptionLimits {
  /** UTF-16 code units of one text. */
  readonly maxTextLength: number;
  /** Limit of texts that wait behind the current one. */
  readonly maxWaitingUtterances: number;
}

export interface SpeechSocketParts {
  readonly speaker: SentenceSpeaker;
  readonly limits: SpeechSocketLimits;
  readonly time: Time;
  /** Voice names by the voice ids that ElevenLabs clients send. */
  readonly elevenLabsVoices?: ReadonlyMap<string, string>;
  /** Throws MODEL_UNKNOWN if a text must not use this model name. */
  readonly checkModel: (name: string | undefined) => void;
  /** Called for every failure that is not the peer's fault. */
  readonly failed: ReportFailure;
  /** Reports the milliseconds from the arrival of a text to its first audio, if the socket was idle. */
  readonly firstSound: (ms: number) => void;
}

/** Speaks one text. Resolves soon after the signal is aborted, and never rejects. */
type SpeakText = (signal: AbortSignal) => Promise<void>;

export class TextQueue {
  readonly #maxWaiting: number;
  #waiting: SpeakText[] = [];
  #current: AbortController | undefined;
  /** Callbacks of `cancel`, called when the current text has stopped and before the next one starts. */
  #stopped: (() => void)[] = [];
  #idle: (() => void)[] = [];

  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  /** True if no text is being spoken or waiting. */
  get isIdle(): boolean {
    return this.#current === undefined;
  }

  /** Throws QUEUE_FULL. */
  add(speak: SpeakText): void {
    if (!this.isIdle && this.#waiting.length >= this.#maxWaiting) {
      throw new ParleyError(
        'QUEUE_FULL',
        `${this.#maxWaiting} texts wait on this socket already, which is what MAX_WAITING_UTTERANCES allows`,
      );
    }
    this.#waiting.push(speak);
    this.#next();
  }

  /** Drops waiting texts and stops the current one. Calls `stopped` when no more audio of it can come. */
  cancel(stopped: () => void): void {
    this.#waiting = [];
    if (this.#current === undefined) {
      stopped();
      return;
    }
    this.#stopped.push(stopped);
    this.#current.abort();
  }

  /** Resolves when every added text has been spoken or dropped. */
  idle(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  #next(): void {
    if (this.#current !== undefined) return;
    const speak = this.#waiting.shift();
    if (speak === undefined) {
      for (const resolve of this.#idle.splice(0)) resolve();
      return;
    }
    const controller = new AbortController();
    this.#current = controller;
    void speak(controller.signal).finally(() => {
      this.#current = undefined;
      for (const stopped of this.#stopped.splice(0)) stopped();
      this.#next();
    });
  }
}
