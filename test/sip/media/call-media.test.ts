// One media leg beside a telephone that is written by hand: what it sends and
// hears as its descriptions change.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PCMA, PCMU } from '../../../src/rtp/codec.js';
import { contents } from '../../rtp/plane-under-test.js';
import { valueOf } from '../sdp/negotiation-under-test.js';
import { Phone, PLAIN, portIn, stage, type Leg } from './media-under-test.js';

/** Frames that hold the numbers from `first` on, into what the leg sends now. */
function speak({ told }: Leg, first: number, count: number, bytes = 160): void {
  const playout = told.ports.at(-1)?.playout;
  assert.ok(playout !== undefined);
  for (let n = first; n < first + count; n++) {
    assert.equal(playout.push(playout.generation, 1, new Uint8Array(bytes).fill(n)), 1);
  }
}

test('an answer opens the stream: speech goes to the address of the offer, from the port of the answer', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg();
  const answer = valueOf(call.media.answer(phone.describe()));
  assert.equal(call.told.ports.length, 1);
  assert.deepEqual([call.told.ports[0]?.codec, call.told.ports[0]?.frameMs], [PCMU, 20]);
  speak(call, 1, 3);
  const raw = await phone.raw(pass(100));

  assert.deepEqual([...new Set(raw.map(({ from }) => from))], [portIn(answer)]);
});

test('another codec goes on with the source, the sequence numbers and the time of the one before', async (t) => {
  const { leg, pass } = stage(t);
  const phone = await Phone.open(t);
  const call = leg({ ...PLAIN, codecs: ['PCMA', 'PCMU'] });
  call.media.answer(phone.describe('0 101'));
  speak(call, 1, 2);
  const before = pass(100);
  call.media.answer(phone.describe('8 101'));
  assert.deepEqual(call.told.ports.map(({ codec }) => codec), [PCMU, PCMA]); // prettier-ignore
  speak(call, 3, 2);
  const packets = await phone.packets(before + pass(100));
  assert.deepEqual(contents(packets.slice(0, 3)), [1, 2, 'silence']);
  assert.deepEqual(
    packets.map(({ payloadType }) => payloadType),
    packets.map((_, n) => (n < before ? 0 : 8)),
  );
  assert.equal(new Set(packets.map(({ ssrc }) => ssrc)).size, 1);
  const [first] = packets;
  assert.ok(first !== undefined && first.sequence < 2 ** 15);
  assert.deepEqual(
    packets.map(({ sequence }) => sequence - first.sequence),
    packets.map((_, n) => n),
  );
  const times = packets.map(({ timestamp }) => timestamp - first.timestamp);
  assert.ok(
    times.every((ticks, n) => n === 0 || ticks > (times[n - 1] ?? 0)),
    String(times),
  );
});
