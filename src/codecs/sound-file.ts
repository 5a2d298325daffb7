// Decodes sound files that arrive in pieces: WAV, MP3, FLAC, Ogg Opus and WebM Opus. The decoders
// get a file in portions that are small enough to bound the memory that they expand to.
//
// The decoders are WebAssembly: a defect in one of them cannot reach the memory of the process. A file that
// hangs a decoder hangs its thread. Their modules take half the time of a thread's start. Each is loaded for
// the first file that needs it, and WAV needs none.
import type { OpusDecoder } from 'opus-decoder';
import { ParleyError } from '../errors.js';
import {
  checkSoundRate,
  endOfTag,
  nameOfKind,
  opusHeads,
  type SoundKind,
  TAG_HEAD_BYTES,
} from './sound-kind.js';
import { WavStream } from './wav.js';
import { WebmPackets } from './webm.js';

/** Takes decoded samples, each channel as many. What it returns is awaited: it may keep the file waiting. */
export type TakeSound = (channels: readonly Float32Array[], rate: number) => void | Promise<void>;

/** Reads one file. */
export interface SoundFileReader {
  /** Rejects with AUDIO_INVALID naming the fault. */
  write(bytes: Uint8Array): Promise<void>;
  /** Takes what is left; rejects as `write`. */
  end(): Promise<void>;
  /** Frees the decoder. Idempotent. */
  free(): void;
}

export function soundFileReader(kind: SoundKind, taken: TakeSound): SoundFileReader {
  const take: TakeSound = (channels, rate) => {
    checkSoundRate(rate);
    return taken(channels, rate);
  };
  if (kind === 'wav') return new WavFileReader(take);
  if (kind === 'webm') return new WebmReader(take);
  return new CodedReader(new LoadedDecoder(LOADERS[kind]), kind, take);
}

/** Writes the mean of the channels to `mono`, which has room for them, and returns the part that it wrote. */
export function mixDown(channels: readonly Float32Array[], mono: Float32Array): Float32Array {
  const mixed = mono.subarray(0, channels[0]?.length ?? 0).fill(0);
  const share = 1 / channels.length;
  for (const channel of channels) {
    for (let i = 0; i < mixed.length; i++) mixed[i] = (mixed[i] as number) + (channel[i] ?? 0) * share;
  }
  return mixed;
}

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

const LOADERS: Readonly<Record<'mp3' | 'flac' | 'opus', () => Promise<Decoder>>> = {
  mp3: async () => new (await import('mpg123-decoder')).MPEGDecoder(),
  flac: async () => new (await import('@wasm-audio-decoders/flac')).FLACDecoder(),
  opus: async () => new (await import('ogg-opus-decoder')).OggOpusDecoder(),
};

/** A decoder whose module is being loaded. `ready` says when it can be used. */
class LoadedDecoder implements Decoder {
  readonly ready: Promise<void>;
  #decoder: Decoder | undefined;
  #isFree = false;

  constructor(load: () => Promise<Decoder>) {
    this.ready = this.#open(load);
    this.ready.catch(() => undefined); // the reader awaits it with the first bytes
  }

  decode(bytes: Uint8Array): Decoded | Promise<Decoded> {
    if (this.#decoder === undefined) throw new ParleyError('WRONG_STATE', 'the decoder is not ready');
    return this.#decoder.decode(bytes);
  }

  async flush(): Promise<Decoded> {
    return (await this.#decoder?.flush?.()) ?? { channelData: [], samplesDecoded: 0, sampleRate: 0 };
  }

  free(): void {
    this.#isFree = true;
    this.#decoder?.free();
  }

  async #open(load: () => Promise<Decoder>): Promise<void> {
    const decoder = await load();
    await decoder.ready;
    if (this.#isFree) decoder.free();
    else this.#decoder = decoder;
  }
}

const OPUS_CHANNELS_AT = 9; // in the head (RFC 7845 section 5.1)
const OPUS_CHANNELS = 2;
/** Bytes that a decoder gets at a time. A frame of silence in FLAC expands from 14 bytes to 2 MiB. */
const PIECE_BYTES = { mp3: 4096, opus: 4096, flac: 1024 } as const;

class WavFileReader implements SoundFileReader {
  readonly #wav = new WavStream();
  readonly #take: TakeSound;

  constructor(take: TakeSound) {
    this.#take = take;
  }

  async write(bytes: Uint8Array): Promise<void> {
    const channels = this.#wav.write(bytes);
    if ((channels[0]?.length ?? 0) > 0) await this.#take(channels, this.#wav.rate);
  }

  end(): Promise<void> {
    this.#wav.end();
    return Promise.resolve();
  }

  free(): void {
    // It holds nothing.
  }
}

/** MP3, FLAC and Ogg Opus. A tag before the sound is skipped. */
export class CodedReader implements SoundFileReader {
  readonly #decoder: Decoder;
  readonly #kind: keyof typeof PIECE_BYTES;
  readonly #take: TakeSound;
  /** The first bytes, until it is known whether they are a tag. */
  #head: Uint8Array | undefined = new Uint8Array(0);
  #skip = 0;
  #opusHeads = 0;
  /** The last bytes, which may begin the name of another head. */
  #tail: Uint8Array = new Uint8Array(0);
  #isFree = false;

  constructor(decoder: Decoder, kind: keyof typeof PIECE_BYTES, take: TakeSound) {
    this.#decoder = decoder;
    this.#kind = kind;
    this.#take = take;
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#head === undefined) return this.#decode(bytes);
    this.#head = Buffer.concat([this.#head, bytes]);
    if (this.#head.length >= TAG_HEAD_BYTES) await this.#leaveHead();
  }

  async end(): Promise<void> {
    await this.#leaveHead();
    const rest = await this.#guarded(() => this.#decoder.flush?.());
    if (rest !== undefined) await this.#pass(rest);
  }

  // A decoder that crashed cannot always be freed. Its memory is freed with the thread.
  free(): void {
    if (this.#isFree) return;
    this.#isFree = true;
    try {
      this.#decoder.free();
    } catch {
      // the error of the file is reported already
    }
  }

  async #leaveHead(): Promise<void> {
    const head = this.#head;
    if (head === undefined) return;
    this.#head = undefined;
    this.#skip = endOfTag(head);
    await this.#decode(head);
  }

  async #decode(given: Uint8Array): Promise<void> {
    const skipped = Math.min(this.#skip, given.length);
    this.#skip -= skipped;
    const bytes = given.subarray(skipped);
    if (this.#kind === 'opus') this.#checkOpus(bytes);
    await this.#guarded(() => this.#decoder.ready);
    const piece = PIECE_BYTES[this.#kind];
    for (let at = 0; at < bytes.length; at += piece) {
      await this.#pass(await this.#guarded(() => this.#decoder.decode(bytes.subarray(at, at + piece))));
    }
  }

  async #pass({ channelData, samplesDecoded, sampleRate }: Decoded): Promise<void> {
    if (samplesDecoded === 0) return;
    const channels = channelData.map((channel) => channel.subarray(0, samplesDecoded));
    await this.#take(channels, sampleRate);
  }

  async #guarded<T>(work: () => T | Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw invalid(`the ${nameOfKind(this.#kind)} file is damaged`, error);
    }
  }

  // One page of many channels expands to more than fits into memory.
  #checkOpus(bytes: Uint8Array): void {
    const seen = Buffer.concat([this.#tail, bytes]);
    for (const at of opusHeads(seen)) {
      if (at + OPUS_CHANNELS_AT >= seen.length) break; // it is found again with what follows
      if (++this.#opusHeads > 1)
        throw invalid('the Ogg file is several files behind each other; one is taken');
      const channels = seen[at + OPUS_CHANNELS_AT] ?? 0;
      if (channels < 1 || channels > OPUS_CHANNELS) {
        throw invalid(`the Ogg Opus file has ${channels} channels; 1 or ${OPUS_CHANNELS} are taken`);
      }
    }
    this.#tail = Buffer.from(seen.subarray(Math.max(0, seen.length - OPUS_CHANNELS_AT)));
  }
}

const OPUS_RATE = 48_000;
/** The first Opus track of a WebM or Matroska file. */
class WebmReader implements SoundFileReader {
  readonly #packets = new WebmPackets();
  readonly #take: TakeSound;
  #decoder: OpusDecoder<typeof OPUS_RATE> | undefined;

  constructor(take: TakeSound) {
    this.#take = take;
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES.opus) {
      for (const packet of this.#packets.write(bytes.subarray(at, at + PIECE_BYTES.opus))) {
        this.#decoder ??= await openOpus(this.#packets.channels ?? 0);
        const { channelData, samplesDecoded } = this.#decoder.decodeFrame(packet);
        const kept = channelData.map((channel) => channel.subarray(0, samplesDecoded));
        if (samplesDecoded > 0) await this.#take(kept, OPUS_RATE);
      }
    }
  }

  end(): Promise<void> {
    this.#packets.end();
    return Promise.resolve();
  }

  free(): void {
    this.#decoder?.free();
    this.#decoder = undefined;
  }
}

async function openOpus(channels: number): Promise<OpusDecoder<typeof OPUS_RATE>> {
  if (channels < 1 || channels > OPUS_CHANNELS)
    throw invalid(`the WebM file has ${channels} channels; 1 or ${OPUS_CHANNELS} are taken`);
  const { OpusDecoder } = await import('opus-decoder');
  const decoder = new OpusDecoder({ channels, sampleRate: OPUS_RATE });
  await decoder.ready;
  return decoder;
}

function invalid(message: string, cause?: unknown): ParleyError {
  return new ParleyError('AUDIO_INVALID', message, { cause });
}
