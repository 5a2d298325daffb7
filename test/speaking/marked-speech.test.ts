// SSML that is heard: pauses, pace, loudness, tones, marks, voices and languages,
// in the bytes of a reply and in the packets of a call.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { CachedSpeech } from '../../src/speaking/cached-speech.js';
import { Continuity } from '../../src/speaking/continuity.js';
import { FrameCache } from '../../src/speaking/frame-cache.js';
import { PreparedSpeech } from '../../src/speaking/prepared-speech.js';
import { SpeechService } from '../../src/speaking/speech-stream.js';
import { SpokenSentences } from '../../src/speaking/spoken-sentences.js';
import { ParleyError } from '../../src/errors.js';
import { PCMU } from '../../src/codecs/codec.js';
import { EncoderPool } from '../../src/encoding/encoder-pool.js';
import { AudioCache } from '../../src/speaking/audio-cache.js';
import type { ResolvedVoice, VoiceRequest } from '../../src/engines/routing.js';
import { Lexicon } from '../../src/text/lexicon.js';
import { FRAME_MS, openCall as openWith, type CallUnderTest } from '../fakes/call-under-test.js';
import { ManualTime } from '../fakes/manual-time.js';
import { buzz, ENGINE_RATE, ScriptedEngine, StreamingEngine } from '../fakes/engines.js';
import { until } from '../fakes/until.js';
import type { SpeechRequest } from '../../src/speaking/speech-request.js';
import { stated } from '../../src/stated.js';
import { formatNamed } from '../../src/speaking/audio-format.js';

const LIMITS = { maxTextLength: 4096, textIdleMs: 1000 };
const PER_MS = ENGINE_RATE / 1000;
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

function ssml(body: string, changes: Partial<SpeechRequest> = {}): SpeechRequest {
  const text = `<speak>${body}</speak>`;
  return {
    text,
    markup: true,
    language: 'en',
    format: formatNamed('pcm'),
    sampleRate: ENGINE_RATE,
    ...changes,
  };
}

/** The sound of a document, at the engine's rate. */
async function heard(engine: ScriptedEngine, request: SpeechRequest): Promise<Float32Array> {
  const chunks: Uint8Array[] = [];
  const stream = await new SpeechService(engine, encoders, LIMITS).openStream(request, never);
  for await (const chunk of stream) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  return Float32Array.from({ length: bytes.length / 2 }, (_, index) => bytes.readInt16LE(2 * index) / 32_768);
}

/** Runs of sound and of silence, in milliseconds; the sound with its level. */
function shapeOf(sound: Float32Array): (number | readonly [ms: number, level: number])[] {
  const shape: (number | readonly [number, number])[] = [];
  for (let at = 0; at < sound.length;) {
    const isSilent = sound[at] === 0;
    let end = at;
    let peak = 0;
    while (end < sound.length && (sound[end] === 0) === isSilent)
      peak = Math.max(peak, Math.abs(sound[end++] ?? 0));
    shape.push(isSilent ? (end - at) / PER_MS : [(end - at) / PER_MS, Number(peak.toFixed(2))]);
    at = end;
  }
  return shape;
}

function engineOf(...texts: string[]): ScriptedEngine {
  const engine = new ScriptedEngine();
  for (const text of texts) engine.sounds.set(text, buzz(100, 0.5));
  return engine;
}

test('a pause is silence of its length to the sample: before, between and behind what is spoken', async () => {
  const engine = engineOf('One.', 'Two.');
  const sound = await heard(
    engine,
    ssml('<break time="70ms"/>One.<break time="1s"/>Two.<break time="330ms"/>'),
  );
  assert.deepEqual(shapeOf(sound), [70, [100, 0.5], 1000, [100, 0.5], 330]);
});

test('a pause is as long however fast the whole text is spoken', async () => {
  const engine = new ScriptedEngine();
  for (const text of ['One.', 'Two.']) engine.sounds.set(text, buzz(400, 0.5));
  const sound = await heard(engine, ssml('One.<break time="1s"/>Two.', { speed: 2 }));
  assert.equal(sound.length, (200 + 1000 + 200) * PER_MS);
});

test('a pause of nothing between two sentences leaves none', async () => {
  const sound = await heard(engineOf('One.', 'Two.'), ssml('<s>One.</s><break strength="none"/><s>Two.</s>'));
  assert.deepEqual(shapeOf(sound), [[200, 0.5]]);
});

test('sentences without a stated pause have the usual one, and paragraphs a longer one', async () => {
  const engine = engineOf('One.', 'Two.', 'Three.');
  assert.deepEqual(shapeOf(await heard(engine, ssml('<p>One. Two.</p><p>Three.</p>'))), [
    [100, 0.5],
    160,
    [100, 0.5],
    500,
    [100, 0.5],
  ]);
});

test('volume is a factor of the sound of its part alone', async () => {
  const engine = engineOf('Loud.', 'Soft.');
  const sound = await heard(engine, ssml('Loud. <prosody volume="50">Soft.</prosody>'));
  assert.deepEqual(shapeOf(sound), [[100, 0.5], 160, [100, 0.25]]);
});

test('rate changes the length of its part alone', async () => {
  const engine = new ScriptedEngine();
  for (const text of ['One.', 'Two.', 'Three.']) engine.sounds.set(text, buzz(400, 0.5));
  const sound = await heard(engine, ssml('One. <prosody rate="200%">Two.</prosody> Three.'));
  assert.equal(sound.length, (400 + 160 + 200 + 160 + 400) * PER_MS);
});

test('a tone is heard in the place of an expletive, and no engine is given the word', async () => {
  const engine = engineOf('You', 'all.');
  const sound = await heard(engine, ssml('You <say-as interpret-as="bleep">fools</say-as> all.'));
  assert.deepEqual(engine.begun, ['You', 'all.']);
  assert.equal(sound.length, (100 + 40 + 350 + 40 + 100) * PER_MS);
  const tone = sound.subarray(140 * PER_MS, 490 * PER_MS);
  const crossings = tone.filter((sample, index) => index > 0 && sample >= 0 !== (tone[index - 1] ?? 0) >= 0);
  assert.ok(Math.abs(crossings.length - 700) < 20, `${crossings.length} half waves in 350 ms`);
});

test('an engine is given words, never markup', async () => {
  const engine = new ScriptedEngine();
  await heard(
    engine,
    ssml(
      '<emphasis>The</emphasis> <sub alias="World Wide Web">WWW</sub> has <say-as interpret-as="digits">42</say-as> &amp; 3 pages.',
    ),
  );
  assert.deepEqual(engine.begun, ['The World Wide Web has four two and three pages.']);
});

test('what is written in SSML is refused before any sound where it is none', async () => {
  const engine = new ScriptedEngine();
  await assert.rejects(heard(engine, ssml('One. <break time="1"/>')), (error: unknown) => {
    assert.ok(error instanceof ParleyError);
    assert.equal(error.code, 'INVALID_FIELD');
    assert.match(error.message, /line 1, column 13: "time" of <break>/);
    return true;
  });
  await assert.rejects(heard(engine, ssml('<break time="1s"/>')), { code: 'TEXT_EMPTY' });
  await assert.rejects(heard(engine, { ...ssml(''), text: `<speak>${'a'.repeat(4096)}</speak>` }), {
    code: 'TEXT_TOO_LONG',
  });
  assert.deepEqual(engine.begun, []);
});

/** Speaks English and German, each with a voice of its own. */
class TwoVoices extends ScriptedEngine {
  readonly requests: VoiceRequest[] = [];

  override resolve(request: VoiceRequest = {}): ResolvedVoice {
    this.requests.push(stated(request));
    const language = request.language?.slice(0, 2) ?? 'en';
    if (!['en', 'de'].includes(language))
      throw new ParleyError('LANGUAGE_UNAVAILABLE', `nobody speaks ${language}`);
    const own = language === 'en' ? 'ann' : 'bert';
    const { voice = own } = request;
    if (!['ann', 'bert'].includes(voice))
      throw new ParleyError('VOICE_UNKNOWN', `there is no voice "${voice}"`);
    if (voice !== own) throw new ParleyError('LANGUAGE_UNAVAILABLE', `${voice} does not speak ${language}`);
    return { engine: this, voice, language };
  }
}

test('voice and language change with the part that states them', async () => {
  const engine = new TwoVoices();
  await heard(
    engine,
    ssml('It is 3. <lang xml:lang="de-AT">Es sind 3.</lang> <voice name="ann">So 3.</voice>'),
  );
  assert.deepEqual(engine.begun, ['It is three.', 'Es sind drei.', 'So three.']);
  assert.deepEqual(engine.requests, [
    { language: 'en' },
    { language: 'de-AT' },
    { voice: 'ann', language: 'en' },
  ]);
});

test('where the voice of the request does not speak the language of a part, a voice that does speaks it', async () => {
  const engine = new TwoVoices();
  await heard(engine, ssml('One. <lang xml:lang="de">Zwei.</lang>', { voice: 'ann' }));
  assert.deepEqual(engine.requests.at(-1), { language: 'de' });
});

test('a voice or language that is not here is refused with the place of its part', async () => {
  const engine = new TwoVoices();
  await assert.rejects(heard(engine, ssml('One.\n<voice name="eve">Two.</voice>')), {
    code: 'VOICE_UNKNOWN',
    message: 'line 2, column 19 of the SSML in "text": there is no voice "eve"',
  });
  await assert.rejects(heard(engine, ssml('<lang xml:lang="fr">Deux.</lang>')), {
    code: 'LANGUAGE_UNAVAILABLE',
  });
});

test('a lexicon of the request is asked before that of the server, by every engine', async () => {
  const engine = new ScriptedEngine();
  const server = new Lexicon([
    { word: 'SQL', say: 'ess queue ell' },
    { word: 'IEEE', say: 'eye triple ee' },
  ]);
  const service = new SpeechService(engine, encoders, { ...LIMITS, lexicon: server });
  const lexicon = new Lexicon([{ word: 'SQL', say: 'sequel' }]);
  const request = {
    text: 'SQL is an IEEE thing.',
    language: 'en',
    format: formatNamed('pcm'),
    sampleRate: ENGINE_RATE,
    lexicon,
  } as const;
  for await (const _ of await service.openStream(request, never));
  assert.deepEqual(engine.begun, ['sequel is an eye triple ee thing.']);
});

test('renderings of one text with different lexicons, or as SSML and as words, are kept apart', async () => {
  const engine = new ScriptedEngine();
  const service = new SpeechService(engine, encoders, LIMITS);
  const cache = new AudioCache({ maxEntries: 10, maxBytes: 1_000_000 });
  const cached = new CachedSpeech(service, { cache, routing: engine, settings: encoders.settings });
  const base = {
    text: '<speak>SQL.</speak>',
    language: 'en',
    format: formatNamed('pcm'),
    sampleRate: ENGINE_RATE,
  } as const;
  const requests = [
    { ...base, markup: true },
    { ...base, markup: true, lexicon: new Lexicon([{ word: 'SQL', say: 'sequel' }]) },
    { ...base, markup: true, lexicon: new Lexicon([{ word: 'SQL', say: 'ess queue ell' }]) },
    base,
  ];
  for (const request of requests) {
    assert.equal(cached.find(request), undefined);
    for await (const _ of await cached.openStream(request, never));
    await until(() => cached.find(request) !== undefined);
  }
  assert.deepEqual(engine.begun.slice(1, 3), ['sequel.', 'ess queue ell.']);
});

function named(events: CallUnderTest['events']): string[] {
  return events.map((event) =>
    event.type === 'mark.reached'
      ? `mark ${event.mark}`
      : `${event.type} ${'text' in event ? event.text : ''}`,
  );
}

test('marks of a call are reported in order with its sentences, each when what stands before it was heard', async () => {
  const { call, events, pass, engine } = openCall();
  for (const text of ['One two.', 'Three.']) engine.sounds.set(text, buzz(100, 0.5));
  const text =
    '<speak><mark name="a"/>One <mark name="b"/>two. <mark name="c"/>Three.<break time="1s"/><mark name="d"/></speak>';
  const utterance = call.speak(text);
  await utterance.pushed;
  pass(80);
  assert.ok(!named(events).includes('mark b'));
  pass(80);
  assert.ok(named(events).includes('mark b') && !named(events).includes('mark c'));
  pass(3000);
  assert.deepEqual(named(events), [
    'utterance.started ',
    'mark a',
    'sentence.started One two.',
    'sentence.spoken One two.',
    'mark b',
    'mark c',
    'sentence.started Three.',
    'sentence.spoken Three.',
    'mark d',
    'sentence.started ',
    'sentence.spoken ',
    'utterance.spoken One two. Three.',
  ]);
});

test('a pause of a call is frames of silence, and an interruption in it tells no mark behind it', async () => {
  const { call, events, pass, engine, sent } = openCall();
  for (const text of ['One.', 'Two.']) engine.sounds.set(text, buzz(100, 0.5));
  const utterance = call.speak('<speak>One.<break time="2s"/><mark name="two"/>Two.</speak>');
  await until(() => call.stats().queuedMs >= 1100);
  sent();
  pass(1000);
  const silent = sent().filter(({ payload }) => payload.every((unit) => unit === 0xff));
  assert.equal(silent.length, (1000 - 100) / FRAME_MS);
  // The encoder reports the first sentence before anything of another call.
  await openCall().call.speak('Bye.').pushed;
  call.interrupt('test');
  assert.equal((await utterance.ended).text, 'One.');
  assert.ok(!named(events).includes('mark two'));
});

test('a pause before all sound of a call is heard, too', async () => {
  const { call, pass, engine, sent } = openCall();
  engine.sounds.set('One.', buzz(100, 0.5));
  const utterance = call.speak('<speak><break time="300ms"/>One.</speak>');
  await utterance.pushed;
  sent();
  pass(600);
  const heard = sent().map(({ payload }) => payload.every((unit) => unit === 0xff));
  assert.equal(heard.indexOf(false), 300 / FRAME_MS);
  assert.equal(heard.filter((isSilent) => !isSilent).length, 100 / FRAME_MS);
  await utterance.ended;
});

test('a call takes a text that begins with <speak as SSML, unless it is said to be words', async () => {
  const { call, engine, pass } = openCall();
  await call.speak('<speak>One.</speak>').pushed;
  await call.speak('One < two.', { format: 'text' }).pushed;
  await call.speak('<speak>Three.</speak>', { format: 'text' }).pushed;
  pass(10_000);
  assert.equal(engine.begun[0], 'One.');
  assert.match(engine.begun[2] ?? '', /speak/);
  assert.throws(() => call.speak('Four.', { format: 'ssml' }), { code: 'INVALID_FIELD' });
});

test('what was heard of a part at another pace is counted at that pace', async () => {
  const { call, engine, pass } = openCall();
  engine.sounds.set('one two three four.', buzz(2000, 0.5));
  engine.words.set(
    'one two three four.',
    ['one', 'two', 'three', 'four.'].map((word, index) => ({
      word,
      textOffset: 'one two three four.'.indexOf(word),
      startMs: index * 500,
    })),
  );
  const utterance = call.speak('<speak><prosody rate="200%">one two three four.</prosody></speak>');
  await utterance.pushed;
  pass(500);
  call.interrupt('test');
  assert.equal((await utterance.ended).text, 'one two');
});

test('a sentence that was kept at one pace and loudness is not taken for another', async () => {
  const frames = new FrameCache(1_000_000, encoders.settings);
  const { call, engine, pass, sent } = openCall(frames);
  engine.sounds.set('Two.', buzz(400, 0.5));
  const packets = async (body: string) => {
    sent();
    const utterance = call.speak(`<speak>${body}</speak>`);
    await utterance.pushed;
    pass(2000);
    await utterance.ended;
    return sent().map(({ payload }) => [...payload]);
  };
  const fast = await packets('<prosody rate="200%" volume="50">Two.</prosody>');
  await until(() => frames.figures.entries === 1);
  const plain = await packets('Two.');
  await until(() => frames.figures.entries === 2);
  assert.deepEqual(await packets('<prosody rate="200%" volume="50">Two.</prosody>'), fast);
  assert.notDeepEqual(plain, fast);
  assert.equal(engine.begun.length, 2);
});

test('a greeting in SSML is prepared sentence by sentence', async () => {
  const frames = new FrameCache(1_000_000, encoders.settings);
  const engine = new ScriptedEngine();
  const prepared = new PreparedSpeech({
    routing: engine,
    encoders,
    frames,
    limits: LIMITS,
    time: new ManualTime(0),
  });
  const text = '<speak>One.<break time="1s"/><prosody rate="fast">Two.</prosody></speak>';
  assert.equal(await prepared.prepare({ text, codec: PCMU, frameMs: FRAME_MS }), 2);
  const { call, engine: own, pass } = openCall(frames);
  // One routing for all, because a key holds only the names of an engine.
  const utterance = call.speak(text);
  await utterance.pushed;
  pass(5000);
  assert.deepEqual(own.begun, []);
  await prepared.close();
});

test('in one breath a stated pause begins another one, and another pace stands alone', async () => {
  const engine = new StreamingEngine();
  const service = new SpeechService(engine, encoders, LIMITS, { continuity: new Continuity('utterance') });
  const body = 'One. Two.<break time="1s"/>Three. Four. <prosody rate="fast">Five.</prosody>';
  for await (const _ of await service.openStream(ssml(body), never));
  assert.deepEqual(
    engine.generations.map(({ text }) => text),
    ['One. Two.', 'Three. Four.', 'Five.'],
  );
});

test('over a WebSocket a document is one sound', async () => {
  const engine = engineOf('One.', 'Two.');
  const service = new SpeechService(engine, encoders, LIMITS);
  const cache = new AudioCache({ maxEntries: 10, maxBytes: 1_000_000 });
  const speech = new CachedSpeech(service, { cache, routing: engine, settings: encoders.settings });
  const speaker = new SpokenSentences({ speech, routing: engine, limits: LIMITS });
  const settings = {
    format: formatNamed('pcm'),
    sampleRate: ENGINE_RATE,
    client: 'test',
    language: 'en',
    markup: true,
  } as const;
  const sizes: number[] = [];
  for await (const { sound } of speaker.speak('<speak>One.<break time="1s"/>Two.</speak>', settings, never)) {
    let size = 0;
    for await (const chunk of sound) size += chunk.length;
    sizes.push(size / 2 / PER_MS);
  }
  assert.deepEqual(sizes, [1200]);
});
