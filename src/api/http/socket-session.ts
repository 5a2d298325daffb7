// One open WebSocket: what comes in through the gate, what goes out through the
// sender, whether the peer is still there, and one end for all of it.
//
//   open ──▶ closing ──▶ closed     (the conversation is over as soon as it closes)
import type { WebSocket } from 'ws';
import type { Log } from '../../observe/log.js';
import type { SocketMetrics } from '../../observe/metrics.js';
import type { Time } from '../../time.js';
import { MessageGate, type GateLimits } from './message-gate.js';
import type { Conversation, Dialect, Peer, Visit } from './socket-dialect.js';
import { SocketSender } from './socket-sender.js';

export interface SocketLimits extends GateLimits {
  /** Milliseconds for which a peer may take nothing of what waits for it. */
  readonly stallMs: number;
  /** Milliseconds between two pings. */
  readonly pingMs: number;
  /** Milliseconds without a sign of life after which a peer is gone. */
  readonly silenceMs: number;
  /** Milliseconds that a peer has for its half of the close. */
  readonly closeMs: number;
}

export interface SessionParts {
  readonly limits: SocketLimits;
  readonly time: Time;
  readonly log: Log;
  readonly metrics: SocketMetrics;
}

/** Why a socket ended, for metrics and the log. */
export type SocketEnd =
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

export class SocketSession {
  /** Resolves when the socket is closed and everything of its conversation is freed. */
  readonly ended: Promise<void>;
  readonly #socket: WebSocket;
  readonly #parts: SessionParts;
  readonly #dialect: Dialect;
  readonly #visit: Visit;
  readonly #gate: MessageGate;
  readonly #sender: SocketSender;
  readonly #openedAtMs: number;
  #conversation: Conversation | undefined;
  #messagesIn = 0;
  /** When the peer was last heard, or last sent something that it may be busy with. */
  #aliveAtMs: number;
  #forgetPing: () => void = () => undefined;
  #forgetClose: () => void = () => undefined;
  #end: SocketEnd | undefined;
  #freed: Promise<void> | undefined;

  constructor(socket: WebSocket, dialect: Dialect, visit: Visit, parts: SessionParts) {
    const { limits, time } = parts;
    this.#socket = socket;
    this.#dialect = dialect;
    this.#visit = visit;
    this.#parts = parts;
    this.#openedAtMs = this.#aliveAtMs = time.now();
    this.#gate = new MessageGate({
      limits,
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
    this.#guarded(() => (this.#conversation = dialect.open(this.#peer(), visit)));
    if (this.#end !== undefined) void this.#free(); // closed by its dialect while it was opened
  }

  /** Ends the conversation at once and the socket as soon as the peer agrees. Idempotent: the first reason counts. */
  close(code: number, reason: string, end: SocketEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    void this.#free();
    const { limits, time } = this.#parts;
    this.#forgetClose = time.after(limits.closeMs, () => this.#socket.terminate());
    this.#socket.close(code, cut(reason));
    this.#socket.resume(); // the peer's half of the close is behind what was not read
  }

  #peer(): Peer {
    return {
      send: (message) => {
        if (this.#end !== undefined) return;
        this.#aliveAtMs = this.#parts.time.now();
        this.#parts.metrics.message(this.#dialect.name, 'out');
        this.#sender.send(message);
      },
      drained: () => this.#sender.drained(),
      close: (code, reason) => this.close(code, reason, 'dialect'),
    };
  }

  #listen(resolve: () => void): void {
    const socket = this.#socket;
    const heard = () => (this.#aliveAtMs = this.#parts.time.now());
    socket.on('message', (data, isBinary) => {
      heard();
      if (this.#end === undefined) this.#gate.take(isBinary ? (data as Buffer) : (data as Buffer).toString());
    });
    socket.on('pong', heard);
    socket.on('ping', heard);
    // The peer broke the protocol: ws has begun to close with the code for it.
    socket.on('error', () => this.close(PROTOCOL, '', 'protocol'));
    socket.once('close', (code) => {
      this.#end ??= code === 1006 ? 'vanished' : 'client';
      this.#forgetClose();
      void this.#free().then(() => {
        this.#tell(code);
        resolve();
      });
    });
  }

  #deliver(message: string | Buffer): void {
    this.#messagesIn++;
    this.#parts.metrics.message(this.#dialect.name, 'in');
    this.#guarded(() => this.#conversation?.message(message));
  }

  /** A dialect must not throw; where one does, its own socket ends and nothing else. */
  #guarded(action: () => void): void {
    try {
      action();
    } catch (error) {
      const { requestId } = this.#visit;
      this.#parts.log.error({ requestId, dialect: this.#dialect.name, err: error }, 'socket failed');
      this.close(FAILED, `the server failed; its log has more under ${requestId}`, 'failed');
    }
  }

  #resume(): void {
    this.#aliveAtMs = this.#parts.time.now(); // what it said meanwhile was not read
    this.#socket.resume();
  }

  #planPing(): void {
    const { limits, time } = this.#parts;
    this.#forgetPing = time.after(limits.pingMs, () => {
      const silentMs = time.now() - this.#aliveAtMs;
      // One that is slowed down cannot be heard; of one that takes nothing the sender knows.
      const judged = !this.#gate.holds && this.#socket.bufferedAmount === 0;
      if (judged && silentMs >= limits.silenceMs) return this.#drop('dead');
      this.#socket.ping();
      this.#planPing();
      return undefined;
    });
  }

  /** Ends a socket whose peer would not hear a close. */
  #drop(end: SocketEnd): void {
    this.close(TRY_LATER, end, end);
    this.#socket.terminate();
  }

  /** Stops everything that the socket was for; once. */
  #free(): Promise<void> {
    this.#gate.close();
    this.#sender.close();
    this.#forgetPing();
    if (this.#conversation === undefined) return Promise.resolve();
    this.#freed ??= this.#closed(this.#conversation);
    return this.#freed;
  }

  async #closed(conversation: Conversation): Promise<void> {
    try {
      await conversation.closed();
    } catch (error) {
      const { requestId } = this.#visit;
      this.#parts.log.error({ requestId, dialect: this.#dialect.name, err: error }, 'socket not freed');
    }
  }

  #tell(code: number): void {
    const { metrics, log, time } = this.#parts;
    const end = this.#end ?? 'client';
    metrics.closed(this.#dialect.name, end);
    log.info(
      {
        requestId: this.#visit.requestId,
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
