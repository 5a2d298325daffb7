// Decoders of what samples of voices come in. Every file is fed in pieces that
// are small enough for what they may swell to, and left as soon as the sound
// has become too long.
import { FLACDecoder } from '@wasm-audio-decoders/flac';
import { MPEGDecoder } from 'mpg123-decoder';
import { OggOpusDecoder } from 'ogg-opus-decoder';
import { type AudioKind, audioKind, endOfTag, opusHeads, type OtherKind } from '../audio/audio-kind.js';
import { readWav } from '../audio/wav-reader.js';
import { ParleyError } from '../errors.js';
import { ReferenceSound, type SoundUse } from './reference-sound.js';

interface Decoded {
  readonly channelData: readonly Float32Array[];
  readonly samplesDecoded: number;
  readonly sampleRate: number;
}

export interface Decoder {
  readonly ready: Promise<void>;
  decode(bytes: Uint8Array): Decoded | Promise<Decoded>;
  /** What it still held; absent where it holds nothing. */
  flush?(): Promise<Decoded>;
  free(): void;
}

const TAKEN = 'WAV, MP3, Ogg Opus and FLAC are taken';
const OPUS_CHANNELS_AT = 9; // in the head (RFC 7845 section 5.1)
const OPUS_CHANNELS = 2;
const WAV_FRAMES = 16_384;
/** Bytes of one piece. A frame of silence in FLAC swells from 14 bytes to 2 MiB. */
const PIECE_BYTES = { mp3: 4096, opus: 4096, flac: 1024 } as const;

const OTHERS: Readonly<Record<OtherKind, string>> = {
  webm: 'it is WebM',
  mp4: 'it is MP4 (M4A)',
  aac: 'it is AAC',
  ogg: 'it is Ogg, but not Opus',
  aiff: 'it is AIFF',
};

/** Mono at REFERENCE_RATE. Rejects with AUDIO_INVALID. */
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

// One that crashed cannot always be freed. Its memory goes with the thread.
function free(decoder: Decoder): void {
  try {
    decoder.free();
  } catch {
    // what is wrong with the file is told already
  }
}

function decoderOf(kind: Exclude<AudioKind, 'wav'>): Decoder {
  if (kind === 'mp3') return new MPEGDecoder();
  return kind === 'flac' ? new FLACDecoder() : new OggOpusDecoder();
}

// One page of many channels swells to more than there is room for.
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
