// Names the language of a text, and states whether the answer is beyond doubt.
// A doubtful text follows the voice that speaks already. A certain one may be refused if no engine speaks
// its language. A certain answer therefore needs proof: a script that only that language uses; or, among
// Latin letters, several words that are all known in one language; or agreement of two judges, the n-gram
// statistics of eld and the small words of a sentence.
// A short text is proved only if every word is known in that language, one of them (or a phrase) is neither
// English nor a usual name, and no other language meets this as well.
import { eld } from 'eld/extrasmall';
import { ENGLISH_WORDS, LANGUAGE_WORDS, type LanguageWords, type LatinLanguage } from './language-words.js';
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
function identifyShortText(text: string, words: readonly string[]): LatinLanguage | undefined {
  if (words.length === 0 || words.length > MOST_WORDS) return undefined;
  const spanish = SPANISH_MARK.test(text);
  const proved = VOCABULARIES.filter(
    (own) => (!spanish || own.language === 'es') && isProvedBy(own, words, spanish),
  );
  return proved.length === 1 ? proved[0]?.language : undefined;
}

function isProvedBy(own: Vocabulary, words: readonly string[], spanish: boolean): boolean {
  const small = words.map((word) => word.toLowerCase());
  const names = countNames(own, words, small, spanish);
  if (names === undefined) return false;
  if (spanish && names === 0) return true;
  if (small.length === 1) return own.alone.has(small[0] ?? '');
  const sentenceCase = spanish || own.language === 'de'; // its first word is no name for standing before a capital
  const told = small.some(
    (word, index) => own.telling.has(word) && !isNameIn(own, words, index, sentenceCase),
  );
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
function isNameIn(own: Vocabulary, words: readonly string[], index: number, sentenceCase: boolean): boolean {
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

interface IdentifiedLanguage {
  /** BCP 47 primary tag; of a doubtful text the best guess. */
  readonly language: string;
  readonly confident: boolean;
  /** Known as a greeting or courtesy: sure of these few words, not of what stands around them. */
  readonly courtesy?: true;
}

const MOST_TEXT = 600; // units; more text proves nothing more and costs time
const MOST_KNOWN = 500; // sentences
eld.setLanguageSubset(['en', 'de', 'fr', 'pt', 'es', 'it']); // the only use of it in this process
const FEWEST_WORDS = 4; // a name, a title or a dish is shorter
const KNOWN_SHARE = 0.2; // minimum share of function words in a sentence
const ENGLISH_COST = 3; // foreign small words that outweigh one English small word
const PROSE_WORDS = 5; // from this many words on, statistics suffice if they meet the three thresholds below:
const PROSE_SCORE = 0.74;
const PROSE_LEAD = 0.2; // over English
const PROSE_CONTENT = 2; // words in small letters that no name is made of

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
const LATIN_LETTERS = /\p{Script=Latin}/gu;
const LATIN_WEIGHT = 0.5; // a Latin letter says about half as much as a letter of another script

const FEWEST_LETTERS = 4; // minimum of letters in another script, if most of the text is Latin

function holdsSmallWord(text: string): boolean {
  const lists = [
    ENGLISH_WORDS,
    ...Object.values(LANGUAGE_WORDS).flatMap(({ telling, linking }) => [telling, linking]),
  ];
  return wordsOf(text).some((word) => lists.some((list) => list.has(word.toLowerCase())));
}

// Some tens of microseconds a sentence, and prompts are spoken again in every call.
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
  const counts = SCRIPTS.map(([language, letters]) => [language, text.match(letters)?.length ?? 0] as const);
  const foreign = counts.reduce((sum, [, count]) => sum + count, 0);
  const latin = text.match(LATIN_LETTERS)?.length ?? 0;
  if (foreign === 0) return undefined;
  // "iPhone에서 WhatsApp을 여세요": names alone make no sentence of a Latin language.
  if (foreign <= latin * LATIN_WEIGHT && (foreign < FEWEST_LETTERS || holdsSmallWord(text))) return undefined;
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
  const scores = eld.detect(text.replace(NOT_PROSE, ' ')).getScores();
  const [language = 'en', score = 0] = Object.entries(scores)[0] ?? [];
  if (!isLatinLanguage(language)) return { language, confident: false };
  const clear = score >= PROSE_SCORE && score - (scores['en'] ?? 0) >= PROSE_LEAD;
  if (isProved(language, words) || (clear && isProse(language, words))) return { language, confident: true };
  return { language: isEnglish(language, words) ? 'en' : language, confident: false };
}

/** Whole sentences whose small words are too common to prove anything: Die Aktien fielen am Freitag. */
function isProse(language: LatinLanguage, words: readonly string[]): boolean {
  const own = LANGUAGE_WORDS[language];
  if (words.length < PROSE_WORDS || isEnglish(language, words)) return false;
  const content = words.filter((word) => /^\p{Ll}{3}/u.test(word) && !own.linking.has(word));
  return content.length >= PROSE_CONTENT && words.some((word) => belongs(own, word.toLowerCase()));
}

/** English words that the other language does not have: Please pronounce "entschuldigung" for me. */
function isEnglish(language: LatinLanguage, words: readonly string[]): boolean {
  const own = LANGUAGE_WORDS[language];
  return words.some((word) => ENGLISH_WORDS.has(word.toLowerCase()) && !belongs(own, word.toLowerCase()));
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
  const own = LANGUAGE_WORDS[language];
  const small = words.map((word) => word.toLowerCase());
  if (new Set(small).size < FEWEST_WORDS) return false; // nor is "Fa la la la la" a sentence
  const english = small.filter((word) => ENGLISH_WORDS.has(word) && !belongs(own, word)).length;
  const telling = small.some(
    (word, index) =>
      own.telling.has(word) &&
      !ENGLISH_WORDS.has(word) &&
      (!isName(words, index) || isPolite(language, word)),
  );
  const known = small.filter((word) => belongs(own, word)).length;
  return telling && known >= Math.max(2, words.length * KNOWN_SHARE) && known > english * ENGLISH_COST;
}

/** A capital within the text, or at its beginning where another one follows: São Paulo, Son Heung-min. */
function isName(words: readonly string[], index: number): boolean {
  const capital = (word = ''): boolean => /^\p{Lu}/u.test(word);
  return capital(words[index]) && (index > 0 || capital(words[1]));
}

/** The German Sie has a capital wherever it stands. */
function isPolite(language: LatinLanguage, word: string): boolean {
  return language === 'de' && /^(?:sie|ihnen|ihr|ihre[mnrs]?)$/.test(word);
}

function belongs({ telling, linking }: LanguageWords, word: string): boolean {
  return telling.has(word) || linking.has(word);
}
