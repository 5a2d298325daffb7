// The filters of the list of calls.
import type { PhoneCallView } from '../../call/phone-calls.js';
import { callSid } from '../twiml/sids.js';
import { CALL_STATUSES, statusOf } from './call-resource.js';
import { NUMBERS, RestError } from './rest-error.js';

const DATE = /^\d{4}-\d\d-\d\d$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;
const DAY_MS = 86_400_000;
const SECOND_MS = 1000;

/** True for calls that the query asks for. Throws a RestError for a value that is not allowed. */
export function callFilter(query: URLSearchParams): (view: PhoneCallView) => boolean {
  const given = (name: string): string | undefined => query.get(name) || undefined;
  const [to, from, parent, status] = [given('To'), given('From'), given('ParentCallSid'), given('Status')];
  if (status !== undefined && !CALL_STATUSES.some((known) => known === status))
    throw refusal('Status', `one of ${CALL_STATUSES.join(', ')}`);
  const times = [...timesIn(query, 'StartTime', 'answeredAt'), ...timesIn(query, 'EndTime', 'endedAt')];
  return (view) =>
    (to === undefined || view.to === to) &&
    (from === undefined || view.from === from) &&
    (parent === undefined || (view.parent !== undefined && callSid(view.parent) === parent)) &&
    (status === undefined || statusOf(view) === status) &&
    times.every((matches) => matches(view));
}

/** A day, or a moment: at it, until it (`<`), from it on (`>`). */
function timesIn(query: URLSearchParams, name: string, field: 'answeredAt' | 'endedAt') {
  return ['', '<', '>'].flatMap((sign) => {
    const raw = query.get(name + sign);
    if (raw === null || raw === '') return [];
    const isDay = DATE.test(raw);
    const from = isDay || TIME.test(raw) ? Date.parse(raw) : NaN;
    if (Number.isNaN(from)) throw refusal(name + sign, 'a date or a time of ISO 8601, such as 2026-11-30');
    const until = from + (isDay ? DAY_MS : SECOND_MS);
    return (view: PhoneCallView): boolean => {
      const at = view[field];
      if (at === undefined) return false;
      return (sign === '>' || at < until) && (sign === '<' || at >= from);
    };
  });
}

function refusal(name: string, allowed: string): RestError {
  return new RestError(400, NUMBERS.invalidParameter, `${name} must be ${allowed}`);
}
