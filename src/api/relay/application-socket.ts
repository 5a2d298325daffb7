// The WebSocket to an application that this server dials for one call: a signed handshake, pings, and a bound
// for what the application has not read. It is dialled once; whoever owns it decides whether to dial another.
import { WebSocket } from 'ws';
import { attempt, guarded } from '../../errors.js';
import type { Time } from '../../time.js';
import { relaySignature } from './relay-call.js';

const DIAL_MS = 5000; // of the handshake
const PING_MS = 20_000;
const NORMAL = 1000;

interface SocketTarget {
  readonly url: string;
  /** Signs the handshake; undefined: it is not signed. */
  readonly authToken: string | undefined;
  /** The largest message of the application, in bytes; a larger one ends the socket. */
  readonly mostMessageBytes: number;
  /** Bytes that the application may leave unread before the socket is ended. */
  readonly mostUnreadBytes: number;
}

/** Nothing is told any more once the owner has closed the socket. */
interface SocketListener {
  readonly opened: () => void;
  readonly message: (data: string | Buffer) => void;
  readonly failed: (detail: string) => void;
  /** The socket is gone, or never opened. The owner did not close it. */
  readonly closed: (code: number) => void;
}

export class ApplicationSocket {
  readonly #socket: WebSocket;
  readonly #mostUnreadBytes: number;
  readonly #time: Time;
  #isLeft = false;
  #cancelPing: () => void = () => undefined;

  constructor(target: SocketTarget, listener: SocketListener, time: Time) {
    const { url, authToken, mostMessageBytes, mostUnreadBytes } = target;
    this.#mostUnreadBytes = mostUnreadBytes;
    this.#time = time;
    const signature = authToken === undefined ? {} : { 'x-twilio-signature': relaySignature(authToken, url) };
    const socket = new WebSocket(url, {
      headers: { 'user-agent': 'parley', ...signature },
      handshakeTimeout: DIAL_MS,
      maxPayload: mostMessageBytes,
      followRedirects: false, // words and sound of a call go only to the address that the operator configured
      perMessageDeflate: false,
    });
    this.#socket = socket;
    const work = { work: 'application socket' };
    const end = () => socket.terminate(); // 'close' follows
    const opened = () => {
      if (this.#isLeft) return;
      this.#ping();
      listener.opened();
    };
    const message = (data: Buffer, isBinary: boolean) => {
      if (!this.#isLeft) listener.message(isBinary ? data : data.toString('utf8'));
    };
    socket.on('open', guarded(work, opened, end));
    socket.on('message', guarded(work, message, end));
    socket.on('error', (error) => {
      if (!this.#isLeft) attempt(work, () => listener.failed(error.message));
    });
    socket.on('close', (code) => {
      this.#cancelPing();
      if (this.#isLeft) return;
      this.#isLeft = true;
      attempt(work, () => listener.closed(code));
    });
  }

  /** Bytes that the application has not read. */
  get unreadBytes(): number {
    return this.#socket.bufferedAmount;
  }

  /** Ends the socket of an application that does not read. */
  send(text: string): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    if (this.#socket.bufferedAmount > this.#mostUnreadBytes) this.#socket.terminate();
    else this.#socket.send(text);
  }

  /** Idempotent. */
  close(code = NORMAL): void {
    this.#isLeft = true;
    this.#cancelPing();
    this.#socket.close(code);
  }

  /** An application that answers no ping is lost. */
  #ping(): void {
    let isHeard = true;
    this.#socket.on('pong', () => (isHeard = true));
    const beat = () => {
      if (!isHeard) return this.#socket.terminate();
      isHeard = false;
      this.#socket.ping();
      this.#cancelPing = this.#time.after(PING_MS, beat);
      return undefined;
    };
    this.#cancelPing = this.#time.after(PING_MS, beat);
  }
}
