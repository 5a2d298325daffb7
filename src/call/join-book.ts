// The book of what each call is joined to: a bridge, a room, a queue or a supervisor, one of them at a time.
//
// It also refuses circles. A call that this server has placed to itself has two calls here, its ends. Each
// end sends what the other one hears, so a room in which both are would hear itself, louder and louder. The
// same holds for two rooms that two such calls connect, and for longer ways.
//
//   room A ── end ═══ end ── room A        refused
//   room A ── end ═══ end ── room B        allowed: the two rooms hear each other
//   room A ── end ═══ end ── room B        and once more: refused
import { ParleyError } from '../errors.js';

/** A bridge, a room, or another place whose calls hear each other. */
export type JoinPlace = object;

interface JoinBookParts {
  /**
   * Id of the other end of a call that this server has placed to itself; undefined: its far end is
   * elsewhere.
   */
  readonly otherEndOf: (call: string) => string | undefined;
}

export class JoinBook {
  readonly #parts: JoinBookParts;
  readonly #joined = new Map<string, string>();
  /** The places of each call: that of a supervised call and of its supervisor is one more. */
  readonly #places = new Map<string, Set<JoinPlace>>();
  readonly #calls = new Map<JoinPlace, Set<string>>();

  constructor(parts: JoinBookParts) {
    this.#parts = parts;
  }

  /**
   * The call is joined to this from now on, until the returned function is called. `place`: it hears the
   * other calls there, and they hear it. Throws CALL_STATE if it is joined to something already, and
   * CALL_LOOP as `checkCircle`.
   */
  enter(call: string, to: string, field?: string, place?: JoinPlace): () => void {
    this.check(call, field);
    const leavePlace = place === undefined ? () => undefined : this.connect(call, place, field);
    this.#joined.set(call, to);
    let isOver = false;
    return () => {
      if (!isOver) this.#joined.delete(call);
      isOver = true;
      leavePlace();
    };
  }

  /** As `enter`, for a call that may be joined to something else. Throws CALL_LOOP as `checkCircle`. */
  connect(call: string, place: JoinPlace, field?: string): () => void {
    const calls = this.#calls.get(place) ?? new Set();
    this.checkCircle(call, calls, field);
    const places = this.#places.get(call) ?? new Set();
    this.#calls.set(place, calls.add(call));
    this.#places.set(call, places.add(place));
    return () => {
      calls.delete(call);
      places.delete(place);
      if (calls.size === 0) this.#calls.delete(place);
      if (places.size === 0) this.#places.delete(call);
    };
  }

  /** Throws CALL_STATE if the call is joined to something. */
  check(call: string, field?: string): void {
    const to = this.#joined.get(call);
    if (to === undefined) return;
    throw new ParleyError('CALL_STATE', `call ${call} is in ${to} already`, detailsOf(field));
  }

  /** Throws CALL_LOOP if the sound of the call reaches one of the others already, by calls to this server. */
  checkCircle(call: string, others: Iterable<string>, field?: string): void {
    const found = new Set(others);
    found.delete(call);
    if (found.size === 0) return;
    const reached = new Set([call]);
    // Calls that are added on the way are visited, too.
    for (const one of reached) {
      if (found.has(one)) throw circle(call, one, field);
      const otherEnd = this.#parts.otherEndOf(one);
      if (otherEnd !== undefined) reached.add(otherEnd);
      for (const place of this.#places.get(one) ?? [])
        for (const beside of this.#calls.get(place) ?? []) reached.add(beside);
    }
  }

  has(call: string): boolean {
    return this.#joined.has(call);
  }

  get size(): number {
    return this.#joined.size;
  }
}

const detailsOf = (field: string | undefined) => (field === undefined ? {} : { field });

function circle(call: string, other: string, field: string | undefined): ParleyError {
  const reached = `call ${call} reaches call ${other} through this server already`;
  const message = `${reached}: joined, they would hear themselves`;
  return new ParleyError('CALL_LOOP', message, detailsOf(field));
}
