// Statistics of a sender's pacing, from packet arrival times.
import type { Arrival } from './udp-receiver.js';

/** When a stream's packets were due. */
export interface Schedule {
  readonly ssrc: number;
  /** RTP timestamp of the first packet, and when it was due, in ms of CLOCK_MONOTONIC. */
  readonly timestamp: number;
  readonly dueMs: number;
}

export interface Spread {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

interface Pacing {
  readonly received: number;
  /** Milliseconds after the due time. */
  readonly late: Spread;
  /** Milliseconds between two packets of a stream. */
  readonly interval: Spread;
  /** Milliseconds that the schedule was left behind between the first tenth of the run and the last. */
  readonly driftMs: number;
}

export function pacingOf(
  packets: readonly Arrival[],
  schedules: readonly Schedule[],
  { ticksPerMs, runMs }: { ticksPerMs: number; runMs: number },
): Pacing {
  const due = new Map(schedules.map((schedule) => [schedule.ssrc, schedule]));
  const last = new Map<number, number>();
  const late: number[] = [];
  const intervals: number[] = [];
  const early = new Map<number, number>(); // the least lateness of a stream in the first tenth
  const final = new Map<number, number>(); // and in the last one
  for (const { ssrc, timestamp, atMs } of packets) {
    const schedule = due.get(ssrc);
    if (schedule === undefined) continue;
    const sinceFirstMs = ((timestamp - schedule.timestamp) >>> 0) / ticksPerMs;
    const lateMs = atMs - (schedule.dueMs + sinceFirstMs);
    late.push(lateMs);
    const previous = last.get(ssrc);
    if (previous !== undefined) intervals.push(atMs - previous);
    last.set(ssrc, atMs);
    const part = sinceFirstMs < runMs / 10 ? early : sinceFirstMs > (runMs * 9) / 10 ? final : undefined;
    part?.set(ssrc, Math.min(lateMs, part.get(ssrc) ?? Infinity));
  }
  const drifts = [...final].map(([ssrc, lateMs]) => lateMs - (early.get(ssrc) ?? lateMs));
  return {
    received: late.length,
    late: spreadOf(late),
    interval: spreadOf(intervals),
    driftMs: spreadOf(drifts).p50,
  };
}

interface DueSound {
  /** Streams that there should be. */
  readonly calls: number;
  /** Milliseconds of sound in each, at least. */
  readonly holdMs: number;
  readonly packetMs: number;
}

/**
 * The share of the packets that were due, 0 to 1. A call may last longer than it was to be held, so the time from its
 * first packet to its last counts, if that is longer.
 */
export function soundShare(packets: readonly Arrival[], { calls, holdMs, packetMs }: DueSound): number {
  const streams = new Map<number, { firstMs: number; lastMs: number; count: number }>();
  for (const { ssrc, atMs } of packets) {
    const stream = streams.get(ssrc) ?? { firstMs: atMs, lastMs: atMs, count: 0 };
    streams.set(ssrc, { ...stream, lastMs: atMs, count: stream.count + 1 });
  }
  const least = Math.floor(holdMs / packetMs);
  let due = Math.max(0, calls - streams.size) * least;
  let came = 0;
  for (const { firstMs, lastMs, count } of streams.values()) {
    const dueHere = Math.max(least, Math.round((lastMs - firstMs) / packetMs) + 1);
    due += dueHere;
    came += Math.min(count, dueHere);
  }
  return due === 0 ? NaN : came / due;
}

/** Percentiles of the values; NaN if there are none. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = Float64Array.from(values).toSorted();
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? NaN;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) };
}
