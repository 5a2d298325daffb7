// Sends texts to a real server and reads the bytes of its answers. Engine, rings, encoder worker and sockets
// are real.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { PcmRing } from '../../../src/audio/pcm-ring.js';
import { watchedHandles } from '../../../src/audio/ready.js';
import { wavHeader } from '../../../src/codecs/wav.js';
import { readConfig } from '../../../src/config/config.js';
import type { SpeechEngine } from '../../../src/engines/engine.js';
import { fliteEngine } from '../../../src/engines/flite/flite.js';
import { Engines } from '../../../src/engines/routing.js';
import { QWEN_VOICES } from '../../../src/engines/voice-names.js';
import { WorkerEngine } from '../../../src/engines/worker-engine.js';
import { type Server, startServer } from '../../../src/main.js';
import { readAll } from '../../engines/read-ring.js';
import { InstantEngine } from '../../fakes/engines.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { until } from '../../fakes/until.js';
import { errorIn } from '../app-under-test.js';
import { SocketClient } from '../http/socket-client.js';
import { temporaryFolder } from '../http/tls-files.js';

const CONFIG = readConfig({ PORT: '0', SIP_ENABLED: '0', ENGINE: 'flite', LOG_LEVEL: 'silent' });
const RATE = 24_000; // Hz, of every answer
const SENTENCES = ['Good morning, and thank you for calling.', 'Your order left our house this evening.'];
const TEXT = SENTENCES.join(' ');
const LONG = 'And so it went on and on, and nobody knew what to do about it. '.repeat(60); // minutes

// Each sentence is trimmed at both ends where its sound is below the threshold, except for the lead-in and
// tail. A pause separates sentences.
const THRESHOLD = 10 ** (-50 / 20);
const LEAD_IN_MS = 20;
const TAIL_MS = 80;
const PAUSE_MS = 160;

interface SpeechEvent {
  readonly type: string;
  readonly audio?: string;
  readonly usage?: Readonly<Record<string, number>>;
}

let server: Server;
/** Watched in this thread while nobody asks for anything. */
let idleHandles = 0;

before(async () => {
  server = await startServer(CONFIG);
  idleHandles = watchedHandles();
});
after(() => server.close());

function ask(url: string, fields: Record<string, unknown>, signal?: AbortSignal): Promise<Response> {
  return fetch(`${url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'parley', voice: 'slt', response_format: 'wav', ...fields }),
    ...(signal === undefined ? {} : { signal }),
  });
}

async function bodyOf(answer: Response): Promise<Buffer> {
  return Buffer.from(await answer.arrayBuffer());
}

async function freed({ encoders }: Server): Promise<void> {
  await until(
    () => encoders.sessions.every((sessions) => sessions === 0) && watchedHandles() === idleHandles,
  );
}

/** Milliseconds of one sentence as the engine alone makes it, without the silence around it. */
async function soundMs(engine: SpeechEngine, text: string): Promise<number> {
  const rate = engine.sampleRate('slt');
  const ring = PcmRing.open(rate, rate);
  const made = engine.synthesize({ text, voice: 'slt', language: 'en' }, ring, new AbortController().signal);
  const { samples } = await readAll(ring);
  await made;
  ring.close();
  const isSound = (sample: number) => Math.abs(sample) >= THRESHOLD;
  const start = Math.max(0, samples.findIndex(isSound) - (LEAD_IN_MS * rate) / 1000);
  const end = Math.min(samples.length, samples.findLastIndex(isSound) + 1 + (TAIL_MS * rate) / 1000);
  return ((end - start) * 1000) / rate;
}

test('a WAV says what it is and holds every sample of the text; the raw samples are the same without it', async (t) => {
  const wav = await ask(server.url, { input: TEXT });
  assert.equal(wav.status, 200);
  assert.equal(wav.headers.get('content-type'), 'audio/wav');
  const file = await bodyOf(wav);
  assert.deepEqual(file.subarray(0, 44), Buffer.from(wavHeader(RATE)));
  const raw = await ask(server.url, { input: TEXT, response_format: 'pcm' });
  assert.equal(raw.headers.get('content-type'), 'audio/pcm');
  assert.equal(raw.headers.get('x-pcm-sample-rate'), String(RATE));
  const samples = await bodyOf(raw);
  assert.equal(samples.length, file.length - 44);
  assert.ok(samples.equals(file.subarray(44)));

  const engine = fliteEngine({ maxWaiting: 4, renderTimeoutMs: 20_000 });
  t.after(() => engine.close());
  const [first, second] = [
    await soundMs(engine, SENTENCES[0] ?? ''),
    await soundMs(engine, SENTENCES[1] ?? ''),
  ];
  const wanted = ((first + PAUSE_MS + second) * RATE) / 1000;
  assert.ok(first > 1000 && second > 1000);
  // The resampler may round the length of each sentence by one sample.
  assert.ok(Math.abs(samples.length / 2 - wanted) <= 2, `${samples.length / 2} samples, not ${wanted}`);
  await freed(server);
});

test('whole, streamed or in events, it is the same sound, with what it took', async () => {
  const fresh = { input: TEXT, cache: false };
  const streamed = await bodyOf(await ask(server.url, fresh));
  const whole = await ask(server.url, { ...fresh, stream: false });
  const file = await bodyOf(whole);
  const samples = (streamed.length - 44) / 2;
  assert.ok(file.equals(Buffer.concat([wavHeader(RATE, samples), streamed.subarray(44)])));
  assert.ok(Number(whole.headers.get('x-latency-infer-ms')) > 0);
  assert.ok(Number(whole.headers.get('x-latency-encode-ms')) > 0);
  assert.match(whole.headers.get('server-timing') ?? '', /^queue;dur=.*total;dur=[\d.]+$/);

  const events = (await (await ask(server.url, { ...fresh, stream_format: 'sse' })).text())
    .trim()
    .split('\n\n');
  const data = events.map((event) => JSON.parse(event.slice(event.indexOf('data: ') + 6)) as SpeechEvent);
  const done = data.pop();
  const sound = Buffer.concat(data.map(({ audio = '' }) => Buffer.from(audio, 'base64')));
  assert.ok(sound.equals(streamed));
  assert.equal(done?.type, 'speech.audio.done');
  assert.deepEqual(done.usage, {
    input_tokens: Math.ceil(TEXT.length / 4),
    output_tokens: Math.ceil((samples / RATE) * 12.5),
    total_tokens: Math.ceil(TEXT.length / 4) + Math.ceil((samples / RATE) * 12.5),
  });
  await freed(server);
});

test('what flite cannot do is named, or refused where nothing of it would be left', async () => {
  const received = await ask(server.url, {
    input: 'Hello.',
    instructions: 'cheerful',
    temperature: 1,
    cache: false,
  });
  assert.equal(received.headers.get('x-ignored-fields'), 'instructions, temperature');
  assert.ok((await bodyOf(received)).length > 44);
  for (const fields of [
    { ref_audio: 'data:audio/wav;base64,AA==' },
    { task_type: 'VoiceDesign', instructions: 'an old man' },
  ]) {
    const answer = await ask(server.url, { input: 'Hello.', ...fields });
    assert.equal(answer.status, 501);
    const { message, code } = errorIn(await answer.text());
    assert.equal(code, 'capability_missing');
    assert.match(message, /flite/);
  }
  await freed(server);
});

test('the first sound is with the client before the last sentence is made', async (t) => {
  const engine = fliteEngine({ maxWaiting: 4, renderTimeoutMs: 20_000 });
  const last = SENTENCES[1] ?? '';
  let letGo: () => void = () => undefined;
  const heard = new Promise<void>((resolve) => (letGo = resolve));
  const made: string[] = [];
  const synthesize = engine.synthesize.bind(engine);
  engine.synthesize = async (request, out, signal) => {
    if (request.text === last) await heard;
    const end = await synthesize(request, out, signal);
    made.push(request.text);
    return end;
  };
  const held = await startServer(CONFIG, { engines: await Engines.of([engine]) });
  t.after(() => held.close());
  const answer = await ask(held.url, { input: TEXT });
  assert.equal(answer.headers.get('transfer-encoding'), 'chunked');
  const reader = answer.body?.getReader();
  assert.ok(reader !== undefined);
  const parts: Uint8Array[] = [];
  // Header and more than a second of the first sentence, before the second one is begun.
  for (let bytes = 0; bytes < 44 + 2 * RATE; bytes = Buffer.concat(parts).length) {
    const { value } = await reader.read();
    assert.ok(value !== undefined);
    parts.push(value);
  }
  assert.ok(!made.includes(last));
  letGo();
  for (let part = await reader.read(); !part.done; part = await reader.read()) parts.push(part.value);
  assert.deepEqual(made, SENTENCES);
  assert.ok(Buffer.concat(parts).equals(await bodyOf(await ask(server.url, { input: TEXT }))));
});

test('a client that leaves in the middle frees what worked for it', async () => {
  const client = new AbortController();
  const answer = await ask(server.url, { input: LONG }, client.signal);
  const reader = answer.body?.getReader();
  assert.ok(reader !== undefined);
  assert.ok(((await reader.read()).value?.length ?? 0) > 44);
  assert.equal(
    server.encoders.sessions.reduce((sum, sessions) => sum + sessions, 0),
    1,
  );
  client.abort();
  await assert.rejects(reader.read(), { name: 'AbortError' });
  await freed(server);
});

test('clients that leave before they heard anything, all at once, leave nothing either', async () => {
  const client = new AbortController();
  const asked = Array.from({ length: 8 }, () => ask(server.url, { input: LONG }, client.signal));
  await until(() => server.encoders.sessions.some((sessions) => sessions > 0));
  client.abort();
  await Promise.allSettled(asked);
  await freed(server);
  assert.equal((await ask(server.url, { input: 'Still here.' })).status, 200);
});

test('requests at the same time are each answered with their own sound', async () => {
  const wishes = ['slt', 'rms', 'awb', 'kal'].flatMap((voice, n) => [
    { voice, input: TEXT },
    { voice, input: `This is the number ${n}. And so on.`, response_format: 'pcm' },
  ]);
  const alone: Buffer[] = [];
  for (const wish of wishes) alone.push(await bodyOf(await ask(server.url, wish)));
  assert.equal(new Set(alone.map((body) => body.toString('base64'))).size, wishes.length);
  const together = await Promise.all(wishes.map(async (wish) => bodyOf(await ask(server.url, wish))));
  together.forEach((body, n) => assert.ok(alone[n]?.equals(body) === true, JSON.stringify(wishes[n])));
  await freed(server);
});

test('what the server cannot speak is refused in full, before any sound', async () => {
  const cases = [
    [{ input: 'Bonjour.', voice: undefined, language: 'fr' }, 'language'],
    [{ input: 'Hello.', voice: 'nobody' }, 'voice'],
    [{ input: 'x'.repeat(CONFIG.texts.maxTextLength + 1) }, 'input'],
    [{ input: ' ... ' }, 'input'],
  ] as const;
  for (const [fields, field] of cases) {
    const answer = await ask(server.url, fields);
    assert.equal(answer.status, 400, field);
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
    assert.equal(errorIn(await answer.text()).param, field);
  }
  await freed(server);
});

test('a voice of OpenAI or Qwen is spoken by a stand-in that a header names, made anew or kept', async () => {
  const [vivian, plain] = [{ input: 'Hello.', voice: 'vivian' }, { input: 'Hello.' }];
  for (const voice of [
    'alloy',
    'vivian',
    'serena',
    'uncle_fu',
    'dylan',
    'eric',
    'ryan',
    'aiden',
    'ono_anna',
    'sohee',
  ]) {
    for (const cache of ['miss', 'hit']) {
      const answer = await ask(server.url, { ...plain, voice, response_format: 'mp3' });
      assert.equal(answer.status, 200);
      await bodyOf(answer);
      const received = [answer.headers.get('x-voice'), answer.headers.get('x-cache')];
      assert.deepEqual(received, [QWEN_VOICES[voice] ?? 'slt', cache], voice);
    }
  }
  const events = await ask(server.url, { ...vivian, stream_format: 'sse' });
  assert.equal(events.headers.get('x-voice'), 'slt');
  await bodyOf(events);
  const own = await ask(server.url, plain);
  assert.equal(own.headers.get('x-voice'), null);
  await bodyOf(own);
  await freed(server);
});

test("the ids of ElevenLabs' voices and Qwen's names speak at ElevenLabs' addresses", async (t) => {
  const file = join(temporaryFolder(t), 'voices.json');
  writeFileSync(file, JSON.stringify({ '21m00Tcm4TlvDq8ikWAM': 'rms', pNInz6obpgDQGcFmaJgB: 'Vivian' }));
  const environment = { PORT: '0', SIP_ENABLED: '0', ENGINE: 'flite', LOG_LEVEL: 'silent' };
  const other = await startServer(readConfig({ ...environment, ELEVENLABS_VOICES_FILE: file }));
  t.after(() => other.close());
  const speak = async (url: string, voice: string) => {
    const answer = await fetch(`${url}/v1/text-to-speech/${voice}/with-timestamps?output_format=pcm_16000`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'Hello there.' }),
    });
    const body = (await answer.json()) as { audio_base64?: string; detail?: { status: string } };
    return { body, received: [answer.status, answer.headers.get('x-voice')] };
  };
  const [rms, slt] = [await speak(other.url, 'rms'), await speak(other.url, 'slt')];
  const [one, two] = [
    await speak(other.url, '21m00Tcm4TlvDq8ikWAM'),
    await speak(other.url, 'pNInz6obpgDQGcFmaJgB'),
  ];
  assert.deepEqual(
    [rms.received, slt.received],
    [
      [200, null],
      [200, null],
    ],
  );
  assert.deepEqual(
    [one.received, two.received],
    [
      [200, null],
      [200, 'slt'],
    ],
  );
  assert.equal(one.body.audio_base64, rms.body.audio_base64);
  assert.equal(two.body.audio_base64, slt.body.audio_base64);
  assert.deepEqual((await speak(other.url, 'vivian')).received, [200, 'slt']);
  for (const path of ['stream-input', 'multi-stream-input']) {
    for (const [voice, { body }] of [
      ['21m00Tcm4TlvDq8ikWAM', rms],
      ['pNInz6obpgDQGcFmaJgB', slt],
    ] as const) {
      const address = `${other.url}/v1/text-to-speech/${voice}/${path}?output_format=pcm_16000`;
      const client = await SocketClient.open(t, address);
      client.send({ text: 'Hello there.' });
      client.send(path === 'stream-input' ? { text: '' } : { close_socket: true });
      await client.closed();
      const parts = client.received.map(({ audio }) => (typeof audio === 'string' ? audio : ''));
      const sound = Buffer.concat(parts.map((part) => Buffer.from(part, 'base64')));
      assert.equal(sound.toString('base64'), body.audio_base64, `${voice} ${path}`);
    }
  }
  const unmapped = await speak(server.url, '21m00Tcm4TlvDq8ikWAM');
  assert.deepEqual([unmapped.received[0], unmapped.body.detail?.status], [400, 'voice_not_found']);
  const listed = (await (await fetch(`${other.url}/v1/voices`)).json()) as { voices: { voice_id: string }[] };
  const ids = listed.voices.map(({ voice_id: id }) => id).slice(-2);
  assert.deepEqual(ids, ['21m00Tcm4TlvDq8ikWAM', 'pNInz6obpgDQGcFmaJgB']);
});

test('unknown voices in the configuration keep the server from starting, all named at once', async (t) => {
  const file = join(temporaryFolder(t), 'voices.json');
  writeFileSync(file, JSON.stringify({ good: 'slt', wrong: 'Rachel', worse: 'Adam' }));
  const environment = {
    PORT: '0',
    SIP_ENABLED: '0',
    ENGINE: 'flite',
    LOG_LEVEL: 'silent',
    DEFAULT_VOICE: 'Anna',
  };
  await assert.rejects(startServer(readConfig({ ...environment, ELEVENLABS_VOICES_FILE: file })), {
    code: 'CONFIG_INVALID',
    message:
      /^the configuration is not usable:\n- DEFAULT_VOICE: there is no voice "Anna".*\n- ELEVENLABS_VOICES_FILE "wrong": there is no voice "Rachel".*\n- ELEVENLABS_VOICES_FILE "worse": there is no voice "Adam".*$/,
  });
});

test('/health is answered while twenty long texts are read, over HTTP and over WebSockets', async (t) => {
  const worst = '0-'.repeat(2000);
  const engine = new InstantEngine();
  engine.behaviour = { kind: 'hang' };
  const other = await startServer(CONFIG, { engines: await Engines.of([engine]) });
  t.after(() => other.close());
  const health = async () => {
    const answer = await fetch(`${other.url}/health`);
    assert.equal(answer.status, 200);
    await answer.arrayBuffer();
    return engine.requests.length;
  };
  const clients = await Promise.all(
    Array.from({ length: 20 }, () => SocketClient.open(t, `${other.url}/v1/audio/speech/ws`)),
  );
  await health(); // whatever is made once is made
  for (const client of clients) client.send({ input: worst, cache: false });
  // No text was read to its end: the engine is given the first sentence of a text only then.
  assert.equal(await health(), 0);
  await until(() => engine.requests.length === 20);
  for (const client of clients) client.socket.terminate();
  await until(() => engine.active === 0);

  const controller = new AbortController();
  const answers = Array.from({ length: 20 }, () =>
    ask(other.url, { input: worst, voice: 'alloy', cache: false }, controller.signal),
  );
  assert.equal(await health(), 20);
  await until(() => engine.requests.length >= 40);
  controller.abort();
  await Promise.allSettled(answers);
  await until(() => engine.active === 0);
});

// In the tests below, engines come and go behind a real server: they load for the first request and unload
// when idle.

const IDLE_MS = 60_000; // minutes
const ENVIRONMENT = { PORT: '0', SIP_ENABLED: '0', ENGINE: 'flite', LOG_LEVEL: 'silent' };

async function serve(t: TestContext, environment: Record<string, string>, engine?: SpeechEngine) {
  const engines = engine === undefined ? undefined : await Engines.of([engine]);
  const config = readConfig({ ...ENVIRONMENT, ...environment });
  const server = await startServer(config, engines === undefined ? {} : { engines });
  t.after(() => server.close());
  return {
    ask: (input: string, signal?: AbortSignal) =>
      fetch(`${server.url}/v1/audio/speech`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'parley', input, response_format: 'pcm' }),
        ...(signal === undefined ? {} : { signal }),
      }),
    health: async (): Promise<Record<string, unknown>> => {
      const answer = await fetch(`${server.url}/health`);
      return { code: answer.status, ...((await answer.json()) as object) };
    },
    modelLoaded: async () => {
      const text = await (await fetch(`${server.url}/metrics`)).text();
      return /^tts_model_loaded (.*)$/m.exec(text)?.[1];
    },
  };
}

/** An engine whose thread does as the test says, or does not come up. */
function oddEngine(data?: string): WorkerEngine {
  return new WorkerEngine({
    capabilities: {
      clone: false,
      design: false,
      instruct: false,
      sampling: false,
      wordTimes: false,
      textStreaming: false,
      languages: ['en'],
    },
    voices: [{ name: 'odd', engine: 'odd', languages: ['en'], description: '' }],
    rateOf: () => 24_000,
    warmsUp: false,
    limits: { maxWaiting: 8, renderTimeoutMs: 20_000 },
    thread: {
      engine: 'odd',
      file: new URL('../../engines/odd-worker.js', import.meta.url),
      data,
      renderTimeoutMs: 20_000,
    },
  });
}

test('the first request loads the engine, idleness lets it go, and what is in the cache does not bring it back', async (t) => {
  const time = new ManualTime();
  const engine = fliteEngine({ maxWaiting: 8, renderTimeoutMs: 20_000, idleMs: IDLE_MS, time });
  const { ask, health, modelLoaded } = await serve(t, { PRELOAD_MODEL: '0' }, engine);
  const received = await health();
  assert.deepEqual([received.code, received['status'], received['model_loaded']], [200, 'ok', false]);
  assert.deepEqual([received['engine'], received['device'], received['cuda']], ['flite', 'cpu', false]);
  assert.equal(await modelLoaded(), '0');

  const first = await ask('Good morning.');
  const sound = Buffer.from(await first.arrayBuffer());
  assert.deepEqual([first.status, first.headers.get('x-cache')], [200, 'miss']);
  assert.deepEqual([(await health())['model_loaded'], await modelLoaded()], [true, '1']);

  time.advance(IDLE_MS);
  assert.deepEqual([engine.loaded, (await health())['status']], [false, 'ok']);
  const again = await ask('Good morning.');
  assert.equal(again.headers.get('x-cache'), 'hit');
  assert.ok(sound.equals(Buffer.from(await again.arrayBuffer())));
  assert.equal((await health())['model_loaded'], false);

  assert.equal((await ask('Good evening.')).status, 200);
  assert.equal(engine.loaded, true);
});

test('IDLE_TIMEOUT and PRELOAD_MODEL come from the environment; by default the engine is there, and stays', async (t) => {
  const usual = await serve(t, {});
  assert.equal((await usual.health())['model_loaded'], true);
  const lazy = await serve(t, { PRELOAD_MODEL: '0', IDLE_TIMEOUT: '0.05' });
  assert.equal((await lazy.health())['model_loaded'], false);
  for (const text of ['One is made.', 'And another.']) {
    assert.equal((await lazy.ask(text)).status, 200);
    const limit = performance.now() + 10_000;
    while ((await lazy.health())['model_loaded'] === true) assert.ok(performance.now() < limit);
  }
  assert.equal((await usual.health())['model_loaded'], true);
});

test('a server whose engine cannot be loaded does not start, unless it need not be loaded yet', async (t) => {
  await assert.rejects(serve(t, {}, oddEngine('crash at load')), {
    code: 'ENGINE_FAILED',
    message: /the voices are missing/,
  });
  const { ask, health } = await serve(t, { PRELOAD_MODEL: '0' }, oddEngine('crash at load'));
  assert.equal((await health()).code, 200, 'nothing is known against it');
  for (const text of ['One.', 'Two.']) {
    const answer = await ask(text);
    assert.equal(answer.status, 503);
    const { code, message } = errorIn(await answer.text());
    assert.equal(code, 'engine_unavailable');
    assert.ok(!message.includes('the voices are missing'), 'what is wrong is for the log');
    assert.match(answer.headers.get('retry-after') ?? '', /^[123]$/);
  }
  const received = await health();
  assert.deepEqual(
    [received.code, received['status'], received['engines']],
    [503, 'no engine', { odd: false }],
  );
});

test('a client that leaves while the engine is loaded frees its place for the next one', async (t) => {
  const engine = oddEngine('hang at load');
  const { ask } = await serve(t, { PRELOAD_MODEL: '0' }, engine);
  const clients = Array.from({ length: 3 }, () => new AbortController());
  const asked = Promise.allSettled(clients.map(({ signal }, n) => ask(`This is number ${n}.`, signal)));
  await until(() => engine.waiting === 2);
  clients[0]?.abort(); // it had its turn, and waited for the load
  await until(() => engine.waiting === 1);
  clients[2]?.abort(); // one of the others is next, the other one or the same
  clients[1]?.abort();
  await until(() => engine.waiting === 0);
  const ends = await asked;
  assert.deepEqual(
    ends.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  );
});

test('a load that takes longer than a request may is answered with 504', async (t) => {
  const engine = oddEngine('hang at load');
  const { ask } = await serve(t, { PRELOAD_MODEL: '0', REQUEST_TIMEOUT: '0.1' }, engine);
  const answers = await Promise.all([ask('One.'), ask('Two.')]);
  for (const answer of answers) {
    assert.equal(answer.status, 504);
    assert.equal(errorIn(await answer.text()).code, 'timeout');
  }
  await until(() => engine.waiting === 0);
});

test('a client that dawdles keeps the engine from nobody, and lets go of it when it leaves', async (t) => {
  const time = new ManualTime();
  const engine = fliteEngine({ maxWaiting: 8, renderTimeoutMs: 20_000, idleMs: IDLE_MS, time });
  const { ask } = await serve(t, {}, engine);
  const client = new AbortController();
  const slow = await ask(LONG, client.signal);
  assert.equal((await ask('Somebody else.')).status, 200);
  time.advance(IDLE_MS);
  client.abort();
  await assert.rejects(slow.arrayBuffer(), { name: 'AbortError' });
  await until(() => {
    time.advance(IDLE_MS); // from when nothing is in hand any more
    return !engine.loaded;
  });
  assert.equal((await ask('Whoever comes next.')).status, 200);
});

test('SILENCE_THRESHOLD_DB is how loud the edges of a sentence have to be', async (t) => {
  const lengths: number[] = [];
  for (const threshold of ['-120', '-50', '-20']) {
    const { ask } = await serve(t, { SILENCE_THRESHOLD_DB: threshold });
    lengths.push((await (await ask('Hush, hush, hush.')).arrayBuffer()).byteLength);
  }
  const [all = 0, usual = 0, loud = 0] = lengths;
  assert.ok(all > usual && usual > loud && loud > 0, lengths.join(' > '));
});
