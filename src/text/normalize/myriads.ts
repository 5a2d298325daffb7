// Number words of the languages that count by groups of four digits, and amounts written with a Western
// magnitude.
import type { Magnitude, Quantity } from './quantity.js';
import { withoutZeros, type Numeral } from './numerals.js';

export interface MyriadNames {
  /** 1 to 9; the first is ''. */
  readonly digits: readonly string[];
  /** '', ten, hundred, thousand. */
  readonly places: readonly string[];
  /** '', 10^4, 10^8, ... */
  readonly groups: readonly string[];
  /** Between the groups. */
  readonly between: string;
  /** True if the one before a place is said, in a group of these digits: 一千万 but 千一. */
  saysOne(place: number, group: number, digits: string): boolean;
  /** The group that is only one: 一万, 만. */
  loneOne(group: number): string;
}

/** Words of a whole number without zeros in front, undefined beyond the last group that has a name. */
export function myriadWords(digits: string, names: MyriadNames): string | undefined {
  const count = Math.ceil(digits.length / 4);
  if (count > names.groups.length) return undefined;
  const said: string[] = [];
  for (let group = count - 1; group >= 0; group--) {
    const end = digits.length - group * 4;
    const four = withoutZeros(digits.slice(Math.max(0, end - 4), end));
    if (four === '0') continue;
    const words = four === '1' && group > 0 ? names.loneOne(group) : groupWords(four, group, names);
    said.push(words + (names.groups[group] ?? ''));
  }
  return said.join(names.between);
}

function groupWords(four: string, group: number, names: MyriadNames): string {
  return Array.from(four, (digit, index) => {
    const place = four.length - 1 - index;
    if (digit === '0') return '';
    const one = digit === '1' && place > 0 && !names.saysOne(place, group, four);
    return (one ? '' : (names.digits[Number(digit)] ?? '')) + (names.places[place] ?? '');
  }).join('');
}

/** The number with its decimal mark moved: 3.5 by 10^6 is 3,500,000. */
function multiplied(numeral: Numeral, power: number): Numeral {
  const { negative, grouped, whole, decimals } = numeral;
  const moved = decimals.slice(0, power).padEnd(power, '0');
  return { negative, grouped, whole: withoutZeros(whole + moved), decimals: decimals.slice(power) };
}

/** These languages count in myriads, not in thousands and millions: 3.5 million is 三百五十万. */
const WESTERN = 'western';

/** Thousand, million, billion, trillion, as prices and loanwords have them. */
export const WESTERN_MAGNITUDES: Readonly<Record<string, Magnitude>> = Object.fromEntries(
  Object.entries({
    3: 'K k thousand',
    6: 'M mn million',
    9: 'B bn billion',
    12: 'tn trillion',
  }).flatMap(([power, forms]) =>
    forms.split(' ').map((form) => [form, { power: Number(power), forms: [], form: WESTERN }] as const),
  ),
);

/** A quantity whose Western magnitude has become part of its numbers. */
export function inMyriads(quantity: Quantity): Quantity {
  const { number, to, magnitude, fraction } = quantity;
  if (magnitude?.form !== WESTERN) return quantity;
  return {
    number: multiplied(number, magnitude.power),
    to: to && multiplied(to, magnitude.power),
    fraction,
  };
}

/** English dates in texts of these languages. */
export const ENGLISH_DATES = {
  named: ['month-day', 'day-month'],
  dayMark: 'st|nd|rd|th',
  between: ',? ',
} as const;
