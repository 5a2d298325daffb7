// Things happen at bad moments: keys while a menu is read out, noises in the middle of an answer, speech
// while a function runs, a voice or a recogniser that is lost.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../src/errors.js';
import { openCalls } from '../fakes/call-under-test.js';
import { until } from '../fakes/until.js';
import { type AgentSetting, openAgent } from './agent-under-test.js';
import { settle } from './handled-call.js';

const calls = openCalls();
const open = (setting?: AgentSetting) => openAgent(calls, setting);
const MENU = 'Press one for sales, two for support, or three to hear all of this again.';

test('a key that interrupts a menu is its input, and not lost', async () => {
  const under = open();
  under.says('Hello?');
  const answer = await under.model.asked(0);
  answer.say(MENU).call('collect_digits', { most: 1 }).done();
  await under.passUntil(() => under.count('utterance.started') === 1);
  await settle(); // the function waits
  under.call.pressed('2');
  const next = await under.model.asked(1);
  assert.equal(next.asked.at(-1), 'tool: {"digits":"2"}');
  assert.equal(under.count('utterance.interrupted'), 1);
  next.say('Support.').done();
  await under.passUntil(() => under.count('utterance.spoken') === 1);
});

test('a caller who speaks instead of pressing a key is answered at once', async () => {
  const under = open();
  under.says('Hello?');
  (await under.model.asked(0)).say('Press or say one.').call('collect_digits', { most: 1 }).done();
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  under.says('One.');
  const next = await under.model.asked(1);
  assert.equal(next.asked.at(-1), 'user: One.');
  next.say('Good.').done();
  await under.passUntil(() => under.count('utterance.spoken') === 2);
  under.pass(60_000);
  await settle();
  assert.equal(under.model.answers.length, 2);
});

test('after a noise has cut an answer short that was still written, the model goes on', async () => {
  const under = open();
  under.says('When does the train leave?');
  const answer = await under.model.asked(0);
  answer.say('Let me look that up for you, it takes just a moment. ', 'The');
  await under.passUntil(() => under.count('utterance.started') === 1);
  under.interrupts();
  under.pass(1000);
  under.stops();
  under.text('');
  const next = await under.model.asked(1);
  assert.match(next.asked.at(-1) ?? '', /\[A sound without words interrupted you\. Go on\.\]$/);
  next.say('At nine.').done();
  await under.passUntil(() => under.count('utterance.spoken') === 1);
});

test('a voice that fails at every answer ends the call', async () => {
  const under = open();
  for (const turn of [0, 1]) {
    under.engine.gate = () => Promise.reject(new ParleyError('ENGINE_FAILED', 'no sound'));
    under.says('Hello?');
    (await under.model.asked(turn)).say('Good morning.').done();
    await under.passUntil(() => under.told.filter(({ type }) => type === 'agent.failed').length > turn);
  }
  await under.passUntil(() => under.orders.length === 1);
  assert.deepEqual(under.orders, ['hang up']);
});

test('a caller whose turn the recogniser loses is told so, and is not left in silence', async () => {
  const under = open();
  under.begins();
  under.pass(1000);
  under.stops();
  under.fail(new ParleyError('ENGINE_LOST', 'gone'));
  await until(() => under.engine.begun.length === 1);
  assert.deepEqual(under.engine.begun, ['Sorry, again please.']);
  assert.ok(under.told.some((event) => event.type === 'agent.failed'));
});

test('a function that follows another is not begun once the caller goes on', async () => {
  const under = open({ transferStatus: 486 });
  under.says('Connect me.');
  const answer = await under.model.asked(0);
  answer.calls(['collect_digits', { most: 4 }], ['send_digits', { digits: '1' }]).done();
  await settle();
  under.says('No, wait.');
  await under.model.asked(1);
  assert.deepEqual(under.orders, []);
});

test('a turn over an announcement that nothing interrupts is a question', async () => {
  const under = open();
  under.call.speak('This call is recorded. Please stay on the line until somebody answers.');
  await under.passUntil(() => under.count('utterance.started') === 1);
  under.begins();
  under.pass(300);
  under.stops();
  under.text('I want a ticket.');
  assert.deepEqual((await under.model.asked(0)).asked, ['user: I want a ticket.']);
});

test('an answer that an application ended does not go on after a noise', async () => {
  const under = open();
  under.says('Hello?');
  (await under.model.asked(0)).say(MENU).done();
  await under.passUntil(() => under.count('utterance.started') === 1);
  under.call.interrupt('application');
  under.begins();
  under.pass(1000);
  under.stops();
  under.text('');
  await settle();
  assert.deepEqual([under.model.answers.length, under.engine.begun], [1, [MENU]]);
});

test('a greeting that a noise interrupts goes on', async () => {
  const greeting = 'Welcome to the shop, where you find tea from all over the world.';
  const under = open({ agent: { greeting } });
  await under.passUntil(() => under.count('utterance.started') === 1);
  await under.queued(greeting);
  under.pass(400);
  under.interrupts();
  await settle();
  under.pass(1000);
  under.stops();
  under.text('');
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  const rest = under.engine.begun.at(-1) ?? '';
  assert.ok(rest.length > 10 && rest.length < greeting.length && greeting.endsWith(rest), rest);
  under.says('Hello?');
  assert.equal((await under.model.asked(0)).asked[1], `assistant: ${greeting}`);
});

test('a greeting that a typed text ends before it sounds leaves nothing in the history', async () => {
  const under = open({ agent: { greeting: 'Welcome.' } });
  under.agent.typed('Hello?');
  assert.deepEqual((await under.model.asked(0)).asked, ['user: Hello?']);
});
