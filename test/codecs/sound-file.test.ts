// Files that arrive in pieces of any size become the same sound as whole ones.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { soundFileReader } from '../../src/codecs/sound-file.js';
import { endOfTag, isDecoded, soundKind } from '../../src/codecs/sound-kind.js';
import { KINDS, OTHER_KINDS, sampleFile, toneWav } from '../voices/voice-samples.js';

interface Read {
  readonly samples: readonly number[];
  readonly rates: ReadonlySet<number>;
}

/** The first channel. */
async function read(file: Uint8Array, pieceBytes: number): Promise<Read> {
  const kind = soundKind(file.subarray(endOfTag(file)));
  assert(kind !== undefined && isDecoded(kind));
  const samples: number[] = [];
  const rates = new Set<number>();
  const reader = soundFileReader(kind, async (channels, rate) => {
    await Promise.resolve();
    samples.push(...(channels[0] ?? []));
    rates.add(rate);
  });
  try {
    for (let at = 0; at < file.length; at += pieceBytes)
      await reader.write(file.subarray(at, at + pieceBytes));
    await reader.end();
  } finally {
    reader.free();
    reader.free();
  }
  return { samples, rates };
}

for (const [kind, how] of Object.entries(KINDS)) {
  test(`${kind} in pieces of any size is the same sound`, async () => {
    const file = sampleFile(how, { seconds: 0.5, rate: 48_000 });
    const whole = await read(file, file.length);
    assert.deepEqual([...whole.rates], [48_000]);
    assert(Math.abs(whole.samples.length - 24_000) < 2500, String(whole.samples.length));
    for (const size of [7, 1000, 4097]) assert.deepEqual((await read(file, size)).samples, whole.samples);
  });
}

for (const [kind, how] of Object.entries(OTHER_KINDS)) {
  test(`${kind} is known by name`, () => {
    const found = soundKind(sampleFile(how, { seconds: 0.5 }));
    assert(found !== undefined && !isDecoded(found));
  });
}

test('a tag before the sound is skipped, in pieces as well', async () => {
  const file = sampleFile(KINDS.mp3, { seconds: 0.5 });
  const size = 5000;
  const tag = Buffer.alloc(10 + size);
  tag.write('ID3\x04\x00\x00', 'latin1');
  tag.set([0, 0, size >> 7, size & 0x7f], 6);
  const bare = file.subarray(endOfTag(file));
  const tagged = Buffer.concat([tag, bare]);
  const { samples } = await read(bare, bare.length);
  for (const pieces of [3, 1000, tagged.length])
    assert.deepEqual((await read(tagged, pieces)).samples, samples);
});

test('a WAV file of a stream has no length, and what follows the samples is none', async () => {
  const wav = toneWav({ seconds: 0.1 });
  const { samples } = await read(wav, wav.length);
  for (const length of [0, 0xffff_ffff]) {
    const streamed = Buffer.from(wav);
    streamed.writeUInt32LE(length, 40);
    assert.deepEqual((await read(streamed, 999)).samples, samples);
  }
  const listed = Buffer.concat([wav, Buffer.from('LIST\x04\x00\x00\x00abcd', 'latin1')]);
  assert.deepEqual((await read(listed, 999)).samples, samples);
});

test('a chunk before the samples is skipped, however long it is', async () => {
  const wav = toneWav({ seconds: 0.1 });
  const { samples } = await read(wav, wav.length);
  const chunk = Buffer.alloc(8 + 100_001 + 1);
  chunk.write('LIST', 'latin1');
  chunk.writeUInt32LE(100_001, 4);
  const file = Buffer.concat([wav.subarray(0, 12), chunk, wav.subarray(12)]);
  for (const size of [11, 65_536]) assert.deepEqual((await read(file, size)).samples, samples);
});

test('what is missing or foreign is named', async () => {
  const wav = toneWav({ seconds: 0.1 });
  const video = sampleFile(['-c:a', 'libvorbis', '-f', 'webm'], { seconds: 0.2 });
  for (const [file, message] of [
    [wav.subarray(0, 30), /it holds no samples/],
    [Buffer.concat([wav.subarray(0, 12), wav.subarray(36)]), /its samples come before their format/],
    [video, /the sound of the WebM file is vorbis, not Opus/],
    [Buffer.concat([sampleFile(KINDS.opus), sampleFile(KINDS.opus)]), /several files behind each other/],
    [sampleFile(['-c:a', 'libopus', '-ac', '6', '-f', 'ogg'], { channels: 6 }), /has 6 channels; 1 or 2/],
  ] as const) {
    await assert.rejects(read(file, 4096), { code: 'AUDIO_INVALID', message });
  }
});
