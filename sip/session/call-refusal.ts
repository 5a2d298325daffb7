// What a final response that is no 2xx, or none at all, says of the end of a
// call of ours.
import type { SendOutcome } from '../client/request-sender.js';
import { readReason } from '../message/refusal.js';
import type { SipResponse } from '../message/message.js';
import { unquoted } from '../message/scanner.js';
import { asRequestUri, parseNameAddr, type Uri } from '../message/uri.js';
import type { SessionEnd } from './session.js';

const MOST_CHARACTERS = 200;
const MOST_CONTACTS = 5;

export function endBy(outcome: SendOutcome): SessionEnd {
  if ('failure' in outcome) {
    const { reason, status } = outcome.failure;
    return { by: reason === 'no-answer' ? 'unanswered' : 'transport', status };
  }
  const { response } = outcome;
  const reasons = response.all('reason').flatMap((value) => readReason(value) ?? []);
  const reason = reasons.find(({ protocol }) => protocol === 'q.850') ?? reasons[0];
  const text = saidIn(response);
  return {
    by: 'rejected',
    status: response.status,
    ...(reason === undefined ? {} : { reason }),
    ...(text === '' ? {} : { text }),
  };
}

/** Where a 3xx leads, what it likes best first (RFC 3261, section 8.1.3.4); SIP URIs only. */
export function redirectedTo(response: SipResponse): readonly Uri[] {
  if (response.status < 300 || response.status >= 400) return [];
  const contacts = response.all('contact').flatMap((value) => parseNameAddr(value) ?? []);
  const rated = contacts.map(({ uri, params }) => ({ uri, q: Number(params.get('q') ?? 1) || 0 }));
  const usable = rated.filter(({ uri }) => uri.isSip && uri.headers.length === 0);
  return usable.sort((one, other) => other.q - one.q).slice(0, MOST_CONTACTS).map(({ uri }) => asRequestUri(uri));
} // prettier-ignore

/** `399 host "text"` → text. */
function saidIn(response: SipResponse): string {
  const [, warning] = /^\d{3} \S+ ("(?:[^"\\]|\\.)*")/.exec(response.first('warning') ?? '') ?? [];
  const text = warning === undefined ? response.reason : unquoted(warning);
  // oxlint-disable-next-line no-control-regex -- control characters are what is being taken out
  return text.replace(/[\x00-\x1f\x7f]/g, ' ').trim().slice(0, MOST_CHARACTERS); // prettier-ignore
}
