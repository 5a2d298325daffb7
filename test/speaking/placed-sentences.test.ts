// What a stream tells of its sentences while it is being made, through the
// whole line: service, cache, encoder worker.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { CachedSpeech } from '../../src/speaking/cached-speech.js';
import { SpeechService } from '../../src/speaking/speech-stream.js';
import { EncoderPool } from '../../src/encoding/encoder-pool.js';
import { AudioCache } from '../../src/speaking/audio-cache.js';
import { InstantEngine } from '../fakes/instant-engine.js';
import { until } from '../fakes/until.js';

const LIMITS = { maxTextLength: 4096, textIdleMs: 1000 };
const RATE = 8000;

let encoders: EncoderPool;

before(async () => {
  encoders = new EncoderPool({ workers: 1 });
  await encoders.ready();
});
after(() => encoders.close());

for (const maxEntries of [0, 8]) {
  const how = maxEntries === 0 ? 'without a cache' : 'through the cache';

  test(`a sentence is told with its words before the next one is made, ${how}`, async () => {
    const engine = new InstantEngine({ rate: RATE, msPerCharacter: 10, words: true });
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const synthesize = engine.synthesize.bind(engine);
    engine.synthesize = async (request, out, signal) => {
      if (request.text === 'Goodbye.') await held;
      return await synthesize(request, out, signal);
    };
    const cache = new AudioCache({ maxEntries, maxBytes: 1_000_000 });
    const speech = new CachedSpeech(new SpeechService(engine, encoders, LIMITS), {
      cache,
      routing: engine,
      settings: encoders.settings,
    });
    const asked = {
      text: 'Hello there. Goodbye.',
      language: 'en',
      container: 'pcm',
      sampleRate: RATE,
    } as const;
    const stream = await speech.openStream(asked, new AbortController().signal);
    const chunks = stream[Symbol.asyncIterator]();
    await chunks.next();
    const told = () => stream.placed?.() ?? [];
    await until(() => told().length > 0);
    const first = {
      text: 'Hello there.',
      startMs: 0,
      endMs: 120,
      words: [
        { word: 'Hello', textOffset: 0, startMs: 0 },
        { word: 'there.', textOffset: 6, startMs: 60 },
      ],
    };
    assert.deepEqual(told(), [first]);
    letGo();
    while ((await chunks.next()).done !== true);
    const outcome = await stream.outcome;
    assert.deepEqual(told(), outcome?.sentences);
    assert.equal(told().length, 2);
    assert.equal(told()[1]?.startMs, 280); // after 160 ms of pause
  });
}
