// Opens the container of each output format, and holds those of the raw formats: PCM, WAV and G.711. A
// container belongs to one session and is closed with it.
import { toBytesS16le, toInt16 } from '../audio/pcm16.js';
import { WAV_HEADER_BYTES, wavHeader } from './wav.js';
import { AacContainer } from './aac.js';
import { type Container, type ContainerName, type FileHeader, pieceSamples } from './container.js';
import { FlacContainer } from './flac.js';
import type { EncoderShelf } from './frame-encoder.js';
import { A_LAW, MU_LAW } from './g711.js';
import { Mp3Container } from './mp3.js';
import { OggOpusContainer } from './ogg-opus.js';
import type { OpusSettings } from './opus.js';

const OPUS_FRAME_MS = 20;

interface ContainerParts {
  readonly opus: OpusSettings;
  readonly shelf: EncoderShelf;
  /** Serial number of the stream in an Ogg file. */
  readonly serial: number;
}

type Maker = (rate: number, parts: ContainerParts) => Container;

const MAKERS: Readonly<Record<ContainerName, Maker>> = {
  pcm: (rate) => new PcmContainer(rate),
  wav: (rate) => new WavContainer(rate),
  ulaw: (rate) => new G711Container(MU_LAW, rate),
  alaw: (rate) => new G711Container(A_LAW, rate),
  flac: (rate) => new FlacContainer(rate),
  mp3: (rate) => new Mp3Container(rate),
  aac: (rate) => new AacContainer(rate),
  ogg: oggOpus,
};

export function openContainer(name: ContainerName, rate: number, parts: ContainerParts): Container {
  return MAKERS[name](rate, parts);
}

/** The encoder comes from the shelf, already reset, and goes back there. */
function oggOpus(inputRate: number, { opus, shelf, serial }: ContainerParts): Container {
  const encoder = shelf.take('opus', OPUS_FRAME_MS, opus);
  const release = () => shelf.giveBack(encoder, 'opus', OPUS_FRAME_MS, opus);
  return new OggOpusContainer(encoder, { serial, inputRate, release });
}

const NOTHING = new Uint8Array(0);

/** 16-bit samples, little-endian. */
class PcmContainer implements Container {
  readonly sampleRate: number;
  readonly frameSamples: number;
  readonly header: Uint8Array = NOTHING;
  readonly #bytes: Uint8Array;

  constructor(rate: number) {
    this.sampleRate = rate;
    this.frameSamples = pieceSamples(rate);
    this.#bytes = new Uint8Array(2 * this.frameSamples);
  }

  encode(frame: Float32Array, count: number): Uint8Array {
    return this.#bytes.subarray(0, toBytesS16le(frame, count, this.#bytes));
  }

  finish(): Uint8Array {
    return NOTHING;
  }

  fileHeader(): FileHeader | undefined {
    return undefined;
  }

  close(): void {}
}

/** PCM behind a WAV header. A stream's header states an unknown length. */
class WavContainer extends PcmContainer {
  override readonly header: Uint8Array;
  #samples = 0;

  constructor(rate: number) {
    super(rate);
    this.header = wavHeader(rate);
  }

  override encode(frame: Float32Array, count: number): Uint8Array {
    this.#samples += count;
    return super.encode(frame, count);
  }

  override fileHeader(): FileHeader {
    return { replaced: WAV_HEADER_BYTES, bytes: wavHeader(this.sampleRate, this.#samples) };
  }
}

/** G.711: one byte per sample, by the law's table. */
class G711Container implements Container {
  readonly sampleRate: number;
  readonly frameSamples: number;
  readonly header = NOTHING;
  readonly #table: Uint8Array;
  readonly #samples: Int16Array;
  readonly #bytes: Uint8Array;

  constructor(table: Uint8Array, rate: number) {
    this.sampleRate = rate;
    this.frameSamples = pieceSamples(rate);
    this.#table = table;
    this.#samples = new Int16Array(this.frameSamples);
    this.#bytes = new Uint8Array(this.frameSamples);
  }

  encode(frame: Float32Array, count: number): Uint8Array {
    toInt16(frame, count, this.#samples);
    for (let i = 0; i < count; i++) {
      this.#bytes[i] = this.#table[(this.#samples[i] as number) + 32_768] as number;
    }
    return this.#bytes.subarray(0, count);
  }

  finish(): Uint8Array {
    return NOTHING;
  }

  fileHeader(): FileHeader | undefined {
    return undefined;
  }

  close(): void {}
}
