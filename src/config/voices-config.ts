// Reads the variables of voices: the default one, those that are stored, samples in requests, and the names
// of voices by the voice ids of ElevenLabs' clients. Also those of sounds and tones that calls hear.
import { readFileSync, statSync } from 'node:fs';
import type { ConfigReader } from './environment.js';
import type { Variable } from './variables.js';

/** Names of voices of this server by the voice ids that ElevenLabs' clients send. */
type ElevenLabsVoices = ReadonlyMap<string, string>;

export interface VoicesConfig {
  readonly defaultVoice: string | undefined;
  readonly elevenLabsVoices: ElevenLabsVoices;
  /** Folder of the stored voices. */
  readonly voicesDir: string;
  /** Stored voices that are kept in memory. */
  readonly voiceCacheMax: number;
  /** Bytes of the sounds that are played unchanged and kept in memory. */
  readonly soundCacheBytes: number;
  /** Folder of the sounds that calls play by name; undefined: there are none. */
  readonly soundsDir: string | undefined;
  /** The country whose tones callers hear, and whose tones are known in the sound of far ends. */
  readonly toneCountry: ToneCountry;
  /** True allows samples and sounds by URL. */
  readonly referenceUrls: boolean;
  /** Bytes of one sample. */
  readonly maxUploadBytes: number;
}

/** ISO 3166-1 codes of src/audio/country-tones.ts. */
// prettier-ignore
export const TONE_COUNTRIES = [
  'AT', 'AU', 'BR', 'CA', 'CH', 'CN', 'DE', 'ES', 'FR', 'GB', 'IN', 'IT', 'JP', 'KR', 'MX', 'NL', 'PT', 'RU', 'US',
] as const;
export type ToneCountry = (typeof TONE_COUNTRIES)[number];

type Reader = ConfigReader<Variable>;

const MOST_FILE_BYTES = 1024 * 1024;
const MOST_VOICES = 10_000;
const MOST_VOICE_NAME = 200; // characters, as in requests
const VOICE_ID = /^[\w-]{1,64}$/;

export function readVoices(read: Reader): VoicesConfig {
  return {
    defaultVoice: read.raw('DEFAULT_VOICE'),
    elevenLabsVoices: readElevenLabsVoices(read),
    voicesDir: read.raw('VOICES_DIR') ?? 'voices',
    voiceCacheMax: read.integer('VOICE_CACHE_MAX', 32, 0, 100_000),
    soundCacheBytes: read.integer('SOUND_CACHE_BYTES', 32 * 1024 * 1024, 0, 2 ** 40),
    soundsDir: read.raw('SOUNDS_DIR'),
    toneCountry: read.choice('TONE_COUNTRY', TONE_COUNTRIES, 'US'),
    referenceUrls: read.flag('REFERENCE_URLS'),
    maxUploadBytes: read.integer('MAX_UPLOAD_BYTES', 10 * 1024 * 1024, 1024, 2 ** 30),
  };
}

/**
 * Reads a JSON object such as {"21m00Tcm4TlvDq8ikWAM": "slt"}; empty without a file. Whether this server has
 * the voices is known only once its engines are open.
 */
function readElevenLabsVoices(read: Reader): ElevenLabsVoices {
  const path = read.raw('ELEVENLABS_VOICES_FILE');
  if (path === undefined) return new Map();
  const problem = (what: string) => read.problem('ELEVENLABS_VOICES_FILE', `${path} ${what}`);
  const value = jsonOf(path, problem);
  if (value === undefined) return new Map();
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    problem('must be a JSON object of ids and names of voices, such as {"21m00Tcm4TlvDq8ikWAM": "slt"}');
    return new Map();
  }
  const entries = Object.entries(value as Readonly<Record<string, unknown>>);
  if (entries.length > MOST_VOICES) {
    problem(`must have at most ${MOST_VOICES} ids, not ${entries.length}`);
    return new Map();
  }
  return new Map(entries.filter((entry) => isVoice(entry, problem)));
}

/** Undefined if the file cannot be read or is not JSON. */
function jsonOf(path: string, problem: (what: string) => void): unknown {
  try {
    if (statSync(path).size > MOST_FILE_BYTES) {
      problem(`must have at most ${MOST_FILE_BYTES} bytes`);
      return undefined;
    }
    return JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, '')) as unknown;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    problem(error instanceof SyntaxError ? `is not JSON: ${message}` : `cannot be read: ${code ?? message}`);
    return undefined;
  }
}

function isVoice(entry: [string, unknown], problem: (what: string) => void): entry is [string, string] {
  const [id, name] = entry;
  if (!VOICE_ID.test(id)) {
    problem(`${JSON.stringify(id)} must be an id of 1 to 64 letters, digits, "-" and "_"`);
    return false;
  }
  if (typeof name === 'string' && name.trim() !== '' && name.length <= MOST_VOICE_NAME) return true;
  problem(`"${id}" must be the name of a voice, of 1 to ${MOST_VOICE_NAME} characters`);
  return false;
}
