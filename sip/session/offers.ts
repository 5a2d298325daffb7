// Exchanges offers within a dialog. OurOffers sends ours and the refreshes of the session by re-INVITE
// and UPDATE, one at a time, and repeats them if the peer is busy with one of its own (RFC 3261 section
// 14.1, RFC 3311, RFC 4028 section 7.4). PeerOffers answers the INVITE and UPDATE of the peer.
import type { SendOutcome, SentInvite } from '../client/request-sender.js';
import { describedIn, descriptionIn, withDescription } from '../message/body.js';
import type { SipRequest, SipResponse } from '../message/message.js';
import { refusal, refused, type Result } from '../message/refusal.js';
import type { HeaderLine } from '../message/serialiser.js';
import { clientFailure } from '../transaction/client-transaction.js';
import type { ServerTransaction } from '../transaction/server-transaction.js';
import { ALLOW, sessionFields, SUPPORTED, SUPPORTED_WITHIN } from './capabilities.js';
import type { DialogChannel, RequestContent } from './dialog-channel.js';
import type { DialogContext } from './dialog-context.js';
import { statusOf } from './session-context.js';
import type { SessionAnswer } from './session-timer.js';

const MOST_TRIES = 6;
const MOST_RETRY_SECONDS = 10; // a longer Retry-After counts as a refusal

/** Statuses that end the dialog whatever the request (RFC 5057, section 5.1). */
const FATAL: ReadonlySet<number> = new Set([404, 408, 410, 416, 480, 481, 482, 483, 484, 485, 502, 604]);

export class OurOffers {
  readonly #life: DialogContext;
  #running: Promise<Result<void>> | undefined;
  #next: Promise<Result<void>> | undefined;
  #offering = false;
  #invited: ReInvite | undefined;

  constructor(life: DialogContext) {
    this.#life = life;
  }

  /** True while a request with our offer waits for its response. */
  get offering(): boolean {
    return this.#offering;
  }

  /** Offers the current state of the media. Calls during another offer are combined into one. */
  reoffer(): Promise<Result<void>> {
    if (this.#running === undefined) return this.#start(() => this.#reoffer());
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      return this.reoffer();
    });
    return this.#next;
  }

  /** Refreshes the session; a pending request does the same. */
  async refresh(): Promise<void> {
    const outcome = await (this.#running ?? this.#start(() => this.#refresh()));
    if (outcome.refusal !== undefined) this.#life.timer.refreshFailed();
  }

  /** Ends the pending re-INVITE: the call has ended. */
  close(): void {
    this.#invited?.end();
  }

  #start(exchange: () => Promise<Result<void>>): Promise<Result<void>> {
    const running = exchange();
    this.#running = running;
    void running.then(() => {
      if (this.#running === running) this.#running = undefined;
    });
    return running;
  }

  async #reoffer(): Promise<Result<void>> {
    for (let tries = 1; ; tries++) {
      // No offer while our answer waits for its ACK (RFC 3261, section 14.1).
      await this.#life.awaited.settled();
      const { ended, confirmed, channel, media } = this.#life;
      if (ended) return refused(481, 'the call has ended');
      // Before the answer only UPDATE can offer, after the first offer and answer (RFC 3311, section
      // 5.1).
      const isEarly = !confirmed && !((media?.agreed ?? false) && channel.peer.allows('UPDATE'));
      if (isEarly) return refused(491, 'the call is not answered yet');
      const outcome = await (confirmed ? this.#invite() : this.#update(true));
      if (outcome.refusal === undefined) return outcome;
      if (tries >= MOST_TRIES || !(await this.#mayTryAgain(outcome.refusal))) return outcome;
    }
  }

  async #refresh(): Promise<Result<void>> {
    const { channel } = this.#life;
    for (let tries = 1; channel.peer.allows('UPDATE'); tries++) {
      if (this.#life.ended) return refused(481, 'the call has ended');
      const outcome = await this.#update(false);
      if (outcome.refusal === undefined) return outcome;
      const { status } = outcome.refusal;
      if (status === 405 || status === 501) channel.peer.lacks('UPDATE');
      else if (status !== 422 || tries >= MOST_TRIES || !(await this.#mayTryAgain(outcome.refusal))) {
        return outcome;
      }
    }
    return this.#reoffer();
  }

  /** Sends a re-INVITE. Afterwards the media has the answer or its previous state. */
  async #invite(): Promise<Result<void>> {
    const { media, channel } = this.#life;
    const offer = media?.offer() ?? refused(491, 'there is no media yet');
    if (offer.refusal !== undefined) return offer;
    this.#offering = true;
    this.#invited = new ReInvite(channel, this.#content(offer.value));
    const outcome = await this.#invited.outcome;
    this.#invited = undefined;
    this.#offering = false;
    if (outcome === 'ended') {
      media?.withdraw();
      return refused(481, 'the call has ended');
    }
    return 'response' in outcome && outcome.response.status < 300
      ? this.#accepted('INVITE', outcome.response, true)
      : this.#refused('INVITE', outcome, true);
  }

  async #update(offers: boolean): Promise<Result<void>> {
    const offer: Result<string | undefined> | undefined = offers
      ? this.#life.media?.offer()
      : { value: undefined };
    if (offer === undefined) return refused(491, 'there is no media yet');
    if (offer.refusal !== undefined) return offer;
    this.#offering = offers;
    const outcome = await this.#life.channel.send('UPDATE', this.#content(offer.value));
    this.#offering = false;
    return 'response' in outcome && outcome.response.status < 300
      ? this.#accepted('UPDATE', outcome.response, offers)
      : this.#refused('UPDATE', outcome, offers);
  }

  #content(offer: string | undefined): RequestContent {
    const { channel, timer, confirmed } = this.#life;
    const { headers, body } = withDescription(offer);
    const timing = confirmed ? timer.requestFields().filter(([name]) => name !== 'Supported') : [];
    return {
      headers: [channel.contact, ALLOW, SUPPORTED_WITHIN, ...timing, ...headers],
      body,
    };
  }

  #accepted(method: string, response: SipResponse, offered: boolean): Result<void> {
    const { channel, timer, media, ended, confirmed } = this.#life;
    if (method === 'INVITE') media?.acknowledged('ACK'); // ours
    if (method === 'INVITE') channel.context.sent(method, { response });
    if (ended) return refused(481, 'the call has ended');
    channel.answered(response);
    if (confirmed) timer.accepted(sessionFields(response));
    if (!offered) return { value: undefined };
    const answer = descriptionIn(response);
    if (answer === undefined) {
      media?.withdraw();
      return refused(488, 'the offer was accepted without an answer');
    }
    const result = media?.accept(answer, channel.dialog.remoteTag);
    if (result?.refusal === undefined) return { value: undefined };
    // The peer accepted the offer, but its answer is unusable (RFC 3261, section 13.2.2.4).
    void this.#life.bye({ by: 'us', status: 488 }, UNUSABLE);
    return result;
  }

  #refused(method: string, outcome: SendOutcome, offered: boolean): Result<void> {
    const { channel, media, ended } = this.#life;
    if (method === 'INVITE') channel.context.sent(method, outcome);
    if (offered) media?.withdraw();
    const status = statusOf(outcome);
    if ('failure' in outcome) {
      const result = refused(status, `the peer could not be asked: ${outcome.failure.reason}`);
      if (status === 408 && !ended) void this.#life.bye({ by: 'transport', status }, GONE);
      return result;
    }
    const { response } = outcome;
    if (FATAL.has(status) && !ended) void this.#life.bye({ by: 'peer', status }, GONE);
    const headers = ['retry-after', 'min-se'].flatMap((name) => {
      const value = response.first(name);
      return value === undefined ? [] : [[name, value] as const];
    });
    return refused(
      status,
      status === 487 ? 'the peer did not decide on it in time' : 'the peer refused it',
      headers,
    );
  }

  /** Waits and returns true if the refusal is temporary. */
  async #mayTryAgain({
    status,
    headers,
  }: {
    status: number;
    headers: readonly (readonly [string, string])[];
  }): Promise<boolean> {
    const { timer, pauses, ended } = this.#life;
    const valueOf = (name: string) => headers.find(([key]) => key === name)?.[1];
    if (ended) return false;
    if (status === 422) return timer.tooShort(valueOf('min-se'));
    if (status === 491) await pauses.wait(this.#glareMs());
    else {
      const seconds = Number(/^\d{1,4}/.exec(valueOf('retry-after') ?? '')?.[0] ?? Number.NaN);
      if ((status !== 500 && status !== 503) || !(seconds <= MOST_RETRY_SECONDS)) return false;
      await pauses.wait(seconds * 1000);
    }
    return !this.#life.ended;
  }

  /** The owner of the Call-ID waits longer, both in steps of 10 ms (RFC 3261, section 14.1). */
  #glareMs(): number {
    const { calling, channel } = this.#life;
    const { randomInt } = channel.context;
    return calling ? 2100 + 10 * randomInt(191) : 10 * randomInt(201);
  }
}

const UNUSABLE = { protocol: 'sip', cause: 488, text: 'the answer cannot be used' };
const GONE = { protocol: 'sip', cause: 481, text: 'the dialog is gone' };

const MOST_MS = 180_000; // for a peer that asks a user: as long as a proxy waits (RFC 3261, Timer C)

/**
 * One re-INVITE of ours. A peer that has sent a provisional response may take its time and never answer. No
 * other offer can be made meanwhile, so the re-INVITE is cancelled after a while.
 */
class ReInvite {
  /**
   * Outcome, or 'ended' if the call ended first. 487 if it was cancelled, 408 if the CANCEL had no effect
   * either.
   */
  readonly outcome: Promise<SendOutcome | 'ended'>;
  readonly #channel: DialogChannel;
  readonly #sent: SentInvite;
  readonly #startMs: number;
  #asking = false;
  #late = false;
  #settle: (outcome: SendOutcome | 'ended') => void = () => undefined;
  #cancelTimer: () => void;

  constructor(channel: DialogChannel, content: RequestContent) {
    const { time, patienceMs } = channel.context;
    this.#channel = channel;
    this.#startMs = time.now();
    this.outcome = new Promise((resolve) => (this.#settle = resolve));
    this.#cancelTimer = time.after(patienceMs, () => this.#takeBack());
    this.#sent = channel.invite(content, {
      provisional: () => this.#waitLonger(),
      accepted: (response) => {
        channel.acknowledge(response, () => ({ headers: [], credentials: this.#sent.credentials ?? [] }));
        this.#done({ response });
      },
      refused: (outcome) => this.#done(this.#late ? inTime(outcome) : outcome),
    });
  }

  /** Cancels the re-INVITE because the call has ended. */
  end(): void {
    this.#sent.cancel();
    this.#done('ended');
  }

  #waitLonger(): void {
    if (this.#asking || this.#late) return;
    this.#asking = true;
    const { time } = this.#channel.context;
    this.#cancelTimer();
    this.#cancelTimer = time.after(this.#startMs + MOST_MS - time.now(), () => this.#takeBack());
  }

  /** Cancels it and waits for the outcome, for 64 T1 at most: an answer may have crossed. */
  #takeBack(): void {
    this.#late = true;
    this.#sent.cancel();
  }

  #done(outcome: SendOutcome | 'ended'): void {
    this.#cancelTimer();
    this.#settle(outcome);
  }
}

/** Maps a cancelled re-INVITE without any answer to 408. */
function inTime(outcome: SendOutcome): SendOutcome {
  const isSilent = 'failure' in outcome && outcome.failure.reason === 'cancelled';
  return isSilent ? { failure: clientFailure('no-answer') } : outcome;
}

interface Agreed {
  readonly sdp: string | undefined;
  readonly timing: SessionAnswer;
}

const MOST_LATER_SECONDS = 10; // RFC 3261, section 14.2

/**
 * Answers INVITE and UPDATE of the peer: its offers, its refreshes, and its requests for an offer of ours
 * (RFC 3261 section 14.2, RFC 3311, RFC 6141).
 */
export class PeerOffers {
  readonly #life: DialogContext;
  readonly #ours: OurOffers;

  constructor(life: DialogContext, ours: OurOffers) {
    this.#life = life;
    this.#ours = ours;
  }

  invite(request: SipRequest, transaction: ServerTransaction): void {
    const { channel, awaited, timer, media, calling, confirmed } = this.#life;
    // Before the first INVITE is answered, our offer or the peer's own is pending.
    if (!confirmed && !calling) return this.#later(transaction);
    const offer = describedIn(request);
    if (confirmed) media?.awaitAck(true);
    const agreed = confirmed && !this.#ours.offering ? this.#agree(request, offer, true) : crossed();
    if (agreed.refusal !== undefined) {
      media?.awaitAck(!confirmed || awaited.open);
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
        media?.acknowledged('ACK');
        if (isLate) this.#answered(ack);
      },
      unacknowledged: () => void this.#life.bye({ by: 'unacknowledged' }, NO_ACK),
    });
    if (isGiven) timer.answered(timing);
    else if (isLate) media?.withdraw();
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
    const agreed = offers && this.#ours.offering ? crossed() : this.#agree(request, offer, false);
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
