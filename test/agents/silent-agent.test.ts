// The built-in agent while others have its caller: it neither speaks nor answers, and goes on afterwards.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../src/errors.js';
import { openCalls } from '../fakes/call-under-test.js';
import { type AgentUnderTest, openAgent } from './agent-under-test.js';
import { settle } from './handled-call.js';

const calls = openCalls();
const IDLE = { idleMs: 5000, times: 1, phrase: 'Are you there?', goodbye: 'Goodbye.' };

/** The caller does everything that an agent answers otherwise. */
async function acts(under: AgentUnderTest): Promise<void> {
  under.says('Is anybody there?');
  under.call.pressed('1');
  under.pass(2000);
  under.begins();
  under.pass(200);
  under.stops();
  under.text('');
  await settle();
}

test('a silent agent answers nothing of what its caller does, and asks no idle caller', async () => {
  const under = openAgent(calls, { agent: { idle: IDLE } });
  under.agent.silence('others');
  await acts(under);
  under.pass(60_000);
  await settle();
  assert.deepEqual([under.model.answers.length, under.count('utterance.started')], [0, 0]);
  assert.throws(
    () => under.agent.typed('Hello?'),
    (error: unknown) => error instanceof ParleyError && error.code === 'CALL_STATE',
  );
});

test('the answer that is spoken when others take the caller ends', async () => {
  const under = openAgent(calls);
  under.says('When are you open?');
  const answer = await under.model.asked(0);
  answer.say('We are open from nine to five on every day of the week.').done();
  await under.passUntil(() => under.count('utterance.started') === 1);
  under.agent.silence('others');
  await settle();
  assert.equal(under.count('utterance.interrupted'), 1);
  assert.equal(under.call.stats().queuedMs, 0);
});

test('the model that writes an answer when others take the caller is given up', async () => {
  const under = openAgent(calls);
  under.says('When are you open?');
  const answer = await under.model.asked(0);
  under.agent.silence('others');
  answer.say('From nine to five.').done();
  await settle();
  under.pass(5000);
  assert.equal(under.count('utterance.started'), 0);
});

test('an agent that has its caller back is told why, and answers from then on', async () => {
  const under = openAgent(calls);
  const giveBack = under.agent.silence('others');
  await acts(under);
  giveBack('[A supervisor has talked with the caller]');
  const answer = await under.model.asked(0);
  assert.deepEqual(answer.asked, ['user: [A supervisor has talked with the caller]']);
  answer.say('I am back.').done();
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  under.says('Good.');
  assert.equal((await under.model.asked(1)).asked.at(-1), 'user: Good.');
});

test('an agent whose call has ended is asked nothing', async () => {
  const under = openAgent(calls);
  const giveBack = under.agent.silence('others');
  await under.call.close('far end hung up');
  giveBack('[The caller is back]');
  await settle();
  assert.equal(under.model.answers.length, 0);
});

test('a person who does not take the caller is told to the model, which goes on', async () => {
  const wanted: unknown[] = [];
  let answers: (reason: string | undefined) => void = () => undefined;
  const warmTransfer = (one: unknown) => {
    wanted.push(one);
    return new Promise<string | undefined>((resolve) => (answers = resolve));
  };
  const under = openAgent(calls, { warmTransfer });
  under.says('A person, please.');
  const first = await under.model.asked(0);
  const call = { target: 'sales', summary: 'Ms Novak wants a refund.' };
  first.say('I ask a colleague.').call('warm_transfer', call).done();
  await under.passUntil(() => wanted.length === 1);
  assert.deepEqual(wanted, [{ to: 'sip:200@pbx', summary: 'Ms Novak wants a refund.' }]);
  assert.equal(under.count('utterance.spoken'), 1, 'the announcement was heard before');
  const giveBack = under.agent.silence('own');
  await acts(under);
  under.pass(30_000);
  await settle();
  assert.equal(under.count('utterance.started'), 1, 'no filler over the music');
  giveBack(undefined);
  answers('no answer');
  const second = await under.model.asked(1);
  assert.deepEqual(second.asked.slice(-2), [
    'assistant: I ask a colleague. +calls',
    'tool: {"error":"the person did not take the caller (no answer)"}',
  ]);
  second.say('Nobody is free.').done();
  await under.passUntil(() => under.count('utterance.spoken') === 2);
});

test('after a warm transfer the model is not asked again', async () => {
  const under = openAgent(calls, { warmTransfer: () => Promise.resolve(undefined) });
  under.says('A person, please.');
  const call = { target: 'sales', summary: 'Ms Novak wants a refund.' };
  (await under.model.asked(0)).say('I ask a colleague.').call('warm_transfer', call).done();
  await under.passUntil(() => under.count('agent.tool') === 1);
  await settle();
  assert.equal(under.model.answers.length, 1);
});

test('keys that were pressed just before others take the caller are no question', async () => {
  const under = openAgent(calls);
  under.call.pressed('1');
  under.pass(1000);
  const giveBack = under.agent.silence('others');
  under.pass(2000);
  await settle();
  assert.equal(under.model.answers.length, 0);
  giveBack(undefined);
  under.call.pressed('2');
  under.pass(1500);
  assert.deepEqual((await under.model.asked(0)).asked, ['user: [The caller pressed 2]']);
});

test('what was asked over a voice that nothing interrupts is no question once others have the caller', async () => {
  const under = openAgent(calls, { agent: { interruptible: 'none' } });
  under.says('When does it leave?');
  const answer = await under.model.asked(0);
  answer.say('It leaves at nine. '.repeat(8)).done();
  await under.passUntil(() => under.count('utterance.started') === 1);
  under.says('And back?');
  const giveBack = under.agent.silence('others');
  giveBack(undefined);
  under.begins();
  under.pass(1000);
  under.stops();
  under.fail(new ParleyError('ENGINE_FAILED', 'no text'));
  await under.passUntil(() => under.count('utterance.spoken') === 1); // "Sorry, again please."
  await settle();
  assert.equal(under.model.answers.length, 1);
});

test('what was asked over the announcement of a warm transfer is no question once a person has the caller', async () => {
  let connect: () => void = () => undefined;
  const warmTransfer = () => new Promise<undefined>((resolve) => (connect = () => resolve(undefined)));
  const under = openAgent(calls, { agent: { interruptible: 'none' }, warmTransfer });
  under.says('A person, please.');
  const first = await under.model.asked(0);
  const call = { target: 'sales', summary: 'Ms Novak wants a refund.' };
  first.say('I ask a colleague. '.repeat(8)).call('warm_transfer', call).done();
  await under.passUntil(() => under.count('utterance.started') === 1);
  under.says('How long does it take?');
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  await settle();
  under.pass(5000);
  await settle();
  under.agent.silence('own');
  connect();
  await under.passUntil(() => under.count('agent.tool') === 1);
  await settle();
  assert.equal(under.model.answers.length, 1);
});
