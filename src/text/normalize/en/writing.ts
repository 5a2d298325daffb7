// Written forms of English: its tables, and the formats of dates and telephone numbers.
import { tablesOf } from '../../tables/language-tables.js';
import type { Writing } from '../language.js';
import { OWN, SAYINGS } from './abbreviations.js';

const TABLES = tablesOf('en');
const WORDS = TABLES.words({ sayings: SAYINGS });

export const WRITING: Writing = {
  ...WORDS,
  romanAfter: {}, // roman.ts
  abbreviations: { ...WORDS.abbreviations, ...OWN },
  numbers: { decimal: '.', grouping: [','], lakhs: true },
  dates: {
    ...TABLES.dates,
    orders: { '/': 'mdy', '-': 'mdy', '.': 'mdy' },
    named: ['day-month', 'month-day'],
    dayMark: 'st|nd|rd|th',
    between: ',? (?:of )?',
  },
  times: { ...TABLES.times, marks: [':'] },
  telephone: {
    patterns: [
      /(?:1[-. ])?\(?[2-9]\d{2}\)?[-. ]{1,2}\d{3}[-. ]\d{4}(?!\d|[-.]\d)/y,
      /\(\d{3}\) ?\d{3}[-. ]\d{4}(?!\d)/y,
      /1-8\d{2}-[A-Z\d]{2,7}-?[A-Z\d]{2,7}(?![A-Z\d])/y,
      /[2-9]\d{2}-\d{4}(?![\d-]|\.\d)/y,
      /[2-9]\d{2}\/[2-9]\d{2}-\d{4}(?![\d-])/y,
      /[2-9]\d{2}-[A-Z]{4}(?![A-Z\d])/y,
      /0\d{2,4}[ -]\d{3,4}[ -]?\d{3,4}(?!\d|[-.]\d)/y,
    ],
    keywords: TABLES.telephone,
  },
  fractionMark: '(?:st|nd|rd|th)s?',
  ordinalMark: 'st|nd|rd|th|ST|ND|RD|TH',
  letterPlural: "'s",
  decadeMark: "['’]?s",
};
