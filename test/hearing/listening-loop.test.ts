import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HearingEvent } from '../../src/hearing/hearing-messages.js';
import { HEARING_SETTINGS } from '../fakes/hearing-settings.js';
import { ListeningLoop } from '../../src/hearing/listening-loop.js';
import { SileroModel } from '../../src/hearing/silero.js';
import { EnergyModel, type VoiceMemory, type VoiceModel } from '../../src/hearing/voice-model.js';
import { until } from '../fakes/until.js';
import { heard } from './heard-script.js';
import { FIRST_END_MS, ScriptedEars } from './scripted-ears.js';
import { breath, cough, joined, keyboard, mixed, noise, silence, speech } from './sounds.js';

const words = await speech('I would like to speak to somebody, please.');
/** The place of the first loud sample of the words. */
const leadMs = words.findIndex((sample) => Math.abs(sample) > 0.02) / 16;

/** The probability of speech in each window, all of them in one call. */
async function probabilities(model: SileroModel, sound: Float32Array): Promise<number[]> {
  const memory = model.newMemory();
  const found: number[] = [];
  for (let at = 0; at + 512 <= sound.length; at += 512) {
    model.add(memory, sound.subarray(at, at + 512));
    await model.run();
    found.push(model.probability(0));
  }
  return found;
}

test('Silero tells speech from silence and noise, and a row does not depend on the rows beside it', async () => {
  const model = await SileroModel.load();
  const spoken = await probabilities(model, words);
  const middle = spoken.slice(Math.ceil(leadMs / 32) + 2, -12);
  assert.ok(
    middle.filter((p) => p > 0.5).length > 0.8 * middle.length,
    middle.map((p) => p.toFixed(2)).join(' '),
  );
  for (const quiet of [silence(2000), noise(2000, -45)]) {
    assert.ok((await probabilities(model, quiet)).every((p) => p < 0.3));
  }
  const memories = [model.newMemory(), model.newMemory(), model.newMemory()];
  const sounds = [noise(2000, -20), words, silence(2000)];
  for (let window = 0; window < 30; window++) {
    for (const [row, memory] of memories.entries()) {
      model.add(memory, (sounds[row] ?? silence(32)).subarray(512 * window, 512 * (window + 1)));
    }
    await model.run();
    assert.ok(Math.abs(model.probability(1) - (spoken[window] ?? 0)) < 1e-4, `window ${window}`);
  }
  await model.close();
});

test('the onset lies before the decision and near the first sound', async () => {
  const { events, work } = await heard({ caller: joined(silence(640), words, silence(1500)) });
  const [started, ended] = [events[0], events.at(-1)];
  assert.equal(started?.type, 'speech.started');
  assert.equal(events.filter(({ type }) => type === 'turn.ended').length, 1);
  const trueMs = 1000 + 640 + leadMs;
  assert.ok(Math.abs((started?.atMs ?? 0) - trueMs) <= 64, `${started?.atMs}, not ${trueMs}`);
  assert.ok(ended?.type === 'turn.ended' && ended.startedMs === started?.atMs && ended.reason === 'silence');
  assert.ok(work.gated > 40, 'the silence around it is kept from the model');
});

for (const [name, sound] of [
  ['a cough', cough(-20)],
  ['a breath', breath(-25)],
  ['typing on a keyboard', keyboard(4000, -25)],
  ['keys and breath on a noisy line', mixed(keyboard(3000, -30), breath(-35), noise(3000, -50))],
] as const) {
  test(`${name} does not confirm a barge-in, with any sensitivity`, async () => {
    const caller = joined(silence(300), sound, silence(1000));
    const ours = silence(caller.length / 16);
    for (const sensitivity of ['high', 'medium', 'low'] as const) {
      const { events, work } = await heard({ caller, ours }, { sensitivity });
      assert.ok(work.runs > 0, 'the model was asked');
      const types = events.map(({ type }) => type);
      assert.ok(!types.includes('bargein.confirmed') && !types.includes('turn.ended'), types.join());
    }
  });
}

test('a word that begins with a fricative and a closure pauses the voice before the model finds speech', async () => {
  const stop = await speech('Stop, I have a question.', 'rms');
  const beganMs = 1000 + 640 + stop.findIndex((sample) => Math.abs(sample) > 0.01) / 16;
  const caller = joined(silence(640), stop, silence(1000));
  const { events } = await heard({ caller, ours: silence(caller.length / 16) });
  const [paused, started] = events;
  assert.ok(paused?.type === 'bargein.paused' && started?.type === 'speech.started');
  assert.ok(paused.atMs - beganMs <= 64, `${paused.atMs - beganMs} ms`);
  assert.equal(
    events.find(({ type }) => type.startsWith('bargein') && type !== 'bargein.paused')?.type,
    'bargein.confirmed',
  );
});

test('a minute of breaths pauses the voice for a quarter of a second each time, five times at most', async () => {
  const breaths = Array.from({ length: 40 }, (_, n) => joined(breath(-25, n + 3), silence(900)));
  const caller = joined(silence(640), ...breaths);
  const { events } = await heard({ caller, ours: silence(caller.length / 16) });
  const pauses = events.filter(({ type }) => type === 'bargein.paused');
  const ends = events.filter(({ type }) => type === 'bargein.false');
  assert.deepEqual([...new Set(events.map(({ type }) => type))], ['bargein.paused', 'bargein.false']);
  assert.ok(pauses.length > 0 && pauses.length <= 5, `${pauses.length} pauses`);
  for (const [n, { atMs }] of ends.entries()) assert.equal(atMs - (pauses[n]?.atMs ?? 0), 256);
});

test('the energy detector finds the same sentence, too', async () => {
  const model = new EnergyModel() as VoiceModel<VoiceMemory>;
  const { events } = await heard({ caller: joined(silence(640), words, silence(1500)) }, {}, model);
  const [started] = events;
  assert.equal(started?.type, 'speech.started');
  assert.ok(Math.abs(started.atMs - 1000 - 640 - leadMs) <= 96);
  assert.equal(events.at(-1)?.type, 'turn.ended');
});

test('many calls are analysed in one run a step, and each hears its own', async () => {
  const caller = joined(words, silence(1000));
  const calls = new Map(Array.from({ length: 20 }, (_, n) => [n + 1, { caller }]));
  const ears = new ScriptedEars(calls);
  const events = new Map<number, HearingEvent[]>();
  let work = { windows: 0, runs: 0 };
  const loop = new ListeningLoop<VoiceMemory>({
    ears,
    model: (await SileroModel.load()) as VoiceModel<VoiceMemory>,
    fade: () => false,
    onEvent: (stream, event) => void events.set(stream, [...(events.get(stream) ?? []), event]),
    onAnalysed: () => undefined,
    onForgotten: () => undefined,
    onFailed: (_stream, error) => {
      throw error;
    },
    onWork: ({ windows, runs }) => (work = { windows: work.windows + windows, runs: work.runs + runs }),
    now: () => performance.now(),
  });
  for (const socket of calls.keys()) {
    const media = { socket, playout: socket };
    loop.handle({ type: 'listen', stream: socket, media, settings: HEARING_SETTINGS });
  }
  loop.start();
  const steps = Math.ceil(caller.length / 512);
  ears.release(steps);
  await until(() => work.windows === 20 * steps);
  assert.ok(work.runs > 0 && work.runs <= steps, `${work.runs} runs in ${steps} steps`);
  assert.equal(events.size, 20);
  for (const one of events.values()) assert.deepEqual(one, events.get(1));
  loop.handle({ type: 'forget', stream: 5 });
  assert.ok(!ears.sockets.includes(5));
  await loop.close();
  await loop.close();
  assert.equal(ears.closed, 1);
});

test('awaitInput without speech ends in no_input, on the clock of the sound', async () => {
  const ears = new ScriptedEars(new Map([[1, { caller: silence(100) }]]));
  const events: HearingEvent[] = [];
  const loop = new ListeningLoop<VoiceMemory>({
    ears,
    model: new EnergyModel() as VoiceModel<VoiceMemory>,
    fade: () => false,
    onEvent: (_stream, event) => events.push(event),
    onAnalysed: () => undefined,
    onForgotten: () => undefined,
    onFailed: (_stream, error) => {
      throw error;
    },
    onWork: () => undefined,
    now: () => 0,
  });
  const settings = { ...HEARING_SETTINGS, noInputMs: 320 };
  loop.handle({ type: 'listen', stream: 1, media: { socket: 1, playout: 1 }, settings });
  loop.handle({ type: 'await', stream: 1, atMs: FIRST_END_MS });
  loop.start();
  ears.release(50);
  await until(() => events.length > 0);
  assert.deepEqual(events, [{ type: 'no_input', atMs: FIRST_END_MS + 320 }]);
  await loop.close();
});
