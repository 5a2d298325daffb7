// Opens the call programs of the server: the programs of IVR_FILE and TwiML documents, with the doors that
// write them.
import { createReadStream } from 'node:fs';
import { type IvrConfig, mayConnect, type ProgramSource } from '../config/ivr-config.js';
import { UNHURRIED } from '../engines/engine.js';
import { ParleyError } from '../errors.js';
import type { OpenDoor } from '../ivr/door.js';
import { EXAMPLE_PROGRAMS } from '../ivr/example-program.js';
import { fileDoor } from '../ivr/file-door.js';
import { ProgramFile } from '../ivr/program-file.js';
import { programJoining, type ProgramJoiningParts } from '../ivr/program-joining.js';
import { Programs, type ProgramsParts } from '../ivr/programs.js';
import type { PhoneCalls } from '../call/phone-calls.js';
import type { TranscribeRecording } from '../ivr/scene.js';
import type { Recordings } from '../recording/recordings.js';
import type { VoiceActivity } from '../transcribing/live-transcription.js';
import type { Transcribing } from '../transcribing/open-transcribing.js';
import type { PlayedSounds } from '../voices/references.js';
import type { SoundLibrary } from '../voices/sound-library.js';
import type { FollowedCallParts } from './twilio/followed-call.js';
import { RestCalls } from './twilio/rest-calls.js';
import { programTalks, type ProgramTalksParts } from './program-talks.js';
import { DocumentFetcher } from './twiml/document-fetch.js';
import { DocumentSounds } from './twiml/document-sounds.js';
import { twimlAccounts } from './twiml/sids.js';
import { openTwimlDoor } from './twiml/twiml-door.js';

/** For a recording of two minutes, in a queue behind others. */
const TRANSCRIBE_MS = 10 * 60_000;

export interface OpenProgramsParts extends Omit<
  ProgramsParts & ProgramTalksParts,
  'doorOf' | 'transcribe' | 'joining' | 'talks' | 'left'
> {
  readonly joining: ProgramJoiningParts;
  /** All calls, for the REST API. */
  readonly listedCalls: () => PhoneCalls;
  readonly openCalls: ProgramsParts['openCalls'] & FollowedCallParts['openCalls'];
  /** Undefined: this server records no calls. */
  readonly recorded: FollowedCallParts['recorded'];
  /** Milliseconds since 1970. */
  readonly unixMs: () => number;
  /** Address of the listener. */
  readonly ownUrl: () => string;
  /** Absent: this server records no calls. */
  readonly recordings: Pick<Recordings, 'folder'> | undefined;
  readonly transcribing: Pick<Transcribing, 'serve'>;
  readonly hearing: VoiceActivity;
  readonly config: IvrConfig;
  readonly library: Pick<SoundLibrary, 'sound'>;
  /** Decodes the sounds of documents. */
  readonly sounds: Pick<PlayedSounds, 'read'>;
  readonly mostSoundBytes: number;
  /** See twimlAccounts. */
  readonly keyOf: Parameters<typeof twimlAccounts>[0]['keyOf'];
  /** Closed in reverse order. */
  readonly closing: { add(step: () => void | Promise<void>): void };
}

/** Rejects with CONFIG_INVALID for a file with mistakes. */
export async function openPrograms(
  parts: OpenProgramsParts,
): Promise<{ readonly programs: Programs; readonly restCalls: RestCalls }> {
  const { config, library, closing, log, time, mostSoundBytes } = parts;
  const file = config.file === undefined ? undefined : new ProgramFile(config.file, log);
  if (file !== undefined) closing.add(() => file.close());
  await file?.open();
  const ofFile = {
    programs: () => file?.programs ?? EXAMPLE_PROGRAMS,
    sound: (name: string) => library.sound(name, 'play'),
  };
  const fetcher = new DocumentFetcher({ config, mostSoundBytes, time });
  closing.add(() => fetcher.close());
  const sounds = new DocumentSounds(parts.sounds);
  const baseUrl = () => config.publicUrl ?? parts.ownUrl();
  const accountOf = twimlAccounts({ ...config, keyOf: parts.keyOf });
  const ofDocuments = { fetcher, sounds, accountOf, baseUrl, time };
  const doorOf = (source: ProgramSource): OpenDoor | string => {
    if (source.kind === 'program') return fileDoor(source.name, ofFile);
    const url = source.kind === 'document' ? undefined : source.url;
    const problem = [url, source.fallback?.at].map((at) => at && problemOfUrl(at, config)).find(Boolean);
    return problem ?? openTwimlDoor(source, ofDocuments);
  };
  const joining = programJoining(parts.joining);
  const left = (call: string) => programs.conductsAgain(call);
  const talks = programTalks({ ...parts, left });
  const programs: Programs = new Programs({
    ...parts,
    joining,
    doorOf,
    transcribe: recordingTexts(parts),
    talks,
  });
  const restCalls = new RestCalls({ ...parts, calls: parts.listedCalls, programs, fetcher, accountOf });
  closing.add(() => restCalls.close());
  return { programs, restCalls };
}

/** The texts of recordings, by the recogniser of files. */
function recordingTexts(parts: OpenProgramsParts): TranscribeRecording {
  const { recordings, transcribing, hearing, time } = parts;
  const transcriber = transcribing.serve(hearing).transcription?.transcriber;
  if (transcriber === undefined || recordings === undefined) return undefined;
  return async (name) => {
    const path = await recordings.folder.fileOf(name);
    if (path === undefined) throw new ParleyError('NOT_FOUND', 'the recording is gone');
    const given = new AbortController();
    const cancelLimit = time.after(TRANSCRIBE_MS, () => given.abort());
    const pieces: string[] = [];
    const request = { times: 'shared', isTimed: false, urgency: UNHURRIED } as const;
    try {
      const upload = createReadStream(path);
      await transcriber.transcribe({ ...request, upload }, given.signal, ({ text }) => pieces.push(text));
    } finally {
      cancelLimit();
    }
    return pieces
      .map((piece) => piece.trim())
      .join(' ')
      .trim();
  };
}

/** Documents of other hosts are refused before there is a call. */
function problemOfUrl(url: string, config: IvrConfig): string | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed !== undefined && mayConnect(config, parsed)) return undefined;
  const host = JSON.stringify((parsed?.host ?? url).slice(0, 100));
  return `the document must be at an allowed host, and ${host} is none; IVR_ALLOWED_HOSTS lists those that are`;
}
