// Decodes the entities of HTML in plain text, once: "&amp;lt;" becomes "&lt;" and stays so. It keeps where
// each character was written. The entities of SSML are not decoded here, because its parser has done so. The
// signs of Roman numerals become letters, but beside the scripts of East Asia, whose languages read the sign.
import { decodeHTMLStrict } from 'entities';
import { SourceMap, type Span } from '../markup/source-map.js';

const MAY_BE_ENCODED = /[&Ⅰ-ⅿ]/;
const ENTITY = /&(?:[a-z][a-z\d]{1,31}|#\d{1,7}|#x[\da-f]{1,6});/gi;
const EAST_ASIAN = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}`;
export const ROMAN_SIGNS = new RegExp(`(?<![Ⅰ-ⅿ${EAST_ASIAN}])[Ⅰ-ⅿ]+(?![Ⅰ-ⅿ${EAST_ASIAN}])`, 'gu');
export const ENCODED = new RegExp(`${ENTITY.source}|${ROMAN_SIGNS.source}`, 'giu');

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
export function decodeEntities(
  written: string,
  isKept: (span: Span) => boolean,
  encoded = ENTITY,
): Decoded | undefined {
  if (!MAY_BE_ENCODED.test(written)) return undefined;
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
  for (const match of written.matchAll(encoded)) {
    const [start, end] = [match.index, match.index + match[0].length];
    const characters = charactersOf(match[0]);
    if (characters === undefined || isKept({ start, end })) continue;
    copyTo(start);
    entities.push({ start: text.length, end: text.length + characters.length });
    text += characters;
    map.add(characters.length, start, end - start);
    copied = end;
    shifts.push({ from: end, by: text.length - end });
  }
  if (entities.length === 0) return undefined;
  copyTo(written.length);
  const placeOf = (place: number) => place + (shifts.findLast(({ from }) => from <= place)?.by ?? 0);
  return { text, map, entities, placeOf };
}

/** Spaces by another name: one word of a text ends where it ends with a plain space. */
const SPACE = /^[\t\n\r\u2002-\u200A]$/;

/** The characters of an entity; undefined if HTML has none of this name or number. */
function charactersOf(entity: string): string | undefined {
  if (!entity.startsWith('&')) return entity.normalize('NFKC');
  const decoded = decodeHTMLStrict(entity);
  if (decoded === entity) {
    // People write "&EURO;", which HTML does not know.
    const lower = entity.toLowerCase();
    return entity === entity.toUpperCase() && lower !== entity ? charactersOf(lower) : undefined;
  }
  if (SPACE.test(decoded)) return ' ';
  return decoded < ' ' || decoded === '\uFFFD' ? undefined : decoded;
}
