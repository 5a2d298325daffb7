// An end-of-turn model (END_OF_TURN_MODULE) that gives the probability which the script states for each pause
// of a caller. It runs in the hearing worker and tells callers apart by the language of their texts.
import type { TurnListener } from '../../../src/hearing/turn-model.js';
import { systemTime } from '../../../src/time.js';

/** From this time on a pause has this probability to be the end of the turn. */
export interface TurnLabel {
  readonly atMs: number;
  readonly probability: number;
}

export interface LabelsMessage {
  readonly caller: string;
  readonly labels: readonly TurnLabel[];
}

/** The channel on which the server's main thread passes the labels on. */
export const LABELS = 'parley-bench-labels';
/** A pause is found late, and a label is due before it begins. */
const EARLY_MS = 60;

const labelsOf = new Map<string, TurnLabel[]>();
const channel = new BroadcastChannel(LABELS);
channel.unref();
channel.onmessage = (message) => {
  const { caller, labels } = (message as { readonly data: LabelsMessage }).data;
  const known = labelsOf.get(caller);
  if (known === undefined) labelsOf.set(caller, [...labels]);
  else known.push(...labels);
};

class ScriptedListener implements TurnListener {
  readonly #caller: string;

  constructor(caller: string) {
    this.#caller = caller;
  }

  push(): void {
    // The script knows what was said.
  }

  probability(): number | undefined {
    const nowMs = systemTime.now() + EARLY_MS;
    return labelsOf.get(this.#caller)?.findLast(({ atMs }) => atMs <= nowMs)?.probability;
  }

  reset(): void {
    // The labels have their times.
  }
}

/** A caller whose language is not known yet has no model. */
function open(language: string | undefined): TurnListener {
  return new ScriptedListener(/-x-(\w+)$/.exec(language ?? '')?.[1] ?? '');
}

// A module of the operator has its model as the default export.
export default { open };
