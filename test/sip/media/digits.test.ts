// Sends digits between two legs over real loopback sockets (RFC 4733).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keySound } from '../../../src/audio/country-tones.js';
import { Resampler } from '../../../src/audio/resampler.js';
import { CODECS, type CodecName } from '../../../src/codecs/codec.js';
import { frameEncoder } from '../../../src/codecs/frame-encoder.js';
import { OPUS_SPEECH } from '../../../src/codecs/opus.js';
import { event, rtp } from '../../media/plane-under-test.js';
import { valueOf } from '../sdp/negotiation-under-test.js';
import { agree, type Leg, Phone, PLAIN, portIn, stage } from './media-under-test.js';

test('keys of one leg are heard at the other, each once, with its length', (t) => {
  const { leg, pass } = stage(t);
  const [caller, callee] = [leg(), leg()];
  agree(caller, callee);
  assert.deepEqual(
    ['1', '#', 'D'].map((digit) => caller.media.press(digit, 100, 60)),
    [true, true, true],
  );
  assert.ok(callee.media.press('5', 200, 40));
  pass(1000);
  assert.deepEqual(callee.seen.digits, [
    ['1', 100],
    ['#', 100],
    ['D', 100],
  ]);
  assert.deepEqual(caller.seen.digits, [['5', 200]]);
});

test('digitsSent resolves when the last of the keys has left, and not before', async (t) => {
  const { leg, pass } = stage(t);
  const [caller, callee] = [leg(), leg()];
  agree(caller, callee);
  pass(20);
  await caller.media.digitsSent();
  caller.media.press('1', 100, 60);
  caller.media.press('2', 100, 60);
  let sent = false;
  const done = caller.media.digitsSent().then(() => (sent = true));
  pass(300); // two keys of five packets and two repeated ends, with three of silence behind each
  await Promise.resolve();
  assert.ok(!sent);
  pass(140);
  await done;
  assert.equal(caller.seen.ports[0]?.playout.stats().digitsWaiting, 0);
});

test('keys that cannot be sent are refused, so that the owner may send them in INFO', (t) => {
  const { leg, time } = stage(t);
  const [caller, deaf] = [leg(), leg({ ...PLAIN, telephoneEvents: false })];
  assert.ok(!caller.media.press('1', 100, 60), 'before there is an agreement');
  agree(caller, deaf);
  assert.ok(!caller.media.press('1', 100, 60), 'the far end has no telephone-event');
  const [again, callee] = [leg(), leg()];
  agree(again, callee);
  assert.ok(!again.media.press('x', 100, 60), 'no key');
  callee.media.hold(true);
  agree(callee, again);
  assert.ok(!again.media.press('1', 100, 60), 'held');
  callee.media.close();
  assert.ok(!callee.media.press('1', 100, 60), 'closed');
  assert.equal(time.waiting, 0);
});

test('keys that wait are pressed after a change of the codec, and the one under way not again', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg({ ...PLAIN, codecs: ['PCMA', 'PCMU'] });
  valueOf(call.media.answer(phone.describe('0 101')));
  for (const digit of '123') call.media.press(digit, 100, 60);
  let sent = pass(60);
  valueOf(call.media.answer(phone.describe('8 101')));
  assert.equal(call.seen.ports.length, 2);
  sent += pass(800);
  const events = (await phone.packets(sent)).filter(({ payloadType }) => payloadType === 101);
  const begun = new Map(events.map(({ timestamp, payload }) => [timestamp, payload[0]]));
  assert.deepEqual([...begun.values()], [1, 2, 3]);
});

test('whoever waits for the keys is told when the media is closed', async (t) => {
  const { leg } = stage(t);
  const [caller, callee] = [leg(), leg()];
  agree(caller, callee);
  caller.media.press('1', 1000, 60);
  const sent = caller.media.digitsSent();
  caller.media.close();
  await sent;
});

test('a key without the marker bit counts, also under the payload type of a new description', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg();
  const port = portIn(valueOf(call.media.answer(phone.describe('0 101'))));
  const press = async (code: number, payloadType: number, sequence: number) => {
    for (const [n, duration] of [160, 320, 480].entries()) {
      const payload = event(code, duration, n === 2);
      await phone.send(
        rtp({ payloadType, sequence: sequence + n, timestamp: 1000 * sequence, payload }),
        port,
      );
    }
    pass(20);
  };
  await press(7, 101, 10);
  const other = phone.describe('0 97', ['a=rtpmap:97 telephone-event/8000']);
  valueOf(call.media.answer(other));
  await press(8, 97, 20);
  await press(9, 101, 30);
  assert.deepEqual(call.seen.digits, [
    ['7', 60],
    ['8', 60],
    ['9', 60],
  ]);
});

const FRAME_MS = 20;

/** Queues the tones of keys behind half a second of silence, and the same behind them. */
function playKeys({ seen }: Leg, codec: CodecName, digits: string): void {
  const { samples, sampleRate } = keySound(`,${digits},`, { durationMs: 100, pauseMs: 80 });
  const encoder = frameEncoder(CODECS[codec], FRAME_MS, OPUS_SPEECH);
  const rate = (encoder.frameSamples * 1000) / FRAME_MS;
  const sound = rate === sampleRate ? samples : resampled(samples, sampleRate, rate);
  const playout = seen.ports.at(-1)?.playout ?? assert.fail('the leg has no port');
  for (let at = 0; at + encoder.frameSamples <= sound.length; at += encoder.frameSamples) {
    const payload = encoder.encode(sound.subarray(at, at + encoder.frameSamples));
    assert.notEqual(playout.push(playout.generation, 1, payload), -1);
  }
}

function resampled(samples: Float32Array, from: number, to: number): Float32Array {
  const resampler = new Resampler(from, to);
  const output = new Float32Array(resampler.maxOutput(samples.length));
  return output.subarray(0, resampler.process(samples, samples.length, output));
}

const WITHOUT_EVENTS = { ...PLAIN, telephoneEvents: false };

for (const codec of ['PCMU', 'PCMA', 'G722', 'opus'] as const) {
  test(`without telephone-event keys are heard in the sound of ${codec}, each once`, (t) => {
    const { leg, pass } = stage(t);
    const [caller, callee] = [leg({ ...WITHOUT_EVENTS, codecs: [codec] }), leg()];
    agree(caller, callee);
    playKeys(caller, codec, '15#');
    pass(2000);
    assert.deepEqual(
      callee.seen.digits.map(([digit]) => digit),
      ['1', '5', '#'],
    );
    for (const [, ms] of callee.seen.digits) assert.ok(Math.abs(ms - 100) <= 16, `${ms} ms`);
  });
}

test('with telephone-event the sound of keys counts for nothing', (t) => {
  const { leg, pass } = stage(t);
  const [caller, callee] = [leg({ ...PLAIN, codecs: ['PCMU'] }), leg()];
  agree(caller, callee);
  playKeys(caller, 'PCMU', '15#');
  pass(2000);
  assert.deepEqual(callee.seen.digits, []);
  assert.ok(caller.media.press('7', 100, 60));
  pass(400);
  assert.deepEqual(callee.seen.digits, [['7', 100]]);
});

test('a key that comes in the sound and in INFO counts once, and later ones in INFO only', (t) => {
  const { leg, pass } = stage(t);
  const [caller, callee] = [leg({ ...WITHOUT_EVENTS, codecs: ['PCMU'] }), leg()];
  agree(caller, callee);
  playKeys(caller, 'PCMU', '1');
  pass(1000);
  assert.deepEqual(
    callee.seen.digits.map(([digit]) => digit),
    ['1'],
  );
  assert.ok(!callee.media.signalled('1'), 'the key was reported already');
  assert.ok(callee.media.signalled('1'), 'pressed again');
  pass(1000);
  playKeys(caller, 'PCMU', '2');
  pass(2000);
  assert.equal(callee.seen.digits.length, 1);
  assert.ok(callee.media.signalled('2'));
});

test('a key in INFO before its sound has ended counts once', (t) => {
  const { leg, pass } = stage(t);
  const [caller, callee] = [leg({ ...WITHOUT_EVENTS, codecs: ['PCMU'] }), leg()];
  agree(caller, callee);
  playKeys(caller, 'PCMU', '1');
  pass(540);
  assert.ok(callee.media.signalled('1'));
  pass(1000);
  assert.deepEqual(callee.seen.digits, []);
});
