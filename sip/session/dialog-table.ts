// The dialogs of a user agent by what their requests name them with, early and
// confirmed; and for a while those that have ended, since RFC 3891 answers for
// them otherwise than for what never was.
import type { Time } from '../../src/time.js';
import { dialogKey, type DialogId } from './dialog.js';

export interface TabledDialog {
  readonly dialog: DialogId;
  readonly confirmed: boolean;
}

const MOST_ENDED = 10_000;

export class DialogTable<T extends TabledDialog> {
  readonly #time: Time;
  readonly #rememberMs: number;
  readonly #dialogs = new Map<string, T>();
  /** Those of peers that left out their tag, by the id without it. */
  readonly #untagged = new Map<string, T>();
  /** When each ended, the oldest first. */
  readonly #ended = new Map<string, number>();

  /** Ended ones are remembered for `rememberMs` milliseconds. */
  constructor(time: Time, rememberMs: number) {
    this.#time = time;
    this.#rememberMs = rememberMs;
  }

  /** Those that stand; counted anew at each asking. */
  get counts(): { readonly early: number; readonly confirmed: number } {
    let confirmed = 0;
    for (const one of this.#dialogs.values()) if (one.confirmed) confirmed++;
    return { early: this.#dialogs.size - confirmed, confirmed };
  }

  get all(): readonly T[] {
    return [...this.#dialogs.values()];
  }

  /** A peer that left out its tag once is found by its requests with and without one. */
  find(id: DialogId): T | undefined {
    return this.#dialogs.get(dialogKey(id)) ?? this.#untagged.get(untaggedKey(id));
  }

  /** Whether it ended a short while ago. */
  hasEnded(id: DialogId): boolean {
    const atMs = this.#ended.get(dialogKey(id)) ?? this.#ended.get(untaggedKey(id));
    return atMs !== undefined && this.#time.now() - atMs < this.#rememberMs;
  }

  add(one: T): void {
    this.#dialogs.set(dialogKey(one.dialog), one);
    if (one.dialog.remoteTag === '') this.#untagged.set(untaggedKey(one.dialog), one);
  }

  /** The peer of this dialog left out the tag that it had before. */
  lostTag(one: T): void {
    if (this.#dialogs.get(dialogKey(one.dialog)) === one) this.#untagged.set(untaggedKey(one.dialog), one);
  }

  /** Any number of times; another dialog that has taken the id stays. */
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
