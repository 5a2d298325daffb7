// What carries a call: the signalling to one far end, and its media.
import type { CallMedia } from '../media/call-media.js';
import type { Session } from '../session/session.js';

export interface Leg {
  readonly session: Session;
  readonly media: CallMedia;
  /** Name of the trunk that it goes through now. */
  readonly trunk?: () => string | undefined;
}
