// Answers INVITE and UPDATE of the peer within a dialog: its offers, its refreshes, and its requests
// for an offer of ours (RFC 3261 section 14.2, RFC 3311, RFC 6141).
import { refusal, refused, type Result } from '../message/refusal.js';
import type { SipRequest } from '../message/message.js';
import type { HeaderLine } from '../message/serialiser.js';
import type { SessionAnswer } from './session-timer.js';
import type { ServerTransaction } from '../transaction/server-transaction.js';
import { ALLOW, sessionFields, SUPPORTED } from './capabilities.js';
import type { DialogContext } from './dialog-context.js';
import { describedIn, descriptionIn, withDescription } from '../message/body.js';

interface Agreed {
  readonly sdp: string | undefined;
  readonly timing: SessionAnswer;
}

const MOST_LATER_SECONDS = 10; // RFC 3261, section 14.2

export class PeerOffers {
  readonly #life: DialogContext;
  /** True while our own offer is pending. */
  readonly #offering: () => boolean;

  constructor(life: DialogContext, offering: () => boolean) {
    this.#life = life;
    this.#offering = offering;
  }

  invite(request: SipRequest, transaction: ServerTransaction): void {
    const { channel, awaited, timer, calling, confirmed } = this.#life;
    // Before the first INVITE is answered, our offer or the peer's own is pending.
    if (!confirmed && !calling) return this.#later(transaction);
    const offer = describedIn(request);
    const agreed = confirmed && !this.#offering() ? this.#agree(request, offer, true) : crossed();
    if (agreed.refusal !== undefined) {
      channel.context.refuse(transaction, agreed.refusal);
      return;
    }
    const { sdp, timing } = agreed.value;
    const isLate = offer.value === undefined;
    const { headers, body } = withDescription(sdp);
    const response = { status: 200, headers: [...this.#headers(timing), ...headers], body };
    channel.refreshed(request, transaction.flow);
    const isGiven = awaited.accept(transaction, response, {
      acknowledged: (ack) => {
        if (isLate) this.#answered(ack);
      },
      unacknowledged: () => void this.#life.bye({ by: 'unacknowledged' }, NO_ACK),
    });
    if (isGiven) timer.answered(timing);
    else if (isLate) this.#life.media?.withdraw();
  }

  /**
   * Answers UPDATE with or without an offer in early and confirmed dialogs. The session timer runs in
   * confirmed dialogs only.
   */
  update(request: SipRequest, transaction: ServerTransaction): void {
    const { channel, timer, media, calling, confirmed } = this.#life;
    const offer = describedIn(request);
    const offers = offer.value !== undefined;
    // The peer's first offer was not answered yet, and we made none (RFC 3311, section 5.2).
    if (offers && !(media?.agreed ?? false) && !calling && !(media?.offering ?? false)) {
      return this.#later(transaction);
    }
    const agreed = offers && this.#offering() ? crossed() : this.#agree(request, offer, false);
    if (agreed.refusal !== undefined) {
      channel.context.refuse(transaction, agreed.refusal);
      return;
    }
    const { sdp, timing } = agreed.value;
    const { headers, body } = withDescription(sdp);
    channel.refreshed(request, transaction.flow);
    const given = [...this.#headers(confirmed ? timing : NO_TIMING), ...headers];
    channel.context.respond(transaction, { status: 200, headers: given, body });
    if (confirmed) timer.answered(timing);
  }

  /** Checks the timer first: a request with too short an interval changes nothing. */
  #agree(request: SipRequest, offer: Result<Buffer | undefined>, needsDescription: boolean): Result<Agreed> {
    const { timer, media } = this.#life;
    const timing = timer.validate(sessionFields(request));
    if (timing.refusal !== undefined) return timing;
    if (offer.refusal !== undefined) return offer;
    const { value: theirs } = offer;
    if (theirs === undefined && !needsDescription) return { value: { sdp: undefined, timing: timing.value } };
    if (request.source !== undefined) media?.signalledFrom(request.source.address);
    media?.confirmed(); // the request contains our tag, so the peer receives our messages
    const described = theirs === undefined ? media?.offer() : media?.answer(theirs);
    if (described === undefined) return crossed();
    if (described.refusal !== undefined) return described;
    return { value: { sdp: described.value, timing: timing.value } };
  }

  /**
   * Takes the answer to an offer that the peer had requested. Without a usable answer the previous state
   * stays.
   */
  #answered(ack: SipRequest): void {
    const { media, channel } = this.#life;
    const answer = descriptionIn(ack);
    if (answer === undefined) media?.withdraw();
    else media?.accept(answer, channel.dialog.remoteTag);
  }

  #headers(timing: SessionAnswer): HeaderLine[] {
    return [this.#life.channel.contact, ALLOW, SUPPORTED, ...timing.headers];
  }

  #later(transaction: ServerTransaction): void {
    const { context } = this.#life.channel;
    const seconds = String(context.randomInt(MOST_LATER_SECONDS + 1));
    context.refuse(transaction, refusal(500, 'Server Internal Error', [['Retry-After', seconds]]));
  }
}

const NO_ACK = { protocol: 'sip', cause: 408, text: 'no ACK' };
const NO_TIMING: SessionAnswer = { headers: [], running: undefined };

function crossed(): Result<never> {
  return refused(491, 'Request Pending');
}
