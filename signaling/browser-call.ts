// One browser's call from its offer to its end.
//
//   setting up ──connected──▶ talking ──connection lost──▶ waiting ──resumed──▶ talking
//       └───────────────────────┴────────────────────────────┴──▶ ended
//
// A call outlives its connection: for `resumeGraceMs` after a loss the browser may resume it with another
// offer and the call's token. The speech pauses meanwhile, and goes on where it stopped, or with what its
// browser says it received last. The session of its page goes on as well: events wait for the next data
// channel, and a text whose tokens are still coming stays open.
//
// The label of the data channel names its protocol, and so who conducts the call.
import type { Call } from '../src/call/call.js';
import {
  type CallHandler,
  type ChannelDialect,
  type HandledCall,
  type Talk,
  NO_AGENT,
} from '../src/call/call-handler.js';
import type { CallerListener, CallerTexts } from '../src/call/caller-texts.js';
import type { MediaPort } from '../src/call/call-route.js';
import type { ListedCalls } from '../src/call/listed-calls.js';
import type { IceFragment, IceRestart, SdpSession, SdpUse } from '../src/call/sdp-exchange.js';
import type { CallPlace } from '../src/call/switchboard.js';
import { asParleyError, ParleyError } from '../src/errors.js';
import { stated } from '../src/stated.js';
import type { CallPrograms } from '../src/call/call-programs.js';
import { BrowserConnection, type ChannelSession } from './browser-connection.js';
import { DataChannelSession, type DataChannelLimits } from './data-channel.js';
import { DialectSession } from './dialect-session.js';
import type { Offer } from './offer.js';
import type { PeerConnectionParts } from './peer-connection.js';
import type { Log } from '../src/log.js';

export interface BrowserCallParts extends PeerConnectionParts {
  readonly log: Log;
  readonly limits: DataChannelLimits;
  /** Milliseconds that a call waits for its browser to resume it; 0 ends the call at once. */
  readonly resumeGraceMs: number;
  /** Absent: no agent takes calls. */
  readonly handler?: CallHandler | undefined;
  /** Absent: there are no call programs. */
  readonly programs?: Pick<CallPrograms, 'conduct' | 'problemOf'> | undefined;
  /** Shows the calls of talkers to applications; absent: they are not listed. */
  readonly listed?: Pick<ListedCalls, 'add'> | undefined;
  /** Absent: no caller is recognised. */
  readonly callerTexts?: Pick<CallerTexts, 'isCallerRecognised' | 'follow'> | undefined;
  /** Protocols of data channels, besides Parley's own. */
  readonly dialects?: readonly ChannelDialect[];
}

/** For what a browser calls. */
interface BrowserPurpose {
  readonly use: SdpUse;
  /** Name of the API key that the call belongs to; undefined: to every key. */
  readonly owner: string | undefined;
  /** See SdpOffer. */
  readonly agent?: string | undefined;
  readonly program?: string | undefined;
  readonly session?: Readonly<Record<string, unknown>> | undefined;
}

const TOKEN_BYTES = 24;
/** Milliseconds that a call waits for the data channel of its offer before it begins without one. */
const CHANNEL_MS = 2000;

export class BrowserCall {
  readonly id: string;
  /** A client with this token may resume the call. */
  readonly token: string;
  /** Resolves when nothing of it is left. */
  readonly freed: Promise<void>;
  readonly #place: CallPlace;
  readonly use: SdpUse;
  readonly #owner: string | undefined;
  readonly #agent: string | undefined;
  readonly #program: string | undefined;
  readonly #description: BrowserPurpose['session'];
  /** The page will open a data channel. */
  readonly #hasChannel: boolean;
  readonly #parts: BrowserCallParts;
  /** The connection that the call speaks through, or will when it is set up. */
  #connection: BrowserConnection;
  /** The connection that will take its place. */
  #next: BrowserConnection | undefined;
  #call: Call | undefined;
  /** Talks with the page over the channel of each connection; there is one as soon as there is a call. */
  #session: ChannelSession | undefined;
  /** Reason of the end. */
  #reason: string | undefined;
  #cancelGrace: (() => void) | undefined;
  #cancelChannel: (() => void) | undefined;
  /** Why the present connection is of no use; undefined while it is. */
  #reasonToWait: string | undefined;
  #isInterrupted = false;
  /** RTP timestamp of the sound that the browser received last, while it resumes the call. */
  #receivedTimestamp: number | undefined;
  #isHeld = false;
  #resolveFreed!: () => void;

  /** Throws CALL_LIMIT or TRANSPORT_UNSUPPORTED; the place is still the caller's then. */
  constructor(place: CallPlace, offer: Offer, purpose: BrowserPurpose, parts: BrowserCallParts) {
    const { use, agent, program } = purpose;
    this.id = place.id;
    this.token = parts.randomBytes(TOKEN_BYTES).toString('base64url');
    this.#place = place;
    this.use = use;
    this.#owner = purpose.owner;
    const named = agent ?? parts.handler?.usual;
    const hasAgent = use === 'talk' && program === undefined && named !== NO_AGENT;
    this.#agent = hasAgent ? named : undefined;
    this.#program = program;
    this.#description = purpose.session;
    this.#hasChannel = offer.data !== undefined;
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
      labelled: (label) => {
        if (connection === this.#connection) this.#begin(label);
      },
      keyDown: () => {
        if (connection === this.#connection) this.#call?.keyDown();
      },
      digit: (digit) => {
        if (connection === this.#connection) this.#call?.pressed(digit);
      },
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
    if (this.#session !== undefined) connection.talk(this.#session);
    this.#hold();
    this.#parts.log.info({ call: this.id }, 'call resumed');
  }

  #open(connection: BrowserConnection, port: MediaPort): void {
    const call = this.#place.open(port);
    this.#call = call;
    void call.closed.then(() => this.#free());
    const { dialects = [], time } = this.#parts;
    const isKnown = connection.label !== undefined || !this.#hasChannel || dialects.length === 0;
    if (isKnown) return this.#begin(connection.label);
    this.#cancelChannel = time.after(CHANNEL_MS, () => this.#begin(undefined));
    return undefined;
  }

  /** The talk begins, in the protocol of this label. */
  #begin(label: string | undefined): void {
    const call = this.#call;
    if (call === undefined || this.#session !== undefined || this.#reason !== undefined) return;
    this.#cancelChannel?.();
    const handled = this.#handled(call);
    if (this.use === 'talk') this.#parts.listed?.add(handled, this.#owner);
    this.#parts.handler?.opened(handled);
    // A program conducts the call: it has no use for a protocol of conversations.
    const dialects = this.#program === undefined ? this.#parts.dialects : undefined;
    const dialect = dialects?.find((one) => one.label === label);
    try {
      this.#session = dialect === undefined ? this.#ownSession(call) : this.#dialectSession(call, dialect);
    } catch (error) {
      return this.#failed(this.#connection, asParleyError(error, 'WRONG_STATE'));
    }
    if (this.#isHeld) this.#session.hold(true);
    this.#connection.talk(this.#session);
  }

  #ownSession(call: Call): ChannelSession {
    const { limits, time, log, callerTexts } = this.#parts;
    const conductor = this.#conductor(call);
    const isRecognised = callerTexts?.isCallerRecognised === true;
    const followCaller = isRecognised ? (on: CallerListener) => callerTexts.follow(call, on) : undefined;
    return new DataChannelSession(call, { limits, time, log, followCaller, ...conductor });
  }

  #conductor(call: Call): { agent?: string; program?: string; talk?: Talk } {
    const { handler, programs } = this.#parts;
    const [agent, program] = [this.#agent, this.#program];
    if (program !== undefined) {
      const talk = programs?.conduct(this.#handled(call), { kind: 'program', name: program });
      return { program, ...stated({ talk }) };
    }
    if (agent === undefined) return {};
    const talk = handler?.handle(agent, this.#handled(call));
    return talk === undefined ? {} : { agent, talk };
  }

  #dialectSession(call: Call, dialect: ChannelDialect): ChannelSession {
    const opening = { agent: this.#agent, session: this.#description };
    const { limits, time, log } = this.#parts;
    const open: ConstructorParameters<typeof DialectSession>[1] = (client) =>
      dialect.open(this.#handled(call), opening, client);
    return new DialectSession(call, open, { limits, time, log });
  }

  #handled(call: Call): HandledCall {
    return { call, direction: 'inbound', hangUp: () => this.end('agent hung up') };
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

  /** Holds the speech and the events while the browser does not hear them. */
  #hold(): void {
    const isHeld =
      this.#isInterrupted || this.#reasonToWait !== undefined || this.#receivedTimestamp !== undefined;
    if (isHeld === this.#isHeld) return;
    this.#isHeld = isHeld;
    this.#call?.hold(isHeld);
    this.#session?.hold(isHeld);
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
    this.#cancelChannel?.();
    this.#next?.close();
    this.#connection.close();
    this.#session?.close();
    this.#place.release();
    this.#resolveFreed();
  }
}
