// Callers whose turns a toy model ends: the listening loop, the follower and the worker of the models are
// real. The sound is tones; a level finds them.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { HearingSettings, TurnModelFile } from '../../src/config/hearing-config.js';
import type { HearingEvent, HeardWords } from '../../src/hearing/hearing-messages.js';
import { ListeningLoop } from '../../src/hearing/listening-loop.js';
import type { TurnModels } from '../../src/hearing/turn-follower.js';
import { WorkerTurnModels } from '../../src/hearing/turn-models.js';
import { EnergyModel, type VoiceMemory, type VoiceModel } from '../../src/hearing/voice-model.js';
import { WINDOW_SAMPLES } from '../../src/media/ears.js';
import { disableTelemetry } from '../../src/onnx/telemetry.js';
import { systemTime } from '../../src/time.js';
import { HEARING_SETTINGS } from '../fakes/hearing-settings.js';
import { until } from '../fakes/until.js';
import { toy } from '../onnx/toys.js';
import { ScriptedEars } from './scripted-ears.js';
import { joined, silence } from './sounds.js';

disableTelemetry();

const TURN_EN: TurnModelFile = { file: toy('turn-1-mini/turn-1-mini.step.onnx'), languages: ['en'] };
const SMART: TurnModelFile = { file: toy('smart-turn/smart-turn-v3.2-cpu.onnx'), languages: undefined };
/** Without a model the silence is 1.5 s. */
const SETTINGS = { ...HEARING_SETTINGS, silenceMs: 1500 };

const tone = (hertz: number, ms: number) =>
  Float32Array.from({ length: 16 * ms }, (_, n) => 0.3 * Math.sin((2 * Math.PI * hertz * n) / 16_000));

const LOW = joined(silence(300), tone(200, 1000), silence(3000));
const BRIGHT = joined(silence(300), tone(200, 500), tone(2400, 500), silence(3000));
const BROKEN = joined(silence(300), tone(200, 1000), silence(220), tone(200, 1000), silence(3000));

interface Script {
  readonly sounds: readonly Float32Array[];
  readonly settings?: Partial<HearingSettings>;
  /** Told before the first window. */
  readonly words?: HeardWords;
  /** Told at the end of the first pause. */
  readonly pauseWords?: Pick<HeardWords, 'hint'>;
}

/** The models, and how many of their answers are awaited. */
function counted(models: TurnModels) {
  const state = { asking: 0, asked: 0 };
  const wrapped: TurnModels = {
    open: (language) => {
      const call = models.open(language);
      if (call === undefined) return undefined;
      const ask = () => {
        state.asking++;
        state.asked++;
        return call.ask().finally(() => state.asking--);
      };
      return { ...call, ask };
    },
    close: () => models.close(),
    names: models.names,
  };
  return { wrapped, state };
}

/** The silences in milliseconds, in steps of a window, that ended the turns. The sound waits for answers. */
async function silences(t: TestContext, files: readonly TurnModelFile[], script: Script) {
  const problems: (string | undefined)[] = [];
  const onProblem = (problem: string | undefined) => problems.push(problem);
  const models = await WorkerTurnModels.start({ files, time: systemTime, onProblem });
  t.after(() => models.close());
  const { wrapped, state } = counted(models);
  const ears = new ScriptedEars(new Map(script.sounds.map((caller, n) => [n + 1, { caller }])));
  const events = script.sounds.map((): HearingEvent[] => []);
  let windows = 0;
  const loop = new ListeningLoop({
    ears,
    model: new EnergyModel() as VoiceModel<VoiceMemory>,
    fade: () => false,
    onEvent: (stream, event) => events[stream - 1]?.push(event),
    onAnalysed: () => undefined,
    onForgotten: () => undefined,
    onFailed: (_stream, error) => {
      throw error;
    },
    onWork: (work) => (windows += work.windows),
    now: () => performance.now(),
    endOfTurn: wrapped,
  });
  const settings = { ...SETTINGS, ...script.settings };
  for (const [n] of script.sounds.entries()) {
    const stream = n + 1;
    loop.handle({ type: 'listen', stream, media: { socket: stream, playout: 1 }, settings });
    if (script.words !== undefined) loop.handle({ type: 'words', stream, words: script.words });
  }
  loop.start();
  let isTold = false;
  const longest = Math.max(...script.sounds.map((sound) => sound.length));
  for (let released = 1; released <= Math.floor(longest / WINDOW_SAMPLES); released++) {
    ears.release(1);
    await until(() => windows >= released * script.sounds.length && state.asking === 0);
    const stopped = events[0]?.find(({ type }) => type === 'speech.stopped');
    if (stopped === undefined || isTold || script.pauseWords === undefined) continue;
    isTold = true;
    const words = { ...script.pauseWords, pauseMs: stopped.atMs, isNoInterruption: false };
    loop.handle({ type: 'words', stream: 1, words });
  }
  await loop.close();
  assert.deepEqual(problems, []);
  const found = events.map((own) => {
    const stops = own.filter(({ type }) => type === 'speech.stopped');
    const ends = own.filter(({ type }) => type === 'turn.ended');
    return ends.map(({ atMs }) =>
      Math.round(atMs - (stops.findLast((stop) => stop.atMs < atMs)?.atMs ?? NaN)),
    );
  });
  return { found, asked: state.asked };
}

test('turn-1-mini ends a turn early that fades out, and one that stays bright later', async (t) => {
  const { found } = await silences(t, [TURN_EN], { sounds: [LOW, BRIGHT] });
  assert.deepEqual(found, [[480], [640]]);
});

test('a short pause ends no turn, and the next pause begins with nothing of its estimates', async (t) => {
  const { found } = await silences(t, [TURN_EN], { sounds: [BROKEN] });
  assert.deepEqual(found, [[544]]);
});

test('Smart Turn is asked at three silences, and its answers end the turn', async (t) => {
  const { found, asked } = await silences(t, [SMART], { sounds: [LOW] });
  assert.deepEqual(found, [[1216]]); // without an answer it would be 1,500
  assert.equal(asked, 3);
});

test('the words decide, but a sure model ends a number sooner', async (t) => {
  for (const [hint, silenceMs] of [
    ['finished', 320],
    ['unfinished', 512],
  ] as const) {
    const { found } = await silences(t, [TURN_EN], { sounds: [LOW], pauseWords: { hint } });
    assert.deepEqual(found, [[silenceMs]]);
  }
});

test('a caller of a language that no model knows, and a fixed silence, ask nothing', async (t) => {
  const words = { hint: undefined, isNoInterruption: false, language: 'de' };
  const german = await silences(t, [TURN_EN], { sounds: [LOW], words });
  assert.deepEqual(german, { found: [[1504]], asked: 0 });
  const fixed = { minSilenceMs: 1000, silenceMs: 1000, maxSilenceMs: 1000 };
  const exact = await silences(t, [TURN_EN], { sounds: [LOW], settings: fixed });
  assert.deepEqual(exact, { found: [[1024]], asked: 0 });
});
