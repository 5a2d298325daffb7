// Reads the variables of recordings: their folder, format and limits.
import type { ConfigReader } from './environment.js';
import type { Variable } from './variables.js';

export interface RecordingConfig {
  readonly folder: string;
  /** The format of recordings that are started without one. */
  readonly format: 'wav' | 'opus';
  /** Milliseconds after which a recording ends. */
  readonly maxMs: number;
  /** Bytes of all recordings together, above which the oldest are removed; 0: no limit. */
  readonly keepBytes: number;
  /** Milliseconds after which a recording is removed; 0: never. */
  readonly keepMs: number;
}

type Reader = ConfigReader<Variable>;

const DAY_MS = 86_400_000;
const USUAL_SECONDS = 14_400;
const MOST_SECONDS = 64_800; // 18 h; the length fields of WAV hold 18.6 h
const LEAST_BYTES = 1_000_000; // 15 s of WAV
const DEPENDENT = [
  'RECORDING_FORMAT',
  'RECORDING_MAX_SECONDS',
  'RECORDING_MAX_TOTAL_BYTES',
  'RECORDING_MAX_AGE_DAYS',
] as const;

/** Undefined if calls cannot be recorded. */
export function readRecordingConfig(read: Reader): RecordingConfig | undefined {
  const folder = read.raw('RECORDINGS_DIR');
  const config = {
    format: read.choice('RECORDING_FORMAT', ['wav', 'opus'], 'wav'),
    maxMs: read.integer('RECORDING_MAX_SECONDS', USUAL_SECONDS, 1, MOST_SECONDS) * 1000,
    keepBytes: read.integer('RECORDING_MAX_TOTAL_BYTES', 0, 0, 2 ** 50),
    keepMs: read.number('RECORDING_MAX_AGE_DAYS', 0, 0, 36_500) * DAY_MS,
  };
  if (config.keepBytes > 0 && config.keepBytes < LEAST_BYTES) {
    const what = `must be 0 or at least ${LEAST_BYTES}, not "${config.keepBytes}"`;
    read.problem('RECORDING_MAX_TOTAL_BYTES', what);
  }
  if (folder !== undefined) return { folder, ...config };
  for (const name of DEPENDENT) {
    if (read.raw(name) !== undefined)
      read.problem(name, 'needs RECORDINGS_DIR, the folder of the recordings');
  }
  return undefined;
}
