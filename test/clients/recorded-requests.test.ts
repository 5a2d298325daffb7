// Requests as clients in the wild write them, and what each of them needs of
// the answer. Every row says who; the tests read as that client reads.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Server } from '../../src/main.js';
import { probed } from '../fakes/ffmpeg.js';
import { speakingServer, TEXT } from './speaking-server.js';

let server: Server;

before(async () => {
  server = await speakingServer({ API_KEYS: '' }); // as at home: nobody was asked for a key
});
after(() => server.close());

interface Recorded {
  readonly client: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly contentType: string;
  /** Codec found by ffprobe; undefined for samples without a header. */
  readonly codec: string | undefined;
}

const RECORDED: readonly Recorded[] = [
  {
    client: 'LiveKit agents for JavaScript, plugin-openai',
    headers: { authorization: 'Bearer none', accept: 'application/octet-stream', 'x-stainless-lang': 'js' },
    body: {
      input: TEXT,
      model: 'gpt-4o-mini-tts',
      voice: 'ash',
      instructions: '',
      response_format: 'pcm',
      speed: 1,
    },
    contentType: 'audio/pcm',
    codec: undefined,
  },
  {
    client: 'Pipecat, OpenAITTSService',
    headers: {
      authorization: 'Bearer none',
      accept: 'application/octet-stream',
      'x-stainless-lang': 'python',
    },
    body: { input: TEXT, model: 'gpt-4o-mini-tts', voice: 'alloy', response_format: 'pcm' },
    contentType: 'audio/pcm',
    codec: undefined,
  },
  {
    client: 'LiveKit agents for Python, tts-1 (no events)',
    headers: { authorization: 'Bearer none', accept: 'application/octet-stream' },
    body: { input: TEXT, model: 'tts-1', voice: 'ash', response_format: 'mp3', speed: 1.0 },
    contentType: 'audio/mpeg',
    codec: 'mp3',
  },
  {
    client: 'Open WebUI',
    headers: { authorization: 'Bearer ' },
    body: { input: TEXT, voice: 'alloy', model: 'tts-1' },
    contentType: 'audio/mpeg',
    codec: 'mp3',
  },
  {
    client: 'Home Assistant through wyoming_openai',
    headers: { authorization: 'Bearer none' },
    body: {
      input: TEXT,
      model: 'tts-1',
      voice: 'marin',
      response_format: 'wav',
      speed: 1,
      instructions: 'None',
    },
    contentType: 'audio/wav',
    codec: 'pcm_s16le',
  },
  {
    client: 'sfortis/openai_tts',
    headers: { authorization: 'Bearer none' },
    body: { model: 'tts-1', input: TEXT, voice: 'shimmer', response_format: 'mp3', speed: 1.0 },
    contentType: 'audio/mpeg',
    codec: 'mp3',
  },
  {
    client: 'SillyTavern, OpenAI compatible, no key set',
    headers: { authorization: 'Bearer ' },
    body: { input: TEXT, response_format: 'mp3', voice: 'nova', speed: 1, model: 'tts-1' },
    contentType: 'audio/mpeg',
    codec: 'mp3',
  },
];

function post(headers: Readonly<Record<string, string>>, body: unknown): Promise<Response> {
  return fetch(`${server.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

for (const { client, headers, body, contentType, codec } of RECORDED) {
  test(`${client} gets the sound that it asks for`, async () => {
    const answer = await post(headers, body);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), contentType);
    const sound = Buffer.from(await answer.arrayBuffer());
    if (codec !== undefined) assert.equal(probed(sound).codec, codec);
    else assert.ok(sound.length % 2 === 0 && sound.length > 2 * 24_000); // they take it for 24 kHz
  });
}

test('the first piece of a WAV holds all of its header, with lengths that are not zero', async () => {
  const body = { input: TEXT, model: 'tts-1', voice: 'cedar', response_format: 'wav' };
  const answer = await post({}, body);
  const reader = answer.body?.getReader();
  assert.ok(reader !== undefined);
  const first = Buffer.from((await reader.read()).value ?? []);
  await reader.cancel();
  assert.ok(first.length >= 44);
  assert.equal(first.toString('latin1', 0, 4) + first.toString('latin1', 8, 16), 'RIFFWAVEfmt ');
  const [channels, rate, bits] = [first.readUInt16LE(22), first.readUInt32LE(24), first.readUInt16LE(34)];
  assert.deepEqual([channels, rate, bits], [1, 24_000, 16]);
  assert.ok(first.readUInt32LE(4) > 0 && first.readUInt32LE(40) > 0);
});

test('the lists are read without a key: names in objects, under each name that a reader looks for', async () => {
  const get = async (path: string) =>
    (await fetch(server.url + path)).json() as Promise<Record<string, unknown>>;
  const { models } = (await get('/v1/audio/models')) as { models: { id: string; name: string }[] };
  assert.ok(models.length > 0 && models.every(({ id, name }) => id !== '' && name !== ''));
  const lists = (await get('/v1/audio/voices')) as Record<string, { id: string; name: string }[]>;
  const { voices = [], data, uploaded_voices: uploaded } = lists;
  assert.ok(voices.length > 1);
  for (const { id, name } of voices) assert.ok(typeof id === 'string' && typeof name === 'string');
  assert.deepEqual(data, voices);
  assert.ok(Array.isArray(uploaded));
  const list = (await get('/v1/models')) as { object: string; data: Record<string, unknown>[] };
  const [model] = list.data;
  assert.equal(list.object, 'list');
  assert.equal(model?.['task'], 'text-to-speech');
  assert.equal(model?.['sample_rate'], 24_000);
  const named = model?.['voices'] as { name: string; language: string }[];
  assert.deepEqual(
    named.map(({ name }) => name),
    voices.map(({ id }) => id),
  );
});

test('no probe takes this server for another one', async () => {
  // wyoming_openai asks these in turn, and behaves as for the first that answers as it likes.
  for (const path of ['/v1/readyz', '/v1/test', '/readyz', '/test']) {
    const answer = await fetch(server.url + path);
    assert.equal(answer.status, 404, path);
    await answer.arrayBuffer();
  }
  const health = await fetch(`${server.url}/health`);
  assert.equal(health.status, 200);
  assert.notEqual((await health.text()).trim().replaceAll('"', ''), 'OK');
});

test('a client that warms up its connection may ask for any address first', async () => {
  for (const path of ['/v1/', '/v1', '/']) {
    const answer = await fetch(server.url + path);
    assert.ok(answer.status < 500, path);
    await answer.arrayBuffer();
  }
});
