import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FrameCache, type KeptSentence, type SentenceManner } from '../../src/speaking/frame-cache.js';
import { OPUS, PCMU } from '../../src/codecs/codec.js';
import type { LineSettings } from '../../src/encoding/line-messages.js';
import { OPUS_SPEECH } from '../../src/codecs/opus-encoder.js';
import { InstantEngine } from '../fakes/instant-engine.js';

const SETTINGS: LineSettings = { opus: OPUS_SPEECH, trim: { thresholdDb: -50 } };
const ENTRY_BYTES = 1024; // what an entry counts beside its payloads

const voice = { engine: new InstantEngine(), voice: 'instant', language: 'en' };
const PLAIN: SentenceManner = { text: 'Hello.', voice, options: undefined, trimSilence: true };

/** A sentence of one payload. */
function sentence(bytes: number, soundMs = 20): KeptSentence {
  const packed = new SharedArrayBuffer(bytes);
  return {
    frames: { packed, frames: 1, samples: 160, samplesIn: 160, trimmedStartMs: 0 },
    soundMs,
    words: [],
  };
}

test('what is kept is found until the room is needed; the least recently used leave first', () => {
  const cache = new FrameCache(3 * (ENTRY_BYTES + 100), SETTINGS);
  for (const key of ['a', 'b', 'c']) cache.keep(key, sentence(100));
  assert.ok(cache.find('a') !== undefined);
  cache.keep('d', sentence(100));
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((key) => cache.find(key) !== undefined),
    [true, false, true, true],
  );
  assert.deepEqual(cache.figures, { entries: 3, bytes: 3 * (ENTRY_BYTES + 100), hits: 4, misses: 1 });
  cache.keep('wide', sentence(2 * (ENTRY_BYTES + 100)));
  assert.deepEqual(
    ['c', 'd', 'wide'].map((key) => cache.find(key) !== undefined),
    [false, false, true],
  );
  cache.keep('too wide', sentence(4 * (ENTRY_BYTES + 100)));
  assert.equal(cache.find('too wide'), undefined);
  assert.ok(cache.find('wide') !== undefined, 'nothing leaves for what does not fit');
  assert.equal(cache.clear(), 1);
  assert.deepEqual([cache.figures.entries, cache.figures.bytes], [0, 0]);
});

test('the words of a sentence count too', () => {
  const cache = new FrameCache(10_000, SETTINGS);
  const words = [{ word: 'Hello', textOffset: 0, startMs: 0 }];
  cache.keep('plain', sentence(100));
  const { bytes } = cache.figures;
  cache.keep('words', { ...sentence(100), words });
  assert.ok(cache.figures.bytes > 2 * bytes);
});

test('the first rendering of a sentence stays, and one without sound is not kept', () => {
  const cache = new FrameCache(10_000, SETTINGS);
  cache.keep('a', sentence(100, 1));
  cache.keep('a', sentence(100, 2));
  assert.equal(cache.find('a')?.soundMs, 1);
  const { frames } = sentence(0);
  cache.keep('silent', { ...sentence(0), frames: { ...frames, frames: 0 } });
  assert.equal(cache.find('silent'), undefined);
});

test('everything that changes the payloads is another sentence', () => {
  const cache = new FrameCache(1000, SETTINGS);
  const keyOf = (manner: Partial<SentenceManner>, codec = PCMU, frameMs = 20, settings = SETTINGS) =>
    new FrameCache(1000, settings).of(codec, frameMs)?.keyOf({ ...PLAIN, ...manner });
  const reference = { kind: 'prompt', hash: 'one', prompt: 'A calm voice.' } as const;
  const keys = [
    keyOf({}),
    keyOf({ text: 'Hello!' }),
    keyOf({
      spoken: { text: 'Hello to all', replacements: [], sourceSpan: (start, end) => ({ start, end }) },
    }),
    keyOf({ trimSilence: false }),
    keyOf({ voice: { ...voice, voice: 'other' } }),
    keyOf({ voice: { ...voice, language: 'de' } }),
    keyOf({ voice: { ...voice, engine: Object.assign(new InstantEngine(), { name: 'other' }) } }),
    keyOf({ voice: { ...voice, reference } }),
    keyOf({ voice: { ...voice, reference: { ...reference, hash: 'two' } } }),
    keyOf({ options: { seed: 1 } }),
    keyOf({ options: { topK: 1 } }),
    keyOf({}, OPUS),
    keyOf({}, PCMU, 40),
    ...Object.entries({ application: 'voip', complexity: 9, bitsPerSecond: 24_000, inBandFec: true }).map(
      ([name, value]) => keyOf({}, PCMU, 20, { ...SETTINGS, opus: { ...OPUS_SPEECH, [name]: value } }),
    ),
    keyOf({}, PCMU, 20, { ...SETTINGS, trim: { thresholdDb: -40 } }),
  ];
  assert.equal(new Set(keys).size, keys.length);
  assert.ok(!keys.includes(undefined));
  assert.equal(
    cache.of(PCMU, 20)?.keyOf({ ...PLAIN, options: { seed: 1, topK: 2 } }),
    cache.of(PCMU, 20)?.keyOf({ ...PLAIN, options: { topK: 2, seed: 1 } }),
    'the order in which options were written says nothing',
  );
});

test('a cache without room serves no line', () => {
  assert.equal(new FrameCache(0, SETTINGS).of(PCMU, 20), undefined);
});
