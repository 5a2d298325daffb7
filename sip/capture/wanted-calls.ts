// Which calls are captured, by what the configuration says and by what their
// first INVITE asks for.
import type { CapturedCalls } from '../../src/config/telephone-config.js';
import { headEnd } from '../message/head.js';
import { parseMessage } from '../message/parser.js';
import { fits, Pattern } from '../routing-table.js';
import type { Flow } from '../transport/flow.js';
import type { TapDirection } from './message-tap.js';

/** Whether the call of this INVITE is wanted. */
export type WantsCall = (direction: TapDirection, invite: Buffer, flow: Flow) => boolean;

const HEAD_BYTES = 8192; // the mark is not looked for further behind
const MARK = /\nx-parley-capture[ \t]*:[ \t]*1[ \t]*\r?\n/i;

/** `isTrusted`: whether who calls from there may ask for a file by a mark; what we send ourselves always may. */
export function wantedCalls(calls: CapturedCalls, isTrusted: (address: string) => boolean): WantsCall {
  if (calls === 'off') return () => false;
  if (calls === 'all') return () => true;
  const patterns =
    calls === 'marked' ? [] : calls.map(({ field, pattern }) => ({ field, pattern: new Pattern(pattern) }));
  return (direction, invite, { remote }) => {
    const isMarked = MARK.test(headOf(invite)) && (direction === 'out' || isTrusted(remote.address));
    if (isMarked || patterns.length === 0) return isMarked;
    const parsed = parseMessage(invite);
    if (parsed.kind !== 'request') return false;
    const { uri: to, from } = parsed.request;
    return patterns.some(({ field, pattern }) => fits(pattern, field === 'to' ? to : from.uri));
  };
}

/** Without the body, which is not the sender's own words everywhere. */
function headOf(message: Buffer): string {
  const { body = HEAD_BYTES } = headEnd(message, 0) ?? {};
  return message.toString('latin1', 0, Math.min(body, HEAD_BYTES));
}
