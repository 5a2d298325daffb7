// How Japanese is written, as data.
import { ENGLISH_DATES, englishMonths } from '../english-months.js';
import { greekLetters } from '../greek.js';
import type { Writing } from '../language.js';
import { cardinal } from './numbers.js';
import { CURRENCIES, CURRENCY_SIGNS, MAGNITUDES, PER, UNITS } from './units.js';

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
  currencies: CURRENCIES,
  currencySigns: CURRENCY_SIGNS,
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
}; // prettier-ignore
