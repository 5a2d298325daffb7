import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openApp } from '../app-under-test.js';

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
