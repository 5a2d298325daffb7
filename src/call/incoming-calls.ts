// Incoming calls that wait for the decision of an application that follows the events of the server.
import { ParleyError } from '../errors.js';
import type { Time } from '../time.js';
import type { CallSummary, ServerEvents } from './server-events.js';
import { mayUseCall } from './switchboard.js';

interface Waiting {
  /** Throws INVALID_FIELD for a rule that cannot be used. */
  readonly decide: (rule: unknown) => void;
}

interface IncomingCallsParts {
  readonly events: Pick<ServerEvents, 'add' | 'isFollowedBy'>;
  /** Name of the API key whose applications decide; undefined: none does. */
  readonly decider: string | undefined;
  readonly time: Time;
  /** Makes an id that nobody can guess. */
  readonly newId: () => string;
}

/** A question about one call. */
interface Question<R> {
  readonly about: CallSummary;
  /** Id of the call once it is answered. */
  readonly call?: string | undefined;
  readonly timeoutMs: number;
  /** Reads the rule that an application gives. Throws INVALID_FIELD. */
  readonly read: (rule: unknown) => R;
}

export class IncomingCalls {
  readonly #parts: IncomingCallsParts;
  readonly #waiting = new Map<string, Waiting>();

  constructor(parts: IncomingCallsParts) {
    this.#parts = parts;
  }

  /** Resolves with the decision. Rejects with WRONG_STATE if nobody follows, and with TIMEOUT. */
  ask<R>({ about, call, timeoutMs, read }: Question<R>): Promise<R> {
    const { events, decider, time, newId } = this.#parts;
    if (decider === undefined || !events.isFollowedBy(decider))
      return Promise.reject(new ParleyError('WRONG_STATE', 'nobody follows GET /v1/events'));
    const incoming = `inc_${newId()}`;
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        cancel();
        this.#waiting.delete(incoming);
        act();
      };
      const late = new ParleyError('TIMEOUT', `nobody decided within ${timeoutMs} ms`);
      const cancel = time.after(timeoutMs, () => settle(() => reject(late)));
      const decide = (rule: unknown) => {
        const decision = read(rule);
        settle(() => resolve(decision));
      };
      this.#waiting.set(incoming, { decide });
      events.add({ type: 'call.incoming', incoming, call, decideMs: timeoutMs, about }, decider);
    });
  }

  /** Decides about a call. Throws NOT_FOUND for one that does not wait, and INVALID_FIELD. */
  answer(incoming: string, key: string | undefined, rule: unknown): void {
    const waiting = this.#waiting.get(incoming);
    if (waiting === undefined || !mayUseCall(key, this.#parts.decider))
      throw new ParleyError('NOT_FOUND', 'no call of this id waits for a decision');
    waiting.decide(rule);
  }
}
