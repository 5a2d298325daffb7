// Files that arrive in pieces of any size become the same sound as whole ones.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OggPageReader } from '../../src/codecs/ogg-pages.js';
import { soundFileReader } from '../../src/codecs/sound-file.js';
import { endOfTag, isDecoded, soundKind } from '../../src/codecs/sound-kind.js';
import { readWav } from '../../src/codecs/wav.js';
import { HALF_KNOWN, KINDS, OTHER_KINDS, sampleFile, toneWav } from '../voices/voice-samples.js';

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

for (const [kind, how] of Object.entries(OTHER_KINDS).filter(([name]) => !HALF_KNOWN.includes(name))) {
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

test('a long WAV file has its length in ds64, and what follows the samples is none', async () => {
  const wav = toneWav({ seconds: 0.1 });
  const { samples } = await read(wav, wav.length);
  const format = wav.subarray(12, 36);
  const chunk = (name: string, bytes: Buffer, length = bytes.length) => {
    const head = Buffer.alloc(8);
    head.write(name, 'latin1');
    head.writeUInt32LE(length, 4);
    return Buffer.concat([head, bytes]);
  };
  const pcm = wav.subarray(44);
  const ds64 = (length: bigint) => {
    const bytes = Buffer.alloc(28);
    bytes.writeBigUInt64LE(length, 8);
    return chunk('ds64', bytes);
  };
  const behind = ['axml', 'chna'].map((name) => chunk(name, Buffer.alloc(1000, 0x55)));
  const tail = (length: bigint) => (length === BigInt(pcm.length) ? behind : []);
  for (const mark of ['RF64', 'BW64']) {
    // The last two state no length.
    for (const length of [BigInt(pcm.length), 0n, 0xffff_ffff_ffff_ffffn]) {
      const head = Buffer.from(`${mark}\xff\xff\xff\xffWAVE`, 'latin1');
      const data = chunk('data', pcm, 0xffff_ffff);
      const file = Buffer.concat([head, ds64(length), format, data, ...tail(length)]);
      for (const size of [1, 13, file.length]) assert.deepEqual((await read(file, size)).samples, samples);
      assert.equal(readWav(file).frames, samples.length);
    }
  }
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
    [sampleFile(['-c:a', 'libopus', '-ac', '6', '-f', 'ogg'], { channels: 6 }), /has 6 channels; 1 or 2/],
  ] as const) {
    await assert.rejects(read(file, 4096), { code: 'AUDIO_INVALID', message });
  }
});

const SECOND = 48_000;

/** Writes the checksum of an Ogg page (RFC 3533, section 6). */
function withChecksum(page: Buffer): Buffer {
  page.writeUInt32LE(0, 22);
  let sum = 0;
  for (const byte of page) {
    sum = (sum ^ (byte << 24)) >>> 0;
    for (let bit = 0; bit < 8; bit++) sum = ((sum << 1) ^ (sum >= 0x8000_0000 ? 0x04c1_1db7 : 0)) >>> 0;
  }
  page.writeUInt32LE(sum, 22);
  return page;
}

/** The pages of an Ogg file. */
function pagesOf(file: Buffer): Buffer[] {
  return new OggPageReader().write(file).map(({ bytes }) => Buffer.from(bytes));
}

test('a cut Ogg file has the length of the sound that is there', async () => {
  const whole = sampleFile(KINDS.opus, { seconds: 4, rate: SECOND });
  const pages = pagesOf(whole);
  assert.equal((await read(whole, whole.length)).samples.length, 4 * SECOND);
  const preSkip = 312;
  const last = pages.at(-2) ?? assert.fail();
  const kept = Number(last.readBigInt64LE(6)) - preSkip;
  const lastBytes = pages.at(-1)?.length ?? 0;
  for (const missing of [1, 100, lastBytes - 30, lastBytes - 1, lastBytes]) {
    const { samples } = await read(whole.subarray(0, whole.length - missing), 4097);
    assert.equal(samples.length, kept, String(missing));
  }
});

test('an Ogg file whose beginning is cut off has the rest of its sound', async () => {
  const pages = pagesOf(sampleFile(KINDS.opus, { seconds: 4, rate: SECOND }));
  const [head = assert.fail(), tags = assert.fail(), first = assert.fail(), ...rest] = pages;
  const { samples } = await read(Buffer.concat([head, tags, ...rest]), 999);
  assert.equal(samples.length, 4 * SECOND - Number(first.readBigInt64LE(6)));
});

test('Ogg files behind each other are one sound, also if one of them is cut or has other channels', async () => {
  const stereo = sampleFile(KINDS.opus, { seconds: 1, rate: SECOND });
  const mono = sampleFile(KINDS.opus, { seconds: 0.5, rate: SECOND, channels: 1 });
  const joined = await read(Buffer.concat([stereo, mono, stereo]), 4097);
  assert.equal(joined.samples.length, 2.5 * SECOND);
  const cut = Buffer.concat(pagesOf(stereo).slice(0, -1));
  const { samples: part } = await read(cut, cut.length);
  const { samples } = await read(Buffer.concat([cut, mono]), 1000);
  assert.equal(samples.length, part.length + 0.5 * SECOND);
});

test('an Ogg stream that has ended, or been left, without sound is followed by the next one', async () => {
  const sound = sampleFile(KINDS.opus, { seconds: 1, rate: SECOND });
  const [head = assert.fail(), tags = assert.fail()] = pagesOf(sound);
  const ended = (page: Buffer) => {
    const last = Buffer.from(page);
    last[5] = (last[5] ?? 0) | 4;
    return withChecksum(last);
  };
  for (const before of [[head, ended(tags)], [head, tags], [ended(head)]]) {
    for (const size of [100, 100_000]) {
      const { samples } = await read(Buffer.concat([...before, ...before, sound]), size);
      assert.equal(samples.length, SECOND);
    }
  }
});

test('of Ogg streams beside each other one is read, and bytes between pages are skipped', async () => {
  const [a, b] = [1, 2].map((channels) =>
    pagesOf(sampleFile(KINDS.opus, { seconds: 1, rate: SECOND, channels })),
  );
  const [headA = assert.fail(), ...restA] = a ?? [];
  const [headB = assert.fail(), ...restB] = (b ?? []).map((page) => {
    page.writeUInt32LE(0x1234_5678, 14);
    return page;
  });
  const junk = Buffer.from('OggOg');
  const mixed = Buffer.concat([headA, headB, ...restA.flatMap((page, n) => [page, junk, restB[n] ?? junk])]);
  assert.equal((await read(mixed, 4097)).samples.length, SECOND);
});

/** The frames of an MP3 file in free format: each longer by `more` bytes, and without a bit rate. */
function freeFormat(mp3: Buffer, frameBytes: number, more: number): Buffer {
  const frames: Buffer[] = [];
  for (let at = 0; at + 4 <= mp3.length;) {
    const end = at + frameBytes + (((mp3[at + 2] ?? 0) >> 1) & 1);
    const frame = Buffer.concat([mp3.subarray(at, end), Buffer.alloc(more)]);
    frame[2] = (frame[2] ?? 0) & 0x0f;
    frames.push(frame);
    at = end;
  }
  return Buffer.concat(frames);
}

for (const [what, rate, channels, frameBytes] of [
  ['mono at 48 kHz', 48_000, 1, 384],
  ['stereo at 44.1 kHz, with padding', 44_100, 2, 417],
  ['mono of MPEG-2', 24_000, 1, 384],
  ['stereo of MPEG-2', 22_050, 2, 417],
] as const) {
  test(`MP3 of free format is decoded: ${what}`, async () => {
    const plain = ['-c:a', 'libmp3lame', '-b:a', '128k', '-write_xing', '0', '-id3v2_version', '0'];
    const encoded = (...more: string[]) => sampleFile([...plain, ...more, '-f', 'mp3'], { rate, channels });
    const withReservoir = encoded();
    const { samples: wanted } = await read(withReservoir, 4096);
    const free = freeFormat(withReservoir, frameBytes, 0);
    for (const size of [101, 4096]) assert.deepEqual((await read(free, size)).samples, wanted);
    // Longer frames, of a bit rate that has no number; without a reservoir nothing refers over the filling.
    const without = encoded('-reservoir', '0');
    const longer = await read(freeFormat(without, frameBytes, 37), 4096);
    assert.deepEqual(longer.samples, (await read(without, 4096)).samples);
  });
}
