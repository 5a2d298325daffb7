// The device that models of the native engine compute on, as the addon takes it.
import { fileBesideAddon } from '../../addon.js';
import type { MemoryLimit } from '../../config/environment.js';
import type { ModelConfig } from '../../config/model-config.js';

/** Models with equal options share a device and its thread; their memory is their own. */
export interface NativeDeviceOptions {
  /** `auto`, `cpu`, `cuda` or `cuda:1`; absent: the CPU. */
  readonly device?: string | undefined;
  readonly cudaGraphs?: boolean;
  /** Activations keep 16 bits against weights of bf16 or 8 bits, on a GPU. */
  readonly fullVectors?: boolean;
  /** Most memory of the model with its weights; neither, or 0: from what is free. */
  readonly memoryBytes?: number;
  /** The same as a share of the device's memory, 0 to 1. */
  readonly memoryShare?: number;
  /** 0: one per core. */
  readonly threads: number;
  readonly cores: readonly number[];
  /** Node whose memory its threads prefer; absent: the system chooses. */
  readonly numaNode?: number | undefined;
}

/** Facts about a device, known after the load. */
export interface NativeDeviceFacts {
  /** Such as `cuda:0 NVIDIA H200 (bf16)`. */
  readonly device: string;
  /** Why no GPU is used although one was wanted; otherwise empty. */
  readonly noCuda: string;
  /** Bytes that the device has of its own; 0 for the CPU. */
  readonly deviceMemory: number;
}

const CUDA_FILE = 'parley_cuda.so';

export function withCudaFile<T extends NativeDeviceOptions>(options: T): T & { readonly cudaFile: string } {
  return { ...options, cudaFile: fileBesideAddon(CUDA_FILE) };
}

let lastLoad: Promise<unknown> = Promise.resolve();

/**
 * Runs loads one after another. A device loads one model at a time, and each that waits for it would occupy
 * one of the few threads that files, names of hosts and compression have in this process.
 */
export function loadInTurn<T>(load: () => Promise<T>): Promise<T> {
  const next = lastLoad.then(load);
  lastLoad = next.catch(() => undefined);
  return next;
}

type DeviceConfig = Pick<
  ModelConfig,
  'device' | 'cudaGraphs' | 'fullVectors' | 'threads' | 'cores' | 'numaNode'
>;

export function deviceOptions(config: DeviceConfig, memory: MemoryLimit | undefined): NativeDeviceOptions {
  const { device, cudaGraphs, fullVectors, threads, cores, numaNode } = config;
  const limit =
    memory === undefined
      ? {}
      : 'bytes' in memory
        ? { memoryBytes: memory.bytes }
        : { memoryShare: memory.share };
  return { device, cudaGraphs, fullVectors, ...limit, threads, cores, numaNode };
}
