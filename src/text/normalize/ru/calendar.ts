// Reads Russian days, months, quarters and years: 15 января 2024 г., карта до 12/26, II кв. 2025 г.
import { tablesOf } from '../../tables/language-tables.js';
import { CharacterSet } from '../../character-set.js';
import type { WrittenDate } from '../quantity.js';
import { Beginnings } from '../literals.js';
import { withoutZeros } from '../numerals.js';
import { type Around, type Found, type Reading, skipSpaces, wordBefore } from '../reading.js';
import type { Rules } from '../shared-forms.js';
import { type Case, inCase, inPlural, noun } from './declension.js';
import type { DigitRule } from './digit-rules.js';
import { caseBefore, wordAhead, words } from './grammar.js';
import { ordinal } from './numbers.js';

/** In the genitive, as behind a day. */
const MONTHS = 'января февраля марта апреля мая июня июля августа сентября октября ноября декабря'.split(' ');
const SHORT = ['янв', 'фев', 'мар', 'апр', 'май', 'июн', 'июл', 'авг', 'сен', 'окт', 'ноя', 'дек'];

const LONGER: Readonly<Record<number, readonly string[]>> = { 1: ['февр'], 8: ['сент'], 10: ['нояб'] };

export const MONTH_FORMS: readonly (readonly string[])[] = MONTHS.map((genitive, index) => {
  const stem = genitive.slice(0, -1);
  const named = genitive.endsWith('я') ? (index === 4 ? 'май' : `${stem}ь`) : stem;
  const [vowel, ending] = genitive.endsWith('я')
    ? ['ю', index === 4 ? 'ем' : index === 0 || index > 7 ? 'ём' : 'ем']
    : ['у', 'ом'];
  const spoken = [named, genitive, stem + vowel, stem + ending, `${stem}е`];
  const short = SHORT[index] ?? '';
  const cut = short === named ? [] : [`${short}.`, short];
  return [...spoken, ...cut, ...(LONGER[index] ?? []).flatMap((long) => [`${long}.`, long])];
});

const MONTH_BY_NAME = new Map(
  MONTH_FORMS.flatMap((names, index) => names.map((name) => [name, index] as const)),
);
const BEGINNINGS = Beginnings.ofAnyCase(MONTH_BY_NAME.keys());
const HYPHEN = new CharacterSet('-–—');
const LONGEST_MONTH = 8; // letters: сентября
const NAME = `(${[...MONTH_BY_NAME.keys()]
  .sort((a, b) => b.length - a.length)
  .map((name) => name.replace('.', '\\.'))
  .join('|')})(?!\\p{L})`;
const YEAR_WORD = '(?: ?г\\.| ?г(?![\\p{L}\\p{N}])| года(?!\\p{L}))';
const YEAR_TAIL = `(?:,? ((?:1\\d|20)\\d{2})(?![\\d:]|[.,]\\d)(?:-?го)?${YEAR_WORD}?)?`;
const MARK = '(?:-?(?:ого|го|ое|ому|му|е))?';

const NAMED = new RegExp(`(\\d{1,2})${MARK}(?: ?([-–—/]) ?(\\d{1,2})${MARK})? ${NAME}${YEAR_TAIL}`, 'iuy');
const FIGURES = new RegExp(
  `(\\d{1,2})[./](\\d{1,2})[./](\\d{4}|\\d{2})(?![\\d]|[./-]\\d)${YEAR_WORD}?(?!\\p{L})`,
  'uy',
);
const ROW = new RegExp(
  `(\\d{1,2})${MARK}(?=(?:, \\d{1,2}){0,4}(?:,| и| или| по| до| на)(?: с)? \\d{1,2}${MARK} ${NAME})`,
  'iuy',
);
const SHORT_FIGURES =
  /(\d{1,2})\.(0[1-9]|1[0-2])(?![\d\p{L}]|[.,:/-]\d| ?(?:%|°|₽|руб|тыс|млн|кг|км|[мгл](?!\p{L})))\.?/uy;
const MONTH_YEAR = new RegExp(`${NAME} ((?:1\\d|20)\\d{2})(?![\\d:]|[.,]\\d)${YEAR_WORD}?`, 'iuy');
const BEFORE_SHORT = tablesOf('ru').set('before a short date');

/** Доставят 15.03 утром. */
const HAPPENS = tablesOf('ru').set('before a date');

const LONGEST_WISH = 60; // units before the day of a feast
const LONGEST_DAY = 24; // units of the name of a day and what stands around it
const DATED = words('сегодня это наступило наступает наступит дата');

/** The case of a day: alone it is when something happens, the genitive. */
function caseOfDay(around: Around): Case {
  const near = around.text.slice(Math.max(0, around.start - LONGEST_DAY), around.start);
  const before = OF_WEEKDAY.exec(near)?.[1]?.toLowerCase() ?? wordAhead(around);
  if (/^(?:на|за|по|в|во|через|сквозь)$/.test(before)) return 'accusative';
  if (/^(?:с|со)$/.test(before) && isFeast(around)) return 'instrumental';
  if (/^(?:к|ко)$/.test(before)) return 'dative';
  if (/^(?:перед|между|под|над)$/.test(before)) return 'instrumental';
  if (/^(?:о|об)$/.test(before)) return 'prepositional';
  if (before === 'и' && isFeast(around)) return 'instrumental';
  if (/^(?:и|или|а)$/.test(before))
    return caseBefore(around) === 'instrumental' ? 'instrumental' : 'genitive';
  return DAY_NAMED.test(near) || DATED.has(around.previousShort) || isSubject(around)
    ? 'nominative'
    : 'genitive';
}

/** На субботу, 8 ноября: the date has the case of the day; в субботу, 8 ноября has not. */
const OF_WEEKDAY =
  /(?<!\p{L})(на|по|ко?) (?:понедельнику?|вторнику?|сред[уе]|четвергу?|пятниц[уе]|суббот[уе]|воскресень[ею]|(?:пн|вт|ср|чт|пт|сб|вс)\.?),? $/iu;

/** Понедельник, 3 июня: where it begins the sentence the day is named, too. */
const DAY_NAMED = /(?:^|[.!?\n«(] ?)(?:понедельник|вторник|среда|четверг|пятница|суббота|воскресенье), $/iu;

/** Поздравляем с 8 Марта! */
function isFeast({ text, start, end }: Around): boolean {
  const lead = text.slice(Math.max(0, start - LONGEST_WISH), start);
  if (/поздрав\p{L}+(?:[^.!?\d]{0,40}| с [^.!?]{1,40} и )$/iu.test(lead)) return true;
  return /^["«(\s]*со? $/iu.test(lead) && /^[^.,?\d]{0,24}!/u.test(text.slice(end, end + 26));
}

/** 1 января — праздник. */
function isSubject({ text, start, end }: Around): boolean {
  return (
    /^ [—–] (?!\d)/u.test(text.slice(end, end + 4)) &&
    (start === 0 || /[.!?»] ?$/.test(text.slice(Math.max(0, start - 2), start)))
  );
}

function isDay(day: string): boolean {
  return Number(day) >= 1 && Number(day) <= 31;
}

/** 15 января 2024 года, 1–5 мая: with the year's own word, whether it was written or not. */
function namedDay(reading: Reading): Found | undefined {
  const { text, runEnd } = reading;
  if (text[runEnd] === ' ' && !BEGINNINGS.at(text, runEnd + 1) && !HYPHEN.at(text, runEnd + 1))
    return undefined;
  const match = reading.match(NAMED);
  const [written = '', day = '', mark, last, name = '', year] = match ?? [];
  if (match === undefined || !isDay(day) || (last !== undefined && !isDay(last))) return undefined;
  const isNumbered = last !== undefined && /№ ?$/.test(text.slice(Math.max(0, reading.at - 2), reading.at));
  if (isNumbered) return undefined; // № 4 — 27 ноября
  const end = reading.at + written.length;
  const month = MONTH_BY_NAME.get(name.toLowerCase());
  if (month === undefined) return undefined;
  const around = reading.around(end);
  const tail = `${MONTHS[month] ?? ''}${year === undefined ? '' : ` ${yearOf(year)}`}`;
  const until = last === undefined && wordAhead(around) === '' ? namedUntil(reading, end) : undefined;
  if (until !== undefined)
    return { ...until, spoken: `с ${ordinal(day, 'genitive', 'n')} ${tail} по ${until.spoken}` };
  if (mark === '/' && Number(day) >= Number(last)) return undefined;
  const said = mark === '/' && last !== undefined ? eachDay([day, last], around) : days(day, last, around);
  return { end, spoken: `${said} ${tail}`, rule: 'date' };
}

const DASH = / ?[-–—] ?/y;

interface Day {
  readonly end: number;
  readonly say: (grammatical: Case) => string;
}

/** 17 окт., 17.10, 17.10.2026 */
function dayAt(reading: Reading, at: number): Day | undefined {
  const named = reading.match(NAMED, at);
  const figures = named === undefined ? reading.match(DAY_IN_FIGURES, at) : undefined;
  const [written = '', day = ''] = named ?? figures ?? [];
  const month =
    named === undefined ? Number(figures?.[2]) - 1 : MONTH_BY_NAME.get(named[4]?.toLowerCase() ?? '');
  const name = MONTHS[month ?? -1];
  if (!isDay(day) || name === undefined || named?.[3] !== undefined) return undefined;
  const year = named?.[5] ?? figures?.[3];
  const tail = year === undefined ? '' : ` ${yearOf(year.length === 2 ? `20${year}` : year)}`;
  return {
    end: at + written.length,
    say: (grammatical) => `${ordinal(withoutZeros(day), grammatical, 'n')} ${name}${tail}`,
  };
}

const DAY_IN_FIGURES = /(\d{1,2})\.(0[1-9]|1[0-2])(?:\.(20\d\d|\d\d))?(?!\d|[.,:]\d|\p{L})/uy;

/** 27.12–05.01, 01.06.26–14.06.26 */
function figuresUntil(reading: Reading): Found | undefined {
  if (/[.,:/-]/.test(reading.text[reading.at - 1] ?? '')) return undefined;
  const from = reading.match(DAY_IN_FIGURES) && dayAt(reading, reading.at);
  const dash = from && reading.match(DASH, from.end);
  const at = from === undefined || dash === undefined ? 0 : from.end + dash[0].length;
  const to = dash && reading.match(DAY_IN_FIGURES, at) && dayAt(reading, at);
  if (
    from === undefined ||
    to === undefined ||
    !/0|[3-9]|\.\d+\./.test(reading.text.slice(reading.at, to.end))
  )
    return undefined;
  const around = reading.around(to.end);
  const before = wordAhead(around);
  if (/^(?:на|в|во|до|к)$/.test(before)) {
    const grammatical = caseOfDay(around);
    return { end: to.end, spoken: `${from.say(grammatical)} – ${to.say(grammatical)}`, rule: 'date' };
  }
  const lead = /^со?$/.test(before) ? '' : 'с ';
  return { end: to.end, spoken: `${lead}${from.say('genitive')} по ${to.say('accusative')}`, rule: 'date' };
}

/** The second day of 28 июня – 3 июля. */
function namedUntil(reading: Reading, from: number): Found | undefined {
  const dash = reading.match(DASH, from);
  const day = dash && dayAt(reading, from + dash[0].length);
  return day && { end: day.end, spoken: day.say('accusative'), rule: 'date' };
}

function days(day: string, last: string | undefined, around: Around): string {
  const marked = /^\d{1,2}-?[ое]?е(?!\p{L})/u.test(around.text.slice(around.start, around.end)); // 9-е мая
  const grammatical = marked ? 'nominative' : caseOfDay(around);
  if (last === undefined) return ordinal(day, grammatical, 'n');
  if (grammatical !== 'genitive' || wordAhead(around) !== '') {
    const ruled = around.previousWord !== '' && /^(?:на|за|в|к|до|от|с|после)$/.test(wordAhead(around));
    if (ruled) return `${ordinal(day, grammatical, 'n')} – ${ordinal(last, grammatical, 'n')}`;
  }
  return `с ${ordinal(day, 'genitive', 'n')} по ${ordinal(last, 'accusative', 'n')}`;
}

/** 5/6 мая */
function eachDay(all: readonly string[], around: Around): string {
  return all.map((day) => ordinal(day, caseOfDay(around), 'n')).join(' и ');
}

function yearOf(year: string): string {
  return `${ordinal(year, 'genitive')} года`;
}

/** 15.01.2024, 15/01/24 г. */
function dayInFigures(reading: Reading): Found | undefined {
  if (!/[./]/.test(reading.text[reading.runEnd] ?? '') || /[.,:/-]/.test(reading.text[reading.at - 1] ?? ''))
    return undefined;
  const match = reading.match(FIGURES);
  const [written = '', day = '', month = '', year = ''] = match ?? [];
  const name = MONTHS[Number(month) - 1];
  if (match === undefined || !isDay(day) || name === undefined) return undefined;
  const full = year.length === 4 ? year : `${Number(year) < 70 ? '20' : '19'}${year}`;
  const end = reading.at + written.length;
  const grammatical = caseOfDay(reading.around(end));
  return { end, spoken: `${ordinal(day, grammatical, 'n')} ${name} ${yearOf(full)}`, rule: 'date' };
}

/** До 15.01: only behind a word that dates have. */
function shortDay(reading: Reading): Found | undefined {
  if (reading.text[reading.runEnd] !== '.' || /[.,:/-]/.test(reading.text[reading.at - 1] ?? ''))
    return undefined;
  const match = reading.match(SHORT_FIGURES);
  const [written = '', day = '', month = ''] = match ?? [];
  const around = reading.around(reading.at);
  if (match === undefined || !isDay(day)) return undefined;
  const behind = reading.text.slice(reading.at + written.length, reading.at + written.length + 9);
  const timed =
    /^ (?:в|с) \d{1,2}[:.]\d\d/u.test(behind) ||
    (HAPPENS.has(around.previousWord) &&
      /^(?:$|[,;!?\n]| (?:в|с|до|после|утром|дн[её]м|вечером)(?:\s|$))/u.test(behind));
  // A decimal has a comma.
  const isPadded = /^\d\d\.\d\d/.test(written) && /^(?:[а-яё]{2,})?$/u.test(around.previousWord);
  const follows = /\d\.(?:0[1-9]|1[0-2])(?:,| и) $/.test(
    reading.text.slice(Math.max(0, reading.at - 8), reading.at),
  );
  const known = follows || day.startsWith('0') || BEFORE_SHORT.has(around.previousWord) || isPadded;
  if (!timed && !known) return undefined;
  const stop = written.endsWith('.') ? 1 : 0;
  const end = reading.at + written.length - stop;
  const spoken = `${ordinal(day, caseOfDay(around), 'n')} ${MONTHS[Number(month) - 1] ?? ''}`;
  return { end, spoken, rule: 'date' };
}

/** The first days of "1, 2 и 3 мая", "с 1 по 5 мая". */
function dayInRow(reading: Reading): Found | undefined {
  const match = reading.match(ROW);
  const [written = '', day = ''] = match ?? [];
  if (match === undefined || !isDay(day)) return undefined;
  const end = reading.at + written.length;
  return { end, spoken: ordinal(day, caseOfDay(reading.around(end)), 'n'), rule: 'date' };
}

/** Январь 2024, в мае 2024 г. */
function monthOfYear(reading: Reading): Found | undefined {
  const { text, at, runEnd } = reading;
  if (!BEGINNINGS.at(text, at) || runEnd - at > LONGEST_MONTH) return undefined;
  if (!/^\.? \d/.test(text.slice(runEnd, runEnd + 3))) return undefined;
  const match = reading.match(MONTH_YEAR);
  const [written = '', name = '', year = ''] = match ?? [];
  const month = MONTH_BY_NAME.get(name.toLowerCase());
  if (match === undefined || month === undefined) return undefined;
  const full = MONTH_FORMS[month]?.slice(0, 5).includes(name.toLowerCase());
  return {
    end: reading.at + written.length,
    spoken: `${full ? name : (MONTH_FORMS[month]?.[0] ?? '')} ${yearOf(year)}`,
    rule: 'date',
  };
}

/** The date as a shared recogniser found it. */
export function sayDate({ day, month = 1, year: written }: WrittenDate, around: Around): string {
  const year = written?.length === 2 ? `20${written}` : written;
  if (day === undefined) {
    const name = MONTH_FORMS[month - 1]?.[FORM[caseOfMonth(around)]] ?? '';
    return year === undefined ? name : `${name} ${yearOf(year)}`;
  }
  const date = `${ordinal(withoutZeros(day), caseOfDay(around), 'n')} ${MONTHS[month - 1] ?? ''}`;
  return year === undefined ? date : `${date} ${yearOf(year)}`;
}

const WEEKDAYS: readonly (readonly [
  shorts: string,
  nominative: string,
  genitive: string,
  accusative: string,
  each: string,
])[] = [
  ['пн', 'понедельник', 'понедельника', 'понедельник', 'понедельникам'],
  ['вт', 'вторник', 'вторника', 'вторник', 'вторникам'],
  ['ср', 'среда', 'среды', 'среду', 'средам'],
  ['чт', 'четверг', 'четверга', 'четверг', 'четвергам'],
  ['пт', 'пятница', 'пятницы', 'пятницу', 'пятницам'],
  ['сб', 'суббота', 'субботы', 'субботу', 'субботам'],
  ['вс', 'воскресенье', 'воскресенья', 'воскресенье', 'воскресеньям'],
];
const WEEKDAY = /(пн|вт|ср|чт|пт|сб|вс)(?!\p{L})\.?(?: ?([-–—/]) ?(пн|вт|ср|чт|пт|сб|вс)(?!\p{L})\.?)?/iuy;
const SURE = /^(?:[.,:]? ?\d|[,:;)]|$| (?:и|или|до|по|с|—|–) |\.?,)/u;
const SHORT_DAY = '(?:пн|вт|ср|чт|пт|сб|вс)';
const ROW_BEHIND = new RegExp(`^(?:, | и | или )${SHORT_DAY}(?!\\p{L})`, 'iu');
const ROW_BEFORE = new RegExp(
  `(?:(?<!\\p{L})(со?|по|во?|на|до) )?(?:(?<!\\p{L})${SHORT_DAY}\\.?(?:, | и | или )){0,6}$`,
  'iu',
);
const SINCE = new RegExp(`(?<!\\p{L})со? ${SHORT_DAY}\\.? по $`, 'iu');
const LONGEST_DAYS = 64; // units of a row of days
/** Принимает пн и ср; the days behind are days of the same verb. */
const ON_DAYS = new RegExp(
  `(?<!\\p{L})\\p{L}{3,16}(?:ет|ют|ит|ят|ем|им) (?:${SHORT_DAY}(?!\\p{L})[^.!?\\n]*)?$`,
  'iu',
);
const WEEKDAY_TO = /,? ?[-–—] ?(пн|вт|ср|чт|пт|сб|вс)\.?(?!\p{L}),? /iuy;

/** Пт, 17 окт. – вс, 19 окт. */
function weekdayAndDate(reading: Reading, from: number, first: string): Found | undefined {
  const gap = /^\.?,? /.exec(reading.text.slice(from, from + 3))?.[0];
  if (gap === undefined) return undefined;
  const start = dayAt(reading, from + gap.length);
  const mark = start && reading.match(WEEKDAY_TO, start.end);
  const last = WEEKDAYS.find(([short]) => short === mark?.[1]?.toLowerCase());
  if (start === undefined || mark === undefined || last === undefined) return undefined;
  const to = dayAt(reading, start.end + mark[0].length);
  if (to === undefined) return undefined;
  const lead = /^со?$/.test(wordBefore(reading.text, reading.at).toLowerCase()) ? '' : 'с ';
  const spoken = `${lead}${first}, ${start.say('genitive')}, по ${last[3]}, ${to.say('accusative')}`;
  return { end: to.end, spoken, rule: 'date' };
}

/** Пн–Пт: с понедельника по пятницу; в пт: в пятницу. "Ср." and "вт" alone may be other words. */
function weekday(reading: Reading): Found | undefined {
  const match = reading.runEnd - reading.at === 2 ? reading.match(WEEKDAY) : undefined;
  const [written = '', first = '', sign, last] = match ?? [];
  const from = WEEKDAYS.find(([short]) => short === first.toLowerCase());
  if (match === undefined || from === undefined) return undefined;
  const { text, at } = reading;
  let end = at + written.length;
  const to = WEEKDAYS.find(([short]) => short === last?.toLowerCase());
  if (to !== undefined && sign !== '/') return { end, spoken: `с ${from[2]} по ${to[3]}`, rule: 'date' };
  const dated = weekdayAndDate(reading, at + first.length, from[2]);
  if (dated !== undefined) return dated;
  const lead = text.slice(Math.max(0, at - LONGEST_DAYS), at);
  const row = ROW_BEFORE.exec(lead);
  const before = row?.[1]?.toLowerCase() ?? wordBefore(text, at).toLowerCase();
  const verbal = row?.[1] === undefined && ON_DAYS.test(lead);
  const ruled =
    verbal ||
    to !== undefined ||
    /^(?:в|во|на|с|со|до|по|и)$/.test(before) ||
    row?.[0] !== '' ||
    ROW_BEHIND.test(text.slice(end, end + 8));
  if (!ruled && !SURE.test(text.slice(end, end + 4))) return undefined;
  if (!ruled && /[\p{L}\p{N}]/u.test(before) && !/[,;(]/.test(text[at - 2] ?? '')) return undefined;
  const isBracketed = text[at - 1] === '(' && text[end] === ')';
  if (!ruled && !isBracketed && /^(?:ср|вт)$/i.test(first) && !/\d/.test(text.slice(end, end + 3)))
    return undefined;
  if (
    /^(?:ср|вт)$/i.test(first) &&
    /^ (?!(?:с|в|и|до|по|к|на|утром|вечером|днём) )\p{Ll}/u.test(text.slice(end, end + 10))
  )
    return undefined;
  if (written.endsWith('.') && /^(?:\s*$)/.test(text.slice(end, end + 4))) end--;
  const each = before === 'по' && !SINCE.test(lead) && dayAt(reading, skipSpaces(text, end)) === undefined;
  const form = each
    ? 4
    : /^(?:с|со|до)$/.test(before)
      ? 2
      : verbal || /^(?:в|во|на|по)$/.test(before)
        ? 3
        : 1;
  const other = to === undefined ? '' : ` и ${to[form]}`; // вт/чт
  const on = verbal && row?.[0] === '' ? (from[0] === 'вт' ? 'во ' : 'в ') : '';
  return { end, spoken: on + from[form] + other, rule: 'date' };
}

const MONTH =
  /(0[1-9]|1[0-2])[./]((?:19|20)\d\d)(?![\d\p{L}]|[.,:/-]\d)(?: ?г\.| ?г(?!\p{L})| года(?!\p{L}))?/uy;
const EXPIRY = /(0?[1-9]|1[0-2])\/(\d\d)(?![\p{L}\d/]|[.,]\d)(?: ?г\.| ?г(?!\p{L})| года(?!\p{L}))?/uy;
/** Behind these words two figures and two are a month and a year. */
const EXPIRING =
  /(?:действ|срок|годн|годен|истека|истеч|исте[кч]|карт|(?<!\p{L})exp)[\p{L} :(*\d.,]{0,28}$/iu;
const LONGEST_LEAD = 48; // units
const NO_MONTH = 12; // 12/06 may be a day
const FORM: Readonly<Record<Case, number>> = {
  nominative: 0,
  genitive: 1,
  dative: 2,
  accusative: 0,
  instrumental: 3,
  prepositional: 4,
};

function caseOfMonth(around: Around): Case {
  const before = wordAhead(around);
  if (/^(?:до|с|со|от|из|после|около|конца|начала)$/.test(before)) return 'genitive';
  if (/^(?:к|ко)$/.test(before)) return 'dative';
  return /^(?:в|во|о|об)$/.test(before) ? 'prepositional' : 'nominative';
}

/** До 12/26 "до декабря две тысячи двадцать шестого года". */
export function monthInFigures(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (/[.,:/-]/.test(text[at - 1] ?? '')) return undefined;
  const full = reading.match(MONTH);
  const match = full ?? reading.match(EXPIRY);
  const [written = '', month = '', year = ''] = match ?? [];
  if (match === undefined) return undefined;
  const lead = text.slice(Math.max(0, at - LONGEST_LEAD), at);
  if (full === undefined && (Number(year) <= NO_MONTH || !EXPIRING.test(lead))) return undefined;
  const expires = /(?:истека|истеч|закончи|заканчива)\p{L}{1,4} $/iu.test(lead);
  const grammatical = expires ? 'prepositional' : caseOfMonth(reading.around(at));
  const name = MONTH_FORMS[Number(month) - 1]?.[FORM[grammatical]] ?? '';
  const stop =
    written.endsWith('.') && /^\s*$/.test(text.slice(at + written.length, at + written.length + 4));
  return {
    end: at + written.length - (stop ? 1 : 0),
    spoken: `${expires ? 'в ' : ''}${name} ${ordinal(year.length === 2 ? `20${year}` : year, 'genitive')} года`,
    rule: 'date',
  };
}

const QUARTER = noun('m квартал квартала кварталов');
const HALF = noun('n полугодие полугодия полугодий');
const SHORT_NAME = / ?(кв|полуг)\.(?! ?(?:м|км|см)(?!\p{L}))/uy;
const LONGEST_SHORT = 6; // units of a short form before

/** В III квартале, за III квартал, итоги III квартала. */
function caseOf(reading: Reading, end: number): Case {
  const around = reading.around(end);
  const before = wordAhead(around);
  if (/^(?:в|во|о|об)$/.test(before)) return 'prepositional';
  if (/^(?:к|ко)$/.test(before)) return 'dative';
  if (/^(?:по|на|за)$/.test(before)) return 'accusative';
  const short = /\.,? $/.test(around.text.slice(Math.max(0, around.start - LONGEST_SHORT), around.start));
  return before === '' || before === 'и' || short ? 'nominative' : 'genitive';
}

/** The name behind the numbers, with them. */
export function partOfYear(reading: Reading, end: number, values: readonly number[]): Found | undefined {
  const match = reading.match(SHORT_NAME, end);
  const known = match?.[1] === 'полуг' ? HALF : QUARTER;
  if (match === undefined || values.some((value) => value < 1 || value > (known === HALF ? 2 : 4)))
    return undefined;
  const grammatical = caseOf(reading, end);
  const agreement = known === HALF ? 'n' : 'm';
  const said = values.map((value) => ordinal(String(value), grammatical, agreement)).join(' – ');
  const name = values.length > 1 ? pluralIn(known, grammatical) : inCase(known.forms, grammatical);
  return { end: end + match[0].length, spoken: `${said} ${name}`, rule: 'date' };
}

function pluralIn(known: typeof QUARTER, grammatical: Case): string {
  const plain = grammatical === 'nominative' || grammatical === 'accusative';
  return plain ? (known === HALF ? 'полугодия' : 'кварталы') : inPlural(known, grammatical);
}

const FIGURE =
  /([1-4])(?:(?:-?(?:й|го|му|м|е))(?= ?(?:кв|полуг)\.)|(?= ?(?:кв|полуг)\. ?(?:20\d\d|(?:этого|прошл|тек|текущ|следующ)\p{L}*\.? ?г)))/uy;

/** 3 кв. 2023 г.: a flat has no year. */
export function quarter(reading: Reading): Found | undefined {
  const match = reading.match(FIGURE);
  if (match === undefined) return undefined;
  return partOfYear(reading, reading.at + match[0].length, [Number(match[1])]);
}

/** In the order in which the language asks them. */
export const calendarRules = {
  behindDigits: [
    [figuresUntil, 1, 2, /\./, /^\.[01]/],
    [dayInFigures, 1, 2, /[./]/, /^[./]\d/],
    [
      namedDay,
      1,
      2,
      /[гоеумяфисандЯФМАИСОНД–—/-]/,
      /^(?:-?[гоеум]{1,3})? ?(?:[-–—/] ?\d{1,2}\S{0,4} )?[яфмаисондЯФМАИСОНД]/,
    ],
    [dayInRow, 1, 2, /[,гоеумипдн-]/, /^(?:-?[гоеум]{1,3})?(?:,| и| или| по| до| на) (?:с )?\d/],
    [shortDay, 1, 2, /\./, /^\.[01]/],
  ],
  atLetter: [
    [/[яфмаисонд]/i, monthOfYear, /[.\d]/],
    [/[пвсч]/i, weekday],
  ],
} satisfies Rules<DigitRule>;
