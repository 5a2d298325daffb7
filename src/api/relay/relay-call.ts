// Tells an application of the ConversationRelay protocol about its call: the setup message, the action
// callback at the end, and the signatures of both.
//
// https://www.twilio.com/docs/usage/security
import { createHmac } from 'node:crypto';
import type { HandledCall } from '../../call/call-handler.js';
import type { RelayAttributes } from '../../config/relay-config.js';
import { ParleyError } from '../../errors.js';
import type { Time } from '../../time.js';

/** There is one account: that of this server. */
export const ACCOUNT = `AC${'0'.repeat(32)}`;
/** Twilio tells by whom a call was dialled. */
const DIRECTIONS = { inbound: 'inbound', outbound: 'outbound-api' } as const;
const ACTION_MS = 10_000;

/** The first message of a session. All fields are strings, as clients check. */
export function setupMessage(
  { call, direction, from = '', to = '', displayName = '', headers, leg }: HandledCall,
  { parameters }: RelayAttributes,
  sessionId: string,
) {
  return {
    type: 'setup',
    sessionId,
    accountSid: ACCOUNT,
    parentCallSid: '',
    callSid: call.id,
    from,
    to,
    forwardedFrom: headers?.['Diversion'] ?? '',
    callType: leg === undefined ? 'CLIENT' : 'SIP',
    callerName: displayName,
    direction: DIRECTIONS[direction],
    callStatus: 'IN-PROGRESS',
    customParameters: parameters,
  };
}

/** The usual parameters of a call in requests to applications. */
export function callParameters({ call, direction, from = '', to = '' }: HandledCall) {
  return { AccountSid: ACCOUNT, CallSid: call.id, From: from, To: to, Direction: DIRECTIONS[direction] };
}

/** X-Twilio-Signature: base64 HMAC-SHA1 over the URL, with the fields of a form in order of their names. */
export function relaySignature(
  token: string,
  url: string,
  fields: Readonly<Record<string, string>> = {},
): string {
  const names = Object.keys(fields).sort();
  const signed = names.reduce((text, name) => `${text}${name}${fields[name] ?? ''}`, url);
  return createHmac('sha1', token).update(signed).digest('base64');
}

interface ActionRequest {
  readonly action: string;
  readonly authToken: string | undefined;
  /** Undefined ones are left out. */
  readonly fields: Readonly<Record<string, string | undefined>>;
  readonly time: Time;
}

/** Posts the end of a session. Rejects with TIMEOUT, or if the address cannot be reached or refuses. */
export async function tellAction({ action, authToken, fields, time }: ActionRequest): Promise<void> {
  const given = Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const form = Object.fromEntries(given);
  const late = new AbortController();
  const forget = time.after(ACTION_MS, () => late.abort());
  try {
    const response = await fetch(action, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'user-agent': 'parley',
        ...(authToken === undefined ? {} : { 'x-twilio-signature': relaySignature(authToken, action, form) }),
      },
      body: new URLSearchParams(form).toString(),
      redirect: 'manual',
      signal: late.signal,
    });
    await response.body?.cancel();
    if (!response.ok) throw new ParleyError('WRONG_STATE', `it answered with status ${response.status}`);
  } catch (error) {
    if (late.signal.aborted) throw new ParleyError('TIMEOUT', `no answer within ${ACTION_MS} ms`);
    throw error;
  } finally {
    forget();
  }
}
