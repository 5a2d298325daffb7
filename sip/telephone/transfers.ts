// Transfers calls in both directions: sends far ends elsewhere (REFER), and calls the target for far ends
// that ask for a transfer.
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
import type { Log } from '../../src/log.js';

interface TransfersParts {
  readonly config: Pick<SipConfig, 'transfers'>;
  readonly book: PhoneBook;
  readonly placing: Pick<OutboundPlacing, 'dial' | 'uriOf' | 'checkDestination'>;
  readonly time: Time;
  readonly log: Log;
}

const LEAVE_MS = 2000; // time for the transferor's own BYE (RFC 5589, section 6.1) before we send one

/** Refusal status by error code; 503 for any other error. */
const REFUSALS: Readonly<Record<string, number>> = { INVALID_FIELD: 400, FORBIDDEN: 403 };

export class Transfers {
  readonly #parts: TransfersParts;

  constructor(parts: TransfersParts) {
    this.#parts = parts;
  }

  /**
   * Accepts transfers that callers ask for, unless they are off: each makes this server call, which may cost.
   */
  watch(phone: PhoneCall): void {
    if (this.#parts.config.transfers === 'off') return;
    phone.onTransferAsked = (asked) => this.#putThrough(phone, asked);
  }

  async transfer(phone: PhoneCall, { to, call, isLimited }: TransferRequest): Promise<TransferOutcome> {
    if ((to === undefined) === (call === undefined)) {
      throw new ParleyError('INVALID_FIELD', 'a transfer names either "to" or "call"', { field: 'to' });
    }
    if (to !== undefined) {
      const domain = phone.leg?.session.dialog?.remoteTarget.host ?? '';
      const uri = this.#parts.placing.uriOf(to, domain);
      if (isLimited === true) this.#parts.placing.checkDestination(to, phone.info.owner);
      return phone.transfer({ uri }, to);
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

  /**
   * Calls the transfer target. One at a time for a call, even if its far end has changed: each takes ports
   * and may cost.
   */
  #putThrough(phone: PhoneCall, asked: TransferAsked): void {
    if (phone.awaitsTransferTarget) return asked.refuse(491);
    const legNow = this.#dial(phone, asked);
    if (legNow === undefined) return;
    const { session } = legNow();
    asked.accept();
    const settled = phone.awaitTransferTarget();
    const givenUp = (status: number): void => {
      asked.notify(status);
      legNow().media.close();
      settled();
    };
    session.user = {
      progressed: (status) => asked.notify(status),
      ended: ({ status = 503 }) => givenUp(status),
      established: () => {
        if (phone.isOver) return void session.hangUp();
        const before = phone.leg;
        phone.carriedBy(legNow());
        settled();
        asked.notify(200);
        if (before !== undefined) this.#leave(before, phone);
      },
    };
    if (session.state === 'ended') return givenUp(503); // nothing could be sent
    void phone.over.then(() => session.hangUp());
  }

  /**
   * Returns the leg to the target, whose media may be exchanged; refuses the transfer if it cannot be called.
   */
  #dial(phone: PhoneCall, asked: TransferAsked): (() => Leg) | undefined {
    let leg: Leg;
    const failed = (): void => void leg.session.hangUp();
    const exchanged = (media: Leg['media']): void => {
      leg = { ...leg, media };
      media.onFailed = failed;
    };
    try {
      const { target, replaces, referredBy } = asked;
      const { owner } = phone.info;
      leg = this.#parts.placing.dial({ uri: withoutHeaders(target), replaces, referredBy, owner }, exchanged);
      leg.media.onFailed = failed;
      return () => leg;
    } catch (error) {
      const { code } = asParleyError(error, 'INVALID_FIELD');
      this.#parts.log.warn({ call: phone.info.id, code }, 'transfer refused');
      asked.refuse(REFUSALS[code] ?? 503);
      return undefined;
    }
  }

  /** Ends the leg of the far end that asked for the transfer. */
  #leave({ session, media }: Leg, phone: PhoneCall): void {
    if (session.state === 'ended') return media.close();
    const cancelTimer = this.#parts.time.after(LEAVE_MS, () => void session.hangUp());
    const ended = (): void => {
      cancelTimer();
      media.close();
    };
    session.user = { established: () => undefined, ended };
    void phone.over.then(() => session.hangUp());
  }
}
