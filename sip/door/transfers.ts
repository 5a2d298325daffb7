// Transfers both ways: far ends that we send elsewhere (REFER), and far ends
// that ask to be put through, which makes this server call.
import type { TransferOutcome, TransferRequest } from '../../src/call/phone-calls.js';
import { asParleyError, ParleyError } from '../../src/errors.js';
import type { SipConfig } from '../../src/sip-config.js';
import type { TransferAsked } from '../session/session.js';
import { ComingLeg } from './coming-leg.js';
import type { Leg } from './leg.js';
import type { OutboundPlacing } from './outbound-placing.js';
import type { PhoneBook } from './phone-book.js';
import type { PhoneCall } from './phone-call.js';

export interface TransfersParts {
  readonly config: Pick<SipConfig, 'transfers'>;
  readonly book: PhoneBook;
  readonly placing: Pick<OutboundPlacing, 'dial' | 'uriOf'>;
  readonly log: { warn(fields: Record<string, unknown>, message: string): void };
}

export class Transfers {
  readonly #parts: TransfersParts;

  constructor(parts: TransfersParts) {
    this.#parts = parts;
  }

  /** Where callers may be put through at their own wish: it makes this server call, which may cost. */
  watch(phone: PhoneCall): void {
    if (this.#parts.config.transfers === 'off') return;
    phone.onTransferAsked = (asked) => this.#putThrough(phone, asked);
  }

  async transfer(phone: PhoneCall, { to, call }: TransferRequest): Promise<TransferOutcome> {
    if ((to === undefined) === (call === undefined)) {
      throw new ParleyError('INVALID_FIELD', 'a transfer names either "to" or "call"', { field: 'to' });
    }
    if (to !== undefined) {
      const domain = phone.leg?.session.dialog?.remoteTarget.host ?? '';
      return phone.transfer({ uri: this.#parts.placing.uriOf(to, domain) }, to);
    }
    const other = this.#parts.book.get(call as string);
    const dialog = other.leg?.session.dialog;
    if (other === phone || dialog === undefined || (other.state !== 'connected' && other.state !== 'held')) {
      throw new ParleyError('WRONG_STATE', 'the other call is not connected', { field: 'call' });
    }
    const { callId, remoteTag: toTag, localTag: fromTag, remoteTarget } = dialog;
    const replaces = { callId, toTag, fromTag, earlyOnly: false };
    return phone.transfer({ uri: remoteTarget.text, replaces }, other.info.to);
  }

  #putThrough(phone: PhoneCall, asked: TransferAsked): void {
    let leg: Leg;
    const failed = (): void => void leg.session.hangUp();
    let coming: ComingLeg | undefined;
    try {
      const { target, replaces, referredBy } = asked;
      leg = this.#parts.placing.dial({ uri: target.text, replaces, referredBy }, (media) => {
        leg = { ...leg, media };
        coming?.follow(media, failed);
      });
      coming = new ComingLeg(leg.media, failed);
    } catch (error) {
      const { code } = asParleyError(error, 'INVALID_FIELD');
      this.#parts.log.warn({ call: phone.info.id, code }, 'transfer refused');
      asked.refuse(code === 'INVALID_FIELD' ? 400 : 503);
      return;
    }
    asked.accept();
    const givenUp = (status: number): void => {
      asked.notify(status);
      leg.media.close();
    };
    leg.session.user = {
      progressed: (status) => asked.notify(status),
      ended: ({ status = 503 }) => givenUp(status),
      established: () => {
        const before = phone.leg;
        coming?.carry(phone, leg);
        asked.notify(200);
        void before?.session.hangUp().finally(() => before.media.close());
      },
    };
    void phone.over.then(() => leg.session.hangUp());
  }
}
