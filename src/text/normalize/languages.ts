// The languages whose texts are normalised, by BCP 47 tag.
import type { TableLayer } from '../tables/layer.js';
import { builtInVariant } from '../tables/built-in.js';
import { withCldrCurrencies } from './cldr.js';
import { GERMAN } from './de/language.js';
import { ENGLISH } from './en/language.js';
import { SPANISH } from './es/language.js';
import { FRENCH } from './fr/language.js';
import { ITALIAN } from './it/language.js';
import { JAPANESE } from './ja/language.js';
import { KOREAN } from './ko/language.js';
import type { Language } from './language.js';
import { withLayer } from './layered-language.js';
import { OTHER_TAGS, otherLanguage } from './other-languages.js';
import { PORTUGUESE } from './pt/language.js';
import { RUSSIAN } from './ru/language.js';
import { CHINESE } from './zh/language.js';

// One line a language, in the order of their tags.
const LANGUAGES: Readonly<Record<string, Language>> = {
  de: GERMAN,
  en: ENGLISH,
  es: SPANISH,
  fr: FRENCH,
  it: ITALIAN,
  ja: JAPANESE,
  ko: KOREAN,
  pt: PORTUGUESE,
  ru: RUSSIAN,
  zh: CHINESE,
};

/** Regions that speak as another one does, whose tables they have. */
const LIKE: Readonly<Record<string, string>> = { 'pt-ao': 'pt-pt', 'pt-mz': 'pt-pt' };

/**
 * The language of a tag such as "de" or "de-AT", with the tables of a layer on top; undefined for one whose
 * texts are left as written.
 */
export function languageOf(tag: string, layer?: TableLayer): Language | undefined {
  const language = plainLanguageOf(tag);
  return language === undefined || layer === undefined ? language : withLayer(language, tag, layer);
}

function plainLanguageOf(tag: string): Language | undefined {
  const whole = tag.toLowerCase().replaceAll('_', '-');
  const primary = whole.split('-', 1)[0] ?? '';
  const language = Object.hasOwn(LANGUAGES, primary) ? LANGUAGES[primary] : undefined;
  if (language === undefined) return otherLanguage(primary);
  const region = LIKE[whole] ?? whole;
  const variant = builtInVariant(region);
  return variant === undefined ? filled(language) : withLayer(filled(language), region, variant);
}

const withCurrencies = new Map<Language, Language>();

/** The language with names of the CLDR for what its tables lack. */
function filled(language: Language): Language {
  let whole = withCurrencies.get(language);
  if (whole === undefined) withCurrencies.set(language, (whole = withCldrCurrencies(language)));
  return whole;
}

/** The primary tags of all languages, in order. */
export function supportedLanguages(): readonly string[] {
  const own = Object.keys(LANGUAGES).map((tag) => tag.split('-', 1)[0] ?? tag);
  return [...new Set([...own, ...OTHER_TAGS])].toSorted();
}

/** A tag in its canonical form ("pt-PT") if its texts are normalised; undefined otherwise. */
export function languageName(tag: string): string | undefined {
  if (!/^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,2}$/.test(tag)) return undefined;
  try {
    const [name] = Intl.getCanonicalLocales(tag);
    return name !== undefined && plainLanguageOf(name) !== undefined ? name : undefined;
  } catch {
    return undefined; // de-1 is no tag
  }
}
