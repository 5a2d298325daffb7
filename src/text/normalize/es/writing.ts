// Written forms of Spanish: its tables, and the short forms that depend on their neighbours. Spain groups
// digits with points, Mexico with commas.
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
import type { NumberFormat } from '../numerals.js';
import { genderOf } from './grammar.js';

const TABLES = tablesOf('es');

// Spanish short forms that are said in full. A form in small letters is also found with a capital.

const ofWoman = titleBehind(new Set(['la', 'una', 'señora', 'doña']));
const inGender = adjectiveBehind(new Set(['la', 'una']), genderOf);
const factors = timesSign('por', 'por');

/** Behind a year or a century; Washington D. C. keeps its letters. */
function afterYear(words: string): Saying {
  return (around) => (/[\dIVX] ?$/.test(textBefore(around, 2)) ? words : undefined);
}

/** Dom. 3 de marzo; de lun. a vie. */
function weekday(name: string): Saying {
  return (around) =>
    standsAlone(around) || /^(?:a|al|y|el|los)$/.test(around.previousWord) ? name : beforeDigit(name)(around);
}

const WEEK = String.raw`(?:lun|mart?|mi[ée]r?|jue|vie|s[áa]b|dom|lunes|martes|miércoles|jueves|viernes|sábado|domingo)`;
const DAY_BEHIND = new RegExp(String.raw`^,? ?(?:[yaeo] |al |[–-])? ?(?:los |el )?${WEEK}(?!\p{L})`, 'u');
const DAY_BEFORE = new RegExp(
  String.raw`(?:(?<!\p{L})${WEEK}\.?,? ?(?:[yaeo] |al |[–-])? ?(?:los |el )?|(?<!\p{L})(?:los|este|todos los|cada) )$`,
  'iu',
);

const DAYS_BEFORE = /(?<!\p{L})(?:L ?(?:[-–ay] ?)[VJS]|lun(?:es|\.)|vie(?:rnes|\.))(?!\p{L})/u;

const HOURS_BEHIND = /^ ?\d{1,2}:\d\d ?(?:[-–]|a )/;

/** S: 9-14 h behind L-V, or at the beginning of a line before hours. */
function behindDays(said: string): Saying {
  return (around) => {
    const isFirst =
      /(?:^|\n)(?:[-*•] )?$/.test(textBefore(around, 3)) && HOURS_BEHIND.test(textBehind(around, 10));
    const isBehindDays = /^ ?\d/.test(textBehind(around, 2)) && DAYS_BEFORE.test(textBefore(around, 64));
    return isFirst || isBehindDays ? said : undefined;
  };
}

/** Mar. is a Tuesday beside another day and behind "los"; else it may be March. */
function besideDay(name: string): Saying {
  return (around) =>
    standsAlone(around) || DAY_BEHIND.test(textBehind(around, 20)) || DAY_BEFORE.test(textBefore(around, 24))
      ? name
      : undefined;
}

/** Col. is a district of a Mexican town behind a comma or before a postcode, else a colonel. */
const colony: Saying = (around) =>
  /,\s*$/.test(textBefore(around, 3)) ||
  /^ [\p{L} ]{3,30},? (?:C\.? ?P\.?|\d{5}(?!\d))/u.test(textBehind(around, 44))
    ? 'colonia'
    : 'coronel';

/** Largo x ancho, and between numbers. */
const times: Saying = (around) =>
  /^(?:ancho|alto|largo|fondo)$/.test(around.previousWord) ? 'por' : factors(around);

/** Piso 3, dto. B, but 10 % dto. */
const flat: Saying = (around) =>
  /^ \p{Lu}(?!\p{L})/u.test(textBehind(around, 3)) ? 'departamento' : 'descuento';

/** Esc. B, pta. 3. */
function labelled(word: string): Saying {
  return (around) => (/^ (?:\d|\p{Lu}(?!\p{L}))/u.test(textBehind(around, 3)) ? word : undefined);
}

/** A director; before the number of one a directive of the Union. */
const director: Saying = (around) => {
  if (/^ ?(?:19|20)\d\d\//.test(textBehind(around, 6))) return 'directiva';
  return /^(?:la|una|señora|doña)$/.test(around.previousWord) ? 'directora' : 'director';
};

const WORDS = TABLES.words({
  sayings: {
    'after year': afterYear,
    'before digit': beforeDigit,
    'before name': beforeName,
    'before number of': beforeNumberOf,
    'behind days': behindDays,
    'beside day': besideDay,
    'before noun': adjectiveBefore(genderOf),
    agreeing: participleBehind(genderOf),
    'in gender': inGender,
    labelled,
    'of woman': ofWoman,
    'unless digit': unlessDigit,
    weekday,
  },
});

const ESTIMATED =
  /^(?:llegada|salida|entrega|espera|duración|fecha|hora|tiempo|costo|coste|valor|precio|importe)$/;

/** Llegada est., tiempo est. */
const estimated: Saying = ({ previousWord }) =>
  ESTIMATED.test(previousWord) ? (genderOf(previousWord) === 'f' ? 'estimada' : 'estimado') : undefined;

/** Short forms with more than one reading. */
const OWN: Readonly<Record<string, Saying>> = {
  'Col.': colony,
  'est.': estimated,
  'Dir.': director,
  'dto.': flat,
  x: times,
};

const COUNTED = /(?: \p{Ll}{3,}s(?!\p{L})| (?:MXN|USD|pesos)| (?:mil |de )?millones)/uy;
const EURO = / ?(?:€|euros?|EUR)/y;
/** 0,9 % or 82,15 nearby: this text writes decimals with a comma. */
const DECIMAL_COMMA = /(?<![\d,.])\d{1,3}(?:\.\d{3})*,\d{1,2}(?![\d,])/;
/** $289,900 or 1,234,567 nearby: it groups with one. */
const GROUPING_COMMA = /\$ ?\d{1,3},\d{3}(?![\d])|(?<![\d.])\d{1,3}(?:,\d{3}){2}(?!\d)/;
const NEAR = 120; // units on either side

/**
 * 1,234 is grouped behind a dollar sign or before a plural that is no measure; 1,549 € and 3,125 kg have
 * decimals.
 */
function isGroupedByComma(text: string, start: number, end: number): boolean {
  if (text[start] === '0' || text[end - 4] !== ',') return false;
  if (/(?:\$|MXN|USD) ?$/.test(text.slice(Math.max(0, start - 4), start))) return true;
  EURO.lastIndex = COUNTED.lastIndex = end;
  const [before, behind] = [text.slice(Math.max(0, start - NEAR), start), text.slice(end, end + NEAR)];
  if (EURO.test(text) || DECIMAL_COMMA.test(before) || DECIMAL_COMMA.test(behind)) return false;
  return COUNTED.test(text) || GROUPING_COMMA.test(before) || GROUPING_COMMA.test(behind);
}

const NUMBERS: NumberFormat = {
  decimal: ',',
  grouping: ['.', ' '],
  other: { decimal: '.', grouping: [','] },
  prefersOther: isGroupedByComma,
};

export const WRITING: Writing = {
  ...WORDS,
  abbreviations: { ...WORDS.abbreviations, ...OWN },
  numbers: NUMBERS,
  dates: {
    ...TABLES.dates,
    orders: { '/': 'dmy', '-': 'dmy', '.': 'dmy' },
    named: ['day-month', 'month-day'],
    dayMark: '[.]?[ºª°]|er',
    between: '(?:,? del? (?:año )?|[ /-]|, )',
  },
  times: { ...TABLES.times, marks: [':', '.', 'h'] },
  telephone: {
    patterns: [
      /[6789]\d{2}([ .-])\d{3}\1\d{3}(?<!000[ .-]000)(?!\d|[-.]\d)/y,
      /[6789]\d{2}([ .-])\d{2}\1\d{2}\1\d{2}(?!\d|[-.]\d)/y,
      /9\d([ .-])\d{3}\1\d{2}\1\d{2}(?!\d|[-.]\d)/y,
      /[67]\d{8}(?!\d|[-.,]\d)/y,
      /\(\d{2,4}\) ?(?:15[ -])?\d{3,4}[ -]\d{2,4}(?:[ -]\d{2,4})?(?!\d)/y,
      /(?:\(00\d{1,3}\)|00 ?\d{2,3}) ?\d{1,4}(?:[ -]\d{2,4}){1,4}(?!\d|[-.]\d)/y,
      /34 [6-9]\d{2} (?:\d{3} \d{3}|\d{2} \d{2} \d{2})(?!\d|[-.]\d)/y,
      /(?:0?1 )?[1-9]\d{2}[ -]\d{3}[ -]\d{4}(?!\d|[-.]\d)/y,
      /(?:52 )?[2-9]\d[ -]\d{4}[ -]\d{4}(?!\d|[-.]\d)/y,
      /01[ -]?800[ -]\d{3}[ -]?\d{2}[ -]?\d{2}(?!\d)/y,
      /0\d{1,4}[ -]\d{3,4}[ -]?\d{3,4}(?!\d|[-.]\d)/y,
      /(?:[3-8]\d{3}|2[1-9]\d{2})-\d{4}(?!\d|[-.]\d)/y,
    ],
    keywords: TABLES.telephone,
  },
  fractionMark: 'avos?',
  ordinalMark:
    '(?:[.]?(?:er|os|as|[ºª°])|er[oa]?|[drtmvn][oa]s?|[.]?[oa]s?(?=[.]?(?:[ ,;:)]|$)))(?:[.](?= \\p{Ll}))?',
  letterPlural: '',
  decadeMark: "['’]?s",
};
