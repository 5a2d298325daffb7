// Assembles Italian as spoken in Italy, and orders its own recognisers before the shared ones.
// It also reads Roman numerals: XX secolo, capitolo IV. Kings and chapters take ordinals.
import { tablesOf } from '../../tables/language-tables.js';
import type { Language } from '../language.js';
import { certain, type Found, type Reading } from '../reading.js';
import { romanValue } from '../recognise/words.js';
import { behindDigits, betweenAmounts, byFirstLetter, byMark } from '../shared-forms.js';
import { clockRules } from './clock.js';
import { andAHalf, countRules, roundMillions } from './counts.js';
import { dateRules, shortDate, shortWeekday, shortYear } from './dates.js';
import { figureRules, pointed, pointedMoney } from './figures.js';
import { words } from './grammar.js';
import { beforePostcode, nameRules, province, taxCode } from './names.js';
import { cardinal, type Gender, ordinal } from './numbers.js';
import { phraseRules } from './phrases.js';
import { area, by, signRules } from './signs.js';
import { SPEECH } from './speech.js';
import { SYMBOLS, WRITING } from './writing.js';

const NUMERAL = /([IVXLCDM]{1,9})(?:[°ºª]|-?esim[oa])?(?![\p{L}\p{N}]|\.\p{L})/uy;
const ROMAN = /^M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})$/;
const FIRST_CENTURY = /secoli [IVXLC]{1,7} ?[-–] ?$/iu; // secoli XV-XVI
const AND_NEXT = /^ ?(?:e|ed|o|-|–|\/|,) ?(?:il |l['’])?[IVXLC]{1,7} (\p{L}{3,})/u;

const MONTHS = new Set(tablesOf('it').dates.months.map(([name = '']) => name));
const RULERS = tablesOf('it').set('rulers');
const QUEENS = words('elisabetta caterina margherita maria isabella cristina giovanna cleopatra anna');
const CHAPTERS = tablesOf('it').genders('gender before a Roman numeral', ['m', 'f']);
const NUMBERED = tablesOf('it').set('numbered by Romans');
const COUNTED = tablesOf('it').genders('gender behind a Roman numeral', ['m', 'f']);

function own(noun: string): Gender | undefined {
  return COUNTED.get(noun);
}

/**
 * Reads a Roman numeral by the word after it, which takes precedence: XX secolo, XX Settembre, XIX e XX
 * secolo.
 */
function before(reading: Reading, end: number, value: string): string | undefined {
  const around = reading.around(end);
  const next = around.nextWord.toLowerCase();
  if (MONTHS.has(next)) return Number(value) > 31 ? undefined : value === '1' ? 'primo' : cardinal(value);
  const shared = AND_NEXT.exec(reading.text.slice(end, end + LOOK_AHEAD))?.[1]?.toLowerCase() ?? '';
  const gender = own(next) ?? own(shared);
  return gender === undefined ? undefined : ordinal(value, gender);
}

const LOOK_AHEAD = 40; // units

/** Reads a Roman numeral by the word before it: Luigi XIV, Elisabetta II, capitolo IV, tipo II. */
function behind(reading: Reading, value: string): string | undefined {
  const around = reading.around(reading.at);
  const word = FIRST_CENTURY.test(around.text.slice(Math.max(0, around.start - 24), around.start))
    ? 'secoli'
    : around.previousShort;
  if (QUEENS.has(word)) return ordinal(value, 'f');
  if (RULERS.has(word)) return ordinal(value);
  const gender = CHAPTERS.get(word);
  if (gender !== undefined) return ordinal(value, gender);
  return NUMBERED.has(word) ? cardinal(value) : undefined;
}

function roman(reading: Reading): Found | undefined {
  const match = reading.match(NUMERAL);
  const [written = '', letters = ''] = match ?? [];
  if (match === undefined || !ROMAN.test(letters) || /^[CDLM]$/.test(letters)) return undefined;
  const end = reading.at + written.length;
  const value = String(romanValue(letters));
  const marked = written.length > letters.length;
  const spoken =
    before(reading, end, value) ??
    behind(reading, value) ??
    (marked ? ordinal(value, /[ªa]$/.test(written) ? 'f' : 'm') : undefined);
  return spoken === undefined ? undefined : { end, spoken, rule: 'roman' };
}

/** Recognisers by the text behind the digits. The first that matches reads the token. */
const atDigit = [
  behindDigits([
    ...phraseRules.behindDigits,
    ...signRules.behindDigits,
    ...dateRules.behindDigits,
    ...countRules.behindDigits,
    ...signRules.behindDigitsLater,
    [/[-–]/, certain(beforePostcode)],
    ...clockRules.behindDigits,
    ...figureRules.behindDigits,
    ...countRules.behindDigitsLater,
    ...signRules.behindDigitsLast,
    [/[/.]/, certain(shortDate)],
    [/[,xX×]/, area],
    [/[\d.]/, roundMillions],
    ...nameRules.behindDigits,
    [/[.,]/, pointed],
  ]),
];

const atLetter = [
  byFirstLetter([
    ...phraseRules.atLetter,
    ...nameRules.atLetter,
    ...phraseRules.atLetterLater,
    [/[A-Z]/, taxCode, /\d/],
    [/[lmgvsd]/i, shortWeekday],
    ...clockRules.atLetter,
    [/[IVXLCDM]/, roman],
    [/x/i, by, /\d/],
    ...nameRules.atLetterLater,
  ]),
];

const atMark = [
  byMark([
    ...signRules.atMark,
    [/\//, betweenAmounts],
    [/['’]/, shortYear],
    [/½/, andAHalf],
    [/[-−$€£¥]/, pointedMoney],
    [/\(/, province],
  ]),
];

export const ITALIAN: Language = {
  tag: 'it',
  writing: WRITING,
  speech: SPEECH,
  symbols: SYMBOLS,
  own: { atDigit, atLetter, atMark },
};
