// What the native engine is at, read when somebody scrapes.
import { readable, readAtScrape } from './scraped-metric.js';

export interface EngineWorkFigures {
  /** Bytes of GPU memory: what the engine holds, and all that the GPU has; 0 without one. */
  readonly memoryUsedBytes: number;
  readonly memoryTotalBytes: number;
  /** Sentences that are being spoken. */
  readonly streams: number;
  readonly busySeconds: number;
  /** From 0 to 1, over the last seconds. */
  readonly busyShare: number;
  /** Lists of work for a GPU: run piece by piece, made into graphs, run as graphs. */
  readonly eager: number;
  readonly captures: number;
  readonly launches: number;
  /** Bytes of the server's memory that remembered lists take. */
  readonly listBytes: number;
}

const METRICS = [
  ['tts_gpu_allocated_bytes', 'gauge', 'memoryUsedBytes', 'bytes of GPU memory that the engines hold'],
  ['parley_gpu_memory_used_bytes', 'gauge', 'memoryUsedBytes', 'the same, as parley_gpu_memory_total_bytes'],
  [
    'parley_gpu_memory_total_bytes',
    'gauge',
    'memoryTotalBytes',
    'bytes of memory that the GPU has; 0 without one',
  ],
  [
    'parley_gpu_lists_bytes',
    'gauge',
    'listBytes',
    "bytes of the server's memory that remembered lists of work for the GPU take",
  ],
  ['parley_engine_streams', 'gauge', 'streams', 'sentences that the native engine is speaking'],
  [
    'parley_engine_busy_ratio',
    'gauge',
    'busyShare',
    'share of the last seconds that the native engine worked, 0 to 1',
  ],
  [
    'parley_engine_busy_seconds_total',
    'counter',
    'busySeconds',
    'time that the native engine has worked since it was loaded',
  ],
] as const;

const LISTS = [
  ['eager', 'eager'],
  ['captured', 'captures'],
  ['launched', 'launches'],
] as const;

export function engineMetrics(work: () => EngineWorkFigures): ReturnType<typeof readAtScrape>[] {
  const lists = () =>
    LISTS.map(([way, field]) => ({ value: readable(() => work()[field]), labels: { way } }));
  const help =
    'lists of work for the GPU since the engine was loaded: run grid by grid (eager), made into graphs (captured), run as graphs (launched)';
  return [
    ...METRICS.map(([name, type, field, what]) =>
      readAtScrape(name, what, type, () => [{ value: readable(() => work()[field]) }]),
    ),
    readAtScrape('parley_gpu_lists_total', help, 'counter', lists),
  ];
}
