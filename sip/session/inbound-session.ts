// Runs a call that came in: its INVITE until it is answered, and then its dialog.
//
//   inviting ─ ring, progress ─▶ early ─ accept ─▶ confirmed ─▶ ended
//       └──── reject, CANCEL ──────┴───────────────────────────▲
import type { PeerJourney } from '../client/request-sender.js';
import type { KnownDialog } from './dialog-table.js';
import type { SessionContext } from './session-context.js';
import type { Dialog } from './dialog.js';
import {
  readReason,
  type Reason,
  type Refusal,
  refused,
  type Result,
  writeReason,
} from '../message/refusal.js';
import { stated } from '../../src/stated.js';
import type { SipRequest } from '../message/message.js';
import { type HeaderLine, recordRoutesOf } from '../message/serialiser.js';
import type { SessionAnswer } from './session-timer.js';
import type { ServerEnd, ServerTransaction } from '../transaction/server-transaction.js';
import type { Flow, Place } from '../transport/flow.js';
import { ALLOW, optionTags, SUPPORTED } from './capabilities.js';
import { FirstExchange, ReliableProvisionals } from './first-exchange.js';
import { InDialog, reasonIn } from './in-dialog.js';
import { withDescription } from '../message/body.js';
import type { ReferTarget, Session, SessionEnd, SessionMedia, SessionState, SessionUser } from './session.js';
import { wayBack } from './dialog-channel.js';

interface InboundSessionOptions {
  readonly transaction: ServerTransaction;
  readonly dialog: Dialog;
  readonly contact: string;
  /** Session description of the INVITE. */
  readonly offer: Buffer | undefined;
  /** Journey of the trunk that sent the call. */
  readonly journey: PeerJourney;
  /** Answer to the INVITE's session timer. */
  readonly timing: SessionAnswer;
  /** Call to replace, ended when this one is accepted. The owner decides whether that is permitted. */
  readonly replaces: KnownDialog | undefined;
  readonly context: SessionContext;
  /** The sender of the INVITE has shown that it receives what is sent to it. */
  readonly proven: boolean;
  /** Seconds that the call may stay unanswered. */
  readonly ringSeconds: number;
  /** The INVITE's transaction is over. */
  readonly over: () => void;
}

/** Details of a refusal. */
interface Rejection {
  readonly reason?: Reason | undefined;
  readonly headers?: readonly HeaderLine[];
}

export class InboundSession implements Session {
  user: SessionUser = { established: () => undefined, ended: () => undefined };
  /** Call to replace. */
  readonly replaces: Session | undefined;
  readonly #options: InboundSessionOptions;
  readonly #context: SessionContext;
  readonly #transaction: ServerTransaction;
  readonly #inDialog: InDialog;
  readonly #copied: readonly HeaderLine[];
  readonly #exchange: FirstExchange;
  readonly #reliable: ReliableProvisionals;
  /** The peer requires or supports 100rel. */
  readonly #requires: boolean;
  readonly #knows: boolean;
  #state: SessionState = 'inviting';
  /** `accept` was called; the 200 may still have to wait. */
  #accepting = false;
  /** A description was sent reliably and its PRACK is pending. */
  #descriptionOpen = false;
  #cancelRepeat = () => {};
  readonly #cancelLimit: () => void;

  constructor(options: InboundSessionOptions) {
    const { transaction, dialog, contact, journey, context } = options;
    this.#options = options;
    this.#context = context;
    this.#transaction = transaction;
    this.replaces = options.replaces?.session;
    this.#exchange = new FirstExchange(options.offer);
    this.#reliable = new ReliableProvisionals(transaction, context, () => this.#unpracked());
    this.#requires = this.request.all('require').some((tag) => tag.toLowerCase() === '100rel');
    this.#knows = optionTags(this.request).includes('100rel');
    this.#copied = recordRoutesOf(this.request);
    this.#inDialog = new InDialog({
      dialog,
      journey: { from: this.flow.local.address, flow: wayBack(this.request, this.flow), ...journey },
      contact,
      user: () => this.user,
      context,
      session: this,
      calling: false,
      prack: (prack, its) => this.#prack(prack, its),
      over: (end) => this.#over(end),
    });
    this.#inDialog.channel.peer.note(this.request);
    this.#cancelLimit = this.#limit();
    transaction.user = {
      cancelled: (cancel) => this.#cancelled(cancel),
      ended: (why) => this.#transactionEnded(why),
    };
  }

  /** True if the INVITE contains no offer. */
  get offers(): boolean {
    return this.#options.offer === undefined;
  }

  get request(): SipRequest {
    return this.#transaction.request;
  }

  get flow(): Flow {
    return this.#transaction.flow;
  }

  /** Remote address of the INVITE. */
  get peer(): Place {
    return this.flow.remote;
  }

  get state(): SessionState {
    return this.#state;
  }

  get dialog(): Dialog | undefined {
    return this.#state === 'inviting' ? undefined : this.#inDialog.dialog;
  }

  /**
   * Sends 180 and repeats it every minute (RFC 3261, section 13.3.1.1). It is reliable if requested and
   * supported, or if the peer requires it.
   */
  ring({ reliably = false } = {}): void {
    if (this.#transaction.answered) return;
    this.#state = 'early';
    this.#provisional({ status: 180, sdp: undefined }, this.#requires || (reliably && this.#knows));
  }

  /**
   * Sends 183 with the answer, or with our offer if the INVITE has none and the response is reliable. It is
   * reliable if the peer supports that, by default. If the media cannot answer, the call is refused and
   * ends.
   */
  progress(media: SessionMedia, { reliably = true } = {}): Result<void> {
    if (this.#transaction.answered) return refused(481, 'the call has ended');
    this.#carry(media);
    const isReliable = this.#requires || (reliably && this.#knows);
    const described = this.#exchange.provisional(media, isReliable);
    if (described.refusal !== undefined) return this.#refuse(described);
    this.#state = 'early';
    this.#provisional({ status: 183, sdp: described.value }, isReliable);
    return { value: undefined };
  }

  /**
   * Sends 200 as soon as a reliably sent description is acknowledged (RFC 3262, section 3). If the media
   * cannot answer, the call is refused and ends.
   */
  accept(media: SessionMedia, user: SessionUser): Result<void> {
    if (this.#transaction.answered || this.#accepting)
      return refused(481, 'the call was answered, or has ended');
    this.user = user;
    this.#carry(media);
    this.#accepting = true;
    return this.#descriptionOpen ? { value: undefined } : this.#accept(media);
  }

  reject(status: number, { reason, headers = [] }: Rejection = {}): void {
    if (this.#transaction.answered) return;
    const because: HeaderLine[] = reason === undefined ? [] : [['Reason', writeReason(reason)]];
    this.#context.respond(this.#transaction, { status, headers: [...because, ...headers] });
    const why = reason ?? reasonAmong(headers);
    this.#inDialog.end(stated({ by: 'us', status, reason: why }));
  }

  hangUp(reason?: Reason): Promise<void> {
    if (this.#transaction.answered) return this.#inDialog.hangUp(reason);
    this.reject(480, { reason });
    return Promise.resolve();
  }

  reoffer(): Promise<Result<void>> {
    return this.#inDialog.reoffer();
  }

  sendDigit(digit: string, durationMs: number): Promise<boolean> {
    return this.#inDialog.sendDigit(digit, durationMs);
  }

  refer(target: ReferTarget, onStatus?: (status: number) => void): Promise<Result<number>> {
    return this.#inDialog.refer(target, onStatus);
  }

  #carry(media: SessionMedia): void {
    this.#inDialog.media = media;
    media.signalledFrom(this.peer.address);
    if (this.#options.proven) media.confirmed(this.peer.address);
    this.#context.carried(this.request.callId, media);
  }

  #accept(media: SessionMedia): Result<void> {
    const described = this.#exchange.final(media);
    if (described.refusal !== undefined) return this.#refuse(described);
    const { timing, replaces } = this.#options;
    const { headers, body } = withDescription(described.value);
    const response = {
      status: 200,
      headers: [...this.#headers(), SUPPORTED, ...timing.headers, ...headers],
      body,
    };
    this.#quieten();
    this.#state = 'confirmed';
    this.#inDialog.confirm();
    this.#inDialog.timer.answered(timing);
    this.#inDialog.awaited.accept(this.#transaction, response, {
      acknowledged: (ack) => this.#acknowledged(ack, media),
      unacknowledged: () => void this.#inDialog.bye({ by: 'unacknowledged' }, NO_ACK),
    });
    this.user.accepted?.();
    if (replaces?.confirmed === true) void replaces.bye({ by: 'replaced' });
    else void replaces?.session.hangUp();
    return { value: undefined };
  }

  #acknowledged(ack: SipRequest, media: SessionMedia): void {
    if (this.#inDialog.ended) return;
    const { dialog } = this.#inDialog;
    media.confirmed();
    media.acknowledged('ACK');
    const result = this.#exchange.acknowledged(ack, media, dialog.remoteTag);
    if (result.refusal === undefined) this.user.established();
    else void this.#inDialog.bye({ by: 'us', status: result.refusal.status }, NO_ANSWER);
  }

  /** Refuses the call with the refusal of the media. */
  #refuse(refused: { readonly refusal: Refusal }): { readonly refusal: Refusal } {
    this.reject(refused.refusal.status, { headers: refused.refusal.headers });
    return refused;
  }

  #provisional({ status, sdp }: { status: number; sdp: string | undefined }, reliably: boolean): void {
    const { headers, body } = withDescription(sdp);
    const all = [...this.#headers(), ...(reliably ? [SUPPORTED] : []), ...headers];
    if (reliably) {
      const isDescribed = sdp !== undefined;
      this.#descriptionOpen ||= isDescribed;
      this.#reliable.send(status, all, body, () => {
        if (isDescribed) this.#described();
      });
    } else {
      this.#context.respond(this.#transaction, { status, headers: all, body });
    }
    this.#cancelRepeat();
    this.#cancelRepeat = this.#context.time.after(REPEAT_MS, () =>
      this.#provisional({ status, sdp: reliably ? undefined : sdp }, this.#requires),
    );
  }

  /** A reliably sent description has arrived. */
  #described(): void {
    this.#descriptionOpen = false;
    const { media } = this.#inDialog;
    if (this.#accepting && media !== undefined && !this.#transaction.answered) this.#accept(media);
  }

  #prack(request: SipRequest, transaction: ServerTransaction): void {
    if (!this.#reliable.takes(request)) return this.#reliable.refuse(transaction);
    const { media, dialog } = this.#inDialog;
    media?.confirmed();
    const isAnswer = media?.offering ?? false;
    const result =
      media === undefined ? { value: undefined } : this.#exchange.pracked(request, media, dialog.remoteTag);
    if (result.refusal === undefined) media?.acknowledged('PRACK');
    if (result.refusal === undefined || isAnswer) {
      const { headers, body } = withDescription(result.value);
      this.#context.respond(transaction, { status: 200, headers, body });
    } else this.#context.refuse(transaction, result.refusal);
    // A bad answer cannot be refused, only the call can.
    if (result.refusal !== undefined && isAnswer) this.reject(result.refusal.status, { reason: NO_ANSWER });
    this.#reliable.answered();
  }

  #cancelled(cancel: SipRequest): void {
    this.#inDialog.end({ by: 'cancelled', ...reasonIn(cancel) });
  }

  /** The call was not accepted within our limit or the caller's. */
  #unanswered(status: number): void {
    if (this.#transaction.answered) return;
    this.#context.respond(this.#transaction, { status });
    this.#inDialog.end({ by: 'unanswered', status });
  }

  #unpracked(): void {
    if (this.#transaction.answered) return;
    this.#context.respond(this.#transaction, { status: 504, reason: 'No PRACK' });
    this.#inDialog.end({ by: 'unacknowledged', status: 504 });
  }

  #transactionEnded(why: ServerEnd): void {
    this.#options.over();
    if (why === 'transport' && !this.#inDialog.confirmed) this.#inDialog.end({ by: 'transport' });
  }

  #over(end: SessionEnd): void {
    this.#quieten();
    if (!this.#transaction.answered) this.#context.respond(this.#transaction, { status: 487 });
    this.#state = 'ended';
    // The transaction outlives the call by half a minute and must not keep it in memory.
    this.#transaction.user = { ended: this.#options.over };
    this.user.ended(end);
  }

  /** Stops provisional responses and their timers. */
  #quieten(): void {
    this.#reliable.stop();
    this.#cancelRepeat();
    this.#cancelLimit();
  }

  /** A shorter limit of the caller (Expires; RFC 3261, section 13.3.1) takes precedence. */
  #limit(): () => void {
    const expires = /^\d{1,9}$/.exec(this.request.first('expires') ?? '')?.[0];
    const { ringSeconds } = this.#options;
    const isTheirs = expires !== undefined && Number(expires) < ringSeconds;
    const seconds = isTheirs ? Number(expires) : ringSeconds;
    return this.#context.time.after(seconds * 1000, () => this.#unanswered(isTheirs ? 487 : 480));
  }

  #headers(): HeaderLine[] {
    return [...this.#copied, this.#inDialog.channel.contact, ALLOW];
  }
}

function reasonAmong(headers: readonly HeaderLine[]): Reason | undefined {
  const [, value] = headers.find(([name]) => name === 'Reason') ?? [];
  return value === undefined ? undefined : readReason(value);
}

const REPEAT_MS = 60_000;
const NO_ACK = { protocol: 'sip', cause: 408, text: 'no ACK' };
const NO_ANSWER = { protocol: 'sip', cause: 488, text: 'no usable answer in ACK' };
