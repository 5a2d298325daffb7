// The sentence cutter asks this file whether a clause ends at a comma, semicolon, colon or dash. Both sides
// must sound complete by themselves. Numbers, dates, names, brackets, links and code are whole.
// Text may still be arriving. A rule that would need more text than has arrived answers 'wait'.
import { CharacterSet } from './character-set.js';
import { lastWord } from './sentence-end.js';
import type { ShortForms } from './short-forms.js';

export const CLAUSE_MARK = /[,;:—–、，；：]/u;

/** Text around a mark. `complete` says that nothing after the window matters. */
interface ClauseWindow {
  /** The clause so far, up to the mark. */
  readonly before: string;
  /** From the mark on. */
  readonly after: string;
  readonly complete: boolean;
  /** Short forms of the text's language, or of all languages if it is unknown. */
  readonly forms: ShortForms;
}

/**
 * Units of `after` that belong to the ended clause; 'none' if it does not end; 'wait' if more text is needed.
 */
type ClauseVerdict = number | 'none' | 'wait';

const CLAUSE_MARKS = new CharacterSet(CLAUSE_MARK);

export function isClauseMarkAt(text: string, at: number): boolean {
  return CLAUSE_MARKS.at(text, at);
}

const SHORTEST = 16; // units of a clause; what is shorter goes with its neighbour
const SHORTEST_AT_COMMA = 24; // before a comma, which may also part the members of a list
const SHORTEST_DENSE = 6; // the same in Chinese and Japanese
// The same in Korean, also before a comma that an ending of its verbs shows to part clauses.
const SHORTEST_HANGUL = 8;
const LOOK_BACK = 120; // units in which an open bracket is looked for

const MARKS = /^[,;:—–、，；：]["'”’»)\]」』）】*_]*(?:(?<=^,["'”’»)]*)\s[—–](?=\s))?/u; // и могу ошибаться, — что
const DENSE_MARK = /^[、，；：]/u;
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;
const HANGUL_END = /\p{Script=Hangul}$/u;
const KOREAN_CLAUSE = /[면며고만데니서자여야도은는에로나요다]$/u;
const DAY_AND_HOUR = /^(?:午前|午後|上午|下午|早上|晚上|오전|오후|朝|夜)/u; // 2024年1月15日、午前10時
const IDEOGRAPH = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
// Not of Dr. Lee.
const SENTENCE_END = /[!?…。！？｡\n]|(?<!\p{N}|(?<!\p{L})(?:Dr|Mr|Mrs|Ms|St|Prof|Dra|Sra?|\p{Lu}))\.\s/u;
const LINK_END = /(?:\/\/|@|www\.)\S*$/u; // example.com/a—b
// "Smith, Jr." · "Acme, Inc." · "Jones, M.D."
const ENTITY = /&#?[a-z\d]{1,8}$/i;
const NAME_TAIL = /^(?:[JS]r|Inc|Ltd|LLC|Esq|M\.?D|Ph\.?D|MBA|CPA)\b/;

export function judgeClause({ before, after, complete, forms }: ClauseWindow): ClauseVerdict {
  const hangul = HANGUL_END.test(before);
  const dense = DENSE_MARK.test(after) || IDEOGRAPH.test(before.slice(-SHORTEST_DENSE));
  const shortest = dense ? SHORTEST_DENSE : hangul ? SHORTEST_HANGUL : SHORTEST;
  const clear = hangul && KOREAN_CLAUSE.test(before);
  const least = after.startsWith(',') && !clear ? SHORTEST_AT_COMMA : shortest;
  if (before.length < least || isOpen(before)) return 'none';
  if (after.startsWith(';') && ENTITY.test(before)) return 'none'; // 5 &lt; 6
  const marks = MARKS.exec(after)?.[0] ?? '';
  const rest = after.slice(marks.length);
  if (rest === '') return complete ? 'none' : 'wait';
  if (!isParted(before, marks, rest)) return 'none';
  const next = rest.trimStart();
  const head = next.slice(0, shortest);
  if (SENTENCE_END.test(head)) return 'none';
  if (next.length < shortest) return complete ? 'none' : 'wait';
  // January 15, 2024; 10 – 12; 5-й, 6-й
  if (/\p{N}(?:-\p{L}{1,3}|\.)?\s?$/u.test(before) && /^\p{N}/u.test(next)) return 'none';
  if (isShortForm(before, forms)) return 'none'; // e.g.,
  if (/[日일)）]$/u.test(before) && DAY_AND_HOUR.test(next)) return 'none';
  if (marks.startsWith('、') && isMember(before, head)) return 'none';
  return NAME_TAIL.test(next) ? 'none' : marks.length;
}

function isShortForm(before: string, forms: ShortForms): boolean {
  return before.endsWith('.') && forms.neverFinal.has(lastWord(before.slice(0, -1), forms));
}

/** In Chinese 、 parts the members of a list only, in Japanese those that are short. */
function isMember(before: string, head: string): boolean {
  const member = before.slice(before.lastIndexOf('、') + 1);
  return member.length < SHORTEST_DENSE || !KANA.test(before + head);
}

/** A mark of dense writing parts by itself, a long dash nearly always, the others where space follows. */
function isParted(before: string, marks: string, rest: string): boolean {
  if (DENSE_MARK.test(marks)) return !/^[\p{Pe}\p{Pf}\p{N}]/u.test(rest);
  if (marks.startsWith('—')) return !/^\p{P}/u.test(rest) && !LINK_END.test(before);
  if (!/^\s/u.test(rest)) return false;
  return !marks.startsWith('–') || /\s$/u.test(before);
}

/** Within brackets, a link, a tag or code nothing ends. */
export function isOpen(before: string): boolean {
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

/** Quotation marks that open, with those that close what they have opened. */
const CLOSING: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['“', '”'],
  ['„', '“”"'],
  ['‚', '‘’'],
  ['«', '»'],
  ['»', '«'],
  ['‹', '›'],
  ['「', '」'],
  ['『', '』'],
  ['《', '》'],
  ["'", "'"],
  ['‘', '’'],
]);
/** These are also apostrophes, or stand behind what they close. */
const UNCERTAIN = new CharacterSet(`'’‘"»`);
const IN_WORD = new CharacterSet(/[\p{L}\p{N}]/u);

/** True if the text ends within a quotation. A mark in a word is an apostrophe, behind a number a unit. */
export function isQuoted(text: string): boolean {
  let closing: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const mark = text[at] ?? '';
    const isUncertain = UNCERTAIN.at(text, at);
    if (closing !== undefined) {
      if (closing.includes(mark) && !(isUncertain && IN_WORD.at(text, at + 1))) closing = undefined;
    } else if (!isUncertain || (!IN_WORD.at(text, at - 1) && IN_WORD.at(text, at + 1))) {
      closing = CLOSING.get(mark);
    }
  }
  return closing !== undefined;
}
