// One browser's call from its offer to its end.
//
//   setting up ──connected──▶ talking ──connection lost──▶ waiting ──resumed──▶ talking
//       └───────────────────────┴────────────────────────────┴──▶ ended
//
// A call outlives its connection: for `resumeGraceMs` after a loss the browser may resume it with another
// offer and the call's token. The speech pauses meanwhile, and goes on where it stopped, or with what its
// browser says it received last.
import type { RTCDataChannel } from 'werift';
import type { Call } from '../src/call/call.js';
import type { MediaPort } from '../src/call/call-route.js';
import type { IceFragment, IceRestart, SdpSession, SdpUse } from '../src/call/sdp-exchange.js';
import type { CallPlace } from '../src/call/switchboard.js';
import { ParleyError } from '../src/errors.js';
import { DataChannelSession, type DataChannelLimits, type ServerMessage } from './data-channel.js';
import type { Offer } from './offer.js';
import { PeerConnection, type PeerConnectionParts, type PeerEvents } from './peer-connection.js';

interface BrowserLog {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
}

export interface BrowserCallParts extends PeerConnectionParts {
  readonly log: BrowserLog;
  readonly limits: DataChannelLimits;
  /** Milliseconds that a call waits for its browser to resume it; 0 ends the call at once. */
  readonly resumeGraceMs: number;
}

const EARLY_MESSAGES = 64; // between the opening of the channel and the call's
const TOKEN_BYTES = 24;
const SESSION_NAME_BYTES = 8;

export class BrowserCall {
  readonly id: string;
  /** A client with this token may resume the call. */
  readonly token: string;
  /** Resolves when nothing of it is left. */
  readonly freed: Promise<void>;
  readonly #place: CallPlace;
  readonly use: SdpUse;
  readonly #parts: BrowserCallParts;
  /** The connection that the call speaks through, or will when it is set up. */
  #connection: BrowserConnection;
  /** The connection that will take its place. */
  #next: BrowserConnection | undefined;
  #call: Call | undefined;
  /** Reason of the end. */
  #reason: string | undefined;
  #cancelGrace: (() => void) | undefined;
  /** Why the present connection is of no use; undefined while it is. */
  #reasonToWait: string | undefined;
  #isInterrupted = false;
  /** RTP timestamp of the sound that the browser received last, while it resumes the call. */
  #receivedTimestamp: number | undefined;
  #isHeld = false;
  #resolveFreed!: () => void;

  /** Throws CALL_LIMIT or TRANSPORT_UNSUPPORTED; the place is still the caller's then. */
  constructor(place: CallPlace, offer: Offer, use: SdpUse, parts: BrowserCallParts) {
    this.id = place.id;
    this.token = parts.randomBytes(TOKEN_BYTES).toString('base64url');
    this.#place = place;
    this.use = use;
    this.#parts = parts;
    this.freed = new Promise((resolve) => (this.#resolveFreed = resolve));
    this.#connection = this.#connect(offer);
  }

  /** The session of the newest connection. */
  get session(): SdpSession {
    const { id, token } = this;
    const { answer, iceSession } = this.#next ?? this.#connection;
    return { id, token, sdp: answer, iceSession };
  }

  patchIce(fragment: IceFragment, receivedTimestamp?: number): IceRestart | undefined {
    return (this.#next ?? this.#connection).patchIce(fragment, receivedTimestamp);
  }

  /** Answers the offer of another connection, through which the call goes on once it is set up. */
  resume(offer: Offer, receivedTimestamp?: number): SdpSession {
    const call = this.#call;
    if (call === undefined || this.#reason !== undefined) {
      throw new ParleyError(
        'CALL_STATE',
        'a call can be resumed once it was set up, and before it has ended',
      );
    }
    const next = this.#connect(offer);
    this.#next?.close();
    this.#next = next;
    this.#receivedTimestamp = receivedTimestamp;
    this.#hold();
    return this.session;
  }

  /** Resolves when nothing of the call is left. */
  async end(reason: string): Promise<void> {
    this.#reason ??= reason;
    if (this.#call === undefined) this.#free();
    else await this.#call.close(reason);
    await this.freed;
  }

  #connect(offer: Offer): BrowserConnection {
    const connection: BrowserConnection = new BrowserConnection(offer, this.use, this.#parts, {
      connected: (port) => this.#connected(connection, port),
      interrupted: (isInterrupted) => this.#interrupted(connection, isInterrupted),
      lost: () => this.#lost(connection),
      ended: () => this.#ended(connection),
      failed: (error) => this.#failed(connection, error),
    });
    return connection;
  }

  #connected(connection: BrowserConnection, port: MediaPort): void {
    const call = this.#call;
    try {
      if (call === undefined) return this.#open(connection, port);
      if (this.#receivedTimestamp !== undefined) this.#connection.rewind(this.#receivedTimestamp);
      call.moveTo(port);
    } catch (error) {
      return this.#failed(connection, error as ParleyError);
    }
    this.#cancelGrace?.();
    this.#reasonToWait = this.#receivedTimestamp = undefined;
    this.#isInterrupted = false;
    this.#connection.close();
    [this.#connection, this.#next] = [connection, undefined];
    connection.talk(call);
    this.#hold();
    this.#parts.log.info({ call: this.id }, 'call resumed');
  }

  #open(connection: BrowserConnection, port: MediaPort): void {
    const call = this.#place.open(port);
    this.#call = call;
    void call.closed.then(() => this.#free());
    connection.talk(call);
  }

  #interrupted(connection: BrowserConnection, isInterrupted: boolean): void {
    if (connection !== this.#connection) return;
    if (!isInterrupted) {
      this.#cancelGrace?.();
      this.#reasonToWait = undefined;
    }
    this.#isInterrupted = isInterrupted;
    this.#hold();
    const message = isInterrupted ? 'browser not heard' : 'browser heard again';
    this.#parts.log.info({ call: this.id }, message);
  }

  /** The connection stands: its queue goes to the next one, and the browser may be heard again. */
  #lost(connection: BrowserConnection): void {
    if (connection !== this.#connection) return this.#dropNext(connection);
    this.#parts.log.info({ call: this.id }, 'connection lost');
    this.#wait('peer lost');
  }

  #ended(connection: BrowserConnection): void {
    if (connection !== this.#connection) return this.#dropNext(connection);
    if (this.#next === undefined) return this.#endUnasked('peer closed');
    this.#reasonToWait = 'peer closed';
    this.#hold();
  }

  #failed(connection: BrowserConnection, error: ParleyError): void {
    const { code, message: detail } = error;
    if (this.#reason === undefined) this.#parts.log.warn({ call: this.id, code, detail }, 'transport failed');
    if (connection !== this.#connection) return this.#dropNext(connection);
    const reason = code === 'TIMEOUT' ? 'set-up timeout' : 'transport failed';
    if (this.#next === undefined) return this.#endUnasked(reason);
    this.#reasonToWait = reason;
    this.#hold();
  }

  /** Holds the speech while the browser does not hear it. */
  #hold(): void {
    const isHeld =
      this.#isInterrupted || this.#reasonToWait !== undefined || this.#receivedTimestamp !== undefined;
    if (isHeld === this.#isHeld) return;
    this.#isHeld = isHeld;
    this.#call?.hold(isHeld);
  }

  /** The connection that was to take over failed. The present one goes on, unless it is gone as well. */
  #dropNext(connection: BrowserConnection): void {
    connection.close();
    if (connection !== this.#next) return;
    this.#next = this.#receivedTimestamp = undefined;
    this.#hold();
    if (this.#reasonToWait !== undefined) this.#wait(this.#reasonToWait);
  }

  /** Ends the call after the grace time; a connection in set-up has its own limit. */
  #wait(reason: string): void {
    this.#reasonToWait = reason;
    this.#hold();
    this.#cancelGrace?.();
    this.#cancelGrace = this.#parts.time.after(this.#parts.resumeGraceMs, () => {
      if (this.#next === undefined) this.#endUnasked(reason);
    });
  }

  #endUnasked(reason: string): void {
    this.end(reason).catch((error: unknown) => {
      this.#parts.log.warn({ call: this.id, reason, err: error }, 'call not freed');
    });
  }

  #free(): void {
    this.#cancelGrace?.();
    this.#next?.close();
    this.#connection.close();
    this.#place.release();
    this.#resolveFreed();
  }
}

type ConnectionEvents = Omit<PeerEvents, 'channel' | 'closing' | 'listening'>;

/** One connection of a call, with the data channel over which its page talks. */
class BrowserConnection {
  readonly answer: string;
  iceSession: string;
  readonly #parts: BrowserCallParts;
  readonly #peer: PeerConnection;
  readonly #events: ConnectionEvents;
  #call: Call | undefined;
  #channel: RTCDataChannel | undefined;
  /** The page has been sent the acknowledgement of its channel (RFC 8832 section 5.2). */
  #isAcknowledged = false;
  #early: unknown[] = [];
  #session: DataChannelSession | undefined;
  #isClosed = false;

  constructor(offer: Offer, use: SdpUse, parts: BrowserCallParts, events: ConnectionEvents) {
    this.#parts = parts;
    this.#events = events;
    this.iceSession = this.#newSessionName();
    this.#peer = new PeerConnection(offer, use, parts, {
      ...events,
      listening: () => undefined,
      channel: (channel) => this.#opened(channel),
      closing: () => this.#session?.close(),
    });
    this.answer = this.#peer.answer;
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

  /** The call whose events the page gets. */
  talk(call: Call): void {
    this.#call = call;
    this.#talk();
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
    const unfit = unreliable(channel);
    if (unfit !== undefined || this.#channel !== undefined || this.#isClosed) {
      queueMicrotask(() => {
        if (unfit !== undefined) channel.send(JSON.stringify(unfit));
        setImmediate(() => channel.close()); // after what was sent has left
      });
      return;
    }
    this.#channel = channel;
    channel.stateChanged.subscribe((state) => {
      if (state === 'closed' && !this.#isClosed) this.#events.ended();
    });
    channel.onMessage.subscribe((data) => {
      if (this.#session !== undefined) this.#session.receive(data);
      else if (this.#early.length < EARLY_MESSAGES) this.#early.push(data);
    });
    queueMicrotask(() => {
      this.#isAcknowledged = true;
      this.#talk();
    });
  }

  /** Once there is a call and a channel that was acknowledged. */
  #talk(): void {
    const [call, channel] = [this.#call, this.#channel];
    if (call === undefined || channel === undefined || !this.#isAcknowledged) return;
    if (this.#session !== undefined || this.#isClosed) return;
    const { limits, time, log } = this.#parts;
    this.#session = new DataChannelSession(channel, call, { limits, time, log });
    for (const data of this.#early.splice(0)) this.#session.receive(data);
  }
}

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
