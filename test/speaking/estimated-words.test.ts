import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../fakes/properties.js';
import { estimatedTimes, type SentenceSound, type SoundPause } from '../../src/speaking/estimated-words.js';
import { SpeechSegment } from '../../src/speaking/speech-segment.js';

const spansOf = (text: string) =>
  [...text.matchAll(/[\p{L}\p{N}']+/gu)].map(({ 0: word, index }) => ({
    start: index,
    end: index + word.length,
  }));

const pause = (startMs: number, endMs: number): SoundPause => ({ startMs, endMs });

/** Each word with its times in whole milliseconds. */
function timesOf(text: string, sound: Partial<SentenceSound>): string[] {
  const spans = spansOf(text);
  const times = estimatedTimes(text, spans, { lengthMs: 1000, isWhole: true, pauses: [], ...sound });
  assert.equal(times.length, spans.length);
  return spans.map(({ start, end }, index) => {
    const { startMs = NaN, endMs = NaN } = times[index] ?? {};
    return `${text.slice(start, end)} ${Math.round(startMs)}-${Math.round(endMs)}`;
  });
}

test('a word of more syllables is longer than one of as many letters', () => {
  assert.deepEqual(timesOf('Area true.', {}), ['Area 0-586', 'true 586-1000']);
});

test('characters of Chinese, digits and spelt letters count as syllables', () => {
  assert.deepEqual(timesOf('你好 TV 42.', { lengthMs: 1200 }), ['你好 0-400', 'TV 400-800', '42 800-1200']);
});

test('a pause is placed at the punctuation, and the words fill the sound on both sides', () => {
  const pauses = [pause(200, 600)];
  const times = ['Well 0-200', 'take 600-896', 'this 896-1104', 'home 1104-1400'];
  assert.deepEqual(timesOf('Well, take this home.', { lengthMs: 1400, pauses }), times);
});

test('of two commas the one that lies nearer has the pause', () => {
  const pauses = [pause(600, 800)];
  const times = timesOf('No, no, no.', { lengthMs: 1100, pauses });
  assert.deepEqual(times, ['No 0-300', 'no 300-600', 'no 800-1100']);
});

test('silence at the beginning and at the end belongs to no word', () => {
  const pauses = [pause(0, 100), pause(500, 1200)];
  assert.deepEqual(timesOf('No no.', { lengthMs: 1200, pauses }), ['No 100-300', 'no 300-500']);
});

test('a pause without punctuation lengthens the sound where it lies', () => {
  const pauses = [pause(450, 650)];
  const times = timesOf('No no no no.', { lengthMs: 1400, pauses });
  assert.deepEqual(times, ['No 0-300', 'no 300-800', 'no 800-1100', 'no 1100-1400']);
});

test('a comma far from every pause is spoken without one', () => {
  const times = timesOf('No, no no no.', { lengthMs: 1600, pauses: [pause(400, 500), pause(1250, 1600)] });
  assert.deepEqual(times, ['No 0-400', 'no 500-750', 'no 750-1000', 'no 1000-1250']);
  const far = timesOf('No no no no no no no no, no no.', { lengthMs: 1100, pauses: [pause(200, 300)] });
  assert.deepEqual(far.slice(7), ['no 800-900', 'no 900-1000', 'no 1000-1100']);
});

test('while the sound is not whole, pauses are expected at the punctuation that follows', () => {
  const text = 'No, no, no, no.';
  const whole = timesOf(text, { lengthMs: 1200 + 4 * 180, isWhole: false, pauses: [] });
  assert.deepEqual(whole, ['No 0-300', 'no 300-600', 'no 600-900', 'no 900-1200']);
  const heard = timesOf(text, { lengthMs: 1200 + 4 * 180, isWhole: false, pauses: [pause(300, 480)] });
  assert.deepEqual(heard.slice(0, 2), ['No 0-300', 'no 480-780']);
});

test('words are in order and within the sound, whatever the pauses', () => {
  const piece = fc.constantFrom('a', 'strengths', 'area', ', ', '. ', ' ', '42', '你好', '—', "it's");
  const cuts = fc.uniqueArray(fc.integer({ min: 0, max: 2000 }), { maxLength: 12 });
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), cuts, fc.boolean(), (pieces, places, isWhole) => {
      const text = pieces.join('');
      const edges = places.toSorted((a, b) => a - b);
      const pauses = edges.flatMap((at, n) => (n % 2 === 1 ? [pause(edges[n - 1] ?? 0, at)] : []));
      const times = estimatedTimes(text, spansOf(text), { lengthMs: 2000, isWhole, pauses });
      assert.equal(times.length, spansOf(text).length);
      let lastMs = 0;
      for (const { startMs, endMs } of times) {
        assert.ok(startMs >= lastMs - 1e-6 && endMs >= startMs - 1e-6 && endMs <= 2000 + 1e-6, text);
        lastMs = endMs;
      }
    }),
    { numRuns: 1000 },
  );
});

test('pauses of a segment that is spoken faster are shorter and earlier', () => {
  const segment = new SpeechSegment({ text: 'Well, yes.' }, undefined, 2);
  segment.paused(pause(200, 600));
  segment.paused(pause(900, 1000));
  assert.deepEqual(segment.pauses, [pause(100, 300), pause(450, 500)]);
  assert.deepEqual(segment.asMade.pauses, [pause(200, 600), pause(900, 1000)]);
});
