// Korean days without a year, and what looks like them: 12/25, 24.05.03, 혈압 120/80, 유효기간 12/26 of a card.
import { withoutZeros } from '../numerals.js';
import type { Found, Reading } from '../reading.js';
import { cardinal } from './numbers.js';
import { SPEECH } from './speech.js';

const DAY = /(\d{1,2})\/(\d{1,2})(?![\d/]|\.\d)/y;
const DATE_WORD =
  /(?:마감|기한|일시|일자|날짜|예정일|발매일|출시일|개봉일|예약일?|생일|오늘|내일|어제|다음|[월화수목금토일]요일)(?:은|는|이|가|:)? ?$/;
const FIRST_OF_TWO = /\d\/(\d{1,2})(?:\([월화수목금토일]\))? ?[~～∼-] ?$/;
const SECOND_OF_TWO = /^ ?[~～∼-] ?\d{1,2}\/(\d{1,2})(?![\d/])/;
const BEFORE_DATE_WORD =
  /^(?: ?\([월화수목금토일]|부터|까지|자 | ?(?:오전|오후|마감|휴무|출발|도착|개봉|출시|발매|시작|입고|예정|개막|방송|공개|\d{1,2}(?::\d\d|시))| ?[가-힣]{1,4}(?:날|절|데이|마스))/;
const SHARE = /^ ?(?:의 확률|의 비율|정도|이상|이하|크기|수준|확률|컵|배|박자|만|가|이 |을|를|로)/;
const LAST_DAY = 31;

/** 1/15(월), 12/25: no fraction; 1/3 alone is one. */
export function monthDay(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!reading.isFresh || text[reading.runEnd] !== '/' || /[/.]/.test(text[at - 1] ?? '')) return undefined;
  const match = reading.match(DAY);
  const [written = '', month = '', day = ''] = match ?? [];
  const [first, second] = [Number(month), Number(day)];
  if (match === undefined || first < 1 || first > 12 || second < 1 || second > LAST_DAY) return undefined;
  const end = at + written.length;
  const [before, after] = [text.slice(Math.max(0, at - 48), at), text.slice(end, end + 8)];
  const around = reading.around(end);
  const known = DATE_WORD.test(before) || isOneOfTwo(before, after, day) || BEFORE_DATE_WORD.test(after);
  const zero = month.startsWith('0') || day.startsWith('0');
  const likely = first >= second || (first > 1 && second > 12); // hardly a share
  const card = day.length === 2 && second > 23 && isCard(before);
  if (!card && !known && (SHARE.test(after) || !(zero || likely))) return undefined;
  const date = card
    ? ({ year: day, month: first, style: 'numeric' } as const)
    : ({ month: first, day: withoutZeros(day), style: 'name' } as const);
  const spoken = SPEECH.date(date, around);
  return spoken === undefined ? undefined : { end, spoken, rule: 'date' };
}

/** 3/5~3/8 are days, 1/3~2/3 shares of one kind. */
function isOneOfTwo(before: string, after: string, day: string): boolean {
  const other = FIRST_OF_TWO.exec(before)?.[1] ?? SECOND_OF_TWO.exec(after)?.[1];
  return other !== undefined && other !== day;
}

/** The validity of a card is a month and a year. */
function isCard(before: string): boolean {
  return /카드[^.!?]{0,40}$/.test(before) && /(?:유효 ?기[간한]|만료)[^.!?]{0,4}$/.test(before);
}

const QUARTER = /([1-4])\/4(?=분기)/y;

/** 3/4분기 is the third of four. */
export function quarter(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(QUARTER) : undefined;
  return match && { end: reading.at + 3, spoken: `${cardinal(match[1] ?? '')}사`, rule: 'date' };
}

const PAIR = /(\d{1,4})\/(\d{1,4})(?![\d/]|\.\d)( ?mmHg)?/y;

/** 혈압 120/80, 월세 1000/50. */
export function pair(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!reading.isFresh || text[reading.runEnd] !== '/') return undefined;
  const match = reading.match(PAIR);
  const [written = '', high = '', low = '', unit] = match ?? [];
  const named =
    unit !== undefined || /(?:혈압|월세|보증금|반전세)[^\d.]{0,4}$/.test(text.slice(Math.max(0, at - 8), at));
  const pressure =
    /^(?:9\d|1\d\d|2[0-4]\d)$/.test(high) &&
    Number(low) >= 50 &&
    Number(high) > Number(low) &&
    high.length === 3;
  if (match === undefined || !(named || pressure)) return undefined;
  const spoken = `${cardinal(withoutZeros(high))}에 ${cardinal(withoutZeros(low))}${unit === undefined ? '' : ' 수은주밀리미터'}`;
  return { end: at + written.length, spoken, rule: 'measure' };
}

const SHORT_DATE = /(\d{2})\.(\d{1,2})\.(\d{1,2})(?![\d]|\.\d)\.?/y;
const DATED = /^\.? ?(?:기준|부터|까지|자\b|현재|발행|시행|개정|작성|출시|업데이트|~|\()/;

/** 24.05.03: a year of two digits, where a version would have no zeros. */
export function shortDate(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!reading.isFresh || text[at + 2] !== '.') return undefined;
  const match = reading.match(SHORT_DATE);
  const [written = '', year = '', month = '', day = ''] = match ?? [];
  const [first, second] = [Number(month), Number(day)];
  if (match === undefined || first < 1 || first > 12 || second < 1 || second > LAST_DAY) return undefined;
  const padded = month.length === 2 && day.length === 2 && /0\d/.test(month + day);
  const stop =
    written.endsWith('.') && !/^ ?\(/.test(text.slice(at + written.length, at + written.length + 2));
  const end = at + written.length - (stop ? 1 : 0);
  if (!padded && !DATED.test(text.slice(end, end + 4))) return undefined;
  const rest = SPEECH.date({ month: first, day: withoutZeros(day), style: 'name' }, reading.around(end));
  return { end, spoken: `${cardinal(withoutZeros(year))}년 ${rest ?? ''}`, rule: 'date' };
}

const OFFICIAL = /['’‘](\d{2})\. ?(\d{1,2})(?: ?월|\. ?(\d{1,2})(?:일|\.(?!\d))?)(?!\d)/y;

/** '24.3월, '24.3.5.: dates of public offices. */
export function officialDate(reading: Reading): Found | undefined {
  const match = reading.match(OFFICIAL);
  const [written = '', year = '', month = '', day] = match ?? [];
  const inYear = Number(month) >= 1 && Number(month) <= 12 && Number(day ?? '1') <= 31;
  if (match === undefined || !inYear) return undefined;
  const end = reading.at + written.length;
  const parts = { month: Number(month), ...(day && { day: withoutZeros(day) }), style: 'name' } as const;
  const date = SPEECH.date(parts, reading.around(end));
  return date === undefined
    ? undefined
    : { end, spoken: `${cardinal(withoutZeros(year))}년 ${date}`, rule: 'date' };
}
