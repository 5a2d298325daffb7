// Transfers both ways: far ends that we send elsewhere (REFER), and far ends
// that ask to be put through, which makes this server call.
import type { TransferOutcome, TransferRequest } from '../../src/call/phone-calls.js';
import { asParleyError, ParleyError } from '../../src/errors.js';
import type { SipConfig } from '../../src/config/telephone-config.js';
import type { Time } from '../../src/time.js';
import { withoutHeaders } from '../message/uri.js';
import type { TransferAsked } from '../session/session.js';
import type { Leg } from './leg.js';
import type { OutboundPlacing } from './outbound-placing.js';
import type { PhoneBook } from './phone-book.js';
import type { PhoneCall } from './phone-call.js';

export interface TransfersParts {
  readonly config: Pick<SipConfig, 'transfers'>;
  readonly book: PhoneBook;
  readonly placing: Pick<OutboundPlacing, 'dial' | 'uriOf'>;
  readonly time: Time;
  readonly log: { warn(fields: Record<string, unknown>, message: string): void };
}

const LEAVE_MS = 2000; // whoever asked for a transfer sends BYE itself (RFC 5589, section 6.1); this server does where it does not

/** What a transfer is refused with that the far end asked for; 503 for any other error. */
const REFUSALS: Readonly<Record<string, number>> = { INVALID_FIELD: 400, FORBIDDEN: 403 };

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

  /** One at a time, also where another far end has come meanwhile: each takes ports and may cost. */
  #putThrough(phone: PhoneCall, asked: TransferAsked): void {
    if (phone.awaitsTransferTarget) return asked.refuse(491);
    let leg: Leg;
    const failed = (): void => void leg.session.hangUp();
    try {
      const { target, replaces, referredBy } = asked;
      const exchanged = (media: Leg['media']): void => {
        leg = { ...leg, media };
        media.onFailed = failed;
      };
      leg = this.#parts.placing.dial(
        { uri: withoutHeaders(target), replaces, referredBy, owner: phone.info.owner },
        exchanged,
      );
      leg.media.onFailed = failed;
    } catch (error) {
      const { code } = asParleyError(error, 'INVALID_FIELD');
      this.#parts.log.warn({ call: phone.info.id, code }, 'transfer refused');
      asked.refuse(REFUSALS[code] ?? 503);
      return;
    }
    asked.accept();
    const settled = phone.awaitTransferTarget();
    const givenUp = (status: number): void => {
      asked.notify(status);
      leg.media.close();
      settled();
    };
    leg.session.user = {
      progressed: (status) => asked.notify(status),
      ended: ({ status = 503 }) => givenUp(status),
      established: () => {
        if (phone.isOver) return void leg.session.hangUp();
        const before = phone.leg;
        phone.carriedBy(leg);
        settled();
        asked.notify(200);
        if (before !== undefined) this.#leave(before, phone);
      },
    };
    if (leg.session.state === 'ended') return givenUp(503); // nothing could be sent
    void phone.over.then(() => leg.session.hangUp());
  }

  /** The far end that has found somebody else for us. */
  #leave({ session, media }: Leg, phone: PhoneCall): void {
    if (session.state === 'ended') return media.close();
    const callOff = this.#parts.time.after(LEAVE_MS, () => void session.hangUp());
    const ended = (): void => {
      callOff();
      media.close();
    };
    session.user = { established: () => undefined, ended };
    void phone.over.then(() => session.hangUp());
  }
}
