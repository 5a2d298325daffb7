// Decodes the entities of HTML in plain text, once: "&amp;lt;" becomes "&lt;" and stays so. It keeps where
// each character was written. SSML is not decoded here, because its parser has done so.
import { SourceMap, type Span } from '../markup/source-map.js';

const ENTITY = /&(?:([a-z][a-z\d]{1,7})|#(\d{1,7})|#x([\da-f]{1,6}));/gi;

/** HTML's names of the characters from U+00A0 to U+00FF, in their order. */
const LATIN_1 =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro ' +
  'para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil ' +
  'Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave ' +
  'Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml ' +
  'igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute ' +
  'thorn yuml';
// prettier-ignore
const OTHERS: Readonly<Record<string, string>> = {
  amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", trade: '™', mdash: '—', ndash: '–', hellip: '…', lsquo: '‘', rsquo: '’', sbquo: '‚',
  ldquo: '“', rdquo: '”', bdquo: '„', lsaquo: '‹', rsaquo: '›', euro: '€', bull: '•', rarr: '→', larr: '←', harr: '↔', zwnj: '\u200C',
  zwj: '\u200D', lrm: '\u200E', rlm: '\u200F', ensp: ' ', emsp: ' ', thinsp: ' ', minus: '−', ne: '≠', le: '≤', ge: '≥', asymp: '≈',
  permil: '‰', OElig: 'Œ', oelig: 'œ', Scaron: 'Š', scaron: 'š', Yuml: 'Ÿ', infin: '∞', radic: '√', sum: '∑',
};
const NAMED: ReadonlyMap<string, string> = new Map([
  ...LATIN_1.split(' ').map((name, n) => [name, String.fromCharCode(0xa0 + n)] as const),
  ...Object.entries(OTHERS),
]);

/** Browsers read the numbers 128 to 159 as those of Windows. */
const WINDOWS = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008DŽ\u008F\u0090‘’“”•–—˜™š›œ\u009DžŸ';

export interface Decoded {
  readonly text: string;
  /** Places of the text in what was written. */
  readonly map: SourceMap;
  /** The entities, as places in the text. */
  readonly entities: readonly Span[];
  /** The place in the text of one that was written; no entity may have it within. */
  readonly placeOf: (written: number) => number;
}

/** Undefined if there is nothing to decode. `isKept`: this span stays as it is written. */
export function decodeEntities(written: string, isKept: (span: Span) => boolean): Decoded | undefined {
  if (!written.includes('&')) return undefined;
  const map = new SourceMap();
  const entities: Span[] = [];
  const shifts: { readonly from: number; readonly by: number }[] = [];
  let text = '';
  let copied = 0;
  const copyTo = (end: number) => {
    text += written.slice(copied, end);
    map.add(end - copied, copied, end - copied);
    copied = end;
  };
  for (const match of written.matchAll(ENTITY)) {
    const [start, end] = [match.index, match.index + match[0].length];
    const character = characterOf(match);
    if (character === undefined || isKept({ start, end })) continue;
    copyTo(start);
    entities.push({ start: text.length, end: text.length + character.length });
    text += character;
    map.add(character.length, start, end - start);
    copied = end;
    shifts.push({ from: end, by: text.length - end });
  }
  if (entities.length === 0) return undefined;
  copyTo(written.length);
  const placeOf = (place: number) => place + (shifts.findLast(({ from }) => from <= place)?.by ?? 0);
  return { text, map, entities, placeOf };
}

function characterOf([, name, decimal, hexadecimal = '']: RegExpMatchArray): string | undefined {
  if (name !== undefined)
    return NAMED.get(name) ?? (name === name.toUpperCase() ? NAMED.get(name.toLowerCase()) : undefined);
  const code = Number.parseInt(decimal ?? hexadecimal, decimal === undefined ? 16 : 10);
  if (code === 9 || code === 10 || code === 13) return ' ';
  if (code >= 0x80 && code < 0xa0) return WINDOWS[code - 0x80];
  const isScalar = code >= 0x20 && code <= 0x10_ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isScalar ? String.fromCodePoint(code) : undefined;
}
