// One call's recording from its start to its end, with the worker thread and files on disk.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { ParleyError } from '../../src/errors.js';
import { CallRecording, type RecordedCall, type RecordingEvent } from '../../src/recording/call-recording.js';
import type { Recordings } from '../../src/recording/recordings.js';
import { systemTime, type Time } from '../../src/time.js';
import { noise } from '../audio/tones.js';
import { ManualTime } from '../fakes/manual-time.js';
import { until } from '../fakes/until.js';
import { fileAt } from './active-recordings-under-test.js';
import { in16Bits, interleaved, wavChannels } from './recorded-sound.js';
import { openRecordings } from './recordings-under-test.js';

/** A call whose sound the test makes. */
class FakeCall implements RecordedCall {
  readonly id: string;
  readonly owner = 'acme';
  readonly events: RecordingEvent[] = [];
  readonly rings: PcmRing[] = [];
  readonly closed: number[] = [];
  readonly announced: string[] = [];
  announcement: Promise<void> = Promise.resolve();
  /** A move keeps the connection. */
  staysAtSource = false;

  constructor(t: TestContext, id = 'call_1') {
    this.id = id;
    t.after(() => {
      for (const ring of this.rings) ring.close();
    });
  }

  get ring(): PcmRing {
    const ring = this.rings.at(-1);
    assert.ok(ring !== undefined, 'a ring is open');
    return ring;
  }

  hasSourceOf(ring: number): boolean {
    return this.staysAtSource && this.ring.handle === ring;
  }

  openRing(capacityMs: number, channels: number): number {
    const ring = PcmRing.open(16_000, channels * 16 * capacityMs);
    this.rings.push(ring);
    return ring.handle;
  }

  closeRing(handle: number): void {
    this.closed.push(handle);
    this.rings.find((ring) => ring.handle === handle)?.close();
  }

  async announce(announcement: string): Promise<void> {
    this.announced.push(announcement);
    await this.announcement;
  }

  onEvent(event: RecordingEvent): void {
    this.events.push(event);
  }
}

function record(t: TestContext, recordings: Recordings, time: Time = systemTime, id?: string) {
  const call = new FakeCall(t, id);
  return { call, recording: new CallRecording(recordings, call, time) };
}

const typesOf = ({ events }: FakeCall) => events.map(({ type }) => type);

/** The worker has read everything. */
const drained = (ring: PcmRing) => until(() => ring.status()?.readable === 0);

test('a call is recorded from start to stop, and events tell each step', async (t) => {
  const { recordings, folder } = await openRecordings(t);
  const { call, recording } = record(t, recordings);
  assert.equal(recording.view, undefined);
  const started = await recording.start();
  assert.deepEqual([started.call, started.state, started.format], ['call_1', 'recording', 'wav']);
  const sound = noise(8000);
  call.ring.write(interleaved(sound, sound));
  await drained(call.ring);
  assert.equal(recording.pause().state, 'paused');
  assert.equal(recording.pause().state, 'paused');
  assert.equal(recording.resume().state, 'recording');
  const stopped = await recording.stop();
  const { name } = started;
  const bytes = 44 + 4 * 8000;
  assert.deepEqual(stopped, { ...started, state: 'stopped', reason: 'stopped', durationMs: 500, bytes });
  assert.deepEqual(call.events, [
    { type: 'recording.started', name, format: 'wav' },
    { type: 'recording.paused', name },
    { type: 'recording.resumed', name },
    { type: 'recording.stopped', name, reason: 'stopped', durationMs: 500, bytes },
  ]);
  assert.deepEqual(wavChannels(fileAt(join(folder, name))).caller, in16Bits(sound));
  assert.deepEqual(call.closed, [call.ring.handle]);
  assert.deepEqual(recordings.figures, { open: 0, started: 1, failed: 0 });
});

test('a call is recorded again after a stop, in a file of its own', async (t) => {
  const { recordings, folder } = await openRecordings(t);
  const { recording } = record(t, recordings);
  const first = await recording.start();
  await recording.stop();
  const second = await recording.start({ format: 'opus' });
  await recording.stop();
  assert.notEqual(first.name, second.name);
  assert.deepEqual(readdirSync(folder).toSorted(), [first.name, second.name].toSorted());
  assert.deepEqual([second.format, recording.view?.name], ['opus', second.name]);
});

test('what the state forbids is refused, and changes nothing', async (t) => {
  const { recordings } = await openRecordings(t);
  const { call, recording } = record(t, recordings);
  const refused = { code: 'CALL_STATE' };
  assert.throws(() => recording.pause(), refused);
  assert.throws(() => recording.resume(), refused);
  await assert.rejects(recording.stop(), refused);
  const starting = recording.start();
  await assert.rejects(recording.start(), refused);
  assert.throws(() => recording.pause(), refused);
  await assert.rejects(recording.stop(), refused);
  await starting;
  await assert.rejects(recording.start(), refused);
  const stopping = recording.stop();
  await assert.rejects(recording.stop(), refused);
  assert.throws(() => recording.pause(), refused);
  await stopping;
  assert.deepEqual(typesOf(call), ['recording.started', 'recording.stopped']);
});

test('the announcement comes first; if it fails, nothing is recorded', async (t) => {
  const { recordings, folder } = await openRecordings(t);
  const { call, recording } = record(t, recordings);
  let finish: () => void = () => undefined;
  call.announcement = new Promise((resolve) => (finish = resolve));
  const starting = recording.start({ announce: 'This call is recorded.' });
  await until(() => call.announced.length === 1);
  assert.deepEqual([call.rings.length, readdirSync(folder)], [0, []]);
  finish();
  await starting;
  await recording.stop();
  assert.deepEqual(call.announced, ['This call is recorded.']);

  call.announcement = Promise.reject(new ParleyError('TEXT_TOO_LONG', 'too long'));
  await assert.rejects(recording.start({ announce: 'beep' }), { code: 'TEXT_TOO_LONG' });
  assert.deepEqual([call.rings.length, readdirSync(folder).length], [1, 1]);
  call.announcement = Promise.resolve();
  await recording.start({ announce: 'none' });
  assert.equal(call.announced.length, 2, '`none` is not announced');
});

test('an announcement that does not end is given up after a minute', async (t) => {
  const time = new ManualTime();
  const { recordings } = await openRecordings(t);
  const { call, recording } = record(t, recordings, time);
  call.announcement = new Promise(() => undefined);
  const starting = assert.rejects(recording.start({ announce: 'beep' }), { code: 'TIMEOUT' });
  await until(() => call.announced.length === 1);
  time.advance(60_000);
  await starting;
  assert.equal(call.rings.length, 0);
});

test('the end of the call completes the recording, in every state', async (t) => {
  const { recordings } = await openRecordings(t);
  for (const state of ['idle', 'starting', 'recording', 'paused', 'stopping']) {
    const { call, recording } = record(t, recordings);
    const began = state === 'idle' ? undefined : recording.start();
    if (state !== 'starting') await began;
    if (state === 'paused') recording.pause();
    const stopping = state === 'stopping' ? recording.stop() : undefined;
    await recording.close();
    await recording.close();
    await Promise.all([began, stopping]);
    const last = call.events.at(-1);
    const reason = last?.type === 'recording.stopped' ? last.reason : undefined;
    const expected = { idle: undefined, stopping: 'stopped' }[state];
    assert.equal(reason, state in { idle: 0, stopping: 0 } ? expected : 'call-ended', state);
    await assert.rejects(recording.start(), { code: 'CALL_STATE' });
  }
});

test('a call that ends during the announcement is not recorded', async (t) => {
  const { recordings, folder } = await openRecordings(t);
  const { call, recording } = record(t, recordings);
  let finish: () => void = () => undefined;
  call.announcement = new Promise((resolve) => (finish = resolve));
  const starting = assert.rejects(recording.start({ announce: 'beep' }), { code: 'CALL_STATE' });
  const closing = recording.close();
  finish();
  await Promise.all([starting, closing]);
  assert.deepEqual([call.events, readdirSync(folder)], [[], []]);
});

test('a call that moves is read from its new ring after the rest of the old one, and both are closed', async (t) => {
  const { recordings, folder } = await openRecordings(t);
  const { call, recording } = record(t, recordings);
  recording.follow();
  assert.equal(call.rings.length, 0, 'nothing is opened while nothing is recorded');
  const { name } = await recording.start();
  const [before, after] = [noise(800, 0.5, 1), noise(1600, 0.5, 2)];
  const old = call.ring;
  old.write(interleaved(before, before));
  recording.follow();
  assert.deepEqual(call.closed, [], 'the worker has not read it yet');
  call.ring.write(interleaved(after, after));
  await drained(call.ring);
  await recording.stop();
  const { caller } = wavChannels(fileAt(join(folder, name)));
  assert.deepEqual(caller.subarray(0, 800), in16Bits(before));
  assert.deepEqual(caller.subarray(-1600), in16Bits(after));
  assert.deepEqual(call.closed, [call.ring.handle, old.handle]);
});

test('a recording that is too long, or all together too large, ends while its call goes on', async (t) => {
  const limits = { maxMs: 1000, keepBytes: 0 };
  const { recordings } = await openRecordings(t, { config: limits });
  const { call, recording } = record(t, recordings);
  await recording.start();
  call.ring.write(interleaved(noise(20_000), noise(20_000)));
  await until(() => call.events.length === 2);
  const [, long] = call.events;
  assert.ok(long?.type === 'recording.stopped' && long.reason === 'too-long' && long.durationMs === 1000);
  assert.throws(() => recording.pause(), { code: 'CALL_STATE' });
  await recording.start();

  const small = await openRecordings(t, { config: { keepBytes: 100_000 } });
  const large = record(t, small.recordings);
  const witness = record(t, small.recordings, systemTime, 'call_2');
  await Promise.all([large.recording.start(), witness.recording.start()]);
  large.call.ring.write(interleaved(noise(30_000), noise(30_000)));
  await until(() => large.call.events.length === 2);
  const [, end] = large.call.events;
  assert.ok(end?.type === 'recording.stopped' && end.reason === 'too-large', JSON.stringify(end));
  assert.equal(witness.recording.view?.state, 'recording');
});

test('a folder that is gone fails the start with a named error and an event, and the next start may succeed', async (t) => {
  const { recordings, logged } = await openRecordings(t);
  const { call, recording } = record(t, recordings);
  const pathOf = recordings.folder.pathOf.bind(recordings.folder);
  recordings.folder.pathOf = (name) => join('/nonexistent', name);
  await assert.rejects(recording.start(), {
    code: 'RECORDING_FAILED',
    message: 'the recording cannot be written (ENOENT)',
  });
  const [failed] = call.events;
  assert.ok(failed?.type === 'recording.failed' && failed.error.code === 'RECORDING_FAILED');
  assert.deepEqual(call.closed, [call.ring.handle]);
  assert.equal(logged[0]?.[0], 'recording failed');
  recordings.folder.pathOf = pathOf;
  await recording.start();
  assert.deepEqual(typesOf(call), ['recording.failed', 'recording.started']);
});

test('a worker that dies fails its recordings, and the next recording has another worker', async (t) => {
  const script = new URL('./dying-recorder.js', import.meta.url);
  const { recordings, logged } = await openRecordings(t, { script });
  const { call, recording } = record(t, recordings);
  await recording.start();
  await assert.rejects(recording.stop(), { code: 'RECORDING_FAILED', message: 'the recording worker died' });
  assert.deepEqual(typesOf(call), ['recording.started', 'recording.failed']);
  assert.deepEqual(logged[0], ['recording worker lost', { detail: 'it exited with 3' }]);
  assert.equal((await recording.start()).state, 'recording');
});

test('a disk that hangs delays neither the start, nor the end of the call, for ever', async (t) => {
  const time = new ManualTime();
  const script = new URL('./silent-recorder.js', import.meta.url);
  const { recordings } = await openRecordings(t, { script, time });
  const { recording } = record(t, recordings, time);
  const starting = assert.rejects(recording.start(), { code: 'TIMEOUT' });
  await until(() => time.waiting > 1);
  time.advance(10_000);
  await starting;
  const closing = Promise.all([recording.close(), recordings.close()]);
  await until(() => time.waiting > 0);
  time.advance(5000);
  await closing;
});

test('the end of the server completes what is recorded; nothing begins after it', async (t) => {
  const { recordings, folder } = await openRecordings(t);
  const { call, recording } = record(t, recordings);
  const { name } = await recording.start();
  await recordings.close();
  await until(() => call.events.length === 2);
  assert.deepEqual(readdirSync(folder), [name]);
  await assert.rejects(recording.start(), { code: 'CALL_CLOSED' });
});

test('a hundred calls are recorded at once, each into its own complete file', async (t) => {
  const { recordings, folder } = await openRecordings(t);
  const calls = Array.from({ length: 100 }, (_, n) => {
    const format = n % 10 === 0 ? 'opus' : 'wav';
    return { ...record(t, recordings, systemTime, `call_${n}`), format, tone: (n + 1) / 128 } as const;
  });
  await Promise.all(calls.map(({ recording, format }) => recording.start({ format })));
  assert.equal(recordings.figures.open, 100);
  const frames = 16_000;
  const beganMs = performance.now();
  for (const { call, tone } of calls) {
    call.ring.write(interleaved(new Float32Array(frames).fill(tone), new Float32Array(frames).fill(-tone)));
  }
  await Promise.all(calls.map(({ call }) => drained(call.ring)));
  await Promise.all(calls.map(({ recording }) => recording.stop()));
  const tookMs = performance.now() - beganMs;
  assert.ok(tookMs < 10_000, `one second of a hundred calls took ${tookMs} ms`);
  for (const { recording, format, tone } of calls) {
    const { name = '', durationMs, reason } = recording.view ?? {};
    assert.deepEqual([durationMs, reason], [1000, 'stopped']);
    if (format === 'opus') continue;
    const { caller, ours } = wavChannels(fileAt(join(folder, name)));
    assert.ok(caller.length === frames && caller.every((sample) => sample === tone), name);
    assert.ok(
      ours.every((sample) => sample === -tone),
      name,
    );
  }
  const { recordings: listed } = await recordings.folder.list({ maySee: () => true, limit: 1000 });
  assert.equal(listed.filter(({ complete, durationMs }) => complete && durationMs === 1000).length, 100);
});

test('a recorder that stood still goes on in another ring, and the log states the silence', async (t) => {
  const { recordings, logged } = await openRecordings(t);
  const { call, recording } = record(t, recordings);
  const { name } = await recording.start();
  const [slow] = call.rings;
  slow?.write(interleaved(noise(800), noise(800)));
  slow?.end('LISTENER_SLOW');
  await until(() => call.rings.length === 2);
  call.ring.write(interleaved(noise(1600), noise(1600)));
  await drained(call.ring);
  const { reason, durationMs } = await recording.stop();
  assert.ok(reason === 'stopped' && durationMs >= 150, `${reason} after ${durationMs} ms`);
  assert.deepEqual(typesOf(call), ['recording.started', 'recording.stopped']);
  const [message, fields] = logged[0] ?? [];
  assert.deepEqual(
    [message, fields?.['call'], fields?.['recording']],
    ['recording lost sound', 'call_1', name],
  );
  const soundMs = durationMs - Number(fields?.['silentMs']); // the log rounds to 1 ms
  assert.ok(Math.abs(soundMs - 150) <= 1, `${soundMs} ms of sound`);
  assert.equal(call.closed.length, 2);
});

test('a start that fails before there is a file is an event', async (t) => {
  const { recordings } = await openRecordings(t);
  const { call, recording } = record(t, recordings);
  call.announcement = Promise.reject(new ParleyError('TEXT_TOO_LONG', 'too long'));
  await assert.rejects(recording.start({ announce: 'Hello.' }), { code: 'TEXT_TOO_LONG' });
  const error = { code: 'TEXT_TOO_LONG', message: 'too long' } as const;
  assert.deepEqual(call.events, [
    { type: 'recording.failed', durationMs: 0, bytes: 0, reason: 'failed', error },
  ]);
});

test('the names of all recordings of a call that began are known, oldest first', async (t) => {
  const { recordings } = await openRecordings(t);
  const { recording } = record(t, recordings);
  assert.equal(recording.names, undefined);
  const names: string[] = [];
  for (let count = 0; count < 2; count++) {
    names.push((await recording.start()).name);
    await recording.stop();
  }
  assert.deepEqual(recording.names, names);
});

test('the caller alone is recorded beside the call, and both names belong to the call', async (t) => {
  const { recordings, folder } = await openRecordings(t);
  const { call, recording } = record(t, recordings);
  const whole = await recording.start();
  const wholeRing = call.ring;
  const beside = recording.beside(() => ({ beginMs: 250 }));
  const alone = await beside.start();
  const sound = noise(8000);
  call.ring.write(sound);
  wholeRing.write(interleaved(sound, sound));
  await drained(call.ring);
  await drained(wholeRing);
  await recording.close();
  const [{ durationMs } = assert.fail()] = [beside.view];
  assert.equal(durationMs, 250);
  assert.equal(wavChannels(fileAt(join(folder, whole.name))).caller.length, 8000);
  assert.equal(fileAt(join(folder, alone.name)).length, 44 + 2 * 4000);
  assert.deepEqual(recording.names, [whole.name, alone.name]);
  const stopped = call.events.flatMap((event) => (event.type === 'recording.stopped' ? [event.name] : []));
  assert.deepEqual(new Set(stopped), new Set([whole.name, alone.name]));
});
