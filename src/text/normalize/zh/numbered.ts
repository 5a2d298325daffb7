// Reads Chinese numbers by the words beside them: parts, pages, scores, zones, Roman numerals.
// It also reads hotlines, lists of telephone numbers, area codes in brackets, and the keys * and #.
import { isWordAt } from '../characters.js';
import { LiteralTable } from '../literals.js';
import { numeralOf, withoutZeros } from '../numerals.js';
import { certain, type Found, type Reading, type Rule } from '../reading.js';
import type { Keywords } from '../recognise/attached.js';
import { isWithHalf } from '../recognise/formulas.js';
import type { Rules } from '../shared-forms.js';
import { cardinal, countOf, decimal, spellClearly, spellDigits } from './numbers.js';
import { SPEECH } from './speech.js';
import { isScore } from './times.js';
import { WRITING } from './writing.js';

const SCORE = /(\d{1,3})[-–:](\d{1,3})(?![\d:.-]\d|\d)/y;
const PRESSURE = /(\d{2,3})\/(\d{2,3})(?![\d/.])( ?(?:mmHg|毫米汞柱))?/y;
const SCALE = /(\d):(\d{4,9})(?![\d:]|\.\d)/y; // scale of a map
const PAGE = /(\d{1,4})\/(\d{1,4})(?= ?(页|頁|步|题|題|章|集|期|轮|輪|张|張|条|條|项|項|关|關|局|屏|名|位))/y;
const OF_FIGURE = /(\d{1,2})-(\d{1,2})(?![\d-])/y;
const BEAT = /(\d)\/(\d)(?=拍)/y;
const CUT = /(\d{2,5})-(\d{1,4})(?!\d)/y;

/** 3分之2, 第1/3页, 图3-1, 3/4拍, 满300-50. */
function parts(reading: Reading): Found | undefined {
  const { text, at, runEnd } = reading;
  const mark = text[runEnd] ?? '';
  const before = text.slice(Math.max(0, at - 6), at);
  if (mark === '/')
    return (
      page(reading, before) ??
      pressure(reading, before) ??
      beat(reading) ??
      storey(reading) ??
      file(reading, before)
    );
  if (mark === '-' && /[图圖表例式章节附件]$/.test(before)) return ofFigure(reading);
  if (mark === '-' && DOCUMENT.test(before)) return file(reading, before);
  if (mark === '-' && /(?:满|滿)$/.test(before)) return two(reading, CUT, '减', 'math');
  return undefined;
}

function two(reading: Reading, pattern: RegExp, between: string, rule: Rule): Found | undefined {
  const match = reading.match(pattern);
  if (match === undefined) return undefined;
  const spoken = `${cardinal(withoutZeros(match[1] ?? ''))}${between}${cardinal(withoutZeros(match[2] ?? ''))}`;
  return { end: reading.at + match[0].length, spoken, rule };
}

/** 第1/3页: the first of three. */
function page(reading: Reading, before: string): Found | undefined {
  const match = /第 ?$/.test(before) ? reading.match(PAGE) : undefined;
  const [written = '', one = '', all = '', name = ''] = match ?? [];
  if (match === undefined || Number(one) > Number(all)) return undefined;
  const spoken = `${cardinal(withoutZeros(one))}${name}，共${countOf(numeralOf(withoutZeros(all)))}`;
  return { end: reading.at + written.length, spoken, rule: 'range' };
}

/** 血压120/80. */
function pressure(reading: Reading, before: string): Found | undefined {
  const match = reading.match(PRESSURE);
  if (match === undefined) return undefined;
  const [written, high = '', low = '', unit] = match;
  const known =
    unit !== undefined ||
    /[压壓][^\d]{0,3}$/.test(before) ||
    (Number(high) >= 90 && Number(low) >= 50 && Number(high) > Number(low) && high.length === 3);
  if (!known) return undefined;
  const spoken = `${cardinal(high)}，${cardinal(low)}${unit === undefined ? '' : '毫米汞柱'}`;
  return { end: reading.at + written.length, spoken, rule: 'measure' };
}

const STOREY = /(\d{1,2})\/(\d{1,2}) ?([层層楼樓])/y;

/** 12/28层: the twelfth of 28. */
function storey(reading: Reading): Found | undefined {
  const match = reading.match(STOREY);
  const [written = '', floor = '', all = '', name = ''] = match ?? [];
  if (match === undefined || Number(floor) > Number(all)) return undefined;
  const spoken = `${cardinal(withoutZeros(floor))}${name}，共${countOf(numeralOf(withoutZeros(all)))}${name}`;
  return { end: reading.at + written.length, spoken, rule: 'range' };
}

const DOCUMENT = /[单單号號同票证證][:：]? ?$/;
const FILE = /(\d{2,6})[/-](\d{2,6})(?![\d/.-]|[日月号號元个個天人])/y;

/** 账单118/25, 工单7734-24: the number of a paper. */
function file(reading: Reading, before: string): Found | undefined {
  const match = DOCUMENT.test(before) ? reading.match(FILE) : undefined;
  const [written = '', first = '', second = ''] = match ?? [];
  if (match === undefined || Number(first) <= Number(second)) return undefined;
  return {
    end: reading.at + written.length,
    spoken: `${spellDigits(first)}杠${spellDigits(second)}`,
    rule: 'identifier',
  };
}

/** 3/4拍 is named from below. */
function beat(reading: Reading): Found | undefined {
  const match = reading.match(BEAT);
  if (match === undefined) return undefined;
  return {
    end: reading.at + 3,
    spoken: `${cardinal(match[2] ?? '')}${cardinal(match[1] ?? '')}`,
    rule: 'fraction',
  };
}

/** 图3-1, 表2-2: no range. */
function ofFigure(reading: Reading): Found | undefined {
  const match = reading.match(OF_FIGURE);
  if (match === undefined || Number(match[1]) < Number(match[2])) return undefined;
  return two(reading, OF_FIGURE, '杠', 'identifier');
}

const PART_OF_GAME =
  /(?:[上下全]?半场|[上下全]?半場|全场|全場|加时赛?|加時賽?|点球|點球|大比分|总比分|决赛|決賽|(?:[首末胜勝]|第[一二三四五\d])[局盘盤])(?:中|以)?[：: ]?$/;
const GOALS = 20; // maximum for a team in one game
const TEAM = /[队隊] ?$/;
const NO_TEAM =
  /[第图圖表例式章节節附件号號室座栋棟区區线線路条條型款版页頁课課题題期楼樓约約共每前后後近达達在从從至到的了和与]$/;
const COUNTED =
  /^ ?(?:[人名个個位次年月日天周週岁歲支点點元块塊米分秒小只家场場局号號楼樓层層班组組级級节節章课課题題页頁条條期款版款区區室座栋棟单單度万萬亿億千百成倍折种種台件份张張本项項步轮輪届屆公])/;

/** 中国队1-2韩国队, 皇马3-1巴萨; 图3-1 and 3-5人 are none. */
function isGame({ text, at }: Reading, end: number, home: number, guest: number): boolean {
  if (isWithHalf(text, at, end)) return true;
  const before = text.slice(Math.max(0, at - 5), at);
  if (PART_OF_GAME.test(before)) return true;
  const after = text.slice(end, end + 3);
  if (
    home > guest &&
    home < GOALS &&
    /(?:^|[，,；;。！!])$/.test(before) &&
    /^(?:[，,；;。！!]|$)/.test(after)
  )
    return true;
  if (!/^ ?\p{Script=Han}/u.test(after) || COUNTED.test(after)) return false;
  return TEAM.test(before) || (home >= guest && /\p{Script=Han} ?$/u.test(before) && !NO_TEAM.test(before));
}

/** 3-1战胜, 1:50000. */
function score(reading: Reading): Found | undefined {
  const mark = reading.text[reading.runEnd] ?? '';
  if (!/[-–:]/.test(mark)) return undefined;
  const scale = reading.match(SCALE);
  const match = scale ?? reading.match(SCORE);
  if (match === undefined) return undefined;
  const end = reading.at + match[0].length;
  const game = (): boolean => mark !== ':' && isGame(reading, end, Number(match[1]), Number(match[2]));
  if (scale === undefined && !isScore(reading, end) && !game()) return undefined;
  const [written, home = '', guest = ''] = match;
  const spoken = SPEECH.score(cardinal(withoutZeros(home)), cardinal(withoutZeros(guest)));
  return { end: reading.at + written.length, spoken, rule: 'score' };
}

const ZONE = /(UTC|GMT)([-+−])(\d{1,2})(?!\d|[.:]\d)/y;

/** UTC+8: 加, where a number would have 正. */
function zone(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(ZONE) : undefined;
  if (match === undefined) return undefined;
  const [written, name = '', mark, hours = ''] = match;
  const spoken = `${name}${mark === '+' ? '加' : '减'}${cardinal(withoutZeros(hours))}`;
  return { end: reading.at + written.length, spoken, rule: 'zone' };
}

/** 10万+, 100+人. */
function more({ text, at }: Reading): Found | undefined {
  const open =
    /[\d万亿萬億千百%wWkK]/.test(text[at - 1] ?? '') && !/^ ?[\d+(A-Za-z]/.test(text.slice(at + 1, at + 3));
  return open ? { end: at + 1, spoken: '加', rule: 'symbol' } : undefined;
}

const ROMAN = /(I{1,3}|IV|VI{0,3}|IX|X{1,2}I{0,3}V?)(?=[期型类類级級度部卷章篇世代区區]|号线)/y;
/** 文明VI is left: it may be two letters. */
const BEHIND_NAME = /(?<=\p{Script=Han})(?:III?|IV|VIII?|IX)(?![A-Za-z\d])/uy;
const ROMANS = 'I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX'.split(' ');

/** III期, II型; an X型 is no number. */
function roman(reading: Reading): Found | undefined {
  const match = reading.isFresh ? (reading.match(ROMAN) ?? reading.match(BEHIND_NAME)) : undefined;
  const written = match?.[0];
  const value = written === undefined ? 0 : ROMANS.indexOf(written) + 1;
  if (written === undefined || value === 0 || (written.length === 1 && written !== 'I')) return undefined;
  return { end: reading.at + written.length, spoken: cardinal(String(value)), rule: 'roman' };
}

const TOPIC = /#([^#\s\d][^#\s]{0,29})#/y;

/** #春节#: a topic between two signs. */
function topic(reading: Reading): Found | undefined {
  const match = reading.match(TOPIC);
  if (match === undefined || /\d/.test(match[1] ?? '')) return undefined;
  const named = /[话話][题題][：: ]?$/.test(reading.text.slice(Math.max(0, reading.at - 3), reading.at));
  return {
    end: reading.at + match[0].length,
    spoken: `${named ? '' : '话题'}${match[1] ?? ''}`,
    rule: 'hashtag',
  };
}

const COUNTER = /#(\d{1,3})(?=[\p{Script=Han}])(?![^#\n]{1,20}#)/uy;

/** 请到#3柜台: a number between words is no topic. */
function numbered(reading: Reading): Found | undefined {
  const isJoined = /\p{Script=Han}$/u.test(reading.text.slice(Math.max(0, reading.at - 1), reading.at));
  const match = isJoined ? reading.match(COUNTER) : undefined;
  if (match === undefined) return undefined;
  const spoken = `${cardinal(withoutZeros(match[1] ?? ''))}号`;
  return { end: reading.at + match[0].length, spoken, rule: 'abbreviation' };
}

const HOUSES = /(\d{1,4})-(\d{1,4})(?=[号號])/y;

/** 建国路27-88号: one house. */
function house(reading: Reading): Found | undefined {
  const isStreet = /[路街道巷弄里村] ?$/.test(reading.text.slice(Math.max(0, reading.at - 2), reading.at));
  const match = isStreet ? reading.match(HOUSES) : undefined;
  if (match === undefined) return undefined;
  const [written, first = '', second = ''] = match;
  const spoken = `${cardinal(withoutZeros(first))}杠${cardinal(withoutZeros(second))}`;
  return { end: reading.at + written.length, spoken, rule: 'address' };
}

/** 92#汽油, 3#楼: 号. */
function numberMark({ text, at }: Reading): Found | undefined {
  const near = text.slice(Math.max(0, at - 2), at + 2);
  return /\d#[\p{Script=Han}]$/u.test(near) ? { end: at + 1, spoken: '号', rule: 'symbol' } : undefined;
}

const HALF_OR_QUARTER =
  /(20[0-4]\d)年?(?:H([12])|Q([1-4]))(?![A-Za-z\d])|([1-4])([HQ])([12]\d)(?![A-Za-z\d])/y;

/** 2024H1, 2024Q3, 3Q24: the parts of a year. */
function partOfYear(reading: Reading): Found | undefined {
  const match = reading.match(HALF_OR_QUARTER);
  if (match === undefined) return undefined;
  const [written, year, half, quarter, part = '', kind, short = ''] = match;
  const first = half ?? (kind === 'H' ? part : undefined);
  if (first !== undefined && Number(first) > 2) return undefined;
  const name =
    first === undefined ? `第${cardinal(quarter ?? part)}季度` : first === '1' ? '上半年' : '下半年';
  return {
    end: reading.at + written.length,
    spoken: `${spellDigits(year ?? `20${short}`)}年${name}`,
    rule: 'date',
  };
}

/** → 返回: what begins a line points at it. */
function arrow({ text, at }: Reading): Found | undefined {
  return at === 0 || text[at - 1] === '\n' ? { end: at + 1, spoken: '', rule: 'symbol' } : undefined;
}

const WAVE = /[~～〜]{1,4}(?=[。！？!?，,…\s]|$)/y;
const STOPS = /。{2,}/y;
const DOTS = /…{2,}/y;

/** 好的～, 。。。 and …… are tones of writing. */
function tone(reading: Reading): Found | undefined {
  const stops = reading.match(STOPS);
  if (stops !== undefined) return { end: reading.at + stops[0].length, spoken: '。', rule: 'punctuation' };
  const dots = reading.match(DOTS);
  if (dots !== undefined) return { end: reading.at + dots[0].length, spoken: '……', rule: 'punctuation' };
  const wave = reading.match(WAVE);
  return wave && { end: reading.at + wave[0].length, spoken: '', rule: 'punctuation' };
}

/** 12周+3天, (+1天): added, where a number alone would be 正. */
function inFront({ text, at }: Reading): Found | undefined {
  if (!/[周週天月年岁歲章节(（]$/.test(text[at - 1] ?? '')) return undefined;
  return /^\+\d{1,3} ?[天日周週个個小年月]/.test(text.slice(at, at + 6))
    ? { end: at + 1, spoken: '加', rule: 'math' }
    : undefined;
}

const BELOW = /-(?=\d{1,2}(?:\.\d)? ?[到至] ?-?\d{1,2}(?:\.\d)? ?(?:[度℃]|°C|摄氏度|攝氏度))/y;

const TWICE_BELOW = /-(\d{1,2}(?:\.\d)?) ?[~～] ?(?=-\d{1,2}(?:\.\d)? ?(?:[度℃]|°C|摄氏度|攝氏度))/y;

/** -5到3度: 零下, as the degree behind the second number says. */
function below(reading: Reading): Found | undefined {
  const twice = isWordAt(reading.text, reading.at - 1) ? undefined : reading.match(TWICE_BELOW);
  if (twice !== undefined) {
    const [whole = '', decimals = ''] = (twice[1] ?? '').split('.');
    const spoken = `零下${decimal({ ...numeralOf(withoutZeros(whole)), decimals })}到`;
    return { end: reading.at + twice[0].length, spoken, rule: 'range' };
  }
  if (isWordAt(reading.text, reading.at - 1) || reading.match(BELOW) === undefined) return undefined;
  return { end: reading.at + 1, spoken: '零下', rule: 'measure' };
}

const PRICED = /(?:\d ?(?:L|kWh)|元|块|塊|圆|[¥$€£]\d[\d.,]{0,8})$/;
const AMOUNT =
  /^\/\d{1,4}(?:\.\d)? ?(?:[kmμ]?g|KG|m?[lL]|[ck]?m|克|斤|公斤|千克|毫升|升|个|個|件|片|斤|次|人|平米|米|分钟|小时|天)/;
const PER_LITERALS = new LiteralTable(Object.entries(WRITING.per));
const LITRE = /^\/[Ll](?![A-Za-z])/;

/** 5.98元/500g; 10^9/L. */
function perAmount({ text, at }: Reading): Found | undefined {
  const before = text.slice(Math.max(0, at - 12), at);
  const after = text.slice(at, at + 12);
  if (/\d(?:秒|["″”])$/.test(before) && /^\/(?:km(?![A-Za-z])|公里)/.test(after))
    return {
      end: at + (after[1] === 'k' ? 3 : 1),
      spoken: after[1] === 'k' ? '每公里' : '每',
      rule: 'measure',
    };
  if (PRICED.test(before) && AMOUNT.test(after)) return { end: at + 1, spoken: '每', rule: 'measure' };
  if (PRICED.test(before) && /^\/(?:\p{Script=Han}|[A-Z]{2,3}(?![A-Za-z]))/u.test(after))
    return { end: at + 1, spoken: '每', rule: 'measure' };
  const per = /\d ?[万萬亿億千]$/.test(before) ? PER_LITERALS.at(text, at + 1) : undefined;
  if (per !== undefined) return { end: at + 1 + per.written.length, spoken: per.value, rule: 'measure' };
  const power = /(?:\^\d{1,2}|[⁰¹²³⁴⁵⁶⁷⁸⁹])$/.test(before) && LITRE.test(after);
  return power ? { end: at + 2, spoken: '每升', rule: 'measure' } : undefined;
}

const LINK = '(?:号码|號碼|号|號|码|碼)?(?:是|为|為|即|输入|輸入|[:：#＃.])?[ 【\\[「“"\'（(*＊]{0,2}$';
const CODES = new RegExp(
  `(?:验证码|优惠码|優惠碼|兑换码|兌換碼|折扣码|折扣碼|驗證碼|动态码|密码|密碼|口令|编号|編號|单号|單號|订单|訂單|账号|賬號|帐号|帳號|账户|賬戶|帳戶|卡号|卡號|尾号|尾號|末四位|后四位|後四位|邮编|郵編|邮政编码|郵遞區號|工号|工號|学号|學號|代码|代碼|序列号|序號|身份证|身分證|证件|證件|取件码|取货码|取貨碼|提取码|邀请码|邀請碼|识别码|流水号|股票|[Qq]{2}|ID|[Ii]d|PIN|HTTP|[Ee]rror|ERROR|错误|錯誤|错误码|状态码|狀態碼|状态|会议|會議|案件|工单|包裹|快递|税号|发票|端口|連接埠|CV[VC]2?|SN|群|批号|批號|条码|條碼|保单|保單|合同|房产证|护照|護照|校验码|统一编号|統編)${LINK}`,
);
const CALLS = new RegExp(
  `(?:拨打|撥打|拨|撥|致电|致電|电话|電話|热线|熱線|專線|专线|客服|来电|來電|手机|手機|传真|傳真|座机|呼叫|打|打了|打过|打給|打给|报了|咨询|諮詢|联系|聯繫|转接|转|轉接|轉|分机|分機|Tel|TEL|tel|☎|📞|房间|房間|房号|房號|客房|包间|包厢|区号|區號)${LINK}`,
);
const COUNTED_CALL =
  /^ ?(?:[个個元块塊年月日天次张張条條单件单%万萬亿億千百位名人份笔筆盒瓶遍分点點秒小年米度岁歲]|公[里斤]|美元|港元|[/~–—-]\d)/;

/** Keywords before a code and before a telephone number. */
export const KEYWORDS: Keywords = {
  codes: CODES,
  calls: CALLS,
  counted: COUNTED_CALL,
  pause: '，',
  called: /^ ?(?:打[个個]?电话|打[個个]?電話|发短信|發短信)/,
};

const CALLED_BEFORE =
  /(?:拨打|撥打|拨|撥|致电|致電|打|热线|熱線|專線|电话|電話|联系|聯繫)[^\d，。！？；]{0,4}\d[\d-]{2,12}(?:(?:[、，/]|或者?|和|与|與|及) ?\d[\d-]{2,12}){0,4}(?:[、/]|或者?|和|与|與|及|或) ?$/;
const ANOTHER = /\d{3,12}(?!\d|[.:：]\d)/y;

/** 拨打110或95588: the second is called as the first is. */
export function another(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!/[、/或者和与與及 ]/.test(text[at - 1] ?? '')) return undefined;
  if (!CALLED_BEFORE.test(text.slice(Math.max(0, at - 48), at))) return undefined;
  return called(reading, reading.match(ANOTHER)?.[0]);
}

function called(reading: Reading, digits: string | undefined): Found | undefined {
  const end = reading.at + (digits?.length ?? 0);
  if (digits === undefined || COUNTED_CALL.test(reading.text.slice(end, end + 4))) return undefined;
  return { end, spoken: spellClearly(digits), rule: 'telephone' };
}

const EMERGENCY = /1(?:10|19|20|22)(?!\d|[.:/-]\d)/y;
const EMERGENCY_NEAR = /(?:1(?:10|19|20|22)(?:[、/]|和|与|與|及|或)|报警|報警|急救|火警) ?$/;
const EMERGENCY_AFTER =
  /^(?:(?:[、/]|和|与|與|及|或)1(?:10|19|20|22)(?!\d)|(?:急救|报警|報警|火警|救护车|救護車|指挥中心|接警|出警|民警|警察|警车|中心|平台|电话|電話|热线|熱線|已经到|赶到|來了|来了|到场))/;
const HOTLINE =
  /(?:95\d{3}|96\d{3,4}|100(?:00|01|10|11|15|50|60|86|85)|1008611|12(?:306|315|345|318|333|348|355|365|369|378|388|395|320|329|358|123))(?!\d|[.:/-]\d)/y;
const HOTLINE_NEAR =
  /(?:银行|銀行|移动|移動|联通|聯通|电信|電信|铁路|鐵路|保险|保險|证券|快递|快遞|政务|市民|客户|官方|短信|通过|請洽|请洽|消费者|上) ?$/;
const HOTLINE_AFTER =
  /^ ?(?:热线|熱線|客服|平台|服务|服務|提醒|温馨|短信|发来|发送|官网|购票|网站|App|APP|app|订票|竭诚|市民|投诉|来电)/;

/** 110、119、120, 建设银行95533: known without a word for calling. */
export function hotline(reading: Reading): Found | undefined {
  const { text, at, runEnd } = reading;
  if (!/[19]/.test(text[at] ?? '')) return undefined;
  const [before, after] = [text.slice(Math.max(0, at - 8), at), text.slice(runEnd, runEnd + 6)];
  const emergency = reading.match(EMERGENCY);
  if (emergency !== undefined)
    return EMERGENCY_NEAR.test(before) || EMERGENCY_AFTER.test(after)
      ? called(reading, emergency[0])
      : undefined;
  const number = reading.match(HOTLINE);
  const known = number !== undefined && (HOTLINE_NEAR.test(before) || HOTLINE_AFTER.test(after));
  return known ? called(reading, number[0]) : undefined;
}

const AREA = /（(0\d{2,3})） ?(\d{3,4})[- ]?(\d{4})(?!\d)/y;

/** （021）62345678: the brackets are not said. */
function areaCode(reading: Reading): Found | undefined {
  const match = reading.match(AREA);
  if (match === undefined) return undefined;
  const [written, area = '', first = '', second = ''] = match;
  const spoken = `${spellClearly(area)}，${spellClearly(first + second)}`;
  return { end: reading.at + written.length, spoken, rule: 'telephone' };
}

const KEY = /([*＊#＃])(?=(号|號|键|鍵)?)/y;

/** 按#, 按*号键: the keys of a telephone. */
function key(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!/[按以]下?[“"「‘']?$/.test(text.slice(Math.max(0, at - 3), at))) return undefined;
  const match = reading.match(KEY);
  if (match === undefined || /[\d*＊#＃]/.test(text[at + 1] ?? '')) return undefined;
  const name = match[1] === '*' || match[1] === '＊' ? '星' : '井';
  const rest = match[2] === undefined ? '号键' : /[键鍵]/.test(match[2]) ? '号' : '';
  return { end: at + 1, spoken: name + rest, rule: 'symbol' };
}

/** In the order in which the language asks them. */
export const numberedRules = {
  behindDigits: [
    [/[HQ]/, partOfYear],
    [/[分/-]/, certain(parts)],
    [/-/, certain(house)],
    [/[-–:]/, score],
  ],
  atLetter: [roman, zone],
  atMark: [
    [/#/, certain(numbered)],
    [/#/, topic],
    [/#/, numberMark],
    [/→/, arrow],
    [/[*＊#＃]/, certain(key)],
    [/（/, areaCode],
    [/-/, certain(below)],
    [/\+/, certain(inFront)],
    [/\//, perAmount],
  ],
  atMarkLater: [
    [/\+/, more],
    [/[。…~～〜]/, tone],
  ],
} satisfies Rules;
