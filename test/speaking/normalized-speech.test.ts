// Texts that are spoken in other words than they are written: engines get the
// words, and everything else gets the written text.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { CachedSpeech } from '../../src/speaking/cached-speech.js';
import { Continuity } from '../../src/speaking/continuity.js';
import { FrameCache } from '../../src/speaking/frame-cache.js';
import { PreparedSpeech } from '../../src/speaking/prepared-speech.js';
import { SpeechService } from '../../src/speaking/speech-stream.js';
import { SpokenSentences } from '../../src/speaking/spoken-sentences.js';
import type { Utterance, UtteranceEnd } from '../../src/call/utterance.js';
import { PCMU } from '../../src/codecs/codec.js';
import { EncoderPool } from '../../src/encoding/encoder-pool.js';
import { AudioCache } from '../../src/speaking/audio-cache.js';
import type { WordTime } from '../../src/engines/engine.js';
import { FRAME_MS, openCall as openWith, type CallUnderTest } from '../fakes/call-under-test.js';
import { buzz, ENGINE_RATE, InstantEngine, StreamingEngine } from '../fakes/engines.js';
import { ManualTime } from '../fakes/manual-time.js';
import { TokenSource } from '../fakes/token-source.js';
import { until } from '../fakes/until.js';
import { formatNamed } from '../../src/speaking/audio-format.js';

const LIMITS = { maxTextLength: 1000, textIdleMs: 1000 };
const never = new AbortController().signal;

let encoders: EncoderPool;
const opened: CallUnderTest[] = [];

before(async () => {
  encoders = new EncoderPool({ workers: 1 });
  await encoders.ready();
});
after(() => encoders.close());
afterEach(async () => {
  await Promise.all(opened.splice(0).map((call) => call.close()));
});

function openCall(
  ...options: Parameters<typeof openWith> extends [unknown, ...infer R] ? R : never
): CallUnderTest {
  const under = openWith(encoders, ...options);
  opened.push(under);
  return under;
}

function openFrames(): FrameCache {
  return new FrameCache(1_000_000, encoders.settings);
}

/** Time passes until the utterance is over. */
async function hear({ pass }: CallUnderTest, { ended }: Utterance): Promise<UtteranceEnd> {
  let isOver = false;
  void ended.then(() => (isOver = true));
  await until(() => {
    pass(200);
    return isOver;
  });
  return await ended;
}

/** The time of each word of a text at so many milliseconds a character. */
function timesOf(text: string, msPerCharacter: number): WordTime[] {
  return [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => ({
    word,
    textOffset: index,
    startMs: index * msPerCharacter,
  }));
}

test('a call gives its engine the words, and tells what was written', async () => {
  const under = openCall();
  const { call, engine, events } = under;
  const { text } = await hear(under, call.speak('It costs $3.50. **Good** luck!'));
  assert.deepEqual(engine.begun, ['It costs three dollars and fifty cents.', 'Good luck!']);
  assert.equal(text, 'It costs $3.50. **Good** luck!');
  assert.deepEqual(
    events.flatMap((event) => (event.type === 'sentence.started' ? [event.text] : [])),
    ['It costs $3.50.', '**Good** luck!'],
  );
});

test('tokens become the same words as the whole text', async () => {
  const under = openCall();
  const { call, engine } = under;
  const tokens = new TokenSource();
  const utterance = call.speak(tokens);
  for (const token of 'Dr. Smith owes $1,2|34.50 since Jan.| 5. Call 55|5-1234.'.split('|'))
    tokens.push(token);
  tokens.end();
  await hear(under, utterance);
  assert.deepEqual(engine.begun, [
    'Doctor Smith owes one thousand two hundred thirty-four dollars and fifty cents since January fifth.',
    'Call five five five, one two three four.',
  ]);
});

test('a text that is not to be read out is given as it is written', async () => {
  const under = openCall();
  const { call, engine } = under;
  await hear(under, call.speak('It costs $3.50.', { normalize: false }));
  assert.deepEqual(engine.begun, ['It costs $3.50.']);
});

test('what is marks alone is left out, and a text of nothing else is refused', async () => {
  const under = openCall();
  const { call, engine } = under;
  await hear(under, call.speak('Here it is.\n\n```js\n\nThat is all.'));
  assert.deepEqual(engine.begun, ['Here it is.', 'That is all.']);
  assert.throws(() => call.speak('```js'), { code: 'TEXT_EMPTY' });
  const tokens = new TokenSource();
  const silent = call.speak(tokens);
  tokens.push('```js');
  tokens.end();
  assert.equal((await hear(under, silent)).error?.code, 'TEXT_EMPTY');
});

test('a block of code is not spoken, whether the text arrives whole or in tokens', async () => {
  const text = 'Run this:\n```sh\nls -l\n```\nThat is all.';
  for (const given of ['whole', 'tokens']) {
    const under = openCall();
    const { call, engine } = under;
    const tokens = new TokenSource();
    const utterance = call.speak(given === 'whole' ? text : tokens);
    for (const token of text.match(/[^]{1,3}/g) ?? []) tokens.push(token);
    tokens.end();
    await hear(under, utterance);
    assert.deepEqual(engine.begun, ['Run this:', 'That is all.'], given);
  }
});

test('an interruption answers with the written words that were heard, in proportion to those spoken', async () => {
  const { call, engine, pass } = openCall();
  const spoken = 'Pay three dollars and fifty cents now.';
  engine.sounds.set(spoken, buzz(spoken.length * FRAME_MS, 0.5)); // a frame a character
  const heardAfter = async (characters: number): Promise<string> => {
    const utterance = call.speak('Pay $3.50 now.');
    await utterance.pushed;
    pass(characters * FRAME_MS);
    const { text } = call.interrupt('caller spoke');
    await utterance.ended;
    return text;
  };
  assert.equal(await heardAfter(3), 'Pay');
  assert.equal(await heardAfter(15), 'Pay'); // not half of the price
  assert.equal(await heardAfter(20), 'Pay $3.50');
  assert.equal(await heardAfter(37), 'Pay $3.50 now');
});

test('the times of words that an engine tells become those of the written words', async () => {
  const { call, engine, pass } = openCall();
  const spoken = 'Pay three dollars and fifty cents now.';
  engine.sounds.set(spoken, buzz(760, 0.5));
  engine.words.set(spoken, [
    { word: 'Pay', textOffset: 0, startMs: 0 },
    { word: 'three', textOffset: 4, startMs: 400 }, // by its letters it would begin at 80
    { word: 'dollars', textOffset: 10, startMs: 440 },
    { word: 'now.', textOffset: 34, startMs: 600 },
  ]);
  const utterance = call.speak('Pay $3.50 now.');
  await utterance.pushed;
  pass(380);
  assert.equal(call.interrupt('caller spoke').text, 'Pay');
  await utterance.ended;
  const again = call.speak('Pay $3.50 now.');
  await again.pushed;
  pass(520);
  assert.equal(call.interrupt('caller spoke').text, 'Pay $3.50');
});

test('a sentence that was kept is found by its words, however they are written', async () => {
  const frames = openFrames();
  const first = openCall(frames);
  const spoken = 'Pay five dollars now.';
  first.engine.sounds.set(spoken, buzz(420, 0.5));
  first.engine.words.set(spoken, timesOf(spoken, 20));
  await first.call.speak('Pay $5 now.').pushed;
  await until(() => frames.figures.entries === 1);
  const second = openCall(frames);
  const utterance = second.call.speak('Pay five dollars now.');
  await utterance.pushed;
  second.pass(260);
  assert.equal(second.call.interrupt('caller spoke').text, 'Pay five dollars');
  await utterance.ended;
  const third = second.call.speak('Pay 5 dollars now.');
  await third.pushed;
  second.pass(260);
  assert.equal(second.call.interrupt('caller spoke').text, 'Pay 5 dollars');
  await third.ended;
  const unread = second.call.speak('Pay $5 now.', { normalize: false });
  await unread.pushed;
  second.pass(1000);
  assert.deepEqual(second.engine.begun, ['Pay $5 now.']);
});

test('what was prepared is found by the call that says it', async () => {
  const frames = openFrames();
  const under = openCall(frames);
  const { call, engine } = under;
  const time = new ManualTime(0);
  const prepared = new PreparedSpeech({ routing: engine, encoders, frames, limits: LIMITS, time });
  await prepared.prepare({ text: 'We open at 9 a.m.', codec: PCMU, frameMs: FRAME_MS });
  assert.deepEqual(engine.begun, ['We open at nine a.m.']);
  const { text } = await hear(under, call.speak('We open at 9 a.m.'));
  assert.equal(text, 'We open at 9 a.m.');
  assert.equal(engine.begun.length, 1);
  await prepared.close();
});

test('sentences of one breath are given as words, and reported as they were written', async () => {
  const engine = new StreamingEngine({ msPerCharacter: 20, wordTimes: true });
  const under = openCall(undefined, { engine, continuity: new Continuity('utterance') });
  const { text } = await hear(under, under.call.speak('It costs $3.50. Call 911 now.'));
  assert.deepEqual(engine.texts, ['It costs three dollars and fifty cents. Call nine one one now.']);
  assert.equal(text, 'It costs $3.50. Call 911 now.');
  assert.deepEqual(
    under.events.flatMap((event) => (event.type === 'sentence.spoken' ? [event.text] : [])),
    ['It costs $3.50.', 'Call 911 now.'],
  );
});

test('bytes of a container say where the written words and the spoken ones are', async () => {
  const engine = new InstantEngine({ rate: ENGINE_RATE, msPerCharacter: 20, words: true });
  const service = new SpeechService(engine, encoders, LIMITS);
  const request = {
    text: 'Pay $3.50 now.',
    format: formatNamed('pcm'),
    sampleRate: ENGINE_RATE,
    trimSilence: false,
  } as const;
  const stream = await service.openStream(request, never);
  for await (const chunk of stream) void chunk;
  const [place] = (await stream.outcome)?.sentences ?? [];
  assert.equal(place?.text, 'Pay $3.50 now.');
  assert.deepEqual(
    place.words.map(({ word, textOffset, startMs }) => [word, textOffset, startMs]),
    [
      ['Pay', 0, 0],
      ['$3.50', 4, 80],
      ['now.', 10, 680],
    ],
  );
  assert.equal(place.spoken?.text, 'Pay three dollars and fifty cents now.');
  assert.deepEqual(
    place.spoken.words.map(({ textOffset, startMs }) => [textOffset, startMs]),
    [
      [0, 0],
      [4, 80],
      [10, 200],
      [18, 360],
      [22, 440],
      [28, 560],
      [34, 680],
    ],
  );
});

test('a rendering that was not to be read out is another one', async () => {
  const engine = new InstantEngine();
  const service = new SpeechService(engine, encoders, LIMITS);
  const cache = new AudioCache({ maxEntries: 8, maxBytes: 1_000_000 });
  const speech = new CachedSpeech(service, { cache, routing: engine, settings: encoders.settings });
  const request = { text: 'Pay $5.', format: formatNamed('pcm'), sampleRate: 24_000 } as const;
  for (const variant of [request, request, { ...request, normalize: false }]) {
    if (speech.find(variant) !== undefined) continue;
    for await (const chunk of await speech.openStream(variant, never)) void chunk;
  }
  assert.deepEqual(
    engine.requests.map(({ text }) => text),
    ['Pay five dollars.', 'Pay $5.'],
  );
});

test('dialects get the written sentence, and the engine the words', async () => {
  const engine = new InstantEngine();
  const service = new SpeechService(engine, encoders, LIMITS);
  const cache = new AudioCache({ maxEntries: 0, maxBytes: 0 });
  const speech = new CachedSpeech(service, { cache, routing: engine, settings: encoders.settings });
  const speaker = new SpokenSentences({ speech, routing: engine, limits: LIMITS });
  const written: string[] = [];
  const settings = { format: formatNamed('pcm'), sampleRate: 24_000, client: 'key 0' } as const;
  for await (const { text, sound } of speaker.speak('Pay $5.\n\n```js\n\nThanks.', settings, never)) {
    written.push(text);
    for await (const chunk of sound) void chunk;
  }
  assert.deepEqual(written, ['Pay $5.', 'Thanks.']);
  assert.deepEqual(
    engine.requests.map(({ text }) => text),
    ['Pay five dollars.', 'Thanks.'],
  );
});
