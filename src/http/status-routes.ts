// What the server says about itself: to load balancers, and to Prometheus.
import type { FastifyInstance } from 'fastify';
import type { Metrics } from '../observe/metrics.js';
import { HEALTH_SCHEMA, METRICS_SCHEMA } from './schemas/status.js';

export interface ServerHealth {
  /** By name, whether each engine can speak now. */
  readonly engines: Readonly<Record<string, boolean>>;
  /** Whether anything can be encoded: without that, nothing is heard of any engine. */
  readonly encoders: boolean;
  readonly calls: number;
  readonly maxCalls: number;
  /** Sentences that wait for an engine. */
  readonly queueDepth?: number;
  /** Absent where nothing is kept. */
  readonly audioCache?: { readonly entries: number; readonly maxEntries: number; readonly hits: number };
}

export interface StatusParts {
  readonly health: () => ServerHealth;
  readonly metrics: Pick<Metrics, 'exposition' | 'contentType'>;
  /** False leaves /metrics out. */
  readonly exposesMetrics: boolean;
  /** On the clock of `performance.now()`. */
  readonly startedAtMs: number;
}

export function addStatusRoutes(app: FastifyInstance, parts: StatusParts): void {
  const { health, metrics, exposesMetrics, startedAtMs } = parts;
  app.get('/health', { config: { access: 'open' }, schema: HEALTH_SCHEMA }, (_request, reply) => {
    const { engines, encoders, calls, maxCalls, ...rest } = health();
    const speaks = Object.values(engines).includes(true);
    const status = !encoders ? 'no encoder' : speaks ? 'ok' : 'no engine';
    const uptimeSeconds = Math.floor((performance.now() - startedAtMs) / 1000);
    // A balancer looks at the status code only.
    return reply
      .code(status === 'ok' ? 200 : 503)
      .header('cache-control', 'no-store')
      .send({ status, engines, encoders, calls, maxCalls, ...olderFields(rest), uptimeSeconds });
  });

  if (!exposesMetrics) return;
  app.get('/metrics', { config: { access: 'local' }, schema: METRICS_SCHEMA }, async (_request, reply) => {
    const text = await metrics.exposition();
    return reply.type(metrics.contentType).header('cache-control', 'no-store').send(text);
  });
}

/** Under the names that users of an older server read. */
function olderFields({ queueDepth, audioCache }: Pick<ServerHealth, 'queueDepth' | 'audioCache'>) {
  return {
    ...(queueDepth === undefined ? {} : { queue_depth: queueDepth }),
    ...(audioCache === undefined
      ? {}
      : {
          audio_cache_size: audioCache.entries,
          audio_cache_max: audioCache.maxEntries,
          audio_cache_hits: audioCache.hits,
        }),
  };
}
