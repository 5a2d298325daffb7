// Translation by a chat server: what it is asked, what it may answer, and what is refused.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Translator } from '../../src/transcribing/translator.js';
import { ManualTime } from '../fakes/manual-time.js';
import { until } from '../fakes/until.js';
import { systemTime } from '../../src/time.js';
import { ChatServer, linesIn, shouted } from './chat-server.js';

const NEVER = new AbortController().signal;
const TO_FRENCH = { from: 'en', to: 'fr' };

async function openTranslator(t: TestContext, time = systemTime as typeof systemTime | ManualTime) {
  const chat = await ChatServer.open(t);
  const server = { baseUrl: chat.baseUrl, apiKey: 'secret', model: 'a-model' };
  return { chat, translator: new Translator({ server, timeoutMs: 5000, time }) };
}

test('the model gets numbered lines, both languages and the key, and gives each line back', async (t) => {
  const { chat, translator } = await openTranslator(t);
  assert.deepEqual(await translator.translate(['Hello\nthere.', ' Bye. '], TO_FRENCH, NEVER), [
    'HELLO THERE.',
    'BYE.',
  ]);
  const [asked] = chat.asked;
  assert.equal(asked?.model, 'a-model');
  assert.deepEqual(
    asked.messages.map(({ role }) => role),
    ['system', 'user'],
  );
  assert.match(asked.messages[0]?.content ?? '', /from English into French/);
  assert.equal(asked.messages[1]?.content, '1: Hello there.\n2: Bye.');
  assert.deepEqual(chat.authorizations, ['Bearer secret']);
  assert.deepEqual(await translator.translate([], TO_FRENCH, NEVER), []);
  assert.equal(chat.asked.length, 1);
});

test('many lines are asked for in parts, each with the lines before it, under their own numbers', async (t) => {
  const { chat, translator } = await openTranslator(t);
  const lines = Array.from({ length: 100 }, (_, n) => `line ${n + 1}`);
  assert.deepEqual(
    await translator.translate(lines, TO_FRENCH, NEVER),
    lines.map((line) => line.toUpperCase()),
  );
  assert.deepEqual(
    chat.asked.map((asked) => [linesIn(asked).length, linesIn(asked)[0]]),
    [
      [40, '1: line 1'],
      [40, '41: line 41'],
      [20, '81: line 81'],
    ],
  );
  assert.match(
    chat.asked[1]?.messages[1]?.content ?? '',
    /^Said before, not to translate: line 38 line 39 line 40\n/,
  );
  const long = Array.from({ length: 4 }, () => 'x'.repeat(2500));
  await translator.translate(long, TO_FRENCH, NEVER);
  assert.deepEqual(
    chat.asked.slice(3).map((asked) => linesIn(asked).length),
    [2, 2],
  );
});

for (const [what, answer] of [
  ['in a code fence', '```\n1: UN\n2: DEUX\n```'],
  ['as a Markdown list', '- 1: UN\n- 2: DEUX'],
  ['in bold numbers', '**1**: UN\n**2:** DEUX'],
  ['with other marks behind the numbers', '1. UN\n\n2) DEUX'],
  ['in bold texts', '1: **UN**\n2: __DEUX__'],
  ['behind a polite line', 'Here you are:\n1: UN\n2: DEUX'],
  ['behind polite lines and in a fence', 'Of course!\n\nThe 2 lines in French:\n```\n1: UN\n2: DEUX\n```'],
  ['before polite lines', '1: UN\n2: DEUX\n\nDo you need more?\nI am glad to help.'],
  ['behind a thought', '<think>\n1: one is un.\n</think>\n\n1: UN\n2: DEUX'],
  ['behind a thought without an opening tag', 'Let me see.\n1: one\n</Thinking>\n1: UN\n2: DEUX'],
  ['behind a thought and a polite line', '<THINK>Hm.</THINK>Sure:\n1: UN\n2: DEUX'],
] as const) {
  test(`an answer ${what} is taken`, async (t) => {
    const { chat, translator } = await openTranslator(t);
    chat.answer = () => answer;
    assert.deepEqual(await translator.translate(['one', 'two'], TO_FRENCH, NEVER), ['UN', 'DEUX']);
  });
}

test('a text in parts is read, and the model never sees its own thoughts', async (t) => {
  const { chat, translator } = await openTranslator(t);
  const answers = [
    [{ type: 'text', text: '<think>Hm.</think>1: UN' }],
    [
      { type: 'thinking', thinking: [{ type: 'text', text: '1: one' }] },
      { type: 'text', text: '1: UN\n2: DEUX' },
    ],
  ];
  chat.answer = () => {
    const content = answers.shift();
    return { status: 200, body: JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] }) };
  };
  assert.deepEqual(await translator.translate(['one', 'two'], TO_FRENCH, NEVER), ['UN', 'DEUX']);
  assert.equal(chat.asked[1]?.messages[2]?.content, '1: UN');
});

test('the options of the operator are in each request', async (t) => {
  const chat = await ChatServer.open(t);
  const options = { chat_template_kwargs: { enable_thinking: false }, temperature: 0 };
  const server = { baseUrl: chat.baseUrl, apiKey: undefined, model: 'a-model', options };
  const translator = new Translator({ server, timeoutMs: 5000, time: systemTime });
  await translator.translate(['one'], TO_FRENCH, NEVER);
  const { messages: _messages, ...asked } = chat.asked[0] ?? assert.fail('nothing was asked');
  assert.deepEqual(asked, { ...options, model: 'a-model' });
});

for (const [what, answer, mistake] of [
  ['fewer lines', '1: UN', 'there are 1 lines of 2'],
  ['more lines', '1: UN\n2: DEUX\n3: TROIS', 'there are more than 2 lines'],
  ['other numbers', '1: UN\n3: DEUX', 'number 3 stands where 2 must be'],
  ['a number twice', '1: UN\n1: DEUX', 'number 1 stands where 2 must be'],
  ['the lines in another order', '2: DEUX\n1: UN', 'number 2 stands where 1 must be'],
  ['a loop', `1: UN\n2: ${'encore '.repeat(40)}`, 'line 2 repeats itself'],
  ['a line without text', '1: UN\n2: -', 'line 2 has no text'],
  ['words between the lines', '1: UN\n(a number)\n2: DEUX', 'a line has no number where 2 must be'],
  ['words right behind the lines', '1: UN\n2: DEUX\net demi', 'a line has no number where 3 must be'],
  ['nothing but a thought', '<think>1: UN\n2: DEUX', 'there are 0 lines of 2'],
  ['a Markdown table', '| 1 | UN |\n| 2 | DEUX |', 'a line has no number where 1 must be'],
  ['a decimal number for a line', '1: UN\n2.5 pour cent', 'a line has no number where 2 must be'],
  ['half of a markup', '1: UN**\n2: DEUX', 'line 1 has half of a markup'],
  ['nothing', '', 'there are 0 lines of 2'],
] as const) {
  test(`an answer with ${what} is asked for again with the reason, and refused the third time`, async (t) => {
    const { chat, translator } = await openTranslator(t);
    chat.answer = () => answer;
    await assert.rejects(translator.translate(['one', 'two'], TO_FRENCH, NEVER), {
      code: 'TRANSLATION_FAILED',
      message: `the translation server did not keep the lines in 3 answers: ${mistake}`,
    });
    assert.equal(chat.asked.length, 3);
    const { messages } = chat.asked[2] ?? { messages: [] };
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['system', 'user', 'assistant', 'user'],
    );
    assert.ok(messages[3]?.content.includes(mistake));
    let count = 0;
    chat.answer = (request) => (count++ === 0 ? answer : shouted(request));
    assert.deepEqual(await translator.translate(['one', 'two'], TO_FRENCH, NEVER), ['ONE', 'TWO']);
  });
}

/** Notes how long the latest timer runs. */
class NotedTime extends ManualTime {
  latestMs = 0;

  override after(ms: number, action: () => void): () => void {
    this.latestMs = ms;
    return super.after(ms, action);
  }
}

test('a server that is busy for a moment is asked again; one that stays so is told as busy', async (t) => {
  const time = new NotedTime();
  const { chat, translator } = await openTranslator(t, time);
  let count = 0;
  chat.answer = (request) => (count++ < 2 ? { status: 503, retryAfter: '1' } : shouted(request));
  const done = translator.translate(['one'], TO_FRENCH, NEVER);
  for (let asked = 1; asked <= 2; asked++) {
    await until(() => chat.asked.length === asked && time.latestMs === 1000);
    time.advance(1000);
  }
  assert.deepEqual(await done, ['ONE']);
  chat.answer = () => ({ status: 429, retryAfter: '60' });
  await assert.rejects(translator.translate(['one'], TO_FRENCH, NEVER), {
    code: 'QUEUE_FULL',
    retryAfterSeconds: 60,
  });
});

test('a server that refuses, answers nonsense, or is gone is named, with its variable', async (t) => {
  const { chat, translator } = await openTranslator(t);
  const body = JSON.stringify({ error: { message: 'no such key: secret' } });
  chat.answer = () => ({ status: 401, body });
  await assert.rejects(translator.translate(['one'], TO_FRENCH, NEVER), {
    code: 'TRANSLATION_FAILED',
    field: 'TRANSLATE_API_KEY',
    message: 'the translation server answered 401: no such key: …; TRANSLATE_API_KEY is set',
  });
  chat.answer = () => ({ status: 404 });
  await assert.rejects(translator.translate(['one'], TO_FRENCH, NEVER), { field: 'TRANSLATE_MODEL' });
  for (const nonsense of ['<html>', '{"choices":[]}', '{"choices":[{"message":{"content":null}}]}']) {
    chat.answer = () => ({ status: 200, body: nonsense });
    await assert.rejects(translator.translate(['one'], TO_FRENCH, NEVER), {
      code: 'TRANSLATION_FAILED',
      message: 'the translation server answered without a text',
    });
  }
  chat.close();
  await assert.rejects(translator.translate(['one'], TO_FRENCH, NEVER), {
    code: 'TRANSLATION_FAILED',
    field: 'TRANSLATE_BASE_URL',
    message: /cannot be reached/,
  });
});

test('a server that never answers is given up after its time, three times', async (t) => {
  const time = new NotedTime();
  const { chat, translator } = await openTranslator(t, time);
  chat.answer = () => undefined;
  const done = translator.translate(['one'], TO_FRENCH, NEVER);
  for (const pauseMs of [300, 1000, undefined]) {
    await until(() => time.latestMs === 5000);
    time.advance(5000);
    if (pauseMs === undefined) break;
    await until(() => time.latestMs === pauseMs);
    time.advance(pauseMs);
  }
  await assert.rejects(done, { code: 'TIMEOUT' });
});

test('a client that leaves ends the translation', async (t) => {
  const { chat, translator } = await openTranslator(t);
  chat.answer = () => undefined;
  const gone = new AbortController();
  const done = translator.translate(['one'], TO_FRENCH, gone.signal);
  await until(() => chat.asked.length === 1);
  gone.abort();
  await assert.rejects(done, { code: 'ABORTED' });
});
