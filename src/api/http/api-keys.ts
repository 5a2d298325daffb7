// Keeps the API keys of the server, from the configuration and from a file that is read again whenever it
// changes.
//
// Requests are compared with digests of the keys, salted with a secret of the process, so the name of a key
// in queues, limits and calls does not help to guess the key. The key itself signs requests about its calls.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type ApiKey, apiKeyIn } from '../../config/access-config.js';
import { FileWatch, type FileWatchOptions } from '../../config/file-watch.js';
import { ParleyError } from '../../errors.js';
import type { Log } from '../../log.js';

const LEAST_LENGTH = 16;
const MOST_KEYS = 1000; // every request is compared with each key
const MOST_BYTES = 1024 * 1024;

interface Key {
  readonly digest: Buffer;
  readonly name: string;
  readonly entry: ApiKey;
}

interface KeyRingOptions {
  /** Keys in the syntax of `apiKeyIn`. */
  readonly keys: readonly string[];
  /** True if more keys come from a file: then the server needs a key even before the file is read. */
  readonly file?: boolean;
  readonly salt?: Uint8Array;
}

export class KeyRing {
  readonly #salt: Uint8Array;
  readonly #fixed: readonly Key[];
  #fromFile: readonly Key[] = [];
  /** True if requests need a key. */
  readonly required: boolean;

  constructor({ keys, file = false, salt = randomBytes(16) }: KeyRingOptions) {
    this.#salt = salt;
    this.#fixed = keys.map((key) => this.#key(key));
    this.required = keys.length > 0 || file;
  }

  /** Replaces the keys of the file. */
  replaceFileKeys(keys: readonly string[]): void {
    this.#fromFile = keys.map((key) => this.#key(key));
  }

  /** The name of the key: the configured one, or one that is constant for the life of the process. */
  nameOf(token: string): string | undefined {
    const given = this.#digest(token);
    let found: string | undefined;
    // Compares every key, so that the time reveals neither which key nor how much of it matched.
    for (const keys of [this.#fixed, this.#fromFile]) {
      for (const { digest, name } of keys) if (timingSafeEqual(digest, given)) found = name;
    }
    return found;
  }

  /** True if a key of this name is valid now. */
  has(name: string): boolean {
    return [this.#fixed, this.#fromFile].some((keys) => keys.some((key) => key.name === name));
  }

  /** The key of this name, if it is valid now. It must not be logged. */
  keyOf(name: string): ApiKey | undefined {
    const keys = [...this.#fixed, ...this.#fromFile];
    return keys.find((key) => key.name === name)?.entry;
  }

  #key(entry: string): Key {
    const given = apiKeyIn(entry);
    const { name, key } = given;
    const digest = this.#digest(key);
    // Configured names have no space, so the two cannot clash. The digest is complete, because names decide
    // who owns a call.
    return { digest, name: name ?? `key ${digest.toString('hex')}`, entry: given };
  }

  #digest(key: string): Buffer {
    return createHash('sha256').update(this.#salt).update(key).digest();
  }
}

/** Reads the file of API keys again whenever it changes. An invalid file keeps the old keys and is logged. */
export class KeyFile {
  readonly #path: string;
  readonly #ring: KeyRing;
  readonly #log: Log;
  readonly #watch: FileWatch;

  constructor(path: string, ring: KeyRing, log: Log, watch: FileWatchOptions = {}) {
    this.#path = path;
    this.#ring = ring;
    this.#log = log;
    this.#watch = new FileWatch([path], () => void this.#readAgain(), watch);
  }

  /** Reads the keys. Rejects with CONFIG_INVALID if the file is invalid or has no key. */
  async open(): Promise<void> {
    await this.#watch.open(); // before reading, so that no change is missed
    this.#ring.replaceFileKeys(await readKeys(this.#path));
  }

  close(): void {
    this.#watch.close();
  }

  async #readAgain(): Promise<void> {
    try {
      const keys = await readKeys(this.#path);
      this.#ring.replaceFileKeys(keys);
      this.#log.info({ keys: keys.length }, 'API keys read again');
    } catch (error) {
      this.#log.error({ detail: (error as Error).message }, 'API keys stay as they were');
    }
  }
}

async function readKeys(path: string): Promise<readonly string[]> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw refusal(path, `cannot be read: ${code ?? message}`, error);
  }
  return keysIn(text, path);
}

/**
 * Reads one key a line, in the syntax of `apiKeyIn`. Ignores empty lines and those that begin with #. Errors
 * never quote a key.
 */
export function keysIn(text: string, path: string): readonly string[] {
  if (text.length > MOST_BYTES) throw refusal(path, `is longer than ${MOST_BYTES} characters`);
  const keys: string[] = [];
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    const entry = line.trim();
    if (entry === '' || entry.startsWith('#')) continue;
    const { key } = apiKeyIn(entry);
    // Other characters could not be sent in a header.
    if (key.length < LEAST_LENGTH || !/^[\x21-\x7e]+$/.test(key)) {
      const rule = `must be a key of at least ${LEAST_LENGTH} characters of ASCII, without spaces`;
      throw refusal(path, `line ${index + 1} ${rule}`);
    }
    keys.push(entry);
  }
  if (keys.length === 0) throw refusal(path, 'holds no key');
  if (keys.length > MOST_KEYS) throw refusal(path, `holds ${keys.length} keys; ${MOST_KEYS} are the most`);
  return keys;
}

function refusal(path: string, what: string, cause?: unknown): ParleyError {
  return new ParleyError('CONFIG_INVALID', `API_KEYS_FILE ${path} ${what}`, {
    field: 'API_KEYS_FILE',
    cause,
  });
}
