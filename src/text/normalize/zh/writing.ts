// How Chinese is written, as data.
import { ENGLISH_DATES, englishMonths } from '../english-months.js';
import { greekLetters } from '../greek.js';
import type { Writing } from '../language.js';
import { cardinal } from './numbers.js';
import { CURRENCIES, CURRENCY_SIGNS, MAGNITUDES, PER, UNITS } from './units.js';

export const WRITING: Writing = {
  numbers: { decimal: '.', grouping: [','] },
  dates: {
    months: englishMonths((month) => `${cardinal(String(month))}月`),
    weekdays: [],
    orders: { '/': 'mdy' },
    ...ENGLISH_DATES,
  },
  // Times are recognised in `times.ts`: what stands behind them is no boundary here.
  times: { marks: [], halves: {}, words: {}, zones: {} },
  telephone: {
    patterns: [
      /1[3-9]\d([- ]?)\d{4}\1\d{4}(?!\d|[-.]\d)/y,
      /\(?0\d{2,3}\)?[- ]?\d{3,4}[- ]?\d{4}(?:-\d{1,5})?(?!\d|[-.]\d)/y,
      /\(?0[2-8](?:\) ?|[- ])\d{3,4}[- ]?\d{4}(?!\d|[-.]\d)/y,
      /[48]00([- ]?)\d{3}\1\d{4}(?!\d|[-.]\d)/y,
      /[48]00[- ]\d{4}[- ]\d{3}(?!\d|[-.]\d)/y,
      /0[589]0\d-\d{3}-\d{3}(?!\d|[-.]\d)/y,
      /09\d{2}([- ]?)\d{3}\1\d{3}(?!\d|[-.]\d)/y,
    ],
    keywords: new Set(['tel', 'phone', 'hotline', 'fax']),
  },
  currencies: CURRENCIES,
  currencySigns: CURRENCY_SIGNS,
  units: UNITS,
  per: PER,
  magnitudes: MAGNITUDES,
  ordinalMark: 'st|nd|rd|th',
  abbreviations: {
    ...greekLetters(
      '阿尔法 贝塔 伽马 德尔塔 艾普西龙 泽塔 伊塔 西塔 约塔 卡帕 拉姆达 缪 纽 克西 奥密克戎 派 柔 西格玛 陶 宇普西龙 斐 卡伊 普西 欧米伽',
    ),
    'C++': 'C加加', 'vs.': '对', vs: '对', VS: '对', 'e.g.': '例如', 'i.e.': '即',
    '7*24': '七乘二十四', '24/7': '全天候', 'N/A': '不适用', 'w/': '和',
  },
  beforeNumber: {
    'No.': '第', 'NO.': '第', 'no.': '第', '№': '第', '§': '第', 'p.': '第', 'P.': '第', 'Tel:': '电话', 'Tel：': '电话', 'TEL:': '电话', 'Tel.': '电话', 'TEL：': '电话',
  },
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
