// Clients get these errors when something that the server needs dies under load: the recogniser, the
// translation server, Redis. Nothing hangs, and the server works again with what comes back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { wavHeader } from '../../src/codecs/wav.js';
import { TranscriptionServerUnderTest } from '../engines/transcription-server.js';
import { until } from '../fakes/until.js';
import { ChatServer } from '../transcribing/chat-server.js';
import { toneWav } from '../voices/voice-samples.js';
import { KEY, speakingServer } from './speaking-server.js';
import { spoken } from './spoken-clip.js';

const LOAD = 8;
const SPEECH = Buffer.concat(spoken({ rate: 16_000 }));
const FILE = Buffer.concat([wavHeader(16_000, SPEECH.length / 2), SPEECH]);
const TONE = toneWav({ seconds: 2, rate: 16_000 });
const AUTHORIZATION = { authorization: `Bearer ${KEY}` };

async function post(url: string, path = 'transcriptions', fields: Record<string, string> = {}) {
  const form = new FormData();
  form.append('file', new Blob([Uint8Array.from(FILE)]), 'a.wav');
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  const answer = await fetch(`${url}/v1/audio/${path}`, {
    method: 'POST',
    headers: AUTHORIZATION,
    body: form,
  });
  const { error } = (await answer.json()) as { error?: { code: string } };
  return [answer.status, error?.code];
}

/** A live client that has sent a tone. Resolves with its last error and close code. */
async function socket(url: string): Promise<unknown[]> {
  const client = new WebSocket(`${url.replace('http', 'ws')}/v1/audio/transcriptions/stream`, {
    headers: AUTHORIZATION,
  });
  let code: unknown;
  client.on('message', (data) => {
    const message = JSON.parse((data as Buffer).toString()) as { type: string; code?: string };
    if (message.type === 'error') code = message.code;
  });
  const closed = new Promise<number>((resolve) => client.once('close', resolve));
  await new Promise((resolve) => client.once('open', resolve));
  client.send(JSON.stringify({ type: 'config', turn_detection: 'none', sample_rate: 16_000 }));
  client.send(TONE.subarray(44));
  client.send(JSON.stringify({ type: 'end' }));
  return [code, await closed];
}

test('a recogniser that is lost under load is an error for each client, and none waits for ever', async (t) => {
  const engine = await TranscriptionServerUnderTest.open(t);
  const server = await speakingServer({ ASR_BASE_URL: engine.baseUrl, ASR_MODEL: 'any', PRELOAD_MODEL: '0' });
  t.after(() => server.close());
  const files = Array.from({ length: LOAD }, () => post(server.url));
  await until(() => engine.asked.length === LOAD);
  // Each request is cut three times: then it is given up.
  let cut = 0;
  const cutting = until(() => {
    for (; cut < engine.asked.length; cut++) engine.asked[cut]?.cut();
    return cut === 3 * LOAD;
  });
  for (const answer of await Promise.all(files)) assert.deepEqual(answer, [503, 'engine_unavailable']);
  await cutting;
  const again = post(server.url);
  (await engine.request(3 * LOAD)).say('Hello again.');
  assert.deepEqual(await again, [200, undefined]);
  const ended = await Promise.all(Array.from({ length: LOAD }, () => socket(server.url)));
  // A tone has no turn: there is nothing to recognise.
  for (const one of ended) assert.deepEqual(one, [undefined, 1000]);
});

test('a translation server that is lost under load is 502 for each client, and transcription goes on', async (t) => {
  const engine = await TranscriptionServerUnderTest.open(t);
  const chat = await ChatServer.open(t);
  chat.answer = () => undefined;
  const server = await speakingServer({
    ASR_BASE_URL: engine.baseUrl,
    ASR_MODEL: 'any',
    PRELOAD_MODEL: '0',
    TRANSLATE_BASE_URL: chat.baseUrl,
    TRANSLATE_MODEL: 'any',
  });
  t.after(() => server.close());
  let said = 0;
  const answering = setInterval(() => {
    for (; said < engine.asked.length; said++) engine.asked[said]?.say('Hello.');
  }, 5);
  t.after(() => clearInterval(answering));
  const asked = Array.from({ length: LOAD }, () => post(server.url, 'translations', { language: 'fr' }));
  await until(() => chat.asked.length === LOAD);
  chat.close();
  for (const answer of await Promise.all(asked)) assert.deepEqual(answer, [502, 'translation_failed']);
  assert.deepEqual(await post(server.url), [200, undefined]);
});

test('without its Redis a server transcribes as before', async (t) => {
  const engine = await TranscriptionServerUnderTest.open(t);
  const server = await speakingServer({
    ASR_BASE_URL: engine.baseUrl,
    ASR_MODEL: 'any',
    PRELOAD_MODEL: '0',
    REDIS_URL: 'redis://127.0.0.1:1', // nobody is there
  });
  t.after(() => server.close());
  const asked = Array.from({ length: LOAD }, () => post(server.url));
  await until(() => engine.asked.length === LOAD);
  for (const one of engine.asked) one.say('Hello.');
  for (const answer of await Promise.all(asked)) assert.deepEqual(answer, [200, undefined]);
});

test('a hundred megabytes of zeros are refused by their first bytes, and the server goes on', async (t) => {
  const engine = await TranscriptionServerUnderTest.open(t);
  const server = await speakingServer({ ASR_BASE_URL: engine.baseUrl, ASR_MODEL: 'any', PRELOAD_MODEL: '0' });
  t.after(() => server.close());
  const body = Buffer.alloc(100_000_000);
  const headers = { ...AUTHORIZATION, 'content-type': 'audio/wav' };
  const asked = fetch(`${server.url}/v1/audio/transcriptions`, { method: 'POST', headers, body });
  const status = await asked.then(
    (answer) => answer.status,
    () => 415, // the server has closed the connection on the rest of the body
  );
  assert.equal(status, 415);
  const form = new FormData();
  form.append('file', new Blob([body]), 'a.wav');
  const kept = await fetch(`${server.url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: AUTHORIZATION,
    body: form,
  });
  assert.equal(kept.status, 415);
});
