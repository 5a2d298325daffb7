// Carries out the built-in functions of an agent in its call. The call ends, or is transferred, when what was
// said before has been heard.
import type { HandledCall } from '../call/call-handler.js';
import { asParleyError, ParleyError } from '../errors.js';
import type { Time } from '../time.js';
import type { DigitsWanted, ToolActions, WarmTransferWanted } from './agent-tools.js';
import type { KeyInput } from './key-input.js';
import { lastWords } from './last-words.js';
import type { Log } from '../log.js';

/** Undefined: nobody can be called. Resolves with the reason if the person did not take the caller. */
export type WarmTransfer = () => ((wanted: WarmTransferWanted) => Promise<string | undefined>) | undefined;

interface CallActionParts {
  readonly handled: HandledCall;
  readonly keys: Pick<KeyInput, 'collect'>;
  /** Resolves when the caller is silent; rejects with ABORTED. */
  readonly quiet: (signal: AbortSignal) => Promise<void>;
  readonly warmTransfer?: WarmTransfer | undefined;
  readonly time: Time;
  readonly log: Log;
}

export class CallActions implements ToolActions {
  readonly #parts: CallActionParts;

  constructor(parts: CallActionParts) {
    this.#parts = parts;
  }

  async hangUp(signal: AbortSignal, begun: () => void): Promise<void> {
    await this.#lastWords(signal);
    begun();
    await this.end();
  }

  get transfer(): ToolActions['transfer'] {
    const { leg } = this.#parts.handled;
    if (leg === undefined) return undefined;
    return async (to, signal, begun) => {
      await this.#lastWords(signal);
      begun();
      const { accepted, status } = await leg.transfer({ to });
      return accepted ? undefined : status;
    };
  }

  get warmTransfer(): ToolActions['warmTransfer'] {
    const { handled, warmTransfer } = this.#parts;
    // The agent's call in a room is joined to that already, and has many callers.
    const transfer = handled.call.protocol === 'room' ? undefined : warmTransfer?.();
    if (transfer === undefined) return undefined;
    return async (wanted, signal, begun) => {
      await this.#lastWords(signal);
      begun();
      return transfer(wanted);
    };
  }

  get press(): ToolActions['press'] {
    const { leg } = this.#parts.handled;
    return leg && ((digits) => leg.press({ digits }));
  }

  collect(wanted: DigitsWanted, signal: AbortSignal, onCut: (digits: string) => void): Promise<string> {
    return this.#parts.keys.collect(wanted, this.#parts.handled.call.spoken(), signal, onCut);
  }

  /** Ends the call now. */
  async end(): Promise<void> {
    const { handled, log } = this.#parts;
    try {
      await handled.hangUp();
    } catch (error) {
      const { code } = asParleyError(error, 'WRONG_STATE');
      log.warn({ call: handled.call.id, code }, 'the agent could not end the call');
    }
  }

  /**
   * Resolves when everything was spoken and the caller is silent; rejects with ABORTED if the caller goes on.
   */
  async #lastWords(signal: AbortSignal): Promise<void> {
    const { handled, time, quiet } = this.#parts;
    await lastWords(handled.call, handled.call.spoken(), time);
    if (signal.aborted) throw new ParleyError('ABORTED', 'the caller went on');
    await quiet(signal);
  }
}
