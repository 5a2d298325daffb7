// Captions of a call that the test plays: both sides, their times, who may follow, and what is kept.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { CallerTexts } from '../../src/call/caller-texts.js';
import { CallCaptions, type CaptionEvent, type NumberedCaptionEvent } from '../../src/call/call-captions.js';
import type { MediaPort } from '../../src/call/call-route.js';
import type { CallEvent } from '../../src/call/call-events.js';
import { ParleyError } from '../../src/errors.js';
import { ManualTime } from '../fakes/manual-time.js';
import { ScriptedRecogniser } from '../transcribing/scripted-recogniser.js';

class PlayedCall {
  readonly closed: Promise<string>;
  end: (reason: string) => void = () => undefined;
  heard = 0;
  readonly ears = new Set<PcmRing>();
  /** The far end sends sound. */
  hasSound = true;
  readonly id = 'call_1';
  /** Turns that have ended. */
  turn = 0;
  #observers = new Set<(event: CallEvent) => void>();
  #followers = new Set<(port: MediaPort) => void>();

  constructor() {
    this.closed = new Promise((resolve) => (this.end = resolve));
  }

  get observers(): number {
    return this.#observers.size;
  }

  observe(observer: (event: CallEvent) => void): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  follow(follower: (port: MediaPort) => void): () => void {
    this.#followers.add(follower);
    follower(this.#port());
    return () => this.#followers.delete(follower);
  }

  /** Count of those who want it heard. */
  hearers = 0;

  hear(): () => void {
    this.heard++;
    this.hearers++;
    return () => void this.hearers--;
  }

  tell(told: CallEvent): void {
    const event = told.type === 'turn.ended' ? { ...told, turn: this.turn++ } : told;
    for (const observer of this.#observers) observer(event);
  }

  move(): void {
    for (const follower of this.#followers) follower(this.#port());
  }

  words(): void {
    // The captions have no ends of turns.
  }

  expectWords(): void {
    // The same.
  }

  #port(): MediaPort {
    const socket = {
      openEar: () => {
        const ring = PcmRing.open(16_000, 16_000);
        this.ears.add(ring);
        return ring;
      },
      closeEar: (ring: PcmRing) => this.ears.delete(ring),
    };
    return (this.hasSound ? { socket } : {}) as unknown as MediaPort;
  }
}

function open(owner?: string) {
  const call = new PlayedCall();
  const recogniser = new ScriptedRecogniser();
  const time = new ManualTime(5000);
  const captions = new CallCaptions({
    calls: { get: (id) => (id === 'call_1' ? call : undefined) },
    ownerOf: () => owner,
    callerTexts: new CallerTexts({ recogniser, time }),
    time,
    unixMs: () => 1_700_000_000_000,
  });
  const follow = (after = 0, key?: string) => {
    const events: NumberedCaptionEvent[] = [];
    const stop = captions.follow('call_1', key, after, (event) => events.push(event));
    return { events, stop, taken: () => events.splice(0).map(({ event }) => short(event)) };
  };
  return { call, recogniser, time, captions, follow };
}

function short(event: CaptionEvent): unknown[] {
  if (event.type !== 'caption') return [event.type];
  const { side, number, beginMs, endMs, text, isFinal } = event.caption;
  return [side, number, beginMs, endMs, text, isFinal ? 'final' : 'partial'];
}

const tick = () => new Promise((resolve) => setImmediate(resolve));
const SPEECH: CallEvent = { type: 'speech.started', onsetAt: 0 };
const PAUSE: CallEvent = { type: 'speech.stopped', durationMs: 100 };
const TURN = { type: 'turn.ended', turn: 0, speechMs: 100, silenceMs: 600, reason: 'silence' } as const;

test('what the caller says is told while it is said, and when it was', async () => {
  const { call, recogniser, time, follow } = open();
  const viewer = follow();
  assert.deepEqual(viewer.taken(), [['started']]);
  assert.equal(call.heard, 1);
  time.advance(2000);
  call.tell(SPEECH);
  const [session] = recogniser.opened;
  assert.ok(session !== undefined);
  session.partial('Good mor', 4);
  call.tell(PAUSE);
  call.tell(SPEECH);
  call.tell(PAUSE);
  call.tell(TURN);
  await tick();
  assert.deepEqual(
    session.orders.map(([order]) => order),
    ['begin', 'pause', 'resume', 'pause', 'end'],
  );
  call.tell(SPEECH);
  session.partial('And', 0);
  assert.deepEqual(viewer.taken(), [
    ['caller', 0, 0, 1000, 'Good mor', 'partial'],
    ['caller', 0, 0, 0, 'turn 0', 'final'],
    ['caller', 1, 0, 1000, 'And', 'partial'],
  ]);
  assert.equal(recogniser.opened.length, 1);
});

test('a turn that was ended by order has a text, also if no speech was found in it', async () => {
  const { call, recogniser, follow } = open();
  const viewer = follow();
  const byOrder: CallEvent = { ...TURN, reason: 'client' };
  for (const ear of call.ears) ear.write(new Float32Array(1000));
  call.tell(byOrder);
  const [session] = recogniser.opened;
  assert.ok(session !== undefined);
  await tick();
  call.tell(SPEECH);
  call.tell(byOrder);
  await tick();
  call.tell(PAUSE);
  call.tell(TURN);
  await tick();
  assert.deepEqual(
    session.orders.map(([order]) => order),
    ['begin', 'end', 'begin', 'end', 'begin', 'pause', 'end'],
  );
  assert.equal(viewer.taken().filter(([, , , , , kind]) => kind === 'final').length, 3);
});

test('speech that goes on when the longest turn is over is recognised as the next turn', async () => {
  const { call, recogniser, follow } = open();
  const viewer = follow();
  call.tell(SPEECH);
  call.tell({ ...TURN, silenceMs: 0, reason: 'longest' });
  call.tell(PAUSE);
  call.tell(TURN);
  await tick();
  const orders = recogniser.opened[0]?.orders.map(([order]) => order);
  assert.deepEqual(orders, ['begin', 'end', 'begin', 'pause', 'end']);
  assert.equal(viewer.taken().filter(([, , , , , kind]) => kind === 'final').length, 2);
});

test('what the voice says is told as it begins, and as much of it as was sent', () => {
  const { call, time, follow } = open();
  const viewer = follow();
  viewer.taken();
  time.advance(1000);
  call.tell({ type: 'sentence.started', utterance: 1, sentence: 0, text: 'There was a server.' });
  time.advance(1500);
  call.tell({ type: 'sentence.spoken', utterance: 1, sentence: 0, text: 'There was a server.' });
  call.tell({ type: 'sentence.started', utterance: 1, sentence: 1, text: 'It never stopped.' });
  time.advance(500);
  const text = 'There was a server. It never';
  call.tell({ type: 'utterance.interrupted', utterance: 1, text, heard: text, durationMs: 2000 });
  call.tell({ type: 'sentence.started', utterance: 2, sentence: 0, text: 'Yes?' });
  assert.deepEqual(viewer.taken(), [
    ['voice', 0, 1000, 1000, 'There was a server.', 'partial'],
    ['voice', 0, 1000, 2500, 'There was a server.', 'final'],
    ['voice', 1, 2500, 2500, 'It never stopped.', 'partial'],
    ['voice', 1, 2500, 3000, 'It never', 'final'],
    ['voice', 2, 3000, 3000, 'Yes?', 'partial'],
  ]);
});

test('an utterance that ends while it waits changes nothing of the one that is heard', () => {
  const { call, time, follow } = open();
  const viewer = follow();
  viewer.taken();
  call.tell({ type: 'sentence.started', utterance: 1, sentence: 0, text: 'One moment.' });
  const failure = { code: 'ENGINE_FAILED', message: 'no' } as const;
  call.tell({ type: 'utterance.failed', utterance: 2, text: '', error: failure });
  time.advance(900);
  call.tell({ type: 'sentence.spoken', utterance: 1, sentence: 0, text: 'One moment.' });
  assert.deepEqual(viewer.taken(), [
    ['voice', 0, 0, 0, 'One moment.', 'partial'],
    ['voice', 0, 0, 900, 'One moment.', 'final'],
  ]);
});

test('texts of the caller have the numbers of their turns, also if a partial one comes before the last final one', async () => {
  const { call, recogniser, follow } = open();
  const viewer = follow();
  viewer.taken();
  const [session] = recogniser.opened;
  assert.ok(session !== undefined);
  session.textOf = (part) => (part === 0 ? 'Yes.' : '');
  for (const event of [SPEECH, TURN, SPEECH]) call.tell(event);
  session.partial('And', 0, 1);
  await tick();
  for (const event of [TURN, SPEECH, TURN]) call.tell(event);
  await tick();
  call.move();
  call.tell(SPEECH);
  recogniser.opened[1]?.partial('Well', 0, 0);
  assert.deepEqual(
    viewer.taken().map(([, number, , , text, state]) => [number, text, state]),
    [
      [1, 'And', 'partial'],
      [0, 'Yes.', 'final'],
      [1, '', 'final'],
      [3, 'Well', 'partial'],
    ],
  );
});

test('all who follow a call share one recognition, which ends with the last of them', () => {
  const { call, recogniser, follow } = open();
  const [first, second] = [follow(), follow()];
  call.tell(SPEECH);
  assert.equal(recogniser.opened.length, 1);
  assert.equal(call.observers, 2); // the captions, and the recognition
  first.stop();
  first.stop();
  assert.equal(call.ears.size, 1);
  second.stop();
  assert.deepEqual([call.ears.size, call.observers, recogniser.sessions, call.hearers], [0, 0, 0, 0]);
  follow();
  call.tell(SPEECH);
  assert.equal(recogniser.opened.length, 2);
});

test('a client that comes again has the captions that it missed', () => {
  const { call, follow } = open();
  const first = follow();
  for (let sentence = 0; sentence < 300; sentence++) {
    call.tell({ type: 'sentence.started', utterance: 1, sentence, text: `sentence ${sentence}` });
    call.tell({ type: 'sentence.spoken', utterance: 1, sentence, text: `sentence ${sentence}` });
  }
  const last = first.events.at(-5)?.id ?? 0;
  first.stop();
  assert.deepEqual(
    follow(last)
      .taken()
      .map(([, , , , text]) => text),
    [undefined, 'sentence 298', 'sentence 299'],
  );
  assert.equal(follow(0).events.length, 1 + 200);
});

test('a recogniser that fails is told, and asked again at the next speech after five seconds', async () => {
  const { call, recogniser, time, follow } = open();
  const viewer = follow();
  viewer.taken();
  call.tell(SPEECH);
  recogniser.opened[0]?.fail(new ParleyError('ENGINE_LOST', 'gone'));
  await tick();
  assert.deepEqual(viewer.taken(), [['failed']]);
  call.tell(SPEECH);
  assert.equal(recogniser.opened.length, 1);
  time.advance(5000);
  recogniser.refusal = new ParleyError('ENGINE_BUSY', 'too many');
  call.tell(SPEECH);
  assert.deepEqual(viewer.taken(), [['failed']]);
  assert.equal(call.ears.size, 0);
  recogniser.refusal = undefined;
  time.advance(5000);
  call.tell(SPEECH);
  assert.equal(recogniser.sessions, 1);
});

test('a call that moves, or whose far end sends nothing, is heard through the port that it has', () => {
  const { call, recogniser, follow } = open();
  follow();
  call.move();
  assert.deepEqual([recogniser.opened.length, recogniser.sessions, call.ears.size], [2, 1, 1]);
  call.hasSound = false;
  call.move();
  call.tell(SPEECH);
  assert.deepEqual([recogniser.opened.length, recogniser.sessions, call.ears.size], [2, 0, 0]);
  call.hasSound = true;
  call.move();
  assert.equal(recogniser.sessions, 1);
});

test('the end of the call is the last event', async () => {
  const { call, follow } = open();
  const viewer = follow();
  call.tell(SPEECH);
  call.end('hung up');
  await tick();
  assert.deepEqual(viewer.taken().at(-1), ['ended']);
  assert.equal(call.ears.size, 0);
});

test('a call of another key, or that is not open, is not found', () => {
  const { captions, follow } = open('anna');
  const listen = (id: string, key?: string) => captions.follow(id, key, 0, () => undefined);
  assert.throws(() => listen('call_1', 'bert'), { code: 'NOT_FOUND' });
  assert.throws(() => listen('call_2', 'anna'), { code: 'NOT_FOUND' });
  assert.equal(follow(0, 'anna').events.length, 1);
});

test('without a recogniser only the voice has captions', (t: TestContext) => {
  void t;
  const call = new PlayedCall();
  const time = new ManualTime();
  const captions = new CallCaptions({
    calls: { get: () => call },
    ownerOf: () => undefined,
    callerTexts: new CallerTexts({ recogniser: undefined, time }),
    time,
    unixMs: () => 0,
  });
  const events: CaptionEvent[] = [];
  captions.follow('call_1', undefined, 0, ({ event }) => events.push(event));
  call.tell(SPEECH);
  call.tell({ type: 'sentence.started', utterance: 1, sentence: 0, text: 'Hello.' });
  assert.deepEqual(
    events.map(({ type }) => type),
    ['started', 'caption'],
  );
  assert.deepEqual(events[0], { type: 'started', startedMs: 0, isCallerRecognised: false });
  assert.equal(call.heard, 0);
});
