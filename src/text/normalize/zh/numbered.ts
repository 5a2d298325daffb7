// Numbers that Chinese reads by what stands beside them: codes, hotlines, rooms, trains, scores, parts.
import { isDigitAt } from '../characters.js';
import { numeralOf, withoutZeros } from '../numerals.js';
import type { Found, Reading } from '../reading.js';
import type { Keywords } from '../recognise/attached.js';
import { isScore } from './dates.js';
import { cardinal, decimal, spellClearly } from './numbers.js';
import { SPEECH } from './speech.js';

const LINK = '(?:号码|號碼|号|號|码|碼)?(?:是|为|為|即|输入|輸入|[:：#＃])?[ 【\\[「“"\']{0,2}$';
const CODES = new RegExp(
  `(?:验证码|驗證碼|动态码|密码|密碼|口令|编号|編號|单号|單號|订单|訂單|账号|賬號|帐号|帳號|账户|賬戶|帳戶|卡号|卡號|尾号|尾號|末四位|后四位|後四位|邮编|郵編|邮政编码|郵遞區號|工号|工號|学号|學號|代码|代碼|序列号|序號|身份证|身分證|取件码|取货码|取貨碼|提取码|邀请码|邀請碼|识别码|流水号|股票|[Qq]{2}|ID|[Ii]d|PIN|HTTP|[Ee]rror|ERROR|错误|錯誤|状态码|狀態碼|状态|会议|會議|案件|工单|房间|房間|包裹|快递|税号|发票)${LINK}`,
);
const CALLS = new RegExp(
  `(?:拨打|撥打|拨|撥|致电|致電|电话|電話|热线|熱線|客服|来电|來電|手机|手機|传真|傳真|座机|呼叫|打|咨询|諮詢|联系|聯繫|转接|转|轉接|轉|分机|分機|Tel|TEL|tel|☎|📞)${LINK}`,
);
const COUNTED =
  /^ ?(?:[个個元块塊年月日天次张張条條件单單%万萬亿億千百位名人份笔筆盒瓶遍分点點秒小年米度岁歲]|公[里斤]|[/~–—-]\d)/;

/** What stands before a code and before a telephone number. */
export const KEYWORDS: Keywords = { codes: CODES, calls: CALLS, counted: COUNTED, pause: '，' };

const CLEARLY =
  /(\d{3,4})(?=号?[室房](?!间?[价屋产])|號[室房]|房间|房間|病房|包厢|教室|会议室|會議室|次(?:列车|列車|航班|高铁)|航班|路(?:公交|公車|车|車|站|线|電|电)|路(?=[^\p{Script=Han}]|$)|(?:急救|报警|報警|火警|热线|熱線))|(1\d{4}|9\d{4})(?=热线|熱線|客服|平台|服务)/uy;

/** 501室, 331路公交, 120急救: each digit. */
export function clearly(reading: Reading): Found | undefined {
  const digits = reading.isFresh ? reading.match(CLEARLY)?.[0] : undefined;
  if (digits === undefined || digits.endsWith('000')) return undefined;
  return { end: reading.at + digits.length, spoken: spellClearly(digits), rule: 'digits' };
}

const TRAIN =
  /([GDCZTKY]|[A-Z]{2}|[A-Z]\d|\d[A-Z])(\d{1,4})(?= ?(?:次|号?列车|列車|航班|高铁|高鐵|动车|動車))/y;
const CARRIED = /([GDCZTKY]|[A-Z]{2})(\d{2,4})(?![A-Za-z\d])/y;
const VEHICLE =
  /(?:航班号?|航班號|车次|車次|列车|列車|高铁|高鐵|动车|動車|乘坐|搭乘|班机|班機)(?:是|为|為|[:：])? ?$/;

/** G101次, 航班 CA1831. */
export function vehicle(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!reading.isFresh || !isDigitAt(text, reading.runEnd)) return undefined;
  const near = VEHICLE.test(text.slice(Math.max(0, at - 6), at));
  const match = reading.match(TRAIN) ?? (near ? reading.match(CARRIED) : undefined);
  if (match === undefined) return undefined;
  const [written, name = '', digits = ''] = match;
  return { end: at + written.length, spoken: `${name}${spellClearly(digits)}`, rule: 'identifier' };
}

const PARTS = /(\d{1,6})分之(\d{1,6}(?:\.\d{1,6})?)/y;
const SCORE = /(\d{1,3})[-–:](\d{1,3})(?![\d:.-]\d|\d)/y;
const PRESSURE = /(\d{2,3})\/(\d{2,3}) ?(?:mmHg|毫米汞柱)/y;
const SCALE = /(\d):(\d{4,9})(?![\d:]|\.\d)/y; // of a map

/** 3分之2; 3-1战胜. */
export function parts(reading: Reading): Found | undefined {
  if (!reading.isFresh) return undefined;
  const part = reading.match(PARTS);
  if (part !== undefined) {
    const [written, of = '', some = ''] = part;
    const [whole = '', decimals = ''] = some.split('.');
    const spoken = `${cardinal(withoutZeros(of))}分之${decimal({ ...numeralOf(withoutZeros(whole)), decimals })}`;
    return { end: reading.at + written.length, spoken, rule: 'fraction' };
  }
  const pressure = reading.match(PRESSURE);
  if (pressure !== undefined) {
    const spoken = `${cardinal(pressure[1] ?? '')}，${cardinal(pressure[2] ?? '')}毫米汞柱`;
    return { end: reading.at + pressure[0].length, spoken, rule: 'measure' };
  }
  const scale = reading.match(SCALE);
  const score = scale ?? reading.match(SCORE);
  const known =
    scale !== undefined || (score !== undefined && isScore(reading, reading.at + score[0].length));
  if (score === undefined || !known) return undefined;
  const [written, home = '', guest = ''] = score;
  const spoken = SPEECH.score(cardinal(withoutZeros(home)), cardinal(withoutZeros(guest)));
  return { end: reading.at + written.length, spoken, rule: 'score' };
}

const ZONE = /(UTC|GMT)([-+−])(\d{1,2})(?!\d|[.:]\d)/y;

/** UTC+8: 加, where a number would have 正. */
export function zone(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(ZONE) : undefined;
  if (match === undefined) return undefined;
  const [written, name = '', mark, hours = ''] = match;
  const spoken = `${name}${mark === '+' ? '加' : '减'}${cardinal(withoutZeros(hours))}`;
  return { end: reading.at + written.length, spoken, rule: 'zone' };
}

/** 10万+, 100+人. */
export function more({ text, at }: Reading): Found | undefined {
  const open =
    text[at] === '+' &&
    /[\d万亿萬億千百%]/.test(text[at - 1] ?? '') &&
    !/^ ?[\d+(A-Za-z]/.test(text.slice(at + 1, at + 3));
  return open ? { end: at + 1, spoken: '加', rule: 'symbol' } : undefined;
}

const LONG_COUNT = /^ ?[人元个個次辆輛台家户戶件吨噸公平多余餘]/;

/** 12345678人 is counted, however long. */
export function longCount(reading: Reading): Found | undefined {
  const { text, at, runEnd } = reading;
  if (!reading.isFresh || runEnd - at < 8 || runEnd - at > 16 || text[at] === '0') return undefined;
  if (!LONG_COUNT.test(text.slice(runEnd, runEnd + 2))) return undefined;
  return { end: runEnd, spoken: cardinal(text.slice(at, runEnd)), rule: 'cardinal' };
}

const ROMAN = /(I{1,3}|IV|VI{0,3}|IX|X{1,2}I{0,3}V?)(?=[期型类類级級度部卷章篇世代区區]|号线)/y;
const ROMANS = 'I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX'.split(' ');

/** III期, II型; an X型 is no number. */
export function roman(reading: Reading): Found | undefined {
  const written = reading.isFresh ? reading.match(ROMAN)?.[0] : undefined;
  const value = written === undefined ? 0 : ROMANS.indexOf(written) + 1;
  if (written === undefined || value === 0 || (written.length === 1 && written !== 'I')) return undefined;
  return { end: reading.at + written.length, spoken: cardinal(String(value)), rule: 'roman' };
}

const TOPIC = /#([^#\s\d][^#\s]{0,29})#/y;

/** #春节#: a topic between two signs. */
export function topic(reading: Reading): Found | undefined {
  const match = reading.text[reading.at] === '#' ? reading.match(TOPIC) : undefined;
  if (match === undefined || /\d/.test(match[1] ?? '')) return undefined;
  return { end: reading.at + match[0].length, spoken: `话题${match[1] ?? ''}`, rule: 'hashtag' };
}

const WAVE = /[~～〜]{1,4}(?=[。！？!?，,…\s]|$)/y;
const STOPS = /。{2,}/y;
const DOTS = /…{2,}/y;

/** 好的～, 。。。 and …… are tones of writing. */
export function tone(reading: Reading): Found | undefined {
  const stops = reading.match(STOPS);
  if (stops !== undefined) return { end: reading.at + stops[0].length, spoken: '。', rule: 'punctuation' };
  const dots = reading.match(DOTS);
  if (dots !== undefined) return { end: reading.at + dots[0].length, spoken: '……', rule: 'punctuation' };
  const wave = reading.match(WAVE);
  return wave && { end: reading.at + wave[0].length, spoken: '', rule: 'punctuation' };
}
