// Decodes one sound file (WAV, MP3, Ogg Opus, FLAC) into mono at REFERENCE_RATE. The kind is detected from
// the content, because names and content types are unreliable. Files are fed in pieces, small enough for the
// memory that they may expand to, and decoding stops as soon as the sound is too long.
import { FLACDecoder } from '@wasm-audio-decoders/flac';
import { MPEGDecoder } from 'mpg123-decoder';
import { OggOpusDecoder } from 'ogg-opus-decoder';
import { Resampler } from '../audio/resampler.js';
import { readWav } from '../audio/wav.js';
import { asParleyError, ParleyError } from '../errors.js';
import { REFERENCE_RATE, type SoundUse } from './reference-audio.js';

interface Decoded {
  readonly channelData: readonly Float32Array[];
  readonly samplesDecoded: number;
  readonly sampleRate: number;
}

export interface Decoder {
  readonly ready: Promise<void>;
  decode(bytes: Uint8Array): Decoded | Promise<Decoded>;
  /** The samples it still holds; absent if it never holds any. */
  flush?(): Promise<Decoded>;
  free(): void;
}

const TAKEN = 'WAV, MP3, Ogg Opus and FLAC are taken';
const OPUS_CHANNELS_AT = 9; // in the head (RFC 7845 section 5.1)
const OPUS_CHANNELS = 2;
const WAV_FRAMES = 16_384;
/** Bytes of one piece. A frame of silence in FLAC expands from 14 bytes to 2 MiB. */
const PIECE_BYTES = { mp3: 4096, opus: 4096, flac: 1024 } as const;

const OTHERS: Readonly<Record<OtherKind, string>> = {
  webm: 'it is WebM',
  mp4: 'it is MP4 (M4A)',
  aac: 'it is AAC',
  ogg: 'it is Ogg, but not Opus',
  aiff: 'it is AIFF',
};

/** Returns mono at REFERENCE_RATE. Rejects with AUDIO_INVALID. */
export async function decodeReference(
  bytes: Uint8Array,
  use: SoundUse = 'voice',
): Promise<Float32Array<ArrayBuffer>> {
  const kind = audioKind(bytes);
  if (kind === undefined) throw invalid(`the file is no audio that is known here; ${TAKEN}`);
  if (kind in OTHERS) throw invalid(`the audio is not usable: ${OTHERS[kind as OtherKind]}; ${TAKEN}`);
  const sound = new ReferenceSound(use);
  const file = bytes.subarray(endOfTag(bytes));
  if (kind === 'wav') addWav(file, sound);
  else await addCoded(kind as Exclude<AudioKind, 'wav'>, file, sound);
  return sound.finish();
}

function addWav(file: Uint8Array, sound: ReferenceSound): void {
  const wav = readWav(file);
  for (let frame = 0; frame < wav.frames; frame += WAV_FRAMES) {
    const channels = Array.from({ length: wav.channels }, (_, channel) => {
      const out = new Float32Array(Math.min(WAV_FRAMES, wav.frames - frame));
      wav.read(channel, frame, out);
      return out;
    });
    sound.add(channels, wav.rate);
  }
}

async function addCoded(
  kind: Exclude<AudioKind, 'wav'>,
  file: Uint8Array,
  sound: ReferenceSound,
): Promise<void> {
  if (kind === 'opus') checkOpus(file);
  await decodeWith(decoderOf(kind), kind, file, sound);
}

/** Frees the decoder. Rejects with AUDIO_INVALID. */
export async function decodeWith(
  decoder: Decoder,
  kind: Exclude<AudioKind, 'wav'>,
  file: Uint8Array,
  sound: ReferenceSound,
): Promise<void> {
  const add = ({ channelData, samplesDecoded, sampleRate }: Decoded) => {
    if (samplesDecoded > 0)
      sound.add(
        channelData.map((channel) => channel.subarray(0, samplesDecoded)),
        sampleRate,
      );
  };
  try {
    await decoder.ready;
    const piece = PIECE_BYTES[kind];
    for (let at = 0; at < file.length; at += piece) {
      add(await decoder.decode(file.subarray(at, at + piece)));
    }
    const rest = await decoder.flush?.();
    if (rest !== undefined) add(rest);
  } catch (error) {
    if (error instanceof ParleyError) throw error;
    throw invalid(`the ${kind === 'opus' ? 'Ogg Opus' : kind.toUpperCase()} file is damaged`, error);
  } finally {
    free(decoder);
  }
}

// A decoder that crashed cannot always be freed. Its memory is freed with the thread.
function free(decoder: Decoder): void {
  try {
    decoder.free();
  } catch {
    // the error of the file is reported already
  }
}

function decoderOf(kind: Exclude<AudioKind, 'wav'>): Decoder {
  if (kind === 'mp3') return new MPEGDecoder();
  return kind === 'flac' ? new FLACDecoder() : new OggOpusDecoder();
}

// One page of many channels expands to more than fits into memory.
function checkOpus(file: Uint8Array): void {
  const heads = opusHeads(file);
  if (heads.length > 1) throw invalid('the Ogg file is several files behind each other; one is taken');
  const channels = file[(heads[0] ?? 0) + OPUS_CHANNELS_AT] ?? 0;
  if (channels < 1 || channels > OPUS_CHANNELS) {
    throw invalid(`the Ogg Opus file has ${channels} channels; 1 or ${OPUS_CHANNELS} are taken`);
  }
}

function invalid(message: string, cause?: unknown): ParleyError {
  return new ParleyError('AUDIO_INVALID', message, { cause });
}

interface UseRules {
  readonly minSeconds: number;
  readonly maxSeconds: number;
  /** Frames that are louder than silence. */
  readonly minHeard: number;
  /** Beginning of the error message. */
  readonly refusal: string;
}

/** Limits by use: half a second of sound above silence is the least for a voice. */
const RULES: Readonly<Record<SoundUse, UseRules>> = {
  voice: { minSeconds: 1, maxSeconds: 60, minHeard: 25, refusal: 'no voice can be made of this audio' },
  play: { minSeconds: 0.02, maxSeconds: 300, minHeard: 0, refusal: 'this audio cannot be played' },
};

const SILENCE = 10 ** (-50 / 20); // below it is the noise of an open input
const FRAME = REFERENCE_RATE / 50; // 20 ms

/** Collects decoded samples as mono at REFERENCE_RATE, within the limits of their use. */
export class ReferenceSound {
  readonly #rules: UseRules;
  readonly #samples: Float32Array;
  #filled = 0;
  #resampler: Resampler | undefined;

  constructor(use: SoundUse = 'voice') {
    this.#rules = RULES[use];
    this.#samples = new Float32Array(REFERENCE_RATE * this.#rules.maxSeconds);
  }

  /** Adds samples; every channel has as many as the first. Throws AUDIO_INVALID. */
  add(channels: readonly Float32Array[], rate: number): void {
    this.#withRefusal(() => this.#add(channels, rate));
  }

  /** The whole sound. Throws AUDIO_INVALID if it does not suit its use. */
  finish(): Float32Array<ArrayBuffer> {
    return this.#withRefusal(() => this.#finish());
  }

  #add(channels: readonly Float32Array[], rate: number): void {
    const count = channels[0]?.length ?? 0;
    if (count === 0) return;
    const resampler = this.#resamplerFor(rate);
    const mono = mixed(channels, count);
    const output = new Float32Array(resampler.maxOutput(count));
    this.#keep(output.subarray(0, resampler.process(mono, count, output)));
  }

  #finish(): Float32Array<ArrayBuffer> {
    const { minSeconds, maxSeconds, minHeard } = this.#rules;
    const resampler = this.#resampler;
    if (resampler !== undefined) {
      const rest = new Float32Array(resampler.maxFlush);
      this.#keep(rest.subarray(0, resampler.flush(rest)));
    }
    const seconds = this.#filled / REFERENCE_RATE;
    if (seconds < minSeconds) {
      throw invalid(`it lasts ${seconds.toFixed(2)} s; ${minSeconds} to ${maxSeconds} s are taken`);
    }
    const samples = withinFullScale(this.#samples.slice(0, this.#filled));
    if (minHeard > 0 && framesHeard(samples) < minHeard) {
      const heard = (minHeard * FRAME) / REFERENCE_RATE;
      throw invalid(`it is silent, or all but; ${heard} s of sound are needed at least`);
    }
    return samples;
  }

  #resamplerFor(rate: number): Resampler {
    this.#resampler ??= resamplerFrom(rate);
    if (this.#resampler.inputRate !== rate) throw invalid('its sample rate changes on the way');
    return this.#resampler;
  }

  #keep(output: Float32Array): void {
    if (this.#filled + output.length > this.#samples.length) {
      const { minSeconds, maxSeconds } = this.#rules;
      throw invalid(`it is longer than ${maxSeconds} s; ${minSeconds} to ${maxSeconds} s are taken`);
    }
    this.#samples.set(output, this.#filled);
    this.#filled += output.length;
  }

  /** Prefixes errors with the use of the sound. */
  #withRefusal<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      const { code, message } = asParleyError(error, 'AUDIO_INVALID');
      throw new ParleyError(code, `${this.#rules.refusal}: ${message}`, { cause: error });
    }
  }
}

function resamplerFrom(rate: number): Resampler {
  try {
    return new Resampler(rate, REFERENCE_RATE);
  } catch (error) {
    throw invalid(
      `its sample rate of ${rate} Hz is not read: ${asParleyError(error, 'AUDIO_INVALID').message}`,
    );
  }
}

/**
 * Scales samples into [-1, 1]: float files have any scale, and the resampler overshoots slightly at peaks.
 */
function withinFullScale(samples: Float32Array<ArrayBuffer>): Float32Array<ArrayBuffer> {
  const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  if (peak <= 1) return samples;
  if (!Number.isFinite(peak)) throw invalid('some of its samples are too large');
  // Rounding to 32 bits may leave the peak slightly above 1.
  return samples.map((sample) => Math.max(-1, Math.min(1, sample / peak)));
}

/** Number of frames louder than silence, without their DC offset. */
function framesHeard(samples: Float32Array): number {
  let heard = 0;
  for (let at = 0; at + FRAME <= samples.length; at += FRAME) {
    const frame = samples.subarray(at, at + FRAME);
    const mean = frame.reduce((sum, sample) => sum + sample, 0) / FRAME;
    const power = frame.reduce((sum, sample) => sum + (sample - mean) ** 2, 0) / FRAME;
    if (Math.sqrt(power) > SILENCE) heard++;
  }
  return heard;
}

function mixed(channels: readonly Float32Array[], count: number): Float32Array {
  const mono = new Float32Array(count);
  for (const channel of channels) {
    for (let i = 0; i < count; i++) mono[i] = (mono[i] as number) + (channel[i] ?? 0) / channels.length;
  }
  if (!mono.every((sample) => Number.isFinite(sample))) throw invalid('some of its samples are no numbers');
  return mono;
}

/** Kinds that can be read here. */
type AudioKind = 'wav' | 'mp3' | 'opus' | 'flac';

/** Kinds that cannot be read, detected so that the refusal can name them. */
type OtherKind = 'webm' | 'mp4' | 'aac' | 'ogg' | 'aiff';

const PAGE_BYTES = 4096; // the first page of an Ogg file holds nothing but the head of its codec

/** Undefined if the bytes are of no known kind. */
function audioKind(bytes: Uint8Array): AudioKind | OtherKind | undefined {
  const at = endOfTag(bytes);
  if (starts(bytes, at, 'RIFF') && starts(bytes, at + 8, 'WAVE')) return 'wav';
  if (starts(bytes, at, 'fLaC')) return 'flac';
  if (starts(bytes, at, 'OggS'))
    return opusHeads(bytes.subarray(at, at + PAGE_BYTES)).length > 0 ? 'opus' : 'ogg';
  if (starts(bytes, at, '\x1aE\xdf\xa3')) return 'webm';
  if (starts(bytes, at + 4, 'ftyp')) return 'mp4';
  if (starts(bytes, at, 'FORM') && starts(bytes, at + 8, 'AIF')) return 'aiff';
  return mpegKind(bytes, at);
}

/** Returns the offset of each OpusHead: one for each Opus stream of an Ogg file. */
function opusHeads(bytes: Uint8Array): number[] {
  const heads: number[] = [];
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = text.indexOf('OpusHead'); at >= 0; at = text.indexOf('OpusHead', at + 1)) heads.push(at);
  return heads;
}

/**
 * Returns the end of an ID3v2 tag (id3.org, section 3.1): 10 bytes and the length that they state; 0 without
 * a tag.
 */
function endOfTag(bytes: Uint8Array): number {
  if (!starts(bytes, 0, 'ID3') || bytes.length < 10) return 0;
  const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(6, 10);
  return 10 + (((a & 0x7f) << 21) | ((b & 0x7f) << 14) | ((c & 0x7f) << 7) | (d & 0x7f));
}

/** Reads the header of the first frame (ISO 11172-3, 2.4.1.3): layer 3 is MP3, no layer is AAC in ADTS. */
function mpegKind(bytes: Uint8Array, at: number): 'mp3' | 'aac' | undefined {
  const [sync = 0, kind = 0, rates = 0] = bytes.subarray(at, at + 3);
  if (sync !== 0xff || (kind & 0xe0) !== 0xe0) return undefined;
  const layer = (kind >> 1) & 3;
  if (layer === 0 && (kind & 0x10) !== 0) return 'aac';
  const isReserved = ((kind >> 3) & 3) === 1 || rates >> 4 === 15 || ((rates >> 2) & 3) === 3;
  return layer === 1 && !isReserved ? 'mp3' : undefined;
}

function starts(bytes: Uint8Array, at: number, text: string): boolean {
  if (at + text.length > bytes.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text.charCodeAt(i)) return false;
  return true;
}
