// Joins the work of engines, or of the models of one engine, for metrics and pages.
import type { ChunkCounts, EngineWork, SpeechClass, SpeechEngine } from './engine.js';

type Work = EngineWork & { readonly memoryUsedBytes: number; readonly memoryTotalBytes: number };

export const NO_CHUNKS: ChunkCounts = { chunksCutShort: 0, chunksRepeated: 0, chunksEndless: 0 };

const IDLE: EngineWork = {
  streams: 0,
  busySeconds: 0,
  busyShare: 0,
  eager: 0,
  captures: 0,
  launches: 0,
  listBytes: 0,
  ...NO_CHUNKS,
};

/** The work of the engine on a GPU, or else of the first one that reports work, with the chunks of all. */
export function workOf(engines: readonly SpeechEngine[]): Work {
  const devices = engines.map((engine) => engine.device());
  const working = devices.filter(({ work }) => work !== undefined);
  const { memory, work = IDLE } = devices.find((device) => device.memory !== undefined) ?? working[0] ?? {};
  const { allocatedBytes: memoryUsedBytes = 0, totalBytes: memoryTotalBytes = 0 } = memory ?? {};
  const chunks = chunksOf(devices.flatMap((device) => device.chunks ?? device.work ?? []));
  return { ...work, ...chunks, memoryUsedBytes, memoryTotalBytes };
}

/** The work of models that share a device and its thread. */
export function together(works: readonly EngineWork[]): EngineWork {
  return {
    streams: sum(works, ({ streams }) => streams),
    busySeconds: sum(works, ({ busySeconds }) => busySeconds),
    busyShare: Math.min(
      1,
      sum(works, ({ busyShare }) => busyShare),
    ),
    eager: sum(works, ({ eager }) => eager),
    captures: sum(works, ({ captures }) => captures),
    launches: sum(works, ({ launches }) => launches),
    listBytes: sum(works, ({ listBytes }) => listBytes),
    ...chunksOf(works),
  };
}

export function chunksOf(counts: readonly ChunkCounts[]): ChunkCounts {
  return {
    chunksCutShort: sum(counts, ({ chunksCutShort }) => chunksCutShort),
    chunksRepeated: sum(counts, ({ chunksRepeated }) => chunksRepeated),
    chunksEndless: sum(counts, ({ chunksEndless }) => chunksEndless),
  };
}

/** Number of sentences that wait for any engine. */
export function waitingFor(engines: readonly SpeechEngine[]): number {
  return sum(engines, ({ waiting = 0 }) => waiting);
}

export function waitingByClass(engines: readonly SpeechEngine[]): Readonly<Record<SpeechClass, number>> {
  const waitingOf = (kind: SpeechClass) => sum(engines, (engine) => engine.waitingOf?.(kind) ?? 0);
  return { call: waitingOf('call'), interactive: waitingOf('interactive'), http: waitingOf('http') };
}

function sum<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((total, one) => total + of(one), 0);
}
