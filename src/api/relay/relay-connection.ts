// The connection of a call to its application: dials the application's WebSocket, and dials again after a
// lost one.
//
//   dialling ──▶ open ──lost──▶ dialling …
//
// The session itself is a RelayTalk.
import type { HandledCall, Talk } from '../../call/call-handler.js';
import type { RelayConfig } from '../../config/relay-config.js';
import { ApplicationSocket } from './application-socket.js';
import { callParameters, tellAction } from './relay-call.js';
import { MOST_MESSAGE_BYTES } from './relay-messages.js';
import { type RelayEnd, RelayTalk, type RelayTalkParts } from './relay-talk.js';

const FIRST_MS = 10_000; // for all attempts to reach the application at first
const BACK_OFF_MS = [250, 500, 1000, 2000, 4000] as const;
const MOST_UNREAD = 4 * 1024 * 1024; // bytes that the application has not read
/** The application closed the socket on purpose, with a code or without one. */
const CLOSED = [1000, 1005];

/** Connects calls with their applications. */
export function relayOpener(
  parts: RelayTalkParts,
): (handled: HandledCall, config: RelayConfig, told?: RelayTold) => Talk {
  return (handled, config, told) => new RelayConnection(handled, config, parts, told).talk;
}

/** Is told the end of the session before the call ends. */
export type RelayTold = (end: RelayEnd & { readonly sessionId: string }) => void;

class RelayConnection {
  readonly talk: RelayTalk;
  readonly #handled: HandledCall;
  readonly #config: RelayConfig;
  readonly #parts: RelayTalkParts;
  readonly #startedMs: number;
  readonly #told: RelayTold | undefined;
  #socket: ApplicationSocket | undefined;
  #attempts = 0;
  #cancelTimer: () => void = () => undefined;

  constructor(handled: HandledCall, config: RelayConfig, parts: RelayTalkParts, told?: RelayTold) {
    this.#told = told;
    this.#handled = handled;
    this.#config = config;
    this.#parts = parts;
    this.#startedMs = parts.time.now();
    this.talk = new RelayTalk(handled, config, parts, {
      name: config.name,
      kind: 'relay',
      ended: (end, closeCode) => this.#ended(end, closeCode),
    });
    this.#dial();
  }

  #dial(): void {
    const { url, authToken } = this.#config;
    const target = { url, authToken, mostMessageBytes: MOST_MESSAGE_BYTES, mostUnreadBytes: MOST_UNREAD };
    const { talk } = this;
    const socket: ApplicationSocket = new ApplicationSocket(
      target,
      {
        opened: () => talk.connected({ send: (message) => socket.send(JSON.stringify(message)) }),
        message: (data) => talk.receive(data),
        failed: (detail) => talk.warn({ detail }, 'the relay has an error'),
        closed: (code) => this.#closed(code),
      },
      this.#parts.time,
    );
    this.#socket = socket;
  }

  #closed(code: number): void {
    const { time } = this.#parts;
    const { talk } = this;
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

  #ended(end: RelayEnd, closeCode: number): void {
    const { status, handoffData, errorCode, errorMessage } = end;
    this.#told?.({ ...end, sessionId: this.talk.sessionId });
    this.#cancelTimer();
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
