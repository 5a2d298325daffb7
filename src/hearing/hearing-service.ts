// Serves the main thread's Hearing from a worker thread: messages in, events out.
import { parentPort, workerData } from 'node:worker_threads';
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
import { EnergyModel, type VoiceMemory, type VoiceModel } from './voice-model.js';

interface ServiceOptions {
  readonly openEars: (handle: number) => EarSource;
  readonly fade: (playout: number, track: number) => boolean;
}

/** Loads the models and listens until the main thread closes it. Called once, in a worker thread. */
export async function serveHearing({ openEars, fade }: ServiceOptions): Promise<void> {
  if (parentPort === null) throw new Error('the hearing service runs in a worker thread');
  const port = parentPort;
  const { ears, vadModel, endOfTurnModule, counters } = workerData as HearingWorkerData;
  const post = (message: FromHearingWorker): void => port.postMessage(message);
  const { model, state } = await loadModel(vadModel);
  const { endOfTurn, problem } = await loadEndOfTurn(endOfTurnModule, (reason) =>
    post({ type: 'end-of-turn', problem: reason }),
  );
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
      .then(() => model.close())
      .finally(() => port.close());
  });
  loop.start();
  if (problem !== undefined) post({ type: 'end-of-turn', problem });
  post({ type: 'ready', state });
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

/** The operator's module, if one is set. A server whose module is broken hears without it. */
async function loadEndOfTurn(
  file: string | undefined,
  onProblem: (problem: string | undefined) => void,
): Promise<{ readonly endOfTurn?: CheckedEndOfTurnModel; readonly problem?: string }> {
  if (file === undefined) return {};
  try {
    return { endOfTurn: await loadEndOfTurnModel(file, { time: systemTime, onProblem }) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

function count(counters: Int32Array, { workedUs, windows, gated, runs }: LoopWork): void {
  Atomics.add(counters, HEARING_COUNTERS.workedUs, Math.round(workedUs));
  Atomics.add(counters, HEARING_COUNTERS.windows, windows);
  Atomics.add(counters, HEARING_COUNTERS.gated, gated);
  Atomics.add(counters, HEARING_COUNTERS.runs, runs);
}
