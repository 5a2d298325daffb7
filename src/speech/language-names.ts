// BCP 47 tags as the rest of the server compares and names them.

const MAX_PRIMARIES = 512; // more tags than engines speak; beyond it they are looked up anew

const DISPLAY = new Intl.DisplayNames(['en'], { type: 'language' });

// Every request asks, and a locale is 5 µs of work each time.
const primaries = new Map<string, string>();

function locale(tag: string): Intl.Locale | undefined {
  try {
    return new Intl.Locale(tag);
  } catch {
    return undefined; // not a tag at all
  }
}

/** `pt-br` → `pt-BR`; what is no tag stays as it is. */
export function canonicalTag(tag: string): string {
  return locale(tag.trim().replaceAll('_', '-'))?.toString() ?? tag;
}

/** `pt-BR` → `pt`. */
export function primaryTag(tag: string): string {
  const known = primaries.get(tag);
  if (known !== undefined) return known;
  const primary = locale(canonicalTag(tag))?.language ?? tag;
  if (primaries.size < MAX_PRIMARIES) primaries.set(tag, primary);
  return primary;
}

/** `fr` → `French`; what has no name is quoted. */
export function languageName(tag: string): string {
  const primary = primaryTag(tag);
  const name = locale(primary) === undefined ? undefined : DISPLAY.of(primary);
  return name === undefined || name === primary ? `"${tag}"` : name;
}
