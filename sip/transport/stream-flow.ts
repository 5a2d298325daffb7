// Makes a TCP or TLS connection a flow: it frames messages, answers keep-alives, and limits how long
// and how much a peer may keep waiting.
import type { Socket } from 'node:net';
import { guarded } from '../../src/errors.js';
import type { Time } from '../../src/time.js';
import { CloseListeners, type Flow, type Place, plainAddress } from './flow.js';
import type { TransportCounts, TransportLimits } from './transport-limits.js';
import { type BrokenReason, type Framed, StreamFramer } from './stream-framer.js';

interface StreamFlowOptions {
  readonly transport: 'tcp' | 'tls';
  /** True if the peer connected: pings are answered, and the first message has a time limit. */
  readonly inbound: boolean;
  /** True if the peer's certificate was required and is valid. */
  readonly authenticated: boolean;
  readonly limits: TransportLimits;
  readonly time: Time;
  readonly counts: TransportCounts;
  readonly received: (bytes: Buffer, flow: StreamFlow) => void;
  /** Called when a message was handed to the system. */
  readonly sent?: ((bytes: Buffer, flow: StreamFlow) => void) | undefined;
}

const PING = Buffer.from('\r\n\r\n');
const PONG = Buffer.from('\r\n');
/** Silence after which TCP keep-alive probes a peer that we connected to: 10 probes, one second apart. */
const PROBE_MS = 30_000;

export class StreamFlow implements Flow {
  readonly transport: 'tcp' | 'tls';
  readonly reliable = true;
  readonly inbound: boolean;
  readonly authenticated: boolean;
  readonly local: Place;
  readonly remote: Place;
  readonly #socket: Socket;
  readonly #options: StreamFlowOptions;
  readonly #framer: StreamFramer;
  readonly #closing = new CloseListeners();
  #received = 0;
  #heardMs: number;
  #begunMs: number | undefined; // start of the message that is being received
  #spoke = false; // true once a whole message or ping was received
  #stopWatch: () => void;
  #pong: (() => void) | undefined;

  constructor(socket: Socket, options: StreamFlowOptions) {
    const { localAddress = '', localPort = 0, remoteAddress = '', remotePort = 0 } = socket;
    this.transport = options.transport;
    this.inbound = options.inbound;
    this.authenticated = options.authenticated;
    this.local = { address: plainAddress(localAddress), port: localPort };
    this.remote = { address: plainAddress(remoteAddress), port: remotePort };
    this.#socket = socket;
    this.#options = options;
    this.#framer = new StreamFramer(options.limits);
    this.#heardMs = options.time.now();
    this.#stopWatch = options.time.after(this.#nextCheckMs(), () => this.#check());
    socket.setNoDelay(true);
    if (!this.inbound) socket.setKeepAlive(true, PROBE_MS);
    const work = { work: 'SIP connection', transport: options.transport };
    socket.on(
      'data',
      guarded(
        work,
        (chunk: Buffer) => this.#take(chunk),
        () => this.#cut('defect'),
      ),
    );
    socket.on('error', () => options.counts.add('socket-errors'));
    socket.on('end', () => this.close());
    socket.on('close', () => this.#gone());
  }

  get closed(): boolean {
    return this.#closing.done;
  }

  get received(): number {
    return this.#received;
  }

  send(bytes: Buffer): boolean {
    if (this.closed) return false;
    if (!this.#socket.writable) {
      this.#gone(); // it was reset and its close event follows: the next request must use another flow
      return false;
    }
    if (this.#socket.writableLength > this.#options.limits.unsentBytes) {
      this.#cut('reader-slow');
      return false;
    }
    this.#socket.write(bytes);
    if (bytes !== PING && bytes !== PONG) this.#options.sent?.(bytes, this);
    return true;
  }

  /** Sends a keep-alive; `answered` is called when the peer answers it. */
  ping(answered: () => void): boolean {
    this.#pong = answered;
    return this.send(PING);
  }

  onClose(listener: () => void): () => void {
    return this.#closing.add(listener);
  }

  abandon(): void {
    if (!this.closed) this.#cut('unanswered');
  }

  /** Writes what was sent before and reads nothing more. */
  close(): void {
    if (this.closed) return;
    this.#socket.end();
    this.#socket.destroySoon();
    this.#gone();
  }

  #take(chunk: Buffer): void {
    const now = this.#options.time.now();
    this.#heardMs = now;
    this.#received++;
    const wasPending = this.#begunMs !== undefined;
    let isPinged = false;
    for (const framed of this.#framer.push(chunk)) {
      if (this.closed) return;
      isPinged ||= framed.kind === 'ping';
      this.#handle(framed);
      this.#begunMs = undefined;
    }
    if (isPinged) this.#answerPing();
    if (!this.#framer.pending) this.#begunMs = undefined;
    else this.#begunMs ??= now;
    if (!wasPending && this.#begunMs !== undefined) this.#watchAgain();
  }

  #handle(framed: Framed): void {
    switch (framed.kind) {
      case 'message':
        this.#spoke = true;
        this.#options.received(framed.bytes, this);
        return;
      case 'ping':
      case 'pong':
        this.#emptyLine();
        return;
      case 'broken':
        this.#break(framed.reason, framed.bytes);
    }
  }

  /** Only the peer that connected sends pings; two pongs in a row look like a ping and are not answered. */
  #emptyLine(): void {
    if (this.inbound) return;
    this.#pong?.();
    this.#pong = undefined;
  }

  /** One pong answers all pings of a chunk, so that a flood of empty lines is not amplified. */
  #answerPing(): void {
    if (!this.inbound || this.closed) return;
    this.#spoke = true;
    this.send(PONG);
  }

  /** Passes the incomplete message up, so that it is answered, and closes the connection. */
  #break(reason: BrokenReason, bytes: Buffer): void {
    this.#options.counts.add(reason);
    if (reason !== 'head-too-large') this.#options.received(bytes, this);
    this.close();
  }

  #nextCheckMs(): number {
    const { firstMessageMs, messageMs, idleMs } = this.#options.limits;
    if (this.#begunMs !== undefined) return messageMs;
    return this.inbound && !this.#spoke ? firstMessageMs : idleMs;
  }

  #watchAgain(): void {
    this.#stopWatch();
    this.#stopWatch = this.#options.time.after(this.#nextCheckMs(), () => this.#check());
  }

  #check(): void {
    const { limits, time } = this.#options;
    const now = time.now();
    if (this.#begunMs !== undefined && now - this.#begunMs >= limits.messageMs) this.#cut('message-slow');
    else if (this.inbound && !this.#spoke) this.#cut('first-message-missing');
    else if (now - this.#heardMs >= limits.idleMs) this.#cut('idle');
    else this.#watchAgain();
  }

  #cut(
    reason: 'message-slow' | 'first-message-missing' | 'idle' | 'reader-slow' | 'unanswered' | 'defect',
  ): void {
    this.#options.counts.add(reason);
    this.#socket.destroy();
    this.#gone();
  }

  #gone(): void {
    this.#stopWatch();
    this.#closing.fire();
  }
}
