// Reads, writes and removes the folder of one voice made over HTTP.
//
// A folder is written under a temporary name, flushed, and then renamed to its id. A folder that has an id is therefore
// complete, even after a crash, and has one writer.
import { hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ParleyError } from '../errors.js';

const FACTS = 'voice.json';
export const SAMPLE = 'sample.wav';
/** Prefix of folders that are being written or removed. */
export const UNFINISHED = '.unfinished-';

/** Files are readable by the owner only, and flushed before their folder gets its final name. */
const WRITTEN = { flush: true, mode: 0o600 } as const;

/** Flushes the entries of a folder to disk. */
export type SyncFolder = (folder: string) => Promise<void>;

export const syncFolder: SyncFolder = async (folder) => {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Changes whenever the folder's content changes; undefined without a voice. */
export function markOf(path: string): string | undefined {
  try {
    const { ino, mtimeMs, size } = statSync(join(path, FACTS));
    return `${ino} ${mtimeMs} ${size}`;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? undefined : code; // reading the folder fails in the same way
  }
}

/** Throws an Error that names the defect of the folder. */
export function readVoiceFolder(path: string, id: string): StoredVoice {
  const voice = readStoredVoice(readFileSync(join(path, FACTS), 'utf8'));
  if (voice.id !== id || voiceId(voice.name) !== id) throw new Error('it is the folder of another voice');
  if (voice.content === undefined) return voice;
  const { size } = statSync(join(path, SAMPLE));
  if (size !== voice.content.bytes)
    throw new Error(`its sample has ${size} bytes, not ${voice.content.bytes}`);
  return voice;
}

/** Rejects with ENOTEMPTY or EEXIST if the voice exists already, written by any server. */
export async function writeVoiceFolder(
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
export async function removeVoiceFolder(folder: string, id: string, sync: SyncFolder): Promise<boolean> {
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

export const VOICE_ID = /^voice_[0-9a-f]{24}$/;
const ID_DIGITS = 24;
const NAME = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._()'-]{0,63}$/u;

/** The name in NFC without surrounding spaces. Throws INVALID_FIELD. */
export function checkedName(name: string): string {
  const kept = name.normalize('NFC').trim();
  if (NAME.test(kept)) return kept;
  const allowed = "of 1 to 64 letters, digits, spaces and ._()'-, with a letter or digit first";
  throw new ParleyError('INVALID_FIELD', `"name" must be a name ${allowed}`, { field: 'name' });
}

/** The form in which names are compared. */
export function nameKey(name: string): string {
  return name.normalize('NFC').trim().toLowerCase();
}

/** The id of a voice, derived from its name: the same on every server. */
export function voiceId(name: string): string {
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
