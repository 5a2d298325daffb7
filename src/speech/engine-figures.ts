// What the engines of a server are at, for its health and metrics.
import type { EngineDevice, SpeechEngine } from './engine.js';
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

/** Bytes that they hold on devices with a memory of their own. */
export function deviceBytesOf(engines: readonly SpeechEngine[]): number {
  return engines.reduce((sum, engine) => sum + (engine.device().memory?.allocatedBytes ?? 0), 0);
}
