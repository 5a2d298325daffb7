// Converts payloads to another codec or frame length:
//
//   payload ─▶ decode ─▶ resample ─▶ frame ─▶ encode ─▶ payload
//
// The input up to `flush` is one continuous sound: filters keep their state, so that there is no seam.
// Positions count samples of the new rate since the beginning of that sound, and are known before the samples
// have left the resampler.
import { toFloat32 } from '../audio/pcm16.js';
import { Resampler } from '../audio/resampler.js';
import { CODECS, samplesPerFrame, type CodecName } from '../codecs/codec.js';
import type { FrameDecoder } from '../codecs/payload-decoder.js';
import type { FrameEncoder } from '../codecs/frame-encoder.js';

/** Codec and frame length of payloads. */
export interface PayloadForm {
  readonly codec: CodecName;
  readonly frameMs: number;
}

/** Takes a finished payload; the bytes are valid until it returns. */
type PutPayload = (payload: Uint8Array) => void;

export interface Recoder {
  /**
   * Primes decoder and filter with a payload that the far end heard just before. Call it before any `take`.
   */
  warm(payload: Uint8Array): void;
  take(payload: Uint8Array, put: PutPayload): void;
  /** Frames that have to be put until everything taken so far is in them. */
  readonly framesDue: number;
  /** Frames put since the sound began. */
  readonly framesPut: number;
  /**
   * Puts the held samples, with silence up to the end of the last frame; returns the milliseconds of silence.
   * Ends the sound.
   */
  flush(put: PutPayload): number;
  /** Prepares for another sound, of another talkspurt. */
  restart(): void;
  /** True if nothing is held. */
  readonly isEmpty: boolean;
}

/** Whether payloads may go on as they are: only where no payload depends on those before it. */
export function staysAsItIs(from: PayloadForm, to: PayloadForm): boolean {
  return from.codec === to.codec && from.frameMs === to.frameMs && from.codec.startsWith('PCM');
}

/** Payloads that need no change. */
export class SamePayloads implements Recoder {
  readonly isEmpty = true;
  #frames = 0;

  warm(): void {}

  take(payload: Uint8Array, put: PutPayload): void {
    this.#frames++;
    put(payload);
  }

  get framesDue(): number {
    return this.#frames;
  }

  get framesPut(): number {
    return this.#frames;
  }

  flush(): number {
    this.#frames = 0;
    return 0;
  }

  restart(): void {
    this.#frames = 0;
  }
}

export class Transcoder implements Recoder {
  readonly #decoder: FrameDecoder;
  readonly #encoder: FrameEncoder;
  readonly #frameMs: number;
  readonly #resampler: Resampler;
  readonly #input: Float32Array;
  readonly #resampled: Float32Array;
  readonly #frame: Float32Array;
  #filled = 0;
  /** Samples of the warm-up that are still to be left out. */
  #skip = 0;
  /** Samples that come of everything taken in this sound. */
  #due = 0;
  #framesPut = 0;

  /** `encoder` makes payloads of the form `to`. */
  constructor(from: PayloadForm, to: PayloadForm, decoder: FrameDecoder, encoder: FrameEncoder) {
    const codec = CODECS[from.codec];
    const inputs = samplesPerFrame(codec, from.frameMs);
    this.#decoder = decoder;
    this.#encoder = encoder;
    this.#frameMs = to.frameMs;
    this.#resampler = new Resampler(codec.sampleRate, CODECS[to.codec].sampleRate, inputs);
    this.#input = new Float32Array(inputs);
    this.#resampled = new Float32Array(Math.max(this.#resampler.maxOutput(inputs), this.#resampler.maxFlush));
    this.#frame = new Float32Array(encoder.frameSamples);
  }

  warm(payload: Uint8Array): void {
    const count = this.#decode(payload);
    const before = this.#positions();
    const given = this.#resampler.process(this.#input, count, this.#resampled);
    this.#skip += this.#positions() - before - given;
  }

  take(payload: Uint8Array, put: PutPayload): void {
    const count = this.#decode(payload);
    const before = this.#positions();
    const given = this.#resampler.process(this.#input, count, this.#resampled);
    this.#due += this.#positions() - before;
    this.#pour(given, put);
  }

  get framesDue(): number {
    return Math.ceil(this.#due / this.#frame.length);
  }

  get framesPut(): number {
    return this.#framesPut;
  }

  get isEmpty(): boolean {
    return this.#due <= this.#framesPut * this.#frame.length;
  }

  flush(put: PutPayload): number {
    this.#pour(this.#resampler.flush(this.#resampled), put);
    const silence = this.#filled === 0 ? 0 : this.#frame.length - this.#filled;
    if (silence > 0) {
      this.#frame.fill(0, this.#filled);
      this.#put(put);
    }
    this.#begin();
    return (silence * this.#frameMs) / this.#frame.length;
  }

  restart(): void {
    this.#resampler.reset();
    this.#begin();
    this.#decoder.reset();
    this.#encoder.reset();
  }

  #begin(): void {
    this.#filled = 0;
    this.#skip = 0;
    this.#due = 0;
    this.#framesPut = 0;
  }

  #positions(): number {
    return this.#resampler.outputsFor(this.#resampler.inputs);
  }

  #decode(payload: Uint8Array): number {
    const samples = this.#decoder.decode(payload);
    const count = Math.min(samples.length, this.#input.length);
    toFloat32(samples, count, this.#input);
    return count;
  }

  #pour(given: number, put: PutPayload): void {
    let at = Math.min(this.#skip, given);
    this.#skip -= at;
    while (at < given) {
      const count = Math.min(given - at, this.#frame.length - this.#filled);
      this.#frame.set(this.#resampled.subarray(at, at + count), this.#filled);
      at += count;
      this.#filled += count;
      if (this.#filled === this.#frame.length) this.#put(put);
    }
  }

  #put(put: PutPayload): void {
    put(this.#encoder.encode(this.#frame));
    this.#filled = 0;
    this.#framesPut++;
  }
}
