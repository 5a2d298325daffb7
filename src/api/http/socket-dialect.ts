// What is spoken over WebSockets, as the HTTP door sees it, and which dialect
// lives at which path.
//
// Dialects are another room's: it is handed over by whoever builds the server,
// so these shapes are stated here once more.

export interface SocketPeer {
  send(message: string | Uint8Array): void;
  /** Resolves when little enough waits to be sent, or the socket is gone. */
  drained(): Promise<void>;
  close(code: number, reason: string): void;
}

export interface SocketVisit {
  /** Path and query; the origin in it means nothing. */
  readonly url: URL;
  readonly params: Readonly<Record<string, string>>;
  /** Who shares the server fairly with others: a key by its number, or an address. */
  readonly client: string;
  readonly requestId: string;
  /** Whether the socket may be used with this key; always true where the headers carried what is needed. */
  authorize(key: string): boolean;
}

export interface SocketConversation {
  message(data: string | Uint8Array): void;
  /** Called once; resolves when everything of it is freed. */
  closed(): Promise<void>;
}

export interface SocketDialect {
  /** A label of metrics. */
  readonly name: string;
  /** With `{name}` for segments that vary. */
  readonly path: string;
  readonly keyInFirstMessage?: boolean;
  /** Throws what the upgrade is refused with, before there is a socket. */
  check?(visit: SocketVisit): void;
  open(peer: SocketPeer, visit: SocketVisit): SocketConversation;
}

export interface FoundDialect {
  readonly dialect: SocketDialect;
  readonly params: Readonly<Record<string, string>>;
}

const VARIABLE = /^\{(\w+)\}$/;

/** The dialect at this path; throws URIError where a segment is no text. */
export function findDialect(dialects: readonly SocketDialect[], path: string): FoundDialect | undefined {
  const segments = path.split('/');
  for (const dialect of dialects) {
    const params = matched(dialect.path.split('/'), segments);
    if (params !== undefined) return { dialect, params };
  }
  return undefined;
}

function matched(pattern: readonly string[], path: readonly string[]): Record<string, string> | undefined {
  if (pattern.length !== path.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    const given = path[index] ?? '';
    const name = VARIABLE.exec(part)?.[1];
    if (name === undefined ? given !== part : given === '') return undefined;
    if (name !== undefined) params[name] = decodeURIComponent(given);
  }
  return params;
}

/** The path in the form of fastify's router. */
export function routePattern(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}
