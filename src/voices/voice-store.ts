// Stores voices made over HTTP on disk, in one folder each, named by its id.
//
//   VOICES_DIR/voice_…/voice.json    fields of the voice
//                      sample.wav    mono, 16 bits, REFERENCE_RATE; samples only
//
// Several servers may share VOICES_DIR. The id is derived from the name, so two servers that make a voice of
// the same name compete for one folder, and one of them is refused. Every use of a voice checks its folder,
// which takes microseconds.
//
// A folder is written under a temporary name, flushed, and then renamed to its id. A folder that has an id is
// therefore complete, even after a crash, and has one writer.
import { hash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ParleyError } from '../errors.js';

const FACTS = 'voice.json';
const SAMPLE = 'sample.wav';
/** Prefix of folders that are being written or removed. */
const UNFINISHED = '.unfinished-';

/** Files are readable by the owner only, and flushed before their folder gets its final name. */
const WRITTEN = { flush: true, mode: 0o600 } as const;

/** Flushes the entries of a folder to disk. */
type SyncFolder = (folder: string) => Promise<void>;

const syncFolder: SyncFolder = async (folder) => {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Changes whenever the folder's content changes; undefined without a voice. */
function markOf(path: string): string | undefined {
  try {
    const { ino, mtimeMs, size } = statSync(join(path, FACTS));
    return `${ino} ${mtimeMs} ${size}`;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? undefined : code; // reading the folder fails in the same way
  }
}

/** Throws an Error that names the defect of the folder. */
function readVoiceFolder(path: string, id: string): StoredVoice {
  const voice = readStoredVoice(readFileSync(join(path, FACTS), 'utf8'));
  if (voice.id !== id || voiceId(voice.name) !== id) throw new Error('it is the folder of another voice');
  if (voice.content === undefined) return voice;
  const { size } = statSync(join(path, SAMPLE));
  if (size !== voice.content.bytes)
    throw new Error(`its sample has ${size} bytes, not ${voice.content.bytes}`);
  return voice;
}

/** Rejects with ENOTEMPTY or EEXIST if the voice exists already, written by any server. */
async function writeVoiceFolder(
  folder: string,
  voice: StoredVoice,
  sample: Uint8Array | undefined,
  sync: SyncFolder,
): Promise<void> {
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (made !== undefined) await sync(dirname(made));
  const unfinished = await mkdtemp(join(folder, `${UNFINISHED}${voice.id}-`));
  try {
    if (sample !== undefined) await writeFile(join(unfinished, SAMPLE), sample, WRITTEN);
    await writeFile(join(unfinished, FACTS), `${JSON.stringify(voice, undefined, 2)}\n`, WRITTEN);
    await sync(unfinished);
    await rename(unfinished, join(folder, voice.id));
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
  await sync(folder);
}

/** False if another server removed it before. The rename removes the voice atomically; its files follow. */
async function removeVoiceFolder(folder: string, id: string, sync: SyncFolder): Promise<boolean> {
  // rename() may replace an empty folder: this one belongs to this removal.
  const gone = await mkdtemp(join(folder, `${UNFINISHED}${id}-`));
  try {
    await rename(join(folder, id), gone);
    await sync(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  } finally {
    await rm(gone, { recursive: true, force: true });
  }
}

type MadeVoiceKind = 'audio_sample' | 'prompt';

export interface StoredVoice {
  readonly id: string;
  readonly name: string;
  readonly kind: MadeVoiceKind;
  /** Unix seconds. */
  readonly createdAt: number;
  /** BCP 47 tag for requests without a language. */
  readonly language?: string;
  readonly description?: string;
  /** Note on the speaker's consent. */
  readonly consent?: string;
  /** SHA-256 and size of the sample's file; samples only. */
  readonly content?: { readonly hash: string; readonly bytes: number };
  /** Transcript of the sample. */
  readonly text?: string;
  /** Description that the voice was made from; prompts only. */
  readonly prompt?: string;
}

const VOICE_ID = /^voice_[0-9a-f]{24}$/;
const ID_DIGITS = 24;
const NAME = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._()'-]{0,63}$/u;

/** The name in NFC without surrounding spaces. Throws INVALID_FIELD. */
function checkedName(name: string): string {
  const kept = name.normalize('NFC').trim();
  if (NAME.test(kept)) return kept;
  const allowed = "of 1 to 64 letters, digits, spaces and ._()'-, with a letter or digit first";
  throw new ParleyError('INVALID_FIELD', `"name" must be a name ${allowed}`, { field: 'name' });
}

/** The form in which names are compared. */
function nameKey(name: string): string {
  return name.normalize('NFC').trim().toLowerCase();
}

/** The id of a voice, derived from its name: the same on every server. */
function voiceId(name: string): string {
  return `voice_${hash('sha256', nameKey(name), 'hex').slice(0, ID_DIGITS)}`;
}

/** Parses voice.json. Throws an Error that names the defect. */
function readStoredVoice(json: string): StoredVoice {
  const fields = JSON.parse(json) as Partial<Record<keyof StoredVoice, unknown>> | null;
  if (typeof fields !== 'object' || fields === null) throw new Error('it is no object');
  const { id, name, kind, createdAt, content, prompt } = fields;
  if (typeof id !== 'string' || !VOICE_ID.test(id)) throw new Error('its id is not one of ours');
  if (typeof name !== 'string' || checkedName(name) !== name) throw new Error('its name is not one of ours');
  if (!Number.isSafeInteger(createdAt)) throw new Error('it does not say when it was made');
  for (const field of ['language', 'description', 'consent', 'text'] as const) {
    if (!['string', 'undefined'].includes(typeof fields[field])) throw new Error(`its ${field} is no text`);
  }
  if (kind === 'prompt' ? typeof prompt !== 'string' : kind !== 'audio_sample' || !isContent(content)) {
    throw new Error('it is neither made from a sample nor from a prompt');
  }
  return fields as StoredVoice;
}

function isContent(content: unknown): content is NonNullable<StoredVoice['content']> {
  const { hash, bytes } = (content ?? {}) as { hash?: unknown; bytes?: unknown };
  return typeof hash === 'string' && Number.isSafeInteger(bytes);
}

export interface VoiceStoreOptions {
  /** Created with the first voice. */
  readonly folder: string;
  /** Servers that share the folder may exceed it by what they write at the same time. */
  readonly maxVoices?: number;
  /** Unix seconds. */
  readonly now?: () => number;
  readonly sync?: SyncFolder;
  /** Called once for each unusable folder, which is left alone. */
  readonly onBroken?: (folder: string, reason: string) => void;
}

/** A voice without the fields that the store adds. */
export type NewVoice = Omit<StoredVoice, 'id' | 'createdAt' | 'content'>;

/** Content of a folder at the time of this mark. */
interface Known {
  readonly mark: string | undefined;
  /** Absent if the folder is not usable. */
  readonly voice?: StoredVoice;
}

const MAX_VOICES = 1000;
const LEFT_OVER_SECONDS = 3600; // writing a voice takes far less
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

  /** Rejects with CONFIG_INVALID if the folder cannot be read. */
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
    store.list(); // reports broken folders
    return store;
  }

  /**
   * Oldest first; undefined order within one second. Throws ENGINE_UNAVAILABLE if the folder cannot be read.
   */
  list(): readonly StoredVoice[] {
    // Adding or removing a voice changes the folder's time, so one stat covers all voices.
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

  /** Finds a voice by id or name. */
  find(idOrName: string): StoredVoice | undefined {
    const key = nameKey(idOrName);
    return this.#look(VOICE_ID.test(key) ? key : voiceId(key));
  }

  /** Throws INVALID_FIELD, EXISTS or VOICE_LIMIT if `add` would reject with it. */
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
    // No undefined field: the voice equals the one that is read back from JSON.
    const content =
      sample === undefined ? {} : { content: { hash: hash('sha256', sample, 'hex'), bytes: sample.length } };
    const stored: StoredVoice = { ...voice, id, name, createdAt: now(), ...content };
    this.#writing.add(id); // before the first await: the second of two equal names is refused
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

  /** Resolves when the voice is removed; false if there is no such voice. */
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

  /** The voice as it is on disk now; read again only if its folder changed. */
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
    // A folder that is removed while it is read is not broken.
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

  /** Ids of all folders, usable or not. */
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

  /** Removes unfinished folders of crashed servers; younger ones may belong to a running server. */
  async #clearLeftOvers(): Promise<void> {
    const { folder, now } = this.#options;
    for (const entry of await entriesOf(folder)) {
      if (!entry.startsWith(UNFINISHED)) continue;
      const path = join(folder, entry);
      const mtimeMs = await stat(path).then(
        (found) => found.mtimeMs,
        () => Infinity, // renamed meanwhile
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
