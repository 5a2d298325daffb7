// The ACK of a 2xx on its way to whoever it is for. It goes again as it went for
// every 2xx that comes again; where nobody could be reached, or the connection
// has closed since, a way is looked for anew: until one arrives, the peer takes
// its call for unanswered.
import type { HeaderLine, RequestData } from '../message/serialiser.js';
import type { SentAck } from '../transaction/sent-ack.js';
import type { TransactionLayer } from '../transaction/transaction-layer.js';
import type { Target } from '../transport/outbound.js';
import { UNREACHABLE_MS } from './passed-over.js';
import type { Acknowledgement, Journey } from './request-sender.js';
import { TargetWalk, type SenderContext } from './target-walk.js';

export interface LocatedAckOptions {
  readonly data: RequestData;
  /** Asked for each way that is looked for. */
  readonly journey: () => Journey;
  /** Of the INVITE. */
  readonly credentials: readonly HeaderLine[];
}

export class LocatedAck implements Acknowledgement {
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
    if (this.#walking) return; // it is about to go
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

  /** It cannot be challenged, so it brings the credentials along (RFC 3261, section 22.1). */
  #dataFor(target: Target, { account }: Journey): RequestData {
    const { data, credentials } = this.#options;
    const isWanted = credentials.length > 0 && account?.isAt(target) === true;
    return isWanted ? { ...data, headers: [...data.headers, ...credentials] } : data;
  }
}
