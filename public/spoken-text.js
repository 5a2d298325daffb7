// A text as it is spoken: without the marks of Markdown, and without blocks of code. Places in a text are
// those of the text with its marks, which the server counts.

/** Between the sentences of an agent: a line begins there. It is shown as a space. */
export const SENTENCE_BREAK = '\u2028';

const PARTS = [
  // a closed block of code; the server leaves it out of the sentences of an agent
  String.raw`(?<code>^[ \t]*(?<fence>\x60{3,}|~{3,})[^\n\u2028\x60]*\n(?:[^]*?\n)?[ \t]*\k<fence>[\x60~]*[^\S\n\u2028]*(?:\n\s*|(?![^])))`,
  String.raw`(?<escape>\\[!-/:-@[-\x60{-~])`,
  String.raw`(?<rule>^[ \t]*(?:(?:[-*_=][ \t]*){3,}|\|?[ :|-]*-{2}[ :|-]*)$[\n\u2028]?)`,
  String.raw`(?<line>^[ \t]*(?:#{1,6}[ \t]+|(?:>[ \t]?)+|[-*+•][ \t]+(?:\[[ xX]\][ \t]+)?))`,
  String.raw`(?<link>!?\[(?=[^\]\n[]{1,200}\]\([^)\s]{1,500}\)))`,
  String.raw`(?<target>(?<=\[[^\]\n[]{1,200})\]\([^)\s]{1,500}\))`,
  String.raw`(?<tag><\/?(?:b|i|u|s|em|strong|br|p|ul|ol|li|code|pre|a|span|div|h[1-6]|sub|sup)(?: [^<>\n]{0,200})?\/?>)`,
  String.raw`(?<tick>\x60+)`,
  String.raw`(?<emphasis>\*{1,3}|_{1,3}|~~)`,
];
const MARK = new RegExp(PARTS.join('|'), 'gim');
const CODE = new RegExp(PARTS[0], 'my');
const SPACE = /^\s?$/; // also beyond an end
const LONGEST = 200; // characters between two marks
const CLOSED = /^[^\n]*?[^\s*_]([*_])(?![\w*#])/;
const WORD = /[\p{L}\p{N}]/u;

/** The marks that are not spoken, as [from, to), in order. */
function marksOf(text) {
  const marks = [];
  for (const { 0: written, index, groups } of text.matchAll(MARK)) {
    const end = index + written.length;
    if (groups.escape !== undefined) marks.push([index, index + 1]);
    else if (groups.emphasis === undefined || isEmphasis(text, index, end)) marks.push([index, end]);
  }
  return marks;
}

/** 2 * 3, 2*3 and snake_case are no emphasis, and neither are keys: Press *. Dial *67 or *123#. */
function isEmphasis(text, from, to) {
  const [before, after] = [text.charAt(from - 1), text.charAt(to)];
  if (SPACE.test(before) && SPACE.test(after)) return false;
  if (to - from > 1) return true;
  if (WORD.test(before) && WORD.test(after)) return false;
  if (!SPACE.test(before)) return true;
  return !/[.,;:!?]/.test(after) && (!/\d/.test(after) || CLOSED.test(text.slice(to, to + LONGEST)));
}

/** Where the closed block of code ends that begins at this place; undefined: none does. */
export function codeEnd(text, at) {
  CODE.lastIndex = at;
  return CODE.test(text) ? CODE.lastIndex : undefined;
}

/** The part of the text from one place to another, as it is spoken. */
export function spokenText(text, from = 0, to = text.length) {
  let [spoken, at] = ['', from];
  for (const [start, end] of marksOf(text)) {
    if (end <= at) continue;
    if (start >= to) break;
    spoken += text.slice(at, Math.max(at, start));
    at = Math.min(end, to);
  }
  return (spoken + text.slice(at, to)).replaceAll(SENTENCE_BREAK, ' ');
}

/**
 * The same as nodes. `word` is the one that is heard now, {from, to}: it is emphasised, and what comes after it
 * is marked as not heard yet. An empty word: nothing is heard yet. Undefined: nothing is marked.
 */
export function spokenNodes(text, { from = 0, to = text.length, word } = {}) {
  if (word === undefined) return [spokenText(text, from, to)];
  if (word.from === word.to) return [ahead(spokenText(text, from, to))];
  const [start, end] = [Math.max(from, word.from), Math.min(to, word.to)];
  const written = text.slice(start, end);
  const begin = start + written.length - written.trimStart().length;
  const emphasised = document.createElement('b');
  emphasised.className = 'word';
  emphasised.textContent = spokenText(text, begin, end);
  return [spokenText(text, from, begin), emphasised, ahead(spokenText(text, end, to))];
}

function ahead(textContent) {
  return Object.assign(document.createElement('span'), { className: 'ahead', textContent });
}
