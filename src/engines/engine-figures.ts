// What the engines of a server are at, for its health and metrics.
import type { EngineDevice, EngineWork, SpeechEngine } from './engine.js';
import type { SpeechClass } from './urgency.js';

export interface EngineFigures {
  /** As `health()`. */
  readonly engines: Readonly<Record<string, boolean>>;
  /** The one that speaks where nothing else is asked for, whether it is loaded, and on what. */
  readonly engine: string;
  readonly modelLoaded: boolean;
  /** Why it cannot speak now, though others may. */
  readonly trouble?: string;
  readonly device: EngineDevice;
}

/** Sentences that wait for any of them. */
export function waitingFor(engines: readonly SpeechEngine[]): number {
  return engines.reduce((sum, { waiting = 0 }) => sum + waiting, 0);
}

/** Sentences that wait for any of them, by class. */
export function waitingByClass(engines: readonly SpeechEngine[]): Readonly<Record<SpeechClass, number>> {
  const waitingOf = (kind: SpeechClass) =>
    engines.reduce((sum, engine) => sum + (engine.waitingOf?.(kind) ?? 0), 0);
  return { call: waitingOf('call'), interactive: waitingOf('interactive'), http: waitingOf('http') };
}

type Work = EngineWork & { readonly memoryUsedBytes: number; readonly memoryTotalBytes: number };

const IDLE: EngineWork = {
  streams: 0,
  busySeconds: 0,
  busyShare: 0,
  eager: 0,
  captures: 0,
  launches: 0,
  listBytes: 0,
};

const NONE: EngineDevice = { name: 'none' };

/** What the one of them is at that has a device with a memory of its own, or else one that tells of it. */
export function workOf(engines: readonly SpeechEngine[]): Work {
  const devices = engines.map((engine) => engine.device());
  const onGpu = devices.find(({ memory }) => memory !== undefined);
  const { memory, work = IDLE } = onGpu ?? devices.find((device) => device.work !== undefined) ?? NONE;
  const { allocatedBytes: memoryUsedBytes = 0, totalBytes: memoryTotalBytes = 0 } = memory ?? {};
  return { ...work, memoryUsedBytes, memoryTotalBytes };
}
