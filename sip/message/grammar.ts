// Header values that come seldom, with the grammar of sip.js. It decodes its
// tables at every parse, which takes about a millisecond, so results are kept,
// and no value longer than any real one is handed to it. What every message
// holds (Via, From, To, CSeq, Contact, URIs) is read by this room's own scanner;
// the tests hold the two against each other.
import { Grammar } from 'sip.js/lib/grammar/grammar.js';

/** Those that Parley asks for, by the names of the grammar's rules. */
export type GrammarRule =
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

/** What the grammar makes of the value (treat it as read-only: it is shared); undefined where it is not well-formed. */
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
