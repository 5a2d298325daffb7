// Assembles French as spoken in France, and orders its own recognisers before the shared ones.
// It also reads hours (14 h 30, 24h/24), months in figures (jusqu'au 03/28) and Roman numerals (Louis XIV).
import { tablesOf } from '../../tables/language-tables.js';
import type { Language } from '../language.js';
import type { Found, Reading } from '../reading.js';
import { romanValue } from '../recognise/words.js';
import { behindDigits, betweenAmounts, byFirstLetter, byMark, expiry } from '../shared-forms.js';
import { figureRules, pointedMoney } from './figures.js';
import { of } from './grammar.js';
import { fileNumber, insuranceNumber, nameRules, offset } from './names.js';
import { cardinal } from './numbers.js';
import { pairRules, trunkZero } from './pairs.js';
import { elided, phraseRules } from './phrases.js';
import { days, signRules } from './signs.js';
import { SPEECH } from './speech.js';
import { SYMBOLS, WRITING } from './writing.js';

const ORDINAL = /([IVXLCDM]{1,9})(ers?|re|ère|nde?|èmes?|eme|es|e|°(?= s))(?![\p{L}\p{N}])/uy;
// Not the initial of a name.
const NUMERAL = /(?:[IVXLC]{2,9}|[IVXLC](?!\. \p{Lu}))(?![\p{L}\p{N}]|\.\p{L})/uy;
const ROMAN = /^M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})$/;

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

const RULERS = tablesOf('fr').set('rulers');
const QUEENS = words('élisabeth elisabeth elizabeth catherine marie margrethe isabelle');
const NUMBERED = tablesOf('fr').set('numbered by Romans');

function isNumeral(letters: string): boolean {
  return ROMAN.test(letters) && (letters.length > 1 || /[IVX]/.test(letters)); // Le, De, Ce, Me are words
}

/** XXe, Ier, IIe, XIXes */
function romanOrdinal(reading: Reading): Found | undefined {
  const match = reading.match(ORDINAL);
  const [written = '', letters = '', mark = ''] = match ?? [];
  if (match === undefined || !isNumeral(letters)) return undefined;
  const end = reading.at + written.length;
  const spoken = SPEECH.ordinal(String(romanValue(letters)), reading.around(end), mark);
  return spoken === undefined ? undefined : { end, spoken, rule: 'roman' };
}

const SURE = /^X{0,2}(?:I{2,3}|IV|VI{1,3}|IX)$|^X{1,2}(?:I|V)$/;

/** Final Fantasy VII: behind a name these letters are nothing but a number. */
function isSequel({ text, at }: Reading, letters: string): boolean {
  return SURE.test(letters) && /\p{Lu}\p{Ll}[\p{L}’'-]{0,20} $/u.test(text.slice(Math.max(0, at - 24), at));
}

/** Louis XIV is "Louis quatorze", François I "François premier". */
function kingOrChapter(reading: Reading): Found | undefined {
  const letters = reading.match(NUMERAL)?.[0] ?? '';
  if (letters === '' || !isNumeral(letters)) return undefined;
  const end = reading.at + letters.length;
  const before = reading.around(end).previousShort.replace(/^(?:l|d)['’]/, '');
  if (letters === 'XV' && /^ d(?:e |['’])\p{Lu}/u.test(reading.text.slice(end, end + 5)))
    return { end, spoken: 'quinze', rule: 'roman' };
  const queen = QUEENS.has(before);
  const ruler = queen || RULERS.has(before);
  if (!ruler && !NUMBERED.has(before) && !isSequel(reading, letters)) return undefined;
  const value = romanValue(letters);
  const first = queen ? 'première' : 'premier';
  return { end, spoken: ruler && value === 1 ? first : cardinal(String(value)), rule: 'roman' };
}

const MONTH = /(au|le|du) (0?[1-9]|1[0-2])\/((?:19|20)\d\d|\d\d)(?![\p{L}\d/-]|[.,]\d)/uy;
/** Behind these words two figures and two are a month and a year. */
const EXPIRING =
  /(?:expir\p{L}*|(?<!\p{L})exp\.?|validité|valable|valide|échéance|carte)[\p{L} :('’.°-]{0,24}$/iu;
const LONGEST_LEAD = 40; // units

function nameOf(reading: Reading, month: string, year: string): string | undefined {
  return SPEECH.date({ month: Number(month), year, style: 'name' }, reading.around(reading.at));
}

/** Jusqu'au 12/2025 is "jusqu'à décembre", expire le 12/26 "en décembre". */
function toMonth(reading: Reading): Found | undefined {
  const match = reading.match(MONTH);
  const [written = '', article, month = '', year = ''] = match ?? [];
  if (match === undefined || (year.length === 4 && month.length === 1)) return undefined;
  if (year.length === 2 && (Number(year) < 13 || !expires(reading))) return undefined;
  const name = nameOf(reading, month, year);
  if (name === undefined) return undefined;
  const spoken = article === 'du' ? of(name) : `${article === 'au' ? 'à' : 'en'} ${name}`;
  return { end: reading.at + written.length, spoken, rule: 'date' };
}

function expires({ text, at }: Reading): boolean {
  return EXPIRING.test(text.slice(Math.max(0, at - LONGEST_LEAD), at));
}

/** Exp. 12/26 */
const cardExpiry = expiry(EXPIRING, ({ month, year }, around) =>
  SPEECH.date({ month, year, style: 'name' }, around),
);

const HOUR = /(\d{1,2}) ?[hH](?: ?([0-5]\d))?(?! ?(?:min|mn|m)\b)(?! ?\d)(?![\p{L}\p{N}])/uy;
const TO = / ?[-–—] ?/y;
const BARE = /(\d{1,2})(?= ?[-–] ?\d{1,2} ?[hH])/y;
const ZONE = / \(?(UTC|GMT|TU|CET|CEST|EST|EDT|PST|PDT|JST)\)?(?![\p{L}\p{N}+-])/uy;
const OUT_OF = /(\d{1,2}) ?(?:([hH])|j(?:ours)?|J) ?(?:\/|sur) ?(\d{1,2})(?![\p{L}\p{N}]| ?nuits?)/uy;

interface HourAt {
  readonly spoken: string;
  readonly end: number;
}

/** One time or two; a bare "3 h" is a measure like any other. */
function hours(reading: Reading): Found | undefined {
  const { at, text } = reading;
  if (/[.,:/]/.test(text[at - 1] ?? '')) return undefined;
  const bare = reading.match(BARE);
  const from =
    hourAt(reading, at) ?? (bare && { spoken: cardinal(bare[1] ?? '', true), end: at + bare[0].length });
  if (from === undefined) return undefined;
  const dash = reading.match(TO, from.end);
  const to = dash && hourAt(reading, from.end + dash[0].length);
  const found = to === undefined ? from : { spoken: `${from.spoken} à ${to.spoken}`, end: to.end };
  if (to === undefined && bare !== undefined) return undefined;
  const zone = reading.match(ZONE, found.end);
  const name = zone && WRITING.times.zones[zone[1] ?? ''];
  if (zone === undefined || name === undefined) return { ...found, rule: 'time' };
  return { end: found.end + zone[0].length, spoken: `${found.spoken} ${name}`, rule: 'time' };
}

function hourAt(reading: Reading, at: number): HourAt | undefined {
  const match = reading.match(HOUR, at);
  if (match === undefined || Number(match[1]) > 24) return undefined;
  const end = at + match[0].length;
  const time = { hours: String(Number(match[1])), minutes: match[2] ?? '' };
  const spoken = SPEECH.time(time, reading.around(end));
  return spoken === undefined ? undefined : { spoken, end };
}

/** Vingt-quatre heures sur vingt-quatre, sept jours sur sept. */
function outOf(reading: Reading): Found | undefined {
  const match = reading.match(OUT_OF);
  if (match === undefined) return undefined;
  const [written, count = '', hour, all = ''] = match;
  const unit = hour === undefined ? 'jours' : 'heures';
  const spoken = `${cardinal(count)} ${unit} sur ${cardinal(all)}`;
  return { end: reading.at + written.length, spoken, rule: 'duration' };
}

/** Recognisers by the text behind the digits. The first that matches reads the token. */
const atDigit = [
  behindDigits([
    [/\//, cardExpiry],
    ...phraseRules.behindDigits,
    [/\d/, insuranceNumber],
    ...signRules.behindDigits,
    ...figureRules.behindDigits,
    ...pairRules.behindDigits,
    [/[hHjJ/s]/, outOf],
    [/[-–—hH]/, hours],
    ...figureRules.behindDigitsLater,
    [[4, 16], fileNumber],
    ...figureRules.behindDigitsLast,
  ]),
];

const atLetter = [
  byFirstLetter([
    ...phraseRules.atLetter,
    [/[ald]/, toMonth, /\d/],
    [/[dDqQ]/, elided, /1/],
    [/[lmjvsd]/i, days, /[-–.aà]/i],
    [/[IVXLCDM]/, romanOrdinal],
    [/[IVXLC]/, kingOrChapter],
    ...nameRules.atLetter,
  ]),
];

const atMark = [
  byMark([
    ...phraseRules.atMark,
    ...signRules.atMark,
    [/\//, betweenAmounts],
    [/\+/, trunkZero],
    [/[-−+]/, offset],
    [/[-−$€£¥]/, pointedMoney],
  ]),
];

export const FRENCH: Language = {
  tag: 'fr',
  writing: WRITING,
  speech: SPEECH,
  symbols: SYMBOLS,
  own: { atDigit, atLetter, atMark },
};
