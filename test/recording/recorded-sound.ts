// Sound of two channels for tests of recordings, and the sound that a file of a recording holds.
import assert from 'node:assert/strict';
import { OggOpusDecoder } from 'ogg-opus-decoder';
import { readWav } from '../../src/codecs/wav.js';

interface Channels {
  readonly caller: Float32Array;
  readonly ours: Float32Array;
  /** Hz. */
  readonly rate: number;
}

export function interleaved(caller: Float32Array, ours: Float32Array): Float32Array {
  assert.equal(caller.length, ours.length);
  return Float32Array.from({ length: 2 * caller.length }, (_, at) =>
    at % 2 === 0 ? (caller[at / 2] as number) : (ours[(at - 1) / 2] as number),
  );
}

/** The samples as a 16-bit file holds them. */
export function in16Bits(samples: Float32Array): Float32Array {
  return samples.map((sample) => {
    const scaled = sample * 32_768;
    const rounded = Math.sign(scaled) * Math.floor(Math.abs(scaled) + 0.5);
    return Math.max(-32_768, Math.min(32_767, rounded)) / 32_768 + 0; // no negative zero
  });
}

export function wavChannels(file: Uint8Array): Channels {
  const wav = readWav(file);
  assert.deepEqual({ rate: wav.rate, channels: wav.channels }, { rate: 16_000, channels: 2 });
  const [caller, ours] = [new Float32Array(wav.frames), new Float32Array(wav.frames)];
  assert.equal(wav.read(0, 0, caller) + wav.read(1, 0, ours), 2 * wav.frames);
  return { caller, ours, rate: wav.rate };
}

/** Decoded at 48 kHz by libopus and libopusfile, which are not ours. */
export async function opusChannels(file: Uint8Array): Promise<Channels> {
  const decoder = new OggOpusDecoder();
  await decoder.ready;
  try {
    const { channelData, sampleRate, errors } = await decoder.decodeFile(file);
    assert.deepEqual(errors, []);
    const [caller, ours] = channelData;
    assert.ok(caller !== undefined && ours !== undefined, 'the file has two channels');
    return { caller, ours, rate: sampleRate };
  } finally {
    decoder.free();
  }
}
