import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toBytesS16le } from '../../src/audio/pcm16.js';
import { WAV_HEADER_BYTES, wavHeader } from '../../src/codecs/wav.js';
import { HeldStart } from '../../src/encoding/frame-sink.js';
import { TRACK_ENDED } from '../../src/encoding/marks.js';
import {
  bytesSession,
  joined,
  loud,
  MemoryRing,
  RecordingBytes,
  RecordingQueue,
  resampled,
} from './encoder-fakes.js';

function s16le(sound: Float32Array): number[] {
  const bytes = new Uint8Array(sound.length * 2);
  toBytesS16le(sound, sound.length, bytes);
  return [...bytes];
}

test('PCM is the resampled sound to the last sample, without padding, and a clean end', () => {
  const ring = new RecordingBytes();
  const session = bytesSession(ring, 'pcm', 24_000);
  const parts = [loud(1601, 1), loud(333, 2)];
  session.segment(MemoryRing.of(parts[0] as Float32Array), 16_000);
  session.segment(MemoryRing.of(parts[1] as Float32Array), 16_000, 10);
  session.pipeline.end();
  assert.equal(session.run(), 'over');
  const [first, second] = parts.map((part) => resampled(part, 16_000, 24_000));
  assert.deepEqual(
    ring.bytes,
    s16le(joined(first as Float32Array, new Float32Array(240), second as Float32Array)),
  );
  assert.equal(ring.ended, '');
  assert.equal(session.reports.at(-1), 'ended');
});

test('WAV is a streaming header and the same PCM; the header comes with the first sound', () => {
  const ring = new RecordingBytes();
  const session = bytesSession(ring, 'wav', 16_000);
  const source = new MemoryRing();
  session.segment(source, 16_000);
  session.run();
  assert.equal(ring.bytes.length, 0);
  const sound = loud(500);
  source.write(sound.subarray(0, 480));
  session.run();
  assert.equal(ring.bytes.length, WAV_HEADER_BYTES + 2 * 320);
  source.write(sound.subarray(480));
  source.end();
  session.pipeline.end();
  session.run();
  assert.deepEqual(ring.bytes, [...wavHeader(16_000), ...s16le(sound)]);
});

test('a WAV of nothing is its header', () => {
  const ring = new RecordingBytes();
  const session = bytesSession(ring, 'wav', 16_000);
  session.pipeline.end();
  session.run();
  assert.deepEqual(ring.bytes, [...wavHeader(16_000)]);
  assert.equal(ring.ended, '');
});

test('a slow reader gets every byte, however little room there is at a time', () => {
  for (const room of [1, 7, 100, 1000]) {
    const ring = new RecordingBytes(0);
    const session = bytesSession(ring, 'wav', 8000);
    const sound = loud(700);
    session.segment(MemoryRing.of(sound), 8000);
    session.pipeline.end();
    while (session.run() === 'waiting') ring.give(room);
    assert.deepEqual(ring.bytes, [...wavHeader(8000), ...s16le(sound)]);
    assert.equal(ring.ended, '');
  }
});

test('a segment that fails ends the bytes with its code: no hole is passed off as sound', () => {
  const ring = new RecordingBytes();
  const session = bytesSession(ring, 'wav', 8000);
  const failing = new MemoryRing();
  failing.write(loud(800));
  failing.end('ENGINE_FAILED');
  const later = new MemoryRing();
  session.segment(failing, 8000);
  session.segment(later, 8000);
  assert.equal(session.run(), 'over');
  assert.equal(ring.bytes.length, WAV_HEADER_BYTES + 1600);
  assert.equal(ring.ended, 'ENGINE_FAILED');
  assert.equal(later.aborted, true);
  assert.deepEqual(session.reports.at(-1), { lost: 'ENGINE_FAILED' });
});

test('a reader that left ends the session with ABORTED', () => {
  const ring = new RecordingBytes(100);
  const session = bytesSession(ring, 'pcm', 8000);
  const source = MemoryRing.of(loud(8000));
  session.segment(source, 8000);
  assert.equal(session.run(), 'waiting');
  ring.gone = true;
  assert.equal(session.run(), 'over');
  assert.equal(source.aborted, true);
  assert.deepEqual(session.reports.at(-1), { lost: 'ABORTED' });
});

test('a stopped session tells its reader that the bytes are not complete', () => {
  const ring = new RecordingBytes();
  const session = bytesSession(ring, 'pcm', 8000);
  session.segment(MemoryRing.of(loud(800)), 8000);
  session.run();
  session.pipeline.stop();
  assert.equal(ring.ended, 'ABORTED');
});

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

test('a cleared playout answers -1', () => {
  const queue = new RecordingQueue();
  const held = new HeldStart(queue);
  held.push(1, 1, frame(10));
  queue.gone = true;
  held.push(1, 1, frame(11));
  assert.equal(held.push(1, 1, frame(12)), -1);
});
