// Reads the variables of the native speech engine: its checkpoint, its device, and the processors it uses. A
// checkpoint is a folder or a model in the Hugging Face cache. Nothing is downloaded here.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, homedir } from 'node:os';
import { join } from 'node:path';
import type { ConfigReader, Environment, MemoryLimit } from './environment.js';
import type { Variable } from './variables.js';

export interface ModelConfig {
  /** Folder of a checkpoint; undefined: no native engine. */
  readonly directory: string | undefined;
  readonly quantize: 'none' | 'int8' | 'int8-talker' | 'fp8';
  /** Undefined: f32 on a processor, bf16 on a GPU. */
  readonly codecFormat: 'f32' | 'f16' | 'bf16' | undefined;
  /** `auto`, `cpu`, `cuda` or `cuda:1`. */
  readonly device: string;
  readonly cudaGraphs: boolean;
  /** On a GPU: activations keep 16 bits against weights of bf16 or 8 bits, as on the processor. */
  readonly fullVectors: boolean;
  /** Memory of the voice, with its weights; undefined: from what is free on the device. */
  readonly memory: MemoryLimit | undefined;
  readonly threads: number;
  /** Empty: the system chooses. */
  readonly cores: readonly number[];
  /** Node whose memory is preferred; undefined: the system chooses. */
  readonly numaNode: number | undefined;
  readonly maxStreams: number;
  /** Streams in one step of the model; 0: all. */
  readonly maxBatch: number;
  /** Most codec frames of a sentence whose request sets no limit; 0: from the length of its text. */
  readonly maxNewTokens: number;
  /** Text of one generation: a sentence, or all of an utterance that can be spoken together. */
  readonly continuity: 'sentence' | 'utterance';
}

type Reader = ConfigReader<Variable>;

/** Files in which Linux lists NUMA nodes and allowed processors; parameters for tests. */
export interface MachineFiles {
  /** Folder with node0, node1, ... */
  readonly nodes: string;
  /** File with the line Cpus_allowed_list. */
  readonly status: string;
}

export const LINUX: MachineFiles = { nodes: '/sys/devices/system/node', status: '/proc/self/status' };

const HUB_ID = /^[\w-][\w.-]*\/[\w-][\w.-]*$/; // ORG/NAME
const PATH = /^(?:\/|\.\.?\/|~\/)/;
const REVISION = /^[\w-]+$/; // a commit; nothing that leads elsewhere

const MOST_CORES = 1024;
const MOST_THREADS = 256;
const MOST_TOKENS = 65_536;

interface Surroundings {
  readonly engine: string | undefined;
  /** Variables that locate the Hugging Face cache. */
  readonly env: Environment;
  readonly machine: MachineFiles;
}

export function readModelConfig(read: Reader, { engine, env, machine }: Surroundings): ModelConfig {
  const named = readCores(read);
  const numaNode = readNode(read, machine);
  const near = numaNode === undefined ? undefined : coresOfNode(numaNode, machine, MOST_CORES);
  const usable = named.length > 0 ? named : near;
  const most = usable?.length ?? availableParallelism();
  const threads = read.integer('INFERENCE_THREADS', Math.min(most, MOST_THREADS) || 1, 1, MOST_THREADS);
  if (numaNode !== undefined && near !== undefined) checkNode(read, { numaNode, near, named, threads });
  return {
    directory: readDirectory(read, engine, env),
    quantize: read.choice('QUANTIZE', ['none', 'int8', 'int8-talker', 'fp8'], 'none'),
    codecFormat: readCodecFormat(read),
    device: readDevice(read),
    cudaGraphs: read.flag('CUDA_GRAPHS', true),
    fullVectors: read.flag('FULL_VECTORS'),
    memory: read.memory('SPEECH_MEMORY'),
    threads,
    // The first ones of a node: Linux numbers the second threads of its cores last.
    cores: named.length > 0 ? named : (near ?? []).slice(0, threads),
    numaNode,
    maxStreams: read.integer('MAX_STREAMS', 32, 1, 4096),
    maxBatch: read.integer('MAX_BATCH', 0, 0, 4096),
    continuity: read.choice('CONTINUITY', ['sentence', 'utterance'], 'sentence'),
    maxNewTokens: read.integer('MAX_NEW_TOKENS', 0, 0, MOST_TOKENS),
  };
}

/** MODEL_DIR; otherwise the checkpoint that MODEL_ID names, if there is one. */
function readDirectory(read: Reader, engine: string | undefined, env: Environment): string | undefined {
  const isNeeded = engine === 'qwen3';
  return findCheckpoint(read, { directory: 'MODEL_DIR', id: 'MODEL_ID', env, mayBeName: !isNeeded });
}

interface CheckpointVariables {
  readonly directory: Variable;
  readonly id: Variable;
  /** Variables that locate the Hugging Face cache. */
  readonly env: Environment;
  /** The id may be a name without a checkpoint. */
  readonly mayBeName?: boolean;
  /** A name that the hub has; absent: any other text may be a name. */
  readonly example?: string;
}

/** The folder of one variable, or the checkpoint that the other one names: a folder, or in the cache. */
export function findCheckpoint(read: Reader, variables: CheckpointVariables): string | undefined {
  const { directory: folder, id: name, env, mayBeName = false, example } = variables;
  const [directory, id] = [read.raw(folder), read.raw(name)];
  if (directory !== undefined || id === undefined) return directory;
  try {
    const found = checkpointNamed(id, env);
    if (found !== undefined) return found;
    if (isPath(id)) {
      read.problem(name, `must be a name or the folder of a checkpoint: there is no ${id}/config.json`);
    } else if (!mayBeName && isHubId(id)) read.problem(name, notInCache(id, env));
    else if (example !== undefined) read.problem(name, `must be a folder, or a name such as ${example}`);
  } catch (error) {
    read.problem(name, `cannot be looked for: ${(error as Error).message}`);
  }
  return undefined;
}

function notInCache(id: string, env: Environment): string {
  return `names a checkpoint that is not in ${repositoryFolder(hubCache(env), id)}; fetch it with: npm run parley -- pull ${id}`;
}

/**
 * The warning for a MODEL_ID that is only a name, though it names a checkpoint which an engine could speak
 * with.
 */
export function modelNotice({ directory }: ModelConfig, env: Environment): string | undefined {
  const [id, engine] = [env.MODEL_ID?.trim(), env.ENGINE?.trim().toLowerCase()];
  const isWanted = engine === undefined || engine === '' || engine === 'auto';
  if (directory !== undefined || id === undefined || !isHubId(id) || isPath(id) || !isWanted)
    return undefined;
  return `MODEL_ID ${notInCache(id, env)}`;
}

function readCodecFormat(read: Reader): ModelConfig['codecFormat'] {
  if (read.raw('CODEC_FORMAT') === undefined) return undefined;
  return read.choice<'f32' | 'f16' | 'bf16'>('CODEC_FORMAT', ['f32', 'f16', 'bf16'], 'f32');
}

const DEVICE = /^(auto|cpu|cuda(:\d{1,3})?)$/;

function readDevice(read: Reader): string {
  const device = read.raw('DEVICE') ?? 'auto';
  if (DEVICE.test(device)) return device;
  read.problem('DEVICE', `must be auto, cpu, cuda or cuda:<number>, not "${device}"`);
  return 'auto';
}

/** A set of processors as Linux writes it: 0-3,6. */
function readCores(read: Reader): readonly number[] {
  const cores: number[] = [];
  for (const item of read.list('INFERENCE_CPU_CORES')) {
    const some = numbersIn(item, MOST_CORES);
    if (some === undefined) {
      read.problem('INFERENCE_CPU_CORES', `must be cores such as 0-3,6, below ${MOST_CORES}, not "${item}"`);
      return [];
    }
    cores.push(...some);
  }
  return [...new Set(cores)];
}

/** Undefined if none is named, or the machine does not have it. */
function readNode(read: Reader, machine: MachineFiles): number | undefined {
  if (read.raw('INFERENCE_NUMA_NODE') === undefined) return undefined;
  const node = read.integer('INFERENCE_NUMA_NODE', 0, 0, MOST_CORES - 1);
  const nodes = numaNodes(machine);
  if (nodes.includes(node)) return node;
  const there = nodes.length === 0 ? 'which does not tell of any' : `which has ${nodes.join(', ')}`;
  read.problem('INFERENCE_NUMA_NODE', `must be a NUMA node of this machine, ${there}, not ${node}`);
  return undefined;
}

interface NodeUse {
  readonly numaNode: number;
  /** Cores of the node. */
  readonly near: readonly number[];
  /** Cores of INFERENCE_CPU_CORES. */
  readonly named: readonly number[];
  readonly threads: number;
}

/** INFERENCE_CPU_CORES and INFERENCE_THREADS must fit within the chosen NUMA node. */
function checkNode(read: Reader, { numaNode, near, named, threads }: NodeUse): void {
  const away = named.filter((core) => !near.includes(core));
  if (near.length === 0) {
    read.problem(
      'INFERENCE_NUMA_NODE',
      `must be a node with cores that this process may use, not ${numaNode}`,
    );
  } else if (away.length > 0) {
    const its = `INFERENCE_NUMA_NODE=${numaNode} has: ${near.join(', ')}`;
    read.problem('INFERENCE_CPU_CORES', `must be cores that ${its}; not ${away.join(', ')}`);
  } else if (named.length === 0 && threads > near.length) {
    const its = `the cores of INFERENCE_NUMA_NODE=${numaNode}`;
    read.problem('INFERENCE_THREADS', `must be at most ${near.length}, ${its}, not ${threads}`);
  }
}

/** True for a path, which cannot be a name of the hub. */
function isPath(id: string): boolean {
  return PATH.test(id);
}

/** True for a possible name of a model on the Hugging Face hub. */
function isHubId(id: string): boolean {
  return HUB_ID.test(id);
}

/** Of Qwen3, Pocket TTS and Moonshine. */
const CHECKPOINT_FILES = ['config.json', 'tokenizer.model', 'streaming_config.json'];

/** The folder of a checkpoint: `id` itself, or its snapshot in the cache; undefined if there is neither. */
function checkpointNamed(id: string, env: Environment): string | undefined {
  const folder = expanded(id, env);
  if (CHECKPOINT_FILES.some((name) => existsSync(join(folder, name)))) return folder;
  return isHubId(id) ? snapshotOf(id, env) : undefined;
}

/** The folder of a model in the cache: refs/main has the commit, snapshots/<commit> the files as links. */
export function repositoryFolder(cache: string, id: string): string {
  return join(cache, `models--${id.replace('/', '--')}`);
}

function snapshotOf(id: string, env: Environment): string | undefined {
  const folder = repositoryFolder(hubCache(env), id);
  const reference = join(folder, 'refs', 'main');
  if (!existsSync(reference)) return undefined;
  const commit = readFileSync(reference, 'utf8').trim();
  const snapshot = join(folder, 'snapshots', commit);
  return REVISION.test(commit) && existsSync(snapshot) ? snapshot : undefined;
}

/** The cache folder, by the variables and the order of huggingface_hub. */
export function hubCache(env: Environment): string {
  const set = (name: string) => {
    const value = env[name]?.trim();
    return value === undefined || value === '' ? undefined : expanded(value, env);
  };
  const caches = set('XDG_CACHE_HOME') ?? expanded('~/.cache', env);
  const home = set('HF_HOME') ?? join(caches, 'huggingface');
  return set('HF_HUB_CACHE') ?? set('HUGGINGFACE_HUB_CACHE') ?? join(home, 'hub');
}

function expanded(path: string, env: Environment): string {
  return path.startsWith('~/') ? join(env['HOME'] ?? homedir(), path.slice(2)) : path;
}

/**
 * The numbers of a list such as 0-3,6, each once and in order; undefined for a malformed list or a number of
 * `limit` or more.
 */
function numbersIn(list: string, limit: number): readonly number[] | undefined {
  const numbers = new Set<number>();
  for (const item of list.split(',').map((one) => one.trim())) {
    const [, first, last = first] = /^(\d{1,4})(?:-(\d{1,4}))?$/.exec(item) ?? [];
    const [from, to] = [Number(first), Number(last)];
    if (!(from <= to && to < limit)) return undefined;
    for (let number = from; number <= to; number++) numbers.add(number);
  }
  return [...numbers];
}

/** Numbers of the nodes; empty if the system does not list them. */
export function numaNodes({ nodes }: MachineFiles): readonly number[] {
  if (!existsSync(nodes)) return [];
  const found = readdirSync(nodes).flatMap((name) => /^node(\d+)$/.exec(name)?.[1] ?? []);
  return found.map(Number).toSorted((a, b) => a - b);
}

/** The cores of a node that this process may use. */
function coresOfNode(node: number, { nodes, status }: MachineFiles, limit: number): readonly number[] {
  const all = numbersIn(readFileSync(join(nodes, `node${node}`, 'cpulist'), 'utf8'), limit) ?? [];
  const list = existsSync(status) ? /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync(status, 'utf8')) : null;
  const allowed = numbersIn(list?.[1] ?? '', limit);
  return allowed === undefined ? all : all.filter((core) => allowed.includes(core));
}
