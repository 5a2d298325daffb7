// Forms that several languages write alike and say in their own words: H₂O, bac+5, 10⁻³, 3 fois/jour,
// 2h01min39s. A language makes its recognisers from these, with its words.
import { CharacterSet } from '../character-set.js';
import { WORD_UNIT } from './characters.js';
import type { Row } from './dispatch.js';
import { type Around, type Found, Reading, type Recogniser } from './reading.js';
import { LiteralTable } from './literals.js';
import { plainDigits, withoutZeros } from './numerals.js';

const FORMULA = new RegExp(
  String.raw`(?:[A-Z][a-z]?[₀-₉]*){1,8}(?<=[₀-₉][A-Za-z]{0,6})(?!${WORD_UNIT})`,
  'uy',
);
const PART = /[A-Z][a-z]?|[₀-₉]+/g;
const SUBSCRIPTS = '₀₁₂₃₄₅₆₇₈₉';

/** H₂O: letters by name, subscripts as numbers. */
export function formula(
  letters: (letters: string) => string,
  number: (digits: string) => string,
  between = ' ',
): Recogniser {
  return (reading) => {
    const match = reading.match(FORMULA);
    if (match === undefined) return undefined;
    const parts = Array.from(match[0].matchAll(PART), ([part]) =>
      /[A-Z]/.test(part) ? letters(part) : number(plainDigits(part)),
    );
    return { end: reading.at + match[0].length, spoken: parts.join(between), rule: 'identifier' };
  };
}

const LOWERED_FORMULA = /(?:[A-Z][a-z]?|~\d{1,3}~){2,12}(?![A-Za-z~])/uy;

/** H~2~O, as Markdown writes H₂O: said by the recogniser of subscripts. */
export function loweredFormula(compound: Recogniser): Recogniser {
  return (reading) => {
    const match = reading.match(LOWERED_FORMULA);
    if (match === undefined) return undefined;
    const [written] = match;
    const lowered = written.replaceAll(/~(\d{1,3})~/g, (_, digits: string) =>
      Array.from(digits, (digit) => SUBSCRIPTS[Number(digit)]).join(''),
    );
    const found = compound(new Reading(lowered));
    return found?.end === lowered.length ? { ...found, end: reading.at + written.length } : undefined;
  };
}

/** Bac+5, n+1, 90e+3: no space stands around the sign. */
export function plusBetween(plus: string): Recogniser {
  return ({ text, at }) => {
    if (!/[\p{L}\p{N}'’]/u.test(text[at - 1] ?? '') || !/\d/.test(text[at + 1] ?? '')) return undefined;
    return { end: at + 1, spoken: plus, rule: 'math' };
  };
}

const COUNTED =
  /(?:\d ?(?:\p{L}{1,20} (?:d['’]|de |di |of )?)?\p{L}{2,20}|\d\p{Script=Han}|[€$£]|(?<!\p{L})(?:euros?|TTC|HT|HC|CC|IVA|CO[2₂]))$/iu;
const EACH = /^\d{1,3} ?(?:min|mn|h|s|sec)(?!\p{L})/u; // 1 train/10 min
const FEW = /(?:^|[^\d/.,:])\d{1,3}$|\d[^.;:,/\n]{0,16} \p{Ll}{3,}$/u; // 3/day, 2 l of water/day
const PACE = /(?:^|[^\d:.,])\d{1,2}(?::[0-5]\d|['’′] ?[0-5]?\d(?:''|’’|["”″])?)$/; // 5'20''/km, 4:45/km
const PRICED = /(?:\d ?[€$£]|[€$£] ?\d[\d.,]{0,12})$/; // 54 €/30 days
const SPAN_BEHIND = /^\d{1,4} \p{L}\p{Ll}{2,11}(?!\p{L})/u;
const LONGEST_COUNTED = 24; // units

/** 10 000 pas/jour, €/kWh: behind a word that is counted the slash has a word. */
export function perWord(per: Readonly<Record<string, string>>, every?: string): Recogniser {
  const { '*': each, ...named } = per;
  const table = new LiteralTable(Object.entries(named));
  return ({ text, at }: Reading): Found | undefined => {
    const before = text.slice(Math.max(0, at - LONGEST_COUNTED), at);
    const literal = table.at(text, at + 1);
    if (each !== undefined && PRICED.test(before) && SPAN_BEHIND.test(text.slice(at + 1, at + 20)))
      return { end: at + 1, spoken: each, rule: 'measure', isCertain: true };
    const isPace = /^(?:km|mi)$/.test(literal?.written ?? '') && PACE.test(before);
    if (!isPace && !COUNTED.test(before) && !((literal?.written.length ?? 0) > 2 && FEW.test(before)))
      return undefined;
    if (literal === undefined && every !== undefined && EACH.test(text.slice(at + 1, at + 10)))
      return { end: at + 1, spoken: ` ${every} `, rule: 'measure', isCertain: true };
    if (
      literal === undefined ||
      (literal.written.length < 2 && /(?<!\p{L}{2})\p{L}$/u.test(text.slice(Math.max(0, at - 3), at)))
    )
      return undefined;
    const end = at + 1 + literal.written.length;
    const stop = literal.written.length < 4 && /^\.(?:[,;)]| \p{Ll})/u.test(text.slice(end, end + 3)) ? 1 : 0;
    return { end: end + stop, spoken: literal.value, rule: 'measure' };
  };
}

const LONG_DURATION =
  /(\d{1,3}) ?h ?(\d{1,2}) ?(?:min|mn|m|['’′]) ?(\d{1,2}) ?(?:sec|s|''|’’|["”″])?(?![\p{L}\p{N}])/uy;
const SECONDS = /(?:(\d{1,2})['’′] ?)?(\d{1,3})(?:"|''|’’|″|”)(\d{1,3})(?![\p{L}\p{N}])/uy;

/** 2h01min39s: hours, minutes and seconds as digits without zeros. */
export function longDuration(
  say: (parts: readonly (readonly [amount: string, unit: 'h' | 'min' | 's'])[]) => string,
): Recogniser {
  return (reading) => {
    const match = reading.match(LONG_DURATION);
    if (match === undefined) return undefined;
    const [hours = 0, minutes = 0, seconds = 0] = match.slice(1).map(Number);
    const parts = (
      [
        [hours, 'h'],
        [minutes, 'min'],
        [seconds, 's'],
      ] as const
    ).filter(([amount]) => amount > 0);
    if (parts.length === 0) return undefined;
    const spoken = say(parts.map(([amount, unit]) => [String(amount), unit] as const));
    return { end: reading.at + match[0].length, spoken, rule: 'duration' };
  };
}

/** 10"85, 1'21"456: seconds and parts of one; minutes where they are written. */
export function hundredths(
  say: (seconds: string, rest: string, minutes: string | undefined) => string,
): Recogniser {
  return (reading) => {
    const match = reading.match(SECONDS);
    if (match === undefined) return undefined;
    return {
      end: reading.at + match[0].length,
      spoken: say(match[2] ?? '', match[3] ?? '', match[1]),
      rule: 'duration',
    };
  };
}

/**
 * "≥ 18 ans" with nothing on the left that could be compared: at the beginning, or behind a word that takes
 * an amount.
 */
export function relation(
  names: Readonly<Record<string, string>>,
  beforeAmount: ReadonlySet<string>,
): Recogniser {
  return (reading) => {
    const { text, at } = reading;
    const spoken = names[text[at] ?? ''];
    if (spoken === undefined || !/^ ?\d/.test(text.slice(at + 1, at + 3))) return undefined;
    const before = reading.around(at).previousWord;
    const free =
      before === '' ? /^$|[(,:;.] ?$/.test(text.slice(Math.max(0, at - 2), at)) : beforeAmount.has(before);
    return free ? { end: at + 1, spoken, rule: 'math' } : undefined;
  };
}

/** The first of "dix euros à vingt euros" without its noun: "dix à vingt euros". */
export function withoutCommonNoun(from: string, to: string): string {
  const noun = /(?: (?:per|pour) cento?)$| \p{L}+$/u.exec(to)?.[0] ?? '';
  return noun !== '' && from.endsWith(noun) && from.length > noun.length ? from.slice(0, -noun.length) : from;
}

/** The words for a dash before the second of two days or hours, and the hours that have no figures. */
interface Until {
  readonly months: readonly (readonly string[])[];
  readonly weekdays: readonly (readonly string[])[];
  readonly hours: ReadonlySet<string>;
  readonly toDay: string;
  readonly toWeekday: string;
  readonly toHour: string;
}

const DAYS = /[\p{L}.]\/\p{L}/u;
const LONGEST_END = 14; // units of a day or hour beside a dash

/** Source of an expression for names of days or months, without their stops. */
function names(forms: readonly (readonly string[])[]): string {
  return forms
    .flat()
    .map((name) => name.replace(/\.$/, ''))
    .join('|');
}

/** Mar./gio., sam/dim: the stroke between two days of the week. */
export function dayAndDay(weekdays: readonly (readonly string[])[], and: string): Recogniser {
  const name = names(weekdays);
  const [before, behind] = [
    new RegExp(`(?<!\\p{L})(?:${name})\\.?$`, 'iu'),
    new RegExp(`^(?:${name})(?!\\p{L})`, 'iu'),
  ];
  return ({ text, at }) =>
    DAYS.test(text.slice(Math.max(0, at - 1), at + 2)) &&
    before.test(text.slice(Math.max(0, at - LONGEST_END), at)) &&
    behind.test(text.slice(at + 1, at + LONGEST_END))
      ? { end: at + 1, spoken: ` ${and} `, rule: 'date', isCertain: true }
      : undefined;
}

/** Ven. 17 oct. – dim. 19 oct., 8h–midi */
export function until({ months, weekdays, hours, toDay, toWeekday, toHour }: Until): Recogniser {
  const [month, weekday] = [names(months), names(weekdays)];
  const hour = Array.from(hours).join('|');
  const from = new RegExp(
    String.raw`(?<!\p{L})(?:(?:(${month})|(?:${weekday})\.? \d{1,2})\.?|(\d{1,2}(?:[h:]\d\d| ?h)|${hour})) ?$`,
    'iu',
  );
  const to = new RegExp(
    String.raw`^ ?(?:(?:${weekday})(?!\p{L})|(\d{1,2}(?:er)? (?:${month})(?!\p{L}))|((?:${hour})(?!\p{L})|\d{1,2}(?:[h:]\d\d| ?h)))`,
    'iu',
  );
  return ({ text, at }) => {
    const first = from.exec(text.slice(Math.max(0, at - LONGEST_END), at));
    const last = first && to.exec(text.slice(at + 1, at + 1 + LONGEST_END));
    if (last === null || (first?.[2] === undefined) !== (last[2] === undefined)) return undefined;
    const said = last[2] !== undefined ? toHour : last[1] === undefined ? toWeekday : toDay;
    const [left, right] = [text[at - 1] === ' ' ? '' : ' ', text[at + 1] === ' ' ? '' : ' '];
    return { end: at + 1, spoken: left + said + right, rule: 'range', isCertain: true };
  };
}

const PRIME = /(\d{1,3})['’′](?![\p{L}\d"'’”])/uy;
const LONGEST_QUOTE = 60; // units in which an apostrophe may have opened a quote

/** 10' where no quote has been opened; `say` gets the digits. */
export function primed(say: (digits: string, around: Around) => string): Recogniser {
  return (reading) => {
    const { text, at } = reading;
    const match = reading.match(PRIME);
    if (match === undefined || /(?:^|[\s(])['‘]/.test(text.slice(Math.max(0, at - LONGEST_QUOTE), at)))
      return undefined;
    const end = at + match[0].length;
    return { end, spoken: say(match[1] ?? '', reading.around(end)), rule: 'duration' };
  };
}

/** A recogniser, the characters that decide whether it is asked, and those behind a word that do so, too. */
type TableRule = readonly [where: RegExp, recognise: Recogniser, behind?: RegExp];
type Table = readonly TableRule[];
/** A recogniser, and the fewest and most digits for which it is asked. */
type LengthRule = readonly [digits: readonly [number, number], recognise: Recogniser];

/**
 * The recognisers of one subject, in order, by the table of the language that they join. A table asks its
 * rules in order. A subject has a second list where rules of another subject come between.
 */
export type Rules<OwnRule = TableRule> = Readonly<
  Record<string, readonly (OwnRule | TableRule | LengthRule | Recogniser | Row)[]>
>;

/** Behind the letters or digits, and one space. */
function behindRun({ text, runEnd }: Reading): number {
  return text[runEnd] === ' ' ? runEnd + 1 : runEnd;
}

/** Chooses by the character behind the digits, or behind them and one space, or by the number of digits. */
export function behindDigits(table: readonly (TableRule | LengthRule)[]): readonly Row[] {
  return table.map(([where, recognise]) => ({
    knows: ({ isFresh, behind, digits }) =>
      isFresh &&
      (where instanceof RegExp
        ? where.test(behind.replace(/^ /, '').slice(0, 1))
        : digits >= where[0] && digits <= where[1]),
    recognise,
  }));
}

/** Chooses by the first letter of a word, and by the character behind it, or behind it and one space. */
export function byFirstLetter(table: Table): readonly Row[] {
  return table.map(([where, recognise, behind]) => {
    const rest = behind && new CharacterSet(behind);
    return {
      knows: (place) =>
        place.isFresh &&
        where.test(place.first) &&
        (place.behind === ' ' || behind?.test(place.behind) !== false),
      recognise:
        rest === undefined
          ? recognise
          : (reading) => (rest.at(reading.text, behindRun(reading)) ? recognise(reading) : undefined),
    };
  });
}

/** Chooses by the mark itself. */
export function byMark(table: Table): readonly Row[] {
  return table.map(([where, recognise]) => ({ knows: ({ first }) => where.test(first), recognise }));
}

const COORDINATES = /(\d{1,3})[°º] ?(\d{1,2})['′’](?: ?(\d{1,2})(?:''|["″”]))?(?: ?([A-Z])(?!\p{L}))?/uy;

/** 40º 25' 12" N; letters that are no direction of the language are left. */
export function coordinates(
  say: (digits: string, part: 'degree' | 'minute' | 'second') => string,
  directions: Readonly<Record<string, string>>,
): Recogniser {
  return (reading) => {
    const match = reading.match(COORDINATES);
    if (match === undefined) return undefined;
    const [written, degrees = '', minutes = '', seconds, letter = ''] = match;
    const parts = [say(withoutZeros(degrees), 'degree'), say(withoutZeros(minutes), 'minute')];
    if (seconds !== undefined) parts.push(say(withoutZeros(seconds), 'second'));
    const direction = directions[letter];
    if (direction !== undefined) parts.push(direction);
    const end = reading.at + written.length - (direction === undefined ? letter.length : 0);
    return { end, spoken: parts.join(' '), rule: 'measure' };
  };
}

const MONTH_AND_YEAR = /(0?[1-9]|1[0-2])\/(\d\d)(?![\p{L}\d/]|[.,]\d)/uy;
const LONGEST_LEAD = 40; // units before the expiry of a card
const NO_MONTH = 12; // years up to this may be a month or day, so they are not read: 12/06 is a day

/** Exp. 12/26: a month and a year behind the words that `before` knows. */
export function expiry(
  before: RegExp,
  say: (date: { readonly month: number; readonly year: string }, around: Around) => string | undefined,
): Recogniser {
  return (reading) => {
    const { text, at } = reading;
    const match = reading.match(MONTH_AND_YEAR);
    const [written = '', month = '', year = ''] = match ?? [];
    if (match === undefined || Number(year) <= NO_MONTH) return undefined;
    if (!before.test(text.slice(Math.max(0, at - LONGEST_LEAD), at))) return undefined;
    const end = at + written.length;
    const spoken = say({ month: Number(month), year }, reading.around(end));
    return spoken === undefined ? undefined : { end, spoken, rule: 'date' };
  };
}

const NAME_BEFORE = /(?<![\p{L}\d/])[A-Z]{2,5}$/u;

/** 5 V/3 A, 16 GB RAM/512 GB, $10/$20: between two amounts, each with its unit, the slash is a pause. */
export const betweenAmounts: Recogniser = (reading) => {
  const { text, at } = reading;
  const behind = text.slice(at + 1, at + 14);
  const before = text.slice(Math.max(0, at - 6), at);
  const isPriced = at === reading.tokenEnd && /\d[kKMB]?$/.test(before) && /^[$€£¥₩]\d/.test(behind);
  const isNamed = NAME_BEFORE.test(before) && /^\d{1,5} ?[KMGT]B(?!\p{L})/u.test(behind);
  const isOther = at === reading.tokenEnd && /\d ?[$€£]$/.test(before) && /^\p{Ll}{2,9}\. /u.test(behind);
  const isBelow = /\d$/.test(before) && /^[-−–]\d{1,2} ?°/.test(behind); // 3/-2 °C
  const isBand =
    /\d[.,]\d$/.test(before) &&
    /^\d{1,3}(?:[.,]\d)? ?(?:[kMG]?Hz|[KMGT]i?B|bar|mm|cm|m|kg|l|V|psi)(?!\p{L})/u.test(behind);
  const isQuarter = /(?<![\p{L}\p{N}])[QHT][1-4]$/u.test(before) && /^(?:20)?\d\d(?!\d)/.test(behind);
  const isPort = /\d$/.test(before) && /^(?:TCP|UDP|tcp|udp)(?!\p{L})/u.test(behind);
  if (isQuarter || isPort) return { end: at + 1, spoken: ' ', rule: 'symbol', isCertain: true };
  if (isPriced || isNamed || isOther || isBelow || isBand)
    return { end: at + 1, spoken: ', ', rule: 'symbol' };
  const isCounted = /\d\p{Lo}{1,3}$/u.test(before); // 6か月/10,000km
  if ((at !== reading.tokenEnd && !isCounted) || !/[\p{L}€%°.]$/u.test(before)) return undefined;
  const apart = (
    before.endsWith('€') ? /^\d{1,5}(?:[.,]\d{1,3})? ?€/ : /^[-+−]?\d{1,5}(?:[.,]\d{1,3})? ?[\p{L}%°]/u
  ).test(behind); // not €/100 g
  return apart ? { end: at + 1, spoken: ', ', rule: 'symbol' } : undefined;
};

const LONGEST_KEY = 60; // units before a code that may tell what it is
const GROUPS =
  /\d{2,8}(?:-\d{3,8}){1,3}(?![\p{L}\d-])|\d{3} \d{3}(?: \d{3})?(?![\p{L}\d]| ?\p{Ll}{3,}|,\d)/uy;

/** Il codice è 482 913, commande 2024-00158: groups of figures behind the words that end with `before`. */
export function keyedGroups(before: RegExp, digits: (digits: string) => string): Recogniser {
  return (reading) => {
    const { text, at } = reading;
    const match = reading.match(GROUPS);
    if (match === undefined || !before.test(text.slice(Math.max(0, at - LONGEST_KEY), at))) return undefined;
    const spoken = match[0].split(/[- ]/).map(digits).join(', ');
    return { end: at + match[0].length, spoken, rule: 'digits' };
  };
}
