// Decides whether a line break ends a sentence that has no stop mark: a
// heading, a list item, a line of a poem. A line that was merely wrapped goes on.
import { CharacterSet } from './character-set.js';

/** Units of white space that end the sentence, or no end here, or not certain yet. */
export type BreakVerdict = number | 'none' | 'wait';

export const LINE_BREAK = /[\n\r\u0085\u2028\u2029]/;
const BREAKS = new CharacterSet(LINE_BREAK);
const WHITE = new CharacterSet(/[\s\u0085]/u);

/** Units of white space as a text may begin with it; the next-line character is white space to Unicode, not to JavaScript. */
export function leadingSpace(text: string, from = 0): number {
  let end = from;
  while (WHITE.at(text, end)) end++;
  return end - from;
}

export function isLineBreakAt(text: string, at: number): boolean {
  return BREAKS.at(text, at);
}

const PARAGRAPH = /\u2029|(?:\r\n|\r(?!\n)|[\n\u0085\u2028])[^\S\r\n]*[\n\r\u0085\u2028]/;
const LIST_MARKER = /^(?:[-*+•‣◦·▪–—]|\(?\p{N}{1,3}[.)]|\(?(?:\p{Script=Latin}|[ivx]{2,4})[.)])\s/u;
const MARKER_LENGTH = 7; // units of the longest list marker with the space after it
const WRAPPED_LENGTH = 50; // units; a shorter line was ended on purpose, since wrapped text is wider

/**
 * `after` begins with the line break, `lineLength` is what stood on the line before it. `complete` says that nothing
 * behind `after` matters.
 */
export function judgeLineBreak(after: string, lineLength: number, complete: boolean): BreakVerdict {
  const space = after.slice(0, leadingSpace(after));
  const rest = after.slice(space.length);
  if (PARAGRAPH.test(space)) return space.length;
  if (complete && rest === '') return space.length;
  if (!complete && rest.length < MARKER_LENGTH) return 'wait';
  if (LIST_MARKER.test(rest)) return space.length;
  if (/^\p{Ll}/u.test(rest)) return 'none';
  return lineLength < WRAPPED_LENGTH ? space.length : 'none';
}
