// The scenes that scripted callers play. Each returns the cues by which the judge finds it in the recording.
import { setTimeout as sleep } from 'node:timers/promises';
import { systemTime } from '../../../src/time.js';
import type { Caller } from './caller.js';
import { type Cue, NOISE_EFFECT_MS } from './judge.js';
import { LoudspeakerEcho, NOISES, type NoiseSounds } from './noises.js';
import type { ScriptedChat } from './scripted-chat.js';
import { type Spoken, spokenOf } from './spoken.js';
import { ANSWERS, ASIDES, INTERRUPTIONS, PAUSED, QUESTIONS, STORY, TELEVISION } from './texts.js';
import type { CallerVoices } from './voices.js';

export interface Stage {
  readonly caller: Caller;
  readonly chat: ScriptedChat;
  readonly voices: CallerVoices;
  readonly noiseSounds: NoiseSounds | undefined;
  /** Numbers from 0 to 1. */
  readonly random: () => number;
  /** Recordings of people, which ask as well. */
  readonly recorded: readonly Spoken[];
}

const BETWEEN_MS = [300, 800] as const; // from the end of our voice to the caller's next words
const VOICE_LIMIT_MS = 6000;
const QUIET_MS = 700; // longer than the pauses of our voice
const QUIET_LIMIT_MS = 15_000;
const PAUSE_MS = [300, 1500] as const; // within a sentence
/** Our voice speaks for so long before it is interrupted. */
const HEARD_MS = [1200, 2600] as const;
/** The model takes so long to answer an interruption: what is heard before is the old voice. */
const HELD_MS = 1800;
const HELD_DELAY_MS = 2000;
const NOISE_EVERY_MS = [2500, 3500] as const;
/** The story lasts longer: no noise comes near its end. */
const STORY_MS = 40_000;
const ECHO_MS = 6000;
const FAR_DB = -14;
const ASIDE_MS = 3200; // in which an answer would come

const between = ({ random }: Stage, [least, most]: readonly [number, number]) =>
  least + (most - least) * random();

/** Makes the sound of all that callers say, so that no synthesis holds up a call. */
export async function prepareSpeech(voices: CallerVoices): Promise<void> {
  for (const [n, text] of QUESTIONS.entries()) await voices.speech(text, n);
  for (const text of INTERRUPTIONS)
    for (let voice = 0; voice < voices.count; voice++) await voices.speech(text, voice);
  for (const [n, { parts }] of PAUSED.entries()) for (const { say } of parts) await voices.speech(say, n);
  for (const text of [HELLO, ASK, THANKS]) await voices.speech(text, 0);
  for (const text of [...ASIDES, ...TELEVISION]) await voices.speech(text, 1);
}

const HELLO = 'Hello there.';
const ASK = 'Please tell me a story.';
const THANKS = 'Thank you, that is enough, please stop.';

async function said({ voices }: Stage, text: string, n = 0, db = 0): Promise<Spoken> {
  return spokenOf([{ text, samples: await voices.speech(text, n, db) }]);
}

/** The first turn of a call tells the language, and so the model of turns. It is not judged. */
export async function greet(stage: Stage): Promise<void> {
  const { caller, chat } = stage;
  chat.answers.set(caller.name, () => ({ text: 'Good morning.' }));
  await caller.say(await said(stage, HELLO));
  await caller.voice(VOICE_LIMIT_MS);
  await caller.quiet(QUIET_MS, QUIET_LIMIT_MS);
}

async function ask(stage: Stage, spoken: Spoken, n: number): Promise<Cue> {
  const { caller, chat } = stage;
  chat.answers.set(caller.name, () => ({ text: ANSWERS[n % ANSWERS.length] ?? '' }));
  await sleep(between(stage, BETWEEN_MS));
  const cue = { kind: 'question', ...(await caller.say(spoken)) } as const;
  await caller.voice(VOICE_LIMIT_MS);
  await caller.quiet(QUIET_MS, QUIET_LIMIT_MS);
  return cue;
}

/** Questions that are answered one after another, those of recordings among them. */
export async function questions(stage: Stage, count: number): Promise<Cue[]> {
  const cues: Cue[] = [];
  for (let n = 0; n < count; n++) {
    const recorded = stage.recorded[Math.floor(n / 3) % Math.max(1, stage.recorded.length)];
    const at = n % QUESTIONS.length;
    const isRecorded = n % 3 === 2 && recorded !== undefined;
    const spoken = isRecorded ? recorded : await said(stage, QUESTIONS[at] ?? '', at);
    cues.push(await ask(stage, spoken, n));
  }
  return cues;
}

/** Sentences with pauses, of which none is the end. */
export async function pauses(stage: Stage, count: number): Promise<Cue[]> {
  const cues: Cue[] = [];
  for (let n = 0; n < count; n++) {
    const at = n % PAUSED.length;
    const { parts = [] } = PAUSED[at] ?? {};
    const spoken = await Promise.all(
      parts.map(async ({ say, text }) => ({ text, samples: await stage.voices.speech(say, at) })),
    );
    const pausesMs = parts.map(() => between(stage, PAUSE_MS));
    cues.push(await ask(stage, spokenOf(spoken, pausesMs), n));
  }
  return cues;
}

async function askForStory(stage: Stage): Promise<void> {
  const { caller, chat } = stage;
  chat.answers.set(caller.name, () => ({ text: STORY }));
  await caller.say(await said(stage, ASK));
  await caller.voice(VOICE_LIMIT_MS);
}

/** Ends our voice, which is not judged: what came before has had its effect by then. */
async function stopStory(stage: Stage): Promise<void> {
  const { caller, chat } = stage;
  chat.answers.set(caller.name, () => ({ text: 'Okay.' }));
  await caller.say(await said(stage, THANKS));
  await caller.voice(VOICE_LIMIT_MS);
  await caller.quiet(QUIET_MS, QUIET_LIMIT_MS);
}

/** Our voice is interrupted again and again. */
export async function interruptions(stage: Stage, count: number): Promise<Cue[]> {
  const { caller, chat } = stage;
  const cues: Cue[] = [];
  await askForStory(stage);
  chat.answers.set(caller.name, () => ({ text: STORY, delayMs: HELD_DELAY_MS }));
  for (let n = 0; n < count; n++) {
    await sleep(between(stage, HEARD_MS));
    const text = INTERRUPTIONS[n % INTERRUPTIONS.length] ?? '';
    const voice = Math.floor(stage.random() * stage.voices.count);
    const span = await caller.say(await said(stage, text, voice));
    cues.push({ kind: 'interruption', ...span, heldMs: span.toMs + HELD_MS });
    await caller.quiet(HELD_MS - 200, HELD_DELAY_MS);
    await caller.voice(VOICE_LIMIT_MS);
  }
  await stopStory(stage);
  return cues;
}

/** Noises over our voice for so long. */
export async function noises(stage: Stage, forMs: number): Promise<Cue[]> {
  const { caller } = stage;
  const cues: Cue[] = [];
  const untilMs = systemTime.now() + forMs;
  for (let n = Math.floor(1000 * stage.random()); systemTime.now() < untilMs;) {
    await askForStory(stage);
    const beganMs = systemTime.now();
    while (systemTime.now() < Math.min(untilMs, beganMs + STORY_MS)) {
      await sleep(between(stage, NOISE_EVERY_MS));
      if (!caller.hearsVoice(ECHO_MS)) break; // it was dropped
      cues.push(await noise(stage, n++));
    }
    await sleep(NOISE_EFFECT_MS);
    await stopStory(stage);
  }
  return cues;
}

async function noise({ caller, noiseSounds }: Stage, n: number): Promise<Cue> {
  const kind = NOISES[n % (NOISES.length + 1)];
  if (kind === undefined || noiseSounds === undefined) {
    caller.echo = new LoudspeakerEcho(120 + 40 * (n % 5), -12 - (n % 3));
    const span = await caller.play(new Float32Array(16 * ECHO_MS));
    caller.echo = undefined;
    return { kind: 'noise', noise: 'echo', ...span };
  }
  const { samples, words } = noiseSounds.get(kind, n);
  const span =
    words === undefined ? await caller.play(samples) : await caller.say(spokenOf([{ text: words, samples }]));
  return { kind: 'noise', noise: kind.name, ...span };
}

/** Words for somebody else while our voice is silent. */
export async function asides(stage: Stage, count: number): Promise<Cue[]> {
  const { caller, chat } = stage;
  const cues: Cue[] = [];
  chat.answers.set(caller.name, () => ({ text: 'Pardon?' }));
  for (let n = 0; n < count; n++) {
    const isFar = n % 2 === 0;
    const texts = isFar ? TELEVISION : ASIDES;
    await sleep(between(stage, BETWEEN_MS));
    const text = texts[Math.floor(n / 2) % texts.length] ?? '';
    const span = await caller.say(await said(stage, text, 1, isFar ? FAR_DB : 0));
    cues.push({ kind: 'aside', aside: isFar ? 'television' : 'to the room', ...span });
    await sleep(ASIDE_MS);
    await caller.quiet(QUIET_MS, QUIET_LIMIT_MS);
  }
  return cues;
}
