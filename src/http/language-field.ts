// The language of a request: a BCP 47 tag, or the English name of a language,
// as the servers of some models take it.

const TWO_LETTERS = /^[a-z]{2}$/;

/** `english` → `en`, for every language that has a tag of two letters and a name. */
const NAMED: ReadonlyMap<string, string> = named();

/** The tag; undefined where the text is to decide. */
export function languageTag(language: string | undefined): string | undefined {
  if (language === undefined || TWO_LETTERS.test(language)) return language;
  const known = language.toLowerCase();
  return known === 'auto' ? undefined : (NAMED.get(known) ?? language);
}

function named(): Map<string, string> {
  const names = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });
  const letters = Array.from({ length: 26 }, (_, index) => String.fromCharCode(97 + index));
  const tags = letters.flatMap((first) => letters.map((second) => first + second));
  // A tag that was replaced (iw by he) bears the name of its successor, and means it.
  return new Map(
    tags.flatMap((tag) => {
      const name = names.of(tag);
      return name === undefined ? [] : [[name.toLowerCase(), new Intl.Locale(tag).language] as const];
    }),
  );
}
