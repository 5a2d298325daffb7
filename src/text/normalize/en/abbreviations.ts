// English short forms that depend on their neighbours, and acronyms: the table decides which are spelled, the
// recognisers here know those that stand among words in capitals or that no word begins like.
import { type MakeSaying, tablesOf } from '../../tables/language-tables.js';
import type { Saying } from '../language.js';
import type { Around, Recogniser } from '../reading.js';
import { doctorOrDrive, inStreet, saintOrStreet, streetOrSaint } from './addresses.js';
import { DAYS_AND_MONTHS } from './dates.js';

const { spelled: SPELLED, read: READ } = tablesOf('en');

const DOUBTFUL = /(?:US|IT|AM|WHO|ER|OS|DA|LA|PE|RIP|SAT|DOT|ID|IP|OR|PA)(?![\p{L}\p{N}])/uy;
const SHOUTED_BEFORE = /(?:^|[^\p{L}\p{N}])(\p{Lu}{2,}) $/u;
const SHOUTED_BEHIND = /^ (\p{Lu}{2,})(?![\p{L}\p{N}])/u;

/** A year behind est. */
const FOUNDED = /^ (?:in |c\. ?)?(?:1\d{3}|20\d\d)(?![\d,:]| ?%| ?(?!is|was)\p{Ll}+s(?!\p{L}))/u;

/** CALL US NOW: among words in capitals that is no acronym; the WHO is one. */
export const shouted: Recogniser = (reading) => {
  const word = reading.match(DOUBTFUL)?.[0];
  if (word === undefined) return undefined;
  const { text, at } = reading;
  const end = at + word.length;
  const beside = [
    SHOUTED_BEFORE.exec(text.slice(Math.max(0, at - 24), at))?.[1],
    SHOUTED_BEHIND.exec(text.slice(end, end + 24))?.[1],
  ];
  if (beside.some((other) => other !== undefined && isWord(other)))
    return { end, spoken: word, rule: 'acronym' };
  return word === 'WHO' ? { end, spoken: 'W H O', rule: 'acronym' } : undefined;
};

function isWord(capitals: string): boolean {
  return /[AEIOUY]/.test(capitals) && !SPELLED.has(capitals) && !READ.has(capitals);
}

const CAPITALS = /([A-Z]{3,5})(s?)(?![\p{L}\p{N}])/uy;
const ONSET =
  /^(?:[AEIOUY]|[^AEIOUY][AEIOUY]|B[LR]|C[HLRZ]|D[RW]|F[LR]|G[HLNR]|K[HLNR]|LL|P[FHLRS]|QU|RH|S[CHKLMNPRTVWQ]|T[HRSW]|V[LR]|W[HR]|ZH)/;

/** CDA: no word begins so. */
export const unsayable: Recogniser = (reading) => {
  const match = reading.match(CAPITALS);
  const [written = '', capitals = '', plural = ''] = match ?? [];
  if (match === undefined || !/[AEIOU]/.test(capitals) || capitals.startsWith('WW')) return undefined; // WWII
  if (ONSET.test(capitals) || READ.has(capitals)) return undefined;
  if (/^-\d/.test(reading.text.slice(reading.at + written.length, reading.at + written.length + 2)))
    return undefined; // CVE-2024-3094
  const spoken = Array.from(capitals).join(' ') + (plural === '' ? '' : "'s");
  return { end: reading.at + written.length, spoken, rule: 'acronym' };
};

const INITIALS = /[A-Z]{2}(?=&[A-Z](?![a-z]))|(?<=[A-Z]&)[A-Z]{2}(?![\p{L}\p{N}])/uy;

/** The AT of AT&T. */
export const initials: Recogniser = (reading) => {
  const match = reading.match(INITIALS);
  return match && { end: reading.at + 2, spoken: Array.from(match[0]).join(' '), rule: 'acronym' };
};

function behind({ text, start }: Around, units: number): string {
  return text.slice(Math.max(0, start - units), start);
}

function ahead({ text, end }: Around, units: number): string {
  return text.slice(end, end + units);
}

/** Said where what follows, or what stands before, is such. */
const before =
  (what: RegExp, said: string): Saying =>
  (around) =>
    what.test(ahead(around, 24)) ? said : undefined;
const after =
  (what: RegExp, said: string): Saying =>
  (around) =>
    what.test(behind(around, 24)) ? said : undefined;

/** (b. 1920; d. 1999) */
const ofLife =
  (said: string): ((around: Around) => string | undefined) =>
  (around) =>
    /[(;,–] ?$/.test(behind(around, 2)) &&
    /^ (?:c\. |ca\. )?(?:\d{3,4}(?!\d)|\p{Lu}\p{Ll}{2,8}\.? \d)/u.test(ahead(around, 16))
      ? said
      : undefined;

const DIGIT_AHEAD = /^ #?\d/;
const NUMBER_SAID = /^(?:[,;:)]| (?:is|was)\b)/;
const PLACE_AHEAD = /^ #?(?:\d|[A-Z]-?\d)/;
const NAME_AHEAD = /^ \p{Lu}\p{Ll}/u;
const NAME_BEHIND = /\p{Lu}[\p{L}'’-]+,? $/u;
const PHONE_AHEAD = /^[:.]? ?[+(]?\d/;
const DOSE_BEHIND =
  /(?<!\p{L})O[UDS] $|\d ?(?:mg|mcg|g|mL|ml|units?|tablets?|tabs?|caps?|capsules?|puffs?|drops?|gtts?)\.?\)? $/iu;
const TAKEN =
  /^ (?:\(|PO\b|po\b|by mouth|orally|daily|nightly|once|twice|three|every|q\d|b\.?i\.?d|t\.?i\.?d|\d+x|BID|TID|at bedtime)/;
const CODE_AHEAD = /^ (?:[A-Z]{1,4}-?\d|[A-Z]-)/;
const ROMAN_AHEAD = /^ [IVXLC]{1,7}(?![\p{L}\p{N}])/u;

function said(saying: Saying, around: Around): string | undefined {
  return typeof saying === 'string' ? saying : saying(around);
}

/** By the name in the column `form` of the table of short forms. */
export const SAYINGS: Readonly<Record<string, MakeSaying>> = {
  'before code': (words) => before(CODE_AHEAD, words),
  'before digit': (words) => before(DIGIT_AHEAD, words),
  'before manner of taking': (words) => before(TAKEN, words),
  'before name': (words) => before(NAME_AHEAD, words),
  'before Roman numeral': (words) => before(ROMAN_AHEAD, words),
  'before telephone number': (words) => before(PHONE_AHEAD, words),
  'behind dose': (words) => after(DOSE_BEHIND, words),
  'behind name': (words) => after(NAME_BEHIND, words),
  'in street': inStreet,
  'of life': ofLife,
};

/** Short forms with more than one reading, or with a condition of their own. */
export const OWN: Readonly<Record<string, Saying>> = {
  ...DAYS_AND_MONTHS,
  St: (around) => streetOrSaint(around),
  Dr: (around) => (NAME_AHEAD.test(ahead(around, 4)) ? 'Doctor' : said(inStreet('Drive'), around)),
  'St.': saintOrStreet,
  Bldg: before(/^ [#\dA-Z]/, 'Building'),
  'Dr.': doctorOrDrive,
  'Sec.': (around) =>
    ROMAN_AHEAD.test(ahead(around, 9))
      ? 'Section'
      : NAME_AHEAD.test(ahead(around, 4))
        ? 'Secretary'
        : undefined,
  Attn: before(/^[:.]/, 'Attention'),
  'A/C': (around) => (/^ (?:#|no|num|[X\d*])/i.test(ahead(around, 8)) ? 'account' : 'A C'),
  Rm: before(PLACE_AHEAD, 'Room'),
  'Rm.': before(PLACE_AHEAD, 'Room'),
  pw: before(/^:/, 'password'),
  PW: before(/^:/, 'password'),
  Qty: before(/^[:.]? /, 'Quantity'),
  qty: before(/^[:.]? /, 'quantity'),
  'Inv.': before(/^ (?:#|no|\d)/i, 'Invoice'),
  'Ref.': before(/^ (?:#|no|\d)/i, 'Reference'),
  Exp: before(/^[:.]? ?\d\d\//, 'Expires'),
  'Exp.': before(/^ ?\d\d?\//, 'Expires'),
  exp: before(/^[:.]? ?\d\d?\//, 'expires'),
  'exp.': before(/^ ?\d\d?\//, 'expires'),
  'Pt.': (around) =>
    /^ (?:\d|[IVX]+\b)/.test(ahead(around, 8))
      ? 'Part'
      : /^ (?:is|was|has|had|with|reports|denies|presents|states)\b/.test(ahead(around, 12))
        ? 'Patient'
        : undefined,
  'v.': before(/^ \p{Lu}/u, 'versus'),
  'incl.': (around) => (/^(?:[,;)]|$|\. \p{Lu}| in )/u.test(ahead(around, 4)) ? 'included' : 'including'),
  'est.': (around) =>
    ahead(around, 2) === ' #'
      ? 'estimate'
      : FOUNDED.test(ahead(around, 20)) && !/\d $/.test(behind(around, 2))
        ? 'established'
        : 'estimated',
  pts: after(/\d (?:\p{Ll}+ )?$/u, 'points'),
  'pts.': after(/\d (?:\p{Ll}+ )?$/u, 'points'),
  'reg.': before(/^ [$€£]\d/, 'regular'),
  'no.': (around) =>
    CODE_AHEAD.test(ahead(around, 24)) || NUMBER_SAID.test(ahead(around, 6)) ? 'number' : undefined,
  INR: (around) =>
    /^ (?:\d\.\d(?!\d)|check|test|level|range|goal|target|result|reading|was|is|of|between)/.test(
      ahead(around, 10),
    )
      ? 'I N R'
      : 'Indian rupees',
  'b/w': after(/(?:^|[\s(])$/, 'between'),
  'fl.': (around) =>
    ofLife('flourished')(around) ?? (/\d(?:st|nd|rd|th) $/.test(behind(around, 6)) ? 'floor' : undefined),
  'w/': after(/(?:^|[\s(])$/, 'with'),
  'b/c': after(/(?:^|[\s(])$/, 'because'),
  'min.': (around) => (/\bper $/.test(behind(around, 5)) ? 'minute' : 'minimum'),
  'pop.': before(/^ \d/, 'population'),
  'nr.': before(/^ \p{Lu}/u, 'near'),
  'ea.': after(/[\d¢] ?$| cal $/, 'each'),
  ea: after(/[\d¢] ?$| cal $/, 'each'),
  'c.': (around) =>
    /(?:(?:^|\D)1|\bper|(?<!\d )\d\/\d|(?<!\d ?)[¼½¾⅓⅔]) $/.test(behind(around, 6))
      ? 'cup'
      : /[\d¼½¾⅓⅔] $/.test(behind(around, 2))
        ? 'cups'
        : undefined,
  BC: after(/\d $/, 'B C'),
  BCE: after(/\d $/, 'B C E'),
  AD: (around) => (/^ \d/.test(ahead(around, 2)) || /\d $/.test(behind(around, 2)) ? 'A D' : undefined),
  PO: (around) =>
    DOSE_BEHIND.test(behind(around, 12)) ? 'by mouth' : /^ Box/i.test(ahead(around, 4)) ? 'P O' : undefined,
  MoM: after(/\d ?%? $/, 'month over month'),
  'Ret.': after(/\($/, 'Retired'),
  FY: before(/^ ?['’]?\d/, 'F Y'),
  AY: before(/^ \d{4}/, 'A Y'),
  '9/11': before(/^(?!\/)/, 'nine eleven'),
};
