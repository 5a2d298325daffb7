// All talks do this alike: each test runs with the built-in agent, and with an agent that a Realtime client
// steers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../src/errors.js';
import { openRealtime } from '../api/realtime/open-realtime.js';
import { openCalls } from '../fakes/call-under-test.js';
import { until } from '../fakes/until.js';
import { openAgent } from './agent-under-test.js';
import { type HandledCallUnderTest, settle } from './handled-call.js';
import type { ScriptedModel } from './scripted-model.js';

const calls = openCalls();
const MENU = 'We have green tea, black tea, white tea, and a tea that is not on the menu.';
const LOST = new ParleyError('ENGINE_LOST', 'gone');

interface TalkUnderTest extends HandledCallUnderTest {
  readonly model: ScriptedModel;
}

const TALKS: readonly (readonly [string, () => TalkUnderTest])[] = [
  ['the built-in agent', () => openAgent(calls)],
  ['a steered agent', () => openRealtime(calls, { agent: {} })],
];

function forEach(name: string, run: (under: TalkUnderTest) => Promise<void>): void {
  for (const [talk, open] of TALKS) test(`${talk}: ${name}`, () => run(open()));
}

const failures = ({ count }: TalkUnderTest) => count('agent.failed');

forEach('a filler is said in each silence, also behind the first words of an answer', async (under) => {
  under.says('Is it there?');
  (await under.model.asked(0)).say('Let me look.').call('nothing').done();
  await under.model.asked(1);
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  under.pass(3000);
  await under.passUntil(() => under.count('utterance.spoken') === 2);
  assert.deepEqual(under.engine.begun, ['Let me look.', 'One moment.']);
});

forEach('a filler waits for a caller who speaks', async (under) => {
  under.says('Is it there?');
  await under.model.asked(0);
  under.begins();
  under.pass(3000);
  await settle();
  assert.deepEqual(under.engine.begun, []);
  under.hearing.report({ type: 'speech.stopped', atMs: under.time.now(), durationMs: 3000 });
  under.pass(3000); // it was a noise
  under.pass(3000);
  await until(() => under.engine.begun.length === 1);
  assert.deepEqual(under.engine.begun, ['One moment.']);
});

forEach('a voice that fails at every answer ends the call, however well the model writes', async (under) => {
  under.engine.gate = () => Promise.reject(new ParleyError('ENGINE_FAILED', 'no sound'));
  for (const turn of [0, 1]) {
    under.says('Hello?');
    (await under.model.asked(turn)).say('Good morning.').done();
    await under.passUntil(() => failures(under) > turn);
  }
  await under.passUntil(() => under.orders.length === 1);
  assert.deepEqual(under.orders, ['hang up']);
});

forEach('an answer that is heard in between makes the failures begin anew', async (under) => {
  for (const turn of [0, 2]) {
    under.says('Hello?');
    (await under.model.asked(turn)).fail(new ParleyError('AGENT_FAILED', 'gone'));
    await under.passUntil(() => failures(under) === turn / 2 + 1);
    if (turn > 0) break;
    under.says('Hello?');
    (await under.model.asked(1)).say('Good morning.').done();
    await under.passUntil(() => under.count('utterance.spoken') === 2);
  }
  await settle();
  assert.deepEqual(under.orders, []);
});

forEach('a caller whose turn the recogniser loses is told so, and is not left in silence', async (under) => {
  under.begins();
  under.pass(1000);
  under.stops();
  under.fail(LOST);
  await until(() => under.engine.begun.length === 1);
  assert.deepEqual(under.engine.begun, ['Sorry, again please.']);
});

forEach('a turn over an announcement that nothing interrupts is a question', async (under) => {
  under.call.speak('This call is recorded. Please stay on the line until somebody answers.');
  await under.passUntil(() => under.count('utterance.started') === 1);
  under.begins();
  under.pass(300);
  under.stops();
  under.text('I want a ticket.');
  assert.deepEqual((await under.model.asked(0)).asked, ['user: I want a ticket.']);
});

forEach('an answer that an application ended does not go on after a noise', async (under) => {
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

forEach('what a model wrote before it failed is heard, and stays in the history', async (under) => {
  under.says('Hello?');
  const answer = await under.model.asked(0);
  answer.say('It is nine. ', 'And');
  await until(() => under.call.stats().queuedMs > 0);
  answer.fail(new ParleyError('AGENT_FAILED', 'broke off'));
  await under.passUntil(() => under.count('utterance.spoken') === 2);
  under.says('And then?');
  const { asked } = await under.model.asked(1);
  assert.deepEqual(asked, ['user: Hello?', 'assistant: It is nine. And', 'user: And then?']);
});

/** The model has written its first token while the caller speaks on. */
async function waitsToSpeak(under: TalkUnderTest): Promise<void> {
  under.says('I want a ticket');
  const answer = await under.model.asked(0);
  under.begins();
  answer.say('It');
  await settle();
  under.pass(1000);
}

forEach('an answer that is given up before it sounds leaves nothing in the history', async (under) => {
  await waitsToSpeak(under);
  under.stops();
  under.text('to Paris.');
  const next = await under.model.asked(1);
  assert.deepEqual(next.asked, ['user: I want a ticket\nto Paris.']);
  next.say('Which day?').done();
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.deepEqual(under.engine.begun, ['Which day?']);
});

forEach('an answer that waited for a noise is heard, and stays in the history', async (under) => {
  await waitsToSpeak(under);
  under.model.answers[0]?.say(' leaves at nine.').done();
  under.stops();
  under.text('');
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  under.says('Thanks.');
  const { asked } = await under.model.asked(1);
  assert.deepEqual(asked, ['user: I want a ticket', 'assistant: It leaves at nine.', 'user: Thanks.']);
});

forEach('an answer that no voice can speak leaves nothing in the history', async (under) => {
  const speak = under.call.speak.bind(under.call);
  under.call.speak = () => {
    throw new ParleyError('QUEUE_FULL', 'too much waits');
  };
  under.says('Hello?');
  (await under.model.asked(0)).say('It is nine.').done();
  await until(() => failures(under) === 1);
  under.call.speak = speak;
  under.says('Are you there?');
  assert.deepEqual((await under.model.asked(1)).asked, ['user: Hello?\nAre you there?']);
});

forEach(
  'the note about an interruption leaves the history with an answer that nobody heard',
  async (under) => {
    under.says('Hello?');
    (await under.model.asked(0)).say(`${MENU} `, 'And');
    await under.passUntil(() => under.count('utterance.started') === 1);
    under.interrupts();
    under.pass(1000);
    under.stops();
    under.text('');
    assert.match((await under.model.asked(1)).asked.at(-1) ?? '', /Go on\.\]$/);
    under.says('Black tea.');
    assert.match((await under.model.asked(2)).asked.at(-1) ?? '', /^user: (Hello\?\n)?Black tea\.$/);
  },
);

forEach(
  'keys that were pressed before words reach the model, and the next keys belong to them',
  async (under) => {
    under.says('Hello?');
    (await under.model.asked(0)).call('collect_digits', { most: 4 }).done();
    await settle();
    for (const digit of '47') under.call.pressed(digit);
    under.says('One moment.');
    const second = await under.model.asked(1);
    assert.match(second.asked.at(-2) ?? '', /^tool: \{"digits":"47","pending":/);
    assert.equal(second.asked.at(-1), 'user: One moment.');
    second.call('collect_digits', { most: 4 }).done();
    await settle();
    for (const digit of '11') under.call.pressed(digit);
    assert.equal((await under.model.asked(2)).asked.at(-1), 'tool: {"digits":"4711"}');
  },
);

forEach('keys after words that no function waits for are one number with those before', async (under) => {
  under.says('Hello?');
  (await under.model.asked(0)).call('collect_digits', { most: 4 }).done();
  await settle();
  for (const digit of '47') under.call.pressed(digit);
  under.says('One moment.');
  (await under.model.asked(1)).say('Yes?').done();
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  for (const digit of '11') under.call.pressed(digit);
  under.pass(1500);
  assert.match((await under.model.asked(2)).asked.at(-1) ?? '', /\[The caller pressed 4 7 1 1\]$/);
});

test('answers that are only written are no failures that the caller hears, and do not end the call', async () => {
  const under = openRealtime(calls, { agent: {} });
  for (const turn of [0, 1, 2]) {
    under.send({ type: 'response.create', response: { output_modalities: ['text'] } });
    (await under.model.asked(turn)).fail(new ParleyError('AGENT_FAILED', 'gone'));
    await until(() => under.all('response.done').length === turn + 1);
  }
  await settle();
  assert.deepEqual([under.orders, under.engine.begun], [[], []]);
});

for (const end of ['fails', 'is written'] as const) {
  test(`an answer in text only that ${end} leaves the filler of the answer that is to be spoken`, async () => {
    const under = openRealtime(calls, { agent: {} });
    under.says('Hello?');
    await under.model.asked(0);
    under.send({ type: 'response.create', response: { conversation: 'none', output_modalities: ['text'] } });
    const written = await under.model.asked(1);
    if (end === 'fails') written.fail(new ParleyError('AGENT_FAILED', 'gone'));
    else written.say('Fine.').done();
    await until(() => under.all('response.done').length === 1);
    under.pass(3000);
    await until(() => under.engine.begun.length === 1);
    assert.deepEqual(under.engine.begun, ['One moment.']);
  });
}
