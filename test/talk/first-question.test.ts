import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { FIRST_WORD_MS, firstAnswer } from '../../src/talk/first-question.js';
import { ManualTime } from '../fakes/manual-time.js';
import { until } from '../fakes/until.js';
import { FakeChatServer, says, status, thinks } from './fake-chat-server.js';

const EFFORT = { reasoning_effort: 'none' };
const TEMPLATE = { chat_template_kwargs: { enable_thinking: false } };

type Answers = Parameters<typeof FakeChatServer.open>[1];

async function asked(t: TestContext, chat: Answers[string], candidates: readonly object[]) {
  const fake = await FakeChatServer.open(t, { 'POST /v1/chat/completions': chat });
  const time = new ManualTime();
  const server = { name: 'x', baseUrl: `${fake.url}/v1`, apiKey: 'secret', models: [] };
  const answer = firstAnswer(server, 'm', candidates as never, { fetch: globalThis.fetch, time });
  return { fake, time, answer };
}

const fieldsOf = ({ asked: all }: FakeChatServer) =>
  all.map(({ body }) => {
    const { messages: _messages, ...fields } = JSON.parse(body) as Record<string, unknown>;
    return fields;
  });

test('a model that speaks at once is asked once, with the key and the fields', async (t) => {
  const { fake, time, answer } = await asked(t, says('', ' ', 'Yes'), [EFFORT, TEMPLATE]);
  assert.deepEqual(await answer, { kind: 'answers', options: EFFORT, thinks: false });
  assert.deepEqual(fieldsOf(fake), [{ ...EFFORT, model: 'm', stream: true }]);
  assert.equal(fake.asked[0]?.authorization, 'Bearer secret');
  assert.equal(time.waiting, 0);
});

test('a field that the server refuses gives way to the next one, and at last to none', async (t) => {
  const takes =
    (wanted: string): Answers[string] =>
    (response, body) =>
      (body.includes(wanted) ? says('Yes') : status(400, { error: { message: 'unknown field' } }))(
        response,
        body,
      );
  const second = await asked(t, takes('enable_thinking'), [EFFORT, TEMPLATE]);
  assert.deepEqual(await second.answer, { kind: 'answers', options: TEMPLATE, thinks: false });
  const plain: Answers[string] = (response, body) =>
    (/effort|thinking/.test(body) ? status(422) : says('Yes'))(response, body);
  const none = await asked(t, plain, [EFFORT, TEMPLATE]);
  assert.deepEqual(await none.answer, { kind: 'answers', options: undefined, thinks: false });
  assert.equal(none.fake.asked.length, 3);
});

test('a model that thinks all the same is told', async (t) => {
  for (const chat of [thinks('reasoning'), thinks('reasoning_content'), says(...Array(8).fill('<think>'))]) {
    const { answer } = await asked(t, chat, [EFFORT]);
    assert.deepEqual(await answer, { kind: 'answers', options: EFFORT, thinks: true });
  }
});

test('a model that says nothing for half a minute is slow, not refused', async (t) => {
  const { fake, time, answer } = await asked(t, () => undefined, [EFFORT]);
  await until(() => fake.asked.length === 1);
  time.advance(FIRST_WORD_MS);
  assert.deepEqual(await answer, { kind: 'slow', options: EFFORT });
});

test('an endless stream without a word is slow as well', async (t) => {
  const chat: Answers[string] = (response) => void response.writeHead(200).write(': wait\n\n');
  const { fake, time, answer } = await asked(t, chat, []);
  await until(() => fake.asked.length === 1);
  time.advance(FIRST_WORD_MS);
  assert.deepEqual(await answer, { kind: 'slow', options: undefined });
});

test('servers that lie about their models are refused with their own words', async (t) => {
  const cases: [chat: Answers[string], reason: string][] = [
    [status(404, { error: { message: 'model "m" not found' } }), 'it answers 404 (model "m" not found)'],
    [status(500, 'oops'), 'it answers 500'],
    [status(503, 'oops'), 'it answers 503'],
    [status(401), 'it answers 401; it wants a key, which AGENT_LLM_API_KEY states'],
    [status(400, { error: 'this model\u001b[2J embeds' }), 'it answers 400 (this model [2J embeds)'],
    [status(200, '<html></html>'), 'its answer has no words'],
    [status(200, { error: { message: 'no memory' } }), 'its answer has no words (no memory)'],
    [(response) => response.writeHead(200).end('x'.repeat(1 << 20)), 'its answer has no words'],
    [(response) => void response.destroy(), 'the connection broke'],
    [(response) => response.writeHead(307, { location: 'http://192.0.2.1/' }).end(), 'it answers 307'],
  ];
  for (const [chat, reason] of cases) {
    const { answer } = await asked(t, chat, [EFFORT]);
    assert.deepEqual(await answer, { kind: 'refused', reason });
  }
});
