// Parses rare header values with the grammar of sip.js. The grammar decodes its tables at every parse,
// which takes about a millisecond, so results are cached and longer values than any real one are
// rejected. The fields of every message (Via, From, To, CSeq, Contact, URIs) are parsed by scanner.ts;
// the tests compare both.
import { Grammar } from 'sip.js/lib/grammar/grammar.js';

/** Names of the grammar's rules in use. */
type GrammarRule =
  | 'Content_Disposition'
  | 'Event'
  | 'Min_SE'
  | 'Refer_To'
  | 'Referred_By'
  | 'Replaces'
  | 'Session_Expires'
  | 'Subscription_State';

const MAX_LENGTH = 2048;
const MAX_KEPT = 512;

const kept = new Map<string, unknown>();

/** Parse result of the value, shared and therefore read-only; undefined if the value is malformed. */
export function parsedValue(rule: GrammarRule, value: string): unknown {
  if (value.length > MAX_LENGTH) return undefined;
  const key = `${rule}:${value}`;
  if (kept.has(key)) return kept.get(key);
  const found: unknown = Grammar.parse(value, rule);
  const result = found === -1 ? undefined : found;
  if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value ?? key);
  kept.set(key, result);
  return result;
}
