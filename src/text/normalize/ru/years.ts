// Russian years and decades are ordinals: в 1998 году, 2024 г., 1941–1945 гг., с 1998 по 2004 год.
import { tablesOf } from '../../tables/language-tables.js';
import { certain, Around, type Found, type Reading } from '../reading.js';
import type { Rules } from '../shared-forms.js';
import type { Case } from './declension.js';
import type { DigitRule } from './digit-rules.js';
import { caseBefore, wordAhead } from './grammar.js';
import { ordinal } from './numbers.js';

const FORMS: Readonly<Record<string, readonly [grammatical: Case, plural: boolean]>> = {
  год: ['nominative', false],
  года: ['genitive', false],
  году: ['prepositional', false],
  годом: ['instrumental', false],
  годе: ['prepositional', false],
  годы: ['nominative', true],
  годов: ['genitive', true],
  годам: ['dative', true],
  годами: ['instrumental', true],
  годах: ['prepositional', true],
};
const WRITTEN = `(?= (?:(?:учебн|финансов|отчётн|календарн|бюджетн)\\p{L}{2,3} )?(${Object.keys(FORMS)
  .sort((a, b) => b.length - a.length)
  .join('|')})(?!\\p{L}))`;
const YEAR = new RegExp(
  `(\\d{3,4})(?:-?(?:й|го|му|м|е))?(?:${WRITTEN}| ?(гг\\.?|г\\.?)(?![\\p{L}\\p{N}]))`,
  'uy',
);
const YEARS = new RegExp(
  `(\\d{3,4}) ?[-–—/] ?(\\d{4}|\\d{2})(?:-?(?:й|го|му|м|е))?(?:${WRITTEN}| ?(гг\\.?|г\\.?)(?![\\p{L}\\p{N}]))`,
  'uy',
);
const SEASON_YEARS = /((?:19|20)\d\d)\/(\d\d|20\d\d)(?!\d|[/.]\d)/y;
const BARE_YEARS = /((?:1\d|20)\d\d) ?[-–—] ?((?:1\d|20)\d\d)(?!\d|[.,]\d)(?! ?[\p{L}%₽$€°])/uy;
const ROW =
  /((?:1\d|20)\d\d)(?=(?:, (?:1\d|20)\d\d){0,4}(?:,| и| или| по| до| в|—|–)(?: в)? (?:1\d|20)\d\d(?:-?(?:й|го|му|м))?(?: ?гг?\.| год))/uy;
const NAMES: Readonly<Record<Case, readonly [one: string, many: string]>> = {
  nominative: ['год', 'годы'],
  genitive: ['года', 'годов'],
  dative: ['году', 'годам'],
  accusative: ['год', 'годы'],
  instrumental: ['годом', 'годами'],
  prepositional: ['году', 'годах'],
};
const LAST_YEAR = 2100;
const FIRST_YEAR = 1000;
const LONGEST_ROW = 48; // units before a year
const SEASONS = tablesOf('ru').set('seasons');

const PART_OF_YEAR = /(?:мес|кв|полуг|янв|февр?|апр|авг|сент?|окт|нояб?|дек)\. ?$/u; // 9 мес. 2023 г.

/** The case of a year from the words before it. */
function caseOfYear(around: Around): Case {
  const before = wordAhead(around);
  if (before === 'в' || before === 'во') return 'prepositional';
  if (before === 'по') return 'accusative';
  if (before === '' && PART_OF_YEAR.test(around.text.slice(Math.max(0, around.start - 8), around.start)))
    return 'genitive';
  if (before === 'и' || before === 'или' || before === '') return rowCase(around);
  if (/^(?:квартал|полугоди|семестр|триместр|месяц)/.test(around.previousWord)) return 'genitive';
  const ruled = caseBefore(around);
  if (ruled !== 'nominative') return ruled;
  return around.previousWord !== '' && isNoun(around) ? 'genitive' : 'nominative';
}

/** В 1998 и 2002 годах: a later year has the case of the first. */
function rowCase({ text, start }: Around): Case {
  const from = Math.max(0, start - LONGEST_ROW);
  const row = /(?<=\p{L} )\d{4}(?:, \d{4}){0,4}(?:,| и| или) $/u.exec(text.slice(from, start));
  if (row === null) return 'nominative';
  const first = new Around(text, from + row.index, from + row.index + 4);
  return /^(?:и|или)?$/.test(wordAhead(first)) ? 'nominative' : caseOfYear(first);
}

/** Выборы 2024 г.: not behind a colon or an adverb. */
function isNoun(around: Around): boolean {
  return (
    around.text[around.start - 1] === ' ' &&
    !/^(?:это|уже|ещё|был|есть|и|а|но|или)$/u.test(around.previousWord)
  );
}

function isYear(digits: string): boolean {
  return Number(digits) >= FIRST_YEAR && Number(digits) <= LAST_YEAR;
}

function caseWritten(form: string, around: Around): readonly [Case, boolean] {
  const [grammatical, plural] = FORMS[form] ?? ['nominative', false];
  const before = wordAhead(around);
  if (form === 'году' && (before === 'к' || before === 'ко' || before === 'по')) return ['dative', plural];
  return [grammatical, plural];
}

/** 2024 года, в 1998 г.; small numbers count years (100 год) unless their word shows an order. */
function year(reading: Reading): Found | undefined {
  if (!isFree(reading)) return undefined;
  const match = reading.match(YEAR);
  const [written = '', digits = '', form, short] = match ?? [];
  if (match === undefined) return undefined;
  const end = reading.at + written.length;
  const around = reading.around(end);
  if (form !== undefined) {
    if (!isYear(digits) && !/^(?:году|годе|годом|годы)$/.test(form)) return undefined;
    const [grammatical, plural] = caseWritten(form, around);
    return {
      end,
      spoken: ordinal(digits, grammatical, plural && isAlone(digits, around) ? 'p' : 'm'),
      rule: 'year',
    };
  }
  if (!isYear(digits) ? short === 'г' || wordAhead(around) !== 'в' : isGrams(digits, short ?? '', around))
    return undefined;
  const grammatical = caseOfYear(around);
  const plural = short?.startsWith('гг') === true;
  const name = NAMES[grammatical][plural ? 1 : 0];
  return { end, spoken: `${ordinal(digits, grammatical)} ${name}`, rule: 'year' };
}

const OF_ERA = /(\d{1,4}) ?г\. ?(?=(?:до )?н\. ?э)/uy;

/** 44 г. до н. э., 476 г. н. э.: no weight. */
function yearOfEra(reading: Reading): Found | undefined {
  const match = isFree(reading) ? reading.match(OF_ERA) : undefined;
  const [written = '', digits = ''] = match ?? [];
  if (match === undefined) return undefined;
  const end = reading.at + written.length;
  const grammatical = caseOfYear(reading.around(end));
  return { end, spoken: `${ordinal(digits, grammatical)} ${NAMES[grammatical][0]} `, rule: 'year' };
}

/** 1990 годы are a decade; в 2002 и 2006 годах each is a year. */
function isAlone(digits: string, { text, start }: Around): boolean {
  return digits.endsWith('0') && !/\d(?:,| и| или|-|–) ?$/u.test(text.slice(Math.max(0, start - 6), start));
}

/** В 1613 г., по 1725 г.: weights are rounder. */
function isDated(digits: string, short: string, around: Around): boolean {
  const before = wordAhead(around);
  if (before === 'в' || before === 'к') return true;
  if (/\d{4} по $/.test(around.text.slice(Math.max(0, around.start - 8), around.start))) return true;
  return short.endsWith('.') && Number(digits) % 50 !== 0;
}

/** 1500 г муки. */
function isGrams(digits: string, short: string, around: Around): boolean {
  if (short.startsWith('гг')) return false;
  const late = Number(digits) >= 1800;
  if (!late) return !isDated(digits, short, around);
  return !short.endsWith('.') && /^\p{Ll}{3,}/u.test(around.nextWord) && wordAhead(around) !== 'в';
}

function isFree({ text, at, runEnd }: Reading): boolean {
  return runEnd - at <= 4 && !/[.,:/-]/.test(text[at - 1] ?? '');
}

/** 1941–1945 гг., 2023/24 года. */
function years(reading: Reading): Found | undefined {
  if (!isFree(reading)) return undefined;
  const match = reading.match(YEARS);
  const [written = '', from = '', last = '', form, short] = match ?? [];
  const to = last.length === 2 ? from.slice(0, 2) + last : last;
  if (match === undefined || !isYear(from) || Number(to) <= Number(from)) return undefined;
  const end = reading.at + written.length;
  const around = reading.around(end);
  const [grammatical] = form === undefined ? [caseOfYear(around)] : caseWritten(form, around);
  const name = short === undefined ? '' : ` ${NAMES[grammatical][short.startsWith('гг') ? 1 : 0]}`;
  const ends = [from, to].map((digits) => ordinal(digits, grammatical));
  return { end, spoken: ends.join(' – ') + name, rule: 'range' };
}

/** (1799–1837) */
export function bareYears(reading: Reading): Found | undefined {
  if (!isFree(reading)) return undefined;
  const match = reading.match(BARE_YEARS);
  const [written = '', from = '', to = ''] = match ?? [];
  if (match === undefined || Number(to) <= Number(from) || Number(to) > LAST_YEAR) return undefined;
  const end = reading.at + written.length;
  const grammatical = caseOfYear(reading.around(end));
  const genitive = grammatical === 'genitive' && wordAhead(reading.around(end)) !== 'с';
  const shown = genitive ? 'nominative' : grammatical;
  return { end, spoken: `${ordinal(from, shown)} – ${ordinal(to, shown)}`, rule: 'range' };
}

const DECADES = /(\d0|(?:1\d|20)\d0) ?[-–—] ?(\d0|(?:1\d|20)\d0)-?(е|х|м|ми)(?!\p{L})/uy;
const DECADE_CASES: Readonly<Record<string, Case>> = {
  е: 'nominative',
  х: 'genitive',
  м: 'dative',
  ми: 'instrumental',
};

const DECADE = /(\d0|(?:1\d|20)\d0)-?(е|х|м|ми) ?гг\.?(?!\p{L})/uy;

/** В 1970-е гг., в 80-х гг.: годы, годах or годов. */
function decade(reading: Reading): Found | undefined {
  const match = isFree(reading) ? reading.match(DECADE) : undefined;
  const [written = '', digits = '', mark = ''] = match ?? [];
  if (match === undefined) return undefined;
  const end = reading.at + written.length;
  const shown = DECADE_CASES[mark] ?? 'nominative';
  const place = shown === 'genitive' && /^(?:в|во|о|об|на)$/.test(wordAhead(reading.around(end)));
  const name = NAMES[place ? 'prepositional' : shown][1];
  return { end, spoken: `${ordinal(digits, shown, 'p')} ${name}`, rule: 'decade' };
}

/** 1960–1970-е, в 70–80-х годах. */
function decades(reading: Reading): Found | undefined {
  const match = isFree(reading) ? reading.match(DECADES) : undefined;
  const [written = '', from = '', to = '', mark = ''] = match ?? [];
  if (match === undefined) return undefined;
  const ends = [from, to].map((digits) => ordinal(digits, DECADE_CASES[mark], 'p'));
  return { end: reading.at + written.length, spoken: ends.join(' – '), rule: 'range' };
}

/** Сезон 2023/24, зимой 2020/21. */
function season(reading: Reading): Found | undefined {
  const match = isFree(reading) ? reading.match(SEASON_YEARS) : undefined;
  const [written = '', from = '', last = ''] = match ?? [];
  const to = last.length === 2 ? from.slice(0, 2) + last : last;
  if (match === undefined || Number(to) !== Number(from) + 1) return undefined;
  const ends = [from, to].map((digits) => ordinal(digits, 'genitive'));
  return { end: reading.at + written.length, spoken: `${ends.join(' – ')} годов`, rule: 'range' };
}

/** The first years of "с 1998 по 2004 год". */
function yearInRow(reading: Reading): Found | undefined {
  if (!isFree(reading)) return undefined;
  const match = reading.match(ROW);
  const [written = ''] = match ?? [];
  if (match === undefined) return undefined;
  const end = reading.at + written.length;
  return { end, spoken: ordinal(written, caseOfYear(reading.around(end))), rule: 'year' };
}

const COUNTED =
  /(?:ов|ев|ей|ий|ых|их|ам|ям|ах|ях|ами|ями|аз|ниг|тук|еловек|ет|юдей|тысяч|онн|инут|екунд|рамм|убл\p{L}*|олларов|евро)$/u;
const RECENT: readonly [number, number] = [1900, 2050];

/** A year without its word: летом 2023, в 2020, после 1945; undefined where it may count. */
export function bareYear(digits: string, around: Around): string | undefined {
  const value = Number(digits);
  const before = wordAhead(around);
  const next = around.nextWord.toLowerCase();
  if (SEASONS.has(before) && isYear(digits)) return `${ordinal(digits, 'genitive')} года`;
  if (COUNTED.test(next) || value < RECENT[0] || value > RECENT[1]) return undefined;
  if (before === 'в') return ordinal(digits, 'prepositional');
  const since = before === 'с' || before === 'после';
  return since && !/^\d/.test(next) ? ordinal(digits, 'genitive') : undefined;
}

/** The 90 of "90-е", "1990-х": decades are plural. */
export function isDecade(digits: string, next: string): boolean {
  if (/^(?:год|гг)/.test(next)) return true;
  const round = digits.endsWith('0') && (digits.length === 2 || (digits.length === 4 && isYear(digits)));
  return round && !/(?:о|е|ие)$/.test(next);
}

/** In the order in which the language asks them. */
export const yearRules = {
  behindDigits: [
    [decade, 2, 4, /[ехм-]/, /^-?[ехм]/],
    [certain(decades), 2, 4, /[-–—]/, /^ ?[-–—] ?\d/],
    [certain(years), 3, 4, /[-–—/]/, /^ ?[-–—/] ?\d/],
    [year, 3, 4, /[гуфокбйм-]/, /^(?:-?[йгому]{1,2}|-е)? ?[гуфокб]/],
    [yearOfEra, 1, 4, /г/, /^ ?г\. ?(?:до )?н/],
    [yearInRow, 4, 4, /[,ипдв—–]/, /^(?:,| и| или| по| до| в|—|–) /],
    [season, 4, 4, /\//, /^\//],
  ],
} satisfies Rules<DigitRule>;
