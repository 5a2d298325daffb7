// The ACK of a 2xx: no transaction, sent again for every 2xx that comes again
// (RFC 3261, section 13.2.2.4).
import type { RequestData } from '../message/serialiser.js';
import type { TransportFailure } from '../transport/flow.js';
import type { Target } from '../transport/outbound.js';
import { OutgoingRequest } from './outgoing-request.js';
import type { Wire } from './wire.js';

export class SentAck {
  /** Resolves with why it could not be sent, or with undefined once it was. */
  readonly failure: Promise<TransportFailure | undefined>;
  readonly #outgoing: OutgoingRequest;

  constructor(data: RequestData, branch: string, target: Target, wire: Wire) {
    this.#outgoing = new OutgoingRequest(data, branch, target, wire);
    this.failure = this.#send();
  }

  /** The way that it went is gone: it cannot go there again. */
  get lost(): boolean {
    return this.#outgoing.flow?.closed ?? true;
  }

  again(): void {
    this.#outgoing.sendAgain();
  }

  async #send(): Promise<TransportFailure | undefined> {
    const sent = await this.#outgoing.send();
    return typeof sent === 'string' ? sent : undefined;
  }
}
