// Knows the tags of HTML that plain text brings along. A tag of a block ends a sentence as a line break does.
// A tag that the text speaks about ("the <p> tag") is a word of it, and neither ends nor drops anything.
import { CharacterSet } from './character-set.js';

export const TAG_MARK = /</;

const NAMES =
  'a abbr b blockquote body br button code dd del div dl dt em footer h[1-6] head header hr html i img ins kbd label ' +
  'li main mark nav ol option p pre q s samp section select small span strong strike sub sup table tbody ' +
  'td tfoot th thead title tr tt u ul var';
const TAG = new RegExp(`^</?(${NAMES.replaceAll(' ', '|')})(?:\\s[^<>\\n]{0,200})?/?>`, 'i');
const SENTENCE_TAG =
  /^(?:blockquote|body|br|dd|div|dl|dt|footer|h[1-6]|head|header|hr|html|li|main|nav|ol|option|p|pre|section|select|table|tbody|tfoot|thead|title|tr|ul)$/i;
const CELL_TAG = /^t[dh]$/i;
const INLINE_TAG =
  /^(?:a|abbr|b|code|del|em|i|ins|kbd|label|mark|q|s|samp|small|span|strong|strike|sub|sup|tt|u|var)$/i;

interface HtmlTag {
  /** Units. */
  readonly length: number;
  /** In small letters. */
  readonly name: string;
  readonly kind: 'block' | 'cell' | 'inline' | 'other';
  readonly isClosing: boolean;
}

/** The tag that the text begins with; undefined if it begins with none that is known. */
export function tagAtStart(text: string): HtmlTag | undefined {
  const [written, given = ''] = TAG.exec(text) ?? [];
  if (written === undefined) return undefined;
  const name = given.toLowerCase();
  return { length: written.length, name, kind: kindOf(name), isClosing: written.startsWith('</') };
}

function kindOf(name: string): HtmlTag['kind'] {
  if (SENTENCE_TAG.test(name)) return 'block';
  if (CELL_TAG.test(name)) return 'cell';
  return INLINE_TAG.test(name) ? 'inline' : 'other';
}

const CUE =
  'html|tags?|elements?|elementen?|balises?|éléments?|etiquetas?|elementos?|marcas?|marcador|element[oi]|' +
  'тег[а-я]{0,3}|тэг[а-я]{0,3}|элемент[а-я]{0,3}';
const CUE_DENSE = '标签|標籤|元素|タグ|要素|태그|요소';
/** "The HTML tag <p>", "the tags <b> and <i>". */
const CUE_BEFORE = new RegExp(
  `(?:(?:^|[^\\p{L}])(?:${CUE})|${CUE_DENSE})[:\\s"'“„«「]*(?:</?[a-z][a-z1-6]{0,9}/?>[,\\s]{1,2}(?:\\p{L}{1,4}\\s)?)?$`,
  'iu',
);
/** "the <br> tag", "<p>タグ". */
const CUE_BEHIND = new RegExp(`^["'”“»」]?[\\s-]?(?:html[\\s-])?(?:${CUE})(?:[^\\p{L}]|$)`, 'iu');
const CUE_BEHIND_DENSE = new RegExp(`^["'”“»」]?\\s?(?:${CUE_DENSE})`, 'u');
const LOOK_BACK = 40; // units
/** Units behind a tag that decide whether the text speaks about it. */
const CUE_LENGTH = 20;

/** True if the text speaks about the tag instead of using it. */
export function isMentioned(before: string, behind: string): boolean {
  if (before.endsWith('`') && behind.startsWith('`')) return true;
  if (CUE_BEFORE.test(before.slice(-LOOK_BACK))) return true;
  const near = behind.slice(0, CUE_LENGTH);
  return CUE_BEHIND.test(near) || CUE_BEHIND_DENSE.test(near);
}

const ANY_TAG = /<\/?[a-z][^<>\n]{0,200}>/gi;
const SPOKEN = /[\p{L}\p{N}]/u;
/** Only such names of emoji: :smile: :+1: */
const SHORTCODES = /^(?:\s*:(?:[a-z][a-z0-9_-]{1,30}[a-z0-9]|[+-]1|100):){1,20}[\s.!?]*$/;

/** True if there is a letter or digit outside of tags and names of emoji. */
export function hasWords(text: string): boolean {
  if (text.startsWith(':') && SHORTCODES.test(text)) return false;
  if (!text.includes('<')) return SPOKEN.test(text);
  return SPOKEN.test(text.replace(ANY_TAG, (written) => (tagAtStart(written) === undefined ? written : '')));
}

const OPEN_TAG = /^<\/?(?:[a-z][^<>\n]*)?$/i;
const BRACKETS = new CharacterSet('<');

export function isTagMarkAt(text: string, at: number): boolean {
  return BRACKETS.at(text, at);
}

/**
 * Units of `after` up to the end of a tag that ends the sentence; 'none' if it does not; 'wait' if more text
 * is needed. `before` is the sentence so far.
 */
export function judgeTag(before: string, after: string, complete: boolean): number | 'none' | 'wait' {
  if (!complete && OPEN_TAG.test(after)) return 'wait';
  const tag = tagAtStart(after);
  if (tag?.kind !== 'block' || !hasWords(before)) return 'none';
  const behind = after.slice(tag.length);
  if (!complete && behind.length < CUE_LENGTH) return 'wait';
  if (isMentioned(before, behind)) return 'none';
  return tag.name === 'br' && /^\s*\p{Ll}/u.test(behind) ? 'none' : tag.length;
}
