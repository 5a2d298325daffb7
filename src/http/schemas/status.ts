// What the server says about itself.
import { BOOLEAN, INTEGER, jsonAnswer, NUMBER, object, STRING } from './answers.js';
import { type RouteSchema, TAGS } from './json-schema.js';

const HEALTH = object(
  {
    status: { type: 'string', enum: ['ok', 'no engine', 'no encoder'] },
    engines: {
      type: 'object',
      description: 'by name, whether each can speak now',
      additionalProperties: BOOLEAN,
    },
    encoders: BOOLEAN,
    calls: INTEGER,
    maxCalls: INTEGER,
    uptimeSeconds: INTEGER,
    queue_depth: INTEGER,
    audio_cache_size: INTEGER,
    audio_cache_max: INTEGER,
    audio_cache_hits: NUMBER,
  },
  ['queue_depth', 'audio_cache_size', 'audio_cache_max', 'audio_cache_hits'],
);

export const HEALTH_SCHEMA: RouteSchema = {
  summary: 'Whether the server can speak',
  tags: [TAGS.server],
  response: { 200: jsonAnswer('it can', HEALTH), 503: jsonAnswer('it cannot', HEALTH) },
};

export const METRICS_SCHEMA: RouteSchema = {
  summary: 'What the server counts, for Prometheus',
  description: 'Open to the machine itself; others need a key where there are any.',
  tags: [TAGS.server],
  response: {
    200: { description: "Prometheus' text format", content: { 'text/plain': { schema: STRING } } },
  },
};
