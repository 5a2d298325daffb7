// The file of API keys, read again whenever it changes. One that cannot be
// used leaves the keys as they were, and says so in the log.
import { readFile } from 'node:fs/promises';
import { apiKeyIn } from '../../config/config.js';
import { ParleyError } from '../../errors.js';
import type { Log } from '../../observe/log.js';
import { FileWatch, type FileWatchOptions } from '../../config/file-watch.js';
import type { KeyRing } from './key-ring.js';

const LEAST_LENGTH = 16;
const MOST_KEYS = 1000; // each request is compared with every one
const MOST_BYTES = 1024 * 1024;

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

  /** Reads the keys; CONFIG_INVALID when there are none to be had. */
  async open(): Promise<void> {
    await this.#watch.open(); // first, so that no change is missed
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
 * One key a line, as `apiKeyIn` reads it; empty lines and those that begin with # are none. Nothing of a key is in
 * the errors.
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
    // Anything else could not be given in a header.
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
    ...(cause === undefined ? {} : { cause }),
  });
}
