// Live transcription with the tiny checkpoints, through the whole server: the npm package `openai`, and the
// messages that LiveKit's agents, Pipecat and jambonz send, as their sources write them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { WebSocket } from 'ws';
import type { Server } from '../../src/main.js';
import { makePair, TlsFiles } from '../api/http/tls-files.js';
import { GOLDEN } from '../engines/golden.js';
import { until } from '../fakes/until.js';
import { KEY, speakingServer } from './speaking-server.js';
import { FOX, spoken } from './spoken-clip.js';

const CHECKPOINT = {
  ASR_MODEL_DIR: join(GOLDEN, 'tiny-asr-a'),
  INFERENCE_THREADS: '1',
  // A partial text may fix the first words of the final one, and which of them there are depends on the
  // machine.
  ASR_PARTIAL_INTERVAL_MS: '60000',
};
const TRANSCRIPTION = 'conversation.item.input_audio_transcription';

type Message = Readonly<Record<string, unknown>>;

let server: Server;

before(async () => {
  server = await speakingServer(CHECKPOINT);
});
after(() => server.close());

/** The sentence with silence around it. */
const pieces = (rate: number, pieceMs: number) => spoken({ rate, pieceMs, beforeMs: 1000 });

class Client {
  readonly messages: Message[] = [];
  closed: number | undefined;
  readonly #socket: WebSocket;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data) => this.messages.push(JSON.parse((data as Buffer).toString()) as Message));
    socket.on('close', (code) => (this.closed = code));
  }

  static async open(t: TestContext, path: string, headers: Record<string, string> = {}): Promise<Client> {
    const url = server.url.replace('http', 'ws') + path;
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${KEY}`, ...headers } });
    t.after(() => socket.terminate());
    const client = new Client(socket);
    await until(() => socket.readyState === WebSocket.OPEN);
    return client;
  }

  send(message: object | Buffer): void {
    this.#socket.send(message instanceof Buffer ? message : JSON.stringify(message));
  }

  async received(type: string): Promise<Message> {
    await until(() => this.messages.some((message) => message['type'] === type));
    return this.messages.find((message) => message['type'] === type) ?? {};
  }
}

test('our own socket: what is said is told with its times, and silence is not', async (t) => {
  const client = await Client.open(t, '/v1/audio/transcriptions/stream');
  client.send({ type: 'config', sample_rate: 48_000 });
  for (const piece of pieces(48_000, 20)) client.send(piece);
  client.send({ type: 'end' });
  await until(() => client.closed !== undefined);
  const finals = client.messages.filter(({ type }) => type === 'final');
  assert.deepEqual(
    finals.map(({ text, language }) => [text, language]),
    [[FOX, 'en']],
  );
  const started = await client.received('speech_started');
  assert.ok(Math.abs(Number(started['start']) - 1) < 0.3, JSON.stringify(started));
  assert.equal(client.messages.at(-1)?.['type'], 'done');
  assert.equal(client.closed, 1000);
});

test('a client secret of a transcription: sound in, texts out, and the page never has the API key', async (t) => {
  const input = { format: { type: 'audio/pcm', rate: 24_000 }, turn_detection: null };
  const made = await fetch(`${server.url}/v1/realtime/client_secrets`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
    body: JSON.stringify({ session: { type: 'transcription', audio: { input } } }),
  });
  const { value } = (await made.json()) as { value: string };
  const client = await Client.open(t, '/v1/realtime', { authorization: `Bearer ${value}` });
  const { session } = await client.received('session.created');
  assert.equal((session as { type: string }).type, 'transcription');
  for (const piece of pieces(24_000, 50))
    client.send({ type: 'input_audio_buffer.append', audio: piece.toString('base64') });
  client.send({ type: 'input_audio_buffer.commit' });
  const completed = await client.received(`${TRANSCRIPTION}.completed`);
  assert.equal(completed['transcript'], FOX);
  assert.equal(server.switchboard.size, 0); // no call
  assert.equal(client.messages.filter(({ type }) => type === 'error').length, 0);
});

test("LiveKit's agents: the beta's update and its header, sound of 50 ms, deltas and the whole text", async (t) => {
  const client = await Client.open(t, '/v1/realtime?intent=transcription', {
    'user-agent': 'LiveKit Agents',
    'openai-beta': 'realtime=v1',
  });
  client.send({
    type: 'transcription_session.update',
    session: {
      input_audio_format: 'pcm16',
      input_audio_transcription: { model: 'gpt-4o-mini-transcribe', prompt: '', language: 'en' },
      turn_detection: {
        type: 'server_vad',
        threshold: 0.5,
        prefix_padding_ms: 600,
        silence_duration_ms: 350,
      },
    },
  });
  for (const piece of pieces(24_000, 50))
    client.send({ type: 'input_audio_buffer.append', audio: piece.toString('base64') });
  const completed = await client.received(`${TRANSCRIPTION}.completed`);
  const deltas = client.messages.filter(({ type }) => type === `${TRANSCRIPTION}.delta`);
  assert.equal(completed['transcript'], FOX);
  assert.equal(deltas.map(({ delta }) => delta).join(''), FOX);
  assert.equal(client.messages.filter(({ type }) => type === 'error').length, 0);
});

test('Pipecat with its own voice activity: it configures what was created, and commits', async (t) => {
  const client = await Client.open(t, '/v1/realtime?intent=transcription');
  await client.received('session.created');
  const transcription = { model: 'gpt-realtime-whisper', language: 'en' };
  const input = { format: { type: 'audio/pcm', rate: 24_000 }, transcription, turn_detection: null };
  client.send({ type: 'session.update', session: { type: 'transcription', audio: { input } } });
  await client.received('session.updated');
  for (const piece of pieces(24_000, 20))
    client.send({ type: 'input_audio_buffer.append', audio: piece.toString('base64') });
  client.send({ type: 'input_audio_buffer.commit' });
  assert.equal((await client.received(`${TRANSCRIPTION}.completed`))['transcript'], FOX);
  const told = new Set(client.messages.map(({ type }) => String(type)));
  assert.equal(told.has('input_audio_buffer.speech_started'), false);
  assert.equal(told.has('error'), false);
});

test('jambonz: a telephone call in LINEAR16 until it stops', async (t) => {
  const client = await Client.open(t, '/v1/jambonz/stt');
  client.send({
    type: 'start',
    language: 'en-US',
    format: 'raw',
    encoding: 'LINEAR16',
    interimResults: true,
    sampleRateHz: 16_000,
    options: {},
  });
  for (const piece of pieces(16_000, 20)) client.send(piece);
  client.send({ type: 'stop' });
  await until(() => client.closed !== undefined);
  const finals = client.messages.filter(({ is_final }) => is_final === true);
  assert.deepEqual(finals, [
    {
      type: 'transcription',
      is_final: true,
      alternatives: [{ transcript: FOX, confidence: 1 }],
      channel: 1,
      language: 'en',
    },
  ]);
});

test('the package openai transcribes live over TLS', async (t) => {
  const files = new TlsFiles(t);
  files.write(await makePair());
  const own = await speakingServer({ ...CHECKPOINT, TLS_CERT: files.tlsCert, TLS_KEY: files.tlsKey });
  t.after(() => own.close());
  const client = new OpenAI({ baseURL: `${own.url}/v1`, apiKey: KEY });
  const realtime = new OpenAIRealtimeWS(
    { model: 'gpt-4o-transcribe', options: { rejectUnauthorized: false } },
    client,
  );
  t.after(() => realtime.close());
  const errors: unknown[] = [];
  realtime.on('error', (error) => errors.push(error));
  const transcript = new Promise<string>((resolve) => {
    realtime.on('conversation.item.input_audio_transcription.completed', (event) =>
      resolve(event.transcript),
    );
  });
  realtime.on('session.created', () => {
    const input = {
      format: { type: 'audio/pcm', rate: 24_000 },
      transcription: { model: 'gpt-4o-transcribe' },
    };
    realtime.send({ type: 'session.update', session: { type: 'transcription', audio: { input } } } as never);
  });
  realtime.on('session.updated', () => {
    for (const piece of pieces(24_000, 100))
      realtime.send({ type: 'input_audio_buffer.append', audio: piece.toString('base64') });
  });
  assert.equal(await transcript, FOX);
  assert.deepEqual(errors, []);
});

for (const [client, fields] of [
  ["LiveKit's agents", { model: 'gpt-4o-mini-transcribe', language: 'en', response_format: 'json' }],
  [
    "LiveKit's agents with whisper-1",
    { model: 'whisper-1', language: 'en', response_format: 'verbose_json' },
  ],
  [
    'Pipecat',
    { model: 'gpt-4o-transcribe', language: 'en', response_format: 'json', 'include[]': 'logprobs' },
  ],
  ['Open WebUI', { model: 'whisper-1' }],
] as const) {
  test(`${client} has the text of a WAV file`, async () => {
    const form = new FormData();
    const wav = readFileSync(join(GOLDEN, 'clips/odd37.wav'));
    form.append('file', new Blob([wav], { type: 'audio/wav' }), 'file.wav');
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    const headers = { authorization: `Bearer ${KEY}` };
    const answer = await fetch(`${server.url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers,
      body: form,
    });
    assert.equal(answer.status, 200);
    assert.equal(((await answer.json()) as { text: string }).text, FOX);
  });
}
