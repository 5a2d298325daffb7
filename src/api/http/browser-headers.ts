// Sets the headers that tell a browser what it may do with an answer: security policies, and CORS for the
// origins that the operator lists. Pages and API answers have different policies, because only a page runs
// scripts.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isOwnMachine } from '../../call/client-limits.js';
import { addressOf } from './access.js';

/** The page loads nothing from other origins and cannot be framed. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "media-src 'self' blob: mediastream:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'", // the search of the guide
  "frame-ancestors 'none'",
].join('; ');

const HSTS_SECONDS = 31_536_000; // a year

const EVERY_ANSWER = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

interface SafetyOptions {
  /** True for TLS under a name other than localhost. */
  readonly strictTransport: boolean;
  /** Pages of other origins that may use the server. */
  readonly corsOrigins: readonly string[];
}

export interface SafetyHeaders {
  readonly page: Readonly<Record<string, string>>;
  readonly api: Readonly<Record<string, string>>;
}

export function safetyHeaders({ strictTransport, corsOrigins }: SafetyOptions): SafetyHeaders {
  const every = strictTransport
    ? { ...EVERY_ANSWER, 'strict-transport-security': `max-age=${HSTS_SECONDS}` }
    : EVERY_ANSWER;
  return {
    page: {
      ...every,
      'content-security-policy': PAGE_POLICY,
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'origin-agent-cluster': '?1',
      'permissions-policy': 'camera=(), microphone=(self), geolocation=()',
      'x-frame-options': 'DENY',
      'x-permitted-cross-domain-policies': 'none',
    },
    api: {
      ...every,
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      // <audio src> on a page of another origin sends no Origin header, so the answer cannot depend on it.
      'cross-origin-resource-policy': corsOrigins.length > 0 ? 'cross-origin' : 'same-origin',
    },
  };
}

export const CORS_METHODS = 'GET, HEAD, POST, PATCH, DELETE, OPTIONS';
const REQUEST_HEADERS =
  'Authorization, Content-Type, Idempotency-Key, If-Match, Last-Event-ID, Parley-Received-Timestamp, xi-api-key';
const HEADER_NAMES = /^[\w-]+(?:, ?[\w-]+)*$/;
const EXPOSED =
  'Location, ETag, Link, Retry-After, Retry-After-Ms, Accept-Post, Accept-Patch, Allow, Access-Control-Allow-Methods, ' +
  'Parley-Call-Token, X-Request-Id, X-Cache, X-Voice, X-Ignored-Fields, Content-Disposition, ' +
  'X-PCM-Sample-Rate, X-PCM-Channels, X-PCM-Bit-Depth, X-PCM-Format, ' +
  'X-Timestamps, X-Audio-Seconds, X-Latency-First-Text-Ms, ' +
  'Server-Timing, X-Latency-Queue-Ms, X-Latency-Load-Ms, X-Latency-Infer-Ms, X-Latency-Encode-Ms, X-Latency-Total-Ms, ' +
  'X-RateLimit-Limit-Requests, X-RateLimit-Remaining-Requests, X-RateLimit-Reset-Requests';
const PREFLIGHT_SECONDS = 600;

/** Adds the CORS headers for a listed origin. Returns true if the request is a preflight of that origin. */
export function admitOrigin(
  origins: ReadonlySet<string>,
  { method, headers }: Pick<FastifyRequest, 'method' | 'headers'>,
  reply: FastifyReply,
): boolean {
  if (origins.size === 0) return false;
  reply.header('vary', 'Origin'); // without an Origin too, so that a cache does not mix them up
  const { origin } = headers;
  if (origin === undefined || !origins.has(origin)) return false;
  reply.header('access-control-allow-origin', origin);
  reply.header('access-control-expose-headers', EXPOSED);
  reply.header('cross-origin-resource-policy', 'cross-origin');
  if (method !== 'OPTIONS') return false;
  reply.header('access-control-allow-methods', CORS_METHODS);
  // Client libraries add headers of their own, so a listed origin may send any header.
  const asked = headers['access-control-request-headers'];
  const allowed = asked !== undefined && HEADER_NAMES.test(asked) ? asked : REQUEST_HEADERS;
  reply.header('access-control-allow-headers', allowed);
  reply.header('access-control-max-age', String(PREFLIGHT_SECONDS));
  return headers['access-control-request-method'] !== undefined;
}

const PREFIX = /^((?:\/[\w.~-]+){1,8})\/?$/;
const MOST_PREFIX = 200; // characters

/**
 * The path under which a proxy on this machine serves this server (`X-Forwarded-Prefix`), without a slash at
 * its end; empty without one.
 */
export function forwardedPrefix({ headers, socket }: Pick<FastifyRequest, 'headers' | 'socket'>): string {
  const stated = headers['x-forwarded-prefix'];
  if (typeof stated !== 'string' || stated.length > MOST_PREFIX || !isOwnMachine(addressOf(socket)))
    return '';
  return PREFIX.exec(stated)?.[1] ?? '';
}

const PAGES = /^\/(?:guide|docs)(?:\/|$)/;

/** Puts the path of the proxy before the `Location` of answers and the links of the guide and of /docs. */
export function addForwardedPrefix(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const prefix = forwardedPrefix(request);
    if (prefix === '') return payload;
    const location = reply.getHeader('location');
    if (typeof location === 'string' && /^\/(?!\/)/.test(location))
      void reply.header('location', prefix + location);
    const isPage = typeof payload === 'string' && PAGES.test(request.routeOptions.url ?? '') && isHtml(reply);
    return isPage ? payload.replaceAll(/ (href|action|src)="\/(?!\/)/g, ` $1="${prefix}/`) : payload;
  });
}

function isHtml(reply: FastifyReply): boolean {
  return String(reply.getHeader('content-type')).startsWith('text/html');
}
