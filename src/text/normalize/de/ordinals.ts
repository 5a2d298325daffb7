// Reads German ordinals: digits with a full stop (der 1. und 2. Platz) and the numerals of kings.
// The words around an ordinal decide its ending.
import { tablesOf } from '../../tables/language-tables.js';
import { type Around, type Found, type Reading, wordAfter, wordBefore } from '../reading.js';
import { romanValue } from '../recognise/words.js';
import { asksForOrdinal, genderOf, isKnown, isPlural, ordinalEnding, upper } from './grammar.js';
import { ordinalStem } from './numbers.js';

const MONTH = '(?:Jan|Feb|Mär|Mrz|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|Jän)\\p{L}{0,6}\\.?';
const JOIN = '(?:,? ?(?:und|oder|sowie|bzw\\.|beziehungsweise|u\\.|bis|auf) | ?[-–/+&,] ?)';
const ARTICLE = '(?:(?:dem|den|der|die|das|zum|am|im|vom) )?';
const WEEKDAY = '(?:(?:Mon|Diens|Donners|Frei|Sams|Sonn)tag|Mittwoch|Sonnabend|(?:Mo|Di|Mi|Do|Fr|Sa|So)\\.?)';

const MOST_MEMBERS = 6;

/** An ordinal, or a date, and what joins it with the next. */
const MEMBER = new RegExp(
  `(?<![\\p{L}\\p{N}.])\\d{1,4}\\.(?: ?\\d{1,2}\\.(?:\\d{4}|\\d{2})?| ${MONTH}(?: \\d{4})?| \\p{Ll}+ \\p{Lu}\\p{L}+| \\p{Lu}\\p{L}+)?${JOIN}$`,
  'u',
);
const SKIPPED = new RegExp(
  `^\\(?(?:${WEEKDAY},?|einschließlich|einschl\\.|inkl\\.|inklusive|spätestens|frühestens|voraussichtlich|etwa|ca\\.|circa|jeweils) $`,
  'u',
);
const BEHIND = new RegExp(`(?:${JOIN}${ARTICLE}\\d{1,4}\\.(?:\\+\\d{1,2})?){1,${MOST_MEMBERS}} ?`, 'uy');
/** Ab 1. Mai bis 3. Juni: each end has its own. */
const FROM = /^(?:ab|seit|von)$/;
const LONGEST_ROW = 72; // units before an ordinal that may belong to its row

interface Governor {
  /** In small letters; '' if nothing governs. */
  readonly word: string;
  /** An ordinal of the same row stands before. */
  readonly inRow: boolean;
  readonly behindWeekday: boolean;
}

/** The word that governs an ordinal, behind other members of its row and the name of the day. */
export function governorOfOrdinal({ text, start }: Around): Governor {
  let near = text.slice(Math.max(0, start - LONGEST_ROW), start);
  let inRow = false;
  let behindWeekday = false;
  for (let count = 0; count < MOST_MEMBERS; count++) {
    const word = near.lastIndexOf(' ', near.length - 2) + 1;
    const skipped = SKIPPED.test(near.slice(word));
    const member = skipped ? undefined : memberBefore(near);
    if (!skipped && member === undefined) break;
    behindWeekday ||= skipped && /^\p{Lu}/u.test(near.slice(word));
    inRow ||= !skipped;
    near = near.slice(0, member ?? word);
  }
  const of = near.endsWith(' v. '); // Urt. v. 3. Mai
  const word = of ? 'vom' : near.endsWith(' ') ? wordBefore(near, near.length).toLowerCase() : '';
  const isEnd = inRow && text.startsWith('bis ', start - 4);
  return { word: isEnd && FROM.test(word) ? 'bis' : word, inRow, behindWeekday };
}

function memberBefore(near: string): number | undefined {
  return /\d\./.test(near) ? MEMBER.exec(near)?.index : undefined;
}

/** Offset behind the ordinals that follow in the same row; `end` if there are none. */
function endOfRow(text: string, end: number): number {
  BEHIND.lastIndex = end;
  const match = BEHIND.exec(text);
  return match === null ? end : end + match[0].length;
}

export function ordinalWord(digits: string, ending: string): string {
  return `${ordinalStem(digits)}${ending}`;
}

const PLACED =
  /^(?:FC|Sinfonie|Symphonie|Sonate|Klavierkonzert|Violinkonzert|Streichquartett|Konzert|Amtszeit|Album|Roman|Spielfilm|Todestag|Jahrestag|Hochzeitstag|Saison|Titel|Bundesliga|Liga|Weltkrieg|Klasse|Kl(?!\p{L})|Std(?!\p{L})|Stock|Stockwerk|Etage|OG|UG|Obergescho|Untergescho|Platz|Rang|Quartal|Kapitel|Auflage|Runde|Mannschaft|Tag|Advent|Semester|Geburtstag|Jahrhundert|Jh|Halbzeit|Halbjahr|Spieltag|Akt|Satz|Preis|Hälfte|Schritt|Versuch|Senat|Kammer|Bezirk|Lesung|Wahlgang|Etappe|Mahnung|Rate|Impfung|Dosis|Generation|Lebensjahr|Woche|Staffel|Folge|Ausgabe|Minute|Lauf|Gang|Vorsitzende|Reihe|Durchgang|Teil|Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)/u;
const PREPOSITION = /^(?:ab|bis|seit|in|von|nach|vor|für|mit|zu|bei|aus|auf|unter|als|per)$/;
/** Er wurde 3. */
const BECAME = /^(?:wurde|wird|werde|wurden)$/;
const RANKED = /^ von \d/; // 86. von 1.204
/** Behind these a number is a name: Platz 1. */
const NUMBERED =
  /^(?:platz|rang|tag|kapitel|klasse|gleis|zimmer|stufe|teil|abschnitt|woche|seite|punkt|runde|etage|phase|band|akt|szene|linie|level|nummer|nr|schritt|frage|version|jahr|taste)$/;

/** Steuer: 1. Hund 120 €, 2. Hund 180 € */
function isPriced({ text, start, end }: Around, next: string): boolean {
  const isListed = /[:,;(] $/.test(text.slice(Math.max(0, start - 2), start));
  return isListed && isKnown(next) && /^ \p{L}+ \d/u.test(text.slice(end, end + next.length + 3));
}

/** Before a noun, or behind an article or "am": dritte, dritten, dritter, drittes. */
export function ordinal(digits: string, around: Around, mark: string): string | undefined {
  if (digits.startsWith('0')) return undefined;
  if (mark === '' || isKing(around)) return king(digits, around);
  const { text, end } = around;
  const rowEnd = endOfRow(text, end);
  const governor = governorOfOrdinal(around);
  const next = rowEnd === end ? around.nextWord : wordAfter(text, rowEnd);
  const follows = next !== '' && (rowEnd > end || /^(?:\s|\p{Lu}\p{Ll})/u.test(text.slice(end, end + 2)));
  const asks = asksForOrdinal(governor.word);
  if (BECAME.test(governor.word) && !/^\p{Lu}/u.test(next) && isEndOrMark(around))
    return ordinalWord(digits, around.secondPreviousWord === 'sie' ? 'e' : 'er');
  if (RANKED.test(text.slice(end, end + 6)) && !asks) return ordinalWord(digits, 'er');
  // At the end of "Drücken Sie die 3." it is the number itself.
  if (!follows)
    return asks && !/^(?:die|eine)$/.test(governor.word) && isEndOrMark(around)
      ? ordinalWord(digits, ordinalEnding(governor.word, undefined))
      : undefined;
  // "Wir sind 3. Danach ..." ends with a number; what asks for an ordinal is an article, or the noun.
  if (
    !asks &&
    !PLACED.test(next) &&
    !isPriced(around, next) &&
    !(digits.length < 3 && PREPOSITION.test(governor.word))
  )
    return undefined;
  if (NUMBERED.test(around.previousWord)) return undefined;
  return ordinalWord(digits, endingBefore(next, governor.word, around, rowEnd));
}

function endingBefore(next: string, governor: string, around: Around, rowEnd: number): string {
  const { text } = around;
  const at = text.indexOf(next, rowEnd);
  const noun = /^\p{Lu}/u.test(next) ? next : wordAfter(text, at + next.length);
  const ofDay = /^(?:Januar|Februar|März|April|Mai|Ju[nl]i|August|\p{L}{4,5}ember|Oktober)$/u.test(noun);
  if (!ofDay && governor === 'die' && isPlural(noun)) return 'en';
  if (governor === 'jeder' && PREPOSITION.test(around.secondPreviousWord)) return 'en'; // in jeder 3. Familie
  return ordinalEnding(governor, genderOf(noun));
}

const GROUPED = /(\d{1,3}(?:\.\d{3}){1,3})\.(?= \p{Lu})/uy;

/** Der 1.000. Besucher */
export function groupedOrdinal(reading: Reading): Found | undefined {
  const match = reading.match(GROUPED);
  if (match === undefined) return undefined;
  const end = reading.at + match[0].length;
  const spoken = ordinal((match[1] ?? '').replaceAll('.', ''), reading.around(end), '.');
  return spoken === undefined ? undefined : { end, spoken, rule: 'ordinal' };
}

function isEndOrMark({ text, end }: Around): boolean {
  return (
    /^(?:["'”“»)?!…:]|\s|,|;|$)/.test(text.slice(end, end + 1)) &&
    !/^\s+\p{N}/u.test(text.slice(end, end + 4))
  );
}

const PAIR = /(\d{1,3})\. ?([-–/]) ?(\d{1,3})\.(?= \p{Lu})/uy;

/** Die 1.–4. Klasse, im 1./2. Stock */
export function ordinalPair(reading: Reading): Found | undefined {
  const { at, runEnd } = reading;
  const match = reading.match(PAIR);
  if (match === undefined) return undefined;
  const [written, first = '', mark = '', second = ''] = match;
  const end = at + written.length;
  const from = ordinal(first, reading.around(runEnd + 1), '.');
  const to = ordinal(second, reading.around(end, end - second.length - 1), '.');
  if (from === undefined || to === undefined) return undefined;
  return { end, spoken: `${from} ${mark === '/' ? 'und' : 'bis'} ${to}`, rule: 'ordinal' };
}

const ROMAN =
  /X{0,3}(?:IX|IV|V?I{0,3})\.(?= (?:\p{Lu}\p{Ll}|(?:und|bis|oder) (?:der |die |das )?[IVX]+\.))/uy;
const NUMBERED_SO =
  /^(?:Weltkrieg|Internationale|Zivilsenat|Senat|Konzil|Vatikan|Olympi|Quartal|Obergescho|Jahrhundert)/;

/** Die XXXIII. Olympischen Spiele, der I. und II. Weltkrieg; "der V. Müller" is a name. */
export function romanOrdinal(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const match = reading.match(ROMAN);
  if (match === undefined || match[0].length < 2) return undefined;
  const end = at + match[0].length;
  const around = reading.around(end);
  const isLong = match[0].length > 2 || /^(?:und|bis|oder)$/.test(around.nextWord);
  const behindRow = /[IVX]\. (?:und|bis|oder) $/.test(text.slice(Math.max(0, at - 8), at));
  const before = behindRow
    ? (/(\p{L}+) [IVX]+\. \p{Ll}+ $/u.exec(text.slice(Math.max(0, at - 28), at))?.[1] ?? '')
    : around.previousWord;
  if (!(isLong || NUMBERED_SO.test(around.nextWord)) || !asksForOrdinal(before.toLowerCase()))
    return undefined;
  const value = String(romanValue(match[0].slice(0, -1)));
  const next = /^(?:und|bis|oder)$/.test(around.nextWord) ? wordBehindRow(text, end) : around.nextWord;
  const ending = endingBefore(next, before.toLowerCase(), around, end);
  return { end, spoken: ordinalWord(value, ending), rule: 'roman' };
}

function wordBehindRow(text: string, end: number): string {
  return /^ \p{Ll}+ (?:der |die |das )?[IVX]+\. (\p{Lu}\p{L}+)/u.exec(text.slice(end, end + 48))?.[1] ?? '';
}

const MEN = [...tablesOf('de').set('rulers')];
const WOMEN = [...tablesOf('de').set('queens')];

/** Behind these a Roman numeral is an ordinal; in the genitive, too. */
export const ROYAL: ReadonlySet<string> = new Set(
  [...MEN, ...WOMEN].flatMap((name) => (name.endsWith('s') ? [name] : [name, `${name}s`])),
);

function isKing(around: Around): boolean {
  return /^[IVXLC]/.test(around.text.slice(around.start, around.end)) && ROYAL.has(around.previousWord);
}

const OF = /^(?:mit|von|unter|bei|nach|vor|zu|seit|neben|gegenüber|dem)$/;

/** Ludwig der Vierzehnte, Ludwigs des Vierzehnten, mit Ludwig dem Vierzehnten, Elisabeth die Zweite. */
function king(digits: string, around: Around): string {
  const name = around.previousWord;
  const woman = WOMEN.some((known) => name === known || name === `${known}s`);
  const owned = name.endsWith('s') && !MEN.includes(name);
  const before = governorOfName(around);
  if (owned) return `${woman ? 'der' : 'des'} ${upper(ordinalWord(digits, 'en'))}`;
  if (before !== '' && OF.test(before)) return `${woman ? 'der' : 'dem'} ${upper(ordinalWord(digits, 'en'))}`;
  if (/^(?:für|gegen|ohne|durch|um)$/.test(before))
    return `${woman ? 'die' : 'den'} ${upper(ordinalWord(digits, woman ? 'e' : 'en'))}`;
  return `${woman ? 'die' : 'der'} ${upper(ordinalWord(digits, 'e'))}`;
}

const NAMED =
  /(?:^|\s)(\p{L}+) (?:(?:König(?:in)?|Kaiser(?:in)?|Papst|Zar(?:in)?|Prinz|Herzog|Kurfürst) )?(?:\p{Lu}\p{L}+ )?\p{Lu}\p{L}+ $/u;
const LONGEST_NAME = 48; // units

/** Returns the word that governs a king's name: mit König Ludwig. */
function governorOfName({ text, start }: Around): string {
  return NAMED.exec(text.slice(Math.max(0, start - LONGEST_NAME), start))?.[1]?.toLowerCase() ?? '';
}
