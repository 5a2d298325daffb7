// Which container is made how. Each belongs to one line and is closed with it.
import { AacContainer } from './aac-container.js';
import type { Container, ContainerName } from './container.js';
import type { EncoderShelf } from './encoder-shelf.js';
import { FlacContainer } from './flac-container.js';
import { A_LAW, MU_LAW } from './g711.js';
import { Mp3Container } from './mp3-container.js';
import { OggOpusContainer } from './ogg-opus-container.js';
import type { OpusSettings } from './opus-encoder.js';
import { G711Container, PcmContainer, WavContainer } from './raw-containers.js';

const OPUS_FRAME_MS = 20;

export interface ContainerParts {
  readonly opus: OpusSettings;
  readonly shelf: EncoderShelf;
  /** Of the stream in an Ogg file. */
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

/** Encoders are used again: the shelf has one that was reset, and gets it back. */
function oggOpus(inputRate: number, { opus, shelf, serial }: ContainerParts): Container {
  const encoder = shelf.take('opus', OPUS_FRAME_MS, opus);
  const release = () => shelf.giveBack(encoder, 'opus', OPUS_FRAME_MS, opus);
  return new OggOpusContainer(encoder, { serial, inputRate, release });
}
