import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { type AnswerPart, ChatModel } from '../../src/agents/chat-model.js';
import type { ParleyError } from '../../src/errors.js';
import { ManualTime } from '../fakes/manual-time.js';
import { until } from '../fakes/until.js';
import { systemTime } from '../../src/time.js';
import { ChatEndpoint, type StreamedAnswer } from './chat-endpoint.js';

const TOOL = { name: 'hang_up', description: 'Ends the call.', parameters: { type: 'object' } };

async function open(t: TestContext, options: { apiKey?: string; time?: ManualTime; fields?: object } = {}) {
  const chat = await ChatEndpoint.open(t);
  const own = options.fields === undefined ? {} : { options: { ...options.fields } };
  const server = { baseUrl: chat.baseUrl, apiKey: options.apiKey, model: 'small', ...own };
  const model = new ChatModel({ server, temperature: 0.5, time: options.time ?? systemTime });
  const end = new AbortController();
  const parts: AnswerPart[] = [];
  const ask = async () => {
    const question = {
      messages: [{ role: 'user', content: 'Hello' } as const],
      tools: [TOOL],
      signal: end.signal,
    };
    for await (const part of model.answer(question)) parts.push(part);
  };
  return {
    chat,
    ask,
    parts,
    end,
    text: () => parts.map((part) => ('text' in part ? part.text : '')).join(''),
  };
}

test('the tokens of an answer come as the model writes them', async (t) => {
  const { chat, ask, parts } = await open(t, { apiKey: 'secret' });
  const asking = ask();
  const answer = await chat.asked(0);
  assert.deepEqual(answer.question, {
    model: 'small',
    messages: [{ role: 'user', content: 'Hello' }],
    stream: true,
    temperature: 0.5,
    tools: [{ type: 'function', function: TOOL }],
  });
  assert.equal(answer.authorization, 'Bearer secret');
  answer.delta({ role: 'assistant', content: '' }).say('Good ');
  await until(() => parts.length === 1);
  answer
    .say('morning.')
    .event({ choices: [], usage: { total_tokens: 3 } })
    .done();
  await asking;
  assert.deepEqual(parts, [{ text: 'Good ' }, { text: 'morning.' }]);
});

test('the options of the operator are in the request, and ours go before them', async (t) => {
  const fields = { chat_template_kwargs: { enable_thinking: false }, temperature: 1, model: 'large' };
  const { chat, ask } = await open(t, { fields });
  const asking = ask();
  const answer = await chat.asked(0);
  answer.say('Good morning.').done();
  await asking;
  const { messages: _messages, tools: _tools, ...sent } = answer.question;
  const { chat_template_kwargs } = fields;
  assert.deepEqual(sent, { chat_template_kwargs, temperature: 0.5, model: 'small', stream: true });
});

test('a thought is not passed on, in however many tokens its tags come', async (t) => {
  const { chat, ask, text } = await open(t);
  const asking = ask();
  (await chat.asked(0)).say('<thi', 'nk>', 'She greets.', '</', 'think>', '\n\n', 'Good ', 'morning.').done();
  await asking;
  assert.equal(text(), 'Good morning.');
});

test('what was passed on before a closing tag is taken back, and next time nothing is passed on', async (t) => {
  const { chat, ask, parts } = await open(t);
  const first = ask();
  const answer = (await chat.asked(0)).say('She ');
  await until(() => parts.length === 1);
  answer.say('greets.');
  await until(() => parts.length === 2);
  answer.say('</think>', 'Good ');
  await until(() => parts.length === 4);
  answer.say('morning.').done();
  await first;
  assert.deepEqual(parts.splice(0), [
    { text: 'She ' },
    { text: 'greets.' },
    { isThought: true },
    { text: 'Good ' },
    { text: 'morning.' },
  ]);
  const second = ask();
  const next = (await chat.asked(1)).say('She ', 'asks.');
  next.say('</think>', 'Tea.').done();
  await second;
  assert.deepEqual(parts.splice(0), [{ text: 'Tea.' }]);
  const third = ask();
  (await chat.asked(2)).say('Without ', 'a thought.').done();
  await third;
  assert.deepEqual(parts.splice(0), [{ text: 'Without a thought.' }]);
  const fourth = ask();
  const last = (await chat.asked(3)).say('At once.');
  await until(() => parts.length === 1);
  last.done();
  await fourth;
});

test('a character that is cut between two packets stays whole', async (t) => {
  const { chat, ask, text } = await open(t);
  const asking = ask();
  const answer = await chat.asked(0);
  const bytes = Buffer.from(`data: ${JSON.stringify({ choices: [{ delta: { content: 'Grüße 😀' } }] })}\n\n`);
  for (const byte of bytes) {
    answer.write(Uint8Array.of(byte));
    await new Promise((resolve) => setImmediate(resolve));
  }
  answer.done();
  await asking;
  assert.equal(text(), 'Grüße 😀');
});

test('calls of functions are joined from their parts, and come at the end', async (t) => {
  const { chat, ask, parts } = await open(t);
  const asking = ask();
  (await chat.asked(0))
    .say('One moment.')
    .delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'hang_up', arguments: '' } }] })
    .delta({ tool_calls: [{ index: 1, id: 'b', function: { name: 'look_up', arguments: '{"order"' } }] })
    .delta({ tool_calls: [{ index: 1, function: { arguments: ':7}' } }] })
    .done();
  await asking;
  const toolCalls = [
    { id: 'a', name: 'hang_up', arguments: '' },
    { id: 'b', name: 'look_up', arguments: '{"order":7}' },
  ];
  assert.deepEqual(parts, [{ text: 'One moment.' }, { toolCalls }]);
});

test('whole calls without an index, as Ollama sends them, are taken', async (t) => {
  const { chat, ask, parts } = await open(t);
  const asking = ask();
  (await chat.asked(0))
    .delta({ tool_calls: [{ function: { name: 'look_up', arguments: { order: 7 } } }] })
    .done();
  await asking;
  assert.deepEqual(parts, [{ toolCalls: [{ id: 'call_0', name: 'look_up', arguments: '{"order":7}' }] }]);
});

test('a model that is away is named without its address, which the cause has for the log', async () => {
  const server = { baseUrl: 'http://127.0.0.1:2/v1', apiKey: undefined, model: 'small' };
  const time = new ManualTime();
  const model = new ChatModel({ server, temperature: undefined, time });
  const asked = model.answer({ messages: [], tools: [], signal: new AbortController().signal }).next();
  let error: ParleyError | undefined;
  asked.catch((reason: ParleyError) => (error = reason));
  await until(() => error !== undefined || (time.advance(500), false));
  assert.equal(error?.message, "the agent's language model cannot be reached: it refuses connections");
  assert.match((error.cause as Error).message, /127\.0\.0\.1:2/);
});

test('a busy model is asked again before its answer, and no more', async (t) => {
  const { chat, ask, text } = await open(t);
  const asking = ask();
  (await chat.asked(0)).status(503);
  (await chat.asked(1)).say('Here.').done();
  await asking;
  assert.equal(text(), 'Here.');
  const again = ask();
  const answer = (await chat.asked(2)).say('Half');
  await until(() => text().endsWith('Half'));
  answer.cut();
  await assert.rejects(again, { code: 'AGENT_FAILED', message: /cannot be reached|broke off/ });
  assert.equal(chat.answers.length, 3);
});

for (const [what, answer, message] of [
  ['an error in the stream', (a) => a.event({ error: { message: 'no' } }), /reports an error in the middle/],
  ['events of another kind', (a) => a.event({ hello: 1 }), /no list "choices"/],
  ['no JSON', (a) => a.write('data: hello\n\n'), /no list "choices"/],
  ['an end without an end', (a) => a.say('Half'), /broke off/],
  ['a web page', (a) => a.write('<html></html>'), /broke off/],
  ['too many functions', (a) => a.call('f', {}, 8), /more than 8 functions/],
  ['a negative place', (a) => a.call('f', {}, -1), /more than 8 functions/],
  ['endless arguments', (a) => a.call('f', 'x'.repeat(17_000)), /more than 16384 characters/],
] as readonly [string, (answer: Awaited<ReturnType<ChatEndpoint['asked']>>) => unknown, RegExp][]) {
  test(`an answer with ${what} is refused with the reason`, async (t) => {
    const { chat, ask } = await open(t);
    const asking = ask();
    asking.catch(() => undefined);
    const one = await chat.asked(0);
    answer(one);
    if (/broke off/.test(message.source)) one.end();
    await assert.rejects(asking, { code: 'AGENT_FAILED', message });
  });
}

test('a model that writes for ever is left after 4000 characters', async (t) => {
  const { chat, ask, text } = await open(t);
  const asking = ask();
  const answer = await chat.asked(0);
  for (let n = 0; n < 20; n++) answer.say('word '.repeat(200));
  await asking;
  assert.equal(text().length, 4000);
  await until(() => answer.isLeft);
});

test('a model whose one token has ten megabytes is left', async (t) => {
  const { chat, ask, text } = await open(t);
  const asking = ask();
  asking.catch(() => undefined);
  const answer = await chat.asked(0);
  answer.say('x'.repeat(10 << 20));
  await assert.rejects(asking, { code: 'AGENT_FAILED', message: /is over 4 MiB/ });
  assert.equal(text(), '');
  await until(() => answer.isLeft);
});

for (const [what, alive] of [
  ['comments that keep the connection alive', (answer) => answer.write(': still here\n\n')],
  ['empty tokens', (answer) => answer.say('')],
  ['thoughts', (answer) => answer.delta({ reasoning_content: 'Hmm. ' })],
  ['thoughts in its text', (answer) => answer.say('<think>Hmm. ')],
] as readonly [string, (answer: StreamedAnswer) => unknown][]) {
  test(`a model that sends ${what} for ever has failed after half a minute without a word`, async (t) => {
    const time = new ManualTime();
    const { chat, ask, text } = await open(t, { time });
    const asking = ask();
    let isOver = false;
    asking.catch(() => (isOver = true));
    const answer = await chat.asked(0);
    answer.say('Well, ');
    await until(() => text() === 'Well, ');
    let events = 0;
    await until(async () => {
      alive(answer);
      events++;
      await new Promise((resolve) => setImmediate(resolve));
      time.advance(1000);
      return isOver;
    });
    await assert.rejects(asking, { code: 'TIMEOUT', message: /said nothing for 30 s/ });
    assert.ok(events >= 30, `${events} s`);
    await until(() => answer.isLeft);
  });
}

test('of the places in its list of functions the model may leave some out', async (t) => {
  const { chat, ask, parts } = await open(t);
  const asking = ask();
  (await chat.asked(0)).call('look_up', {}, 5).done();
  await asking;
  assert.deepEqual(parts, [{ toolCalls: [{ id: 'call_look_up_5', name: 'look_up', arguments: '{}' }] }]);
});

test('a model that is silent for half a minute has failed, all attempts together', async (t) => {
  const time = new ManualTime();
  const { chat, ask } = await open(t, { time });
  const asking = ask();
  asking.catch(() => undefined);
  await chat.asked(0);
  time.advance(30_000);
  await assert.rejects(asking, { code: 'TIMEOUT', message: /said nothing for 30 s/ });
  assert.deepEqual([chat.answers.length, time.waiting], [1, 0]);
});

test('a reader that stops leaves the model', async (t) => {
  const { chat, ask, end, parts } = await open(t);
  const asking = ask();
  asking.catch(() => undefined);
  const answer = (await chat.asked(0)).say('Long');
  await until(() => parts.length === 1);
  end.abort();
  await assert.rejects(asking, { code: 'ABORTED' });
  await until(() => answer.isLeft);
});

for (const [status, body, message] of [
  [401, '{"error":{"message":"bad key"}}', /answered 401: bad key; AGENT_LLM_API_KEY is not set/],
  [404, '{"error":{"message":"no such model"}}', /answered 404: no such model/],
  [400, '{}', /answered 400/],
] as const) {
  test(`status ${status} is an error with what the server says, and is not asked again`, async (t) => {
    const { chat, ask } = await open(t);
    const asking = ask();
    asking.catch(() => undefined);
    (await chat.asked(0)).status(status, body);
    await assert.rejects(asking, { code: 'AGENT_FAILED', message });
    assert.equal(chat.answers.length, 1);
  });
}
