// Decodes the caller's payloads into one continuous stream of samples. Lost packets become faded audio. Gaps
// in which nothing was sent (comfort noise, suppressed pauses) become silence.
//
// Positions follow the RTP timestamps, so a minute of call is a minute of samples. A timestamp jump of more
// than MAX_FILL_MS, or a codec with another sample or clock rate, starts a new stream.
import type { CodecName } from '../codecs/codec.js';
import type { HeardPayload } from './media-socket.js';
import { payloadDecoder, type PayloadDecoder } from '../codecs/payload-decoder.js';

const MAX_FILL_MS = 2000;
/** Milliseconds over which the audio before a lost packet fades out. */
const FADE_MS = 60;

export interface CallerSound {
  readonly samples: Int16Array;
  /** Hz: 8000 for G.711, 16,000 for G.722 and Opus. */
  readonly sampleRate: number;
  /** Arrival of its first packet. */
  readonly atMs: number;
  /** Samples of it that stand for lost packets. */
  readonly concealed: number;
}

export class CallerAudio {
  readonly #codecs = new Map<number, CodecName>();
  /** Decoder of the current codec. */
  #decoder: PayloadDecoder | undefined;
  #spoken: CodecName | undefined;
  /** RTP timestamp expected next; undefined before the first payload. */
  #next: number | undefined;
  #last: Int16Array = new Int16Array(0);

  /** Audio codecs by payload type. Payloads of any other type count as a pause. */
  constructor(codecs: Iterable<readonly [number, CodecName]>) {
    this.learn(codecs);
  }

  /** Adds or replaces payload types. */
  learn(codecs: Iterable<readonly [number, CodecName]>): void {
    for (const [payloadType, name] of codecs) this.#codecs.set(payloadType, name);
  }

  /** The sounds of one batch: more than one where its rate changes, none where it only prolongs a pause. */
  take(payloads: readonly HeardPayload[]): CallerSound[] {
    const sounds: CallerSound[] = [];
    let from = 0;
    for (let at = 0; at <= payloads.length; at++) {
      const codec = this.#codecs.get(payloads[at]?.payloadType ?? -1);
      const another = codec !== undefined && codec !== this.#spoken;
      if (at < payloads.length && !another) continue;
      const sound = this.#takeRun(payloads.slice(from, at));
      if (sound !== undefined) sounds.push(sound);
      if (another) this.#speak(codec);
      from = at;
    }
    return sounds;
  }

  #speak(codec: CodecName): void {
    const before = this.#decoder;
    this.#spoken = codec;
    this.#decoder = payloadDecoder(codec);
    const { sampleRate, clockRate } = this.#decoder;
    if (before?.sampleRate === sampleRate && before.clockRate === clockRate) return;
    this.#next = undefined;
    this.#last = new Int16Array(0);
  }

  /** All of one codec. */
  #takeRun(payloads: readonly HeardPayload[]): CallerSound | undefined {
    const decoder = this.#decoder;
    const [first] = payloads;
    if (decoder === undefined || first === undefined) return undefined;
    const parts: Int16Array[] = [];
    let concealed = 0;
    for (const payload of payloads) concealed += this.#takeOne(payload, decoder, parts);
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    if (length === 0) return undefined;
    const samples = new Int16Array(length);
    let at = 0;
    for (const part of parts) {
      samples.set(part, at);
      at += part.length;
    }
    return { samples, sampleRate: decoder.sampleRate, atMs: first.atMs, concealed };
  }

  /** Adds to `parts`; returns the samples that were made up. Gaps are ticks of the timestamp. */
  #takeOne(
    { timestamp, payloadType, lostBefore, payload }: HeardPayload,
    decoder: PayloadDecoder,
    parts: Int16Array[],
  ): number {
    const { sampleRate, clockRate } = decoder;
    const toSamples = (ticks: number) => Math.round((ticks * sampleRate) / clockRate);
    const mostTicks = (clockRate * MAX_FILL_MS) / 1000;
    const next = this.#next ?? timestamp;
    const gap = timestamp - next;
    let concealed = 0;
    if (gap > 0 && gap <= mostTicks) {
      const lost = lostBefore > 0;
      const missing = toSamples(gap);
      parts.push(lost ? this.#faded(missing, (sampleRate * FADE_MS) / 1000) : new Int16Array(missing));
      if (lost) concealed = missing;
    }
    if (!this.#codecs.has(payloadType)) {
      // A pause begins: its length shows when the next sound comes.
      this.#next = Math.max(next, timestamp);
      this.#last = new Int16Array(0);
      return concealed;
    }
    const decoded = decoder.decode(payload);
    const ticks = (decoded.length * clockRate) / sampleRate;
    // Sound that was bridged already, or that overlaps, is left out.
    const from = gap < 0 && gap >= -mostTicks ? Math.min(-gap, ticks) : 0;
    const samples = decoded.subarray(toSamples(from));
    this.#next = Math.max(gap < -mostTicks ? 0 : next, timestamp + ticks);
    if (samples.length === 0) return concealed;
    parts.push(samples);
    this.#last = samples;
    return concealed;
  }

  /** The last frame over and over, going down to silence within `fade` samples. */
  #faded(count: number, fade: number): Int16Array {
    const last = this.#last;
    if (last.length === 0) return new Int16Array(count);
    return Int16Array.from({ length: count }, (_, n) => {
      const loudness = Math.max(0, 1 - n / fade);
      return Math.trunc((last[n % last.length] as number) * loudness);
    });
  }
}
