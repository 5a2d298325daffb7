import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../fakes/properties.js';
import { readSocketFormat } from '../../../src/api/elevenlabs/elevenlabs-request.js';
import {
  type Alignment,
  type AlignmentOptions,
  ChunkAlignment,
  openCutter,
  type SoundCutter,
  type SoundPiece,
} from '../../../src/api/elevenlabs/sound-messages.js';
import { OggPages, opusHead, opusTags } from '../../../src/codecs/ogg-opus.js';
import { NO_TIME, type SoundOutcome } from '../../../src/speaking/sound.js';
import { randomFrom } from '../mutations.js';

const FRESH: AlignmentOptions = { separated: false, leadMs: 0, msPerChar: 65 };

function outcome(
  text: string,
  startMs: number,
  endMs: number,
  words: readonly [number, number][] = [],
): SoundOutcome {
  const times = words.map(([textOffset, ms]) => ({ word: '', textOffset, startMs: ms }));
  return { durationMs: endMs, sentences: [{ text, startMs, endMs, words: times }], timing: NO_TIME };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** All pieces of a sound of `totalMs`, cut at the alignment's boundaries. */
function pieces(alignment: ChunkAlignment, totalMs: number, leastMs = 200) {
  const all: { ms: number; alignment: Alignment | null }[] = [];
  for (let ms = 0; ms < totalMs;) {
    const wanted = Math.floor(alignment.wantedMs(leastMs)) || 1;
    const length = Math.min(wanted, totalMs - ms);
    ms += length;
    all.push({ ms: length, alignment: alignment.take(length, ms >= totalMs) });
  }
  return all;
}

test('a piece has the words that begin in it, with even times, and the next one begins with a space', () => {
  const alignment = new ChunkAlignment('Hello there my friend', FRESH);
  assert.equal(alignment.wantedMs(200), 325);
  assert.deepEqual(alignment.take(325, false), {
    chars: Array.from('Hello'),
    charStartTimesMs: [0, 65, 130, 195, 260],
    charDurationsMs: [65, 65, 65, 65, 65],
  });
  assert.equal(alignment.wantedMs(200), 390);
  assert.deepEqual(alignment.take(390, false)?.chars.join(''), ' there');
});

test('the first piece of all need not wait for the end of its word', () => {
  const alignment = new ChunkAlignment('Congratulations to you', { ...FRESH, firstMs: 100 });
  assert.equal(alignment.wantedMs(100), 130);
  assert.equal(alignment.take(130, false)?.chars.join(''), 'Co');
  assert.equal(alignment.take(500, false)?.chars.join(''), 'ngratulations');
  const short = new ChunkAlignment('I am', { ...FRESH, firstMs: 100 });
  assert.equal(short.wantedMs(50), 65);
});

test('a word that is longer than a piece stays whole in the piece in which it begins', () => {
  const alignment = new ChunkAlignment('Congratulations to you', FRESH);
  assert.equal(alignment.wantedMs(200), 500);
  const first = alignment.take(500, false);
  assert.equal(first?.chars.join(''), 'Congratulations');
  assert.deepEqual(first?.charStartTimesMs.slice(6, 9), [390, 455, 500]);
  assert.equal(sum(first?.charDurationsMs ?? []), 500);
  assert.equal(alignment.take(400, false), null);
  assert.deepEqual(alignment.take(530, true)?.charStartTimesMs, [0, 140, 205, 270, 335, 400, 465]);
});

test('a pause before the text is a space as long as it', () => {
  const alignment = new ChunkAlignment('Hi you', { separated: true, leadMs: 160, msPerChar: 65 });
  assert.deepEqual(alignment.take(290, false), {
    chars: [' ', 'H', 'i'],
    charStartTimesMs: [0, 160, 225],
    charDurationsMs: [160, 65, 65],
  });
});

test('the last piece has the rest, however much or little sound there is', () => {
  assert.deepEqual(new ChunkAlignment('Hello there', FRESH).take(100, true), {
    chars: Array.from('Hello there'),
    charStartTimesMs: [0, 65, 100, 100, 100, 100, 100, 100, 100, 100, 100],
    charDurationsMs: [65, 35, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  });
  const slow = new ChunkAlignment('Hi', FRESH);
  assert.equal(slow.take(500, false)?.chars.join(''), 'H');
  assert.equal(slow.take(500, false), null);
  assert.equal(slow.take(500, true)?.chars.join(''), 'i');
});

test('times that the engine reported are used from the beginning', () => {
  const alignment = new ChunkAlignment('One two six', { separated: true, leadMs: 160, msPerChar: 65 });
  alignment.learn(
    outcome('One two six', 100, 1000, [
      [0, 100],
      [4, 400],
      [8, 800],
    ]),
  );
  assert.equal(alignment.wantedMs(200), 325);
  assert.deepEqual(alignment.take(325, false), {
    chars: [' ', 'O', 'n', 'e'],
    charStartTimesMs: [0, 100, 175, 250],
    charDurationsMs: [100, 75, 75, 75],
  });
  assert.deepEqual(alignment.take(675, true), {
    chars: Array.from(' two six'),
    charStartTimesMs: [0, 75, 175, 275, 375, 475, 542, 608],
    charDurationsMs: [75, 100, 100, 100, 100, 67, 66, 67],
  });
});

test('what is learnt in the middle holds for what was not given out yet', () => {
  const alignment = new ChunkAlignment('One two six ten', FRESH);
  assert.equal(alignment.take(195, false)?.chars.join(''), 'One');
  alignment.learn(outcome('One two six ten', 0, 1350));
  assert.equal(alignment.wantedMs(200), 435); // " six" begins at 630 of 1350
  const last = alignment.take(1155, true);
  assert.deepEqual(
    last?.charStartTimesMs.filter((_, index) => index % 4 === 0),
    [0, 435, 795],
  );
});

test('writing without spaces is given out character by character', () => {
  const alignment = new ChunkAlignment('今日は良い天気です。', { ...FRESH, msPerChar: 200 });
  assert.deepEqual(
    pieces(alignment, 2000).map((piece) => piece.alignment?.chars.join('')),
    ['今', '日', 'は', '良', 'い', '天', '気', 'で', 'す', '。'],
  );
});

test('every character is given out once and in order, and the times of a piece fill it', () => {
  const anyText = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 120 }),
    fc.lorem({ maxCount: 20 }),
    fc.stringMatching(/^[\u4e00-\u4e20 a。]{1,40}$/),
  );
  const anyOptions = fc.record({
    separated: fc.boolean(),
    leadMs: fc.constantFrom(0, 160),
    msPerChar: fc.double({ min: 5, max: 300, noNaN: true }),
    firstMs: fc.constantFrom(0, 100, 500),
  });
  const anyWords = fc.array(fc.tuple(fc.nat(150), fc.double({ min: 0, max: 9000, noNaN: true })), {
    maxLength: 9,
  });
  fc.assert(
    fc.property(
      anyText,
      anyOptions,
      fc.array(fc.double({ min: 0.5, max: 700, noNaN: true }), { minLength: 1, maxLength: 40 }),
      fc.option(fc.tuple(fc.nat(39), anyWords)),
      (text, options, lengths, received) => {
        const alignment = new ChunkAlignment(text, options);
        const chars: string[] = [];
        let totalMs = 0;
        for (const [index, ms] of lengths.entries()) {
          if (received?.[0] === index)
            alignment.learn(outcome(text, options.leadMs, sum(lengths), received[1]));
          assert.ok(alignment.wantedMs(200) > 0);
          const before = Math.round(totalMs);
          totalMs += ms;
          const piece = alignment.take(ms, index === lengths.length - 1);
          if (piece === null) continue;
          chars.push(...piece.chars);
          assert.equal(piece.charStartTimesMs.length, piece.chars.length);
          assert.equal(piece.charStartTimesMs[0], 0);
          assert.equal(sum(piece.charDurationsMs), Math.round(totalMs) - before);
          assert.ok(piece.charDurationsMs.every((duration) => Number.isInteger(duration) && duration >= 0));
          piece.charStartTimesMs.reduce((at, start, nth) => {
            assert.equal(start, at);
            return at + (piece.charDurationsMs[nth] ?? 0);
          }, 0);
        }
        assert.deepEqual(chars, Array.from((options.separated ? ' ' : '') + text));
      },
    ),
    { numRuns: 500 },
  );
});

test('as pieces are cut, each between the first and the last has a space, and none is longer than half a second', () => {
  const text = 'Thank you for calling, your order has shipped this morning and will arrive on Tuesday.';
  const all = pieces(new ChunkAlignment(text, FRESH), text.length * 65);
  assert.ok(all.every(({ ms }) => ms <= 500));
  assert.ok(all.slice(1, -1).every(({ alignment }) => alignment?.chars[0] === ' '));
  assert.ok(all.slice(0, -1).every(({ ms }) => ms >= 200));
});

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
