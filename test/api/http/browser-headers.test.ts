import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openApp } from '../app-under-test.js';
import { audioOffer } from '../whip/offer.js';

test('the page has the headers that protect it from other pages', async (t) => {
  const { app } = await openApp(t);
  const { headers } = await app.inject('/');
  assert.equal(headers['x-frame-options'], 'DENY');
  assert.equal(headers['cross-origin-opener-policy'], 'same-origin');
  assert.equal(headers['cross-origin-resource-policy'], 'same-origin');
  assert.equal(headers['referrer-policy'], 'no-referrer');
  assert.equal(headers['x-content-type-options'], 'nosniff');
});

test('an answer of the API runs nothing, and may be heard by other pages only where some are listed', async (t) => {
  const alone = await (await openApp(t)).app.inject('/v1/models');
  assert.equal(alone.headers['content-security-policy'], "default-src 'none'; frame-ancestors 'none'");
  assert.equal(alone.headers['cross-origin-resource-policy'], 'same-origin');
  const { app } = await openApp(t, { corsOrigins: ['https://shop.example'] });
  // As <audio src> asks: without an Origin.
  assert.equal((await app.inject('/v1/models')).headers['cross-origin-resource-policy'], 'cross-origin');
  assert.equal((await app.inject('/')).headers['cross-origin-resource-policy'], 'same-origin');
});

test('browsers get strict-transport-security over TLS, but not for loopback, whose name others share', async (t) => {
  const hsts = async (options: { isSecure: boolean; host: string }) => {
    const { app } = await openApp(t, options);
    return (await app.inject('/v1/models')).headers['strict-transport-security'];
  };
  assert.equal(await hsts({ isSecure: true, host: '0.0.0.0' }), 'max-age=31536000');
  assert.equal(await hsts({ isSecure: true, host: 'localhost' }), undefined);
  assert.equal(await hsts({ isSecure: false, host: '0.0.0.0' }), undefined);
});

test('a listed page may send the headers that its client library adds, and no page anything else', async (t) => {
  const { app } = await openApp(t, { corsOrigins: ['https://shop.example'] });
  const allowed = async (asked: string, origin = 'https://shop.example') => {
    const headers = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': asked,
    };
    const answer = await app.inject({ method: 'OPTIONS', url: '/v1/audio/speech', headers });
    return answer.headers['access-control-allow-headers'];
  };
  const asked = 'authorization,content-type,x-stainless-os';
  assert.equal(await allowed(asked), asked);
  assert.match(String(await allowed('a\u0001b')), /^Authorization, Content-Type/);
  assert.equal(await allowed(asked, 'https://evil.example'), undefined);
});

test('behind a proxy on this machine, addresses have the prefix that it states', async (t) => {
  const { app } = await openApp(t);
  const ask = (prefix: string, remoteAddress = '127.0.0.1', url = '/guide/') =>
    app.inject({ url, remoteAddress, headers: { 'x-forwarded-prefix': prefix } });
  assert.equal((await ask('/voice')).headers['location'], '/voice/guide');
  assert.equal((await ask('/a/voice/')).headers['location'], '/a/voice/guide');
  for (const wrong of ['', 'voice', '//evil.example', '/a b', '/"><script>', `/${'x'.repeat(300)}`])
    assert.equal((await ask(wrong)).headers['location'], '/guide', wrong);
  assert.equal((await ask('/voice', '192.0.2.7')).headers['location'], '/guide');
  const page = (await ask('/voice', '127.0.0.1', '/guide')).body;
  assert.match(page, /href="\/voice\/guide\.css"/);
  assert.match(page, /action="\/voice\/guide\/search"/);
  assert.doesNotMatch(page, / (?:href|action)="\/(?!voice\/)/);
});

test('behind a proxy, the document and its page lead under the prefix, and without one they do not', async (t) => {
  const { app } = await openApp(t);
  const headers = { 'x-forwarded-prefix': '/voice' };
  for (const url of ['/openapi.json', '/docs/json']) {
    const documentAt = async (options: object) =>
      (await app.inject({ url, ...options })).json<{ servers?: unknown }>().servers;
    assert.deepEqual(await documentAt({ headers }), [{ url: '/voice' }], url);
    assert.equal(await documentAt({}), undefined, url);
    assert.equal(await documentAt({ headers, remoteAddress: '192.0.2.7' }), undefined, url);
  }
  assert.match((await app.inject({ url: '/docs/yaml', headers })).body, /servers:\n +- url: \/voice\n/);
  const page = (await app.inject({ url: '/docs', headers })).body;
  assert.match(page, /src="\/voice\/docs\/static\/swagger-ui-bundle\.js"/);
  assert.doesNotMatch(page, / (?:href|src)="\/(?!voice\/)/);
  assert.match((await app.inject('/docs')).body, /src="\/docs\/static\/swagger-ui-bundle\.js"/);
});

test('behind a proxy, the Location of a session and of a call has the prefix', async (t) => {
  const { app } = await openApp(t);
  const ask = async (url: string, type: string, payload: string | object) => {
    const headers = { 'content-type': type, 'x-forwarded-prefix': '/voice' };
    const answer = await app.inject({ method: 'POST', url, headers, payload });
    assert.equal(answer.statusCode, 201, answer.body);
    return String(answer.headers.location);
  };
  for (const url of ['/whip', '/whep']) {
    const direction = url === '/whip' ? 'sendonly' : 'recvonly';
    const offer = audioOffer({ direction });
    assert.match(await ask(url, 'application/sdp', offer), new RegExp(`^/voice${url}/sessions/[\\w-]+$`));
  }
  const call = { to: 'sip:100@example.com', say: { text: 'Hello.' } };
  assert.match(await ask('/v1/calls', 'application/json', call), /^\/voice\/v1\/calls\/[\w-]+$/);
  assert.match(
    await ask('/v1/realtime/calls', 'application/sdp', audioOffer({ direction: 'sendrecv' })),
    /^\/voice\/v1\/realtime\/calls\/[\w-]+$/,
  );
});
