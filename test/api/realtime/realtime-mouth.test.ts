// OpenAI's Realtime events in a call without an agent: ears and mouth of the application's own model.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../../src/errors.js';
import { fixedSilence } from '../../../src/hearing/hearing-settings.js';
import { openCalls } from '../../fakes/call-under-test.js';
import { assistant, openRealtime, user } from './open-realtime.js';

const calls = openCalls();
const TEXT = 'The train leaves at nine from platform two, and it is on time.';

test('the session says what it does: nobody answers without an agent', () => {
  const under = openRealtime(calls);
  const { session } = under.last('session.created');
  assert.ok(session.type === 'realtime');
  assert.deepEqual(session.output_modalities, ['audio']);
  assert.deepEqual(session.audio?.input?.turn_detection, {
    type: 'server_vad',
    silence_duration_ms: 500,
    idle_timeout_ms: null,
    create_response: false,
    interrupt_response: true,
  });
  assert.match(under.last('session.created').event_id, /^event_/);
});

test('an assistant message is spoken word for word, in the order of the events of OpenAI', async () => {
  const under = openRealtime(calls);
  under.types();
  under.say('Good morning.', 'item_mine');
  assert.deepEqual(under.types(), [
    'conversation.item.added',
    'conversation.item.created',
    'conversation.item.done',
    'response.created',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_audio_transcript.delta',
    'response.output_audio_transcript.done',
    'response.content_part.done',
    'response.output_item.done',
  ]);
  await under.told('output_audio_buffer.stopped');
  assert.deepEqual(under.types(), [
    'output_audio_buffer.started',
    'response.done',
    'output_audio_buffer.stopped',
  ]);
  assert.deepEqual(under.engine.begun, ['Good morning.']);
  const { response } = under.last('response.done');
  assert.equal(response.status, 'completed');
  assert.deepEqual(response.metadata, { turn: '1' });
  assert.deepEqual(response.output, [
    {
      id: 'item_mine',
      object: 'realtime.item',
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_audio', transcript: 'Good morning.' }],
    },
  ]);
  assert.equal(under.last('output_audio_buffer.stopped').response_id, response.id);
});

test('messages that wait are spoken one response at a time, the oldest first', async () => {
  const under = openRealtime(calls);
  under.send(assistant('One.'));
  under.send(assistant('Two.'));
  under.send({ type: 'response.create' });
  under.send({ type: 'response.create' });
  await under.passUntil(() => under.all('output_audio_buffer.stopped').length === 2);
  assert.deepEqual(under.engine.begun, ['One.', 'Two.']);
  under.send({ type: 'response.create' });
  const { error } = under.last('error');
  assert.deepEqual([error.type, error.code], ['invalid_request_error', 'call_state']);
  assert.match(error.message, /no agent talks in this call: add the text to speak as an assistant message/);
});

test('a text in the input of a response is spoken, and is no item unless it is kept', async () => {
  const under = openRealtime(calls);
  const input = [
    {
      type: 'message' as const,
      role: 'assistant' as const,
      content: [{ type: 'output_text' as const, text: 'Hi.' }],
    },
  ];
  under.send({ type: 'response.create', response: { conversation: 'none', input } });
  await under.told('output_audio_buffer.stopped');
  assert.deepEqual(under.engine.begun, ['Hi.']);
  assert.equal(under.all('conversation.item.added').length, 0);
  const [item] = under.last('response.done').response.output ?? [];
  under.send({ type: 'conversation.item.retrieve', item_id: item?.id ?? '' });
  assert.equal(under.last('error').error.code, 'not_found');
  under.send({ type: 'response.create', response: { input } });
  const kept = under.last('conversation.item.added').item;
  under.send({ type: 'conversation.item.retrieve', item_id: kept.id ?? '' });
  assert.equal(under.last('conversation.item.retrieved').item.id, kept.id);
});

test('a turn of the caller is told step by step, and is not answered', async () => {
  const under = openRealtime(calls);
  under.types();
  under.pass(2000);
  under.begins();
  under.pass(1000);
  under.stops();
  assert.deepEqual(under.types(), [
    'input_audio_buffer.speech_started',
    'input_audio_buffer.speech_stopped',
    'input_audio_buffer.committed',
    'conversation.item.added',
    'conversation.item.created',
    'conversation.item.done',
  ]);
  under.text('When does it leave?');
  assert.deepEqual(under.types(), [
    'conversation.item.input_audio_transcription.delta',
    'conversation.item.input_audio_transcription.completed',
  ]);
  const started = under.last('input_audio_buffer.speech_started');
  const stopped = under.last('input_audio_buffer.speech_stopped');
  assert.deepEqual([started.audio_start_ms, stopped.audio_end_ms], [2000, 3000]);
  const told = under.last('conversation.item.input_audio_transcription.completed');
  assert.deepEqual([told.transcript, told.usage], ['When does it leave?', { type: 'duration', seconds: 1 }]);
  assert.equal(new Set([started.item_id, stopped.item_id, told.item_id]).size, 1);
  under.send({ type: 'conversation.item.retrieve', item_id: told.item_id });
  assert.deepEqual(under.last('conversation.item.retrieved').item, {
    id: told.item_id,
    object: 'realtime.item',
    type: 'message',
    status: 'completed',
    role: 'user',
    content: [{ type: 'input_audio', transcript: 'When does it leave?' }],
  });
});

test('an answer is spoken although the caller has said more since it was written', async () => {
  const under = openRealtime(calls);
  under.says('Hello?');
  under.send(assistant('Good morning.'));
  under.says('Is anybody there?');
  under.send({ type: 'response.create' });
  await under.told('output_audio_buffer.stopped');
  assert.deepEqual(under.engine.begun, ['Good morning.']);
});

test('a turn that is not recognised fails by name, and one without words is empty', () => {
  const under = openRealtime(calls);
  under.begins();
  under.stops();
  under.text('');
  assert.equal(under.last('conversation.item.input_audio_transcription.completed').transcript, '');
  under.begins();
  under.stops();
  under.fail(new ParleyError('ENGINE_LOST', 'the recogniser is gone'));
  const { error } = under.last('conversation.item.input_audio_transcription.failed');
  assert.deepEqual([error.type, error.code], ['server_error', 'engine_lost']);
});

test('an interruption cuts the item to what was heard, and says so', async () => {
  const under = openRealtime(calls);
  under.say(TEXT, 'item_mine');
  await under.told('output_audio_buffer.started');
  await under.queued(TEXT);
  under.pass(700);
  under.types();
  under.interrupts();
  assert.deepEqual(under.types(), [
    'input_audio_buffer.speech_started',
    'conversation.item.truncated',
    'output_audio_buffer.cleared',
  ]);
  const cut = under.last('conversation.item.truncated') as unknown as Record<string, unknown>;
  const { transcript, audio_end_ms: ms } = cut;
  assert.ok(typeof transcript === 'string' && transcript !== '' && TEXT.startsWith(transcript));
  assert.ok(transcript.length < TEXT.length && typeof ms === 'number' && ms >= 700 && ms < 1200);
  under.send({ type: 'conversation.item.retrieve', item_id: 'item_mine' });
  const { item } = under.last('conversation.item.retrieved');
  assert.ok(item.type === 'message' && item.status === 'incomplete');
  assert.deepEqual(item.content, [{ type: 'output_audio', transcript }]);
});

test('a response that was not heard at all is cancelled with an empty text', async () => {
  const under = openRealtime(calls);
  under.say(TEXT);
  under.say('And more.', 'item_more');
  await under.told('output_audio_buffer.started');
  under.pass(500);
  under.interrupts();
  const { response } = under.last('response.done');
  assert.deepEqual(
    [response.status, response.status_details],
    ['cancelled', { type: 'cancelled', reason: 'turn_detected' }],
  );
  assert.deepEqual(under.all('conversation.item.truncated').at(-1), {
    ...under.last('conversation.item.truncated'),
    item_id: 'item_more',
    audio_end_ms: 0,
    transcript: '',
  });
  assert.equal(under.all('output_audio_buffer.cleared').length, 1);
});

test('the client cancels a response, and clears its sound', async () => {
  const under = openRealtime(calls);
  under.send({ type: 'response.cancel', event_id: 'mine' });
  const { error } = under.last('error');
  assert.deepEqual([error.code, error.event_id], ['response_cancel_not_active', 'mine']);
  under.say(TEXT);
  under.send({ type: 'response.cancel' });
  const { status, status_details } = under.last('response.done').response;
  assert.deepEqual([status, status_details?.reason], ['cancelled', 'client_cancelled']);
  under.say(TEXT);
  await under.told('output_audio_buffer.started');
  under.send({ type: 'output_audio_buffer.clear' });
  assert.equal(under.all('output_audio_buffer.cleared').length, 1);
  assert.equal(under.call.stats().queuedMs, 0);
});

test('the client reports that less was heard than was sent, and never more', async () => {
  const under = openRealtime(calls);
  under.say('One two three four.', 'item_mine');
  await under.told('output_audio_buffer.stopped');
  const spoken = under.events.find((event) => event.type === 'utterance.spoken');
  const ms = spoken?.type === 'utterance.spoken' ? spoken.durationMs : 0;
  const truncate = { type: 'conversation.item.truncate', item_id: 'item_mine', content_index: 0 } as const;
  under.send({ ...truncate, audio_end_ms: ms + 1000 });
  assert.match(under.last('error').error.message, /the item has only \d+ ms of sound/);
  for (const content_index of [1, -1, 0.5, '0', null, undefined]) {
    under.raw(JSON.stringify({ ...truncate, content_index, audio_end_ms: ms / 2 }));
    const { code, param, message } = under.last('error').error;
    assert.deepEqual([code, param], ['invalid_value', 'content_index']);
    assert.match(message, /"?content_index"? must be 0/);
  }
  assert.equal(under.all('conversation.item.truncated').length, 0);
  under.send({ ...truncate, audio_end_ms: ms / 2 });
  under.send({ type: 'conversation.item.retrieve', item_id: 'item_mine' });
  const { item } = under.last('conversation.item.retrieved');
  assert.ok(item.type === 'message');
  assert.deepEqual(item.content, [{ type: 'output_audio', transcript: 'One two' }]);
});

test('what the caller says is dropped when the client clears the input', () => {
  const under = openRealtime(calls);
  under.begins();
  under.pass(1000);
  under.send({ type: 'input_audio_buffer.clear' });
  under.pass(20);
  assert.ok(under.hearing.asked.includes('endTurn'));
  under.hearing.report({ type: 'speech.stopped', atMs: under.time.now(), durationMs: 1000 });
  const atMs = under.time.now();
  under.hearing.report({
    type: 'turn.ended',
    atMs,
    startedMs: atMs - 1000,
    speechMs: 1000,
    reason: 'client',
  });
  under.text('Never mind.');
  assert.equal(under.all('input_audio_buffer.cleared').length, 1);
  assert.equal(under.all('input_audio_buffer.speech_stopped').length, 1);
  assert.equal(under.all('input_audio_buffer.committed').length, 0);
  assert.equal(under.all('conversation.item.input_audio_transcription.completed').length, 0);
  under.says('Hello?');
  assert.equal(under.all('conversation.item.input_audio_transcription.completed').length, 1);
});

test('a key is told with its second, and a silent caller after the idle time', async () => {
  const under = openRealtime(calls);
  under.call.pressed('5');
  const { event, received_at: at } = under.last('input_audio_buffer.dtmf_event_received');
  assert.deepEqual([event, at], ['5', 1_700_000_000]);
  const turn_detection = { type: 'server_vad', create_response: false, idle_timeout_ms: 6000 } as const;
  under.send({ type: 'session.update', session: { type: 'realtime', audio: { input: { turn_detection } } } });
  assert.ok(under.hearing.asked.includes('awaitInput'));
  under.pass(6000);
  under.hearing.report({ type: 'no_input', atMs: under.time.now() });
  const idle = under.last('input_audio_buffer.timeout_triggered');
  assert.deepEqual([idle.audio_start_ms, idle.audio_end_ms], [0, 6000]);
  assert.equal(under.last('input_audio_buffer.committed').item_id, idle.item_id);
});

test('items are placed, deleted, and refused by name', () => {
  const under = openRealtime(calls);
  under.send(user('A'));
  const first = under.last('conversation.item.added').item.id ?? '';
  under.send({ ...user('B'), previous_item_id: 'root' } as ReturnType<typeof user>);
  assert.equal(under.last('conversation.item.added').previous_item_id, null);
  under.send({ type: 'conversation.item.delete', item_id: first });
  assert.equal(under.last('conversation.item.deleted').item_id, first);
  under.send({ type: 'conversation.item.delete', item_id: first });
  assert.deepEqual(
    [under.last('error').error.code, under.last('error').error.param],
    ['not_found', 'item_id'],
  );
  under.send(assistant('x', 'taken'));
  under.send(assistant('y', 'taken'));
  assert.equal(under.last('error').error.code, 'exists');
});

test('settings hold for what is spoken next: voice, pace, language and interruptions', async () => {
  const under = openRealtime(calls, { session: { type: 'realtime', audio: { output: { voice: 'marin' } } } });
  const { session: before } = under.last('session.created');
  assert.ok(before.type === 'realtime' && before.audio?.output?.voice === 'marin');
  const input = {
    turn_detection: { type: 'server_vad', interrupt_response: false, silence_duration_ms: 900 },
  };
  const session = { type: 'realtime', audio: { output: { speed: 2, language: 'en' }, input } };
  under.raw(JSON.stringify({ type: 'session.update', session }));
  const { session: after } = under.last('session.updated');
  assert.ok(after.type === 'realtime');
  assert.deepEqual([after.audio?.output?.voice, after.audio?.output?.speed], ['marin', 2]);
  const changed = under.hearing.asked.findLast((asked) => Array.isArray(asked) && asked[0] === 'change');
  assert.deepEqual(changed, ['change', { ...fixedSilence(900), endedByHand: false }]);
  under.say(TEXT);
  await under.told('output_audio_buffer.started');
  assert.deepEqual(under.hearing.tracks, []);
});

test('speed changes the length of what is spoken', async () => {
  const length = async (speed: number) => {
    const under = openRealtime(calls);
    under.send({ type: 'session.update', session: { type: 'realtime', audio: { output: { speed } } } });
    under.say(TEXT);
    await under.told('output_audio_buffer.stopped');
    const spoken = under.events.find((event) => event.type === 'utterance.spoken');
    return spoken?.type === 'utterance.spoken' ? spoken.durationMs : assert.fail('nothing was spoken');
  };
  const [usual, fast] = [await length(1), await length(2)];
  assert.ok(Math.abs(fast - usual / 2) < usual / 10, `${usual} ${fast}`);
});

test('a wrong update changes nothing and names its field', () => {
  const under = openRealtime(calls);
  for (const [session, message] of [
    [{ audio: { output: { voice: 'nobody', speed: 2 } } }, /there is no voice "nobody"/],
    [{ audio: { output: { speed: 9 } } }, /"speed" must be a number from 0.25 to 4/],
    [{ voice: 'marin' }, /"session.voice" is a field of the beta: use audio.output.voice/],
    [{ type: 'transcription' }, /must be "realtime"/],
    [{ audio: { input: { turn_detection: 'none' } } }, /"turn_detection" must be an object/],
    [
      { audio: { input: { turn_detection: { type: 'server_vad', create_response: true } } } },
      /no agent talks/,
    ],
    [{ tools: [{ type: 'mcp' }] }, /"tools.type" must be "function"/],
    [{ output_modalities: ['smell'] }, /must be \["audio"\] or \["text"\]/],
  ] as const) {
    under.raw(JSON.stringify({ type: 'session.update', session }));
    assert.match(under.last('error').error.message, message);
  }
  assert.equal(under.all('session.updated').length, 0);
});

test('bad messages are errors with the id of their event, and the session goes on', async () => {
  const under = openRealtime(calls);
  for (const [data, code, message] of [
    ['{"type":', 'malformed', /must be JSON/],
    ['[]', 'malformed', /must be a JSON object/],
    [Buffer.from('{}'), 'malformed', /must be text, not binary/],
    [JSON.stringify({ type: 'x'.repeat(70_000) }), 'malformed', /longer than 65536 bytes/],
    ['{"type":"dance"}', 'invalid_value', /"type" must be one of session.update/],
    ['{"type":"input_audio_buffer.append","audio":""}', 'invalid_value', /the sound comes over RTP/],
    ['{"type":"conversation.item.create"}', 'invalid_value', /"item" must be an object/],
    [
      '{"type":"conversation.item.create","item":{"type":"message","role":"user"}}',
      'invalid_value',
      /content/,
    ],
    ['{"type":"response.create","response":{"metadata":{"a":1}}}', 'invalid_value', /metadata/],
    ['{"type":"response.create","response":{"input":{}}}', 'invalid_value', /"input" must be a list/],
  ] as const) {
    under.raw(data);
    const { error } = under.last('error');
    assert.equal(error.code, code);
    assert.match(error.message, message);
  }
  under.raw('{"type":"dance","event_id":"e1"}');
  assert.equal(under.last('error').error.event_id, 'e1');
  under.say('Good morning.');
  await under.told('output_audio_buffer.stopped');
});

test('more texts than may wait are refused by name', () => {
  const under = openRealtime(calls);
  for (let count = 0; count < 5; count++) under.say(`Sentence ${count}.`);
  assert.deepEqual(
    under.all('error').map(({ error }) => error.code),
    ['queue_full'],
  );
  assert.equal(under.all('response.created').length, 4);
});

test('without a recogniser the session says that no turns are found, and still speaks', async () => {
  const under = openRealtime(calls, { isCallerRecognised: false });
  const { session } = under.last('session.created');
  assert.ok(session.type === 'realtime');
  assert.deepEqual([session.audio?.input?.turn_detection, session.audio?.input?.transcription], [null, null]);
  under.say('Good morning.');
  await under.told('output_audio_buffer.stopped');
});

test('an application of ConversationRelay cannot be steered: the session says so and goes on', async () => {
  const under = openRealtime(calls, { isRelay: true });
  assert.deepEqual(under.types(), ['session.created', 'error']);
  under.say('Good morning.');
  await under.told('output_audio_buffer.stopped');
});

test('nothing is told after the end of the call', async () => {
  const under = openRealtime(calls);
  under.say(TEXT);
  under.types();
  await under.call.close('caller hung up');
  under.talk.close();
  under.say('More.');
  const late = under.types().filter((type) => type !== 'error');
  assert.ok(!late.includes('response.created'), late.join());
});

test('no value of a field ends the session', async () => {
  const under = openRealtime(calls);
  const values = [null, true, -1, 1e99, '', 'x', [], [null], {}, { type: 'message' }, [{ type: 'function' }]];
  const shapes = [
    (value: unknown) => ({ type: 'session.update', session: value }),
    (value: unknown) => ({ type: 'session.update', session: { audio: value, tools: value } }),
    (value: unknown) => ({ type: 'session.update', session: { audio: { input: value, output: value } } }),
    (value: unknown) => ({
      type: 'session.update',
      session: { audio: { input: { turn_detection: value } } },
    }),
    (value: unknown) => ({ type: 'conversation.item.create', item: value }),
    (value: unknown) => ({ type: 'conversation.item.create', item: { type: 'function_call', name: value } }),
    (value: unknown) => ({ type: 'conversation.item.create', previous_item_id: value, item: value }),
    (value: unknown) => ({ type: 'conversation.item.retrieve', item_id: value }),
    (value: unknown) => ({
      type: 'conversation.item.truncate',
      item_id: 'x',
      content_index: 0,
      audio_end_ms: value,
    }),
    (value: unknown) => ({
      type: 'conversation.item.truncate',
      item_id: 'x',
      content_index: value,
      audio_end_ms: 0,
    }),
    (value: unknown) => ({ type: 'response.create', response: value }),
    (value: unknown) => ({ type: 'response.create', response: { input: value, metadata: value } }),
    (value: unknown) => ({ type: 'response.create', response: { input: [value], audio: value } }),
    (value: unknown) => ({ type: 'response.cancel', response_id: value, event_id: value }),
    (value: unknown) => ({ type: value }),
  ];
  for (const shape of shapes) for (const value of values) under.raw(JSON.stringify(shape(value)));
  const codes = new Set(under.all('error').map(({ error }) => error.code));
  assert.ok(!codes.has('wrong_state'), [...codes].join());
  under.say('Good morning.');
  await under.told('output_audio_buffer.stopped');
  assert.deepEqual(under.engine.begun.at(-1), 'Good morning.');
});
