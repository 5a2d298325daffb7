// Reads Korean dates, times and ranges: 2024. 1. 15.(월), 6·25, 오후 3:30, 9:00~18:00.
// It tells days without a year (12/25) from numbers of the same shape (혈압 120/80).
import type { WrittenTime } from '../quantity.js';
import { withoutZeros } from '../numerals.js';
import { certain, type Found, type Reading } from '../reading.js';
import { moreDays, openRange } from '../recognise/attached.js';
import { isBehindName } from '../recognise/times.js';
import type { Rules } from '../shared-forms.js';
import { cardinal, spellDigits } from './numbers.js';
import { SPEECH, time } from './speech.js';

const WEEKDAY = /[(（]([월화수목금토일])(?:요일)?[)）]/y;
const SPACED = /(\d{4})\. ?(\d{1,2})\. ?(\d{1,2})\.?(?![\d.])/y;
const LAST_DATE = / ?[~～〜∼–-] ?(?:(\d{4})\. ?)?(\d{1,2})\. ?(\d{1,2})\.?(?![\d.])/y;
const SHORT_YEAR = /['’‘](\d{2})(?=년)/y;
const MEMORIAL =
  /((?:3|4|5|6|7|8|9|10|11|12)(?=[·・•]|\.(?:1|3|16|18|19|25|10|15|26|27|29|12|11)(?!\d)))[·・•.](\d{1,2})(?= ?(?:절|사태|전쟁|운동|혁명|민주화|민주항쟁|항쟁|사건|테러|참사|대책|선언|공동|만세|쿠데타|광복|남북|총선|의거))|(\d{1,2})[·・](\d{1,2})(?![\d·・])/y;

/** 1월 15일(월): the weekday is said in full. */
function weekday(reading: Reading): Found | undefined {
  const before = reading.text.slice(Math.max(0, reading.at - 2), reading.at);
  if (!/(?:일|\d|\.) ?$/.test(before)) return undefined;
  const match = reading.match(WEEKDAY);
  if (match === undefined) return undefined;
  const gap = before.endsWith(' ') ? '' : ' ';
  return { end: reading.at + match[0].length, spoken: `${gap}${match[1] ?? ''}요일`, rule: 'date' };
}

/** 2024. 1. 15.: the stops belong to the date. */
export function spacedDate(reading: Reading): Found | undefined {
  const match = reading.match(SPACED);
  if (match === undefined) return undefined;
  const [written, year = '', month = '', day = ''] = match;
  if (Number(month) < 1 || Number(month) > 12 || Number(day) < 1 || Number(day) > 31) return undefined;
  const end = reading.at + written.length;
  const final = written.endsWith('.') && /^["'”’)\]]{0,3}$/.test(reading.text.slice(end, end + 4)) ? 1 : 0;
  const numbers = { year, month: Number(month), day: withoutZeros(day) };
  const spoken = SPEECH.date({ ...numbers, style: 'numeric' }, reading.around(end));
  if (spoken === undefined) return undefined;
  return lastDate(reading, end, spoken) ?? { end: end - final, spoken, rule: 'date' };
}

/** 2025. 1. 1.~12. 31. */
function lastDate(reading: Reading, at: number, first: string): Found | undefined {
  const match = reading.match(LAST_DATE, at);
  const [written = '', year, month = '', day = ''] = match ?? [];
  const isDay = Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= LAST_DAY;
  if (match === undefined || !isDay) return undefined;
  const end = at + written.length;
  const after = reading.text.slice(end, end + 4);
  const final = written.endsWith('.') && /^["'”’)\]]{0,3}$/.test(after) ? 1 : 0;
  const numbers = { year, month: Number(month), day: withoutZeros(day), style: 'name' } as const;
  const last = SPEECH.date(numbers, reading.around(end)) ?? '';
  const until = after.startsWith('까지') ? '' : '까지';
  return { end: end - final, spoken: `${first}부터 ${last}${until}`, rule: 'date' };
}

/** '24년 1월, 98년생, 6·25, 5·18: the year of two digits is a number, a memorial day is digits. */
function memorial(reading: Reading): Found | undefined {
  const match = reading.match(MEMORIAL);
  if (match === undefined) return undefined;
  const [written, first = match[3] ?? '', second = match[4] ?? ''] = match;
  const days = /월 ?$/.test(reading.text.slice(Math.max(0, reading.at - 2), reading.at));
  if (days && reading.text[reading.at + written.length] === '일') {
    const spoken = `${cardinal(withoutZeros(first))}, ${cardinal(withoutZeros(second))}`; // 5월 5·6일
    return { end: reading.at + written.length, spoken, rule: 'date' };
  }
  const whole = first === '12' && second === '12';
  const spoken = whole ? '십이십이' : spellDigits(first + second);
  return { end: reading.at + written.length, spoken, rule: 'date' };
}

/** '24년 1월: the apostrophe stands for the century. */
function shortYear(reading: Reading): Found | undefined {
  if (!/['’‘]/.test(reading.text[reading.at] ?? '')) return undefined;
  const match = reading.match(SHORT_YEAR);
  if (match === undefined) return undefined;
  return { end: reading.at + match[0].length, spoken: cardinal(withoutZeros(match[1] ?? '')), rule: 'year' };
}

const CLOCK =
  /(\d{1,2}):([0-5]\d)(?::([0-5]\d)(?:\.\d{1,3})?)?(?: ?([AaPp])\.?[Mm]\.?(?![A-Za-z]))?(?![\d:]|\.\d)/y;
const HOUR = /(\d{1,2})()() ?([AaPp])\.?[Mm]\.?(?![A-Za-z\d])/y;
const HALF_FIRST = /([AaPp])\.?[Mm]\.? ?(?=\d{1,2}(?::\d\d|시))/y;
const SCORE_NEAR = /(?:스코어|비율|점수|화면비|종횡비|비)(?:는|은|가|이|:)? ?$/;
const SCORE_AFTER =
  /^ ?(?:(?:으)?로 (?:이기|이겼|[가-힣]{1,2}승|[가-힣]{1,2}패|졌|지|승|패|꺾|누르|눌|제압|앞|뒤|비기|비겼|물리)|으로 (?:이기|이겼|졌|지|승|패|꺾|누르|눌|제압|앞|뒤|비기|비겼|물리)|승|패|무승부|완승|완패|역전|의 비율|비율)/;

/** 15:30, 9:05 PM. */
export function clock(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (/[.:]/.test(text[at - 1] ?? '') && !isBehindName(text, at)) return undefined;
  const match = reading.match(CLOCK) ?? reading.match(HOUR);
  if (match === undefined) return undefined;
  const [written, hours = '', minutes = '', seconds, half] = match;
  const end = reading.at + written.length;
  if (Number(hours) > 24 || (half === undefined && seconds === undefined && isScore(reading, end)))
    return undefined;
  if (half === undefined && LASTING.test(reading.text.slice(Math.max(0, reading.at - 9), reading.at)))
    return { end, spoken: lasting(reading, end, [hours, minutes, seconds]), rule: 'duration' };
  const said: WrittenTime = {
    hours: withoutZeros(hours),
    minutes,
    seconds: seconds || undefined, // '' of an hour alone
    half: half && halfName(half),
  };
  return { end, spoken: time(said), rule: 'time' };
}

const LASTING =
  /(?:(?:재생|소요|통화|녹음|녹화|상영|러닝|대기|총) ?(?:시간|타임)|길이|기록|러닝타임|마라톤)(?:은|는|이|가|:)? ?$/;

/** 영상 길이는 03:25 is three minutes, 기록은 1:23:45 an hour and more. */
function lasting(
  reading: Reading,
  end: number,
  [first = '', second = '', third]: readonly (string | undefined)[],
): string {
  const amounts = third === undefined ? [first, second] : [first, second, third];
  const units = third === undefined ? (['min', 's'] as const) : (['h', 'min', 's'] as const);
  const parts = units.map((unit, index) => [withoutZeros(amounts[index] ?? ''), unit] as const);
  const said = parts.filter(([amount]) => amount !== '0');
  return SPEECH.duration(said.length === 0 ? parts.slice(-1) : said, reading.around(end));
}

const HUNDREDTHS = /\d{2}(?= ?(?:\)|에|로|의|을|를|이|,|\.|$|만에|기록))/y;

/** 9초 58: two digits behind the second are its decimals. */
export function hundredths(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!/\d초 ?$/.test(text.slice(Math.max(0, at - 3), at)) || reading.match(HUNDREDTHS) === undefined)
    return undefined;
  return {
    end: at + 2,
    spoken: ` ${spellDigits(text.slice(at, at + 2)).replaceAll('공', '영')}`,
    rule: 'decimal',
  };
}

/** AM 9:00. */
export function halfFirst(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(HALF_FIRST) : undefined;
  if (match === undefined) return undefined;
  return { end: reading.at + match[0].length, spoken: `${halfName(match[1] ?? '')} `, rule: 'time' };
}

function halfName(letter: string): string {
  return letter.toLowerCase() === 'p' ? '오후' : '오전';
}

export function isScore(reading: Reading, end: number): boolean {
  const { text, at } = reading;
  return SCORE_NEAR.test(text.slice(Math.max(0, at - 6), at)) || SCORE_AFTER.test(text.slice(end, end + 7));
}

const MARK = /( ?)[-–—~～〜∼]\1/y;
const WAVE = /( ?)[~～〜∼]\1/y;
const FROM =
  /(?:\d\/\d{1,2}|초과|이상|이하|미만|\d ?(?:[년월일시분초세살원백천만억조명개층호권회차점도%‰℃°쪽위]|달러|개월|시간|주년|[kc]?m|k?g|[KMGT]B)|\d:\d\d|[(（][월화수목금토일][)）]|[월화수목금토일]요일|(?:^|[^가-힣])[월화수목금토일])$/;
const TO =
  /^(?:[\d$€£₩]|[AaPp][Mm]|-\d|[월화수목금토일](?:요일|(?![가-힣]))|오전|오후|다음|익일|정오|자정|밤|현재)/;
const TERM = /^(?:[.!?,\s)]|$)/;

/** 3,000원~입니다, 1990년대 후반~ */
const open = openRange(
  /(?:\d:\d\d|\d ?(?:원|만 ?원|년|월|일|시|세|살|명|개|층|%|℃)|(?:년대|세기)(?: ?(?:초반?|중반|후반|말))?|[₩$€£]\d[\d,.]{0,10})$/,
  /^(?:[.!?,()]|$|입니다|이며|이고|이다|인 |의 | (?!\d|오전|오후|[월화수목금토일]요일|[가-힣]{1,3} ?구간))/,
  '부터',
);

/** 9:00~18:00, 월~금, 서울~부산; but 네~ is a tone. */
function rangeMark(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const before = text.slice(Math.max(0, at - 6), at).trimEnd();
  const start = text[at - 1] === ' ' ? at - 1 : at;
  const [match, wave] = [reading.match(MARK, start), reading.match(WAVE, start)];
  if (match === undefined) return undefined;
  const end = start + match[0].length;
  const after = text.slice(end, end + 3);
  if (FROM.test(before) && TO.test(after)) return { end, spoken: '에서 ', rule: 'range', clings: true };
  if (wave === undefined) return undefined;
  if (/[가-힣]$/.test(before) && /^[가-힣]/.test(after))
    return { end, spoken: '에서 ', rule: 'range', clings: true };
  return TERM.test(after)
    ? { end: at + 1, spoken: FROM.test(before) ? '부터' : '', rule: 'punctuation' }
    : undefined;
}

const DAY = /(\d{1,2})\/(\d{1,2})(?![\d/]|\.\d)/y;
const DATE_WORD =
  /(?:마감|기한|일시|일자|날짜|예정일|발매일|출시일|개봉일|예약일?|생일|오늘|내일|어제|다음|[월화수목금토일]요일)(?:은|는|이|가|:)? ?$/;
const FIRST_OF_TWO = /\d\/(\d{1,2})(?:\([월화수목금토일]\))? ?[~～∼-] ?$/;
const SECOND_OF_TWO = /^ ?[~～∼-] ?\d{1,2}\/(\d{1,2})(?![\d/])/;
const BEFORE_DATE_WORD =
  /^(?: ?\([월화수목금토일]| ?[월화수목금토일]요일|부터|까지|자 | ?(?:오전|오후|마감|휴무|출발|도착|개봉|출시|발매|시작|입고|예정|개막|방송|공개|\d{1,2}(?::\d\d|시))| ?[가-힣]{1,4}(?:날|절|데이|마스))/;
const SHARE = /^ ?(?:의 확률|의 비율|정도|이상|이하|크기|수준|확률|컵|배|박자|만|가|이 |을|를|로)/;
const SHARE_WORD = /(?:지분|비율|확률|몫)(?:은|는|이|가)? ?$/;
const LAST_DAY = 31;

/** 1/15(월), 12/25: no fraction; 1/3 alone is one. */
function monthDay(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (/[/.]/.test(text[at - 1] ?? '')) return undefined;
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
  const share = SHARE.test(after) || SHARE_WORD.test(before);
  if (!card && !known && (share || !(zero || likely))) return undefined;
  const date = card
    ? ({ year: day, month: first, style: 'numeric' } as const)
    : ({ month: first, day: withoutZeros(day), style: 'name' } as const);
  const spoken = SPEECH.date(date, around);
  const more = moreDays(reading, end, (one) => `${cardinal(one)}일`);
  return spoken === undefined ? undefined : { end: more.end, spoken: spoken + more.spoken, rule: 'date' };
}

/** 3/5~3/8 are days, 1/3~2/3 shares of one kind. */
function isOneOfTwo(before: string, after: string, day: string): boolean {
  const other = FIRST_OF_TWO.exec(before)?.[1] ?? SECOND_OF_TWO.exec(after)?.[1];
  return other !== undefined && (other !== day || Number(day) > 12);
}

/** The validity of a card is a month and a year. */
function isCard(before: string): boolean {
  return /카드[^.!?]{0,40}$/.test(before) && /(?:유효 ?기[간한]|만료)[^.!?]{0,4}$/.test(before);
}

const QUARTER = /([1-4])\/4(?=분기)/y;

/** 3/4분기 is the third of four. */
function quarter(reading: Reading): Found | undefined {
  const match = reading.match(QUARTER);
  return match && { end: reading.at + 3, spoken: `${cardinal(match[1] ?? '')}사`, rule: 'date' };
}

const DOTTED_DAY =
  /(\d{1,2})\. ?(\d{1,2})\.(?= ?(?:[~～〜∼–-] ?\d|[(（][월화수목금토일]|부터|까지|기준|현재|[월화수목금토일]요일|\d{1,2}(?::\d\d|시)|오전|오후|에 |자 ))/y;

/** 5.1.~6.2., 6.3.(화) */
function dottedDay(reading: Reading): Found | undefined {
  const match = reading.match(DOTTED_DAY);
  const [written = '', month = '', day = ''] = match ?? [];
  const inYear = Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= LAST_DAY;
  if (
    match === undefined ||
    !inYear ||
    /[\d.]$/.test(reading.text.slice(Math.max(0, reading.at - 1), reading.at))
  )
    return undefined;
  const end = reading.at + written.length;
  const date = { month: Number(month), day: withoutZeros(day), style: 'name' } as const;
  const spoken = SPEECH.date(date, reading.around(end));
  if (spoken === undefined) return undefined;
  return lastDate(reading, end, spoken) ?? { end, spoken, rule: 'date' };
}

const FLOORS = /(\d{1,2})\/(\d{1,3})층/y;

/** 15/23층: the floor, of so many. */
function floorOfMany(reading: Reading): Found | undefined {
  const match = reading.match(FLOORS);
  const [written = '', floor = '', floors = ''] = match ?? [];
  if (match === undefined || Number(floor) > Number(floors)) return undefined;
  const spoken = `${cardinal(withoutZeros(floors))}층 중 ${cardinal(withoutZeros(floor))}층`;
  return { end: reading.at + written.length, spoken, rule: 'address' };
}

const PAIR = /(\d{1,4})\/(\d{1,4})(?![\d/]|\.\d)( ?mmHg)?/y;

/** 혈압 120/80, 월세 1000/50. */
function pair(reading: Reading): Found | undefined {
  const { text, at } = reading;
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
function shortDate(reading: Reading): Found | undefined {
  const { text, at } = reading;
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
function officialDate(reading: Reading): Found | undefined {
  const match = reading.match(OFFICIAL);
  const [written = '', year = '', month = '', day] = match ?? [];
  const inYear = Number(month) >= 1 && Number(month) <= 12 && Number(day ?? '1') <= 31;
  if (match === undefined || !inYear) return undefined;
  const end = reading.at + written.length;
  const parts = { month: Number(month), day: day && withoutZeros(day), style: 'name' } as const;
  const date = SPEECH.date(parts, reading.around(end));
  return date === undefined
    ? undefined
    : { end, spoken: `${cardinal(withoutZeros(year))}년 ${date}`, rule: 'date' };
}

/** In the order in which the language asks them. */
export const dateRules = {
  behindDigits: [
    [/\./, shortDate],
    [/\./, certain(dottedDay)],
    [/\//, certain(floorOfMany)],
    [/\//, certain(quarter)],
    [/\//, pair],
    [/\//, certain(monthDay)],
    [/^/, memorial],
  ],
  atMark: [
    [/[(（]/, weekday],
    [/['’‘]/, officialDate],
    [/['’‘]/, shortYear],
    [/[~～〜∼]/, open],
    [/[-–—~～〜∼]/, rangeMark],
  ],
} satisfies Rules;
