// The line of a call to its application: dials the application's WebSocket, resumes the session after a lost
// socket, and ends the session on either side.
//
//   connecting ──▶ open ⇄ lost ──▶ ended: completed (the caller hung up), ended (the application), failed
//
// Twilio's own relay never dials again. This one does, unless the agent says `"lostSocket": "end"`: the
// caller hears a phrase, what the caller does meanwhile waits, and the next socket begins with the same
// `setup` and `"resumed": true`.
import { WebSocket } from 'ws';
import type { HandledCall, Talk } from '../../call/call-handler.js';
import type { RelayConfig } from '../../config/relay-config.js';
import { ParleyError } from '../../errors.js';
import { MOST_MESSAGE_BYTES } from './relay-messages.js';
import { type RelayParts, RelaySession } from './relay-session.js';
import { callParameters, relaySignature, setupMessage, tellAction } from './relay-call.js';

const DIAL_MS = 5000; // of one handshake
const FIRST_MS = 10_000; // for all attempts to reach the application at first
const RESUME_MS = 30_000; // and after a loss
const BACK_OFF_MS = [250, 500, 1000, 2000, 4000] as const;
const PING_MS = 20_000;
const MOST_WAITING = 200; // messages while there is no socket
const MOST_UNREAD = 4 * 1024 * 1024; // bytes that the application has not read
const LAST_WORDS_MS = 60_000;
const NORMAL = 1000;
const BAD_DATA = 1007;

interface LineParts extends RelayParts {
  /** Cryptographically strong. */
  readonly randomBytes: (count: number) => Buffer;
}

/** Connects calls with their applications. */
export function relayOpener(parts: LineParts): (handled: HandledCall, config: RelayConfig) => Talk {
  return (handled, config) => new RelayLine(handled, config, parts);
}

interface RelayEnd {
  readonly status: 'completed' | 'ended' | 'failed';
  readonly handoffData?: string | undefined;
  readonly errorCode?: string;
  readonly errorMessage?: string;
}

class RelayLine implements Talk {
  readonly #handled: HandledCall;
  readonly #config: RelayConfig;
  readonly #parts: RelayParts;
  readonly #session: RelaySession;
  readonly #sessionId: string;
  readonly #startedMs: number;
  #socket: WebSocket | undefined;
  #isOpen = false;
  #wasOpen = false;
  #lostMs: number;
  #attempts = 0;
  #waiting: string[] = [];
  #cancelTimer: () => void = () => undefined;
  #cancelPing: () => void = () => undefined;
  #end: RelayEnd | undefined;

  constructor(handled: HandledCall, config: RelayConfig, parts: LineParts) {
    this.#handled = handled;
    this.#config = config;
    this.#parts = parts;
    this.#sessionId = `VX${parts.randomBytes(16).toString('hex')}`;
    this.#startedMs = this.#lostMs = parts.time.now();
    this.#session = new RelaySession(handled, config, parts, {
      send: (message) => this.#send(message),
      refuse: () => this.#failed('64107', 'ten messages in a row could not be read', BAD_DATA),
      ended: (handoffData) => void this.#ended(handoffData),
    });
    void handled.call.closed.then(() => this.#over({ status: 'completed' }));
    this.#dial();
  }

  /** What a user types is a prompt like any other. */
  typed(text: string): void {
    if (text.trim() === '') throw new ParleyError('TEXT_EMPTY', 'text must not be empty', { field: 'text' });
    this.#handled.call.interrupt('text typed');
    const lang = this.#config.transcriptionLanguage;
    this.#session.asked();
    this.#send({ type: 'prompt', voicePrompt: text.trim(), lang, last: true });
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
    const isCurrent = () => this.#socket === socket && this.#end === undefined;
    socket.on('open', () => isCurrent() && this.#opened(socket));
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      if (isCurrent()) this.#session.receive(isBinary ? data : data.toString('utf8'));
    });
    socket.on('error', (error) => this.#warn({ detail: error.message }, 'the relay has an error'));
    socket.on('close', (code) => isCurrent() && this.#closed(code));
  }

  #opened(socket: WebSocket): void {
    const isResumed = this.#wasOpen;
    this.#isOpen = this.#wasOpen = true;
    this.#attempts = 0;
    const setup = setupMessage(this.#handled, this.#config, this.#sessionId);
    socket.send(JSON.stringify(isResumed ? { ...setup, resumed: true } : setup));
    for (const message of this.#waiting.splice(0)) socket.send(message);
    this.#parts.log.info(
      { call: this.#handled.call.id, relay: this.#config.name, isResumed },
      'relay connected',
    );
    this.#ping(socket);
    if (!isResumed) this.#session.greet();
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

  #send(message: object): void {
    const text = JSON.stringify(message);
    if (this.#end !== undefined) return;
    if (this.#isOpen && this.#socket !== undefined) {
      if (this.#socket.bufferedAmount > MOST_UNREAD)
        this.#socket.terminate(); // it does not read
      else this.#socket.send(text);
      return;
    }
    if (this.#waiting.length >= MOST_WAITING) {
      this.#waiting.shift();
      this.#warn({}, 'a message for the relay was dropped: too many wait for its socket');
    }
    this.#waiting.push(text);
  }

  #closed(code: number): void {
    const { time } = this.#parts;
    this.#cancelPing();
    this.#socket = undefined;
    if (this.#isOpen) {
      this.#isOpen = false;
      this.#lostMs = time.now();
      this.#session.detached();
      this.#warn({ code }, 'the relay is lost');
      if (this.#config.lostSocket === 'end' || code === NORMAL)
        return this.#failed('64105', `the application ended the socket with code ${code}`);
      this.#session.say(this.#config.holdPhrase, 'none');
    }
    const limitMs = this.#wasOpen ? RESUME_MS : FIRST_MS;
    const backOffMs = BACK_OFF_MS[Math.min(this.#attempts++, BACK_OFF_MS.length - 1)] ?? 0;
    if (time.now() + backOffMs - this.#lostMs > limitMs) {
      const [error, message] = this.#wasOpen
        ? (['64105', 'the application did not come back'] as const)
        : (['64102', 'the application cannot be reached'] as const);
      return this.#failed(error, message);
    }
    this.#cancelTimer = time.after(backOffMs, () => this.#dial());
    return undefined;
  }

  /** The application has ended the session: the last word is heard, then the call ends. */
  async #ended(handoffData: string | undefined): Promise<void> {
    if (this.#end !== undefined) return;
    await this.#lastWords(this.#session.spoken());
    this.#over({ status: 'ended', handoffData });
    await this.#handled.hangUp();
  }

  #failed(errorCode: string, errorMessage: string, closeCode = NORMAL): void {
    if (this.#end !== undefined) return;
    this.#warn({ errorCode }, errorMessage);
    this.#over({ status: 'failed', errorCode, errorMessage }, closeCode);
    const utterance = this.#session.say(this.#config.failurePhrase, 'none');
    void this.#lastWords(utterance?.ended ?? Promise.resolve()).then(() => this.#handled.hangUp());
  }

  #over(end: RelayEnd, closeCode = NORMAL): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#cancelTimer();
    this.#cancelPing();
    this.#socket?.close(closeCode);
    this.#socket = undefined;
    if (end.status !== 'failed') this.#session.close();
    const { action, authToken } = this.#config;
    if (action === undefined) return;
    const seconds = Math.round((this.#parts.time.now() - this.#startedMs) / 1000);
    const fields = {
      ...callParameters(this.#handled, end.status === 'completed' ? 'completed' : 'in-progress'),
      SessionId: this.#sessionId,
      SessionStatus: end.status,
      SessionDuration: String(seconds),
      HandoffData: end.handoffData,
      ErrorCode: end.errorCode,
      ErrorMessage: end.errorMessage,
    };
    tellAction({ action, authToken, fields, time: this.#parts.time }).catch((error: unknown) =>
      this.#warn({ err: error }, 'the action of the relay was not told'),
    );
  }

  async #lastWords(spoken: Promise<unknown>): Promise<void> {
    let cancel: () => void = () => undefined;
    const limit = new Promise<void>((resolve) => (cancel = this.#parts.time.after(LAST_WORDS_MS, resolve)));
    await Promise.race([spoken, limit]);
    cancel();
  }

  #warn(fields: Record<string, unknown>, message: string): void {
    this.#parts.log.warn({ call: this.#handled.call.id, relay: this.#config.name, ...fields }, message);
  }
}
