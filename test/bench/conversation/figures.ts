// The tables of the bench of conversations, from the verdicts about its calls.
import type { AnswerTimes } from '../../../src/call/call-events.js';
import { spreadOf } from '../arrivals.js';
import type { Row } from '../table.js';
import type { Verdicts } from './judge.js';

export interface JudgedCall {
  readonly line: string;
  readonly verdicts: Verdicts;
}

export interface Figures {
  readonly reply: readonly number[];
  readonly early: number;
  readonly unanswered: number;
  readonly stop: readonly number[];
  readonly interruptions: number;
  readonly pauses: number;
  readonly cutOffs: number;
  readonly noises: number;
  /** Minutes of sound over our voice. The time in which it may have an effect is not in them. */
  readonly noiseMinutes: number;
  readonly falseInterruptions: number;
  readonly asides: number;
  readonly answeredAsides: number;
}

export function figuresOf(verdicts: readonly Verdicts[]): Figures {
  const all = <T>(of: (one: Verdicts) => readonly T[]) => verdicts.flatMap(of);
  const sum = (of: (one: Verdicts) => number) => verdicts.reduce((total, one) => total + of(one), 0);
  const [pauses, noises, asides] = [
    all((one) => one.pauses),
    all((one) => one.noises),
    all((one) => one.asides),
  ];
  return {
    reply: all((one) => one.replies),
    early: sum((one) => one.early),
    unanswered: sum((one) => one.unanswered),
    stop: all((one) => one.stops),
    interruptions: sum((one) => one.interruptions),
    pauses: pauses.length,
    cutOffs: pauses.filter(({ isCutOff }) => isCutOff).length,
    noises: noises.length,
    noiseMinutes: noises.reduce((total, { ms }) => total + ms, 0) / 60_000,
    falseInterruptions: noises.filter(({ isFalse }) => isFalse).length,
    asides: asides.length,
    answeredAsides: asides.filter(({ isAnswered }) => isAnswered).length,
  };
}

const share = (part: number, of: number): string =>
  of === 0 ? '–' : `${((100 * part) / of).toFixed(0)} % of ${of}`;

export function rowOf(line: string, figures: Figures): Row {
  const [reply, stop] = [spreadOf(figures.reply), spreadOf(figures.stop)];
  const whole = (ms: number) => (Number.isFinite(ms) ? Math.round(ms) : '–');
  return {
    line,
    replies: figures.reply.length,
    'reply p50': whole(reply.p50),
    'reply p95': whole(reply.p95),
    early: figures.early,
    unanswered: figures.unanswered,
    'stop p50': whole(stop.p50),
    'stop p95': whole(stop.p95),
    'stop rate': share(figures.stop.length, figures.interruptions),
    'cut-offs': share(figures.cutOffs, figures.pauses),
    'false interruptions': `${figures.falseInterruptions} of ${figures.noises}`,
    'asides answered': `${figures.answeredAsides} of ${figures.asides}`,
  };
}

/** False interruptions by noise. */
export function noiseRows(verdicts: readonly Verdicts[]): Row[] {
  const noises = verdicts.flatMap((one) => one.noises);
  const names = [...new Set(noises.map(({ noise }) => noise))].toSorted();
  return names.map((noise) => {
    const own = noises.filter((one) => one.noise === noise);
    const silent = spreadOf(own.map(({ silentMs }) => Math.max(0, silentMs)));
    return {
      noise,
      n: own.length,
      'our silence p50': Math.round(silent.p50),
      'our silence p95': Math.round(silent.p95),
      false: own.filter(({ isFalse }) => isFalse).length,
    };
  });
}

const PARTS = ['silenceMs', 'textMs', 'modelMs', 'sentenceMs', 'speechMs', 'packetMs', 'totalMs'] as const;

/** The parts of the time of replies, by the events of the server. */
export function partRows(times: readonly AnswerTimes[]): Row[] {
  return PARTS.map((part) => {
    const { p50, p95 } = spreadOf(times.flatMap((one) => one[part] ?? []));
    return { part: part.replace(/Ms$/, ''), n: times.length, p50: Math.round(p50), p95: Math.round(p95) };
  });
}
