// Runs beside the verbs of one call: streams of its sound to bots, a recording of it, and transcripts.
// Each goes on until it is stopped, or the call ends.
import { ParleyError } from '../errors.js';
import type { ForkKind } from './verbs.js';

const MOST_FORKS = 4; // of one call

interface OpenFork {
  readonly kind: ForkKind;
  readonly name: string | undefined;
  readonly stop: () => void;
}

export class Forks {
  readonly #open = new Set<OpenFork>();
  #isOver = false;

  /** Throws CALL_STATE if no other one may begin. */
  check(kind: ForkKind, name: string | undefined): void {
    if (this.#isOver) throw new ParleyError('CALL_STATE', 'the call is over');
    if (this.#open.size >= MOST_FORKS)
      throw new ParleyError(
        'CALL_STATE',
        `a call has at most ${MOST_FORKS} streams, recordings and transcripts`,
      );
    if (name !== undefined && this.#find(kind, name) !== undefined) {
      const what = `a ${kind} of the name ${JSON.stringify(name.slice(0, 100))}`;
      throw new ParleyError('CALL_STATE', `the call has ${what} already`);
    }
  }

  /** The returned function is to be called when it has ended by itself. */
  add(kind: ForkKind, name: string | undefined, stop: () => void): () => void {
    const fork = { kind, name, stop };
    this.#open.add(fork);
    return () => void this.#open.delete(fork);
  }

  /** Without a name the latest one of its kind. False: there is none. */
  stop(kind: ForkKind, name: string | undefined): boolean {
    const fork = this.#find(kind, name);
    if (fork === undefined) return false;
    this.#open.delete(fork);
    fork.stop();
    return true;
  }

  /** The call is over. Idempotent. */
  close(): void {
    this.#isOver = true;
    for (const { stop } of this.#open) stop();
    this.#open.clear();
  }

  #find(kind: ForkKind, name: string | undefined): OpenFork | undefined {
    return [...this.#open].findLast(
      (fork) => fork.kind === kind && (name === undefined || fork.name === name),
    );
  }
}
