// How long to wait after failures in a row: twice as long each time, and never
// the same for two servers that lost the same registrar (RFC 5626, section 4.5).

const BASE_MS = 30_000;
const LONGEST_MS = 1_800_000;

/** Milliseconds after the `failures`th failure: 30-60 s after the first, 15-30 min at the most. */
export function retryDelayMs(failures: number, random: () => number): number {
  const upperMs = Math.min(LONGEST_MS, BASE_MS * 2 ** Math.min(failures, 16));
  return jittered(upperMs, random);
}

/** After a refusal that asking again does not change: half an hour or more, until somebody has mended it. */
export function slowRetryMs(random: () => number): number {
  return 2 * jittered(LONGEST_MS, random);
}

function jittered(upperMs: number, random: () => number): number {
  return upperMs * (0.5 + random() / 2);
}
