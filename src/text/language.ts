// Names the language of a text, and says whether that is beyond doubt.
//
// A doubtful text follows the voice that speaks already, a sure one may be
// refused when no engine speaks its language. So a sure answer needs proof: a
// script that only that language uses, or (among Latin letters) a few words all
// known in one language, or a sentence of small words that no other language
// shares, or two judges that agree, the n-gram statistics of tinyld and the small
// words of a sentence.
import { detectAll } from 'tinyld/light';
import { ENGLISH_WORDS, LANGUAGE_WORDS, type LatinLanguage, type LanguageWords } from './language-words.js';
import { identifyShortText } from './short-text.js';

export interface IdentifiedLanguage {
  /** BCP 47 primary tag; of a doubtful text the best guess. */
  readonly language: string;
  readonly confident: boolean;
  /** Known as a greeting or courtesy: sure of these few words, not of what stands around them. */
  readonly courtesy?: true;
}

const MOST_TEXT = 600; // units; more text proves nothing more and costs time
const MOST_KNOWN = 500; // sentences
const LATIN = ['en', 'de', 'fr', 'pt', 'es', 'it'];
const FEWEST_WORDS = 4; // a name, a title or a dish is shorter
const KNOWN_SHARE = 0.2; // of the words of a sentence are small ones, at least
const OTHERS = ['de', 'fr', 'pt', 'es', 'it'] as const;
const FEWEST_EVIDENT = 4; // small words that prove a language by themselves
const EVIDENT_SHARE = 0.4; // of all words
const ENGLISH_COST = 3; // foreign small words that outweigh one English small word

// Scripts that name the language at once. Those of languages that no engine
// here speaks are listed so that their text is refused and never mumbled.
const SCRIPTS: readonly (readonly [language: string, letters: RegExp])[] = [
  ['ja', /[\p{Script=Hiragana}\p{Script=Katakana}]/gu],
  ['zh', /\p{Script=Han}/gu],
  ['ko', /\p{Script=Hangul}/gu],
  ['ru', /\p{Script=Cyrillic}/gu],
  ['el', /\p{Script=Greek}/gu],
  ['ar', /\p{Script=Arabic}/gu],
  ['he', /\p{Script=Hebrew}/gu],
  ['hi', /\p{Script=Devanagari}/gu],
  ['th', /\p{Script=Thai}/gu],
];
// Characters that only Japanese writes (simplified after 1946, or made there).
const JAPANESE_HAN =
  /[気円駅実図対応戦単関転発変読売権検験険観覧歓蔵臓県広拡鉄銭浅残斎済渋渉圧込働畑峠枠辻々]/u;
const NOT_PROSE = /\S*(?:[/\\@_<>=[\]{}|#\d]|\p{L}\.\p{L})\S*/gu; // addresses, code, product numbers
// Outside of Latin letters, marks on them, punctuation and signs.
const OTHER_SCRIPT = /[^\0-\u02FF\p{M}\u1E00-\u1EFF\u2000-\u2BFF\u{1F000}-\u{1FAFF}]/u;
const LATIN_LETTERS = /\p{Script=Latin}/gu;
const LATIN_WEIGHT = 0.5; // a Latin letter says about half as much as a letter of another script

// Some 0.1 ms a sentence, and prompts are spoken again in every call.
const known = new Map<string, IdentifiedLanguage>();

export function identifyLanguage(text: string): IdentifiedLanguage {
  const sample = text.slice(0, MOST_TEXT);
  const before = known.get(sample);
  if (before !== undefined) return before;
  const identified = byScript(sample) ?? byWords(sample);
  known.set(sample, identified);
  const [oldest] = known.keys();
  if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
  return identified;
}

function byScript(text: string): IdentifiedLanguage | undefined {
  if (!OTHER_SCRIPT.test(text)) return undefined;
  const counts = SCRIPTS.map(([language, letters]) => [language, text.match(letters)?.length ?? 0] as const);
  const foreign = counts.reduce((sum, [, count]) => sum + count, 0);
  const latin = text.match(LATIN_LETTERS)?.length ?? 0;
  if (foreign === 0 || foreign <= latin * LATIN_WEIGHT) return undefined;
  const best = counts.toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? 'zh';
  const kana = counts[0]?.[1] ?? 0;
  // Kana stand between the Han characters of any Japanese sentence.
  const japanese = best === 'zh' && (kana > 0 || JAPANESE_HAN.test(text));
  return { language: japanese ? 'ja' : best, confident: foreign > 1 || latin === 0 };
}

function byWords(text: string): IdentifiedLanguage {
  const words = wordsOf(text);
  const short = holdsCode(text) ? undefined : identifyShortText(text, words);
  if (short !== undefined) return { language: short, confident: true, courtesy: true };
  const told = bySmallWords(words);
  if (told !== undefined) return told;
  const guesses = detectAll(text, { only: LATIN });
  const language = guesses[0]?.lang ?? 'en';
  return { language, confident: isLatinLanguage(language) && isProved(language, words) };
}

/**
 * Where small words say enough: so many of one language that a second judge is not needed, or none that prove a
 * language at all, so that the answer is a guess in any case. Undefined where the judge of letters is to be asked.
 */
function bySmallWords(words: readonly string[]): IdentifiedLanguage | undefined {
  const small = words.map((word) => word.toLowerCase());
  const english = small.filter((word) => ENGLISH_WORDS.has(word)).length;
  const counts = OTHERS.map((language) => ({
    language,
    known: small.filter((word) => belongs(LANGUAGE_WORDS[language], word)).length,
  })).sort((first, second) => second.known - first.known);
  const [best, second] = counts;
  if (best === undefined || second === undefined) return undefined;
  const enough = best.known >= Math.max(FEWEST_EVIDENT, words.length * EVIDENT_SHARE);
  if (enough && best.known >= 2 * second.known && isProved(best.language, words))
    return { language: best.language, confident: true };
  if (OTHERS.some((language) => isProved(language, words))) return undefined;
  if (english > best.known) return { language: 'en', confident: false };
  return best.known > Math.max(english, second.known)
    ? { language: best.language, confident: false }
    : undefined;
}

function isLatinLanguage(language: string): language is LatinLanguage {
  return Object.hasOwn(LANGUAGE_WORDS, language);
}

function holdsCode(text: string): boolean {
  return (text.match(NOT_PROSE) ?? []).some((piece) => /\p{L}/u.test(piece));
}

/** An elided article or pronoun (l', j') is a word of its own. */
function wordsOf(text: string): string[] {
  const plain = text.normalize('NFC').replaceAll('’', "'").replace(NOT_PROSE, ' ');
  return (
    plain.match(/(?<!\p{L})(?:[cdjlmnst]|qu|dell|all|un)'(?=\p{L})|[\p{L}\p{M}]+(?:'[\p{L}\p{M}]+)?/giu) ?? []
  );
}

function isProved(language: LatinLanguage, words: readonly string[]): boolean {
  if (words.length < FEWEST_WORDS) return false;
  const own = LANGUAGE_WORDS[language];
  const small = words.map((word) => word.toLowerCase());
  const english = small.filter((word) => ENGLISH_WORDS.has(word) && !belongs(own, word)).length;
  const telling = small.some(
    (word, index) => own.telling.has(word) && !ENGLISH_WORDS.has(word) && !isName(words, index),
  );
  const known = small.filter((word) => belongs(own, word)).length;
  return telling && known >= Math.max(2, words.length * KNOWN_SHARE) && known > english * ENGLISH_COST;
}

/** A capital within the text, or at its beginning where another one follows: São Paulo, Son Heung-min. */
function isName(words: readonly string[], index: number): boolean {
  const capital = (word = ''): boolean => /^\p{Lu}/u.test(word);
  return capital(words[index]) && (index > 0 || capital(words[1]));
}

function belongs({ telling, linking }: LanguageWords, word: string): boolean {
  return telling.has(word) || linking.has(word);
}
