// Figures in forms that only the words around them decide: 14/07, 4,5/5, 12,50 euros, 3.5 as in English.
import { tablesOf } from '../../tables/language-tables.js';
import { isWordAt } from '../characters.js';
import { numeralOf, readNumeral } from '../numerals.js';
import { type Candidate, certain, type Found, type Reading, wordBefore } from '../reading.js';
import { Quantities } from '../recognise/quantities.js';
import type { Rules } from '../shared-forms.js';
import { money } from './amounts.js';
import { SYMBOLS, WRITING } from './writing.js';
import { isFeminine } from './grammar.js';
import { cardinal, decimal } from './numbers.js';
import { SPEECH } from './speech.js';

const POINTED =
  /(?:\d{1,3}(?:,\d{3})+\.\d+|\d{1,3}(?:,\d{3}){2,}|0\.\d+|\d+\.(?:\d{1,2}|\d{4,}))(?!\d|[.,:/]\d)/y;
const SHORT_DATE = /(\d{1,2})\/(0[1-9]|1[0-2])(?![\p{L}\d/]|,\d)/uy;
const POINTED_DATE = /(\d{1,2})\.(0[1-9]|1[0-2])(?:\.(?= \p{Ll}))?(?![\p{L}\d]|[.,]\d| ?[%€$°])/uy;
const SHORTER_DATE = /(\d{1,2})\/([1-9])(?![\p{L}\d/]|[,.]\d)/uy;
const BEFORE_DATE = tablesOf('fr').set('before a date');
// les 24 et 25/12
const DAYS_BEFORE = /(?:^|\s)(?:les?|des|aux) \d{1,2}(?:, \d{1,2}){0,3} (?:et|ou) (?:le )?$/iu;
const LONGEST_ROW = 28; // units
const SHORT_DAY = /^(?:lun|mar|mer|jeu|ven|sam|dim)$/;
const RATING = /(\d{1,2},\d{1,2})\/(\d{1,3})(?:,(\d))?(?![\p{L}\d/])/uy;
const NAMED_MONEY = / (euros?|dollars?)(?![\p{L}\p{N}])/uy;
const ELIDED = /\d{1,9}(?= [cdjlmnst]['’]\p{L})/uy;
const EURO_BETWEEN = /(\d{1,6}) ?€ ?(\d{2})(?![\p{L}\d]|[.,]\d)/uy;
const BIG = / ?(k|K|M|Md|Mds|Mrd) ?(?:d['’] ?)?([€$£])/uy;
const AND_HALF =
  /(\d{1,3})(?: ?½| 1\/2) ((?:premi(?:ers|ères)|derni(?:ers|ères)|bon(?:ne)?s|petite?s|grande?s|longue?s|longs|autres|pleine?s|prochaine?s) )?(\p{Ll}{2,24})(?![\p{L}\p{N}])/uy;
const NO_NOUN = tablesOf('fr').set('no noun behind a figure');
const SCORE = /(\d{1,3})[-–](\d{1,3})(?![\p{L}\d/-]|[.,]\d| ?[=€%])/uy;
const MOST_GOALS = 30;
const ANNOUNCED = /(?:(?:score|résultat)[\p{L} ]{0,16}: ?|\d[-–]\d{1,2},? )$/iu;
const LONGEST_ANNOUNCED = 32; // units before a score

/** Numbers in English notation, which many programs write, too. */
const english = new Quantities({
  tag: 'fr',
  writing: { ...WRITING, numbers: { decimal: '.', grouping: [','] } },
  speech: SPEECH,
  symbols: SYMBOLS,
});

/** 3.5 GHz is a decimal; Python 3.11 a version. */
function pointed(reading: Reading): Candidate | undefined {
  const { text, at } = reading;
  if (/[.,:/]/.test(text[at - 1] ?? '') || reading.match(POINTED) === undefined) return undefined;
  const found = english.atDigit.recognise(reading);
  if (found?.rule !== 'decimal' || !isNameBefore(reading)) return found;
  const [whole = '', rest = ''] = text.slice(at, found.end).split('.');
  if (whole.includes(',')) return found; // 2,650.35 is no version
  return { end: found.end, spoken: `${cardinal(whole)} point ${cardinal(rest)}`, rule: 'version' };
}

function isNameBefore({ text, at }: Reading): boolean {
  const before = wordBefore(text, text[at - 1] === '-' ? at - 1 : at);
  const isPart = /(?:§|[Aa]rt\.|[Aa]rticle|[Ss]ection|[Pp]oint|[Aa]linéa|[Cc]hapitre|[Cc]hap\.) ?$/.test(
    text.slice(Math.max(0, at - 10), at),
  );
  return isPart || before === 'version' || /\p{Lu}/u.test(before);
}

/** $3.50, -$3.50 */
export function pointedMoney(reading: Reading): Candidate | undefined {
  const { text, at } = reading;
  if (!/^[-−]?[$€£¥]\d/.test(text.slice(at, at + 3)) || isWordAt(text, at - 1)) return undefined;
  const digits = at + text.slice(at, at + 3).search(/\d/);
  return reading.match(POINTED, digits) === undefined ? undefined : english.atMark.recognise(reading);
}

/** Le 14/07. */
function shortDate(reading: Reading): Found | undefined {
  const around = reading.around(reading.at);
  const before = SHORT_DAY.test(around.previousShort) ? around.previousShort : around.previousWord;
  const match =
    reading.match(SHORT_DATE) ??
    reading.match(POINTED_DATE) ??
    (isDayOfMonth(reading, before) ? reading.match(SHORTER_DATE) : undefined);
  const row =
    match !== undefined &&
    DAYS_BEFORE.test(reading.text.slice(Math.max(0, reading.at - LONGEST_ROW), reading.at));
  if (match === undefined || (!row && !BEFORE_DATE.has(before) && !SHORT_DAY.test(before))) return undefined;
  const [written, day = '', month = ''] = match;
  if (Number(day) < 1 || Number(day) > 31) return undefined;
  const end = reading.at + written.length;
  const date = { day: String(Number(day)), month: Number(month), style: 'name' } as const;
  const spoken = SPEECH.date(date, reading.around(end));
  return spoken === undefined ? undefined : { end, spoken, rule: 'date' };
}

/** Du 1/9 au 30/9, le 25/9, lundi 3/6; but le 1/3 des voix is a part. */
function isDayOfMonth({ text, at }: Reading, before: string): boolean {
  if (before.endsWith('di') || before === 'dimanche' || SHORT_DAY.test(before)) return true;
  return !/^\d{1,2}\/\d (?:d['’]|d(?:e|es|u) )/.test(text.slice(at, at + 10));
}

/** 4,5/5, a pressure of 13,5/8,5 */
function rating(reading: Reading): Found | undefined {
  const match = reading.match(RATING);
  if (match === undefined) return undefined;
  const [written, grade = '', best = '', tenths = ''] = match;
  const [whole = '', decimals = ''] = grade.split(',');
  const above = decimal({ ...numeralOf(whole), decimals });
  const spoken = `${above} sur ${decimal({ ...numeralOf(best), decimals: tenths })}`;
  return { end: reading.at + written.length, spoken, rule: 'fraction' };
}

/** 12,50 euros, 3.50 dollars: with two decimals the name of the currency counts hundredths, too. */
function namedMoney(reading: Reading): Found | undefined {
  const format =
    reading.match(POINTED) === undefined ? WRITING.numbers : ({ decimal: '.', grouping: [','] } as const);
  const read = readNumeral(reading.text, reading.at, format);
  if (read?.numeral.decimals.length !== 2) return undefined;
  const name = reading.match(NAMED_MONEY, read.end);
  const currency = WRITING.currencies[name?.[1]?.startsWith('e') ? 'EUR' : 'USD'];
  if (name === undefined || currency === undefined) return undefined;
  const spoken = money({ number: read.numeral }, currency);
  return { end: read.end + name[0].length, spoken, rule: 'currency' };
}

/** 4€50 */
function euroBetween(reading: Reading): Found | undefined {
  const match = reading.match(EURO_BETWEEN);
  const [written = '', whole = '', decimals = ''] = match ?? [];
  const currency = WRITING.currencies['EUR'];
  if (match === undefined || currency === undefined) return undefined;
  return {
    end: reading.at + written.length,
    spoken: money({ number: { ...numeralOf(whole), decimals } }, currency),
    rule: 'currency',
  };
}

/** 3,5 M€, 45 k€, 2 Md€ */
function bigMoney(reading: Reading): Found | undefined {
  const read = readNumeral(reading.text, reading.at, WRITING.numbers);
  const match = read && reading.match(BIG, read.end);
  if (read === undefined || match === undefined) return undefined;
  const [written, size = '', sign = ''] = match;
  const [magnitude, currency] = [
    WRITING.magnitudes[size],
    WRITING.currencies[WRITING.currencySigns[sign] ?? ''],
  ];
  if (magnitude === undefined || currency === undefined) return undefined;
  const spoken = money({ number: read.numeral, magnitude }, currency);
  return { end: read.end + written.length, spoken, rule: 'currency' };
}

/** 2 ½ heures is "deux heures et demie", 3 1/2 premiers mois "trois premiers mois et demi". */
function andHalf(reading: Reading): Found | undefined {
  const match = reading.match(AND_HALF);
  const [written = '', number = '', adjective = '', noun = ''] = match ?? [];
  if (match === undefined || (number === '1' ? NO_NOUN.has(noun) : !noun.endsWith('s'))) return undefined;
  const feminine = isFeminine(noun.toLowerCase());
  const spoken = `${cardinal(number, feminine)} ${adjective}${noun} et ${feminine ? 'demie' : 'demi'}`;
  return { end: reading.at + written.length, spoken, rule: 'fraction' };
}

/** Score final : 2-0; what does not grow is no range: 6-4. */
function announcedScore(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const match = reading.match(SCORE);
  if (match === undefined || /[-–/.,:]/.test(text[at - 1] ?? '')) return undefined;
  const [written, home = '', guest = ''] = match;
  const shrinking = Number(home) >= Number(guest) && Number(home) < MOST_GOALS;
  if (!shrinking && !ANNOUNCED.test(text.slice(Math.max(0, at - LONGEST_ANNOUNCED), at))) return undefined;
  return { end: at + written.length, spoken: SPEECH.score(cardinal(home), cardinal(guest)), rule: 'score' };
}

/** In "les 2 s'aiment" no second is counted. */
function uncounted(reading: Reading): Found | undefined {
  const match = reading.match(ELIDED);
  if (match === undefined) return undefined;
  return { end: reading.at + match[0].length, spoken: cardinal(match[0]), rule: 'cardinal' };
}

/** In the order in which the language asks them. */
export const figureRules = {
  behindDigits: [[/€/, euroBetween]],
  behindDigitsLater: [
    [/[,.kKM\d]/, bigMoney],
    [/[½1]/, andHalf],
    [/[-–]/, announcedScore],
    [/[/.]/, shortDate],
    [/,/, rating],
    [/[\d,.]/, namedMoney],
  ],
  behindDigitsLast: [
    [/[cdjlmnst]/, certain(uncounted)],
    [/[.,]/, pointed],
  ],
} satisfies Rules;
