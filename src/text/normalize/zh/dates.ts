// Reads Chinese dates and years: 2024年1月15日, 95后, 9月-12月, 民國113/5/20.
// It also reads days without a year: 10/1放假, 截止日期12-31.
import { withoutZeros } from '../numerals.js';
import { certain, type Found, type Reading } from '../reading.js';
import { dashedDay, openRange } from '../recognise/attached.js';
import type { Rules } from '../shared-forms.js';
import { cardinal, spellDigits } from './numbers.js';
import { SPEECH } from './speech.js';

const YEAR_MONTH = /(\d{4}|\d{2}) ?年 ?(\d{1,2}) ?月(?: ?(\d{1,2}) ?([日号號]))?/y;
const YEAR = /(\d{2,4}) ?年/y;
// 3000年前, 1000年历史: years that are counted.
const COUNTED_YEARS = /^(?:[前后後以来來多间間]|历史|歷史|之|左右)(?!后|後)/;
const GENERATION = /([0156789][05])[后後](?![来來天面期年])/y;
const CLASS_YEAR = /^(?:出生|生|毕业|畢業|款|版|入学|入學|入职|考)/;
const SEASON = /(\d{4})[-–/](\d{2}|\d{4}) ?(?=赛季|賽季|学年|學年|财年|財年|年度)/y;
const PLAIN_MONTH = /((?:19|20)\d{2})\.(0[1-9]|1[0-2])(?=[-–~～至到起止（）()，。；、\s]|$)/y;
const RESOLUTION = /(\d{3,4})[pP](?![A-Za-z\d])/y;
const PORT = /(\d{2,5})(?=端口)|([1-5]\d\d)(?= ?(?:错误|錯誤|状态码|報錯|报错))/y;
const DISCOUNT = /([1-9][1-9])(?=折(?![线線叠疊]))/y;
const SALE = /(618|1111|1212)(?= ?(?:大促|购物|購物|年中|活动|期间|电商|[、和](?:双|雙|12\.12|1212|1111)))/y;
const DOTTED_DAY =
  /([3568])\.([148])(?= ?(?:[妇婦]女|[儿兒]童|[劳勞][动動]|青年|建[军軍])[节節]?)|(3|5|6|9|11|12)\.(11|12|15|18)(?= ?(?:都有|优惠|狂欢|晚会|大促|购物|地震|事件|消费者|活动|事变|打假))/y;
const FESTIVAL = /(\d{1,2})[·・•](\d{1,2})(?![\d·・•])/y;
const CLASS =
  /((?:19|20)\d{2})(?= ?[届级級屆](?!别|別))|(\d{2})(?=[级級](?:校友|同学|学生|新生|学长|学姐|本科|研究生|博士|硕士|毕业))/y;
const PADDED = /0(\d)(?= ?[月日号號时時点點])/y;

/** 2024年, 24年1月, 98年出生 digit by digit; 100年 and 3000年前 are counted. */
function date(reading: Reading): Found | undefined {
  const match = reading.match(YEAR_MONTH);
  if (match === undefined) return year(reading);
  const [written, years = '', month = '', day, mark = ''] = match;
  if (Number(month) < 1 || Number(month) > 12 || Number(day ?? '1') > 31) return undefined;
  const said = day === undefined ? '' : `${cardinal(withoutZeros(day))}${mark}`;
  const spoken = `${spellDigits(years)}年${cardinal(withoutZeros(month))}月${said}`;
  return { end: reading.at + written.length, spoken, rule: 'date' };
}

function year(reading: Reading): Found | undefined {
  const match = reading.match(YEAR);
  if (match === undefined) return undefined;
  const [written, digits = ''] = match;
  const end = reading.at + written.length;
  const after = reading.text.slice(end, end + 4);
  const before = reading.text.slice(Math.max(0, reading.at - 3), reading.at);
  return isYear(digits, before, after)
    ? { end, spoken: `${spellDigits(digits)}年`, rule: 'year' }
    : undefined;
}

const YEARS = /(\d{3,4}) ?(年?) ?(?:[-–—~～〜]{1,2}|[至到]) ?(\d{3,4}) ?年/y;
const LONGEST_SPAN = 200; // years, of three figures: 300-500年 are counted

/** 1937-1945年, 公元713—741年: from one year to another, digit by digit. */
function yearSpan(reading: Reading): Found | undefined {
  const match = reading.match(YEARS);
  const [written = '', from = '', mark = '', to = ''] = match ?? [];
  if (match === undefined || Number(from) >= Number(to) || from.startsWith('0')) return undefined;
  const end = reading.at + written.length;
  const isRound = from.endsWith('00') && to.endsWith('00');
  const isCounted = isRound && /^(?:[前来來多]|历史|歷史)/.test(reading.text.slice(end, end + 4));
  const isShort = from.length === 3 && (Number(to) - Number(from) > LONGEST_SPAN || isRound);
  if (isCounted || isShort || Number(to) > 2999) return undefined;
  return { end, spoken: `${spellDigits(from)}${mark}到${spellDigits(to)}年`, rule: 'year' };
}

const BEGINS = /(?:^|[（(，。；：、于於在自从從朝])$/;
const SPAN = /^(?:间|里|内|的|长|寿|[）)]?$)/;

function isYear(digits: string, before: string, after: string): boolean {
  if (/[公西]元前?$|元前 ?$/.test(before)) return !digits.endsWith('00');
  if (digits.startsWith('0')) return true;
  if (digits.length === 2) return CLASS_YEAR.test(after);
  if (
    digits.length === 3 &&
    !digits.endsWith('0') &&
    !COUNTED_YEARS.test(after) &&
    !/^ ?\d{1,2} ?月/.test(after)
  ) {
    const range = /(?:\d年?[-–—~～至]|[到至])$/.test(before) || /^[-–—~～至到]\d/.test(after);
    return range || (BEGINS.test(before) && !SPAN.test(after));
  }
  if (digits.length === 3 || digits.endsWith('000')) {
    return digits === '2000' && !COUNTED_YEARS.test(after);
  }
  return digits.length === 4 && digits < '3000';
}

/** 95后 are people, 5·12 and 3·15 days. */
function generation(reading: Reading): Found | undefined {
  const match = reading.match(GENERATION) ?? reading.match(FESTIVAL) ?? reading.match(DOTTED_DAY);
  if (match === undefined) return undefined;
  const [written, ...parts] = match;
  const [first = '', second] = parts.filter((part) => part !== undefined);
  const tail = second ?? written.slice(first.length);
  return { end: reading.at + written.length, spoken: spellDigits(first + tail), rule: 'date' };
}

/** 2024.06 where nothing is measured. */
function plainMonth(reading: Reading): Found | undefined {
  const match = reading.match(PLAIN_MONTH);
  if (match === undefined) return undefined;
  const spoken = `${spellDigits(match[1] ?? '')}年${cardinal(withoutZeros(match[2] ?? ''))}月`;
  return { end: reading.at + match[0].length, spoken, rule: 'date' };
}

/** 1080p, 618大促, 95折: each digit. */
function named(reading: Reading): Found | undefined {
  const match =
    reading.match(RESOLUTION) ??
    reading.match(SALE) ??
    reading.match(CLASS) ??
    reading.match(DISCOUNT) ??
    reading.match(PORT);
  if (match === undefined) return undefined;
  const [written, digits = written] = match;
  const letter = written.length > digits.length ? 'P' : '';
  return { end: reading.at + written.length, spoken: spellDigits(digits) + letter, rule: 'digits' };
}

/** 2023-24赛季: both halves digit by digit. */
function season(reading: Reading): Found | undefined {
  const match = reading.match(SEASON);
  if (match === undefined) return undefined;
  const spoken = `${spellDigits(match[1] ?? '')}到${spellDigits(match[2] ?? '')}`;
  return { end: reading.at + match[0].length, spoken, rule: 'range' };
}

/** 01月, 09点: the zero is not said. */
function padded(reading: Reading): Found | undefined {
  const match = reading.match(PADDED);
  if (match === undefined) return undefined;
  return { end: reading.at + 2, spoken: cardinal(match[1] ?? ''), rule: 'cardinal' };
}

const PADDED_MINUTES = /0(\d)(?= ?分)/y;

/** 9点05分 */
function paddedMinutes(reading: Reading): Found | undefined {
  const match = /[点點时時]/.test(reading.text[reading.at - 1] ?? '')
    ? reading.match(PADDED_MINUTES)
    : undefined;
  if (match === undefined) return undefined;
  return { end: reading.at + 2, spoken: `零${cardinal(match[1] ?? '')}`, rule: 'cardinal' };
}

const MARK = /( ?)(?:——|--|[-–—~～〜])\1/y;
// FROM matches the end of a range's first half, TO the beginning of its second half.
const FROM =
  /(?:\d\/\d{1,2}|\d ?(?:[年月日号號时時点點分秒岁歲元块塊万萬亿億米个個人层層楼页頁章级級届屆折度天周週%‰℃°]|(?:月龄|个月|周岁)|°C|km|kg|cm|mm|GB|MB)|\d[:：]\d\d|[周週][一二三四五六日]|星期[一二三四五六日天]|礼拜[一二三四五六日天])$/;
const TO =
  /^(?:[\d¥$€£+]|-\d|[周週][一二三四五六日]|星期|礼拜|上午|下午|中午|晚|凌晨|早上|次日|翌日|今|至今)/;

/** 9月-12月, 5%~10%, 周一-周五, 9:00–18:00. */
function rangeMark(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const before = text.slice(Math.max(0, at - 6), at).trimEnd();
  const start = text[at - 1] === ' ' ? at - 1 : at;
  const match = FROM.test(before) ? reading.match(MARK, start) : undefined;
  if (match === undefined) return undefined;
  const end = start + match[0].length;
  return TO.test(text.slice(end, end + 3)) ? { end, spoken: '到', rule: 'range' } : undefined;
}

const DAY = /(\d{1,2})\/(\d{1,2})(?![\d/]|\.\d)/y;
const AFTER_DATE_WORD =
  /(?:日期|截止|截至|还款日|還款日|到期日?|生日|时间|時間|今天|今日|明天|昨天|交期|[周週][一二三四五六日])(?:是|为|為|至|到|[：:])? ?[(（]?$/;
const FIRST_OF_TWO = /\d\/(\d{1,2}) ?[-–~～至到] ?$/;
const SECOND_OF_TWO = /^ ?[-–~～至到] ?\d{1,2}\/(\d{1,2})(?![\d/])/;
const BEFORE_DATE_WORD =
  /^ ?(?:[)）]? ?\d{1,2}:\d\d|[(（](?:[周週]?[一二三四五六日][)）]|星期)|放假|上班|上学|开[学业售播盘抢]|開[學業賣播盤]|起(?!来)|截止|截至|止|前|之前|之后|发布|發布|上[线市映]|出发|出發|举行|舉行|当[天日]|當[天日]|晚|早|上午|下午|中午|凌晨|[\p{Script=Han}]{0,3}[节節](?!约))/u;
const SHARE =
  /^ ?(?:的|以上|以下|人|左右|强|弱|多|处|概率|份|杯|公|英|升|小时|寸|吋|比例|决赛|決賽|拍|日元|波长)/;
const SHARE_WORD = /(?:份额|份額|股份|股权|股權|占比|佔比|比例|概率)(?:是|为|為|约|約|有)? ?$/;
const LAST_DAY = 31;

/** 10/1 is no fraction, nor is 03/25; 1/3 is one unless something tells of a day. */
function monthDay(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (/[/.第]/.test(text[at - 1] ?? '')) return undefined;
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
  if (SHARE.test(after) || SHARE_WORD.test(before)) return false;
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

/** 截止日期12-31. */
const dashed = dashedDay(/(?:日期|截止|截至|生日)(?:是|为|為|[：:])? ?$/, SPEECH);

const REPUBLIC = /(\d{2,3})([/.-])(\d{1,2})\2(\d{1,2})(?![\d/]|[.-]\d)/y;

/** 民國113/5/20; three digits are a year of the Republic also without its name. */
function republic(reading: Reading): Found | undefined {
  const { text, at } = reading;
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
function bracketedYear(reading: Reading): Found | undefined {
  if (!/[(（〔[]/.test(reading.text[reading.at - 1] ?? '')) return undefined;
  const digits = reading.match(BRACKETED)?.[0];
  return digits === undefined
    ? undefined
    : { end: reading.at + 4, spoken: spellDigits(digits), rule: 'year' };
}

/** '98年: the apostrophe is not said. */
function shortYear({ text, at }: Reading): Found | undefined {
  if (!/^\d{2} ?年/.test(text.slice(at + 1, at + 5))) return undefined;
  const digits = text.slice(at + 1, at + 3);
  return { end: at + 3, spoken: spellDigits(digits), rule: 'year' };
}

const DOTTED_DAYS =
  /(\d{1,2})\.(\d{1,2})-(\d{1,2})\.(\d{1,2})(?![\d.%A-Za-z℃°]| ?(?:[米元折分倍度万亿千百克斤吨岁年个公]|毫|厘|小时))/uy;

/** 3.1-6.30办理: days that a second month closes. */
function dottedDays(reading: Reading): Found | undefined {
  const match = reading.match(DOTTED_DAYS);
  if (match === undefined || /[\d.]/.test(reading.text[reading.at - 1] ?? '')) return undefined;
  const [month = 0, day = 0, lastMonth = 0, lastDay = 0] = match.slice(1).map(Number);
  const isDay = (of: number, one: number): boolean => of >= 1 && of <= 12 && one >= 1 && one <= 31;
  const grows = lastMonth > month || (lastMonth === month && lastDay > day);
  if (!isDay(month, day) || !isDay(lastMonth, lastDay) || !grows || lastDay < 10) return undefined;
  const say = (of: number, one: number): string => `${cardinal(String(of))}月${cardinal(String(one))}日`;
  const spoken = `${say(month, day)}到${say(lastMonth, lastDay)}`;
  return { end: reading.at + match[0].length, spoken, rule: 'date' };
}

/** In the order in which the language asks them. */
export const dateRules = {
  behindDigits: [
    [/[年\-–—~～〜至到]/, certain(yearSpan)],
    [/年/, certain(date)],
    [/\./, plainMonth],
    [/\./, certain(dottedDays)],
    [/[/.-]/, republic],
    [/[pP届级級屆大购購年活期电折端错錯状報报]/, certain(named)],
    [/[-–/]/, certain(season)],
    [/[月日号號时時点點]/, certain(padded)],
    [/分/, certain(paddedMinutes)],
    [/[后後·・•.]/, certain(generation)],
    [/[)）〕\]]/, bracketedYear],
  ],
  behindDigitsLater: [
    [/\//, monthDay],
    [/-/, dashed],
  ],
  atMark: [
    [
      /[~～〜]/,
      openRange(
        /(?:\d ?(?:元|块|塊|[万萬亿億]|年|月|日|号|號|岁|歲|人)|(?:年代|世[纪紀])[初前中后後]?[期叶葉]?|[初中末]期)$/,
        /^(?:[，。、,.；;）)\s]|的|$)/,
        '起',
      ),
    ],
    [/['’‘]/, shortYear],
    [/[-–—~～〜]/, certain(rangeMark)],
  ],
} satisfies Rules;
