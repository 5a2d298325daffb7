import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mediaAddon, type StreamOptions } from '../../src/media/media-addon.js';
import { MediaPlane } from '../../src/media/media-plane.js';
import { RtpPorts } from '../../src/media/media-socket.js';
import { contents, FAR, holdPlane, parseRtp, rtp, START_MS, TELEPHONE, WALL_MS } from './plane-under-test.js';

test('frames leave at their exact due times with one sequence number and one step of timestamp each', () => {
  const { plane, push, pass } = holdPlane();
  push(1, 1, 3);
  assert.deepEqual(pass(1), [
    {
      atMs: START_MS,
      marker: true,
      payloadType: 0,
      sequence: 1000,
      timestamp: 50_000,
      ssrc: 0xdecafbad,
      payload: new Uint8Array(160).fill(1),
    },
  ]);
  assert.deepEqual(pass(19), []);
  const rest = pass(40);
  assert.deepEqual(
    rest.map(({ atMs, marker, sequence, timestamp }) => [atMs, marker, sequence, timestamp]),
    [
      [START_MS + 20, false, 1001, 50_160],
      [START_MS + 40, false, 1002, 50_320],
    ],
  );
  assert.deepEqual(contents(rest), [2, 3]);
  plane.close();
});

test('a pause is silence with the clock running on, and the marker bit tells its end', () => {
  const { plane, push, pass } = holdPlane();
  push(1, 1, 2);
  const before = pass(101);
  assert.deepEqual(contents(before), [1, 2, 'silence', 'silence', 'silence', 'silence']);
  assert.deepEqual(
    before.map(({ marker }) => marker),
    [true, false, false, false, false, false],
  );
  push(1, 3, 2);
  const after = pass(40);
  assert.deepEqual(contents(after), [3, 4]);
  assert.deepEqual(
    after.map(({ marker, sequence, timestamp }) => [marker, sequence, timestamp]),
    [
      [true, 1006, 50_960],
      [false, 1007, 51_120],
    ],
  );
  plane.close();
});

test('without a silence payload a pause sends nothing, yet the timestamp runs on', () => {
  const { plane, push, pass } = holdPlane({ silence: new Uint8Array(0) });
  push(1, 1);
  assert.equal(pass(101).length, 1);
  push(1, 2);
  const [packet] = pass(20);
  assert.deepEqual([packet?.marker, packet?.sequence, packet?.timestamp], [true, 1001, 50_960]);
  plane.close();
});

test('sequence number and timestamp run over their ends', () => {
  const { plane, pass } = holdPlane({ sequence: 65_535, timestamp: 0xffff_ffff });
  assert.deepEqual(
    pass(41).map(({ sequence, timestamp }) => [sequence, timestamp]),
    [
      [65_535, 0xffff_ffff],
      [0, 159],
      [1, 319],
    ],
  );
  plane.close();
});

test('every stream keeps its own period, exactly, for a minute', () => {
  const plane = MediaPlane.open({ clock: 'manual', seed: 1, startMs: START_MS, wallMs: WALL_MS });
  const periods = [10, 20, 22.5, 30, 40, 60];
  const streams = periods.map((frameMs) => {
    const options = { ...TELEPHONE, frameMs, ticksPerFrame: 8 * frameMs, silence: Uint8Array.of(1) };
    return { frameMs, playout: plane.openStream(options), times: [] as number[] };
  });
  for (const { playout } of streams) playout.target({ capture: true });
  for (let second = 1; second <= 60; second++) {
    plane.advance(START_MS + second * 1000);
    for (const { stream, atMs } of plane.takePackets()) {
      streams.find(({ playout }) => playout.handle === stream)?.times.push(atMs);
    }
  }
  for (const { frameMs, times } of streams) {
    const first = times[0] ?? NaN;
    assert.ok(first >= START_MS && first < START_MS + frameMs, 'the first tick is within one period');
    times.forEach((atMs, n) => assert.ok(Math.abs(atMs - first - n * frameMs) < 1e-6));
    assert.equal(times.length, Math.floor((START_MS + 60_000 - first) / frameMs) + 1);
  }
  assert.equal(plane.stats().lateTicks, 0);
  plane.close();
});

test('a hundred streams of one period never leave in one burst', () => {
  const plane = MediaPlane.open({ clock: 'manual', seed: 1, startMs: START_MS, wallMs: WALL_MS });
  for (let i = 0; i < 160; i++) plane.openStream(TELEPHONE).target({ capture: true });
  plane.advance(START_MS + 19.999);
  const counts = new Map<number, number>();
  for (const { atMs } of plane.takePackets()) counts.set(atMs, (counts.get(atMs) ?? 0) + 1);
  assert.equal(counts.size, 80); // every quarter of a millisecond
  assert.deepEqual([...new Set(counts.values())], [2]);
  plane.close();
});

test('a clock that wakes up to three frames late catches up', () => {
  const { plane, playout, push, pass } = holdPlane();
  push(1, 1, 10);
  pass(1);
  plane.wakeAt(START_MS + 79); // the ticks at 20, 40 and 60 are due
  const packets = plane.takePackets().map(parseRtp);
  assert.deepEqual(contents(packets), [2, 3, 4]);
  assert.deepEqual(
    packets.map(({ atMs, timestamp }) => [atMs, timestamp]),
    [50_160, 50_320, 50_480].map((timestamp) => [START_MS + 79, timestamp]),
  );
  const { lateTicks, skippedTicks } = playout.stats();
  assert.deepEqual({ lateTicks, skippedTicks }, { lateTicks: 3, skippedTicks: 0 });
  plane.close();
});

test('after a longer stall ticks are left out and counted, and no frame is lost', () => {
  const { plane, playout, push, pass } = holdPlane();
  push(1, 1, 4);
  pass(1);
  plane.wakeAt(START_MS + 205);
  const [packet, ...more] = plane.takePackets().map(parseRtp);
  assert.deepEqual(more, []);
  // Nine ticks left out, from 20 to 180; that of 200 sends the next frame.
  assert.deepEqual(
    [packet?.payload[0], packet?.sequence, packet?.timestamp, packet?.marker],
    [2, 1001, 50_000 + 10 * 160, true],
  );
  assert.equal(playout.stats().skippedTicks, 9);
  assert.equal(plane.stats().skippedTicks, 9);
  plane.advance(START_MS + 240);
  const rest = plane.takePackets().map(parseRtp);
  assert.deepEqual(contents(rest), [3, 4]);
  assert.deepEqual(
    rest.map(({ atMs, marker, timestamp }) => [atMs, marker, timestamp]),
    [
      [START_MS + 220, false, 51_760],
      [START_MS + 240, false, 51_920],
    ],
  );
  plane.close();
});

test('a stall of many streams disturbs the order of none', () => {
  const plane = MediaPlane.open({ clock: 'manual', seed: 1, startMs: START_MS, wallMs: WALL_MS });
  const playouts = Array.from({ length: 50 }, () => plane.openStream(TELEPHONE));
  for (const playout of playouts) playout.target({ capture: true });
  plane.advance(START_MS + 20);
  for (const stalledMs of [70, 1000, 64.25, 333]) {
    plane.wakeAt(plane.nowMs + stalledMs);
    plane.takePackets();
    plane.advance(plane.nowMs + 100);
    const byStream = new Map(playouts.map(({ handle }) => [handle, 0]));
    for (const { stream } of plane.takePackets()) byStream.set(stream, (byStream.get(stream) ?? 0) + 1);
    for (const count of byStream.values()) assert.equal(count, 5);
  }
  plane.close();
});

test('packets and marks of several streams come in the order in which they left', () => {
  const plane = MediaPlane.open({ clock: 'manual', seed: 1, startMs: START_MS, wallMs: WALL_MS });
  const told: { readonly stream: number; readonly what: string; readonly atMs: number }[] = [];
  const streams = [1, 2, 3].map(() => {
    const playout = plane.openStream(TELEPHONE);
    const note = (what: string, atMs: number) => told.push({ stream: playout.handle, what, atMs });
    playout.onPacket = ({ data, atMs }) => note(contents([parseRtp({ data, atMs })]).join(), atMs);
    playout.onMark = (_track, mark, sentAtMs) => note(`mark ${mark}`, sentAtMs);
    playout.target({ capture: true });
    for (let frame = 1; frame <= 4; frame++) {
      playout.push(playout.generation, 1, new Uint8Array(160).fill(frame));
      playout.mark(playout.generation, 1, frame, frame === 4);
    }
    return playout;
  });
  plane.advance(START_MS + 79.999);
  assert.equal(told.length, 3 * 8);
  const times = told.map(({ atMs }) => atMs);
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  );
  for (const { handle } of streams) {
    const own = told.filter(({ stream }) => stream === handle).map(({ what }) => what);
    assert.deepEqual(own, ['1', 'mark 1', '2', 'mark 2', '3', 'mark 3', '4', 'mark 4']);
  }
  plane.close();
});

test('a callback that closes its stream gets its packets once, and the other streams lose none', () => {
  const plane = MediaPlane.open({ clock: 'manual', seed: 1, startMs: START_MS, wallMs: WALL_MS });
  const carried: string[] = [];
  const closing = plane.openStream({ ...TELEPHONE, ssrc: 1 });
  const other = plane.openStream({ ...TELEPHONE, ssrc: 2 });
  for (const playout of [closing, other]) {
    playout.target({ capture: true });
    for (let frame = 1; frame <= 3; frame++)
      playout.push(playout.generation, 1, new Uint8Array(160).fill(frame));
    playout.onPacket = (packet) => {
      if (packet.kind !== 'rtp') return;
      const { ssrc, payload } = parseRtp(packet);
      carried.push(`${ssrc}: ${payload[0]}`);
      if (ssrc === 1 && payload[0] === 2) closing.close();
    };
  }
  plane.advance(START_MS + 59.999);
  const of = (ssrc: number) => carried.filter((one) => one.startsWith(`${ssrc}:`));
  assert.deepEqual(of(1).slice(0, 2), ['1: 1', '1: 2']);
  assert.deepEqual(of(2), ['2: 1', '2: 2', '2: 3']);
  assert.equal(new Set(carried).size, carried.length);
  plane.close();
});

test('packets sent, late and left out are counted for the plane', () => {
  const { plane, push, pass } = holdPlane();
  push(1, 1, 2);
  pass(101);
  const { streams, packets, silencePackets, underruns, latenessUpperMs, latenessCounts, marksLost } =
    plane.stats();
  assert.deepEqual(
    { streams, packets, silencePackets, underruns, marksLost },
    {
      streams: 1,
      packets: 6,
      silencePackets: 4,
      underruns: 4, // the track never ended
      marksLost: 0,
    },
  );
  assert.equal(latenessUpperMs.length, latenessCounts.length);
  assert.equal(latenessCounts[0], 6);
  assert.equal(latenessUpperMs.at(-1), Infinity);
  plane.close();
  plane.close();
  assert.throws(() => plane.stats(), { code: 'WRONG_STATE' });
  assert.throws(() => plane.openStream(TELEPHONE), { code: 'WRONG_STATE' });
});

test('a capture that is not taken is bounded and counted', () => {
  const { plane, playout } = holdPlane({ silence: new Uint8Array(1000) });
  plane.advance(START_MS + 40_000);
  const { captureOverflow, packets } = plane.stats();
  assert.equal(captureOverflow + packets, 2001);
  assert.ok(captureOverflow > 500);
  assert.equal(playout.stats().packets, plane.takePackets().length);
  plane.close();
});

test('every wrong option is refused by its name', () => {
  const plane = MediaPlane.open({ clock: 'manual', seed: 1, startMs: START_MS, wallMs: WALL_MS });
  const wrong: [Partial<Record<keyof StreamOptions, unknown>>, RegExp][] = [
    [{ ssrc: -1 }, /^RangeError: ssrc must be from 0 to 4294967295$/],
    [{ ssrc: 1.5 }, /^TypeError: ssrc must be a whole number$/],
    [{ payloadType: 128 }, /^RangeError: payloadType must be from 0 to 127$/],
    [{ frameMs: 9 }, /^RangeError: frameMs must be from 10 to 60$/],
    [{ frameMs: NaN }, /^RangeError: frameMs/],
    [{ sequence: 65_536 }, /^RangeError: sequence/],
    [{ silence: 'none' }, /^TypeError: silence must be a Uint8Array$/],
    [{ silence: new Uint8Array(1501) }, /^RangeError: silence.length must be from 0 to 1500$/],
    [{ highMs: 300 }, /^RangeError: highMs must be from 400 to/],
    [{ cname: 'x'.repeat(256) }, /^RangeError: cname must have at most 255 bytes$/],
    [{ srtp: { profile: 'NULL' } }, /^RangeError: srtp.profile must be one of AES_CM_128_HMAC_SHA1_80, /],
    [{ srtp: { profile: 'AEAD_AES_128_GCM', key: new Uint8Array(15) } }, /^RangeError: srtp.key.length/],
    [{ clockRate: undefined }, /^TypeError: clockRate must be a number$/],
  ];
  for (const [options, message] of wrong) {
    assert.throws(() => plane.openStream({ ...TELEPHONE, ...options } as StreamOptions), message);
  }
  assert.equal(plane.stats().streams, 0);
  plane.close();
});

test('a stream that finds no room leaves the one that it was to continue as it was', () => {
  const { plane, playout, pass } = holdPlane({ lowMs: 0, highMs: 20 });
  playout.push(playout.generation, 1, new Uint8Array(160).fill(7));
  const { sequence } = playout.stats();
  const options = { ...TELEPHONE, lowMs: 0, highMs: 20 };
  // Beyond what MediaPlane opens itself, as while many others end.
  const addon = mediaAddon();
  assert.throws(() => {
    for (;;) addon.streamOpen(plane.handle, options);
  }, /all the streams it can take/);
  assert.throws(
    () => addon.streamOpen(plane.handle, { ...options, continues: playout.handle }),
    /all the streams/,
  );
  assert.throws(
    () => addon.streamOpen(plane.handle, { ...options, ssrc: 1, continues: playout.handle }),
    /ssrc/,
  );
  const packets = pass(40);
  assert.deepEqual(contents(packets.slice(0, 2)), [7, 'silence']);
  assert.equal(packets[0]?.sequence, sequence);
  plane.close();
});

function open(): MediaPlane {
  return MediaPlane.open({ clock: 'manual', seed: 1, startMs: START_MS, wallMs: WALL_MS });
}

test('while the tap is on, each received packet is copied with its source address and arrival time', () => {
  const plane = open();
  const socket = plane.openSocket({ mux: false });
  const packet = Buffer.from(rtp({ sequence: 1, timestamp: 160 }));
  const stray = Buffer.from('no packet at all');
  socket.feed(packet, FAR.address, FAR.port);
  assert.deepEqual(socket.takeTapped(), { packets: [], missed: 0 });
  socket.tap(true);
  socket.feed(packet, FAR.address, FAR.port);
  plane.advance(START_MS + 5);
  socket.feed(stray, '2001:db8::7', 9, true);
  socket.tap(false);
  socket.feed(packet, FAR.address, FAR.port);
  const { packets } = socket.takeTapped();
  assert.deepEqual(
    packets.map(({ data, ...rest }) => ({ ...rest, data: Buffer.from(data) })),
    [
      { sent: false, rtcpPort: false, atMs: START_MS, ...FAR, data: packet },
      { sent: false, rtcpPort: true, atMs: START_MS + 5, address: '2001:db8::7', port: 9, data: stray },
    ],
  );
  socket.close();
  assert.deepEqual(socket.takeTapped(), { packets: [], missed: 0 });
  plane.close();
});

test('copies that are not taken are counted as missed, not kept', () => {
  const plane = open();
  const socket = plane.openSocket({ mux: true });
  socket.tap(true);
  for (let count = 0; count < 1000; count++) socket.feed(Buffer.alloc(1000, 0x80), FAR.address, FAR.port);
  const { packets, missed } = socket.takeTapped();
  assert.ok(packets.length > 200 && missed > 0);
  assert.equal(packets.length + missed, 1000);
  plane.close();
});

test('sent packets are copied, too', () => {
  const plane = open();
  const ports = RtpPorts.open({
    address: '127.0.0.1',
    portMin: 43_100,
    portMax: 43_199,
    drainMs: 0,
    dscp: 46,
  });
  const socket = plane.openSocket({ ports, mux: true });
  socket.tap(true);
  assert.ok(socket.sendForeign(Buffer.from('to port nine'), '127.0.0.1', 9));
  const [copy, ...others] = socket.takeTapped().packets;
  assert.deepEqual(others, []);
  assert.deepEqual([copy?.sent, copy?.address, copy?.port], [true, '127.0.0.1', 9]);
  assert.equal(Buffer.from(copy?.data ?? []).toString(), 'to port nine');
  plane.close();
  ports.close();
});
