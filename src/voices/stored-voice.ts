// A voice that was made over HTTP, as it is written to disk.
import { hash } from 'node:crypto';
import { ParleyError } from '../errors.js';

export type MadeVoiceKind = 'audio_sample' | 'prompt';

export interface StoredVoice {
  readonly id: string;
  readonly name: string;
  readonly kind: MadeVoiceKind;
  /** Unix seconds. */
  readonly createdAt: number;
  /** BCP 47 tag that it speaks where a request names none. */
  readonly language?: string;
  readonly description?: string;
  /** Whatever was noted about the speaker's agreement. */
  readonly consent?: string;
  /** SHA-256 of the file of the sample, and how long that is; only of samples. */
  readonly content?: { readonly hash: string; readonly bytes: number };
  /** What is said in the sample. */
  readonly text?: string;
  /** What the voice was made from; only of prompts. */
  readonly prompt?: string;
}

export const VOICE_ID = /^voice_[0-9a-f]{24}$/;
const ID_DIGITS = 24;
const NAME = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._()'-]{0,63}$/u;

/** The name as it is kept. Throws INVALID_FIELD. */
export function checkedName(name: string): string {
  const kept = name.normalize('NFC').trim();
  if (NAME.test(kept)) return kept;
  const allowed = "of 1 to 64 letters, digits, spaces and ._()'-, with a letter or digit first";
  throw new ParleyError('INVALID_FIELD', `"name" must be a name ${allowed}`, { field: 'name' });
}

/** As names are compared. */
export function nameKey(name: string): string {
  return name.normalize('NFC').trim().toLowerCase();
}

/** The id of a voice of this name: the same on every server. */
export function voiceId(name: string): string {
  return `voice_${hash('sha256', nameKey(name), 'hex').slice(0, ID_DIGITS)}`;
}

/** What a file of ours says, or throws with what is wrong with it. */
export function readStoredVoice(json: string): StoredVoice {
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
