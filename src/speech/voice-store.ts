// Voices made over HTTP, on disk: a folder for each, named by its id.
//
//   VOICES_DIR/voice_…/voice.json    what is known of it
//                      sample.wav    mono, 16 bits, REFERENCE_RATE; not of a prompt
//
// A folder is written under another name first and renamed when it is whole, so
// that what bears an id is all there, whenever the machine went down.
import { hash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ParleyError } from '../errors.js';
import { checkedName, nameKey, readStoredVoice, type StoredVoice, VOICE_ID } from './stored-voice.js';

export interface VoiceStoreOptions {
  /** Made when the first voice is. */
  readonly folder: string;
  readonly maxVoices?: number;
  /** Unix seconds. */
  readonly now?: () => number;
  readonly newId?: () => string;
  /** Told of each folder that is not usable and left alone. */
  readonly onBroken?: (folder: string, reason: string) => void;
}

/** What the store adds of its own. */
export type NewVoice = Omit<StoredVoice, 'id' | 'createdAt' | 'content'>;

const MAX_VOICES = 1000;
const FACTS = 'voice.json';
const SAMPLE = 'sample.wav';
const UNFINISHED = '.unfinished-';

export class VoiceStore {
  readonly #options: Required<Omit<VoiceStoreOptions, 'onBroken'>>;
  readonly #voices = new Map<string, StoredVoice>(); // by id, in the order in which they were made
  /** Names that are taken, also by voices that are being written. */
  readonly #ids = new Map<string, string>();

  private constructor(options: VoiceStoreOptions) {
    this.#options = {
      maxVoices: MAX_VOICES,
      now: () => Math.floor(Date.now() / 1000),
      newId: () => `voice_${randomBytes(12).toString('hex')}`,
      ...options,
    };
  }

  /** What is in the folder already; CONFIG_INVALID when it cannot be read. */
  static async open(options: VoiceStoreOptions): Promise<VoiceStore> {
    const store = new VoiceStore(options);
    for (const entry of await entriesOf(options.folder)) {
      const path = join(options.folder, entry);
      if (entry.startsWith(UNFINISHED)) await rm(path, { recursive: true, force: true });
      if (!VOICE_ID.test(entry)) continue;
      try {
        store.#enter(await readEntry(path, entry));
      } catch (error) {
        options.onBroken?.(path, error instanceof Error ? error.message : String(error));
      }
    }
    const oldestFirst = [...store.#voices.values()].sort((a, b) => a.createdAt - b.createdAt);
    store.#voices.clear();
    for (const voice of oldestFirst) store.#voices.set(voice.id, voice);
    return store;
  }

  /** In the order in which they were made. */
  list(): readonly StoredVoice[] {
    return [...this.#voices.values()];
  }

  /** By id or name. */
  find(idOrName: string): StoredVoice | undefined {
    return this.#voices.get(this.#ids.get(nameKey(idOrName)) ?? idOrName);
  }

  /** Throws INVALID_FIELD, EXISTS or VOICE_LIMIT where `add` would reject with it. */
  check(name: string): void {
    if (this.#ids.has(nameKey(checkedName(name))) || VOICE_ID.test(nameKey(name))) throw nameTaken(name);
    if (this.#ids.size < this.#options.maxVoices) return;
    const message = `${this.#options.maxVoices} voices are kept already; delete one of them first`;
    throw new ParleyError('VOICE_LIMIT', message);
  }

  /** Resolves when it is on disk. */
  async add(voice: NewVoice, sample?: Uint8Array): Promise<StoredVoice> {
    this.check(voice.name);
    const name = checkedName(voice.name);
    const id = this.#options.newId();
    const content =
      sample === undefined ? {} : { content: { hash: hash('sha256', sample, 'hex'), bytes: sample.length } };
    const stored: StoredVoice = { ...voice, id, name, createdAt: this.#options.now(), ...content };
    this.#ids.set(nameKey(name), id); // before anything is waited for: of two with one name one is refused
    try {
      await this.#write(stored, sample);
    } catch (error) {
      this.#ids.delete(nameKey(name));
      throw error;
    }
    this.#voices.set(id, stored);
    return stored;
  }

  /** Resolves when it is gone; false when there is no such voice. */
  async remove(idOrName: string): Promise<boolean> {
    const voice = this.find(idOrName);
    if (voice === undefined) return false;
    this.#voices.delete(voice.id);
    const gone = join(this.#options.folder, `${UNFINISHED}${voice.id}`);
    try {
      // One step for the voice, as many as it takes for its files.
      await rename(this.#pathOf(voice.id), gone);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
        this.#voices.set(voice.id, voice);
        throw error;
      }
    }
    this.#ids.delete(nameKey(voice.name));
    await rm(gone, { recursive: true, force: true });
    return true;
  }

  /** The file of a voice's sample. */
  samplePath({ id }: StoredVoice): string {
    return join(this.#pathOf(id), SAMPLE);
  }

  #pathOf(id: string): string {
    return join(this.#options.folder, id);
  }

  #enter(voice: StoredVoice): void {
    const key = nameKey(voice.name);
    if (this.#ids.has(key)) throw new Error('another voice has its name');
    this.#ids.set(key, voice.id);
    this.#voices.set(voice.id, voice);
  }

  async #write(voice: StoredVoice, sample: Uint8Array | undefined): Promise<void> {
    const unfinished = join(this.#options.folder, `${UNFINISHED}${voice.id}`);
    try {
      await mkdir(unfinished, { recursive: true, mode: 0o700 });
      if (sample !== undefined) await writeFile(join(unfinished, SAMPLE), sample, WRITTEN);
      await writeFile(join(unfinished, FACTS), `${JSON.stringify(voice, undefined, 2)}\n`, WRITTEN);
      await rename(unfinished, this.#pathOf(voice.id));
    } catch (error) {
      await rm(unfinished, { recursive: true, force: true });
      throw error;
    }
  }
}

// On the disk itself before the folder gets its name; a voice is nobody else's on this machine.
const WRITTEN = { flush: true, mode: 0o600 } as const;

async function entriesOf(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return [];
    throw new ParleyError('CONFIG_INVALID', `VOICES_DIR=${folder} cannot be read (${code})`, {
      cause: error,
    });
  }
}

async function readEntry(path: string, id: string): Promise<StoredVoice> {
  const voice = readStoredVoice(await readFile(join(path, FACTS), 'utf8'));
  if (voice.id !== id) throw new Error('it is the folder of another voice');
  if (voice.content === undefined) return voice;
  const { size } = await stat(join(path, SAMPLE));
  if (size !== voice.content.bytes)
    throw new Error(`its sample has ${size} bytes, not ${voice.content.bytes}`);
  return voice;
}

function nameTaken(name: string): ParleyError {
  return new ParleyError('EXISTS', `there is a voice "${name}" already`, { field: 'name' });
}
