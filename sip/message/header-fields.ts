// The header of a message: its fields in the order they came in, found by name
// without regard to case or to short forms.
import { splitList } from './list.js';

export interface HeaderField {
  /** As it came. */
  readonly name: string;
  /** Long and lower case. */
  readonly key: string;
  /** Unfolded, without white space at its ends. */
  readonly value: string;
}

const SHORT_FORMS: ReadonlyMap<string, string> = new Map([
  ['a', 'accept-contact'],
  ['b', 'referred-by'],
  ['c', 'content-type'],
  ['d', 'request-disposition'],
  ['e', 'content-encoding'],
  ['f', 'from'],
  ['i', 'call-id'],
  ['j', 'reject-contact'],
  ['k', 'supported'],
  ['l', 'content-length'],
  ['m', 'contact'],
  ['o', 'event'],
  ['r', 'refer-to'],
  ['s', 'subject'],
  ['t', 'to'],
  ['u', 'allow-events'],
  ['v', 'via'],
  ['x', 'session-expires'],
  ['y', 'identity'],
]);

/** Those that may hold several values in one line. In all others a comma is part of the value. */
const LISTS: ReadonlySet<string> = new Set([
  'accept', 'accept-contact', 'accept-encoding', 'accept-language', 'alert-info', 'allow', 'allow-events', 'call-info',
  'contact', 'content-encoding', 'content-language', 'diversion', 'error-info', 'history-info', 'in-reply-to',
  'p-asserted-identity', 'p-preferred-identity', 'path', 'proxy-require', 'reason', 'record-route', 'reject-contact',
  'request-disposition', 'require', 'route', 'security-client', 'security-server', 'security-verify', 'service-route',
  'supported', 'unsupported', 'via', 'warning',
]); // prettier-ignore

/** Long and lower case. */
export function headerKey(name: string): string {
  const key = name.toLowerCase();
  return key.length === 1 ? (SHORT_FORMS.get(key) ?? key) : key;
}

export class HeaderFields {
  readonly list: readonly HeaderField[];

  constructor(list: readonly HeaderField[]) {
    this.list = list;
  }

  has(name: string): boolean {
    return this.first(name) !== undefined;
  }

  /** The value of the first field of this name; where it may hold several values, the first of them. */
  first(name: string): string | undefined {
    const key = headerKey(name);
    for (const field of this.list) {
      if (field.key === key) return LISTS.has(key) ? splitList(field.value)[0] : field.value;
    }
    return undefined;
  }

  /** All values of this name, in order, however many lines they stand in. */
  all(name: string): string[] {
    const key = headerKey(name);
    const found = this.list.filter((field) => field.key === key);
    return found.flatMap(({ value }) => (LISTS.has(key) ? splitList(value) : [value]));
  }
}
