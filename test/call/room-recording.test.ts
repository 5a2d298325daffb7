// The recording of a room, on the native mixer: its events, a full disk and a dead worker. The room goes on.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { samplesOf } from '../../src/call/call-music.js';
import { nativeJoiner } from '../../src/call/joined-media.js';
import { Room } from '../../src/call/room.js';
import { roomRecorder } from '../../src/call/room-recorder.js';
import { type ServerEvent, ServerEvents } from '../../src/call/server-events.js';
import { MediaPlane } from '../../src/media/media-plane.js';
import { systemTime } from '../../src/time.js';
import { until } from '../fakes/until.js';
import { openRecordings } from '../recording/recordings-under-test.js';

type Recorded = Extract<ServerEvent, { readonly room: string }>;

async function open(t: TestContext, script?: string) {
  const plane = MediaPlane.open({ clock: 'real', seed: 1 });
  t.after(() => plane.close());
  const own = script === undefined ? {} : { script: new URL(`../recording/${script}.js`, import.meta.url) };
  const { recordings } = await openRecordings(t, own);
  const events = new ServerEvents(Date.now);
  const told: Recorded[] = [];
  events.follow('shop', 0, ({ event }) => {
    if ('room' in event) told.push(event);
  });
  const room = new Room(
    'weekly',
    'shop',
    { start: 'two', mostMembers: 9 },
    { joiner: nativeJoiner(plane), tell: () => undefined, unixMs: Date.now },
  );
  const recording = roomRecorder({ recordings, events, time: systemTime })(room);
  t.after(async () => {
    room.end('server closing');
    await recording.close();
  });
  return { room, recording, told, types: () => told.map(({ type }) => type) };
}

test('the events of a recording name the room, and are for the key of the room', async (t) => {
  const { recording, told, types } = await open(t);
  const { name } = await recording.start({ format: 'wav' });
  recording.pause();
  recording.resume();
  await recording.stop();
  assert.deepEqual(types(), [
    'recording.started',
    'recording.paused',
    'recording.resumed',
    'recording.stopped',
  ]);
  assert.ok(told.every((event) => event.room === 'weekly' && event.recording.name === name));
  const last = told.at(-1)?.recording;
  assert.equal(last?.type === 'recording.stopped' ? last.reason : undefined, 'stopped');
});

test('a full disk ends the recording of a room; the room goes on and is recorded again', async (t) => {
  const { room, recording, told, types } = await open(t, 'full-recorder');
  const { name } = await recording.start({ format: 'wav' });
  await until(() => types().includes('recording.failed'));
  const failed = told.at(-1)?.recording;
  assert.ok(failed?.type === 'recording.failed');
  assert.deepEqual([failed.name, failed.reason, failed.error.code], [name, 'disk-full', 'DISK_FULL']);
  assert.ok(!room.isOver);
  await room.play(samplesOf({ samples: new Float32Array(1600).fill(0.1), sampleRate: 16_000 }));
  await recording.start({ format: 'wav' });
  assert.equal((await recording.stop()).reason, 'stopped');
});

test('a recording worker that dies leaves the room as it is', async (t) => {
  const { room, recording, told, types } = await open(t, 'dying-recorder');
  await recording.start({ format: 'wav' });
  await assert.rejects(recording.stop());
  await until(() => types().includes('recording.failed'));
  assert.equal(told.at(-1)?.recording.type, 'recording.failed');
  assert.ok(!room.isOver);
  await room.play(samplesOf({ samples: new Float32Array(1600).fill(0.1), sampleRate: 16_000 }));
});
