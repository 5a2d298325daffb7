// Finds the early and confirmed dialogs of a user agent by the IDs of their requests. Ended dialogs are
// remembered for a while, because RFC 3891 answers for them differently than for unknown ones.
import type { Time } from '../../src/time.js';
import type { SipRequest } from '../message/message.js';
import type { ServerTransaction } from '../transaction/server-transaction.js';
import { type DialogId, dialogKey } from './dialog.js';
import type { Session, SessionEnd } from './session.js';

interface TabledDialog {
  readonly dialog: DialogId;
  readonly confirmed: boolean;
}

/** A dialog that a received request may name: in its tags, or in Replaces. */
export interface KnownDialog extends TabledDialog {
  readonly session: Session;
  /** True if we sent the INVITE that began it. */
  readonly calling: boolean;
  readonly ended: boolean;
  /** Handles a request within the dialog that the user agent has checked. */
  request(request: SipRequest, transaction: ServerTransaction): void;
  acknowledged(ack: SipRequest): void;
  bye(end: SessionEnd): Promise<void>;
}

const MOST_ENDED = 10_000;

export class DialogTable<T extends TabledDialog> {
  readonly #time: Time;
  readonly #rememberMs: number;
  readonly #dialogs = new Map<string, T>();
  /** Dialogs of peers that omit their tag, by the ID without it. */
  readonly #untagged = new Map<string, T>();
  /** End times, the oldest first. */
  readonly #ended = new Map<string, number>();

  /** Ended dialogs are remembered for `rememberMs` milliseconds. */
  constructor(time: Time, rememberMs: number) {
    this.#time = time;
    this.#rememberMs = rememberMs;
  }

  /** Numbers of existing dialogs; counted at each call. */
  get counts(): { readonly early: number; readonly confirmed: number } {
    let confirmed = 0;
    for (const one of this.#dialogs.values()) if (one.confirmed) confirmed++;
    return { early: this.#dialogs.size - confirmed, confirmed };
  }

  get all(): readonly T[] {
    return [...this.#dialogs.values()];
  }

  /** A peer that omitted its tag once is found by requests with and without one. */
  find(id: DialogId): T | undefined {
    return this.#dialogs.get(dialogKey(id)) ?? this.#untagged.get(untaggedKey(id));
  }

  /** True if the dialog ended recently. */
  hasEnded(id: DialogId): boolean {
    const atMs = this.#ended.get(dialogKey(id)) ?? this.#ended.get(untaggedKey(id));
    return atMs !== undefined && this.#time.now() - atMs < this.#rememberMs;
  }

  add(one: T): void {
    this.#dialogs.set(dialogKey(one.dialog), one);
    if (one.dialog.remoteTag === '') this.#untagged.set(untaggedKey(one.dialog), one);
  }

  /** The peer of this dialog omitted the tag that it sent before. */
  lostTag(one: T): void {
    if (this.#dialogs.get(dialogKey(one.dialog)) === one) this.#untagged.set(untaggedKey(one.dialog), one);
  }

  /** Idempotent; another dialog with the same ID stays. */
  remove(one: T): void {
    const key = dialogKey(one.dialog);
    if (this.#dialogs.get(key) !== one) return;
    this.#dialogs.delete(key);
    this.#ended.set(key, this.#time.now());
    const untagged = untaggedKey(one.dialog);
    if (this.#untagged.get(untagged) === one) {
      this.#untagged.delete(untagged);
      this.#ended.set(untagged, this.#time.now());
    }
    this.#forget();
  }

  #forget(): void {
    const oldestMs = this.#time.now() - this.#rememberMs;
    for (const [key, atMs] of this.#ended) {
      if (atMs > oldestMs && this.#ended.size <= MOST_ENDED) break;
      this.#ended.delete(key);
    }
  }
}

function untaggedKey({ callId, localTag }: DialogId): string {
  return dialogKey({ callId, localTag, remoteTag: '' });
}
