// Calls whose sound goes over a WebSocket of an application, beside calls that are joined: a Realtime session
// hears its own responses only, and the bot of a media stream hears the caller wherever the call is joined.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, test, type TestContext } from 'node:test';
import { StreamBot } from '../api/streams/stream-bot.js';
import { SocketClient } from '../api/http/socket-client.js';
import { MU_LAW, MU_LAW_VALUES } from '../../src/codecs/g711.js';
import { until } from '../fakes/until.js';
import { ScratchFolder } from '../interop/telephone/program.js';
import { TelephoneServer } from '../interop/telephone/telephone-server.js';
import { heardBy, waveLikeness } from './heard-calls.js';
import { ask as askOf, type Caller, callTo } from './joined-callers.js';
import { hangUp } from './raw-caller.js';

const REFUSAL = /is a Realtime session over WebSocket, .* it cannot be joined$/;
const FRAME = 160; // samples
const REST = 20; // frames, after which everything is heard
const LOUD = 0.02; // of full scale

const folder = new ScratchFolder();
let bots: StreamBot | undefined;
let server: TelephoneServer;
let speech: Float32Array;

before(async (t) => {
  bots = await StreamBot.open(t as TestContext);
  const file = folder.at('agents.json');
  writeFileSync(file, JSON.stringify({ agents: { bot: { mediaStream: { url: bots.url } } } }));
  const routes = [{ to: 'bot', agent: 'bot' }, { wait: {} }];
  server = await TelephoneServer.start({ AGENTS_FILE: file }, { routes });
  speech = (await server.rendered('Good morning, this is the first floor.')).samples;
});
after(async () => {
  await server.close();
  folder.remove();
});

const ask = (method: string, path: string, body?: object) => askOf(server, method, path, body);

async function realtimeCall(t: TestContext) {
  const client = await SocketClient.open(t, `${server.server.url}/v1/realtime?agent=none`);
  const has = (wanted: string) => until(() => client.received.some(({ type }) => type === wanted));
  await has('session.created');
  const audio = { input: { format: { type: 'audio/pcmu' } } };
  client.send({ type: 'session.update', session: { type: 'realtime', audio } });
  await has('session.updated');
  const { json } = await ask('GET', '/calls?limit=100');
  const calls = json['data'] as { id: string; protocol: string; state: string }[];
  const own = calls.find(({ protocol, state }) => protocol === 'websocket' && state === 'connected');
  return { client, id: own?.id ?? assert.fail('the session is no call') };
}

type Listener = Pick<Caller, 'rtp' | 'law'>;

/** What the listeners hear while the sound is played, and shortly after. */
async function during(play: () => Promise<unknown>, samples: number, listeners: readonly Listener[]) {
  const from = listeners.map(({ rtp }) => rtp.heard.length);
  const frames = Math.ceil(samples / FRAME) + REST;
  await play();
  await until(() => listeners.every(({ rtp }, n) => rtp.heard.length >= (from[n] ?? 0) + frames));
  return listeners.map((listener, n) => heardBy(listener, from[n]));
}

const isSilent = (heard: Float32Array | undefined) =>
  heard?.every((sample) => Math.abs(sample) < LOUD) === true;

test('a Realtime session over WebSocket is joined to nothing, and each request is refused by the reason', async (t) => {
  const { client, id } = await realtimeCall(t);
  const a = await callTo(server, t);
  const requests: readonly (readonly [string, object])[] = [
    [`/calls/${id}/bridge`, { call: a.id }],
    [`/calls/${id}/bridge`, { to: 'sip:desk@127.0.0.1' }],
    [`/calls/${a.id}/bridge`, { call: id }],
    ['/rooms/sockets/members', { call: id }],
    ['/queues/sockets/members', { call: id }],
    [`/calls/${id}/warm_transfer`, { to: 'sip:desk@127.0.0.1' }],
    [`/calls/${id}/supervise`, { call: a.id, mode: 'barge' }],
    [`/calls/${id}/supervise`, { call: a.id, mode: 'take_over' }],
    [`/calls/${a.id}/supervise`, { call: id, mode: 'listen' }],
  ];
  for (const [path, body] of requests) {
    const { status, json } = await ask('POST', path, body);
    const { code, message } = json['error'] as { code: string; message: string };
    assert.deepEqual([status, code], [409, 'call_state'], path);
    assert.match(message, REFUSAL, path);
  }
  for (const path of ['/rooms/sockets', '/queues/sockets'])
    assert.equal((await ask('GET', path)).status, 404, 'nothing was made for it');
  assert.equal((await ask('POST', `/calls/${id}/supervise`, { call: a.id, mode: 'listen' })).status, 201);
  const say = () => {
    const codes = Uint8Array.from(speech, (sample) => MU_LAW[Math.round(sample * 32_767) + 32_768] ?? 0);
    client.send({ type: 'input_audio_buffer.append', audio: Buffer.from(codes).toString('base64') });
    return Promise.resolve();
  };
  const [heard = new Float32Array()] = await during(say, speech.length, [a]);
  await hangUp(a.signalling, a.dialog);
  client.socket.close();
  assert.ok(!isSilent(heard), 'a supervisor hears the client');
});

test('a bot of a media stream hears its caller in a bridge, speaks to it alone, and is supervised', async (t) => {
  const [a, b, s] = [
    await callTo(server, t, { to: 'bot' }),
    await callTo(server, t),
    await callTo(server, t),
  ];
  const stream = (await bots?.stream()) ?? assert.fail('the bot was not reached');
  assert.equal((await ask('POST', `/calls/${a.id}/bridge`, { call: b.id })).status, 201);
  const before = stream.heard().length;
  const [atB = new Float32Array()] = await during(() => a.stream.play(speech), speech.length, [b]);
  await until(() => stream.heard().length > before + speech.length);
  const atBot = Float32Array.from(
    stream.heard().subarray(before),
    (code) => (MU_LAW_VALUES[code] ?? 0) / 32_768,
  );
  const [atA = new Float32Array()] = await during(() => b.stream.play(speech), speech.length, [a]);
  const speaks = () => {
    stream.speak(stream.heard().subarray(before));
    return Promise.resolve();
  };
  const [ofBot = new Float32Array(), notB] = await during(speaks, speech.length, [a, b]);
  assert.equal((await ask('DELETE', `/calls/${a.id}/bridge`)).status, 204);
  const taken = await ask('POST', `/calls/${a.id}/supervise`, { call: s.id, mode: 'take_over' });
  assert.equal((taken.json['error'] as { code: string }).code, 'call_state', 'a bot cannot be silenced');
  assert.equal((await ask('POST', `/calls/${a.id}/supervise`, { call: s.id, mode: 'barge' })).status, 201);
  const [barged = new Float32Array()] = await during(() => s.stream.play(speech), speech.length, [a]);
  for (const { signalling, dialog } of [a, b, s]) await hangUp(signalling, dialog);
  assert.ok(isSilent(notB));
  const likenesses = [atB, atBot, atA, ofBot, barged].map((heard) => waveLikeness(speech, heard));
  assert.ok(Math.min(...likenesses) > 0.9, likenesses.join(' '));
});
