// The payload types that our descriptions have named in a call. One that has
// been bound to an encoding may never mean another in the same call (RFC 3264
// section 8.3.2): packets of either meaning may still be under way.
import { codecOf, FIRST_DYNAMIC, keyOf, LAST_DYNAMIC, type Encoding } from './audio-format.js';

// Where those for dynamic use do not suffice; 64 to 95 would look like RTCP (RFC 5761 section 4).
const FIRST_SPARE = 35;
const LAST_SPARE = 63;

export class PayloadNumbering {
  readonly #meanings = new Map<number, string>();
  readonly #latest = new Map<string, number>();

  /** A copy that goes its own way: one offer may have answers of several phones. */
  copy(): PayloadNumbering {
    const copy = new PayloadNumbering();
    for (const [number, key] of this.#meanings) copy.#meanings.set(number, key);
    for (const [key, number] of this.#latest) copy.#latest.set(key, number);
    return copy;
  }

  /** The number to write for an encoding: the one wished for (the offer's), the one it has had, or a new one. */
  assign(encoding: Encoding, wish?: number): number {
    const key = keyOf(encoding);
    const first = wish ?? this.#latest.get(key) ?? staticTypeOf(encoding);
    const number = [first, this.#latest.get(key), ...unbound(this.#meanings)].find(
      (candidate) => candidate !== undefined && (this.#meanings.get(candidate) ?? key) === key,
    );
    // A peer that uses up every number in re-offers gets back the ones it names.
    const given = number ?? wish ?? LAST_DYNAMIC;
    this.#meanings.set(given, key);
    this.#latest.set(key, given);
    return given;
  }
}

function staticTypeOf(encoding: Encoding): number | undefined {
  if (encoding.name === 'CN') return 13;
  return codecOf(encoding)?.staticPayloadType;
}

function* unbound(meanings: ReadonlyMap<number, string>): Generator<number> {
  for (let number = FIRST_DYNAMIC; number <= LAST_DYNAMIC; number++) if (!meanings.has(number)) yield number;
  for (let number = FIRST_SPARE; number <= LAST_SPARE; number++) if (!meanings.has(number)) yield number;
}
