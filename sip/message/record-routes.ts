// What the proxies on the way want to stay in the path of: every response that
// makes a dialog repeats it (RFC 3261, section 12.1.1).
import type { Answerable } from './refusal.js';
import type { HeaderLine } from './serialiser.js';

/** The Record-Route fields of a request for its response: all values in their order, as they came, one a line. */
export function recordRoutesOf({ fields }: Pick<Answerable, 'fields'>): HeaderLine[] {
  return fields.all('record-route').map((value) => ['Record-Route', value]);
}
