// Serves the main thread's Hearing from a worker thread: messages in, events out.
import { parentPort, workerData } from 'node:worker_threads';
import type { TurnModelFile } from '../config/hearing-config.js';
import { systemTime } from '../time.js';
import type { EarSource } from './ear-source.js';
import { type CheckedEndOfTurnModel, loadEndOfTurnModel } from './end-of-turn.js';
import {
  type DetectorState,
  type FromHearingWorker,
  HEARING_COUNTERS,
  type HearingWorkerData,
  type ToHearingWorker,
} from './hearing-messages.js';
import { ListeningLoop, type LoopWork } from './listening-loop.js';
import { SileroModel } from './silero.js';
import type { TurnModels } from './turn-follower.js';
import { WorkerTurnModels } from './turn-models.js';
import { EnergyModel, type VoiceMemory, type VoiceModel } from './voice-model.js';

interface ServiceOptions {
  readonly openEars: (handle: number) => EarSource;
  readonly fade: (playout: number, track: number) => boolean;
}

/** Loads the models and listens until the main thread closes it. Called once, in a worker thread. */
export async function serveHearing({ openEars, fade }: ServiceOptions): Promise<void> {
  if (parentPort === null) throw new Error('the hearing service runs in a worker thread');
  const port = parentPort;
  const { ears, vadModel, endOfTurnModule, turnModels, counters } = workerData as HearingWorkerData;
  const post = (message: FromHearingWorker): void => port.postMessage(message);
  const { model, state } = await loadModel(vadModel);
  let namesNow = (): readonly string[] | undefined => undefined; // until the models are loaded
  const onProblem = (problem: string | undefined): void =>
    post({ type: 'end-of-turn', problem, turnModels: namesNow() });
  const endOfTurn = await loadEndOfTurn(endOfTurnModule, turnModels, onProblem);
  namesNow = () => endOfTurn?.names;
  const loop = new ListeningLoop<VoiceMemory>({
    ears: openEars(ears),
    model,
    fade,
    onEvent: (stream, event, decidedMs) => post({ type: 'event', stream, event, decidedMs }),
    onAnalysed: (streams) => post({ type: 'analysed', streams }),
    onForgotten: (stream) => post({ type: 'forgotten', stream }),
    onFailed: (stream, { message }) => post({ type: 'failed', stream, message }),
    onWork: (work) => count(counters, work),
    now: () => performance.now(),
    endOfTurn,
  });
  port.on('message', (message: ToHearingWorker) => {
    if (message.type !== 'close') return loop.handle(message);
    void loop
      .close()
      .then(() => Promise.all([model.close(), endOfTurn?.close()]))
      .finally(() => port.close());
  });
  loop.start();
  const turnNames = endOfTurn?.names ?? [];
  post({ type: 'ready', state: turnNames.length === 0 ? state : { ...state, turnModels: turnNames } });
}

async function loadModel(
  file: string | undefined,
): Promise<{ readonly model: VoiceModel<VoiceMemory>; readonly state: DetectorState }> {
  try {
    const model = await SileroModel.load(file);
    return { model: model as VoiceModel<VoiceMemory>, state: { detector: 'silero', sha256: model.sha256 } };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return {
      model: new EnergyModel() as VoiceModel<VoiceMemory>,
      state: { detector: 'energy', problem },
    };
  }
}

/** The operator's module comes before TURN_MODEL. A server whose model is broken hears without it. */
async function loadEndOfTurn(
  module: string | undefined,
  files: readonly TurnModelFile[],
  onProblem: (problem: string | undefined) => void,
): Promise<CheckedEndOfTurnModel | TurnModels | undefined> {
  const options = { time: systemTime, onProblem };
  if (module === undefined)
    return files.length === 0 ? undefined : WorkerTurnModels.start({ ...options, files });
  try {
    return await loadEndOfTurnModel(module, options);
  } catch (error) {
    onProblem(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

function count(counters: Int32Array, { workedUs, windows, gated, runs }: LoopWork): void {
  Atomics.add(counters, HEARING_COUNTERS.workedUs, Math.round(workedUs));
  Atomics.add(counters, HEARING_COUNTERS.windows, windows);
  Atomics.add(counters, HEARING_COUNTERS.gated, gated);
  Atomics.add(counters, HEARING_COUNTERS.runs, runs);
}
