// Sends requests of ours over the transactions, to whom the locator finds.
import type { Time } from '../../src/time.js';
import type { HeaderLine, RequestData } from '../message/serialiser.js';
import { clientFailure } from '../transaction/client-transaction.js';
import type { TransactionLayer } from '../transaction/transaction-layer.js';
import { type Attempt, Attempts } from './attempts.js';
import { LocatedAck } from './located-ack.js';
import { LocatedInvite } from './located-invite.js';
import { PassedOver } from './passed-over.js';
import type {
  Acknowledgement,
  InviteUser,
  Journey,
  RequestMaker,
  RequestSender,
  SendOutcome,
  SentInvite,
} from './request-sender.js';
import type { TargetFinder, SenderContext } from './target-walk.js';

export interface LocatedSenderOptions {
  readonly layer: Pick<TransactionLayer, 'send' | 'sendInvite' | 'sendAck'>;
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
