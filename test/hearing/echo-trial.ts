// Trials of the echo guard through the hearing with the real model: our voice as an echo alone, and a caller
// who speaks over it.
import assert from 'node:assert/strict';
import type { VoiceMemory, VoiceModel } from '../../src/hearing/voice-model.js';
import { SAMPLE_RATE } from '../../src/hearing/ear-source.js';
import { WINDOW_SAMPLES } from '../../src/media/ears.js';
import type { Echo } from './echoes.js';
import { heard } from './heard-script.js';
import { FIRST_END_MS } from './scripted-ears.js';
import { joined, silence } from './sounds.js';

const BEGAN_MS = FIRST_END_MS - 32;
const LOUD = 0.02;
const AUDIBLE = 0.01; // -40 dBFS
const EVERY_MS = 8371;
const CALL = 8 * SAMPLE_RATE;
/** In windows. */
const LONGEST_ECHO = 22;

type Model = VoiceModel<VoiceMemory>;

export interface Interruptions {
  readonly pauses: number;
  readonly interruptions: number;
  /** Of one window of 32 ms, with the model. */
  readonly windowUs: number;
}

/** Counts how often a sound of the caller pauses our voice, and how often it interrupts it. */
export async function interruptionsBy(
  caller: Float32Array,
  ours: Float32Array,
  model?: Model,
): Promise<Interruptions> {
  const { events, work } = await heard({ caller, ours }, {}, model);
  const count = (wanted: string) => events.filter(({ type }) => type === wanted).length;
  return {
    pauses: count('bargein.paused'),
    interruptions: count('bargein.confirmed'),
    windowUs: work.workedUs / work.windows,
  };
}

/** Cuts the sound into calls of 8 s, each with a pause of ours before it, and adds up what they pause. */
export async function interruptionsInCalls(caller: Float32Array, ours: Float32Array, model?: Model) {
  let [calls, pauses, interruptions] = [0, 0, 0];
  for (const from of startsOf(ours)) {
    const [heardPart, sent] = [caller.subarray(from, from + CALL), ours.subarray(from, from + CALL)];
    const found = await interruptionsBy(heardPart, sent, model);
    calls++;
    pauses += found.pauses;
    interruptions += found.interruptions;
  }
  return { calls, pauses, interruptions };
}

/** Places in a voice where it begins after a pause that is longer than the longest echo. */
function startsOf(ours: Float32Array): number[] {
  const starts: number[] = [];
  let quiet = LONGEST_ECHO;
  for (let at = 0; at + CALL <= ours.length; at += WINDOW_SAMPLES) {
    const isLoud = ours.subarray(at, at + WINDOW_SAMPLES).some((sample) => Math.abs(sample) > LOUD);
    if (isLoud && quiet >= LONGEST_ECHO && at >= (starts.at(-1) ?? -CALL) + CALL / 2)
      starts.push(Math.max(0, at - 2 * WINDOW_SAMPLES));
    quiet = isLoud ? 0 : quiet + 1;
  }
  return starts;
}

interface TalkOver {
  readonly echo: Pick<Echo, 'returned' | 'coded'>;
  readonly ours: Float32Array;
  readonly replies: readonly Float32Array[];
}

/** Returns how long each reply over an echo speaks until it pauses our voice, sorted; Infinity: never. */
export async function timesToPause({ echo, ours, replies }: TalkOver, model?: Model): Promise<number[]> {
  const both = echo.returned(ours).slice();
  const onsets: number[] = [];
  for (let trial = 0, atMs = 6000; (atMs + 6000) * 16 < ours.length; trial++, atMs += EVERY_MS) {
    const reply = replies[trial % replies.length] ?? assert.fail('there are no replies');
    for (const [n, sample] of reply.entries()) both[atMs * 16 + n] = (both[atMs * 16 + n] ?? 0) + sample;
    onsets.push(BEGAN_MS + atMs + reply.findIndex((sample) => Math.abs(sample) > LOUD) / 16);
  }
  const { events } = await heard({ caller: echo.coded(both), ours }, {}, model);
  const paused = events.filter(({ type }) => type === 'bargein.paused').map(({ atMs }) => atMs);
  return onsets
    .map((onset) => (paused.find((atMs) => atMs > onset - 40 && atMs < onset + 3000) ?? Infinity) - onset)
    .toSorted((a, b) => a - b);
}

/**
 * Returns how long a caller who says this after `afterMs` speaks until our voice is paused, and stays so
 * until speech is found; Infinity: never.
 */
export async function onsetTime(said: Float32Array, afterMs: number, model?: Model): Promise<number> {
  const caller = joined(silence(afterMs), said);
  const { events } = await heard({ caller, ours: silence(caller.length / 16) }, {}, model);
  const began = BEGAN_MS + afterMs + said.findIndex((sample) => Math.abs(sample) > AUDIBLE) / 16;
  const speechAt = events.findIndex(({ type }) => type === 'speech.started');
  const mistaken = events
    .slice(0, Math.max(0, speechAt))
    .findLastIndex(({ type }) => type === 'bargein.false');
  const paused = events.find(({ type }, n) => n > mistaken && type === 'bargein.paused');
  return (speechAt < 0 || paused === undefined ? Infinity : paused.atMs) - began;
}

/** The value below which this share of sorted values lies. */
export const quantileOf = (sorted: readonly number[], share: number): number =>
  Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? NaN);
