// What a session in the ConversationRelay protocol is on both kinds of socket, those that this server dials
// and those that an application opens: it outlives its socket, and ends once.
//
//   connected ⇄ lost ──▶ ended: completed (the caller hung up), ended (by the application), failed
//
// Twilio's own relay ends with its socket. This one resumes, unless `lostSocket` is `end`: the caller hears a
// phrase, what the caller does meanwhile waits, and the next socket begins with the same `setup` and
// `"resumed": true`.
import type { HandledCall, Talk } from '../../call/call-handler.js';
import type { RelayAttributes } from '../../config/relay-config.js';
import { ParleyError } from '../../errors.js';
import { setupMessage } from './relay-call.js';
import { type RelayParts, RelaySession } from './relay-session.js';

const MOST_WAITING = 200; // messages while there is no socket
const LAST_WORDS_MS = 60_000;
const NORMAL = 1000;
const BAD_DATA = 1007;

export interface RelayTalkParts extends RelayParts {
  /** Cryptographically strong. */
  readonly randomBytes: (count: number) => Buffer;
}

export interface RelayEnd {
  readonly status: 'completed' | 'ended' | 'failed';
  readonly handoffData?: string | undefined;
  readonly errorCode?: string;
  readonly errorMessage?: string;
}

/** The socket, as the session sees it. */
export interface RelayWire {
  send(text: string): void;
}

interface RelayOwner {
  /** Name for the log. */
  readonly name: string;
  /** Called once. The socket is to be closed with this code. */
  ended(end: RelayEnd, closeCode: number): void;
}

export class RelayTalk implements Talk {
  readonly sessionId: string;
  readonly #handled: HandledCall;
  readonly #attributes: RelayAttributes;
  readonly #parts: RelayParts;
  readonly #owner: RelayOwner;
  readonly #session: RelaySession;
  readonly #waiting: string[] = [];
  #wire: RelayWire | undefined;
  #wasConnected = false;
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

  get isOver(): boolean {
    return this.#end !== undefined;
  }

  get isConnected(): boolean {
    return this.#wire !== undefined;
  }

  /** There was a socket at some time. */
  get wasConnected(): boolean {
    return this.#wasConnected;
  }

  /** What a user types is a prompt like any other. */
  typed(text: string): void {
    if (text.trim() === '') throw new ParleyError('TEXT_EMPTY', 'text must not be empty', { field: 'text' });
    this.#handled.call.interrupt('text typed');
    const lang = this.#attributes.transcriptionLanguage;
    this.#send({ type: 'prompt', voicePrompt: text.trim(), lang, last: true });
  }

  /** The session is on this socket from now on: it gets the setup message, and what has waited. */
  connected(wire: RelayWire): void {
    const isResumed = this.#wasConnected;
    this.#wire = wire;
    this.#wasConnected = true;
    const setup = setupMessage(this.#handled, this.#attributes, this.sessionId);
    wire.send(JSON.stringify(isResumed ? { ...setup, resumed: true } : setup));
    for (const message of this.#waiting.splice(0)) wire.send(message);
    this.#parts.log.info(
      { call: this.#handled.call.id, relay: this.#owner.name, isResumed },
      'relay connected',
    );
    if (!isResumed) this.#session.greet();
  }

  /** A message of the application. */
  receive(data: string | Uint8Array): void {
    if (this.#end === undefined) this.#session.receive(data);
  }

  /** The socket is lost. The caller hears that it goes on; if it does not, the session has failed. */
  lost(isFinal: boolean, detail: string): void {
    if (this.#end !== undefined) return;
    this.#wire = undefined;
    this.#session.detached();
    this.warn({ detail }, 'the relay is lost');
    if (isFinal || this.#attributes.lostSocket === 'end') this.fail('64105', detail);
    else this.#session.say(this.#attributes.holdPhrase, 'none');
  }

  /** The caller hears the failure phrase, and the call ends. */
  fail(errorCode: string, errorMessage: string, closeCode = NORMAL): void {
    if (this.#end !== undefined) return;
    this.warn({ errorCode }, errorMessage);
    this.#over({ status: 'failed', errorCode, errorMessage }, closeCode);
    const utterance = this.#session.say(this.#attributes.failurePhrase, 'none');
    void this.#lastWords(utterance?.ended ?? Promise.resolve()).then(() => this.#hangUp());
  }

  warn(fields: Record<string, unknown>, message: string): void {
    this.#parts.log.warn({ call: this.#handled.call.id, relay: this.#owner.name, ...fields }, message);
  }

  #send(message: object): void {
    if (this.#end !== undefined) return;
    const text = JSON.stringify(message);
    if (this.#wire !== undefined) return this.#wire.send(text);
    if (this.#waiting.length >= MOST_WAITING) {
      this.#waiting.shift();
      this.warn({}, 'a message for the relay was dropped: too many wait for its socket');
    }
    this.#waiting.push(text);
    return undefined;
  }

  /** The application has ended the session: the last word is heard, then the call ends. */
  async #ended(handoffData: string | undefined): Promise<void> {
    if (this.#end !== undefined) return;
    await this.#lastWords(this.#session.spoken());
    this.#over({ status: 'ended', handoffData });
    await this.#hangUp();
  }

  #over(end: RelayEnd, closeCode = NORMAL): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#wire = undefined;
    if (end.status !== 'failed') this.#session.close();
    this.#owner.ended(end, closeCode);
  }

  async #hangUp(): Promise<void> {
    try {
      await this.#handled.hangUp();
    } catch (error) {
      this.warn({ err: error }, 'the call of the relay could not be ended');
    }
  }

  async #lastWords(spoken: Promise<unknown>): Promise<void> {
    let cancel: () => void = () => undefined;
    const limit = new Promise<void>((resolve) => (cancel = this.#parts.time.after(LAST_WORDS_MS, resolve)));
    await Promise.race([spoken, limit]);
    cancel();
  }
}
