// The sound of an AudioSocket call, between its samples on the connection and the frames of the call. At
// 8 kHz the call has mu-law, as a telephone. At other rates it has 24 kHz, which are resampled unless the far
// end has that rate.
import { Resampler } from '../../audio/resampler.js';
import { MU_LAW, MU_LAW_VALUES } from '../../codecs/g711.js';
import type { FrameCodec } from '../../call/sound-port.js';
import { ParleyError } from '../../errors.js';
import { SOUND_AT, soundMessage } from './audio-socket-messages.js';

export interface SocketSound {
  /** Samples in a second of the far end. */
  readonly rate: number;
  /** Codec of the call, in both directions. */
  readonly codec: FrameCodec;
  /** Bytes of a frame of the call, of 20 ms. */
  readonly frameBytes: number;
  /** The samples of the far end in the codec of the call. */
  received(samples: Uint8Array): Uint8Array;
  /** The message of 20 ms for a frame of the call. */
  message(frame: Uint8Array): Buffer;
}

const FRAMES_PER_SECOND = 50;
const CALL_RATE = 24_000; // of L16
const MOST_RATE = 48_000; // the resampler makes no more
const FULL_SCALE = 32_768;
const MOST_SAMPLE = 32_767;

/** Throws NO_COMMON_CODEC for a rate above 48 kHz. */
export function socketSound(rate: number): SocketSound {
  if (rate > MOST_RATE) {
    const message = `sound of ${rate} Hz is not taken: ${MOST_RATE} Hz are the most`;
    throw new ParleyError('NO_COMMON_CODEC', message);
  }
  if (rate === 8000) return TELEPHONE;
  return rate === CALL_RATE ? STUDIO : new ResampledSound(rate);
}

const TELEPHONE: SocketSound = {
  rate: 8000,
  codec: 'PCMU',
  frameBytes: 8000 / FRAMES_PER_SECOND,
  received: (samples) => {
    const view = viewOf(samples);
    const codes = new Uint8Array(samples.length / 2);
    for (let n = 0; n < codes.length; n++)
      codes[n] = MU_LAW[view.getInt16(2 * n, true) + FULL_SCALE] as number;
    return codes;
  },
  message: (frame) => {
    const message = soundMessage(8000, frame.length);
    for (let n = 0; n < frame.length; n++)
      message.writeInt16LE(MU_LAW_VALUES[frame[n] as number] as number, SOUND_AT + 2 * n);
    return message;
  },
};

/** RTP has the most significant byte first. */
const STUDIO: SocketSound = {
  rate: CALL_RATE,
  codec: 'L16',
  frameBytes: (2 * CALL_RATE) / FRAMES_PER_SECOND,
  received: (samples) => Buffer.from(samples).swap16(),
  message: (frame) => {
    const message = soundMessage(CALL_RATE, frame.length / 2);
    message.set(frame, SOUND_AT);
    message.subarray(SOUND_AT).swap16();
    return message;
  },
};

class ResampledSound implements SocketSound {
  readonly rate: number;
  readonly codec = 'L16';
  readonly frameBytes = STUDIO.frameBytes;
  readonly #to: Resampler;
  readonly #from: Resampler;
  /** Samples of 20 ms of the far end, and of the call. */
  readonly #lineFrame: number;
  readonly #callFrame = CALL_RATE / FRAMES_PER_SECOND;
  readonly #input: Float32Array;
  readonly #output: Float32Array;

  constructor(rate: number) {
    this.rate = rate;
    this.#lineFrame = rate / FRAMES_PER_SECOND;
    this.#to = new Resampler(CALL_RATE, rate);
    this.#from = new Resampler(rate, CALL_RATE);
    const most = Math.max(this.#lineFrame, this.#callFrame);
    this.#input = new Float32Array(most);
    this.#output = new Float32Array(most + 1);
  }

  received(samples: Uint8Array): Uint8Array {
    const view = viewOf(samples);
    const count = samples.length / 2;
    const sound = Buffer.allocUnsafe(2 * this.#from.maxOutput(count));
    let written = 0;
    for (let at = 0; at < count; at += this.#lineFrame) {
      const part = Math.min(this.#lineFrame, count - at);
      for (let n = 0; n < part; n++) this.#input[n] = view.getInt16(2 * (at + n), true) / FULL_SCALE;
      const made = this.#from.process(this.#input, part, this.#output);
      for (let n = 0; n < made; n++) sound.writeInt16BE(sampleOf(this.#output[n] as number), 2 * written++);
    }
    return sound.subarray(0, 2 * written);
  }

  message(frame: Uint8Array): Buffer {
    const view = viewOf(frame);
    for (let n = 0; n < this.#callFrame; n++) this.#input[n] = view.getInt16(2 * n) / FULL_SCALE;
    const made = this.#to.process(this.#input, this.#callFrame, this.#output);
    const message = soundMessage(this.rate, this.#lineFrame);
    // The filter holds the end of the first frame back: that frame begins with as much silence.
    const missing = this.#lineFrame - made;
    message.fill(0, SOUND_AT, SOUND_AT + 2 * missing);
    for (let n = 0; n < made; n++)
      message.writeInt16LE(sampleOf(this.#output[n] as number), SOUND_AT + 2 * (missing + n));
    return message;
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function sampleOf(value: number): number {
  return Math.max(-FULL_SCALE, Math.min(MOST_SAMPLE, Math.round(value * FULL_SCALE)));
}
