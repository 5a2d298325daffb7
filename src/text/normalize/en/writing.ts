// Written forms of English, as data.
import type { Writing } from '../language.js';
import { ABBREVIATIONS, BEFORE_NUMBER, READ, SPELLED } from './abbreviations.js';
import { CURRENCIES, CURRENCY_SIGNS, MAGNITUDES, MONEY_MAGNITUDES, PER, UNITS } from './units.js';

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

const MONTHS = [
  ['January', 'Jan', 'Jan.'], ['February', 'Feb', 'Feb.'], ['March', 'Mar', 'Mar.'], ['April', 'Apr', 'Apr.'], ['May'],
  ['June', 'Jun', 'Jun.'], ['July', 'Jul', 'Jul.'], ['August', 'Aug', 'Aug.'], ['September', 'Sep', 'Sep.', 'Sept', 'Sept.'],
  ['October', 'Oct', 'Oct.'], ['November', 'Nov', 'Nov.'], ['December', 'Dec', 'Dec.'],
]; // prettier-ignore
const WEEKDAYS = [
  ['Monday', 'Mon.', 'Mon'], ['Tuesday', 'Tue.', 'Tues.', 'Tue', 'Tues'], ['Wednesday', 'Wed.', 'Wed'], ['Thursday', 'Thu.', 'Thur.', 'Thurs.', 'Thu', 'Thur', 'Thurs'],
  ['Friday', 'Fri.', 'Fri'], ['Saturday', 'Sat.', 'Sat'], ['Sunday', 'Sun.', 'Sun'],
]; // prettier-ignore

export const WRITING: Writing = {
  numbers: { decimal: '.', grouping: [','], lakhs: true },
  dates: {
    months: MONTHS,
    weekdays: WEEKDAYS,
    orders: { '/': 'mdy', '-': 'mdy', '.': 'mdy' },
    named: ['day-month', 'month-day'],
    dayMark: 'st|nd|rd|th',
    between: ',? (?:of )?',
  },
  times: {
    marks: [':'],
    halves: { 'a.m.': 'a.m.', 'p.m.': 'p.m.', am: 'a.m.', pm: 'p.m.', 'a.m': 'a.m.', 'p.m': 'p.m.' },
    words: { "o'clock": "o'clock", 'o’clock': "o'clock" },
    zones: {
      EST: 'Eastern Standard Time', EDT: 'Eastern Daylight Time', ET: 'Eastern Time', CST: 'Central Standard Time',
      CDT: 'Central Daylight Time', CT: 'Central Time', MST: 'Mountain Standard Time', MDT: 'Mountain Daylight Time',
      MT: 'Mountain Time', PST: 'Pacific Standard Time', PDT: 'Pacific Daylight Time', PT: 'Pacific Time',
      GMT: 'G M T', UTC: 'U T C', CET: 'Central European Time', CEST: 'Central European Summer Time', BST: 'British Summer Time',
      IST: 'India Standard Time', JST: 'Japan Standard Time',
    },
  },
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
    keywords: words('call phone telephone tel dial fax mobile cell text hotline ring'),
  },
  currencies: CURRENCIES,
  currencySigns: CURRENCY_SIGNS,
  units: UNITS,
  per: PER,
  magnitudes: MAGNITUDES,
  moneyMagnitudes: MONEY_MAGNITUDES,
  ordinalMark: 'st|nd|rd|th|ST|ND|RD|TH',
  abbreviations: ABBREVIATIONS,
  beforeNumber: BEFORE_NUMBER,
  letterPlural: "'s",
  spelled: SPELLED,
  read: READ,
  romanAfter: {}, // roman.ts
  romanBefore: new Set(),
  digitsAfter: words('code pin pincode passcode password flight extension ext zip id account otp confirmation routing serial tracking isbn sku cvv gate_ imei ending'),
  linking: words('is in number no code of was are with'),
  decadeMark: "['’]?s",
  yearAfter: words('in since year by until from after before during early late mid circa of spring summer autumn fall winter copyright class'),
  scoreWords: words('won win wins lost lose beat beats score scored final victory defeat lead leads led tied tie draw drew game match goals defeated vote votes voted record series majority decision ruling'),
}; // prettier-ignore
