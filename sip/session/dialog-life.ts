// What the parts of a dialog's session share: the way out, the session timer,
// the ACKs that are waited for, and the end.
import type { Reason } from '../message/refusal.js';
import type { SessionTimer } from '../session-timer.js';
import type { AwaitedAcks } from './awaited-acks.js';
import type { DialogChannel } from './dialog-channel.js';
import type { Pauses } from './pauses.js';
import type { SessionMedia } from './session-media.js';
import type { SessionEnd, SessionUser } from './session.js';

export interface DialogContext {
  readonly channel: DialogChannel;
  readonly timer: SessionTimer;
  readonly awaited: AwaitedAcks;
  readonly pauses: Pauses;
  /** Whether the INVITE that began the dialog was ours, and with it the Call-ID. */
  readonly calling: boolean;
  readonly media: SessionMedia | undefined;
  readonly user: SessionUser;
  readonly confirmed: boolean;
  readonly ended: boolean;
  /** Ends the session at once and tells the peer so. */
  bye(end: SessionEnd, reason?: Reason): Promise<void>;
  /** Something is done that may have been the last. */
  leave(): void;
}
