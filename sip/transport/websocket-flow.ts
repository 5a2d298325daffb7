// A WebSocket as a flow (RFC 7118): one message of SIP in each of its messages.
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Time } from '../../src/time.js';
import { CloseListeners } from './close-listeners.js';
import { type Flow, type Place, plainAddress } from './flow.js';
import type { TransportLimits } from './limits.js';
import type { TransportCounts } from './transport-counts.js';

export interface WebSocketFlowOptions {
  readonly transport: 'ws' | 'wss';
  /** What the WebSocket runs over; its ends are those of the flow. */
  readonly socket: Socket;
  readonly limits: TransportLimits;
  readonly time: Time;
  readonly counts: TransportCounts;
  readonly received: (bytes: Buffer, flow: WebSocketFlow) => void;
  /** A message was handed to the system. */
  readonly sent?: ((bytes: Buffer, flow: WebSocketFlow) => void) | undefined;
}

const GOING_AWAY = 1001;
const PONG = Buffer.from('\r\n');

export class WebSocketFlow implements Flow {
  readonly transport: 'ws' | 'wss';
  readonly reliable = true;
  readonly local: Place;
  readonly remote: Place;
  readonly #webSocket: WebSocket;
  readonly #options: WebSocketFlowOptions;
  readonly #closing = new CloseListeners();
  #heard = 0;
  #heardMs: number;
  #spoke = false;
  #stopWatch: () => void;

  constructor(webSocket: WebSocket, options: WebSocketFlowOptions) {
    const { localAddress = '', localPort = 0, remoteAddress = '', remotePort = 0 } = options.socket;
    this.transport = options.transport;
    this.local = { address: plainAddress(localAddress), port: localPort };
    this.remote = { address: plainAddress(remoteAddress), port: remotePort };
    this.#webSocket = webSocket;
    this.#options = options;
    this.#heardMs = options.time.now();
    this.#stopWatch = options.time.after(options.limits.firstMessageMs, () => this.#check());
    webSocket.on('message', (data: Buffer) => this.#take(data));
    webSocket.on('error', () => options.counts.add('socket-errors'));
    webSocket.on('close', () => this.#gone());
  }

  get closed(): boolean {
    return this.#closing.done;
  }

  get received(): number {
    return this.#heard;
  }

  send(bytes: Buffer): boolean {
    if (this.closed || this.#webSocket.readyState !== this.#webSocket.OPEN) return false;
    if (this.#webSocket.bufferedAmount > this.#options.limits.unsentBytes) {
      this.#cut('reader-slow');
      return false;
    }
    this.#webSocket.send(bytes, { binary: false }); // browsers want text, and SIP is UTF-8
    if (bytes !== PONG) this.#options.sent?.(bytes, this);
    return true;
  }

  onClose(listener: () => void): () => void {
    return this.#closing.add(listener);
  }

  close(): void {
    if (this.closed) return;
    this.#webSocket.close(GOING_AWAY);
    this.#gone();
  }

  abandon(): void {
    if (!this.closed) this.#cut('unanswered');
  }

  #take(data: Buffer): void {
    if (this.closed) return;
    this.#heardMs = this.#options.time.now();
    this.#heard++;
    this.#spoke = true;
    const text = data.length <= 4 ? data.toString('latin1') : '';
    if (text === '\r\n\r\n') this.send(PONG);
    else if (text !== '\r\n') this.#options.received(data, this);
  }

  #check(): void {
    const { limits, time } = this.#options;
    if (!this.#spoke) this.#cut('first-message-missing');
    else if (time.now() - this.#heardMs >= limits.idleMs) this.#cut('idle');
    else this.#stopWatch = time.after(limits.idleMs, () => this.#check());
  }

  #cut(reason: 'first-message-missing' | 'idle' | 'reader-slow' | 'unanswered'): void {
    this.#options.counts.add(reason);
    this.#webSocket.terminate();
    this.#gone();
  }

  #gone(): void {
    this.#stopWatch();
    this.#closing.fire();
  }
}
