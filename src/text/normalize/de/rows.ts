// Ordinals in a row: what stands before and behind one decides how it ends. Der 1. und 2. Platz, vom 1. bis 3. Mai.
import { wordBefore, type Around } from '../reading.js';

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
const BEHIND = new RegExp(`(?:${JOIN}${ARTICLE}\\d{1,4}\\.){1,${MOST_MEMBERS}} ?`, 'uy');
/** Ab 1. Mai bis 3. Juni: each end has its own. */
const FROM = /^(?:ab|seit|von)$/;
const LONGEST_ROW = 72; // units before an ordinal that may belong to its row

export interface Governor {
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
export function endOfRow(text: string, end: number): number {
  BEHIND.lastIndex = end;
  const match = BEHIND.exec(text);
  return match === null ? end : end + match[0].length;
}
