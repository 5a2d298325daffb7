// Names that are numbers in part: trains, flights, plates, rooms, roads, aircraft, shares, sums of money in 万
// as w.
import { isCapitalAt, isDigitAt } from '../characters.js';
import { numeralOf, readNumeral, withoutZeros } from '../numerals.js';
import { certain, type Found, type Reading } from '../reading.js';
import { floor } from '../recognise/names.js';
import type { Rules } from '../shared-forms.js';
import { cardinal, countOf, decimal, spellClearly, spellDigits } from './numbers.js';

const CLEARLY =
  /(\d{3,4})(?= ?号?[室房](?!间?[价屋产])|號[室房]|房间|房間|病房|诊室|診室|诊间|包间|包厢|考场|机房|教室|会议室|會議室|次(?:列车|列車|航班|高铁)|航班|(?:公[车車]|巴士)|路(?:公交|公車|车|車|站|线|電|电)|路(?=[^\p{Script=Han}]|$)|[国國省县]道|(?:急救|报警|報警|火警|热线|熱線|專線))|(1\d{4}|9\d{4})(?=热线|熱線|客服|平台|服务)/uy;
const ROOM = /\d{3,4}(?!\d|[.:/-]\d|[年月]| ?[个個元块塊米度户戶人位平次])/y;
const ROOM_NEAR =
  /(?:单元|單元|\d ?[栋棟幢]|\d ?(?:号|號)(?:楼|樓)|[A-Z][座栋棟]|教学楼|教學樓|办公楼|辦公樓|实验楼|宿舍楼|图书馆|大厦|公寓|公车|公車|公交|巴士|[国國省县]道)[-－ ]?$/;

/** 501室, 331路公交, 120急救, 2单元1801: each digit. */
function clearly(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const room = ROOM_NEAR.test(text.slice(Math.max(0, at - 5), at)) ? reading.match(ROOM) : undefined;
  const digits = (reading.match(CLEARLY) ?? room)?.[0];
  if (digits === undefined || digits.endsWith('000')) return undefined;
  return { end: reading.at + digits.length, spoken: spellClearly(digits), rule: 'digits' };
}

const TRAIN =
  /([GDCZTKYS]|[A-Z]{2}|[A-Z]\d|\d[A-Z])(\d{1,4})(?= ?(?:次|号?列车|列車|航班|高铁|高鐵|动车|動車|国道|國道|[、和/，][GDCZTK]\d{1,4}(?=次|号?列车|已|将|即将|因|晚点|停运)|(?:已|将|即将|因|晚点|正点|停运|到站|进站|出发|起飞|降落|抵达|延误|取消|开往|飞往)))/y;
const CARRIED = /([GDCZTKYS]|[A-Z]{2}|[A-Z]\d)(\d{2,4})(?![A-Za-z\d])/y;
const VEHICLE =
  /(?:航班号?|航班號|车次|車次|列车|列車|高铁|高鐵|动车|動車|火车|火車|乘坐|搭乘|班机|班機|航空|国航|东航|南航|海航|川航|厦航|华航|華航|長榮|(?:[GDCZTK]|[A-Z]{2})\d{1,4}(?:次)?[和、/])(?:是|为|為|[：:])? ?$/;

/** G101次, 航班 CA1831. */
function vehicle(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!reading.isFresh || !isDigitAt(text, reading.runEnd)) return undefined;
  const near = VEHICLE.test(text.slice(Math.max(0, at - 9), at));
  const match = reading.match(TRAIN) ?? (near ? reading.match(CARRIED) : undefined);
  if (match === undefined) return undefined;
  const [written, name = '', digits = ''] = match;
  return { end: at + written.length, spoken: `${name}${spellClearly(digits)}`, rule: 'identifier' };
}

const PLATE = /([A-Z])[·•・ ]?([A-Z\d]{5,6})(?![A-Za-z\d])/y;
const PROVINCE = /[京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼]$/;

/** 京A12345, 沪B·88888. */
function plate(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!reading.isFresh || !PROVINCE.test(text[at - 1] ?? '')) return undefined;
  const match = reading.match(PLATE);
  const [written = '', city = '', rest = ''] = match ?? [];
  if (match === undefined || !/\d.*\d.*\d/.test(rest)) return undefined;
  return { end: at + written.length, spoken: city + spellClearly(rest), rule: 'identifier' };
}

const MODEL =
  /(?:歼|殲|轰|轟|运|運|直|武直|教|东风|東風|神舟|天舟|长征|長征|嫦娥|红旗|巨浪|鹰击|霹雳|图|苏|蘇|米格?|伊尔|新冠|问天|天问|玉兔|爱国者|战斧|北斗|雄风|天弓|阿波罗|奥密克戎|维生素B|伽马)$/;
const NO_MODEL = /^-\d{1,4}(?:\.\d+)? ?[℃°度%多]/;

/** 歼-20, 东风-41: the hyphen is no minus. */
export function modelMark({ text, at }: Reading): Found | undefined {
  if (!isDigitAt(text, at + 1) || !MODEL.test(text.slice(Math.max(0, at - 3), at))) return undefined;
  return NO_MODEL.test(text.slice(at, at + 8)) ? undefined : { end: at + 1, spoken: '', rule: 'identifier' };
}

const AIRCRAFT = /(\d{3})(?:-(\d{2,4}))?(?![\d.])/y;
const NAMED =
  /(?:985|211)(?=[、/和与及]?(?:985|211|双一流|高校|大学|院校|工程|毕业|本科|硕士|学校|名校))|(?:996|007|955|965)(?=工作制|加班|模式|上[班下]|制|福报|[、和](?:996|007|955|965))|520(?=快乐|礼物|表白|情人节|告白|限定|礼)|911(?=事件|恐袭|恐怖)|(?:315|618|1212)(?=晚会|消费者|打假)|3721|(?<=台北)101|101(?=大[楼樓])/y;

/** 波音737-800, 985高校, 996工作制: each digit. */
function called(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const name = reading.match(NAMED)?.[0];
  if (name !== undefined) {
    const spoken = name === '211' ? spellClearly(name) : spellDigits(name);
    const counted = name === '3721' && text[at - 1] !== '管';
    return counted || isDigitAt(text, at + name.length)
      ? undefined
      : { end: at + name.length, spoken, rule: 'digits' };
  }
  const aircraft = /(?:波音|空客|空中客车|麦道)$/.test(text.slice(Math.max(0, at - 4), at))
    ? reading.match(AIRCRAFT)
    : undefined;
  if (aircraft === undefined) return undefined;
  const spoken = spellDigits((aircraft[1] ?? '') + (aircraft[2] ?? ''));
  return { end: at + aircraft[0].length, spoken, rule: 'identifier' };
}

const SHARE = /(\d{4,6})(?:\.(HK|SH|SZ|SS|BJ|TW|US|TWO))?(?=[)）])/y;
const TRADED = /^[)）].{0,16}?(?:股|涨|漲|跌|收|市值|证券|證券|发布|公告|财报|財報|营收|營收|净利)/;

/** （600519）, (0700.HK): the number of a share. */
function share(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!/\p{Script=Han} ?[(（]$/u.test(text.slice(Math.max(0, at - 3), at))) return undefined;
  const match = reading.match(SHARE);
  const [written = '', digits = '', market] = match ?? [];
  const end = at + written.length;
  const known =
    market !== undefined || /^(?:0\d+|[368]\d{5})$/.test(digits) || TRADED.test(text.slice(end, end + 24));
  if (match === undefined || !known) return undefined;
  return { end, spoken: spellDigits(digits) + (market === undefined ? '' : `点${market}`), rule: 'digits' };
}

const STANDARD = /(\d{1,6}(?:\.\d{1,2})?)(?:-((?:19|20)\d{2}|[6-9]\d))?(?![\d.]\d|\d)/y;
const STANDARD_NEAR = /(?:\b(?:GB|ISO|IEC|IEEE|RFC|RTX|GTX|RX|DB|YY|HJ|JB|QB|CVE)(?:\/[TZ])?) ?$/;

/** GB/T 7714-2015, RTX 4090: each digit. */
function standard(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!isCapitalAt(text, text[at - 1] === ' ' ? at - 2 : at - 1)) return undefined;
  if (!STANDARD_NEAR.test(text.slice(Math.max(0, at - 8), at))) return undefined;
  const match = reading.match(STANDARD);
  if (match === undefined) return undefined;
  const [number = '', part] = (match[1] ?? '').split('.');
  const spoken = spellDigits(number) + (part === undefined ? '' : `点${spellDigits(part)}`);
  const year = match[2] === undefined ? '' : `杠${spellDigits(match[2])}`;
  return { end: at + match[0].length, spoken: spoken + year, rule: 'identifier' };
}

const CITIZEN = /\d{17}[Xx](?![A-Za-z\d])/y;

/** An identity number that ends in X. */
function citizen(reading: Reading): Found | undefined {
  const digits = reading.match(CITIZEN)?.[0];
  if (digits === undefined) return undefined;
  return { end: reading.at + 18, spoken: `${spellDigits(digits.slice(0, 17))}X`, rule: 'digits' };
}

const MYRIADS = /[wW](?=(\+?)(?![A-Za-z\d]))/y;
const POWER_NEAR = /(?:功率|快充|充电|電源|电源|电机|输出|输入|瓦数)[^\d]{0,3}$/;
const POWER_AFTER = /^ ?(?:快充|闪充|闪充|超级|充电|无线|有线|灯|的?灯|电源|功率|音箱|大功率|电机|输出|快速)/;
const PEOPLE =
  /(?:粉丝?|播放|阅读|浏览|年薪|月薪|销量|点赞|存款|下载|用户|收藏|曝光|投资|预算|赚|花了?|卖)[^\d]{0,4}$/;

/** 年薪30w, 阅读量10W+; 65w快充 is a power. */
function myriads(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const number = readNumeral(text, at, { decimal: '.', grouping: [','] });
  const mark = number && reading.match(MYRIADS, number.end);
  if (number === undefined || mark === undefined) return undefined;
  const end = number.end + 1;
  const before = text.slice(Math.max(0, at - 8), at);
  if (POWER_NEAR.test(before) || POWER_AFTER.test(text.slice(end, end + 4)))
    return { end, spoken: `${countOf(number.numeral)}瓦`, rule: 'measure' };
  if (mark[0] === 'W' && mark[1] === '' && !PEOPLE.test(before)) return undefined;
  return { end, spoken: `${countOf(number.numeral)}万`, rule: 'cardinal' };
}

const THOUSANDS = /(\d{1,3})[kK] ?[-–~～到至] ?(\d{1,3})[kK](?![A-Za-z\d])/y;

/** 月薪8K-12K: two amounts and no name. */
function thousands(reading: Reading): Found | undefined {
  const match = reading.match(THOUSANDS);
  if (match === undefined || Number(match[1]) >= Number(match[2])) return undefined;
  const spoken = `${cardinal(`${withoutZeros(match[1] ?? '')}000`)}到${cardinal(`${withoutZeros(match[2] ?? '')}000`)}`;
  return { end: reading.at + match[0].length, spoken, rule: 'range' };
}

const STORED = /(\d{2,4}|\d{1,3}\.\d{1,2})([GMTK])(?![A-Za-z\d]|\/[A-Za-z])/y;

const RUN = /[跑泳离離深高长長] ?$/;

/** 120G, 100M: counted, and the letter; M is 兆. */
function stored(reading: Reading): Found | undefined {
  const match = reading.match(STORED);
  const [whole = '', decimals = ''] = (match?.[1] ?? '').split('.');
  if (match === undefined || /^0\d/.test(whole)) return undefined;
  const isData = match[2] === 'M' && !RUN.test(reading.text.slice(Math.max(0, reading.at - 2), reading.at));
  const spoken =
    decimal({ ...numeralOf(withoutZeros(whole)), decimals }) + (isData ? '兆' : (match[2] ?? ''));
  return { end: reading.at + match[0].length, spoken, rule: 'measure' };
}

const MAGNIFIED =
  /(\d{1,4}(?:\.\d{1,2})?)[xX×](?=倍|变焦|變焦|光学|光學|镜|鏡|速|放大|长焦|超广角|[，。、]|$)/y;

/** 3x变焦, 0.75x倍率: that many times. */
function magnified(reading: Reading): Found | undefined {
  const match = reading.match(MAGNIFIED);
  if (match === undefined) return undefined;
  const [whole = '', decimals = ''] = (match[1] ?? '').split('.');
  const end = reading.at + match[0].length;
  const times = /^倍(?!率)/.test(reading.text.slice(end, end + 2)) ? '' : '倍';
  return { end, spoken: countOf({ ...numeralOf(withoutZeros(whole)), decimals }) + times, rule: 'measure' };
}

const FLOOR = floor((number) => `${cardinal(number)}楼`, '地下', spellClearly);

/** In the order in which the language asks them. */
export const nameRules = {
  behindDigits: [
    [[1, 6], standard],
    [/[Xx]/, citizen],
  ],
  behindDigitsLater: [
    [/F/, certain(FLOOR)],
    [[3, 16], certain(clearly)],
    [[3, 4], certain(called)],
    [/[.)）]/, share],
    [/[wW.]/, certain(myriads)],
    [/[kK]/, certain(thousands)],
  ],
  behindDigitsLast: [
    [/[GMTK.]/, certain(stored)],
    [/[xX×.]/, magnified],
  ],
  atLetter: [certain(FLOOR), plate, vehicle],
} satisfies Rules;
