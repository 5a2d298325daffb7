import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../../src/errors.js';
import { until } from '../../fakes/until.js';
import { openMulti, settled } from './eleven-under-test.js';

const LIMIT =
  'Maximum simultaneous contexts per WebSocket connection exceeded (5). ' +
  'Please close an existing context before opening a new one.';

test('a context speaks the flushed text, and sends a final message once it is closed', async () => {
  const { peer, tell } = openMulti();
  tell(
    { text: ' ', context_id: 'a', voice_settings: { speed: 1 } },
    { text: 'One is here. ', context_id: 'a' },
    { context_id: 'a', flush: true },
  );
  await settled();
  assert.equal(peer.heard('a'), 'One is here. ');
  assert.equal(peer.isFinal('a'), false);
  tell({ context_id: 'a', close_context: true });
  assert.deepEqual(peer.messages.at(-1), { isFinal: true, contextId: 'a' });
  assert.equal(peer.closedWith, undefined);
});

test('every message of sound names its context and is not final', async () => {
  const { peer, tell } = openMulti();
  tell({ text: 'Hi you. ', context_id: 'a', flush: true });
  await settled();
  const alignment = { chars: ['H', 'i'], charStartTimesMs: [0, 65], charDurationsMs: [65, 65] };
  assert.deepEqual(peer.messages[0], {
    audio: Buffer.alloc(130 * 16, 1).toString('base64'),
    isFinal: false,
    normalizedAlignment: alignment,
    alignment,
    contextId: 'a',
  });
});

test('a close after a flush lets it be spoken to its end', async () => {
  const { peer, tell, speaker } = openMulti({ prepare: (held) => held.allow(3) });
  tell(
    { text: 'One is here. Two is there. ', context_id: 'a' },
    { text: '', context_id: 'a', flush: true },
    { context_id: 'a', close_context: true },
  );
  await settled();
  assert.equal(peer.isFinal('a'), false);
  speaker.allow(Infinity);
  await until(() => peer.isFinal('a'));
  assert.equal(peer.heard('a'), 'One is here. Two is there. ');
  assert.deepEqual(peer.messages.at(-1), { isFinal: true, contextId: 'a' });
});

test('a close drops what was not flushed, with and without something that was', async () => {
  const { peer, tell, speaker } = openMulti({ prepare: (held) => held.allow(3) });
  tell(
    { text: 'One is here. ', context_id: 'a', flush: true },
    { text: 'Two is there. ', context_id: 'a', try_trigger_generation: true },
    { context_id: 'a', close_context: true },
    { text: 'Three is nowhere. ', context_id: 'b' },
    { context_id: 'b', close_context: true },
  );
  assert.equal(peer.isFinal('b'), true);
  speaker.allow(Infinity);
  await until(() => peer.isFinal('a'));
  assert.equal(peer.heard('a'), 'One is here. ');
  assert.equal(peer.heard('b'), '');
});

test('a context that is closed while it speaks stops at once, and its sound with it', async () => {
  const { peer, tell, speaker } = openMulti({
    query: 'output_format=pcm_8000&auto_mode=true',
    prepare: (held) => held.allow(10),
  });
  tell({ text: 'This is a sentence of some length. ', context_id: 'a' });
  await settled();
  const before = peer.sounds('a').length;
  assert.ok(before > 0);
  tell({ context_id: 'a', close_context: true });
  assert.deepEqual(peer.messages.at(-1), { isFinal: true, contextId: 'a' });
  speaker.allow(Infinity);
  await settled();
  assert.equal(peer.sounds('a').length, before);
  assert.equal(speaker.calls[0]?.aborted, true);
});

test('a second close stops even what was flushed', async () => {
  const { peer, tell } = openMulti({ prepare: (held) => held.allow(10) });
  tell({ text: 'This is a sentence of some length. ', context_id: 'a', flush: true });
  tell({ context_id: 'a', close_context: true });
  await settled();
  assert.equal(peer.isFinal('a'), false);
  tell({ context_id: 'a', close_context: true });
  assert.equal(peer.isFinal('a'), true);
});

for (const flush of [false, true]) {
  const what = flush ? 'of sentences that are flushed one by one' : 'of sentences that come by auto_mode';
  test(`ten interruptions ${what} exhaust nothing, whatever is still under way`, async () => {
    const { peer, tell, speaker, time } = openMulti({
      query: 'output_format=pcm_8000&auto_mode=true',
      prepare: (held) => held.allow(5),
    });
    for (let turn = 0; turn < 10; turn++) {
      const context_id = `turn-${turn}`;
      tell({ text: ' ', context_id, voice_settings: {} });
      for (let sentence = 0; sentence < 3; sentence++) {
        tell({ text: 'This is a sentence of some length. ', context_id, flush });
      }
      speaker.allow(15);
      await settled();
      assert.ok(peer.sounds(context_id).length > 0 || flush, `${context_id} is heard`);
      tell({ context_id, close_context: true });
      time.advance(6000);
    }
    tell({ text: 'At last it is said. ', context_id: 'last', flush: true });
    speaker.allow(Infinity);
    await until(() => peer.heard('last') === 'At last it is said. ');
    await settled();
    assert.equal(peer.closedWith, undefined);
    for (let turn = 0; turn < 10; turn++) assert.ok(peer.isFinal(`turn-${turn}`));
  });
}

test('a sixth open context closes the socket in ElevenLabs’ words', async () => {
  const { peer, tell } = openMulti();
  for (const context_id of ['a', 'b', 'c', 'd', 'e']) tell({ text: ' ', context_id });
  assert.equal(peer.closedWith, undefined);
  tell({ text: ' ', context_id: 'f' });
  assert.deepEqual(peer.messages, [{ message: LIMIT, error: 'max_active_conversations', code: 1008 }]);
  assert.deepEqual(peer.closedWith, [1008, LIMIT.slice(0, 123)]);
});

test('a context that is closed makes room for another one', () => {
  const { peer, tell } = openMulti();
  for (let turn = 0; turn < 100; turn++) {
    tell({ text: ' ', context_id: `${turn}` });
    if (turn >= 4) tell({ context_id: `${turn - 4}`, close_context: true });
  }
  assert.equal(peer.closedWith, undefined);
});

test('contexts that were closed and still speak are limited, too', async () => {
  const { peer, tell } = openMulti({ prepare: (held) => held.allow(0) });
  for (let turn = 0; turn < 17; turn++) {
    assert.equal(peer.closedWith, undefined);
    tell(
      { text: 'One. ', context_id: `${turn}`, flush: true },
      { context_id: `${turn}`, close_context: true },
    );
  }
  assert.equal(peer.closedWith?.[0], 1008);
});

test('keep-alives, flushes and closes of contexts that are not there open none', () => {
  const { peer, tell } = openMulti();
  for (let turn = 0; turn < 10; turn++) {
    tell({ text: '', context_id: `x${turn}` }, { context_id: `y${turn}`, flush: true });
    tell({ context_id: `z${turn}`, close_context: true }, { text: '' });
  }
  assert.equal(peer.closedWith, undefined);
  assert.deepEqual(peer.messages, []);
});

test('contexts speak side by side, each in its own order', async () => {
  const { peer, tell } = openMulti();
  for (const context_id of ['a', 'b', 'c']) {
    tell({ text: `One is ${context_id}. Two is ${context_id}. `, context_id, flush: true });
  }
  await settled();
  for (const id of ['a', 'b', 'c']) assert.equal(peer.heard(id), `One is ${id}. Two is ${id}. `);
  const ids = peer.messages.slice(0, 9).map(({ contextId }) => contextId);
  assert.equal(new Set(ids).size, 3);
});

test('an id is used again after a close, and is heard after what was still to be said under it', async () => {
  const { peer, tell, speaker } = openMulti({ prepare: (held) => held.allow(3) });
  tell({ text: 'One is here. ', context_id: 'a', flush: true }, { context_id: 'a', close_context: true });
  tell({ text: 'Two is there. ', context_id: 'a', flush: true });
  await settled();
  speaker.allow(Infinity);
  await until(() => peer.heard('a').includes('there.'));
  await settled();
  assert.equal(peer.heard('a'), 'One is here. Two is there. ');
  const final = peer.messages.findIndex(({ isFinal }) => isFinal === true);
  const second = peer.messages.findIndex(({ alignment }) => alignment?.chars.includes('T'));
  assert.ok(final < second);
});

test('messages without an id belong to a context without one', async () => {
  const { peer, tell } = openMulti();
  tell({ text: ' ' }, { text: 'One. ', flush: true });
  await settled();
  assert.equal(peer.heard(undefined), 'One. ');
  tell({ close_context: true });
  assert.deepEqual(peer.messages.at(-1), { isFinal: true });
});

test('close_socket has everything spoken, tells each context as final and closes', async () => {
  const { peer, tell, speaker } = openMulti({ prepare: (held) => held.allow(1) });
  tell({ text: 'One is here. ', context_id: 'a', flush: true }, { text: 'Two is there. ', context_id: 'b' });
  tell({ close_socket: true }, { text: 'Three. ', context_id: 'c', flush: true });
  await settled();
  assert.equal(peer.closedWith, undefined);
  speaker.allow(Infinity);
  await until(() => peer.closedWith !== undefined);
  assert.equal(peer.heard('a'), 'One is here. ');
  assert.equal(peer.heard('b'), 'Two is there. ');
  assert.ok(peer.isFinal('a') && peer.isFinal('b'));
  assert.deepEqual(peer.sounds('c'), []);
  assert.deepEqual(peer.closedWith, [1000, '']);
});

test('close_socket with nothing to say closes at once', () => {
  const { peer, tell } = openMulti();
  tell({ close_socket: true });
  assert.deepEqual(peer.closedWith, [1000, '']);
});

test('a failing engine is reported under its context, which is over; the others speak on', async () => {
  const { peer, tell, speaker, failures } = openMulti();
  tell({ text: 'One. ', context_id: 'a', flush: true });
  await settled();
  speaker.failure = new ParleyError('ENGINE_BUSY', 'too many wait', { retryAfterSeconds: 1 });
  tell({ text: 'Two. ', context_id: 'b', flush: true });
  await until(() => peer.isFinal('b'));
  speaker.failure = undefined;
  tell({ text: 'Three. ', context_id: 'a', flush: true });
  await settled();
  assert.equal(peer.heard('a'), 'One. Three. ');
  const refusal = peer.messages.find(({ error }) => error !== undefined);
  assert.deepEqual(refusal, { message: 'too many wait', error: 'system_busy', code: 1013, contextId: 'b' });
  assert.deepEqual(failures, []);
});

test('too much text that waits is refused by name, and ends the context', async () => {
  const { peer, tell } = openMulti({ prepare: (held) => held.allow(0) });
  for (let turn = 0; turn < 5; turn++) tell({ text: 'word '.repeat(2000), context_id: 'a' });
  await settled();
  assert.deepEqual(peer.messages, [
    {
      message: 'more than 40000 characters of text wait to be spoken',
      error: 'max_character_limit_exceeded',
      code: 1008,
      contextId: 'a',
    },
    { isFinal: true, contextId: 'a' },
  ]);
  assert.equal(peer.closedWith, undefined);
});

test('too many flushes that wait are refused by name, too', async () => {
  const { peer, tell } = openMulti({ prepare: (held) => held.allow(0) });
  for (let turn = 0; turn < 257; turn++) tell({ text: 'One. ', context_id: 'a', flush: true });
  await settled();
  assert.deepEqual(
    peer.messages.map(({ error, isFinal }) => error ?? isFinal),
    ['system_busy', true],
  );
});

test('a context without messages is over after the timeout, and its text is not dropped in silence', () => {
  const { peer, tell, time } = openMulti({ query: 'output_format=pcm_8000&inactivity_timeout=30' });
  tell({ text: ' ', context_id: 'a' }, { text: 'One ', context_id: 'b' }, { text: ' ', context_id: 'c' });
  time.advance(29_000);
  tell({ text: '', context_id: 'c' });
  time.advance(1000);
  assert.deepEqual(
    peer.messages.map(({ error, isFinal, contextId }) => error ?? `${contextId} ${isFinal}`),
    ['a true', 'input_timeout_exceeded', 'b true'],
  );
  time.advance(29_000);
  assert.ok(peer.isFinal('c'));
  assert.equal(peer.closedWith, undefined);
});

test('a socket without messages is closed after the timeout; one without an id keeps it', async () => {
  const { peer, tell, time, conversation } = openMulti();
  for (let turn = 0; turn < 10; turn++) {
    time.advance(19_999);
    tell({ text: '' });
  }
  time.advance(19_999);
  assert.equal(peer.closedWith, undefined);
  time.advance(1);
  assert.equal(peer.messages[0]?.error, 'input_timeout_exceeded');
  assert.equal(peer.closedWith?.[0], 1008);
  await conversation.closed();
  assert.equal(time.waiting, 0);
});

test('a socket that goes stops every context and leaves no timer', async () => {
  const { peer, tell, time, speaker, conversation } = openMulti({ prepare: (held) => held.allow(9) });
  for (const context_id of ['a', 'b', 'c']) {
    tell({ text: 'This is a sentence of some length. ', context_id, flush: true });
  }
  tell({ context_id: 'a', close_context: true });
  await settled();
  const before = peer.messages.length;
  peer.close(1001, 'gone');
  await conversation.closed();
  await settled();
  assert.equal(peer.messages.length, before);
  assert.equal(time.waiting, 0);
  assert.ok(speaker.sounds.every(({ cancelled }) => cancelled));
});

test('the key of the first message is asked once for the socket', async () => {
  const { peer, tell } = openMulti({ authorize: (key) => key === 'secret' });
  tell(
    { text: ' ', context_id: 'a', 'xi-api-key': 'secret' },
    { text: 'One. ', context_id: 'b', flush: true },
  );
  await settled();
  assert.equal(peer.heard('b'), 'One. ');
  const stranger = openMulti({ authorize: () => false });
  stranger.tell({ text: ' ', context_id: 'a', xi_api_key: 'guess' });
  assert.equal(stranger.peer.messages[0]?.error, 'invalid_api_key');
  assert.equal(stranger.peer.closedWith?.[0], 1008);
});

test('an id of the file stands for its voice, and another one is the name of a voice', async () => {
  const voices = new Map([['21m00Tcm4TlvDq8ikWAM', 'vivian']]);
  for (const [voiceId, voice] of [
    ['21m00Tcm4TlvDq8ikWAM', 'vivian'],
    ['slt', 'slt'],
  ] as const) {
    const { tell, speaker } = openMulti({ voiceId, voices });
    tell({ context_id: 'a', text: 'Hello there. ' }, { context_id: 'a', flush: true });
    await until(() => speaker.calls.length === 1);
    assert.equal(speaker.calls[0]?.settings.voice, voice);
  }
});
