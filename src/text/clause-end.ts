// Decides whether a clause ends at a mark within a sentence, for whoever is to
// speak before the sentence is there. A clause is long enough to sound by itself,
// and so is what follows it.
import { CharacterSet } from './character-set.js';

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
const CLAUSE_MARKS = new CharacterSet(CLAUSE_MARK);

export function isClauseMarkAt(text: string, at: number): boolean {
  return CLAUSE_MARKS.at(text, at);
}

const SHORTEST = 16; // units of a clause; what is shorter goes with its neighbour
const SHORTEST_AT_COMMA = 24; // before a comma, which may also part the members of a list
const SHORTEST_DENSE = 6; // the same in Chinese and Japanese
const SHORTEST_HANGUL = 8; // the same in Korean, also before a comma that an ending of its verbs shows to part clauses
const LOOK_BACK = 120; // units in which an open bracket is looked for

const MARKS = /^[,;:—–、，；：]["'”’»)\]」』）】*_]*(?:(?<=^,["'”’»)]*)\s[—–](?=\s))?/u; // и могу ошибаться, — что
const DENSE_MARK = /^[、，；：]/u;
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;
const HANGUL_END = /\p{Script=Hangul}$/u;
const KOREAN_CLAUSE = /[면며고만데니서자여야도은는에로나요다]$/u;
const DAY_AND_HOUR = /^(?:午前|午後|上午|下午|早上|晚上|오전|오후|朝|夜)/u; // 2024年1月15日、午前10時
const IDEOGRAPH = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const SENTENCE_END = /[!?…。！？｡\n]|(?<!\p{N}|(?<!\p{L})(?:Dr|Mr|Mrs|Ms|St|Prof|Dra|Sra?|\p{Lu}))\.\s/u; // not of Dr. Lee
// "Smith, Jr." · "Acme, Inc." · "Jones, M.D."
const NAME_TAIL = /^(?:[JS]r|Inc|Ltd|LLC|Esq|M\.?D|Ph\.?D|MBA|CPA)\b/;

export function judgeClause({ before, after, complete }: ClauseWindow): ClauseVerdict {
  const hangul = HANGUL_END.test(before);
  const dense = DENSE_MARK.test(after) || IDEOGRAPH.test(before.slice(-SHORTEST_DENSE));
  const shortest = dense ? SHORTEST_DENSE : hangul ? SHORTEST_HANGUL : SHORTEST;
  const clear = hangul && KOREAN_CLAUSE.test(before);
  const least = after.startsWith(',') && !clear ? SHORTEST_AT_COMMA : shortest;
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
  if (/[日일)）]$/u.test(before) && DAY_AND_HOUR.test(next)) return 'none';
  if (marks.startsWith('、') && isMember(before, head)) return 'none';
  return NAME_TAIL.test(next) ? 'none' : marks.length;
}

/** In Chinese 、 parts the members of a list only, in Japanese those that are short. */
function isMember(before: string, head: string): boolean {
  const member = before.slice(before.lastIndexOf('、') + 1);
  return member.length < SHORTEST_DENSE || !KANA.test(before + head);
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
