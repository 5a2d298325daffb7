// What no message may lack (RFC 3261, section 8.1.1), parsed, or what is wrong with it.
import { type CSeq, parseCSeq, wholeNumber } from './cseq.js';
import type { HeaderFields } from './header-fields.js';
import { type NameAddr, parseNameAddr } from './name-addr.js';
import { parseVia, type Via } from './via.js';

export interface Mandatory {
  /** The topmost one. */
  readonly via: Via;
  readonly from: NameAddr;
  readonly to: NameAddr;
  readonly callId: string;
  readonly cseq: CSeq;
  /** Undefined where a peer of RFC 2543 left it out. */
  readonly maxForwards: number | undefined;
}

const ONCE: ReadonlySet<string> = new Set([
  'call-id', 'content-length', 'content-type', 'cseq', 'expires', 'from', 'max-forwards', 'min-se', 'refer-to',
  'replaces', 'session-expires', 'to',
]); // prettier-ignore
const ONCE_IN_RESPONSE: ReadonlySet<string> = new Set(['content-length', 'cseq']);

/** As a reason phrase, such as "Missing Call-ID" or "Bad CSeq". */
export type Fault = string;

export function mandatory(fields: HeaderFields): Mandatory | Fault {
  const repeated = repeatedField(fields, ONCE);
  if (repeated !== undefined) return `Repeated ${repeated}`;
  const via = required(fields, 'Via', parseVia);
  if (typeof via === 'string') return via;
  const from = required(fields, 'From', parseNameAddr);
  if (typeof from === 'string') return from;
  const to = required(fields, 'To', parseNameAddr);
  if (typeof to === 'string') return to;
  const cseq = required(fields, 'CSeq', parseCSeq);
  if (typeof cseq === 'string') return cseq;
  const callId = fields.first('call-id') ?? '';
  if (callId === '') return 'Missing Call-ID';
  const hops = fields.first('max-forwards');
  const maxForwards = hops === undefined ? undefined : wholeNumber(hops, 255);
  if (hops !== undefined && maxForwards === undefined) return 'Bad Max-Forwards';
  return { via, from, to, callId, cseq, maxForwards };
}

/**
 * A client finds the request of a response by the branch of Via and by CSeq (RFC 3261, section 17.1.3). The other fields
 * are known from that request, so a response may lack them, repeat them or have them wrong.
 */
export function mandatoryInResponse(fields: HeaderFields): Pick<Mandatory, 'via' | 'cseq'> | Fault {
  const repeated = repeatedField(fields, ONCE_IN_RESPONSE);
  if (repeated !== undefined) return `Repeated ${repeated}`;
  const via = required(fields, 'Via', parseVia);
  if (typeof via === 'string') return via;
  const cseq = required(fields, 'CSeq', parseCSeq);
  return typeof cseq === 'string' ? cseq : { via, cseq };
}

function required<T extends object>(
  fields: HeaderFields,
  name: string,
  parse: (value: string) => T | undefined,
): T | Fault {
  const value = fields.first(name);
  return value === undefined ? `Missing ${name}` : (parse(value) ?? `Bad ${name}`);
}

function repeatedField(fields: HeaderFields, once: ReadonlySet<string>): string | undefined {
  const seen = new Set<string>();
  for (const { key, name } of fields.list) {
    if (!once.has(key)) continue;
    if (seen.has(key)) return name;
    seen.add(key);
  }
  return undefined;
}
