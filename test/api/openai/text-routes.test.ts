import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Lexicon } from '../../../src/text/lexicon.js';
import { openApp } from '../app-under-test.js';

const NORMALIZE = '/v1/text/normalize';
const LIMITS = { maxTextLength: 4096, maxNewTokens: 2048, maxUploadBytes: 0 };

async function answerOf(t: TestContext, payload: object, lexicon?: Lexicon) {
  const { app } = await openApp(t, { limits: { ...LIMITS, lexicon } });
  const answer = await app.inject({ method: 'POST', url: NORMALIZE, payload });
  return { status: answer.statusCode, body: answer.json() };
}

test('a text is answered sentence by sentence, with each rule that fired and its place', async (t) => {
  const { status, body } = await answerOf(t, { text: 'It costs $3.50.', language: 'English' });
  assert.equal(status, 200);
  assert.deepEqual(body, {
    object: 'text.normalization',
    sentences: [
      {
        text: 'It costs $3.50.',
        spoken: 'It costs three dollars and fifty cents.',
        language: 'en',
        start: 0,
        end: 15,
        rules: [
          { rule: 'currency', written: '$3.50', spoken: 'three dollars and fifty cents', start: 9, end: 14 },
        ],
      },
    ],
    pause_after_ms: 0,
    unheeded: [],
  });
});

test('SSML is answered with its pauses, style, marks and tones, and what has no effect', async (t) => {
  const text =
    '<speak><mark name="a"/><voice name="eve"><prosody rate="slow" volume="50">One.</prosody></voice>' +
    '<break time="2s"/><say-as interpret-as="bleep">x</say-as> <emphasis>two</emphasis>.<break/></speak>';
  const { body } = await answerOf(t, { text, language: 'en' });
  assert.deepEqual(body.sentences, [
    {
      text: 'One.',
      spoken: 'One.',
      language: 'en',
      start: 74,
      end: 78,
      rules: [],
      voice: 'eve',
      rate: 0.75,
      gain: 0.5,
      marks_before: ['a'],
    },
    { bleep_ms: 300, pause_before_ms: 2000 },
    {
      text: 'two.',
      spoken: 'two.',
      language: 'en',
      start: text.indexOf('two'),
      end: text.indexOf('.<break/>') + 1,
      rules: [],
      pause_before_ms: 40,
    },
  ]);
  assert.equal(body.pause_after_ms, 400);
  assert.deepEqual(body.unheeded, [{ what: '<emphasis>', line: 1, column: text.indexOf('<emphasis>') + 1 }]);
});

test('a text of no known language is answered as the default voice speaks it, without invisible characters', async (t) => {
  const { app } = await openApp(t, { limits: { ...LIMITS, spokenLanguage: () => 'de' } });
  const answer = await app.inject({ method: 'POST', url: NORMALIZE, payload: { text: '1\u200B5\u00A0km.' } });
  const [{ text, spoken, language, start, end }] = answer.json().sentences;
  assert.deepEqual([text, spoken, language, start, end], ['15 km.', 'fünfzehn Kilometer.', 'de', 0, 7]);
});

test('whether a text is SSML may be stated', async (t) => {
  const { body } = await answerOf(t, { text: '<speak>a</speak>', ssml: false });
  assert.equal(body.sentences[0].text, '<speak>a</speak>');
  const refused = await answerOf(t, { text: 'a', ssml: true });
  assert.equal(refused.status, 400);
  assert.match(refused.body.error.message, /line 1, column 1: text must stand within <speak>/);
  assert.equal(refused.body.error.param, 'text');
});

test('words are said as the lexicons of request and server say', async (t) => {
  const server = new Lexicon([{ word: 'API', say: 'ay pee eye' }]);
  const payload = { text: 'An sql API.', lexicon: [{ word: 'SQL', say: 'sequel', case: 'ignore' }] };
  const { body } = await answerOf(t, payload, server);
  assert.equal(body.sentences[0].spoken, 'An sequel ay pee eye.');
});

test('what is wrong is refused with its field', async (t) => {
  for (const [payload, param] of [
    [{}, 'text'],
    [{ text: '…' }, 'text'],
    [{ text: 'a', ssml: 'yes' }, 'ssml'],
    [{ text: 'a', lexicon: {} }, 'lexicon'],
    [{ text: 'a', lexicon: [{ word: 1, say: 'b' }] }, 'lexicon[0].word'],
    [{ text: 'a', lexicon: [{ word: 'b', say: 'c' }, { word: 'd' }] }, 'lexicon[1].say'],
    [{ text: 'a', lexicon: [{ word: 'b', say: 'c', case: 'x' }] }, 'lexicon[0].case'],
  ] as const) {
    const { status, body } = await answerOf(t, payload);
    assert.equal(status, 400, JSON.stringify(payload));
    assert.equal(body.error.param, param);
  }
});
