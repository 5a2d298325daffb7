// The whole way, text to packets, with a clock held by the test. Everything
// between is real: sentences, rings, encoder worker, playout, the native plane.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SENTENCE_PAUSE_MS } from '../src/speaking/speech-pipeline.js';
import {
  type CallUnderTest,
  FIRST_SEQUENCE,
  FIRST_TIMESTAMP,
  FRAME_MS,
  openCalls,
  type SentPacket,
} from './fakes/call-under-test.js';
import { buzz } from './fakes/engines.js';
import { TokenSource } from './fakes/token-source.js';
import { until } from './fakes/until.js';

const PAUSE_FRAMES = SENTENCE_PAUSE_MS / FRAME_MS;
const ULAW_SILENCE = 0xff;
// mu-law of +0.5 and -0.5 (ITU-T G.711), and of the same at a quarter.
const HALF = [0x8f, 0x0f];
const QUARTER = [0x9f, 0x1f];

const calls = openCalls();

function openCall(): CallUnderTest {
  return calls.open();
}

function isSilent({ payload }: SentPacket): boolean {
  return payload.every((byte) => byte === ULAW_SILENCE);
}

function holds({ payload }: SentPacket, [plus, minus]: readonly number[]): boolean {
  return payload.length === 160 && payload.every((byte, n) => byte === (n % 2 === 0 ? plus : minus));
}

test('two sentences leave as packets 20 ms apart, in order, with a pause between, and then are spoken', async () => {
  const { call, engine, events, pass, sent } = openCall();
  engine.sounds.set('Hello there.', buzz(60, 0.5));
  engine.sounds.set('Goodbye.', buzz(40, 0.25));
  const utterance = call.speak('Hello there. Goodbye.');
  await utterance.pushed;

  const frames = 3 + PAUSE_FRAMES + 2;
  pass(frames * FRAME_MS);

  const packets = sent();
  assert.equal(packets.length, frames);
  packets.forEach((packet, n) => {
    assert.equal(packet.sequence, (FIRST_SEQUENCE + n) % 65_536);
    assert.equal(packet.timestamp, (FIRST_TIMESTAMP + 160 * n) % 2 ** 32);
    assert.equal(packet.marker, n === 0);
    assert.equal(packet.atMs, (packets[0]?.atMs ?? 0) + n * FRAME_MS);
    if (n < 3) assert.ok(holds(packet, HALF), `packet ${n} holds the first sentence`);
    else if (n < 3 + PAUSE_FRAMES) assert.ok(isSilent(packet), `packet ${n} holds the pause`);
    else assert.ok(holds(packet, QUARTER), `packet ${n} holds the second sentence`);
  });
  assert.deepEqual(await utterance.ended, {
    end: 'spoken',
    text: 'Hello there. Goodbye.',
    durationMs: frames * FRAME_MS,
  });
  assert.deepEqual(
    events.map(({ type }) => type),
    [
      'utterance.started',
      'sentence.started',
      'sentence.spoken',
      'sentence.started',
      'sentence.spoken',
      'utterance.spoken',
    ],
  );
});

test('an utterance is spoken when its last packet left, not before', async () => {
  const { call, engine, events, pass } = openCall();
  engine.sounds.set('Hello.', buzz(60, 0.5));
  await call.speak('Hello.').pushed;
  pass(2 * FRAME_MS);
  assert.ok(!events.some(({ type }) => type === 'utterance.spoken'));
  pass(FRAME_MS);
  assert.equal(events.at(-1)?.type, 'utterance.spoken');
});

test('before and after speech the call sends silence, without a gap in sequence or time', async () => {
  const { call, engine, pass, sent } = openCall();
  engine.sounds.set('Hello.', buzz(40, 0.5));
  pass(60);
  await call.speak('Hello.').pushed;
  pass(100);
  const packets = sent();
  assert.deepEqual(packets.map(isSilent), [true, true, true, false, false, true, true, true]);
  assert.deepEqual(
    packets.map(({ marker }) => marker),
    [false, false, false, true, false, false, false, false],
  );
  packets.forEach((packet, n) => {
    assert.equal(packet.sequence, (FIRST_SEQUENCE + n) % 65_536);
    assert.equal(packet.timestamp, (FIRST_TIMESTAMP + 160 * n) % 2 ** 32);
  });
});

test('an interruption in the middle of a sentence answers with what was heard, and nothing old follows', async () => {
  const { call, engine, events, pass, sent, ended } = openCall();
  engine.sounds.set('One two.', buzz(100, 0.5));
  engine.sounds.set('Three four five six.', buzz(400, 0.5));
  const utterance = call.speak('One two. Three four five six.');
  await utterance.pushed;
  pass((5 + PAUSE_FRAMES + 10) * FRAME_MS);

  const interruption = call.interrupt('caller spoke');

  assert.deepEqual(interruption, {
    text: 'One two. Three four',
    utterances: [{ utterance: 1, text: 'One two. Three four', sentMs: (15 + PAUSE_FRAMES) * FRAME_MS }],
  });
  assert.equal((await utterance.ended).end, 'interrupted');
  assert.equal(events.at(-1)?.type, 'utterance.interrupted');
  sent();
  pass(200);
  assert.ok(sent().every(isSilent));
  assert.deepEqual(ended, ['interrupted']);
});

test('what is spoken after an interruption begins clean, with a marker', async () => {
  const { call, engine, pass, sent } = openCall();
  engine.sounds.set('Old words here.', buzz(1000, 0.5));
  engine.sounds.set('New.', buzz(40, 0.25));
  call.speak('Old words here.');
  await call.speak('Also old.').pushed;
  pass(100);
  call.interrupt('caller spoke');
  pass(FRAME_MS);
  await call.speak('New.').pushed;
  sent();
  pass(80);
  const packets = sent();
  assert.deepEqual(
    packets.map((packet) => holds(packet, QUARTER)),
    [true, true, false, false],
  );
  assert.ok(packets[0]?.marker);
  assert.ok(packets.slice(2).every(isSilent));
});

test('utterances that wait are interrupted too, having said nothing', async () => {
  const { call, engine, pass } = openCall();
  engine.sounds.set('First.', buzz(200, 0.5));
  await call.speak('First.').pushed;
  await call.speak('Second.').pushed;
  pass(200);
  const { utterances } = call.interrupt('caller spoke');
  assert.deepEqual(
    utterances.map(({ utterance, text, sentMs }) => ({ utterance, text, sentMs })),
    [{ utterance: 2, text: '', sentMs: 0 }],
  );
});

test('an utterance whose last packet left just before an interruption was spoken, not interrupted', async () => {
  const { call, engine, pass } = openCall();
  engine.sounds.set('Done.', buzz(60, 0.5));
  const utterance = call.speak('Done.');
  await utterance.pushed;
  pass(60);
  assert.deepEqual(call.interrupt('caller spoke').utterances, []);
  assert.equal((await utterance.ended).end, 'spoken');
});

test('sentence N+1 is synthesised while N is still being encoded and played', async () => {
  const { call, engine } = openCall();
  engine.sounds.set('One.', buzz(3000, 0.5)); // twice what the playout takes
  call.speak('One. Two. Three. Four.');
  await until(() => engine.begun.includes('Two.'));
  await quiet();
  // Two is ready, Three waits until One is out of the way.
  assert.deepEqual(engine.begun, ['One.', 'Two.']);
});

test('a call that is not played holds the engine: nothing runs further ahead than the playout and two rings', async () => {
  const { call, engine, pass } = openCall();
  engine.sounds.set('Long.', buzz(60_000, 0.5));
  const utterance = call.speak('Long. Next.');
  await until(() => call.stats().queuedMs === 1500);
  await quiet();
  assert.equal(call.stats().queuedMs, 1500);
  assert.deepEqual(engine.begun, ['Long.']);
  pass(1120); // below the low mark of 400 ms the encoder is asked again
  await until(() => call.stats().queuedMs === 1500);
  call.interrupt('enough');
  assert.deepEqual(await utterance.ended, { end: 'interrupted', text: '', durationMs: 1120 });
});

test('tokens speak at the first sentence end, before the text is complete', async () => {
  const { call, engine, events, pass } = openCall();
  const tokens = new TokenSource();
  engine.sounds.set('Hello there.', buzz(40, 0.5));
  engine.sounds.set('More.', buzz(40, 0.5));
  const utterance = call.speak(tokens);
  tokens.push('Hello ');
  tokens.push('there. Mo');
  await until(() => call.stats().queuedMs === 40);
  pass(40);
  assert.equal(events[0]?.type, 'utterance.started');
  tokens.push('re.');
  tokens.end();
  await utterance.pushed;
  pass(1000);
  assert.equal((await utterance.ended).text, 'Hello there. More.');
});

test('a wait for more text is silence, not an underrun', async () => {
  const { call, engine, pass } = openCall();
  const tokens = new TokenSource();
  engine.sounds.set('Hello there.', buzz(40, 0.5));
  const utterance = call.speak(tokens);
  tokens.push('Hello there. M');
  // Two frames are too few to start with, unless nothing follows for now.
  await until(() => call.stats().queuedMs === 40);
  await quiet();
  pass(400);
  assert.equal(call.stats().underruns, 0);
  tokens.push('ore.');
  tokens.end();
  await utterance.pushed;
  pass(1000);
  assert.equal((await utterance.ended).end, 'spoken');
  assert.equal(call.stats().underruns, 0);
});

test('a sentence that is late within a whole text is an underrun', async () => {
  const { call, engine, pass } = openCall();
  engine.sounds.set('One.', buzz(40, 0.5));
  let open: () => void = () => undefined;
  engine.gate = (text) => (text === 'Two.' ? new Promise((resolve) => (open = resolve)) : Promise.resolve());
  const utterance = call.speak('One. Two.');
  await until(() => engine.begun.includes('Two.') && call.stats().queuedMs === 40 + SENTENCE_PAUSE_MS);
  await quiet();
  pass(40 + SENTENCE_PAUSE_MS + 100);
  assert.equal(call.stats().underruns, 5);
  open();
  await utterance.pushed;
});

test('a sentence of which nothing left is not reported as heard', async () => {
  const { call, engine, pass } = openCall();
  engine.sounds.set('First one is here.', buzz(400, 0.5));
  engine.gate = (text) => (text.startsWith('Second') ? new Promise(() => undefined) : Promise.resolve());
  call.speak('First one is here. Second one is not made yet.');
  await until(() => engine.begun.length === 2 && call.stats().queuedMs === 400 + SENTENCE_PAUSE_MS);
  await quiet();
  pass(1000);
  assert.equal(call.interrupt('caller spoke').text, 'First one is here.');
});

test('a text that fails before its turn lets nobody overtake the one before it', async () => {
  const { call, engine, events, pass, sent } = openCall();
  engine.sounds.set('Long.', buzz(2000, 0.5)); // more than the playout takes
  engine.sounds.set('Next.', buzz(40, 0.25));
  call.speak('Long.');
  const tokens = new TokenSource();
  tokens.push('...');
  tokens.end();
  const failed = await call.speak(tokens).ended;
  assert.equal(failed.error?.code, 'TEXT_EMPTY');
  const last = call.speak('Next.');
  await until(() => call.stats().queuedMs === 1500);
  pass(1200); // below the low mark: the rest of the first one has room, and then the next
  await last.pushed;
  pass(1000);
  assert.equal((await last.ended).end, 'spoken');
  const voiced = sent().filter((packet) => !isSilent(packet));
  assert.equal(voiced.length, 100 + 2);
  assert.ok(voiced.slice(0, 100).every((packet) => holds(packet, HALF)));
  assert.ok(voiced.slice(100).every((packet) => holds(packet, QUARTER)));
  assert.deepEqual(
    events.filter((event) => event.type === 'utterance.spoken').map(({ utterance }) => utterance),
    [1, 3],
  );
});

test('what was spoken just before a hang-up was spoken', async () => {
  const { call, engine, pass, ended } = openCall();
  engine.sounds.set('Bye.', buzz(60, 0.5));
  await call.speak('Bye.').pushed;
  pass(60);
  await call.close('hung up');
  assert.deepEqual(ended, ['spoken']);
});

test('a dead engine ends the utterance with an error after what was made is heard, and the call survives', async () => {
  const { call, engine, events, pass } = openCall();
  engine.sounds.set('Good.', buzz(40, 0.5));
  engine.sounds.set('Bad.', buzz(20, 0.5));
  engine.failing.add('Bad.');
  const utterance = call.speak('Good. Bad. Never.');
  await utterance.pushed;
  pass(2000);
  const { end, error } = await utterance.ended;
  assert.equal(end, 'failed');
  assert.equal(error?.code, 'ENGINE_FAILED');
  const failed = events.at(-1);
  assert.ok(failed?.type === 'utterance.failed');
  assert.equal(failed.text, 'Good.');
  assert.ok(!engine.begun.includes('Never.'));

  engine.sounds.set('Again.', buzz(40, 0.5));
  const next = call.speak('Again.');
  await next.pushed;
  pass(100);
  assert.equal((await next.ended).end, 'spoken');
});

test('the first packet is timed from the arrival of the text', async () => {
  const { call, engine, events, pass, plane } = openCall();
  engine.sounds.set('Hello.', buzz(40, 0.5));
  const receivedAtMs = plane.nowMs - 7;
  await call.speak('Hello.', { receivedAtMs }).pushed;
  pass(20);
  const started = events[0];
  assert.ok(started?.type === 'utterance.started');
  assert.ok(started.firstPacketMs > 7 && started.firstPacketMs <= 27);
});

test('a call takes so many waiting texts and names the limit to the next', () => {
  const { call, engine } = openCall();
  engine.gate = () => new Promise(() => undefined);
  for (let n = 0; n < 4; n++) call.speak(`Text ${n}.`);
  assert.throws(() => call.speak('One too many.'), { code: 'QUEUE_FULL', message: /^3 texts wait/ });
});

test('a closed call has freed everything and refuses more', async () => {
  const { call, engine, plane, ended, log } = openCall();
  engine.gate = () => new Promise(() => undefined);
  call.speak('This is never made.');
  const closing = call.close('hung up');
  assert.equal(call.close('again'), closing);
  await closing;
  assert.equal(await call.closed, 'hung up');
  assert.equal(plane.stats().streams, 0);
  assert.deepEqual(calls.encoders.sessions, [0]);
  assert.deepEqual(ended, ['interrupted']);
  assert.throws(() => call.speak('Hello?'), { code: 'CALL_CLOSED' });
  assert.match(log.at(-1) ?? '', /^call closed /);
});

/** A round trip through the encoder worker: everything that was on its way has arrived. */
async function quiet(): Promise<void> {
  const session = calls.encoders.open({ kind: 'bytes', ring: 0, container: 'pcm', rate: 8000 });
  await session.end().catch(() => undefined);
  await new Promise((resolve) => setImmediate(resolve));
}
