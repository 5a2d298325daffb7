// The language that a request states: a BCP 47 tag, the English name of a
// language as some models' servers take it, or "auto".

const MAX_LENGTH = 35; // characters; the longest that BCP 47 asks to be ready for (section 4.4.1)
const TAG_OR_NAME = /^[a-z]{2,20}([-_][a-z0-9]{1,8})*$/i;

/** `english` → `en`, for every language that has a tag of two letters and a name. */
const NAMED: ReadonlyMap<string, string> = named();

export function isStatedLanguage(value: string): boolean {
  return value.length <= MAX_LENGTH && TAG_OR_NAME.test(value);
}

/** The tag; undefined where the text is to decide. */
export function tagOfStated(language: string): string | undefined {
  const name = language.toLowerCase();
  return name === 'auto' ? undefined : (NAMED.get(name) ?? language);
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
