// Opens the call programs of the server: the programs of IVR_FILE and TwiML documents, with the doors that
// write them.
import { type IvrConfig, mayConnect, type ProgramSource } from '../config/ivr-config.js';
import type { OpenDoor } from '../ivr/door.js';
import { EXAMPLE_PROGRAMS } from '../ivr/example-program.js';
import { fileDoor } from '../ivr/file-door.js';
import { ProgramFile } from '../ivr/program-file.js';
import { Programs, type ProgramsParts } from '../ivr/programs.js';
import type { PhoneCalls } from '../call/phone-calls.js';
import type { PlayedSounds } from '../voices/references.js';
import type { SoundLibrary } from '../voices/sound-library.js';
import type { FollowedCallParts } from './twilio/followed-call.js';
import { RestCalls } from './twilio/rest-calls.js';
import { DocumentFetcher } from './twiml/document-fetch.js';
import { DocumentSounds } from './twiml/document-sounds.js';
import { twimlAccounts } from './twiml/sids.js';
import { openTwimlDoor } from './twiml/twiml-door.js';

export interface OpenProgramsParts extends Omit<ProgramsParts, 'doorOf'> {
  /** All calls, for the REST API. */
  readonly listedCalls: () => PhoneCalls;
  readonly openCalls: ProgramsParts['openCalls'] & FollowedCallParts['openCalls'];
  /** Milliseconds since 1970. */
  readonly unixMs: () => number;
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
  const accountOf = twimlAccounts({ ...config, keyOf: parts.keyOf });
  const ofDocuments = { fetcher, sounds, accountOf };
  const doorOf = (source: ProgramSource): OpenDoor | string => {
    if (source.kind === 'program') return fileDoor(source.name, ofFile);
    const url = source.kind === 'document' ? undefined : source.url;
    const problem = [url, source.fallback?.at].map((at) => at && problemOfUrl(at, config)).find(Boolean);
    return problem ?? openTwimlDoor(source, ofDocuments);
  };
  const programs = new Programs({ ...parts, doorOf });
  const restCalls = new RestCalls({ ...parts, calls: parts.listedCalls, programs, fetcher, accountOf });
  closing.add(() => restCalls.close());
  return { programs, restCalls };
}

/** Documents of other hosts are refused before there is a call. */
function problemOfUrl(url: string, config: IvrConfig): string | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed !== undefined && mayConnect(config, parsed)) return undefined;
  const host = JSON.stringify((parsed?.host ?? url).slice(0, 100));
  return `the document must be at an allowed host, and ${host} is none; IVR_ALLOWED_HOSTS lists those that are`;
}
