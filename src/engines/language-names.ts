// Compares and names languages by their BCP 47 tags.
import { ParleyError } from '../errors.js';

const MAX_PRIMARIES = 512; // above the number of tags that engines speak; further tags are not cached

const DISPLAY = new Intl.DisplayNames(['en'], { type: 'language' });
/** Undefined for what has no name. */
const NAMES = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });

// Speech models and their users name these languages, which have no tag of two letters.
const THREE_LETTERS = ['ceb', 'ckb', 'fil', 'gsw', 'haw', 'hmn', 'nan', 'wuu', 'yue'];

/** Their English names are those of a language with a place or a script. */
const PLACED_TAGS =
  'pt-BR pt-PT en-US en-GB en-AU en-CA es-419 es-ES es-MX fr-CA fr-CH de-AT de-CH nl-BE zh-Hans zh-Hant'.split(
    ' ',
  );
/** Names that users write, and that are not those of the Unicode CLDR. */
const OTHER_NAMES = {
  mandarin: 'zh',
  'mandarin chinese': 'zh',
  farsi: 'fa',
  castilian: 'es',
  flemish: 'nl-BE',
};

/** `english` → `en`. */
const NAMED: ReadonlyMap<string, string> = named();

// Caches primary tags: every request needs one, and a locale takes 5 µs.
const primaries = new Map<string, string>();

function locale(tag: string): Intl.Locale | undefined {
  try {
    return new Intl.Locale(tag);
  } catch {
    return undefined; // not a tag at all
  }
}

/** `pt-br` → `pt-BR`; anything that is no tag is returned unchanged. */
export function canonicalTag(tag: string): string {
  return locale(tag.trim().replaceAll('_', '-'))?.toString() ?? tag;
}

/** `pt-BR`, `por` and `Portuguese` → `pt`. */
export function primaryTag(tag: string): string {
  const known = primaries.get(tag);
  if (known !== undefined) return known;
  const primary = locale(canonicalTag(tagOfName(tag) ?? tag))?.language ?? tag.trim().toLowerCase();
  if (primaries.size < MAX_PRIMARIES) primaries.set(tag, primary);
  return primary;
}

/** `fr` → `French`; what has no name is quoted. */
export function languageName(tag: string): string {
  const primary = primaryTag(tag);
  const name = locale(primary) === undefined ? undefined : DISPLAY.of(primary);
  return name === undefined || name === primary ? `"${tag}"` : name;
}

/** Returns the tag of a language by its English name; undefined if it is no name of a language. */
export function tagOfName(name: string): string | undefined {
  return NAMED.get(
    name
      .trim()
      .toLowerCase()
      .replaceAll(/[\s_]+/gu, ' '),
  );
}

/** Throws INVALID_FIELD, with the tags that are known, for what is no language of ISO 639. */
export function checkLanguage(language: string, field: string): void {
  const primary = locale(primaryTag(language))?.language;
  if (primary !== undefined && NAMES.of(primary) !== undefined) return;
  const tags = [...new Set([...NAMED.values()].map(primaryTag))].sort();
  const message = `"${field}" must be a language: its English name, or a tag such as ${tags.join(', ')}`;
  throw new ParleyError('INVALID_FIELD', message, { field });
}

function named(): Map<string, string> {
  const letters = Array.from({ length: 26 }, (_, index) => String.fromCharCode(97 + index));
  const tags = letters.flatMap((first) => letters.map((second) => first + second)).concat(THREE_LETTERS);
  const placed = PLACED_TAGS.flatMap((tag) => {
    const name = NAMES.of(tag);
    return name === undefined ? [] : [[name.toLowerCase(), tag] as const];
  });
  // A replaced tag (iw, now he) has the name of its successor, so it becomes the successor.
  const plain = tags.flatMap((tag) => {
    const name = NAMES.of(tag);
    return name === undefined ? [] : [[name.toLowerCase(), new Intl.Locale(tag).language] as const];
  });
  return new Map([...Object.entries(OTHER_NAMES), ...placed, ...plain]);
}
