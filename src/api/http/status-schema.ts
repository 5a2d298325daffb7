// What the server says about itself.
import {
  BOOLEAN,
  INTEGER,
  jsonAnswer,
  NUMBER,
  object,
  type RouteSchema,
  STRING,
  TAGS,
} from './json-schema.js';

/** As an older server told them; what is not known is left out. */
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
    telephone: {
      type: 'object',
      description: 'trunks and what else the telephone door tells; absent without one',
    },
    ...OLDER,
  },
  // Where the server has API keys, strangers are told the status only.
  ['reason', 'engines', 'encoders', 'calls', 'maxCalls', 'uptimeSeconds', 'telephone', ...Object.keys(OLDER)],
);

export const HEALTH_SCHEMA: RouteSchema = {
  summary: 'Whether the server can speak',
  description:
    'Open to all. Where the server has API keys, requests from other machines without one are told the status only.',
  tags: [TAGS.server],
  response: {
    200: jsonAnswer('it can', HEALTH),
    503: jsonAnswer('it cannot, or is about to end and takes no new calls', HEALTH),
  },
};

export const METRICS_SCHEMA: RouteSchema = {
  summary: 'What the server counts, for Prometheus',
  description: 'Open to the machine itself; others need a key where there are any.',
  tags: [TAGS.server],
  response: {
    200: { description: "Prometheus' text format", content: { 'text/plain': { schema: STRING } } },
  },
};
