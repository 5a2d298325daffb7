// Compares and names languages by their BCP 47 tags.

const MAX_PRIMARIES = 512; // above the number of tags that engines speak; further tags are not cached

const DISPLAY = new Intl.DisplayNames(['en'], { type: 'language' });

// Speech models and their users name these languages, which have no tag of two letters.
const THREE_LETTERS = ['ceb', 'ckb', 'fil', 'gsw', 'haw', 'hmn', 'nan', 'wuu', 'yue'];

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

/** `pt-BR` → `pt`. */
export function primaryTag(tag: string): string {
  const known = primaries.get(tag);
  if (known !== undefined) return known;
  const primary = locale(canonicalTag(tag))?.language ?? tag.toLowerCase();
  if (primaries.size < MAX_PRIMARIES) primaries.set(tag, primary);
  return primary;
}

/** `fr` → `French`; what has no name is quoted. */
export function languageName(tag: string): string {
  const primary = primaryTag(tag);
  const name = locale(primary) === undefined ? undefined : DISPLAY.of(primary);
  return name === undefined || name === primary ? `"${tag}"` : name;
}

/** Returns the tag of a language by its English name in lower case; undefined if it has none. */
export function tagOfName(name: string): string | undefined {
  return NAMED.get(name.replaceAll('_', ' '));
}

function named(): Map<string, string> {
  const names = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });
  const letters = Array.from({ length: 26 }, (_, index) => String.fromCharCode(97 + index));
  const tags = letters.flatMap((first) => letters.map((second) => first + second)).concat(THREE_LETTERS);
  // A replaced tag (iw, now he) has the name of its successor, so it becomes the successor.
  return new Map(
    tags.flatMap((tag) => {
      const name = names.of(tag);
      return name === undefined ? [] : [[name.toLowerCase(), new Intl.Locale(tag).language] as const];
    }),
  );
}
