// BCP 47 tags as the rest of the server compares and names them.

const MAX_PRIMARIES = 512; // more tags than engines speak; beyond it they are looked up anew

const DISPLAY = new Intl.DisplayNames(['en'], { type: 'language' });

// Languages without a tag of two letters that speech models and their users name.
const THREE_LETTERS = ['ceb', 'ckb', 'fil', 'gsw', 'haw', 'hmn', 'nan', 'wuu', 'yue'];

/** `english` → `en`. */
const NAMED: ReadonlyMap<string, string> = named();

// Every request asks, and a locale is 5 µs of work each time.
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

/** The tag of a language by its English name in small letters; undefined where it has none. */
export function tagOfName(name: string): string | undefined {
  return NAMED.get(name.replaceAll('_', ' '));
}

function named(): Map<string, string> {
  const names = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });
  const letters = Array.from({ length: 26 }, (_, index) => String.fromCharCode(97 + index));
  const tags = letters.flatMap((first) => letters.map((second) => first + second)).concat(THREE_LETTERS);
  // A tag that was replaced (iw by he) bears the name of its successor, and means it.
  return new Map(
    tags.flatMap((tag) => {
      const name = names.of(tag);
      return name === undefined ? [] : [[name.toLowerCase(), new Intl.Locale(tag).language] as const];
    }),
  );
}
