import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CachedSpeech } from '../../src/speaking/cached-speech.js';
import { FrameCache } from '../../src/speaking/frame-cache.js';
import type { EncoderSettings } from '../../src/encoding/encoder-messages.js';
import { OPUS_SPEECH } from '../../src/codecs/opus.js';
import { AudioCache } from '../../src/speaking/audio-cache.js';
import { Engines, type SpeechRouting } from '../../src/engines/routing.js';
import { InstantEngine } from '../fakes/engines.js';
import { FakeStream } from '../api/fake-speech.js';
import type { SpeechRequest } from '../../src/speaking/speech-request.js';
import { formatNamed } from '../../src/speaking/audio-format.js';

const never = new AbortController().signal;
const PLAIN: SpeechRequest = { text: 'Hello.', format: formatNamed('wav'), sampleRate: 24_000 };

const SETTINGS: EncoderSettings = { opus: OPUS_SPEECH, trim: { thresholdDb: -50 } };

function openSpeech(
  maxEntries = 8,
  settings = SETTINGS,
  cache = new AudioCache({ maxEntries, maxBytes: 10_000 }),
  frames = new FrameCache(0, settings),
  routing: SpeechRouting = new InstantEngine(),
) {
  const requests: SpeechRequest[] = [];
  const speech = {
    openPart: () => Promise.reject(new Error('not asked')),
    openStream: (request: SpeechRequest) => {
      requests.push(request);
      const stream = new FakeStream('audio/wav');
      stream.push(request.text);
      stream.end();
      return Promise.resolve(stream);
    },
    voices: () => Promise.resolve([]),
  };
  return {
    requests,
    cache,
    speech: new CachedSpeech(speech, { cache, routing, settings, frames }),
  };
}

/** True if the rendering was stored; otherwise it is rendered now. */
async function ask(speech: CachedSpeech, request: SpeechRequest): Promise<string> {
  if (speech.find(request) !== undefined) return 'found';
  const stream = await speech.openStream(request, never);
  for await (const chunk of stream) void chunk;
  return stream.cache ?? 'not asked';
}

test('the same words are rendered once for all clients', async () => {
  const { speech, requests } = openSpeech();
  assert.equal(await ask(speech, { ...PLAIN, client: 'a' }), 'miss');
  assert.equal(await ask(speech, { ...PLAIN, client: 'b' }), 'found');
  assert.equal(await ask(speech, { ...PLAIN, kind: 'interactive', dueAtMs: 7 }), 'found');
  assert.equal(requests.length, 1);
  assert.equal(speech.clear(), 1);
  assert.equal(await ask(speech, PLAIN), 'miss');
});

test('everything that changes the bytes is another rendering', async () => {
  const { speech } = openSpeech(32);
  const others: SpeechRequest[] = [
    PLAIN,
    { ...PLAIN, text: 'Hello!' },
    { ...PLAIN, format: formatNamed('pcm') },
    { ...PLAIN, sampleRate: 8000 },
    { ...PLAIN, voice: 'instant' }, // one that is stated is kept for every sentence
    { ...PLAIN, language: 'en' },
    { ...PLAIN, leadMs: 160 },
    { ...PLAIN, speed: 2 } as SpeechRequest, // a field that the service learns one day
  ];
  for (const request of others) assert.equal(await ask(speech, request), 'miss', JSON.stringify(request));
  for (const request of others) assert.equal(await ask(speech, request), 'found', JSON.stringify(request));
});

test('servers whose encoders differ have other renderings of the same words', async () => {
  const cache = new AudioCache({ maxEntries: 8, maxBytes: 10_000 });
  const others: EncoderSettings[] = [
    SETTINGS,
    { ...SETTINGS, trim: { thresholdDb: -40 } },
    { ...SETTINGS, opus: { ...OPUS_SPEECH, bitsPerSecond: 24_000 } },
    { ...SETTINGS, opus: { ...OPUS_SPEECH, complexity: 9 } },
    { ...SETTINGS, opus: { ...OPUS_SPEECH, application: 'voip' } },
  ];
  for (const settings of others) {
    const { speech } = openSpeech(8, settings, cache);
    assert.equal(await ask(speech, PLAIN), 'miss');
    assert.equal(await ask(speech, PLAIN), 'found');
  }
});

test('servers with other checkpoints of one engine have other renderings of the same words', async () => {
  const cache = new AudioCache({ maxEntries: 8, maxBytes: 10_000 });
  const serverWith = (identity: string) => {
    const engine = Object.assign(new InstantEngine(), { identity });
    return openSpeech(8, SETTINGS, cache, new FrameCache(0, SETTINGS), engine).speech;
  };
  assert.equal(await ask(serverWith('a'), PLAIN), 'miss');
  assert.equal(await ask(serverWith('b'), PLAIN), 'miss');
  assert.equal(await ask(serverWith('a'), PLAIN), 'found');
});

test('clearing forgets the sentences of calls too, and counts them', () => {
  const frames = new FrameCache(10_000, SETTINGS);
  const packed = new SharedArrayBuffer(8);
  const kept = { packed, frames: 1, samples: 1, samplesIn: 1, trimmedStartMs: 0 };
  frames.keep('a', { frames: kept, soundMs: 1, words: [], pauses: [] });
  const { speech } = openSpeech(8, SETTINGS, undefined, frames);
  assert.equal(speech.clear(), 1);
  assert.equal(frames.figures.entries, 0);
});

test('a request may opt out, and so may the server', async () => {
  const { speech, requests, cache } = openSpeech();
  for (let n = 0; n < 2; n++) assert.equal(await ask(speech, { ...PLAIN, cache: false }), 'not asked');
  assert.deepEqual([requests.length, cache.figures.misses], [2, 0]);
  assert.equal('cache' in (requests[0] ?? {}), false);
  const off = openSpeech(0);
  for (let n = 0; n < 2; n++) assert.equal(await ask(off.speech, PLAIN), 'not asked');
  assert.equal(off.requests.length, 2);
});

test('a voice that is not there is refused before anything is looked up', () => {
  const { speech } = openSpeech();
  assert.throws(() => speech.find({ ...PLAIN, voice: 'nobody' }), { code: 'VOICE_UNKNOWN' });
});

test('the abilities of an engine are reported for a voice and language, and an unknown voice is refused', () => {
  const { speech } = openSpeech();
  const { engine, clone, sampling } = speech.abilities({ language: 'en' });
  assert.deepEqual({ engine, clone, sampling }, { engine: 'instant', clone: false, sampling: false });
  assert.throws(() => speech.abilities({ voice: 'nobody' }), { code: 'VOICE_UNKNOWN' });
});

test('a sample of a voice goes to the part that makes voices of them, and is refused without one', async () => {
  const { speech } = openSpeech();
  const sample = { source: 'data:audio/wav;base64,AA==' };
  await assert.rejects(speech.reference(sample, never), { code: 'CAPABILITY_MISSING', field: 'ref_audio' });
  const made: unknown[] = [];
  const samples = {
    reference: (given: unknown) => {
      made.push(given);
      return Promise.resolve({ kind: 'prompt', hash: 'a', prompt: 'b' } as const);
    },
  };
  const inner = {
    openStream: () => Promise.reject(new Error('not asked')),
    openPart: () => Promise.reject(new Error('not asked')),
    voices: () => Promise.resolve([]),
  };
  const cache = new AudioCache({ maxEntries: 0, maxBytes: 0 });
  const able = new CachedSpeech(inner, { cache, routing: new InstantEngine(), settings: SETTINGS, samples });
  assert.deepEqual(await able.reference(sample, never), { kind: 'prompt', hash: 'a', prompt: 'b' });
  assert.deepEqual(made, [sample]);
});

test('a stand-in is the voice of the first sentence, where no language is stated', async () => {
  class NamedEngine extends InstantEngine {
    override readonly name: string;

    constructor(name: string, languages: readonly string[]) {
      super({ languages });
      this.name = name;
    }

    override async voices() {
      return (await super.voices()).map((voice) => ({ ...voice, engine: this.name, name: this.name }));
    }
  }
  const routing = await Engines.of([new NamedEngine('slt', ['en']), new NamedEngine('french', ['fr'])]);
  const cache = new AudioCache({ maxEntries: 8, maxBytes: 10_000 });
  const { speech } = openSpeech(8, SETTINGS, cache, new FrameCache(0, SETTINGS), routing);
  const english = 'Good morning to all of you.';
  const french = 'Bonjour, je voudrais une table pour deux personnes.';
  const [slt, other] = [
    { voice: 'slt', language: 'en', standsIn: true },
    { voice: 'french', language: 'fr', standsIn: true },
  ];
  for (const voice of ['alloy', 'vivian']) {
    assert.deepEqual(speech.spokenBy({ voice }), slt);
    assert.deepEqual(speech.spokenBy({ voice, text: english }), slt);
    assert.deepEqual(speech.spokenBy({ voice, text: french }), other);
    assert.deepEqual(speech.spokenBy({ voice, text: `${french} ${english}`, language: 'en' }), slt);
    assert.deepEqual(speech.spokenBy({ voice, text: `${english} ${french}` }), slt);
    assert.deepEqual(speech.spokenBy({ voice, text: `<speak>${french}</speak>`, markup: true }), slt);
    assert.deepEqual(speech.spokenBy({ voice, text: '…' }), slt);
  }
  assert.deepEqual(speech.spokenBy({ voice: 'slt', text: english }), { voice: 'slt', language: 'en' });
});
