// The line of a scripted caller: it carries frames of 20 ms to the server and packets back, over a network
// that may lose and delay them.
import { OPUS_SPEECH } from '../../../src/codecs/opus.js';
import { CODECS, type CodecName } from '../../../src/codecs/codec.js';
import { frameDecoder, type FrameDecoder } from '../../../src/codecs/frame-decoder.js';
import { frameEncoder, type FrameEncoder } from '../../../src/codecs/frame-encoder.js';
import { Resampler } from '../../../src/audio/resampler.js';
import { SAMPLE_RATE } from '../../../src/hearing/ear-source.js';
import { systemTime } from '../../../src/time.js';
import { randomFrom } from '../../api/mutations.js';
import { Fates, type Impairment } from '../../fakes/impaired-relay.js';
import { type Packet, PACKET_MS } from './recording.js';

export const FRAME_SAMPLES = (SAMPLE_RATE * PACKET_MS) / 1000;

export interface Line {
  /** Sends one frame of 16 kHz now. */
  send(frame: Float32Array): void;
  /** Told with each packet that has come. */
  onPacket: (packet: Packet) => void;
  close(): Promise<void>;
}

/** The two ways of a network: each decides about one packet after another. */
export class Network {
  readonly #up: Fates;
  readonly #down: Fates;
  readonly #waiting = new Set<() => void>();

  constructor(impairment: Impairment, seed: number) {
    this.#up = new Fates(impairment, randomFrom(seed));
    this.#down = new Fates(impairment, randomFrom(~seed));
  }

  up(send: () => void): void {
    this.#pass(this.#up, send);
  }

  down(take: () => void): void {
    this.#pass(this.#down, take);
  }

  close(): void {
    for (const cancel of this.#waiting) cancel();
    this.#waiting.clear();
  }

  #pass(fates: Fates, action: () => void): void {
    for (const delayMs of fates.next()) {
      if (delayMs <= 0) {
        action();
        continue;
      }
      const cancel = systemTime.after(delayMs, () => {
        this.#waiting.delete(cancel);
        action();
      });
      this.#waiting.add(cancel);
    }
  }
}

/** Payloads of one codec from and to sound. */
export class LineCodec {
  readonly ticks: number;
  readonly #rate: number;
  readonly #encoder: FrameEncoder;
  readonly #decoder: FrameDecoder;
  readonly #resampler: Resampler;
  readonly #waiting: Float32Array;
  #count = 0;

  constructor(name: CodecName) {
    const codec = CODECS[name];
    this.#rate = codec.sampleRate;
    this.ticks = (codec.clockRate * PACKET_MS) / 1000;
    this.#encoder = frameEncoder(codec, PACKET_MS, OPUS_SPEECH);
    this.#decoder = frameDecoder(name);
    this.#resampler = new Resampler(SAMPLE_RATE, this.#rate, FRAME_SAMPLES);
    this.#waiting = new Float32Array(4 * this.#encoder.frameSamples);
  }

  /** The resampler holds some samples back, so that the first frame begins with silence. */
  encode(frame: Float32Array): Uint8Array {
    const { frameSamples } = this.#encoder;
    if (this.#count === 0) this.#count = frameSamples;
    this.#count += this.#resampler.process(frame, frame.length, this.#waiting.subarray(this.#count));
    const payload = this.#encoder.encode(this.#waiting.subarray(0, frameSamples));
    this.#waiting.copyWithin(0, frameSamples, this.#count);
    this.#count -= frameSamples;
    return payload;
  }

  /** At 16 kHz at most, which is enough to judge by. */
  decode(payload: Uint8Array, atMs: number): Packet {
    const decoded = this.#decoder.decode(payload);
    const step = Math.max(1, Math.floor(this.#rate / SAMPLE_RATE));
    const samples = new Float32Array(decoded.length / step);
    for (let n = 0; n < samples.length; n++) samples[n] = (decoded[n * step] as number) / 32_768;
    return { atMs, samples, rate: this.#rate / step };
  }
}
