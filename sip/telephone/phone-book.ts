// Keeps telephone calls, and finds those that a session or a message belongs to.
import { CallBook } from '../../src/call/call-book.js';
import type { PhoneCall } from './phone-call.js';
import type { Session } from '../session/session.js';

/** The dialog identifiers of a request or response. */
interface Concerning {
  readonly callId: string;
  readonly from: { readonly tag?: string | undefined } | undefined;
  readonly to: { readonly tag?: string | undefined } | undefined;
}

export class PhoneBook extends CallBook<PhoneCall> {
  /** The call that uses a session. */
  carriedBy(session: Session): PhoneCall | undefined {
    return this.open.find(({ leg }) => leg?.session === session);
  }

  /** The call that a message of its far end belongs to. */
  concernedBy({ callId, from, to }: Concerning): PhoneCall | undefined {
    const tags = [from?.tag, to?.tag];
    return this.open.find(({ leg }) => {
      const dialog = leg?.session.dialog;
      return dialog !== undefined && dialog.callId === callId && tags.includes(dialog.remoteTag);
    });
  }
}
