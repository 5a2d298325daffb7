// The variables of the native speech engine: which checkpoint, and on what it computes.
import { availableParallelism } from 'node:os';
import type { ConfigReader, Environment } from './config-reader.js';
import { cacheFolderOf, checkpointNamed, isHubId, isPath } from './model-cache.js';
import { coresOfNode, type MachineFiles, numaNodes, numbersIn } from './numa-node.js';

export interface ModelConfig {
  /** Folder of a checkpoint; undefined: no native engine. */
  readonly directory: string | undefined;
  readonly quantize: 'none' | 'int8' | 'int8-talker' | 'fp8';
  /** Undefined: f32 on a processor, bf16 on a GPU. */
  readonly codecFormat: 'f32' | 'f16' | 'bf16' | undefined;
  /** What it computes on: `auto`, `cpu`, `cuda` or `cuda:1`. */
  readonly device: string;
  readonly cudaGraphs: boolean;
  /** On a GPU, shorter ways to the same sound: `auto`, `all`, `none`, or names with commas. */
  /** On a GPU: what weights of bf16 or 8 bits meet keeps 16 bits, as on the processor. */
  readonly fullVectors: boolean;
  readonly threads: number;
  /** Empty: the system chooses. */
  readonly cores: readonly number[];
  /** Whose memory is preferred; undefined: the system chooses. */
  readonly numaNode: number | undefined;
  readonly maxStreams: number;
  /** Of these in one step of the model; 0: all. */
  readonly maxBatch: number;
  /** Codec frames of a sentence that does not say it itself; 0: from the length of its text. */
  readonly maxNewTokens: number;
  /** What one generation speaks: a sentence, or all of an utterance that can be spoken together. */
  readonly continuity: 'sentence' | 'utterance';
}

/** Every variable with what it means; part of VARIABLES. */
export const MODEL_VARIABLES = {
  MODEL_ID:
    'name of the model as /v1/models lists it; where it is a folder, or a model in the Hugging Face cache, also the checkpoint',
  MODEL_DIR: 'folder of a Qwen3-TTS checkpoint, which ENGINE=auto then speaks with; goes before MODEL_ID',
  QUANTIZE:
    'weights of the native engine: none, int8, int8-talker (all but the code predictor) or fp8 (E4M3, of the same matrices as int8-talker)',
  CODEC_FORMAT: 'weights of its codec: f32, f16 or bf16; by default f32 on a processor and bf16 on a GPU',
  MAX_STREAMS: 'sentences that it speaks at once',
  MAX_BATCH: 'sentences of these in one step of the model',
  MAX_NEW_TOKENS:
    'codec frames that one sentence may have; by default from the length of its text, and 2048 where a request names it',
  CONTINUITY: 'what the native engine speaks in one breath: a sentence, or a whole utterance',
  DEVICE:
    'what the native engine computes on: auto (a GPU where one can be used), cpu, cuda, or cuda:1 for the second GPU',
  CUDA_GRAPHS: '0 runs the native engine without CUDA graphs',
  FULL_VECTORS:
    '1 keeps 16 bits of what meets weights of bf16 or 8 bits on a GPU, as the processor does; bf16 otherwise',
  INFERENCE_THREADS: 'threads of the native engine',
  INFERENCE_CPU_CORES: 'cores of the native engine, such as 0-3,6',
  INFERENCE_NUMA_NODE: 'NUMA node whose cores and memory the native engine uses',
} as const;

type Reader = ConfigReader<keyof typeof MODEL_VARIABLES>;

const MOST_CORES = 1024;
const MOST_THREADS = 256;
export const MOST_TOKENS = 65_536;

/** What the variables are read against. */
export interface Surroundings {
  readonly engine: string | undefined;
  /** Where the Hugging Face cache is. */
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

/** MODEL_DIR as it is; else what MODEL_ID names, if that is more than a name. */
function readDirectory(read: Reader, engine: string | undefined, env: Environment): string | undefined {
  const [directory, id] = [read.raw('MODEL_DIR'), read.raw('MODEL_ID')];
  if (directory !== undefined || id === undefined) return directory;
  try {
    const found = checkpointNamed(id, env);
    if (found === undefined) checkName(read, id, engine, env);
    return found;
  } catch (error) {
    read.problem('MODEL_ID', `cannot be looked for: ${(error as Error).message}`);
    return undefined;
  }
}

/** That it is only a name is a mistake where it can be no other thing, or where a checkpoint is needed. */
function checkName(read: Reader, id: string, engine: string | undefined, env: Environment): void {
  if (isPath(id)) {
    read.problem('MODEL_ID', `must be a name or the folder of a checkpoint: there is no ${id}/config.json`);
  } else if (engine === 'qwen3' && isHubId(id)) read.problem('MODEL_ID', notInCache(id, env));
}

function notInCache(id: string, env: Environment): string {
  return `names a checkpoint that is not in ${cacheFolderOf(id, env)}; fetch it with: hf download ${id}`;
}

/** The warning for a MODEL_ID that is only a name, though it names a checkpoint which an engine could speak with. */
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

/** As Linux writes a set of processors: 0-3,6. */
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

/** Undefined where none is named, or one that there is not. */
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
  /** Its cores. */
  readonly near: readonly number[];
  /** By INFERENCE_CPU_CORES. */
  readonly named: readonly number[];
  readonly threads: number;
}

/** What is asked for besides must fit on the node. */
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
