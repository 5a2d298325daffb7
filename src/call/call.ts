// One conversation, whatever door it came through: texts in, their speech out
// through the call's playout, one after another, until somebody interrupts.
import { ParleyError } from '../errors.js';
import type { Codec } from '../rtp/codec.js';
import { TRACK_ENDED } from '../rtp/marks.js';
import type { Playout } from '../rtp/playout.js';
import type { SpeechRouting } from '../speech/routing.js';
import { callPace } from './pace.js';
import { SpeechLine, type EncoderSource } from './speech-line.js';
import { sentencesFrom, sentencesOf, type TextLimits } from './text-source.js';
import type { Time } from '../time.js';
import { Utterance, type UtteranceEvent } from './utterance.js';
import { VoicePlan } from './voice-plan.js';

/** One call's way onto the wire. The door that made it hands it over; the call closes it. */
export interface MediaPort {
  readonly codec: Codec;
  readonly frameMs: number;
  readonly playout: Playout;
  /** How packets travel, in words for the log: `udp host`, `carried by JavaScript: relay`. */
  readonly path: string;
  close(): Promise<void>;
}

export interface CallLimits extends TextLimits {
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
  readonly encoders: EncoderSource;
  readonly limits: CallLimits;
  readonly time: Time;
  readonly log: CallLog;
  readonly metrics: CallMetrics;
}

export interface SpeakOptions {
  readonly voice?: string;
  readonly language?: string;
  /** When the text arrived, in milliseconds of the monotonic clock; now, if absent. */
  readonly receivedAtMs?: number;
}

export type CallEvent = UtteranceEvent;

export interface Interruption {
  /** What was heard of everything that was interrupted. */
  readonly text: string;
  readonly utterances: readonly { utterance: number; text: string; sentMs: number }[];
}

export class Call {
  readonly id: string;
  readonly door: string;
  /** Resolves with the reason once everything of the call is freed. */
  readonly closed: Promise<string>;
  /** Told in order. Set by the door that owns the conversation. */
  onEvent: ((event: CallEvent) => void) | undefined;
  readonly #port: MediaPort;
  readonly #parts: CallParts;
  /** Those that have not ended, oldest first. */
  readonly #utterances = new Map<number, Utterance>();
  #utteranceCount = 0;
  #turn: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;
  #resolveClosed!: (reason: string) => void;

  constructor(id: string, door: string, port: MediaPort, parts: CallParts) {
    this.id = id;
    this.door = door;
    this.#port = port;
    this.#parts = parts;
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
    port.playout.onMark = (track, mark, sentAtMs) => this.#utterances.get(track)?.markReached(mark, sentAtMs);
    parts.log.info({ call: id, door, codec: port.codec.name, path: port.path }, 'call opened');
  }

  get codec(): Codec {
    return this.#port.codec;
  }

  stats(): ReturnType<Playout['stats']> {
    return this.#port.playout.stats();
  }

  /**
   * Speaks a text after those already given. Throws CALL_CLOSED, QUEUE_FULL, and for a whole text at once
   * TEXT_TOO_LONG, TEXT_EMPTY, VOICE_UNKNOWN or LANGUAGE_UNAVAILABLE; a text in tokens fails with these later.
   */
  speak(text: string | AsyncIterable<string>, options: SpeakOptions = {}): Utterance {
    const { limits, time } = this.#parts;
    if (this.#closing !== undefined) throw new ParleyError('CALL_CLOSED', `call ${this.id} has ended`);
    if (this.#utterances.size > limits.maxWaitingUtterances) {
      throw new ParleyError(
        'QUEUE_FULL',
        `${limits.maxWaitingUtterances} texts wait in this call already, which is what MAX_WAITING_UTTERANCES allows`,
      );
    }
    const plan = new VoicePlan(this.#parts.routing, options);
    const whole = typeof text === 'string' ? plan.whole(sentencesOf(text, limits)) : undefined;
    // The time to first audio is the server's own only where nothing else is being spoken.
    const metric = this.#utterances.size === 0;
    const utterance = this.#newUtterance(options.receivedAtMs ?? time.now(), metric);
    const sentences =
      whole ??
      plan.arriving(
        sentencesFrom(text as AsyncIterable<string>, {
          limits,
          time,
          signal: utterance.signal,
          onPause: () => utterance.textPauses(),
        }),
      );
    utterance.start(sentences, this.#turn);
    this.#turn = utterance.pushed;
    return utterance;
  }

  #newUtterance(receivedAtMs: number, metric: boolean): Utterance {
    const number = ++this.#utteranceCount;
    const { playout, codec, frameMs } = this.#port;
    const ahead = () => [...this.#utterances.keys()].indexOf(number);
    const sink = () => {
      const { handle, generation } = playout;
      return { kind: 'playout', playout: handle, generation, track: number, codec, frameMs } as const;
    };
    const pace = callPace(this.id, this.#parts.time, playout, ahead);
    const line = new SpeechLine(this.#parts.encoders, sink, pace);
    const utterance = new Utterance(number, {
      line,
      frameMs,
      receivedAtMs,
      sentFrames: () => playout.sent(number),
      queueEnd: () => playout.mark(playout.generation, number, TRACK_ENDED, true) === 1,
      emit: (event) => this.#emit(event, metric),
    });
    this.#utterances.set(number, utterance);
    void utterance.ended.then(({ end }) => {
      this.#utterances.delete(number);
      this.#parts.metrics.utteranceEnded(end);
    });
    return utterance;
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
  }

  /** Stops everything within one frame. What was heard is counted from the frames that really left. */
  interrupt(reason: string): Interruption {
    const { playout, frameMs } = this.#port;
    const cleared = playout.clear();
    const utterances: { utterance: number; text: string; sentMs: number }[] = [];
    for (const utterance of this.#utterances.values()) {
      const track = cleared.tracks.find((candidate) => candidate.track === utterance.number);
      // It reached its end before the clear: that it was spoken is on its way here.
      if (track === undefined && playout.sent(utterance.number) > 0) continue;
      const sentFrames = track?.sentFrames ?? 0;
      const text = utterance.interrupted(sentFrames);
      utterances.push({ utterance: utterance.number, text, sentMs: sentFrames * frameMs });
    }
    if (utterances.length > 0) {
      this.#parts.log.info({ call: this.id, reason, utterances: utterances.length }, 'interrupted');
    }
    const text = utterances
      .map((item) => item.text)
      .filter((item) => item !== '')
      .join(' ');
    return { text, utterances };
  }

  /** Frees everything of the call; every caller waits for the same end. */
  close(reason: string): Promise<void> {
    this.#closing ??= this.#close(reason);
    return this.#closing;
  }

  async #close(reason: string): Promise<void> {
    this.interrupt(reason);
    const { log, metrics, time } = this.#parts;
    // Those that are left had reached their end just before.
    for (const utterance of this.#utterances.values()) utterance.markReached(TRACK_ENDED, time.now());
    await this.#turn;
    const { packets, silencePackets, underruns, lateTicks } = this.stats();
    try {
      await this.#port.close();
    } catch (error) {
      log.warn({ call: this.id, err: error }, 'port not closed cleanly');
    } finally {
      metrics.callClosed(this.door, reason);
      log.info({ call: this.id, reason, packets, silencePackets, underruns, lateTicks }, 'call closed');
      this.#resolveClosed(reason);
    }
  }
}
