// Judges the text of a caller who pauses or speaks over a voice: is the sentence complete, does more follow,
// or does the caller only listen?
//
//   "Yes."  "I need a taxi."                                      finished
//   "My number is 0171."  "S M I."  "12 Baker Street"  "... and"  unfinished
//   "mhm", "okay" over a voice                                    back-channel
//
// Recognisers put a full stop behind nearly every text, so a full stop alone proves nothing.
import { identifyLanguage } from './language.js';
import { SPOKEN_WORDS, type SpokenWords } from './spoken-words.js';

/** Undefined: the text does not show it. */
type Completeness = 'finished' | 'unfinished' | undefined;

/** The words of one language, ready for look-ups. */
interface Lexicon {
  readonly spelled: RegExp | undefined;
  readonly street: RegExp | undefined;
  readonly isDense: boolean;
  readonly backchannels: ReadonlySet<string>;
  readonly answers: ReadonlySet<string>;
  readonly continuing: ReadonlySet<string>;
  readonly whole: ReadonlySet<string>;
  readonly weakNumerals: ReadonlySet<string>;
  readonly beforeTime: ReadonlySet<string>;
  readonly letterWords: ReadonlySet<string>;
  /** Matches a number word; in dense writing, the numerals at the end of a text. */
  readonly numeral: RegExp;
}

/** The last sentence of a text. */
interface LastSentence {
  /** Small letters without marks, one space between words; dense writing has none. */
  readonly said: string;
  readonly words: readonly string[];
  /** The marks at its end. */
  readonly marks: string;
}

const MOST_TEXT = 300; // UTF-16 units at the end of a text that decide
const LONGEST_BACKCHANNEL = 60; // UTF-16 units of a text of one who only listens
const LONGEST_PHRASE = 5; // words
const LONGEST_ENDING = 12; // characters of an ending in dense writing
const LEAST_WORDS = 3; // of a sentence that is complete by its full stop
const LEAST_DENSE = 5; // characters of such a sentence in dense writing

const SENTENCE_END = /(?<=[!?…。！？｡])\s*(?=\S)|(?<=[.!?])\s+(?=\S)/u;
const MARKS_AT_END = /[\p{P}\s]+$/u;
/** Signs of a number, an address and a contraction stay within a word. */
const MARKS = /[^\p{L}\p{M}\p{N}\p{Sc}\s'@%°+.,:/-]+/gu;
const EDGES = /^[^\p{L}\p{M}\p{N}\p{Sc}+@]+|[^\p{L}\p{M}\p{N}\p{Sc}@%°]+$/gu;
const GOES_ON = /(?:\.\.+|…|[,、;；:：—–-])["'”’」』]*$/u;
const QUESTION = /[?？]["'”’」』]*$/u;
const STATEMENT = /[.!。！｡]["'”’」』]*$/u;

const DIGITS = /^[+(]?\p{N}[\p{N}.,/()-]*$/u;
const DIGITS_AT_END = /\p{N}$/u;
const YEAR = /^(?:19|20)\p{N}{2}$/u;
const LETTER = /^(?=\p{L}$)[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]$/u;
const SPELLED = /^(?:\p{L}[-.]){1,}\p{L}?$/u;
const OPEN_ADDRESS = /@[^.]*$/u;

const NOBODY: SpokenWords = { backchannels: '', answers: '', continuing: '', numerals: '' };
const LEXICONS = new Map<string, Lexicon>();

/** `language`: a BCP 47 tag; undefined if it is not known. */
export function completenessOf(text: string, language: string | undefined): Completeness {
  const lexicon = lexiconOf(language ?? identifyLanguage(text).language);
  const sentence = lastSentence(text.slice(-MOST_TEXT), lexicon);
  if (sentence.said === '') return undefined;
  if (GOES_ON.test(sentence.marks)) return 'unfinished';
  if (consistsOf(sentence, lexicon.answers, lexicon)) return 'finished';
  const goesOn = lexicon.isDense ? denseGoesOn(sentence, lexicon) : wordsGoOn(sentence, lexicon);
  if (goesOn === 'a word' && QUESTION.test(sentence.marks)) return 'finished'; // Where are you from?
  if (goesOn !== undefined) return 'unfinished';
  if (QUESTION.test(sentence.marks)) return 'finished';
  return STATEMENT.test(sentence.marks) && isSentence(text, lexicon) ? 'finished' : undefined;
}

/**
 * True for a text of one who only listens, such as "mhm" or "okay, okay". If the language is not known, it is
 * looked for in each.
 */
export function isBackchannel(text: string, language: string | undefined): boolean {
  if (text.length > LONGEST_BACKCHANNEL) return false;
  const own = language === undefined ? undefined : primaryOf(language);
  const tags = own === undefined || SPOKEN_WORDS[own] === undefined ? Object.keys(SPOKEN_WORDS) : [own];
  return tags.map(lexiconOf).some((lexicon) => {
    const whole = plain(text, lexicon);
    return whole.said !== '' && consistsOf(whole, lexicon.backchannels, lexicon);
  });
}

/** Cantonese is written with Chinese characters, too. */
function primaryOf(language: string): string {
  const primary = language.split(/[-_]/, 1)[0]?.toLowerCase() ?? '';
  return primary === 'yue' ? 'zh' : primary;
}

function lexiconOf(language: string): Lexicon {
  const primary = primaryOf(language);
  const tag = Object.hasOwn(SPOKEN_WORDS, primary) ? primary : '';
  const known = LEXICONS.get(tag);
  if (known !== undefined) return known;
  const lexicon = newLexicon(SPOKEN_WORDS[tag] ?? NOBODY);
  LEXICONS.set(tag, lexicon);
  return lexicon;
}

function newLexicon(spoken: SpokenWords): Lexicon {
  const { isDense = false, whole, weakNumerals, beforeTime, letterWords } = spoken;
  const numerals = [...phrases(spoken.numerals)];
  const parts = numerals.length === 0 ? '(?!)' : numerals.join('|');
  return {
    isDense,
    backchannels: phrases(spoken.backchannels),
    answers: phrases(spoken.answers),
    continuing: phrases(spoken.continuing),
    whole: phrases(whole),
    weakNumerals: phrases(weakNumerals),
    beforeTime: phrases(beforeTime),
    letterWords: phrases(letterWords),
    numeral: isDense ? new RegExp(`[${spoken.numerals}]+$`, 'u') : new RegExp(`^(?:${parts})+$`, 'u'),
    spelled: spoken.spelled,
    street: spoken.street,
  };
}

function phrases(list = ''): ReadonlySet<string> {
  const all = list.split('|').map((phrase) => phrase.trim());
  return new Set(all.filter((phrase) => phrase !== ''));
}

/** A text without marks. */
function plain(text: string, { isDense }: Pick<Lexicon, 'isDense'>): Omit<LastSentence, 'marks'> {
  const small = text.normalize('NFKC').toLowerCase().replaceAll('’', "'");
  const bare = small.replaceAll(MARKS, ' ').split(/\s+/);
  const words = bare.map((word) => word.replaceAll(EDGES, '')).filter((word) => word !== '');
  return { said: words.join(isDense ? '' : ' '), words };
}

function lastSentence(text: string, lexicon: Lexicon): LastSentence {
  const last = text.trim().split(SENTENCE_END).at(-1) ?? '';
  return { ...plain(last, lexicon), marks: MARKS_AT_END.exec(last)?.[0].trim() ?? '' };
}

/** The sentence is a row of these phrases. */
function consistsOf(
  { said, words }: Omit<LastSentence, 'marks'>,
  among: ReadonlySet<string>,
  { isDense }: Lexicon,
): boolean {
  const units = isDense ? said.split('') : words.flatMap((word) => word.split('-'));
  const most = isDense ? LONGEST_ENDING : LONGEST_PHRASE;
  let at = 0;
  while (at < units.length) {
    let length = Math.min(most, units.length - at);
    while (length > 0 && !among.has(units.slice(at, at + length).join(isDense ? '' : ' '))) length--;
    if (length === 0) return false;
    at += length;
  }
  return true;
}

/** How the sentence shows that more follows. */
function wordsGoOn({ said, words }: LastSentence, lexicon: Lexicon): 'a word' | 'a number' | undefined {
  const { continuing, whole, letterWords, spelled, street } = lexicon;
  const last = words.at(-1) ?? '';
  if (isNumberAt(words, words.length - 1, lexicon)) return isTime(words, lexicon) ? undefined : 'a number';
  if (SPELLED.test(last) || spelled?.test(said) === true) return 'a number';
  if (last.includes('@')) return OPEN_ADDRESS.test(last) ? 'a number' : undefined;
  if (endsWith(words, whole)) return undefined;
  if (endsWith(words, continuing)) return 'a word';
  if (LETTER.test(last) && !letterWords.has(last)) return 'a number';
  return street?.test(said) === true ? 'a word' : undefined;
}

function endsWith(words: readonly string[], among: ReadonlySet<string>): boolean {
  for (let length = Math.min(LONGEST_PHRASE, words.length); length > 0; length--)
    if (among.has(words.slice(-length).join(' '))) return true;
  return false;
}

function isNumberAt(words: readonly string[], at: number, lexicon: Lexicon): boolean {
  const word = words[at];
  if (word === undefined) return false;
  if (DIGITS.test(word)) return true;
  if (!lexicon.numeral.test(word.replaceAll('-', ''))) return false;
  return !lexicon.weakNumerals.has(word) || words.length === 1 || isNumberAt(words, at - 1, lexicon);
}

/** One number behind "at", or a year behind other words: at 5, since 2019. */
function isTime(words: readonly string[], lexicon: Lexicon): boolean {
  const at = words.length - 1;
  if (at === 0 || isNumberAt(words, at - 1, lexicon)) return false;
  return lexicon.beforeTime.has(words[at - 1] ?? '') || YEAR.test(words[at] ?? '');
}

function denseGoesOn({ said, words }: LastSentence, lexicon: Lexicon): 'a word' | 'a number' | undefined {
  const { continuing, whole, numeral, street } = lexicon;
  if (DIGITS_AT_END.test(said)) return 'a number';
  const numerals = numeral.exec(said)?.[0] ?? '';
  const isNumber = numerals === said || numerals.length >= LEAST_NUMERALS;
  if (numerals !== '' && isNumber) return 'a number';
  const last = words.at(-1) ?? '';
  if (SPELLED.test(last) || LETTER.test(last)) return 'a number';
  for (let length = Math.min(LONGEST_ENDING, said.length); length > 0; length--) {
    const ending = said.slice(-length);
    if (whole.has(ending)) return undefined;
    if (continuing.has(ending)) return 'a word';
  }
  return street?.test(said) === true ? 'a number' : undefined;
}

/** Numerals at the end of a word are often part of it: 星期三, 사이. */
const LEAST_NUMERALS = 3;

function isSentence(text: string, lexicon: Lexicon): boolean {
  const { said, words } = plain(text.slice(-MOST_TEXT), lexicon);
  if (lexicon === lexiconOf('')) return false; // its unfinished sentences are not known
  return lexicon.isDense ? said.length >= LEAST_DENSE : words.length >= LEAST_WORDS;
}
