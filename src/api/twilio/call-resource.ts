// Calls as JSON of the REST API, and the filters of their list. Unset fields are null. Numbers are strings
// where Twilio has strings.
// https://www.twilio.com/docs/voice/api/call-resource#call-properties
import type { PhoneCallView } from '../../call/phone-calls.js';
import { callSid } from '../twiml/sids.js';
import { answeredByOf } from './machine-detection.js';
import { NUMBERS, RestError } from './rest-error.js';

const DATE = /^\d{4}-\d\d-\d\d$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;
const DAY_MS = 86_400_000;
const SECOND_MS = 1000;

export const API_VERSION = '2010-04-01';

export const CALL_STATUSES = [
  'queued',
  'ringing',
  'in-progress',
  'completed',
  'busy',
  'failed',
  'no-answer',
  'canceled',
] as const;
export type CallStatus = (typeof CALL_STATUSES)[number];

const BUSY: ReadonlySet<number | undefined> = new Set([486, 600]);
const NO_ANSWER: ReadonlySet<number | undefined> = new Set([408, 480, 487]);

export function statusOf({ state, direction, answeredAt, end }: PhoneCallView): CallStatus {
  if (state === 'dialling') return 'queued';
  if (state === 'ringing') return 'ringing';
  if (state !== 'ended') return 'in-progress';
  if (answeredAt !== undefined) return 'completed';
  if (BUSY.has(end?.status)) return 'busy';
  if (end?.reason === 'cancelled') return 'canceled';
  if (end?.reason === 'no answer' || NO_ANSWER.has(end?.status)) return 'no-answer';
  return direction === 'inbound' && end?.reason === 'rejected' ? 'no-answer' : 'failed';
}

/** Whole seconds from the answer to the end; 0 for a call that was not answered. */
export function durationOf({ answeredAt, endedAt }: PhoneCallView): number {
  if (answeredAt === undefined || endedAt === undefined) return 0;
  return Math.max(0, Math.round((endedAt - answeredAt) / 1000));
}

/** RFC 2822, as the client library reads it. */
export function restDate(unixMs: number): string {
  return new Date(unixMs).toUTCString().replace('GMT', '+0000');
}

export function accountPath(account: string): string {
  return `/${API_VERSION}/Accounts/${account}`;
}

/** @param account SID of the account that asks */
export function callJson(view: PhoneCallView, account: string) {
  const { id, to, from, direction, createdAt, answeredAt, endedAt, displayName, headers, answer, parent } =
    view;
  const sid = callSid(id);
  const path = `${accountPath(account)}/Calls/${sid}`;
  const isOver = view.state === 'ended';
  return {
    sid,
    account_sid: account,
    parent_call_sid: parent === undefined ? null : callSid(parent),
    phone_number_sid: null,
    to,
    to_formatted: to,
    from,
    from_formatted: from,
    status: statusOf(view),
    start_time: answeredAt === undefined ? null : restDate(answeredAt),
    end_time: endedAt === undefined ? null : restDate(endedAt),
    duration: isOver ? String(durationOf(view)) : null,
    price: null,
    price_unit: 'USD',
    direction: direction === 'inbound' ? 'inbound' : parent === undefined ? 'outbound-api' : 'outbound-dial',
    answered_by: answer === undefined || answer.early === true ? null : answeredByOf(answer.by),
    api_version: API_VERSION,
    annotation: null,
    forwarded_from: headers?.['Diversion'] ?? null,
    group_sid: null,
    caller_name: displayName ?? null,
    queue_time: '0',
    trunk_sid: null,
    date_created: restDate(createdAt),
    date_updated: restDate(endedAt ?? answeredAt ?? createdAt),
    uri: `${path}.json`,
    subresource_uris: { recordings: `${path}/Recordings.json` },
  };
}

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
