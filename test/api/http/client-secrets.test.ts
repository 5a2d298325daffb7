import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClientSecrets } from '../../../src/api/http/client-secrets.js';
import { KeyRing } from '../../../src/api/http/api-keys.js';
import { AccessGuard } from '../../../src/api/http/access.js';
import { ParleyError } from '../../../src/errors.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { audioOffer } from '../whip/offer.js';
import { errorIn, openApp } from '../app-under-test.js';

const SECRETS = '/v1/realtime/client_secrets';
const KEYS = ['ann 0123456789abcdef', 'bob fedcba9876543210'];
const ANN = { authorization: 'Bearer 0123456789abcdef' };

interface SecretAnswer {
  readonly value: string;
  readonly expires_at: number;
  readonly session: Readonly<Record<string, unknown>>;
}

function refusedAs(code: string) {
  return (error: unknown) => error instanceof ParleyError && error.code === code;
}

test('a secret stands for its owner until it expires', () => {
  const time = new ManualTime();
  const secrets = new ClientSecrets({ time });
  const [first, second] = [secrets.make('ann', 10), secrets.make('bob', 20)];
  assert.match(first, /^ek_[\w-]{43}$/);
  assert.deepEqual([secrets.ownerOf(first), secrets.ownerOf(second)], ['ann', 'bob']);
  time.advance(9999);
  assert.equal(secrets.ownerOf(first), 'ann');
  time.advance(1);
  assert.deepEqual([secrets.ownerOf(first), secrets.ownerOf(second)], [undefined, 'bob']);
  for (const wrong of ['', 'ek_', `${second}x`, second.slice(0, -1), second.slice(3)]) {
    assert.equal(secrets.ownerOf(wrong), undefined, wrong);
  }
});

test('the number of secrets is limited for each owner and for all, and expired ones make room', () => {
  const time = new ManualTime();
  const secrets = new ClientSecrets({ time, mostOfOwner: 2, most: 3 });
  secrets.make('ann', 10);
  secrets.make('ann', 60);
  assert.throws(() => secrets.make('ann', 10), refusedAs('CLIENT_LIMIT'));
  secrets.make('bob', 60);
  assert.throws(() => secrets.make('eve', 10), refusedAs('OVERLOADED'));
  time.advance(10_000);
  secrets.make('ann', 10);
  assert.equal(secrets.size, 3);
});

test('expired secrets are forgotten although there is room', () => {
  const time = new ManualTime();
  const secrets = new ClientSecrets({ time });
  for (let n = 0; n < 100; n++) secrets.make(undefined, 10);
  time.advance(10_000);
  secrets.make(undefined, 10);
  assert.equal(secrets.size, 1);
});

test('a secret keeps the session of its calls, and the sessions of all secrets are limited', () => {
  const time = new ManualTime();
  const session = { type: 'realtime', instructions: 'Be brief.' };
  const bytes = JSON.stringify(session).length;
  const secrets = new ClientSecrets({ time, mostSessionBytes: 2 * bytes });
  const first = secrets.make('ann', 10, session);
  const plain = secrets.make('ann', 20);
  assert.deepEqual([secrets.sessionOf(first), secrets.sessionOf(plain)], [session, undefined]);
  secrets.make('bob', 20, session);
  assert.throws(() => secrets.make('eve', 10, session), refusedAs('OVERLOADED'));
  time.advance(10_000);
  assert.equal(secrets.sessionOf(first), undefined);
  secrets.make('eve', 10, session);
});

test('a secret ends with the API key that made it', () => {
  const keys = new KeyRing({ keys: ['ann 0123456789abcdef'], file: true });
  keys.replaceFileKeys(['bob fedcba9876543210']);
  const secrets = new ClientSecrets({ time: new ManualTime() });
  const guard = new AccessGuard({ keys, secrets, corsOrigins: [], host: '127.0.0.1' });
  const headers = { authorization: `Bearer ${secrets.make('bob', 60)}` };
  const request = { method: 'POST', access: 'call', remoteAddress: '192.0.2.1', headers } as const;
  assert.equal(guard.check(request), 'bob');
  keys.replaceFileKeys(['eve 0000111122223333']);
  assert.throws(() => guard.check(request), refusedAs('UNAUTHORIZED'));
});

test("a secret is made in OpenAI's shape, valid for ten minutes, with the session that was given", async (t) => {
  const { app } = await openApp(t, { apiKeys: KEYS });
  const make = (payload: object) => app.inject({ method: 'POST', url: SECRETS, headers: ANN, payload });
  const beforeS = Math.floor(Date.now() / 1000);
  const answer = await make({
    session: { type: 'realtime', model: 'parley', audio: { output: { voice: 'slt' } } },
  });
  const { value, expires_at, session } = answer.json<SecretAnswer>();
  assert.equal(answer.statusCode, 200);
  assert.match(value, /^ek_/);
  assert.ok(expires_at - beforeS >= 600 && expires_at - beforeS <= 602);
  assert.equal(answer.headers['cache-control'], 'no-store');
  const { id, ...rest } = session;
  assert.match(String(id), /^sess_[\w-]{36}$/);
  assert.deepEqual(rest, {
    type: 'realtime',
    object: 'realtime.session',
    model: 'parley',
    audio: { output: { voice: 'slt' } },
  });
  const transcription = await make({ session: { type: 'transcription' } });
  const { type, object } = transcription.json<SecretAnswer>().session;
  assert.deepEqual([type, object], ['transcription', 'realtime.transcription_session']);
  const longest = await make({ expires_after: { anchor: 'created_at', seconds: 7200 } });
  assert.ok(longest.json<SecretAnswer>().expires_at - beforeS >= 7200);
  for (const expires_after of [{ seconds: 9 }, { seconds: 7201 }, { seconds: 60.5 }, { anchor: 'now' }, 60]) {
    const refused = await make({ expires_after });
    assert.deepEqual([refused.statusCode, errorIn(refused.body).code], [400, 'invalid_value']);
  }
});

test('a secret opens calls for its key, and nothing else', async (t) => {
  const { app, calls, logLines } = await openApp(t, { apiKeys: KEYS });
  const made = await app.inject({ method: 'POST', url: SECRETS, headers: ANN, payload: {} });
  const { value } = made.json<SecretAnswer>();
  const bearer = { authorization: `Bearer ${value}` };
  const sdp = { ...bearer, 'content-type': 'application/sdp' };
  for (const url of ['/v1/realtime/calls', '/v1/realtime', '/whip', '/whep']) {
    const payload = audioOffer({ direction: 'sendrecv' });
    const answer = await app.inject({ method: 'POST', url, headers: sdp, payload });
    assert.equal(answer.statusCode, 201, url);
  }
  assert.deepEqual([...calls.owners.values()], ['ann', 'ann', 'ann', 'ann']);
  assert.equal((await app.inject({ url: '/v1/realtime/ice_servers', headers: bearer })).statusCode, 200);
  for (const [method, url] of [
    ['POST', SECRETS],
    ['POST', '/v1/audio/speech'],
    ['GET', '/v1/models'],
    ['GET', '/v1/calls'],
    ['POST', '/v1/calls'],
  ] as const) {
    assert.equal((await app.inject({ method, url, headers: bearer })).statusCode, 401, `${method} ${url}`);
  }
  assert.ok(logLines.length > 5);
  assert.equal(
    logLines.some((line) => line.includes(value.slice(3, 20))),
    false,
  );
});

test('a secret of a transcription opens no call over WebRTC', async (t) => {
  const { app, calls } = await openApp(t, { apiKeys: KEYS });
  const session = { type: 'transcription' };
  const made = await app.inject({ method: 'POST', url: SECRETS, headers: ANN, payload: { session } });
  const { value } = made.json<SecretAnswer>();
  const headers = { authorization: `Bearer ${value}`, 'content-type': 'application/sdp' };
  const payload = audioOffer({ direction: 'sendrecv' });
  const answer = await app.inject({ method: 'POST', url: '/v1/realtime/calls', headers, payload });
  const { code, param, message } = errorIn(answer.body);
  assert.deepEqual([answer.statusCode, code, param], [400, 'invalid_value', 'session.type']);
  assert.match(message, /over the WebSocket \/v1\/realtime, not over WebRTC/);
  assert.equal(calls.owners.size, 0);
});

test('a secret changes, ends and hears the calls that it has opened, and no other of its key', async (t) => {
  const { app, calls } = await openApp(t, { apiKeys: KEYS });
  const make = async () => {
    const made = await app.inject({ method: 'POST', url: SECRETS, headers: ANN, payload: {} });
    return `Bearer ${made.json<SecretAnswer>().value}`;
  };
  const [own, another] = [await make(), await make()];
  const send = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, authorization: string) => {
    const type = method === 'PATCH' ? 'application/trickle-ice-sdpfrag' : 'application/sdp';
    const payload = method === 'PATCH' ? 'a=end-of-candidates\r\n' : audioOffer({ direction: 'sendrecv' });
    const hasBody = method === 'POST' || method === 'PATCH';
    const headers = { authorization, 'if-match': '*', ...(hasBody && { 'content-type': type }) };
    return (await app.inject({ method, url, headers, ...(hasBody && { payload }) })).statusCode;
  };
  assert.equal(await send('POST', '/whip', own), 201);
  assert.equal(await send('POST', '/v1/realtime/calls', own), 201);
  for (const [method, url, status] of [
    ['GET', '/whip/sessions/rtc_1', 204],
    ['PATCH', '/whip/sessions/rtc_1', 204],
    ['PATCH', '/v1/realtime/calls/rtc_2', 204],
    ['POST', '/v1/realtime/calls/rtc_2/resume', 401],
    ['POST', '/whep?call=rtc_2', 201],
    ['POST', '/v1/realtime/calls/rtc_2/hangup', 200],
    ['DELETE', '/whip/sessions/rtc_1', 204],
  ] as const) {
    assert.equal(await send(method, url, another), 401, `${method} ${url} with another secret`);
    assert.equal(await send(method, url, own), status, `${method} ${url} with its own`);
  }
  assert.deepEqual(
    calls.enders.map(([id]) => id),
    ['rtc_2', 'rtc_1'],
  );
});

test('a secret that has expired opens no call', async (t) => {
  const time = new ManualTime();
  const { app } = await openApp(t, { apiKeys: KEYS, time });
  const payload = { expires_after: { anchor: 'created_at', seconds: 10 } };
  const made = await app.inject({ method: 'POST', url: SECRETS, headers: ANN, payload });
  const headers = {
    authorization: `Bearer ${made.json<SecretAnswer>().value}`,
    'content-type': 'application/sdp',
  };
  const open = () => app.inject({ method: 'POST', url: '/whip', headers, payload: audioOffer() });
  assert.equal((await open()).statusCode, 201);
  time.advance(10_000);
  assert.equal((await open()).statusCode, 401);
});
