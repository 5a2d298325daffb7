// The languages whose texts are normalised, by BCP 47 tag.
import { GERMAN } from './de/language.js';
import { ENGLISH } from './en/language.js';
import { SPANISH } from './es/language.js';
import { FRENCH } from './fr/language.js';
import { ITALIAN } from './it/language.js';
import { JAPANESE } from './ja/language.js';
import { KOREAN } from './ko/language.js';
import type { Language } from './language.js';
import { PORTUGUESE } from './pt/language.js';
import { PORTUGUESE_OF_PORTUGAL } from './pt/portugal.js';
import { RUSSIAN } from './ru/language.js';
import { CHINESE } from './zh/language.js';

// One line a language, in the order of their tags; with a region where it is spoken with other words there.
const LANGUAGES: Readonly<Record<string, Language>> = {
  de: GERMAN,
  en: ENGLISH,
  es: SPANISH,
  fr: FRENCH,
  it: ITALIAN,
  ja: JAPANESE,
  ko: KOREAN,
  pt: PORTUGUESE,
  'pt-ao': PORTUGUESE_OF_PORTUGAL,
  'pt-mz': PORTUGUESE_OF_PORTUGAL,
  'pt-pt': PORTUGUESE_OF_PORTUGAL,
  ru: RUSSIAN,
  zh: CHINESE,
};

/** The language of a tag such as "de" or "de-AT"; undefined for one whose texts are left as written. */
export function languageOf(tag: string): Language | undefined {
  const whole = tag.toLowerCase().replaceAll('_', '-');
  const known = [whole, whole.split('-', 1)[0] ?? ''].find((form) => Object.hasOwn(LANGUAGES, form));
  return known === undefined ? undefined : LANGUAGES[known];
}
