// Calls that are held, and sound that applications bring: everything real but
// the engine, the network and time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { G722, PCMA } from '../../src/codecs/codec.js';
import { type CallUnderTest, FRAME_MS, openCalls } from '../fakes/call-under-test.js';
import { buzz } from '../fakes/engines.js';
import { rejectionsOf } from '../fakes/rejections.js';
import { TokenSource } from '../fakes/token-source.js';
import { until } from '../fakes/until.js';
import { heardOf, rising, RATE, sounding } from './heard-sound.js';

const MINUTE_MS = 60_000;

const calls = openCalls();

function openCall(): CallUnderTest {
  return calls.open();
}

test('held for fifteen minutes, a call goes on with the next frame and without an underrun', async () => {
  const { call, engine, pass, sent } = openCall();
  engine.sounds.set('Hello there.', rising(1000));
  const utterance = call.speak('Hello there.');
  await utterance.pushed;
  pass(400);
  const before = sent();
  call.hold(true);
  const waiting = call.speak('Bye.');
  pass(15 * MINUTE_MS);
  assert.equal(sounding(heardOf(sent())).length, 0);
  call.hold(false);
  await waiting.pushed;
  pass(600);
  const heard = heardOf([...before, ...sent()]);
  assert.deepEqual(heard, heardOf(await unheld('Hello there.')));
  pass(1000);
  assert.deepEqual((await waiting.ended).end, 'spoken');
  assert.deepEqual(await utterance.ended, { end: 'spoken', text: 'Hello there.', durationMs: 1000 });
  assert.equal(call.stats().underruns, 0);
});

async function unheld(text: string) {
  const { call, engine, pass, sent } = openCall();
  engine.sounds.set(text, rising(1000));
  await call.speak(text).pushed;
  pass(1000);
  return sent();
}

test('a text in tokens whose producer falls silent while the call is held is not given up', async () => {
  const { call, time } = openCall();
  const tokens = new TokenSource();
  const utterance = call.speak(tokens);
  tokens.push('Hello there. H');
  await new Promise((resolve) => setImmediate(resolve));
  time.advance(9000);
  call.hold(true);
  time.advance(15 * MINUTE_MS);
  call.hold(false);
  time.advance(900);
  assert.equal(utterance.state, 'waiting');
  time.advance(100);
  await utterance.pushed;
  assert.equal(utterance.signal.aborted, false);
  call.interrupt('enough');
});

test('a call that moves while it is held stays held', async () => {
  const under = openCall();
  under.engine.sounds.set('Hello there.', rising(1000));
  const utterance = under.call.speak('Hello there.');
  await utterance.pushed;
  under.pass(400);
  under.call.hold(true);
  const port = under.openPort(PCMA, FRAME_MS, under.port);
  under.call.moveTo(port);
  await until(() => under.call.stats().queuedMs === 600);
  under.sent();
  under.pass(1000);
  assert.equal(sounding(heardOf(under.sent())).length, 0);
  under.call.hold(false);
  under.pass(600);
  // The encoder worker may give the mark of the end after its last frame.
  await until(() => {
    under.pass(FRAME_MS);
    return utterance.state !== 'speaking';
  });
  assert.equal((await utterance.ended).durationMs, 1000);
});

test('an interruption drops what is held, and what was heard is known', async () => {
  const { call, engine, pass } = openCall();
  engine.sounds.set('One two three four.', buzz(800, 0.5));
  await call.speak('One two three four.').pushed;
  pass(400);
  call.hold(true);
  pass(1000);
  assert.deepEqual(call.interrupt('caller spoke').utterances, [
    { utterance: 1, text: 'One two', sentMs: 400 },
  ]);
});

test('spoken resolves when the last packet of all that was given has left', async () => {
  const { call, pass } = openCall();
  await call.spoken();
  let isSpoken = false;
  const last = [call.speak('Hello.'), call.speak('Bye.')]; // 20 ms a character
  void call.spoken().then(() => (isSpoken = true));
  await Promise.all(last.map(({ pushed }) => pushed));
  pass(180);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isSpoken, false);
  pass(20);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isSpoken, true);
});

test('sound is played as it is, as often as it is wanted, in its turn', async () => {
  const { call, pass, sent, events } = openCall();
  const samples = new Float32Array(800); // half a frame of sound, two of silence, the rest of sound
  samples.fill(0.5, 0, 80);
  samples.fill(0.5, 400);
  const first = call.speak('Hi.');
  const played = call.play({ samples, sampleRate: 8000, times: 3 });
  await Promise.all([first.pushed, played.pushed]);
  pass(60);
  sent();
  pass(300);
  assert.deepEqual(await played.ended, { end: 'spoken', text: '', durationMs: 300 });
  const heard = heardOf(sent());
  const whole = [samples, samples, samples].flatMap((one) => [...one]);
  assert.equal(heard.length, whole.length);
  whole.forEach((sample, n) => assert.ok(Math.abs((heard[n] ?? 9) - sample) < 0.02, `sample ${n}`));
  assert.equal(events.at(-1)?.type, 'utterance.spoken');
});

test('sound of another rate is resampled, survives a move, and can be interrupted', async () => {
  const under = openCall();
  const samples = Float32Array.from({ length: 44_100 }, (_, n) => 0.3 * Math.sin(n / 20));
  const utterance = under.call.play({ samples, sampleRate: 44_100, times: 10_000 });
  await until(() => under.call.stats().queuedMs >= 1000);
  under.pass(800);
  under.call.moveTo(under.openPort(G722, FRAME_MS, under.port));
  await until(() => under.call.stats().queuedMs >= 200);
  under.pass(200);
  assert.deepEqual(under.call.interrupt('enough').utterances, [{ utterance: 1, text: '', sentMs: 1000 }]);
  assert.equal((await utterance.ended).durationMs, 1000);
  const heard = heardOf(under.sent());
  assert.equal(heard.length, RATE);
  const loudness = (from: number) =>
    Math.sqrt(heard.subarray(from, from + 800).reduce((sum, x) => sum + x * x, 0) / 800);
  for (let from = 0; from < 8000; from += 800) assert.ok(Math.abs(loudness(from) - 0.3 / Math.SQRT2) < 0.03);
});

test('sound that cannot be played is refused by name', () => {
  const { call } = openCall();
  const samples = new Float32Array(100);
  const sampleRate = 8000;
  assert.throws(() => call.play({ samples, sampleRate: 7999 }), {
    code: 'INVALID_FIELD',
    field: 'sampleRate',
  });
  assert.throws(() => call.play({ samples: new Float32Array(0), sampleRate }), {
    code: 'INVALID_FIELD',
    field: 'samples',
  });
  for (const times of [0, 1.5, 10_001, NaN]) {
    assert.throws(() => call.play({ samples, sampleRate, times }), { code: 'INVALID_FIELD', field: 'times' });
  }
  const longest = new Float32Array(10 * 60 * sampleRate + 1);
  assert.throws(() => call.play({ samples: longest, sampleRate }), { code: 'TOO_LARGE', field: 'samples' });
});

test('an observer of a call that throws keeps neither the others from its events nor the voice from speaking', async () => {
  const { call, pass, events } = openCall();
  call.observe(() => {
    throw new Error('a defect');
  });
  const seen: string[] = [];
  call.observe(({ type }) => seen.push(type));
  const rejections = await rejectionsOf(async () => {
    const utterance = call.speak('Hello there.');
    await utterance.pushed;
    pass(5000);
    assert.equal((await utterance.ended).end, 'spoken');
  });
  assert.deepEqual(
    seen,
    events.map(({ type }) => type),
  );
  assert.deepEqual([...new Set(rejections.map(String))], ['Defect: call: a defect']);
});
