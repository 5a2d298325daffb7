// Digits in INFO, both ways. Ours go one after the other: a lost one that
// came late would be refused as out of order (RFC 3261, section 12.2.2).
import { readDtmfInfo, writeDtmfInfo, type DtmfInfoType } from '../dtmf-info.js';
import { refusal } from '../message/refusal.js';
import type { SipRequest } from '../message/message.js';
import type { ServerTransaction } from '../transaction/server-transaction.js';
import type { DialogContext } from './dialog-life.js';
import { statusOf } from './session-context.js';

const MOST_WAITING = 64;
const TYPES: readonly DtmfInfoType[] = ['application/dtmf-relay', 'application/dtmf'];

export class InfoDigits {
  readonly #life: DialogContext;
  #type: DtmfInfoType = 'application/dtmf-relay';
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(life: DialogContext) {
    this.#life = life;
  }

  received(request: SipRequest, transaction: ServerTransaction): void {
    const { channel, user } = this.#life;
    if (request.first('info-package') !== undefined) {
      // Packages are agreed on by Recv-Info (RFC 6086, section 4.2.2); none is taken here.
      channel.context.refuse(transaction, refusal(469, 'Bad Info Package', [['Recv-Info', '']]));
      return;
    }
    if (request.body.length === 0) {
      channel.context.respond(transaction, { status: 200 });
      return;
    }
    const read = readDtmfInfo(request.contentType?.name, request.body);
    if (read === undefined) {
      channel.context.refuse(transaction, refusal(415, 'Unsupported Media Type', [['Accept', TYPES.join(', ')]]));
    } else if (read.refusal !== undefined) channel.context.refuse(transaction, read.refusal);
    else {
      channel.context.respond(transaction, { status: 200 });
      user.digit?.(read.value.digit, read.value.durationMs);
    }
  } // prettier-ignore

  /** False if the peer refused it, the call has ended, or too many wait already. */
  async send(digit: string, durationMs: number): Promise<boolean> {
    if (this.#waiting >= MOST_WAITING) return false;
    this.#waiting++;
    const sent = this.#last.then(() => this.#send(digit, durationMs));
    this.#last = sent;
    const taken = await sent;
    this.#waiting--;
    return taken;
  }

  async #send(digit: string, durationMs: number): Promise<boolean> {
    const status = await this.#sendAs(this.#type, digit, durationMs);
    if (status !== 415 || this.#type !== 'application/dtmf-relay') return isTaken(status);
    this.#type = 'application/dtmf';
    return isTaken(await this.#sendAs(this.#type, digit, durationMs));
  }

  async #sendAs(type: DtmfInfoType, digit: string, durationMs: number): Promise<number> {
    const body = writeDtmfInfo({ digit, durationMs }, type);
    if (body === undefined || this.#life.ended) return 0;
    return statusOf(await this.#life.channel.send('INFO', { headers: [['Content-Type', type]], body }));
  }
}

function isTaken(status: number): boolean {
  return status >= 200 && status < 300;
}
