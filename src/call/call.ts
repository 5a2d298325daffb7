// One conversation, whatever door it came through: texts in, their speech out
// through the call's playout, one after another, until somebody interrupts.
// What is in the making is the queue's (utterance-queue.ts).
import { ParleyError } from '../errors.js';
import type { Codec } from '../codecs/codec.js';
import type { Playout } from '../media/playout.js';
import type { SpeechRouting } from '../engines/routing.js';
import type { Lexicon } from '../text/lexicon.js';
import type { Time } from '../time.js';
import type { CallEncoders } from './call-route.js';
import type { Continuity } from '../speaking/continuity.js';
import type { FrameCache } from '../speaking/frame-cache.js';
import { Goodbye, type LastWords } from './goodbye.js';
import type { MediaPort } from './media-port.js';
import { PausableTime } from './pausable-time.js';
import type { PlayedSound } from './phone-calls.js';
import { soundPiece } from './played-sound.js';
import type { LineManner } from '../speaking/speech-line.js';
import { isMarkup, type TextFormat } from '../speaking/text-format.js';
import { sentencesFrom, type TextLimits } from '../speaking/text-source.js';
import { TextTurns } from '../speaking/text-turns.js';
import type { Utterance, UtteranceEvent } from './utterance.js';
import { UtteranceQueue, type Interruption } from './utterance-queue.js';
import { VoicePlan } from '../speaking/voice-plan.js';
import { callPieces } from '../speaking/whole-text.js';

export type { MediaPort } from './media-port.js';
export type { Interruption } from './utterance-queue.js';

export interface CallLimits extends TextLimits, LastWords {
  /** Texts that may wait behind the one being spoken. */
  readonly maxWaitingUtterances: number;
}

export interface CallLog {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
}

export interface CallMetrics {
  callOpened(door: string): void;
  callClosed(door: string, reason: string): void;
  utteranceEnded(end: 'spoken' | 'interrupted' | 'failed'): void;
  /** Milliseconds from the arrival of a text to its first packet, where nothing was being spoken. */
  firstAudio(ms: number, door: string): void;
}

export interface CallParts {
  readonly routing: SpeechRouting;
  readonly encoders: CallEncoders;
  /** Sentences said before; absent where none are kept. */
  readonly frames?: FrameCache;
  /** Each sentence by itself where absent. */
  readonly continuity?: Continuity;
  readonly limits: CallLimits;
  /** Of all calls, for long texts; the call has its own where absent. */
  readonly turns?: TextTurns;
  readonly time: Time;
  readonly log: CallLog;
  readonly metrics: CallMetrics;
}

export interface SpeakOptions {
  readonly voice?: string;
  readonly language?: string;
  /** False: the engine is given the text as it is written. */
  readonly normalize?: boolean;
  /** What a whole text is; `auto` where absent. One that comes in tokens is words. */
  readonly format?: TextFormat;
  /** How words of the text are said; asked before that of the server. */
  readonly lexicon?: Lexicon;
  /** When the text arrived, in milliseconds of the monotonic clock; now, if absent. */
  readonly receivedAtMs?: number;
}

export type CallEvent = UtteranceEvent;

export class Call {
  readonly id: string;
  readonly door: string;
  /** Resolves with the reason once everything of the call is freed. */
  readonly closed: Promise<string>;
  /** Told in order. Set by the door that owns the conversation. */
  onEvent: ((event: CallEvent) => void) | undefined;
  readonly #parts: CallParts;
  readonly #queue: UtteranceQueue;
  /** What a text may take its time by; it stands still while the call is held. */
  readonly #textTime: PausableTime;
  readonly #goodbye: Goodbye;
  readonly #turns: TextTurns;
  #closing: Promise<void> | undefined;
  #resolveClosed!: (reason: string) => void;

  constructor(id: string, door: string, port: MediaPort, parts: CallParts) {
    this.id = id;
    this.door = door;
    this.#parts = parts;
    this.#turns = parts.turns ?? new TextTurns();
    this.#textTime = new PausableTime(parts.time);
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
    const onEnd = (end: 'spoken' | 'interrupted' | 'failed') => parts.metrics.utteranceEnded(end);
    this.#queue = new UtteranceQueue(port, { ...parts, client: id, onEnd });
    this.#goodbye = new Goodbye(id, parts, {
      interrupt: (reason) => this.#closing ?? this.interrupt(reason),
      say: async (phrase) => (this.#refuseClosed(), this.#say(phrase, {}).ended),
      close: (reason) => this.close(reason),
    });
    parts.log.info({ call: id, door, codec: port.codec.name, path: port.path }, 'call opened');
  }

  get codec(): Codec {
    return this.#queue.port.codec;
  }

  stats(): ReturnType<Playout['stats']> {
    return this.#queue.port.playout.stats();
  }

  /**
   * Speaks a text after those already given. Throws CALL_CLOSED, QUEUE_FULL, and for a whole text at once
   * TEXT_TOO_LONG, TEXT_EMPTY, VOICE_UNKNOWN or LANGUAGE_UNAVAILABLE; a text in tokens fails with these later. A long
   * text is read in turns: what only its reading shows fails it later, too.
   */
  speak(text: string | AsyncIterable<string>, options: SpeakOptions = {}): Utterance {
    this.#refuseMore();
    return this.#say(text, options);
  }

  #say(text: string | AsyncIterable<string>, options: SpeakOptions): Utterance {
    const { limits, routing } = this.#parts;
    const whole = typeof text === 'string' ? this.#whole(text, options) : undefined;
    const utterance = this.#newUtterance(options.receivedAtMs);
    const sentences =
      (typeof whole === 'function' ? whole(utterance.signal) : whole) ??
      new VoicePlan(routing, options, limits).arriving(
        sentencesFrom(text as AsyncIterable<string>, {
          limits,
          language: options.language,
          time: this.#textTime,
          signal: utterance.signal,
          onPause: () => utterance.textPauses(),
        }),
      );
    this.#queue.start(utterance, sentences);
    return utterance;
  }

  #whole(text: string, options: SpeakOptions): ReturnType<typeof callPieces> {
    const markup = isMarkup(text, options.format);
    return callPieces(text, { ...options, markup, client: this.id }, { ...this.#parts, turns: this.#turns });
  }

  /**
   * Plays sound after what was already given, as it is: an utterance without a text. Throws CALL_CLOSED, QUEUE_FULL,
   * INVALID_FIELD and TOO_LARGE. The samples must not be changed until it has ended.
   */
  play(sound: PlayedSound): Utterance {
    this.#refuseMore();
    const piece = soundPiece(sound);
    const utterance = this.#newUtterance(undefined, { trimSilence: false });
    this.#queue.start(utterance, [piece]);
    return utterance;
  }

  /** Resolves when everything given so far has been sent, to the last packet, or is over. */
  spoken(): Promise<void> {
    return this.#queue.spoken();
  }

  /** What is spoken stands still, or goes on where it stood; what is given meanwhile waits. Nobody is late. */
  hold(held: boolean): void {
    if (held) this.#textTime.pause();
    else this.#textTime.resume();
    this.#queue.hold(held);
  }

  /**
   * The call goes on through another port, within one frame of where it stops: what was not sent yet is encoded again.
   * Whoever gave the port before closes that one, after this. Throws CALL_CLOSED, with the port left to its giver.
   */
  moveTo(port: MediaPort): void {
    this.#refuseClosed();
    const from = this.codec.name;
    this.#queue.moveTo(port);
    const { path, codec, frameMs } = port;
    this.#parts.log.info({ call: this.id, from, codec: codec.name, frameMs, path }, 'call moved');
  }

  #refuseClosed(): void {
    if (this.#closing !== undefined) throw new ParleyError('CALL_CLOSED', `call ${this.id} has ended`);
  }

  #refuseMore(): void {
    this.#refuseClosed();
    this.#goodbye.refuseMore();
    const { maxWaitingUtterances } = this.#parts.limits;
    if (this.#queue.size <= maxWaitingUtterances) return;
    const message = `${maxWaitingUtterances} texts wait in this call already, which is what MAX_WAITING_UTTERANCES allows`;
    throw new ParleyError('QUEUE_FULL', message);
  }

  #newUtterance(receivedAtMs = this.#parts.time.now(), manner: LineManner = {}): Utterance {
    // The time to first audio is the server's own only where nothing else is being spoken.
    const metric = this.#queue.size === 0;
    return this.#queue.make(receivedAtMs, manner, (event) => this.#emit(event, metric));
  }

  #emit(event: CallEvent, metric: boolean): void {
    const { log, metrics } = this.#parts;
    const call = this.id;
    if (event.type === 'utterance.started') {
      if (metric) metrics.firstAudio(event.firstPacketMs, this.door);
      const { utterance, firstPacketMs, queuedMs } = event;
      log.info({ call, utterance, firstPacketMs, queuedMs }, 'first packet');
    } else if (event.type === 'utterance.failed') {
      log.warn(
        { call, utterance: event.utterance, code: event.error.code, text: event.text },
        'utterance failed',
      );
    } else if (event.type === 'utterance.interrupted') {
      log.info({ call, utterance: event.utterance, text: event.text }, 'utterance interrupted');
    }
    this.onEvent?.(event);
    if (event.type === 'utterance.failed') this.#goodbye.failed(event.error);
  }

  /** Stops everything within one frame. What was heard is counted from the frames that really left. */
  interrupt(reason: string): Interruption {
    const interruption = this.#queue.interrupt();
    const utterances = interruption.utterances.length;
    if (utterances > 0) this.#parts.log.info({ call: this.id, reason, utterances }, 'interrupted');
    return interruption;
  }

  /** Frees everything of the call; every caller waits for the same end. */
  close(reason: string): Promise<void> {
    this.#closing ??= this.#close(reason);
    return this.#closing;
  }

  async #close(reason: string): Promise<void> {
    this.interrupt(reason);
    const { log, metrics } = this.#parts;
    this.#queue.endAll();
    await this.#queue.pushed;
    try {
      await this.#queue.port.close();
    } catch (error) {
      log.warn({ call: this.id, err: error }, 'port not closed cleanly');
    } finally {
      const { packets, silencePackets, underruns, lateTicks } = this.stats(); // as they were at the end
      metrics.callClosed(this.door, reason);
      log.info({ call: this.id, reason, packets, silencePackets, underruns, lateTicks }, 'call closed');
      this.#resolveClosed(reason);
    }
  }
}
