// Sends requests of ours through the transactions to the targets that the locator finds. LocatedInvite
// sends one INVITE, LocatedAck the ACK of a 2xx.
import type { Time } from '../../src/time.js';
import type { SipResponse } from '../message/message.js';
import type { HeaderLine, RequestData } from '../message/serialiser.js';
import { clientFailure, type ClientTransaction } from '../transaction/client-transaction.js';
import type { SentAck } from '../transaction/outgoing-request.js';
import type { TransactionLayer } from '../transaction/transaction-layer.js';
import type { Flow } from '../transport/flow.js';
import type { Target } from '../transport/outbound.js';
import { type Attempt, Attempts } from './attempts.js';
import {
  PassedOver,
  type SenderContext,
  type TargetFinder,
  TargetWalk,
  UNREACHABLE_MS,
} from './target-walk.js';
import type {
  Acknowledgement,
  InviteUser,
  Journey,
  RequestMaker,
  RequestSender,
  SendOutcome,
  SentInvite,
} from './request-sender.js';

interface LocatedSenderOptions {
  readonly layer: Pick<TransactionLayer, 'send' | 'sendAck'>;
  /** A Locator. */
  readonly locator: TargetFinder;
  readonly time: Time;
}

export class LocatedSender implements RequestSender {
  readonly #layer: LocatedSenderOptions['layer'];
  readonly #context: SenderContext;

  constructor({ layer, locator, time }: LocatedSenderOptions) {
    this.#layer = layer;
    this.#context = { locator, time, passedOver: new PassedOver(time) };
  }

  async send(make: RequestMaker, journey: Journey): Promise<SendOutcome> {
    const attempts = new Attempts(make, journey, this.#context);
    let outcome: SendOutcome = { failure: clientFailure('unreachable') };
    let attempt = await attempts.first();
    while (attempt !== undefined) {
      outcome = await this.#try(attempt);
      attempt = await attempts.after(outcome, attempt);
    }
    attempts.close();
    return outcome;
  }

  invite(make: RequestMaker, journey: Journey, user: InviteUser): SentInvite {
    return new LocatedInvite(this.#layer, new Attempts(make, journey, this.#context), user);
  }

  ack(data: RequestData, journey: () => Journey, credentials: readonly HeaderLine[] = []): Acknowledgement {
    return new LocatedAck(this.#layer, this.#context, { data, journey, credentials });
  }

  #try({ data, target }: Attempt): Promise<SendOutcome> {
    return new Promise((resolve) => {
      const transaction = this.#layer.send(data, target, {
        response: (response) => {
          if (response.status >= 200) resolve({ response, flow: transaction.flow });
        },
        failed: (failure) => resolve({ failure }),
      });
    });
  }
}

/** One INVITE: a transaction for each attempt, until one is answered finally or the INVITE is cancelled. */
class LocatedInvite implements SentInvite {
  readonly #layer: Pick<TransactionLayer, 'send'>;
  readonly #attempts: Attempts;
  readonly #user: InviteUser;
  #transaction: ClientTransaction | undefined;
  #credentials: readonly HeaderLine[] = [];
  #cancelled = false;

  constructor(layer: Pick<TransactionLayer, 'send'>, attempts: Attempts, user: InviteUser) {
    this.#layer = layer;
    this.#attempts = attempts;
    this.#user = user;
    void this.#run();
  }

  get flow(): Flow | undefined {
    return this.#transaction?.flow;
  }

  get credentials(): readonly HeaderLine[] {
    return this.#credentials;
  }

  cancel(): void {
    this.#cancelled = true;
    this.#attempts.close();
    this.#transaction?.cancel();
  }

  async #run(): Promise<void> {
    let outcome: SendOutcome | 'accepted' = { failure: clientFailure('unreachable') };
    let attempt = await this.#attempts.first();
    if (attempt === undefined && this.#cancelled) outcome = { failure: clientFailure('cancelled') };
    while (attempt !== undefined) {
      outcome = this.#cancelled ? { failure: clientFailure('cancelled') } : await this.#try(attempt);
      if (outcome === 'accepted') return this.#attempts.close();
      attempt = this.#cancelled ? undefined : await this.#attempts.after(outcome, attempt);
    }
    this.#attempts.close();
    this.#user.refused(outcome);
  }

  #try({ data, target, credentials }: Attempt): Promise<SendOutcome | 'accepted'> {
    this.#credentials = credentials;
    return new Promise((resolve) => {
      const transaction = this.#layer.send(data, target, {
        response: (response) => resolveWith(response),
        failed: (failure) => resolve({ failure }),
      });
      this.#transaction = transaction;
      const resolveWith = (response: SipResponse): void => {
        if (response.status < 200) {
          if (response.status > 100) this.#user.provisional(response);
        } else if (response.status >= 300) resolve({ response, flow: transaction.flow });
        else {
          resolve('accepted');
          this.#user.accepted(response);
        }
      };
    });
  }
}

interface LocatedAckOptions {
  readonly data: RequestData;
  /** Called for each lookup. */
  readonly journey: () => Journey;
  /** Credentials of the INVITE. */
  readonly credentials: readonly HeaderLine[];
}

/**
 * The ACK of a 2xx, sent again for every retransmission of the 2xx. If no target could be reached or the
 * connection has closed since, targets are looked up again: until an ACK arrives, the peer considers its call
 * unanswered.
 */
class LocatedAck implements Acknowledgement {
  readonly #layer: Pick<TransactionLayer, 'sendAck'>;
  readonly #context: SenderContext;
  readonly #options: LocatedAckOptions;
  #sent: SentAck | undefined;
  #walking = false;

  constructor(layer: Pick<TransactionLayer, 'sendAck'>, context: SenderContext, options: LocatedAckOptions) {
    this.#layer = layer;
    this.#context = context;
    this.#options = options;
    void this.#walk();
  }

  again(): void {
    if (this.#walking) return; // the ACK is about to be sent
    if (this.#sent?.lost === false) this.#sent.again();
    else void this.#walk();
  }

  async #walk(): Promise<void> {
    this.#walking = true;
    const journey = this.#options.journey();
    const walk = new TargetWalk(journey, this.#context);
    for (let target = await walk.next(); target !== undefined; target = await walk.next()) {
      this.#sent = this.#layer.sendAck(this.#dataFor(target, journey), target);
      const failure = await this.#sent.failure;
      if (failure === undefined) break;
      const reopens = failure === 'closed' && walk.reopens(target);
      if (!reopens) this.#context.passedOver.add(target, UNREACHABLE_MS);
    }
    walk.close();
    this.#walking = false;
  }

  /** ACK cannot be challenged, so it carries the credentials of its INVITE (RFC 3261, section 22.1). */
  #dataFor(target: Target, { account }: Journey): RequestData {
    const { data, credentials } = this.#options;
    const isWanted = credentials.length > 0 && account?.isAt(target) === true;
    return isWanted ? { ...data, headers: [...data.headers, ...credentials] } : data;
  }
}
