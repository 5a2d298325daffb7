// Which pages of other origins may use the server from a browser: those that
// the operator lists, and none by default.
import type { FastifyReply, FastifyRequest } from 'fastify';

const METHODS = 'GET, HEAD, POST, PATCH, DELETE, OPTIONS';
const REQUEST_HEADERS = 'Authorization, Content-Type, Idempotency-Key, If-Match, Last-Event-ID, xi-api-key';
const HEADER_NAMES = /^[\w-]+(?:, ?[\w-]+)*$/;
const EXPOSED =
  'Location, ETag, Link, Retry-After, Retry-After-Ms, Accept-Post, X-Request-Id, X-Cache, X-Voice, X-Ignored-Fields, Content-Disposition, ' +
  'X-PCM-Sample-Rate, X-PCM-Channels, X-PCM-Bit-Depth, X-PCM-Format, ' +
  'Server-Timing, X-Latency-Queue-Ms, X-Latency-Load-Ms, X-Latency-Infer-Ms, X-Latency-Encode-Ms, X-Latency-Total-Ms, ' +
  'X-RateLimit-Limit-Requests, X-RateLimit-Remaining-Requests, X-RateLimit-Reset-Requests';
const PREFLIGHT_SECONDS = 600;

/** Adds what the browser of a listed origin asks for; answers true when the request is its preflight. */
export function admitOrigin(
  origins: ReadonlySet<string>,
  { method, headers }: Pick<FastifyRequest, 'method' | 'headers'>,
  reply: FastifyReply,
): boolean {
  if (origins.size === 0) return false;
  reply.header('vary', 'Origin'); // also for requests without one: a cache must not mix them up
  const { origin } = headers;
  if (origin === undefined || !origins.has(origin)) return false;
  reply.header('access-control-allow-origin', origin);
  reply.header('access-control-expose-headers', EXPOSED);
  reply.header('cross-origin-resource-policy', 'cross-origin');
  if (method !== 'OPTIONS') return false;
  reply.header('access-control-allow-methods', METHODS);
  // Client libraries add headers of their own, and a page that may use the server may send any.
  const asked = headers['access-control-request-headers'];
  const allowed = asked !== undefined && HEADER_NAMES.test(asked) ? asked : REQUEST_HEADERS;
  reply.header('access-control-allow-headers', allowed);
  reply.header('access-control-max-age', String(PREFLIGHT_SECONDS));
  return headers['access-control-request-method'] !== undefined;
}
