// Serves /health for load balancers and monitoring, and /metrics for Prometheus.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RecognitionHealth } from '../../engines/recogniser-setup.js';
import type { HttpMetrics } from '../http/http-metrics.js';
import { addressOf } from '../http/access.js';
import type { Admission } from '../http/admission.js';
import {
  BOOLEAN,
  INTEGER,
  jsonAnswer,
  NUMBER,
  object,
  type RouteSchema,
  STRING,
  TAGS,
} from '../http/json-schema.js';

export interface ServerHealth {
  /** By engine name: true if the engine can speak now, even if it must be loaded first. */
  readonly engines: Readonly<Record<string, boolean>>;
  /** True if audio can be encoded; without encoders no engine can be heard. */
  readonly encoders: boolean;
  /** True while the server refuses new calls and waits for the open ones to end. */
  readonly draining?: boolean;
  readonly calls: number;
  readonly maxCalls: number;
  /** The default engine. */
  readonly engine?: string;
  /** True if the model of the default engine is loaded. */
  readonly modelLoaded?: boolean;
  /** Why the default engine cannot speak now; others may. */
  readonly trouble?: string;
  readonly modelId?: string;
  /** The compute device; `memory` is absent if the device has none of its own. */
  readonly device?: {
    readonly name: string;
    readonly noGpu?: string | undefined;
    readonly memory?: { readonly allocatedBytes: number; readonly totalBytes: number } | undefined;
    readonly work?: DeviceWork | undefined;
  };
  /** Sentences that wait for an engine, and the limit for one class. */
  readonly queueDepth?: number;
  readonly maxQueueDepth?: number;
  /** Absent if renderings are not cached. */
  readonly audioCache?: CacheHealth;
  /** Stored voices that are in memory. */
  readonly voiceCache?: CacheHealth;
  /** The detector of speech: the model, or, without its file, the energy of the sound. */
  readonly voiceActivity?: VoiceActivity;
  /** Fetches a neural voice; absent if an engine has one. */
  readonly voiceCommand?: string | undefined;
  /** Fetches a recogniser; absent if there is one. */
  readonly earsCommand?: string | undefined;
  /** Absent if speech is not recognised. */
  readonly recognition?: RecognitionHealth | undefined;
  /** BCP 47 primary tags of languages with a voice and without a recogniser. */
  readonly unheardLanguages?: readonly string[];
}

interface VoiceActivity {
  readonly detector: 'silero' | 'energy' | 'none';
  /** The reason for which a model is not used. */
  readonly problem?: string | undefined;
  /** End-of-turn models that hear callers; undefined without one. */
  readonly turnModels?: readonly string[] | undefined;
}

/** The work of the engine; see EngineWork. */
interface DeviceWork {
  readonly streams: number;
  /** Share of the last seconds that the device was busy, from 0 to 1. */
  readonly busyShare: number;
  readonly eager: number;
  readonly captures: number;
  readonly launches: number;
  readonly listBytes: number;
}

interface CacheHealth {
  readonly entries: number;
  readonly maxEntries: number;
  readonly hits: number;
}

export interface StatusOptions {
  readonly health: () => ServerHealth;
  readonly metrics: Pick<HttpMetrics, 'exposition' | 'contentType'>;
  /** False removes the route /metrics. */
  readonly exposesMetrics: boolean;
  /** The state of the telephone; absent when it is off. */
  readonly telephone?: (() => Readonly<Record<string, unknown>>) | undefined;
}

interface StatusParts extends StatusOptions {
  /** Decides who may see more than the status. */
  readonly admission: Pick<Admission, 'isKnown'>;
  /** On the clock of `performance.now()`. */
  readonly startedAtMs: number;
}

/** Fields of an older server. Unknown values are left out. */
const OLDER = {
  engine: { type: 'string', description: 'the one that speaks where nothing else is asked for' },
  model_loaded: { type: 'boolean', description: 'it is loaded now; it is usable without' },
  model_id: STRING,
  device: { type: 'string', description: 'what it computes on' },
  cuda: BOOLEAN,
  no_cuda: { type: 'string', description: 'why it computes on no GPU, where DEVICE=auto looked for one' },
  streams: { type: 'integer', description: 'sentences that the native engine is speaking' },
  busy: { type: 'number', description: 'share of the last seconds that it worked, 0 to 1' },
  gpu_lists: {
    type: 'object',
    description: 'lists of work since it was loaded: run grid by grid, made into graphs, run as graphs',
    properties: { eager: INTEGER, captured: INTEGER, launched: INTEGER },
  },
  gpu_name: STRING,
  gpu_allocated_mb: INTEGER,
  gpu_total_mb: INTEGER,
  queue_depth: INTEGER,
  max_queue_depth: INTEGER,
  audio_cache_size: INTEGER,
  audio_cache_max: INTEGER,
  audio_cache_hits: NUMBER,
  voice_cache_size: INTEGER,
  voice_cache_max: INTEGER,
  voice_cache_hits: NUMBER,
} as const;

const MODEL = {
  engine: STRING,
  usable: { type: 'boolean', description: 'it can be used, even if it must be loaded first' },
  loaded: BOOLEAN,
  problem: STRING,
  device: { type: 'string', description: 'what it computes on, while it is loaded here' },
} as const;
const ALIGNER = object(MODEL, ['problem', 'device']);
const RECOGNISER = object({ ...MODEL, sessions: INTEGER }, ['problem', 'device']);

const HEALTH = object(
  {
    status: { type: 'string', enum: ['ok', 'draining', 'no engine', 'engine down', 'no encoder'] },
    reason: {
      type: 'string',
      description: 'why the engine that speaks where nothing else is asked for cannot; absent where it can',
    },
    engines: {
      type: 'object',
      description: 'by name, whether each can speak now',
      additionalProperties: BOOLEAN,
    },
    encoders: BOOLEAN,
    calls: INTEGER,
    maxCalls: INTEGER,
    uptimeSeconds: INTEGER,
    voiceCommand: {
      type: 'string',
      description:
        'the command that fetches a neural voice, where no engine has one; then restart the server',
    },
    earsCommand: {
      type: 'string',
      description:
        'the command that fetches a recogniser for English, where the server has none; then restart the server',
    },
    voiceActivity: object(
      {
        detector: { type: 'string', enum: ['silero', 'energy', 'none'] },
        turnModels: { type: 'array', items: STRING },
        problem: STRING,
      },
      ['turnModels', 'problem'],
    ),
    recognition: {
      ...object({ recogniser: RECOGNISER, aligner: ALIGNER }, ['recogniser', 'aligner']),
      description: 'the models that recognise speech and time words; absent without them',
    },
    unheardLanguages: {
      type: 'array',
      items: STRING,
      description: 'languages that the server speaks and does not understand; absent if there are none',
    },
    telephone: {
      type: 'object',
      description: 'trunks and the rest of the state of the telephone; absent when it is off',
    },
    ...OLDER,
  },
  // With API keys, other machines without a key get the status only.
  [
    'reason',
    'engines',
    'encoders',
    'calls',
    'maxCalls',
    'uptimeSeconds',
    'voiceCommand',
    'earsCommand',
    'voiceActivity',
    'recognition',
    'unheardLanguages',
    'telephone',
    ...Object.keys(OLDER),
  ],
);

const HEALTH_SCHEMA: RouteSchema = {
  summary: 'Whether the server can speak',
  description:
    'Any client may ask. A server that has API keys sends other machines without a key only the status.',
  tags: [TAGS.server],
  response: {
    200: jsonAnswer('it can', HEALTH),
    503: jsonAnswer('it cannot, or is about to end and takes no new calls', HEALTH),
  },
};

const METRICS_SCHEMA: RouteSchema = {
  summary: 'What the server counts, for Prometheus',
  description: 'Open to the machine itself; others need a key where there are any.',
  tags: [TAGS.server],
  response: {
    200: { description: "Prometheus' text format", content: { 'text/plain': { schema: STRING } } },
  },
};

export function addStatusRoutes(app: FastifyInstance, parts: StatusParts): void {
  const { health, metrics, exposesMetrics, telephone, admission, startedAtMs } = parts;
  app.get('/health', { config: { access: 'open' }, schema: HEALTH_SCHEMA }, (request, reply) => {
    const {
      engines,
      encoders,
      draining = false,
      calls,
      maxCalls,
      trouble,
      voiceCommand,
      earsCommand,
      voiceActivity,
      recognition,
      unheardLanguages = [],
      ...rest
    } = health();
    const speaks = Object.values(engines).includes(true);
    const able = !encoders
      ? 'no encoder'
      : !speaks
        ? 'no engine'
        : trouble === undefined
          ? 'ok'
          : 'engine down';
    const status = draining ? 'draining' : able;
    // Load balancers read the status code only.
    reply.code(status === 'ok' ? 200 : 503).header('cache-control', 'no-store');
    if (!isKnown(admission, request)) return reply.send({ status });
    const uptimeSeconds = Math.floor((performance.now() - startedAtMs) / 1000);
    return reply.send({
      status,
      reason: trouble,
      engines,
      encoders,
      calls,
      maxCalls,
      voiceCommand,
      earsCommand,
      voiceActivity,
      recognition,
      unheardLanguages: unheardLanguages.length === 0 ? undefined : unheardLanguages,
      ...olderFields(rest),
      telephone: telephone?.(),
      uptimeSeconds,
    });
  });

  if (!exposesMetrics) return;
  app.get('/metrics', { config: { access: 'local' }, schema: METRICS_SCHEMA }, async (_request, reply) => {
    const text = await metrics.exposition();
    return reply.type(metrics.contentType).header('cache-control', 'no-store').send(text);
  });
}

function isKnown(
  admission: Pick<Admission, 'isKnown'>,
  { method, headers, socket }: FastifyRequest,
): boolean {
  return admission.isKnown({ method, headers, remoteAddress: addressOf(socket) });
}

type OlderHealth = Omit<
  ServerHealth,
  | 'engines'
  | 'encoders'
  | 'draining'
  | 'calls'
  | 'maxCalls'
  | 'trouble'
  | 'voiceCommand'
  | 'earsCommand'
  | 'voiceActivity'
  | 'recognition'
  | 'unheardLanguages'
>;

const MEBIBYTE = 1024 * 1024;

/** The fields that users of an older server read. The reply leaves unknown values out. */
function olderFields(health: OlderHealth): Record<string, unknown> {
  const { engine, modelLoaded, modelId, device, queueDepth, maxQueueDepth } = health;
  const memory = device?.memory;
  return {
    engine,
    model_loaded: modelLoaded,
    model_id: modelId,
    device: device?.name,
    cuda: device && memory !== undefined,
    no_cuda: device?.noGpu,
    ...(device?.work && workFields(device.work, memory !== undefined)),
    ...(memory && gpuFields(device?.name, memory)),
    queue_depth: queueDepth,
    max_queue_depth: maxQueueDepth,
    ...cacheFields('audio', health.audioCache),
    ...cacheFields('voice', health.voiceCache),
  };
}

function workFields(work: DeviceWork, onGpu: boolean) {
  const { streams, busyShare, eager, captures, launches, listBytes } = work;
  const lists = { eager, captured: captures, launched: launches, mb: Math.round(listBytes / MEBIBYTE) };
  return { streams, busy: Math.round(busyShare * 1000) / 1000, gpu_lists: onGpu ? lists : undefined };
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
