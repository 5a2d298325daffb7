// Users of transactions that keep what they hear.
import type { SipRequest } from '../../../sip/message/message.js';
import type { RequestData } from '../../../sip/message/serialiser.js';
import type { ClientUser } from '../../../sip/transaction/client-transaction.js';
import type { ServerTransaction } from '../../../sip/transaction/server-transaction.js';
import type { TransactionUser } from '../../../sip/transaction/transaction-layer.js';

export const CALLER = '192.0.2.1';
export const CALLEE = '192.0.2.2';
export const TARGET = { transport: 'udp', address: CALLEE, port: 5060 } as const;

export function request(method = 'INVITE', callId = 'call'): RequestData {
  return {
    method,
    uri: `sip:bob@${CALLEE}`,
    headers: [
      ['From', `<sip:alice@${CALLER}>;tag=${callId}`],
      ['To', `<sip:bob@${CALLEE}>`],
      ['Call-ID', callId],
      ['CSeq', `1 ${method}`],
      ['Contact', `<sip:alice@${CALLER}>`],
    ],
  };
}

/** User of client transactions. */
export class Heard implements ClientUser {
  readonly events: (string | number)[] = [];

  response({ status }: { readonly status: number }): void {
    this.events.push(status);
  }

  failed({ reason, status }: { readonly reason: string; readonly status: number }): void {
    this.events.push(`${reason} ${status}`);
  }
}

/** User of server transactions. The test supplies the handling of requests. */
export class Callee implements TransactionUser {
  readonly transactions: ServerTransaction[] = [];
  readonly acks: SipRequest[] = [];
  readonly events: string[] = [];
  readonly #act: (transaction: ServerTransaction) => void;

  constructor(act: (transaction: ServerTransaction) => void = () => undefined) {
    this.#act = act;
  }

  request(incoming: SipRequest, transaction: ServerTransaction): void {
    this.events.push(incoming.method);
    this.transactions.push(transaction);
    transaction.user = {
      cancelled: () => this.events.push('cancelled'),
      acknowledged: () => this.events.push('acknowledged'),
      ended: (why) => this.events.push(`ended: ${why}`),
    };
    this.#act(transaction);
  }

  acknowledged(ack: SipRequest): void {
    this.acks.push(ack);
  }
}
