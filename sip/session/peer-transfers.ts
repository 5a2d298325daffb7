// The peer sends us elsewhere: its REFER, and the NOTIFYs that tell it what
// comes of it (RFC 3515, RFC 4488, RFC 3892). One at a time.
import { readReplaces } from '../message/replaces.js';
import { reasonPhrase, refusal, refused, type Result } from '../message/refusal.js';
import { parseNameAddr } from '../message/uri.js';
import type { SipRequest } from '../message/message.js';
import type { HeaderLine } from '../message/serialiser.js';
import type { ServerTransaction } from '../transaction/server-transaction.js';
import { CAPABILITIES, ALLOW, SUPPORTED } from './capabilities.js';
import type { DialogContext } from './dialog-life.js';
import { statusOf } from './session-context.js';
import type { TransferAsked } from './session.js';

interface Transfer {
  readonly transaction: ServerTransaction;
  /** Of the Event field. */
  readonly event: string;
  /** The peer wants to hear of it (RFC 4488). */
  readonly told: boolean;
  accepted: boolean;
  /** Told next, once the NOTIFY before was answered. */
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

  /** Whether NOTIFYs are still to be sent. */
  get open(): boolean {
    return this.#open?.accepted === true && this.#open.told;
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

  /** The session has ended: what was not decided on is refused, what was goes on being told, where it is to be. */
  ended(): void {
    if (this.#open?.accepted === false) this.#refuse(this.#open, 487);
    else if (this.#open?.told === false) this.#over(this.#open);
  }

  #asked(request: SipRequest, transaction: ServerTransaction, meant: Meant): TransferAsked {
    const { context } = this.#life.channel;
    // The first REFER of a dialog needs no id, and some peers know none (RFC 3515, section 2.4.6).
    const event = this.#count++ === 0 ? 'refer' : `refer;id=${request.cseq.number}`;
    const told = !/^\s*false\b/i.test(request.first('refer-sub') ?? '');
    const transfer: Transfer = { transaction, event, told, accepted: false, next: undefined, sending: false, cancelTimer: () => undefined }; // prettier-ignore
    // Before the peer gives its request up.
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

  /** Nobody is told of it, or everything: it is under way until it has come to something. */
  #accept(transfer: Transfer): void {
    if (this.#open !== transfer || transfer.accepted) return;
    const { context, contact } = this.#life.channel;
    transfer.cancelTimer();
    transfer.accepted = true;
    const headers: HeaderLine[] = [contact, ALLOW, SUPPORTED];
    if (transfer.told) context.respond(transfer.transaction, { status: 202, headers });
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

  /** One at a time, so that they come in order; of several that wait, only the latest is told. */
  #notify(transfer: Transfer, status: number): void {
    if (this.#open !== transfer || !transfer.accepted || (transfer.next ?? 0) >= 200) return;
    if (!transfer.told) return status >= 200 ? this.#over(transfer) : undefined;
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
      // 481: nobody listens there any more; 408: nobody is there (RFC 6665, section 4.2.2).
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

/** Where to, and in whose place. */
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
