// The server of the bench of conversations, in a process of its own: a whole server with a scripted
// recogniser, or with one that works and is told what to say. Configured by the environment as any server.
// Its parent tells it what callers say.
import { readConfig } from '../../../src/config/config.js';
import { startServer } from '../../../src/main.js';
import type { AnswerTimes } from '../../../src/call/call-events.js';
import type { Log } from '../../../src/log.js';
import { createLog } from '../../../src/observe/log.js';
import { Engines } from '../../../src/engines/routing.js';
import { PreparedVoice } from './prepared-voice.js';
import { ScriptedRecogniser, type SaidWord } from './scripted-recogniser.js';
import { WorkingRecogniser } from './working-recogniser.js';
import { LABELS, type LabelsMessage, type TurnLabel } from './scripted-turns.js';
import { ANSWERS, STORY_SENTENCES } from './texts.js';
import { OUR_VOICE } from './voices.js';

export type ToConversationServer =
  | { readonly type: 'words'; readonly caller: string; readonly words: readonly SaidWord[] }
  | { readonly type: 'labels'; readonly caller: string; readonly labels: readonly TurnLabel[] };

export type FromConversationServer =
  | { readonly type: 'listening'; readonly url: string }
  /** The parts of the way to an answer. */
  | { readonly type: 'answered'; readonly caller: string; readonly times: AnswerTimes };

const config = readConfig(process.env);
const { BENCH_EARS: directory, BENCH_EAR_WORKERS: workers = '1' } = process.env;
const recogniser =
  directory === undefined
    ? new ScriptedRecogniser()
    : await WorkingRecogniser.open({ directory, workers: Number(workers) });
const labels = new BroadcastChannel(LABELS);

function say(message: FromConversationServer): void {
  process.send?.(message);
}

/** A log that also passes the times of each answer on. */
function noting(log: Log): Log {
  const info = (fields: object, message: string): void => {
    const { call: _call, agent: caller, ...times } = fields as AnswerTimes & { call: string; agent: string };
    if (message === 'agent answered') say({ type: 'answered', caller, times });
    log.info(fields, message);
  };
  return Object.create(log, { info: { value: info } }) as Log;
}

process.on('message', (message: ToConversationServer) => {
  if (message.type === 'words') recogniser.says(message.caller, message.words);
  else labels.postMessage({ caller: message.caller, labels: message.labels } satisfies LabelsMessage);
});
/** The voice beside ears that work works, too. */
async function preparedVoice() {
  const voice = new PreparedVoice();
  await voice.load();
  await voice.prepare([...ANSWERS, ...STORY_SENTENCES], OUR_VOICE);
  return { engines: await Engines.of([voice]) };
}

const { url } = await startServer(config, {
  ...(directory === undefined ? await preparedVoice() : {}),
  log: noting(createLog({ level: config.log.level, logText: false })),
  recognisers: { recogniser, aligner: undefined, health: undefined, close: () => recogniser.close() },
});
const health = (await (await fetch(`${url}/health`)).json()) as {
  readonly voiceActivity: { readonly detector: string };
};
// Without its model the server hears by the level alone, and the figures would mean nothing.
if (health.voiceActivity.detector !== 'silero') throw new Error(JSON.stringify(health.voiceActivity));
process.once('disconnect', () => process.exit(0));
say({ type: 'listening', url });
