// Numbers that somebody calls or keys in: hotlines, lists of them, area codes in brackets, the keys * and #.
import type { Found, Reading } from '../reading.js';
import type { Keywords } from '../recognise/attached.js';
import { spellClearly } from './numbers.js';

const LINK = '(?:号码|號碼|号|號|码|碼)?(?:是|为|為|即|输入|輸入|[:：#＃.])?[ 【\\[「“"\'（(*＊]{0,2}$';
const CODES = new RegExp(
  `(?:验证码|驗證碼|动态码|密码|密碼|口令|编号|編號|单号|單號|订单|訂單|账号|賬號|帐号|帳號|账户|賬戶|帳戶|卡号|卡號|尾号|尾號|末四位|后四位|後四位|邮编|郵編|邮政编码|郵遞區號|工号|工號|学号|學號|代码|代碼|序列号|序號|身份证|身分證|证件|證件|取件码|取货码|取貨碼|提取码|邀请码|邀請碼|识别码|流水号|股票|[Qq]{2}|ID|[Ii]d|PIN|HTTP|[Ee]rror|ERROR|错误|錯誤|错误码|状态码|狀態碼|状态|会议|會議|案件|工单|包裹|快递|税号|发票|端口|連接埠|CV[VC]2?|SN|群|批号|批號|条码|條碼|保单|保單|合同|房产证|护照|護照|校验码|统一编号|統編)${LINK}`,
);
const CALLS = new RegExp(
  `(?:拨打|撥打|拨|撥|致电|致電|电话|電話|热线|熱線|專線|专线|客服|来电|來電|手机|手機|传真|傳真|座机|呼叫|打|打了|打过|打給|打给|报了|咨询|諮詢|联系|聯繫|转接|转|轉接|轉|分机|分機|Tel|TEL|tel|☎|📞|房间|房間|房号|房號|客房|包间|包厢|区号|區號)${LINK}`,
);
const COUNTED =
  /^ ?(?:[个個元块塊年月日天次张張条條单件单%万萬亿億千百位名人份笔筆盒瓶遍分点點秒小年米度岁歲]|公[里斤]|美元|港元|[/~–—-]\d)/;

/** What stands before a code and before a telephone number. */
export const KEYWORDS: Keywords = { codes: CODES, calls: CALLS, counted: COUNTED, pause: '，' };

const CALLED_BEFORE =
  /(?:拨打|撥打|拨|撥|致电|致電|打|热线|熱線|專線|电话|電話|联系|聯繫)[^\d，。！？；]{0,4}\d[\d-]{2,12}(?:(?:[、，/]|或者?|和|与|與|及) ?\d[\d-]{2,12}){0,4}(?:[、/]|或者?|和|与|與|及|或) ?$/;
const ANOTHER = /\d{3,12}(?!\d|[.:：]\d)/y;

/** 拨打110或95588: the second is called as the first is. */
export function another(reading: Reading): Found | undefined {
  const { text, at, runEnd } = reading;
  if (runEnd - at < 3 || !reading.isFresh || !/[、/或者和与與及 ]/.test(text[at - 1] ?? '')) return undefined;
  if (!CALLED_BEFORE.test(text.slice(Math.max(0, at - 48), at))) return undefined;
  return called(reading, reading.match(ANOTHER)?.[0]);
}

function called(reading: Reading, digits: string | undefined): Found | undefined {
  const end = reading.at + (digits?.length ?? 0);
  if (digits === undefined || COUNTED.test(reading.text.slice(end, end + 4))) return undefined;
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
  if (runEnd - at < 3 || runEnd - at > 7 || !/[19]/.test(text[at] ?? '') || !reading.isFresh)
    return undefined;
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
export function areaCode(reading: Reading): Found | undefined {
  const match = reading.text[reading.at] === '（' ? reading.match(AREA) : undefined;
  if (match === undefined) return undefined;
  const [written, area = '', first = '', second = ''] = match;
  const spoken = `${spellClearly(area)}，${spellClearly(first + second)}`;
  return { end: reading.at + written.length, spoken, rule: 'telephone' };
}

const KEY = /([*＊#＃])(?=(号|號|键|鍵)?)/y;

/** 按#, 按*号键: the keys of a telephone. */
export function key(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!/[*＊#＃]/.test(text[at] ?? '') || !/[按以]下?[“"「‘']?$/.test(text.slice(Math.max(0, at - 3), at)))
    return undefined;
  const match = reading.match(KEY);
  if (match === undefined || /[\d*＊#＃]/.test(text[at + 1] ?? '')) return undefined;
  const name = match[1] === '*' || match[1] === '＊' ? '星' : '井';
  const rest = match[2] === undefined ? '号键' : /[键鍵]/.test(match[2]) ? '号' : '';
  return { end: at + 1, spoken: name + rest, rule: 'symbol' };
}
