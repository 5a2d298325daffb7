// The built-in agent in a call: the call, its queue and the encoder are real; the engine, the model, the
// recogniser, the worker that hears, the network and time are the test's.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../src/errors.js';
import { openCalls } from '../fakes/call-under-test.js';
import { until } from '../fakes/until.js';
import { type AgentSetting, type AgentUnderTest, openAgent } from './agent-under-test.js';
import { settle } from './handled-call.js';

const calls = openCalls();

const open = (setting?: AgentSetting) => openAgent(calls, setting);

/** Speaks a first answer until the caller hears it. */
async function hearAnswer(under: AgentUnderTest, text = 'The train leaves at nine from platform two.') {
  under.says('When does the train leave?');
  const answer = await under.model.asked(0);
  answer.say(text).done();
  await under.passUntil(() => under.count('utterance.started') === 1);
  await until(() => under.call.stats().queuedMs >= 300); // the encoder is a thread
  return answer;
}

test('a turn becomes a question, and the answer is spoken while it is written', async () => {
  const under = open();
  under.says('Hello?');
  const answer = await under.model.asked(0);
  assert.deepEqual(answer.question.messages, [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hello?' },
  ]);
  answer.say('Good morning. ', 'How can');
  await under.queued('Good morning.'); // before time passes, in which the open text would be given up
  await under.passUntil(() => under.count('sentence.started') === 1);
  assert.deepEqual(under.engine.begun, ['Good morning.']);
  answer.say(' I help you?').done();
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.deepEqual(under.engine.begun, ['Good morning.', 'How can I help you?']);
  under.says('Bye.');
  const next = await under.model.asked(1);
  assert.deepEqual(next.asked, [
    'user: Hello?',
    'assistant: Good morning. How can I help you?',
    'user: Bye.',
  ]);
});

test('the parts of the way to an answer are told', async () => {
  const under = open();
  under.begins();
  under.pass(1000);
  under.stops();
  under.pass(120);
  under.text('Hello?');
  const answer = await under.model.asked(0);
  under.pass(250);
  answer.say('Good ');
  await settle();
  under.pass(80);
  answer.say('morning. ', 'It');
  await under.queued('Good morning.');
  await under.passUntil(() => under.count('utterance.started') === 1);
  answer.done();
  const [prompt, answered] = under.told;
  assert.deepEqual(prompt, { type: 'agent.prompt', text: 'Hello?', by: 'speech', language: 'en' });
  assert.ok(answered?.type === 'agent.answered');
  const { silenceMs, textMs, modelMs, sentenceMs, speechMs, packetMs, totalMs } = answered;
  assert.deepEqual([silenceMs, textMs, modelMs, sentenceMs], [600, 120, 250, 80]);
  const sum = 600 + 120 + 250 + 80 + speechMs + packetMs;
  assert.ok(Math.abs(totalMs - sum) < 1, JSON.stringify(answered));
  assert.ok(under.events.some(({ type }) => type === 'agent.answered'));
});

test('the greeting is spoken first, and is in the history', async () => {
  const under = open({ agent: { greeting: 'Welcome.' } });
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  under.says('Hello?');
  assert.deepEqual((await under.model.asked(0)).asked, [
    'user: [The call begins]',
    'assistant: Welcome.',
    'user: Hello?',
  ]);
});

test('when the caller interrupts, the model is left, and the history has what was heard', async () => {
  const under = open();
  under.says('When does the train leave?');
  const answer = await under.model.asked(0);
  const text = 'The train leaves at nine from platform two, and it is on time today.';
  answer.say(`${text} `, 'It stops');
  await under.passUntil(() => under.count('utterance.started') === 1);
  await under.queued(text);
  under.pass(20 * 25);
  under.interrupts();
  await until(() => answer.isOver);
  assert.equal(under.orders.length, 0);
  under.pass(1000);
  under.stops();
  under.text('From where?');
  const next = await under.model.asked(1);
  const cut = under.events.find((event) => event.type === 'utterance.interrupted');
  assert.ok(cut?.type === 'utterance.interrupted' && cut.heard.length > 0 && text.startsWith(cut.heard));
  assert.deepEqual(next.asked, [
    'user: When does the train leave?',
    `assistant: ${cut.heard.trim()}`,
    'user: From where?',
  ]);
});

test('an answer that was interrupted by a noise goes on where it stopped', async () => {
  const under = open();
  const text = 'The train leaves at nine from platform two.';
  await hearAnswer(under, text);
  await under.queued(text);
  under.pass(20 * 20);
  under.interrupts();
  under.pass(1000);
  under.stops();
  under.text('');
  const cut = under.events.find((event) => event.type === 'utterance.interrupted');
  assert.ok(cut?.type === 'utterance.interrupted');
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  const rest = text.slice(cut.heard.length).trim();
  assert.equal(under.engine.begun.at(-1), rest);
  under.says('Thanks.');
  const asked = (await under.model.asked(1)).asked;
  assert.deepEqual(asked.slice(1), [`assistant: ${text}`, 'user: Thanks.']);
});

test('a caller who goes on before the answer is heard is answered once, for all that was said', async () => {
  const under = open();
  under.says('I want a ticket');
  const first = await under.model.asked(0);
  under.says('to Paris.');
  const second = await under.model.asked(1);
  assert.deepEqual(second.asked, ['user: I want a ticket\nto Paris.']);
  await until(() => first.isOver);
  second.say('Which day?').done();
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.deepEqual(under.engine.begun, ['Which day?']);
});

test('nothing is spoken while the caller speaks, and a noise lets the answer go on', async () => {
  const under = open();
  under.says('I want a ticket');
  const answer = await under.model.asked(0);
  under.begins();
  answer.say('Which day?').done();
  await settle();
  under.pass(1000);
  assert.deepEqual(under.engine.begun, []);
  under.stops();
  under.text('');
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.deepEqual(under.engine.begun, ['Which day?']);
});

test('a sound that is no turn holds the answer for three seconds of silence', async () => {
  const under = open({ agent: { filler: undefined } });
  under.says('I want a ticket');
  const answer = await under.model.asked(0);
  under.begins();
  under.hearing.report({ type: 'speech.stopped', atMs: under.time.now(), durationMs: 60 });
  answer.say('Which day?').done();
  await settle();
  under.pass(2900);
  assert.deepEqual(under.engine.begun, []);
  await under.passUntil(() => under.count('utterance.spoken') === 1);
});

test('a word during the answer that does not interrupt it is no question', async () => {
  const under = open();
  await hearAnswer(under, 'It leaves at nine. '.repeat(8));
  under.says('uh-huh');
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.equal(under.model.answers.length, 1);
});

for (const text of ['Stop.', 'no', 'Yes.', 'agent']) {
  test(`"${text}" over the answer stops it and is answered, however short it is`, async () => {
    const under = open();
    await hearAnswer(under, 'It leaves at nine. '.repeat(8));
    under.says(text);
    assert.equal(under.count('utterance.interrupted'), 1);
    const next = await under.model.asked(1);
    assert.equal(next.asked.at(-1), `user: ${text}`);
  });
}

test('a short word whose text comes after the answer was heard is an answer to it, also a back-channel', async () => {
  for (const text of ['Yes.', 'Okay.']) {
    const under = open();
    await hearAnswer(under, 'It leaves at nine. Shall I book it?');
    under.begins();
    under.pass(300);
    under.stops();
    await under.passUntil(() => under.count('utterance.spoken') === 1);
    under.text(text);
    await settle();
    assert.equal((await under.model.asked(1)).asked.at(-1), `user: ${text}`);
  }
});

test('where speech does not interrupt, the caller is answered after the answer', async () => {
  const under = open({ agent: { interruptible: 'none' } });
  await hearAnswer(under, 'It leaves at nine. '.repeat(8));
  under.says('And back?');
  assert.equal(under.model.answers.length, 1);
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  const next = await under.model.asked(1);
  assert.equal(next.asked.at(-1), 'user: And back?');
});

test('a slow model is bridged by a phrase, once', async () => {
  const under = open();
  under.says('Hello?');
  const answer = await under.model.asked(0);
  under.pass(2999);
  assert.deepEqual(under.engine.begun, []);
  under.pass(1);
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.deepEqual(under.engine.begun, ['One moment.']);
  under.pass(10_000);
  answer.say('Here I am.').done();
  await under.passUntil(() => under.count('utterance.spoken') === 2);
  assert.deepEqual(under.engine.begun, ['One moment.', 'Here I am.']);
  under.says('Good.');
  assert.deepEqual((await under.model.asked(1)).asked, [
    'user: Hello?',
    'assistant: Here I am.',
    'user: Good.',
  ]);
});

test('a model that fails is heard as a phrase, and the second time in a row ends the call', async () => {
  const under = open();
  under.says('Hello?');
  (await under.model.asked(0)).fail(new ParleyError('AGENT_FAILED', 'gone'));
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.deepEqual(under.engine.begun, ['Sorry, again please.']);
  assert.deepEqual(under.told.at(-1), {
    type: 'agent.failed',
    error: { code: 'AGENT_FAILED', message: 'gone' },
  });
  under.says('Hello?');
  const second = await under.model.asked(1);
  assert.deepEqual(second.asked, ['user: Hello?\nHello?']);
  second.fail(new ParleyError('TIMEOUT', 'late'));
  await under.passUntil(() => under.orders.length === 1);
  assert.deepEqual(under.orders, ['hang up']);
  assert.equal(under.count('utterance.spoken'), 2);
});

test('an answer that works lets the failures be forgotten', async () => {
  const under = open();
  for (const [turn, works] of [false, true, false].entries()) {
    under.says('Hello?');
    const answer = await under.model.asked(turn);
    if (works) answer.say('Here.').done();
    else answer.done(); // a model that says nothing has failed as well
    await under.passUntil(() => under.count('utterance.spoken') === turn + 1);
  }
  assert.deepEqual(under.orders, []);
});

test('a broken answer is spoken as far as it came, then the failure', async () => {
  const under = open();
  under.says('Hello?');
  const answer = await under.model.asked(0);
  answer.say('Well, it is').fail(new ParleyError('AGENT_FAILED', 'broke off'));
  await under.passUntil(() => under.count('utterance.spoken') === 2);
  const heard = under.events.filter((event) => event.type === 'sentence.spoken').map(({ text }) => text);
  assert.deepEqual(heard, ['Well, it is', 'Sorry, again please.']);
});

test('the model hangs up after its goodbye was heard', async () => {
  const under = open();
  under.says('Bye.');
  (await under.model.asked(0)).say('Goodbye.').call('hang_up').done();
  await under.passUntil(() => under.orders.length === 1);
  const types = under.events.map(({ type }) => type);
  assert.ok(types.includes('utterance.spoken'), types.join(' '));
  assert.deepEqual(under.orders, ['hang up']);
  assert.equal(under.model.answers.length, 1);
});

test('a caller who speaks during the goodbye stays', async () => {
  const under = open();
  under.says('Bye.');
  (await under.model.asked(0)).say('Goodbye, and have a nice day.').call('hang_up').done();
  await under.passUntil(() => under.count('utterance.started') === 1);
  under.pass(200);
  under.interrupts();
  under.pass(1000);
  under.stops();
  under.text('Wait!');
  const next = await under.model.asked(1);
  assert.equal(next.asked.at(-1), 'user: Wait!');
  assert.ok(next.asked.some((message) => message.startsWith('tool: {"error":"no result yet')));
  assert.deepEqual(under.orders, []);
});

test('a transfer that is refused goes back to the model', async () => {
  const under = open({ transferStatus: 486 });
  under.says('A person, please.');
  (await under.model.asked(0)).say('I connect you.').call('transfer_call', { target: 'sales' }).done();
  await under.passUntil(() => under.model.answers.length === 2);
  assert.deepEqual(under.orders, ['transfer sip:200@pbx']);
  assert.deepEqual((await under.model.asked(1)).asked, [
    'user: A person, please.',
    'assistant: I connect you. +calls',
    'tool: {"error":"the target refused the call (486)"}',
  ]);
});

test('keys are a question, and the input of a function that waits for them', async () => {
  const under = open();
  for (const digit of ['1', '2']) under.call.pressed(digit);
  under.pass(1500);
  const answer = await under.model.asked(0);
  assert.deepEqual(answer.asked, ['user: [The caller pressed 1 2]']);
  answer.say('Your number, please.').call('collect_digits', { most: 4 }).done();
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  for (const digit of '4711') under.call.pressed(digit);
  const next = await under.model.asked(1);
  assert.equal(next.asked.at(-1), 'tool: {"digits":"4711"}');
});

test('a typed text interrupts, and is answered', async () => {
  const under = open();
  const text = 'The train leaves at nine from platform two.';
  const first = await hearAnswer(under, text);
  await under.queued(text);
  under.pass(600);
  under.agent.typed(' In words, please. ');
  const next = await under.model.asked(1);
  assert.equal(next.asked.at(-1), 'user: In words, please.');
  assert.ok(first.isOver);
  assert.equal(under.count('utterance.interrupted'), 1);
  assert.throws(() => under.agent.typed('  '), { code: 'TEXT_EMPTY' });
  assert.throws(() => under.agent.typed('x'.repeat(4001)), { code: 'TEXT_TOO_LONG' });
});

test('without a recogniser speech interrupts nothing, and typed texts are answered', async () => {
  const under = open({ isCallerRecognised: false });
  under.agent.typed('Hello?');
  (await under.model.asked(0)).say('Good morning.').done();
  await under.passUntil(() => under.count('utterance.started') === 1);
  assert.deepEqual(under.hearing.asked, []);
  under.call.pressed('1');
  assert.equal(under.count('utterance.interrupted'), 1);
});

test('a turn whose text does not come is a noise, and one whose recogniser fails as well', async () => {
  const under = open();
  for (const settle of [() => under.pass(8000), () => under.fail(new ParleyError('ENGINE_LOST', 'gone'))]) {
    under.begins();
    under.pass(1000);
    under.stops();
    settle();
  }
  under.says('Hello?');
  assert.deepEqual((await under.model.asked(0)).asked, ['user: Hello?']);
});

test('functions are called eight times in one answer at most', async () => {
  const under = open();
  under.says('Hello?');
  for (let round = 0; round < 8; round++) (await under.model.asked(round)).call('nothing').done();
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.equal(under.model.answers.length, 8);
  assert.deepEqual(under.engine.begun, ['Sorry, again please.']);
});

test('the end of the call leaves the model, and no timer', async () => {
  const under = open();
  under.says('Hello?');
  const answer = await under.model.asked(0);
  await under.call.close('caller hung up');
  await until(() => answer.isOver);
  assert.equal(under.time.waiting, 0);
  assert.throws(() => under.agent.typed('Hello?'), { code: 'CALL_CLOSED' });
});

const IDLE = { idleMs: 5000, phrase: 'Are you there?', times: 1, goodbye: 'Goodbye.' };

test('a caller who says nothing is asked, hears a goodbye, and the call ends', async () => {
  const under = open({ agent: { idle: IDLE, greeting: 'Welcome.' } });
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  under.pass(4980);
  assert.deepEqual(under.engine.begun, ['Welcome.']);
  await under.passUntil(() => under.count('utterance.spoken') === 2);
  await under.passUntil(() => under.orders.length === 1);
  assert.deepEqual(under.engine.begun, ['Welcome.', 'Are you there?', 'Goodbye.']);
  assert.deepEqual(under.orders, ['hang up']);
  assert.equal(under.time.waiting, 0);
});

test('the answer of the caller is understood as one to the question, and he is asked as before', async () => {
  const under = open({ agent: { idle: IDLE } });
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  under.says('Yes.');
  const answer = await under.model.asked(0);
  assert.deepEqual(answer.asked, ['user: [The call begins]', 'assistant: Are you there?', 'user: Yes.']);
  answer.say('Good.').done();
  await under.passUntil(() => under.count('utterance.spoken') === 3);
  assert.deepEqual(under.engine.begun, ['Are you there?', 'Good.', 'Are you there?']);
});

test('a caller who waits for a slow model is not asked', async () => {
  const under = open({ agent: { idle: IDLE, filler: undefined } });
  under.says('Hello?');
  const answer = await under.model.asked(0);
  under.pass(20_000);
  await settle();
  assert.deepEqual(under.engine.begun, []);
  answer.say('Here.').done();
  await under.passUntil(() => under.count('utterance.spoken') === 2);
  assert.deepEqual(under.engine.begun, ['Here.', 'Are you there?']);
});

test('a caller who speaks on is not asked', async () => {
  const under = open({ agent: { idle: IDLE } });
  under.pass(4000);
  under.begins();
  under.pass(20_000);
  assert.deepEqual(under.engine.begun, []);
  under.stops();
  under.text('And so on.');
  assert.deepEqual((await under.model.asked(0)).asked, ['user: And so on.']);
});

for (const [what, act, asked] of [
  ['a key', (under: AgentUnderTest) => under.call.pressed('1'), 'user: [The caller pressed 1]'],
  ['a typed text', (under: AgentUnderTest) => under.agent.typed('Here.'), 'user: Here.'],
] as const) {
  test(`${what} counts as an answer`, async () => {
    const under = open({ agent: { idle: IDLE } });
    await under.passUntil(() => under.count('utterance.spoken') === 1);
    under.pass(4000);
    act(under);
    under.pass(1500);
    const answer = await under.model.asked(0);
    assert.equal(answer.asked.at(-1), asked);
    answer.say('Good.').done();
    await under.passUntil(() => under.count('utterance.spoken') === 3);
    assert.deepEqual(under.engine.begun, ['Are you there?', 'Good.', 'Are you there?']);
  });
}

test('a caller who interrupts the goodbye stays', async () => {
  const under = open({ agent: { idle: { ...IDLE, times: 0, goodbye: 'Goodbye, and have a nice day.' } } });
  await under.passUntil(() => under.count('utterance.started') === 1);
  under.pass(200);
  under.interrupts();
  under.pass(1000);
  under.stops();
  under.text('Wait!');
  const next = await under.model.asked(0);
  assert.equal(next.asked.at(-1), 'user: Wait!');
  await settle();
  assert.deepEqual(under.orders, []);
});

test('a model that failed does not keep a silent caller in the call', async () => {
  const under = open({ agent: { idle: IDLE, mostFailures: 9 } });
  under.says('Hello?');
  (await under.model.asked(0)).fail(new ParleyError('AGENT_FAILED', 'gone'));
  await under.passUntil(() => under.orders.length === 1);
  assert.deepEqual(under.engine.begun, ['Sorry, again please.', 'Are you there?', 'Goodbye.']);
});
