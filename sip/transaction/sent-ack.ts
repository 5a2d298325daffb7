// The ACK of a 2xx: no transaction, sent again for every 2xx that comes again
// (RFC 3261, section 13.2.2.4).
import type { RequestData } from '../message/serialiser.js';
import type { Target } from '../transport/outbound.js';
import { OutgoingRequest } from './outgoing-request.js';
import type { Wire } from './wire.js';

export class SentAck {
  readonly #outgoing: OutgoingRequest;
  #sent = false;

  constructor(data: RequestData, branch: string, target: Target, wire: Wire) {
    this.#outgoing = new OutgoingRequest(data, branch, target, wire);
    void this.#send();
  }

  again(): void {
    if (this.#sent) this.#outgoing.sendAgain();
    else void this.#send();
  }

  async #send(): Promise<void> {
    this.#sent = typeof (await this.#outgoing.send(() => undefined)) !== 'string';
  }
}
