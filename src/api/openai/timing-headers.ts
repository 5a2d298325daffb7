// What a sound took, as headers: ours, and the one that browsers draw.
import type { SoundOutcome, SoundSource } from '../../speaking/sound.js';

const NAMES = {
  queueMs: 'x-latency-queue-ms',
  loadMs: 'x-latency-load-ms',
  inferMs: 'x-latency-infer-ms',
  encodeMs: 'x-latency-encode-ms',
} as const;
const TOTAL = 'x-latency-total-ms';
const SERVER_TIMING = 'server-timing';

/** Their names, as a stream announces that they come after it. */
export const TIMING_NAMES = [...Object.values(NAMES), TOTAL, SERVER_TIMING].join(', ');

export const NO_WORK: SoundOutcome['timing'] = { queueMs: 0, loadMs: 0, inferMs: 0, encodeMs: 0 };
const NOTHING = Object.values(NAMES).flatMap((name) => [name, '0']);

/** What became of a stream, once it has: one that was rendered for another request took nothing of this one. */
export async function ownOutcome({
  cache,
  outcome,
}: Pick<SoundSource, 'cache' | 'outcome'>): Promise<SoundOutcome | undefined> {
  const known = await outcome;
  return known === undefined || cache !== 'hit' ? known : { ...known, timing: NO_WORK };
}

/** `totalMs` counts from the head of the request. */
export function timingHeaders(timing: SoundOutcome['timing'], totalMs: number): Record<string, string> {
  const queue = written(timing.queueMs);
  const load = written(timing.loadMs);
  const infer = written(timing.inferMs);
  const encode = written(timing.encodeMs);
  const total = written(totalMs);
  return {
    [NAMES.queueMs]: queue,
    [NAMES.loadMs]: load,
    [NAMES.inferMs]: infer,
    [NAMES.encodeMs]: encode,
    [TOTAL]: total,
    [SERVER_TIMING]: `queue;dur=${queue}, load;dur=${load}, infer;dur=${infer}, encode;dur=${encode}, total;dur=${total}`,
  };
}

/** Of a sound that was there: it took nothing but the answering. Names and values in turn. */
export function foundHeaders(totalMs: number): string[] {
  const total = written(totalMs);
  return [...NOTHING, TOTAL, total, SERVER_TIMING, `cache;desc=hit, total;dur=${total}`];
}

function written(ms: number): string {
  return String(Math.round(ms * 10) / 10);
}
