// One HTTP request and its answer, within bounds: times for the connection and for the answer, and bytes of
// the body, counted while they arrive.
import {
  Agent as HttpAgent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Time } from '../../time.js';

export interface ExchangeRequest {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly lookup: LookupFunction;
  readonly connectMs: number;
  readonly readMs: number;
  /** Bytes of the body that are taken; 0: the body is not read. */
  mostBytes(answer: HttpHead): number;
}

export interface HttpHead {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

export interface HttpAnswer extends HttpHead {
  readonly body: Buffer;
}

/** The phase in which a request failed, with the error that Node gave, if there was one. */
export class ExchangeError extends Error {
  readonly phase: 'connect' | 'read' | 'size';
  /** Code of Node's error; undefined: a time or size limit passed. */
  readonly code: string | undefined;

  constructor(phase: ExchangeError['phase'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ExchangeError';
    this.phase = phase;
    this.code = (cause as NodeJS.ErrnoException | undefined)?.code;
  }
}

interface Certificates {
  /** PEM of an authority, in place of those of Node. */
  readonly ca?: string;
}

const IDLE_MS = 10_000; // of a connection that waits for its next request
const MOST_IDLE = 64; // connections to one host

export class HttpExchanges {
  readonly #http = new HttpAgent({ keepAlive: true, maxFreeSockets: MOST_IDLE, timeout: IDLE_MS });
  readonly #https = new HttpsAgent({ keepAlive: true, maxFreeSockets: MOST_IDLE, timeout: IDLE_MS });
  readonly #time: Time;
  readonly #certificates: Certificates;

  constructor(time: Time, { authority }: { readonly authority?: string | undefined } = {}) {
    this.#time = time;
    this.#certificates = authority === undefined ? {} : { ca: authority };
  }

  /**
   * Rejects with an ExchangeError. A request on a kept connection that the server has just closed is sent
   * once more on a connection of its own.
   */
  async send(request: ExchangeRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const first = new Exchange(request, this.#time, this.#certificates, signal);
    try {
      return await first.run(request.url.protocol === 'https:' ? this.#https : this.#http);
    } catch (error) {
      const isReset = error instanceof ExchangeError && error.code === 'ECONNRESET';
      const isStale = first.wasKept && !first.isAnswered && isReset;
      if (!isStale || signal.aborted) throw error;
      return new Exchange(request, this.#time, this.#certificates, signal).run(false);
    }
  }

  /** Closes the connections. */
  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }
}

class Exchange {
  /** The connection had served another request before. */
  wasKept = false;
  /** The head of an answer has come. */
  isAnswered = false;
  readonly #request: ExchangeRequest;
  readonly #time: Time;
  readonly #certificates: Certificates;
  readonly #signal: AbortSignal;
  #phase: ExchangeError['phase'] = 'connect';
  #cancelTimer: () => void = () => undefined;
  #destroy: (error: ExchangeError) => void = () => undefined;

  constructor(request: ExchangeRequest, time: Time, certificates: Certificates, signal: AbortSignal) {
    this.#request = request;
    this.#time = time;
    this.#certificates = certificates;
    this.#signal = signal;
  }

  async run(agent: HttpAgent | false): Promise<HttpAnswer> {
    try {
      return await new Promise((resolve, reject) => this.#send(agent, resolve, reject));
    } finally {
      this.#cancelTimer();
    }
  }

  #send(
    agent: HttpAgent | false,
    resolve: (answer: HttpAnswer) => void,
    reject: (error: unknown) => void,
  ): void {
    const { url, method, headers, body, lookup } = this.#request;
    const isSecure = url.protocol === 'https:';
    const options = { ...this.#certificates, method, headers, lookup, agent, signal: this.#signal };
    const sent = (isSecure ? requestHttps : requestHttp)(url, options);
    this.#destroy = (error) => {
      reject(error);
      sent.destroy();
    };
    this.#limit(this.#request.connectMs, 'connect', 'no connection');
    sent.on('error', (error) => reject(new ExchangeError(this.#phase, error.message, error)));
    sent.once('socket', (socket) => {
      this.wasKept = sent.reusedSocket;
      if (!socket.connecting) return this.#connected();
      socket.once(isSecure ? 'secureConnect' : 'connect', () => this.#connected());
    });
    sent.once('response', (response) => {
      this.isAnswered = true;
      this.#read(response, resolve);
    });
    sent.end(body);
  }

  #connected(): void {
    this.#phase = 'read';
    this.#limit(this.#request.readMs, 'read', 'no whole answer');
  }

  #limit(ms: number, phase: ExchangeError['phase'], what: string): void {
    this.#cancelTimer();
    const late = () => this.#destroy(new ExchangeError(phase, `${what} within ${ms / 1000} s`));
    this.#cancelTimer = this.#time.after(ms, late);
  }

  #read(response: IncomingMessage, resolve: (answer: HttpAnswer) => void): void {
    const { statusCode: status = 0, headers } = response;
    const most = this.#request.mostBytes({ status, headers });
    if (most === 0) {
      response.destroy();
      return resolve({ status, headers, body: Buffer.alloc(0) });
    }
    const parts: Buffer[] = [];
    let bytes = 0;
    const tooLarge = () => this.#destroy(new ExchangeError('size', `the body has more than ${most} bytes`));
    if (Number(headers['content-length'] ?? 0) > most) return tooLarge();
    response.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes > most) return tooLarge();
      parts.push(part);
      return undefined;
    });
    response.on('error', (error) => this.#destroy(new ExchangeError('read', error.message, error)));
    response.once('end', () => {
      if (response.complete) resolve({ status, headers, body: Buffer.concat(parts, bytes) });
    });
    return undefined;
  }
}
