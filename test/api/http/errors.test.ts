import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { type ErrorCode, ParleyError } from '../../../src/errors.js';
import { errorReply } from '../../../src/api/http/error-reply.js';
import { errorIn, openApp, openServer } from '../app-under-test.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const SPEECH = '/v1/audio/speech';

test('every refusal is an OpenAI error object with all four keys, a request id and safety headers', async (t) => {
  const { app } = await openApp(t);
  const cases = [
    { request: { method: 'GET', url: '/nothing' }, status: 404, code: 'not_found' },
    { request: { method: 'GET', url: '/v1/models/gpt-4o' }, status: 404, code: 'model_not_found' },
    { request: { method: 'GET', url: '/%zz' }, status: 400, code: 'malformed' },
    { request: { method: 'GET', url: SPEECH }, status: 405, code: 'method_not_allowed' },
    { request: { method: 'PUT', url: '/v1/realtime/calls/abc' }, status: 405, code: 'method_not_allowed' },
    {
      request: { method: 'POST', url: SPEECH, headers: JSON_TYPE, body: '{"input":' },
      status: 400,
      code: 'malformed',
    },
    {
      request: { method: 'POST', url: SPEECH, headers: JSON_TYPE, body: '' },
      status: 400,
      code: 'malformed',
    },
    {
      request: { method: 'POST', url: SPEECH, headers: JSON_TYPE, body: '[]' },
      status: 400,
      code: 'malformed',
    },
    {
      request: { method: 'POST', url: SPEECH, headers: { 'content-type': 'text/xml' }, body: '<a/>' },
      status: 415,
      code: 'unsupported_media_type',
    },
    {
      request: { method: 'POST', url: SPEECH, headers: { 'content-type': 'text/plain' }, body: 'Hello.' },
      status: 415,
      code: 'unsupported_media_type',
    },
    {
      request: { method: 'POST', url: SPEECH, headers: JSON_TYPE, body: `"${'x'.repeat(1024 * 1024)}"` },
      status: 413,
      code: 'body_too_large',
    },
    {
      request: { method: 'POST', url: SPEECH, headers: JSON_TYPE, body: '{"__proto__":{"a":1}}' },
      status: 400,
      code: 'malformed',
    },
  ] as const;
  for (const { request, status, code } of cases) {
    const answer = await app.inject(request);
    assert.equal(answer.statusCode, status, `${request.method} ${request.url.slice(0, 40)}`);
    const error = errorIn(answer.body);
    assert.deepEqual(Object.keys(error).sort(), ['code', 'message', 'param', 'type']);
    assert.equal(error.code, code);
    assert.equal(error.type, 'invalid_request_error');
    assert.match(String(answer.headers['x-request-id']), /^req_\d+$/);
    assert.equal(answer.headers['x-content-type-options'], 'nosniff');
    assert.match(String(answer.headers['content-security-policy']), /frame-ancestors 'none'/);
    assert.match(String(answer.headers['content-type']), /^application\/json/);
  }
});

test('a body that is too large is answered with how large it may be', async (t) => {
  const { app } = await openApp(t);
  const headers = { 'content-type': 'application/sdp' };
  const payload = 'v'.repeat(70_000);
  const answer = await app.inject({ method: 'POST', url: '/v1/realtime/calls', headers, payload });
  assert.match(errorIn(answer.body).message, /at most 65536 bytes$/);
});

test('a body of another type is answered with those that the address takes', async (t) => {
  const { app } = await openApp(t);
  const messageOf = async (url: string) => {
    const headers = { 'content-type': 'text/xml' };
    return errorIn((await app.inject({ method: 'POST', url, headers, payload: '<a/>' })).body).message;
  };
  assert.match(await messageOf(SPEECH), /: it must be application\/json$/);
  assert.match(
    await messageOf('/v1/realtime/calls'),
    /: it must be application\/sdp or multipart\/form-data$/,
  );
});

test('a body of no bytes is none, whatever type its header names', async (t) => {
  const { app } = await openApp(t);
  const answer = await app.inject({ method: 'POST', url: '/cache/clear', headers: JSON_TYPE, payload: '' });
  assert.equal(answer.statusCode, 200);
});

test('a wrong method is answered with the methods that the address has', async (t) => {
  const { app } = await openApp(t);
  const speech = await app.inject({ method: 'GET', url: `${SPEECH}?a=1` });
  assert.equal(speech.headers.allow, 'OPTIONS, POST');
  const call = await app.inject({ method: 'POST', url: '/v1/realtime/calls/abc' });
  assert.equal(call.statusCode, 405);
  assert.equal(call.headers.allow, 'DELETE, OPTIONS, PATCH');
  const health = await app.inject({ method: 'POST', url: '/health' });
  assert.equal(health.headers.allow, 'GET, HEAD, OPTIONS');
  const options = await app.inject({ method: 'OPTIONS', url: '/health' });
  assert.equal(options.statusCode, 204);
  assert.equal(options.headers.allow, 'GET, HEAD, OPTIONS');
});

test('an unexpected error answers 500, tells nothing of itself and is logged under the same id', async (t) => {
  const { app, speech, logLines } = await openApp(t);
  speech.refusal = new TypeError('secret path /etc/x');
  const answer = await app.inject({ method: 'POST', url: SPEECH, payload: { input: 'hello' } });
  assert.equal(answer.statusCode, 500);
  assert.equal(answer.body.includes('secret'), false);
  assert.equal(answer.headers['x-should-retry'], 'false');
  const id = String(answer.headers['x-request-id']);
  assert.ok(errorIn(answer.body).message.includes(id));
  const logged = logLines.filter((line) => line.includes('secret path'));
  assert.equal(logged.length, 1);
  assert.ok(logged[0]?.includes(id));
});

test('each code has its status, its retry advice, and hides its message where it is for the operator', () => {
  const statusOf = (code: ErrorCode) => errorReply(new ParleyError(code, 'in detail'), 'req_1').status;
  assert.equal(statusOf('TEXT_TOO_LONG'), 400);
  assert.equal(statusOf('VOICE_UNKNOWN'), 400);
  assert.equal(statusOf('SDP_INVALID'), 400);
  assert.equal(statusOf('UNAUTHORIZED'), 401);
  assert.equal(statusOf('FORBIDDEN'), 403);
  assert.equal(statusOf('UNSUPPORTED_MEDIA_TYPE'), 415);
  assert.equal(statusOf('NO_COMMON_CODEC'), 422);
  assert.equal(statusOf('TIMEOUT'), 504);
  const limit = errorReply(new ParleyError('CALL_LIMIT', 'full', { retryAfterSeconds: 2.5 }), 'req_1');
  assert.equal(limit.status, 503);
  assert.equal(limit.headers['retry-after'], '3');
  assert.equal(limit.headers['retry-after-ms'], '2500');
  assert.equal(limit.body.error.type, 'server_error');
  const busy = errorReply(new ParleyError('ENGINE_BUSY', 'busy'), 'req_1');
  assert.equal(busy.headers['retry-after'], '1');
  const failed = errorReply(new ParleyError('ENGINE_FAILED', 'stack of the engine'), 'req_1');
  assert.equal(failed.status, 500);
  assert.equal(failed.body.error.message.includes('stack of the engine'), false);
  assert.equal(failed.body.error.code, 'engine_failed');
});

test('what is not HTTP is answered with an error object on its own socket', async (t) => {
  const { url } = await openServer(t);
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.end('this is no HTTP\r\n\r\n');
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  assert.match(answer, /^HTTP\/1\.1 400 Bad Request\r\n/);
  assert.match(answer, /\r\nX-Request-Id: req_\d+\r\n/);
  assert.equal(errorIn(answer.slice(answer.indexOf('\r\n\r\n'))).code, 'malformed');
});

test('headers that are too large are answered with 431', async (t) => {
  const { url } = await openServer(t);
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.end(`GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`);
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  assert.match(answer, /^HTTP\/1\.1 431 /);
  assert.equal(errorIn(answer.slice(answer.indexOf('\r\n\r\n'))).code, 'headers_too_large');
});
