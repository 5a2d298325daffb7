// Turns of the caller that the client ends itself (push-to-talk), over OpenAI's Realtime events.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../../src/errors.js';
import { fixedSilence } from '../../../src/hearing/hearing-settings.js';
import { settle } from '../../agents/handled-call.js';
import { openCalls } from '../../fakes/call-under-test.js';
import { FAR, rtp } from '../../media/plane-under-test.js';
import { ScriptedRecogniser } from '../../transcribing/scripted-recogniser.js';
import { openRealtime, type RealtimeUnderTest } from './open-realtime.js';

const calls = openCalls();
const BY_HAND = { type: 'realtime', audio: { input: { turn_detection: null } } } as const;
const LONG_MS = 3000; // longer than any delay of sound
const TEXT = 'The train leaves at nine from platform two, and it is on time today.';

type Setting = NonNullable<Parameters<typeof openRealtime>[1]>;

const open = (setting: Setting = {}) => openRealtime(calls, { session: BY_HAND, isSocket: true, ...setting });

/** The client sends so much sound at once, by default silence. */
function append(under: RealtimeUnderTest, ms: number, byte = 0): void {
  under.send({ type: 'input_audio_buffer.append', audio: Buffer.alloc(48 * ms, byte).toString('base64') });
}

const orders = ({ hearing }: RealtimeUnderTest) =>
  hearing.asked.filter((asked) => asked === 'endTurn').length;

/** The worker that hears ends the turn, as it was ordered to. */
function obey({ hearing, time }: RealtimeUnderTest, speechMs = 1000): void {
  const atMs = time.now();
  hearing.report({ type: 'turn.ended', atMs, startedMs: atMs - speechMs, speechMs, reason: 'client' });
}

/** The caller speaks for a second, and is silent for much longer than a turn allows. */
function speak(under: RealtimeUnderTest): void {
  under.begins();
  under.pass(1000);
  under.hearing.report({ type: 'speech.stopped', atMs: under.time.now(), durationMs: 1000 });
  under.pass(4000);
}

function hearingOf({ hearing }: RealtimeUnderTest): unknown {
  return hearing.asked.findLast(
    (asked) => Array.isArray(asked) && ['listen', 'change'].includes(String(asked[0])),
  );
}

test('a session without turn detection says so, and tells nothing while the caller speaks', () => {
  const under = open();
  const { session } = under.last('session.created');
  assert.ok(session.type === 'realtime');
  assert.equal(session.audio?.input?.turn_detection, null);
  const [, , settings] = hearingOf(under) as readonly [string, string, { endedByHand: boolean }];
  assert.equal(settings.endedByHand, true);
  under.types();
  append(under, 1000);
  speak(under);
  assert.deepEqual(under.types(), []);
});

test('a commit is an item at once, and has its words when its sound was heard', () => {
  const under = open();
  append(under, 1000);
  under.types();
  under.send({ type: 'input_audio_buffer.commit' });
  assert.deepEqual(under.types(), [
    'input_audio_buffer.committed',
    'conversation.item.added',
    'conversation.item.created',
    'conversation.item.done',
  ]);
  const { item_id } = under.last('input_audio_buffer.committed');
  under.pass(1000);
  assert.equal(orders(under), 0); // the last of the sound is heard a moment after it is due
  under.pass(200);
  assert.equal(orders(under), 1);
  under.begins();
  obey(under);
  assert.deepEqual(under.types(), []);
  under.text('Platform two, please.');
  const {
    transcript,
    item_id: of,
    usage,
  } = under.last('conversation.item.input_audio_transcription.completed');
  assert.deepEqual(
    [transcript, of, usage],
    ['Platform two, please.', item_id, { type: 'duration', seconds: 1 }],
  );
});

test('an empty buffer is not committed: at first, after a commit, and after a clear', () => {
  const under = open();
  const refused = () => {
    under.send({ type: 'input_audio_buffer.commit', event_id: 'mine' });
    const { code, type, event_id, message } = under.last('error').error;
    assert.deepEqual(
      [code, type, event_id],
      ['input_audio_buffer_commit_empty', 'invalid_request_error', 'mine'],
    );
    return message;
  };
  refused();
  append(under, 99);
  assert.match(
    refused(),
    /buffer too small\. Expected at least 100ms of audio, but buffer only has 99\.00ms of audio\.$/,
  );
  append(under, 1);
  under.send({ type: 'input_audio_buffer.commit' });
  assert.equal(under.all('error').length, 2);
  refused();
  append(under, 500);
  under.send({ type: 'input_audio_buffer.clear' });
  refused();
  assert.equal(under.all('input_audio_buffer.committed').length, 1);
});

test('a clear drops what was said, and nothing of what was committed before', () => {
  const under = open();
  append(under, 1000);
  under.send({ type: 'input_audio_buffer.commit' });
  append(under, 1000);
  under.send({ type: 'input_audio_buffer.clear' });
  assert.equal(under.last('input_audio_buffer.cleared').type, 'input_audio_buffer.cleared');
  under.pass(LONG_MS);
  assert.equal(under.port.socket?.stats().received, 50); // the committed second
  assert.equal(orders(under), 1);
  speak(under);
  obey(under);
  under.text('First.');
  append(under, 200);
  speak(under);
  under.send({ type: 'input_audio_buffer.clear' });
  under.pass(20);
  assert.equal(orders(under), 2);
  obey(under);
  under.text('Never mind.');
  const texts = under.all('conversation.item.input_audio_transcription.completed');
  assert.deepEqual(
    texts.map(({ transcript }) => transcript),
    ['First.'],
  );
});

test('the recogniser gets all sound where the client ends the turns, and is told when that changes', () => {
  const under = open();
  assert.deepEqual(under.expected.at(-1), { language: undefined, context: undefined, byHand: 'closed' });
  append(under, 500);
  append(under, 100, 1);
  assert.deepEqual(under.expected.at(-1), { language: undefined, context: undefined, byHand: 'open' });
  under.send({ type: 'input_audio_buffer.commit' });
  assert.deepEqual(under.expected.at(-1), { language: undefined, context: undefined, byHand: 'closed' });
  const input = { turn_detection: { type: 'server_vad' }, transcription: { language: 'de' } } as const;
  under.send({ type: 'session.update', session: { type: 'realtime', audio: { input } } });
  assert.deepEqual(under.expected.at(-1), { language: 'de', context: undefined });
  under.send({ type: 'session.update', session: BY_HAND });
  assert.deepEqual(under.expected.at(-1), { language: 'de', context: undefined, byHand: 'closed' });
});

test('a long silence around what is committed is no part of its turn', () => {
  const under = open();
  append(under, 2000);
  assert.equal(under.expected.at(-1)?.byHand, 'closed');
  append(under, 200, 1);
  append(under, 2000);
  assert.equal(under.expected.at(-1)?.byHand, 'open');
  under.send({ type: 'input_audio_buffer.commit' });
  under.pass(300);
  assert.equal(orders(under), 0);
  under.pass(400); // 200 ms, as much silence, the delay of the sound, and the frames that were due already
  assert.equal(orders(under), 1);
});

test('sound without speech is committed as any other, and its words are told', () => {
  const under = open();
  append(under, 500);
  under.send({ type: 'input_audio_buffer.commit' });
  under.pass(LONG_MS);
  obey(under, 0);
  under.text('Psst.');
  const texts = under.all('conversation.item.input_audio_transcription.completed');
  assert.deepEqual(
    texts.map(({ transcript }) => transcript),
    ['Psst.'],
  );
});

test('a clear drops sound in which no speech was found, and leaves what was committed before it', () => {
  const under = open();
  append(under, 1000);
  under.pass(500);
  under.send({ type: 'input_audio_buffer.clear' });
  under.pass(LONG_MS);
  assert.equal(orders(under), 1);
  obey(under);
  under.text('Dropped.');
  append(under, 200);
  under.send({ type: 'input_audio_buffer.commit' });
  under.pass(LONG_MS);
  obey(under);
  under.text('Kept.');
  const texts = under.all('conversation.item.input_audio_transcription.completed');
  assert.deepEqual(
    texts.map(({ transcript }) => transcript),
    ['Kept.'],
  );
});

test('an agent answers a committed turn when the client asks for it, and then with its words', async () => {
  const under = open({ agent: {} });
  append(under, 500);
  under.send({ type: 'input_audio_buffer.commit' });
  under.send({ type: 'response.create' });
  under.pass(LONG_MS);
  under.begins();
  obey(under);
  under.text('When does it leave?');
  const answer = await under.model.asked(0);
  answer.say('At nine.').done();
  await under.told('response.done');
  await settle();
  const heard = under.model.answers.at(-1)?.asked;
  assert.deepEqual(heard, ['user: When does it leave?']);
});

test('a committed turn is not answered by itself, also if turns are detected', async () => {
  for (const session of [BY_HAND, {}]) {
    const under = open({ agent: {}, session });
    append(under, 500);
    under.begins();
    under.send({ type: 'input_audio_buffer.commit' });
    under.pass(LONG_MS);
    obey(under);
    under.text('Hello?');
    await settle();
    assert.equal(under.all('conversation.item.input_audio_transcription.completed').length, 1);
    assert.deepEqual([under.model.answers.length, under.all('response.created').length], [0, 0]);
  }
});

test('with turn detection a commit ends the turn that the caller speaks, and what follows is another one', () => {
  const under = open({ session: {} });
  append(under, 1000);
  under.begins();
  const { item_id } = under.last('input_audio_buffer.speech_started');
  under.send({ type: 'input_audio_buffer.commit' });
  assert.equal(under.last('input_audio_buffer.committed').item_id, item_id);
  assert.equal(under.last('input_audio_buffer.speech_stopped').item_id, item_id);
  under.pass(LONG_MS);
  obey(under);
  under.text('First,');
  assert.equal(under.all('input_audio_buffer.speech_started').length, 2);
  under.stops();
  under.text('and second.');
  const items = under.all('input_audio_buffer.committed').map((event) => event.item_id);
  const texts = under.all('conversation.item.input_audio_transcription.completed');
  assert.deepEqual(
    texts.map(({ item_id: of, transcript }) => [of, transcript]),
    [
      [items[0], 'First,'],
      [items[1], 'and second.'],
    ],
  );
});

test('a turn that silence ends before the order of a commit has its words in the committed item', () => {
  const under = open({ session: {} });
  append(under, 1000);
  under.begins();
  under.send({ type: 'input_audio_buffer.commit' });
  under.stops();
  under.text('Good morning.');
  under.pass(LONG_MS);
  obey(under, 0);
  under.text('');
  const [committed, ...more] = under.all('input_audio_buffer.committed');
  const [text, ...rest] = under.all('conversation.item.input_audio_transcription.completed');
  assert.deepEqual([more, rest], [[], []]);
  assert.deepEqual([text?.item_id, text?.transcript], [committed?.item_id, 'Good morning.']);
});

test('speech does not interrupt where the client ends the turns, and does again when the server finds them', async () => {
  const under = open({ agent: { interruptible: 'any' } });
  under.send({ type: 'response.create' });
  (await under.model.asked(0)).say(TEXT).done();
  await under.told('response.output_audio.delta');
  assert.deepEqual(under.hearing.tracks, []);
  under.send({ type: 'response.cancel' });
  const session = { type: 'realtime', audio: { input: { turn_detection: { type: 'server_vad' } } } } as const;
  under.send({ type: 'session.update', session });
  const { session: after } = under.last('session.updated');
  assert.ok(after.type === 'realtime' && after.audio?.input?.turn_detection?.type === 'server_vad');
  assert.deepEqual(hearingOf(under), ['change', { ...fixedSilence(500), endedByHand: false }]);
  under.says('Hello?');
  (await under.model.asked(1)).say(TEXT).done();
  await under.passUntil(() => under.hearing.tracks.length > 0);
});

test('an update takes turn detection away, and a caller who speaks then has stopped for the client', () => {
  const under = open({ session: {} });
  under.begins();
  under.send({ type: 'session.update', session: BY_HAND });
  assert.equal(under.all('input_audio_buffer.speech_stopped').length, 1);
  assert.deepEqual(hearingOf(under), ['change', { ...fixedSilence(500), endedByHand: true }]);
  under.hearing.report({ type: 'speech.stopped', atMs: under.time.now(), durationMs: 1000 });
  under.pass(10_000);
  append(under, 200);
  under.send({ type: 'input_audio_buffer.commit' });
  under.pass(LONG_MS);
  obey(under);
  under.text('Hello?');
  assert.equal(under.last('conversation.item.input_audio_transcription.completed').transcript, 'Hello?');
});

test('a turn that no worker ends fails by name, and later turns have their words', () => {
  const under = open();
  append(under, 200);
  under.send({ type: 'input_audio_buffer.commit' });
  under.pass(10_000);
  const failed = under.last('conversation.item.input_audio_transcription.failed');
  assert.deepEqual(
    [failed.item_id, failed.error.code],
    [under.last('input_audio_buffer.committed').item_id, 'timeout'],
  );
  append(under, 200);
  under.send({ type: 'input_audio_buffer.commit' });
  under.pass(LONG_MS);
  obey(under);
  under.text('Still there?');
  assert.equal(
    under.last('conversation.item.input_audio_transcription.completed').transcript,
    'Still there?',
  );
});

test('a caller who is not recognised has no turns to end', () => {
  const under = open({ isCallerRecognised: false });
  append(under, 500);
  under.send({ type: 'input_audio_buffer.commit' });
  assert.match(under.last('error').error.message, /the caller is not heard/);
  assert.equal(under.all('input_audio_buffer.committed').length, 0);
});

test('after ten minutes without a commit more sound is refused, until the buffer is empty', () => {
  const under = open();
  const minute = () => {
    for (let piece = 0; piece < 4; piece++) append(under, 15_000); // a message has a MiB at most
    under.pass(60_000);
  };
  for (let n = 0; n < 10; n++) minute();
  assert.equal(under.all('error').length, 0);
  append(under, 20);
  assert.deepEqual(
    [under.last('error').error.code, under.last('error').error.message],
    ['queue_full', 'the input audio buffer has 10 minutes of sound: commit it, or clear it'],
  );
  under.send({ type: 'input_audio_buffer.clear' });
  append(under, 500);
  under.send({ type: 'input_audio_buffer.commit' });
  assert.deepEqual([under.all('error').length, under.all('input_audio_buffer.committed').length], [1, 1]);
});

test('sound that voice activity has divided into turns counts little when the client takes over', () => {
  const under = open({ session: {} });
  const minutes = (count: number) => {
    for (let n = 0; n < 4 * count; n++) {
      append(under, 15_000);
      under.pass(15_000);
    }
  };
  minutes(11);
  under.send({ type: 'session.update', session: BY_HAND });
  minutes(9);
  assert.equal(under.all('error').length, 0);
  append(under, 20);
  assert.equal(under.last('error').error.code, 'queue_full');
});

/** A caller of a WebRTC call, whose packets come. */
function far(under: RealtimeUnderTest): (frames: number) => void {
  const { socket = assert.fail() } = under.port;
  socket.formats([{ payloadType: 0, kind: 'sound', clockRate: 8000, codec: 'PCMU' }]);
  socket.learn(FAR);
  socket.bind(under.port.playout);
  let sequence = 0;
  return (frames) => {
    for (let n = 0; n < frames; n++) {
      const payload = new Uint8Array(160).fill(0xff);
      socket.feed(rtp({ sequence: ++sequence, timestamp: 160 * sequence, payload }), FAR.address, FAR.port);
      under.pass(20);
    }
  };
}

test('in a WebRTC call sound that nobody commits in ten minutes is dropped, and a caller who sends none is not told', () => {
  const under = open({ isSocket: false });
  const receive = far(under);
  under.pass(600_000);
  under.pass(20);
  assert.equal(orders(under), 0); // no packet came
  receive(5);
  under.pass(599_860);
  assert.deepEqual([orders(under), under.all('error').length], [0, 0]);
  under.pass(20);
  assert.deepEqual([orders(under), under.all('error').length], [1, 1]);
  assert.deepEqual(
    [under.last('error').error.code, under.last('error').error.message],
    ['queue_full', 'the input audio buffer has 10 minutes of sound, and is cleared'],
  );
  obey(under);
  under.text('Much.');
  assert.equal(under.all('conversation.item.input_audio_transcription.completed').length, 0);
  receive(5);
  under.send({ type: 'input_audio_buffer.commit' });
  under.pass(200);
  obey(under);
  under.text('Little.');
  assert.equal(under.last('conversation.item.input_audio_transcription.completed').transcript, 'Little.');
});

test('in a WebRTC call the buffer is the time in which packets came', () => {
  const under = open({ isSocket: false });
  const receive = far(under);
  under.pass(1000);
  under.send({ type: 'input_audio_buffer.commit' });
  assert.equal(under.last('error').error.code, 'input_audio_buffer_commit_empty');
  receive(5);
  under.send({ type: 'input_audio_buffer.commit' });
  assert.equal(under.all('input_audio_buffer.committed').length, 1);
  assert.equal(orders(under), 0);
  under.pass(200);
  assert.equal(orders(under), 1);
  receive(4);
  under.send({ type: 'input_audio_buffer.clear' });
  receive(4);
  under.send({ type: 'input_audio_buffer.commit' });
  assert.equal(under.all('error').length, 2);
});

test('in a WebRTC call one packet is no sound to commit, however long ago it came', () => {
  const under = open({ isSocket: false });
  const receive = far(under);
  receive(2);
  under.pass(5000);
  under.send({ type: 'input_audio_buffer.commit' });
  assert.match(under.last('error').error.message, /buffer only has 40\.00ms of audio/);
  receive(4);
  under.send({ type: 'input_audio_buffer.commit' });
  assert.deepEqual([under.all('error').length, under.all('input_audio_buffer.committed').length], [1, 1]);
});

for (const isSocket of [true, false]) {
  const where = isSocket ? 'over a WebSocket' : 'in a WebRTC call';
  test(`${where} a commit after a turn that the server has ended has only the sound since`, () => {
    const under = open({ session: {}, isSocket });
    const receive = isSocket
      ? (frames: number) => (append(under, 20 * frames), under.pass(20 * frames))
      : far(under);
    receive(50);
    under.pass(LONG_MS);
    under.says('First.');
    assert.equal(under.all('input_audio_buffer.committed').length, 1);
    receive(4);
    under.send({ type: 'input_audio_buffer.commit' });
    assert.equal(under.last('error').error.code, 'input_audio_buffer_commit_empty');
    receive(1);
    under.send({ type: 'input_audio_buffer.commit' });
    assert.deepEqual([under.all('error').length, under.all('input_audio_buffer.committed').length], [1, 2]);
  });
}

test('a turn that no recogniser has heard fails at its end, and the next one has its own words', async () => {
  const recogniser = new ScriptedRecogniser();
  const under = open({ recogniser });
  const turn = async () => {
    append(under, 1000, 32);
    under.begins();
    under.pass(1000);
    under.send({ type: 'input_audio_buffer.commit' });
    under.pass(200);
    obey(under);
    await settle();
    return under.last('input_audio_buffer.committed').item_id;
  };
  recogniser.opened[0]?.fail(new ParleyError('ENGINE_LOST', 'gone'));
  await settle();
  const lost = await turn();
  const failed = under.last('conversation.item.input_audio_transcription.failed');
  assert.deepEqual([failed.item_id, failed.error.code], [lost, 'engine_lost']);
  under.pass(5000); // until the recogniser is opened again
  const heard = await turn();
  const completed = under.last('conversation.item.input_audio_transcription.completed');
  assert.deepEqual([completed.item_id, completed.transcript], [heard, 'turn 0']);
});
