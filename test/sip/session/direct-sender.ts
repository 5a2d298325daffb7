// Requests straight to the address in the next hop, once: a sender without a
// locator, failover or accounts.
import type {
  Acknowledgement,
  InviteUser,
  Journey,
  RequestMaker,
  RequestSender,
  SendOutcome,
  SentInvite,
} from '../../../sip/client/request-sender.js';
import type { RequestData } from '../../../sip/message/serialiser.js';
import type { TransactionLayer } from '../../../sip/transaction/transaction-layer.js';
import type { Target } from '../../../sip/transport/outbound.js';

export class DirectSender implements RequestSender {
  readonly #layer: TransactionLayer;
  /** Destination of each request. */
  readonly targets: Target[] = [];

  constructor(layer: TransactionLayer) {
    this.#layer = layer;
  }

  send(make: RequestMaker, journey: Journey): Promise<SendOutcome> {
    return new Promise((resolve) => {
      this.#layer.send(make([]), this.#target(journey), {
        response: (response) => {
          if (response.status >= 200) resolve({ response });
        },
        failed: (failure) => resolve({ failure }),
      });
    });
  }

  invite(make: RequestMaker, journey: Journey, user: InviteUser): SentInvite {
    const transaction = this.#layer.send(make([]), this.#target(journey), {
      response: (response) => {
        const { status } = response;
        if (status >= 300) user.refused({ response });
        else if (status >= 200) user.accepted(response);
        else if (status > 100) user.provisional(response);
      },
      failed: (failure) => user.refused({ failure }),
    });
    return { flow: undefined, cancel: () => transaction.cancel() };
  }

  ack(data: RequestData, journey: () => Journey): Acknowledgement {
    return this.#layer.sendAck(data, this.#target(journey()));
  }

  #target({ nextHop, flow, from }: Journey): Target {
    const target = {
      transport: 'udp',
      address: nextHop.host,
      port: nextHop.port ?? 5060,
      flow,
      from,
    } as const;
    this.targets.push(target);
    return target;
  }
}
