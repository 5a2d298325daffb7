// The keys that a caller presses, joined to inputs: those that a function waits for, or else those that were
// pressed without a pause. An input that the caller's words have cut short goes on with the next keys.
import { ParleyError } from '../errors.js';
import type { Time } from '../time.js';
import type { DigitsWanted } from './agent-tools.js';

const END_KEY = '#'; // as on every telephone
const MOST_KEYS = 64;
const KEPT_MS = 30_000; // from the words of the caller to the next key

interface Collection {
  readonly wanted: DigitsWanted;
  digits: string;
  readonly done: (digits: string) => void;
}

export class KeyInput {
  readonly #time: Time;
  readonly #pauseMs: number;
  readonly #onInput: (keys: string) => void;
  #keys = '';
  /** The beginning of an input that a function has given up. */
  #kept = '';
  #cancelKept: () => void = () => undefined;
  #collection: Collection | undefined;
  #collectedCount = 0;
  #cancel: () => void = () => undefined;

  /** `onInput` gets the keys that nobody waits for, once none came for `pauseMs`, or with the end key. */
  constructor(time: Time, pauseMs: number, onInput: (keys: string) => void) {
    this.#time = time;
    this.#pauseMs = pauseMs;
    this.#onInput = onInput;
  }

  /** Keys that functions have got so far. */
  get collected(): number {
    return this.#collectedCount;
  }

  /** A function waits for keys. */
  get isCollecting(): boolean {
    return this.#collection !== undefined;
  }

  pressed(key: string): void {
    if (this.#collection !== undefined) return this.#collected(this.#collection, key);
    if (key === END_KEY && this.#kept + this.#keys !== '') return this.#told();
    this.#keys += key;
    if (this.#kept.length + this.#keys.length >= MOST_KEYS) return this.#told();
    return this.#wait(this.#pauseMs, () => this.#told());
  }

  /**
   * Resolves with what the caller presses; empty if nothing is pressed in time, which begins when `asked` has
   * resolved. Keys that were pressed a moment ago belong to it. Rejects with ABORTED: then `onCut` is called
   * first with the keys so far, and the next input begins with them.
   */
  async collect(
    wanted: DigitsWanted,
    asked: Promise<void>,
    signal: AbortSignal,
    onCut: (digits: string) => void = () => undefined,
  ): Promise<string> {
    if (signal.aborted) throw new ParleyError('ABORTED', 'the caller went on');
    const early = this.#take(wanted.isFresh);
    return await new Promise<string>((resolve, reject) => {
      const over = () => {
        signal.removeEventListener('abort', aborted);
        this.#collection = undefined;
        this.#cancel();
      };
      const collection: Collection = { wanted, digits: '', done: (digits) => (over(), resolve(digits)) };
      const aborted = () => {
        over();
        this.#keep(collection.digits);
        if (collection.digits !== '') onCut(collection.digits);
        reject(new ParleyError('ABORTED', 'the caller went on'));
      };
      signal.addEventListener('abort', aborted);
      this.#collection = collection;
      for (const key of early) this.pressed(key);
      if (this.#collection !== collection) return;
      this.#cancel();
      const { digits } = collection;
      void asked.then(() => {
        const isWaiting = this.#collection === collection && collection.digits === digits;
        if (isWaiting) this.#wait(wanted.timeoutMs, () => collection.done(digits));
      });
    });
  }

  /** Drops the keys that nobody got. A function that waits for keys goes on. */
  forget(): void {
    if (this.#collection === undefined) this.#take();
  }

  close(): void {
    this.#cancel();
    this.#cancelKept();
    this.#collection?.done('');
  }

  /** The keys that nobody got. A fresh input leaves the beginning of the one before. */
  #take(isFresh = false): string {
    const keys = isFresh ? this.#keys : this.#kept + this.#keys;
    this.#cancel();
    this.#cancelKept();
    this.#keys = this.#kept = '';
    return keys;
  }

  #keep(digits: string): void {
    if (digits === '') return;
    this.#kept = digits;
    this.#cancelKept = this.#time.after(KEPT_MS, () => (this.#kept = ''));
  }

  #collected(collection: Collection, key: string): void {
    const { wanted, done } = collection;
    this.#collectedCount++;
    const isUsualEnd = wanted.until === undefined && key === END_KEY && collection.digits !== '';
    if (isUsualEnd || key === wanted.until) return done(collection.digits);
    collection.digits += key;
    if (collection.digits.length >= wanted.most) return done(collection.digits);
    this.#wait(wanted.timeoutMs, () => done(collection.digits));
  }

  #told(): void {
    const keys = this.#take();
    if (keys !== '') this.#onInput(keys);
  }

  #wait(ms: number, action: () => void): void {
    this.#cancel();
    this.#cancel = this.#time.after(ms, action);
  }
}
