// Chinese times, durations on a clock, and what looks like them: 下午3:30, 时长03:25, 比分21:15.
import type { WrittenTime } from '../quantity.js';
import { withoutZeros } from '../numerals.js';
import type { Found, Reading } from '../reading.js';
import { isBehindName } from '../recognise/times.js';
import type { Rules } from '../shared-forms.js';
import { cardinal, spellDigits } from './numbers.js';
import { pauseBehindDay, SPEECH, time } from './speech.js';

const CLOCK =
  /(\d{1,2}):([0-5]\d)(?::([0-5]\d)(?:\.\d{1,3})?)?(?: ?([AaPp])\.?[Mm]\.?(?![A-Za-z]))?(?![\d:]|\.\d)/y;
const HALF_FIRST = /([AaPp])\.?[Mm]\.? ?(\d{1,2}):([0-5]\d)(?![\d:])/y;
const HOUR = /(\d{1,2})()() ?([AaPp])\.?[Mm]\.?(?![A-Za-z\d])/y;
const SCORE_NEAR =
  /(?:比分|比例|比率|比值|战胜|戰勝|击败|擊敗|大胜|大勝|领先|領先|落后|落後|不敌|不敵|力克)(?:为|為|是|约|約|[：: ])?(?:\d{1,3}[-–:]\d{1,3}[、，,] ?){0,4}$/;
const SCORE_AFTER =
  /^(?:[、，,] ?\d{1,3}[-–:]\d{1,3}){0,6} ?(?:战胜|戰勝|击败|擊敗|大胜|大勝|小胜|完胜|完勝|完败|横扫|领先|領先|落后|落後|获胜|獲勝|取胜|取勝|不敌|不敵|力克|战平|戰平|赢|贏|逆转|逆轉|的比[分例率]|破门|破門|晋级|晉級|夺冠|奪冠|险胜|險勝|绝杀|絕殺|告负|拿下|出局|淘汰|取得|零封|锁定|鎖定|握手言和|大捷|惜败|惜敗|失利|收获|[胜勝负負](?![率利者算败敗])|平(?=[。，,！!；;、\s）)]|$)|的?比赛结果)/;

/** 15:30, 9:05 PM. */
function clock(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (/[.:]/.test(text[at - 1] ?? '') && !isBehindName(text, at)) return undefined;
  const match = reading.match(CLOCK) ?? reading.match(HOUR);
  if (match === undefined) return undefined;
  const [written, hours = '', minutes = '', seconds, half] = match;
  const named = half === undefined && reading.text[reading.at + written.length] === '分'; // 21:05分
  const end = reading.at + written.length + (named ? 1 : 0);
  if (Number(hours) > 24 || (half === undefined && isScore(reading, end))) return undefined;
  if (half === undefined && isLasting(reading)) return lasting(reading, end, [hours, minutes, seconds]);
  const said: WrittenTime = {
    hours: withoutZeros(hours),
    minutes,
    seconds: seconds || undefined, // '' of an hour alone
    half: half && !isHalfWritten(reading) ? partOfDay(Number(hours), half.toLowerCase() === 'p') : undefined,
  };
  return { end, spoken: pauseBehindDay({ text, start: at }, time(said)), rule: 'time' };
}

/** 下午3:30 p.m. says it twice. */
function isHalfWritten({ text, at }: Reading): boolean {
  return /(?:上午|下午|早上|晚上|中午|凌晨) ?$/.test(text.slice(Math.max(0, at - 3), at));
}

/** Two numbers of a game or a ratio. */
export function isScore(reading: Reading, end: number): boolean {
  const { text, at } = reading;
  const before = text.slice(Math.max(0, at - 40), at);
  return SCORE_NEAR.test(before) || SCORE_AFTER.test(text.slice(end, end + 40));
}

function partOfDay(hour: number, pm: boolean): string {
  if (!pm) return hour === 12 || hour < 6 ? '凌晨' : '上午';
  if (hour === 12) return '中午';
  return hour >= 7 ? '晚上' : '下午';
}

/** AM 10:30. */
export function halfFirst(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(HALF_FIRST) : undefined;
  const [written = '', letter = '', hours = '', minutes = ''] = match ?? [];
  if (match === undefined || Number(hours) > 12) return undefined;
  const half = partOfDay(Number(hours), letter.toLowerCase() === 'p');
  const spoken = time({ hours: withoutZeros(hours), minutes, half });
  return { end: reading.at + written.length, spoken, rule: 'time' };
}

const LASTING =
  /(?:时长|時長|片长|片長|用时|用時|耗时|耗時|倒计时|倒數|历时|歷時|成绩|成績|全长|播放至|录音|剩余时间|马拉松|馬拉松)(?:为|為|是|约|約|[：:])? ?$/;

function isLasting({ text, at }: Reading): boolean {
  return LASTING.test(text.slice(Math.max(0, at - 8), at));
}

/** 时长03:25 is three minutes, 用时1:25:30 an hour and more. */
function lasting(
  reading: Reading,
  end: number,
  [first = '', second = '', third]: readonly (string | undefined)[],
): Found {
  const units = third === undefined ? (['min', 's'] as const) : (['h', 'min', 's'] as const);
  const amounts = third === undefined ? [first, second] : [first, second, third];
  const parts = units.map((unit, index) => [withoutZeros(amounts[index] ?? ''), unit] as const);
  const said = parts.filter(([amount]) => amount !== '0');
  const spoken = SPEECH.duration(said.length === 0 ? parts.slice(-1) : said, reading.around(end));
  return { end, spoken: spoken.replace(/分钟(?=.)/, '分'), rule: 'duration' };
}

const PRIMES = /(\d{1,3})['′’] ?(\d{1,2})(?:["″”]|'')(?!\d)/y;

/** 1'30". */
function primed(reading: Reading): Found | undefined {
  const match = reading.match(PRIMES);
  if (match === undefined) return undefined;
  const spoken = `${cardinal(withoutZeros(match[1] ?? ''))}分${cardinal(withoutZeros(match[2] ?? ''))}秒`;
  return { end: reading.at + match[0].length, spoken, rule: 'duration' };
}

const MINUTE_OF_GAME = /\d{1,3}(?=['′’](?![\d"″”'’]))/y;

/** 第67': the minute of a match. */
function minuteOfGame(reading: Reading): Found | undefined {
  const digits = reading.text[reading.at - 1] === '第' ? reading.match(MINUTE_OF_GAME)?.[0] : undefined;
  if (digits === undefined) return undefined;
  const spoken = `${cardinal(withoutZeros(digits))}分钟`;
  return { end: reading.at + digits.length + 1, spoken, rule: 'duration' };
}

const BEHIND_UNIT = /\d(?:米|块|塊|秒)$/;
const SHORT_PART = /\d{2}(?![\d.:/年月日点點时時]|[°%℃])/y;

/** 1米78, 9秒58, 12块50: two digits behind a unit are its decimals. */
export function hundredths(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!BEHIND_UNIT.test(text.slice(Math.max(0, at - 2), at))) return undefined;
  const digits = reading.match(SHORT_PART)?.[0];
  if (digits === undefined) return undefined;
  const said = digits.endsWith('0') ? digits.slice(0, 1) : digits;
  return { end: at + 2, spoken: spellDigits(said), rule: 'decimal' };
}

/** In the order in which the language asks them. */
export const timeRules = {
  behindDigits: [
    [/[:aApP]/, clock],
    [/['′’]/, primed],
    [/['′’]/, minuteOfGame],
  ],
} satisfies Rules;
