import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { IncomingDecision } from '../../../sip/telephone/incoming-decision.js';
import { signature } from '../../../src/observe/webhook.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { until } from '../../fakes/until.js';
import { ROUTING } from './fake-legs.js';

const SECRET = 'secret-of-a-test-0123';
const NOW_MS = 1_795_731_642_310;
const CALL = { callId: 'a84b', from: 'sip:anna@a', to: 'sip:100@b', headers: { 'X-Tenant': 'acme' } };

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function open(t: TestContext, answer: Answer, fallback: 'routes' | 'reject' = 'routes') {
  const asked: { headers: IncomingMessage['headers']; body: string }[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      asked.push({ headers: request.headers, body: Buffer.concat(parts).toString() });
      answer(request, response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => (server.close(), server.closeAllConnections()));
  const time = new ManualTime();
  const warnings: Record<string, unknown>[] = [];
  const decision = new IncomingDecision({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/incoming`,
    secret: SECRET,
    followers: { ask: () => Promise.reject(new Error('not asked')) },
    timeoutMs: 3000,
    fallback,
    context: { ...ROUTING, isAgent: (name) => name === 'sales' },
    time,
    wallMs: () => NOW_MS,
    log: { warn: (fields) => void warnings.push(fields) },
  });
  return { decision, asked, time, warnings };
}

const json =
  (value: unknown, status = 200): Answer =>
  (_request, response) =>
    void response.writeHead(status).end(typeof value === 'string' ? value : JSON.stringify(value));

test('the application is told of the call, signed, and its answer is a rule', async (t) => {
  const { decision, asked, warnings, time } = await open(t, json({ agent: 'sales', listen: true }));
  const route = await decision.of(CALL);
  assert.deepEqual([route?.name, route?.answer], ['incoming', { kind: 'agent', agent: 'sales' }]);
  const [{ headers, body } = assert.fail()] = asked;
  assert.deepEqual(JSON.parse(body), {
    event: 'call.incoming',
    created_at: NOW_MS / 1000,
    call: {
      object: 'call.incoming',
      direction: 'inbound',
      sip_call_id: 'a84b',
      from: 'sip:anna@a',
      to: 'sip:100@b',
      headers: { 'X-Tenant': 'acme' },
    },
  });
  assert.equal(headers['x-parley-signature'], signature(SECRET, body, Math.floor(NOW_MS / 1000)));
  assert.deepEqual([warnings.length, time.waiting], [0, 0]);
});

for (const [what, answer] of [
  ['an empty object', json({})],
  ['204', json('', 204)],
] as const) {
  test(`with ${what} the routes decide`, async (t) => {
    const { decision, warnings } = await open(t, answer);
    assert.equal(await decision.of(CALL), undefined);
    assert.equal(warnings.length, 0);
  });
}

for (const [what, answer, detail] of [
  ['an error', json('', 500), /status 500/],
  [
    'a redirection',
    (_q, r) => void r.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    /status 302/,
  ],
  ['no JSON', json('<html>'), /not JSON/],
  ['an unknown agent', json({ agent: 'support' }), /agent names "support", which is no agent/],
  ['two answers', json({ agent: 'sales', wait: {} }), /must have exactly one of/],
  ['a misspelt field', json({ agnet: 'sales' }), /"agnet" is none of/],
  ['an endless answer', json('x'.repeat(100_000)), /more than 65536 bytes/],
] as readonly [string, Answer, RegExp][]) {
  test(`after ${what} the fallback decides, and the log says why`, async (t) => {
    const routes = await open(t, answer);
    assert.equal(await routes.decision.of(CALL), undefined);
    assert.match(String(routes.warnings[0]?.['detail']), detail);
    const reject = await open(t, answer, 'reject');
    assert.deepEqual((await reject.decision.of(CALL))?.answer, {
      kind: 'reject',
      status: 503,
      text: 'Service Unavailable',
    });
  });
}

test('an application that hangs is waited for no longer than its bound', async (t) => {
  const { decision, asked, time, warnings } = await open(t, () => undefined, 'reject');
  const deciding = decision.of(CALL);
  await until(() => asked.length === 1);
  time.advance(3000);
  assert.equal((await deciding)?.answer.kind, 'reject');
  assert.deepEqual(
    [warnings[0]?.['code'], warnings[0]?.['detail']],
    ['TIMEOUT', 'it did not answer within 3000 ms'],
  );
  assert.equal(time.waiting, 0);
});

test('about no more than 256 calls is the application asked at the same time', async (t) => {
  const { decision, asked, time, warnings } = await open(t, () => undefined);
  const deciding = Array.from({ length: 257 }, () => decision.of(CALL));
  assert.equal(await deciding.pop(), undefined);
  assert.equal(warnings[0]?.['code'], 'QUEUE_FULL');
  await until(() => asked.length === 256);
  time.advance(3000);
  await Promise.all(deciding);
  void decision.of(CALL);
  await until(() => asked.length === 257);
  time.advance(3000);
});

test('applications that follow the events of the server decide where no address is asked', async (t) => {
  const time = new ManualTime();
  const asked: unknown[] = [];
  const followers = {
    ask: async <R>({ about, read }: { about: unknown; read: (rule: unknown) => R }) => {
      asked.push(about);
      return read({ agent: 'sales' });
    },
  };
  const warnings: Record<string, unknown>[] = [];
  const decision = new IncomingDecision({
    url: undefined,
    secret: '',
    followers,
    timeoutMs: 3000,
    fallback: 'reject',
    context: { ...ROUTING, isAgent: (name) => name === 'sales' },
    time,
    wallMs: () => NOW_MS,
    log: { warn: (fields) => void warnings.push(fields) },
  });
  t.after(() => assert.equal(warnings.length, 0));
  assert.deepEqual((await decision.of(CALL))?.answer, { kind: 'agent', agent: 'sales' });
  const { callId: _callId, ...about } = CALL;
  assert.deepEqual(asked, [{ direction: 'inbound', protocol: 'sip', ...about }]);
});
