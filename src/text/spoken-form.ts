// The words of one sentence: what markup says of its parts first, then what a
// lexicon says of its words, then the rules of its language for all that is left.
import type { Lexicon } from './lexicon.js';
import type { Language } from './normalize/language.js';
import { languageOf } from './normalize/languages.js';
import { normalize, type Claim } from './normalize/normalize.js';
import { Around } from './normalize/reading.js';
import { SpokenText, type Normalized } from './normalize/spoken-text.js';
import type { MarkedPart } from './markup/marked-text.js';
import { sayAs } from './markup/say-as.js';

export interface FormOptions {
  /** BCP 47 tag of what is spoken. */
  readonly language: string;
  /** False: only what markup and lexicon say is done. */
  readonly normalize?: boolean;
  /** In order, not overlapping. */
  readonly parts?: readonly MarkedPart[];
  /** One that is asked first stands first. */
  readonly lexicons?: readonly Lexicon[];
}

export function spokenForm(
  text: string,
  { language: tag, normalize: isWanted = true, parts = [], lexicons = [] }: FormOptions,
): Normalized {
  const language = languageOf(tag);
  let claimed = parts.flatMap((part) => claimOf(part, text, language) ?? []);
  for (const lexicon of lexicons) claimed = merged(claimed, lexicon.claims(text, tag));
  if (isWanted && language !== undefined) return normalize(text, language, { claimed });
  return claimsAlone(text, claimed);
}

function claimOf(
  { start, end, reading }: MarkedPart,
  text: string,
  language: Language | undefined,
): Claim | undefined {
  if (reading.kind === 'sub') return { start, end, spoken: reading.words.trim(), rule: 'sub' };
  const spoken = sayAs(text.slice(start, end), reading, language, new Around(text, start, end));
  return spoken === undefined ? undefined : { start, end, spoken, rule: 'say-as' };
}

/** Both in order; of two that overlap the first list's stays. */
function merged(first: readonly Claim[], second: readonly Claim[]): Claim[] {
  if (second.length === 0) return [...first];
  const result: Claim[] = [];
  let next = 0;
  for (const claim of second) {
    let known = first[next];
    for (; known !== undefined && known.end <= claim.start; known = first[++next]) result.push(known);
    if (known === undefined || known.start >= claim.end) result.push(claim);
  }
  return [...result, ...first.slice(next)];
}

function claimsAlone(text: string, claimed: readonly Claim[]): Normalized {
  const spoken = new SpokenText(text);
  let at = 0;
  for (const { start, end, spoken: words, rule } of claimed) {
    spoken.copy(text, at, start);
    if (words === undefined || rule === undefined) spoken.copy(text, start, end);
    else spoken.replace(start, end, words, rule);
    at = end;
  }
  spoken.copy(text, at, text.length);
  return spoken.result();
}
