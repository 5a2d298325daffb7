// One connection of a browser's call, with the data channel over which its page talks. The call has one after
// another; the session of the page is the call's, and uses the channel of each in turn.
import type { RTCDataChannel } from 'werift';
import type { IceFragment, IceRestart, SdpUse } from '../src/call/sdp-exchange.js';
import type { ServerMessage } from './data-channel.js';
import type { Offer } from './offer.js';
import type { TextChannel } from './outbox.js';
import { PeerConnection, type PeerConnectionParts, type PeerEvents } from './peer-connection.js';
import { unacknowledged } from './sctp-association.js';

/** Talks with the page, over the channel of one connection after another. */
export interface ChannelSession {
  attach(channel: TextChannel): void;
  detach(channel: TextChannel): void;
  /** Events wait while the connection is not heard. */
  hold(isHeld: boolean): void;
  /** A message from the page; never throws. */
  receive(data: unknown): void;
  /** Idempotent. */
  close(): void;
}

interface ConnectionEvents extends Omit<PeerEvents, 'channel' | 'closing' | 'listening'> {
  /** The page has opened its channel. */
  labelled(label: string): void;
}

const EARLY_MESSAGES = 64; // between the opening of the channel and the call's
const SESSION_NAME_BYTES = 8;

export class BrowserConnection {
  readonly answer: string;
  iceSession: string;
  readonly #parts: PeerConnectionParts;
  readonly #peer: PeerConnection;
  readonly #events: ConnectionEvents;
  #channel: RTCDataChannel | undefined;
  /** The page has been sent the acknowledgement of its channel (RFC 8832 section 5.2). */
  #isAcknowledged = false;
  #early: unknown[] = [];
  #session: ChannelSession | undefined;
  /** The channel, once the session uses it. */
  #attached: TextChannel | undefined;
  #isClosed = false;

  /** Throws CALL_LIMIT or TRANSPORT_UNSUPPORTED. */
  constructor(offer: Offer, use: SdpUse, parts: PeerConnectionParts, events: ConnectionEvents) {
    this.#parts = parts;
    this.#events = events;
    this.iceSession = this.#newSessionName();
    this.#peer = new PeerConnection(offer, use, parts, {
      ...events,
      listening: () => undefined,
      channel: (channel) => this.#opened(channel),
      closing: () => this.#detach(),
    });
    this.answer = this.#peer.answer;
  }

  /** Label of the channel; undefined before it is open. */
  get label(): string | undefined {
    return this.#channel?.label;
  }

  patchIce(fragment: IceFragment, receivedTimestamp?: number): IceRestart | undefined {
    const restarted = this.#peer.patchIce(fragment, receivedTimestamp);
    if (restarted === undefined) return undefined;
    this.iceSession = this.#newSessionName();
    return { ...restarted, iceSession: this.iceSession };
  }

  /** See PeerConnection. */
  rewind(receivedTimestamp: number): void {
    this.#peer.rewind(receivedTimestamp);
  }

  /** Gives the channel to this session, as soon as it is open. */
  talk(session: ChannelSession): void {
    this.#session = session;
    this.#attach();
  }

  /** Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#peer.close();
  }

  #newSessionName(): string {
    return this.#parts.randomBytes(SESSION_NAME_BYTES).toString('hex');
  }

  // werift queues the acknowledgement when this handler has returned. A page may not send before it has come,
  // so that nothing that it would answer can go first.
  #opened(channel: RTCDataChannel): void {
    const unfit = unreliable(channel) ?? (this.#channel === undefined ? undefined : SECOND_CHANNEL);
    if (unfit !== undefined || this.#isClosed) {
      queueMicrotask(() => {
        if (unfit !== undefined && !this.#isClosed) channel.send(JSON.stringify(unfit));
        setImmediate(() => channel.close()); // after what was sent has left
      });
      return;
    }
    this.#channel = channel;
    channel.stateChanged.subscribe((state) => {
      if (state === 'closed' && !this.#isClosed) this.#events.ended();
    });
    channel.onMessage.subscribe((data) => {
      if (this.#isClosed) return;
      if (this.#attached !== undefined) this.#session?.receive(data);
      else if (this.#early.length < EARLY_MESSAGES) this.#early.push(data);
    });
    queueMicrotask(() => {
      this.#isAcknowledged = true;
      this.#events.labelled(channel.label);
      this.#attach();
    });
  }

  /** Once there is a session and a channel that was acknowledged. */
  #attach(): void {
    const [session, channel] = [this.#session, this.#channel];
    if (session === undefined || channel === undefined || !this.#isAcknowledged) return;
    if (this.#attached !== undefined || this.#isClosed) return;
    this.#attached = {
      send: (text) => channel.send(text),
      get bufferedAmount() {
        return channel.bufferedAmount;
      },
      get unacknowledged() {
        return unacknowledged(channel);
      },
    };
    session.attach(this.#attached);
    for (const data of this.#early.splice(0)) session.receive(data);
  }

  #detach(): void {
    if (this.#attached !== undefined) this.#session?.detach(this.#attached);
  }
}

const SECOND_CHANNEL: ServerMessage = {
  type: 'error',
  error: {
    code: 'CALL_STATE',
    message: 'a call has one data channel, and this is another one: it is closed',
  },
};

/** Error for a page whose data channel could reorder or lose tokens; undefined if the channel is reliable. */
function unreliable({
  ordered,
  maxRetransmits,
  maxPacketLifeTime,
}: RTCDataChannel): ServerMessage | undefined {
  if (ordered && maxRetransmits === null && maxPacketLifeTime === null) return undefined;
  const message =
    'the data channel must be ordered and reliable: make it with createDataChannel(label) alone';
  return { type: 'error', error: { code: 'INVALID_FIELD', message, field: 'ordered' } };
}
