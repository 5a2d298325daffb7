// Describes how Italian is written: its tables, and the short forms that depend on their neighbours.
import { tablesOf } from '../../tables/language-tables.js';
import type { Saying, SymbolNames, Writing } from '../language.js';
import type { Around } from '../reading.js';
import { isFeminine } from './grammar.js';

const TABLES = tablesOf('it');

/** Nothing that could be counted: uno per cento. */
export const RATIO = 'ratio';

// Italian short forms and the words that are said for them.

function likeWritten(said: string, { text, start }: Around): string {
  return /\p{Lu}/u.test(text[start] ?? '') ? said.slice(0, 1).toUpperCase() + said.slice(1) : said;
}

/** Dottor Rossi, but "il dottore". */
function title(beforeName: string, alone = beforeName): Saying {
  return (around) => likeWritten(/^\p{Lu}/u.test(around.nextWord) ? beforeName : alone, around);
}

/** Only before a name. */
function onlyBeforeName(said: string): Saying {
  return (around) => (/^\p{Lu}/u.test(around.nextWord) ? likeWritten(said, around) : undefined);
}

/** Before a colon, or behind a bracket or comma; not the end of a sentence. */
function example(said: string): Saying {
  return ({ text, start, end }) =>
    /^ ?:/.test(text.slice(end, end + 2)) || /[(,] ?$/.test(text.slice(Math.max(0, start - 2), start))
      ? said
      : undefined;
}

/** Behind a number or before one: min. 5, 10 max. */
function byNumber(said: string): Saying {
  return ({ text, start, end }: Around) =>
    /^ ?\d/.test(text.slice(end, end + 2)) ||
    /\d\p{L}{0,12} ?$/u.test(text.slice(Math.max(0, start - 14), start))
      ? said
      : undefined;
}

/** SS. Annunziata, SS. Sacramento, SS. Pietro e Paolo */
const holy: Saying = ({ text, end, nextWord }) => {
  if (/^(?:Sacramento|Crocifisso|Salvatore|Redentore|Nome)$/.test(nextWord)) return 'Santissimo';
  if (/^(?:Annunziata|Trinità|Vergine|Madre)$/.test(nextWord)) return 'Santissima';
  return /^ \p{Lu}\p{Ll}+ e(?:d)? \p{Lu}/u.test(text.slice(end, end + 24)) ? 'Santi' : undefined;
};

/** Cap. III: before a Roman numeral. */
function beforeRoman(said: string): Saying {
  return (around) => (/^[IVXLC]+$/.test(around.nextWord) ? likeWritten(said, around) : undefined);
}

/** La ns. fattura, i ns. uffici, un ns. cliente. */
function possessive(root: string): (around: Around) => string {
  return ({ previousWord }) => {
    if (/^(?:l[ae]|un[ao]?|[ad]?(?:a|e)ll[ae]|dall[ae]|sull[ae])$/.test(previousWord))
      return `${root}${previousWord.endsWith('e') ? 'e' : previousWord.endsWith('a') ? 'a' : 'o'}`;
    return `${root}${/^(?:i|gli|de[i]|agli|ai|dai|degli|sui)$/.test(previousWord) ? 'i' : 'o'}`;
  };
}

const likeNoun = possessive('vostr');

/** Inter vs. Milan, but "il vs. ordine". */
const yours: Saying = (around) => (/^\p{Ll}/u.test(around.nextWord) ? likeNoun(around) : 'contro');

/** V. Roma 3; Corso V. Emanuele */
const streetOrVictor: Saying = (around) => {
  if (/^(?:corso|via|piazza|viale|largo|re)$/.test(around.previousWord) && around.nextWord === 'Emanuele')
    return 'Vittorio';
  const behind = around.text.slice(around.end, around.end + 28);
  return /^ \p{Lu}\p{Ll}{2,}[^.!?]{0,16} \d/u.test(behind) ? 'Via' : undefined;
};

/** Tieni premuto x 10 sec */
const timesOrFor: Saying = ({ text, start, end }) =>
  /\p{Ll}{2} $/u.test(text.slice(Math.max(0, start - 3), start)) &&
  /^ \d{1,3} \p{Ll}/u.test(text.slice(end, end + 8))
    ? 'per'
    : undefined;

/** A.s. 2023/24 */
function beforeYear(said: string): Saying {
  return ({ text, end }) => (/^ ?(?:19|20)\d\d/.test(text.slice(end, end + 5)) ? said : undefined);
}

/** Lotto n. A12 */
const beforeCode: Saying = ({ text, end }) =>
  /^ ?[A-Z]{1,3}-?\d/.test(text.slice(end, end + 6)) ? 'numero' : undefined;

/** Scala B */
const before =
  (what: RegExp, said: string, otherwise?: string): Saying =>
  ({ text, end }) =>
    what.test(text.slice(end, end + 28)) ? said : otherwise;
const behindNumber =
  (said: string): Saying =>
  ({ text, start }) =>
    /\d[\d.,]* ?$/.test(text.slice(Math.max(0, start - 8), start)) ? said : undefined;
const behindOrdinal =
  (said: string): Saying =>
  ({ text, start }) =>
    /\d[°º] $/.test(text.slice(Math.max(0, start - 3), start)) ? said : undefined;
const beforeLetter =
  (said: string): Saying =>
  (around) =>
    /^\p{Lu}$/u.test(around.nextWord) ? said : undefined;
const staircase = beforeLetter('scala');

/** Sec. XX, XX sec. */
const century: Saying = (around) =>
  /^[IVXLC]+$/.test(around.nextWord) || /^[ivxlc]+$/.test(around.previousWord) ? 'secolo' : undefined;

/** S.E. il Prefetto, S.E. Mons. Rossi */
function onlyBeforeHonour(said: string): Saying {
  return (around) => (/^(?:il$|la$|l['’]|mons|\p{Lu})/iu.test(around.nextWord) ? said : undefined);
}

/** C.a. Ing. Neri, but "del 3 maggio c.a." */
const attention: Saying = (around) =>
  /^(?:\p{Lu}|dott|ing|sig|avv|arch|geom|rag|prof)/u.test(around.nextWord)
    ? 'cortese attenzione'
    : /^(?:del|della|dell['’]|di)/.test(around.nextWord) && /^al?la?$/.test(around.previousWord)
      ? 'cortese attenzione'
      : 'corrente anno';

/** Al 3° p. */
const floor: Saying = ({ text, start }) =>
  /\d[°º] $/.test(text.slice(Math.max(0, start - 3), start)) ? 'piano' : undefined;

/** Reg. UE 2016/679 */
const regulation: Saying = (around) =>
  /^ (?:UE|CE|CEE|\(UE\)|\d)/.test(around.text.slice(around.end, around.end + 6))
    ? likeWritten('regolamento', around)
    : undefined;

export const SYMBOLS: SymbolNames = {
  ...TABLES.signs,
  versionPoint: 'punto',
  version: 'versione',
  minus: 'meno',
  plus: 'più',
  keys: { star: 'asterisco', hash: 'cancelletto', before: /\b(?:prem|digit|tast|compon|inseri|schiacc)/i },
  hashtag: 'hashtag',
  pause: ',',
};

const WORDS = TABLES.words({
  sayings: {
    'before name': onlyBeforeName,
    'before honour': onlyBeforeHonour,
    'before roman': beforeRoman,
    'before year': beforeYear,
    'behind number': behindNumber,
    'behind ordinal': behindOrdinal,
    'by number': byNumber,
    example,
    title,
  },
});

/** Arrivo prev., consegna prev. */
const expected: Saying = ({ previousWord }) =>
  previousWord === '' ? undefined : isFeminine(previousWord) ? 'prevista' : 'previsto';

/** Short forms with more than one reading. */
const OWN: Readonly<Record<string, Saying>> = {
  'SS.': holy,
  'S.S.': holy,
  'vs.': yours,
  'c.a.': attention,
  'n.': beforeCode,
  'sec.': century,
  'p.': floor,
  'L.': before(/^ n[.°]/, 'legge'),
  'sent.': before(/^ (?:n|\d)/, 'sentenza'),
  'op.': before(/^ \d/, 'opera'),
  Ø: before(/^ ?\d/, 'diametro'),
  'reg.': regulation,
  'sc.': staircase,
  'pal.': beforeLetter('palazzina'),
  'p.t.': before(/^ \d{1,2}[-–]/, 'primo tempo', 'piano terra'),
  'V.': streetOrVictor,
  'ns.': possessive('nostr'),
  x: timesOrFor,
  'prev.': expected,
};

/** "set" and "ago" are words of their own; see `dates.ts` for them before a year. */
export const WRITING: Writing = {
  ...WORDS,
  placeWords: new Set([...WORDS.placeWords, ...TABLES.set('numbered')]),
  abbreviations: { ...WORDS.abbreviations, ...OWN },
  numbers: {
    decimal: ',',
    grouping: ['.', ' ', "'", '’'],
    other: { decimal: '.', grouping: ["'", '’'] }, // CHF 1'250.50
  },
  dates: {
    ...TABLES.dates,
    orders: { '/': 'dmy', '-': 'dmy', '.': 'dmy' },
    named: ['day-month'],
    dayMark: '°|º',
    between: ' ',
  },
  times: { ...TABLES.times, marks: [':'] },
  telephone: {
    patterns: [
      /3[2-9]\d(?:[ ./-]?\d{7}|[ -]?\d{6}|[ .-]\d{3}[ .-]\d{4}|[ .-]\d{2}[ .-]\d{2}[ .-]\d{3}|[ .-]\d{3}[ .-]\d{2}[ .-]\d{2})(?!\d|[.,]\d)/y,
      /00\d{2}[ .-]\d{2,3}[ .-]?\d{5,8}(?!\d|[.,]\d)/y,
      /0\d{1,3}[ ./-]\d{5,8}(?!\d|[.,]\d)/y,
      /0\d{1,3}(?:[ .-]\d{2,4}){2,4}(?!\d|[.,-]\d)/y,
      /\(0\d{1,3}\) ?\d{5,8}(?!\d|[.,]\d)/y,
      /1(?:99|78|66)[ .-]\d{3}[ .-]\d{3}(?!\d|[.,]\d| (?:euro|€|abitanti))/y,
      /8(?:00|03|40|48|92|99)[ .-]?(?!000[ .-]?000)\d{3}[ .-]?\d{3}(?!\d|[.,]\d| (?:euro|€))/y,
    ],
    keywords: TABLES.telephone,
  },
  fractionMark: 'esim[oi]',
  ordinalMark: '°|º|ª|\\^(?!\\d)|-?esim[oaie]|mo|ma|[oa]',
  letterPlural: '',
  decadeMark: '',
};
