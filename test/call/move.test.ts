// Calls that go on through another port: everything real but the engine, the
// network and time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MediaPort } from '../../src/call/call-route.js';
import type { Utterance } from '../../src/call/utterance.js';
import { MediaPlane } from '../../src/media/media-plane.js';
import { G722, OPUS, PCMA, PCMU, type Codec } from '../../src/codecs/codec.js';
import { type CallUnderTest, openCalls, type SentPacket } from '../fakes/call-under-test.js';
import { rejectionsOf } from '../fakes/rejections.js';
import { until } from '../fakes/until.js';
import { alignments, heardOf, rising, RATE, sounding } from './heard-sound.js';

const SAID_MS = 3000;
const STEP_MS = 60;
const TEXT = 'A sentence of three seconds that is moved.';

const calls = openCalls();

type Form = readonly [Codec, number];

function openIn([codec, frameMs]: Form): CallUnderTest {
  return calls.open(undefined, { codec, frameMs });
}

/** Moves as a re-INVITE does: the same source goes on. */
function move(under: CallUnderTest, [codec, frameMs]: Form, from: MediaPort): MediaPort {
  const port = under.openPort(codec, frameMs, from);
  under.call.moveTo(port);
  from.playout.close();
  return port;
}

/** Resolves when so much of what waited is in the port that took the place of another one. */
function carried({ call }: CallUnderTest, ms: number): Promise<void> {
  return until(() => call.stats().queuedMs >= ms);
}

/** Time that passes in a call, never faster than the worker encodes. */
class Passing {
  readonly #under: CallUnderTest;
  readonly #utterance: Utterance;
  #pushed = false;

  constructor(under: CallUnderTest, utterance: Utterance) {
    this.#under = under;
    this.#utterance = utterance;
    void utterance.pushed.then(() => (this.#pushed = true));
  }

  async pass(ms: number): Promise<void> {
    for (let leftMs = ms; leftMs > 0; leftMs -= STEP_MS) {
      await until(() => this.#pushed || this.#under.call.stats().queuedMs >= 4 * STEP_MS);
      this.#under.pass(Math.min(STEP_MS, leftMs));
    }
  }

  /** To the end of the utterance. */
  async end(): Promise<void> {
    while (this.#utterance.state === 'waiting' || this.#utterance.state === 'speaking') {
      await this.pass(STEP_MS);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** Speaks, moving to each form in turn after `stepMs`, and returns what left. */
async function spokenThrough(forms: readonly Form[], stepMs: number): Promise<SentPacket[]> {
  const [first, ...others] = forms;
  const under = openIn(first ?? assert.fail());
  under.engine.sounds.set(TEXT, rising(SAID_MS));
  const utterance = under.call.speak(TEXT);
  const time = new Passing(under, utterance);
  let port = under.port;
  for (const form of others) {
    await time.pass(stepMs);
    port = move(under, form, port);
    await carried(under, 4 * STEP_MS);
  }
  await time.end();
  const { text, end } = await utterance.ended;
  assert.deepEqual([text, end, under.call.stats().underruns], [TEXT, 'spoken', 0]);
  return under.sent();
}

function nameOf([codec, frameMs]: Form): string {
  return `${codec.name}/${frameMs}`;
}

const ROUTES: readonly (readonly Form[])[] = [
  [[PCMU, 20]],
  [
    [PCMU, 20],
    [PCMA, 20],
  ],
  [
    [PCMU, 20],
    [PCMU, 30],
  ],
  [
    [PCMU, 30],
    [PCMA, 20],
  ],
  [
    [PCMU, 20],
    [G722, 20],
  ],
  [
    [G722, 20],
    [PCMU, 20],
  ],
  [
    [PCMU, 20],
    [OPUS, 20],
  ],
  [
    [OPUS, 20],
    [PCMU, 20],
  ],
  [
    [OPUS, 20],
    [OPUS, 60],
  ],
  [
    [PCMU, 20],
    [OPUS, 20],
    [PCMU, 20],
  ],
  [
    [PCMU, 20],
    [PCMA, 20],
    [PCMU, 30],
    [G722, 20],
  ],
];

for (const forms of ROUTES) {
  test(`a sentence that goes ${forms.map(nameOf).join(' to ')} is heard without a gap or a repetition`, async () => {
    const said = rising(SAID_MS);
    const heard = sounding(heardOf(await spokenThrough(forms, 500)));
    const longest = Math.max(...forms.map(([, frameMs]) => frameMs));
    assert.ok(Math.abs(heard.length - said.length) <= (longest * RATE) / 1000, `${heard.length} samples`);
    const found = alignments(heard, said);
    for (const { atMs, lagMs, likeness, gain } of found) {
      // One window holds the place where the far end changes its decoder.
      const atMove = forms.some((_, n) => n > 0 && Math.abs(atMs + 20 - 500 * n) <= 60);
      const what = `at ${atMs} ms: ${lagMs} ms late, likeness ${likeness.toFixed(3)}, gain ${gain.toFixed(2)}`;
      assert.ok(gain > (atMove ? 0.6 : 0.9) && gain < 1.1, what);
      assert.ok(likeness > (atMove ? 0.6 : 0.97), what);
      if (!atMove) assert.ok(Math.abs(lagMs) <= 20, what);
    }
  });
}

test('sequence numbers and timestamps go on through a change of codec', async () => {
  const packets = await spokenThrough(
    [
      [PCMU, 20],
      [PCMA, 20],
    ],
    500,
  );
  for (const [n, packet] of packets.entries()) {
    assert.equal(packet.sequence, ((packets[0]?.sequence ?? 0) + n) % 65_536);
    assert.equal(packet.timestamp, ((packets[0]?.timestamp ?? 0) + 160 * n) % 2 ** 32);
  }
});

/** Every event of the sentences, in order. */
function reported({ events }: CallUnderTest): string[] {
  return events.map((event) => ('sentence' in event ? `${event.type} ${event.sentence}` : event.type));
}

const ALL_EVENTS = [
  'utterance.started',
  'sentence.started 0',
  'sentence.spoken 0',
  'sentence.started 1',
  'sentence.spoken 1',
  'utterance.spoken',
];

const TWO = 'One two three. Four five six.';

/** Two sentences of a second each. */
function twoSentences(form: Form): CallUnderTest {
  const under = openIn(form);
  under.engine.sounds.set('One two three.', rising(1000));
  under.engine.sounds.set('Four five six.', rising(1000));
  return under;
}

/** The engine tells the times of words: estimated ones would change while a sentence is still encoded. */
function timed(under: CallUnderTest): CallUnderTest {
  for (const sentence of ['One two three.', 'Four five six.']) {
    const times = sentence
      .split(' ')
      .map((word, n) => ({ word, textOffset: sentence.indexOf(word), startMs: 300 * n }));
    under.engine.words.set(sentence, times);
  }
  return under;
}

test('marks are reported once each, at whatever frame the call moves', async () => {
  for (const atMs of [0, 20, 980, 1000, 1020, 1140, 1160, 1180, 2140]) {
    const under = twoSentences([PCMU, 20]);
    const utterance = under.call.speak(TWO);
    const time = new Passing(under, utterance);
    await time.pass(atMs);
    move(under, [PCMA, 20], under.port);
    await time.end();
    assert.deepEqual(reported(under), ALL_EVENTS, `moved at ${atMs} ms`);
    assert.deepEqual(await utterance.ended, { end: 'spoken', text: TWO, durationMs: 2160 });
  }
});

test('a mark that was reached is reported although its playout is closed before the event loop turns', async () => {
  const plane = MediaPlane.open({ clock: 'real', seed: 1 });
  const playout = plane.openStream({
    ssrc: 1,
    payloadType: 0,
    clockRate: 8000,
    ticksPerFrame: 80,
    frameMs: 10,
    sequence: 0,
    timestamp: 0,
    silence: PCMU.silence(10),
    lowMs: 100,
    highMs: 200,
    cname: 'call',
    rtcpIntervalMs: 0,
  });
  const reported: number[] = [];
  playout.onMark = (_track, mark) => void reported.push(mark);
  playout.target({ capture: true });
  playout.push(playout.generation, 1, PCMU.silence(10));
  playout.mark(playout.generation, 1, 77, true);
  const untilMs = performance.now() + 10_000;
  while (playout.sent(1) === 0 && performance.now() < untilMs); // nothing is reported meanwhile
  playout.close();
  assert.deepEqual(reported, []);
  await until(() => reported.length > 0);
  assert.deepEqual(reported, [77]);
  plane.close();
});

test('the text heard after a move and an interruption is exact', async () => {
  for (const [form, atMs, heardMs] of [
    [[PCMA, 20], 400, 40],
    [[OPUS, 20], 600, 100],
    [[PCMU, 30], 300, 90],
    [[G722, 20], 1400, 200],
  ] as const) {
    const under = timed(twoSentences([PCMU, 20]));
    const plain = timed(twoSentences([PCMU, 20]));
    const utterance = under.call.speak(TWO);
    const time = new Passing(under, utterance);
    await time.pass(atMs);
    move(under, form, under.port);
    await carried(under, heardMs);
    await time.pass(heardMs);
    await quiet();
    const [answer] = under.call.interrupt('caller spoke').utterances;
    const same = plain.call.speak(TWO);
    await new Passing(plain, same).pass(atMs + heardMs);
    await quiet();
    assert.equal(answer?.text, plain.call.interrupt('caller spoke').text);
    assert.equal(answer?.sentMs, atMs + heardMs);
    await until(() => under.call.stats().queuedMs === 0);
    under.sent();
    under.pass(500);
    assert.ok(sounding(heardOf(under.sent())).length < 50 * (RATE / 1000), 'nothing old follows');
    assert.deepEqual(
      reported(under).filter((type) => type === 'utterance.interrupted'),
      ['utterance.interrupted'],
    );
  }
});

test('figures are those of the whole call, whether a port continues the stream before or begins another', () => {
  const under = openIn([PCMU, 20]);
  let left = under.call.stats().packets;
  const checkCounts = () => {
    left += under.sent().length;
    const { packets, silencePackets } = under.call.stats();
    assert.deepEqual([packets, silencePackets], [left, left]);
  };
  under.pass(200);
  checkCounts();
  const second = move(under, [PCMA, 20], under.port);
  under.pass(100);
  checkCounts();
  under.call.moveTo(under.openPort(PCMU, 20));
  second.playout.close();
  checkCounts();
  under.pass(100);
  checkCounts();
  assert.ok(left >= 19, `${left} packets`);
});

test('an interruption during a handover drops the queued sound, and the call speaks on', async () => {
  const under = twoSentences([PCMU, 20]);
  const first = under.call.speak(TWO);
  await new Passing(under, first).pass(300);
  move(under, [OPUS, 20], under.port);
  assert.equal(under.call.interrupt('caller spoke').utterances[0]?.sentMs, 300);
  under.engine.sounds.set('Next.', rising(400));
  under.sent();
  const next = under.call.speak('Next.');
  await new Passing(under, next).end();
  assert.deepEqual(await next.ended, { end: 'spoken', text: 'Next.', durationMs: 400 });
  const found = alignments(sounding(heardOf(under.sent())).subarray(80), rising(400));
  for (const { likeness } of found.slice(1, -1)) assert.ok(likeness > 0.97);
});

test('texts that wait are spoken in the new codec alone, after the sound that was handed over', async () => {
  const under = twoSentences([PCMU, 20]);
  under.engine.sounds.set('Third.', rising(500));
  const first = under.call.speak(TWO);
  const second = under.call.speak('Third.');
  await new Passing(under, first).pass(200);
  move(under, [G722, 20], under.port);
  await new Passing(under, first).end();
  await new Passing(under, second).end();
  assert.deepEqual((await second.ended).durationMs, 500);
  assert.deepEqual(reported(under).slice(0, 6), ALL_EVENTS);
  assert.equal(under.call.codec.name, 'G722');
  assert.equal(under.call.stats().underruns, 0);
  assert.equal(under.events.at(-1)?.type, 'utterance.spoken');
});

test('all that waits of several texts goes on in its order', async () => {
  const under = openIn([PCMU, 20]);
  const utterances = ['One.', 'Two.', 'Three.'].map((text, n) => {
    under.engine.sounds.set(text, rising(200 + 20 * n));
    return under.call.speak(text);
  });
  await Promise.all(utterances.map(({ pushed }) => pushed));
  under.pass(100);
  move(under, [PCMA, 20], under.port);
  const late = under.call.speak('One.');
  await late.pushed;
  under.pass(1000);
  const ends = await Promise.all([...utterances, late].map(({ ended }) => ended));
  assert.deepEqual(
    ends.map(({ end, text, durationMs }) => [end, text, durationMs]),
    [
      ['spoken', 'One.', 200],
      ['spoken', 'Two.', 220],
      ['spoken', 'Three.', 240],
      ['spoken', 'One.', 200],
    ],
  );
  assert.equal(heardOf(under.sent()).length, (1100 * RATE) / 1000);
});

test('a text that is being synthesised goes on into the new port', async () => {
  const under = openIn([PCMU, 20]);
  under.engine.sounds.set('Slow.', rising(600));
  let open = () => {};
  under.engine.gate = () => new Promise((resolve) => (open = resolve));
  const utterance = under.call.speak('Slow.');
  await until(() => under.engine.begun.length === 1);
  move(under, [OPUS, 20], under.port);
  under.pass(100);
  open();
  await new Passing(under, utterance).end();
  assert.deepEqual(await utterance.ended, { end: 'spoken', text: 'Slow.', durationMs: 600 });
});

test('a call moves in silence, twice in a row, and in the middle of a sentence twice in a row', async () => {
  const under = twoSentences([PCMU, 20]);
  under.pass(100);
  let port = move(under, [PCMA, 20], under.port);
  port = move(under, [PCMU, 20], port);
  const utterance = under.call.speak(TWO);
  const time = new Passing(under, utterance);
  await time.pass(300);
  port = move(under, [OPUS, 20], port);
  port = move(under, [PCMA, 20], port);
  await time.end();
  assert.deepEqual(reported(under), ALL_EVENTS);
  assert.equal((await utterance.ended).durationMs, 2160);
});

test('moved too often in one text, that text fails and the call goes on', async () => {
  const under = twoSentences([PCMU, 20]);
  const utterance = under.call.speak(TWO);
  await new Passing(under, utterance).pass(300);
  let { port } = under;
  for (let n = 0; n < 9; n++) port = move(under, [n % 2 === 0 ? PCMA : PCMU, 20], port);
  const { end, error } = await utterance.ended;
  assert.deepEqual([end, error?.code], ['failed', 'ENCODER_FAILED']);
  const next = under.call.speak('Next.');
  await new Passing(under, next).end();
  assert.equal((await next.ended).end, 'spoken');
});

test('a call that is transferred goes on at the other leg, and its old one falls silent', async () => {
  const under = twoSentences([PCMU, 20]);
  const utterance = under.call.speak(TWO);
  const time = new Passing(under, utterance);
  await time.pass(500);
  const port = under.openPort(PCMU, 20);
  under.call.moveTo(port);
  await time.end();
  assert.deepEqual(reported(under), ALL_EVENTS);
  const packets = under.sent();
  const [old, other] = [0, 1].map((leg) =>
    packets.filter(({ ssrc }) => ssrc - (packets[0]?.ssrc ?? 0) === leg),
  );
  assert.ok(Math.abs(sounding(heardOf(old ?? [])).length - 500 * (RATE / 1000)) < 10);
  const said = heardOf(other ?? []);
  assert.ok(sounding(said).length <= (2160 - 500) * (RATE / 1000));
  assert.equal((await utterance.ended).durationMs, 2160);
  await under.port.close();
  assert.equal(port.playout.generation > 0, true);
});

/** A round trip through the encoder worker: everything that was on its way has arrived. */
async function quiet(): Promise<void> {
  const session = calls.encoders.open({ kind: 'bytes', ring: 0, container: 'pcm', rate: 8000 });
  await session.end().catch(() => undefined);
  await new Promise((resolve) => setImmediate(resolve));
}

test('what follows the ports of a call and throws keeps nothing else from the next port', async () => {
  const under = openIn([PCMU, 20]);
  let isMoving = false;
  under.call.follow(() => {
    if (isMoving) throw new Error('a defect');
  });
  const ports: MediaPort[] = [];
  under.call.follow((port) => void ports.push(port));
  isMoving = true;
  let next: MediaPort | undefined;
  const rejections = await rejectionsOf(() => (next = move(under, [PCMA, 20], under.port)));
  assert.deepEqual(rejections.map(String), ['Defect: call: a defect']);
  assert.deepEqual([ports.length, ports.at(-1) === next, under.call.codec.name], [2, true, PCMA.name]);
});
