// Sends the peer elsewhere: REFER, and what its NOTIFYs tell of it (RFC 3515,
// RFC 4488, RFC 6665). One at a time.
import { writeReferredBy, writeReplaces } from '../message/replaces.js';
import { refusal, refused, type Result } from '../message/refusal.js';
import type { SipRequest, SipResponse } from '../message/message.js';
import type { HeaderLine } from '../message/serialiser.js';
import { parseUri } from '../message/uri.js';
import type { ServerTransaction } from '../transaction/server-transaction.js';
import { ALLOW, SUPPORTED } from './capabilities.js';
import type { DialogContext } from './dialog-life.js';
import { statusOf } from './session-context.js';
import type { ReferTarget } from './session.js';

interface Subscription {
  /** CSeq of each try of the REFER: a NOTIFY may name it. */
  readonly numbers: Set<number>;
  readonly told: (status: number) => void;
  readonly finish: (outcome: Result<number>) => void;
  /** The latest that was told; 0 before. */
  status: number;
  cancelTimer: () => void;
}

const USUAL_SECONDS = 180; // where a NOTIFY says nothing of its subscription's end
const MOST_SECONDS = 600;
const NO_SUBSCRIPTION = refusal(481, 'Subscription Does Not Exist');

export class OurTransfers {
  readonly #life: DialogContext;
  #open: Subscription | undefined;
  /** The outcome is known, but the peer has not ended the subscription yet. */
  #lingering: ReadonlySet<number> | undefined;

  constructor(life: DialogContext) {
    this.#life = life;
  }

  /** Whether NOTIFYs are still to come. */
  get open(): boolean {
    return this.#open !== undefined;
  }

  refer(target: ReferTarget, told: (status: number) => void = () => undefined): Promise<Result<number>> {
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
      const subscription: Subscription = { numbers, told, finish, status: 0, cancelTimer: () => undefined };
      this.#open = subscription;
      this.#lingering = undefined;
      void this.#send(target, subscription);
    });
  }

  /** A NOTIFY of the peer. One may come before the response to REFER, and one more after its outcome. */
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
    if (this.#open !== subscription) return; // its NOTIFYs were faster
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
      subscription.told(status);
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
  return status === 0 ? refused(408, 'the peer told nothing of the transfer') : { value: status };
}

/** RFC 4488: the peer will not tell what comes of it. */
function isWithoutNotify(response: SipResponse): boolean {
  return /^\s*false\b/i.test(response.first('refer-sub') ?? '');
}
