// A user agent that calls out, over a network in a test's hands, to a far end
// that does by hand whatever the test says.
import assert from 'node:assert/strict';
import { LocatedSender } from '../../../sip/client/located-sender.js';
import { type Reason, refused, type Result } from '../../../sip/message/refusal.js';
import type { SipRequest } from '../../../sip/message/message.js';
import { responseBytes, type HeaderLine } from '../../../sip/message/serialiser.js';
import type { CallPlan } from '../../../sip/session/outgoing-invite.js';
import { OutboundSession, type OutboundSessionOptions } from '../../../sip/session/outbound-session.js';
import type { SessionMedia } from '../../../sip/session/session.js';
import { UserAgent } from '../../../sip/session/user-agent.js';
import type { ServerTransaction } from '../../../sip/transaction/server-transaction.js';
import type { TransactionLayer } from '../../../sip/transaction/transaction-layer.js';
import { Places, uriOf } from '../client/places.js';
import { Callee, CALLEE, CALLER, Network, seeded } from '../transaction/network.js';
import { SeenEvents } from './two-ends.js';

/** Media that keeps what it hears; a description is any text. */
export class HeardMedia implements SessionMedia {
  readonly events: string[] = [];
  /** False if no description of the peer can be followed. */
  follows: (text: string) => boolean = (text) => !text.includes('bad');
  offering = false;
  agreed = false;
  #offers = 0;

  answer(offer: Uint8Array): Result<string> {
    return this.#resultOf(`answer ${text(offer)}`, text(offer), 'our answer');
  }

  offer(): Result<string> {
    if (this.offering) return refused(491, 'an offer waits');
    this.offering = true;
    return { value: `offer ${++this.#offers}` };
  }

  accept(answer: Uint8Array, fork: string): Result<void> {
    const result = this.#resultOf(`accept ${text(answer)} of ${fork}`, text(answer), undefined);
    this.offering = false;
    return result;
  }

  signalledFrom(): void {}

  confirmed(): void {}

  acknowledged(): void {}

  awaitAck(): void {}

  settle(fork: string): void {
    this.events.push(`settle ${fork}`);
  }

  withdraw(): void {
    this.events.push('withdraw');
    this.offering = false;
  }

  #resultOf<T>(event: string, description: string, value: T): Result<T> {
    this.events.push(event);
    if (!this.follows(description)) return refused(488, 'not acceptable');
    this.agreed = true;
    return { value };
  }
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}

export class SeenCall extends SeenEvents {
  progressed(status: number): void {
    this.events.push(String(status));
  }
}

export interface ByHand {
  readonly tag?: string;
  readonly headers?: readonly HeaderLine[];
  readonly body?: string;
  readonly contact?: boolean;
  /** True by default: To has a tag. */
  readonly tagged?: boolean;
  /** Changes the text of the response. */
  readonly edit?: (text: string) => string;
}

export class CallingOut {
  readonly network = new Network();
  readonly places = new Places({ 'example.com': [CALLEE], 'nowhere.example': [] });
  readonly agent: UserAgent;
  readonly layer: TransactionLayer;
  readonly sender: LocatedSender;
  readonly media = new HeardMedia();
  readonly seen = new SeenCall();
  readonly callee: Callee;
  /** Handles each new request at the far end. Default: 200 to all but INVITE. */
  act: (transaction: ServerTransaction) => void = (transaction) => {
    if (transaction.request.method !== 'INVITE') transaction.respond({ status: 200 });
  };

  constructor(seed = 1) {
    const random = seeded(seed);
    this.callee = new Callee((transaction) => this.act(transaction));
    this.network.layer(CALLEE, this.callee);
    this.agent = new UserAgent({
      time: this.network.time,
      token: () => Math.floor(random() * 2 ** 32).toString(36),
      randomInt: (below) => Math.floor(random() * below),
      product: 'Parley',
      sessionSeconds: 1800,
      leastSeconds: 90,
      admission: { admits: () => undefined },
      invited: (session) => session.reject(603),
      contactFor: () => `<sip:${CALLER}>`,
    });
    this.layer = this.network.layer(CALLER, this.agent);
    this.sender = new LocatedSender({
      layer: this.layer,
      locator: this.places,
      time: this.network.time,
    });
    this.agent.start(this.layer, this.sender);
  }

  plan(more: Partial<CallPlan> = {}): CallPlan {
    return {
      uri: 'sip:bob@example.com',
      to: '<sip:bob@example.com>',
      from: '"Alice" <sip:alice@example.org>',
      contact: () => `<sip:parley@${CALLER}>`,
      routes: [],
      headers: [],
      journey: { nextHop: uriOf('sip:example.com') },
      media: this.media,
      lateOffer: false,
      ...more,
    };
  }

  /** A session that has sent its INVITE. */
  async call(options: Partial<OutboundSessionOptions> = {}): Promise<OutboundSession> {
    const session = new OutboundSession({
      plan: this.plan(),
      context: this.agent.context,
      user: this.seen,
      ...options,
    });
    session.start();
    await this.network.pass(20);
    return session;
  }

  /** Requests that the far end got, of one method. */
  requests(method: string): SipRequest[] {
    return this.callee.transactions.map(({ request }) => request).filter((one) => one.method === method);
  }

  /** The latest INVITE at the far end. */
  get invite(): SipRequest {
    const invite = this.requests('INVITE').at(-1);
    assert.ok(invite, 'no INVITE came');
    return invite;
  }

  /** A response to the latest INVITE, from whichever of several phones. */
  async respond(
    status: number,
    { tag = 'one', headers = [], body, contact = true, tagged = true, edit = (text) => text }: ByHand = {},
  ): Promise<void> {
    const own: HeaderLine[] = [
      ...(contact ? [['Contact', `<sip:${tag}@${CALLEE}>`] as const] : []),
      ...(body === undefined ? [] : [['Content-Type', 'application/sdp'] as const]),
    ];
    const toTag = tagged ? { toTag: tag } : {};
    const response = {
      status,
      ...toTag,
      headers: [...own, ...headers],
      ...(body === undefined ? {} : { body }),
    };
    this.network.post(CALLEE, CALLER, Buffer.from(edit(responseBytes(this.invite, response).toString())));
    await this.network.pass(50);
  }

  /** A request of the far end. */
  post(text: string): void {
    this.network.post(CALLEE, CALLER, Buffer.from(text));
  }

  /** Hangs up, and lets so much time pass that this has to be done by then. */
  async hungUp(session: OutboundSession, reason?: Reason): Promise<void> {
    let done = false;
    void session.hangUp(reason).then(() => (done = true));
    await this.network.pass(100);
    assert.ok(done, 'hanging up has not come to its end');
  }

  /** Everything has come to its end, and nothing is left of it. */
  async settled(ms = 70_000): Promise<void> {
    await this.network.pass(ms, 100);
    assert.equal(this.layer.open.client, 0);
    assert.deepEqual(this.agent.counts, { early: 0, confirmed: 0 });
    assert.equal(this.network.time.waiting, 0);
  }
}
