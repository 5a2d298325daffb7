// Describes how Chinese is written: its tables, and the formats of dates and telephone numbers. In the table
// of units, the form `scale` is counted with 二, `degrees` has 零下 below zero, the others have 两.
import { tablesOf } from '../../tables/language-tables.js';
import type { Writing } from '../language.js';
import { ENGLISH_DATES, WESTERN_MAGNITUDES } from '../myriads.js';

const TABLES = tablesOf('zh');
const WORDS = TABLES.words();

export const WRITING: Writing = {
  ...WORDS,
  magnitudes: { ...WESTERN_MAGNITUDES, ...WORDS.magnitudes },
  numbers: { decimal: '.', grouping: [','] },
  dates: { ...TABLES.dates, orders: { '/': 'ymd' }, ...ENGLISH_DATES },
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
    keywords: TABLES.telephone,
  },
  fractionMark: '',
  ordinalMark: 'st|nd|rd|th',
  decadeMark: '',
};
