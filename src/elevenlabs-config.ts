// The file that maps ids of ElevenLabs' voices to voices of this server, a JSON
// object: {"21m00Tcm4TlvDq8ikWAM": "slt"}.
import { readFileSync, statSync } from 'node:fs';
import type { ConfigReader } from './config-reader.js';

/** Names of voices of this server by the ids that ElevenLabs' clients send. */
export type ElevenLabsVoices = ReadonlyMap<string, string>;

/** The variable with what it means; part of VARIABLES. */
export const ELEVENLABS_VARIABLES = {
  ELEVENLABS_VOICES_FILE: "file (JSON) that maps ids of ElevenLabs' voices to voices of this server",
} as const;

type Variable = keyof typeof ELEVENLABS_VARIABLES;

const FILE = 'ELEVENLABS_VOICES_FILE';
const MOST_BYTES = 1024 * 1024;
const MOST_VOICES = 10_000;
const MOST_NAME = 200; // characters, as in requests
const ID = /^[\w-]{1,64}$/;

/** The voices of the file; empty without one. Whether this server has them is known only once its engines are open. */
export function readElevenLabsVoices(read: ConfigReader<Variable>): ElevenLabsVoices {
  const path = read.raw(FILE);
  if (path === undefined) return new Map();
  const problem = (what: string) => read.problem(FILE, `${path} ${what}`);
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

/** Undefined where the file cannot be read, or is no JSON. */
function jsonOf(path: string, problem: (what: string) => void): unknown {
  try {
    if (statSync(path).size > MOST_BYTES) {
      problem(`must have at most ${MOST_BYTES} bytes`);
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
  if (!ID.test(id)) {
    problem(`${JSON.stringify(id)} must be an id of 1 to 64 letters, digits, "-" and "_"`);
    return false;
  }
  if (typeof name === 'string' && name.trim() !== '' && name.length <= MOST_NAME) return true;
  problem(`"${id}" must be the name of a voice, of 1 to ${MOST_NAME} characters`);
  return false;
}
