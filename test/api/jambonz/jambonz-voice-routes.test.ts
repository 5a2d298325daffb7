// POST /v1/jambonz/tts, by the requests that jambonz sends.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../../src/errors.js';
import { errorIn, openApp } from '../app-under-test.js';

const URL = '/v1/jambonz/tts';
const ASKED = { container: 'mp3', sampleRate: 24_000, speed: 1, client: '127.0.0.1' };

test('a text becomes MP3 in the voice and language of the request', async (t) => {
  const { app, speech } = await openApp(t);
  speech.whole = ['so', 'und'];
  const payload = { language: 'en-US', voice: 'slt', type: 'text', text: 'Hello there.' };
  const answer = await app.inject({ method: 'POST', url: URL, payload });
  assert.deepEqual([answer.statusCode, answer.body], [200, 'sound']);
  assert.equal(answer.headers['content-type'], 'audio/mpeg');
  assert.deepEqual(speech.requests, [{ ...ASKED, text: 'Hello there.', voice: 'slt', language: 'en-US' }]);
});

test('what the FreeSWITCH modules of jambonz send is understood: their rate, and no voice', async (t) => {
  const { app, speech } = await openApp(t);
  speech.whole = ['sound'];
  const headers = { accept: 'audio/mp3', 'content-type': 'application/json' };
  const payload = { text: 'Hello.', type: 'text', samplingRate: 8000, voice: '' };
  const { statusCode } = await app.inject({ method: 'POST', url: URL, headers, payload });
  assert.equal(statusCode, 200);
  assert.deepEqual(speech.requests, [{ ...ASKED, text: 'Hello.', sampleRate: 8000 }]);
});

test('SSML is spoken as such, by its type or by its beginning', async (t) => {
  const { app, speech } = await openApp(t);
  speech.whole = ['sound'];
  const marked = [
    { type: 'ssml', text: '<speak>Hello.</speak>' },
    { type: 'text', text: '<speak version="1.1">Hello.</speak>' },
  ];
  for (const payload of marked) await app.inject({ method: 'POST', url: URL, payload });
  await app.inject({ method: 'POST', url: URL, payload: { type: 'text', text: '5 < 7' } });
  assert.deepEqual(
    speech.requests.map(({ text, markup }) => [text, markup]),
    [
      [marked[0]?.text, true],
      [marked[1]?.text, true],
      ['5 < 7', undefined],
    ],
  );
});

test('SSML with a mistake is refused under the name of the field', async (t) => {
  const { app, speech } = await openApp(t);
  const payload = { type: 'ssml', text: 'Hello' };
  const answer = await app.inject({ method: 'POST', url: URL, payload });
  assert.deepEqual([answer.statusCode, errorIn(answer.body).param], [400, 'text']);
  assert.deepEqual(speech.requests, []);
});

for (const [param, payload] of [
  ['text', {}],
  ['text', { text: '' }],
  ['text', { text: 'x'.repeat(4097) }],
  ['type', { text: 'x', type: 'mp3' }],
  ['voice', { text: 'x', voice: 7 }],
  ['language', { text: 'x', language: '!' }],
  ['samplingRate', { text: 'x', samplingRate: 9000 }],
] as const) {
  test(`${JSON.stringify(payload).slice(0, 40)} is refused for its ${param}`, async (t) => {
    const { app, speech } = await openApp(t);
    const answer = await app.inject({ method: 'POST', url: URL, payload });
    assert.deepEqual([answer.statusCode, errorIn(answer.body).param], [400, param]);
    assert.deepEqual(speech.requests, []);
  });
}

test('what fails before the sound is a status, which jambonz takes for a failed text', async (t) => {
  const { app, speech } = await openApp(t);
  for (const [error, status] of [
    [new ParleyError('VOICE_UNKNOWN', 'there is no voice "x"', { field: 'voice' }), 400],
    [new ParleyError('ENGINE_BUSY', 'the queue is full'), 503],
    [new ParleyError('ENGINE_FAILED', 'secret'), 500],
  ] as const) {
    speech.refusal = error;
    const { statusCode, body } = await app.inject({ method: 'POST', url: URL, payload: { text: 'x' } });
    assert.equal(statusCode, status);
    assert.ok(!body.includes('secret'));
  }
});

test('it wants the key of the server as a bearer token', async (t) => {
  const key = 'k'.repeat(16);
  const { app, speech } = await openApp(t, { apiKeys: [key] });
  speech.whole = ['sound'];
  const post = (headers: Record<string, string>) =>
    app.inject({ method: 'POST', url: URL, payload: { text: 'x' }, headers });
  assert.equal((await post({})).statusCode, 401);
  assert.equal((await post({ authorization: 'Bearer wrong' })).statusCode, 401);
  assert.equal((await post({ authorization: `Bearer ${key}` })).statusCode, 200);
});
