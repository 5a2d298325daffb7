// Describes how French is written: its tables, and the short forms that depend on their neighbours.
import { tablesOf } from '../../tables/language-tables.js';
import type { Saying, SymbolNames, Writing } from '../language.js';
import type { Around } from '../reading.js';
import { isFeminine } from './grammar.js';

const TABLES = tablesOf('fr');

// French short forms and the words that are said for them.

/** Only before a name: M. Dupont, but not "M. le maire" without its capital, nor the letter. */
function beforeName(said: string): Saying {
  return (around) => (/^\p{Lu}/u.test(around.nextWord) ? said : undefined);
}

const INITIALS = /^ (?:\p{Lu}\.-\p{Lu}\. ?\p{Lu}\p{L}|\p{Lu}\.? (?:et )?\p{Ll})/u; // M. J.-P. Dupont

/** Behind a century: XIXe s. */
const century: Saying = (around) =>
  /^[ivxlc]+(?:e|er|es|ème)$/.test(around.previousWord)
    ? 'siècle'
    : /\d et $/.test(around.text.slice(Math.max(0, around.start - 5), around.start))
      ? 'suivants'
      : undefined;

/** Before a family name they are initials. */
const christ: Saying = (around) => (/^\p{Lu}\p{Ll}/u.test(around.nextWord) ? undefined : 'Jésus-Christ');

/** Chap. IV */
function beforeRoman(said: string): Saying {
  return (around) => (/^[IVXLC]+$/.test(around.nextWord) ? said : undefined);
}

/** Esc. B, esc. 2 */
const beforeCode =
  (said: string): Saying =>
  ({ text, end }) =>
    /^ ?(?:\d|[A-Z](?!\p{L}))/u.test(text.slice(end, end + 4)) ? said : undefined;

/** Sam. 9h-14h, fermé dim. */
const weekday =
  (name: string): Saying =>
  ({ text, start, end }) =>
    /^ \d/.test(text.slice(end, end + 2)) ||
    /(?:(?:fermée?s?|ouverte?s?|et|ou|sauf)(?: le)? |\/)$/i.test(text.slice(Math.max(0, start - 12), start))
      ? name
      : undefined;

const OF_DATE =
  /^ (?:\d{1,2}\/\d|(?:\d{1,2}|1er) (?:janv|févr?|mars|avr|mai|juin|juil|août|sept|oct|nov|déc))/u;

/** Ven 17 oct, mar 4/11 */
const dayOfDate =
  (name: string): Saying =>
  ({ text, end }) =>
    OF_DATE.test(text.slice(end, end + 10)) ? name : undefined;

/** Th. 6 */
function beforeDigit(said: string): Saying {
  return ({ text, end }) => (/^ ?\d/.test(text.slice(end, end + 2)) ? said : undefined);
}

/** M. le maire, M. et Mme Petit, M. Dupont. */
const monsieur: Saying = (around: Around) =>
  !/\p{Lu}\. ?$/u.test(around.text.slice(Math.max(0, around.start - 3), around.start)) &&
  (/^(?:\p{Lu}\p{L}|le$|la$|l['’]|les$|et$|ou$)/u.test(around.nextWord) ||
    INITIALS.test(around.text.slice(around.end, around.end + 20)) ||
    (/^cher$|^bonjour$|^bonsoir$|^merci$/.test(around.previousWord) && around.text[around.end] === ','))
    ? 'Monsieur'
    : undefined;

/** Before a colon or behind a bracket; not the end of "mon ex." */
function example(said: string): Saying {
  return ({ text, start, end }) =>
    /^ ?:/.test(text.slice(end, end + 2)) || text[start - 1] === '(' ? said : undefined;
}

/** St Denis, St-Denis. */
function saint(said: string): Saying {
  return ({ text, end }) => (/^[ -]\p{Lu}/u.test(text.slice(end, end + 2)) ? said : undefined);
}

/** À la 45e min., but le min. requis. */
const minuteOrLeast: Saying = ({ text, start }) =>
  /\d(?:e|er|re|ème)? $/.test(text.slice(Math.max(0, start - 5), start)) ? 'minute' : 'minimum';

const BEHIND_PRICE = /(?:€|euros?)(?:\/mois)? $/;

/** 650 € cc */
function behindPrice(said: string): Saying {
  return ({ text, start }) =>
    BEHIND_PRICE.test(text.slice(Math.max(0, start - 11), start)) ? said : undefined;
}

/** Appartement 3 p. */
const rooms: Saying = ({ text, start }) =>
  /(?:appart\p{L}*\.?|maison|duplex|loft) \d{1,2} $/iu.test(text.slice(Math.max(0, start - 18), start))
    ? 'pièces'
    : undefined;

/** Exp. 12/26 */
const beforeExpiry: Saying = ({ text, end }) =>
  /^ ?:? ?\d/.test(text.slice(end, end + 4)) ? 'expiration' : undefined;

/** Av. is an avenue before a name and "avant" before a date or birth. */
const avenue: Saying = (around) =>
  /^(?:\p{Lu}|d[eu]s?$|d['’]|la$|l['’])/u.test(around.nextWord) ? 'avenue' : 'avant';

/** Pl. is a square behind a number of a house. */
function ofStreet(said: string): Saying {
  return (around) => (/^(?:\p{Lu}|d[eu]s?$|d['’]|la$|l['’]|Saint)/u.test(around.nextWord) ? said : undefined);
}

const ESTIMATED =
  /^(?:durée|arrivée|livraison|valeur|date|heure|attente|coût|délai|temps|prix|budget|départ|montant)$/;

/** Durée est. : 10 min; elsewhere it is a verb. */
const estimated: Saying = ({ previousWord }) =>
  ESTIMATED.test(previousWord) ? (isFeminine(previousWord) ? 'estimée' : 'estimé') : undefined;

/** Dép. 16h40 */
const beforeHour =
  (said: string, otherwise: string): Saying =>
  ({ text, end }) =>
    /^ ?:? ?(?:à )?\d{1,2} ?[h:]/.test(text.slice(end, end + 9)) ? said : otherwise;

/** Art. L. 121-1: the letter alone. */
const ofCode: Saying = ({ text, start, end }) =>
  /^ ?\d/.test(text.slice(end, end + 2)) ? text[start] : undefined;

export const SYMBOLS: SymbolNames = {
  ...TABLES.signs,
  versionPoint: 'point',
  version: 'version',
  minus: 'moins',
  plus: 'plus',
  keys: {
    star: 'étoile',
    hash: 'dièse',
    before: /appuy|touche|compos|\btap(?:ez|er)|saisi|press|entrez|faites/i,
  },
  hashtag: 'hashtag',
  pause: ',',
};

const WORDS = TABLES.words({
  sayings: {
    'before code': beforeCode,
    'before digit': beforeDigit,
    'before name': beforeName,
    'before roman': beforeRoman,
    'behind price': behindPrice,
    example,
    'day of date': dayOfDate,
    'of street': ofStreet,
    saint,
    weekday,
  },
});

/** Short forms with more than one reading. */
const OWN: Readonly<Record<string, Saying>> = {
  'M.': monsieur,
  's.': century,
  'J.-C.': christ,
  'av.': avenue,
  'min.': minuteOrLeast,
  'p.': rooms,
  'exp.': beforeExpiry,
  'L.': ofCode,
  'R.': ofCode,
  'D.': ofCode,
  'est.': estimated,
  'dép.': beforeHour('départ', 'département'),
  'arr.': beforeHour('arrivée', 'arrondissement'),
};

export const WRITING: Writing = {
  ...WORDS,
  placeWords: new Set([...WORDS.placeWords, ...TABLES.set('numbered')]),
  abbreviations: { ...WORDS.abbreviations, ...OWN },
  numbers: {
    decimal: ',',
    grouping: [' ', '.', "'", '’'],
    other: { decimal: '.', grouping: ["'", '’'] }, // CHF 1'250.50
  },
  dates: {
    ...TABLES.dates,
    orders: { '/': 'dmy', '-': 'dmy', '.': 'dmy' },
    named: ['day-month'],
    dayMark: 'er',
    between: ' ',
  },
  times: { ...TABLES.times, marks: [':', 'h'] },
  telephone: {
    patterns: [
      /0[1-9](?:[ .-]?\d{2}){4}(?!\d|[.-]\d)/y,
      /0 ?8\d{2}[ .-]\d{3}[ .-]\d{3}(?!\d)/y,
      /0\d{2} \d{3} \d{2} \d{2}(?!\d)/y, // Switzerland
      /0\d{1,3}[ /]\d{2,3}[ .]\d{2}[ .]\d{2}(?![\d.]\d|\d)/y, // Belgium
      /00[1-9]\d{1,2}(?:[ .-]\d)?(?:[ .-]\d{2}){4}(?!\d|[.-]\d)/y,
      /0 ?8\d{2}(?:[ .-]?\d{2}){3}(?!\d)/y,
      /\(?[2-9]\d{2}\)?[- ]\d{3}-\d{4}(?!\d|-\d)/y, // Canada
    ],
    keywords: TABLES.telephone,
  },
  fractionMark: '',
  ordinalMark: 'ers|er|ères|ère|res|re|èmes|ème|emes|eme|es|e|ndes|nds|nde|nd|de|d',
  letterPlural: '',
  decadeMark: '',
};
