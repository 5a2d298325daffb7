// The messages of a session to its page, across the data channels that the page has one after another. A
// message that no channel can deliver now waits for the next channel, and so does one that the page has not
// acknowledged when its channel goes.
//
//   send ──channel open──▶ channel ──acknowledged──▶ gone
//     └──no channel, or held──▶ kept ◀──not acknowledged──┘      kept ──next channel──▶ channel
import type { Call } from '../src/call/call.js';
import { ParleyError } from '../src/errors.js';
import type { Log } from '../src/log.js';

/** The channel itself, independent of the SCTP implementation. */
export interface TextChannel {
  /** Throws when the message cannot be sent. */
  send(text: string): void;
  /** Bytes given to `send` that have not left yet. */
  readonly bufferedAmount: number;
  /** Messages given to `send` that the page has not acknowledged: the last ones. */
  readonly unacknowledged: number;
}

interface Message {
  readonly type: string;
}

interface OutboxParts {
  /** It is closed when the page reads nothing. */
  readonly call: Pick<Call, 'id' | 'close'>;
  readonly log: Log;
  /** The page reads nothing: the session ends with the call. */
  readonly onUnread: () => void;
  /** The message that takes the place of dropped ones, and says so with this error. */
  readonly noticeOf: (error: ParleyError) => Message;
}

const MOST_KEPT = 256;
const UNREAD_LIMIT_BYTES = 1024 * 1024; // hours of events: a page that reads none of them has gone

export class Outbox {
  readonly #parts: OutboxParts;
  #channel: TextChannel | undefined;
  #isHeld = false;
  #isClosed = false;
  readonly #kept: Message[] = [];
  #dropped = 0;
  /** The unacknowledged messages of the channel; undefined for one that is not repeated. */
  #sent: (Message | undefined)[] = [];

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  /** Bytes that wait in the channel. */
  get bufferedAmount(): number {
    return this.#channel?.bufferedAmount ?? 0;
  }

  /** The page has acknowledged everything that was sent. */
  get isDelivered(): boolean {
    return (this.#channel?.unacknowledged ?? 0) === 0;
  }

  /** Goes on through another channel: `first` goes before everything that was kept. */
  attach(channel: TextChannel, first?: Message): void {
    if (this.#isClosed) return;
    if (this.#channel !== undefined) this.detach(this.#channel);
    this.#channel = channel;
    if (first !== undefined) this.#transmit(first, false);
    this.#flush();
  }

  /** Call it while the channel still knows what was acknowledged. False if it is not the present channel. */
  detach(channel: TextChannel): boolean {
    if (channel !== this.#channel) return false;
    this.#trim(channel);
    this.#kept.unshift(...this.#sent.filter((message) => message !== undefined));
    this.#limit();
    this.#sent = [];
    this.#channel = undefined;
    return true;
  }

  /** Keeps messages although there is a channel, because its connection is not heard. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#flush();
  }

  send(message: Message): void {
    if (this.#isClosed) return;
    if (this.#channel !== undefined && !this.#isHeld) return this.#transmit(message, true);
    this.#keep(message);
  }

  /** Sends it now or never. */
  sendNow(message: Message): void {
    if (this.#channel !== undefined && !this.#isHeld) this.#transmit(message, false);
  }

  /** Nothing is sent later. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#channel = undefined;
    this.#kept.length = this.#sent.length = 0;
  }

  #flush(): void {
    if (this.#channel === undefined || this.#isHeld) return;
    const kept = this.#kept.splice(0);
    const dropped = this.#dropped;
    this.#dropped = 0;
    if (dropped > 0) kept.unshift(this.#parts.noticeOf(missed(dropped)));
    for (const message of kept) this.#transmit(message, true);
  }

  #transmit(message: Message, isRepeated: boolean): void {
    const channel = this.#channel;
    if (channel === undefined) return;
    if (channel.bufferedAmount > UNREAD_LIMIT_BYTES) return this.#unread();
    try {
      channel.send(JSON.stringify(message));
    } catch (error) {
      const { call, log } = this.#parts;
      log.warn({ call: call.id, type: message.type, err: error }, 'event not sent');
      if (isRepeated) this.#keep(message);
      return;
    }
    this.#sent.push(isRepeated ? message : undefined);
    this.#trim(channel);
  }

  #unread(): void {
    const { call, onUnread } = this.#parts;
    void call.close('events unread');
    onUnread();
  }

  #keep(message: Message): void {
    this.#kept.push(message);
    this.#limit();
  }

  /** The page has the others. */
  #trim({ unacknowledged }: TextChannel): void {
    this.#sent.splice(0, Math.max(0, this.#sent.length - unacknowledged));
  }

  #limit(): void {
    const more = Math.max(0, this.#kept.length - MOST_KEPT);
    this.#kept.splice(0, more);
    this.#dropped += more;
  }
}

function missed(count: number): ParleyError {
  const message = `${count} older events were dropped while the connection was lost`;
  return new ParleyError('QUEUE_FULL', message);
}
