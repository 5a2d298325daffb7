// The languages whose texts are normalised, by BCP 47 primary tag.
import { GERMAN } from './de/language.js';
import { ENGLISH } from './en/language.js';
import { FRENCH } from './fr/language.js';
import type { Language } from './language.js';
import { RUSSIAN } from './ru/language.js';

// One line a language, in the order of their tags.
const LANGUAGES: Readonly<Record<string, Language>> = {
  de: GERMAN,
  en: ENGLISH,
  fr: FRENCH,
  ru: RUSSIAN,
};

/** The language of a tag such as "de" or "de-AT"; undefined for one whose texts are left as written. */
export function languageOf(tag: string): Language | undefined {
  const primary = tag.toLowerCase().split(/[-_]/, 1)[0] ?? '';
  return Object.hasOwn(LANGUAGES, primary) ? LANGUAGES[primary] : undefined;
}
