// The month in which a card ends: vence 12/26, validade 08/27.
import type { Speech } from '../language.js';
import type { Recogniser } from '../reading.js';

const MONTH_AND_YEAR = /(0?[1-9]|1[0-2])\/(2\d|3\d|4[0-5])(?![\p{L}\d/]|[.,]\d)/uy;
const NEAR = 32; // units before it in which a word tells of a card

/** `before` ends with a word of cards; `withArticle` is said where "el" stands before it: el nueve del veintisiete. */
export function cardExpiry(
  before: RegExp,
  { date }: Pick<Speech, 'date'>,
  withArticle: (month: string, year: string) => string,
): Recogniser {
  return (reading) => {
    if (!reading.isFresh || reading.text[reading.runEnd] !== '/') return undefined;
    const match = reading.match(MONTH_AND_YEAR);
    if (match === undefined || !before.test(reading.text.slice(Math.max(0, reading.at - NEAR), reading.at)))
      return undefined;
    const [written, month = '', year = ''] = match;
    const end = reading.at + written.length;
    const around = reading.around(end);
    const spoken = /^(?:el|o)$/.test(around.previousWord)
      ? withArticle(String(Number(month)), year)
      : date({ month: Number(month), year: `20${year}`, style: 'numeric' }, around);
    return spoken === undefined ? undefined : { end, spoken, rule: 'date' };
  };
}
