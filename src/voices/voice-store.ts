// Voices made over HTTP, on disk: a folder for each, named by its id.
//
//   VOICES_DIR/voice_…/voice.json    what is known of it
//                      sample.wav    mono, 16 bits, REFERENCE_RATE; not of a prompt
//
// Several servers may share the folder. The id of a voice is made of its name,
// so the folder itself says whether a name is taken: of two servers that make a
// voice of one name, one finds the other's folder in its way. And nothing is
// believed of a voice without a look at its folder, which costs microseconds.
import { hash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ParleyError } from '../errors.js';
import { checkedName, nameKey, type StoredVoice, VOICE_ID, voiceId } from './stored-voice.js';
import {
  markOf,
  readVoiceFolder,
  removeVoiceFolder,
  SAMPLE,
  syncFolder,
  type SyncFolder,
  UNFINISHED,
  writeVoiceFolder,
} from './voice-folder.js';

export interface VoiceStoreOptions {
  /** Made when the first voice is. */
  readonly folder: string;
  /** Servers that share the folder may each go over it by what they write at the same time. */
  readonly maxVoices?: number;
  /** Unix seconds. */
  readonly now?: () => number;
  readonly sync?: SyncFolder;
  /** Told once of each folder that is not usable and left alone. */
  readonly onBroken?: (folder: string, reason: string) => void;
}

/** What the store adds of its own. */
export type NewVoice = Omit<StoredVoice, 'id' | 'createdAt' | 'content'>;

/** What was read of a folder when it had this mark. */
interface Known {
  readonly mark: string | undefined;
  /** Absent where it is not usable. */
  readonly voice?: StoredVoice;
}

const MAX_VOICES = 1000;
const LEFT_OVER_SECONDS = 3600; // nobody writes a voice for so long
// Two changes within one tick of a file system's clock leave it the same time.
const SETTLED_MS = 1000;

export class VoiceStore {
  readonly #options: Required<VoiceStoreOptions>;
  readonly #known = new Map<string, Known>(); // by id; only of folders that were there when last looked at
  /** Ids of voices that are being written. */
  readonly #writing = new Set<string>();

  #listed: { readonly changedMs: number; readonly voices: readonly StoredVoice[] } | undefined;

  private constructor(options: VoiceStoreOptions) {
    this.#options = {
      maxVoices: MAX_VOICES,
      now: () => Math.floor(Date.now() / 1000),
      sync: syncFolder,
      onBroken: () => undefined,
      ...options,
    };
  }

  /** What is in the folder already; CONFIG_INVALID when it cannot be read. */
  static async open(options: VoiceStoreOptions): Promise<VoiceStore> {
    const store = new VoiceStore(options);
    try {
      await store.#clearLeftOvers();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new ParleyError('CONFIG_INVALID', `VOICES_DIR=${options.folder} cannot be read (${code})`, {
        cause: error,
      });
    }
    store.list(); // tells of what is broken
    return store;
  }

  /** Oldest first; those of one second in an order of no meaning. ENGINE_UNAVAILABLE when the folder cannot be read. */
  list(): readonly StoredVoice[] {
    // Whatever is made or let go changes the folder itself, so one look at that tells of a thousand voices.
    const changedMs = statSync(this.#options.folder, { throwIfNoEntry: false })?.mtimeMs;
    const last = this.#listed;
    if (last !== undefined && last.changedMs === changedMs) return last.voices;
    const lookedMs = Date.now();
    const voices = this.#listNow();
    const settled = changedMs !== undefined && lookedMs - changedMs > SETTLED_MS;
    this.#listed = settled ? { changedMs, voices } : undefined;
    return voices;
  }

  #listNow(): readonly StoredVoice[] {
    const ids = this.#entries();
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#known.delete(id);
    const voices = [...ids].map((id) => this.#look(id)).filter((voice) => voice !== undefined);
    return voices.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  }

  /** By id or name. */
  find(idOrName: string): StoredVoice | undefined {
    const key = nameKey(idOrName);
    return this.#look(VOICE_ID.test(key) ? key : voiceId(key));
  }

  /** Throws INVALID_FIELD, EXISTS or VOICE_LIMIT where `add` would reject with it. */
  check(name: string): void {
    const id = voiceId(checkedName(name));
    const isId = VOICE_ID.test(nameKey(name));
    if (isId || this.#writing.has(id) || this.#look(id) !== undefined) throw nameTaken(name);
    if (new Set([...this.#entries(), ...this.#writing]).size < this.#options.maxVoices) return;
    const message = `${this.#options.maxVoices} voices are kept already; delete one of them first`;
    throw new ParleyError('VOICE_LIMIT', message);
  }

  /** Resolves when it is on disk. */
  async add(voice: NewVoice, sample?: Uint8Array): Promise<StoredVoice> {
    this.check(voice.name);
    const { folder, now, sync } = this.#options;
    const name = checkedName(voice.name);
    const id = voiceId(name);
    const content =
      sample === undefined ? {} : { content: { hash: hash('sha256', sample, 'hex'), bytes: sample.length } };
    const stored: StoredVoice = { ...voice, id, name, createdAt: now(), ...content };
    this.#writing.add(id); // before anything is waited for: of two with one name one is refused
    try {
      await writeVoiceFolder(folder, stored, sample, sync);
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      throw ['ENOTEMPTY', 'EEXIST'].includes(code) ? nameTaken(name) : error;
    } finally {
      this.#writing.delete(id);
    }
    return stored;
  }

  /** Resolves when it is gone; false when there is no such voice. */
  async remove(idOrName: string): Promise<boolean> {
    const voice = this.find(idOrName);
    if (voice === undefined) return false;
    const { folder, sync } = this.#options;
    const removed = await removeVoiceFolder(folder, voice.id, sync);
    this.#look(voice.id);
    return removed;
  }

  /** The file of a voice's sample. */
  samplePath({ id }: StoredVoice): string {
    return join(this.#options.folder, id, SAMPLE);
  }

  /** The voice as it is on disk now; read anew only where it is another than before. */
  #look(id: string): StoredVoice | undefined {
    const path = join(this.#options.folder, id);
    const mark = markOf(path);
    if (mark === undefined && !isThere(path)) {
      this.#known.delete(id);
      return undefined;
    }
    const known = this.#known.get(id);
    if (known !== undefined && known.mark === mark) return known.voice;
    const read = this.#read(path, id);
    // One that is let go while it is read is no broken one.
    if (read !== undefined || isThere(path))
      this.#known.set(id, read === undefined ? { mark } : { mark, voice: read });
    return read;
  }

  #read(path: string, id: string): StoredVoice | undefined {
    try {
      return readVoiceFolder(path, id);
    } catch (error) {
      if (isThere(path)) this.#options.onBroken(path, error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  /** Ids of all folders, whether usable or not. */
  #entries(): Set<string> {
    try {
      return new Set(readdirSync(this.#options.folder).filter((entry) => VOICE_ID.test(entry)));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return new Set();
      const message = `the folder of the voices cannot be read (${code})`;
      throw new ParleyError('ENGINE_UNAVAILABLE', message, { cause: error });
    }
  }

  /** Of servers that went down; what is younger may be another server's work. */
  async #clearLeftOvers(): Promise<void> {
    const { folder, now } = this.#options;
    for (const entry of await entriesOf(folder)) {
      if (!entry.startsWith(UNFINISHED)) continue;
      const path = join(folder, entry);
      const mtimeMs = await stat(path).then(
        (found) => found.mtimeMs,
        () => Infinity, // finished by now
      );
      if (mtimeMs < (now() - LEFT_OVER_SECONDS) * 1000) await rm(path, { recursive: true, force: true });
    }
  }
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

async function entriesOf(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function nameTaken(name: string): ParleyError {
  return new ParleyError('EXISTS', `there is a voice "${name}" already`, { field: 'name' });
}
