// OpenAI's Realtime events in a call with an agent: its model answers the caller and the client.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../../src/errors.js';
import { openCalls } from '../../fakes/call-under-test.js';
import { until } from '../../fakes/until.js';
import { settle } from '../../agents/handled-call.js';
import { assistant, openRealtime, user } from './open-realtime.js';

const calls = openCalls();
const TEXT = 'The train leaves at nine from platform two, and it is on time today.';
const TOOL = {
  type: 'function',
  name: 'find_train',
  description: 'Finds a train',
  parameters: { type: 'object', properties: { to: { type: 'string' } } },
} as const;

const open = (setting: Partial<Parameters<typeof openRealtime>[1]> = {}) =>
  openRealtime(calls, { agent: {}, ...setting });

test('a turn of the caller is answered by the model, and its text is told while it is written', async () => {
  const under = open();
  under.says('Hello?');
  const answer = await under.model.asked(0);
  assert.deepEqual(answer.asked, ['user: Hello?']);
  assert.equal(answer.question.messages[0]?.content, 'Be brief.');
  under.types();
  answer.say('Good morning. ', 'How can I help?');
  await until(() => under.all('response.output_audio_transcript.delta').length === 2);
  assert.deepEqual(under.types(), [
    'response.output_item.added',
    'conversation.item.added',
    'conversation.item.created',
    'response.content_part.added',
    'response.output_audio_transcript.delta',
    'response.output_audio_transcript.delta',
  ]);
  answer.done();
  await under.told('output_audio_buffer.stopped');
  assert.deepEqual(
    under.types().filter((type) => !type.startsWith('output_audio_buffer')),
    [
      'response.output_audio_transcript.done',
      'response.content_part.done',
      'response.output_item.done',
      'conversation.item.done',
      'response.done',
    ],
  );
  const { transcript } = under.last('response.output_audio_transcript.done');
  assert.equal(transcript, 'Good morning. How can I help?');
  assert.equal(under.last('response.done').response.status, 'completed');
  const before = under.last('conversation.item.done').previous_item_id;
  assert.equal(before, under.last('conversation.item.input_audio_transcription.completed').item_id);
});

test('when the caller interrupts, the model is left, and knows what was heard', async () => {
  const under = open();
  under.says('When does the train leave?');
  const answer = await under.model.asked(0);
  answer.say(`${TEXT} `, 'It stops');
  await under.told('output_audio_buffer.started');
  await under.queued(TEXT);
  under.pass(500);
  under.interrupts();
  const { status, status_details } = under.last('response.done').response;
  assert.deepEqual([status, status_details?.reason], ['cancelled', 'turn_detected']);
  assert.equal(under.all('output_audio_buffer.cleared').length, 1);
  await until(() => answer.isOver);
  under.pass(1000);
  under.stops();
  under.text('From where?');
  const next = await under.model.asked(1);
  const heard = (under.last('conversation.item.truncated') as unknown as { transcript: string }).transcript;
  assert.ok(heard !== '' && TEXT.startsWith(heard));
  assert.deepEqual(next.asked, [
    'user: When does the train leave?',
    `assistant: ${heard.trim()}`,
    'user: From where?',
  ]);
});

test('a thought that is heard already is cut to nothing, and the answer is an item of its own', async () => {
  const under = open();
  under.says('Hello?');
  const answer = (await under.model.asked(0)).say(`${TEXT} `, 'Well');
  await under.told('output_audio_buffer.started');
  const thought = under.last('response.output_item.added').item.id;
  answer.wasThought().say('Good morning.');
  await under.told('conversation.item.truncated');
  assert.equal(under.last('conversation.item.truncated').item_id, thought);
  assert.equal(under.last('conversation.item.truncated').audio_end_ms, 0);
  answer.done();
  await under.told('response.done');
  assert.equal(under.last('response.done').response.status, 'completed');
  const { transcript, item_id: id } = under.last('response.output_audio_transcript.done');
  assert.deepEqual([transcript, id === thought], ['Good morning.', false]);
  assert.equal(under.all('output_audio_buffer.cleared').length, 1);
  await under.told('output_audio_buffer.stopped');
  under.says('Bye.');
  const next = await under.model.asked(1);
  assert.deepEqual(next.asked, ['user: Hello?', 'assistant: Good morning.', 'user: Bye.']);
});

test('an answer that a noise has interrupted goes on as a response of its own', async () => {
  const under = open();
  under.says('When does the train leave?');
  (await under.model.asked(0)).say(TEXT).done();
  await under.told('output_audio_buffer.started');
  await under.queued(TEXT);
  under.pass(500);
  under.interrupts();
  under.stops();
  under.text('');
  await under.passUntil(() => under.all('output_audio_buffer.stopped').length === 1);
  const heard = (under.last('conversation.item.truncated') as unknown as { transcript: string }).transcript;
  const { transcript } = under.last('response.output_audio_transcript.done');
  assert.equal(transcript, TEXT.slice(heard.length).trim());
  assert.equal(under.model.answers.length, 1);
});

test('a turn before the answer is heard gives the answer up', async () => {
  const under = open();
  under.says('Hello?');
  await under.model.asked(0);
  under.says('Are you there?');
  const second = await under.model.asked(1);
  assert.equal(under.last('response.done').response.status, 'cancelled');
  assert.deepEqual(second.asked, ['user: Hello?\nAre you there?']);
});

test('turns are not answered with create_response false, and response.create asks the model', async () => {
  const under = open();
  const turn_detection = { type: 'server_vad', create_response: false } as const;
  under.send({
    type: 'session.update',
    session: { type: 'realtime', instructions: 'Be kind.', audio: { input: { turn_detection } } },
  });
  under.says('Hello?');
  await settle();
  assert.equal(under.model.answers.length, 0);
  under.send({ type: 'response.create' });
  const answer = await under.model.asked(0);
  assert.equal(answer.question.messages[0]?.content, 'Be kind.');
  under.send({ type: 'response.create' });
  assert.equal(under.last('error').error.code, 'conversation_already_has_active_response');
});

test('a response has its own instructions, its own input, and is not kept if the client says so', async () => {
  const under = open();
  under.send(user('I am Anna.'));
  const kept = under.last('conversation.item.added').item.id ?? '';
  under.send({
    type: 'response.create',
    response: {
      conversation: 'none',
      instructions: 'Classify.',
      output_modalities: ['text'],
      metadata: { purpose: 'class' },
      input: [{ type: 'item_reference', id: kept }] as never,
    },
  });
  const answer = await under.model.asked(0);
  assert.deepEqual(answer.question.messages, [
    { role: 'system', content: 'Classify.' },
    { role: 'user', content: 'I am Anna.' },
  ]);
  answer.say('greeting').done();
  await until(() => under.all('response.done').length === 1);
  assert.equal(under.last('response.output_text.done').text, 'greeting');
  const { response } = under.last('response.done');
  assert.deepEqual([response.metadata, response.conversation_id], [{ purpose: 'class' }, null]);
  assert.deepEqual(under.engine.begun, []);
  under.send({ type: 'response.create' });
  assert.deepEqual((await under.model.asked(1)).asked, ['user: I am Anna.']);
});

test("a function of the client is called, and its result goes to the model's next response", async () => {
  const under = open();
  under.send({ type: 'session.update', session: { type: 'realtime', tools: [TOOL], tool_choice: 'auto' } });
  under.says('Is there a train to Bern?');
  const first = await under.model.asked(0);
  assert.ok(first.question.tools.some(({ name }) => name === 'find_train'));
  under.types();
  first.say('Let me see.').call('find_train', { to: 'Bern' }).done();
  await under.told('response.done');
  const called = under.last('response.function_call_arguments.done');
  assert.deepEqual([called.call_id, called.arguments], ['call_find_train', '{"to":"Bern"}']);
  const { response } = under.last('response.done');
  assert.deepEqual(
    response.output?.map(({ type }) => type),
    ['message', 'function_call'],
  );
  assert.equal(under.model.answers.length, 1);
  under.send({
    type: 'conversation.item.create',
    item: { type: 'function_call_output', call_id: 'call_find_train', output: '{"at":"9:00"}' },
  });
  under.send({ type: 'response.create' });
  const second = await under.model.asked(1);
  assert.deepEqual(second.asked, [
    'user: Is there a train to Bern?',
    'assistant: Let me see. +calls',
    'tool: {"at":"9:00"}',
  ]);
  under.send({
    type: 'conversation.item.create',
    item: { type: 'function_call_output', call_id: 'call_other', output: '{}' },
  });
  assert.equal(under.last('error').error.param, 'item.call_id');
});

test("the agent's own functions run here, and no client is told of them", async () => {
  const under = open();
  under.says('Bye.');
  (await under.model.asked(0)).say('Goodbye.').call('hang_up').done();
  await under.passUntil(() => under.orders.length === 1);
  assert.deepEqual(under.orders, ['hang up']);
  assert.equal(under.all('response.function_call_arguments.done').length, 0);
});

test('the greeting is a response, and is in the history', async () => {
  const under = open({ agent: { greeting: 'Welcome.' } });
  assert.deepEqual(under.types().slice(0, 2), ['session.created', 'response.created']);
  await under.told('output_audio_buffer.stopped');
  under.says('Hello?');
  assert.deepEqual((await under.model.asked(0)).asked, [
    'user: [The call begins]',
    'assistant: Welcome.',
    'user: Hello?',
  ]);
});

test('a message that the client adds last is spoken; an older one is history', async () => {
  const under = open();
  under.send(assistant('We spoke yesterday.'));
  under.send(user('Yes.'));
  under.send({ type: 'response.create' });
  const answer = await under.model.asked(0);
  assert.deepEqual(answer.asked, ['user: [The call begins]', 'assistant: We spoke yesterday.', 'user: Yes.']);
  answer.say('Good.').done();
  await under.told('output_audio_buffer.stopped');
  under.send(assistant('Word for word.'));
  under.send({ type: 'response.create' });
  await under.passUntil(() => under.all('output_audio_buffer.stopped').length === 2);
  assert.deepEqual(under.engine.begun, ['Good.', 'Word for word.']);
  assert.equal(under.model.answers.length, 1);
});

test('a model that fails is a failed response; the caller hears the phrase, and at last the end', async () => {
  const under = open();
  for (const turn of [0, 1]) {
    under.says('Hello?');
    (await under.model.asked(turn)).fail(new ParleyError('AGENT_FAILED', 'gone'));
    await under.passUntil(() => under.count('utterance.spoken') === turn + 1);
  }
  const { status, status_details } = under.last('response.done').response;
  assert.deepEqual(
    [status, status_details],
    ['failed', { type: 'failed', error: { type: 'server_error', code: 'agent_failed' } }],
  );
  await until(() => under.orders.length === 1);
  assert.deepEqual(under.orders, ['hang up']);
});

test('a slow model is covered by a filler, which is no response', async () => {
  const under = open();
  under.says('Hello?');
  await under.model.asked(0);
  under.pass(3000);
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.deepEqual(under.engine.begun, ['One moment.']);
  assert.equal(under.all('output_audio_buffer.started').length, 0);
});

test('keys and silence of the caller are questions to the model', async () => {
  const under = open();
  const turn_detection = { type: 'server_vad', idle_timeout_ms: 5000 } as const;
  under.send({ type: 'session.update', session: { type: 'realtime', audio: { input: { turn_detection } } } });
  under.call.pressed('1');
  under.call.pressed('#');
  const first = await under.model.asked(0);
  assert.deepEqual(first.asked, ['user: [The caller pressed 1]']);
  first.say('One.').done();
  await under.told('output_audio_buffer.stopped');
  under.pass(5000);
  under.hearing.report({ type: 'no_input', atMs: under.time.now() });
  const second = await under.model.asked(1);
  assert.equal(second.asked.at(-1), 'user: [The caller says nothing]');
  under.says('I am here.');
  assert.equal((await under.model.asked(2)).asked.at(-1), 'user: I am here.');
});

test('while the voice must not be interrupted, the caller is answered afterwards', async () => {
  const under = open();
  const turn_detection = { type: 'server_vad', interrupt_response: false } as const;
  under.send({ type: 'session.update', session: { type: 'realtime', audio: { input: { turn_detection } } } });
  under.says('Hello?');
  (await under.model.asked(0)).say(`${TEXT} `.repeat(5)).done();
  await under.told('output_audio_buffer.started');
  under.says('And to Bern?');
  assert.equal(under.model.answers.length, 1);
  await under.passUntil(() => under.model.answers.length === 2);
  assert.equal(under.all('output_audio_buffer.cleared').length, 0);
  assert.equal(under.model.answers[1]?.asked.at(-1), 'user: And to Bern?');
});

test('an answer that is not kept leaves the conversation as it is', async () => {
  const under = open();
  under.send(user('I am Anna.'));
  under.send({ type: 'response.create', response: { conversation: 'none' } });
  const first = await under.model.asked(0);
  assert.deepEqual(first.asked, ['user: I am Anna.']);
  first.say('Hello Anna.').done();
  await under.told('output_audio_buffer.stopped');
  assert.equal(under.all('conversation.item.added').length, 1);
  under.send({ type: 'response.create' });
  assert.deepEqual((await under.model.asked(1)).asked, ['user: I am Anna.']);
});

test('a turn that the client deletes before its words are known is not answered to', async () => {
  const under = open();
  under.begins();
  under.stops();
  under.send({
    type: 'conversation.item.delete',
    item_id: under.last('input_audio_buffer.committed').item_id,
  });
  under.text('Forget me.');
  const answer = await under.model.asked(0);
  assert.deepEqual(answer.asked, []);
});

test('a silent caller is not addressed while an answer is on its way, and too many responses end no call', async () => {
  const under = open();
  for (let n = 0; n < 8; n++)
    under.send({ type: 'response.create', response: { conversation: 'none', output_modalities: ['text'] } });
  await until(() => under.model.answers.length === 8);
  under.hearing.report({ type: 'no_input', atMs: under.time.now() });
  for (const digit of ['1', '#']) under.call.pressed(digit);
  under.pass(2000);
  assert.equal(under.model.answers.length, 8);
  for (const answer of under.model.answers) answer.say('Done.').done();
  await under.passUntil(() => under.all('response.done').length === 8);
});

test('after a noise has cut an answer short that was still written, the model goes on', async () => {
  const under = open();
  under.says('When does the train leave?');
  (await under.model.asked(0)).say(`${TEXT} `, 'And');
  await under.told('output_audio_buffer.started');
  under.interrupts();
  under.pass(1000);
  under.stops();
  under.text('');
  const next = await under.model.asked(1);
  assert.match(next.asked.at(-1) ?? '', /\[A sound without words interrupted you\. Go on\.\]$/);
});

test('a message that is given up before it sounds is cut to nothing', async () => {
  const under = open();
  under.says('I want a ticket');
  const answer = await under.model.asked(0);
  under.begins();
  answer.say('It');
  await until(() => under.all('response.output_audio_transcript.delta').length === 1);
  const { item_id } = under.last('response.output_audio_transcript.delta');
  under.pass(1000);
  under.stops();
  under.text('to Paris.');
  assert.equal(under.all('response.done').at(0)?.response.status, 'cancelled');
  const cut = under.last('conversation.item.truncated') as unknown as Record<string, unknown>;
  assert.deepEqual([cut['item_id'], cut['audio_end_ms'], cut['transcript']], [item_id, 0, '']);
  under.send({ type: 'conversation.item.retrieve', item_id });
  const { item } = under.last('conversation.item.retrieved');
  assert.deepEqual(item, {
    ...item,
    status: 'incomplete',
    content: [{ type: 'output_audio', transcript: '' }],
  });
});
