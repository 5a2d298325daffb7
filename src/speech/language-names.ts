// BCP 47 tags as the rest of the server compares and names them.

const DISPLAY = new Intl.DisplayNames(['en'], { type: 'language' });

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
  return locale(canonicalTag(tag))?.language ?? tag;
}

/** `fr` → `French`; what has no name is quoted. */
export function languageName(tag: string): string {
  const primary = primaryTag(tag);
  const name = locale(primary) === undefined ? undefined : DISPLAY.of(primary);
  return name === undefined || name === primary ? `"${tag}"` : name;
}
