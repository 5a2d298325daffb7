// The API keys that open the server, kept as digests only.
//
// Digests are salted with a secret of the process: the name that a key has in
// queues, limits and calls says nothing that would help to guess it.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { apiKeyIn } from '../../config/config.js';

interface Key {
  readonly digest: Buffer;
  readonly name: string;
}

export interface KeyRingOptions {
  /** Each as `apiKeyIn` reads it. */
  readonly keys: readonly string[];
  /** More keys come from a file: the server is closed even before they are read. */
  readonly file?: boolean;
  readonly salt?: Uint8Array;
}

export class KeyRing {
  readonly #salt: Uint8Array;
  readonly #fixed: readonly Key[];
  #fromFile: readonly Key[] = [];
  /** Whether requests need a key at all. */
  readonly required: boolean;

  constructor({ keys, file = false, salt = randomBytes(16) }: KeyRingOptions) {
    this.#salt = salt;
    this.#fixed = keys.map((key) => this.#key(key));
    this.required = keys.length > 0 || file;
  }

  /** From now on these are the keys of the file, and no other ones. */
  replaceFileKeys(keys: readonly string[]): void {
    this.#fromFile = keys.map((key) => this.#key(key));
  }

  /** The name of the key: its own, or one that stays the same for as long as the process lives. */
  nameOf(token: string): string | undefined {
    const given = this.#digest(token);
    let found: string | undefined;
    // Every key is compared, so the time tells neither which one nor how much of it was right.
    for (const keys of [this.#fixed, this.#fromFile]) {
      for (const { digest, name } of keys) if (timingSafeEqual(digest, given)) found = name;
    }
    return found;
  }

  #key(entry: string): Key {
    const { name, key } = apiKeyIn(entry);
    const digest = this.#digest(key);
    // The space keeps it apart from every name that a key can be given. The digest is whole: names decide who owns a call.
    return { digest, name: name ?? `key ${digest.toString('hex')}` };
  }

  #digest(key: string): Buffer {
    return createHash('sha256').update(this.#salt).update(key).digest();
  }
}
