// Plays generated calls through the listening loop, and lets the detector decide about each, as fast as the
// processor can.
import { AnswerDetector, type AnswerSettings, type DetectedAnswer } from '../../src/call/answer-detector.js';
import { answerSettings } from '../../src/call/answer-detection.js';
import type { HearingEvent } from '../../src/hearing/hearing-messages.js';
import { ListeningLoop } from '../../src/hearing/listening-loop.js';
import type { VoiceMemory, VoiceModel } from '../../src/hearing/voice-model.js';
import { WINDOW_SAMPLES } from '../../src/media/ears.js';
import { toldTones, type ToldTone } from '../../src/media/tone-events.js';
import { answerPhraseOf } from '../../src/text/answer-phrases.js';
import { HEARING_SETTINGS } from '../fakes/hearing-settings.js';
import { until } from '../fakes/until.js';
import { FIRST_END_MS, ScriptedEars } from '../hearing/scripted-ears.js';
import type { AnsweredSound } from './answer-calls.js';

const BEGAN_MS = FIRST_END_MS - 32;
/** Calls that are heard together. */
const TOGETHER = 32;
const CHUNK = 100;

interface HeardEvent {
  readonly event: HearingEvent;
  readonly decidedMs: number;
}

/** Times are of the sound. */
export interface AnswerTrial {
  readonly call: AnsweredSound;
  readonly results: readonly DetectedAnswer[];
}

/** The speech of each call, found once: the detector may be tried with many settings. */
export interface HeardCall {
  readonly call: AnsweredSound;
  readonly speech: readonly HeardEvent[];
  readonly tones: readonly ToldTone[];
}

export async function heardCalls(
  calls: readonly AnsweredSound[],
  model: VoiceModel<VoiceMemory>,
): Promise<HeardCall[]> {
  const ordered = calls.toSorted((a, b) => a.sound.length - b.sound.length);
  const all: HeardCall[] = [];
  for (let at = 0; at < ordered.length; at += TOGETHER) {
    const group = ordered.slice(at, at + TOGETHER);
    const speech = await speechOf(group, model);
    for (const [n, call] of group.entries())
      all.push({ call, speech: speech[n] ?? [], tones: toldTones(call.sound, 16_000, 'US') });
  }
  return all;
}

async function speechOf(
  group: readonly AnsweredSound[],
  model: VoiceModel<VoiceMemory>,
): Promise<HeardEvent[][]> {
  const ears = new ScriptedEars(new Map(group.map(({ sound }, n) => [n + 1, { caller: sound }])));
  const heard = group.map((): HeardEvent[] => []);
  let windows = 0;
  const loop = new ListeningLoop({
    ears,
    model,
    fade: () => false,
    onEvent: (stream, event, decidedMs) => heard[stream - 1]?.push({ event, decidedMs }),
    onAnalysed: () => undefined,
    onForgotten: () => undefined,
    onFailed: (_stream, error) => {
      throw error;
    },
    onWork: (work) => void (windows += work.windows),
    now: () => performance.now(),
  });
  for (const n of group.keys()) {
    const media = { socket: n + 1, playout: n + 1 };
    loop.handle({ type: 'listen', stream: n + 1, media, settings: HEARING_SETTINGS });
  }
  loop.start();
  const longest = Math.ceil(Math.max(...group.map(({ sound }) => sound.length)) / WINDOW_SAMPLES);
  for (let released = 0; released < longest; released += CHUNK) {
    const steps = Math.min(CHUNK, longest - released);
    ears.release(steps);
    await until(() => windows >= (released + steps) * group.length);
  }
  await loop.close();
  return heard;
}

type Input = {
  readonly atMs: number;
  readonly take: (detector: AnswerDetector) => DetectedAnswer | undefined;
};

/** The texts of a recogniser: the text so far, each half second and so long behind the words. */
const TEXT_LATE_MS = 400;

function wordsOf({ said }: AnsweredSound): Input[] {
  const inputs: Input[] = [];
  for (let atMs = 0, n = 0; n < said.length; n++) {
    const { beginMs, endMs } = said[n] as (typeof said)[number];
    const words = said.slice(0, n + 1).map(({ text }) => text);
    for (atMs = beginMs + 500; atMs < endMs + 500; atMs += 500) {
      const share = Math.min(1, (atMs - beginMs) / (endMs - beginMs));
      const last = (words[n] ?? '').split(' ');
      const text = [...words.slice(0, n), ...last.slice(0, Math.floor(share * last.length))].join(' ');
      const phrase = answerPhraseOf(text);
      const knownMs = BEGAN_MS + Math.min(atMs, endMs) + TEXT_LATE_MS;
      inputs.push({ atMs: knownMs, take: (detector) => detector.words(phrase, knownMs) });
    }
  }
  return inputs;
}

/** Decides about a call. With `words` a recogniser tells its text. */
export function decided(
  { call, speech, tones }: HeardCall,
  settings: Partial<AnswerSettings> = {},
  words = false,
): AnswerTrial {
  const detector = new AnswerDetector(answerSettings(settings));
  const answeredMs = BEGAN_MS + call.answeredMs;
  const inputs: Input[] = [
    ...speech.flatMap(({ event, decidedMs }): Input[] => {
      if (event.type === 'speech.started')
        return [{ atMs: decidedMs, take: (one) => (one.speechStarted(event.atMs), undefined) }];
      if (event.type !== 'speech.stopped') return [];
      return [{ atMs: decidedMs, take: (one) => one.speechStopped(event.atMs, decidedMs) }];
    }),
    ...tones.map(({ tone, toldMs }): Input => {
      const atMs = BEGAN_MS + tone.atMs;
      const knownMs = BEGAN_MS + toldMs;
      return { atMs: knownMs, take: (one) => one.tone({ ...tone, atMs }, knownMs) };
    }),
    ...(words ? wordsOf(call) : []),
    { atMs: answeredMs, take: (one) => (one.answered(answeredMs), undefined) },
    { atMs: Infinity, take: () => undefined },
  ];
  const results: DetectedAnswer[] = [];
  const keep = (result: DetectedAnswer | undefined): void => {
    if (result !== undefined) results.push({ ...result, atMs: result.atMs - BEGAN_MS });
  };
  for (const { atMs, take } of inputs.toSorted((a, b) => a.atMs - b.atMs)) {
    while (detector.nextMs < atMs) keep(detector.advance(detector.nextMs));
    keep(take(detector));
  }
  return { call, results };
}
