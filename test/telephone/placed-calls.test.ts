// An application drives a telephone call over HTTP, from the request that places it to the record that a
// webhook gets, with SIPp at the other end.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { WebSocket } from 'ws';
import { signature } from '../../src/signed-headers.js';
import { until } from '../fakes/until.js';
import { kept } from '../interop/telephone/kept.js';
import { RtpPeer } from '../interop/telephone/rtp-peer.js';
import { Sipp } from '../interop/telephone/sipp.js';
import { TelephoneServer } from '../interop/telephone/telephone-server.js';

const SECRET = 'only-the-two-of-us-know-it';

interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let server: TelephoneServer;
const deliveries: Delivery[] = [];
const target = createServer((request, reply) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    deliveries.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
    reply.end();
  });
});

before(async () => {
  target.listen(0, '127.0.0.1');
  await once(target, 'listening');
  const { port } = target.address() as AddressInfo;
  server = await TelephoneServer.start({
    CALL_WEBHOOK_URL: `http://127.0.0.1:${port}/`,
    CALL_WEBHOOK_SECRET: SECRET,
  });
});
after(async () => {
  await server.close();
  target.close();
});

async function post(path: string, body: object, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`${server.server.url}/v1/calls${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

test('a call that is placed once is rung, connected, spoken into and ended, and its record is signed and right', async (t) => {
  const rtp = await kept(t, RtpPeer.open());
  const sipp = await kept(t, Sipp.answer('answer-basic', { keys: { rtp_port: rtp.port } }));
  const request = {
    to: `sip:+491701234567@127.0.0.1:${sipp.address.port}`,
    say: { text: 'Your parcel is here.', after: 'hangup' },
  };
  const key = { 'idempotency-key': 'once' };
  const [placed, again] = [await post('', request, key), await post('', request, key)];
  assert.deepEqual([placed.status, again.status, again.body['id']], [201, 201, placed.body['id']]);
  const events = await (
    await fetch(`${server.server.url}/v1/calls/${placed.body['id'] as string}/events`)
  ).text();
  await sipp.succeeded();
  const types = [...events.matchAll(/^data: (.*)$/gm)].map(([, data]) => {
    const { type, state } = JSON.parse(data ?? '') as { type: string; state?: string };
    return state ?? type;
  });
  for (const [first, second] of [
    ['dialling', 'ringing'],
    ['ringing', 'connected'],
    ['connected', 'utterance.started'],
    ['utterance.started', 'utterance.spoken'],
    ['utterance.spoken', 'ended'],
  ] as const) {
    assert.ok(
      types.indexOf(first) >= 0 && types.indexOf(first) < types.indexOf(second),
      `${first}, ${second}: ${types.join(' ')}`,
    );
  }
  assert.equal(server.telephone.list().length, 1);

  await until(() => deliveries.length > 0);
  const [{ headers, body } = { headers: {}, body: '' }] = deliveries;
  const stamp = String(headers['x-parley-signature']);
  const seconds = Number(/^t=(\d+),/.exec(stamp)?.[1]);
  assert.equal(stamp, signature(SECRET, body, seconds));
  const { call } = JSON.parse(body) as { call: Record<string, unknown> };
  assert.deepEqual([call['id'], call['direction'], call['codec']], [placed.body['id'], 'outbound', 'PCMU']);
  assert.deepEqual(call['end'], { reason: 'we hung up' });
  assert.ok(Number(call['first_audio_ms']) > 0);
  const { packets } = call['sent'] as { packets: number };
  assert.ok(
    packets >= rtp.heard.length && rtp.heard.length > 0,
    `${packets} sent, ${rtp.heard.length} heard`,
  );
});

test('a menu is driven over the socket of the call: prompt, key, answer, end', async (t) => {
  const rtp = await kept(t, RtpPeer.open());
  const sipp = await kept(t, Sipp.answer('answer-basic', { keys: { rtp_port: rtp.port } }));
  const placed = await post('', { to: `sip:menu@127.0.0.1:${sipp.address.port}` });
  const id = String(placed.body['id']);
  const socket = new WebSocket(`${server.server.url.replace('http', 'ws')}/v1/calls/${id}/socket`);
  t.after(() => socket.terminate());
  const heard: Record<string, unknown>[] = [];
  socket.on('message', (data: Buffer) => heard.push(JSON.parse(data.toString()) as Record<string, unknown>));
  const has = (wanted: Readonly<Record<string, unknown>>) => () =>
    heard.some((message) => Object.entries(wanted).every(([name, value]) => message[name] === value));
  await until(() => server.telephone.get(id).state === 'connected' && rtp.source !== undefined);
  await until(() => heard.length > 0);
  socket.send(JSON.stringify({ type: 'say', id: 1, text: 'Press one.' }));
  await until(has({ type: 'done', id: 1 }));
  // A far end sends under the numbers of our offer (RFC 3264, section 5.1).
  const eventType = Number(/a=rtpmap:(\d+) telephone-event\/8000/.exec(sipp.messages())?.[1]);
  const stream = rtp.stream(rtp.source ?? { host: '', port: 0 }, { eventType });
  await stream.press('1');
  await until(has({ type: 'digit', digit: '1' }));
  socket.send(JSON.stringify({ type: 'interrupt', id: 2 }));
  socket.send(JSON.stringify({ type: 'hangup', id: 3 }));
  await once(socket, 'close');
  await sipp.succeeded();
  assert.ok(has({ type: 'state', state: 'ended' })());
  assert.equal(server.telephone.get(id).end?.reason, 'we hung up');
  const record = () =>
    deliveries
      .map(({ body }) => JSON.parse(body) as { call: Record<string, unknown> })
      .find(({ call }) => call['id'] === id);
  await until(() => record() !== undefined);
  const received = record()?.call['received'] as { packets: number; mos: number };
  assert.ok(received.packets > 0 && received.mos > 3, JSON.stringify(received));
});
