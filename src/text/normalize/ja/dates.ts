// Reads Japanese dates, times and ranges: 2024/1/15(月), R6年, 午後3:30, 9:00〜18:00.
// It tells days without a year (5/3は祝日) from numbers of the same shape (血圧120/80).
import type { WrittenTime } from '../quantity.js';
import { withoutZeros } from '../numerals.js';
import { certain, type Found, type Reading } from '../reading.js';
import { isWithHalf } from '../recognise/formulas.js';
import { dashedDay, moreDays } from '../recognise/attached.js';
import { isBehindName } from '../recognise/times.js';
import type { Rules } from '../shared-forms.js';
import { cardinal } from './numbers.js';
import { SPEECH, time } from './speech.js';

const WEEKDAY = /[(（]([月火水木金土日])(?:曜日?)?(?:[・,、](祝日?|祝))?[)）]/y;
const PADDED = /0(\d)(?= ?[月日時分秒])/y;
const MIDNIGHT = /0(?=時(?!間))/y;
const ERA = /([MTSHR])\.?(\d{1,2})(?:年|\.(\d{1,2})\.(\d{1,2})(?![\d.]))/y;
const ERAS: Readonly<Record<string, string>> = { M: '明治', T: '大正', S: '昭和', H: '平成', R: '令和' };

/** 1月15日(月): the weekday is said in full. */
function weekday(reading: Reading): Found | undefined {
  const before = reading.text.slice(Math.max(0, reading.at - 3), reading.at);
  if (!/(?:日|\d)$/.test(before)) return undefined;
  const match = reading.match(WEEKDAY);
  if (match === undefined) return undefined;
  return {
    end: reading.at + match[0].length,
    spoken: `${match[1] ?? ''}曜日${match[2] === undefined ? '' : '、祝日'}`,
    rule: 'date',
  };
}

/** 01月, 09時05分: the zero is not said. */
export function padded(reading: Reading): Found | undefined {
  if (reading.match(MIDNIGHT) !== undefined) return { end: reading.at + 1, spoken: '零', rule: 'time' };
  const match = reading.match(PADDED);
  if (match === undefined) return undefined;
  const digit = match[1] ?? '';
  const midnight = digit === '0' && /[時分]/.test(reading.text.slice(reading.at + 2, reading.at + 4));
  return { end: reading.at + 2, spoken: midnight ? '零' : cardinal(digit), rule: 'cardinal' };
}

/** R6年, H30.4.1. */
function era(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(ERA) : undefined;
  if (match === undefined) return undefined;
  const [written, name = '', year = '', month, day] = match;
  const date =
    month === undefined ? '' : `${cardinal(withoutZeros(month))}月${cardinal(withoutZeros(day ?? ''))}日`;
  const spoken = `${ERAS[name] ?? name}${year === '1' ? '元' : cardinal(withoutZeros(year))}年${date}`;
  return { end: reading.at + written.length, spoken, rule: 'date' };
}

const CLOCK =
  /(\d{1,2}):([0-5]\d)(?::([0-5]\d)(?:\.\d{1,3})?)?(?: ?([AaPp])\.?[Mm]\.?(?![A-Za-z]))?(?![\d:]|\.\d)/y;
const HOUR = /(\d{1,2})()() ?([AaPp])\.?[Mm]\.?(?![A-Za-z\d])/y;
const HALF_FIRST = /([AaPp])\.?[Mm]\.? ?(?=\d{1,2}(?::\d\d|時))/y;
const SCORE_NEAR =
  /(?:スコア|結果|試合|比率|割合|縦横比|アスペクト比|比)(?:は|が|、|:|：)? ?(?:\d{1,3}[-–ー−:]\d{1,3}[、,] ?){0,4}$/;
const SCORE_AFTER =
  /^(?:[(（]\d{1,2}[-–ー−]\d{1,2}[)）])?(?:[、,] ?\d{1,3}[-–ー−:]\d{1,3}(?:[(（]\d{1,2}[-–ー−]\d{1,2}[)）])?){0,4} ?(?:で[^。、\d]{0,12}(?:破った|破り|下した|制した|敗れ|敗れた|勝利|勝った|勝ち|快勝|大勝|辛勝|逆転|引き分け|惜敗|完封|リード|優勝|敗退|突破|先制)|で(?:勝|負|敗|快勝|勝利|下し|破|逆転|引き分)|の(?:スコア|割合|比|引き分け|同点|ドロー|接戦|判定|[快大辛完]?勝))/;

/** 15:30, 9:05 PM. */
function clock(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (/[.:]/.test(text[at - 1] ?? '') && !isBehindName(text, at)) return undefined;
  const match = reading.match(CLOCK) ?? reading.match(HOUR);
  if (match === undefined) return undefined;
  const [written, hours = '', minutes = '', seconds, half] = match;
  const named = half === undefined && reading.text[reading.at + written.length] === '分'; // 21:05分
  const end = reading.at + written.length + (named ? 1 : 0);
  // 25:30 is after midnight.
  if (Number(hours) > 29 || (half === undefined && isScore(reading, end))) return undefined;
  if (half === undefined && LASTING.test(reading.text.slice(Math.max(0, reading.at - 9), reading.at)))
    return { end, spoken: lasting([hours, minutes, seconds]), rule: 'duration' };
  const said: WrittenTime = {
    hours: withoutZeros(hours),
    minutes,
    seconds: seconds || undefined, // '' of an hour alone
    half: half && halfName(half),
  };
  return { end, spoken: time(said), rule: 'time' };
}

const LASTING =
  /(?:再生|所要|通話|録音|録画|収録|走行|演奏|上映|待ち|合計)時間(?:は|が|：|:)? ?$|(?:タイム|記録|ラップ)(?:は|が|：|:)? ?$/;

/** 再生時間は03:25 is three minutes, タイムは1:23:45 an hour and more. */
function lasting([first = '', second = '', third]: readonly (string | undefined)[]): string {
  const amounts = third === undefined ? [first, second] : [first, second, third];
  const units = third === undefined ? ['分', '秒'] : ['時間', '分', '秒'];
  const said = amounts.map((amount, index) =>
    Number(amount) === 0 ? '' : cardinal(withoutZeros(amount)) + (units[index] ?? ''),
  );
  return said.join('') || `ゼロ${units.at(-1) ?? ''}`;
}

/** AM 9:00. */
function halfFirst(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(HALF_FIRST) : undefined;
  if (match === undefined) return undefined;
  return { end: reading.at + match[0].length, spoken: halfName(match[1] ?? ''), rule: 'time' };
}

function halfName(letter: string): string {
  return letter.toLowerCase() === 'p' ? '午後' : '午前';
}

function isScore(reading: Reading, end: number): boolean {
  const { text, at } = reading;
  return SCORE_NEAR.test(text.slice(Math.max(0, at - 40), at)) || SCORE_AFTER.test(text.slice(end, end + 48));
}

const SCORE = /(\d{1,3})[-–ー−:](\d{1,3})(?![\d:.-]\d|\d)/y;

const TEAM =
  /(?:日本|代表|韓国|中国|米国|英国|豪州|ジャパン|巨人|阪神|中日|広島|横浜|ヤクルト|ソフトバンク|日本ハム|オリックス|楽天|西武|ロッテ|浦和|川崎|鹿島|神戸|[FSJ]C) ?$/;
const TEAM_BEHIND = /^ ?[\p{Script=Han}\p{Script=Katakana}A-Z]/u;
const TIME_OF_GAME = /^ ?(?:[(（](?:延長|PK|前半|後半|\d{1,2}回|九回)|勝|負)/;
const PARTS = /(?:前半|後半|延長|PK|第[1-4]Q) ?$/;

/** 日本2-1スペイン, 前半1-0, 3-2(延長). */
function isGame({ text, at }: Reading, end: number): boolean {
  const after = text.slice(end, end + 5);
  if (TIME_OF_GAME.test(after) || isWithHalf(text, at, end)) return true;
  const before = text.slice(Math.max(0, at - 8), at);
  return PARTS.test(before) || (TEAM.test(before) && TEAM_BEHIND.test(after));
}

/** 3-1で勝利. */
function score(reading: Reading): Found | undefined {
  const match = reading.match(SCORE);
  if (match === undefined) return undefined;
  const end = reading.at + match[0].length;
  const game = (): boolean => !match[0].includes(':') && isGame(reading, end);
  if (!isScore(reading, end) && !game()) return undefined;
  const spoken = `${cardinal(withoutZeros(match[1] ?? ''))}対${cardinal(withoutZeros(match[2] ?? ''))}`;
  return { end: reading.at + match[0].length, spoken, rule: 'score' };
}

const MARK = /( ?)[-–—~～〜]\1/y;
const WAVE = /( ?)[~～〜]\1/y;
const FROM =
  /(?:\d ?(?:[年月日時分秒歳円万億個人名回階号本枚度%‰℃°話章条位点件代]|[kc]?m|k?g|[KMGT]B|曜日|か月|ヶ月|時間|週間)|(?:年代|世紀)(?:初頭|初期|前半|前期|半ば|中頃|中期|後半|後期|末)?|元年|\d[:：]\d\d|\d\/\d{1,2}|[(（][月火水木金土日][)）]|[月火水木金土日]曜日?|[¥￥$€£]\d[\d,.]{0,10})$/;
const TO = /^(?:[\d¥$€£]|-\d|[AaPp][Mm]|[月火水木金土日]曜|午前|午後|翌|同|正午|深夜|今|現在)/;
const TERM = /^(?:[。、,.！？!?\s()（）」]|$)/;

/** 9:00〜18:00, 月曜〜金曜, 東京〜大阪, 10:00〜; but ですよ〜 is a tone. */
function rangeMark(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const before = text.slice(Math.max(0, at - 10), at).trimEnd();
  const start = text[at - 1] === ' ' ? at - 1 : at;
  const [match, wave] = [reading.match(MARK, start), reading.match(WAVE, start)];
  if (match === undefined) return undefined;
  const end = start + match[0].length;
  const after = text.slice(end, end + 3);
  const open = wave !== undefined && (TERM.test(after) || /^[のでにが]/.test(after));
  const isRange = FROM.test(before) && (TO.test(after) || open);
  const ordered =
    wave !== undefined && /第[\d一二三四五六七八九十]{1,3}$/.test(before) && after.startsWith('第');
  const counted =
    wave !== undefined && /\d[\p{Script=Han}\p{Script=Katakana}]{0,3}$/u.test(before) && /^\d/.test(after);
  const between =
    wave !== undefined &&
    /[\p{Script=Han}\p{Script=Katakana}A-Za-z]$/u.test(before) &&
    /^[\p{Script=Han}\p{Script=Katakana}A-Za-z]/u.test(after);
  if (isRange || ordered || between || counted) return { end, spoken: 'から', rule: 'range' };
  return wave !== undefined && TERM.test(after)
    ? { end: at + 1, spoken: '', rule: 'punctuation' }
    : undefined;
}

const DAY = /(\d{1,2})\/(\d{1,2})(?![\d/.])/y;
const DATE_WORD =
  /(?:締切|締め切り|〆切|期限|期日|日程|日時|日付|納期|予定日|発売日|開催日|公開日|配信日|予約日?|誕生日|本日|明日|昨日|今日|次回|前回|[月火水木金土日]曜日?)(?:は|が|：|:|、|の)? ?$/;
const FIRST_OF_TWO = /\d\/(\d{1,2}) ?[〜～~-] ?$/;
const SECOND_OF_TWO = /^ ?[〜～~-] ?\d{1,2}\/(\d{1,2})(?![\d/])/;
const BEFORE_DATE_WORD =
  /^ ?(?:[(（](?:[月火水木金土日]|祝)|[月火水木金土日]曜|から|まで|より|以降|以前|時点|付|発売|開催|開始|開幕|開店|開業|締切|〆切|必着|放送|配信|公開|予定|当日|入社|退社|着|\d{1,2}(?::\d\d|時)|に(?:お届|発売|開催|公開|行|予定|開始|オープン|リリース|発表|実施)|[〜～~](?:[。、\s]|$)|の(?:朝|昼|夜|夕|午前|午後|会議|予約|試合|放送|イベント))/;
const SHARE =
  /^ ?(?:の(?:確|割合|人|量|大きさ|価格|面積)|倍|カップ|拍子|以上|以下|程度|サイズ|スケール|[Lｌlgk杯個本])/;
const SHARE_WORD = /(?:持分|持ち分|割合|確率|比率|シェア)(?:は|が|の|、)? ?$/;
const LAST_DAY = 31;

/** 締切は11-30 */
const dashed = dashedDay(DATE_WORD, SPEECH);

/** 5/3は, 1/15(月), 1/15から: no fraction; 1/3 alone is one. */
function monthDay(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (/[/.]/.test(text[at - 1] ?? '')) return undefined;
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
  if (SHARE.test(after) || SHARE_WORD.test(before) || !(known || zero || likely)) return undefined;
  const spoken = `${cardinal(withoutZeros(month))}月${cardinal(withoutZeros(day))}日`;
  const more = moreDays(reading, end, (one) => `${cardinal(one)}日`);
  return { end: more.end, spoken: spoken + more.spoken, rule: 'date' };
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
function pressure(reading: Reading): Found | undefined {
  const { text, at } = reading;
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
function shortYear({ text, at }: Reading): Found | undefined {
  if (!/^\d{2} ?年/.test(text.slice(at + 1, at + 5))) return undefined;
  return { end: at + 3, spoken: cardinal(withoutZeros(text.slice(at + 1, at + 3))), rule: 'year' };
}

/** In the order in which the language asks them. */
export const dateRules = {
  behindDigits: [
    [/\//, pressure],
    [/\//, monthDay],
    [/-/, dashed],
    [/[-–ー−:]/, certain(score)],
    [/[:aApP]/, clock],
  ],
  atLetter: [era, certain(halfFirst)],
  atMark: [
    [/[(（]/, weekday],
    [/['’‘]/, shortYear],
    [/[-–—~～〜]/, rangeMark],
  ],
} satisfies Rules;
