// The language of a text of a few words: a greeting, a courtesy, an answer.
//
// Names, titles and loanwords are as short, so the proof is a whole one: every
// word is known in that language, one of them (or a phrase) is neither English
// nor a usual name, and no other language meets this as well.
import { ENGLISH_WORDS, LANGUAGE_WORDS, type LatinLanguage } from './language-words.js';
import { HONORIFICS, NEVER_TELLING, SHORT_TEXT_WORDS } from './short-text-words.js';

const MOST_WORDS = 5; // elided ones and names included; more words are judged as a sentence
const SPANISH_MARK = /[¿¡]/; // no other language opens a question or an exclamation

interface Vocabulary {
  readonly language: LatinLanguage;
  readonly alone: ReadonlySet<string>;
  readonly telling: ReadonlySet<string>;
  readonly known: ReadonlySet<string>;
  readonly phrases: readonly string[];
}

const VOCABULARIES = (['de', 'fr', 'es', 'pt', 'it'] as const).map(vocabularyOf);

function vocabularyOf(language: LatinLanguage): Vocabulary {
  const sentence = LANGUAGE_WORDS[language];
  const { alone, telling, common, phrases } = SHORT_TEXT_WORDS[language];
  const own = [...sentence.telling, ...telling];
  const shared = [ENGLISH_WORDS, NEVER_TELLING, HONORIFICS];
  return {
    language,
    alone,
    telling: new Set([...own.filter((word) => !shared.some((list) => list.has(word))), ...alone]),
    known: new Set([...own, ...sentence.linking, ...alone, ...common]),
    phrases: phrases.map((phrase) => ` ${phrase} `),
  };
}

/** The only language that the words can be of; undefined where that is in doubt. */
export function identifyShortText(text: string, words: readonly string[]): LatinLanguage | undefined {
  if (words.length === 0 || words.length > MOST_WORDS) return undefined;
  const spanish = SPANISH_MARK.test(text);
  const proved = VOCABULARIES.filter(
    (own) => (!spanish || own.language === 'es') && isProved(own, words, spanish),
  );
  return proved.length === 1 ? proved[0]?.language : undefined;
}

function isProved(own: Vocabulary, words: readonly string[], spanish: boolean): boolean {
  const small = words.map((word) => word.toLowerCase());
  const names = countNames(own, words, small, spanish);
  if (names === undefined) return false;
  if (spanish && names === 0) return true;
  if (small.length === 1) return own.alone.has(small[0] ?? '');
  const sentenceCase = spanish || own.language === 'de'; // its first word is no name for standing before a capital
  const told = small.some((word, index) => own.telling.has(word) && !isName(own, words, index, sentenceCase));
  const line = ` ${small.join(' ')} `;
  return told || own.phrases.some((phrase) => line.includes(phrase));
}

/** Unknown words that must be names, by what stands before them; undefined where another word is unknown. */
function countNames(
  own: Vocabulary,
  words: readonly string[],
  small: readonly string[],
  spanish: boolean,
): number | undefined {
  let names = 0;
  let addressed = false;
  for (const [index, word] of small.entries()) {
    if (own.known.has(word)) {
      addressed = index < words.length - 1 && (spanish || HONORIFICS.has(word));
    } else {
      if (!addressed || !isCapital(words[index])) return undefined;
      names++;
    }
  }
  return names;
}

/** Written as names, titles and abbreviations are: Hotel Merci, but not Merci Madame. */
function isName(own: Vocabulary, words: readonly string[], index: number, sentenceCase: boolean): boolean {
  const word = words[index] ?? '';
  if (/^\p{Lu}[\p{Lu}']*\p{Lu}$/u.test(word)) return true;
  if (!isCapital(word)) return false;
  if (index > 0) return !isCourtesy(own, words[index - 1], word);
  return !sentenceCase && isCapital(words[1]) && !isCourtesy(own, word, words[1]);
}

/** Two words that prove each other, one of them even alone. */
function isCourtesy({ alone, telling }: Vocabulary, word = '', next = ''): boolean {
  const [first, second] = [word.toLowerCase(), next.toLowerCase()];
  if (alone.has(first)) return telling.has(second) || HONORIFICS.has(second);
  return alone.has(second) && telling.has(first);
}

function isCapital(word = ''): boolean {
  return /^\p{Lu}/u.test(word);
}
