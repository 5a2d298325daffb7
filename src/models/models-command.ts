// `parley models`: lists published and cached checkpoints, the memory that each needs, and an estimate of its
// speed on this machine.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { type CheckpointConfig, readCheckpointConfig } from '../config/hub-config.js';
import { isMoonshineFolder } from '../config/moonshine-config.js';
import {
  type InCache,
  moonshineFolder,
  moonshineInCache,
  turnFile,
  turnInCache,
} from '../config/onnx-cache.js';
import {
  type Credit,
  MOONSHINE_CREDIT,
  MOONSHINE_MODELS,
  moonshineBytes,
  type MoonshineModel,
  TURN_MODELS,
  type TurnModel,
} from '../config/onnx-catalog.js';
import { type PocketInCache, pocketInCache } from '../config/pocket-cache.js';
import {
  firstPocketVoices,
  isNonCommercial,
  POCKET_CREDIT,
  POCKET_MODELS,
  type PocketModel,
  pocketVoiceNamed,
} from '../config/pocket-catalog.js';
import { asParleyError } from '../errors.js';
import { cachedRepositories, type CachedRepository, type CachedSnapshot } from './cached-models.js';
import { type Kind, PUBLISHED, type WeightNeeds } from './catalog.js';
import { kindOf, needsOf } from './checkpoint-facts.js';
import { publishedPocketNeeds } from './pocket-facts.js';
import type { CommandOutput } from './pull-command.js';
import { creditLine } from './pull-onnx.js';
import { megabytes } from './pull-progress.js';
import { measuredReadingRate, type ReadingRate } from './reading-rate.js';

export const MODELS_USAGE = 'parley models [--json]';

const USAGE = `usage: ${MODELS_USAGE}\n`;
const USAGE_STATUS = 2;
const FRAMES_PER_SECOND = 12.5; // of the voice's codec
const TOKENS_PER_SECOND = 4; // of usual speech

type LoadedAs = CheckpointConfig['loadedAs'];
type Environment = Readonly<Record<string, string | undefined>>;

/** A line of the list. */
interface Listed {
  /** The short name, owner/name, or the folder of MODEL_DIR. */
  readonly name: string;
  readonly id: string | undefined;
  readonly kind: Kind | 'turn' | undefined;
  readonly state: 'complete' | 'partial' | 'absent' | 'unusable';
  /** Why it is unusable. */
  readonly reason?: string;
  readonly commit?: string;
  readonly revisions?: readonly string[];
  readonly folder?: string;
  /** On the disk; of an absent one, the bytes to fetch. */
  readonly bytes: number;
  readonly needs: WeightNeeds | undefined;
  /** Voices that are there; of an absent one, those to fetch. */
  readonly voices?: readonly string[];
  /** Of an ONNX model. */
  readonly credit?: Credit;
}

/** Returns the exit status. */
export async function modelsCommand(
  args: readonly string[],
  env: Environment,
  output: CommandOutput,
  measure: () => Promise<ReadingRate> = measuredReadingRate,
): Promise<number> {
  let isJson: boolean;
  try {
    isJson = isJsonAsked(args);
  } catch (error) {
    output.err(`parley: ${(error as Error).message}\n${USAGE}`);
    return USAGE_STATUS;
  }
  try {
    const { cache, folders, loadedAs } = readCheckpointConfig(env);
    const listed = [
      ...(await listedInCache(cache, loadedAs)),
      ...(await Promise.all(folders.map((folder) => listedFolder(folder, loadedAs)))),
    ];
    const rate = await measure();
    output.out(isJson ? asJson(listed, rate) : asTable(listed, { cache, rate, loadedAs }));
    return 0;
  } catch (error) {
    output.err(`parley: ${asParleyError(error, 'MALFORMED').message}\n`);
    return 1;
  }
}

function isJsonAsked(args: readonly string[]): boolean {
  const { values } = parseArgs({ args: [...args], options: { json: { type: 'boolean' } } });
  return values.json === true;
}

/** Published models first, then the other repositories of the cache that an engine could read. */
async function listedInCache(cache: string, loadedAs: LoadedAs): Promise<readonly Listed[]> {
  const repositories = await cachedRepositories(cache);
  const published = PUBLISHED.map(async ({ name, id, kind, published: figures }) => {
    const repository = repositories.find((one) => one.id === id);
    const found = repository === undefined ? [] : await listedRepository(repository, name, loadedAs);
    if (found.length > 0) return found;
    const { downloadBytes: bytes, needs } = figures;
    return [{ name, id, kind, state: 'absent', bytes, needs } as const];
  });
  const pockets = POCKET_MODELS.map(async (model) => [
    await listedPocket(model, { cache, repositories, loadedAs }),
  ]);
  const isListed = (id: string) =>
    PUBLISHED.some((one) => one.id === id) ||
    TURN_MODELS.some((one) => one.id === id) ||
    POCKET_MODELS.some(({ weights, voices }) => weights.id === id || voices.id === id);
  const moonshine = MOONSHINE_MODELS.map((model) => listedMoonshine(cache, model));
  const turns = TURN_MODELS.map((model) => listedTurn(cache, model));
  const others = repositories
    .filter(({ id }) => !isListed(id))
    .map(async (repository) => await listedRepository(repository, repository.id, loadedAs));
  const pinned = (await Promise.all([...published, ...pockets])).flat();
  return [...pinned, ...moonshine, ...turns, ...(await Promise.all(others)).flat()];
}

/** Bytes of the five sessions of a worker, measured. Medium was not measured. */
const SESSION_BYTES = { tiny: 107e6, small: 270e6, medium: undefined };

function listedMoonshine(cache: string, model: MoonshineModel): Listed {
  const { name, size, revision } = model;
  const memoryBytes = SESSION_BYTES[size];
  const needs = memoryBytes === undefined ? undefined : { memoryBytes, stepBytes: undefined };
  const line = { name, id: undefined, kind: 'recogniser', needs, credit: MOONSHINE_CREDIT } as const;
  const found = moonshineInCache(cache, model);
  if (found.state === 'absent') return { ...line, state: 'absent', bytes: moonshineBytes(model) };
  return { ...line, ...pinnedState(found, revision, moonshineFolder(cache, model)) };
}

function listedTurn(cache: string, model: TurnModel): Listed {
  const { name, id, commit, credit } = model;
  const line = { name, id, kind: 'turn', needs: undefined, credit } as const;
  const found = turnInCache(cache, model);
  if (found.state === 'absent') return { ...line, state: 'absent', bytes: model.bytes };
  return { ...line, ...pinnedState(found, commit, dirname(turnFile(cache, model))) };
}

/** The columns of a model that is not absent. */
function pinnedState({ state, bytes }: InCache, commit: string, folder: string) {
  if (state !== 'broken')
    return { state: state === 'complete' ? 'complete' : 'partial', bytes, commit, folder } as const;
  const reason = 'a file is missing or has another size; the same pull mends it';
  return { state: 'unusable', reason, bytes, commit, folder } as const;
}

interface Cached {
  readonly cache: string;
  readonly repositories: readonly CachedRepository[];
  readonly loadedAs: LoadedAs;
}

async function listedPocket(model: PocketModel, { cache, repositories, loadedAs }: Cached): Promise<Listed> {
  const found = pocketInCache(cache, model);
  const { name, weights, isGated: clones } = model;
  const needs = publishedPocketNeeds(model.layers, clones);
  const line = { name, id: weights.id, kind: 'voice', needs } as const;
  if (found.state === 'complete' || found.state === 'broken') {
    const place = { commit: weights.revision, folder: found.folder, bytes: found.bytes };
    const unusable = (reason: string) => ({ state: 'unusable', reason, needs: undefined }) as const;
    const facts =
      found.state === 'broken'
        ? unusable('a link of its folder leads nowhere; the same pull mends it')
        : ((await factsOf(found.folder, loadedAs)) ?? unusable('its weights are no Pocket TTS model'));
    return { ...line, ...place, voices: found.voices, ...facts, kind: line.kind };
  }
  return { ...line, ...whatIsMissing(model, found, repositories) };
}

/** Partial files do not tell which model of their repository they belong to: each shows all of them. */
function whatIsMissing(
  { language, weights, weightBytes, voiceBytes }: PocketModel,
  { state, bytes }: PocketInCache,
  repositories: readonly CachedRepository[],
): Pick<Listed, 'state' | 'bytes' | 'voices'> {
  const voices = firstPocketVoices(language);
  if (state === 'absent') return { state, bytes: weightBytes + voices.length * voiceBytes, voices };
  const partialBytes = repositories.find(({ id }) => id === weights.id)?.partialBytes ?? 0;
  return { state: 'partial', bytes: bytes + partialBytes, voices };
}

/** A line for each snapshot, and one for partial files without a snapshot. */
async function listedRepository(
  { id, snapshots, partialBytes }: CachedRepository,
  name: string,
  loadedAs: LoadedAs,
): Promise<readonly Listed[]> {
  const listed = await Promise.all(
    snapshots.map(async (snapshot) => await listedSnapshot(snapshot, { name, id }, loadedAs)),
  );
  const known = listed.filter((one) => one !== undefined);
  const published = PUBLISHED.find((one) => one.id === id);
  if (known.length > 0 || partialBytes === 0) return known;
  const needs = published?.published.needs;
  return [{ name, id, kind: published?.kind, state: 'partial', bytes: partialBytes, needs }];
}

interface Named {
  readonly name: string;
  readonly id: string | undefined;
}

/** Undefined for a model of another kind than Parley's engines read. */
async function listedSnapshot(
  { folder, commit, revisions, bytes, isBroken }: CachedSnapshot,
  named: Named,
  loadedAs: LoadedAs,
): Promise<Listed | undefined> {
  const facts = await factsOf(folder, loadedAs);
  if (facts === undefined) return undefined;
  const place = { commit, revisions, folder, bytes };
  if (!isBroken) return { ...named, ...facts, ...place };
  return { ...named, ...facts, ...place, state: 'unusable', reason: 'a link of the snapshot leads nowhere' };
}

async function listedFolder(folder: string, loadedAs: LoadedAs): Promise<Listed> {
  const named = { name: folder, id: undefined, folder, bytes: 0 };
  if (isMoonshineFolder(folder)) return { ...named, kind: 'recogniser', state: 'complete', needs: undefined };
  const reason = existsSync(join(folder, 'config.json')) ? 'no model that Parley reads' : 'no config.json';
  const unusable = { kind: undefined, state: 'unusable', reason, needs: undefined } as const;
  return { ...named, ...((await factsOf(folder, loadedAs)) ?? unusable) };
}

type Facts = Pick<Listed, 'kind' | 'state' | 'reason' | 'needs'>;

async function factsOf(folder: string, loadedAs: LoadedAs): Promise<Facts | undefined> {
  let kind: Kind | undefined;
  try {
    kind = await kindOf(folder);
    if (kind === undefined) return undefined;
    return { kind, state: 'complete', needs: await needsOf(folder, kind, loadedAs) };
  } catch (error) {
    const reason = asParleyError(error, 'MALFORMED').message;
    return { kind, state: 'unusable', reason, needs: undefined };
  }
}

/**
 * Seconds of audio in a second of work, for one stream on the CPU that only reads its weights. Arithmetic
 * takes time as well, so this is an upper limit.
 */
function mostSpeed({ kind, needs }: Listed, { bytesPerSecond }: ReadingRate): number | undefined {
  if (needs?.stepBytes === undefined) return undefined;
  const stepsPerSecond = kind === 'voice' ? FRAMES_PER_SECOND : TOKENS_PER_SECOND;
  return bytesPerSecond / (needs.stepBytes * stepsPerSecond);
}

/** The JSON of --json. Its field names are public: they do not follow those of the code. */
function asJson(listed: readonly Listed[], rate: ReadingRate): string {
  const models = listed.map((one) => ({
    name: one.name,
    id: one.id,
    kind: one.kind,
    state: one.state,
    reason: one.reason,
    revision: one.commit,
    refs: one.revisions,
    folder: one.folder,
    bytes: one.bytes,
    memoryBytes: one.needs?.memoryBytes,
    realTimeFactorAtMost: mostSpeed(one, rate),
    ...(one.voices === undefined ? {} : rightsOf(one.voices)),
    ...(one.credit === undefined ? {} : { credit: one.credit.credit, licence: one.credit.licence }),
  }));
  const reading = { bytesPerSecond: Math.round(rate.bytesPerSecond), threads: rate.threads };
  return `${JSON.stringify({ models, reading }, undefined, 2)}\n`;
}

/** Only models of Pocket TTS have voices with licences of their own. */
function rightsOf(names: readonly string[]) {
  const { credit, authors, licence } = POCKET_CREDIT;
  const voices = names.map((name) => ({ name, licence: pocketVoiceNamed(name)?.licence }));
  return { credit, authors, licence, voices };
}

interface Circumstances {
  readonly cache: string;
  readonly rate: ReadingRate;
  readonly loadedAs: LoadedAs;
}

const HEAD = ['name', 'kind', 'state', 'revision', 'disk', 'memory', 'speed on this CPU'];

function asTable(listed: readonly Listed[], { cache, rate, loadedAs }: Circumstances): string {
  const rows = [HEAD, ...listed.map((one) => cellsOf(one, rate))];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const reasons = listed.flatMap(({ name, reason }) => (reason === undefined ? [] : [`${name}: ${reason}`]));
  return `${[
    ...lines,
    ...reasons,
    '',
    `Cache: ${cache}. Fetch an absent or partial model with: npm run parley -- pull NAME`,
    `Memory: the weights as loaded (QUANTIZE=${loadedAs.quantize}), without streams. Models that are not complete show`,
    'published figures (QUANTIZE=none).',
    `Speed: an upper limit for one stream. ${rate.threads} threads read ${(rate.bytesPerSecond / 1e9).toFixed(1)} GB/s of memory now. A voice reads its`,
    `weights for each of ${FRAMES_PER_SECOND} frames of a second of audio, a recogniser for each of about ${TOKENS_PER_SECOND} tokens. Arithmetic`,
    'takes time as well: for an aligner and for ONNX models it is all. A GPU is not considered.',
    `Models pocket-*: ${POCKET_CREDIT.credit} (${POCKET_CREDIT.authors}),`,
    `${POCKET_CREDIT.licence} (${POCKET_CREDIT.link}). Voices: ${voiceRights(listed)}`,
    `Models moonshine-*: ${creditLine(MOONSHINE_CREDIT)}`,
    ...TURN_MODELS.map(({ name, credit }) => `Model ${name}: ${creditLine(credit)}`),
  ].join('\n')}\n`;
}

function cellsOf(one: Listed, rate: ReadingRate): readonly string[] {
  const speed = mostSpeed(one, rate);
  const revision = one.revisions?.length === 0 ? 'no reference' : (one.revisions?.join(', ') ?? 'pinned');
  return [
    one.name,
    one.kind ?? 'unknown',
    one.state,
    one.commit === undefined ? '-' : `${shortRevision(one.commit)} (${revision})`,
    one.state === 'absent' ? `${megabytes(one.bytes)} to fetch` : one.bytes > 0 ? megabytes(one.bytes) : '-',
    one.needs === undefined ? '-' : megabytes(one.needs.memoryBytes),
    speed === undefined ? '-' : `at most ${speed.toFixed(speed < 10 ? 1 : 0)} x real time`,
  ];
}

/** The first digits of a commit; the whole of another revision. */
function shortRevision(revision: string): string {
  return /^[0-9a-f]{40}$/.test(revision) ? revision.slice(0, 12) : revision;
}

/** The voices of the list by the licence of their recordings. */
function voiceRights(listed: readonly Listed[]): string {
  const names = [...new Set(listed.flatMap(({ voices }) => voices ?? []))].toSorted();
  const licenceOf = (name: string) => {
    const voice = pocketVoiceNamed(name);
    if (voice === undefined) return 'unknown';
    return isNonCommercial(voice) ? `${voice.licence}, needs POCKET_NONCOMMERCIAL=1` : voice.licence;
  };
  return `${names.map((name) => `${name} (${licenceOf(name)})`).join(', ')}.`;
}
