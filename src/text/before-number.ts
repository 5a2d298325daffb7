// Short forms that stand before a number of any kind: No. A-12, Tel. +49 30, cap. IV, art. L. 121.
import type { Following, Judgement } from './following.js';
import { WORD_LIMIT } from './last-word.js';

const LONGEST_SERIES = 4; // letters before the digits of a serial number
const LETTER_LENGTH = 3; // units: the rest of "L. 1"
const OPEN_SERIES = /^-[A-Z\d]{0,16}$/;
const ROMAN = /^(?:[IVXLC]{2,8}|[VX])$/; // I alone is a word of English
/** El s. I, del cap. I: not English. */
const NUMBERED_I = /(?:^|\s)(?:(?:e?l|del|al) s|cap|tít|séc|vol|Art|Vol|Ch|Sec|Pt|Bk|Cap|Kap|Bd)$/u;
const SIGNED_LENGTH = 3; // units: +49, (+4

/** Undefined where no number of any kind follows. */
export function judgeBeforeNumber(before: string, following: Following): Judgement | undefined {
  const { word, wordEnds, tail, complete } = following;
  if (word === '' && /^[+(]/.test(tail)) {
    if (tail.length < SIGNED_LENGTH && !complete) return 'wait';
    return /^[+(]{1,2}\p{N}/u.test(tail) ? 'none' : undefined;
  }
  if (!/^[A-Z]/.test(word)) return undefined;
  if (!wordEnds) return 'wait';
  const isNumber = ROMAN.test(word) || (word === 'I' && NUMBERED_I.test(before.slice(-WORD_LIMIT)));
  if (isNumber || /^[A-Z]{1,4}\d/.test(word)) return 'none';
  if (word.length > LONGEST_SERIES) return undefined;
  if (/^[A-HJ-Z]$/.test(word) && /^(?:[,;:)/]|$)/.test(tail)) return 'none'; // Bât. C, escalier 2
  if (word.length === 1 && tail.startsWith('.')) {
    if (!complete && tail.length < LETTER_LENGTH) return 'wait';
    return /^\. ?\p{N}/u.test(tail) ? 'none' : undefined;
  }
  if (!complete && OPEN_SERIES.test(tail)) return 'wait';
  return /^-[A-Z\d]*\d/.test(tail) ? 'none' : undefined;
}
