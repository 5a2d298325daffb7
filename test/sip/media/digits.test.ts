// Sends digits between two legs over real loopback sockets (RFC 4733).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { event, rtp } from '../../media/plane-under-test.js';
import { valueOf } from '../sdp/negotiation-under-test.js';
import { agree, Phone, PLAIN, portIn, stage } from './media-under-test.js';

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
