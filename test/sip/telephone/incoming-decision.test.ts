import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { IncomingDecision } from '../../../sip/telephone/incoming-decision.js';
import { signature } from '../../../src/signed-headers.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { until } from '../../fakes/until.js';
import { ROUTING } from './fake-legs.js';
import { SILENT_LOG } from '../../../src/log.js';

const SECRET = 'secret-of-a-test-0123';
const NAMED = {
  hosts: [{ host: 'bot.example.com', isWildcard: false, port: undefined }],
  authToken: 'token-of-the-server',
};
const NOW_MS = 1_795_731_642_310;
const CALL = { callId: 'a84b', from: 'sip:anna@a', to: 'sip:100@b', headers: { 'X-Tenant': 'acme' } };

interface Question<R> {
  readonly about: unknown;
  readonly call?: string | undefined;
  readonly read: (rule: unknown) => R;
}

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
  const outcomes: string[] = [];
  const decision = new IncomingDecision({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/incoming`,
    secret: SECRET,
    followers: { ask: () => Promise.reject(new Error('not asked')) },
    timeoutMs: 3000,
    fallback,
    context: { ...ROUTING, isAgent: (name) => name === 'sales', namedRelays: NAMED },
    time,
    wallMs: () => NOW_MS,
    log: { ...SILENT_LOG, warn: (fields) => void warnings.push({ ...fields }) },
    decided: (outcome) => void outcomes.push(outcome),
  });
  return { decision, asked, time, warnings, outcomes };
}

const json =
  (value: unknown, status = 200): Answer =>
  (_request, response) =>
    void response.writeHead(status).end(typeof value === 'string' ? value : JSON.stringify(value));

test('the application is told of the call, signed, and its answer is a rule', async (t) => {
  const { decision, asked, warnings, time, outcomes } = await open(t, json({ agent: 'sales', listen: true }));
  const route = await decision.of({ ...CALL, id: 'call_1', route: 'sales' });
  assert.deepEqual([route?.name, route?.answer], ['incoming', { kind: 'agent', agent: 'sales' }]);
  const [{ headers, body } = assert.fail()] = asked;
  assert.deepEqual(JSON.parse(body), {
    event: 'call.incoming',
    created_at: NOW_MS / 1000,
    call_id: 'call_1',
    call: {
      object: 'call.incoming',
      id: 'call_1',
      route: 'sales',
      direction: 'inbound',
      sip_call_id: 'a84b',
      from: 'sip:anna@a',
      to: 'sip:100@b',
      headers: { 'X-Tenant': 'acme' },
    },
  });
  assert.equal(headers['x-parley-signature'], signature(SECRET, body, Math.floor(NOW_MS / 1000)));
  assert.deepEqual([warnings.length, time.waiting, outcomes], [0, 0, ['agent']]);
});

test('the answer may name an application by its address, at a host that is allowed', async (t) => {
  const relay = { url: 'wss://bot.example.com/calls', welcomeGreeting: 'Hello.', parameters: { a: 'b' } };
  const { decision, warnings, outcomes } = await open(t, json({ relay, record: true }));
  const route = await decision.of(CALL);
  assert.ok(route?.answer.kind === 'relay');
  const { name, url, authToken, welcomeGreeting, parameters } = route.answer.relay;
  assert.deepEqual(
    [name, url, authToken, welcomeGreeting, parameters],
    ['bot.example.com', relay.url, 'token-of-the-server', 'Hello.', { a: 'b' }],
  );
  assert.deepEqual([warnings.length, outcomes, route.record], [0, ['relay'], {}]);
});

for (const [what, answer] of [
  ['an empty object', json({})],
  ['204', json('', 204)],
] as const) {
  test(`with ${what} the routes decide`, async (t) => {
    const { decision, warnings, outcomes } = await open(t, answer);
    assert.equal(await decision.of(CALL), undefined);
    assert.deepEqual([warnings.length, outcomes], [0, ['routes']]);
  });
}

for (const [what, answer, detail, outcome] of [
  ['an error', json('', 500), /status 500/, 'unreachable'],
  [
    'a redirection',
    (_q, r) => void r.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    /status 302/,
    'unreachable',
  ],
  ['no JSON', json('<html>'), /not JSON/, 'unusable'],
  ['an unknown agent', json({ agent: 'support' }), /agent names "support", which is no agent/, 'unusable'],
  ['two answers', json({ agent: 'sales', wait: {} }), /must have exactly one of/, 'unusable'],
  [
    'an application at another host',
    json({ relay: { url: 'wss://169.254.169.254/latest' } }),
    /relay\.url must be at an allowed host, and "169\.254\.169\.254" is none/,
    'unusable',
  ],
  [
    'an application and an agent',
    json({ relay: { url: 'wss://bot.example.com/' }, agent: 'sales' }),
    /exactly one of say, announce, wait, agent, reject, bridge, room, queue, twiml, program, relay/,
    'unusable',
  ],
  [
    'the name of a variable',
    json({ relay: { url: 'wss://bot.example.com/', authTokenEnv: 'API_KEYS' } }),
    /relay\.authTokenEnv must be absent/,
    'unusable',
  ],
  ['a misspelt field', json({ agnet: 'sales' }), /"agnet" is none of/, 'unusable'],
  ['an endless answer', json('x'.repeat(100_000)), /more than 65536 bytes/, 'unusable'],
] as readonly [string, Answer, RegExp, string][]) {
  test(`after ${what} the fallback decides, and the log says why`, async (t) => {
    const routes = await open(t, answer);
    assert.equal(await routes.decision.of(CALL), undefined);
    assert.match(String(routes.warnings[0]?.['detail']), detail);
    assert.deepEqual(routes.outcomes, [outcome]);
    const reject = await open(t, answer, 'reject');
    assert.deepEqual((await reject.decision.of(CALL))?.answer, {
      kind: 'reject',
      status: 503,
      text: 'Service Unavailable',
    });
  });
}

test('an application that hangs is waited for no longer than its bound', async (t) => {
  const { decision, asked, time, warnings, outcomes } = await open(t, () => undefined, 'reject');
  const deciding = decision.of(CALL);
  await until(() => asked.length === 1);
  time.advance(3000);
  assert.equal((await deciding)?.answer.kind, 'reject');
  assert.deepEqual(
    [warnings[0]?.['code'], warnings[0]?.['detail']],
    ['TIMEOUT', 'it did not answer within 3000 ms'],
  );
  assert.deepEqual([time.waiting, outcomes], [0, ['timeout']]);
});

test('about no more than 256 calls is the application asked at the same time', async (t) => {
  const { decision, asked, time, warnings, outcomes } = await open(t, () => undefined);
  const deciding = Array.from({ length: 257 }, () => decision.of(CALL));
  assert.equal(await deciding.pop(), undefined);
  assert.deepEqual([warnings[0]?.['code'], outcomes], ['QUEUE_FULL', ['busy']]);
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
    ask: async <R>({ about, call, read }: Question<R>) => {
      asked.push({ call, about });
      return read({ agent: 'sales' });
    },
  };
  const warnings: Record<string, unknown>[] = [];
  const outcomes: string[] = [];
  const decision = new IncomingDecision({
    url: undefined,
    secret: '',
    followers,
    timeoutMs: 3000,
    fallback: 'reject',
    context: { ...ROUTING, isAgent: (name) => name === 'sales' },
    time,
    wallMs: () => NOW_MS,
    log: { ...SILENT_LOG, warn: (fields) => void warnings.push({ ...fields }) },
    decided: (outcome) => void outcomes.push(outcome),
  });
  t.after(() => assert.equal(warnings.length, 0));
  const { answer } = (await decision.of({ ...CALL, id: 'call_1', route: 'sales' })) ?? {};
  assert.deepEqual(answer, { kind: 'agent', agent: 'sales' });
  const about = { direction: 'inbound', protocol: 'sip', ...CALL, route: 'sales' };
  assert.deepEqual(asked, [{ call: 'call_1', about }]);
  assert.deepEqual(outcomes, ['agent']);
});
