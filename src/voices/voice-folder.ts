// The folder of one voice: written under another name first and renamed when it
// is whole and on the disk itself, so that what bears an id is all there,
// whenever the machine went down, and belongs to one writer only.
import { readFileSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readStoredVoice, type StoredVoice, voiceId } from './stored-voice.js';

export const FACTS = 'voice.json';
export const SAMPLE = 'sample.wav';
/** Before the name of a folder that is being written, or being removed. */
export const UNFINISHED = '.unfinished-';

/** A voice is nobody else's on this machine; and on the disk before its folder gets its name. */
const WRITTEN = { flush: true, mode: 0o600 } as const;

/** Has the entries of a folder on the disk itself. */
export type SyncFolder = (folder: string) => Promise<void>;

export const syncFolder: SyncFolder = async (folder) => {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** What a folder holds changes with it; absent where there is no voice in it. */
export function markOf(path: string): string | undefined {
  try {
    const { ino, mtimeMs, size } = statSync(join(path, FACTS));
    return `${ino} ${mtimeMs} ${size}`;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? undefined : code; // whoever reads it is told the same
  }
}

/** Throws with what is wrong with it. */
export function readVoiceFolder(path: string, id: string): StoredVoice {
  const voice = readStoredVoice(readFileSync(join(path, FACTS), 'utf8'));
  if (voice.id !== id || voiceId(voice.name) !== id) throw new Error('it is the folder of another voice');
  if (voice.content === undefined) return voice;
  const { size } = statSync(join(path, SAMPLE));
  if (size !== voice.content.bytes)
    throw new Error(`its sample has ${size} bytes, not ${voice.content.bytes}`);
  return voice;
}

/** Rejects with ENOTEMPTY or EEXIST where the voice is there already, whoever wrote it. */
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

/** False when somebody else removed it before. One step for the voice, as many as it takes for its files. */
export async function removeVoiceFolder(folder: string, id: string, sync: SyncFolder): Promise<boolean> {
  // Where a folder may be renamed to: an empty one of this removal's own.
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
