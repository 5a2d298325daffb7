// Describes how Japanese is written: its tables, and the formats of dates and telephone numbers. Counters
// need no table: the number before them is the same for all. In the table of units, `form` is said before the
// number, as in 時速五十キロメートル.
import { tablesOf } from '../../tables/language-tables.js';
import type { Writing } from '../language.js';
import { ENGLISH_DATES, WESTERN_MAGNITUDES } from '../myriads.js';

const TABLES = tablesOf('ja');
const WORDS = TABLES.words();

export const WRITING: Writing = {
  ...WORDS,
  units: { ...WORDS.units, bpm: { forms: [''], form: '心拍数' } }, // nothing is said behind the number
  magnitudes: { ...WESTERN_MAGNITUDES, ...WORDS.magnitudes },
  numbers: { decimal: '.', grouping: [','] },
  dates: { ...TABLES.dates, orders: { '/': 'ymd' }, ...ENGLISH_DATES },
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
    keywords: TABLES.telephone,
  },
  fractionMark: '',
  ordinalMark: '',
  decadeMark: '',
};
