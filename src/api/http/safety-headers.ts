// What every answer tells a browser about what it may do with it. The page and
// the answers of the API are told different things: a page runs scripts, an
// answer never does.

// The page takes nothing from anywhere else and is shown in no frame.
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "media-src 'self' blob: mediastream:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HSTS_SECONDS = 31_536_000; // a year

const EVERY_ANSWER = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

export interface SafetyOptions {
  /** Over TLS, under a name that is the server's alone. */
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
      'permissions-policy': 'camera=(), microphone=(), geolocation=()',
      'x-frame-options': 'DENY',
      'x-permitted-cross-domain-policies': 'none',
    },
    api: {
      ...every,
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      // <audio src> of another page sends no Origin, so the answer cannot go by it.
      'cross-origin-resource-policy': corsOrigins.length > 0 ? 'cross-origin' : 'same-origin',
    },
  };
}
