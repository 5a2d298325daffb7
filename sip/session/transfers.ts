// Transfers calls with REFER in both directions, one at a time: OurTransfers sends REFER and follows
// its NOTIFYs, PeerTransfers answers REFER and sends them (RFC 3515, RFC 4488, RFC 6665, RFC 3892).
import type { SipRequest, SipResponse } from '../message/message.js';
import { reasonPhrase, refusal, refused, type Result } from '../message/refusal.js';
import { readReplaces, writeReferredBy, writeReplaces } from '../message/replaces.js';
import type { HeaderLine } from '../message/serialiser.js';
import { parseNameAddr, parseUri } from '../message/uri.js';
import type { ServerTransaction } from '../transaction/server-transaction.js';
import { ALLOW, CAPABILITIES, SUPPORTED } from './capabilities.js';
import type { DialogContext } from './dialog-context.js';
import { statusOf } from './session-context.js';
import type { ReferTarget, TransferAsked } from './session.js';

interface Subscription {
  /** CSeq of each attempt of the REFER; a NOTIFY may name it. */
  readonly numbers: Set<number>;
  readonly onStatus: (status: number) => void;
  readonly finish: (outcome: Result<number>) => void;
  /** Latest reported status; 0 before the first. */
  status: number;
  cancelTimer: () => void;
}

const USUAL_SECONDS = 180; // default if a NOTIFY does not state when its subscription ends
const MOST_SECONDS = 600;
const NO_SUBSCRIPTION = refusal(481, 'Subscription Does Not Exist');

export class OurTransfers {
  readonly #life: DialogContext;
  #open: Subscription | undefined;
  /** The outcome is known, but the peer has not ended the subscription. */
  #lingering: ReadonlySet<number> | undefined;

  constructor(life: DialogContext) {
    this.#life = life;
  }

  /** True while NOTIFYs are expected. */
  get open(): boolean {
    return this.#open !== undefined;
  }

  refer(target: ReferTarget, onStatus: (status: number) => void = () => undefined): Promise<Result<number>> {
    if (this.#life.ended) return Promise.resolve(refused(481, 'the call has ended'));
    if (!this.#life.confirmed) return Promise.resolve(refused(491, 'the call is not answered yet'));
    if (this.open) return Promise.resolve(refused(491, 'another transfer is under way'));
    if (parseUri(target.uri) === undefined) return Promise.resolve(refused(400, 'the target is no URI'));
    return new Promise((resolve) => {
      const numbers = new Set<number>();
      const finish = (outcome: Result<number>): void => {
        subscription.cancelTimer();
        this.#open = undefined;
        resolve(outcome);
        this.#life.leave();
      };
      const subscription: Subscription = {
        numbers,
        onStatus,
        finish,
        status: 0,
        cancelTimer: () => undefined,
      };
      this.#open = subscription;
      this.#lingering = undefined;
      void this.#send(target, subscription);
    });
  }

  /** Handles a NOTIFY of the peer. One may precede the response to REFER, and one may follow the outcome. */
  notified(request: SipRequest, transaction: ServerTransaction): void {
    const { context } = this.#life.channel;
    const event = /^\s*refer(?![^;\s])\s*(?:;.*?\bid\s*=\s*(\d{1,10}))?/i.exec(request.first('event') ?? '');
    const numbers = this.#open?.numbers ?? this.#lingering;
    const isMeant = event !== null && (event[1] === undefined || numbers?.has(Number(event[1])) === true);
    if (numbers === undefined || !isMeant) {
      context.refuse(transaction, NO_SUBSCRIPTION);
    } else if (request.body.length > 0 && request.contentType?.name !== 'message/sipfrag') {
      context.refuse(transaction, refusal(415, 'Unsupported Media Type', [['Accept', 'message/sipfrag']]));
    } else {
      context.respond(transaction, { status: 200 });
      this.#take(request);
    }
  }

  async #send(target: ReferTarget, subscription: Subscription): Promise<void> {
    const { channel } = this.#life;
    const headers = [...this.#headers(target), channel.contact, ALLOW, SUPPORTED];
    const outcome = await channel.send('REFER', { headers }, (number) => subscription.numbers.add(number));
    if (this.#open !== subscription) return; // its NOTIFYs arrived first
    const status = statusOf(outcome);
    if (!('response' in outcome) || status >= 300) {
      subscription.finish(refused(status, 'the peer refused to be transferred'));
    } else if (isWithoutNotify(outcome.response)) subscription.finish({ value: status });
    else if (subscription.status === 0) this.#wait(channel.context.patienceMs);
  }

  #headers({ uri, replaces }: ReferTarget): HeaderLine[] {
    const separator = uri.includes('?') ? '&' : '?';
    const escaped =
      replaces === undefined ? '' : `${separator}Replaces=${encodeURIComponent(writeReplaces(replaces))}`;
    const by = this.#life.channel.dialog.localUri;
    const referredBy =
      by === undefined ? '' : writeReferredBy({ displayName: undefined, uri: by, cid: undefined });
    return [
      ['Refer-To', `<${uri}${escaped}>`],
      ...(referredBy === '' ? [] : [['Referred-By', referredBy] as const]),
    ];
  }

  #take(request: SipRequest): void {
    const state = request.first('subscription-state') ?? 'active';
    const isOver = /^\s*terminated\b/i.test(state);
    const subscription = this.#open;
    if (isOver) this.#lingering = undefined;
    if (subscription === undefined) return;
    const status = Number(
      /^\s*SIP\/2\.0[ \t]+([1-6]\d\d)\b/i.exec(request.body.toString('latin1', 0, 256))?.[1] ?? 0,
    );
    if (status > 0) {
      subscription.status = status;
      subscription.onStatus(status);
    }
    if (subscription.status >= 200 && !isOver) this.#lingering = subscription.numbers;
    if (isOver || subscription.status >= 200) subscription.finish(outcomeOf(subscription));
    else {
      const expires = Number(/;\s*expires\s*=\s*(\d{1,9})/i.exec(state)?.[1] ?? USUAL_SECONDS);
      this.#wait(Math.min(expires, MOST_SECONDS) * 1000 + this.#life.channel.context.patienceMs);
    }
  }

  #wait(ms: number): void {
    const subscription = this.#open;
    if (subscription === undefined) return;
    subscription.cancelTimer();
    subscription.cancelTimer = this.#life.channel.context.time.after(ms, () =>
      subscription.finish(outcomeOf(subscription)),
    );
  }
}

function outcomeOf({ status }: Subscription): Result<number> {
  return status === 0 ? refused(408, 'the peer did not report on the transfer') : { value: status };
}

/** True if the peer will send no NOTIFY (RFC 4488). */
function isWithoutNotify(response: SipResponse): boolean {
  return /^\s*false\b/i.test(response.first('refer-sub') ?? '');
}

interface Transfer {
  readonly transaction: ServerTransaction;
  /** Value of the Event field. */
  readonly event: string;
  /** The peer asks for NOTIFYs (RFC 4488). */
  readonly notifies: boolean;
  accepted: boolean;
  /** Status of the next NOTIFY, sent once the previous one was answered. */
  next: number | undefined;
  sending: boolean;
  cancelTimer: () => void;
}

type Meant = Pick<TransferAsked, 'target' | 'replaces' | 'referredBy'>;

const TOLD_SECONDS = 300; // longer than any phone rings

export class PeerTransfers {
  readonly #life: DialogContext;
  #open: Transfer | undefined;
  #count = 0;

  constructor(life: DialogContext) {
    this.#life = life;
  }

  /** True while NOTIFYs have to be sent. */
  get open(): boolean {
    return this.#open?.accepted === true && this.#open.notifies;
  }

  received(request: SipRequest, transaction: ServerTransaction): void {
    const { channel, user, confirmed } = this.#life;
    const { context } = channel;
    const meant = meantBy(request);
    if (meant.refusal !== undefined) context.refuse(transaction, meant.refusal);
    else if (this.#open !== undefined || !confirmed)
      context.refuse(transaction, refusal(491, 'Request Pending'));
    else if (user.transferAsked === undefined) context.refuse(transaction, refusal(603, 'Decline'));
    else {
      channel.peer.note(request);
      user.transferAsked(this.#asked(request, transaction, meant.value));
    }
  }

  /**
   * Handles the end of the session: an undecided transfer is refused, an accepted one continues to send
   * NOTIFYs if requested.
   */
  ended(): void {
    if (this.#open?.accepted === false) this.#refuse(this.#open, 487);
    else if (this.#open?.notifies === false) this.#over(this.#open);
  }

  #asked(request: SipRequest, transaction: ServerTransaction, meant: Meant): TransferAsked {
    const { context } = this.#life.channel;
    // The first REFER of a dialog needs no id, which some peers do not support (RFC 3515, section
    // 2.4.6).
    const event = this.#count++ === 0 ? 'refer' : `refer;id=${request.cseq.number}`;
    const notifies = !/^\s*false\b/i.test(request.first('refer-sub') ?? '');
    const transfer: Transfer = {
      transaction,
      event,
      notifies,
      accepted: false,
      next: undefined,
      sending: false,
      cancelTimer: () => undefined,
    };
    // Decline before the peer's request times out.
    transfer.cancelTimer = context.time.after((context.patienceMs * 3) / 4, () =>
      this.#refuse(transfer, 603),
    );
    this.#open = transfer;
    return {
      ...meant,
      accept: () => this.#accept(transfer),
      refuse: (status) => this.#refuse(transfer, status),
      notify: (status) => this.#notify(transfer, status),
    };
  }

  /** Accepts a transfer; it stays open until its final status. */
  #accept(transfer: Transfer): void {
    if (this.#open !== transfer || transfer.accepted) return;
    const { context, contact } = this.#life.channel;
    transfer.cancelTimer();
    transfer.accepted = true;
    const headers: HeaderLine[] = [contact, ALLOW, SUPPORTED];
    if (transfer.notifies) context.respond(transfer.transaction, { status: 202, headers });
    else
      context.respond(transfer.transaction, { status: 200, headers: [['Refer-Sub', 'false'], ...headers] });
    transfer.cancelTimer = context.time.after(TOLD_SECONDS * 1000, () => this.#notify(transfer, 408));
    this.#notify(transfer, 100);
  }

  #refuse(transfer: Transfer, status: number): void {
    if (this.#open !== transfer || transfer.accepted) return;
    this.#over(transfer);
    this.#life.channel.context.respond(transfer.transaction, { status });
  }

  #over(transfer: Transfer): void {
    transfer.cancelTimer();
    this.#open = undefined;
  }

  /** NOTIFYs are sent one at a time to stay in order; of several waiting statuses only the latest is sent. */
  #notify(transfer: Transfer, status: number): void {
    if (this.#open !== transfer || !transfer.accepted || (transfer.next ?? 0) >= 200) return;
    if (!transfer.notifies) return status >= 200 ? this.#over(transfer) : undefined;
    transfer.next = status;
    if (status >= 200) transfer.cancelTimer();
    if (!transfer.sending) void this.#tell(transfer);
  }

  async #tell(transfer: Transfer): Promise<void> {
    transfer.sending = true;
    let isOver = false;
    while (!isOver && transfer.next !== undefined) {
      const status = transfer.next;
      if (status < 200) transfer.next = undefined;
      const outcome = statusOf(await this.#send(transfer.event, status));
      // 481: the subscription is gone; 408: the peer is unreachable (RFC 6665, section 4.2.2).
      isOver = status >= 200 || outcome === 481 || outcome === 408;
    }
    transfer.sending = false;
    if (!isOver) return;
    this.#over(transfer);
    this.#life.leave();
  }

  #send(event: string, status: number) {
    const state = status < 200 ? `active;expires=${TOLD_SECONDS}` : 'terminated;reason=noresource';
    const headers: HeaderLine[] = [
      ['Event', event],
      ['Subscription-State', state],
      this.#life.channel.contact,
      ['Content-Type', 'message/sipfrag;version=2.0'],
    ];
    const body = `SIP/2.0 ${status} ${reasonPhrase(status)}\r\n`;
    return this.#life.channel.send('NOTIFY', { headers, body });
  }
}

/** Reads the target and the dialog to replace. */
function meantBy(request: SipRequest): Result<Meant> {
  const values = request.all('refer-to');
  const [value] = values;
  const target =
    value === undefined || values.length > 1 ? undefined : (parseNameAddr(value)?.uri ?? undefined);
  if (target === undefined) return refused(400, 'there is not exactly one well-formed Refer-To');
  if (!CAPABILITIES.schemes.includes(target.scheme)) return refused(416, 'Unsupported URI Scheme');
  const method = target.params.get('method') ?? 'INVITE';
  if (method.toUpperCase() !== 'INVITE') return refused(501, 'only calls can be transferred');
  const written = target.headers.filter(([name]) => name.toLowerCase() === 'replaces');
  const replaces = written.map(([, text]) => readReplaces(text));
  if (replaces.length > 1 || replaces.includes(undefined)) return refused(400, 'Replaces is not well-formed');
  return { value: { target, replaces: replaces[0], referredBy: request.first('referred-by') } };
}
