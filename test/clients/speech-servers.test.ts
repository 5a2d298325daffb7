// A server without a voice of its own, in front of two that speak: each with the embedded voice.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Server } from '../../src/main.js';
import { until } from '../fakes/until.js';
import { KEY, speakingServer } from './speaking-server.js';

const SENTENCE = 'The train to Hamburg leaves at nine in the morning from platform two.';

async function engineServer(t: TestContext): Promise<Server> {
  const server = await speakingServer();
  t.after(() => server.close());
  return server;
}

async function gateway(t: TestContext, servers: readonly Server[]): Promise<Server> {
  const server = await speakingServer({
    ENGINE: 'openai',
    TTS_BASE_URL: servers.map(({ url }) => `${url}/v1`).join(),
    TTS_API_KEY: KEY,
    TTS_MODEL: 'tts-1',
    TTS_VOICES: 'anna=slt, bruno=awb',
    TTS_DIALECT: 'vllm',
    AUDIO_CACHE_MAX: '0',
  });
  t.after(() => server.close());
  return server;
}

async function ask(server: Server, input: string, voice = 'anna'): Promise<Response> {
  return fetch(`${server.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
    body: JSON.stringify({ model: 'tts-1', voice, input, response_format: 'wav' }),
  });
}

test('a text is spoken by a server behind, under a name of the one in front', async (t) => {
  const [one, two] = [await engineServer(t), await engineServer(t)];
  const front = await gateway(t, [one, two]);
  const response = await ask(front, SENTENCE);
  assert.equal(response.status, 200);
  const seconds = ((await response.arrayBuffer()).byteLength - 44) / 48_000;
  assert.ok(seconds > 3 && seconds < 6, `${seconds} s`);
  assert.equal(
    (await ask(front, SENTENCE, 'slt')).status,
    400,
    'the voices of the servers behind have no names',
  );
});

test('one of two servers is killed under load: what it had begun is lost, and nothing else', async (t) => {
  const [one, two] = [await engineServer(t), await engineServer(t)];
  const front = await gateway(t, [one, two]);
  const outcomes: boolean[] = [];
  let inFlight = 0;
  const speak = async (n: number) => {
    inFlight++;
    const isWhole = await ask(front, `${SENTENCE} This is number ${n}.`)
      .then(async (response) => response.ok && (await response.arrayBuffer()).byteLength > 100_000)
      .catch(() => false);
    inFlight--;
    outcomes.push(isWhole);
  };
  const asked = Array.from({ length: 16 }, (_, n) => speak(n));
  await until(() => outcomes.length >= 2);
  const lostAtMost = inFlight;
  await one.close();
  await Promise.all(asked);
  const lost = outcomes.filter((isWhole) => !isWhole).length;
  assert.ok(lost <= lostAtMost, `${lost} of ${lostAtMost} were lost`);
  const after = await Promise.all(Array.from({ length: 8 }, (_, n) => ask(front, `${SENTENCE} Then ${n}.`)));
  assert.deepEqual(
    after.map(({ status }) => status),
    after.map(() => 200),
  );
});
