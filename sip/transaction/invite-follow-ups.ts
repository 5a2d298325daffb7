// The ACK of a final response that is no 2xx (RFC 3261, section 17.1.1.3), and
// CANCEL (section 9.1): made of the INVITE that they belong to.
import type { SipResponse } from '../message/message.js';
import type { HeaderLine, RequestData } from '../message/serialiser.js';

export function ackOf(invite: RequestData, response: SipResponse): RequestData {
  return { method: 'ACK', uri: invite.uri, headers: kept(invite, 'ACK', (sent) => response.toValue(sent)) };
}

export function cancelOf(invite: RequestData): RequestData {
  return { method: 'CANCEL', uri: invite.uri, headers: kept(invite, 'CANCEL') };
}

const KEPT: ReadonlySet<string> = new Set(['from', 'to', 'call-id', 'cseq', 'route']);

function kept(invite: RequestData, method: string, to = (sent: string) => sent): HeaderLine[] {
  return invite.headers.flatMap(([name, value]): HeaderLine[] => {
    const key = name.toLowerCase();
    if (!KEPT.has(key)) return [];
    if (key === 'cseq') return [[name, value.replace(/\S+\s*$/, method)]];
    return [[name, key === 'to' ? to(value) : value]];
  });
}
