// Both speech endpoints of jambonz with everything real: client, server, engine, rings, encoder worker.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readConfig } from '../../../src/config/config.js';
import { startServer, type Server } from '../../../src/main.js';
import { until } from '../../fakes/until.js';
import { refusal, SocketClient } from '../http/socket-client.js';

const KEY = 'k'.repeat(16);
const CONFIG = readConfig({
  PORT: '0',
  SIP_ENABLED: '0',
  ENGINE: 'flite',
  LOG_LEVEL: 'silent',
  AUDIO_CACHE_MAX: '0',
  API_KEYS: KEY,
});
const HEADERS = { authorization: `Bearer ${KEY}` };
const PATH = '/v1/jambonz/tts';
const TEXT = 'Good morning, and thank you for calling.';

let server: Server;

before(async () => (server = await startServer(CONFIG)));
after(() => server.close());

async function post(path: string, body: object): Promise<Buffer> {
  const answer = await fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { ...HEADERS, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  assert.equal(answer.status, 200);
  return Buffer.from(await answer.arrayBuffer());
}

test('a posted text comes back as frames of MP3 at the rate of the request', async () => {
  const body = { language: 'en-US', voice: 'slt', type: 'text', text: TEXT, samplingRate: 8000 };
  const sound = await post(PATH, body);
  const header = sound.readUInt32BE(0);
  assert.equal(header >>> 21, 0x7ff, 'the frame sync');
  assert.deepEqual([(header >>> 19) & 3, (header >>> 10) & 3], [0, 2], 'MPEG-2.5 at 8 kHz');
});

test('streamed text sounds as it does over HTTP, until a stop closes the socket', async (t) => {
  const url = `${server.url}${PATH}?voice=slt&language=en-US&sampleRate=8000`;
  const client = await SocketClient.open(t, url, { headers: HEADERS });
  client.send({ type: 'stream', text: TEXT });
  client.send({ type: 'flush' });
  const body = { input: TEXT, voice: 'slt', language: 'en-US', response_format: 'pcm', sample_rate: 8000 };
  const whole = await post('/v1/audio/speech', body);
  await until(() => client.sound.length >= whole.length);
  assert.ok(client.sound.equals(whole));
  assert.deepEqual(client.received, [
    { type: 'connect', data: { sample_rate: 8000, base64_encoding: false } },
  ]);
  client.send({ type: 'stop' });
  assert.deepEqual(await client.closed(), [1000, '']);
});

test('without the key, or with an address that is wrong, no socket opens', async () => {
  const withoutKey = await refusal(`${server.url}${PATH}`);
  assert.equal(withoutKey.status, 401);
  const wrong = await refusal(`${server.url}${PATH}?sampleRate=1`, HEADERS);
  assert.equal(wrong.status, 400);
});
