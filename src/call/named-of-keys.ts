// Things that belong to an API key and have names, such as rooms and queues: two keys may use the same name.
// A thing that belongs to no key is there for every key, unless a key has one of its own by the name.
import { ParleyError } from '../errors.js';

const MOST_NAME = 64;
/** A name stands in paths of HTTP, logs and events. */
const NAME = /^(?! )[^\p{C}\p{Zl}\p{Zp}/]{1,64}(?<! )$/u;

/** The rule for names, in words. */
export const NAME_RULE = `a name of 1 to ${MOST_NAME} characters on one line, without "/" and without blanks at its ends`;

export function isUsableName(name: string): boolean {
  return NAME.test(name);
}

/** Throws INVALID_FIELD. */
export function checkName(name: string): void {
  if (!isUsableName(name))
    throw new ParleyError('INVALID_FIELD', `"name" must be ${NAME_RULE}`, { field: 'name' });
}

export class NamedOfKeys<T> {
  readonly #byKey = new Map<string | undefined, Map<string, T>>();

  get size(): number {
    return [...this.#byKey.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Throws INVALID_FIELD for a name that nothing can have. */
  find(key: string | undefined, name: string): T | undefined {
    checkName(name);
    return this.#byKey.get(key)?.get(name) ?? this.#byKey.get(undefined)?.get(name);
  }

  /** The things of this key, and those of no key. */
  list(key: string | undefined): readonly T[] {
    const own = this.#byKey.get(key) ?? new Map<string, T>();
    const shared = key === undefined ? [] : [...(this.#byKey.get(undefined) ?? [])];
    return [...own.values(), ...shared.filter(([name]) => !own.has(name)).map(([, thing]) => thing)];
  }

  all(): readonly T[] {
    return [...this.#byKey.values()].flatMap((things) => [...things.values()]);
  }

  /** The returned function takes it out again. */
  add(key: string | undefined, name: string, thing: T): () => void {
    const things = this.#byKey.get(key) ?? new Map<string, T>();
    this.#byKey.set(key, things);
    things.set(name, thing);
    return () => {
      if (things.get(name) !== thing) return;
      things.delete(name);
      if (things.size === 0 && this.#byKey.get(key) === things) this.#byKey.delete(key);
    };
  }
}
