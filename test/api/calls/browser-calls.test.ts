import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../../src/errors.js';
import { errorIn, openApp, openServer } from '../app-under-test.js';
import { ANSWER, type FakeExchange, OFFER, tokenOf } from './fake-exchange.js';

const CALLS = '/v1/realtime/calls';
const SDP = { 'content-type': 'application/sdp' };

/** The offers, all of which must ask for a call in which both sides may talk. */
function offersOf({ offers }: FakeExchange): string[] {
  assert.ok(offers.every(({ use, listenTo }) => use === 'talk' && listenTo === undefined));
  return offers.map(({ sdp }) => sdp);
}

function form(parts: readonly [name: string, type: string, body: string, filename?: string][]) {
  const pieces = parts.map(([name, type, body, filename]) => {
    const file = filename === undefined ? '' : `; filename="${filename}"`;
    return `--edge\r\nContent-Disposition: form-data; name="${name}"${file}\r\nContent-Type: ${type}\r\n\r\n${body}\r\n`;
  });
  return {
    headers: { 'content-type': 'multipart/form-data; boundary=edge' },
    payload: `${pieces.join('')}--edge--\r\n`,
  };
}

test('an offer is answered with 201, the answer, and the address of the call', async (t) => {
  const { app, calls } = await openApp(t);
  const answer = await app.inject({ method: 'POST', url: CALLS, headers: SDP, payload: OFFER });
  assert.equal(answer.statusCode, 201);
  assert.equal(answer.headers['content-type'], 'application/sdp');
  assert.equal(answer.headers.location, `${CALLS}/rtc_1`);
  assert.equal(answer.body, ANSWER);
  assert.deepEqual(offersOf(calls), [OFFER]);
});

test('a call is counted for the address and the key that it came from, and beyond their limit is answered 429', async (t) => {
  const { app, calls } = await openApp(t);
  const post = { method: 'POST', url: CALLS, headers: SDP, payload: OFFER } as const;
  await app.inject({ ...post, remoteAddress: '2001:db8::7' });
  const keyed = await openApp(t, { apiKeys: ['ann 0123456789abcdef'] });
  const headers = { ...SDP, authorization: 'Bearer 0123456789abcdef' };
  await keyed.app.inject({ ...post, headers, remoteAddress: '192.0.2.7' });
  assert.deepEqual(
    [...calls.clients, ...keyed.calls.clients],
    [['address 2001:db8::/64'], ['key ann', 'address 192.0.2.7']],
  );
  calls.refusal = new ParleyError('CLIENT_LIMIT', 'this client has 4 calls', { retryAfterSeconds: 5 });
  const answer = await app.inject(post);
  assert.deepEqual([answer.statusCode, answer.headers['retry-after']], [429, '5']);
  assert.equal(errorIn(answer.body).code, 'client_limit');
});

test('an offer may come as a form with a session, as fields or as files', async (t) => {
  const { app, calls } = await openApp(t);
  const fields = form([
    ['sdp', 'application/sdp', OFFER],
    ['session', 'application/json', '{"type":"realtime"}'],
  ]);
  assert.equal((await app.inject({ method: 'POST', url: CALLS, ...fields })).statusCode, 201);
  const files = form([['sdp', 'application/sdp', OFFER, 'blob']]);
  assert.equal((await app.inject({ method: 'POST', url: CALLS, ...files })).statusCode, 201);
  assert.deepEqual(offersOf(calls), [OFFER, OFFER]);
});

test("a form as fetch makes it, with OpenAI's two parts, opens a call over a real socket", async (t) => {
  const { url, calls } = await openServer(t);
  const body = new FormData();
  body.set('sdp', OFFER);
  body.set('session', JSON.stringify({ type: 'realtime', model: 'parley' }));
  const answer = await fetch(`${url}${CALLS}`, { method: 'POST', body });
  assert.equal(answer.status, 201);
  assert.deepEqual(offersOf(calls), [OFFER]);
  assert.deepEqual(calls.offers[0]?.session, { type: 'realtime', model: 'parley' });
});

test('a body that is no offer is refused with the status that says why', async (t) => {
  const { app, calls } = await openApp(t);
  const edge = { 'content-type': 'multipart/form-data; boundary=edge' };
  const cases: [string, { headers?: Record<string, string>; payload?: string | Buffer }, number, string][] = [
    [
      'another type',
      { headers: { 'content-type': 'application/json' }, payload: '{}' },
      415,
      'unsupported_media_type',
    ],
    [
      'plain text',
      { headers: { 'content-type': 'text/plain' }, payload: OFFER },
      415,
      'unsupported_media_type',
    ],
    ['no type, no body', {}, 415, 'unsupported_media_type'],
    ['empty', { headers: SDP, payload: '' }, 400, 'sdp_invalid'],
    ['blank', { headers: SDP, payload: '\r\n' }, 400, 'sdp_invalid'],
    ['not SDP', { headers: SDP, payload: 'hello' }, 400, 'sdp_invalid'],
    ['not UTF-8', { headers: SDP, payload: Buffer.from([0xff, 0xfe, 0x00]) }, 400, 'sdp_invalid'],
    ['no audio', { headers: SDP, payload: 'v=0\r\n' }, 422, 'no_common_codec'],
    ['too large', { headers: SDP, payload: 'v'.repeat(64 * 1024 + 1) }, 413, 'body_too_large'],
    ['a form too large', { headers: edge, payload: 'v'.repeat(64 * 1024 + 1) }, 413, 'body_too_large'],
    ['a broken form', { headers: edge, payload: '--edge\r\nnonsense' }, 400, 'malformed'],
    [
      'a form without edge',
      { headers: { 'content-type': 'multipart/form-data' }, payload: OFFER },
      400,
      'malformed',
    ],
    ['a form without sdp', form([['session', 'application/json', '{}']]), 400, 'malformed'],
    [
      'a session that is no object',
      form([
        ['sdp', 'application/sdp', OFFER],
        ['session', 'application/json', '[]'],
      ]),
      400,
      'malformed',
    ],
    [
      'a session that is no JSON',
      form([
        ['sdp', 'application/sdp', OFFER],
        ['session', 'application/json', '{'],
      ]),
      400,
      'malformed',
    ],
  ];
  for (const [name, request, status, code] of cases) {
    const answer = await app.inject({ method: 'POST', url: CALLS, ...request });
    assert.equal(answer.statusCode, status, name);
    assert.equal(errorIn(answer.body).code, code, name);
    if (status === 415)
      assert.equal(answer.headers['accept-post'], 'application/sdp, multipart/form-data', name);
  }
  assert.equal(calls.standing.size, 0);
});

test('a server that is full says when to come back', async (t) => {
  const { app, calls } = await openApp(t);
  calls.refusal = new ParleyError('CALL_LIMIT', '10 calls are open', { retryAfterSeconds: 5 });
  const answer = await app.inject({ method: 'POST', url: CALLS, headers: SDP, payload: OFFER });
  assert.equal(answer.statusCode, 503);
  assert.equal(answer.headers['retry-after'], '5');
  assert.equal(errorIn(answer.body).code, 'call_limit');
});

test('a call is ended by DELETE or by hangup with any body, and only once', async (t) => {
  const { app } = await openApp(t);
  const open = () => app.inject({ method: 'POST', url: CALLS, headers: SDP, payload: OFFER });
  const first = String((await open()).headers.location);
  assert.equal(
    (await app.inject({ method: 'DELETE', url: first, headers: { 'if-match': '"x"' } })).statusCode,
    204,
  );
  const again = await app.inject({ method: 'DELETE', url: first });
  assert.equal(again.statusCode, 404);
  assert.equal(errorIn(again.body).code, 'not_found');
  for (const request of [
    {},
    { payload: { reason: 'bye' } },
    { headers: { 'content-type': 'a/b' }, payload: 'x' },
  ]) {
    const url = `${String((await open()).headers.location)}/hangup`;
    assert.equal((await app.inject({ method: 'POST', url, ...request })).statusCode, 200);
    assert.equal((await app.inject({ method: 'POST', url, ...request })).statusCode, 404);
  }
});

test('a call whose caller left before the answer is hung up again', async (t) => {
  const { url, calls } = await openServer(t);
  let answerNow!: () => void;
  calls.ready = new Promise((resolve) => (answerNow = resolve));
  let asked!: () => void;
  const hungUp = new Promise<string>((resolve) => {
    calls.hangUp = (id) => {
      resolve(id);
      return Promise.resolve(calls.sessions.delete(id));
    };
  });
  const opened = new Promise<void>((resolve) => (asked = resolve));
  const open = calls.open.bind(calls);
  calls.open = (offer) => {
    asked();
    return open(offer);
  };
  const leaving = new AbortController();
  const left = assert.rejects(
    fetch(`${url}${CALLS}`, { method: 'POST', headers: SDP, body: OFFER, signal: leaving.signal }),
  );
  await opened;
  leaving.abort();
  await left;
  // The server sees the closed socket in a later turn of the loop than the client.
  await fetch(`${url}/health`);
  answerNow();
  assert.equal(await hungUp, 'rtc_1');
  assert.equal(calls.standing.size, 0);
});

test('OPTIONS tells what may be posted, with and without a key', async (t) => {
  const { app } = await openApp(t, { apiKeys: ['key-one-0123456789'] });
  const answer = await app.inject({ method: 'OPTIONS', url: CALLS });
  assert.equal(answer.statusCode, 200);
  assert.equal(answer.headers['accept-post'], 'application/sdp, multipart/form-data');
  assert.equal(answer.headers['access-control-allow-origin'], undefined);
});

test('a listed origin may call from its page, and another may not', async (t) => {
  const { app } = await openApp(t, { corsOrigins: ['https://shop.example'] });
  const preflight = (url: string, origin: string) =>
    app.inject({
      method: 'OPTIONS',
      url,
      headers: { origin, host: 'localhost', 'access-control-request-method': 'POST' },
    });
  const admitted = await preflight(CALLS, 'https://shop.example');
  assert.equal(admitted.statusCode, 200);
  assert.equal(admitted.headers['access-control-allow-origin'], 'https://shop.example');
  assert.match(String(admitted.headers['access-control-allow-methods']), /DELETE/);
  assert.match(String(admitted.headers['access-control-allow-headers']), /Authorization/);
  assert.equal((await preflight('/v1/audio/speech', 'https://shop.example')).statusCode, 204);
  const foreign = await preflight(CALLS, 'https://evil.example');
  assert.equal(foreign.headers['access-control-allow-origin'], undefined);
  const call = await app.inject({
    method: 'POST',
    url: CALLS,
    headers: { ...SDP, origin: 'https://shop.example', host: 'localhost' },
    payload: OFFER,
  });
  assert.equal(call.statusCode, 201);
  assert.match(String(call.headers['access-control-expose-headers']), /Location.*X-PCM-Sample-Rate/);
  assert.equal(call.headers['cross-origin-resource-policy'], 'cross-origin');
  assert.equal(call.headers['vary'], 'Origin');
});

const FRAGMENT = { 'content-type': 'application/trickle-ice-sdpfrag' };
const RESTART = 'a=ice-ufrag:renewed\r\na=ice-pwd:0123456789abcdefghijklmn\r\n';

test('the answer states the token of the call and its ICE session, with which PATCH restarts ICE', async (t) => {
  const { app } = await openApp(t);
  const { headers } = await app.inject({ method: 'POST', url: CALLS, headers: SDP, payload: OFFER });
  assert.deepEqual(
    [headers['parley-call-token'], headers.etag, headers.link],
    [tokenOf('rtc_1'), '"ice01"', undefined],
  );
  const patch = (condition: string, payload: string) =>
    app.inject({
      method: 'PATCH',
      url: String(headers.location),
      headers: { ...FRAGMENT, 'if-match': condition },
      payload,
    });
  const trickled = await patch('"ice01"', 'a=candidate:1 1 udp 1 192.0.2.7 9 typ host\r\n');
  assert.deepEqual([trickled.statusCode, trickled.body, trickled.headers.etag], [204, '', undefined]);
  const restarted = await patch('*', RESTART);
  assert.deepEqual([restarted.statusCode, restarted.headers.etag], [200, '"ice11"']);
  assert.match(restarted.body, /^a=ice-lite\r\n[^]*a=ice-ufrag:server1\r\n/);
  const late = await patch('"ice01"', RESTART);
  assert.deepEqual([late.statusCode, errorIn(late.body).code], [412, 'precondition_failed']);
  const other = await app.inject({
    method: 'PATCH',
    url: String(headers.location),
    headers: SDP,
    payload: OFFER,
  });
  assert.deepEqual(
    [other.statusCode, other.headers['accept-patch']],
    [415, 'application/trickle-ice-sdpfrag'],
  );
});

test('the address of the beta opens the same calls, whatever model it names', async (t) => {
  const { app, calls } = await openApp(t);
  const url = '/v1/realtime?model=gpt-realtime';
  const answer = await app.inject({ method: 'POST', url, headers: SDP, payload: OFFER });
  assert.deepEqual([answer.statusCode, answer.headers.location], [201, `${CALLS}/rtc_1`]);
  assert.deepEqual(offersOf(calls), [OFFER]);
});

const KEYS = ['ann 0123456789abcdef', 'bob fedcba9876543210'];
const ANN = { authorization: 'Bearer 0123456789abcdef' };
const BOB = { authorization: 'Bearer fedcba9876543210' };
const TOKEN = { authorization: `Bearer ${tokenOf('rtc_1')}` };

test('the token of a call resumes and ends this call without a key, and no other', async (t) => {
  const { app, calls } = await openApp(t, { apiKeys: KEYS });
  const open = () => app.inject({ method: 'POST', url: CALLS, headers: { ...SDP, ...ANN }, payload: OFFER });
  await open();
  await open();
  const resume = (id: string, headers: Record<string, string>) =>
    app.inject({
      method: 'POST',
      url: `${CALLS}/${id}/resume`,
      headers: { ...SDP, ...headers },
      payload: OFFER,
    });
  const resumed = await resume('rtc_1', TOKEN);
  assert.deepEqual(
    [resumed.statusCode, resumed.headers.location, resumed.headers.etag],
    [201, `${CALLS}/rtc_1`, '"ice11"'],
  );
  assert.deepEqual(calls.resumed, [tokenOf('rtc_1')]);
  for (const [id, headers, status] of [
    ['rtc_2', TOKEN, 401],
    ['rtc_1', ANN, 401],
    ['rtc_1', {}, 401],
    ['rtc_9', TOKEN, 404],
  ] as const) {
    assert.equal((await resume(id, headers)).statusCode, status, `${id} ${JSON.stringify(headers)}`);
  }
  const end = (id: string, headers: Record<string, string>) =>
    app.inject({ method: 'DELETE', url: `${CALLS}/${id}`, headers });
  assert.equal((await end('rtc_2', TOKEN)).statusCode, 401);
  assert.equal((await end('rtc_1', BOB)).statusCode, 404);
  assert.equal((await end('rtc_1', TOKEN)).statusCode, 204);
  assert.deepEqual([...calls.standing], ['rtc_2']);
});

test('a client that restarts ICE or resumes its call may state the RTP timestamp of the last sound', async (t) => {
  const { app, calls } = await openApp(t);
  await app.inject({ method: 'POST', url: CALLS, headers: SDP, payload: OFFER });
  const fragment = (ufrag: string) => `a=ice-ufrag:${ufrag}\r\na=ice-pwd:${'p'.repeat(22)}\r\n`;
  const FRAGMENT = { 'content-type': 'application/trickle-ice-sdpfrag', 'if-match': '*' };
  const restart = (ufrag: string, headers: Record<string, string>) =>
    app.inject({
      method: 'PATCH',
      url: `${CALLS}/rtc_1`,
      headers: { ...FRAGMENT, ...headers },
      payload: fragment(ufrag),
    });
  const resume = (headers: Record<string, string>) =>
    app.inject({
      method: 'POST',
      url: `${CALLS}/rtc_1/resume`,
      headers: { ...TOKEN, ...SDP, ...headers },
      payload: OFFER,
    });
  assert.equal((await restart('one1', {})).statusCode, 200);
  assert.equal((await restart('two2', { 'parley-received-timestamp': '4294967295' })).statusCode, 200);
  assert.equal((await resume({})).statusCode, 201);
  assert.equal((await resume({ 'parley-received-timestamp': '0' })).statusCode, 201);
  assert.deepEqual(calls.receivedTimestamps.splice(0), [undefined, 4_294_967_295, undefined, 0]);
  for (const wrong of ['', '-1', '1.5', '4294967296', '1e3', '1, 2', 'x']) {
    const headers = { 'parley-received-timestamp': wrong };
    for (const answer of [await restart('six6', headers), await resume(headers)]) {
      assert.equal(answer.statusCode, 400, wrong);
      assert.equal(answer.json<{ error: { param: string } }>().error.param, 'Parley-Received-Timestamp');
    }
  }
  assert.deepEqual(calls.receivedTimestamps, []);
});

test('a call is resumed only with SDP, and only while it is there', async (t) => {
  const { app, calls } = await openApp(t);
  await app.inject({ method: 'POST', url: CALLS, headers: SDP, payload: OFFER });
  const resume = (headers: Record<string, string>, payload = OFFER) =>
    app.inject({ method: 'POST', url: `${CALLS}/rtc_1/resume`, headers, payload });
  assert.equal((await resume({ ...TOKEN, 'content-type': 'application/json' }, '{}')).statusCode, 415);
  assert.equal((await resume({ ...TOKEN, ...SDP }, 'hello')).statusCode, 400);
  assert.equal((await resume(SDP)).statusCode, 401);
  calls.sessions.clear();
  assert.equal((await resume({ ...TOKEN, ...SDP })).statusCode, 404);
  assert.deepEqual(calls.resumed, []);
});
