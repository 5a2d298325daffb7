// HTTP and WebSocket speech in which one generation speaks a whole text: service,
// cache and encoder worker as they are. The engine speaks at the pace that
// places are estimated by, so that they are exact here.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { CachedSpeech } from '../../src/speaking/cached-speech.js';
import { Continuity } from '../../src/speaking/continuity.js';
import { SpokenSentences } from '../../src/speaking/spoken-sentences.js';
import { SpeechService } from '../../src/speaking/speech-stream.js';
import { EncoderPool } from '../../src/encoding/encoder-pool.js';
import { AudioCache } from '../../src/speaking/audio-cache.js';
import { Qwen3Engine } from '../../src/engines/qwen3/qwen3.js';
import type { SpeechEngine } from '../../src/engines/engine.js';
import { ManualTime } from '../fakes/manual-time.js';
import { ENGINE_RATE, StreamingEngine, type StreamingEngineOptions } from '../fakes/engines.js';
import { TokenSource } from '../fakes/token-source.js';
import { until } from '../fakes/until.js';
import { GOLDEN } from '../engines/golden.js';
import { readAll } from '../engines/read-ring.js';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { formatNamed } from '../../src/speaking/audio-format.js';

const LIMITS = { maxTextLength: 4096, textIdleMs: 1000 };
const TEXT = 'One is here. Two is there. Three is far away.';
const SENTENCES = ['One is here.', 'Two is there.', 'Three is far away.'];
const PLACES = [
  { startMs: 0, endMs: 780 },
  { startMs: 780, endMs: 1690 },
  { startMs: 1690, endMs: 2925 },
];
const ASKED = { text: TEXT, format: formatNamed('pcm'), sampleRate: ENGINE_RATE } as const;
const SETTINGS = { format: formatNamed('pcm'), sampleRate: ENGINE_RATE, client: 'key 0' } as const;
const BYTES_PER_MS = (ENGINE_RATE * 2) / 1000;

const never = new AbortController().signal;
let encoders: EncoderPool;

before(async () => {
  encoders = new EncoderPool({ workers: 2 }); // the parts of a ring may be read by several
  await encoders.ready();
});
after(() => encoders.close());

function open(options: StreamingEngineOptions = {}, maxEntries = 8, mode: Continuity['mode'] = 'utterance') {
  const engine = new StreamingEngine(options);
  const continuity = new Continuity(mode);
  const cache = new AudioCache({ maxEntries, maxBytes: 10_000_000 });
  const service = new SpeechService(engine, encoders, LIMITS, { continuity });
  const { settings } = encoders;
  const speech = new CachedSpeech(service, { cache, routing: engine, settings, continuity });
  const time = new ManualTime();
  const speaker = new SpokenSentences({ speech, routing: engine, limits: LIMITS, time, continuity });
  const speak = (text: string | AsyncIterable<string>, changes: object = {}) =>
    speaker.speak(text, { ...SETTINGS, ...changes }, never);
  return { engine, cache, speech, speak, time };
}

async function bytesOf(sound: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of sound) chunks.push(chunk);
  return Buffer.concat(chunks);
}

test('a text over HTTP is one generation, whose sentences and words are reported at their places', async () => {
  const { engine, speech } = open({ wordTimes: true });
  const stream = await speech.openStream(ASKED, never);
  assert.equal((await bytesOf(stream)).length, 2925 * BYTES_PER_MS);
  const sentences = (await stream.outcome)?.sentences ?? [];
  assert.deepEqual(
    sentences.map(({ startMs, endMs }) => ({ startMs, endMs })),
    PLACES,
  );
  assert.deepEqual(
    sentences.map(({ text }) => text),
    SENTENCES,
  );
  assert.deepEqual(
    sentences.flatMap(({ words }) => words.map(({ word, startMs }) => [word, startMs])),
    [...TEXT.matchAll(/\S+/g)].map((found) => [found[0], found.index * 65]),
  );
  assert.deepEqual(stream.placed?.(), sentences);
  assert.deepEqual(engine.texts, [TEXT]);
});

test('a text that was spoken in one breath is kept as a whole, and is not one of sentences', async () => {
  const { engine, cache, speech } = open();
  const sound = await bytesOf(await speech.openStream(ASKED, never));
  assert.equal(cache.figures.entries, 1);
  assert.deepEqual(Buffer.from(speech.find(ASKED)?.bytes ?? []), sound);
  assert.equal(engine.texts.length, 1);
  const service = new SpeechService(engine, encoders, LIMITS);
  const apart = new CachedSpeech(service, { cache, routing: engine, settings: encoders.settings });
  assert.equal(apart.find(ASKED), undefined);
  await bytesOf(await apart.openStream(ASKED, never));
  assert.deepEqual(engine.texts, [TEXT, ...SENTENCES]);
});

test('a limit of frames is one of each sentence, which then is a generation of its own', async () => {
  const { engine, speech } = open();
  await bytesOf(await speech.openStream({ ...ASKED, options: { maxNewTokens: 100 } }, never));
  assert.deepEqual(engine.texts, SENTENCES);
});

for (const [how, share] of [
  ['an engine that speaks all that it has read', 1],
  ['an engine that reads ahead of its speech', 0.25],
] as const) {
  test(`over a WebSocket sentences are sent one by one, in one breath, by ${how}`, async () => {
    const { engine, cache, speak } = open({ share });
    for (const text of ['whole', 'tokens'] as const) {
      const tokens = new TokenSource();
      for (const token of TEXT.split(/(?<= )/)) tokens.push(token);
      tokens.end();
      const sent: (string | number | boolean)[] = [];
      for await (const { text: sentence, index, sound, continues } of speak(
        text === 'whole' ? TEXT : tokens,
      )) {
        const bytes = await bytesOf(sound);
        sent.push(index, sentence, continues === true, bytes.length / BYTES_PER_MS);
        assert.deepEqual(
          (await sound.outcome)?.sentences.map((one) => one.text),
          [sentence],
        );
      }
      assert.deepEqual(sent, [
        0,
        'One is here.',
        false,
        780,
        1,
        'Two is there.',
        true,
        910,
        2,
        'Three is far away.',
        true,
        1235,
      ]);
    }
    assert.deepEqual(engine.texts, [TEXT, TEXT]);
    assert.equal(cache.figures.entries, 0);
    await until(() => encoders.lines.every((lines) => lines === 0));
  });
}

test('over a WebSocket a text spoken before by itself is found, and begins a new generation', async () => {
  const { engine, speech, speak } = open();
  // The request is that of the sentence, with the pause before it.
  const second = { ...SETTINGS, text: 'Two is there.', language: 'en', voice: 'buzz', leadMs: 160 };
  await bytesOf(await speech.openStream(second, never));
  const lengths: number[] = [];
  for await (const { sound } of speak(`${TEXT} Four is last.`, { voice: 'buzz' })) {
    lengths.push((await bytesOf(sound)).length / BYTES_PER_MS);
  }
  assert.deepEqual(engine.texts, ['Two is there.', 'One is here.', 'Three is far away. Four is last.']);
  assert.deepEqual(lengths, [780, 160 + 845, 160 + 1170, 910]);
});

test('a listener who leaves ends the generation, and one who waits too long for text gets TIMEOUT after what was said', async () => {
  const { engine, speak, time } = open();
  const tokens = new TokenSource();
  tokens.push('One is here. Two is there. Three');
  for await (const { text, sound } of speak(tokens)) {
    assert.equal(text, 'One is here.');
    for await (const chunk of sound) {
      assert.ok(chunk.length > 0);
      break;
    }
    break;
  }
  await until(() => tokens.returned && engine.generations[0]?.state === 'over');
  const silent = new TokenSource();
  silent.push('One is here. Two is there. Three');
  const heard: string[] = [];
  await assert.rejects(
    async () => {
      for await (const { text, sound } of speak(silent)) {
        if (heard.length === 0)
          await until(() => engine.generations[1]?.text === 'One is here. Two is there.');
        if (heard.length === 0) time.advance(1000);
        await bytesOf(sound);
        heard.push(text);
      }
    },
    { code: 'TIMEOUT' },
  );
  assert.deepEqual(heard, ['One is here.', 'Two is there.']);
  assert.equal(engine.generations[1]?.state, 'over');
  await until(() => encoders.lines.every((lines) => lines === 0));
});

test('an engine that fails in the middle fails the sentence that it was at, and nobody hears of a hole', async () => {
  const { engine, speak, speech } = open();
  engine.failsAt = 'Three';
  const heard: string[] = [];
  await assert.rejects(
    async () => {
      const tokens = new TokenSource();
      tokens.push(TEXT);
      tokens.end();
      for await (const { text, sound } of speak(tokens)) {
        await bytesOf(sound);
        heard.push(text);
      }
    },
    { code: 'ENGINE_FAILED' },
  );
  assert.deepEqual(heard, ['One is here.', 'Two is there.']);
  await assert.rejects(async () => void (await bytesOf(await speech.openStream(ASKED, never))), {
    code: 'ENGINE_FAILED',
  });
  await until(() => encoders.lines.every((lines) => lines === 0));
});

async function samplesOf(
  engine: SpeechEngine,
  text: string,
  seed: number,
  pieces: readonly string[],
): Promise<number> {
  const ring = PcmRing.open(24_000, 24_000);
  async function* following(): AsyncGenerator<string> {
    yield* pieces;
  }
  const more = pieces.length > 0 ? { more: following() } : {};
  const request = { text, voice: 'vivian', language: 'en', options: { seed }, ...more };
  const [{ samples }] = await Promise.all([readAll(ring), engine.synthesize(request, ring, never)]);
  ring.close();
  return samples.length;
}

test('the native engine speaks a text in one breath: whole, and as it comes', async (t) => {
  const engine = await Qwen3Engine.open({
    native: {
      directory: `${GOLDEN}/tiny-customvoice`,
      quantize: 'none',
      codecFormat: 'f32',
      threads: 1,
      cores: [],
      maxStreams: 4,
      maxNewTokens: 60,
      maxVoices: 4,
      warmUp: false,
    },
    maxWaiting: 8,
    renderTimeoutMs: 20_000,
  });
  t.after(() => engine.close());
  const routing = {
    resolve: () => ({ engine, voice: 'vivian', language: 'en' }),
    voices: () => engine.voices(),
  };
  const continuity = new Continuity('utterance');
  const cache = new AudioCache({ maxEntries: 0, maxBytes: 0 });
  const service = new SpeechService(routing, encoders, LIMITS, { continuity });
  const speech = new CachedSpeech(service, { cache, routing, settings: encoders.settings, continuity });
  const speaker = new SpokenSentences({ speech, routing, limits: LIMITS, continuity });
  const nativeSettings = { ...SETTINGS, sampleRate: 24_000, trimSilence: false, options: { seed: 5 } };
  const sentences = ['Hello there.', 'How are you?'];
  const tokens = new TokenSource();
  for (const token of ['Hello there.', ' How are', ' you?']) tokens.push(token);
  for (const [text, pieces] of [
    [sentences.join(' '), []],
    [tokens, [' How are you?']],
  ] as const) {
    const heard: string[] = [];
    let bytes = 0;
    const spoken = speaker.speak(text, nativeSettings, never);
    for await (const { text: sentence, sound } of spoken) {
      heard.push(sentence);
      tokens.end();
      bytes += (await bytesOf(sound)).length;
    }
    assert.deepEqual(heard, sentences);
    const first = pieces.length > 0 ? 'Hello there.' : sentences.join(' ');
    assert.equal(bytes, 2 * (await samplesOf(engine, first, 5, pieces)));
  }
});
