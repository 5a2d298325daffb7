// Voice activity in rings without a call: the loop with the real model, and the worker that dies meanwhile.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { Resampler } from '../../src/audio/resampler.js';
import { Hearing } from '../../src/hearing/hearing.js';
import type { AnalysedStream, HearingEvent } from '../../src/hearing/hearing-messages.js';
import { ListeningLoop } from '../../src/hearing/listening-loop.js';
import { SileroModel } from '../../src/hearing/silero.js';
import type { VoiceMemory, VoiceModel } from '../../src/hearing/voice-model.js';
import { createLog } from '../../src/observe/log.js';
import { systemTime } from '../../src/time.js';
import { HEARING_SETTINGS } from '../fakes/hearing-settings.js';
import { until } from '../fakes/until.js';
import { ScriptedEars } from './scripted-ears.js';
import { joined, silence, speech } from './sounds.js';

const words = await speech('I would like to speak to somebody, please.');
const sound = joined(silence(640), words, silence(1500), words, silence(2000));

interface Stream {
  readonly ring: PcmRing;
  readonly events: [HearingEvent, decidedMs: number][];
  analysedMs: number;
  isOver: boolean;
}

async function openLoop(t: TestContext, count: number) {
  const streams: Stream[] = Array.from({ length: count }, () => ({
    ring: PcmRing.open(16_000, sound.length),
    events: [],
    analysedMs: 0,
    isOver: false,
  }));
  let runs = 0;
  const loop = new ListeningLoop<VoiceMemory>({
    ears: new ScriptedEars(new Map()),
    model: (await SileroModel.load()) as VoiceModel<VoiceMemory>,
    fade: () => false,
    onEvent: (stream, event, decidedMs) => streams[stream]?.events.push([event, decidedMs]),
    onAnalysed: (all: readonly AnalysedStream[]) => {
      for (const { stream, atMs, isOver } of all) {
        const one = streams[stream] ?? assert.fail();
        assert.ok(one.events.every(([, decidedMs]) => decidedMs <= Math.max(one.analysedMs, atMs)));
        one.analysedMs = Math.max(one.analysedMs, atMs);
        one.isOver ||= isOver;
      }
    },
    onForgotten: () => undefined,
    onFailed: (_stream, error) => {
      throw error;
    },
    onWork: (work) => (runs += work.runs),
    now: () => performance.now(),
  });
  t.after(() => loop.close());
  t.after(() => streams.forEach(({ ring }) => ring.close()));
  for (const [stream, { ring }] of streams.entries())
    loop.handle({ type: 'listen-ring', stream, ring: ring.handle, settings: HEARING_SETTINGS });
  loop.start();
  return { loop, streams, runs: () => runs };
}

test('speech and turns have the times of the sound, however the sound comes', async (t) => {
  const { streams } = await openLoop(t, 3);
  const [whole, cut, slow] = streams;
  assert.ok(whole !== undefined && cut !== undefined && slow !== undefined);
  whole.ring.write(sound);
  for (let at = 0; at < sound.length; at += 333) cut.ring.write(sound.subarray(at, at + 333));
  for (let at = 0; at < sound.length; at += 4000) {
    slow.ring.write(sound.subarray(at, at + 4000));
    await until(() => slow.analysedMs >= Math.floor((Math.min(at + 4000, sound.length) - 511) / 512) * 32);
  }
  for (const { ring } of streams) ring.end();
  await until(() => streams.every(({ isOver }) => isOver));
  const turns = whole.events.filter(([{ type }]) => type === 'turn.ended');
  assert.equal(turns.length, 2);
  assert.equal(whole.events.at(-1)?.[0].type, 'turn.ended');
  assert.deepEqual(cut.events, whole.events);
  assert.deepEqual(slow.events, whole.events);
  const [started] = whole.events;
  assert.ok(Math.abs((started?.[0].atMs ?? 0) - 640) < 400, JSON.stringify(started));
  assert.equal(whole.analysedMs, Math.floor(sound.length / 512) * 32);
});

test('a ring of another rate is heard at the same times', async (t) => {
  const { loop, streams } = await openLoop(t, 3);
  const [plain, ...others] = streams;
  assert.ok(plain !== undefined);
  for (const [stream, rate] of [
    [1, 48_000],
    [2, 44_100],
  ] as const) {
    const one = streams[stream] ?? assert.fail();
    loop.handle({ type: 'forget', stream });
    const ring = PcmRing.open(rate, 4 * sound.length);
    t.after(() => ring.close());
    const resampler = new Resampler(16_000, rate, sound.length);
    const converted = new Float32Array(resampler.maxOutput(sound.length));
    const count = resampler.process(sound, sound.length, converted);
    loop.handle({ type: 'listen-ring', stream, ring: ring.handle, rate, settings: HEARING_SETTINGS });
    ring.write(converted.subarray(0, count));
    ring.end();
    await until(() => one.isOver);
  }
  plain.ring.write(sound);
  plain.ring.end();
  await until(() => plain.isOver);
  const wanted = plain.events.map(([{ type, atMs }]) => [type, atMs] as const);
  for (const { events } of others) {
    assert.deepEqual(
      events.map(([{ type }]) => type),
      wanted.map(([type]) => type),
    );
    for (const [n, [{ atMs }]] of events.entries())
      assert.ok(Math.abs(atMs - (wanted[n]?.[1] ?? 0)) <= 96, `${atMs} ms, not ${wanted[n]?.[1]}`);
  }
});

test('windows of many rings are analysed together', async (t) => {
  const { streams, runs } = await openLoop(t, 20);
  for (const { ring } of streams) ring.write(sound);
  for (const { ring } of streams) ring.end();
  await until(() => streams.every(({ isOver }) => isOver));
  for (const { events } of streams) assert.deepEqual(events, streams[0]?.events);
  // Rings that are full of sound are taken one after the other, in takes of 512 windows.
  assert.ok(runs() < (20 * sound.length) / 512, String(runs()));
});

test('when many rings become few, each is heard on', async (t) => {
  const { loop, streams } = await openLoop(t, 5);
  for (const { ring } of streams) ring.write(sound.subarray(0, 5120));
  await until(() => streams.every(({ analysedMs }) => analysedMs === 320));
  for (const stream of [3, 4]) loop.handle({ type: 'forget', stream });
  const left = streams.slice(0, 3);
  for (const { ring } of left) ring.write(sound.subarray(5120, 10_240));
  await until(() => left.every(({ analysedMs }) => analysedMs === 640));
});

test('a stream that is forgotten is read no more', async (t) => {
  const { loop, streams } = await openLoop(t, 1);
  const [stream] = streams;
  assert.ok(stream !== undefined);
  stream.ring.write(silence(100));
  await until(() => stream.analysedMs === 96);
  loop.handle({ type: 'forget', stream: 0 });
  stream.ring.write(silence(1000));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(stream.ring.status()?.readable, 16_000);
});

test('a ring whose worker dies is heard by the next one, and none is lost without a word', async (t) => {
  const logLines: string[] = [];
  const hearing = await Hearing.open({
    plane: { handle: 0 },
    script: new URL('./scripted-worker.js', import.meta.url),
    openEars: () => ({ handle: 0, close: () => undefined }),
    log: createLog({
      level: 'info',
      logText: false,
      destination: { write: (line) => void logLines.push(line) },
    }),
    time: systemTime,
  });
  t.after(() => hearing.close());
  const ring = PcmRing.open(16_000, 2 * sound.length);
  t.after(() => ring.close());
  const events: string[] = [];
  let analysedMs = 0;
  let isOver = false;
  let lost: string | undefined;
  hearing.listenToRing('a test', ring, HEARING_SETTINGS, {
    event: ({ type }) => events.push(type),
    analysed: (atMs, over) => ([analysedMs, isOver] = [atMs, over]),
    lost: ({ code }) => (lost = code),
  });
  const kill = () => {
    const media = { socket: { handle: 666 }, playout: { handle: 1 } };
    hearing.listen('fatal', media, HEARING_SETTINGS, () => undefined).close();
  };
  ring.write(sound.subarray(0, 16_000));
  await until(() => analysedMs === 992);
  kill();
  await until(() => logLines.some((line) => line.includes('hearing worker replaced')));
  ring.write(sound.subarray(16_000));
  ring.end();
  await until(() => isOver);
  assert.equal(analysedMs, 1000 + Math.floor((sound.length - 16_000) / 512) * 32);
  assert.deepEqual(events.slice(-3), ['speech.started', 'speech.stopped', 'turn.ended']);
  assert.equal(lost, undefined);
  for (let deaths = 0; deaths < 3 && hearing.detector !== 'none'; deaths++) {
    const before = logLines.length;
    kill();
    await until(() => logLines.length > before);
  }
  await until(() => lost === 'HEARING_FAILED');
});
