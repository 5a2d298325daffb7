import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeMark, segmentEnded, segmentStarted, TRACK_ENDED } from '../../src/encoding/marks.js';
import { type Playout, PlayoutWriter } from '../../src/media/playout.js';
import { contents, holdPlane, parseRtp, START_MS, TELEPHONE, within } from './plane-under-test.js';

/** Collects what the playout tells of marks, as [track, mark, sentAtMs]. */
function marksOf(playout: Playout): [number, number, number][] {
  const told: [number, number, number][] = [];
  playout.onMark = (track, mark, sentAtMs) => told.push([track, mark, sentAtMs]);
  return told;
}

test('a mark is told with the time at which the frame before it left, and not sooner', () => {
  const { plane, playout, push, pass } = holdPlane();
  const told = marksOf(playout);
  const { generation } = playout;
  push(7, 1);
  playout.mark(generation, 7, segmentStarted(0), false);
  push(7, 2);
  playout.mark(generation, 7, segmentEnded(0), false);
  playout.mark(generation, 7, TRACK_ENDED, true);
  pass(1);
  assert.deepEqual(told, [[7, segmentStarted(0), START_MS]]);
  pass(19);
  assert.equal(told.length, 1);
  pass(1);
  assert.deepEqual(told.slice(1), [
    [7, segmentEnded(0), START_MS + 20],
    [7, TRACK_ENDED, START_MS + 20],
  ]);
  assert.equal(playout.stats().underruns, 0);
  plane.close();
});

test('a mark that arrives after its frame left is told at the next tick', () => {
  const { plane, playout, push, pass } = holdPlane();
  const told = marksOf(playout);
  push(1, 1);
  pass(1);
  playout.mark(playout.generation, 1, TRACK_ENDED, true);
  pass(20);
  assert.deepEqual(told, [[1, TRACK_ENDED, START_MS + 20]]);
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
  const told = marksOf(playout);
  push(1, 1);
  assert.equal(playout.pauseInput(playout.generation, 1), 1);
  pass(101);
  assert.equal(playout.stats().underruns, 0);
  push(1, 2);
  pass(60); // the frame, then two ticks without one
  assert.equal(playout.stats().underruns, 2);
  assert.deepEqual(told, []); // a rest is no mark
  push(1, 3);
  playout.pauseInput(playout.generation, 1);
  const [track] = playout.clear().tracks;
  assert.deepEqual(track, { track: 1, sentFrames: 2, droppedFrames: 1, droppedMarks: [] });
  assert.equal(playout.pauseInput(1, 1), -1);
  plane.close();
});

test('a clear tells exactly what was sent and drops the rest for good', () => {
  const { plane, playout, push, pass } = holdPlane();
  const told = marksOf(playout);
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
  assert.deepEqual(told, [[1, TRACK_ENDED, START_MS + 20]]);
  assert.equal(playout.stats().underruns, 0); // silence after a clear is wanted
  assert.equal(playout.stats().queuedMs, 0);
  plane.close();
});

test('what carries the generation before a clear is refused, what carries the new one is sent', () => {
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
  const told = marksOf(playout);
  push(1, 1, 2);
  pass(1);
  playout.mark(playout.generation, 1, 5, false);
  playout.pause();
  assert.deepEqual(contents(pass(60)), ['silence', 'silence', 'silence']);
  assert.deepEqual(told, []);
  assert.equal(playout.stats().underruns, 0);
  assert.equal(playout.stats().queuedMs, 20);
  playout.resume();
  const [packet] = pass(20);
  assert.deepEqual([packet?.payload[0], packet?.marker], [2, true]);
  assert.equal(told.length, 1);
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
  let told = 0;
  const room = new Promise<void>((resolve) => {
    writer.onRoom(() => {
      told++;
      resolve();
    });
  });
  pass(81); // five frames left, five wait: that is not below 100 ms
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(told, 0);
  pass(20);
  await within('room', room);
  assert.equal(told, 1);
  assert.equal(writer.push(playout.generation, 1, new Uint8Array(160)), 1);
  plane.close();
});

test('who waits for room is called when the playout is cleared or closed', async () => {
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

test('marks are refused before they could be lost, and there is room again once they are told', () => {
  const { plane, playout, push, pass } = holdPlane();
  const told = marksOf(playout);
  push(1, 1);
  const marks: number[] = [];
  while (playout.mark(playout.generation, 1, marks.length, false) === 1) marks.push(marks.length);
  assert.equal(marks.length, 63);
  pass(1);
  assert.deepEqual(
    told.map(([, mark]) => mark),
    marks,
  );
  assert.equal(playout.mark(playout.generation, 1, 0, false), 1);
  assert.equal(plane.stats().marksLost, 0);
  plane.close();
});

test('a listener that throws does not keep the others from being told', () => {
  const { plane, playout, push, pass } = holdPlane();
  const other = plane.openStream(TELEPHONE);
  other.target({ capture: true });
  playout.onMark = () => {
    throw new Error('out of order');
  };
  const told = marksOf(other);
  push(1, 1);
  playout.mark(playout.generation, 1, 1, false);
  other.push(other.generation, 1, new Uint8Array(160));
  other.mark(other.generation, 1, 2, false);
  assert.throws(() => pass(20), /out of order/);
  assert.equal(told.length, 1);
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
