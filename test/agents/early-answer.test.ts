// The model is asked when a turn has probably ended, before that is decided. Nothing of the answer is heard,
// done or told before the decision.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnswerPart, ChatMessage, ChatQuestion } from '../../src/agents/chat-model.js';
import { EarlyAnswer } from '../../src/agents/early-answer.js';
import { ParleyError } from '../../src/errors.js';
import { openCalls } from '../fakes/call-under-test.js';
import { ManualTime } from '../fakes/manual-time.js';
import { until } from '../fakes/until.js';
import { type AgentSetting, type AgentUnderTest, openAgent as openAgentIn } from './agent-under-test.js';
import { settle } from './handled-call.js';
import { ScriptedModel } from './scripted-model.js';

const calls = openCalls();
const openAgent = (setting?: AgentSetting) => openAgentIn(calls, setting);
const EARLY_MS = 300;

function open() {
  return openAgent({ agent: { earlyStartMs: EARLY_MS, filler: undefined } });
}

/** The caller speaks for a second, is recognised so far, and is silent. */
function pauses(under: AgentUnderTest, text: string): void {
  under.begins();
  under.pass(1000);
  under.text(text, false);
  under.hearing.report({ type: 'speech.stopped', atMs: under.time.now(), durationMs: 1000 });
}

/** The turn is decided after 600 ms of silence in all. */
function decides(under: AgentUnderTest, text: string): void {
  under.pass(600 - EARLY_MS);
  const atMs = under.time.now();
  const turn = { startedMs: atMs - 1600, speechMs: 1000, reason: 'silence' } as const;
  under.hearing.report({ type: 'turn.ended', atMs, ...turn });
  under.text(text);
}

async function askedEarly(under: AgentUnderTest, text: string) {
  const { length } = under.model.answers;
  pauses(under, text);
  under.pass(EARLY_MS - 1);
  assert.equal(under.model.answers.length, length);
  under.pass(1);
  return await under.model.asked(length);
}

test('an early answer is spoken at once when the turn is decided with the same text', async () => {
  const under = open();
  const answer = await askedEarly(under, ' Hello? ');
  assert.deepEqual(answer.asked, ['user: Hello?']);
  answer.say('Good morning. ', 'How can');
  await settle();
  assert.deepEqual(under.engine.begun, []);
  assert.equal(under.told.length, 0);
  decides(under, 'Hello?');
  await until(() => under.engine.begun.length === 1);
  assert.deepEqual(under.early, [true]);
  answer.say(' I help?').done();
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.deepEqual(under.engine.begun, ['Good morning.', 'How can I help?']);
  assert.equal(under.model.answers.length, 1);
  const answered = under.told.find((event) => event.type === 'agent.answered');
  assert.equal(answered?.type === 'agent.answered' && answered.modelMs, 0);
  under.says('Bye.');
  assert.deepEqual((await under.model.asked(1)).asked, [
    'user: Hello?',
    'assistant: Good morning. How can I help?',
    'user: Bye.',
  ]);
});

test('of an early answer that turns out to begin with a thought, only the rest is spoken', async () => {
  const under = open();
  const answer = await askedEarly(under, 'Hello?');
  answer.say('She greets. ', 'I greet. ').wasThought().say('Good morning. ');
  await settle();
  decides(under, 'Hello?');
  answer.say('Tea?').done();
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.deepEqual(under.engine.begun, ['Good morning.', 'Tea?']);
  assert.equal(under.count('utterance.interrupted'), 0);
});

test('no model is asked early unless a time is set, and none for a turn without words', async () => {
  const off = openAgent();
  pauses(off, 'Hello?');
  off.pass(599);
  assert.equal(off.model.answers.length, 0);
  const silent = open();
  pauses(silent, ' ');
  silent.pass(599);
  assert.equal(silent.model.answers.length, 0);
});

test('if the caller goes on, the early answer is thrown away, and leaves nothing behind', async () => {
  const under = open();
  const first = await askedEarly(under, 'I want');
  first.say('What do you want? ', 'Tell me.');
  await settle();
  under.begins();
  await until(() => first.isOver);
  assert.deepEqual(under.early, [false]);
  under.pass(1000);
  under.stops();
  under.text('I want a ticket.');
  const second = await under.model.asked(1);
  assert.deepEqual(second.asked, ['user: I want a ticket.']);
  second.say('Which day?').done();
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.deepEqual(under.engine.begun, ['Which day?']);
  assert.deepEqual(
    under.told.map(({ type }) => type),
    ['agent.prompt', 'agent.answered'],
  );
});

test('if the final text differs, the early answer is thrown away', async () => {
  const under = open();
  const first = await askedEarly(under, 'A ticket to Rome');
  first.say('To Rome. ', 'When?');
  decides(under, 'A ticket to Rouen');
  const second = await under.model.asked(1);
  await until(() => first.isOver);
  assert.deepEqual(second.asked, ['user: A ticket to Rouen']);
  assert.deepEqual(under.early, [false]);
  second.say('To Rouen.').done();
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.deepEqual(under.engine.begun, ['To Rouen.']);
});

test('the text has to be unchanged for the time, and one early answer replaces the other', async () => {
  const under = open();
  pauses(under, 'A ticket');
  under.pass(200);
  under.text('A ticket to', false);
  under.pass(299);
  assert.equal(under.model.answers.length, 0);
  under.pass(1);
  const first = await under.model.asked(0);
  under.text('A ticket to Rome', false);
  await until(() => first.isOver);
  under.pass(EARLY_MS);
  assert.deepEqual((await under.model.asked(1)).asked, ['user: A ticket to Rome']);
  assert.deepEqual(under.early, [false]);
});

/** The caller speaks for a second, and is silent. */
function falls(under: AgentUnderTest): void {
  under.begins();
  under.pass(1000);
  under.hearing.report({ type: 'speech.stopped', atMs: under.time.now(), durationMs: 1000 });
}

test('without texts so far the model is asked with the text of the pause, once the silence lasts', async () => {
  const under = open();
  falls(under);
  under.pass(100);
  under.text(' Hello? ', false);
  under.pass(EARLY_MS - 101);
  assert.equal(under.model.answers.length, 0);
  under.pass(1);
  const answer = await under.model.asked(0);
  assert.deepEqual(answer.asked, ['user: Hello?']);
  answer.say('Good morning.').done();
  decides(under, 'Hello?');
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.deepEqual([under.early, under.model.answers.length], [[true], 1]);
});

test('a text of the pause that comes late asks the model at once', async () => {
  const under = open();
  falls(under);
  under.pass(EARLY_MS + 100);
  under.text('I want', false);
  const first = await under.model.asked(0);
  under.begins();
  await until(() => first.isOver);
  under.pass(EARLY_MS);
  assert.deepEqual([under.early, under.model.answers.length], [[false], 1]);
});

test('at most three early answers are asked for in one turn', async () => {
  const under = open();
  for (let pause = 0; pause < 5; pause++) {
    pauses(under, `part ${pause}`);
    under.pass(EARLY_MS);
  }
  assert.equal(under.model.answers.length, 3);
  decides(under, 'all of it');
  (await under.model.asked(3)).say('Yes.').done();
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.equal((await askedEarly(under, 'And')).asked.at(-1), 'user: And');
});

test('no function is called before the turn is decided', async () => {
  const under = open();
  (await askedEarly(under, 'Bye.')).call('hang_up').done();
  await settle();
  under.pass(100);
  assert.deepEqual(under.orders, []);
  decides(under, 'Bye.');
  await under.passUntil(() => under.orders.length === 1);
  assert.deepEqual(under.orders, ['hang up']);
  const tool = under.told.findIndex(({ type }) => type === 'agent.tool');
  assert.ok(tool > under.told.findIndex(({ type }) => type === 'agent.prompt'));
});

test('an early answer that fails is no failure: the model is asked again', async () => {
  const under = open();
  (await askedEarly(under, 'Hello?')).say('Well').fail(new ParleyError('AGENT_FAILED', 'gone'));
  await settle();
  decides(under, 'Hello?');
  (await under.model.asked(1)).say('Good morning.').done();
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.deepEqual(under.engine.begun, ['Good morning.']);
  assert.equal(
    under.told.some(({ type }) => type === 'agent.failed'),
    false,
  );
  assert.deepEqual(under.early, [false]);
});

test('an early answer that fails after it was taken over is a failure', async () => {
  const under = open();
  const answer = await askedEarly(under, 'Hello?');
  decides(under, 'Hello?');
  await until(() => under.early.length === 1);
  answer.fail(new ParleyError('AGENT_FAILED', 'gone'));
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.deepEqual(under.engine.begun, ['Sorry, again please.']);
});

test('a noise, a typed text and the end of the call throw the early answer away', async () => {
  const ends: ((under: AgentUnderTest) => unknown)[] = [
    (under) => decides(under, ''),
    (under) => under.agent.typed('Something else'),
    (under) => under.call.close('over'),
    (under) => under.fail(new ParleyError('ENGINE_FAILED', 'no recogniser')),
  ];
  for (const end of ends) {
    const under = open();
    const answer = await askedEarly(under, 'Hello?');
    end(under);
    await until(() => answer.isOver && under.early.length === 1);
    assert.deepEqual(under.early, [false]);
  }
});

test('nothing is asked early while the voice speaks', async () => {
  const under = open();
  under.says('Hello?');
  (await under.model.asked(0)).say('It leaves at nine. '.repeat(8)).done();
  await under.passUntil(() => under.count('utterance.started') === 1);
  pauses(under, 'uh-huh');
  under.pass(EARLY_MS);
  assert.equal(under.model.answers.length, 1);
});

const QUESTION: ChatMessage[] = [{ role: 'user', content: 'Hello?' }];

function early(model: { answer(question: ChatQuestion): AsyncGenerator<AnswerPart, void, undefined> }) {
  const time = new ManualTime(0);
  const ends: boolean[] = [];
  const onEnd = (isTaken: boolean) => void ends.push(isTaken);
  return { time, ends, answer: new EarlyAnswer({ model, messages: QUESTION, tools: [], time, onEnd }) };
}

test('an early answer reads a bounded part ahead, and all of it once it is taken over', async () => {
  let written = 0;
  async function* endless(): AsyncGenerator<AnswerPart, void, undefined> {
    for (; written < 1000; written++) yield { text: 'ten chars ' };
  }
  const { answer, time } = early({ answer: endless });
  await settle();
  assert.ok(written >= 200 && written <= 201, String(written));
  let read = 0;
  const taken = answer.take(QUESTION, new AbortController().signal);
  for await (const part of taken ?? assert.fail('not taken')) if ('text' in part) read++;
  assert.deepEqual([read, written, time.waiting], [1000, 1000, 0]);
});

test('a turn that is not decided within ten seconds throws the early answer away', async () => {
  const model = new ScriptedModel();
  const { answer, time, ends } = early(model);
  time.advance(9999);
  assert.deepEqual(ends, []);
  time.advance(1);
  await until(() => model.answers[0]?.isOver === true);
  assert.equal(answer.take(QUESTION, new AbortController().signal), undefined);
  assert.deepEqual(ends, [false]);
  assert.equal(time.waiting, 0);
});

test('an early answer that was taken over ends with its reply', async () => {
  const model = new ScriptedModel();
  const { answer } = early(model);
  const controller = new AbortController();
  const taken = answer.take(QUESTION, controller.signal)?.[Symbol.asyncIterator]();
  const next = assert.rejects(taken?.next() ?? assert.fail('not taken'), { code: 'ABORTED' });
  controller.abort();
  await next;
  assert.equal(model.answers[0]?.isOver, true);
});
