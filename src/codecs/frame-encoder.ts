// Frame encoders of every codec: each turns one frame of sound into one RTP payload. The shelf keeps those
// that a session no longer uses.
import { toInt16 } from '../audio/pcm16.js';
import { ParleyError } from '../errors.js';
import { type Codec, type CodecName, CODECS, samplesPerFrame } from './codec.js';
import { A_LAW, MU_LAW } from './g711.js';
import { G722Coder } from './g722.js';
import { OpusFrameEncoder, type OpusSettings, type OpusTuning } from './opus.js';

export interface FrameEncoder {
  /** Samples of a frame, at the codec's sample rate; no other length is accepted. */
  readonly frameSamples: number;
  /** The payload is valid until the next call: it may be the encoder's own memory. */
  encode(frame: Float32Array): Uint8Array;
  /** Forgets the sound before: the next frame depends on no earlier one. */
  reset(): void;
  /** Changes settings from the next frame on; absent if the codec has none. */
  tune?(tuning: OpusTuning): void;
}

type Maker = (codec: Codec, frameMs: number, opus: OpusSettings) => FrameEncoder;

const MAKERS: Readonly<Record<CodecName, Maker>> = {
  opus: (_codec, frameMs, opus) => new OpusFrameEncoder(frameMs, opus),
  G722: (codec, frameMs) => new G722Encoder(samplesPerFrame(codec, frameMs)),
  PCMU: (codec, frameMs) => new G711Encoder(MU_LAW, samplesPerFrame(codec, frameMs)),
  PCMA: (codec, frameMs) => new G711Encoder(A_LAW, samplesPerFrame(codec, frameMs)),
  L16: (codec, frameMs) => new L16Encoder(samplesPerFrame(codec, frameMs)),
};

export function frameEncoder(codec: Codec, frameMs: number, opus: OpusSettings): FrameEncoder {
  return MAKERS[codec.name](codec, frameMs, opus);
}

class G711Encoder implements FrameEncoder {
  readonly frameSamples: number;
  readonly #table: Uint8Array;
  readonly #samples: Int16Array;
  readonly #payload: Uint8Array;

  constructor(table: Uint8Array, frameSamples: number) {
    if (!Number.isInteger(frameSamples) || frameSamples < 8 || frameSamples > 8 * 120) {
      throw new ParleyError('INVALID_FIELD', `a G.711 frame of ${frameSamples} samples is not 1 to 120 ms`);
    }
    this.frameSamples = frameSamples;
    this.#table = table;
    this.#samples = new Int16Array(frameSamples);
    this.#payload = new Uint8Array(frameSamples);
  }

  encode(frame: Float32Array): Uint8Array {
    if (frame.length !== this.frameSamples) {
      throw new ParleyError('WRONG_STATE', `a frame has ${this.frameSamples} samples, not ${frame.length}`);
    }
    toInt16(frame, this.frameSamples, this.#samples);
    for (let i = 0; i < this.frameSamples; i++) {
      this.#payload[i] = this.#table[(this.#samples[i] as number) + 32_768] as number;
    }
    return this.#payload;
  }

  reset(): void {}
}

class G722Encoder implements FrameEncoder {
  readonly frameSamples: number;
  readonly #coder = new G722Coder();
  readonly #samples: Int16Array;
  readonly #payload: Uint8Array;

  constructor(frameSamples: number) {
    if (!Number.isInteger(frameSamples / 16) || frameSamples < 16 || frameSamples > 16 * 120) {
      throw new ParleyError('INVALID_FIELD', `a G.722 frame of ${frameSamples} samples is not 1 to 120 ms`);
    }
    this.frameSamples = frameSamples;
    this.#samples = new Int16Array(frameSamples);
    this.#payload = new Uint8Array(frameSamples / 2);
  }

  encode(frame: Float32Array): Uint8Array {
    if (frame.length !== this.frameSamples) {
      throw new ParleyError('WRONG_STATE', `a frame has ${this.frameSamples} samples, not ${frame.length}`);
    }
    toInt16(frame, this.frameSamples, this.#samples);
    this.#coder.encode(this.#samples, this.frameSamples, this.#payload);
    return this.#payload;
  }

  reset(): void {
    this.#coder.reset();
  }
}

class L16Encoder implements FrameEncoder {
  readonly frameSamples: number;
  readonly #samples: Int16Array;
  readonly #payload: Buffer;

  constructor(frameSamples: number) {
    if (!Number.isInteger(frameSamples) || frameSamples < 24 || frameSamples > 24 * 120) {
      throw new ParleyError('INVALID_FIELD', `an L16 frame of ${frameSamples} samples is not 1 to 120 ms`);
    }
    this.frameSamples = frameSamples;
    this.#samples = new Int16Array(frameSamples);
    this.#payload = Buffer.from(this.#samples.buffer);
  }

  encode(frame: Float32Array): Uint8Array {
    if (frame.length !== this.frameSamples) {
      throw new ParleyError('WRONG_STATE', `a frame has ${this.frameSamples} samples, not ${frame.length}`);
    }
    toInt16(frame, this.frameSamples, this.#samples);
    return this.#payload.swap16();
  }

  reset(): void {}
}

const MAX_KEPT = 64; // about 2 MB; more sessions rarely end at once

/**
 * Unused encoders of one worker. An Opus encoder takes some 30 kB that the garbage collector does not see,
 * and a call needs a clean one for every utterance: the shelf resets a kept one instead of making another.
 */
export class EncoderShelf {
  readonly #kept = new Map<string, FrameEncoder[]>();
  #count = 0;

  take(codec: CodecName, frameMs: number, opus: OpusSettings): FrameEncoder {
    const kept = this.#kept.get(keyOf(codec, frameMs, opus))?.pop();
    if (kept === undefined) return frameEncoder(CODECS[codec], frameMs, opus);
    this.#count--;
    kept.tune?.(opus);
    kept.reset();
    return kept;
  }

  /** Returns an encoder that was taken with these settings; it may have been tuned since. */
  giveBack(encoder: FrameEncoder, codec: CodecName, frameMs: number, opus: OpusSettings): void {
    if (this.#count >= MAX_KEPT) return;
    this.#count++;
    const key = keyOf(codec, frameMs, opus);
    const kept = this.#kept.get(key);
    if (kept === undefined) this.#kept.set(key, [encoder]);
    else kept.push(encoder);
  }
}

/** Takes an encoder from the shelf with the first frame to encode: a session with cached sound needs none. */
export class ShelvedEncoder implements FrameEncoder {
  readonly frameSamples: number;
  readonly #shelf: EncoderShelf;
  readonly #codec: Codec;
  readonly #frameMs: number;
  readonly #opus: OpusSettings;
  #tuning: OpusTuning | undefined;
  #encoder: FrameEncoder | undefined;

  constructor(shelf: EncoderShelf, codec: Codec, frameMs: number, opus: OpusSettings) {
    this.frameSamples = samplesPerFrame(codec, frameMs);
    this.#shelf = shelf;
    this.#codec = codec;
    this.#frameMs = frameMs;
    this.#opus = opus;
  }

  encode(frame: Float32Array): Uint8Array {
    this.#encoder ??= this.#take();
    return this.#encoder.encode(frame);
  }

  reset(): void {
    this.#encoder?.reset();
  }

  tune(tuning: OpusTuning): void {
    this.#tuning = tuning;
    this.#encoder?.tune?.(tuning);
  }

  #take(): FrameEncoder {
    const opus = { ...this.#opus, ...this.#tuning };
    return this.#shelf.take(this.#codec.name, this.#frameMs, opus);
  }

  /** Ends its use. Idempotent. */
  giveBack(): void {
    if (this.#encoder !== undefined)
      this.#shelf.giveBack(this.#encoder, this.#codec.name, this.#frameMs, this.#opus);
    this.#encoder = undefined;
  }
}

/** The settings that no encoder can change. */
function keyOf(codec: CodecName, frameMs: number, opus: OpusSettings): string {
  const { application, bitsPerSecond, maxPlaybackRate, constantBitrate } = opus;
  return [codec, frameMs, application, bitsPerSecond, maxPlaybackRate, constantBitrate].join(' ');
}
