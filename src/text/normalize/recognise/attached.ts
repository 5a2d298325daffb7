// Numbers that touch what stands beside them, as Chinese, Japanese and Korean write them: 16GB, iPhone15, Ⅱ,
// 验证码123456.
import { DIGIT, isDigitAt } from '../characters.js';
import type { Row } from '../dispatch.js';
import type { Speech, Writing } from '../language.js';
import type { Noun } from '../quantity.js';
import { LiteralTable } from '../literals.js';
import { digitsEnd, numeralOf, readNumeral, withoutZeros } from '../numerals.js';
import { NOWHERE, skipSpaces, type Found, type Reading, type Recogniser } from '../reading.js';
import { cardinal } from '../say.js';
import { startsLine } from './markdown.js';
import { ROMAN, romanValue } from './words.js';

/** In capitals, or touching a number that is one with them, these would be read as a name, such as 4K. */
const CAPITAL_UNITS = 'KB MB GB TB PB KG L ML KM CM MM KW MW GW MHz GHz Hz Mbps Gbps MPa Pa V W P PS'.split(
  ' ',
);
const capitals = new LiteralTable(CAPITAL_UNITS.map((unit) => [unit, unit] as const));

const LINES = /^(?:240|360|480|720|1080|1440|2160)$/; // of a screen: 1080P

/** 16GB, 220V: a unit in capitals that touches its number. */
export function capitalUnit(speech: Speech, units: Readonly<Record<string, Noun>>): Recogniser {
  return (reading) => {
    const number = readNumeral(reading.text, reading.at, { decimal: '.', grouping: [','] });
    const written = number && capitals.at(reading.text, number.end)?.written;
    if (number === undefined || written === undefined) return undefined;
    const unit = units[written];
    if (unit === undefined || (/[VW]/.test(written) && number.numeral.whole.length < 2)) return undefined;
    if (written === 'P' && LINES.test(number.numeral.whole)) return undefined;
    const end = number.end + written.length;
    // 1.2TB/s
    if (units[`${written}/s`] !== undefined && reading.text.startsWith('/s', end)) return undefined;
    const spoken = speech.measure({ number: number.numeral }, unit, reading.around(end));
    return { end, spoken, rule: 'measure' };
  };
}

/** iPhone15, mp3, PM2.5: a number that belongs to the letters before it. */
export function numberOfName(speech: Speech): Row {
  const recognise: Recogniser = ({ text, at, runEnd }) => {
    if (!/[A-Za-z]/.test(text[at - 1] ?? '')) return undefined;
    const name = /[A-Za-z\d._@/-]*$/.exec(text.slice(Math.max(0, at - 24), at))?.[0] ?? '';
    if (!/^[A-Za-z]+$/.test(name)) return undefined;
    const point = text[runEnd] === '.' && isDigitAt(text, runEnd + 1);
    const end = point ? digitsEnd(text, runEnd + 1) : runEnd;
    if (/^(?:[A-Za-z]|[._@/-][A-Za-z\d])/.test(text.slice(end, end + 2))) return undefined;
    const digits = text.slice(at, runEnd);
    const spelled = digits.length > 2 || (digits.length > 1 && digits.startsWith('0'));
    const decimals = point ? text.slice(runEnd + 1, end) : '';
    const number = { ...numeralOf(withoutZeros(digits)), decimals };
    const spoken = spelled && !point ? speech.digits(digits) : speech.number(number, NOWHERE);
    return { end, spoken, rule: 'identifier' };
  };
  return { knows: ({ isFresh, digits }) => !isFresh && digits <= 4, recognise };
}

const LIST_NUMBER = /(\d{1,3})(?:[.)）](?=\s)|、)/y;

/** 1. at the beginning of a line is 一、 */
export function listNumber(speech: Speech, mark: string): Recogniser {
  return (reading) => {
    if (!startsLine(reading.text, reading.at)) return undefined;
    const match = reading.match(LIST_NUMBER);
    if (match === undefined) return undefined;
    const end = reading.at + match[0].length;
    const spoken = cardinal(match[1] ?? '', speech) + mark;
    return { end: mark !== '.' && reading.text[end] === ' ' ? end + 1 : end, spoken, rule: 'markdown' };
  };
}

const TIGHT_NUMBER = /(\d{1,2})\.(?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])/uy;

/** 1.苹果 2.香蕉: no space parts the number from its item. */
export function tightListNumber(speech: Speech, mark: string): Recogniser {
  return (reading) => {
    if (reading.at > 0 && !/[\s；;。]/.test(reading.text[reading.at - 1] ?? '')) return undefined;
    const match = reading.match(TIGHT_NUMBER);
    if (match === undefined) return undefined;
    return {
      end: reading.at + match[0].length,
      spoken: cardinal(match[1] ?? '', speech) + mark,
      rule: 'markdown',
    };
  };
}

const ROMAN_SIGNS = 'ⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩⅪⅫ';
const CIRCLED = '①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳';

/** Ⅱ, ①: numbers that are one character; `mark` is said behind the number of an item, `pause` before it. */
export function numberSign(
  speech: Speech,
  mark: string,
  pause: string,
): (reading: Reading) => Found | undefined {
  return ({ text, at }) => {
    const sign = text[at] ?? '';
    const roman = ROMAN_SIGNS.indexOf(sign);
    if (roman >= 0) return { end: at + 1, spoken: cardinal(String(roman + 1), speech), rule: 'roman' };
    const circled = CIRCLED.indexOf(sign);
    if (circled < 0) return undefined;
    if (/[番号]/.test(text[at + 1] ?? ''))
      return { end: at + 1, spoken: cardinal(String(circled + 1), speech), rule: 'roman' }; // ③番窓口
    const runs = /[\p{L}\p{N}%)）] ?$/u.test(text.slice(Math.max(0, at - 2), at)); // ①身份证 ②照片
    return {
      end: at + 1,
      spoken: (runs ? pause : '') + cardinal(String(circled + 1), speech) + mark,
      rule: 'markdown',
    };
  };
}

/** The sign between two operands, where it has another name than the sign of a number: 五加三, 正三. */
export function plusBetween(name: string): Recogniser {
  return ({ text, at }) => {
    const [before, after] = [text.slice(Math.max(0, at - 2), at), text.slice(at + 1, at + 3)];
    const operands = /(?:[\d)²³⁴-⁹] ?|[A-Za-z] )$/.test(before) && /^ ?[\dA-Za-z(]/.test(after);
    const day = /[A-Za-z]$/.test(before) && /^\d/.test(after); // T+1
    return operands || day ? { end: at + 1, spoken: name, rule: 'math' } : undefined;
  };
}

const DATES =
  /(\d{4})([./-])(\d{1,2})\2(\d{1,2}) ?[-–—~～〜∼] ?(?:(\d{4})\2)?(\d{1,2})\2(\d{1,2})(?![\d./-]*\d)/y;

/** 2024.1.1-2024.1.7, 2024/12/30～1/3: two dates. */
export function dateRange(speech: Speech): Recogniser {
  return (reading) => {
    const match = reading.match(DATES);
    if (match === undefined) return undefined;
    const [written, year = '', , month = '', day = '', yearTo, monthTo = '', dayTo = ''] = match;
    const end = reading.at + written.length;
    const around = reading.around(end);
    const style = yearTo === undefined ? 'name' : 'numeric'; // a date in figures has a year
    const [from, to] = [
      speech.date({ year, month: Number(month), day: withoutZeros(day), style: 'numeric' }, around),
      speech.date({ year: yearTo, month: Number(monthTo), day: withoutZeros(dayTo), style }, around),
    ];
    const inYear = [month, monthTo].every((one) => Number(one) >= 1 && Number(one) <= 12);
    const inMonth = [day, dayTo].every((one) => Number(one) >= 1 && Number(one) <= 31);
    if (!inYear || !inMonth || from === undefined || to === undefined) return undefined;
    return { end, spoken: speech.range(from, to, around), rule: 'date' };
  };
}

const YEAR_MONTH = /((?:19|20)\d{2})(?:\/(0?[1-9]|1[0-2])|-(0[1-9]|1[0-2]))(?![\d./-]*\d)/y;

/** 2024/1, 2024-06: a month. */
export function yearMonth(speech: Speech): Recogniser {
  return (reading) => {
    const match = reading.match(YEAR_MONTH);
    if (match === undefined) return undefined;
    const [written, year = '', slashed, dashed = ''] = match;
    const end = reading.at + written.length;
    const date = { year, month: Number(slashed ?? dashed), style: 'numeric' } as const;
    const spoken = speech.date(date, reading.around(end));
    return spoken === undefined ? undefined : { end, spoken, rule: 'date' };
  };
}

/** x>5, a≠b: a relation that touches what it relates; two sides that are long are no formula. */
export function relation(names: Readonly<Record<string, string>>): Recogniser {
  return ({ text, at }) => {
    const sign = names[text.slice(at, at + 2)] === undefined ? (text[at] ?? '') : text.slice(at, at + 2);
    if (!/^[<>≠≤≥≈≒]/u.test(sign)) return undefined;
    const name = names[sign];
    const end = at + sign.length;
    if (name !== undefined && /[≥≤]/u.test(sign) && /^ ?[¥$€£]\d/.test(text.slice(end, end + 3)))
      return { end, spoken: name, rule: 'math' };
    const left = /(?:^|[^A-Za-z])[A-Za-zα-ωΓ-Ω]$|[\d)%²³]$/u.test(text.slice(Math.max(0, at - 2), at));
    const right = /^-?(?:\d|[A-Za-z](?![A-Za-z>]))/.test(text.slice(end, end + 3));
    return name !== undefined && left && right ? { end, spoken: name, rule: 'math' } : undefined;
  };
}

export interface Keywords {
  /** End of the text before digits that are said one by one. */
  readonly codes: RegExp;
  /** Words before a telephone number. */
  readonly calls: RegExp;
  /** Beginning of the text behind digits that are counted all the same. */
  readonly counted: RegExp;
  /** Said between groups of digits. */
  readonly pause: string;
  /** Beginning of the text behind digits that are called: 给10086打电话. */
  readonly called?: RegExp;
}

const SIGN_TWICE =
  /[¥$€£₩] ?(?=\d[\d,]{0,20}(?:\.\d{1,4})? ?[十百千万萬亿億兆만억천백조]{0,2} ?(?:美?元|圆|圓|块|塊|円|ドル|ユーロ|ポンド|欧元|英镑|원|달러|유로|엔))/y;

/** ￥1,234.50元: what is written twice is said once. */
export function signTwice(): Recogniser {
  return (reading) => {
    const match = reading.match(SIGN_TWICE);
    return match && { end: reading.at + match[0].length, spoken: '', rule: 'currency' };
  };
}

const CODE_TWICE =
  /(?:RMB|CNY|USD|EUR|GBP|JPY|KRW|HKD|TWD|NTD) ?(?=\d[\d,]{0,20}(?:\.\d{1,4})? ?[十百千万萬亿億兆만억천백조]{0,2} ?(?:美?元|圆|圓|块|塊|円|ドル|ユーロ|ポンド|欧元|英镑|港[币元]|원|달러|유로|엔))/y;

/** RMB 100元, USD 100美元 */
export function codeTwice(reading: Reading): Found | undefined {
  if (!reading.isFresh || !/[RCUEGJKHTN]/.test(reading.text[reading.at] ?? '')) return undefined;
  const match = reading.match(CODE_TWICE);
  return match && { end: reading.at + match[0].length, spoken: '', rule: 'currency' };
}

const IN_FILE_NAME = /_(?=[A-Za-z\d_-]{1,60}\.[A-Za-z]{2,4}(?![A-Za-z\d]))/y;

/** 报告_v2.docx: what joins a name to its ending is no emphasis. */
export function underscore(name: string): Recogniser {
  return (reading) => {
    if (
      !/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]/u.test(
        reading.text[reading.at - 1] ?? '',
      )
    )
      return undefined;
    const match = reading.match(IN_FILE_NAME);
    return match && { end: reading.at + 1, spoken: name, rule: 'file' };
  };
}

const RULE_LINE = /[—─━═]{3,200}/y;

/** A line that parts what stands above and below. */
export function ruleLine(): Recogniser {
  return (reading) => {
    const match = reading.match(RULE_LINE);
    return match && { end: reading.at + match[0].length, spoken: '', rule: 'punctuation' };
  };
}

const MASKED = /(\d{1,6})(?:[*＊xX•]{3,12}|-[*＊]{2,8}-)(\d{1,6})(?![\d*A-Za-z])/y;

/** 138****1234: what is hidden is a pause. */
export function masked(speech: Speech): Recogniser {
  return (reading) => {
    const match = reading.match(MASKED);
    if (match === undefined) return undefined;
    const spoken = speech.telephone([match[1] ?? '', match[2] ?? ''], false);
    return { end: reading.at + match[0].length, spoken, rule: 'telephone' };
  };
}

const NEAR = 18; // units before a number that may say what it is
const GROUPS = /\d{1,32}(?:[ -]\d{2,8}){0,5}(?![\d.]\d|\d|[:：]\d)/y;

/** 验证码是 123456, 拨打 10086: digit by digit. */
export function keyed(speech: Speech, { codes, calls, counted, pause, called }: Keywords): Recogniser {
  return (reading): Found | undefined => {
    const { text, at } = reading;
    if (reading.runEnd - at < 3 && !/[ -]/.test(text[reading.runEnd] ?? '')) return undefined;
    const match = reading.match(GROUPS);
    const end = at + (match?.[0].length ?? 0);
    if (match === undefined || match[0].length < 3 || counted.test(text.slice(end, end + 4)))
      return undefined;
    if (/^\(\d/.test(text.slice(end, end + 2))) return undefined; // 0120(123)456
    const before = text.slice(Math.max(0, at - NEAR), at);
    const call =
      calls.test(before) || called?.test(text.slice(reading.runEnd, reading.runEnd + NEAR)) === true;
    if (!call && !codes.test(before)) return undefined;
    const groups = match[0].split(/[ -]/);
    const spoken = call
      ? speech.telephone(groups, false)
      : groups.map((group) => speech.digits(group)).join(pause);
    const found: Found = { end, spoken, rule: call ? 'telephone' : 'digits' };
    const goesOn = /[-.*]/.test(text[end] ?? ''); // 2024. 6. 10., 1234****5678
    return goesOn ? found : { ...found, isCertain: true };
  };
}

const LENGTHS = /(\d{1,4})(km|m|kg)(\d{1,4}(?:\.\d)?)(cm|mm|m|g)(?![A-Za-z\d])/y;

/** 8m23cm, 2kg500g: two units without a space. */
export function compoundMeasure(speech: Speech, units: Readonly<Record<string, Noun>>): Recogniser {
  return (reading) => {
    const match = reading.match(LENGTHS);
    const [written = '', first = '', large = '', second = '', small = ''] = match ?? [];
    const [one, other] = [units[large], units[small]];
    const number = readNumeral(second, 0, { decimal: '.', grouping: [] })?.numeral;
    if (match === undefined || one === undefined || other === undefined || number === undefined)
      return undefined;
    const around = reading.around(reading.at + written.length);
    const said = [
      speech.measure({ number: numeralOf(withoutZeros(first)) }, one, around),
      speech.measure({ number }, other, around),
    ];
    return { end: reading.at + written.length, spoken: said.join(' '), rule: 'measure' };
  };
}

const ROMAN_ORDER = /[IVXLC]{1,7}(?![A-Za-z\d])/y;

/** 第XI届, 제XI회: behind the sign of an order. */
export function romanOrder(speech: Speech): Recogniser {
  return (reading) => {
    if (!/[第제]/.test(reading.text[reading.at - 1] ?? '')) return undefined;
    const numeral = reading.match(ROMAN_ORDER)?.[0];
    if (numeral === undefined || !ROMAN.test(numeral)) return undefined;
    const spoken = cardinal(String(romanValue(numeral)), speech);
    return { end: reading.at + numeral.length, spoken, rule: 'roman' };
  };
}

const DASHED_DAY = /(0?[1-9]|1[0-2])-(0?[1-9]|[12]\d|3[01])(?![\d-]| ?[時时点點시])/y;
/** 11-01 14:05, 11-05前 */
const DAY_AND_CLOCK =
  /(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?= \d{1,2}:\d\d(?!\d)| ?(?:前|之前|起|截止|到期|发货|到货|送达|入住|退房|[（(](?:[周週][一二三四五六日]|[月火水木金土日][)）])|まで|から))/y;
const NEAR_DATE = 12; // units before a day in which its word stands

/** 截止日期12-31, 締切は11-30: behind a word of dates. */
export function dashedDay(dateWord: RegExp, speech: Speech): Recogniser {
  return (reading) => {
    const { text, at } = reading;
    const isNamed = dateWord.test(text.slice(Math.max(0, at - NEAR_DATE), at));
    const match = reading.match(isNamed ? DASHED_DAY : DAY_AND_CLOCK);
    if (match === undefined) return undefined;
    const [written, month, day = ''] = match;
    const end = at + written.length;
    const date = { month: Number(month), day: withoutZeros(day), style: 'name' } as const;
    const spoken = speech.date(date, reading.around(end));
    return spoken === undefined ? undefined : { end, spoken, rule: 'date' };
  };
}

/** 299元~, 3,000원~: up from there; `begins` ends with what a range may begin with. */
export function openRange(begins: RegExp, behind: RegExp, word: string): Recogniser {
  return ({ text, at }) => {
    const known = begins.test(text.slice(Math.max(0, at - NEAR_DATE), at));
    return known && behind.test(text.slice(at + 1, at + 5))
      ? { end: at + 1, spoken: word, rule: 'range', clings: true }
      : undefined;
  };
}

const PAGE = /[Pp]{1,2}\. ?(\d{1,4})(?: ?[-–~〜～∼] ?(\d{1,4}))?(?![\dA-Za-z]|[.,]\d)/y;

/** p.25, pp.10-15, P.52: the noun stands behind its number. */
export function page(speech: Speech, noun: string): Recogniser {
  return (reading) => {
    const match =
      /[Pp]/.test(reading.text[reading.at] ?? '') && reading.isFresh ? reading.match(PAGE) : undefined;
    if (match === undefined) return undefined;
    const [first = '', last] = match.slice(1).map((digits) => digits && cardinal(digits, speech));
    const pages = last === undefined ? first : speech.range(first, last, NOWHERE);
    return { end: reading.at + match[0].length, spoken: pages + noun, rule: 'cardinal' };
  };
}

const HOURS = /(\d{1,2}) ?[-–~～〜∼] ?(\d{1,2}) ?[시時点點时](?![간間间钟鐘])/y;

const NAMES_POINTS = /[点點] ?$/;
const DAY_BEFORE = /(?:[日号號天午晚晨早上周週末间間：:]|[期周週拜][一二三四五六]) ?$/;

/** 09~20시, 10〜12時: the hour is said of both, and 点 is one behind a day or a zero. */
export function hourRange(speech: Speech, between = ''): Recogniser {
  return (reading) => {
    const { text, at } = reading;
    const match = reading.match(HOURS);
    const hours = match?.slice(1) ?? [];
    const [first, last] = hours.map(Number);
    if (match === undefined || hours.some((one) => Number(one) > 24)) return undefined;
    const before = text.slice(Math.max(0, at - 3), at);
    const isPoints = NAMES_POINTS.test(match[0]) && !DAY_BEFORE.test(before);
    const isRising = (first ?? 0) < (last ?? 0) && !/[第.,/]$/.test(before);
    if (!hours.some((one) => /^0\d/.test(one)) && (isPoints || !isRising)) return undefined;
    const end = at + match[0].length;
    const around = reading.around(end);
    const [from, to] = hours.map((one) => speech.time({ hours: withoutZeros(one), minutes: '' }, around));
    if (from === undefined || to === undefined) return undefined;
    const within = /^에(?!서)/.test(text.slice(end, end + 2)) ? between : '';
    return { end, spoken: speech.range(from, to, around) + within, rule: 'time', isCertain: true };
  };
}

const BOUND = /(?:(>=|<=|[≥≤≧≦])|([<>])) ?(?=\d)/y;
const COUNTER = /(?:[歳人名回個件日分枚点台年本円]|時間|[かヶ]月|万円)?/y;

interface Bounds {
  readonly least: string;
  readonly most: string;
  readonly over: string;
  readonly under: string;
}

/** ≥60℃, <10ms: nothing on the left that could be compared. */
export function boundOf(
  speech: Speech,
  { units, numbers }: Pick<Writing, 'units' | 'numbers'>,
  bounds: Bounds,
): Recogniser {
  const names = new LiteralTable(Object.entries(units));
  return (reading) => {
    const { text, at } = reading;
    if (!/^$|[\s(（:：,、。\p{Lo}]$/u.test(text.slice(Math.max(0, at - 1), at))) return undefined;
    const match = reading.match(BOUND);
    const start = at + (match?.[0].length ?? 0);
    const number = match && readNumeral(text, start, numbers);
    if (number === undefined || /\d ?$/.test(text.slice(Math.max(0, at - 2), at))) return undefined;
    const next = skipSpaces(text, number.end);
    const unit = names.at(text, next);
    const counter = reading.match(COUNTER, number.end)?.[0] ?? '';
    const end = unit === undefined ? number.end + counter.length : next + unit.written.length;
    if (unit === undefined && counter === '' && !/^(?:[\s.,)、。）]|$)/.test(text.slice(end, end + 1)))
      return undefined;
    const amount = { number: number.numeral };
    const around = reading.around(end);
    const said = unit ? speech.measure(amount, unit.value, around) : speech.count(amount, around) + counter;
    const [sign = '', small] = [match?.[1] ?? match?.[2], /[<≤≦]/.test(match?.[0] ?? '')];
    const [open, closed] = small ? [bounds.under, bounds.most] : [bounds.over, bounds.least];
    return { end, spoken: said + (/^[<>]$/.test(sign) ? open : closed), rule: 'math' };
  };
}

/** ▲5%, ▼800원: in front of an amount the sign of accounts is a minus. */
export function lossOf(minus: string): Recogniser {
  return ({ text, at }) =>
    /^.[\d¥￥$₩]/u.test(text.slice(at, at + 2)) ? { end: at + 1, spoken: minus, rule: 'symbol' } : undefined;
}

const MORE_DAYS = /((?:[·・]\d{1,2}){1,4})(?![\d\p{Lu}\p{Ll}./:~〜-]|[月월년年개個명人円원])/uy;

/** The ·25 of 12/24·25: more days of the same month. */
export function moreDays(
  reading: Reading,
  end: number,
  say: (day: string) => string,
): { end: number; spoken: string } {
  const [written = ''] = reading.match(MORE_DAYS, end) ?? [];
  const days = written.match(/\d+/g) ?? [];
  if (days.length === 0 || days.some((day) => Number(day) < 1 || Number(day) > 31))
    return { end, spoken: '' };
  const named = /^[日일]/.test(reading.text.slice(end + written.length, end + written.length + 1)) ? 1 : 0;
  return {
    end: end + written.length + named,
    spoken: days.map((day) => `, ${say(withoutZeros(day))}`).join(''),
  };
}

const SLASHED_DAYS = /(\d{1,2})\/(\d{1,2})(?= ?[日号號일])/y;

/** 5月5/6日: two days of one month; `between` is said there. */
export function slashedDays(between: string, speech: Speech): Recogniser {
  return (reading) => {
    const { text, at } = reading;
    if (!/[月월] ?$/.test(text.slice(Math.max(0, at - 2), at))) return undefined;
    const match = reading.match(SLASHED_DAYS);
    const [written = '', first = '', last = ''] = match ?? [];
    if (match === undefined || Number(first) >= Number(last) || Number(last) > 31) return undefined;
    const spoken = cardinal(first, speech) + between + cardinal(last, speech);
    return { end: at + written.length, spoken, rule: 'date', isCertain: true };
  };
}

const WEEKDAY_BEHIND = /(\d{1,2})(?=[(（][月火水木金土日월화수목금토일][)）・,、])/y;

/** 12月5日(金)、6(土): a number before a day of the week in brackets is a day. */
export function dayBeforeWeekday(day: string, speech: Speech): Recogniser {
  return (reading) => {
    const digits = /[\d/.]/.test(reading.text[reading.at - 1] ?? '')
      ? undefined
      : reading.match(WEEKDAY_BEHIND)?.[1];
    if (digits === undefined || Number(digits) < 1 || Number(digits) > 31) return undefined;
    const spoken = cardinal(withoutZeros(digits), speech) + day;
    return { end: reading.at + digits.length, spoken, rule: 'date', isCertain: true };
  };
}

const ERA = /(A\.? ?D\.?|B\.? ?C\.?(?: ?E\.?)?|C\.?E\.?) ?(\d{1,4})(?![\d.,]\d|\d)(年|년)?/y;
const ERA_BEHIND =
  /(\d{1,4})(年|년)? ?(A\.D\.?|B\.C\.(?:E\.)?|AD|BCE?|CE|a\.d\.?|b\.c\.(?:e\.)?|ad|bce?)(?![A-Za-z\d])/y;

/** AD 618年, 221 B.C.: `say` gets the year, and true for one before Christ. */
export function era(say: (year: string, before: boolean) => string): Recogniser {
  return (reading) => {
    const { kind } = reading;
    if (!reading.isFresh) return undefined;
    const front = kind === DIGIT ? undefined : reading.match(ERA);
    const behind = kind === DIGIT ? reading.match(ERA_BEHIND) : undefined;
    const match = front ?? behind;
    if (match === undefined) return undefined;
    const [name = '', year = ''] = front === undefined ? [match[3], match[1]] : [match[1], match[2]];
    const spoken = say(withoutZeros(year), /^b/i.test(name));
    return { end: reading.at + match[0].length, spoken, rule: 'year' };
  };
}

/** 20K粉丝, 1.5K회: before a word that is counted K is a thousand. `counted` is the beginning of such words. */
export function thousands(speech: Pick<Speech, 'count'>, counted: RegExp): Recogniser {
  return (reading) => {
    const match = reading.match(THOUSANDS);
    if (match === undefined) return undefined;
    const [written, whole = '', part = ''] = match;
    const end = reading.at + written.length;
    if (!counted.test(reading.text.slice(end, end + 4)) || (whole.length < 2 && part === ''))
      return undefined;
    const number = numeralOf(withoutZeros(whole + part.padEnd(3, '0')));
    return { end, spoken: speech.count({ number }, reading.around(end)), rule: 'cardinal' };
  };
}

const THOUSANDS = /(\d{1,4})(?:\.(\d{1,2}))?[Kk]/y;

const WORD_SIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー）)」』\]]$/u;
const WORD_BEHIND = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}（(「『[]/u;

/** 大人/子ども, 計 / 税込: between two words, or between spaces, a stroke is a pause. */
export const strokePause: Recogniser = (reading) => {
  const { text, at } = reading;
  const spaced = text[at - 1] === ' ' && text[at + 1] === ' ';
  const left = at === reading.tokenEnd || WORD_SIDE.test(text[at - 1] ?? '');
  if (!spaced && !(left && WORD_BEHIND.test(text[at + 1] ?? ''))) return undefined;
  return { end: spaced ? at + 2 : at + 1, spoken: ', ', rule: 'symbol' };
};

const OPERATION = /[÷×−＝=]/;
const FORMULA_NEAR = 24; // units on either side

/** (売上−原価)÷売上×100: signs between words, the plain ones only in a formula. */
export function wordMath(names: Readonly<Record<string, string>>): Recogniser {
  return ({ text, at, tokenEnd }) => {
    const sign = text[at] ?? '';
    const name = names[sign];
    if (name === undefined || !/[-−×÷+=]/.test(sign)) return undefined;
    const [left, right] = [
      text
        .slice(Math.max(0, at - 2), at)
        .trimEnd()
        .slice(-1),
      text.slice(at + 1, at + 3).trimStart(),
    ];
    if (
      !(WORD_SIDE.test(left) || (at === tokenEnd && /[×÷]/.test(sign))) ||
      !(WORD_BEHIND.test(right) || (/[×÷]/.test(sign) && /^\d/.test(right)))
    )
      return undefined;
    const near = text.slice(Math.max(0, at - FORMULA_NEAR), at) + text.slice(at + 1, at + FORMULA_NEAR);
    return /[−×÷]/.test(sign) || OPERATION.test(near)
      ? { end: at + 1, spoken: name, rule: 'math' }
      : undefined;
  };
}

const UNTIL =
  /[~～〜∼] ?(?:(\d{1,2})\/(\d{1,2})(?![\d/]| ?[컵배杯倍カ])(?:[(（]([月火水木金土日월화수목금토일])[)）])?|(\d{1,2}):([0-5]\d)(?![\d:]))/y;
const BEFORE_UNTIL = /(?:^|[(（「、,：:\s]|[はが은는])$/;

/** True if the sign of a range may have its beginning before it. */
function hasBeginning({ text, at }: Reading): boolean {
  const near = text.slice(Math.max(0, at - 3), at);
  return !BEFORE_UNTIL.test(near) || /\d ?$|[)）] $/.test(near);
}

/** 申込は〜12/15, (~18:00): up to a day or an hour. */
export function until(speech: Speech, weekday: (name: string) => string, word: string): Recogniser {
  return (reading) => {
    const { text, at } = reading;
    const match = hasBeginning(reading) ? undefined : reading.match(UNTIL);
    if (match === undefined) return undefined;
    const [written, month, day = '', name, hours = '', minutes = ''] = match;
    if (
      month !== undefined &&
      (Number(month) < 1 || Number(month) > 12 || Number(day) < 1 || Number(day) > 31)
    )
      return undefined;
    const end = at + written.length;
    const around = reading.around(end);
    const said =
      month === undefined
        ? speech.time({ hours: withoutZeros(hours), minutes }, around)
        : speech.date({ month: Number(month), day: withoutZeros(day), style: 'name' }, around);
    if (said === undefined) return undefined;
    const named = name === undefined ? '' : weekday(name);
    const last = text.startsWith(word, end) ? '' : word;
    return { end, spoken: said + named + last, rule: 'date', isCertain: true };
  };
}

const BOUNDED =
  /[~～〜∼] ?(?=[¥$€£₩]?\d[\d,.]{0,9}[^\d\s、。,，()（）]{0,8}(?:まで|以下|以内|未満|까지|이하|이내|미만))/y;

/** 〜120kWhまで: the word behind it says the bound. */
export function bounded(reading: Reading): Found | undefined {
  const match = hasBeginning(reading) ? undefined : reading.match(BOUNDED);
  return match && { end: reading.at + match[0].length, spoken: '', rule: 'punctuation', isCertain: true };
}

/** 58%:42% */
export function betweenShares(name: string): Recogniser {
  return ({ text, at }) =>
    text[at - 1] === '%' && /\d/.test(text[at + 1] ?? '')
      ? { end: at + 1, spoken: name, rule: 'score' }
      : undefined;
}
