// Trials of the echo guard through the hearing with the real model: our voice as an echo alone, and a caller
// who speaks over it.
import assert from 'node:assert/strict';
import type { VoiceMemory, VoiceModel } from '../../src/hearing/voice-model.js';
import type { Echo } from './echoes.js';
import { heard } from './heard-script.js';
import { FIRST_END_MS } from './scripted-ears.js';

const BEGAN_MS = FIRST_END_MS - 32;
const LOUD = 0.02;
const EVERY_MS = 8371;

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

/** The value below which this share of sorted values lies. */
export const quantileOf = (sorted: readonly number[], share: number): number =>
  Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? NaN);
