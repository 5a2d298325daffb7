// Decides whether a clause ends at a mark within a sentence, for whoever is to
// speak before the sentence is there. A clause is long enough to sound by itself,
// and so is what follows it.

/** Text around a mark. `complete` says that nothing after the window matters. */
export interface ClauseWindow {
  /** The clause so far, up to the mark. */
  readonly before: string;
  /** From the mark on. */
  readonly after: string;
  readonly complete: boolean;
}

/** Units of `after` that belong to the clause, or no end here, or not certain yet. */
export type ClauseVerdict = number | 'none' | 'wait';

export const CLAUSE_MARK = /[,;:—–、，；：]/u;

const SHORTEST = 16; // units of a clause; what is shorter goes with its neighbour
const SHORTEST_AT_COMMA = 24; // before a comma, which may also part the members of a list
const SHORTEST_DENSE = 6; // the same in Chinese and Japanese
const LOOK_BACK = 120; // units in which an open bracket is looked for

const MARKS = /^[,;:—–、，；：]["'”’»)\]」』）】*_]*(?:(?<=^,["'”’»)]*)\s[—–](?=\s))?/u; // и могу ошибаться, — что
const DENSE_MARK = /^[、，；：]/u;
const IDEOGRAPH = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const SENTENCE_END = /[!?…。！？｡\n]|(?<!\p{N}|(?<!\p{L})(?:Dr|Mr|Mrs|Ms|St|Prof|Dra|Sra?|\p{Lu}))\.\s/u; // not of Dr. Lee
// "Smith, Jr." · "Acme, Inc." · "Jones, M.D."
const NAME_TAIL = /^(?:[JS]r|Inc|Ltd|LLC|Esq|M\.?D|Ph\.?D|MBA|CPA)\b/;

export function judgeClause({ before, after, complete }: ClauseWindow): ClauseVerdict {
  const shortest = IDEOGRAPH.test(before.slice(-SHORTEST_DENSE)) ? SHORTEST_DENSE : SHORTEST;
  const least = after.startsWith(',') ? SHORTEST_AT_COMMA : shortest;
  if (before.length < least || isOpen(before)) return 'none';
  const marks = MARKS.exec(after)?.[0] ?? '';
  const rest = after.slice(marks.length);
  if (rest === '') return complete ? 'none' : 'wait';
  if (!isParted(before, marks, rest)) return 'none';
  const next = rest.trimStart();
  const head = next.slice(0, shortest);
  if (SENTENCE_END.test(head)) return 'none';
  if (next.length < shortest) return complete ? 'none' : 'wait';
  if (/\p{N}$/u.test(before) && /^\p{N}/u.test(next)) return 'none'; // January 15, 2024
  return NAME_TAIL.test(next) ? 'none' : marks.length;
}

/** A mark of dense writing parts by itself, a long dash nearly always, the others where space follows. */
function isParted(before: string, marks: string, rest: string): boolean {
  if (DENSE_MARK.test(marks)) return !/^[\p{Pe}\p{Pf}\p{N}]/u.test(rest);
  if (marks.startsWith('—')) return !/^\p{P}/u.test(rest);
  if (!/^\s/u.test(rest)) return false;
  return !marks.startsWith('–') || /\s$/u.test(before);
}

/** Within brackets, a link, a tag or code nothing ends. */
function isOpen(before: string): boolean {
  const near = before.slice(-LOOK_BACK);
  for (const [opening, closing] of [
    ['(', ')'],
    ['[', ']'],
    ['<', '>'],
    ['（', '）'],
  ] as const) {
    if (near.lastIndexOf(opening) > near.lastIndexOf(closing)) return true;
  }
  return near.split('`').length % 2 === 0;
}
