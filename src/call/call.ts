// One conversation, by telephone or browser. A call speaks the texts that it is given through its playout,
// one after another, until it is interrupted. The queue (utterance-queue.ts) owns the utterances that have
// not ended.
import { ParleyError } from '../errors.js';
import type { Codec } from '../codecs/codec.js';
import type { PlayoutStats } from '../media/media-addon.js';
import type { RemoteReception } from '../media/quality.js';
import type { SpeechRouting } from '../engines/routing.js';
import type { Time } from '../time.js';
import type { CallEncoders, MediaPort } from './call-route.js';
import type { Continuity } from '../speaking/continuity.js';
import type { FrameCache } from '../speaking/frame-cache.js';
import { Goodbye, type LastWords } from './goodbye.js';
import { type Interruption, UtteranceQueue } from './utterance-queue.js';
import { type PlayedSound, soundPiece } from '../speaking/line-piece.js';
import type { LineOptions } from '../speaking/speech-line.js';
import type { TextRequest } from '../speaking/speech-request.js';
import { isMarkup, sentencesFrom, type TextLimits, TextTurns } from '../speaking/text-source.js';
import type { Utterance, CallEvent } from './utterance.js';
import { VoicePlan } from '../speaking/voice-plan.js';
import { callPieces } from '../speaking/whole-text.js';

interface CallLimits extends TextLimits, LastWords {
  /** Texts that may wait behind the one being spoken. */
  readonly maxWaitingUtterances: number;
}

interface CallLog {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
}

interface CallMetrics {
  callOpened(protocol: string): void;
  /** `remote` says how the far end received the call; undefined without reports. */
  callClosed(protocol: string, reason: string, remote?: RemoteReception): void;
  utteranceEnded(end: 'spoken' | 'interrupted' | 'failed'): void;
  /** Milliseconds from the arrival of a text to its first packet, if nothing else was being spoken. */
  firstAudio(ms: number, protocol: string): void;
}

interface CallStats extends PlayoutStats {
  /** Our sound as the far end reports it; absent until its first report. */
  readonly remote?: RemoteReception;
}

export interface CallParts {
  readonly routing: SpeechRouting;
  readonly encoders: CallEncoders;
  /** Cache of spoken sentences; absent if none are kept. */
  readonly frames?: FrameCache | undefined;
  /** If absent, each sentence is synthesised on its own. */
  readonly continuity?: Continuity | undefined;
  readonly limits: CallLimits;
  /** Turns for long texts, shared by all calls; if absent, the call has its own. */
  readonly turns?: TextTurns;
  readonly time: Time;
  readonly log: CallLog;
  readonly metrics: CallMetrics;
}

/** A text in tokens is always plain text, whatever the format says. */
export interface SpeakOptions extends Omit<TextRequest, 'text'> {
  /** Arrival of the text in milliseconds of the monotonic clock; now, if absent. */
  readonly receivedAtMs?: number;
}

export class Call {
  readonly id: string;
  /** `webrtc` or `sip`. */
  readonly protocol: string;
  /** Resolves with the reason once everything of the call is freed. */
  readonly closed: Promise<string>;
  readonly #parts: CallParts;
  readonly #queue: UtteranceQueue;
  readonly #goodbye: Goodbye;
  readonly #turns: TextTurns;
  readonly #observers = new Set<(event: CallEvent) => void>();
  readonly #followers = new Set<(port: MediaPort) => void>();
  #closing: Promise<void> | undefined;
  #resolveClosed!: (reason: string) => void;

  constructor(id: string, protocol: string, port: MediaPort, parts: CallParts) {
    this.id = id;
    this.protocol = protocol;
    this.#parts = parts;
    this.#turns = parts.turns ?? new TextTurns();
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
    const onEnd = (end: 'spoken' | 'interrupted' | 'failed') => parts.metrics.utteranceEnded(end);
    const onExpectedLoss = (expectedLossPercent: number) =>
      parts.log.info({ call: id, expectedLossPercent }, 'error correction changed');
    this.#queue = new UtteranceQueue(port, { ...parts, client: id, onEnd, onExpectedLoss });
    this.#goodbye = new Goodbye(id, parts, {
      interrupt: (reason) => this.#closing ?? this.interrupt(reason),
      say: async (phrase) => (this.#refuseClosed(), this.#say(phrase, {}).ended),
      close: (reason) => this.close(reason),
    });
    parts.log.info({ call: id, door: protocol, codec: port.codec.name, path: port.path }, 'call opened');
  }

  get codec(): Codec {
    return this.#queue.port.codec;
  }

  /** Calls `observer` with each event, in order, until the returned function is called. */
  observe(observer: (event: CallEvent) => void): () => void {
    // A function of its own, so that one observer may observe twice.
    const observed = (event: CallEvent) => observer(event);
    this.#observers.add(observed);
    return () => void this.#observers.delete(observed);
  }

  /**
   * Calls `follower` with the present port and with each one that the call moves to, until the returned
   * function is called.
   */
  follow(follower: (port: MediaPort) => void): () => void {
    this.#followers.add(follower);
    follower(this.#queue.port);
    return () => void this.#followers.delete(follower);
  }

  /** Counts are those of the whole call, over all of its ports. */
  stats(): CallStats {
    const remote = this.#queue.port.remote?.();
    return { ...this.#queue.stats(), ...(remote === undefined ? {} : { remote }) };
  }

  /**
   * Queues a text behind those already given. Throws CALL_CLOSED and QUEUE_FULL. For a whole text it also
   * throws TEXT_TOO_LONG, TEXT_EMPTY, VOICE_UNKNOWN or LANGUAGE_UNAVAILABLE; a text in tokens fails with
   * these later. A long text is read in turns, so errors inside it also come later.
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
          time: this.#queue.textTime,
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
   * Queues sound, to be played as it is: an utterance without a text. Throws CALL_CLOSED, QUEUE_FULL,
   * INVALID_FIELD and TOO_LARGE. The samples must not be changed until the utterance has ended.
   */
  play(sound: PlayedSound): Utterance {
    this.#refuseMore();
    const piece = soundPiece(sound);
    const utterance = this.#newUtterance(undefined, { trimSilence: false });
    this.#queue.start(utterance, [piece]);
    return utterance;
  }

  /** Resolves when each utterance given so far was sent to its last packet, or ended otherwise. */
  spoken(): Promise<void> {
    return this.#queue.spoken();
  }

  /** Pauses or resumes the speech. Texts that arrive meanwhile wait, and timeouts of texts stop. */
  hold(held: boolean): void {
    this.#queue.hold(held);
  }

  /**
   * Goes on through another port, within one frame of the place where it stops. Sound that was not sent yet
   * is encoded again. The caller then closes the port before. Throws CALL_CLOSED; the new port is then the
   * caller's to close.
   */
  moveTo(port: MediaPort): void {
    this.#refuseClosed();
    const from = this.codec.name;
    this.#queue.moveTo(port);
    for (const follower of this.#followers) follower(port);
    const { path, codec, frameMs } = port;
    this.#parts.log.info({ call: this.id, from, codec: codec.name, frameMs, path }, 'call moved');
  }

  #refuseClosed(): void {
    if (this.#closing !== undefined) throw new ParleyError('CALL_CLOSED', `call ${this.id} has ended`);
  }

  #refuseMore(): void {
    this.#refuseClosed();
    if (this.#queue.port.isUnheard === true) {
      throw new ParleyError('CALL_STATE', `the client of call ${this.id} sends sound, and hears none`);
    }
    this.#goodbye.refuseMore();
    const { maxWaitingUtterances } = this.#parts.limits;
    if (this.#queue.size <= maxWaitingUtterances) return;
    const message = `${maxWaitingUtterances} texts wait in this call already, which is what MAX_WAITING_UTTERANCES allows`;
    throw new ParleyError('QUEUE_FULL', message);
  }

  #newUtterance(receivedAtMs = this.#parts.time.now(), options: LineOptions = {}): Utterance {
    // The time to first audio measures the server only if nothing else is being spoken.
    const metric = this.#queue.size === 0;
    return this.#queue.make(receivedAtMs, options, (event) => this.#emit(event, metric));
  }

  #emit(event: CallEvent, metric: boolean): void {
    const { log, metrics } = this.#parts;
    const call = this.id;
    if (event.type === 'utterance.started') {
      if (metric) metrics.firstAudio(event.firstPacketMs, this.protocol);
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
    for (const observer of this.#observers) observer(event);
    if (event.type === 'utterance.failed') this.#goodbye.failed(event.error);
  }

  /**
   * Stops all speech within one frame. The text that was heard is computed from the frames that were sent.
   */
  interrupt(reason: string): Interruption {
    const interruption = this.#queue.interrupt();
    const utterances = interruption.utterances.length;
    if (utterances > 0) this.#parts.log.info({ call: this.id, reason, utterances }, 'interrupted');
    return interruption;
  }

  /** Frees everything that the call owns. Idempotent: every caller gets the same promise. */
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
      // The figures are those of the end.
      const { packets, silencePackets, underruns, lateTicks, remote } = this.stats();
      metrics.callClosed(this.protocol, reason, remote);
      const sent = { packets, silencePackets, underruns, lateTicks };
      log.info({ call: this.id, reason, ...sent, ...receptionFields(remote) }, 'call closed');
      this.#resolveClosed(reason);
    }
  }
}

/** Fields of the log, rounded for readers; undefined ones are left out. */
function receptionFields(remote: RemoteReception | undefined): Record<string, number | undefined> {
  if (remote === undefined) return {};
  const rounded = (value: number, parts: number) => Math.round(value * parts) / parts;
  const { loss, jitterMs, rttMs, mos } = remote;
  return {
    remoteLoss: rounded(loss, 10_000),
    remoteJitterMs: rounded(jitterMs, 10),
    rttMs: rttMs === null ? undefined : rounded(rttMs, 10),
    remoteMos: rounded(mos, 100),
  };
}
