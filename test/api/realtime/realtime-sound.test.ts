// OpenAI's Realtime events where the sound goes in events, too: over WebSocket.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RealtimeSound, USUAL_FORMATS } from '../../../src/api/realtime/realtime-sound.js';
import { until } from '../../fakes/until.js';
import { openCalls } from '../../fakes/call-under-test.js';
import { openRealtime, type RealtimeUnderTest } from './open-realtime.js';

const calls = openCalls();
const TEXT = 'Good morning.';
const LONG_TEXT = 'This is a long answer that goes on for a while, and then for a while longer.';
const PCM_SILENCE = Buffer.alloc(960);
const PCMU_SILENCE = Buffer.alloc(160, 0xff);

function deltas(under: RealtimeUnderTest): Buffer[] {
  return under.all('response.output_audio.delta').map(({ delta }) => Buffer.from(delta, 'base64'));
}

test('a response has its sound between its beginning and its end', async () => {
  const under = openRealtime(calls, { isSocket: true });
  under.types();
  under.say(TEXT, 'item_mine');
  await under.told('response.done');
  const types = under.types();
  const first = types.indexOf('response.output_audio.delta');
  const last = types.lastIndexOf('response.output_audio.delta');
  assert.deepEqual(types.slice(0, first), [
    'conversation.item.added',
    'conversation.item.created',
    'conversation.item.done',
    'response.created',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_audio_transcript.delta',
  ]);
  assert.deepEqual(types.slice(last + 1), [
    'response.output_audio.done',
    'response.output_audio_transcript.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.done',
  ]);
  assert.ok(types.slice(first, last).every((type) => type === 'response.output_audio.delta'));
  const { item_id, response_id, output_index, content_index } = under.last('response.output_audio.delta');
  const { response } = under.last('response.done');
  assert.deepEqual([item_id, response_id, output_index, content_index], ['item_mine', response.id, 0, 0]);
});

test('the sound is what was spoken, and nothing else', async () => {
  const under = openRealtime(calls, { isSocket: true });
  under.pass(500);
  assert.deepEqual(deltas(under), []);
  under.say(TEXT);
  await until(() => under.call.stats().queuedMs === 20 * TEXT.length);
  await under.told('response.done');
  const sound = deltas(under);
  assert.ok(sound.length >= TEXT.length && sound.every(({ length }) => length === 960));
  // The end of the text may come from the encoder's thread after its last frame has left.
  const isSilent = sound.map((frame) => frame.equals(PCM_SILENCE));
  assert.deepEqual(
    isSilent,
    isSilent.map((_, n) => n >= TEXT.length),
  );
  const count = sound.length;
  under.pass(500);
  assert.equal(deltas(under).length, count);
});

test('a caller who interrupts ends the sound at once, and the item is told to be cut', async () => {
  const under = openRealtime(calls, { isSocket: true, agent: {} });
  under.say(LONG_TEXT);
  await under.queued(LONG_TEXT);
  under.pass(400);
  under.interrupts();
  const count = deltas(under).length;
  under.pass(400);
  assert.ok(deltas(under).length <= count + 1);
  assert.equal(under.all('response.output_audio.done').length, 1);
  assert.equal(under.all('response.done').length, 1);
  const { audio_end_ms } = under.last('conversation.item.truncated');
  assert.ok(Math.abs(audio_end_ms - 20 * count) <= 40, `${audio_end_ms} ms of ${count} frames`);
});

test('a response that was written and is still heard can be cancelled, until it is done', async () => {
  const under = openRealtime(calls, { isSocket: true });
  under.say(TEXT, 'item_mine');
  await under.told('response.output_audio.delta');
  const { response } = under.last('response.created');
  under.send({ type: 'response.cancel', response_id: 'resp_other' });
  assert.equal(under.last('error').error.code, 'response_cancel_not_active');
  under.send({ type: 'response.cancel', response_id: response.id ?? '' });
  assert.equal(under.all('error').length, 1);
  assert.deepEqual(under.types().slice(-6), [
    'conversation.item.truncated',
    'response.output_audio.done',
    'response.output_audio_transcript.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.done',
  ]);
  under.send({ type: 'response.cancel' });
  assert.equal(under.last('error').error.code, 'response_cancel_not_active');
});

for (const [what, act, reason] of [
  [
    'the client cancels',
    (under: RealtimeUnderTest) => under.send({ type: 'response.cancel' }),
    'client_cancelled',
  ],
  [
    'the client clears',
    (under: RealtimeUnderTest) => under.send({ type: 'output_audio_buffer.clear' }),
    'client_cancelled',
  ],
  ['the caller interrupts', (under: RealtimeUnderTest) => under.interrupts(), 'turn_detected'],
] as const) {
  test(`a response that ${what} in the middle of its sound is done as cancelled, and says why`, async () => {
    const under = openRealtime(calls, { isSocket: true, agent: {} });
    under.say(LONG_TEXT, 'item_mine');
    await under.queued(LONG_TEXT);
    under.pass(400);
    assert.equal(under.all('response.done').length, 0);
    act(under);
    const [done, ...more] = under.all('response.done');
    assert.deepEqual(more, []);
    const { status, status_details, output } = done?.response ?? {};
    assert.deepEqual([status, status_details], ['cancelled', { type: 'cancelled', reason }]);
    const [item] = output ?? [];
    assert.ok(item?.type === 'message' && item.status === 'incomplete');
    assert.equal(under.all('error').length, 0);
  });
}

test('a response whose voice fails in the middle of its sound is done as failed', async () => {
  const under = openRealtime(calls, { isSocket: true });
  under.engine.failing.add(LONG_TEXT);
  under.say(LONG_TEXT);
  await under.told('response.done');
  const [done, ...more] = under.all('response.done');
  assert.deepEqual(more, []);
  const { status, status_details } = done?.response ?? {};
  assert.deepEqual(
    [status, status_details],
    ['failed', { type: 'failed', error: { type: 'server_error', code: 'engine_failed' } }],
  );
});

test('a response that is heard to its end is done as completed, without details', async () => {
  const under = openRealtime(calls, { isSocket: true });
  under.say(TEXT);
  await under.told('response.done');
  const { status, status_details } = under.last('response.done').response;
  assert.deepEqual([status, status_details], ['completed', null]);
  under.send({ type: 'response.cancel' });
  assert.equal(under.last('error').error.code, 'response_cancel_not_active');
});

test('the session tells its formats, and another one holds at once', async () => {
  const under = openRealtime(calls, { isSocket: true });
  const { session } = under.last('session.created');
  assert.ok(session.type === 'realtime');
  assert.deepEqual(session.audio?.input?.format, { type: 'audio/pcm', rate: 24_000 });
  under.send({
    type: 'session.update',
    session: {
      type: 'realtime',
      audio: { input: { format: { type: 'audio/pcma' } }, output: { format: { type: 'audio/pcmu' } } },
    },
  });
  const { session: updated } = under.last('session.updated');
  assert.ok(updated.type === 'realtime');
  assert.deepEqual(updated.audio?.input?.format, { type: 'audio/pcma' });
  assert.deepEqual(updated.audio?.output?.format, { type: 'audio/pcmu' });
  assert.equal(under.call.codec.name, 'PCMU');
  under.say(TEXT);
  await under.told('response.done');
  const sound = deltas(under);
  assert.ok(sound.every(({ length }) => length === 160));
  assert.ok(sound.some((frame) => !frame.equals(PCMU_SILENCE)));
});

for (const [what, format, message] of [
  ['an unknown format', { type: 'audio/opus' }, /audio\.input\.format\.type/],
  ['another rate', { type: 'audio/pcm', rate: 16_000 }, /rate/],
] as const) {
  test(`${what} is refused, and nothing is changed`, () => {
    const under = openRealtime(calls, { isSocket: true });
    const session = { type: 'realtime', audio: { input: { format } } };
    under.raw(JSON.stringify({ type: 'session.update', session }));
    const { error } = under.last('error');
    assert.equal(error.code, 'invalid_value');
    assert.match(`${error.param ?? ''} ${error.message}`, message);
    assert.equal(under.all('session.updated').length, 0);
  });
}

test('the sound of the client reaches the listeners of the call', () => {
  const under = openRealtime(calls, { isSocket: true });
  const { socket = assert.fail() } = under.port;
  for (let n = 0; n < 10; n++) {
    under.send({ type: 'input_audio_buffer.append', audio: Buffer.alloc(1920, n).toString('base64') });
    under.pass(40);
  }
  assert.ok(socket.stats().packets >= 18);
});

test('sound that is none is refused, and the conversation goes on', () => {
  const under = openRealtime(calls, { isSocket: true });
  for (const audio of ['not base64!', 'AAAA', 17, undefined]) {
    under.raw(JSON.stringify({ type: 'input_audio_buffer.append', audio }));
    assert.equal(under.last('error').error.param, 'audio');
  }
  under.raw(JSON.stringify({ type: 'input_audio_buffer.commit' }));
  assert.equal(under.last('error').error.code, 'input_audio_buffer_commit_empty');
  assert.equal(under.all('error').length, 5);
});

test('more than a minute of sound does not wait, and can be cleared', () => {
  const under = openRealtime(calls, { isSocket: true });
  const seconds = {
    type: 'input_audio_buffer.append',
    audio: Buffer.alloc(480_000).toString('base64'),
  } as const;
  for (let n = 0; n < 7; n++) under.send(seconds);
  assert.equal(under.last('error').error.code, 'queue_full');
  under.send({ type: 'input_audio_buffer.clear' });
  under.types();
  under.send(seconds);
  assert.deepEqual(under.types(), []);
});

test('what waits for sound that does not come is written, after the sound that does', () => {
  const written: string[] = [];
  const sound = new RealtimeSound({
    call: {
      formats: USUAL_FORMATS,
      receive: () => undefined,
      drop: () => undefined,
      change: () => undefined,
    },
    write: ({ type }) => void written.push(type),
    send: ({ type }) => void written.push(type),
  });
  const [first, second] = [{ id: 'item_1' }, { id: 'item_2' }];
  const sounds = new Map([
    [1, { item: first }],
    [2, { item: second }],
  ]);
  const response = { id: 'resp_1', sounds, outputs: [{ item: first }, { item: second }] };
  const outputs = [first, second].map((item, index) => ({ response, item, index }));
  response.outputs = outputs;
  const tell = (event: object) => sound.tell(event as unknown as Parameters<typeof sound.tell>[0]);
  tell({ type: 'sound.started', response, item: first });
  sounds.delete(1);
  for (const output of outputs) tell({ type: 'output.done', output, text: '' });
  tell({ type: 'response.done', response });
  assert.deepEqual(written, []);
  tell({ type: 'sound.cleared', response, item: first });
  assert.deepEqual(written.splice(0), ['response.output_audio.done', 'output.done']);
  sounds.delete(2); // it was queued, and never heard
  tell({ type: 'item.cut', item: second, heard: '', soundMs: 0 });
  assert.deepEqual(written, ['item.cut', 'output.done', 'response.done']);
});
