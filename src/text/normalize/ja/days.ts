// Japanese days without a year, and what looks like them: 5/3は祝日, 血圧120/80, 有効期限12/26 of a card.
import { withoutZeros } from '../numerals.js';
import type { Found, Reading } from '../reading.js';
import { cardinal } from './numbers.js';

const DAY = /(\d{1,2})\/(\d{1,2})(?![\d/.])/y;
const DATE_WORD =
  /(?:締切|締め切り|〆切|期限|期日|日程|日時|日付|納期|予定日|発売日|開催日|公開日|配信日|予約日?|誕生日|本日|明日|昨日|今日|次回|前回|[月火水木金土日]曜日?)(?:は|が|：|:|、|の)? ?$/;
const FIRST_OF_TWO = /\d\/(\d{1,2}) ?[〜～~-] ?$/;
const SECOND_OF_TWO = /^ ?[〜～~-] ?\d{1,2}\/(\d{1,2})(?![\d/])/;
const BEFORE_DATE_WORD =
  /^ ?(?:[(（](?:[月火水木金土日]|祝)|から|まで|より|以降|以前|時点|付|発売|開催|開始|開幕|開店|開業|締切|〆切|必着|放送|配信|公開|予定|当日|入社|退社|着|\d{1,2}(?::\d\d|時)|に(?:お届|発売|開催|公開|行|予定|開始|オープン|リリース|発表|実施)|[〜～~](?:[。、\s]|$)|の(?:朝|昼|夜|夕|午前|午後|会議|予約|試合|放送|イベント))/;
const SHARE =
  /^ ?(?:の(?:確|割合|人|量|大きさ|価格|面積)|倍|カップ|拍子|以上|以下|程度|サイズ|スケール|[Lｌlgk杯個本])/;
const LAST_DAY = 31;

/** 5/3は, 1/15(月), 1/15から: no fraction; 1/3 alone is one. */
export function monthDay(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!reading.isFresh || text[reading.runEnd] !== '/' || /[/.]/.test(text[at - 1] ?? '')) return undefined;
  const match = reading.match(DAY);
  const [written = '', month = '', day = ''] = match ?? [];
  const [first, second] = [Number(month), Number(day)];
  if (match === undefined || first < 1 || first > 12 || second < 1 || second > LAST_DAY) return undefined;
  const end = at + written.length;
  const [before, after] = [text.slice(Math.max(0, at - 48), at), text.slice(end, end + 8)];
  if (day.length === 2 && second > 23 && isCard(before))
    return { end, spoken: `二千${cardinal(day)}年${cardinal(withoutZeros(month))}月`, rule: 'date' };
  const known = DATE_WORD.test(before) || isOneOfTwo(before, after, day) || BEFORE_DATE_WORD.test(after);
  const zero = month.startsWith('0') || day.startsWith('0');
  const likely = first >= second || (first > 1 && second > 12); // hardly a share
  if (SHARE.test(after) || !(known || zero || likely)) return undefined;
  const spoken = `${cardinal(withoutZeros(month))}月${cardinal(withoutZeros(day))}日`;
  return { end, spoken, rule: 'date' };
}

/** 3/5〜3/8 are days, 1/3〜2/3 shares of one kind. */
function isOneOfTwo(before: string, after: string, day: string): boolean {
  const other = FIRST_OF_TWO.exec(before)?.[1] ?? SECOND_OF_TWO.exec(after)?.[1];
  return other !== undefined && other !== day;
}

/** The validity of a card is a month and a year. */
function isCard(before: string): boolean {
  return /カード[^。！？]{0,40}$/.test(before) && /(?:期限|EXP)[^。！？]{0,4}$/i.test(before);
}

const PRESSURE = /(\d{2,3})\/(\d{2,3})(?![\d/.])( ?mmHg)?/y;

/** 血圧は120/80. */
export function pressure(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!reading.isFresh || text[reading.runEnd] !== '/') return undefined;
  const match = reading.match(PRESSURE);
  const [written = '', high = '', low = '', unit] = match ?? [];
  const end = at + written.length;
  const named = unit !== undefined || /血圧[^\d。]{0,4}$/.test(text.slice(Math.max(0, at - 8), at));
  const likely = high.length === 3 && Number(high) >= 90 && Number(low) >= 50 && Number(high) > Number(low);
  if (match === undefined || !(named || likely)) return undefined;
  return {
    end,
    spoken: `${cardinal(high)}の${cardinal(low)}${unit === undefined ? '' : 'ミリメートルエイチジー'}`,
    rule: 'measure',
  };
}

/** '98年: the apostrophe is not said. */
export function shortYear({ text, at }: Reading): Found | undefined {
  if (!/['’‘]/.test(text[at] ?? '') || !/^\d{2} ?年/.test(text.slice(at + 1, at + 5))) return undefined;
  return { end: at + 3, spoken: cardinal(withoutZeros(text.slice(at + 1, at + 3))), rule: 'year' };
}
