// `parley pull NAME`: fetches a published checkpoint into the Hugging Face cache, where the server finds it.
import { parseArgs } from 'node:util';
import { readHubConfig } from '../config/hub-config.js';
import {
  type Credit,
  MOONSHINE_CREDIT,
  MOONSHINE_MODELS,
  moonshineBytes,
  type MoonshineModel,
  TURN_MODELS,
  type TurnModel,
} from '../config/onnx-catalog.js';
import { type PocketModel, pocketModelNamed } from '../config/pocket-catalog.js';
import { asParleyError, isAborted, ParleyError } from '../errors.js';
import type { Time } from '../time.js';
import { type Disk, DISK } from './blob-download.js';
import { type HubModel, type Kind, knownNames, MAIN, modelNamed, SETS } from './catalog.js';
import { kindOf } from './checkpoint-facts.js';
import { megabytes, ProgressLine } from './pull-progress.js';
import { creditLine, planMoonshine, planTurn } from './pull-onnx.js';
import { planPocket, pocketNotice, voicesAsked } from './pull-pocket.js';
import { checkSpaceFor, fetchPlanned, type Plan, type Pulled, pull, type PullOptions } from './pull.js';
import type { Fetch } from './retrying-http.js';

export const PULL_USAGE = 'parley pull NAME[@REVISION] [--voices all|NAME,...]';

export const PULL_HELP = `${PULL_USAGE}
NAME is owner/name on the hub, or one of: ${knownNames()}.
light stands for ${(SETS.light ?? []).join(', ')}: speech and hearing in English on a CPU.
--voices: of a Pocket TTS model, all its voices, or these besides the first four.
HF_TOKEN is sent to the hub; HF_ENDPOINT is the address of another hub, and MOONSHINE_ENDPOINT that of another
server with models of Moonshine; HF_HOME is the folder of the cache.`;
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
  /** A parameter for tests: nobody may publish weights with the pinned checksums. */
  readonly catalog?: OnnxCatalog;
}

interface OnnxCatalog {
  readonly moonshine: readonly MoonshineModel[];
  readonly turn: readonly TurnModel[];
}

const CATALOG: OnnxCatalog = { moonshine: MOONSHINE_MODELS, turn: TURN_MODELS };

/** Returns the exit status. */
export async function pullCommand(
  args: readonly string[],
  env: Environment,
  output: CommandOutput,
  { time, signal, fetch = globalThis.fetch, disk = DISK, catalog = CATALOG }: PullSurroundings,
): Promise<number> {
  let asked: Asked;
  try {
    asked = askedIn(args);
  } catch (error) {
    output.err(`parley: ${(error as Error).message}\nusage: ${PULL_HELP}\n`);
    return USAGE_STATUS;
  }
  const progress = new ProgressLine({ write: output.err, columns: output.columns }, time);
  const onRetry = (why: string, pauseMs: number) =>
    progress.note(`${why}; another try in ${Math.ceil(pauseMs / 1000)} s`);
  const { cache, ...hub } = readHubConfig(env);
  try {
    const network = { ...hub, time, signal, fetch, onRetry };
    const result = await resultOfPull(asked, { ...network, cache, disk, progress, catalog });
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
  readonly moonshineEndpoint: string;
  readonly catalog: OnnxCatalog;
}

/** A model whose files are pinned. */
interface Pinned {
  readonly name: string;
  /** Lines to show before the download. */
  readonly notice: readonly string[];
  /** Of the download; of some models, about. */
  readonly bytes: number;
  /** Asks the servers for what is to be fetched. */
  plan(): Plan | Promise<Plan>;
}

const COMMIT = /^[0-9a-f]{40}$/;

/** Returns the text of the result. */
async function resultOfPull({ name, voices }: Asked, options: Pulling): Promise<string> {
  const [first = '', ...revision] = name.split('@');
  const set = SETS[first.toLowerCase()];
  const pinned = (set ?? [first]).flatMap((one) => pinnedModel(one, voices, options) ?? []);
  const hasVoices = set !== undefined || pocketModelNamed(first) !== undefined;
  if (voices !== undefined && !hasVoices)
    throw invalid('--voices', `has no effect on ${name}: only models of Pocket TTS have voices`);
  if (pinned.length === 0) {
    const model = modelNamed(name);
    const pulled = await pull(model, options);
    return resultOf(model, pulled, await kindOf(pulled.snapshot));
  }
  if (revision.length > 0) throw invalid('NAME', `of ${first} has no @REVISION: its commits are fixed`);
  if (set !== undefined) options.progress.note(sizesOf(first.toLowerCase(), pinned));
  for (const line of pinned.flatMap(({ notice }) => notice)) options.progress.note(line);
  return `${await completed(pinned, options)}Start with it: npm start\n`;
}

/** Fetches all models. The disk must have space for them together before the first byte. */
async function completed(models: readonly Pinned[], options: Pulling): Promise<string> {
  const planned: { readonly name: string; readonly plan: Plan }[] = [];
  for (const model of models) planned.push({ name: model.name, plan: await model.plan() });
  await checkSpaceFor(
    planned.map(({ plan }) => plan),
    options,
  );
  const lines: string[] = [];
  for (const { name, plan } of planned) {
    const { commit, snapshot, bytes } = await fetchPlanned(plan, options);
    const shown = COMMIT.test(commit) ? commit.slice(0, 12) : commit;
    lines.push(`${name} (${shown}, ${megabytes(bytes)}) is complete: ${snapshot}\n`);
  }
  return lines.join('');
}

/** Undefined for a name that is not in a catalogue of pinned models. */
function pinnedModel(text: string, voices: string | undefined, options: Pulling): Pinned | undefined {
  const name = text.toLowerCase();
  const { catalog, moonshineEndpoint } = options;
  const pocket = pocketModelNamed(name);
  if (pocket !== undefined) return pinnedPocket(pocket, voices, options);
  const moonshine = catalog.moonshine.find((model) => model.name === name);
  if (moonshine !== undefined) {
    const bytes = moonshineBytes(moonshine);
    const plan = () => planMoonshine(moonshine, moonshineEndpoint, options);
    return { name, notice: noticeOf(name, MOONSHINE_CREDIT), bytes, plan };
  }
  const turn = catalog.turn.find((model) => model.name === name);
  if (turn === undefined) return undefined;
  return {
    name,
    notice: noticeOf(name, turn.credit),
    bytes: turn.bytes,
    plan: () => planTurn(turn, options),
  };
}

function pinnedPocket(model: PocketModel, voices: string | undefined, options: Pulling): Pinned {
  const { name, weightBytes, voiceBytes } = model;
  const chosen = voicesAsked(model, voices);
  const bytes = weightBytes + chosen.length * voiceBytes;
  return {
    name,
    notice: pocketNotice(model, chosen),
    bytes,
    plan: () => planPocket(model, chosen, options),
  };
}

function noticeOf(name: string, credit: Credit): readonly string[] {
  return [`${name}: ${creditLine(credit)}`];
}

/** The size of a set before its first download. */
function sizesOf(set: string, pinned: readonly Pinned[]): string {
  const each = pinned.map(({ name, bytes }) => `${name} ${megabytes(bytes)}`);
  const all = pinned.reduce((sum, { bytes }) => sum + bytes, 0);
  return `${set}: about ${megabytes(all)} in all (${each.join(', ')})`;
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
