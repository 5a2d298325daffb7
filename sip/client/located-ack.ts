// The ACK of a 2xx on its way to whoever it is for. It goes again as it went for
// every 2xx that comes again; where nobody could be reached, or the connection
// has closed since, a way is looked for anew: until one arrives, the peer takes
// its call for unanswered.
import type { RequestData } from '../message/serialiser.js';
import type { SentAck } from '../transaction/sent-ack.js';
import type { TransactionLayer } from '../transaction/transaction-layer.js';
import { UNREACHABLE_MS } from './passed-over.js';
import type { Acknowledgement, Journey } from './request-sender.js';
import { TargetWalk, type WalkGround } from './target-walk.js';

export class LocatedAck implements Acknowledgement {
  readonly #layer: Pick<TransactionLayer, 'sendAck'>;
  readonly #ground: WalkGround;
  readonly #data: RequestData;
  readonly #journey: () => Journey;
  #sent: SentAck | undefined;
  #walking = false;

  constructor(
    layer: Pick<TransactionLayer, 'sendAck'>,
    ground: WalkGround,
    data: RequestData,
    journey: () => Journey,
  ) {
    this.#layer = layer;
    this.#ground = ground;
    this.#data = data;
    this.#journey = journey;
    void this.#walk();
  }

  again(): void {
    if (this.#walking) return; // it is about to go
    if (this.#sent?.lost === false) this.#sent.again();
    else void this.#walk();
  }

  async #walk(): Promise<void> {
    this.#walking = true;
    const walk = new TargetWalk(this.#journey(), this.#ground);
    for (let target = await walk.next(); target !== undefined; target = await walk.next()) {
      this.#sent = this.#layer.sendAck(this.#data, target);
      if ((await this.#sent.failure) === undefined) break;
      this.#ground.passedOver.add(target, UNREACHABLE_MS);
    }
    walk.close();
    this.#walking = false;
  }
}
