// Why a call is over, in the words of sessions and in those of applications.
import type { PhoneCallEnd } from '../../src/call/phone-calls.js';
import type { Reason } from '../message/refusal.js';
import type { SessionEnd } from '../session/session.js';

const WORDS: Readonly<Record<SessionEnd['by'], PhoneCallEnd['reason']>> = {
  peer: 'peer hung up',
  us: 'we hung up',
  cancelled: 'cancelled',
  rejected: 'rejected',
  unanswered: 'no answer',
  unacknowledged: 'failed',
  expired: 'failed',
  transport: 'failed',
  replaced: 'transferred',
};
const DETAILS: Partial<Record<SessionEnd['by'], string>> = {
  unacknowledged: 'the far end never acknowledged the answer',
  expired: 'nobody refreshed the session in time',
  transport: 'the far end cannot be reached any more',
};

/** `called`: by the peer, so that a refusal is ours; a call of ours that could not be sent has failed. */
export function whyEnded(
  { by, status, reason }: SessionEnd,
  direction: 'inbound' | 'outbound',
): PhoneCallEnd {
  const detail = reason?.text ?? DETAILS[by];
  const refused = direction === 'inbound' ? 'rejected' : 'failed';
  const cause = reason?.protocol === 'q.850' ? reason.cause : undefined;
  return {
    reason: by === 'us' && status !== undefined ? refused : WORDS[by],
    ...(status === undefined ? {} : { status }),
    ...(cause === undefined ? {} : { cause }),
    ...(detail === undefined ? {} : { detail }),
  };
}

const CAUSES: Partial<Record<PhoneCallEnd['reason'], readonly [cause: number, text: string]>> = {
  'we hung up': [16, 'Normal call clearing'],
  'no answer': [19, 'No answer from user'],
  transferred: [16, 'Transferred'],
  'media timeout': [31, 'No media received'],
  silence: [31, 'Nothing happened in the call'],
  'server closing': [41, 'Temporary failure'],
  failed: [41, 'Temporary failure'],
};

/** What the far end is told with BYE or CANCEL; causes of Q.850. */
export function sessionReason({ reason }: PhoneCallEnd): Reason | undefined {
  const [cause, text] = CAUSES[reason] ?? [];
  return cause === undefined ? undefined : { protocol: 'q.850', cause, text };
}
