// `parley pull NAME`: fetches a published checkpoint into the Hugging Face cache, where the server finds it.
import { parseArgs } from 'node:util';
import { readHubConfig } from '../config/hub-config.js';
import { pocketModelNamed } from '../config/pocket-catalog.js';
import { asParleyError, isAborted, ParleyError } from '../errors.js';
import type { Time } from '../time.js';
import { type Disk, DISK } from './blob-download.js';
import { type HubModel, type Kind, knownNames, MAIN, modelNamed } from './catalog.js';
import { kindOf } from './checkpoint-facts.js';
import { megabytes, ProgressLine } from './pull-progress.js';
import { pocketNotice, pullPocket, voicesAsked } from './pull-pocket.js';
import { type Pulled, pull, type PullOptions } from './pull.js';
import type { Fetch } from './retrying-http.js';

export const PULL_USAGE = 'parley pull NAME[@REVISION] [--voices all|NAME,...]';

const USAGE = `usage: ${PULL_USAGE}
NAME is owner/name on the hub, or one of: ${knownNames()}.
--voices: of a Pocket TTS model, all its voices, or these besides the first four.
HF_TOKEN is sent to the hub; HF_ENDPOINT is the address of another hub; HF_HOME is the folder of the cache.
`;
const USAGE_STATUS = 2;
const INTERRUPTED_STATUS = 130; // as a shell reports SIGINT

type Environment = Readonly<Record<string, string | undefined>>;

export interface CommandOutput {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Columns of the terminal behind `err`; undefined if it is none. */
  readonly columns: number | undefined;
}

/** The program's clock, signals, network and terminal; parameters for tests. */
export interface PullSurroundings {
  readonly time: Time;
  /** Aborts at Ctrl-C. */
  readonly signal: AbortSignal;
  readonly fetch?: Fetch;
  readonly disk?: Disk;
}

/** Returns the exit status. */
export async function pullCommand(
  args: readonly string[],
  env: Environment,
  output: CommandOutput,
  { time, signal, fetch = globalThis.fetch, disk = DISK }: PullSurroundings,
): Promise<number> {
  let asked: Asked;
  try {
    asked = askedIn(args);
  } catch (error) {
    output.err(`parley: ${(error as Error).message}\n${USAGE}`);
    return USAGE_STATUS;
  }
  const progress = new ProgressLine({ write: output.err, columns: output.columns }, time);
  const onRetry = (why: string, pauseMs: number) =>
    progress.note(`${why}; another try in ${Math.ceil(pauseMs / 1000)} s`);
  const { cache, ...hub } = readHubConfig(env);
  try {
    const result = await resultOfPull(asked, { ...hub, time, signal, fetch, onRetry, cache, disk, progress });
    progress.end();
    output.out(result);
    return 0;
  } catch (error) {
    progress.end();
    output.err(`parley: ${wordsOf(asParleyError(error, 'DOWNLOAD_FAILED'))}\n`);
    return isAborted(error) ? INTERRUPTED_STATUS : 1;
  }
}

interface Asked {
  readonly name: string;
  /** Undefined: the voices that a model begins with. */
  readonly voices: string | undefined;
}

function askedIn(args: readonly string[]): Asked {
  const options = { voices: { type: 'string' } } as const;
  const { positionals, values } = parseArgs({ args: [...args], allowPositionals: true, options });
  const [name, ...more] = positionals;
  if (name === undefined || more.length > 0) throw new Error('state one NAME');
  return { name, voices: values.voices };
}

interface Pulling extends PullOptions {
  readonly progress: ProgressLine;
}

/** Returns the text of the result. */
async function resultOfPull({ name, voices }: Asked, options: Pulling): Promise<string> {
  const [first = '', ...revision] = name.split('@');
  const pocket = pocketModelNamed(first);
  if (pocket === undefined) {
    if (voices !== undefined)
      throw invalid('--voices', `has no effect on ${name}: only models of Pocket TTS have voices`);
    const model = modelNamed(name);
    const pulled = await pull(model, options);
    return resultOf(model, pulled, await kindOf(pulled.snapshot));
  }
  if (revision.length > 0) throw invalid('NAME', `of ${first} has no @REVISION: its commits are fixed`);
  const chosen = voicesAsked(pocket, voices);
  for (const line of pocketNotice(pocket, chosen)) options.progress.note(line);
  const { commit, snapshot, bytes } = await pullPocket(pocket, chosen, options);
  const whole = `${pocket.name} (${commit.slice(0, 12)}, ${megabytes(bytes)}) is complete: ${snapshot}`;
  return `${whole}\nStart with it: npm start\n`;
}

function invalid(field: string, message: string): ParleyError {
  return new ParleyError('INVALID_FIELD', `${field} ${message}`, { field });
}

function wordsOf(error: ParleyError): string {
  return isAborted(error)
    ? 'interrupted; the partial files are kept, and the same command resumes'
    : error.message;
}

/** MODEL_ID finds the main branch only: the folder is named for another revision. */
function resultOf(model: HubModel, { commit, snapshot, bytes }: Pulled, kind: Kind | undefined): string {
  const first = `${model.id} (${commit.slice(0, 12)}, ${megabytes(bytes)}) is complete: ${snapshot}\n`;
  if (kind === undefined) return first;
  const prefix = { voice: '', recogniser: 'ASR_', aligner: 'ALIGNER_' }[kind];
  const place = model.revision === MAIN ? `ID=${model.id}` : `DIR=${snapshot}`;
  const setting = `${prefix}MODEL_${place}`;
  return `${first}Start with it: ${setting} npm start\n`;
}
