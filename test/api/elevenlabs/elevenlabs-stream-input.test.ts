import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../../src/errors.js';
import { until } from '../../fakes/until.js';
import { openStreamInput, settled } from './eleven-under-test.js';
import { MS_PER_CHAR } from '../scripted-speaker.js';

const BYTES_PER_MS = 16; // pcm_8000
const LONG = 'This sentence is long enough. '; // 30 characters

test('a text that ends becomes sound with its characters, a space, the final message and a close', async () => {
  const { peer, tell } = openStreamInput();
  tell({ text: ' ', voice_settings: { stability: 0.5 } }, { text: 'Hello there. ' }, { text: '' });
  await until(() => peer.closedWith !== undefined);
  assert.equal(peer.heard(), 'Hello there. ');
  assert.equal(peer.bytes(), 'Hello there.'.length * MS_PER_CHAR * BYTES_PER_MS);
  assert.deepEqual(peer.messages.at(-2), {
    audio: '',
    isFinal: null,
    normalizedAlignment: { chars: [' '], charStartTimesMs: [0], charDurationsMs: [0] },
    alignment: { chars: [' '], charStartTimesMs: [0], charDurationsMs: [0] },
  });
  assert.deepEqual(peer.messages.at(-1), {
    audio: null,
    isFinal: true,
    normalizedAlignment: null,
    alignment: null,
  });
  assert.deepEqual(peer.closedWith, [1000, '']);
});

test('the first message of sound, byte for byte', async () => {
  const { peer, tell } = openStreamInput();
  tell({ text: 'Hi you. ' }, { text: '' });
  await until(() => peer.closedWith !== undefined);
  const [first] = peer.messages;
  // "Hi" is estimated at 130 ms, where the next word begins.
  const alignment = { chars: ['H', 'i'], charStartTimesMs: [0, 65], charDurationsMs: [65, 65] };
  assert.deepEqual(first, {
    audio: Buffer.alloc(130 * BYTES_PER_MS, 1).toString('base64'),
    isFinal: null,
    normalizedAlignment: alignment,
    alignment,
  });
});

test('the sentences of a text come in order, each after its pause, which is a space', async () => {
  const { peer, tell, speaker } = openStreamInput();
  tell({ text: 'One is here. Two is there. ' }, { text: '' });
  await until(() => peer.closedWith !== undefined);
  assert.equal(peer.heard(), 'One is here. Two is there. ');
  assert.equal(peer.bytes(), ('One is here.Two is there.'.length * MS_PER_CHAR + 160) * BYTES_PER_MS);
  assert.deepEqual(
    speaker.calls.map(({ sentences }) => sentences),
    [['One is here.', 'Two is there.']],
  );
});

test('text waits for the schedule: nothing at 119 characters, everything at 120, then 160 more', async () => {
  const { tell, speaker } = openStreamInput();
  tell({ text: ' ' }, { text: `${'A'.repeat(117)}. ` });
  await settled();
  assert.equal(speaker.calls.length, 0);
  tell({ text: 'B' });
  await settled();
  assert.equal(speaker.calls.length, 1); // up to the word that may go on
  tell({ text: `c d.${' x'.repeat(77)}` }); // 159 characters with the B
  await settled();
  assert.equal(speaker.calls[0]?.sentences.length, 0);
  tell({ text: ' ' });
  await settled();
  assert.deepEqual(
    speaker.calls[0]?.sentences.map((sentence) => sentence.slice(-3)),
    ['AA.'],
  );
});

test('a schedule of the client holds instead, and its last length for all that follow', async () => {
  const { tell, peer } = openStreamInput();
  tell({ text: ' ', generation_config: { chunk_length_schedule: [50, 60] } });
  tell({ text: LONG });
  await settled();
  assert.equal(peer.heard(), '');
  tell({ text: LONG }); // 60 characters
  await settled();
  assert.equal(peer.heard(), LONG.trim());
  tell({ text: LONG });
  await settled();
  assert.equal(peer.heard(), LONG.trim());
  tell({ text: LONG }); // 60 more
  await settled();
  assert.equal(peer.heard(), LONG.repeat(3).trim());
});

for (const how of [{ flush: true }, { try_trigger_generation: true }]) {
  test(`text does not wait with ${JSON.stringify(how)}`, async () => {
    const { tell, peer } = openStreamInput();
    tell({ text: ' ' }, { text: 'One is here. Two ', ...how });
    await settled();
    assert.equal(peer.heard().startsWith('One is here.'), true);
    assert.equal(peer.heard().includes('Two'), 'flush' in how);
    assert.equal(peer.closedWith, undefined);
  });
}

test('after a flush the socket speaks on', async () => {
  const { tell, peer, speaker } = openStreamInput();
  tell({ text: 'One is here. ', flush: true });
  await settled();
  assert.equal(peer.heard(), 'One is here. ');
  tell({ text: 'Two is there. ', flush: true });
  await settled();
  assert.equal(peer.heard(), 'One is here. Two is there. ');
  assert.deepEqual(
    speaker.calls.map(({ settings }) => settings.leadMs),
    [undefined, undefined],
  );
});

test('texts that are flushed close together are begun before they are due, and have a pause between them', async () => {
  const { tell, peer, speaker } = openStreamInput({ prepare: (held) => held.allow(2) });
  tell({ text: 'One is here. ', flush: true }, { text: 'Two is there. ', flush: true });
  await settled();
  assert.equal(peer.heard(), '');
  assert.deepEqual(
    speaker.calls.map(({ settings }) => settings.leadMs),
    [undefined, 160],
  );
  speaker.allow(Infinity);
  await settled();
  assert.equal(peer.heard(), 'One is here. Two is there. ');
});

test('with auto_mode a sentence is spoken as it comes', async () => {
  const { tell, peer } = openStreamInput({ query: 'output_format=pcm_8000&auto_mode=true' });
  tell({ text: ' ' }, { text: 'One is here. ' });
  await settled();
  assert.equal(peer.heard(), 'One is here. ');
  for (const token of ['Two', ' is', ' there', '.', ' And', ' so']) tell({ text: token });
  await settled();
  assert.equal(peer.heard(), 'One is here. Two is there.');
});

test('how to speak is what the address and the first message say', async () => {
  const query =
    'output_format=ulaw_8000&language_code=en&seed=7&model_id=eleven_flash_v2_5&inactivity_timeout=180';
  const { tell, peer, speaker } = openStreamInput({ query });
  tell({ text: ' ', voice_settings: { speed: 1.2, stability: 0.5 } }, { text: 'One. ', flush: true });
  await settled();
  assert.deepEqual(speaker.calls[0]?.settings, {
    voice: 'slt',
    language: 'en',
    container: 'ulaw',
    sampleRate: 8000,
    speed: 1.2,
    options: { seed: 7 },
    client: 'tester',
  });
  assert.equal(peer.closedWith, undefined);
});

test('a text of several times the longest one is spoken whole, in texts that end with a sentence', async () => {
  const { tell, peer, speaker } = openStreamInput({ maxTextLength: 200 });
  const text = LONG.repeat(40);
  tell({ text }, { text: '' });
  await until(() => peer.closedWith !== undefined);
  assert.equal(peer.heard(), text);
  assert.ok(speaker.calls.length > 5);
});

test('emoji alone are nothing to speak and no mistake', async () => {
  const { tell, peer } = openStreamInput();
  tell({ text: '🙂 ', flush: true }, { text: 'One. ', flush: true }, { text: '' });
  await until(() => peer.closedWith !== undefined);
  assert.equal(peer.heard(), 'One. ');
  assert.deepEqual(peer.closedWith, [1000, '']);
});

test('text after the end is refused with a message, and the text before it is spoken whole', async () => {
  for (const end of [{ text: '', flush: true }, { text: '' }]) {
    const { tell, peer } = openStreamInput();
    tell({ text: 'One is here. ' }, end, { text: 'Two. ', flush: true }, { text: ' ' }, { text: '' });
    await until(() => peer.closedWith !== undefined);
    assert.equal(peer.heard(), 'One is here. ');
    assert.deepEqual(peer.closedWith, [1000, '']);
    const refused = peer.messages.filter((message) => 'error' in message);
    assert.deepEqual(
      refused.map(({ error, code }) => ({ error, code })),
      [{ error: 'input_ended', code: 1008 }],
    );
  }
});

test('a text that ends before it began is over at once', () => {
  const { tell, peer } = openStreamInput();
  tell({ text: '' });
  assert.deepEqual(peer.messages, [
    { audio: null, isFinal: true, normalizedAlignment: null, alignment: null },
  ]);
  assert.deepEqual(peer.closedWith, [1000, '']);
});

test('a peer that reads slowly holds up its own sound', async () => {
  const { tell, peer } = openStreamInput();
  peer.stall();
  tell({ text: 'One is here and there. ', flush: true });
  await settled();
  assert.equal(peer.sounds().length, 1);
  peer.read();
  await settled();
  assert.equal(peer.heard(), 'One is here and there. ');
});

test('silence of the peer ends it as ElevenLabs does; spaces keep it', async () => {
  const { tell, peer, time, conversation } = openStreamInput();
  tell({ text: ' ' });
  for (let turn = 0; turn < 5; turn++) {
    time.advance(19_000);
    tell({ text: ' ' });
  }
  time.advance(19_999);
  assert.equal(peer.closedWith, undefined);
  time.advance(1);
  const message =
    'Have not received a new text input within the timeout of 20 seconds. Streaming input terminated. Please make ' +
    'sure to either feed the input in the timely manner, or to send the end of input text (empty string "") when done.';
  assert.deepEqual(peer.messages, [{ message, error: 'input_timeout_exceeded', code: 1008 }]);
  assert.deepEqual(peer.closedWith, [1008, message.slice(0, 123)]);
  await conversation.closed();
  assert.equal(time.waiting, 0);
});

test('sound that is still on its way is no silence', async () => {
  const { tell, peer, time, speaker } = openStreamInput({ prepare: (held) => held.allow(2) });
  tell({ text: 'One is here. ', flush: true });
  await settled();
  time.advance(50_000);
  assert.equal(peer.closedWith, undefined);
  speaker.allow(Infinity);
  await settled();
  time.advance(20_000);
  assert.equal(peer.closedWith?.[0], 1008);
});

test('an unknown voice is refused with the nearest names, and the socket closes', async () => {
  const refusal = new ParleyError('VOICE_UNKNOWN', 'there is no voice "slx"; near it: "slt"', {
    field: 'voice',
  });
  const { tell, peer, failures } = openStreamInput({ prepare: (speaker) => (speaker.refusal = refusal) });
  tell({ text: 'One. ', flush: true });
  await until(() => peer.closedWith !== undefined);
  assert.deepEqual(peer.messages, [{ message: refusal.message, error: 'voice_not_found', code: 1008 }]);
  assert.deepEqual(peer.closedWith, [1008, refusal.message]);
  assert.deepEqual(failures, []);
});

test('a failing engine is reported without its details, which go to the log', async () => {
  const failure = new ParleyError('ENGINE_FAILED', 'segmentation fault at 0x1234');
  const { tell, peer, failures } = openStreamInput({ prepare: (speaker) => (speaker.failure = failure) });
  tell({ text: 'One. ', flush: true });
  await until(() => peer.closedWith !== undefined);
  const message = 'the speech engine failed at this text; the log has more under request req-1';
  assert.deepEqual(peer.messages, [{ message, error: 'internal_error', code: 1011 }]);
  assert.deepEqual(failures, [failure]);
});

test('a key of the first message opens the door, another one closes it, later ones are not asked', async () => {
  const authorize = (key: string) => key === 'secret';
  const forms = [{ xi_api_key: 'secret' }, { 'xi-api-key': 'secret' }, { authorization: 'Bearer secret' }];
  for (const form of forms) {
    const { tell, peer } = openStreamInput({ authorize });
    tell({ text: ' ', ...form }, { text: 'One. ', flush: true });
    await settled();
    assert.equal(peer.heard(), 'One. ');
  }
  for (const form of [{}, { xi_api_key: 'guess' }, { authorization: 'Bearer ' }]) {
    const { tell, peer, speaker } = openStreamInput({ authorize });
    tell({ text: 'One. ', flush: true, ...form }, { text: 'One. ', flush: true, xi_api_key: 'secret' });
    await settled();
    assert.equal(peer.messages.length, 1);
    assert.equal(peer.messages[0]?.error, 'invalid_api_key');
    assert.equal(peer.closedWith?.[0], 1008);
    assert.equal(speaker.calls.length, 0);
  }
});

test('a socket that goes stops all work and leaves no timer', async () => {
  const { tell, peer, time, speaker, conversation } = openStreamInput({ prepare: (held) => held.allow(8) });
  tell({ text: 'One is here and there. ', flush: true }, { text: 'Two is. ', flush: true });
  await settled();
  const before = peer.messages.length;
  assert.ok(before > 0);
  await conversation.closed();
  await settled();
  assert.equal(peer.messages.length, before);
  assert.equal(time.waiting, 0);
  assert.deepEqual(
    speaker.calls.map(({ aborted }) => aborted),
    [true, true],
  );
  assert.ok(speaker.sounds[0]?.cancelled);
});

test('an id of the file stands for its voice, and another one is the name of a voice', async () => {
  const voices = new Map([['21m00Tcm4TlvDq8ikWAM', 'vivian']]);
  for (const [voiceId, voice] of [
    ['21m00Tcm4TlvDq8ikWAM', 'vivian'],
    ['slt', 'slt'],
  ] as const) {
    const { tell, speaker } = openStreamInput({ voiceId, voices });
    tell({ text: 'Hello there. ' }, { text: '' });
    await until(() => speaker.calls.length === 1);
    assert.equal(speaker.calls[0]?.settings.voice, voice);
  }
});

test('a defect that a message brings to light is told as a failure of the server', async () => {
  const { peer, tell, speaker, failures } = openStreamInput();
  speaker.allow(1);
  tell({ text: 'One is here. ', flush: true });
  await settled();
  speaker.speak = () => {
    throw new TypeError('a defect');
  };
  tell({ text: 'Two is there. ', flush: true });
  const { message, error } = peer.messages.at(-1) ?? {};
  const known = 'the object cannot do this in the state it is in; the log has more under request req-1';
  assert.deepEqual([message, error, peer.closedWith?.[0]], [known, 'internal_error', 1011]);
  assert.deepEqual(
    failures.map(({ code, message: cause }) => [code, cause]),
    [['WRONG_STATE', 'a defect']],
  );
});
