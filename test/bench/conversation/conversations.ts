// Runs the conversations of the bench: one server, and on each line a caller who asks and interrupts, and
// another one who makes noises.
import type { AnswerTimes } from '../../../src/call/call-events.js';
import { randomFrom } from '../../api/mutations.js';
import { BenchConversationServer } from './bench-conversation-server.js';
import { Caller } from './caller.js';
import { type Cue, judge, NOISE_EFFECT_MS, type Verdicts } from './judge.js';
import { type LineKind, LINES, openLine } from './lines.js';
import { recordedSpeech } from './recorded.js';
import type { Recording } from './recording.js';
import { NoiseSounds } from './noises.js';
import {
  asides,
  greet,
  interruptions,
  noises,
  pauses,
  prepareSpeech,
  questions,
  type Stage,
} from './scenes.js';
import { FIRST_TOKEN_MS, ScriptedChat } from './scripted-chat.js';
import { CallerVoices } from './voices.js';

export const SCENES = ['questions', 'pauses', 'interruptions', 'asides', 'noises'] as const;
type Scene = (typeof SCENES)[number];

export const isScene = (word: string): word is Scene => (SCENES as readonly string[]).includes(word);

interface Plan {
  readonly isQuick: boolean;
  readonly seed: number;
  /** All scenes if undefined. */
  readonly only?: Scene | undefined;
}

interface RecordedCall {
  readonly name: string;
  readonly line: string;
  readonly recording: Recording;
  readonly verdicts: Verdicts;
}

interface Conversations {
  readonly calls: readonly RecordedCall[];
  /** The parts of the way to each answer. */
  readonly times: readonly AnswerTimes[];
  readonly notices: readonly string[];
}

type Play = (stage: Stage) => Promise<Cue[]>;

/** Repetitions of a scene in a call; milliseconds of noises. */
const WHOLE = { questions: 16, pauses: 16, interruptions: 16, asides: 6, noises: 300_000 } as const;
const QUICK = { questions: 5, pauses: 3, interruptions: 3, asides: 0, noises: 28_000 } as const;
/** The scenes of the calls on each line, which take about as long as each other. */
const WHOLE_CALLS: readonly (readonly Scene[])[] = [
  ['questions', 'pauses', 'interruptions'],
  ['noises', 'asides'],
];
const QUICK_CALLS: readonly (readonly Scene[])[] = [
  ['questions', 'interruptions'],
  ['pauses', 'noises'],
];
/** An answer that the script held back tells nothing of the server. */
const HELD_MODEL_MS = 10 * FIRST_TOKEN_MS;

const PLAYS: Readonly<Record<Scene, (stage: Stage, amount: number) => Promise<Cue[]>>> = {
  questions,
  pauses,
  interruptions,
  asides,
  noises,
};

export async function runConversations({ isQuick, seed, only }: Plan): Promise<Conversations> {
  const amounts = isQuick ? QUICK : WHOLE;
  const lines = isQuick ? LINES.slice(0, 2) : LINES;
  const play =
    (...scenes: readonly Scene[]): Play =>
    async (stage) => {
      const cues: Cue[] = [];
      for (const scene of scenes) cues.push(...(await PLAYS[scene](stage, amounts[scene])));
      return cues;
    };
  const scenes = only === undefined ? (isQuick ? QUICK_CALLS : WHOLE_CALLS) : [[only]];
  const plays = scenes.map((own) => play(...own));
  const callers = plays.flatMap((own, n) =>
    lines.map((line, at) => ({ name: `c${n * lines.length + at}`, line, play: own })),
  );
  const chat = await ScriptedChat.open();
  const voices = await CallerVoices.load();
  const recorded = recordedSpeech();
  await prepareSpeech(voices);
  const noiseSounds = await NoiseSounds.make(voices);
  const server = await BenchConversationServer.start({
    chatUrl: chat.url,
    callers: callers.map(({ name }) => name),
  });
  try {
    const settled = await Promise.allSettled(
      callers.map((caller, n) =>
        called(caller, server, { chat, voices, noiseSounds, recorded, seed: seed * 1000 + n }),
      ),
    );
    const calls = settled.map((one) => {
      if (one.status === 'rejected') throw new Error('a call failed', { cause: one.reason });
      return one.value;
    });
    const times = server.answered.map((one) => one.times).filter(({ modelMs }) => modelMs < HELD_MODEL_MS);
    const missing = 'Without recordings of people: pocketsphinx-testdata is not installed.';
    const notices = recorded.length === 0 ? [missing] : [];
    return { calls, times, notices };
  } finally {
    await server.close();
    await voices.close();
    await chat.close();
  }
}

interface Shared extends Pick<Stage, 'chat' | 'voices' | 'noiseSounds' | 'recorded'> {
  readonly seed: number;
}

async function called(
  { name, line: kind, play }: { readonly name: string; readonly line: LineKind; readonly play: Play },
  server: BenchConversationServer,
  { seed, ...shared }: Shared,
): Promise<RecordedCall> {
  const line = await openLine(kind, server, name, seed);
  const caller = new Caller({ name, line, tell: (message) => server.tell(message) });
  try {
    const stage = { ...shared, caller, random: randomFrom(seed) };
    await greet(stage);
    const cues = withQuestions(await play(stage), name, shared.chat);
    const { recording } = caller;
    return { name, line: kind.name, recording, verdicts: judge(recording, cues) };
  } finally {
    await caller.close();
  }
}

/** The cues of a caller, with what the model was asked after its noises. */
function withQuestions(cues: readonly Cue[], name: string, { asked }: Pick<ScriptedChat, 'asked'>): Cue[] {
  return cues.map((cue) => {
    if (cue.kind !== 'noise') return cue;
    const untilMs = cue.toMs + NOISE_EFFECT_MS;
    const isIts = (one: (typeof asked)[number]) =>
      one.caller === name && one.atMs > cue.fromMs && one.atMs < untilMs;
    return { ...cue, isAsked: asked.some(isIts) };
  });
}
