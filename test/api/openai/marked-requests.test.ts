// Request fields about the text (SSML or plain, pronunciations) reach the speech service.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../../src/errors.js';
import { eventJson } from '../../../src/api/calls/call-json.js';
import { errorIn, openApp } from '../app-under-test.js';

const SPEECH = '/v1/audio/speech';
const MARKED = '<speak>Hi.</speak>';

test('a text that begins with <speak is SSML, unless the request says what it is', async (t) => {
  const { app, speech } = await openApp(t);
  speech.whole = ['sound'];
  for (const [input, format, isMarkup] of [
    [MARKED, undefined, true],
    [MARKED, 'auto', true],
    [MARKED, 'text', undefined],
    ['Hi.', undefined, undefined],
    ['<speak>Ho.</speak>', 'ssml', true],
  ] as const) {
    const answer = await app.inject({
      method: 'POST',
      url: SPEECH,
      payload: { input, input_format: format ?? null },
    });
    assert.equal(answer.statusCode, 200);
    assert.equal(speech.requests.at(-1)?.markup, isMarkup, `${input} ${format}`);
    assert.equal(speech.requests.at(-1)?.text, input);
  }
});

test('SSML reaches the service from the other addresses, too', async (t) => {
  const { app, speech } = await openApp(t);
  speech.whole = ['sound'];
  for (const [url, payload] of [
    ['/v1/audio/speech/pcm', { input: MARKED }],
    ['/v1/audio/speech/batch', { items: [{ input: MARKED }] }],
    ['/v1/text-to-speech/slt', { text: MARKED }],
  ] as const) {
    const answer = await app.inject({ method: 'POST', url, payload });
    assert.equal(answer.statusCode, 200, url);
    assert.equal(speech.requests.at(-1)?.markup, true, url);
  }
});

test('a refusal of the text names the field as whoever asked calls it', async (t) => {
  const { app, speech } = await openApp(t);
  speech.refusal = new ParleyError(
    'INVALID_FIELD',
    '"text" is no SSML that can be spoken: line 1, column 8: no',
    {
      field: 'text',
    },
  );
  const answer = await app.inject({ method: 'POST', url: SPEECH, payload: { input: MARKED } });
  assert.equal(answer.statusCode, 400);
  const { message, param } = errorIn(answer.body);
  assert.equal(message, '"input" is no SSML that can be spoken: line 1, column 8: no');
  assert.equal(param, 'input');
});

test('markup that has no effect is named in a header, each kind once, and what is no SSML is refused at once', async (t) => {
  const { app, speech } = await openApp(t);
  speech.whole = ['sound'];
  const post = (input: string) =>
    app.inject({ method: 'POST', url: SPEECH, payload: { input, normalize: false } });
  const body = '<emphasis>a</emphasis><prosody pitch="high" rate="fast">b</prosody><emphasis>c</emphasis>';
  const answer = await post(`<speak>${body}</speak>`);
  assert.equal(answer.headers['x-ignored-fields'], 'SSML <emphasis>, SSML pitch of <prosody>');
  assert.equal((await post(MARKED)).headers['x-ignored-fields'], undefined);
  const refused = await post('<speak>a');
  assert.equal(refused.statusCode, 400);
  assert.match(
    errorIn(refused.body).message,
    /^"input" is no SSML .* line 1, column 1: <speak> is not closed$/,
  );
});

test('a lexicon comes with the request, and is refused entry by entry', async (t) => {
  const { app, speech } = await openApp(t);
  speech.whole = ['sound'];
  const post = (lexicon: unknown) =>
    app.inject({ method: 'POST', url: SPEECH, payload: { input: 'SQL', lexicon } });
  assert.equal((await post([{ word: 'SQL', say: 'sequel' }])).statusCode, 200);
  const { lexicon } = speech.requests.at(-1) ?? {};
  assert.deepEqual(lexicon?.claims('SQL', 'en'), [{ start: 0, end: 3, spoken: 'sequel', rule: 'lexicon' }]);
  const refused = await post([{ word: 'SQL', say: 'sequel' }, { word: 'SQL' }]);
  assert.equal(refused.statusCode, 400);
  assert.equal(errorIn(refused.body).param, 'lexicon[1].say');
  const many = await post(Array.from({ length: 1001 }, (_, index) => ({ word: `w${index}`, say: 'x' })));
  assert.match(errorIn(many.body).message, /has 1001 entries, 1000 is the most/);
});

test('a form that is none is refused with what there is', async (t) => {
  const { app } = await openApp(t);
  const answer = await app.inject({
    method: 'POST',
    url: SPEECH,
    payload: { input: 'a', input_format: 'html' },
  });
  assert.equal(errorIn(answer.body).message, '"input_format" must be one of "auto", "text", "ssml"');
});

test('a mark that was heard is an event of its telephone call', () => {
  const event = { type: 'mark.reached', utterance: 2, mark: 'menu' } as const;
  assert.deepEqual(eventJson('call_1', { id: 7, at: 1500, type: 'speech', event }), {
    id: 7,
    at: 1.5,
    type: 'mark.reached',
    utterance: 2,
    mark: 'menu',
  });
});
