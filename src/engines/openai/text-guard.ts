// Cuts out of a server's text what its sound does not explain: loops, echoes of the prompt, copies of the
// last text. `native/model/recognition/runaway.h` states the same rules for the models of this server.
//
// A word is a run of letters, numbers, marks and apostrophes; each ideograph and kana counts as a word.

interface GuardedSound {
  /** Length of the speech. */
  readonly seconds: number;
  /** The background of the speech that the server was given. */
  readonly prompt: string;
  /** The text before this one; empty if there is none. */
  readonly last: string;
}

export interface GuardedText {
  readonly text: string;
  /** The reason for which words were cut, for the log; undefined if none were. */
  readonly cut: 'repetition' | 'context_echo' | 'copy' | undefined;
}

const MOST_WORDS_A_SECOND = 8;
const MOST_LETTERS_A_SECOND = 40;
const LEAST_COPIED = 4; // words of the last text
const LEAST_FROM_PROMPT = 4; // words of the prompt, in any order
const LONGEST_UNIT = 20; // words that a loop repeats, and letters within a word
const LEAST_LOOPED = 32; // words, or letters, that a loop has in all
const LEAST_REPETITIONS = 16;
/** Enough for a text that has more words than its sound can hold. */
const LEAST_REPETITIONS_TOO_FAST = 4;

const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[\p{L}\p{N}\p{M}'’])+/gu;

interface Word {
  readonly word: string;
  /** UTF-16 offsets. */
  readonly start: number;
  readonly end: number;
}

/** The text without what the sound does not explain. */
export function guardText(text: string, sound: GuardedSound): GuardedText {
  const unlooped = withoutLoops(text, sound.seconds);
  const words = wordsOf(unlooped);
  const wasLooped = unlooped.length < text.length;
  if (!isTooFast(words, sound.seconds)) return { text: unlooped, cut: wasLooped ? 'repetition' : undefined };
  const keepBefore = (count: number) => unlooped.slice(0, words[words.length - count]?.start ?? 0).trimEnd();
  const echoed = echoedWords(words, sound);
  if (echoed > 0) return { text: keepBefore(echoed), cut: 'context_echo' };
  const copied = sharedEnd(words, wordsOf(sound.last));
  if (copied >= LEAST_COPIED) return { text: keepBefore(copied), cut: 'copy' };
  return { text: unlooped, cut: wasLooped ? 'repetition' : undefined };
}

/** True if a few words, or letters, stand in it so often in a row that nobody said them. */
export function hasLoop(text: string): boolean {
  return withoutLoops(text, Infinity).length < text.length;
}

function wordsOf(text: string): Word[] {
  return Array.from(text.matchAll(WORD), ({ 0: word, index }) => ({
    word: word.toLowerCase(),
    start: index,
    end: index + word.length,
  }));
}

function isTooFast(words: readonly Word[], seconds: number): boolean {
  const letters = words.reduce((sum, { word }) => sum + Array.from(word).length, 0);
  return words.length > MOST_WORDS_A_SECOND * seconds || letters > MOST_LETTERS_A_SECOND * seconds;
}

/** Number of the last words that are all in the prompt and too many for the sound by themselves. */
function echoedWords(words: readonly Word[], { prompt, seconds }: GuardedSound): number {
  const known = new Set(wordsOf(prompt).map(({ word }) => word));
  let among = 0;
  while (among < words.length && known.has(words[words.length - 1 - among]?.word ?? '')) among++;
  if (among === 0 || among < Math.min(LEAST_FROM_PROMPT, words.length)) return 0;
  return isTooFast(words.slice(words.length - among), seconds) ? among : 0;
}

/**
 * Number of words in the longest end of `text` that stands in `shown` in the same order. The Z function of
 * both, reversed and joined, gives the longest common end for each place of `shown`.
 */
function sharedEnd(text: readonly Word[], shown: readonly Word[]): number {
  const joined = [...text.toReversed(), undefined, ...shown.toReversed()].map((one) => one?.word);
  const z = new Uint32Array(joined.length);
  let longest = 0;
  for (let i = 1, left = 0, right = 0; i < joined.length; i++) {
    let length = i < right ? Math.min(right - i, z[i - left] ?? 0) : 0;
    while (i + length < joined.length && joined[length] === joined[i + length]) length++;
    z[i] = length;
    if (i + length > right) [left, right] = [i, i + length];
    if (i > text.length) longest = Math.max(longest, length);
  }
  return longest;
}

/** The text with one repetition of each loop. */
function withoutLoops(text: string, seconds: number): string {
  const words = wordsOf(text);
  const least = isTooFast(words, seconds) ? LEAST_REPETITIONS_TOO_FAST : LEAST_REPETITIONS;
  const cut = cutLoops(
    text,
    words,
    words.map(({ word }) => word),
    least,
  );
  return cut.replace(WORD, (word) => {
    const letters = Array.from(word.matchAll(/./gsu), ({ 0: letter, index }) => ({
      word: letter.toLowerCase(),
      start: index,
      end: index + letter.length,
    }));
    if (letters.length < LEAST_LOOPED) return word;
    return cutLoops(
      word,
      letters,
      letters.map((one) => one.word),
      LEAST_REPETITIONS,
    );
  });
}

/** Cuts the repetitions behind the first unit of each loop. */
function cutLoops(text: string, parts: readonly Word[], keys: readonly string[], least: number): string {
  const cuts: [from: number, to: number][] = [];
  for (let at = 0; at < keys.length;) {
    const loop = loopAt(keys, at, least);
    if (loop === undefined) {
      at++;
      continue;
    }
    cuts.push([parts[at + loop.unit - 1]?.end ?? 0, parts[at + loop.length - 1]?.end ?? text.length]);
    at += loop.length;
  }
  return cuts.reduceRight((left, [from, to]) => left.slice(0, from) + left.slice(to), text);
}

function loopAt(
  keys: readonly string[],
  at: number,
  least: number,
): { readonly unit: number; readonly length: number } | undefined {
  for (let unit = 1; unit <= LONGEST_UNIT; unit++) {
    let length = unit;
    while (at + length < keys.length && keys[at + length] === keys[at + length - unit]) length++;
    const looped = least === LEAST_REPETITIONS ? LEAST_LOOPED : LEAST_LOOPED / 4;
    if (length >= looped && length >= least * unit) return { unit, length };
  }
  return undefined;
}
