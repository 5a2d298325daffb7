// A server without a voice of its own, in front of two that speak: each with the embedded voice.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test, type TestContext } from 'node:test';
import type { Server } from '../../src/main.js';
import { speakCommand } from '../../src/speak-command.js';
import { type AskedSpeech, SpeechServerUnderTest } from '../engines/speech-server.js';
import { until } from '../fakes/until.js';
import { KEY, speakingServer } from './speaking-server.js';

const SENTENCE = 'The train to Hamburg leaves at nine in the morning from platform two.';

async function engineServer(t: TestContext): Promise<Server> {
  const server = await speakingServer();
  t.after(() => server.close());
  return server;
}

function gatewayTo(addresses: readonly string[]) {
  return {
    ENGINE: 'openai',
    TTS_BASE_URL: addresses.join(),
    TTS_API_KEY: KEY,
    TTS_MODEL: 'tts-1',
    TTS_VOICES: 'anna=slt, bruno=awb',
    TTS_DIALECT: 'vllm',
    AUDIO_CACHE_MAX: '0',
  };
}

async function gateway(t: TestContext, servers: readonly Server[]): Promise<Server> {
  const server = await speakingServer(gatewayTo(servers.map(({ url }) => `${url}/v1`)));
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

const SECOND = 24_000; // samples
const MADE = Array.from({ length: SECOND }, (_, n) => (n % 2 === 0 ? 8000 : -8000));

/** Two servers: the first one breaks off in the middle of the sentence, and the second one speaks it. */
async function breakingServers(t: TestContext) {
  const [one, two] = [await SpeechServerUnderTest.open(t), await SpeechServerUnderTest.open(t)];
  void one.request().then((asked) => {
    asked.begin().response.write(Buffer.alloc(SECOND), () => asked.cut());
  });
  const speak = (asked: AskedSpeech) =>
    asked
      .begin()
      .samples(...MADE)
      .end();
  two.request().then(speak, () => undefined); // it may never be asked
  return { one, two, addresses: [one.baseUrl, two.baseUrl] };
}

async function gatewayToBreaking(t: TestContext) {
  const servers = await breakingServers(t);
  const front = await speakingServer(gatewayTo(servers.addresses));
  t.after(() => front.close());
  const post = (path: string, body: object) =>
    fetch(`${front.url}/v1/audio/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
      body: JSON.stringify({ model: 'tts-1', voice: 'anna', response_format: 'wav', ...body }),
    });
  return { ...servers, post };
}

/** The WAV file has the one second of the second server, and nothing of the first. */
function assertSecond(wav: Buffer): void {
  const seconds = (wav.length - 44) / 2 / SECOND;
  assert.ok(seconds > 0.9 && seconds < 1.1, `${seconds} s`);
}

for (const field of [{ stream: false }, { non_streaming_mode: true }]) {
  test(`with ${JSON.stringify(field)} another server is asked in mid-sentence`, async (t) => {
    const { one, two, post } = await gatewayToBreaking(t);
    const response = await post('speech', { input: SENTENCE, ...field });
    assert.equal(response.status, 200);
    assertSecond(Buffer.from(await response.arrayBuffer()));
    assert.deepEqual([one.asked.length, two.asked.length], [1, 1]);
  });
}

test('a sentence that is streamed breaks off with its server, and is not spoken twice', async (t) => {
  const { two, post } = await gatewayToBreaking(t);
  const broken = post('speech', { input: SENTENCE }).then((response) => {
    assert.equal(response.status, 200);
    return response.arrayBuffer();
  });
  await assert.rejects(broken);
  assert.equal(two.asked.length, 0);
});

test('an item of a batch is spoken by another server if one breaks off in it', async (t) => {
  const { post } = await gatewayToBreaking(t);
  const response = await post('speech/batch', { items: [{ input: SENTENCE }] });
  const { results } = (await response.json()) as { results: { status: string; audio_data: string }[] };
  assert.equal(results[0]?.status, 'success');
  assertSecond(Buffer.from(results[0].audio_data, 'base64'));
});

test('a file of parley speak has the sentence of another server if one breaks off in it', async (t) => {
  const { addresses } = await breakingServers(t);
  const folder = await mkdtemp(join(tmpdir(), 'parley-speak-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'speech.wav');
  const said: string[] = [];
  const say = (text: string) => void said.push(text);
  const terminal = { stdin: Readable.from([]), out: say, err: say };
  const status = await speakCommand(['--out', file, SENTENCE], gatewayTo(addresses), terminal);
  assert.equal(status, 0, said.join(''));
  assertSecond(await readFile(file));
});
