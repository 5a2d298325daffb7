// Describes how German is written: its tables, and the short forms that depend on their neighbours.
// Abbreviated adjectives take the ending that the words around them require: die dt. Bank, ein engl. Garten.
import { tablesOf } from '../../tables/language-tables.js';
import type { Saying, Writing } from '../language.js';
import type { Around } from '../reading.js';
import { genderOf, isKnown, ordinalEnding, upper } from './grammar.js';
import { ROYAL } from './ordinals.js';

const TABLES = tablesOf('de');

const PLURAL = /(?:en|ern|eln|s|(?:ä|ö|ü)\p{Ll}{1,6}e?r?|nisse|iere|ate|ekte|are|age)$/u;
const DETERMINED =
  /^(?:die|der|den|dem|diese|dieser|diesen|alle|aller|keine|meine|ihre|seine|unsere|beide|beiden)$/;

function adjective(stem: string): Saying {
  return (around) => {
    const said = /^\p{Lu}\p{Ll}/u.test(around.nextWord) ? stem + ending(around) : stem;
    return /^\p{Lu}/u.test(around.text.slice(around.start, around.end)) ? upper(said) : said;
  };
}

function ending(around: Around): string {
  const noun = around.nextWord;
  const before = around.previousWord;
  if (!isKnown(noun) && PLURAL.test(noun)) return DETERMINED.test(before) ? 'en' : 'e';
  const gender = genderOf(noun);
  return gender === undefined && !DETERMINED.test(before) ? 'e' : ordinalEnding(before, gender);
}

const OBLIQUE = tablesOf('de').set('declines Herr');
/** Mit Hr. Meier: in German he is declined. */
const sir: Saying = ({ nextWord, previousWord }) =>
  /^\p{Lu}/u.test(nextWord) ? (OBLIQUE.has(previousWord) ? 'Herrn' : 'Herr') : undefined;
const behindOrdinal =
  (said: string): Saying =>
  (around) =>
    /\d\. $/.test(around.text.slice(Math.max(0, around.start - 3), around.start)) ? said : undefined;
/** Beside a result, or not. */
const ofGame =
  (result: string, otherwise: string): Saying =>
  ({ text, start, end }) =>
    /^ \d{1,3}:\d/.test(text.slice(end, end + 6)) ||
    /\d:\d{1,3}[ (]{1,2}$/.test(text.slice(Math.max(0, start - 8), start)) ||
    /^ (?:gewann|gewonnen|verlor|siegt|unterl|endete|stand)/.test(text.slice(end, end + 10))
      ? result
      : otherwise;
const behindDigit =
  (said: string): Saying =>
  (around) =>
    /\d $/.test(around.text.slice(Math.max(0, around.start - 2), around.start)) ? said : undefined;
const behindNothing =
  (said: string): Saying =>
  (around) =>
    /^ \d/.test(around.text.slice(around.end, around.end + 2)) ? said : undefined;
/** Des 20. Jh.: in the genitive. */
const ofCentury: Saying = ({ text, start }) =>
  `Jahrhundert${/(?:des|eines|dieses) (?:\p{Ll}+ )?(?:\d{1,2}\. )?$/u.test(text.slice(Math.max(0, start - 24), start)) ? 's' : ''}`;
const beforeName =
  (said: string): Saying =>
  (around) =>
    /^\p{Lu}/u.test(around.nextWord) ? said : undefined;

const beforeNumber =
  (said: string): Saying =>
  ({ text, end }) =>
    /^ ?\d/.test(text.slice(end, end + 2)) ? said : undefined;

const WORDS = TABLES.words({
  sayings: {
    adjective,
    'before name': beforeName,
    'before number': beforeNumber,
    'behind digit': behindDigit,
    'behind nothing': behindNothing,
    'behind ordinal': behindOrdinal,
    'of game': ofGame,
  },
});

function said(saying: Saying | undefined, around: Around): string | undefined {
  return typeof saying === 'function' ? saying(around) : saying;
}

const MAXIMAL = adjective('maximal');
/** A room or flat has a price. */
const PRICE_AHEAD = /^:? (?:ab |je )?\d{1,4}(?:[.,]\d{2,3})? ?€/;

/** Short forms with more than one reading. */
const OWN: Readonly<Record<string, Saying>> = {
  'Hr.': sir,
  '24/7': ({ text, start }) =>
    /rund um die Uhr[^.!?]{0,24}$/.test(text.slice(Math.max(0, start - 40), start))
      ? 'vierundzwanzig sieben'
      : 'rund um die Uhr',
  'Min.': ({ text, start }) =>
    /\d\. $/.test(text.slice(Math.max(0, start - 3), start)) ? 'Minute' : 'Minuten',
  'Std.': ({ text, start }) =>
    /\d\. $/.test(text.slice(Math.max(0, start - 3), start)) ? 'Stunde' : 'Stunden',
  'Kl.': ({ text, start, end }) =>
    /\d\. $/.test(text.slice(Math.max(0, start - 3), start)) ||
    /^ [A-H](?![\p{L}\p{N}.])/u.test(text.slice(end, end + 4))
      ? 'Klasse'
      : undefined,
  Ø: ({ text, start, end }) =>
    /^ ?\d/.test(text.slice(end, end + 2)) || /\d ?[cm]?m $/.test(text.slice(Math.max(0, start - 6), start))
      ? 'Durchmesser'
      : undefined,
  'Jh.': ofCentury,
  'Jhd.': ofCentury,
  'Jhdt.': ofCentury,
  Jh: ofCentury,
  'Gr.': (around) =>
    /^ (?:\d|X{0,3}[SML](?!\p{L}))/u.test(around.text.slice(around.end, around.end + 6))
      ? 'Größe'
      : undefined,
  GJ: (around) =>
    /^ (?:19|20)\d\d/.test(around.text.slice(around.end, around.end + 3 + 2)) ? 'Geschäftsjahr' : undefined,
  'max.': (around) => (/^\p{Lu}\p{Ll}/u.test(around.nextWord) ? said(MAXIMAL, around) : 'maximal'),
  'Geb.': (around) =>
    /^ (?:[A-Z](?!\p{L})|\d{1,3}(?![.\d]))/u.test(around.text.slice(around.end, around.end + 5))
      ? 'Gebäude'
      : 'Geboren',
  EZ: (around) =>
    PRICE_AHEAD.test(around.text.slice(around.end, around.end + 14))
      ? 'Einzelzimmer'
      : said(WORDS.abbreviations['EZ'], around),
  DZ: (around) =>
    PRICE_AHEAD.test(around.text.slice(around.end, around.end + 14)) ? 'Doppelzimmer' : undefined,
  KM: (around) =>
    PRICE_AHEAD.test(around.text.slice(around.end, around.end + 14)) ? 'Kaltmiete' : undefined,
  WM: (around) =>
    PRICE_AHEAD.test(around.text.slice(around.end, around.end + 14)) ? 'Warmmiete' : undefined,
  'v.': ({ text, end }) =>
    /^ ?\d{1,2}\. ?(?:\d{1,2}\.|\p{Lu})/u.test(text.slice(end, end + 9))
      ? 'vom'
      : /^ \d{1,2} ?[-–] ?\d/.test(text.slice(end, end + 8))
        ? 'von'
        : undefined,
  'Drs.': (around) =>
    /^ \d/.test(around.text.slice(around.end, around.end + 2)) ? 'Drucksache' : 'Doktoren',
  'ev.': (around) => (/^\p{Ll}/u.test(around.nextWord) ? 'eventuell' : undefined),
};

export const WRITING: Writing = {
  ...WORDS,
  romanAfter: { ...WORDS.romanAfter, ...Object.fromEntries(Array.from(ROYAL, (name) => [name, 'ordinal'])) },
  abbreviations: { ...WORDS.abbreviations, ...OWN },
  numbers: {
    decimal: ',',
    grouping: ['.', ' ', '’', "'"],
    other: { decimal: '.', grouping: [',', '’', "'"] },
  },
  dates: {
    ...TABLES.dates,
    orders: { '.': 'dmy', '/': 'dmy', '-': 'dmy' },
    named: ['day-month'],
    dayMark: '\\.',
    between: ' ?',
  },
  times: { ...TABLES.times, marks: [':', '.', 'h'] },
  telephone: {
    patterns: [
      /0(?: \d{2}){1,2}(?: \d)? ?\/ ?\d{1,8}(?:[ -]\d{1,6}){0,4}(?!\d|,\d)/y,
      /11[67] ?\d{3}(?!\d|[,.]\d)/y,
      /0\d{2,4}\.\d{5,8}(?!\d|[,.]\d)/y,
      /0 ?\d{2,4} ?\/ ?\d{1,8}(?:[ -]\d{1,6}){1,4}(?!\d|,\d)/y,
      /\(0\d{2,5}\) ?\d{2,8}(?:[ -]\d{1,6}){0,4}(?!\d|,\d)/y,
      /0\d{2,5}(?: ?[/–-] ?| )\d{2,8}(?:[ -]\d{1,6}){0,4}(?!\d|[,.]\d)/y,
    ],
    keywords: TABLES.telephone,
  },
  fractionMark: 'tel',
  ordinalMark: '\\.',
  decadeMark: 'er',
};
