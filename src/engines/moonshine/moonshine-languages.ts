// Properties of the languages of Moonshine models.
import { primaryTag } from '../language-names.js';

interface LanguageRules {
  /**
   * Most tokens of a second of sound. It stops endless texts; the vendor uses 6.5, and 13 where the letters
   * are not Latin ones.
   */
  readonly tokensPerSecond: number;
  /** Spaces stand between words. */
  readonly hasSpaces: boolean;
}

const NOT_LATIN = new Set('ar fa he hi ja ko ru th uk ur zh'.split(' '));
const WITHOUT_SPACES = new Set('ja th zh'.split(' '));

/** `language` is a BCP 47 tag. */
export function rulesOfLanguage(language: string): LanguageRules {
  const tag = primaryTag(language);
  // The vocabularies of the other Latin languages are a third of the English one, so their words need more.
  const latin = tag === 'en' ? 6.5 : 9;
  return {
    tokensPerSecond: NOT_LATIN.has(tag) ? 13 : latin,
    hasSpaces: !WITHOUT_SPACES.has(tag),
  };
}
