// The language that a request states: a BCP 47 tag, the English name of a
// language as some models' servers take it, or "auto".

import { tagOfName } from '../engines/language-names.js';

const MAX_LENGTH = 35; // characters; the longest that BCP 47 asks to be ready for (section 4.4.1)
const TAG_OR_NAME = /^[a-z]{2,20}([-_][a-z0-9]{1,8})*$/i;

export function isStatedLanguage(value: string): boolean {
  return value.length <= MAX_LENGTH && TAG_OR_NAME.test(value);
}

/** The tag; undefined where the text is to decide. */
export function tagOfStated(language: string): string | undefined {
  const name = language.toLowerCase();
  return name === 'auto' ? undefined : (tagOfName(name) ?? language);
}
