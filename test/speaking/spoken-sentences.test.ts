import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'node:test';
import { AudioCache } from '../../src/speaking/audio-cache.js';
import { CachedSpeech } from '../../src/speaking/cached-speech.js';
import { SpeechService } from '../../src/speaking/speech-stream.js';
import { SpokenSentences } from '../../src/speaking/spoken-sentences.js';
import { atOnce, sentencesOf } from '../../src/speaking/text-source.js';
import { ParleyError } from '../../src/errors.js';
import { EncoderPool } from '../../src/encoding/encoder-pool.js';
import type { VoiceRequest } from '../../src/engines/routing.js';
import { NO_TIME, type Sound } from '../../src/speaking/sound.js';
import { InstantEngine } from '../fakes/engines.js';
import { ManualTime } from '../fakes/manual-time.js';
import { TokenSource } from '../fakes/token-source.js';
import { until } from '../fakes/until.js';
import { FakeStream } from '../api/fake-speech.js';
import type { SpeechRequest, SpeechSettings } from '../../src/speaking/speech-request.js';
import { stated } from '../../src/stated.js';
import { formatNamed } from '../../src/speaking/audio-format.js';

const LIMITS = { maxTextLength: 400, textIdleMs: 1000 };
const SETTINGS: SpeechSettings = { format: formatNamed('pcm'), sampleRate: 24_000, client: 'key 0' };
const TEXT = 'One is here. Two is there. Three is far away.';
const SENTENCES = ['One is here.', 'Two is there.', 'Three is far away.'];

/** Speech that is opened when the test says so. */
class HeldSpeech {
  readonly requests: SpeechRequest[] = [];
  readonly streams: FakeStream[] = [];
  readonly found = new Map<string, Sound>();
  readonly failing = new Map<string, ParleyError>();
  gate: Promise<void> = Promise.resolve();
  outcome: FakeStream['outcome'] = new Promise(() => undefined);

  get texts(): string[] {
    return this.requests.map(({ text }) => text);
  }

  has({ text }: SpeechRequest): boolean {
    return this.found.has(text);
  }

  openPart(): Promise<never> {
    return Promise.reject(new Error('no sentence is a part of a run here'));
  }

  find({ text }: SpeechRequest): Sound | undefined {
    return this.found.get(text);
  }

  async openStream(request: SpeechRequest): Promise<FakeStream> {
    this.requests.push(request);
    await this.gate;
    const failure = this.failing.get(request.text);
    if (failure !== undefined) throw failure;
    const stream = new FakeStream('audio/pcm');
    stream.outcome = this.outcome;
    stream.push(request.text);
    this.streams.push(stream);
    return stream;
  }
}

function open() {
  const speech = new HeldSpeech();
  const time = new ManualTime(5000);
  const routing = new InstantEngine({ languages: ['en', 'fr'] });
  const speaker = new SpokenSentences({ speech, routing, limits: LIMITS, time });
  const controller = new AbortController();
  const speak = (text: string | AsyncIterable<string>, changes: Partial<SpeechSettings> = {}) =>
    speaker.speak(text, { ...SETTINGS, ...changes }, controller.signal);
  return { speech, time, speak, controller };
}

test('a sentence is opened as soon as the one before it is taken, and none further ahead', async () => {
  const { speech, speak } = open();
  const sentences = speak(TEXT);
  assert.deepEqual(speech.texts, []);
  const first = await sentences.next();
  await nextTurn();
  assert.deepEqual(speech.texts, SENTENCES.slice(0, 2));
  await nextTurn();
  assert.deepEqual(speech.texts, SENTENCES.slice(0, 2));
  const second = await sentences.next();
  await nextTurn();
  assert.deepEqual(speech.texts, SENTENCES);
  const third = await sentences.next();
  assert.equal((await sentences.next()).done, true);
  assert.deepEqual(
    [first, second, third].map(({ value }) => [value?.index, value?.text]),
    SENTENCES.map((text, index) => [index, text]),
  );
});

test('every sentence but the first begins with the pause and is due when those before it were heard', async () => {
  const { speech, speak, time } = open();
  const sentences = speak(TEXT, { speed: 2, voice: 'instant', cache: false });
  await sentences.next();
  await nextTurn();
  const { text: _text, ...asked } = speech.requests[0] ?? { text: '' };
  assert.deepEqual(stated(asked), {
    ...SETTINGS,
    speed: 2,
    voice: 'instant',
    cache: false,
    language: 'en',
    kind: 'interactive',
  });
  // Not known yet: 12 characters at 50 ms each, twice as fast.
  const guess = 5000 + (12 * 50) / 2;
  assert.deepEqual([speech.requests[1]?.leadMs, speech.requests[1]?.dueAtMs], [160, guess]);
  time.advance(100);
  await sentences.next();
  await nextTurn();
  assert.equal(speech.requests[2]?.dueAtMs, guess + (13 * 50) / 2);
});

test('what a sentence really lasted counts once it is known', async () => {
  const { speech, speak } = open();
  speech.outcome = Promise.resolve({ durationMs: 700, sentences: [], timing: NO_TIME });
  const sentences = speak(TEXT);
  await sentences.next();
  await sentences.next();
  await nextTurn();
  assert.equal(speech.requests[2]?.dueAtMs, 5000 + 2 * 700);
});

test('a listener who had to wait hears the next sentence from when it comes', async () => {
  const { speech, speak, time } = open();
  const tokens = new TokenSource();
  const sentences = speak(tokens);
  tokens.push('One is here. And');
  await sentences.next();
  time.advance(900); // longer than the sentence is guessed to be
  tokens.push(' so on. Then');
  await sentences.next();
  time.advance(500);
  tokens.push(' it ended.');
  tokens.end();
  await sentences.next();
  assert.deepEqual(
    speech.requests.map(({ dueAtMs }) => dueAtMs),
    [undefined, 5600, 5900 + 50 * 'And so on.'.length],
  );
});

test('each sentence is asked for in its own language, unless one is stated', async () => {
  const { speech, speak } = open();
  const text = 'Where is the station, please? Je voudrais un billet pour Paris, merci beaucoup.';
  for await (const sentence of speak(text)) void sentence;
  for await (const sentence of speak(text, { language: 'en' })) void sentence;
  assert.deepEqual(
    speech.requests.map(({ language }) => language),
    ['en', 'fr', 'en', 'en'],
  );
});

test('a sentence is heard before the next one has come, when tokens are slow', async () => {
  const { speak } = open();
  const tokens = new TokenSource();
  const sentences = speak(tokens);
  tokens.push('One is here. T');
  assert.equal((await sentences.next()).value?.text, 'One is here.');
  tokens.push('wo.');
  tokens.end();
  assert.equal((await sentences.next()).value?.text, 'Two.');
  assert.equal((await sentences.next()).done, true);
});

test('what was rendered before is not opened and comes in pieces', async () => {
  const { speech, speak } = open();
  const bytes = new Uint8Array(40_000).fill(7);
  const outcome = { durationMs: 833, sentences: [], timing: NO_TIME };
  speech.found.set('One is here.', { contentType: 'audio/pcm', bytes, outcome });
  const { value } = await speak('One is here.').next();
  const sizes: number[] = [];
  for await (const chunk of value?.sound ?? []) sizes.push(chunk.byteLength);
  assert.deepEqual(sizes, [16_384, 16_384, 7232]);
  assert.deepEqual(await value?.sound.outcome, outcome);
  assert.deepEqual(speech.texts, []);
});

test('leaving the loop cancels the sentence that is heard, the one ahead, and the producer of the text', async () => {
  const { speech, speak, time } = open();
  const tokens = new TokenSource();
  tokens.push(`${TEXT} And so on`);
  for await (const sentence of speak(tokens)) {
    assert.equal(sentence.index, 0);
    await until(() => speech.streams.length === 2);
    break;
  }
  await Promise.all(speech.streams.map(({ cancelled }) => cancelled));
  assert.equal(speech.streams.length, 2);
  await until(() => tokens.returned);
  assert.equal(time.waiting, 0);
});

test('a sentence that opens only after everybody left is cancelled then', async () => {
  const { speech, speak, controller } = open();
  const sentences = speak(TEXT);
  await sentences.next();
  await nextTurn();
  let letGo: () => void = () => undefined;
  speech.gate = new Promise((resolve) => (letGo = resolve));
  const ahead = sentences.next().then(() => sentences.next());
  ahead.catch(() => undefined);
  await until(() => speech.requests.length === 3);
  controller.abort();
  letGo();
  await assert.rejects(ahead, { code: 'ABORTED' });
  await Promise.all(speech.streams.map(({ cancelled }) => cancelled));
  assert.equal(speech.streams.length, 3);
});

test('after an abort a sentence that was opened ahead is not handed over', async () => {
  const { speech, speak, controller } = open();
  const sentences = speak(TEXT);
  await sentences.next();
  await until(() => speech.streams.length === 2);
  await nextTurn();
  controller.abort();
  await assert.rejects(sentences.next(), { code: 'ABORTED' });
});

test('an abort while tokens are awaited ends at once, with nothing left', async () => {
  const { speak, controller, time } = open();
  const tokens = new TokenSource();
  const next = assert.rejects(speak(tokens).next(), { code: 'ABORTED' });
  await nextTurn();
  controller.abort();
  await next;
  assert.equal(time.waiting, 0);
  await until(() => tokens.returned);
});

test('a failure of the sentence ahead is reported when its turn comes', async () => {
  const { speech, speak } = open();
  speech.failing.set('Two is there.', new ParleyError('ENGINE_FAILED', 'told to fail'));
  const sentences = speak(TEXT);
  assert.equal((await sentences.next()).value?.text, 'One is here.');
  await nextTurn();
  await assert.rejects(sentences.next(), { code: 'ENGINE_FAILED' });
  await Promise.all(speech.streams.map(({ cancelled }) => cancelled));
});

test('a text is refused by its limits, its voice and its language, a silent producer by the idle time', async () => {
  const { speech, speak, time } = open();
  await assert.rejects(speak('x'.repeat(401)).next(), { code: 'TEXT_TOO_LONG' });
  await assert.rejects(speak('…').next(), { code: 'TEXT_EMPTY' });
  await assert.rejects(speak('Hello.', { voice: 'nobody' }).next(), { code: 'VOICE_UNKNOWN' });
  await assert.rejects(speak('Hello.', { language: 'de' }).next(), { code: 'LANGUAGE_UNAVAILABLE' });
  const silent = assert.rejects(speak(new TokenSource()).next(), { code: 'TIMEOUT' });
  await nextTurn();
  time.advance(1000);
  await silent;
  assert.deepEqual(speech.texts, []);
});

test('a sentence cut out of a text is one sentence again', () => {
  const text = `Dr. Smith paid 3.14 at 9 a.m. (so he said!) "Really?" she asked. 1. First
    2. Second — e.g. this one... And then?! ${'and so on, '.repeat(80)}the end. Voilà! ... U.S. troops left.`;
  const limits = { ...LIMITS, maxTextLength: 4096 };
  const sentences = atOnce(sentencesOf(text, limits));
  assert.ok(sentences.length > 8);
  for (const { text: sentence } of sentences) {
    assert.deepEqual(
      atOnce(sentencesOf(sentence, limits)).map((again) => again.text),
      [sentence],
    );
  }
});

test('with everything real, a listener who leaves in the middle leaves no work behind', async (t) => {
  const encoders = new EncoderPool({ workers: 1 });
  await encoders.ready();
  t.after(() => encoders.close());
  const engine = new InstantEngine({ rate: 24_000 });
  const service = new SpeechService(engine, encoders, LIMITS);
  const routing = {
    resolve: (request: VoiceRequest) => engine.resolve(request),
    voices: () => engine.voices(),
  };
  for (const maxEntries of [0, 8]) {
    let portions = 10; // 100 ms each: no sentence is complete before the listener leaves
    const next = (): Promise<void> => (portions-- > 0 ? Promise.resolve() : new Promise(() => undefined));
    engine.behaviour = { kind: 'pace', portion: 2400, next };
    const cache = new AudioCache({ maxEntries, maxBytes: 1_000_000 });
    const speech = new CachedSpeech(service, { cache, routing: engine, settings: encoders.settings });
    const speaker = new SpokenSentences({ speech, routing, limits: LIMITS });
    const settings = { ...SETTINGS, trimSilence: false };
    const long = 'This goes on and on, and nobody knows what to do about it. '.repeat(5);
    for await (const { sound } of speaker.speak(long, settings, new AbortController().signal)) {
      for await (const chunk of sound) {
        assert.ok(chunk.byteLength > 0 && engine.active > 0);
        break;
      }
      break;
    }
    await until(() => engine.active === 0 && encoders.sessions.every((sessions) => sessions === 0));
  }
});
