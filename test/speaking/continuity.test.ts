// Runs of sentences that one generation speaks. The first tests have no encoders: they check which sentences
// a run takes, and their estimated places in its sound. The others speak over HTTP and WebSockets with the
// service, the cache and the encoder workers of a server. The engine speaks at the pace of the estimates, so
// that the places are exact.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { EncoderPool } from '../../src/encoding/encoder-pool.js';
import { type SpeechEngine, UNHURRIED } from '../../src/engines/engine.js';
import { openQwen3 } from '../../src/engines/qwen3/qwen3.js';
import { AudioCache } from '../../src/speaking/audio-cache.js';
import { formatNamed } from '../../src/speaking/audio-format.js';
import { CachedSpeech } from '../../src/speaking/cached-speech.js';
import { Continuity } from '../../src/speaking/continuity.js';
import type { SpokenSentence } from '../../src/speaking/speech-piece.js';
import { SpeechSegment } from '../../src/speaking/speech-segment.js';
import {
  type SpeechPiece,
  type SpeechPieces,
  RunPart,
  SentenceRun,
  SpeechPace,
} from '../../src/speaking/sentence-run.js';
import { SpeechService } from '../../src/speaking/speech-stream.js';
import { SpokenSentences } from '../../src/speaking/spoken-sentences.js';
import { spokenText } from '../../src/speaking/spoken-text.js';
import { GOLDEN } from '../engines/golden.js';
import { readAll } from '../engines/read-ring.js';
import { ENGINE_RATE, StreamingEngine, type StreamingEngineOptions } from '../fakes/engines.js';
import { ManualTime } from '../fakes/manual-time.js';
import { TokenSource } from '../fakes/token-source.js';
import { until } from '../fakes/until.js';

const SAMPLES_PER_MS = 8;
const NO_PLACE = { index: 0, firstFrame: 0, frames: 0, trimmedStartMs: 0, startMs: 0, endMs: 0 };

let gone: AbortController;
beforeEach(() => (gone = new AbortController()));
afterEach(() => gone.abort());

function runOf(engine: StreamingEngine, pace = new SpeechPace('en')): SentenceRun {
  return new SentenceRun({ voice: engine.resolve(), options: undefined, pace, signal: gone.signal });
}

function sentence(engine: StreamingEngine, text: string, language = 'en'): SpokenSentence {
  return { text, voice: { engine, voice: 'buzz', language } };
}

test('while a run is spoken its places follow the pace of the voice, and then the share of the characters', async () => {
  const engine = new StreamingEngine({ msPerCharacter: 40 });
  const run = runOf(engine);
  const [first, second] = [run.add({ text: 'One is here.' }), run.add({ text: 'Two is there.' })];
  const reported: number[] = [];
  first.onEndAt = (endAt) => reported.push(endAt);
  assert.equal(first.endAt, 12 * 65 * SAMPLES_PER_MS);
  assert.equal(second.endAt, undefined); // with the ring
  run.end();
  run.begin(() => UNHURRIED);
  await run.synthesized;
  assert.deepEqual(reported, [12 * 40 * SAMPLES_PER_MS]);
  assert.equal(first.shareMs, 12 * 40);
  assert.equal(second.shareMs, 14 * 40); // and the space before it
});

test('what was read as part of a sentence stays part of it, and the words of the others count from there', async () => {
  const engine = new StreamingEngine({ msPerCharacter: 40, wordTimes: true });
  const run = runOf(engine);
  const [first, second] = [run.add({ text: 'One is here.' }), run.add({ text: 'Two is there.' })];
  run.end();
  assert.deepEqual(first.words, []);
  run.begin(() => UNHURRIED);
  await run.synthesized;
  assert.equal(first.soundMs, undefined);
  first.done({ samplesIn: 540 * SAMPLES_PER_MS });
  second.done({ samplesIn: 460 * SAMPLES_PER_MS });
  assert.deepEqual([first.soundMs, second.soundMs], [540, 460]);
  assert.deepEqual(
    first.words.map(({ word, startMs }) => [word, startMs]),
    [
      ['One', 0],
      ['is', 160],
      ['here.', 280],
    ],
  );
  assert.deepEqual(second.words, [
    { word: 'Two', textOffset: 0, startMs: 0 }, // 520 of the run: before the sentence's place
    { word: 'is', textOffset: 4, startMs: 140 },
    { word: 'there.', textOffset: 7, startMs: 260 },
  ]);
});

test('a sentence for which the estimate left no sound was spoken when the one before it was', () => {
  const run = runOf(new StreamingEngine());
  const segments = [run.add({ text: 'One is here.' }), run.add({ text: 'Two.' })].map(
    (part) => new SpeechSegment(part, part),
  );
  segments[0]?.encoded({ ...NO_PLACE, frames: 10, samplesIn: 1600 });
  segments[1]?.encoded({ ...NO_PLACE, index: 1, firstFrame: 10, samplesIn: 0 });
  assert.equal(spokenText(segments, 10, 20), 'One is here. Two.');
  assert.equal(spokenText(segments, 9, 20).includes('Two'), false);
});

test('a pace is learnt from what was heard of a voice', async () => {
  const continuity = new Continuity('utterance');
  const engine = new StreamingEngine({ msPerCharacter: 45 });
  const pace = continuity.paceOf(engine.resolve());
  assert.equal(pace.msPerCharacter, 65);
  for (let n = 0; n < 8; n++) {
    const run = runOf(engine, pace);
    run.add({ text: 'One is here, and goes on.' });
    run.end();
    run.begin(() => UNHURRIED);
    await run.synthesized;
    run.giveUp();
  }
  assert.ok(pace.msPerCharacter > 45 && pace.msPerCharacter < 50, `${pace.msPerCharacter}`);
  assert.equal(continuity.paceOf(engine.resolve()), pace);
  assert.equal(continuity.paceOf(engine.resolve({ language: 'fr' })).msPerCharacter, 65);
  assert.equal(new SpeechPace('zh').msPerCharacter, 220);
});

test('sentences of a writing without spaces are joined without one', async () => {
  const engine = new StreamingEngine();
  const run = runOf(engine);
  run.add({ text: '你好。' });
  run.begin(() => UNHURRIED);
  run.add({ text: '今天好吗？' });
  run.add({ text: 'Fine.' });
  run.add({ text: 'Good.' });
  run.end();
  await run.synthesized;
  assert.deepEqual(engine.texts, ['你好。今天好吗？Fine. Good.']);
});

test('a run takes what has the same voice, up to the room of its engine, until its text ends', () => {
  const engine = new StreamingEngine({ mostText: 30 });
  const run = runOf(engine);
  run.add({ text: 'One is here.' });
  assert.equal(run.takes(sentence(engine, 'Two is here, too.')), true); // 30 with the space
  assert.equal(run.takes(sentence(engine, 'Two is here, also.')), false);
  assert.equal(run.takes(sentence(engine, 'Zwölf ist hier.')), true);
  assert.equal(run.takes(sentence(engine, 'ZwölfÄÖÜist hier.')), false); // bytes, not characters
  assert.equal(run.takes(sentence(engine, 'Two.', 'fr')), false);
  assert.equal(run.takes(sentence(new StreamingEngine(), 'Two.')), false);
  const reference = { kind: 'prompt', hash: 'a', prompt: 'An old man.' } as const;
  assert.equal(run.takes({ text: 'Two.', voice: { ...engine.resolve(), reference } }), false);
  run.end();
  assert.equal(run.takes(sentence(engine, 'Two.')), false);
});

test('a run whose engine ends it early takes no more', async () => {
  const engine = new StreamingEngine();
  const run = runOf(engine);
  run.add({ text: 'One is here.' });
  engine.failsAt = 'One';
  run.begin(() => UNHURRIED);
  await assert.rejects(run.synthesized, { code: 'ENGINE_FAILED' });
  assert.equal(run.takes(sentence(engine, 'Two.')), false);
});

/** The place of a sentence in its run, the state of the run's text, and the sentence. */
function described(piece: SpeechPiece): string {
  if ('write' in piece) return 'sound';
  if (!(piece instanceof RunPart)) return piece.text;
  let index = 0;
  for (let part = piece.previous; part !== undefined; part = part.previous) index++;
  return `${index}/${piece.run.open ? 'open' : 'whole'} ${piece.text}`;
}

function join(pieces: SpeechPieces, options?: { maxNewTokens: number }): SpeechPieces {
  return new Continuity('utterance').join(pieces, { options, signal: gone.signal });
}

test('what is said in one breath: neither a sound, nor a sentence by itself, nor one with a limit of its own', async () => {
  const engine = new StreamingEngine({ mostText: 20 });
  const [one, two] = [sentence(engine, 'One.'), sentence(engine, 'Two.')];
  const long = sentence(engine, 'This sentence has no room.');
  const sound = { sampleRate: 8000, write: () => Promise.reject(new Error('not played')) };
  const whole = async (pieces: readonly SpeechPiece[], options?: { maxNewTokens: number }) => {
    const joined: string[] = [];
    for await (const piece of join(pieces, options)) joined.push(described(piece));
    return joined;
  };
  assert.deepEqual(await whole([one, two, sound, one, long, one, two]), [
    '0/whole One.',
    '1/whole Two.',
    'sound',
    'One.',
    'This sentence has no room.',
    '0/whole One.',
    '1/whole Two.',
  ]);
  assert.deepEqual(await whole([one]), ['One.']);
  assert.deepEqual(await whole([one, two], { maxNewTokens: 100 }), ['One.', 'Two.']);
});

test('what arrives is read ahead while a run takes it, and no further', async () => {
  const engine = new StreamingEngine({ mostText: 20 });
  const read: string[] = [];
  async function* arriving(): AsyncGenerator<SpokenSentence> {
    for (const text of ['One.', 'Two.', 'Three.', 'Four is not in it.', 'Five is nowhere.', 'Six.']) {
      read.push(text);
      yield sentence(engine, text);
    }
  }
  const joined = (join(arriving()) as AsyncIterable<SpeechPiece>)[Symbol.asyncIterator]();
  const first = await joined.next();
  assert.equal(first.done === true ? '' : described(first.value), '0/open One.');
  await until(() => read.length === 4);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(read.length, 4); // the last one belongs to the next run, which begins when these are taken
  const rest: string[] = [];
  for (let next = await joined.next(); next.done !== true; next = await joined.next())
    rest.push(described(next.value));
  assert.deepEqual(
    rest.map((one) => one.replace(/open|whole/, '')),
    ['1/ Two.', '2/ Three.', '0/ Four is not in it.', '0/ Five is nowhere.', '0/ Six.'],
  );
});

test('a reader that leaves, or gets a failure, leaves the source', async () => {
  const engine = new StreamingEngine();
  let left = 0;
  async function* endless(): AsyncGenerator<SpokenSentence> {
    try {
      yield sentence(engine, 'One.');
      await new Promise<void>((resolve) => gone.signal.addEventListener('abort', () => resolve()));
    } finally {
      left++;
    }
  }
  for await (const piece of join(endless())) {
    assert.equal(described(piece), '0/open One.');
    break;
  }
  engine.failsAt = 'One';
  await assert.rejects(
    async () => {
      for await (const piece of join(endless())) {
        if (piece instanceof RunPart) piece.run.begin(() => UNHURRIED);
      }
    },
    { code: 'ENGINE_FAILED' },
  );
  gone.abort();
  await until(() => left === 2);
});

// Speech over HTTP and WebSockets.

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
    await until(() => encoders.sessions.every((sessions) => sessions === 0));
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
  await until(() => encoders.sessions.every((sessions) => sessions === 0));
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
  await until(() => encoders.sessions.every((sessions) => sessions === 0));
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
  const engine = await openQwen3({
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
