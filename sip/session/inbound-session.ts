// A call that came in: its INVITE until it is answered, and then its dialog.
//
//   inviting ─ ring, progress ─▶ early ─ accept ─▶ confirmed ─▶ ended
//       └──── reject, CANCEL ──────┴───────────────────────────▲
import type { Dialog } from '../dialog/dialog.js';
import { writeReason, type Reason } from '../headers/reason.js';
import { refused, type Judged } from '../judged.js';
import type { SipRequest } from '../message/request.js';
import type { HeaderLine } from '../message/serialiser.js';
import type { SessionAnswer } from '../session-timer.js';
import type { ServerTransaction } from '../transaction/server-transaction.js';
import type { Flow, Place } from '../transport/flow.js';
import { ALLOW, SUPPORTED } from './abilities.js';
import { InDialog, reasonIn } from './in-dialog.js';
import { descriptionIn, withDescription } from './session-body.js';
import type { SessionGround } from './session-ground.js';
import type { SessionMedia } from './session-media.js';
import type { ReferTarget, Session, SessionEnd, SessionState, SessionUser } from './session.js';
import { wayBack } from './way-back.js';

export interface InboundSessionOptions {
  readonly transaction: ServerTransaction;
  readonly dialog: Dialog;
  readonly contact: string;
  /** What the INVITE's session timer is answered with. */
  readonly timing: SessionAnswer;
  /** The call that this one is to take the place of: ended when this one is accepted. Whether it may, the owner says. */
  readonly replaces: Session | undefined;
  readonly ground: SessionGround;
}

/** How a call is refused. */
export interface Rejection {
  readonly reason?: Reason;
  readonly headers?: readonly HeaderLine[];
}

export class InboundSession implements Session {
  user: SessionUser = { established: () => undefined, ended: () => undefined };
  readonly replaces: Session | undefined;
  readonly #options: InboundSessionOptions;
  readonly #ground: SessionGround;
  readonly #transaction: ServerTransaction;
  readonly #inDialog: InDialog;
  readonly #copied: readonly HeaderLine[];
  #state: SessionState = 'inviting';

  constructor(options: InboundSessionOptions) {
    const { transaction, dialog, contact, ground } = options;
    this.#options = options;
    this.#ground = ground;
    this.#transaction = transaction;
    this.replaces = options.replaces;
    this.#copied = this.request.all('record-route').map((route): HeaderLine => ['Record-Route', route]);
    const flow = wayBack(this.request, this.flow);
    this.#inDialog = new InDialog({
      dialog,
      journey: flow === undefined ? {} : { flow },
      contact,
      user: () => this.user,
      ground,
      session: this,
      calling: false,
      over: (end) => this.#over(end),
    });
    this.#inDialog.channel.peer.note(this.request);
    transaction.user = { cancelled: (cancel) => this.#cancelled(cancel) };
  }

  get request(): SipRequest {
    return this.#transaction.request;
  }

  get flow(): Flow {
    return this.#transaction.flow;
  }

  /** Where the INVITE came from. */
  get peer(): Place {
    return this.flow.remote;
  }

  get state(): SessionState {
    return this.#state;
  }

  get dialog(): Dialog | undefined {
    return this.#state === 'inviting' ? undefined : this.#inDialog.dialog;
  }

  /** 180. */
  ring(): void {
    if (this.#transaction.answered) return;
    this.#state = 'early';
    this.#ground.respond(this.#transaction, { status: 180, headers: this.#headers() });
  }

  /** 200. Where the media cannot answer, the call is refused with what it says, and has ended. */
  accept(media: SessionMedia, user: SessionUser): Judged<void> {
    if (this.#transaction.answered || this.#state === 'ended') return refused(481, 'the call has ended');
    this.user = user;
    this.#inDialog.media = media;
    const offer = descriptionIn(this.request);
    const described = offer === undefined ? media.offer() : media.answer(offer);
    if (described.refusal !== undefined) {
      const { status, headers } = described.refusal;
      this.reject(status, { headers });
      return described;
    }
    this.#accept(described.value, offer === undefined);
    return { value: undefined };
  }

  reject(status: number, { reason, headers = [] }: Rejection = {}): void {
    if (this.#transaction.answered) return;
    const because: HeaderLine[] = reason === undefined ? [] : [['Reason', writeReason(reason)]];
    this.#ground.respond(this.#transaction, { status, headers: [...because, ...headers] });
    this.#inDialog.end({ by: 'us', status });
  }

  hangUp(reason?: Reason): Promise<void> {
    if (this.#transaction.answered) return this.#inDialog.hangUp(reason);
    this.reject(480, reason === undefined ? {} : { reason });
    return Promise.resolve();
  }

  reoffer(): Promise<Judged<void>> {
    return this.#inDialog.reoffer();
  }

  sendDigit(digit: string, durationMs: number): Promise<boolean> {
    return this.#inDialog.sendDigit(digit, durationMs);
  }

  refer(target: ReferTarget, told?: (status: number) => void): Promise<Judged<number>> {
    return this.#inDialog.refer(target, told);
  }

  #accept(sdp: string | undefined, isOffer: boolean): void {
    const { timing } = this.#options;
    const { headers, body } = withDescription(sdp);
    const response = {
      status: 200,
      headers: [...this.#headers(), SUPPORTED, ...timing.headers, ...headers],
      ...(body === undefined ? {} : { body }),
    };
    this.#state = 'confirmed';
    this.#inDialog.confirm();
    this.#inDialog.timer.answered(timing);
    this.#inDialog.awaited.accept(this.#transaction, response, {
      acknowledged: (ack) => this.#acknowledged(ack, isOffer),
      unacknowledged: () => void this.#inDialog.bye({ by: 'unacknowledged' }, NO_ACK),
    });
  }

  #acknowledged(ack: SipRequest, isOffered: boolean): void {
    if (this.#inDialog.ended) return;
    const answer = isOffered ? descriptionIn(ack) : undefined;
    const { media, dialog } = this.#inDialog;
    const judged = answer === undefined ? undefined : media?.accept(answer, dialog.remoteTag);
    if (isOffered && (answer === undefined || judged?.refusal !== undefined)) {
      void this.#inDialog.bye({ by: 'us', status: 488 }, NO_ANSWER);
      return;
    }
    this.user.established();
  }

  #cancelled(cancel: SipRequest): void {
    this.#inDialog.end({ by: 'cancelled', ...reasonIn(cancel) });
  }

  #over(end: SessionEnd): void {
    if (!this.#transaction.answered) this.#ground.respond(this.#transaction, { status: 487 });
    this.#state = 'ended';
    this.user.ended(end);
  }

  #headers(): HeaderLine[] {
    return [...this.#copied, this.#inDialog.channel.contact, ALLOW];
  }
}

const NO_ACK = { protocol: 'sip', cause: 408, text: 'no ACK' };
const NO_ANSWER = { protocol: 'sip', cause: 488, text: 'no usable answer in ACK' };
