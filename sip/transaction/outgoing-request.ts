// Sends one request of ours, retransmits it over unreliable transports and remembers its flow. SentAck
// does the same for the ACK of a 2xx, which has no transaction.
import { requestBytes, type RequestData } from '../message/serialiser.js';
import type { Via } from '../message/via.js';
import type { Flow, TransportFailure } from '../transport/flow.js';
import type { Target } from '../transport/outbound.js';
import type { BytesFor, Sent } from '../transport/transports.js';

export interface Wire {
  send(target: Target, bytesFor: BytesFor): Promise<Sent | TransportFailure>;
  respond(bytes: Buffer, via: Via, flow: Flow): Promise<boolean>;
  viaFor(flow: Flow, branch: string): string;
  /** A request came in on this flow, and its peer may ask to reuse the connection. */
  alias?(flow: Flow, via: Via): void;
}

export interface UnsentRequest extends RequestData {
  /**
   * Builds the Contact value, which may name the local end of the connection in use; the header list
   * contains no other Contact.
   */
  readonly contact?: (flow: Flow) => string;
}

export class OutgoingRequest {
  readonly data: UnsentRequest;
  readonly branch: string;
  readonly #target: Target;
  readonly #wire: Wire;
  #via = '';
  #flow: Flow | undefined;
  #bytes: Buffer | undefined;
  #heardBefore = 0;
  #stopListening: (() => void) | undefined;

  constructor(data: UnsentRequest, branch: string, target: Target, wire: Wire) {
    this.data = data;
    this.branch = branch;
    this.#target = target;
    this.#wire = wire;
  }

  /** Undefined until the request was sent. */
  get flow(): Flow | undefined {
    return this.#flow;
  }

  /** Via of the sent request; ACK and CANCEL use the same. */
  get via(): string {
    return this.#via;
  }

  /** Target for ACK and CANCEL: the flow of the request. */
  get target(): Target {
    return this.#flow === undefined ? this.#target : { ...this.#target, flow: this.#flow };
  }

  /**
   * Resolves with the flow or the reason why the request could not be sent. `lost` is called if the
   * connection closes before `settled`.
   */
  async send(lost?: () => void): Promise<Flow | TransportFailure> {
    const sent = await this.#wire.send(this.#target, (flow) => {
      this.#heardBefore = flow.received;
      this.#flow = flow; // set before the send completes: a response may arrive earlier
      this.#via = this.#wire.viaFor(flow, this.branch);
      this.#bytes = requestBytes(withContact(this.data, flow), this.#via);
      return this.#bytes;
    });
    if (typeof sent === 'string') return sent;
    if (sent.flow.reliable && lost !== undefined) this.#stopListening = sent.flow.onClose(lost);
    return sent.flow;
  }

  sendAgain(): void {
    if (this.#bytes !== undefined) void this.#flow?.send(this.#bytes);
  }

  /** Handles a timeout. A connection that has received nothing since is considered dead. */
  unanswered(): void {
    const flow = this.#flow;
    if (flow?.reliable === true && flow.received === this.#heardBefore) flow.abandon();
  }

  /** Stops watching the connection. */
  settled(): void {
    this.#stopListening?.();
    this.#bytes = undefined;
  }
}

function withContact({ contact, ...data }: UnsentRequest, flow: Flow): RequestData {
  return contact === undefined ? data : { ...data, headers: [...data.headers, ['Contact', contact(flow)]] };
}

/** The ACK of a 2xx, repeated for every retransmission of the 2xx (RFC 3261, section 13.2.2.4). */
export class SentAck {
  /** Resolves with the reason why it could not be sent, or with undefined once it was. */
  readonly failure: Promise<TransportFailure | undefined>;
  readonly #outgoing: OutgoingRequest;

  constructor(data: RequestData, branch: string, target: Target, wire: Wire) {
    this.#outgoing = new OutgoingRequest(data, branch, target, wire);
    this.failure = this.#send();
  }

  /** True if its flow has closed, so that it cannot be repeated there. */
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
