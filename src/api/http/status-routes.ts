// What the server says about itself: to load balancers, and to Prometheus.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Metrics } from '../../observe/metrics.js';
import type { Gate } from './gate.js';
import { HEALTH_SCHEMA, METRICS_SCHEMA } from './status-schema.js';
import { addressOf } from './visitor.js';

export interface ServerHealth {
  /** By name, whether each engine can speak now; one that has to be loaded first can. */
  readonly engines: Readonly<Record<string, boolean>>;
  /** Whether anything can be encoded: without that, nothing is heard of any engine. */
  readonly encoders: boolean;
  /** New calls are refused: the server ends with those that stand. */
  readonly draining?: boolean;
  readonly calls: number;
  readonly maxCalls: number;
  /** The engine that speaks where nothing else is asked for. */
  readonly engine?: string;
  /** It is loaded now. */
  readonly modelLoaded?: boolean;
  /** Why that engine cannot speak now, though others may. */
  readonly trouble?: string;
  readonly modelId?: string;
  /** What it computes on; memory only where the device has its own. */
  readonly device?: {
    readonly name: string;
    readonly noGpu?: string;
    readonly memory?: { readonly allocatedBytes: number; readonly totalBytes: number };
    readonly work?: DeviceWork;
  };
  /** Sentences that wait for an engine, and how many of a class may. */
  readonly queueDepth?: number;
  readonly maxQueueDepth?: number;
  /** Absent where nothing is kept. */
  readonly audioCache?: CacheHealth;
  /** Voices made over HTTP that are in memory. */
  readonly voiceCache?: CacheHealth;
}

/** What the engine is at; see EngineWork. */
export interface DeviceWork {
  readonly streams: number;
  /** Of the last seconds, from 0 to 1. */
  readonly busyShare: number;
  readonly eager: number;
  readonly captures: number;
  readonly launches: number;
  readonly listBytes: number;
}

export interface CacheHealth {
  readonly entries: number;
  readonly maxEntries: number;
  readonly hits: number;
}

export interface StatusParts {
  readonly health: () => ServerHealth;
  readonly metrics: Pick<Metrics, 'exposition' | 'contentType'>;
  /** False leaves /metrics out. */
  readonly exposesMetrics: boolean;
  /** What the telephone door says of itself; absent where there is none. */
  readonly telephone?: (() => Readonly<Record<string, unknown>>) | undefined;
  /** Says who is told more than the status. */
  readonly gate: Pick<Gate, 'isKnown'>;
  /** On the clock of `performance.now()`. */
  readonly startedAtMs: number;
}

export function addStatusRoutes(app: FastifyInstance, parts: StatusParts): void {
  const { health, metrics, exposesMetrics, telephone, gate, startedAtMs } = parts;
  app.get('/health', { config: { access: 'open' }, schema: HEALTH_SCHEMA }, (request, reply) => {
    const { engines, encoders, draining = false, calls, maxCalls, trouble, ...rest } = health();
    const speaks = Object.values(engines).includes(true);
    const able = !encoders
      ? 'no encoder'
      : !speaks
        ? 'no engine'
        : trouble === undefined
          ? 'ok'
          : 'engine down';
    const status = draining ? 'draining' : able;
    // A balancer looks at the status code only.
    reply.code(status === 'ok' ? 200 : 503).header('cache-control', 'no-store');
    if (!isKnown(gate, request)) return reply.send({ status });
    const uptimeSeconds = Math.floor((performance.now() - startedAtMs) / 1000);
    return reply.send({
      status,
      ...(trouble === undefined ? {} : { reason: trouble }),
      engines,
      encoders,
      calls,
      maxCalls,
      ...olderFields(rest),
      ...(telephone === undefined ? {} : { telephone: telephone() }),
      uptimeSeconds,
    });
  });

  if (!exposesMetrics) return;
  app.get('/metrics', { config: { access: 'local' }, schema: METRICS_SCHEMA }, async (_request, reply) => {
    const text = await metrics.exposition();
    return reply.type(metrics.contentType).header('cache-control', 'no-store').send(text);
  });
}

function isKnown(gate: Pick<Gate, 'isKnown'>, { method, headers, socket }: FastifyRequest): boolean {
  return gate.isKnown({ method, headers, remoteAddress: addressOf(socket) });
}

type OlderHealth = Omit<ServerHealth, 'engines' | 'encoders' | 'draining' | 'calls' | 'maxCalls' | 'trouble'>;

const MEBIBYTE = 1024 * 1024;

/** Under the names that users of an older server read; what is not known is left out. */
function olderFields(health: OlderHealth): Record<string, unknown> {
  const { engine, modelLoaded, modelId, device, queueDepth, maxQueueDepth } = health;
  const memory = device?.memory;
  return {
    ...(engine === undefined ? {} : { engine }),
    ...(modelLoaded === undefined ? {} : { model_loaded: modelLoaded }),
    ...(modelId === undefined ? {} : { model_id: modelId }),
    ...(device === undefined ? {} : { device: device.name, cuda: memory !== undefined }),
    ...(device?.noGpu === undefined ? {} : { no_cuda: device.noGpu }),
    ...(device?.work === undefined ? {} : workFields(device.work, memory !== undefined)),
    ...(memory === undefined ? {} : gpuFields(device?.name, memory)),
    ...(queueDepth === undefined ? {} : { queue_depth: queueDepth }),
    ...(maxQueueDepth === undefined ? {} : { max_queue_depth: maxQueueDepth }),
    ...cacheFields('audio', health.audioCache),
    ...cacheFields('voice', health.voiceCache),
  };
}

function workFields(work: DeviceWork, onGpu: boolean) {
  const { streams, busyShare, eager, captures, launches, listBytes } = work;
  const lists = {
    gpu_lists: { eager, captured: captures, launched: launches, mb: Math.round(listBytes / MEBIBYTE) },
  };
  return { streams, busy: Math.round(busyShare * 1000) / 1000, ...(onGpu ? lists : {}) };
}

function gpuFields(name: string | undefined, memory: { allocatedBytes: number; totalBytes: number }) {
  return {
    gpu_name: name,
    gpu_allocated_mb: Math.round(memory.allocatedBytes / MEBIBYTE),
    gpu_total_mb: Math.round(memory.totalBytes / MEBIBYTE),
  };
}

function cacheFields(which: string, cache: CacheHealth | undefined): Record<string, number> {
  if (cache === undefined) return {};
  const { entries, maxEntries, hits } = cache;
  return {
    [`${which}_cache_size`]: entries,
    [`${which}_cache_max`]: maxEntries,
    [`${which}_cache_hits`]: hits,
  };
}
