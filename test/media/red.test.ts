import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamOptions } from '../../src/media/media-addon.js';
import { holdPlane, type RtpPacket, START_MS, TELEPHONE } from './plane-under-test.js';

const OPUS: Partial<StreamOptions> = {
  payloadType: 111,
  clockRate: 48_000,
  ticksPerFrame: 960,
  timestamp: 0,
  silence: Uint8Array.of(0xff, 0xfe),
  red: { payloadType: 63, distance: 2 },
};

function hex({ payload }: RtpPacket): string {
  return Buffer.from(payload).toString('hex');
}

interface Frame {
  readonly timestamp: number;
  readonly payload: string;
}

/** The frames in a packet, as a receiver takes it apart (RFC 2198, section 3). */
function framesOf({ payloadType, timestamp, payload }: RtpPacket): Frame[] {
  if (payloadType !== 63) return [{ timestamp, payload: Buffer.from(payload).toString('hex') }];
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  const blocks: { readonly offset: number; readonly bytes: number }[] = [];
  let at = 0;
  for (; view.getUint8(at) >= 0x80; at += 4) {
    assert.equal(view.getUint8(at) & 0x7f, 111);
    blocks.push({ offset: (view.getUint32(at) >> 10) & 0x3fff, bytes: view.getUint32(at) & 0x3ff });
  }
  assert.equal(view.getUint8(at++), 111);
  const all = [...blocks, { offset: 0, bytes: Infinity }];
  return all.map(({ offset, bytes }) => {
    const frame = payload.subarray(at, at + bytes);
    at += bytes;
    return { timestamp: (timestamp - offset) >>> 0, payload: Buffer.from(frame).toString('hex') };
  });
}

test('before redundancy is switched on, and after it is switched off, packets are plain', () => {
  const { plane, playout, push, pass } = holdPlane(OPUS);
  push(1, 1, 6, 2);
  const packets = pass(40);
  playout.redundancy(1);
  packets.push(...pass(40));
  playout.redundancy(0);
  packets.push(...pass(40));
  assert.deepEqual(
    packets.map((packet) => [packet.payloadType, hex(packet)]),
    [
      [111, '0101'],
      [111, '0202'],
      [63, 'ef0f0002' + '6f' + '0202' + '0303'],
      [63, 'ef0f0002' + '6f' + '0303' + '0404'],
      [111, '0505'],
      [111, '0606'],
    ],
  );
  plane.close();
});

test('with two, the oldest frame comes first, and the silence of a pause repeats the last voice only', () => {
  const { plane, playout, push, pass } = holdPlane(OPUS);
  playout.redundancy(2);
  push(1, 1, 1, 1);
  push(1, 2, 1, 2);
  push(1, 3, 1, 3);
  const packets = pass(140);
  assert.deepEqual(
    packets.map((packet) => [packet.marker, packet.payloadType, hex(packet)]),
    [
      [true, 111, '01'],
      [false, 63, 'ef0f0001' + '6f' + '01' + '0202'],
      [false, 63, 'ef1e0001' + 'ef0f0002' + '6f' + '01' + '0202' + '030303'],
      [false, 63, 'ef1e0002' + 'ef0f0003' + '6f' + '0202' + '030303' + 'fffe'],
      [false, 63, 'ef1e0003' + '6f' + '030303' + 'fffe'],
      [false, 111, 'fffe'],
      [false, 111, 'fffe'],
    ],
  );
  push(1, 4, 1, 1);
  assert.deepEqual(
    pass(20).map((packet) => [packet.marker, packet.payloadType, hex(packet)]),
    [[true, 111, '04']],
  );
  plane.close();
});

for (const frames of [1, 2] as const) {
  test(`with redundancy ${frames} a receiver that loses any one packet misses no frame`, () => {
    const { plane, playout, push, pass } = holdPlane({ ...OPUS, silenceIntervalMs: 400 });
    playout.redundancy(frames);
    push(1, 1, 5, 40);
    const packets = pass(160); // five frames, then the silence that is sent once
    push(1, 6, 4, 40);
    packets.push(...pass(40));
    playout.pressDigit({
      event: 1,
      payloadType: 101,
      clockRate: 48_000,
      durationMs: 40,
      pauseMs: 20,
      volume: 10,
    });
    packets.push(...pass(400));
    plane.wakeAt(START_MS + 1000); // a stall
    push(1, 10, 3, 40);
    packets.push(...pass(900));
    const voices = packets.filter(({ payloadType }) => payloadType !== 101);
    const framesIn = (kept: readonly RtpPacket[]) =>
      new Set(
        kept
          .flatMap(framesOf)
          .filter(({ payload }) => payload !== 'fffe')
          .map(({ timestamp, payload }) => `${timestamp} ${payload}`),
      );
    const all = framesIn(voices);
    assert.equal(all.size, 12);
    for (let lost = 0; lost + 1 < voices.length; lost++) {
      assert.deepEqual(framesIn([...voices.slice(0, lost), ...voices.slice(lost + 1)]), all, `${lost}`);
    }
    plane.close();
  });
}

test('a frame that is too long for a block, and a packet too long with redundancy, go without', () => {
  const { plane, playout, push, pass } = holdPlane(OPUS);
  playout.redundancy(2);
  for (const [n, size] of [1024, 2, 1023, 172, 173, 1500, 1].entries()) push(1, n + 1, 1, size);
  const packets = pass(140);
  assert.deepEqual(
    packets.map((packet) => [
      packet.payloadType,
      packet.payload.length,
      framesOf(packet).map((f) => f.payload.length / 2),
    ]),
    [
      [111, 1024, [1024]],
      [111, 2, [2]], // the frame before is too long for the length field
      [63, 1 + 4 + 2 + 1023, [2, 1023]],
      [63, 1200, [1023, 172]], // with the frame before it, it would have more than 1200 bytes
      [63, 1 + 4 + 172 + 173, [172, 173]],
      [111, 1500, [1500]],
      [63, 1 + 4 + 173 + 1, [173, 1]],
    ],
  );
  plane.close();
});

test('reports count the octets of redundancy, and the payload type of the codec stays for other frames', () => {
  const { plane, playout, push, pass } = holdPlane({ ...OPUS, red: { payloadType: 63, distance: 1 } });
  playout.redundancy(1);
  push(1, 1, 2, 10);
  const packets = pass(40);
  assert.deepEqual(
    packets.map(({ payloadType }) => payloadType),
    [111, 63],
  );
  assert.equal(playout.stats().octets, 10 + (5 + 10 + 10));
  plane.close();
});

test('redundancy beyond what was negotiated is refused by its name', () => {
  const { plane, playout } = holdPlane({ ...OPUS, red: { payloadType: 63, distance: 1 } });
  assert.throws(() => playout.redundancy(2), /^RangeError: redundancy must be from 0 to 1$/);
  for (const [red, message] of [
    [{ payloadType: 128, distance: 1 }, /^RangeError: red.payloadType must be from 0 to 127$/],
    [{ payloadType: 63, distance: 0 }, /^RangeError: red.distance must be from 1 to 2$/],
    [{ payloadType: 63, distance: 3 }, /^RangeError: red.distance must be from 1 to 2$/],
    ['red', /^TypeError: red must be an object$/],
  ] as const) {
    assert.throws(() => plane.openStream({ ...TELEPHONE, red: red as never }), message);
  }
  const plain = plane.openStream(TELEPHONE);
  assert.throws(() => plain.redundancy(1), /^RangeError: redundancy must be from 0 to 0$/);
  plain.close();
  plain.redundancy(1); // a call may have ended
  plane.close();
});
