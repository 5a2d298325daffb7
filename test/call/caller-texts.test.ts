// The caller's speech on its way to the recogniser in a call that the test plays, where only orders end
// turns.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import type { RecognisedWords } from '../../src/call/caller-speech.js';
import { type CallerListener, CallerTexts } from '../../src/call/caller-texts.js';
import type { ExpectedWords } from '../../src/hearing/hearing-messages.js';
import { ParleyError } from '../../src/errors.js';
import { OpenAiRecogniser } from '../../src/engines/openai/openai-recogniser.js';
import { ServerPool } from '../../src/engines/openai/server-pool.js';
import type { MediaPort } from '../../src/call/call-route.js';
import type { CallEvent } from '../../src/call/call-events.js';
import type { Recogniser } from '../../src/engines/recogniser.js';
import { TranscriptionServerUnderTest } from '../engines/transcription-server.js';
import { ManualTime } from '../fakes/manual-time.js';
import { until } from '../fakes/until.js';
import { ScriptedRecogniser } from '../transcribing/scripted-recogniser.js';

const SPEECH: CallEvent = { type: 'speech.started', onsetAt: 0 };
const PAUSE: CallEvent = { type: 'speech.stopped', durationMs: 100 };
const SILENCE: CallEvent = { type: 'turn.ended', turn: 0, speechMs: 100, silenceMs: 600, reason: 'silence' };
const ORDER: CallEvent = { type: 'turn.ended', turn: 0, speechMs: 0, silenceMs: 0, reason: 'client' };
const BY_HAND = { byHand: 'open' } as const;
const CLOSED = { byHand: 'closed' } as const;

function open(server?: Recogniser, time = new ManualTime(0), smartFormat = false) {
  const recogniser = new ScriptedRecogniser();
  const followers = new Set<(port: MediaPort) => void>();
  const observers = new Set<(event: CallEvent) => void>();
  const rings: PcmRing[] = [];
  const known: unknown[][] = [];
  const expected: ExpectedWords[] = [];
  const socket = {
    openEar: () => {
      const ring = PcmRing.open(16_000, 64_000);
      rings.push(ring);
      return ring;
    },
    closeEar: () => undefined,
  };
  const call = {
    id: 'call_1',
    turn: 0,
    closed: new Promise<string>(() => undefined),
    observe: (observer: (event: CallEvent) => void) => {
      observers.add(observer);
      return () => void observers.delete(observer);
    },
    follow: (follower: (port: MediaPort) => void) => {
      followers.add(follower);
      follower({ socket } as unknown as MediaPort);
      return () => void followers.delete(follower);
    },
    hear: () => () => undefined,
    words: (words: RecognisedWords) => void known.push([words.turn, words.text, words.upTo]),
    expectWords: (words: ExpectedWords) => void expected.push(words),
  };
  const texts = new CallerTexts({ recogniser: server ?? recogniser, time, smartFormat });
  const finals: [number, string][] = [];
  const lost: [number, string][] = [];
  const listener: CallerListener = {
    said: ({ number, text }) => void finals.push([number, text]),
    unsaid: ({ number }, { code }) => void lost.push([number, code]),
  };
  /** The call goes on through another port. */
  const move = () => {
    for (const follower of followers) follower({ socket } as unknown as MediaPort);
  };
  return {
    recogniser,
    finals,
    lost,
    known,
    expected,
    move,
    time,
    followAs: (own: CallerListener, expected?: Parameters<CallerTexts['follow']>[2]) =>
      texts.follow(call, own, expected),
    conceal: () => texts.conceal(call),
    follow: (expected: Parameters<CallerTexts['follow']>[2]) => texts.follow(call, listener, expected),
    tell: (...events: CallEvent[]) => {
      for (const event of events) {
        const told = event.type === 'turn.ended' ? { ...event, turn: call.turn++ } : event;
        for (const observer of observers) observer(told);
      }
    },
    /** Each ear hears as many samples. */
    hear: (samples: number) => {
      for (const ring of rings) ring.write(new Float32Array(samples));
    },
    orders: (session = 0) => recogniser.opened[session]?.orders ?? assert.fail(),
  };
}

const tick = () => new Promise((resolve) => setImmediate(resolve));

test('a turn that only an order ends has all the sound since the one before, whatever voice activity finds', async () => {
  const { follow, tell, hear, orders, finals, lost } = open();
  follow(BY_HAND);
  hear(1000);
  tell(ORDER);
  hear(1000);
  tell(SPEECH, PAUSE);
  hear(1000);
  tell(ORDER);
  await tick();
  assert.deepEqual(orders(), [
    ['begin', 0],
    ['end', 1000],
    ['begin', 1000],
    ['end', 3000],
    ['begin', 3000],
  ]);
  assert.deepEqual(finals, [
    [0, 'turn 0'],
    [1, 'turn 1'],
  ]);
  assert.deepEqual(lost, []);
});

test('an order without sound since the one before has a text of its own, in its order', async () => {
  const { follow, tell, hear, orders, finals, lost } = open();
  follow(BY_HAND);
  hear(1000);
  tell(ORDER, ORDER);
  hear(1000);
  tell(ORDER);
  await tick();
  assert.equal(orders().filter(([order]) => order === 'end').length, 2);
  assert.deepEqual(finals, [
    [0, 'turn 0'],
    [1, ''],
    [2, 'turn 1'],
  ]);
  assert.deepEqual(lost, []);
});

test('voice activity finds the turns again once the client gives them back, without the sound of before', async () => {
  const { follow, tell, hear, orders, finals, lost } = open();
  const stop = follow(BY_HAND);
  hear(1000);
  follow({});
  stop();
  hear(1000);
  tell(SPEECH);
  hear(1000);
  tell(PAUSE, SILENCE);
  await tick();
  assert.deepEqual(orders(), [
    ['begin', 0],
    ['end', 1000],
    ['begin', 2000],
    ['pause', 3000],
    ['end', 3000],
  ]);
  assert.deepEqual(finals, [[0, 'turn 1']]); // the sound of before was no turn
  follow(BY_HAND);
  assert.deepEqual(orders().at(-1), ['begin', 3000]);
  assert.deepEqual(lost, []);
});

test('another language holds from the next turn on, and texts come in the order of the turns', async () => {
  const { follow, tell, hear, orders, finals, recogniser, lost } = open();
  const stop = follow({ ...BY_HAND, language: 'en' });
  hear(1000);
  follow({ ...BY_HAND, language: 'de' });
  stop();
  assert.equal(recogniser.opened.length, 1); // what was said keeps its language
  hear(1000);
  tell(ORDER);
  assert.deepEqual(orders(0), [
    ['begin', 0],
    ['end', 2000],
  ]);
  assert.equal(recogniser.opened[1]?.options.language, 'de');
  assert.deepEqual(orders(1), [['begin', 0]]);
  hear(500);
  tell(ORDER);
  await tick();
  assert.deepEqual(finals, [
    [0, 'turn 0'],
    [1, 'turn 0'], // of the next session
  ]);
  assert.equal(recogniser.opened[0]?.closed, true);
  assert.deepEqual(lost, []);
});

test('a turn begins with the sound that belongs to it, and another language holds at once before that', async () => {
  const { follow, tell, hear, orders, finals, recogniser, lost } = open();
  let stop = follow(CLOSED);
  const change = (expected: Parameters<CallerTexts['follow']>[2]) => {
    const stopBefore = stop;
    stop = follow(expected);
    stopBefore();
  };
  hear(1000);
  tell(SPEECH, PAUSE);
  change({ ...CLOSED, language: 'de' });
  assert.deepEqual(
    recogniser.opened.map(({ options, orders: all }) => [options.language, all.length]),
    [
      [undefined, 0],
      ['de', 0],
    ],
  );
  hear(1000);
  change({ ...BY_HAND, language: 'de' });
  hear(1000);
  change({ ...CLOSED, language: 'de' });
  hear(1000);
  tell(ORDER);
  hear(1000);
  await tick();
  assert.deepEqual(orders(1), [
    ['begin', 1000],
    ['end', 3000],
  ]);
  assert.deepEqual(finals, [[0, 'turn 0']]);
  assert.deepEqual(lost, []);
});

test('an order that ends a turn without any sound has an empty text at once, and asks no recogniser', async () => {
  const { follow, tell, hear, orders, finals, lost } = open();
  follow({});
  tell(ORDER);
  assert.deepEqual([finals, orders()], [[[0, '']], []]);
  hear(1000);
  tell(ORDER);
  await tick();
  tell(ORDER);
  assert.deepEqual(finals.slice(1), [
    [1, 'turn 0'],
    [2, ''],
  ]);
  assert.deepEqual(lost, []);
});

test('a turn that ended on another port, or went on from there, is told as lost at once', async () => {
  const { follow, tell, hear, finals, lost, move } = open();
  follow({});
  hear(1000);
  tell(SPEECH, PAUSE, SILENCE);
  move();
  assert.deepEqual(lost, [[0, 'HEARING_FAILED']]);
  tell(SPEECH);
  move();
  tell(PAUSE, SILENCE);
  assert.deepEqual(lost.slice(1), [[1, 'HEARING_FAILED']]);
  hear(1000);
  tell(SPEECH, PAUSE, SILENCE);
  await tick();
  assert.deepEqual([finals, lost.length], [[[2, 'turn 0']], 2]);
});

for (const byHand of [undefined, 'open'] as const) {
  test(`a turn whose text never comes holds up no other language, byHand: ${byHand ?? 'no'}`, async () => {
    const { follow, tell, hear, finals, lost, recogniser, time } = open();
    const first = { byHand, language: 'en' };
    const turn = () => {
      if (byHand === undefined) tell(SPEECH);
      hear(1000);
      tell(...(byHand === undefined ? [PAUSE, SILENCE] : [ORDER]));
    };
    const stop = follow(first);
    const [session] = recogniser.opened;
    assert.ok(session);
    session.textOf = () => undefined;
    turn();
    follow({ byHand, language: 'de' });
    stop();
    assert.equal(recogniser.opened.length, 1); // the turn before may still have a text
    turn();
    time.advance(8000);
    assert.deepEqual(
      recogniser.opened.map(({ options, closed }) => [options.language, closed]),
      [
        ['en', true],
        ['de', false],
      ],
    );
    assert.deepEqual(lost, [
      [0, 'TIMEOUT'],
      [1, 'TIMEOUT'],
    ]);
    turn();
    await tick();
    assert.deepEqual(finals, [[2, 'turn 0']]);
  });
}

test('no ear is opened for a listener that leaves when it is told of a turn', () => {
  for (const leavesAt of ['turnEnded', 'said'] as const) {
    const { followAs, tell, recogniser } = open();
    const stop = followAs({ [leavesAt]: () => stop() });
    tell(ORDER);
    assert.deepEqual(
      recogniser.opened.map(({ closed }) => closed),
      [true],
      leavesAt,
    );
  }
});

test('no ear is opened for a listener that leaves when a move loses its turn', () => {
  const { followAs, tell, hear, move, recogniser } = open();
  const stop = followAs({ unsaid: () => stop() });
  hear(1000);
  tell(SPEECH, PAUSE, SILENCE);
  move();
  assert.deepEqual(
    recogniser.opened.map(({ closed }) => closed),
    [true],
  );
});

test('a listener that follows anew when it is told of a turn is told once', async () => {
  const { followAs, tell, hear } = open();
  const told: string[] = [];
  let stop = () => undefined as void;
  const anew = (what: string) => {
    told.push(what);
    assert.ok(told.length < 10, told.join());
    const stopBefore = stop;
    stop = followAs(listener);
    stopBefore();
  };
  const listener: CallerListener = {
    turnEnded: () => anew('ended'),
    text: () => anew('text'),
    said: () => anew('said'),
  };
  stop = followAs(listener);
  hear(1000);
  tell(SPEECH);
  hear(1000);
  tell(PAUSE, SILENCE);
  await tick();
  assert.deepEqual(told, ['ended', 'text', 'said']);
});

test('the call learns the words before those who follow, and what will be known of them', async () => {
  const { recogniser, followAs, tell, hear, known, expected } = open();
  recogniser.tellsPauses = true;
  const heard: string[] = [];
  const stop = followAs({ text: ({ text, isFinal }) => heard.push(`${text} ${known.length} ${isFinal}`) });
  const [session] = recogniser.opened;
  assert.ok(session);
  hear(1000);
  tell(SPEECH);
  session.partial('My number', 0);
  hear(1000);
  tell(PAUSE);
  session.pause('My number');
  session.pause('My number is');
  tell(SPEECH);
  session.pause('My number is'); // the pause is over
  tell(PAUSE);
  session.pause('');
  tell(SILENCE);
  await tick();
  assert.deepEqual(known, [
    [0, 'My number', 'now'],
    [0, 'My number', 'pause'],
    [0, 'My number is', 'pause'],
    [0, '', 'pause'],
    [0, 'turn 0', 'end'],
  ]);
  assert.deepEqual(heard, ['My number 1 false', 'My number is 3 false', 'turn 0 5 true']);
  assert.equal(expected.at(-1), 'texts of pauses');
  stop();
  assert.equal(expected.at(-1), 'none');
});

test('nothing is expected of the words while orders end the turns, or after the recogniser has failed', async () => {
  const { recogniser, follow, tell, hear, known, expected } = open();
  const stop = follow({});
  assert.equal(expected.at(-1), 'texts');
  follow(BY_HAND);
  stop();
  assert.equal(expected.at(-1), 'none');
  follow({});
  assert.equal(expected.at(-1), 'texts');
  const [session] = recogniser.opened;
  hear(1000);
  tell(SPEECH, PAUSE, SILENCE);
  session?.fail(new ParleyError('ENGINE_LOST', 'gone'));
  await tick();
  assert.equal(expected.at(-1), 'none');
  assert.ok(known.some(([, text, upTo]) => text === '' || upTo === 'end'));
});

test('a turn that a WebSocket recogniser loses is told at once, and the next one has its own text', async (t) => {
  const server = await TranscriptionServerUnderTest.open(t);
  const time = new ManualTime(0);
  const servers = { pool: ServerPool.of([server.baseUrl], undefined, time), model: 'whisper-1' };
  const recogniser = new OpenAiRecogniser({
    servers,
    realtime: 'openai',
    maxSessions: 4,
    timeoutMs: 5000,
    time,
  });
  t.after(() => recogniser.close());
  const { follow, tell, hear, finals, lost } = open(recogniser, time);
  t.after(follow({}));
  const turn = () => {
    tell(SPEECH);
    hear(16_000);
    tell(PAUSE, SILENCE);
  };
  (await server.socket(0)).socket.terminate();
  await until(() => recogniser.sessions === 1);
  turn();
  (await server.request(0)).answer(400, { error: { message: 'no' } });
  await until(() => lost.length === 1);
  assert.equal(lost[0]?.[0], 0);
  time.advance(5000); // until the recogniser is opened again
  turn();
  const peer = await server.socket(1);
  peer.send({ type: 'session.created' });
  await peer.message('input_audio_buffer.commit');
  peer.send({ type: 'conversation.item.input_audio_transcription.completed', transcript: 'Hello?' });
  await until(() => finals.length === 1);
  assert.deepEqual([finals, lost.length, time.now()], [[[1, 'Hello?']], 1, 5000]);
});

/** A turn of the caller with words. */
async function speakTurn({ tell, hear }: ReturnType<typeof open>): Promise<void> {
  tell(SPEECH);
  hear(1000);
  tell(PAUSE, SILENCE);
  await tick();
}

const saidTo = (texts: string[]): CallerListener => ({
  said: ({ text }) => void texts.push(text),
  text: ({ text }) => void texts.push(`so far ${text}`),
});

test('words that somebody conceals are `*` but for those who may see them, also in the turn that is open at the end', async () => {
  const under = open();
  const [own, others]: [string[], string[]] = [[], []];
  under.followAs(saidTo(others));
  await speakTurn(under);
  const show = under.conceal();
  const stop = under.followAs({ ...saidTo(own), seesConcealed: true });
  await speakTurn(under);
  stop();
  under.tell(SPEECH);
  under.hear(1000);
  show();
  under.tell(PAUSE, SILENCE);
  await tick();
  await speakTurn(under);
  assert.deepEqual(own, ['so far turn 1', 'turn 1']);
  assert.deepEqual(others, [
    'so far turn 0',
    'turn 0',
    'so far *',
    '*',
    'so far *',
    '*',
    'so far turn 3',
    'turn 3',
  ]);
});

test('a listener that drops the open turn leaves nothing of it to the next one', async () => {
  const under = open();
  const [first, next]: [string[], string[]] = [[], []];
  under.followAs({});
  const stop = under.followAs({ ...saidTo(first), dropsOpenTurn: true });
  const show = under.conceal();
  under.tell(SPEECH);
  under.hear(1000);
  stop();
  show();
  under.followAs(saidTo(next));
  under.hear(1000);
  await speakTurn(under);
  assert.deepEqual(first, []);
  assert.deepEqual(next, ['so far turn 1', 'turn 1']); // the second part of the recogniser's sound
  const begun = under.orders().filter(([order]) => order === 'begin');
  assert.deepEqual(begun, [
    ['begin', 0],
    ['begin', 2000],
  ]);
});

test('a listener that asks for figures gets them beside the words as heard, and the others get the words', async () => {
  const { recogniser, follow, followAs, tell, hear } = open();
  const plain: unknown[] = [];
  const told: unknown[] = [];
  followAs({ said: ({ text, heard }) => void plain.push([text, heard]) });
  const listener: CallerListener = {
    text: ({ text, isFinal }) => void told.push([text, isFinal]),
    said: ({ text, heard }) => void told.push([text, heard]),
  };
  follow({});
  followAs(listener, { smartFormat: true });
  const [session] = recogniser.opened;
  assert.ok(session !== undefined);
  session.textOf = () => 'four two oh seven';
  tell(SPEECH);
  hear(1000);
  session.partial('four two oh', 0);
  tell(PAUSE, SILENCE);
  await tick();
  assert.deepEqual(told, [
    ['420', false],
    ['4207', true],
    ['4207', 'four two oh seven'],
  ]);
  assert.deepEqual(plain, [['four two oh seven', undefined]]);
});

test('figures are the default where the server has them as such, and concealed words stay concealed', async () => {
  const { recogniser, followAs, conceal, tell, hear } = open(undefined, undefined, true);
  const told: unknown[] = [];
  followAs({ said: ({ text }) => void told.push(text) });
  followAs({ said: ({ text }) => void told.push(text) }, { smartFormat: false });
  const [session] = recogniser.opened;
  assert.ok(session !== undefined);
  session.textOf = () => 'half past three';
  tell(SPEECH);
  hear(1000);
  tell(PAUSE, SILENCE);
  await tick();
  assert.deepEqual(told.splice(0), ['3:30', 'half past three']);
  conceal();
  tell(SPEECH);
  hear(1000);
  tell(PAUSE, SILENCE);
  await tick();
  assert.deepEqual(told, ['*', '*']);
});
