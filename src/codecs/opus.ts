// Opus for one call: the only file that touches @discordjs/opus.
//
// That package ends the whole process when it is given a frame of an illegal
// length: libopus answers with a negative length, and the package makes a
// buffer of it. So nothing from outside ever reaches it. The frame length is
// chosen at construction from the legal ones, and every frame is copied into a
// buffer of exactly that length, made here and never handed out.
//
// The package makes its encoder for application audio. VoIP is set by a control
// request, which libopus accepts before the first frame and after a reset only.
//
// Forward error correction needs SILK. The application would choose it, but can change
// after a reset only. So the signal type chooses: with the type "voice", error correction
// and an expected loss, libopus uses SILK from the next frame on, in application audio
// too. It codes the change of mode with a redundant frame (RFC 6716, section 4.5.1), so
// error correction begins and ends between any two frames without a click.
import { createRequire } from 'node:module';
import { toInt16 } from '../audio/pcm16.js';
import { loadBinding } from '../addon.js';
import { ParleyError } from '../errors.js';

export interface OpusSettings {
  /**
   * Tuning of libopus. `audio` codes speech at 32 kb/s in CELT mode only, like silence frames, so that no
   * talkspurt begins with a mode switch. It costs less than half of `voip`, whose SILK layer is the only one
   * with in-band FEC.
   */
  readonly application: 'audio' | 'voip';
  /** 0 to 10: higher is better and slower. */
  readonly complexity: number;
  readonly bitsPerSecond: number;
  /** Each frame may carry a rough copy of the one before (RFC 6716, section 2.1.7). */
  readonly inBandFec: boolean;
  /** Packet loss to prepare for, in percent; in-band FEC is used only from 1 % on. */
  readonly expectedLossPercent: number;
  /** Hz that the far end can play: 8000 to 48000. Absent: 48000. */
  readonly maxPlaybackRate?: number;
  /** Every frame has the same length. Absent: false. */
  readonly constantBitrate?: boolean;
}

/** The settings that an encoder can change between two frames. */
export type OpusTuning = Pick<OpusSettings, 'complexity' | 'inBandFec' | 'expectedLossPercent'> &
  Partial<Pick<OpusSettings, 'bitsPerSecond'>>;

/** Some 200 calls that all speak at once fit on one core, resampling included; see test/bench/RESULTS.md. */
export const OPUS_SPEECH: OpusSettings = {
  application: 'audio',
  complexity: 5,
  bitsPerSecond: 32_000,
  inBandFec: false,
  expectedLossPercent: 0,
};

const SAMPLE_RATE = 48_000;

/** The sound that an encoder takes; two channels are interleaved. */
interface OpusInput {
  /** Hz. */
  readonly sampleRate: 16_000 | 48_000;
  readonly channels: 1 | 2;
}

const CALL_INPUT: OpusInput = { sampleRate: SAMPLE_RATE, channels: 1 };

/**
 * libopus 1.3.1 holds back 6.5 ms at 48 kHz (OPUS_GET_LOOKAHEAD of its audio and voip applications): 2.5 ms
 * for the overlap of CELT and 4 ms so that SILK and CELT stay aligned.
 */
export const OPUS_LOOKAHEAD_SAMPLES = 312;
const FRAMES_MS: readonly number[] = [2.5, 5, 10, 20, 40, 60]; // RFC 6716, section 2.1.4

// Control requests (opus_defines.h of libopus 1.3.1).
const SET_APPLICATION = 4000;
const SET_MAX_BANDWIDTH = 4004;
const SET_VARIABLE_BITRATE = 4006;
const SET_COMPLEXITY = 4010;
const SET_IN_BAND_FEC = 4012;
const SET_PACKET_LOSS_PERCENT = 4014;
const SET_SIGNAL = 4024;
const RESET_STATE = 4028;
const SET_PREDICTION_DISABLED = 4042;

const APPLICATIONS = { voip: 2048, audio: 2049 } as const;
const SIGNALS = { auto: -1000, voice: 3001 } as const;
/** Bandwidths by the highest playback rate in Hz that they serve (RFC 6716, section 2). */
const BANDWIDTHS: readonly (readonly [atMostHz: number, bandwidth: number])[] = [
  [8000, 1101],
  [12_000, 1102],
  [16_000, 1103],
  [24_000, 1104],
];
const FULL_BAND = 1105;

interface NativeDecoder {
  decode(packet: Buffer): Buffer;
  applyDecoderCTL(request: number, value: number): void;
}

interface NativeEncoder {
  encode(samples: Buffer): Buffer;
  applyEncoderCTL(request: number, value: number): void;
  setBitrate(bitsPerSecond: number): void;
}

type NativeClass = new (rate: number, channels: number) => NativeEncoder & NativeDecoder;

let loaded: NativeClass | undefined;

/** The package's class. Throws ADDON_MISSING where its binding was made for another Node.js. */
export function loadOpus(): NativeClass {
  const load = () =>
    (createRequire(import.meta.url)('@discordjs/opus') as { OpusEncoder: NativeClass }).OpusEncoder;
  loaded ??= loadBinding('the native part of @discordjs/opus', 'npm rebuild @discordjs/opus', load);
  return loaded;
}

function native(rate: number, channels = 1): NativeEncoder & NativeDecoder {
  return new (loadOpus())(rate, channels);
}

export class OpusFrameEncoder {
  /** Samples of one frame, of all channels together. */
  readonly frameSamples: number;
  readonly #native: NativeEncoder;
  #tuning: OpusTuning;
  /** The last frame may have carried error correction. */
  #corrected = false;
  readonly #samples: Int16Array;
  readonly #bytes: Buffer;
  #first = true;

  constructor(
    frameMs: number,
    settings: OpusSettings = OPUS_SPEECH,
    { sampleRate, channels }: OpusInput = CALL_INPUT,
  ) {
    if (!FRAMES_MS.includes(frameMs)) {
      throw new ParleyError('INVALID_FIELD', `an Opus frame is ${FRAMES_MS.join(', ')} ms, not ${frameMs}`, {
        field: 'frameMs',
      });
    }
    const { application, maxPlaybackRate = SAMPLE_RATE, constantBitrate = false } = settings;
    check('maxPlaybackRate', maxPlaybackRate, 8000, SAMPLE_RATE);
    checkTuning(settings);
    this.frameSamples = (sampleRate / 1000) * frameMs * channels;
    this.#samples = new Int16Array(this.frameSamples);
    this.#bytes = Buffer.from(this.#samples.buffer);
    this.#tuning = settings;
    this.#native = native(sampleRate, channels);
    this.#native.applyEncoderCTL(SET_APPLICATION, APPLICATIONS[application]);
    if (constantBitrate) this.#native.applyEncoderCTL(SET_VARIABLE_BITRATE, 0);
    const bandwidth = BANDWIDTHS.find(([atMostHz]) => maxPlaybackRate <= atMostHz)?.[1] ?? FULL_BAND;
    this.#native.applyEncoderCTL(SET_MAX_BANDWIDTH, bandwidth);
    this.#apply(settings);
    this.#native.applyEncoderCTL(SET_PREDICTION_DISABLED, 1);
  }

  /** Changes the settings from the next frame on. */
  tune(tuning: OpusTuning): void {
    checkTuning(tuning);
    this.#tuning = tuning;
    this.#apply(tuning);
  }

  #apply({ complexity, bitsPerSecond, inBandFec, expectedLossPercent }: OpusTuning): void {
    const corrects = inBandFec && expectedLossPercent > 0;
    if (bitsPerSecond !== undefined) this.#native.setBitrate(bitsPerSecond);
    this.#native.applyEncoderCTL(SET_COMPLEXITY, complexity);
    this.#native.applyEncoderCTL(SET_IN_BAND_FEC, inBandFec ? 1 : 0);
    this.#native.applyEncoderCTL(SET_PACKET_LOSS_PERCENT, expectedLossPercent);
    this.#native.applyEncoderCTL(SET_SIGNAL, corrects ? SIGNALS.voice : SIGNALS.auto);
    if (corrects) this.#corrected = true;
  }

  /** One payload. Refuses a frame of any other length than the one chosen at construction. */
  encode(frame: Float32Array): Uint8Array {
    if (!(frame instanceof Float32Array) || frame.length !== this.frameSamples) {
      throw new ParleyError('WRONG_STATE', `an Opus frame here has ${this.frameSamples} samples`);
    }
    toInt16(frame, this.frameSamples, this.#samples);
    const payload = this.#native.encode(this.#bytes);
    if (this.#first) {
      // Prediction stays off for the first frame only: the far end's decoder may still hold another
      // talkspurt.
      this.#first = false;
      this.#native.applyEncoderCTL(SET_PREDICTION_DISABLED, 0);
    }
    return payload;
  }

  /** Returns to the initial state and keeps the settings. */
  reset(): void {
    if (this.#corrected) this.#forgetFec();
    this.#native.applyEncoderCTL(RESET_STATE, 0);
    this.#native.applyEncoderCTL(SET_PREDICTION_DISABLED, 1);
    this.#first = true;
  }

  /**
   * An Opus reset keeps the flag that the last frame carried error correction. A frame without any clears it.
   */
  #forgetFec(): void {
    this.#native.applyEncoderCTL(SET_IN_BAND_FEC, 0);
    this.#samples.fill(0);
    this.#native.encode(this.#bytes);
    const { inBandFec, expectedLossPercent } = this.#tuning;
    this.#native.applyEncoderCTL(SET_IN_BAND_FEC, inBandFec ? 1 : 0);
    this.#corrected = inBandFec && expectedLossPercent > 0;
  }
}

const MOST_FRAME_SAMPLES = 5760; // 120 ms

/** Decodes what an OpusFrameEncoder made; nothing from a network reaches it. */
export class OpusFrameDecoder {
  readonly #native: NativeDecoder = native(SAMPLE_RATE);
  readonly #samples = new Int16Array(MOST_FRAME_SAMPLES);
  readonly #bytes = new Uint8Array(this.#samples.buffer);

  /** The samples of one payload; valid until the next call. */
  decode(payload: Uint8Array): Int16Array {
    const decoded = this.#native.decode(Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength));
    this.#bytes.set(decoded);
    return this.#samples.subarray(0, decoded.length / Int16Array.BYTES_PER_ELEMENT);
  }

  /** Resets the decoder to its initial state. */
  reset(): void {
    this.#native.applyDecoderCTL(RESET_STATE, 0);
  }
}

function checkTuning({ complexity, bitsPerSecond, expectedLossPercent }: OpusTuning): void {
  if (bitsPerSecond !== undefined) check('bitsPerSecond', bitsPerSecond, 6000, 510_000);
  check('complexity', complexity, 0, 10);
  check('expectedLossPercent', expectedLossPercent, 0, 100);
}

function check(field: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new ParleyError(
    'INVALID_FIELD',
    `${field} must be a whole number from ${least} to ${most}, not ${value}`,
    {
      field,
    },
  );
}
