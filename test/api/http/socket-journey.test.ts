// Text to sound over a WebSocket with everything real: client, server, engine,
// rings, encoder worker.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { watchedHandles } from '../../../src/audio/ready.js';
import { readConfig } from '../../../src/config/config.js';
import { startServer, type Server } from '../../../src/main.js';
import { until } from '../../fakes/until.js';
import { errorIn } from '../app-under-test.js';
import { refusal, SocketClient } from './socket-client.js';

const CONFIG = readConfig({
  PORT: '0',
  SIP_ENABLED: '0',
  ENGINE: 'flite',
  LOG_LEVEL: 'silent',
  AUDIO_CACHE_MAX: '0',
});
const SENTENCES = ['Good morning, and thank you for calling.', 'Your order left our house this evening.'];
const TEXT = SENTENCES.join(' ');
const LONG = 'And so it went on and on, and nobody knew what to do about it. '.repeat(40); // minutes
const LEGACY = '/v1/audio/speech/ws';
const OMNI = '/v1/audio/speech/stream';

let server: Server;
/** Watched in this thread while nobody asks for anything. */
let idleHandles = 0;

before(async () => {
  server = await startServer(CONFIG);
  idleHandles = watchedHandles();
});
after(() => server.close());

async function freed({ encoders }: Server): Promise<void> {
  await until(
    () => encoders.sessions.every((sessions) => sessions === 0) && watchedHandles() === idleHandles,
  );
}

async function spokenOverHttp(input: string): Promise<Buffer> {
  const answer = await fetch(`${server.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input, voice: 'slt', response_format: 'pcm' }),
  });
  assert.equal(answer.status, 200);
  return Buffer.from(await answer.arrayBuffer());
}

test('a text sounds as it does over HTTP, its sentences apart as far as there', async (t) => {
  const client = await SocketClient.open(t, `${server.url}${LEGACY}`);
  client.send({ input: SENTENCES[0], voice: 'slt' });
  await until(() => client.received.length === 1);
  assert.deepEqual(client.received, [{ event: 'done' }]);
  assert.ok(client.sound.equals(await spokenOverHttp(SENTENCES[0] ?? '')));

  client.messages.length = 0;
  client.send({ input: TEXT, voice: 'slt' });
  await until(() => client.received.length === 1);
  const whole = await spokenOverHttp(TEXT);
  // Each sentence has a resampler of its own, which may round its length.
  assert.ok(Math.abs(client.sound.length - whole.length) <= 8, `${client.sound.length}, not ${whole.length}`);
  await freed(server);
  assert.match(
    await server.metrics.exposition(),
    /first_audio_seconds_count\{protocol="websocket",door="websocket"\} 2/,
  );
});

test('a cancellation stops a long text, and the next one is heard', async (t) => {
  const client = await SocketClient.open(t, `${server.url}${LEGACY}`);
  client.send({ input: LONG, voice: 'slt' });
  await until(() => client.sound.length > 0);
  client.send({ event: 'cancel' });
  await until(() => client.received.length === 1);
  assert.deepEqual(client.received, [{ event: 'cancelled' }]);
  await freed(server);
  const heard = client.messages.length;
  client.send({ input: 'Still here.', voice: 'slt' });
  await until(() => client.received.length === 2);
  assert.deepEqual([client.received[1], client.messages.length > heard + 1], [{ event: 'done' }, true]);
});

test('tokens become sentences that sound before the text has ended', async (t) => {
  const client = await SocketClient.open(t, `${server.url}${OMNI}`);
  client.send({ type: 'session.config', voice: 'slt', language: 'English' });
  for (const token of `${TEXT} And`.match(/\S+\s?/g) ?? []) client.send({ type: 'input.text', text: token });
  await until(() => client.received.length === 4);
  client.send({ type: 'input.text', text: ' that is all.' });
  client.send({ type: 'input.done' });
  await until(() => client.received.length === 7);
  assert.deepEqual(
    client.received.map(({ type, sentence_text: words, error }) => [type, words ?? error]),
    [
      ['audio.start', SENTENCES[0]],
      ['audio.done', false],
      ['audio.start', SENTENCES[1]],
      ['audio.done', false],
      ['audio.start', 'And that is all.'],
      ['audio.done', false],
      ['session.done', undefined],
    ],
  );
  const files = client.messages.filter((message) => typeof message !== 'string');
  assert.equal(files.length, 3);
  for (const [index, file] of files.entries()) {
    assert.deepEqual([file.toString('latin1', 0, 4), file.readUInt32LE(40)], ['RIFF', file.length - 44]);
    assert.equal(client.received[2 * index + 1]?.['total_bytes'], file.length);
  }
  client.send({ type: 'session.close' });
  assert.deepEqual(await client.closed(), [1000, '']);
  await freed(server);
});

test('word times come after the audio of their sentence, and a committed text before the next commit', async (t) => {
  const client = await SocketClient.open(t, `${server.url}${OMNI}`);
  const config = { type: 'session.config', voice: 'slt', response_format: 'pcm', stream_audio: true };
  client.send({ ...config, word_timestamps: true });
  client.send({ type: 'input.text', text: SENTENCES[0] });
  client.send({ type: 'input.done' });
  await until(() => client.received.at(-1)?.['type'] === 'session.done');
  const chunks = client.received.filter(({ type }) => type === 'audio.chunk');
  const audio = Buffer.concat(chunks.map(({ audio_b64: bytes }) => Buffer.from(String(bytes), 'base64')));
  assert.ok(audio.equals(await spokenOverHttp(SENTENCES[0] ?? '')));
  const words = chunks.at(-1)?.['timestamps'] as { word: string; start_ms: number; end_ms: number }[];
  assert.equal(
    words.map(({ word }) => word.replace(/\W/g, '')).join(' '),
    SENTENCES[0]?.replace(/[,.]/g, ''),
  );
  const times = words.flatMap(({ start_ms: startMs, end_ms: endMs }) => [startMs, endMs]);
  assert.deepEqual(
    times,
    times.toSorted((one, other) => one - other),
  );
  assert.ok((times.at(-1) ?? 0) <= audio.length / 48, 'within the audio');

  client.messages.length = 0;
  client.send({ ...config, streaming_mode: 'sentence_commit' });
  client.send({ type: 'input.text', text: SENTENCES[0] });
  client.send({ type: 'input.commit', commit_id: 'first' });
  await until(() => client.sound.length > 0);
  assert.deepEqual(client.received[0]?.['commit_id'], 'first');
  client.send({ type: 'input.text', text: SENTENCES[1] });
  client.send({ type: 'input.done' });
  await until(() => client.received.at(-1)?.['type'] === 'session.done');
  assert.deepEqual(client.received.at(-1)?.['total_sentences'], 2);
  assert.ok(client.sound.length > audio.length);
  await freed(server);
});

test('clients that vanish in the middle of a sentence leave no work behind', async (t) => {
  const clients = [
    await SocketClient.open(t, `${server.url}${LEGACY}`),
    await SocketClient.open(t, `${server.url}${OMNI}`),
  ];
  clients[0]?.send({ input: LONG });
  clients[1]?.send({ type: 'session.config', response_format: 'pcm', stream_audio: true });
  clients[1]?.send({ type: 'input.text', text: LONG });
  for (const client of clients) await until(() => client.sound.length > 0);
  for (const client of clients) client.socket.terminate();
  await freed(server);
});

test('keys are wanted where there are some, and a server that closes says so to everybody', async (t) => {
  const key = 'a-key-of-sixteen-or-more';
  const closed = await startServer({
    ...CONFIG,
    access: { ...CONFIG.access, apiKeys: [key], maxSockets: 1 },
  });
  t.after(() => closed.close());
  const url = `${closed.url}${LEGACY}`;
  await assert.rejects(SocketClient.open(t, url), /401/);
  const client = await SocketClient.open(t, url, { protocols: [`openai-insecure-api-key.${key}`] });
  await assert.rejects(SocketClient.open(t, url, { headers: { 'xi-api-key': key } }), /503/);
  client.send({ input: LONG });
  await until(() => client.sound.length > 0);
  await closed.close();
  assert.deepEqual(await client.closed(), [1001, 'the server closes']);
});

const ELEVEN =
  'it takes "apply_text_normalization", "authorization", "auto_mode", "enable_logging", "enable_ssml_parsing", ' +
  '"inactivity_timeout", "language_code", "model_id", "optimize_streaming_latency", "output_format", "seed", ' +
  '"single_use_token", "sync_alignment"';

for (const [path, allowed] of [
  [LEGACY, 'it takes none'],
  [OMNI, 'it takes none'],
  ['/v1/audio/transcriptions/stream', 'it takes none'],
  ['/v1/jambonz/stt', 'it takes none'],
  ['/v1/jambonz/tts', 'it takes "voice", "language", "sampleRate"'],
  ['/v1/realtime', 'it takes "intent", "model", "agent"'],
  ['/v1/calls/call_1/socket', 'it takes "after"'],
  ['/v1/text-to-speech/slt/stream-input', ELEVEN],
  ['/v1/text-to-speech/slt/multi-stream-input', ELEVEN],
] as const) {
  test(`a query parameter that ${path} does not know is refused by name`, async () => {
    for (const query of [
      'call_id=rtc_1',
      'voice=slt&call_id',
      'model=gpt-realtime&call_id=a&call_id=b',
      '%63all_id=1',
    ]) {
      const { status, body } = await refusal(`${server.url}${path}?${query}`);
      const { param, message } = errorIn(body);
      const [unknown] = [...new URLSearchParams(query).keys()].filter(
        (name) => !allowed.includes(`"${name}"`),
      );
      assert.deepEqual([status, param], [400, unknown]);
      assert.equal(message, `this WebSocket has no query parameter "${unknown}"; ${allowed}`);
    }
  });
}

test('a relay socket names the parameters that it does not know', async () => {
  const { status, body } = await refusal(`${server.url}/v1/relay?call_id=rtc_1`);
  assert.deepEqual([status, /"call_id" is none of/.test(errorIn(body).message)], [400, true]);
});

test('a parameter that is there twice, and an intent that does not exist, open no session', async () => {
  const refused = async (query: string) =>
    errorIn((await refusal(`${server.url}/v1/realtime?${query}`)).body);
  const twice = await refused('agent=none&agent=sales');
  assert.deepEqual([twice.param, twice.message], ['agent', 'the query has "agent" twice; once is allowed']);
  assert.equal((await refused('intent=conversation')).param, 'intent');
  assert.equal((await refused('intent=')).param, 'intent');
  const long = await refused(`${'x'.repeat(5000)}=1`);
  assert.equal(long.param, 'x'.repeat(64));
});

test('what clients send to ElevenLabs opens a socket', async (t) => {
  const livekit =
    'model_id=eleven_turbo_v2_5&output_format=mp3_22050_32&enable_ssml_parsing=false&enable_logging=true' +
    '&inactivity_timeout=180&apply_text_normalization=auto&auto_mode=true&sync_alignment=true&language_code=en';
  const jambonz = 'model_id=eleven_turbo_v2&output_format=ulaw_8000&optimize_streaming_latency=2';
  for (const query of [livekit, jambonz])
    for (const path of ['stream-input', 'multi-stream-input'])
      await SocketClient.open(t, `${server.url}/v1/text-to-speech/slt/${path}?${query}`);
});
