// A request of ours on its way: sent once, sent again on what does not arrive
// by itself, and the flow that it took.
import { requestBytes, type RequestData } from '../message/serialiser.js';
import type { Flow, TransportFailure } from '../transport/flow.js';
import type { Target } from '../transport/outbound.js';
import type { Wire } from './wire.js';

export interface UnsentRequest extends RequestData {
  /** Value of Contact, which may say where the connection ends that the request leaves on; it is no other header. */
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

  /** The Via it left with; ACK and CANCEL have the same. */
  get via(): string {
    return this.#via;
  }

  /** Where what belongs to it goes: the same way. */
  get target(): Target {
    return this.#flow === undefined ? this.#target : { ...this.#target, flow: this.#flow };
  }

  /** Resolves with why it could not be sent, or with the flow. `lost` is called when its connection closes before `settled`. */
  async send(lost?: () => void): Promise<Flow | TransportFailure> {
    const sent = await this.#wire.send(this.#target, (flow) => {
      this.#heardBefore = flow.received;
      this.#flow = flow; // known at once: a response may be faster than the word that it was sent
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

  /** No answer came in time. A connection by which nothing at all has come since leads to nobody any more. */
  unanswered(): void {
    const flow = this.#flow;
    if (flow?.reliable === true && flow.received === this.#heardBefore) flow.abandon();
  }

  /** The connection may close now. */
  settled(): void {
    this.#stopListening?.();
    this.#bytes = undefined;
  }
}

function withContact({ contact, ...data }: UnsentRequest, flow: Flow): RequestData {
  return contact === undefined ? data : { ...data, headers: [...data.headers, ['Contact', contact(flow)]] };
}
