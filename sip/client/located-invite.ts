// An INVITE on its way to whoever takes it: one transaction a try, until one of
// them is answered for good or it is taken back.
import type { HeaderLine } from '../message/serialiser.js';
import type { SipResponse } from '../message/message.js';
import { clientFailure } from '../transaction/client-transaction.js';
import type { InviteClientTransaction } from '../transaction/invite-client.js';
import type { TransactionLayer } from '../transaction/transaction-layer.js';
import type { Flow } from '../transport/flow.js';
import type { Attempt, Attempts } from './attempts.js';
import type { InviteUser, SendOutcome, SentInvite } from './request-sender.js';

export class LocatedInvite implements SentInvite {
  readonly #layer: Pick<TransactionLayer, 'sendInvite'>;
  readonly #attempts: Attempts;
  readonly #user: InviteUser;
  #transaction: InviteClientTransaction | undefined;
  #credentials: readonly HeaderLine[] = [];
  #cancelled = false;

  constructor(layer: Pick<TransactionLayer, 'sendInvite'>, attempts: Attempts, user: InviteUser) {
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
      const transaction = this.#layer.sendInvite(data, target, {
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
