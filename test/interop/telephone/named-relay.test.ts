// Telephone calls with an application that a request names by its address: SIPp is the far end, the
// application a WebSocket server. Everything of the server is real.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { RelayBackend } from '../../api/relay/relay-backend.js';
import { freePorts } from '../../fakes/free-port.js';
import { until } from '../../fakes/until.js';
import { kept } from './kept.js';
import { RtpPeer } from './rtp-peer.js';
import { Sipp } from './sipp.js';
import { TelephoneServer } from './telephone-server.js';

const TOKEN = 'token-of-the-server';
const HOLD_MS = 60_000;

let server: TelephoneServer;
let port: number;

before(async () => {
  port = await freePorts(1);
  server = await TelephoneServer.start({
    RELAY_ALLOWED_HOSTS: `bot.example.com,127.0.0.1:${port}`,
    RELAY_AUTH_TOKEN: TOKEN,
    CALL_INCOMING_KEY: 'anybody',
    CALL_INCOMING_TIMEOUT: '20',
  });
});
after(() => server.close());

async function post(path: string, body: object) {
  const response = await fetch(`${server.server.url}/v1/calls${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

async function metric(line: string): Promise<string | undefined> {
  const page = await server.server.metrics.exposition();
  return page
    .split('\n')
    .find((one) => one.startsWith(`${line} `))
    ?.slice(line.length + 1);
}

const isOver = () => server.telephone.list().every(({ state }) => state === 'ended');

test('a call that is placed talks with its application, which gets a signed handshake, and ends it', async (t) => {
  const backend = await RelayBackend.open(t, port);
  const rtp = await kept(t, RtpPeer.open());
  const sipp = await kept(t, Sipp.answer('answer-basic', { keys: { rtp_port: rtp.port } }));
  const relay = { url: backend.url, welcomeGreeting: 'Good morning.', parameters: { order: '7' } };
  const placed = await post('', { to: `sip:anna@127.0.0.1:${sipp.address.port}`, relay });
  assert.equal(placed.status, 201, placed.text);
  const app = await backend.socket();
  const setup = await app.message('setup');
  assert.deepEqual(
    [setup['callSid'], setup['direction'], setup['customParameters']],
    [(JSON.parse(placed.text) as { id: string }).id, 'outbound-api', { order: '7' }],
  );
  const signature = createHmac('sha1', TOKEN).update(backend.url).digest('base64');
  assert.equal(app.headers['x-twilio-signature'], signature);
  assert.equal(await metric('parley_application_lines{kind="relay"}'), '1');
  const second = await post(`/${String(setup['callSid'])}/relay`, {});
  assert.deepEqual([second.status, /an application conducts this call/.test(second.text)], [409, true]);
  await until(() => rtp.heard.length > 0);
  app.send({ type: 'end' });
  await until(isOver);
  await until(() => app.closeCode === 1000);
  assert.equal(await metric('parley_application_lines{kind="relay"}'), '0');
  assert.equal(await metric('parley_application_lines_total{kind="relay"}'), '1');
});

test('a call that came in talks with the application that the decision about it names', async (t) => {
  const backend = await RelayBackend.open(t, port);
  const incoming = await followed(t);
  const rtp = await kept(t, RtpPeer.open());
  const call = { holdMs: HOLD_MS, limitS: 90, keys: { rtp_port: rtp.port } };
  await kept(t, Sipp.call(server.address, 'call-basic', call));
  const id = await incoming();
  const elsewhere = await post(`/incoming/${id}/accept`, { relay: { url: 'wss://169.254.169.254/' } });
  assert.equal(elsewhere.status, 400);
  assert.match(elsewhere.text, /relay\.url must be at an allowed host, and .*169\.254\.169\.254.* is none/);
  const secret = { url: backend.url, authTokenEnv: 'RELAY_AUTH_TOKEN' };
  assert.equal((await post(`/incoming/${id}/accept`, { relay: secret })).status, 400);
  assert.equal((await post(`/incoming/${id}/accept`, { relay: { url: backend.url } })).status, 204);
  const app = await backend.socket();
  assert.equal((await app.message('setup'))['direction'], 'inbound');
  app.send({ type: 'text', token: 'Good morning.', last: true });
  await until(() => rtp.heard.length > 0);
  app.send({ type: 'end' });
  await until(isOver);
  assert.equal(await metric('parley_incoming_decisions_total{outcome="relay"}'), '1');
});

/** Follows the events of the server. The result resolves with the id of the next call that waits. */
async function followed(t: { after(work: () => void): void }): Promise<() => Promise<string>> {
  const gone = new AbortController();
  t.after(() => gone.abort());
  const response = await fetch(`${server.server.url}/v1/events`, { signal: gone.signal });
  let text = '';
  const reading = (async () => {
    for await (const part of response.body ?? []) text += Buffer.from(part as Uint8Array).toString();
  })();
  reading.catch(() => undefined); // aborted at the end of the test
  const found = () => /"incoming":"(inc_[\w-]+)"/.exec(text)?.[1];
  return async () => {
    await until(() => found() !== undefined);
    return found() ?? assert.fail();
  };
}
