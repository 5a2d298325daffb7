// Describes how Japanese is written: marks, months, units, currencies and magnitudes.
// Counters need no list: the number before them is the same for all.
import { ENGLISH_DATES, englishMonths, greekLetters } from '../greek.js';
import type { Currency, Magnitude, Noun, Writing } from '../language.js';
import { WESTERN_MAGNITUDES } from '../myriads.js';
import { cardinal } from './numbers.js';

/** `before`: said before the number, as in 時速五十キロメートル. */
function units(list: Readonly<Record<string, string>>): Record<string, Noun> {
  const found: Record<string, Noun> = {};
  for (const [written, named] of Object.entries(list)) {
    const [after = '', before] = named.split('|');
    for (const form of written.split(' ')) found[form] = { forms: [after], form: before };
  }
  return found;
}

// prettier-ignore
const UNITS: Readonly<Record<string, Noun>> = units({
  '% ％': 'パーセント', '‰': 'パーミル', 'km ㎞': 'キロメートル', m: 'メートル', 'cm ㎝ CM': 'センチメートル', 'mm ㎜ MM': 'ミリメートル', 'μm µm': 'マイクロメートル', nm: 'ナノメートル',
  'km² km2': '平方キロメートル', 'm² m2 ㎡': '平方メートル', 'cm² cm2': '平方センチメートル', 'm³ m3': '立方メートル', 'cm³ cm3 cc': '立方センチメートル', '回/分': '回毎分', '拍/分': '拍毎分', 'U/L': '単位パーリットル', '㎥': '立方メートル', 'mg/kg': 'ミリグラムパーキログラム',
  'kg ㎏ KG': 'キログラム', g: 'グラム', 'mg ㎎': 'ミリグラム', 'μg µg': 'マイクログラム', t: 'トン', lb: 'ポンド', oz: 'オンス', ha: 'ヘクタール',
  'L l ℓ': 'リットル', 'mL ml ㎖ ML': 'ミリリットル', dL: 'デシリットル', 'km/L km/l': 'キロメートルパーリットル', 'km/h': 'キロメートル|時速', 'm/s': 'メートル|秒速', 'm/s²': 'メートル毎秒毎秒', mph: 'マイル|時速',
  mi: 'マイル', ft: 'フィート', yd: 'ヤード', h: '時間', min: '分', 's sec': '秒', ms: 'ミリ秒', ns: 'ナノ秒', '℃ °C': '度', '℉ °F': '度|華氏', '°': '度',
  Hz: 'ヘルツ', kHz: 'キロヘルツ', MHz: 'メガヘルツ', GHz: 'ギガヘルツ', W: 'ワット', 'kW KW': 'キロワット', MW: 'メガワット', GW: 'ギガワット', kWh: 'キロワット時', V: 'ボルト', kV: 'キロボルト',
  mA: 'ミリアンペア', mAh: 'ミリアンペアアワー', Ω: 'オーム', dB: 'デシベル', Pa: 'パスカル', hPa: 'ヘクトパスカル', kPa: 'キロパスカル', MPa: 'メガパスカル', J: 'ジュール', kJ: 'キロジュール', N: 'ニュートン',
  cal: 'カロリー', kcal: 'キロカロリー', KB: 'キロバイト', MB: 'メガバイト', GB: 'ギガバイト', TB: 'テラバイト', PB: 'ペタバイト', kbps: 'キロビーピーエス', Mbps: 'メガビーピーエス', Gbps: 'ギガビーピーエス',
  'MB/s': 'メガバイト|毎秒', 'GB/s': 'ギガバイト|毎秒', 'TB/s': 'テラバイト|毎秒', 'KB/s': 'キロバイト|毎秒', rpm: '回転|毎分', fps: 'フレーム|毎秒', bpm: '|心拍数', ppm: 'ピーピーエム', mmHg: 'ミリメートルエイチジー', 'mg/dL': 'ミリグラムパーデシリットル', 'mmol/L': 'ミリモルパーリットル',
  'μg/m³ µg/m³': 'マイクログラムパー立方メートル', px: 'ピクセル', 'pt ｐｔ': 'ポイント', '㍑': 'リットル', '㌔': 'キロ', '㍉': 'ミリ', '㍍': 'メートル', '㌶': 'ヘクタール', '㍗': 'ワット', '㌍': 'カロリー', '㌻': 'ページ', '㌣': 'セント', '㌢': 'センチ', '㌘': 'グラム', '㌧': 'トン', '㌫': 'パーセント', '㌦': 'ドル',
});

// prettier-ignore
const PER: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    '月 month mo か月 ヶ月': '一か月', '年 year': '一年', '日 day': '一日', '週 week': '一週間', '人': '一人', '時 時間 h hour': '一時間', '分 min': '一分', '秒 s': '一秒', '回': '一回', '個': '一個', '枚': '一枚', '本': '一本', '台': '一台',
    '泊': '一泊', '名': '一名', 'kg': '一キログラム', 'km': '一キロメートル', 'L': '一リットル', 'm²': '一平方メートル', '㎡': '一平方メートル', '坪': '一坪', 'GB': '一ギガバイト', 'kWh': '一キロワット時', 'g': '一グラム', '株': '一株', '部': '一部', '室': '一室',
  }).flatMap(([forms, said]) => forms.split(' ').map((form) => [form, `、${said}あたり`] as const)),
);

function currency(name: string, minor?: string): Currency {
  return { forms: [name], minor: minor === undefined ? undefined : { forms: [minor] } };
}

const MAGNITUDES: Readonly<Record<string, Magnitude>> = {
  ...WESTERN_MAGNITUDES,
  ...Object.fromEntries(
    Object.entries({ 百: 2, 千: 3, 万: 4, 十万: 5, 百万: 6, 千万: 7, 億: 8, 兆: 12, 京: 16 }).map(
      ([form, power]) => [form, { power, forms: [form] }] as const,
    ),
  ),
};

// prettier-ignore
export const WRITING: Writing = {
  numbers: { decimal: '.', grouping: [','] },
  dates: { months: englishMonths((month) => `${cardinal(String(month))}月`), weekdays: [], orders: {}, ...ENGLISH_DATES },
  // Times are recognised in `dates.ts`: what stands behind them is no boundary here.
  times: { marks: [], halves: {}, words: {}, zones: {} },
  telephone: {
    patterns: [
      /0\d{1,4}([-−‐–])\d{1,4}\1\d{3,4}(?!\d|[-.]\d)/y,
      /0\d{1,4} ?\(\d{1,4}\) ?\d{3,4}(?!\d|[-.]\d)/y,
      /\(0\d{1,4}\) ?\d{1,4}-\d{4}(?!\d|[-.]\d)/y,
      /0[5789]0 ?\d{4} ?\d{4}(?!\d|[-.]\d)/y,
      /0(?:120|570|800) ?\d{3} ?\d{3,4}(?!\d|[-.]\d)/y,
    ],
    keywords: new Set(['tel', 'fax']),
  },
  currencies: {
    JPY: currency('円'), USD: currency('ドル', 'セント'), EUR: currency('ユーロ', 'セント'), GBP: currency('ポンド', 'ペンス'), CNY: currency('元'), RMB: currency('元'), KRW: currency('ウォン'), HKD: currency('香港ドル'), TWD: currency('台湾ドル'),
    SGD: currency('シンガポールドル'), AUD: currency('オーストラリアドル', 'セント'), CAD: currency('カナダドル', 'セント'), NZD: currency('ニュージーランドドル', 'セント'), CHF: currency('スイスフラン'), INR: currency('ルピー'), RUB: currency('ルーブル'),
    THB: currency('バーツ'), VND: currency('ドン'), PHP: currency('ペソ'), BRL: currency('レアル'), BTC: currency('ビットコイン'),
  },
  currencySigns: {
    '¥': 'JPY', 'JP¥': 'JPY', '円': 'JPY', $: 'USD', US$: 'USD', 'ドル': 'USD', '€': 'EUR', 'ユーロ': 'EUR', '£': 'GBP', 'ポンド': 'GBP', 'CN¥': 'CNY', '₩': 'KRW', HK$: 'HKD', NT$: 'TWD', S$: 'SGD', A$: 'AUD', C$: 'CAD', CA$: 'CAD', AU$: 'AUD',
    '₹': 'INR', '₽': 'RUB', '฿': 'THB', '₫': 'VND', '₱': 'PHP',
  },
  units: UNITS,
  per: PER,
  magnitudes: MAGNITUDES,
  ordinalMark: '',
  abbreviations: {
    ...greekLetters(
      'アルファ ベータ ガンマ デルタ イプシロン ゼータ イータ シータ イオタ カッパ ラムダ ミュー ニュー クサイ オミクロン パイ ロー シグマ タウ ウプシロン ファイ カイ プサイ オメガ',
    ),
    '(株)': '株式会社', '（株）': '株式会社', '㈱': '株式会社', '(有)': '有限会社', '（有）': '有限会社', '㈲': '有限会社', 'Mr.': 'ミスター', 'Dr.': 'ドクター', 'vs.': '対', vs: '対', VS: '対', 'etc.': 'など', 'e.g.': '例えば',
    '24/7': '二十四時間年中無休', '24/365': '二十四時間三百六十五日', 'i.e.': 'すなわち', 'cf.': '参照', 'N/A': '該当なし', '〒': '郵便番号', '℡': '電話', '☎': '電話',
  },
  beforeNumber: { '#': 'シャープ', 'No.': 'ナンバー', 'NO.': 'ナンバー', 'no.': 'ナンバー', '№': 'ナンバー', 'p.': 'ページ', 'P.': 'ページ', '§': 'セクション', 'Ver.': 'バージョン', 'ver.': 'バージョン', 'Vol.': 'ボリューム', 'vol.': 'ボリューム' },
  spelled: new Set(),
  read: new Set(),
  romanAfter: {},
  romanBefore: new Set(),
  digitsAfter: new Set(['code', 'pin', 'id']),
  linking: new Set(),
  decadeMark: '',
  yearAfter: new Set(),
  scoreWords: new Set(),
};
