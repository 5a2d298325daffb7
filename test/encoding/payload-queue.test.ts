import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeldStart } from '../../src/encoding/payload-queue.js';
import { TRACK_ENDED } from '../../src/encoding/marks.js';
import { RecordingQueue } from './line-fakes.js';

const frame = (value: number) => Uint8Array.of(value);

test('the first frames and their mark reach the playout together with the third frame, in order', () => {
  const queue = new RecordingQueue();
  const held = new HeldStart(queue);
  held.push(1, 1, frame(10));
  held.mark(1, 1, 0, false);
  held.push(1, 1, frame(11));
  assert.deepEqual(queue.log, []);
  assert.equal(held.holding, true);
  assert.equal(held.push(1, 1, frame(12)), 1);
  assert.deepEqual(queue.log, [[10], 0, [11], [12]]);
  assert.equal(held.holding, false);
  held.push(1, 1, frame(13));
  assert.equal(queue.log.length, 5);
});

test('a track or a text that ends earlier is not held', () => {
  const ended = new RecordingQueue();
  const short = new HeldStart(ended);
  short.push(1, 1, frame(10));
  short.mark(1, 1, TRACK_ENDED, true);
  assert.deepEqual(ended.log, [[10], TRACK_ENDED]);

  const resting = new RecordingQueue();
  const paused = new HeldStart(resting);
  paused.push(1, 1, frame(10));
  paused.pauseInput(1, 1);
  assert.deepEqual(resting.log, [[10]]);
  assert.deepEqual(resting.rests, [1]);
  paused.push(1, 1, frame(11));
  assert.deepEqual(resting.log, [[10]], 'after a rest the next talkspurt is held again');
});

test('a full playout takes the held frames when it has room, each once', () => {
  const queue = new RecordingQueue(1);
  const held = new HeldStart(queue);
  held.push(1, 1, frame(10));
  held.push(1, 1, frame(11));
  assert.equal(held.push(1, 1, frame(12)), 0);
  assert.equal(held.push(1, 1, frame(12)), 0);
  queue.give(5);
  assert.equal(held.push(1, 1, frame(12)), 1);
  assert.deepEqual(queue.log, [[10], [11], [12]]);
});

test('a held payload is a copy: its encoder may use the memory again', () => {
  const queue = new RecordingQueue();
  const held = new HeldStart(queue);
  const memory = frame(10);
  held.push(1, 1, memory);
  memory[0] = 99;
  held.mark(1, 1, TRACK_ENDED, true);
  assert.deepEqual(queue.log, [[10], TRACK_ENDED]);
});

test('a cleared playout is told as such', () => {
  const queue = new RecordingQueue();
  const held = new HeldStart(queue);
  held.push(1, 1, frame(10));
  queue.gone = true;
  held.push(1, 1, frame(11));
  assert.equal(held.push(1, 1, frame(12)), -1);
});
