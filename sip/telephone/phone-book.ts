// Keeps telephone calls by their id: current ones, and those that ended recently.
import { ParleyError } from '../../src/errors.js';
import type { PhoneCallView } from '../../src/call/phone-calls.js';
import type { Time } from '../../src/time.js';
import type { PhoneCall } from './phone-call.js';
import type { Session } from '../session/session.js';

/** The dialog identifiers of a request or response. */
interface Concerning {
  readonly callId: string;
  readonly from: { readonly tag?: string | undefined } | undefined;
  readonly to: { readonly tag?: string | undefined } | undefined;
}

const MOST_ENDED = 1000;
const KEPT_MS = 600_000;

export class PhoneBook {
  readonly #time: Time;
  readonly #open = new Map<string, PhoneCall>();
  readonly #ended = new Map<string, { readonly call: PhoneCall; readonly untilMs: number }>();

  constructor(time: Time) {
    this.#time = time;
  }

  get open(): readonly PhoneCall[] {
    return [...this.#open.values()];
  }

  add(call: PhoneCall): void {
    const { id } = call.info;
    this.#open.set(id, call);
    void call.over.then(() => {
      this.#open.delete(id);
      this.#ended.set(id, { call, untilMs: this.#time.now() + KEPT_MS });
      this.#forget();
    });
  }

  /** Throws NOT_FOUND for an unknown id. */
  get(id: string): PhoneCall {
    this.#forget();
    const call = this.#open.get(id) ?? this.#ended.get(id)?.call;
    if (call === undefined) throw new ParleyError('NOT_FOUND', 'there is no call of this id');
    return call;
  }

  /** The call that uses a session. */
  carriedBy(session: Session): PhoneCall | undefined {
    return this.open.find(({ leg }) => leg?.session === session);
  }

  /** The call that a message of its far end belongs to. */
  concernedBy({ callId, from, to }: Concerning): PhoneCall | undefined {
    const tags = [from?.tag, to?.tag];
    return this.open.find(({ leg }) => {
      const dialog = leg?.session.dialog;
      return dialog !== undefined && dialog.callId === callId && tags.includes(dialog.remoteTag);
    });
  }

  /** Newest first. */
  list(): readonly PhoneCallView[] {
    this.#forget();
    const calls = [...this.#open.values(), ...[...this.#ended.values()].map(({ call }) => call)];
    return calls.map(({ view }) => view).toSorted((a, b) => b.createdAt - a.createdAt);
  }

  #forget(): void {
    const nowMs = this.#time.now();
    for (const [id, { untilMs }] of this.#ended) {
      if (untilMs > nowMs && this.#ended.size <= MOST_ENDED) return;
      this.#ended.delete(id);
    }
  }
}
