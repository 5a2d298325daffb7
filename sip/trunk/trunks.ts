// All trunks, in the order in which they are tried for a call.
import { ParleyError } from '../../src/errors.js';
import type { Trunk, TrunkRefusal, TrunkView } from './trunk.js';

export class Trunks {
  readonly #trunks: readonly Trunk[];
  #closed: Promise<void> | undefined;

  constructor(trunks: readonly Trunk[]) {
    this.#trunks = trunks;
  }

  get views(): readonly TrunkView[] {
    return this.#trunks.map(({ view }) => view);
  }

  get all(): readonly Trunk[] {
    return this.#trunks;
  }

  start(): void {
    for (const trunk of this.#trunks) trunk.start();
  }

  /** The one of this name alone, or all of them. NOT_FOUND for a name that no trunk has. */
  named(name: string | undefined): readonly Trunk[] {
    if (name === undefined) return this.#trunks;
    const found = this.#trunks.filter((trunk) => trunk.name === name);
    if (found.length > 0) return found;
    throw new ParleyError('NOT_FOUND', `there is no trunk named ${JSON.stringify(name.slice(0, 100))}`, { field: 'trunk' });
  } // prettier-ignore

  /** The one that calls from this address to this user of ours are of; of several accounts there, else the first. */
  of(address: string, user: string | undefined): Trunk | undefined {
    const there = this.#trunks.filter((trunk) => trunk.owns(address));
    return there.find((trunk) => trunk.knowsAs(user)) ?? there[0];
  }

  close(): Promise<void> {
    this.#closed ??= Promise.all(this.#trunks.map((trunk) => trunk.close())).then(() => undefined);
    return this.#closed;
  }
}

/** One call's way through the trunks: each of them at most once. */
export class TrunkTurn {
  readonly #left: Trunk[];
  readonly #refusals: TrunkRefusal[] = [];
  #release = (): void => undefined;

  constructor(candidates: readonly Trunk[]) {
    this.#left = [...candidates];
  }

  /** The next trunk that takes a call, which counts as its call until `done` or the next `next`; undefined after the last. */
  next(): Trunk | undefined {
    this.done();
    for (let trunk = this.#left.shift(); trunk !== undefined; trunk = this.#left.shift()) {
      const taken = trunk.take();
      if (typeof taken === 'function') {
        this.#release = taken;
        return trunk;
      }
      this.#refusals.push(taken);
    }
    return undefined;
  }

  /** The call is over. */
  done(): void {
    this.#release();
    this.#release = () => undefined;
  }

  /** Why none took the call: RATE_LIMITED or CALL_LIMIT where waiting helps, else ENGINE_UNAVAILABLE. */
  refusal(): ParleyError {
    const rates = this.#refusals.flatMap((one) => ('waitMs' in one ? [one] : []));
    if (rates.some(({ reason }) => reason === 'rate')) {
      const waitMs = Math.min(...rates.map((one) => one.waitMs));
      const retryAfterSeconds = Math.ceil(waitMs / 1000);
      return new ParleyError('RATE_LIMITED', 'the trunks have had as many calls as are allowed in a second', { retryAfterSeconds });
    }
    if (this.#refusals.some(({ reason }) => reason === 'most-calls')) {
      return new ParleyError('CALL_LIMIT', 'the trunks have as many calls as are allowed');
    }
    const why = [...new Set(this.#refusals.map(({ reason }) => reason))].join(', ');
    return new ParleyError('ENGINE_UNAVAILABLE', `no trunk takes calls now: ${why === '' ? 'there is none' : why}`);
  } // prettier-ignore
}
