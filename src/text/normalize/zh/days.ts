// Chinese days without a year, and years of the Republic: 10/1放假, 03/25, 截止日期12-31, 民國113/5/20.
import { withoutZeros } from '../numerals.js';
import type { Found, Reading } from '../reading.js';
import { cardinal, spellDigits } from './numbers.js';

const DAY = /(\d{1,2})\/(\d{1,2})(?![\d/]|\.\d)/y;
const AFTER_DATE_WORD =
  /(?:日期|截止|截至|还款日|還款日|到期日?|生日|时间|時間|今天|今日|明天|昨天|交期|[周週][一二三四五六日])(?:是|为|為|至|到|[：:])? ?[(（]?$/;
const FIRST_OF_TWO = /\d\/(\d{1,2}) ?[-–~～至到] ?$/;
const SECOND_OF_TWO = /^ ?[-–~～至到] ?\d{1,2}\/(\d{1,2})(?![\d/])/;
const BEFORE_DATE_WORD =
  /^ ?(?:[)）]? ?\d{1,2}:\d\d|[(（](?:[周週]?[一二三四五六日][)）]|星期)|放假|上班|上学|开[学业售播盘抢]|開[學業賣播盤]|起(?!来)|截止|截至|止|前|之前|之后|发布|發布|上[线市映]|出发|出發|举行|舉行|当[天日]|當[天日]|晚|早|上午|下午|中午|凌晨|[\p{Script=Han}]{0,3}[节節](?!约))/u;
const SHARE =
  /^ ?(?:的|以上|以下|人|左右|强|弱|多|处|概率|份|杯|公|英|升|小时|寸|吋|比例|决赛|決賽|拍|日元|波长)/;
const LAST_DAY = 31;

/** 10/1 is no fraction, nor is 03/25; 1/3 is one unless something tells of a day. */
export function monthDay(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!reading.isFresh || text[reading.runEnd] !== '/' || /[/.第]/.test(text[at - 1] ?? '')) return undefined;
  const match = reading.match(DAY);
  const [written = '', month = '', day = ''] = match ?? [];
  const [first, second] = [Number(month), Number(day)];
  if (match === undefined || first < 1 || second < 1 || second > LAST_DAY) return undefined;
  const end = at + written.length;
  const [before, after] = [text.slice(Math.max(0, at - 48), at), text.slice(end, end + 8)];
  if (/^(?:2[4-9]|3\d)$/.test(day) && first <= 12 && isCard(before, after)) {
    return { end, spoken: `二零${spellDigits(day)}年${cardinal(withoutZeros(month))}月`, rule: 'date' };
  }
  if (first > 12 || !isDay(month, day, before, after)) return undefined;
  const spoken = `${cardinal(withoutZeros(month))}月${cardinal(withoutZeros(day))}日`;
  return { end, spoken, rule: 'date' };
}

function isDay(month: string, day: string, before: string, after: string): boolean {
  if (SHARE.test(after)) return false;
  if (AFTER_DATE_WORD.test(before) || BEFORE_DATE_WORD.test(after)) return true;
  if (month.startsWith('0') || day.startsWith('0')) return true;
  // 3/5-3/8 are days, 1/3到2/3 shares of one kind.
  const other = FIRST_OF_TWO.exec(before)?.[1] ?? SECOND_OF_TWO.exec(after)?.[1];
  if (other !== undefined && other !== day) return true;
  const [first, second] = [Number(month), Number(day)];
  return first > second || (first > 1 && second > 12); // 12/25 is hardly a share
}

/** The validity of a card is a month and a year. */
function isCard(before: string, after: string): boolean {
  const ends =
    /(?:有效期限?|到期|EXP|效期)[^。！？]{0,4}$/i.test(before) || /^(?:到期|过期|過期|失效)/.test(after);
  return ends && /卡[^。！？]{0,40}$/.test(before);
}

const DASHED = /(0?[1-9]|1[0-2])-(0?[1-9]|[12]\d|3[01])(?![\d-])/y;
const DATE_WORD = /(?:日期|截止|截至|生日)(?:是|为|為|[：:])? ?$/;

/** 截止日期12-31. */
export function dashedDay(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (
    !reading.isFresh ||
    text[reading.runEnd] !== '-' ||
    !DATE_WORD.test(text.slice(Math.max(0, at - 6), at))
  )
    return undefined;
  const match = reading.match(DASHED);
  if (match === undefined) return undefined;
  const spoken = `${cardinal(withoutZeros(match[1] ?? ''))}月${cardinal(withoutZeros(match[2] ?? ''))}日`;
  return { end: at + match[0].length, spoken, rule: 'date' };
}

const REPUBLIC = /(\d{2,3})([/.-])(\d{1,2})\2(\d{1,2})(?![\d/]|[.-]\d)/y;

/** 民國113/5/20; three digits are a year of the Republic also without its name. */
export function republic(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!reading.isFresh || !/[/.-]/.test(text[reading.runEnd] ?? '')) return undefined;
  const match = reading.match(REPUBLIC);
  const [written = '', year = '', mark, month = '', day = ''] = match ?? [];
  const named = /民[國国] ?$/.test(text.slice(Math.max(0, at - 3), at));
  if (match === undefined || (!named && (mark !== '/' || !/^1[0-2]\d$/.test(year)))) return undefined;
  if (Number(month) < 1 || Number(month) > 12 || Number(day) < 1 || Number(day) > LAST_DAY) return undefined;
  const spoken = `${cardinal(withoutZeros(year))}年${cardinal(withoutZeros(month))}月${cardinal(withoutZeros(day))}日`;
  return { end: at + written.length, spoken, rule: 'date' };
}

const BRACKETED = /(?:19|20)\d{2}(?=[)）〕\]])/y;

/** 国发〔2024〕5号, （2024）: a year alone in brackets. */
export function bracketedYear(reading: Reading): Found | undefined {
  if (!reading.isFresh || !/[(（〔[]/.test(reading.text[reading.at - 1] ?? '')) return undefined;
  const digits = reading.match(BRACKETED)?.[0];
  return digits === undefined
    ? undefined
    : { end: reading.at + 4, spoken: spellDigits(digits), rule: 'year' };
}

/** '98年: the apostrophe is not said. */
export function shortYear({ text, at }: Reading): Found | undefined {
  if (!/['’‘]/.test(text[at] ?? '') || !/^\d{2} ?年/.test(text.slice(at + 1, at + 5))) return undefined;
  const digits = text.slice(at + 1, at + 3);
  return { end: at + 3, spoken: spellDigits(digits), rule: 'year' };
}
