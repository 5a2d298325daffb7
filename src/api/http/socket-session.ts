// Runs one open WebSocket: it joins the throttle, the sender and the handler, pings the peer, and ends
// all of them together.
//
//   open ──▶ closing ──▶ closed     (the handler ends as soon as closing begins)
import type { WebSocket } from 'ws';
import { MessageRate, type MessageRateLimits } from '../../call/client-limits.js';
import type { Log } from '../../log.js';
import type { SocketMetrics } from './http-metrics.js';
import type { Time } from '../../time.js';
import type { SocketHandler, Dialect, Handshake, Peer } from './socket-dialect.js';

export interface SocketLimits extends ThrottleLimits {
  /** Write timeout in milliseconds: how long a peer may leave sent data unread. */
  readonly stallMs: number;
  /** Milliseconds between pings. */
  readonly pingMs: number;
  /** Milliseconds of silence after which a peer counts as dead. */
  readonly silenceMs: number;
  /** Time limit in milliseconds for the close frame of the peer. */
  readonly closeMs: number;
}

interface SessionParts {
  readonly limits: SocketLimits;
  readonly time: Time;
  readonly log: Log;
  readonly metrics: SocketMetrics;
}

/** The reason why a socket ended, for metrics and the log. */
type SocketEnd =
  | 'client'
  | 'vanished'
  | 'dead'
  | 'stalled'
  | 'flood'
  | 'protocol'
  | 'unauthorized'
  | 'dialect'
  | 'failed'
  | 'server';

const PROTOCOL = 1002;
const POLICY = 1008;
const FAILED = 1011;
const TRY_LATER = 1013;
const MOST_REASON_BYTES = 123; // RFC 6455, section 5.5

/** Sound of 48 kHz in base64 at ten times its speed. */
const SOUND_LIMITS = {
  bytes: { perSecond: 1_300_000, burst: 2 * 1024 * 1024 },
  floodMs: Infinity,
};

export class SocketSession {
  /** Resolves when the socket is closed and everything of its handler is freed. */
  readonly ended: Promise<void>;
  readonly #socket: WebSocket;
  readonly #parts: SessionParts;
  readonly #dialect: Dialect;
  readonly #handshake: Handshake;
  readonly #throttle: MessageThrottle;
  readonly #sender: SocketSender;
  readonly #openedAtMs: number;
  #handler: SocketHandler | undefined;
  #messagesIn = 0;
  /** When the peer last sent something, or was last sent something that may keep it busy. */
  #aliveAtMs: number;
  #cancelPing: () => void = () => undefined;
  #cancelClose: () => void = () => undefined;
  #end: SocketEnd | undefined;
  #freed: Promise<void> | undefined;

  constructor(socket: WebSocket, dialect: Dialect, handshake: Handshake, parts: SessionParts) {
    const { limits, time } = parts;
    this.#socket = socket;
    this.#dialect = dialect;
    this.#handshake = handshake;
    this.#parts = parts;
    this.#openedAtMs = this.#aliveAtMs = time.now();
    this.#throttle = new MessageThrottle({
      limits: dialect.carriesSound === true ? { ...limits, ...SOUND_LIMITS } : limits,
      time,
      deliver: (message) => this.#deliver(message),
      pause: () => socket.pause(),
      resume: () => this.#resume(),
      flooded: (limit) => this.close(POLICY, `${limit}, for ${limits.floodMs / 1000} s`, 'flood'),
    });
    this.#sender = new SocketSender({
      socket,
      time,
      stallMs: limits.stallMs,
      stalled: () => this.#drop('stalled'),
    });
    this.ended = new Promise((resolve) => this.#listen(resolve));
    parts.metrics.opened(dialect.name);
    this.#planPing();
    this.#guarded(() => (this.#handler = dialect.open(this.#peer(), handshake)));
    if (this.#end !== undefined) void this.#free(); // the dialect closed it during `open`
  }

  /**
   * Ends the handler at once, and the socket when the peer confirms. Idempotent: the first reason
   * counts.
   */
  close(code: number, reason: string, end: SocketEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    void this.#free();
    const { limits, time } = this.#parts;
    this.#cancelClose = time.after(limits.closeMs, () => this.#socket.terminate());
    this.#socket.close(code, cut(reason));
    this.#socket.resume(); // the close frame of the peer comes after unread data
  }

  #peer(): Peer {
    const socket = this.#socket;
    return {
      send: (message) => {
        if (this.#end !== undefined) return;
        this.#aliveAtMs = this.#parts.time.now();
        this.#parts.metrics.message(this.#dialect.name, 'out');
        this.#sender.send(message);
      },
      drained: () => this.#sender.drained(),
      get unreadBytes() {
        return socket.bufferedAmount;
      },
      close: (code, reason) => this.close(code, reason, 'dialect'),
    };
  }

  #listen(resolve: () => void): void {
    const socket = this.#socket;
    const alive = () => (this.#aliveAtMs = this.#parts.time.now());
    socket.on('message', (data, isBinary) => {
      alive();
      if (this.#end === undefined)
        this.#throttle.take(isBinary ? (data as Buffer) : (data as Buffer).toString());
    });
    socket.on('pong', alive);
    socket.on('ping', alive);
    // The peer broke the protocol, and ws has begun to close with the fitting code.
    socket.on('error', () => this.close(PROTOCOL, '', 'protocol'));
    socket.once('close', (code) => {
      this.#end ??= code === 1006 ? 'vanished' : 'client';
      this.#cancelClose();
      void this.#free().then(() => {
        this.#report(code);
        resolve();
      });
    });
  }

  #deliver(message: string | Buffer): void {
    this.#messagesIn++;
    this.#parts.metrics.message(this.#dialect.name, 'in');
    this.#guarded(() => this.#handler?.message(message));
  }

  /** A dialect must not throw. If one does, only its own socket is closed. */
  #guarded(action: () => void): void {
    try {
      action();
    } catch (error) {
      const { requestId } = this.#handshake;
      this.#parts.log.error({ requestId, dialect: this.#dialect.name, err: error }, 'socket failed');
      this.close(FAILED, `the server failed; its log has more under ${requestId}`, 'failed');
    }
  }

  #resume(): void {
    this.#aliveAtMs = this.#parts.time.now(); // data that arrived meanwhile was not read
    this.#socket.resume();
  }

  #planPing(): void {
    const { limits, time } = this.#parts;
    this.#cancelPing = time.after(limits.pingMs, () => this.#guarded(() => this.#ping()));
  }

  #ping(): void {
    const { limits, time } = this.#parts;
    const silentMs = time.now() - this.#aliveAtMs;
    // A throttled peer is not read, and the sender detects a peer that reads nothing.
    const silenceCounts = !this.#throttle.holds && this.#socket.bufferedAmount === 0;
    if (silenceCounts && silentMs >= limits.silenceMs) return this.#drop('dead');
    this.#socket.ping();
    return this.#planPing();
  }

  /** Ends a socket without waiting for the peer. */
  #drop(end: SocketEnd): void {
    this.close(TRY_LATER, end, end);
    this.#socket.terminate();
  }

  /** Stops everything that the socket was used for. Idempotent. */
  #free(): Promise<void> {
    this.#throttle.close();
    this.#sender.close();
    this.#cancelPing();
    if (this.#handler === undefined) return Promise.resolve();
    this.#freed ??= this.#closed(this.#handler);
    return this.#freed;
  }

  async #closed(handler: SocketHandler): Promise<void> {
    try {
      await handler.closed();
    } catch (error) {
      const { requestId } = this.#handshake;
      this.#parts.log.error({ requestId, dialect: this.#dialect.name, err: error }, 'socket not freed');
    }
  }

  #report(code: number): void {
    const { metrics, log, time } = this.#parts;
    const end = this.#end ?? 'client';
    metrics.closed(this.#dialect.name, end);
    log.info(
      {
        requestId: this.#handshake.requestId,
        dialect: this.#dialect.name,
        end,
        code,
        ms: Math.round(time.now() - this.#openedAtMs),
        messagesIn: this.#messagesIn,
        messagesOut: this.#sender.messages,
        bytesOut: this.#sender.bytes,
      },
      'socket closed',
    );
  }
}

function cut(reason: string): string {
  return Buffer.from(reason)
    .subarray(0, MOST_REASON_BYTES)
    .toString()
    .replace(/\ufffd$/, '');
}

// Controls the flow of one socket in both directions. The throttle limits the rate of incoming messages and
// detects floods. The sender bounds what is buffered for the peer and detects a peer that reads nothing.

interface ThrottleLimits {
  readonly messages: MessageRateLimits;
  readonly bytes: MessageRateLimits;
  /** Milliseconds of continuous throttling after which a client is a flood. */
  readonly floodMs: number;
}

interface GateParts {
  readonly limits: ThrottleLimits;
  readonly time: Time;
  readonly deliver: (message: string | Buffer) => void;
  /** Stop and resume reading. Messages that were read already still arrive. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** Called once, with the limit in words. */
  readonly flooded: (limit: string) => void;
}

/** The part of a socket that sends. */
interface SendingSocket {
  /** Bytes given to `send` that the operating system has not accepted yet. */
  readonly bufferedAmount: number;
  send(message: string | Uint8Array, taken: () => void): void;
}

interface SenderParts {
  readonly socket: SendingSocket;
  readonly time: Time;
  /** Write timeout in milliseconds: how long the peer may leave sent data unread. */
  readonly stallMs: number;
  /** Called once if the peer does not read. */
  readonly stalled: () => void;
}

const LEAST_HOLD_MS = 50; // saves a timer for each message
const REST_MS = 5000; // time without throttling after which a flood is over
// Below this level a dialect sends the next chunk. Buffered audio is heard even after a cancellation, so it
// is limited to two chunks.
const DRAINED_BYTES = 32 * 1024;
const MOST_BYTES = 4 * 1024 * 1024; // buffered; above it the peer is taken for stalled
const SLOWEST_BYTES_PER_MS = 16; // the slowest accepted rate for one large message

/**
 * Passes messages on at the allowed rate. Messages above it wait, and reading pauses, which slows the client
 * down. A client that stays over the limit for `floodMs` is a flood.
 */
class MessageThrottle {
  readonly #parts: GateParts;
  readonly #messages: MessageRate;
  readonly #bytes: MessageRate;
  /** Messages that were read but not delivered: at most those of one read of the connection. */
  #waiting: (string | Buffer)[] = [];
  #cancelHold: (() => void) | undefined;
  #pressedSinceMs = 0;
  #heldUntilMs = -Infinity;
  #closed = false;

  constructor(parts: GateParts) {
    const nowMs = parts.time.now();
    this.#parts = parts;
    this.#messages = new MessageRate(parts.limits.messages, nowMs);
    this.#bytes = new MessageRate(parts.limits.bytes, nowMs);
  }

  /** True while reading is paused. */
  get holds(): boolean {
    return this.#cancelHold !== undefined;
  }

  take(message: string | Buffer): void {
    if (this.#closed) return;
    this.#waiting.push(message);
    if (!this.holds) this.#flow();
  }

  /** Stops delivering and cancels the timer. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#waiting = [];
    this.#cancelHold?.();
    this.#cancelHold = undefined;
  }

  #flow(): void {
    let delivered = 0;
    for (const message of this.#waiting) {
      const nowMs = this.#parts.time.now();
      const size = Buffer.byteLength(message);
      const messagesMs = this.#messages.waitMs(nowMs);
      const bytesMs = this.#bytes.waitMs(nowMs, size);
      if (messagesMs > 0 || bytesMs > 0) {
        this.#waiting.splice(0, delivered);
        this.#hold(Math.max(messagesMs, bytesMs), bytesMs > messagesMs, nowMs);
        return;
      }
      this.#messages.admits(nowMs);
      this.#bytes.admits(nowMs, size);
      delivered++;
      this.#parts.deliver(message);
      if (this.#closed) return;
    }
    this.#waiting = [];
  }

  #hold(waitMs: number, bytes: boolean, nowMs: number): void {
    const { limits, time, pause, resume, flooded } = this.#parts;
    if (nowMs - this.#heldUntilMs > REST_MS) this.#pressedSinceMs = nowMs;
    if (nowMs - this.#pressedSinceMs >= limits.floodMs) {
      this.close();
      flooded(
        bytes
          ? `more than ${limits.bytes.perSecond} bytes a second`
          : `more than ${limits.messages.perSecond} messages a second`,
      );
      return;
    }
    const holdMs = Math.max(waitMs, LEAST_HOLD_MS);
    this.#heldUntilMs = nowMs + holdMs;
    pause();
    this.#cancelHold = time.after(holdMs, () => {
      this.#cancelHold = undefined;
      this.#flow();
      if (!this.holds && !this.#closed) resume();
    });
  }
}

class SocketSender {
  readonly #parts: SenderParts;
  #waiters: (() => void)[] = [];
  #cancelStall: (() => void) | undefined;
  #closed = false;
  messages = 0;
  bytes = 0;

  constructor(parts: SenderParts) {
    this.#parts = parts;
  }

  send(message: string | Uint8Array): void {
    const { socket } = this.#parts;
    if (this.#closed) return;
    if (socket.bufferedAmount > MOST_BYTES) {
      this.#stall();
      return;
    }
    this.messages++;
    this.bytes += Buffer.byteLength(message);
    socket.send(message, () => this.#taken());
    this.#watch();
  }

  drained(): Promise<void> {
    if (this.#closed || this.#parts.socket.bufferedAmount <= DRAINED_BYTES) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  /** Stops sending, resolves every `drained` and cancels the timer. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#cancelTimer();
    for (const wake of this.#waiters.splice(0)) wake();
  }

  #taken(): void {
    this.#cancelTimer();
    if (this.#closed) return;
    if (this.#parts.socket.bufferedAmount <= DRAINED_BYTES) {
      for (const wake of this.#waiters.splice(0)) wake();
    }
    this.#watch();
  }

  #watch(): void {
    const { socket, time, stallMs } = this.#parts;
    const waiting = socket.bufferedAmount;
    if (waiting === 0 || this.#cancelStall !== undefined) return;
    this.#cancelStall = time.after(stallMs + waiting / SLOWEST_BYTES_PER_MS, () => this.#stall());
  }

  #stall(): void {
    this.close();
    this.#parts.stalled();
  }

  #cancelTimer(): void {
    this.#cancelStall?.();
    this.#cancelStall = undefined;
  }
}
