// Telephone numbers that only the words around them tell: llame al 555-1234 o al 555-0100; ligue 190, 192 ou
// 193.
import type { Speech } from '../language.js';
import type { Recogniser } from '../reading.js';

const LOCAL = /(\d{3})-(\d{4})(?![\p{L}\d-]|[.,/]\d)/uy;
const SERVICE = /\d{3}(?![\p{L}\d-]|[.,/:]\d)/uy;
const NEAR = 48; // units before a number in which a request to call is looked for

/** 555-1234: seven digits without the place. A range has no such end as 0100. */
export function localNumber(calls: RegExp, { telephone }: Pick<Speech, 'telephone'>): Recogniser {
  return (reading) => {
    const { text, at } = reading;
    const match = reading.match(LOCAL);
    if (match === undefined) return undefined;
    const [written, first = '', second = ''] = match;
    const sure = first === '555' || second.startsWith('0');
    if (!sure && !calls.test(text.slice(Math.max(0, at - NEAR), at))) return undefined;
    return { end: at + written.length, spoken: telephone([first, second], false), rule: 'telephone' };
  };
}

/** The second and third of "ligue 190, 192 ou 193": `before` ends with the numbers before it. */
export function serviceNumber(before: RegExp, { digits }: Pick<Speech, 'digits'>): Recogniser {
  return (reading) => {
    const { text, at } = reading;
    if (!/\d, $|\p{L} $/u.test(text.slice(Math.max(0, at - 3), at))) return undefined;
    const match = reading.match(SERVICE);
    if (match === undefined || !before.test(text.slice(Math.max(0, at - NEAR), at))) return undefined;
    return { end: at + match[0].length, spoken: digits(match[0]), rule: 'telephone' };
  };
}
