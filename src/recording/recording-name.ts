// Names the files of recordings. A name holds the start, the call, the owner and a random part, so that a
// file needs no second file that describes it:
//
//   20261118T101112123Z_call_4f0c19a5-d2b8-4e63-9c1a-0d2f6b8ae41c_93ab51c07de2f846_5f0e6b21.wav
//   start in UTC        call                                      owner            random
//
// While a recording is written, `.part` follows its name. Names are made here only. A text from outside is
// compared with the shape of a name before it reaches the file system.
import { createHash } from 'node:crypto';

export const RECORDING_FORMATS = ['wav', 'opus'] as const;
export type RecordingFormat = (typeof RECORDING_FORMATS)[number];

export interface NamedRecording {
  readonly name: string;
  readonly call: string;
  /** The tag of the owner of the call; undefined if the call belongs to every key. */
  readonly owner: string | undefined;
  /** Milliseconds since 1970. */
  readonly startedMs: number;
  readonly format: RecordingFormat;
}

interface RecordingIdentity extends Omit<NamedRecording, 'name'> {
  /** Four random bytes. */
  readonly random: Uint8Array;
}

export const UNFINISHED = '.part';

const EVERY_KEY = 'all';
const NAME =
  /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z_([a-z]{1,8}_[0-9a-f-]{1,36})_([0-9a-f]{16}|all)_[0-9a-f]{8}\.(wav|opus)$/;
const CALL = /^[a-z]{1,8}_[0-9a-f-]{1,36}$/;

/** The tag of a key's name in names of recordings. */
export function ownerTag(key: string): string {
  return digestOf(key).slice(0, 16);
}

export function recordingName(recording: RecordingIdentity): string {
  const { call, owner = EVERY_KEY, startedMs, format, random } = recording;
  // Call ids of this server have the shape. Any other id is replaced by its digest.
  const id = CALL.test(call) ? call : `call_${digestOf(call).slice(0, 32)}`;
  return `${compactTime(startedMs)}_${id}_${owner}_${Buffer.from(random).toString('hex')}.${format}`;
}

/** Undefined if the text is not the name of a recording. */
export function readRecordingName(name: string): NamedRecording | undefined {
  const [matched, year, month, day, hour, minute, second, ms, call = '', owner, format] =
    NAME.exec(name) ?? [];
  if (matched === undefined) return undefined;
  const startedMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
  if (Number.isNaN(startedMs) || !name.startsWith(compactTime(startedMs))) return undefined;
  return {
    name,
    call,
    owner: owner === EVERY_KEY ? undefined : owner,
    startedMs,
    format: format as RecordingFormat,
  };
}

/** ISO 8601 without separators, in UTC and milliseconds: names sort by it. */
function compactTime(unixMs: number): string {
  return new Date(unixMs).toISOString().replace(/[-:.]/g, '');
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
