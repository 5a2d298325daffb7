import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../src/errors.js';
import type { CapturedPacket, ListenerOptions } from '../../src/media/media-addon.js';
import type { Playout } from '../../src/media/playout.js';
import type { PlayoutListener } from '../../src/media/playout-listener.js';
import {
  CM_KEYS,
  contents,
  GCM_KEYS,
  holdPlane,
  parseReport,
  parseRtp,
  type RtpPacket,
  START_MS,
  splitRtcp,
  TELEPHONE,
  WALL_MS,
} from './plane-under-test.js';
import { SrtpReader } from './srtp-reader.js';

const LISTENER: ListenerOptions = {
  ssrc: 0x0badcafe,
  payloadType: 100,
  sequence: 65_535,
  timestamp: 900_000,
  cname: 'listener',
  rtcpIntervalMs: 0,
};

const KEY = { event: 5, payloadType: 101, clockRate: 8000, durationMs: 40, pauseMs: 20, volume: 10 } as const;

type Held = ReturnType<typeof holdPlane>;

function listenTo({ plane, playout }: Held, options: Partial<ListenerOptions> = {}): PlayoutListener {
  const listener = plane.openListener(playout, { ...LISTENER, ...options });
  listener.target({ capture: true });
  return listener;
}

/** The RTP packets of one stream. */
function rtpOf(packets: readonly CapturedPacket[], { handle }: Playout | PlayoutListener): RtpPacket[] {
  return packets.filter(({ kind, stream }) => kind === 'rtp' && stream === handle).map(parseRtp);
}

function code(expected: string): (error: unknown) => boolean {
  return (error) => error instanceof ParleyError && error.code === expected;
}

test('a listener sends each frame of its source at the same moment, under its own header', () => {
  const held = holdPlane();
  held.push(1, 1, 2);
  const first = held.passRaw(21);
  const listener = listenTo(held);
  held.push(1, 3, 2);
  const packets = [...first, ...held.passRaw(79)];
  assert.deepEqual(contents(rtpOf(packets, held.playout)), [1, 2, 3, 4, 'silence']);
  assert.deepEqual(
    rtpOf(packets, listener).map((packet) => ({ ...packet, payload: packet.payload[0] })),
    [3, 4, 0xff].map((payload, n) => ({
      atMs: START_MS + 40 + 20 * n,
      marker: n === 0,
      payloadType: 100,
      sequence: (65_535 + n) % 65_536,
      timestamp: 900_000 + 160 * n,
      ssrc: 0x0badcafe,
      payload,
    })),
  );
  assert.deepEqual(
    rtpOf(packets, listener).map(({ payload }) => payload.length),
    [160, 160, 160],
  );
  assert.equal(held.plane.stats().listeners, 1);
  assert.equal(listener.stats().packets, 3);
  held.plane.close();
});

test('a key of the source and the pause behind it are silence for its listeners', () => {
  const held = holdPlane();
  const listener = listenTo(held);
  held.push(1, 1, 3);
  const before = held.passRaw(20);
  held.playout.pressDigit(KEY);
  const packets = [...before, ...held.passRaw(160)];
  assert.deepEqual(
    rtpOf(packets, held.playout).map(({ payloadType }) => payloadType),
    [0, 101, 101, 101, 101, 0, 0, 0, 0],
  );
  const heard = rtpOf(packets, listener);
  assert.deepEqual(contents(heard), [1, ...Array<'silence'>(5).fill('silence'), 2, 3, 'silence']);
  assert.deepEqual(
    heard.map(({ marker, timestamp }) => [marker, (timestamp - 900_000) / 160]),
    [true, false, false, false, false, false, true, false, false].map((marker, n) => [marker, n]),
  );
  held.plane.close();
});

test('source and listeners each have their own kind of pause and their own redundancy', () => {
  const held = holdPlane({ comfortNoise: { payloadType: 13, level: 60, intervalMs: 200 } });
  const silent = listenTo(held);
  const sparse = listenTo(held, { ssrc: 2, silenceIntervalMs: 100 });
  const noisy = listenTo(held, { ssrc: 3, comfortNoise: { payloadType: 19, level: 50, intervalMs: 60 } });
  const redundant = listenTo(held, { ssrc: 4, red: { payloadType: 63, distance: 1 } });
  redundant.redundancy(1);
  held.push(1, 1, 2, 3);
  const packets = held.passRaw(180);
  const shapes = (stream: Playout | PlayoutListener) =>
    rtpOf(packets, stream).map(({ atMs, payloadType, payload }) => [
      atMs - START_MS,
      payloadType,
      payload.length,
    ]);
  const every = (from: number, ...rest: number[]) =>
    [0, 20, 40, 60, 80, 100, 120, 140, 160].filter((atMs) => atMs >= from).map((atMs) => [atMs, ...rest]);
  assert.deepEqual(shapes(held.playout), [
    [0, 0, 3],
    [20, 0, 3],
    [40, 13, 1],
  ]);
  assert.deepEqual(shapes(silent), [[0, 100, 3], [20, 100, 3], ...every(40, 100, 160)]);
  assert.deepEqual(shapes(sparse), [
    [0, 100, 3],
    [20, 100, 3],
    [40, 100, 160],
    [140, 100, 160],
  ]);
  assert.deepEqual(shapes(noisy), [
    [0, 100, 3],
    [20, 100, 3],
    [40, 19, 1],
    [100, 19, 1],
    [160, 19, 1],
  ]);
  assert.deepEqual(shapes(redundant), [
    [0, 100, 3],
    [20, 63, 1 + 4 + 3 + 3],
    [40, 63, 1 + 4 + 3 + 160],
    ...every(60, 100, 160),
  ]);
  const [, second] = rtpOf(packets, redundant);
  assert.equal(Buffer.from(second?.payload ?? []).toString('hex'), 'e4028003' + '64' + '010101' + '020202');
  held.plane.close();
});

for (const keys of [CM_KEYS, GCM_KEYS]) {
  test(`a listener has keys, reports and a BYE of its own, ${keys.profile}`, () => {
    const held = holdPlane();
    const listener = listenTo(held, { srtp: keys, rtcpIntervalMs: 1000 });
    const reader = new SrtpReader(keys);
    held.push(1, 1, 5, 100);
    const packets = held.passRaw(5001);
    listener.close();
    packets.push(...held.plane.takePackets());
    assert.deepEqual(
      held.passRaw(100).filter(({ stream }) => stream === listener.handle),
      [],
    );
    const own = packets.filter(({ stream }) => stream === listener.handle);
    const sent = { packets: 0, octets: 0 };
    const kinds: number[][] = [];
    for (const { kind, data, atMs } of own) {
      if (kind === 'rtp') {
        const { payload } = parseRtp({ atMs, data: reader.rtp(data, sent.packets === 0 ? 0 : 1) });
        sent.packets++;
        sent.octets += payload.length;
        continue;
      }
      const { plain } = reader.rtcp(data);
      kinds.push(splitRtcp(plain).map(({ type }) => type));
      const report = parseReport(plain);
      assert.ok(Math.abs(report.unixMs - (WALL_MS + atMs - START_MS)) < 0.001);
      assert.deepEqual(
        [report.ssrc, report.packets, report.octets, report.timestamp],
        [0x0badcafe, sent.packets, sent.octets, 900_000 + 8 * (atMs - START_MS)],
      );
    }
    assert.equal(sent.packets, 251);
    assert.ok(kinds.length >= 4);
    assert.deepEqual(kinds.at(-1), [200, 202, 203]);
    held.plane.close();
  });
}

test('a listener without a target sends nothing, and later its timestamps have gone on', () => {
  const held = holdPlane();
  const listener = listenTo(held);
  held.push(1, 1, 9);
  const packets = held.passRaw(41);
  listener.target(null);
  const meanwhile = held.passRaw(60);
  assert.deepEqual(rtpOf(meanwhile, listener), []);
  listener.target({ capture: true });
  packets.push(...held.passRaw(40));
  assert.deepEqual(
    rtpOf(packets, listener).map(({ marker, sequence, timestamp, payload }) => [
      marker,
      sequence,
      (timestamp - 900_000) / 160,
      payload[0],
    ]),
    [
      [true, 65_535, 0, 1],
      [false, 0, 1, 2],
      [false, 1, 2, 3],
      [true, 2, 6, 7],
      [false, 3, 7, 8],
    ],
  );
  held.plane.close();
});

test('listeners move to the successor of their source, whose ticks have another phase, without a seam', () => {
  const held = holdPlane();
  const listener = listenTo(held);
  held.push(1, 1, 3);
  const packets = held.passRaw(41);
  const next = held.plane.openStream({ ...TELEPHONE, srtp: CM_KEYS }, held.playout);
  next.target({ capture: true });
  listener.follow(next);
  listener.follow(next); // changes nothing
  for (const number of [4, 5]) next.push(next.generation, 1, new Uint8Array(160).fill(number));
  packets.push(...held.passRaw(60));
  const heard = rtpOf(packets, listener);
  assert.deepEqual(contents(heard), [1, 2, 3, 4, 5, 'silence']);
  assert.deepEqual(
    heard.map(({ sequence }) => sequence),
    [65_535, 0, 1, 2, 3, 4],
  );
  // The successor takes a phase of its own; the timestamp goes on by at least a frame, and by the time.
  const gapMs = (heard[3]?.atMs ?? 0) - (heard[2]?.atMs ?? 0);
  const gap = Math.max(160, Math.floor(8 * gapMs));
  assert.ok(gapMs > 0 && gapMs <= 40);
  assert.deepEqual(
    heard.map(({ timestamp }) => timestamp - 900_000),
    [0, 160, 320, 320 + gap, 480 + gap, 640 + gap],
  );
  held.plane.close();
});

test('a listener whose source has closed waits, and its timestamps and reports then go on by the time', () => {
  const held = holdPlane();
  const listener = listenTo(held, { rtcpIntervalMs: 500 });
  const other = held.plane.openStream({ ...TELEPHONE, ssrc: 77 });
  other.target({ capture: true });
  held.passRaw(41);
  held.playout.close();
  assert.deepEqual(
    held.passRaw(10_000).filter(({ stream }) => stream === listener.handle),
    [],
  );
  listener.follow(other);
  const packets = held.passRaw(2000).filter(({ stream }) => stream === listener.handle);
  const [first] = rtpOf(packets, listener);
  const sinceStart = (atMs: number) => Math.floor(8 * (atMs - START_MS) + 1e-6);
  assert.equal(first?.sequence, 2);
  assert.equal(first?.timestamp, 900_000 + sinceStart(first?.atMs ?? 0));
  const reports = packets.filter(({ kind }) => kind === 'rtcp');
  assert.ok(reports.length >= 2);
  for (const { data, atMs } of reports) {
    const { timestamp } = parseReport(data);
    assert.ok(Math.abs(timestamp - 900_000 - sinceStart(atMs)) <= 1, `${timestamp} at ${atMs}`);
  }
  held.plane.close();
});

test('a source that catches up, or leaves ticks out, does so with its listeners', () => {
  const held = holdPlane();
  const listener = listenTo(held);
  held.push(1, 1, 9);
  const packets = held.passRaw(1);
  held.plane.wakeAt(START_MS + 60); // three frames late
  held.plane.wakeAt(START_MS + 60 + 210); // too late to catch up
  packets.push(...held.plane.takePackets());
  const shape = (stream: Playout | PlayoutListener, timestamp: number) =>
    rtpOf(packets, stream).map((packet) => [(packet.timestamp - timestamp) / 160, packet.payload[0]]);
  assert.deepEqual(shape(listener, 900_000), shape(held.playout, 50_000));
  assert.ok(shape(listener, 900_000).length >= 5);
  held.plane.close();
});

test('a source has 64 listeners at most, and its limit is named', () => {
  const held = holdPlane();
  const listeners = Array.from({ length: 64 }, (_, n) => listenTo(held, { ssrc: n + 1 }));
  assert.throws(() => listenTo(held), code('CALL_LIMIT'));
  const other = held.plane.openStream({ ...TELEPHONE, ssrc: 99 });
  const moving = held.plane.openListener(other, LISTENER);
  assert.throws(() => moving.follow(held.playout), code('CALL_LIMIT'));
  assert.equal(held.passRaw(1).length, 65);
  listeners[20]?.close();
  moving.follow(held.playout);
  moving.target({ capture: true });
  const packets = held.passRaw(20);
  assert.equal(packets.length, 65);
  assert.equal(rtpOf(packets, moving).length, 1);
  assert.equal(held.plane.stats().listeners, 64);
  held.plane.close();
});

test('only a source with the same frames is followed, and otherwise a listener stays where it is', () => {
  const held = holdPlane();
  const listener = listenTo(held);
  const { plane } = held;
  for (const different of [
    { clockRate: 16_000 },
    { ticksPerFrame: 320 },
    { frameMs: 30 },
    { silence: new Uint8Array(160).fill(0xd5) },
  ]) {
    const other = plane.openStream({ ...TELEPHONE, ssrc: 5, ...different });
    assert.throws(() => listener.follow(other), code('INVALID_FIELD'));
    other.close();
    assert.throws(() => listener.follow(other), code('WRONG_STATE'));
    assert.throws(() => plane.openListener(other, LISTENER), code('WRONG_STATE'));
  }
  held.push(1, 1, 1);
  assert.deepEqual(contents(rtpOf(held.passRaw(1), listener)), [1]);
  const foreign = holdPlane();
  assert.throws(() => listener.follow(foreign.playout), code('WRONG_STATE'));
  assert.throws(() => plane.openListener(foreign.playout, LISTENER), code('WRONG_STATE'));
  foreign.plane.close();
  listener.close();
  assert.throws(() => listener.follow(held.playout), code('WRONG_STATE'));
  assert.equal(listener.target({ capture: true }), false);
  plane.close();
});

test('every wrong option of a listener is refused by its name, and leaves no listener', () => {
  const held = holdPlane();
  for (const [options, message] of [
    [{ ssrc: -1 }, /^RangeError: ssrc must be/],
    [{ payloadType: 128 }, /^RangeError: payloadType must be/],
    [{ cname: 5 }, /^TypeError: cname must be/],
    [{ srtp: { profile: 'NULL' } }, /^RangeError: srtp.profile must be/],
    [{ silenceIntervalMs: 60_001 }, /^RangeError: silenceIntervalMs must be from 0 to 60000$/],
  ] as const) {
    assert.throws(() => held.plane.openListener(held.playout, { ...LISTENER, ...options } as never), message);
  }
  assert.equal(held.plane.stats().listeners, 0);
  held.plane.close();
});

test('source, listener and plane close in any order', () => {
  for (const order of ['source first', 'listener first', 'plane first']) {
    const held = holdPlane();
    const listener = listenTo(held, { rtcpIntervalMs: 1000 });
    held.passRaw(21);
    if (order === 'source first') held.playout.close();
    if (order !== 'plane first') listener.close();
    if (order === 'listener first') held.playout.close();
    if (order !== 'plane first') {
      held.passRaw(100);
      assert.deepEqual([held.plane.stats().streams, held.plane.stats().listeners], [0, 0]);
    }
    held.plane.close();
    listener.close();
    held.playout.close();
    assert.equal(listener.stats().packets, 2, order);
    assert.equal(listener.target({ capture: true }), false);
  }
});
