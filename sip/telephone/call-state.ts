// How far a call is; each step is told once, and nothing comes after the end.
import type { PhoneCallEnd, PhoneCallState } from '../../src/call/phone-calls.js';
import type { EventLog } from './event-log.js';

export class CallState {
  readonly #events: Pick<EventLog, 'add'>;
  #now: PhoneCallState;

  /** `headers` of the INVITE are told with the first state. */
  constructor(
    events: Pick<EventLog, 'add'>,
    first: PhoneCallState,
    headers?: Readonly<Record<string, string>>,
  ) {
    this.#events = events;
    this.#now = first;
    events.add({ type: 'state', state: first, ...(headers === undefined ? {} : { headers }) });
  }

  get now(): PhoneCallState {
    return this.#now;
  }

  /** It has been answered. */
  get isUp(): boolean {
    return this.#now === 'connected' || this.#now === 'held';
  }

  /** `end` is of the last step. */
  step(state: PhoneCallState, end?: PhoneCallEnd): void {
    if (this.#now === state || this.#now === 'ended') return;
    this.#now = state;
    this.#events.add({ type: 'state', state, ...(end === undefined ? {} : { end }) });
  }
}
