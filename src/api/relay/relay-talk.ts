// A session in the ConversationRelay protocol is the same on both kinds of socket, those that this server
// dials and those that an application opens: it outlives its socket, and ends once.
//
//   connected ⇄ lost ──▶ ended: completed (the caller hung up), ended (by the application), failed
//
// Twilio's own relay ends with its socket. This one resumes, unless `lostSocket` is `end`: the caller hears a
// phrase, what the caller does meanwhile waits, and the next socket begins with the same `setup` and
// `"resumed": true`.
import type { HandledCall, Talk } from '../../call/call-handler.js';
import type { RelayAttributes } from '../../config/relay-config.js';
import { lastWords } from '../../agents/last-words.js';
import { setupMessage } from './relay-call.js';
import { type RelayEvent, type RelayParts, RelaySession } from './relay-session.js';

const MOST_WAITING = 200; // messages while there is no socket
const STEADY_MS = 5000; // a socket that lives so long is no part of the outage before it
/** For an application to come back after an outage began, in milliseconds. */
const RESUME_MS = 30_000;
const NORMAL = 1000;
const BAD_DATA = 1007;

/**
 * The kinds of connections to applications. This server dials a relay or a bot of Media Streams; others come
 * by themselves: to a running call, on the data channel of a page, or with a socket that is the call.
 */
type ConnectionKind = 'relay' | 'attached_relay' | 'page_relay' | 'socket_relay' | 'media_stream';

/** Counts connections to applications. */
export interface ConnectionCounters {
  /** The first socket of a connection is open. */
  opened(kind: ConnectionKind): void;
  reconnected(kind: ConnectionKind): void;
  failed(kind: ConnectionKind, reason: ConnectionFailure): void;
  /** A connection that was opened has ended, for whatever reason. */
  closed(kind: ConnectionKind): void;
}

type ConnectionFailure = 'unreachable' | 'lost' | 'bad_messages';

/** Twilio's numbers of what makes a session fail. */
const FAILURES = { '64102': 'unreachable', '64105': 'lost', '64107': 'bad_messages' } as const;
type FailureCode = keyof typeof FAILURES;

export interface RelayTalkParts extends RelayParts {
  readonly connections: ConnectionCounters;
  /** Cryptographically strong. */
  readonly randomBytes: (count: number) => Buffer;
}

export interface RelayEnd {
  readonly status: 'completed' | 'ended' | 'failed';
  readonly handoffData?: string | undefined;
  readonly errorCode?: FailureCode;
  readonly errorMessage?: string;
}

/** The way to the application, as the session sees it. */
interface RelayWire {
  send(message: RelayEvent): void;
}

interface RelayOwner {
  /** Name for the log. */
  readonly name: string;
  readonly kind: Exclude<ConnectionKind, 'media_stream'>;
  /** Called once. The socket is to be closed with this code. */
  ended(end: RelayEnd, closeCode: number): void;
}

export class RelayTalk implements Talk {
  readonly sessionId: string;
  readonly #handled: HandledCall;
  readonly #attributes: RelayAttributes;
  readonly #parts: RelayTalkParts;
  readonly #owner: RelayOwner;
  readonly #session: RelaySession;
  readonly #waiting: RelayEvent[] = [];
  #wire: RelayWire | undefined;
  #wasConnected = false;
  #connectedMs = 0;
  /** When the present outage began; sockets that are lost at once do not end it. */
  #outageMs: number | undefined;
  /** The application has said so, and the caller hears the last words. */
  #isEnding = false;
  #end: RelayEnd | undefined;

  constructor(handled: HandledCall, attributes: RelayAttributes, parts: RelayTalkParts, owner: RelayOwner) {
    this.#handled = handled;
    this.#attributes = attributes;
    this.#parts = parts;
    this.#owner = owner;
    this.sessionId = `VX${parts.randomBytes(16).toString('hex')}`;
    this.#session = new RelaySession(handled, attributes, parts, {
      send: (message) => this.#send(message),
      refuse: () => this.fail('64107', 'ten messages in a row could not be read', BAD_DATA),
      ended: (handoffData) => void this.#ended(handoffData),
    });
    void handled.call.closed.then(() => this.#over({ status: 'completed' }));
  }

  /** It is over, or ends with the last word: no socket is needed any more. */
  get isOver(): boolean {
    return this.#end !== undefined || this.#isEnding;
  }

  get isConnected(): boolean {
    return this.#wire !== undefined;
  }

  /** There was a socket at some time. */
  get wasConnected(): boolean {
    return this.#wasConnected;
  }

  /** Milliseconds in which the application may still come back; 0 if it has had its time. */
  get resumeMs(): number {
    return Math.max(0, (this.#outageMs ?? 0) + RESUME_MS - this.#parts.time.now());
  }

  /** A typed text is a prompt like any other. */
  typed(text: string): void {
    this.#session.typed(text);
  }

  /** The session is on this socket from now on: it gets the setup message, and what has waited. */
  connected(wire: RelayWire): void {
    const isResumed = this.#wasConnected;
    const { connections } = this.#parts;
    if (isResumed) connections.reconnected(this.#owner.kind);
    else connections.opened(this.#owner.kind);
    this.#wire = wire;
    this.#wasConnected = true;
    this.#connectedMs = this.#parts.time.now();
    const setup = setupMessage(this.#handled, this.#attributes, this.sessionId);
    wire.send(isResumed ? { ...setup, resumed: true } : setup);
    for (const message of this.#waiting.splice(0)) wire.send(message);
    this.#parts.log.info(
      { call: this.#handled.call.id, relay: this.#owner.name, isResumed },
      'relay connected',
    );
    this.#session.attached(isResumed);
  }

  /** A message of the application. */
  receive(data: string | Uint8Array): void {
    if (!this.isOver) this.#session.receive(data);
  }

  /** A message of the application was not read. */
  missed(): void {
    if (!this.isOver) this.#session.missed();
  }

  /**
   * The socket is lost. The caller hears that it goes on; if it does not, the session has failed. Returns
   * true if an outage begins, false if one goes on.
   */
  lost(isFinal: boolean, detail: string): boolean {
    this.#wire = undefined;
    if (this.isOver) return false;
    this.#session.detached();
    this.warn({ detail }, 'the relay is lost');
    if (isFinal || this.#attributes.lostSocket === 'end') {
      this.fail('64105', detail);
      return false;
    }
    const nowMs = this.#parts.time.now();
    if (this.#outageMs !== undefined && nowMs - this.#connectedMs < STEADY_MS) return false;
    this.#outageMs = nowMs;
    this.#session.say(this.#attributes.holdPhrase, 'none');
    return true;
  }

  /** The caller hears the failure phrase, and the call ends. */
  fail(errorCode: FailureCode, errorMessage: string, closeCode = NORMAL): void {
    if (this.#end !== undefined) return;
    this.warn({ errorCode }, errorMessage);
    this.#over({ status: 'failed', errorCode, errorMessage }, closeCode);
    this.#session.detached(); // no more tokens come of a text that was open
    const utterance = this.#session.say(this.#attributes.failurePhrase, 'none');
    void this.#lastWords(utterance?.ended ?? Promise.resolve()).then(() => this.#hangUp());
  }

  warn(fields: Record<string, unknown>, message: string): void {
    this.#parts.log.warn({ call: this.#handled.call.id, relay: this.#owner.name, ...fields }, message);
  }

  #send(message: RelayEvent): void {
    if (this.#end !== undefined) return;
    if (this.#wire !== undefined) return this.#wire.send(message);
    if (this.#waiting.length >= MOST_WAITING) {
      this.#waiting.shift();
      this.warn({}, 'a message for the relay was dropped: too many wait for its socket');
    }
    this.#waiting.push(message);
    return undefined;
  }

  /** The application has ended the session: the last word is heard, then the call ends. */
  async #ended(handoffData: string | undefined): Promise<void> {
    if (this.isOver) return;
    this.#isEnding = true;
    await this.#lastWords(this.#session.spoken());
    this.#over({ status: 'ended', handoffData });
    await this.#hangUp();
  }

  #over(end: RelayEnd, closeCode = NORMAL): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#wire = undefined;
    this.#count(end);
    if (end.status !== 'failed') this.#session.close();
    this.#owner.ended(end, closeCode);
  }

  #count({ errorCode }: RelayEnd): void {
    const { connections } = this.#parts;
    if (this.#wasConnected) connections.closed(this.#owner.kind);
    if (errorCode !== undefined) connections.failed(this.#owner.kind, FAILURES[errorCode]);
  }

  async #hangUp(): Promise<void> {
    try {
      await this.#handled.hangUp();
    } catch (error) {
      this.warn({ err: error }, 'the call of the relay could not be ended');
    }
  }

  #lastWords(spoken: Promise<unknown>): Promise<void> {
    return lastWords(this.#handled.call, spoken, this.#parts.time);
  }
}
