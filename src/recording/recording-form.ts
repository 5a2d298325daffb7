// The file formats of recordings: two channels (left: the caller, right: this server) or the caller alone, of
// 16 kHz, as WAV with 16 bits or as Opus in Ogg. A form turns samples into the bytes that follow in the file.
//
// Both formats survive a crash. The WAV header states the length of what was written before it. An Ogg page
// is complete in itself, and lasts 400 ms.
import { toBytesS16le } from '../audio/pcm16.js';
import { WAV_HEADER_BYTES, wavHeader } from '../codecs/wav.js';
import { OggPages, opusHead, opusTags } from '../codecs/ogg-opus.js';
import { OPUS_LOOKAHEAD_SAMPLES, OPUS_SPEECH, OpusFrameEncoder } from '../codecs/opus.js';
import type { RecordingFormat } from './recording-name.js';

/** Hz. */
export const RECORDING_RATE = 16_000;
/** One: the caller alone. */
export type RecordingChannels = 1 | 2;
/** Frames per millisecond; a frame has one sample of each channel. */
export const FRAMES_PER_MS = RECORDING_RATE / 1000;

export interface RecordingForm {
  /** The first bytes of the file. */
  readonly header: Uint8Array;
  /** The bytes that interleaved frames complete; valid until the next call. */
  encode(samples: Float32Array, frames: number): Uint8Array;
  /** The last bytes of the file. */
  finish(): Uint8Array;
  /** The header of a file of this length; undefined if it never changes. */
  headerOf(fileBytes: number): Uint8Array | undefined;
}

/** `serial` identifies the stream of an Ogg file. */
export function openForm(
  format: RecordingFormat,
  serial: number,
  channels: RecordingChannels = 2,
): RecordingForm {
  return format === 'wav' ? new WavForm(channels) : new OggForm(serial, channels);
}

/** Bytes of a frame of a WAV. */
export function wavFrameBytes(channels: RecordingChannels): number {
  return 2 * channels;
}

const NOTHING = new Uint8Array(0);

/** The header of a recording with this number of frames. */
export function recordingWavHeader(frames: number, channels: RecordingChannels = 2): Uint8Array {
  return wavHeader(RECORDING_RATE, frames, channels);
}

class WavForm implements RecordingForm {
  readonly header: Uint8Array;
  readonly #channels: RecordingChannels;
  #bytes = NOTHING;

  constructor(channels: RecordingChannels) {
    this.#channels = channels;
    this.header = recordingWavHeader(0, channels);
  }

  encode(samples: Float32Array, frames: number): Uint8Array {
    const count = frames * this.#channels;
    if (this.#bytes.length < 2 * count) this.#bytes = new Uint8Array(2 * count);
    return this.#bytes.subarray(0, toBytesS16le(samples, count, this.#bytes));
  }

  finish(): Uint8Array {
    return NOTHING;
  }

  headerOf(fileBytes: number): Uint8Array {
    const frames = Math.floor((fileBytes - WAV_HEADER_BYTES) / wavFrameBytes(this.#channels));
    return recordingWavHeader(frames, this.#channels);
  }
}

const PACKET_MS = 20;
const PACKET_FRAMES = PACKET_MS * FRAMES_PER_MS;
const PAGE_PACKETS = 20;
const MAX_PACKET_BYTES = 1275; // RFC 6716, section 3.2.1
/** A granule position counts samples of 48 kHz (RFC 7845, section 4). */
export const GRANULES_PER_FRAME = 48_000 / RECORDING_RATE;
// At this rate libopus codes both channels in full at 16 kHz: neither is heard in the other.
const SETTINGS = { ...OPUS_SPEECH, complexity: 3, bitsPerSecond: 64_000 };

class OggForm implements RecordingForm {
  readonly header: Uint8Array;
  readonly #channels: RecordingChannels;
  readonly #pages: OggPages;
  readonly #encoder: OpusFrameEncoder;
  readonly #frame: Float32Array;
  /** Samples in the frame that is not full yet. */
  #filled = 0;
  #packets = 0;

  constructor(serial: number, channels: RecordingChannels) {
    this.#channels = channels;
    this.#encoder = new OpusFrameEncoder(PACKET_MS, SETTINGS, { sampleRate: RECORDING_RATE, channels });
    this.#frame = new Float32Array(PACKET_FRAMES * channels);
    this.#pages = new OggPages(serial, PAGE_PACKETS * MAX_PACKET_BYTES);
    this.#pages.add(opusHead(OPUS_LOOKAHEAD_SAMPLES, RECORDING_RATE, channels));
    const head = this.#pages.close(0, 'first').slice();
    this.#pages.add(opusTags('parley'));
    this.header = Buffer.concat([head, this.#pages.close(0, 'middle')]);
  }

  encode(samples: Float32Array, frames: number): Uint8Array {
    const complete: Uint8Array[] = [];
    const count = frames * this.#channels;
    for (let at = 0; at < count;) {
      const taken = Math.min(count - at, this.#frame.length - this.#filled);
      this.#frame.set(samples.subarray(at, at + taken), this.#filled);
      this.#filled += taken;
      at += taken;
      if (this.#filled === this.#frame.length) this.#encode(complete);
    }
    return complete.length === 0 ? NOTHING : Buffer.concat(complete);
  }

  /** Silence flushes the samples that the encoder holds back. The last page states where the sound ends. */
  finish(): Uint8Array {
    const frames = this.#packets * PACKET_FRAMES + this.#filled / this.#channels;
    const end = OPUS_LOOKAHEAD_SAMPLES + frames * GRANULES_PER_FRAME;
    const complete: Uint8Array[] = [];
    while (this.#packets * PACKET_FRAMES * GRANULES_PER_FRAME < end) {
      this.#frame.fill(0, this.#filled);
      this.#encode(complete);
    }
    return Buffer.concat([...complete, this.#pages.close(end, 'last')]);
  }

  headerOf(): undefined {
    return undefined;
  }

  /** A full page is closed with the packet after it, because the last packet belongs on the last page. */
  #encode(complete: Uint8Array[]): void {
    if (this.#packets > 0 && this.#packets % PAGE_PACKETS === 0) {
      const granule = this.#packets * PACKET_FRAMES * GRANULES_PER_FRAME;
      complete.push(this.#pages.close(granule, 'middle').slice());
    }
    this.#pages.add(this.#encoder.encode(this.#frame));
    this.#packets++;
    this.#filled = 0;
  }
}
