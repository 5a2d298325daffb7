// The answers of four kinds of servers, whole and in small pieces.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnswerReader } from '../../src/agents/answer-reader.js';
import { type AnswerPart, ChatModel } from '../../src/agents/chat-model.js';
import { saidIn } from '../../src/engines/openai/api-client.js';
import { systemTime } from '../../src/time.js';
import { REFUSALS, SHAPES } from './answer-shapes.js';
import { ChatEndpoint } from './chat-endpoint.js';

const SERVER = { baseUrl: 'http://127.0.0.1:11434/v1', apiKey: undefined };
const WEATHER = { name: 'weather', description: 'The weather of a city.', parameters: { type: 'object' } };
const END_OF_EVENT = /(?<=\n\n)/;

function reader(isHolding = false): AnswerReader {
  return new AnswerReader({
    functions: [WEATHER.name],
    isHolding,
    wordsOf: (body) => saidIn(body, SERVER),
  });
}

/** The parts that a chat model would give of a body in these pieces. Throws AGENT_FAILED. */
function partsOf(pieces: readonly string[], answer = reader()): AnswerPart[] {
  const parts: AnswerPart[] = [];
  for (const piece of pieces) {
    const text = answer.read(piece);
    if (answer.endsThought && parts.length > 0) parts.push({ isThought: true });
    if (text !== '') parts.push({ text });
    if (answer.isOver) break;
  }
  const rest = answer.end();
  if (rest !== '') parts.push({ text: rest });
  return answer.toolCalls.length === 0 ? parts : [...parts, { toolCalls: answer.toolCalls }];
}

for (const { server, what, body, gives } of SHAPES) {
  test(`an answer of ${server} with ${what} is read, however its bytes come`, () => {
    for (const pieces of [body.split(END_OF_EVENT), body.split('')]) {
      if (gives instanceof RegExp)
        assert.throws(() => partsOf(pieces), { code: 'AGENT_FAILED', message: gives });
      else assert.deepEqual(partsOf(pieces), gives);
    }
  });
}

for (const { server, what, status, body, says } of REFUSALS) {
  test(`an error of ${server} for ${what} is told in its words`, async (t) => {
    const chat = await ChatEndpoint.open(t);
    const model = new ChatModel({
      server: { baseUrl: chat.baseUrl, apiKey: undefined, model: 'small' },
      time: systemTime,
    });
    const asked = model
      .answer({ messages: [], tools: [WEATHER], signal: new AbortController().signal })
      .next();
    asked.catch(() => undefined);
    (await chat.asked(0)).status(status, body);
    const message = `the agent's language model answered ${status}: ${says}`;
    await assert.rejects(asked, { code: 'AGENT_FAILED', message });
  });
}

function said(...contents: readonly string[]): string[] {
  const deltas = contents.map((content) => ({
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
  }));
  return [...deltas.map((event) => `data: ${JSON.stringify(event)}\n\n`), 'data: [DONE]\n\n'];
}

test('a text in pieces that is no thought is passed on with the piece that has it', () => {
  const answer = reader();
  for (const token of ['Good', ' morning', '. ', 'Is 1 ', '< 2', '?']) {
    const [event = ''] = said(token);
    assert.equal(answer.read(event), token);
    assert.ok(answer.hasGrown);
  }
});

test('thoughts are silence', () => {
  const answer = reader();
  for (const content of ['<think>', 'She greets.', '</think>', '\n\n']) {
    assert.equal(answer.read(said(content)[0] ?? ''), '');
    assert.ok(!answer.hasGrown, content);
  }
  answer.read(said('Good')[0] ?? '');
  assert.ok(answer.hasGrown);
});

test('thoughts do not count towards the 4000 characters of an answer', () => {
  const thought = 'Hm. '.repeat(2000);
  const answer = 'word '.repeat(1000);
  assert.deepEqual(partsOf(said(`<think>${thought}</think>`, answer)), [{ text: answer.slice(0, 4000) }]);
  assert.deepEqual(partsOf(said(thought, '</think>', answer)), [
    { text: thought.slice(0, 4000) },
    { isThought: true },
    { text: answer.slice(0, 4000) },
  ]);
});

test('an answer whose beginning is held back is passed on whole at its end, if it is no thought', () => {
  assert.deepEqual(partsOf(said('Good ', 'morning.'), reader(true)), [{ text: 'Good morning.' }]);
  assert.deepEqual(partsOf(said('She ', 'greets.', '</think>', 'Good ', 'day.'), reader(true)), [
    { text: 'Good ' },
    { text: 'day.' },
  ]);
});

test('thoughts in a field of their own end the wait for a closing tag', () => {
  const thought = { choices: [{ index: 0, delta: { reasoning: 'She greets.' }, finish_reason: null }] };
  const pieces = [`data: ${JSON.stringify(thought)}\n\n`, ...said('Good ', 'morning.')];
  assert.deepEqual(partsOf(pieces, reader(true)), [{ text: 'Good ' }, { text: 'morning.' }]);
});

test('an error of null, an event without data and a count of tokens without a list are no failure', () => {
  const [good = '', morning = ''] = said('Good ', 'morning.');
  const pieces = [
    good.replace('{"choices"', '{"error":null,"choices"'),
    'data:\n\n',
    'data: {"usage":{"total_tokens":3},"choices":null}\n\n',
    morning,
    'data: [DONE]\n\n',
  ];
  assert.deepEqual(partsOf(pieces), [{ text: 'Good ' }, { text: 'morning.' }]);
});
