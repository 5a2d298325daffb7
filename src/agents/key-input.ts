// The keys that a caller presses, joined to inputs: those that a function waits for, or else those that were
// pressed without a pause.
import { ParleyError } from '../errors.js';
import type { Time } from '../time.js';
import type { DigitsWanted } from './agent-tools.js';

const END_KEY = '#'; // as on every telephone
const MOST_KEYS = 64;

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
    if (key === END_KEY && this.#keys !== '') return this.#told();
    this.#keys += key;
    if (this.#keys.length >= MOST_KEYS) return this.#told();
    this.#wait(this.#pauseMs, () => this.#told());
  }

  /**
   * Resolves with what the caller presses; empty if nothing is pressed in time, which begins when `asked` has
   * resolved. Keys that were pressed a moment ago belong to it. Rejects with ABORTED.
   */
  async collect(wanted: DigitsWanted, asked: Promise<void>, signal: AbortSignal): Promise<string> {
    const early = this.#keys;
    this.#keys = '';
    this.#cancel();
    let aborted: () => void = () => undefined;
    try {
      return await new Promise<string>((resolve, reject) => {
        aborted = () => reject(new ParleyError('ABORTED', 'the caller went on'));
        signal.addEventListener('abort', aborted);
        if (signal.aborted) return aborted();
        const collection = { wanted, digits: '', done: resolve };
        this.#collection = collection;
        void asked.then(() => {
          const isWaiting = this.#collection === collection && collection.digits === '';
          if (isWaiting) this.#wait(wanted.timeoutMs, () => resolve(''));
        });
        for (const key of early) this.pressed(key);
        return undefined;
      });
    } finally {
      signal.removeEventListener('abort', aborted);
      this.#collection = undefined;
      this.#cancel();
    }
  }

  close(): void {
    this.#cancel();
    this.#collection?.done('');
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
    this.#cancel();
    const keys = this.#keys;
    this.#keys = '';
    if (keys !== '') this.#onInput(keys);
  }

  #wait(ms: number, action: () => void): void {
    this.#cancel();
    this.#cancel = this.#time.after(ms, action);
  }
}
