// One stream as the far end sees it: marks, digits, comfort noise, and a stream that continues another.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeMark, segmentEnded, segmentStarted, TRACK_ENDED } from '../../src/encoding/marks.js';
import { type Playout, PlayoutWriter } from '../../src/media/playout.js';
import {
  CM_KEYS,
  contents,
  GCM_KEYS,
  holdPlane,
  parseRtp,
  type RtpPacket,
  START_MS,
  TELEPHONE,
  within,
} from './plane-under-test.js';
import { SrtpReader } from './srtp-reader.js';

/** Collects the marks that the playout reports, as [track, mark, sentAtMs]. */
function marksOf(playout: Playout): [number, number, number][] {
  const reported: [number, number, number][] = [];
  playout.onMark = (track, mark, sentAtMs) => reported.push([track, mark, sentAtMs]);
  return reported;
}

test('a mark is reported with the time at which the frame before it left, and not sooner', () => {
  const { plane, playout, push, pass } = holdPlane();
  const reported = marksOf(playout);
  const { generation } = playout;
  push(7, 1);
  playout.mark(generation, 7, segmentStarted(0), false);
  push(7, 2);
  playout.mark(generation, 7, segmentEnded(0), false);
  playout.mark(generation, 7, TRACK_ENDED, true);
  pass(1);
  assert.deepEqual(reported, [[7, segmentStarted(0), START_MS]]);
  pass(19);
  assert.equal(reported.length, 1);
  pass(1);
  assert.deepEqual(reported.slice(1), [
    [7, segmentEnded(0), START_MS + 20],
    [7, TRACK_ENDED, START_MS + 20],
  ]);
  assert.equal(playout.stats().underruns, 0);
  plane.close();
});

test('a mark that arrives after its frame left is reported at the next tick', () => {
  const { plane, playout, push, pass } = holdPlane();
  const reported = marksOf(playout);
  push(1, 1);
  pass(1);
  playout.mark(playout.generation, 1, TRACK_ENDED, true);
  pass(20);
  assert.deepEqual(reported, [[1, TRACK_ENDED, START_MS + 20]]);
  assert.equal(playout.stats().underruns, 0);
  plane.close();
});

test('an empty queue in the middle of a track is an underrun at every tick until the track goes on', () => {
  const { plane, playout, push, pass } = holdPlane();
  push(1, 1);
  pass(61); // 1, then three ticks without a frame
  assert.equal(playout.stats().underruns, 3);
  push(1, 2);
  playout.mark(playout.generation, 1, TRACK_ENDED, true);
  pass(100);
  assert.equal(playout.stats().underruns, 3);
  plane.close();
});

test('an empty queue after a rest is no underrun, until the track has gone on', () => {
  const { plane, playout, push, pass } = holdPlane();
  const reported = marksOf(playout);
  push(1, 1);
  assert.equal(playout.pauseInput(playout.generation, 1), 1);
  pass(101);
  assert.equal(playout.stats().underruns, 0);
  push(1, 2);
  pass(60); // the frame, then two ticks without one
  assert.equal(playout.stats().underruns, 2);
  assert.deepEqual(reported, []); // a rest is no mark
  push(1, 3);
  playout.pauseInput(playout.generation, 1);
  const [track] = playout.clear().tracks;
  assert.deepEqual(track, { track: 1, sentFrames: 2, droppedFrames: 1, droppedMarks: [] });
  assert.equal(playout.pauseInput(1, 1), -1);
  plane.close();
});

test('a clear reports exactly the frames that were sent and drops the rest for good', () => {
  const { plane, playout, push, pass } = holdPlane();
  const reported = marksOf(playout);
  const { generation } = playout;
  push(1, 1, 2);
  playout.mark(generation, 1, TRACK_ENDED, true);
  push(2, 11, 5);
  playout.mark(generation, 2, segmentStarted(0), false);
  push(2, 16, 5);
  playout.mark(generation, 2, TRACK_ENDED, true);
  push(3, 21, 2);
  assert.deepEqual(contents(pass(81)), [1, 2, 11, 12, 13]);
  assert.deepEqual(playout.clear(), {
    generation: generation + 1,
    tracks: [
      { track: 2, sentFrames: 3, droppedFrames: 7, droppedMarks: [segmentStarted(0), TRACK_ENDED] },
      { track: 3, sentFrames: 0, droppedFrames: 2, droppedMarks: [] },
    ],
  });
  assert.deepEqual(
    [1, 2, 3, 4].map((track) => playout.sent(track)),
    [2, 3, 0, 0],
  );
  assert.deepEqual(contents(pass(40)), ['silence', 'silence']);
  assert.deepEqual(reported, [[1, TRACK_ENDED, START_MS + 20]]);
  assert.equal(playout.stats().underruns, 0); // silence after a clear is wanted
  assert.equal(playout.stats().queuedMs, 0);
  plane.close();
});

test('a push with the generation before a clear is refused, one with the new generation is sent', () => {
  const { plane, playout, push, pass } = holdPlane();
  const { generation } = playout;
  push(1, 1, 3);
  pass(1);
  const cleared = playout.clear();
  const late = new Uint8Array(160).fill(99);
  assert.equal(playout.push(generation, 1, late), -1);
  assert.equal(playout.mark(generation, 1, TRACK_ENDED, true), -1);
  assert.equal(playout.push(cleared.generation, 2, new Uint8Array(160).fill(50)), 1);
  const packets = pass(20);
  assert.deepEqual(contents(packets), [50]);
  // No silence came between: the talkspurt of the wire goes on.
  assert.equal(packets[0]?.marker, false);
  plane.close();
});

test('sent counts the frames that left while more wait', () => {
  const { plane, playout, push, pass } = holdPlane();
  push(1, 1, 10);
  assert.equal(playout.sent(1), 0);
  pass(61);
  assert.equal(playout.sent(1), 4);
  assert.equal(playout.stats().queuedMs, 120);
  plane.close();
});

test('a paused playout sends silence and keeps its queue', () => {
  const { plane, playout, push, pass } = holdPlane();
  const reported = marksOf(playout);
  push(1, 1, 2);
  pass(1);
  playout.mark(playout.generation, 1, 5, false);
  playout.pause();
  assert.deepEqual(contents(pass(60)), ['silence', 'silence', 'silence']);
  assert.deepEqual(reported, []);
  assert.equal(playout.stats().underruns, 0);
  assert.equal(playout.stats().queuedMs, 20);
  playout.resume();
  const [packet] = pass(20);
  assert.deepEqual([packet?.payload[0], packet?.marker], [2, true]);
  assert.equal(reported.length, 1);
  plane.close();
});

test('without a target the queue waits, the timestamp runs on and no sequence number is used', () => {
  const { plane, playout, push, pass } = holdPlane();
  push(1, 1, 2);
  pass(1);
  assert.equal(playout.target(null), true);
  assert.deepEqual(pass(100), []);
  assert.equal(playout.target({ capture: true }), true);
  const [packet] = pass(20);
  assert.deepEqual(
    [packet?.payload[0], packet?.sequence, packet?.timestamp, packet?.marker],
    [2, 1001, 50_000 + 6 * 160, true],
  );
  plane.close();
});

test('the queue is full at its high mark and tells of room below its low mark', async () => {
  const { plane, playout, push, pass } = holdPlane({ lowMs: 100, highMs: 200 });
  const writer = new PlayoutWriter(playout.handle);
  assert.equal(push(1, 1, 10), 1);
  assert.equal(push(1, 11), 0);
  assert.equal(playout.stats().queuedMs, 200);
  let reported = 0;
  const room = new Promise<void>((resolve) => {
    writer.onRoom(() => {
      reported++;
      resolve();
    });
  });
  pass(81); // five frames left, five wait: that is not below 100 ms
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(reported, 0);
  pass(20);
  await within('room', room);
  assert.equal(reported, 1);
  assert.equal(writer.push(playout.generation, 1, new Uint8Array(160)), 1);
  plane.close();
});

test('a producer that waits for room is called when the playout is cleared or closed', async () => {
  for (const act of ['clear', 'close'] as const) {
    const { plane, playout, push } = holdPlane();
    push(1, 1, 75);
    const writer = new PlayoutWriter(playout.handle);
    const room = new Promise<void>((resolve) => writer.onRoom(resolve));
    playout[act]();
    await within('room', room);
    const answer = writer.push(1, 1, new Uint8Array(160));
    assert.equal(answer, -1);
    plane.close();
  }
});

test('marks are refused before they could be lost, and there is room again once they are reported', () => {
  const { plane, playout, push, pass } = holdPlane();
  const reported = marksOf(playout);
  push(1, 1);
  const marks: number[] = [];
  while (playout.mark(playout.generation, 1, marks.length, false) === 1) marks.push(marks.length);
  assert.equal(marks.length, 63);
  pass(1);
  assert.deepEqual(
    reported.map(([, mark]) => mark),
    marks,
  );
  assert.equal(playout.mark(playout.generation, 1, 0, false), 1);
  assert.equal(plane.stats().marksLost, 0);
  plane.close();
});

test('a listener that throws does not keep the others from being called', () => {
  const { plane, playout, push, pass } = holdPlane();
  const other = plane.openStream(TELEPHONE);
  other.target({ capture: true });
  playout.onMark = () => {
    throw new Error('out of order');
  };
  const reported = marksOf(other);
  push(1, 1);
  playout.mark(playout.generation, 1, 1, false);
  other.push(other.generation, 1, new Uint8Array(160));
  other.mark(other.generation, 1, 2, false);
  assert.throws(() => pass(20), /out of order/);
  assert.equal(reported.length, 1);
  plane.close();
});

test('a closed playout answers everything and does nothing', () => {
  const { plane, playout, push, pass } = holdPlane();
  push(1, 1, 5);
  pass(21);
  playout.close();
  playout.close();
  assert.deepEqual(pass(100), []);
  assert.equal(push(1, 9), -1);
  assert.equal(playout.mark(1, 1, 0, false), -1);
  assert.deepEqual(playout.clear(), { generation: 0, tracks: [] });
  assert.equal(playout.generation, 0);
  assert.equal(playout.target({ capture: true }), false);
  assert.equal(playout.sendRtcp(new Uint8Array(8)), false);
  assert.equal(playout.stats().packets, 2);
  playout.pause();
  playout.resume();
  assert.equal(plane.stats().streams, 0);
  plane.close();
});

test('a payload must have from 1 to 1500 bytes', () => {
  const { plane, playout, passRaw } = holdPlane();
  const { generation } = playout;
  assert.throws(() => playout.push(generation, 1, new Uint8Array(0)), /^RangeError: payload.length/);
  assert.throws(() => playout.push(generation, 1, new Uint8Array(1501)), /^RangeError: payload.length/);
  assert.equal(playout.push(generation, 1, new Uint8Array(1500).fill(4)), 1);
  const [packet] = passRaw(1).map(parseRtp);
  assert.equal(packet?.payload.length, 1500);
  plane.close();
});

test('marks tell segments and the end of a track apart', () => {
  assert.deepEqual(decodeMark(segmentStarted(0)), { kind: 'segment-started', index: 0 });
  assert.deepEqual(decodeMark(segmentEnded(0)), { kind: 'segment-ended', index: 0 });
  assert.deepEqual(decodeMark(segmentEnded(2 ** 30 - 1)), { kind: 'segment-ended', index: 2 ** 30 - 1 });
  assert.deepEqual(decodeMark(TRACK_ENDED), { kind: 'track-ended', index: -1 });
  assert.throws(() => segmentStarted(2 ** 30), RangeError);
  assert.throws(() => segmentEnded(-1), RangeError);
});

const KEY = { event: 5, payloadType: 101, clockRate: 8000, durationMs: 100, pauseMs: 40, volume: 10 };

interface Seen {
  readonly event: number;
  readonly end: boolean;
  readonly volume: number;
  readonly duration: number;
}

function seen({ payload }: RtpPacket): Seen {
  const [event = 0, flags = 0, high = 0, low = 0] = payload;
  return { event, end: flags >= 0x80, volume: flags & 0x3f, duration: high * 256 + low };
}

test('a key is one timestamp with a growing duration and three ends, and the voice goes on behind it', () => {
  const { plane, playout, push, pass } = holdPlane();
  push(1, 1, 4);
  pass(21); // frames 1 and 2
  assert.ok(playout.pressDigit(KEY));
  assert.equal(playout.stats().digitsWaiting, 1);
  const packets = pass(240);
  const keys = packets.filter(({ payloadType }) => payloadType === 101);
  assert.deepEqual(keys.map(seen), [
    { event: 5, end: false, volume: 10, duration: 160 },
    { event: 5, end: false, volume: 10, duration: 320 },
    { event: 5, end: false, volume: 10, duration: 480 },
    { event: 5, end: false, volume: 10, duration: 640 },
    { event: 5, end: true, volume: 10, duration: 800 },
    { event: 5, end: true, volume: 10, duration: 800 },
    { event: 5, end: true, volume: 10, duration: 800 },
  ]);
  assert.deepEqual([...new Set(keys.map(({ timestamp }) => timestamp))], [50_000 + 320]);
  assert.deepEqual(
    keys.map(({ marker }) => marker),
    [true, false, false, false, false, false, false],
  );
  assert.deepEqual(
    packets.map(({ sequence }) => sequence),
    packets.map((_, n) => 1002 + n),
  );
  // Two ticks of pause, then the voice, at the time it would have had.
  const after = packets.slice(keys.length);
  assert.deepEqual(contents(after).slice(0, 4), ['silence', 'silence', 3, 4]);
  assert.deepEqual([after[2]?.marker, after[2]?.timestamp], [true, 50_000 + (2 + 7 + 2) * 160]);
  const { digitsWaiting, underruns } = playout.stats();
  assert.deepEqual({ digitsWaiting, underruns }, { digitsWaiting: 0, underruns: 1 }); // the track never ended
  plane.close();
});

test('keys wait for one another, and no more than 64 of them', () => {
  const { plane, playout, pass } = holdPlane();
  for (let event = 0; event < 64; event++) assert.ok(playout.pressDigit({ ...KEY, event: event % 16 }));
  assert.equal(playout.pressDigit(KEY), false);
  const starts = pass(64 * 180 + 1).filter(({ marker }) => marker);
  assert.deepEqual(
    starts.map((packet) => seen(packet).event),
    Array.from({ length: 64 }, (_, n) => n % 16),
  );
  assert.deepEqual(
    starts.map(({ atMs }) => atMs - START_MS),
    starts.map((_, n) => n * 180), // 5 ticks, 2 more ends, 2 of pause
  );
  plane.close();
});

test('a key without a way out is not begun again, and those behind it wait', () => {
  const { plane, playout, pass } = holdPlane();
  playout.pressDigit(KEY);
  playout.pressDigit({ ...KEY, event: 7 });
  assert.equal(pass(41).length, 3);
  playout.target(null);
  assert.equal(pass(200).length, 0);
  assert.equal(playout.stats().digitsWaiting, 1);
  playout.target({ capture: true });
  assert.deepEqual(
    [
      ...new Set(
        pass(200)
          .filter(({ payloadType }) => payloadType === 101)
          .map((packet) => seen(packet).event),
      ),
    ],
    [7],
  );
  plane.close();
});

test('the duration is stated in the clock of the events, and a length that it cannot state is refused', () => {
  const { plane, playout, pass } = holdPlane();
  playout.pressDigit({ ...KEY, clockRate: 48_000 });
  assert.deepEqual(
    pass(121).map((packet) => seen(packet).duration),
    [960, 1920, 2880, 3840, 4800, 4800, 4800],
  );
  assert.throws(
    () => playout.pressDigit({ ...KEY, clockRate: 48_000, durationMs: 1400 }),
    /durationMs must be from 10 to 1365/,
  );
  assert.throws(() => playout.pressDigit({ ...KEY, durationMs: 9000 }), /durationMs must be from 10 to 8000/);
  assert.throws(() => playout.pressDigit({ ...KEY, event: -1 }), /event must be from 0 to 255/);
  playout.close();
  assert.equal(playout.pressDigit(KEY), false);
  plane.close();
});

test('comfort noise comes once at the start of a pause and then now and then', () => {
  const { plane, push, pass } = holdPlane({ comfortNoise: { payloadType: 13, level: 60, intervalMs: 200 } });
  push(1, 1, 2);
  const packets = pass(501);
  assert.deepEqual(
    packets.map(({ atMs, payloadType, payload }) => [atMs - START_MS, payloadType, payload.length]),
    [
      [0, 0, 160],
      [20, 0, 160],
      [40, 13, 1],
      [240, 13, 1],
      [440, 13, 1],
    ],
  );
  assert.equal(packets[2]?.payload[0], 60);
  assert.deepEqual(
    packets.map(({ sequence }) => sequence),
    [1000, 1001, 1002, 1003, 1004],
  );
  push(1, 3, 1);
  const [voice, noise] = pass(40);
  assert.deepEqual([voice?.marker, voice?.timestamp, noise?.payloadType], [true, 50_000 + 26 * 160, 13]);
  plane.close();
});

test('sparse silence comes once at the start of a pause and then once per interval', () => {
  const { plane, playout, push, pass } = holdPlane({ silenceIntervalMs: 400 });
  const reached: unknown[] = [];
  playout.onMark = (track, mark, sentAtMs) => reached.push([track, mark, sentAtMs - START_MS]);
  push(1, 1, 2);
  playout.mark(playout.generation, 1, 7, true);
  const packets = pass(901);
  assert.deepEqual(
    packets.map(({ atMs, marker, payloadType, payload }) => [
      atMs - START_MS,
      marker,
      payloadType,
      payload.length,
    ]),
    [
      [0, true, 0, 160],
      [20, false, 0, 160],
      [40, false, 0, 160],
      [440, false, 0, 160],
      [840, false, 0, 160],
    ],
  );
  assert.deepEqual(contents(packets), [1, 2, 'silence', 'silence', 'silence']);
  assert.deepEqual(reached, [[1, 7, 20]]);
  push(1, 3, 1);
  const [voice, silence, ...more] = pass(60);
  assert.deepEqual([voice?.marker, voice?.sequence, voice?.timestamp], [true, 1005, 50_000 + 46 * 160]);
  assert.deepEqual([silence?.sequence, silence?.timestamp, more.length], [1006, 50_000 + 47 * 160, 0]);
  assert.throws(
    () => plane.openStream({ ...TELEPHONE, silenceIntervalMs: -1 }),
    /^RangeError: silenceIntervalMs must be from 0 to 60000$/,
  );
  plane.close();
});

for (const keys of [undefined, CM_KEYS, GCM_KEYS]) {
  test(`a stream takes the place of another one without a seam, ${keys?.profile ?? 'in the clear'}`, () => {
    const options = keys === undefined ? {} : { srtp: keys };
    const { plane, playout, push, passRaw } = holdPlane({ ...options, sequence: 65_534 });
    const reader = keys === undefined ? undefined : new SrtpReader(keys);
    const open = (packets: ReturnType<typeof passRaw>, counter: number) =>
      packets.map(({ atMs, data }) => parseRtp({ atMs, data: reader?.rtp(data, counter) ?? data }));
    push(1, 1, 3);
    const raw = passRaw(61);
    const before = [...open(raw.slice(0, 2), 0), ...open(raw.slice(2), 1)];
    const wideband = { payloadType: 9, ticksPerFrame: 240, frameMs: 30, silence: new Uint8Array(240) };
    const next = plane.openStream({ ...TELEPHONE, ...options, ...wideband }, playout);
    assert.equal(playout.push(playout.generation, 1, new Uint8Array(160)), -1);
    next.target({ capture: true });
    const after = open(passRaw(90), 1);
    assert.deepEqual([before.at(-1)?.sequence, before.at(-1)?.timestamp], [1, 50_000 + 3 * 160]);
    assert.deepEqual(
      after
        .slice(0, 2)
        .map(({ sequence, timestamp, payloadType, ssrc }) => [sequence, timestamp, payloadType, ssrc]),
      [
        [2, 50_000 + 4 * 160, 9, TELEPHONE.ssrc],
        [3, 50_000 + 4 * 160 + 240, 9, TELEPHONE.ssrc],
      ],
    );
    assert.equal(next.stats().packets, before.length + after.length);
    assert.throws(() => plane.openStream({ ...TELEPHONE, ssrc: 1 }, next), /ssrc must be that of the stream/);
    plane.close();
  });
}
