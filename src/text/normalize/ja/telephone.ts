// Numbers that somebody calls or keys in: 03の1234の5678, （03）1234-5678, 117, the keys # and *.
import type { Found, Reading } from '../reading.js';
import type { Keywords } from '../recognise/attached.js';
import { spellDigits } from './numbers.js';

const LINK = '(?:番号|コード)?(?:は|が|の|を|に|、|[:：.])?[ 「『【（(\\[]{0,2}$';

/** What stands before a code and before a telephone number. */
export const KEYWORDS: Keywords = {
  codes: new RegExp(
    `(?:暗証|認証|確認|注文|予約|会員|口座|お客様|受付|追跡|伝票|問い合わせ|お問い合わせ|社員|学籍|カード|整理|管理|製造|シリアル|支店|証券|銘柄|郵便番号|末尾|下4桁|下四桁|パスワード|コード|PIN|ID|HTTP|エラー|ステータス|ステータスコード|ポート|免許証|保険証|旅券|マイナンバー|型番|品番|商品|(?<=(?:口座|支店|銀行)[^。]{0,12})(?:普通|当座))${LINK}`,
  ),
  calls: new RegExp(`(?:電話|携帯|TEL|Tel|tel|FAX|ファックス|ファクス|フリーダイヤル|内線|ダイヤル)${LINK}`),
  counted: /^ ?(?:[個円年月日人名件回枚本台時分秒%万億千百階歳点つ目位度室台]|か月|ヶ月|[/~〜–-]\d)/,
  pause: '、',
};

const SPOKEN = /(0\d{1,4})の(\d{1,4})の(\d{3,4})(?!\d)/y;
const SHORT = /1(?:04|13|14|15|16|17|18|71|77|84|86|88|89)(?!\d|[.:/-]\d)/y;
const SHORT_NEAR = /(?:時報|天気予報|局番なし|番号案内|ダイヤル|ホットライン|電話番号|伝言)[^\d。]{0,4}$/;
const SHORT_AFTER = /^番?(?:に|へ|まで|で)?(?:お?電話|ダイヤル|通報|相談|おかけ|かけ|ご相談|ご連絡|連絡)/;

/** 03の1234の5678; 117 and 188 where they are called. */
export function dialled(reading: Reading): Found | undefined {
  if (!reading.isFresh) return undefined;
  const { text, at, runEnd } = reading;
  const spoken = text[runEnd] === 'の' ? reading.match(SPOKEN) : undefined;
  if (spoken !== undefined) {
    const groups = spoken.slice(1).map((group) => spellDigits(group ?? ''));
    return { end: at + spoken[0].length, spoken: groups.join('の'), rule: 'telephone' };
  }
  if (runEnd - at !== 3 || reading.match(SHORT) === undefined) return undefined;
  const called =
    SHORT_NEAR.test(text.slice(Math.max(0, at - 10), at)) || SHORT_AFTER.test(text.slice(runEnd, runEnd + 8));
  return called ? { end: runEnd, spoken: spellDigits(text.slice(at, runEnd)), rule: 'telephone' } : undefined;
}

const AREA = /（(0\d{1,4})） ?(\d{1,4})[-−‐– ]?(\d{4})(?!\d)/y;

/** （03）1234-5678: the brackets are not said. */
export function areaCode(reading: Reading): Found | undefined {
  const match = reading.text[reading.at] === '（' ? reading.match(AREA) : undefined;
  if (match === undefined) return undefined;
  const spoken = match.slice(1).map((group) => spellDigits(group ?? '')).join('、'); // prettier-ignore
  return { end: reading.at + match[0].length, spoken, rule: 'telephone' };
}

const KEY =
  /[#＃*＊](?=[」』]?(?:を(?:押|入力|プッシュ|$)|キー|ボタン|で終|または|か[、#*]|を、|[、。」]|$))/y;

/** #を押してください: the keys of a telephone. */
export function key(reading: Reading): Found | undefined {
  const sign = reading.text[reading.at] ?? '';
  if (!/[#＃*＊]/.test(sign) || /[A-Za-z\d*＊#]/.test(reading.text[reading.at - 1] ?? '')) return undefined;
  if (reading.match(KEY) === undefined) return undefined;
  const near = reading.text.slice(Math.max(0, reading.at - 24), reading.at + 24);
  if (!/押|入力|キー|ボタン|プッシュ|終了/.test(near) || near.includes('**')) return undefined;
  return { end: reading.at + 1, spoken: /[#＃]/.test(sign) ? 'シャープ' : 'こめじるし', rule: 'symbol' };
}
