// Decodes sound files that arrive in pieces: WAV, MP3, FLAC, Ogg Opus and WebM Opus. The decoders
// get a file in portions that are small enough to bound the memory that they expand to.
//
// The decoders are WebAssembly: a defect in one of them cannot reach the memory of the process. A file that
// hangs a decoder hangs its thread. Their modules take half the time of a thread's start. Each is loaded for
// the first file that needs it, and WAV needs none.
import type { OpusDecoder } from 'opus-decoder';
import { ParleyError } from '../errors.js';
import { checkSoundRate, endOfTag, nameOfKind, type SoundKind, TAG_HEAD_BYTES } from './sound-kind.js';
import { FreeFormat } from './mpeg-frames.js';
import { type OggPage, OggPageReader } from './ogg-pages.js';
import { WavStream } from './wav.js';
import { WebmPackets } from './webm.js';

/** Takes decoded samples, each channel as many. What it returns is awaited: it may keep the file waiting. */
type TakeSound = (channels: readonly Float32Array[], rate: number) => void | Promise<void>;

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
  if (kind === 'opus') return new OggOpusReader(take);
  if (kind === 'mp3') return new CodedReader(new Mp3Decoder(), kind, take);
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

const NOTHING: Decoded = { channelData: [], samplesDecoded: 0, sampleRate: 0 };

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
    return (await this.#decoder?.flush?.()) ?? NOTHING;
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
const OPUS_PRE_SKIP_AT = 10; // two bytes
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

/** MP3, FLAC and one stream of Ogg Opus. A tag before the sound is skipped. */
export class CodedReader implements SoundFileReader {
  readonly #decoder: Decoder;
  readonly #kind: keyof typeof PIECE_BYTES;
  readonly #take: TakeSound;
  /** The first bytes, until it is known whether they are a tag. */
  #head: Uint8Array | undefined = new Uint8Array(0);
  #skip = 0;
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
}

/** A decoder of MP3 that reads free format as well. */
class Mp3Decoder implements Decoder {
  readonly ready: Promise<void>;
  readonly #decoder = new LoadedDecoder(LOADERS.mp3);
  readonly #frames = new FreeFormat();

  constructor() {
    this.ready = this.#decoder.ready;
  }

  decode(bytes: Uint8Array): Decoded | Promise<Decoded> {
    return this.#decode(this.#frames.write(bytes));
  }

  async flush(): Promise<Decoded> {
    return this.#decode(this.#frames.end());
  }

  free(): void {
    this.#decoder.free();
  }

  #decode(frames: Uint8Array): Decoded | Promise<Decoded> {
    return frames.length === 0 ? NOTHING : this.#decoder.decode(frames);
  }
}

const OPUS_HEAD = 'OpusHead';
const MOST_STREAMS = 1000; // of one file: each has a decoder of its own

interface OpusStream {
  readonly serial: number;
  readonly reader: CodedReader;
  /** Samples that are dropped from its beginning (RFC 7845 section 5.1). */
  readonly preSkip: number;
  hasSound: boolean;
  /** Streams beside it would have begun by now: all of them begin before the second page of any. */
  isFollowable: boolean;
  /** Samples that it may still have. */
  left: number;
}

/**
 * Ogg Opus: one stream, or several behind each other, as radio stations send them (RFC 3533 section 4). Of
 * streams beside each other the first one of Opus is read.
 */
class OggOpusReader implements SoundFileReader {
  readonly #pages = new OggPageReader();
  readonly #take: TakeSound;
  #stream: OpusStream | undefined;
  #streams = 0;

  constructor(take: TakeSound) {
    this.#take = take;
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (const page of this.#pages.write(bytes)) {
      if (page.isFirst) await this.#begin(page);
      const stream = this.#stream;
      if (stream?.serial !== page.serial) continue;
      const isSound = !page.isFirst && page.granule !== 0n;
      // The decoder leaves the pre-skip in the length of a stream whose sound is one page.
      if (isSound && !stream.hasSound && page.isLast)
        stream.left = Math.max(0, Number(page.granule) - stream.preSkip);
      stream.hasSound ||= isSound;
      stream.isFollowable ||= !page.isFirst || page.isLast;
      await stream.reader.write(page.bytes);
    }
  }

  /** A page that is cut off is not decoded: the sound ends before it. */
  async end(): Promise<void> {
    await this.#stream?.reader.end();
  }

  free(): void {
    this.#stream?.reader.free();
  }

  async #begin({ body, serial }: OggPage): Promise<void> {
    const isOpus = Buffer.from(body.subarray(0, OPUS_HEAD.length)).toString('latin1') === OPUS_HEAD;
    const before = this.#stream;
    if (!isOpus || before?.isFollowable === false) return;
    if (++this.#streams > MOST_STREAMS)
      throw invalid(`the Ogg file is more than ${MOST_STREAMS} files behind each other`);
    // One page of many channels expands to more than fits into memory.
    const channels = body[OPUS_CHANNELS_AT] ?? 0;
    if (channels < 1 || channels > OPUS_CHANNELS)
      throw invalid(`the Ogg Opus file has ${channels} channels; 1 or ${OPUS_CHANNELS} are taken`);
    await before?.reader.end();
    before?.reader.free();
    const preSkip = (body[OPUS_PRE_SKIP_AT] ?? 0) + 256 * (body[OPUS_PRE_SKIP_AT + 1] ?? 0);
    const take: TakeSound = (sound, rate) => this.#within(stream, sound, rate);
    const reader = new CodedReader(new LoadedDecoder(LOADERS.opus), 'opus', take);
    const stream: OpusStream = {
      serial,
      reader,
      preSkip,
      hasSound: false,
      isFollowable: false,
      left: Infinity,
    };
    this.#stream = stream;
  }

  async #within(stream: OpusStream, sound: readonly Float32Array[], rate: number): Promise<void> {
    const count = Math.min(stream.left, sound[0]?.length ?? 0);
    stream.left -= count;
    if (count > 0)
      await this.#take(
        sound.map((channel) => channel.subarray(0, count)),
        rate,
      );
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
