// Reads Japanese numbers by the words beside them: house numbers, postcodes, Roman numerals, emergency
// calls, telephone numbers (03の1234の5678, 117) and the keys # and *.
import { withoutZeros } from '../numerals.js';
import { certain, type Found, type Reading } from '../reading.js';
import type { Keywords } from '../recognise/attached.js';
import type { Rules } from '../shared-forms.js';
import { cardinal, spellDigits } from './numbers.js';

const HOUSE = /(\d{1,4})[-−ー–](\d{1,4})(?:[-−ー–](\d{1,4}))?(?:[-−ー–](\d{1,4}))?(?![\d.-])/y;
const PLACE = /(?:[町村区市台丘原山川谷野橋宿田井木沢島崎本通条東西南北中央]|丁目)$/;
const NAME =
  // Three groups behind any name are a house.
  /\p{Script=Han}$|[都道府県市区町村郡][\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}ー]{1,12}$/u;
const NO_PLACE = /^ ?(?:[日月年時人個名回件本枚位点歳%％階]|で[勝負])/;

/** 西新宿2-8-1 is 二の八の一. */
function house(reading: Reading): Found | undefined {
  const before = reading.text.slice(Math.max(0, reading.at - 14), reading.at);
  if (!NAME.test(before)) return undefined;
  const match = reading.match(HOUSE);
  if (match === undefined) return undefined;
  const [written, ...groups] = match;
  const end = reading.at + written.length;
  const two = groups[2] === undefined;
  if (two && (!PLACE.test(before) || NO_PLACE.test(reading.text.slice(end, end + 3)))) return undefined;
  const said = groups.filter((group) => group !== undefined).map((group) => cardinal(withoutZeros(group)));
  // A building.
  const named = /^ [\p{Script=Han}\p{Script=Katakana}A-Z]/u.test(reading.text.slice(end, end + 2));
  return { end: named ? end + 1 : end, spoken: said.join('の') + (named ? '、' : ''), rule: 'address' };
}

const POSTCODE = /(\d{3})-?(\d{4})(?![\d-])( ?)/y;

/** 〒100-0001, 郵便番号は100-0001. */
function postcode(reading: Reading): Found | undefined {
  const before = reading.text.slice(Math.max(0, reading.at - 6), reading.at);
  if (!/(?:〒|郵便番号(?:は|:|：)?) ?$/.test(before)) return undefined;
  const match = reading.match(POSTCODE);
  if (match === undefined) return undefined;
  const pause = match[3] === '' ? '' : '、';
  const spoken = `${spellDigits(match[1] ?? '')}、${spellDigits(match[2] ?? '')}${pause}`;
  return { end: reading.at + match[0].length, spoken, rule: 'digits' };
}

const EMERGENCY = /110(?=番)/y;

/** 110番 has a reading of its own. */
function emergency(reading: Reading): Found | undefined {
  if (reading.match(EMERGENCY) === undefined) return undefined;
  return { end: reading.at + 3, spoken: 'ひゃくとお', rule: 'telephone' };
}

const LONG_COUNT = /^ ?[人円件個台回世票株]/;

/** 12345678円 is counted, however long. */
function longCount(reading: Reading): Found | undefined {
  const { text, at, runEnd } = reading;
  if (runEnd - at > 20 || text[at] === '0') return undefined;
  if (!LONG_COUNT.test(text.slice(runEnd, runEnd + 2))) return undefined;
  const yen = text[runEnd] === '円';
  return {
    end: yen ? runEnd + 1 : runEnd,
    spoken: cardinal(text.slice(at, runEnd)) + (yen ? '円' : ''),
    rule: yen ? 'currency' : 'cardinal',
  };
}

const ROMAN = /(I{1,3}|IV|VI{0,3}|IX|X{1,2}I{0,3}V?)(?=[世型期部章巻種類級類相度])/y;
const ROMANS = 'I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX'.split(' ');

/** 星の祭典III */
const BEHIND_NAME =
  /(?<=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー])(?:III?|IV|VIII?|IX)(?![A-Za-z\d])/uy;

/** III期, II型; an X型 is no number. */
export function roman(reading: Reading): Found | undefined {
  const match = reading.isFresh ? (reading.match(ROMAN) ?? reading.match(BEHIND_NAME)) : undefined;
  const written = match?.[0];
  const value = written === undefined ? 0 : ROMANS.indexOf(written) + 1;
  if (written === undefined || value === 0 || (written.length === 1 && written !== 'I')) return undefined;
  return { end: reading.at + written.length, spoken: cardinal(String(value)), rule: 'roman' };
}

const RUNS_OF_HOMER = /([23])ラン(?=ホームラン|本塁打|HR|ホーマー|を|で|が|の|、)/y;

/** 2ランホームラン: in baseball the figure is English. */
function runs(reading: Reading): Found | undefined {
  const [written, digit] = reading.match(RUNS_OF_HOMER) ?? [];
  if (written === undefined) return undefined;
  return { end: reading.at + 1, spoken: digit === '2' ? 'ツー' : 'スリー', rule: 'cardinal' };
}

const RELATION = /([<>≤≥≦≧]|<=|>=) ?(?=\d)/y;
const STOPS = /。{2,}/y;

const DOTS = /…{2,}/y;

/** 。。。 and …… are tones of writing; ≦ is the sign of this country for ≤. */
function sign(reading: Reading): Found | undefined {
  const stops = reading.match(STOPS);
  if (stops !== undefined) return { end: reading.at + stops[0].length, spoken: '。', rule: 'punctuation' };
  const dots = reading.match(DOTS);
  if (dots !== undefined) return { end: reading.at + dots[0].length, spoken: '……', rule: 'punctuation' };
  const relation = reading.match(RELATION)?.[1];
  const said = relation === '≦' ? '小なりイコール' : relation === '≧' ? '大なりイコール' : undefined;
  return said === undefined ? undefined : { end: reading.at + 1, spoken: said, rule: 'math' };
}

const LINK = '(?:番号|コード)?(?:は|が|の|を|に|、|[:：.])?[ 「『【（(\\[]{0,2}$';

/** Keywords before a code and before a telephone number. */
export const KEYWORDS: Keywords = {
  codes: new RegExp(
    `(?:暗証|認証|確認|注文|予約|会員|口座|お客様|受付|追跡|伝票|問い合わせ|お問い合わせ|社員|学籍|カード|整理|管理|製造|シリアル|支店|証券|銘柄|店番|郵便番号|末尾|下4桁|下四桁|パスワード|コード|PIN|ID|HTTP|エラー|ステータス|ステータスコード|ポート|免許証|保険証|旅券|マイナンバー|型番|品番|商品|(?<=(?:口座|支店|銀行)[^。]{0,12})(?:普通|当座))${LINK}`,
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
function dialled(reading: Reading): Found | undefined {
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
function areaCode(reading: Reading): Found | undefined {
  const match = reading.match(AREA);
  if (match === undefined) return undefined;
  const spoken = match
    .slice(1)
    .map((group) => spellDigits(group ?? ''))
    .join('、');
  return { end: reading.at + match[0].length, spoken, rule: 'telephone' };
}

const AMPERES = /\d{1,3}(?=A(?![A-Za-z\d-]))/y;

/** 契約は40A: near a word for electricity the A is a unit, and no letter of a code. */
function amperes(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const digits = reading.isFresh ? reading.match(AMPERES)?.[0] : undefined;
  if (digits === undefined || !ELECTRIC.test(text.slice(Math.max(0, at - 32), at + 32))) return undefined;
  return { end: at + digits.length + 1, spoken: `${cardinal(digits)}アンペア`, rule: 'measure' };
}

const ELECTRIC = /電[気力流圧源]|ブレーカー|基本料金|kWh|アンペア|[\dk]V(?![A-Za-z])|ヒューズ|コンセント/;
const SHORT_SIGNED = /[#＃]([789]\d{3})(?![\d,.a-zA-Z])/y;

/** #7119に相談: telephone numbers of the emergency services of Japan begin with the sign. */
function signed(reading: Reading): Found | undefined {
  const match = reading.match(SHORT_SIGNED);
  if (match === undefined) return undefined;
  const spoken = `シャープ${spellDigits(match[1] ?? '')}`;
  return { end: reading.at + match[0].length, spoken, rule: 'telephone' };
}

const KEY =
  /[#＃*＊](?=[」』]?(?:を(?:押|入力|プッシュ|$)|キー|ボタン|で終|または|か[、#*]|を、|[、。」]|$))/y;

/** #を押してください: the keys of a telephone. */
function key(reading: Reading): Found | undefined {
  const sign = reading.text[reading.at] ?? '';
  if (!/[#＃*＊]/.test(sign) || /[A-Za-z\d*＊#]/.test(reading.text[reading.at - 1] ?? '')) return undefined;
  if (reading.match(KEY) === undefined) return undefined;
  const near = reading.text.slice(Math.max(0, reading.at - 24), reading.at + 24);
  if (!/押|入力|キー|ボタン|プッシュ|終了/.test(near) || near.includes('**')) return undefined;
  return { end: reading.at + 1, spoken: /[#＃]/.test(sign) ? 'シャープ' : 'こめじるし', rule: 'symbol' };
}

/** In the order in which the language asks them. */
export const numberedRules = {
  behindDigits: [
    [/ラ/, certain(runs)],
    [[3, 7], postcode],
    [[2, 5], dialled],
    [/A/, certain(amperes)],
  ],
  behindDigitsLater: [
    [/[-−ー–]/, house],
    [/番/, emergency],
    [[8, 16], certain(longCount)],
  ],
  atMark: [
    [/[*＊#＃]/, certain(key)],
    [/[#＃]/, certain(signed)],
    [/（/, areaCode],
    [/[<>≤≥≦≧。…]/u, sign],
  ],
} satisfies Rules;
