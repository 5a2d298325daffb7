// Written forms of Portuguese: its tables, and the short forms that depend on their neighbours.
import {
  adjectiveBefore,
  adjectiveBehind,
  beforeDigit,
  beforeName,
  beforeNumberOf,
  participleBehind,
  standsAlone,
  textBefore,
  textBehind,
  timesSign,
  titleBehind,
  unlessDigit,
} from '../iberian/sayings.js';
import { tablesOf } from '../../tables/language-tables.js';
import type { Saying, Writing } from '../language.js';
import { genderOf } from './grammar.js';

const TABLES = tablesOf('pt');

// Portuguese short forms that are said in full. A form in small letters is also found with a capital.

const ofWoman = titleBehind(new Set(['a', 'à', 'da', 'na', 'pela', 'uma', 'senhora']));
const inGender = adjectiveBehind(new Set(['a', 'uma']), genderOf);
const times = timesSign('por', 'vezes');

/** D. Pedro, D. Maria. */
const dom: Saying = ({ nextWord }) => {
  if (!/^\p{Lu}\p{Ll}/u.test(nextWord)) return undefined;
  return /^(?:\p{L}+a|Isabel|Leonor|Beatriz|Inês)$/u.test(nextWord) ? 'dona' : 'dom';
};

/** "Ex.: …", "(ex. …" and the ex. 1 to 5, but not "meu ex." */
const example: Saying = (around) => {
  if (/^ ?\d/.test(textBehind(around, 2))) return around.previousWord === 'o' ? 'exercício' : 'exercícios';
  return /^ ?:/.test(textBehind(around, 2)) || textBefore(around, 1) === '(' ? 'exemplo' : undefined;
};

/** Al. "a" of a law. */
const paragraph: Saying = (around) =>
  /^ ?["“«'‘]?[a-z]["”»'’)](?!\p{L})/u.test(textBehind(around, 4)) ? 'alínea' : undefined;

const EVERY_WEEK = /(?<!\p{L})(?:às|aos|nas|nos) (?:(?:seg|ter|qua|qui|sex|s[áa]b|dom)\.?,? ){1,4}e? ?$/iu;

/** De seg. a sex.; às ter. e qui. are all of them. */
function weekday(name: string): Saying {
  return (around) => {
    if (EVERY_WEEK.test(textBefore(around, 32))) return `${name}s`;
    return standsAlone(around) || /^(?:a|à|ao|e|na|no|de|da|do)$/.test(around.previousWord)
      ? name
      : beforeDigit(name)(around);
  };
}

/** 2,3% a.a., R$ 1.200 a.a. */
function behindPercent(words: string): Saying {
  return (around) => (/(?:%|\bcento|R\$ ?[\d.,]{1,12}) ?$/.test(textBefore(around, 18)) ? words : undefined);
}

const WORDS = TABLES.words({
  sayings: {
    'before digit': beforeDigit,
    'before name': beforeName,
    'before number of': beforeNumberOf,
    'behind percent': behindPercent,
    'before noun': adjectiveBefore(genderOf),
    agreeing: participleBehind(genderOf),
    'in gender': inGender,
    'of woman': ofWoman,
    'unless digit': unlessDigit,
    weekday,
  },
});

/** Short forms with more than one reading. */
const OWN: Readonly<Record<string, Saying>> = { 'D.': dom, 'ex.': example, 'al.': paragraph, x: times };

export const WRITING: Writing = {
  ...WORDS,
  abbreviations: { ...WORDS.abbreviations, ...OWN },
  numbers: { decimal: ',', grouping: ['.', ' '], other: { decimal: '.', grouping: [','] } },
  dates: {
    ...TABLES.dates,
    orders: { '/': 'dmy', '-': 'dmy', '.': 'dmy' },
    named: ['day-month', 'month-day'],
    dayMark: '[.]?[ºª°]|er',
    between: '(?:,? de (?:ano )?|[ /-])',
  },
  times: { ...TABLES.times, marks: [':', 'h'] },
  telephone: {
    patterns: [
      /\(0?\d{2}\) ?(?:9 ?)?\d{4}[- ]?\d{4}(?!\d)/y,
      /\d{2} 9 ?\d{4}-\d{4}(?!\d)/y,
      /9?[2-9]\d{3}-\d{4}(?<!20\d\d-20\d\d)(?!\d|[-.]\d)/y,
      /0[3589]00[ -]\d{3}[ -]?\d{4}(?!\d)/y,
      /4[0-9]{3}[ -]\d{4}(?!\d|[-. ]\d)/y,
      /0[3589]00-\d{3}-\d{4}(?!\d)/y,
      /(?:\(00\d{1,3}\)|00 ?\d{2,3}) ?\d{1,4}(?:[ -]\d{2,5}){1,4}(?!\d|[-.]\d)/y,
      /55 \d{2} 9?\d{4}[- ]\d{4}(?!\d)/y,
      /[29]\d{2} \d{3} \d{3}(?<!000 000)(?!\d|[ .]\d)/y,
      /[29]\d \d{3} \d{2} \d{2}(?!\d|[.]\d)/y,
    ],
    keywords: TABLES.telephone,
  },
  fractionMark: 'avos?',
  ordinalMark: '[.]?(?:[ºª°]s?|[oa]s?(?=[.]?(?:[\\s,;:)]|$)))(?:[.](?= \\p{Ll}))?',
  decadeMark: "['’]?s",
};
