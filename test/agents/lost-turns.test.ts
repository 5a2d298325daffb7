// Turns that the recogniser loses, in a conversation whose recogniser hears the call itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../src/errors.js';
import { openCalls } from '../fakes/call-under-test.js';
import { ScriptedRecogniser } from '../transcribing/scripted-recogniser.js';
import { type AgentUnderTest, openAgent } from './agent-under-test.js';
import { settle } from './handled-call.js';

const calls = openCalls();
const LOST = new ParleyError('ENGINE_LOST', 'gone');
const REOPEN_MS = 5000; // between a recognition that failed and the next

function open() {
  const recogniser = new ScriptedRecogniser();
  const under = openAgent(calls, { recogniser });
  const session = (index: number) => recogniser.opened[index] ?? assert.fail('no session was opened');
  return { ...under, recogniser, session };
}

/** The caller speaks a whole turn, and the recogniser finds the words of it if it can. */
async function speak(under: AgentUnderTest): Promise<void> {
  under.begins();
  under.pass(1000);
  under.stops();
  await settle();
}

const failures = ({ told }: AgentUnderTest) => told.filter(({ type }) => type === 'agent.failed').length;

test('a turn whose recogniser fails is told at its end, and the next one is answered by its own words', async () => {
  const under = open();
  under.begins();
  under.session(0).fail(LOST);
  await settle();
  under.pass(1000);
  assert.equal(failures(under), 0); // the caller still speaks
  under.stops();
  await settle();
  assert.equal(failures(under), 1);
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.deepEqual(under.engine.begun, ['Sorry, again please.']);
  under.pass(REOPEN_MS);
  const fromMs = under.time.now();
  await speak(under);
  const answer = await under.model.asked(0);
  assert.deepEqual(answer.asked, ['user: turn 0']); // of the second session
  answer.say('Good morning.').done();
  await under.passUntil(() => under.count('utterance.spoken') === 2);
  const answered = under.told.find((event) => event.type === 'agent.answered');
  assert.ok(answered?.type === 'agent.answered');
  assert.equal(answered.textMs, 0);
  assert.ok(answered.totalMs < 1500, `${answered.totalMs} ms`);
  assert.ok(under.time.now() - fromMs < 4000);
});

test('a turn that begins before the recogniser is opened again is told at its end', async () => {
  const under = open();
  under.session(0).fail(LOST);
  await settle();
  await speak(under);
  assert.deepEqual([failures(under), under.recogniser.opened.length], [1, 1]);
});

test('turns that one failure of the recogniser loses are told each, and count as one failure', async () => {
  const under = open();
  under.session(0).fail(LOST);
  await settle();
  for (const turn of [1, 2, 3]) {
    await speak(under);
    assert.equal(failures(under), turn);
  }
  await under.passUntil(() => under.count('utterance.spoken') >= 1);
  assert.deepEqual([under.orders, under.recogniser.opened.length], [[], 1]); // more than `mostFailures`, which is 2
  under.pass(REOPEN_MS);
  under.recogniser.refusal = LOST;
  await speak(under); // the recogniser was tried again, and failed again
  assert.equal(failures(under), 4);
  await under.passUntil(() => under.orders.length > 0);
  assert.deepEqual(under.orders, ['hang up']);
});
