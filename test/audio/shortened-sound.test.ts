// Sound that is shortened, by its silence and its periods.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSilence, ShortenedSound } from '../../src/audio/shortened-sound.js';

const RATE = 8000;
const PER_MS = RATE / 1000;
const PIECE = 20 * PER_MS;

/** A voice: periods of 5 ms, so much of it. */
function voice(ms: number, level = 8000): Int16Array {
  return Int16Array.from(
    { length: ms * PER_MS },
    (_, n) => level * Math.sin((2 * Math.PI * n) / (5 * PER_MS)),
  );
}

function silence(ms: number): Int16Array {
  return new Int16Array(ms * PER_MS);
}

function noise(ms: number): Int16Array {
  let state = 1;
  return Int16Array.from({ length: ms * PER_MS }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return (state % 16_000) - 8000;
  });
}

function joined(...parts: readonly Int16Array[]): Int16Array {
  return Int16Array.from(parts.flatMap((part) => [...part]));
}

/** Gives the sound piece by piece; `mostMs` is what is still to be left out. */
function shortened(sound: Int16Array, mostMs: number, pieceLength = PIECE): Int16Array {
  const shortening = new ShortenedSound(RATE);
  const kept: Int16Array[] = [];
  let leftMs = mostMs;
  for (let at = 0; at < sound.length; at += pieceLength) {
    const piece = sound.subarray(at, at + pieceLength);
    const out = shortening.take(piece, leftMs);
    leftMs -= (piece.length - out.length) / PER_MS;
    kept.push(out);
  }
  kept.push(shortening.take(silence(20), 0));
  return joined(...kept).subarray(0, -PIECE);
}

/** The samples that are heard. */
function loud(sound: Int16Array): number[] {
  return [...sound].filter((sample) => Math.abs(sample) >= 104);
}

test('sound that need not be shortened is the same, sample by sample', () => {
  const sound = joined(voice(200), silence(500), voice(200));
  for (const pieceLength of [80, 160, 1000, sound.length])
    assert.deepEqual(shortened(sound, 0, pieceLength), sound);
});

for (const pieceMs of [10, 20, 40, 500]) {
  test(`silence between words is left out but for its ends, in pieces of ${pieceMs} ms`, () => {
    const sound = joined(voice(200), silence(500), voice(200));
    const kept = shortened(sound, 1000, pieceMs * PER_MS);
    assert.deepEqual(kept, joined(voice(200), silence(140), voice(200)));
  });
}

test('no more is left out than the sound is late', () => {
  const sound = joined(voice(200), silence(2000), voice(200));
  const kept = shortened(sound, 300);
  // The 40 ms that are kept back come after all.
  assert.deepEqual(kept, joined(voice(200), silence(1740), voice(200)));
});

test('speech between silences is kept to the sample', () => {
  const words = Array.from({ length: 6 }, (_, n) => joined(noise(120 + 20 * n), silence(300)));
  const sound = joined(...words);
  const kept = shortened(sound, 500);
  assert.equal(sound.length - kept.length, 460 * PER_MS); // 40 ms are kept back, and come after all
  assert.deepEqual(loud(kept), loud(sound));
});

test('a sound that is soft is no silence', () => {
  const sound = joined(voice(100), voice(600, 150), voice(100));
  assert.deepEqual(shortened(sound, 500), sound);
});

test('speech without a silence loses periods after a second, a quarter of it at most, and none of its loudness', () => {
  const sound = voice(4000);
  const kept = shortened(sound, 500);
  assert.deepEqual(kept.subarray(0, RATE), sound.subarray(0, RATE));
  const cutMs = (sound.length - kept.length) / PER_MS;
  assert.ok(cutMs >= 500 && cutMs < 520, `${cutMs} ms`);
  // Each sample is where a sine of this period has it: there is no seam.
  const step = Math.max(...kept.map((sample, n) => Math.abs(sample - (kept[n - 1] ?? 0))));
  assert.ok(step < 1300, String(step));
  assert.ok(shortened(voice(1400), 500).length >= 1300 * PER_MS);
});

test('noise without a silence is shortened, too, and slower', () => {
  const kept = shortened(noise(30_000), 300);
  const cutMs = (30_000 * PER_MS - kept.length) / PER_MS;
  assert.ok(cutMs >= 300 && cutMs < 320, `${cutMs} ms`);
});

test('silence that was kept back is forgotten when the sound is dropped', () => {
  const shortening = new ShortenedSound(RATE);
  shortening.take(silence(400), 1000);
  shortening.drop();
  assert.deepEqual(shortening.take(voice(20), 0), voice(20));
});

test('silence is what nobody hears: below -50 dBFS', () => {
  assert.ok(isSilence(Int16Array.of(0, 103, -103)));
  assert.ok(!isSilence(Int16Array.of(0, 104)));
  assert.ok(!isSilence(Int16Array.of(-104, 0)));
});
