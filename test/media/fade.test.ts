// A voice that fades out in the middle of a word, as the far end receives it: one more frame, then silence.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { TRACK_ENDED } from '../../src/encoding/marks.js';
import { fadePlayout } from '../../src/media/playout.js';
import { contents, holdPlane, type RtpPacket, TELEPHONE, within } from './plane-under-test.js';

const CODEC = { codec: 'PCMU' } as const;
const QUIETEST = 0x7f; // of µ-law, without its sign

/** True for a frame whose samples become weaker from its start to silence at its end. */
function fades({ payload }: RtpPacket): boolean {
  const levels = [...payload].map((byte) => byte & QUIETEST);
  return (
    levels[0] !== QUIETEST &&
    levels.at(-1) === QUIETEST &&
    levels.every((level, index) => level >= (levels[index - 1] ?? 0))
  );
}

test('a fade sends one frame that fades out, and then silence', () => {
  const { plane, playout, push, pass } = holdPlane(CODEC);
  push(1, 1, 10);
  assert.deepEqual(contents(pass(41)), [1, 2, 3]);
  assert.equal(playout.fade(1), true);
  const packets = pass(60);
  assert.deepEqual(contents(packets), [4, 'silence', 'silence']);
  assert.deepEqual(packets.map(fades), [true, false, false]);
  assert.equal(playout.sent(1), 4);
  assert.equal(playout.stats().underruns, 0);
  plane.close();
});

test('a resume repeats the frame that faded and those before it, with the marker bit', () => {
  const { plane, playout, push, pass } = holdPlane(CODEC);
  push(1, 1, 10);
  pass(41);
  playout.fade(1);
  pass(60);
  assert.equal(playout.resumeFade(1, 3), true);
  assert.equal(playout.sent(1), 4);
  const packets = pass(100);
  assert.deepEqual(contents(packets), [2, 3, 4, 5, 6]);
  assert.deepEqual(packets.map(fades), [false, false, false, false, false]);
  assert.deepEqual(
    packets.map(({ marker }) => marker),
    [true, false, false, false, false],
  );
  assert.equal(playout.sent(1), 6);
  assert.equal(playout.resumeFade(1, 3), false);
  plane.close();
});

test('a clear counts the faded frame once, and the next track plays', () => {
  const { plane, playout, push, pass } = holdPlane(CODEC);
  push(1, 1, 5);
  playout.mark(playout.generation, 1, TRACK_ENDED, true);
  pass(21);
  playout.fade(1);
  pass(40);
  assert.deepEqual(playout.clear().tracks, [
    { track: 1, sentFrames: 3, droppedFrames: 2, droppedMarks: [TRACK_ENDED] },
  ]);
  push(2, 20, 2);
  assert.deepEqual(contents(pass(40)), [20, 21]);
  plane.close();
});

test('a fade is refused for another track, in a pause, without sound and after the end', () => {
  const { plane, playout, push, pass } = holdPlane(CODEC);
  assert.equal(playout.fade(1), false);
  push(1, 1, 5);
  assert.equal(playout.fade(2), false);
  playout.pause();
  assert.equal(playout.fade(1), false);
  playout.resume();
  assert.equal(playout.fade(1), true);
  assert.equal(playout.fade(1), false);
  pass(41);
  playout.resume(); // ends another pause
  assert.deepEqual(contents(pass(20)), ['silence']);
  playout.close();
  assert.equal(playout.fade(1), false);
  assert.equal(playout.resumeFade(1, 1), false);
  plane.close();
});

test('without a codec the voice stops at the end of a frame', () => {
  const { plane, playout, push, pass } = holdPlane();
  push(1, 1, 5);
  pass(21);
  assert.equal(playout.fade(1), true);
  assert.deepEqual(contents(pass(40)), ['silence', 'silence']);
  assert.equal(playout.resumeFade(1, 1), true);
  assert.deepEqual(contents(pass(60)), [2, 3, 4]);
  plane.close();
});

test('a playout that continues a faded one begins paused', () => {
  const { plane, playout, push, pass } = holdPlane(CODEC);
  push(1, 1, 5);
  pass(21);
  playout.fade(1);
  pass(40);
  const next = plane.openStream({ ...TELEPHONE, ...CODEC }, playout);
  next.target({ capture: true });
  next.push(next.generation, 1, new Uint8Array(160).fill(9));
  assert.deepEqual(contents(pass(40)), ['silence', 'silence']);
  assert.equal(next.resumeFade(2, 3), false);
  assert.equal(next.resumeFade(1, 3), true); // it has sent none of them
  assert.deepEqual(contents(pass(20)), [9]);
  plane.close();
});

test('a worker fades a playout by its handle', async () => {
  const { plane, playout, push, pass } = holdPlane(CODEC);
  push(1, 1, 5);
  pass(21);
  const module = new URL('../../src/media/playout.js', import.meta.url).href;
  const worker = new Worker(
    `import('${module}').then(({ fadePlayout }) =>
       require('node:worker_threads').parentPort.postMessage(fadePlayout(${playout.handle}, 1)))`,
    { eval: true },
  );
  const answer = new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
  assert.equal(await within('the worker', answer), true);
  await worker.terminate();
  assert.deepEqual(pass(40).map(fades), [true, false]);
  plane.close();
});

test('a codec of another name is refused', () => {
  const { plane } = holdPlane();
  const options = { ...TELEPHONE, codec: 'AMR' as 'PCMU' };
  assert.throws(() => plane.openStream(options), /codec must be PCMU, PCMA, G722, opus or L16/);
  plane.close();
  assert.equal(fadePlayout(1e9, 1), false);
});
