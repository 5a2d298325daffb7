// What Node's HTTP/1 server bounds by itself and its HTTP/2 server does not:
// how long a request may take to arrive, how long an answer may wait to be
// taken, and how long a connection may stand idle.
//
// One sweep looks at everything that is open; nothing is paid per request but
// an entry in a set. Floods (resets, pings, settings, headers) are bounded by
// nghttp2 and by the limits that the server was made with.
import {
  constants,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import type { Time } from '../../time.js';

export interface Http2Limits {
  /** Milliseconds that a whole request may take to arrive. */
  readonly requestMs: number;
  /** Milliseconds for which the rest of a finished answer may wait to be taken. */
  readonly stallMs: number;
  /** Milliseconds for which a connection may carry no request. */
  readonly idleMs: number;
  /** Milliseconds between two sweeps. */
  readonly sweepMs: number;
}

interface Exchange {
  readonly request: Http2ServerRequest;
  readonly response: Http2ServerResponse;
  readonly sinceMs: number;
  /** When a sweep first found that the whole answer was written. */
  writtenMs: number | undefined;
}

interface Session {
  /** Of exchanges that are not finished. */
  open: number;
  idleSinceMs: number;
}

const { NGHTTP2_CANCEL } = constants;

export class Http2Sessions {
  readonly #limits: Http2Limits;
  readonly #time: Time;
  readonly #sessions = new Map<ServerHttp2Session, Session>();
  readonly #exchanges = new Set<Exchange>();
  #callOff: (() => void) | undefined;
  #closing = false;

  constructor(limits: Http2Limits, time: Time) {
    this.#limits = limits;
    this.#time = time;
  }

  get size(): number {
    return this.#sessions.size;
  }

  add(session: ServerHttp2Session): void {
    this.#sessions.set(session, { open: 0, idleSinceMs: this.#time.now() });
    session.once('close', () => this.#sessions.delete(session));
    if (this.#closing) session.close();
    this.#callOff ??= this.#sweepLater();
  }

  watch(request: Http2ServerRequest, response: Http2ServerResponse): void {
    const session = this.#sessions.get(request.stream.session as ServerHttp2Session);
    const exchange = { request, response, sinceMs: this.#time.now(), writtenMs: undefined };
    this.#exchanges.add(exchange);
    if (session !== undefined) session.open++;
    response.once('close', () => {
      this.#exchanges.delete(exchange);
      if (session === undefined) return;
      session.open--;
      session.idleSinceMs = this.#time.now();
    });
  }

  /** Asks every client to leave; what is being answered goes on. */
  close(): void {
    this.#closing = true;
    for (const session of this.#sessions.keys()) session.close();
  }

  destroy(): void {
    for (const session of this.#sessions.keys()) session.destroy();
    this.#callOff?.();
    this.#callOff = undefined;
  }

  #sweepLater(): () => void {
    return this.#time.after(this.#limits.sweepMs, () => {
      this.#sweep(this.#time.now());
      this.#callOff = this.#sessions.size > 0 ? this.#sweepLater() : undefined;
    });
  }

  #sweep(nowMs: number): void {
    const { requestMs, stallMs, idleMs } = this.#limits;
    for (const exchange of this.#exchanges) {
      const { request, response, sinceMs } = exchange;
      if (response.writableEnded) exchange.writtenMs ??= nowMs;
      const late = !hasArrived(request) && nowMs - sinceMs > requestMs;
      const stalled = exchange.writtenMs !== undefined && nowMs - exchange.writtenMs > stallMs;
      if (late || stalled) request.stream.close(NGHTTP2_CANCEL);
    }
    for (const [session, { open, idleSinceMs }] of this.#sessions) {
      if (open === 0 && nowMs - idleSinceMs > idleMs) session.close();
    }
  }
}

function hasArrived({ complete, stream }: Http2ServerRequest): boolean {
  return complete || stream.endAfterHeaders;
}
