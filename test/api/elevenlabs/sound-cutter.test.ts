import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSocketFormat } from '../../../src/api/elevenlabs/elevenlabs-request.js';
import { openCutter, type SoundCutter, type SoundPiece } from '../../../src/api/elevenlabs/sound-messages.js';
import { OggPages, opusHead, opusTags } from '../../../src/codecs/ogg-opus.js';
import { randomFrom } from '../mutations.js';

const PRE_SKIP = 312;

function takeAll(cutter: SoundCutter, ms: number): SoundPiece[] {
  const pieces: SoundPiece[] = [];
  for (let piece = cutter.take(ms); piece !== undefined; piece = cutter.take(ms)) pieces.push(piece);
  return pieces;
}

function joined(pieces: readonly SoundPiece[]): Buffer {
  return Buffer.concat(pieces.map(({ bytes }) => bytes));
}

/** Pages of 100 ms, the last one of what is left. */
function oggOpus(totalMs: number): Buffer {
  const pages = new OggPages(7, 4096);
  const parts: Uint8Array[] = [];
  pages.add(opusHead(PRE_SKIP, 24_000));
  parts.push(pages.close(0, 'first').slice());
  pages.add(opusTags('test'));
  parts.push(pages.close(0, 'middle').slice());
  for (let ms = 100; ms < totalMs + 100; ms += 100) {
    for (let packet = 0; packet < 5; packet++) pages.add(new Uint8Array(300).fill(ms));
    const isLast = ms >= totalMs;
    const end = PRE_SKIP + 48 * Math.min(ms, totalMs);
    parts.push(pages.close(end, isLast ? 'last' : 'middle').slice());
  }
  return Buffer.concat(parts);
}

for (const [name, bytesPerMs, sampleBytes] of [
  ['pcm_8000', 16, 2],
  ['pcm_22050', 44.1, 2],
  ['pcm_44100', 88.2, 2],
  ['ulaw_8000', 8, 1],
  ['alaw_8000', 8, 1],
  ['mp3_44100_128', 12, 1],
  ['mp3_22050_32', 8, 1],
] as const) {
  test(`${name} is cut by bytes, between samples, and the pieces are as long as the sound`, () => {
    const cutter = openCutter(readSocketFormat(name));
    const sound = Buffer.alloc(Math.round((1003 * bytesPerMs) / sampleBytes) * sampleBytes, 7);
    const random = randomFrom(3);
    const pieces: SoundPiece[] = [];
    for (let at = 0; at < sound.length;) {
      const length = 1 + Math.floor(random() * 3000);
      cutter.push(sound.subarray(at, (at += length)));
      pieces.push(...takeAll(cutter, 200));
    }
    assert.ok(pieces.every(({ last }) => !last));
    cutter.end();
    pieces.push(...takeAll(cutter, 200));
    assert.deepEqual(joined(pieces), sound);
    assert.equal(pieces.length, 6);
    assert.ok(
      pieces
        .slice(0, 5)
        .every(({ ms, bytes }) => ms > 199.9 && ms <= 200 && bytes.length % sampleBytes === 0),
    );
    const totalMs = pieces.reduce((sum, { ms }) => sum + ms, 0);
    assert.ok(Math.abs(totalMs - sound.length / bytesPerMs) < 1e-6);
    assert.deepEqual(
      pieces.map(({ last }) => last),
      [false, false, false, false, false, true],
    );
  });
}

test('a sound that is exactly some pieces long ends with a whole one', () => {
  const cutter = openCutter(readSocketFormat('ulaw_8000'));
  cutter.push(new Uint8Array(1600));
  assert.deepEqual(takeAll(cutter, 100).length, 1); // the second may be the last
  cutter.end();
  const [last, none] = takeAll(cutter, 100);
  assert.deepEqual([last?.ms, last?.last, none], [100, true, undefined]);
});

test('no sound at all is one empty piece', () => {
  for (const name of ['pcm_24000', 'opus_48000_32']) {
    const cutter = openCutter(readSocketFormat(name));
    assert.equal(cutter.take(100), undefined);
    cutter.end();
    assert.deepEqual(
      takeAll(cutter, 100).map(({ bytes, ms, last }) => [bytes.length, ms, last]),
      [[0, 0, true]],
    );
  }
});

test('Opus is cut between pages of Ogg, with exact times and nothing lost', () => {
  const sound = oggOpus(1030);
  for (const step of [1, 100, sound.length]) {
    const cutter = openCutter(readSocketFormat('opus_48000_64'));
    const pieces: SoundPiece[] = [];
    for (let at = 0; at < sound.length; at += step) {
      cutter.push(sound.subarray(at, at + step));
      pieces.push(...takeAll(cutter, 250));
    }
    cutter.end();
    pieces.push(...takeAll(cutter, 250));
    assert.deepEqual(joined(pieces), sound);
    assert.deepEqual(
      pieces.map(({ ms }) => ms),
      [200, 200, 200, 200, 230],
    );
    assert.deepEqual(
      pieces.map(({ last }) => last),
      [false, false, false, false, true],
    );
  }
});

test('a page is given out even where less was wanted', () => {
  const cutter = openCutter(readSocketFormat('opus_48000_64'));
  cutter.push(oggOpus(300));
  cutter.end();
  assert.deepEqual(
    takeAll(cutter, 20).map(({ ms }) => ms),
    [100, 100, 100],
  );
});

test('what is no Ogg is a failure of the encoder', () => {
  const cutter = openCutter(readSocketFormat('opus_48000_64'));
  assert.throws(() => cutter.push(new Uint8Array(64)), { code: 'ENCODER_FAILED' });
});
