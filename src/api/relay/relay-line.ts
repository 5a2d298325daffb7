// The line of a call to its application: dials the application's WebSocket, and dials again after a lost one.
//
//   dialling ──▶ open ──lost──▶ dialling …
//
// The session itself is a RelayTalk.
import { WebSocket } from 'ws';
import type { HandledCall, Talk } from '../../call/call-handler.js';
import type { RelayConfig } from '../../config/relay-config.js';
import { callParameters, relaySignature, tellAction } from './relay-call.js';
import { MOST_MESSAGE_BYTES } from './relay-messages.js';
import { type RelayEnd, RelayTalk, type RelayTalkParts } from './relay-talk.js';

const DIAL_MS = 5000; // of one handshake
const FIRST_MS = 10_000; // for all attempts to reach the application at first
const BACK_OFF_MS = [250, 500, 1000, 2000, 4000] as const;
const PING_MS = 20_000;
const MOST_UNREAD = 4 * 1024 * 1024; // bytes that the application has not read
/** The application closed the socket on purpose, with a code or without one. */
const CLOSED = [1000, 1005];

/** Connects calls with their applications. */
export function relayOpener(parts: RelayTalkParts): (handled: HandledCall, config: RelayConfig) => Talk {
  return (handled, config) => new RelayLine(handled, config, parts).talk;
}

class RelayLine {
  readonly talk: RelayTalk;
  readonly #handled: HandledCall;
  readonly #config: RelayConfig;
  readonly #parts: RelayTalkParts;
  readonly #startedMs: number;
  #socket: WebSocket | undefined;
  #attempts = 0;
  #cancelTimer: () => void = () => undefined;
  #cancelPing: () => void = () => undefined;

  constructor(handled: HandledCall, config: RelayConfig, parts: RelayTalkParts) {
    this.#handled = handled;
    this.#config = config;
    this.#parts = parts;
    this.#startedMs = parts.time.now();
    this.talk = new RelayTalk(handled, config, parts, {
      name: config.name,
      ended: (end, closeCode) => this.#ended(end, closeCode),
    });
    this.#dial();
  }

  #dial(): void {
    const { url, authToken } = this.#config;
    const signature = authToken === undefined ? {} : { 'x-twilio-signature': relaySignature(authToken, url) };
    const socket = new WebSocket(url, {
      headers: { 'user-agent': 'parley', ...signature },
      handshakeTimeout: DIAL_MS,
      maxPayload: MOST_MESSAGE_BYTES,
      followRedirects: false, // the words of a call go only to the address that the operator configured
      perMessageDeflate: false,
    });
    this.#socket = socket;
    const isCurrent = () => this.#socket === socket && !this.talk.isOver;
    socket.on('open', () => isCurrent() && this.#opened(socket));
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      if (isCurrent()) this.talk.receive(isBinary ? data : data.toString('utf8'));
    });
    socket.on('error', (error) => this.talk.warn({ detail: error.message }, 'the relay has an error'));
    socket.on('close', (code) => isCurrent() && this.#closed(code));
  }

  #opened(socket: WebSocket): void {
    this.#ping(socket);
    this.talk.connected({
      send: (text) => {
        if (socket.bufferedAmount > MOST_UNREAD)
          socket.terminate(); // it does not read
        else socket.send(text);
      },
    });
  }

  /** An application that answers no ping is lost. */
  #ping(socket: WebSocket): void {
    let isHeard = true;
    socket.on('pong', () => (isHeard = true));
    const beat = () => {
      if (!isHeard) return socket.terminate();
      isHeard = false;
      socket.ping();
      this.#cancelPing = this.#parts.time.after(PING_MS, beat);
      return undefined;
    };
    this.#cancelPing = this.#parts.time.after(PING_MS, beat);
  }

  #closed(code: number): void {
    const { time } = this.#parts;
    const { talk } = this;
    this.#cancelPing();
    this.#socket = undefined;
    if (talk.isConnected) {
      const isNew = talk.lost(CLOSED.includes(code), `the application ended the socket with code ${code}`);
      if (talk.isOver) return undefined;
      if (isNew) this.#attempts = 0;
    }
    const leftMs = talk.wasConnected ? talk.resumeMs : this.#startedMs + FIRST_MS - time.now();
    const backOffMs = BACK_OFF_MS[Math.min(this.#attempts++, BACK_OFF_MS.length - 1)] ?? 0;
    if (backOffMs > leftMs) {
      if (talk.wasConnected) return talk.fail('64105', 'the application did not come back');
      return talk.fail('64102', 'the application cannot be reached');
    }
    this.#cancelTimer = time.after(backOffMs, () => this.#dial());
    return undefined;
  }

  #ended({ status, handoffData, errorCode, errorMessage }: RelayEnd, closeCode: number): void {
    this.#cancelTimer();
    this.#cancelPing();
    this.#socket?.close(closeCode);
    this.#socket = undefined;
    const { action, authToken } = this.#config;
    if (action === undefined) return;
    const seconds = Math.round((this.#parts.time.now() - this.#startedMs) / 1000);
    const fields = {
      ...callParameters(this.#handled),
      SessionId: this.talk.sessionId,
      SessionStatus: status,
      SessionDuration: String(seconds),
      CallStatus: status === 'completed' ? 'completed' : 'in-progress',
      HandoffData: handoffData,
      ErrorCode: errorCode,
      ErrorMessage: errorMessage,
    };
    tellAction({ action, authToken, fields, time: this.#parts.time }).catch((error: unknown) =>
      this.talk.warn({ err: error }, 'the action of the relay was not told'),
    );
  }
}
