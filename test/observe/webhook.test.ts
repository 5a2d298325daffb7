// Call records over real HTTP, with time and chance that the test holds.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { Webhook } from '../../src/observe/webhook.js';
import { ManualTime } from '../fakes/manual-time.js';
import { until } from '../fakes/until.js';
import { callRecord } from './call-records.js';
import { SILENT_LOG } from '../../src/log.js';

const SECRET = 'a secret of sixteen';
const EPOCH_MS = 1_700_000_100_000;

interface Heard {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Reply = (response: ServerResponse) => void;

/** Answers with these in turn, and with 204 afterwards. */
type WebhookLimits = NonNullable<ConstructorParameters<typeof Webhook>[0]['limits']>;

async function open(t: TestContext, replies: Reply[] = [], limits: WebhookLimits = {}) {
  const heard: Heard[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      heard.push({ path: request.url ?? '', headers: request.headers, body });
      (replies.shift() ?? status(204))(response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const time = new ManualTime(500);
  const lines: (readonly [object, string])[] = [];
  const webhook = new Webhook({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/calls`,
    secret: SECRET,
    time,
    wallClock: () => EPOCH_MS + time.now(),
    random: () => 0.5,
    log: { ...SILENT_LOG, warn: (fields: object, message: string) => void lines.push([fields, message]) },
    limits,
  });
  const ids = () => heard.map(({ body }) => (JSON.parse(body) as { call: { id: string } }).call.id);
  return { webhook, time, heard, lines, ids, server };
}

function status(code: number, headers: Record<string, string> = {}): Reply {
  return (response) => response.writeHead(code, headers).end('words that nobody reads');
}

test('a record is posted as JSON under the id of its call, signed with the moment it was sent', async (t) => {
  const { webhook, heard, time } = await open(t);
  webhook.send(callRecord());
  await until(() => webhook.figures.taken === 1);
  const [{ headers, body } = assert.fail('nothing came')] = heard;
  assert.equal(headers['content-type'], 'application/json');
  assert.equal(headers['x-parley-event'], 'call.ended');
  assert.equal(headers['idempotency-key'], 'call_1');
  const [, seconds, mac] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-parley-signature'])) ?? [];
  assert.equal(seconds, '1700000100');
  assert.equal(mac, createHmac('sha256', SECRET).update(`1700000100.${body}`).digest('hex'));
  assert.deepEqual(JSON.parse(body), {
    event: 'call.ended',
    created_at: 1_700_000_012.5,
    call_id: 'call_1',
    call: {
      object: 'call.record',
      id: 'call_1',
      protocol: 'sip',
      door: 'sip',
      direction: 'outbound',
      sip_call_id: 'a84b4c76e66710@192.0.2.1',
      from: 'sip:+4930123456@trunk.example',
      to: 'sip:+491701234567@trunk.example;user=phone',
      trunk: 'main',
      created_at: 1_700_000_000,
      answered_at: 1_700_000_002.5,
      ended_at: 1_700_000_012.5,
      end: { reason: 'peer hung up', cause: 16 },
      codec: 'PCMA',
      srtp: 'none',
      duration_ms: 12_500,
      connected_ms: 10_000,
      setup_ms: 2400,
      first_audio_ms: 35,
      sent: { packets: 500, silence_packets: 200, underruns: 0 },
      received: { packets: 490, loss: 0.02, jitter_ms: 1.5, mos: 4.2 },
      remote: { loss: 0, jitter_ms: 2, rtt_ms: null, mos: 4.38 },
      digit_count: 3,
    },
  });
  assert.equal(time.waiting, 0);
});

test('what fails for the moment is sent again after a rest that doubles, and signed anew', async (t) => {
  const broken: Reply = (response) => response.destroy();
  const { webhook, heard, time } = await open(t, [status(500), status(503), broken]);
  webhook.send(callRecord());
  // Half of the jitter that there is: three quarters of 1, 2 and 4 s.
  for (const [attempts, restMs] of [
    [1, 750],
    [2, 1500],
    [3, 3000],
  ] as const) {
    await until(() => heard.length === attempts && webhook.resting === 1);
    time.advance(restMs - 1);
    assert.equal(webhook.resting, 1, `the rest after attempt ${attempts} is not over`);
    time.advance(1);
  }
  await until(() => webhook.figures.taken === 1);
  assert.equal(heard.length, 4);
  const signatures = new Set(heard.map(({ headers }) => headers['x-parley-signature']));
  assert.equal(signatures.size, 4);
  assert.equal(time.waiting, 0);
});

test('a receiver that says when to come back is left alone until then', async (t) => {
  const date = new Date(EPOCH_MS + 500 + 20_000 + 30_000).toUTCString(); // whole seconds: 30.5 s rounded down
  const { webhook, heard, time } = await open(t, [
    status(429, { 'retry-after': '20' }),
    status(503, { 'retry-after': date }),
  ]);
  webhook.send(callRecord());
  await until(() => heard.length === 1 && webhook.resting === 1);
  time.advance(19_999);
  assert.equal(webhook.resting, 1);
  time.advance(1);
  await until(() => heard.length === 2 && webhook.resting === 1);
  time.advance(29_499);
  assert.equal(webhook.resting, 1);
  time.advance(1);
  await until(() => webhook.figures.taken === 1);
});

test('a refusal is final, and so is a redirect, which nobody follows', async (t) => {
  const { webhook, heard, lines, time } = await open(t, [
    status(400),
    status(302, { location: '/elsewhere' }),
    status(307, { location: '/elsewhere' }),
  ]);
  for (const id of ['call_1', 'call_2', 'call_3']) {
    webhook.send(callRecord({ id }));
    await until(() => webhook.size === 0);
  }
  assert.deepEqual(
    heard.map(({ path }) => path),
    ['/calls', '/calls', '/calls'],
  );
  assert.equal(webhook.figures.refused, 3);
  assert.deepEqual(lines[1], [{ call: 'call_2', status: 302 }, 'call record refused: it is not sent again']);
  assert.equal(time.waiting, 0);
});

test('an answer that does not come within the limit counts as none', async (t) => {
  const { webhook, heard, time } = await open(t, [() => undefined], { timeoutMs: 4000 });
  webhook.send(callRecord());
  await until(() => heard.length === 1);
  time.advance(4000);
  await until(() => webhook.size === 1 && webhook.resting === 1);
  time.advance(750);
  await until(() => webhook.figures.taken === 1);
  assert.equal(heard.length, 2);
});

test('a record that nobody takes is given up when its time is over', async (t) => {
  const failing = Array.from({ length: 20 }, () => status(500));
  const { webhook, heard, lines, time } = await open(t, failing, { expiryMs: 10_000 });
  webhook.send(callRecord());
  // Rests of 0.75, 1.5, 3: the next one of 6 s would end after 11.25 s.
  for (const attempts of [1, 2, 3]) {
    await until(() => heard.length === attempts && webhook.resting === 1);
    time.advance(3000 / 2 ** (3 - attempts));
  }
  await until(() => webhook.figures.expired === 1);
  assert.equal(heard.length, 4);
  assert.deepEqual(lines, [
    [
      { call: 'call_1', attempts: 4, status: 500 },
      'call record given up: the webhook did not accept it in time',
    ],
  ]);
  assert.equal(time.waiting, 0);
});

test('so many are in flight, so many wait, and the oldest that waits goes first when there are more', async (t) => {
  const held: ServerResponse[] = [];
  const hold: Reply = (response) => void held.push(response);
  const { webhook, ids, lines } = await open(t, [hold, hold], { atOnce: 2, maxWaiting: 2 });
  for (const number of [1, 2, 3, 4, 5, 6]) webhook.send(callRecord({ id: `call_${number}` }));
  await until(() => held.length === 2);
  assert.deepEqual(ids(), ['call_1', 'call_2']);
  assert.deepEqual(lines, [[{ records: 1, dropped: 1 }, 'call records dropped: too many wait']]);
  for (const response of held) response.end();
  await until(() => webhook.figures.taken === 4);
  assert.deepEqual(ids().slice(2).sort(), ['call_5', 'call_6']);
  assert.equal(webhook.figures.dropped, 2);
});

test('records that are dropped have one line in ten seconds, with how many there were', async (t) => {
  const { webhook, lines, time } = await open(t, [() => undefined], { atOnce: 1, maxWaiting: 1 });
  for (const number of [1, 2, 3, 4, 5]) webhook.send(callRecord({ id: `call_${number}` }));
  time.advance(9999);
  webhook.send(callRecord({ id: 'call_6' }));
  time.advance(1);
  await until(() => webhook.size > 0);
  webhook.send(callRecord({ id: 'call_7' }));
  assert.deepEqual(
    lines.map(([fields]) => fields),
    [
      { records: 1, dropped: 1 },
      { records: 4, dropped: 5 },
    ],
  );
});

test('closing tries what rests once more, and waits for it', async (t) => {
  const { webhook, heard, time } = await open(t, [status(500)]);
  webhook.send(callRecord());
  await until(() => heard.length === 1 && webhook.resting === 1);
  await webhook.close();
  assert.equal(heard.length, 2);
  assert.deepEqual([webhook.figures.taken, webhook.size, time.waiting], [1, 0, 0]);
});

test('closing ends in bounded time, gives up the rest, and takes no more', async (t) => {
  const { webhook, heard, lines, time } = await open(t, [() => undefined], { atOnce: 1, flushMs: 3000 });
  for (const id of ['call_1', 'call_2']) webhook.send(callRecord({ id }));
  await until(() => heard.length === 1);
  const closed = webhook.close();
  assert.equal(webhook.close(), closed);
  webhook.send(callRecord({ id: 'call_3' }));
  time.advance(3000);
  await closed;
  assert.deepEqual([webhook.figures.abandoned, webhook.size, time.waiting], [3, 0, 0]);
  assert.equal(heard.length, 1);
  assert.deepEqual(lines.at(-1)?.[1], 'call records not sent: the server closed');
});

test('closing with nothing to send resolves at once', async (t) => {
  const { webhook, time } = await open(t);
  await webhook.close();
  assert.equal(time.waiting, 0);
});
