// Describes how Korean is written: its tables, and the formats of dates and telephone numbers. The forms in
// the table of units: `native` is 세 개; `short` is native up to nineteen; `close` is Sino-Korean and written
// together, as 이천이십사년; `degrees` has 영하 below zero. Without a form: Sino-Korean with a space.
import { tablesOf } from '../../tables/language-tables.js';
import type { Writing } from '../language.js';
import { ENGLISH_DATES, WESTERN_MAGNITUDES } from '../myriads.js';

const TABLES = tablesOf('ko');
const WORDS = TABLES.words({ sayings: { spaced: (words) => `${words} ` } });

export const WRITING: Writing = {
  ...WORDS,
  magnitudes: { ...WESTERN_MAGNITUDES, ...WORDS.magnitudes },
  numbers: { decimal: '.', grouping: [','] },
  dates: { ...TABLES.dates, orders: { '/': 'ymd' }, ...ENGLISH_DATES },
  // Times are recognised in `dates.ts`: what stands behind them is no boundary here.
  times: { marks: [], halves: {}, words: {}, zones: {} },
  telephone: {
    patterns: [
      /01[016789]([- .]?)\d{3,4}\1\d{4}(?!\d|[-.]\d)/y,
      /0(?:2|[3-6][1-5]|70|80|50\d?)[-) .]\d{3,4}[- .]\d{4}(?!\d|[-.]\d)/y,
      /\(0(?:2|[3-6][1-5])\) ?\d{3,4}[- .]\d{4}(?!\d|[-.]\d)/y,
      /1[568]\d{2}-\d{4}(?!\d|[-.]\d)/y,
    ],
    keywords: TABLES.telephone,
  },
  fractionMark: '',
  ordinalMark: '',
  decadeMark: '',
};
