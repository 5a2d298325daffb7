// Finds which word of a sentence is heard now. The server tells when a sentence begins and when its last
// packet has left. Between them the time of each word is the one that the server has told. If it has told
// none, the time is estimated from the length of the words, at the pace of the sentences before.

/**
 * Offsets in UTF-16 units.
 * @typedef {{ readonly start: number, readonly end: number, readonly weight: number }} Word
 */

/** @typedef {{ readonly start: number, readonly end: number, readonly startMs: number }} TimedPlace */

const FIRST_PACE = 17; // weight in a second, until the first sentence has been measured
const SLOWEST_PACE = 6;
const FASTEST_PACE = 60;
const NEWEST_SHARE = 0.5; // of the last sentence in the pace
const SHORTEST_MEASURED_MS = 400; // a shorter sentence tells nothing of the pace

// Weights are in letters. A digit is spoken as a word, and so is a character of Han.
const GAP = 1;
const DIGIT = 4;
const IDEOGRAPH = 3;
const CAPITAL = 1.5;
const COMMA = 4;
const STOP = 6;

const SPACELESS =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

/**
 * The words of a text. Text of a script without spaces is cut where the browser finds words.
 * @param {string} text
 * @returns {Word[]}
 */
export function wordsOf(text) {
  return [...text.matchAll(/\S+/gu)].flatMap(({ 0: token, index }) => {
    if (!SPACELESS.test(token) || !('Segmenter' in Intl)) return [wordAt(token, index)];
    const segments = [...new Intl.Segmenter(undefined, { granularity: 'word' }).segment(token)];
    return segments
      .filter(({ isWordLike }) => isWordLike)
      .map(({ segment, index: within }) => wordAt(segment, index + within));
  });
}

/**
 * @param {string} token
 * @param {number} start
 * @returns {Word}
 */
function wordAt(token, start) {
  let weight = GAP;
  for (const character of token) weight += weightOf(character);
  return { start, end: start + token.length, weight };
}

/** @param {string} character */
function weightOf(character) {
  if (/\p{Nd}/u.test(character)) return DIGIT;
  if (/\p{sc=Han}/u.test(character)) return IDEOGRAPH;
  if (/\p{Lu}/u.test(character)) return CAPITAL;
  if (/\p{L}/u.test(character)) return 1;
  if (/[,;:–—、，；：]/u.test(character)) return COMMA;
  if (/[.!?…。！？]/u.test(character)) return STOP;
  return /[$€£¥%&+=@]/u.test(character) ? DIGIT : 0;
}

export class WordClock {
  /** @type {(word: Word, index: number) => void} */
  #onWord;
  /** Weight in a second. */
  #pace = FIRST_PACE;
  /** @type {readonly Word[]} */
  #words = [];
  /**
   * Milliseconds from the beginning of the sentence at which each word begins; undefined: they are estimated.
   * @type {readonly number[] | undefined}
   */
  #starts;
  #next = 0;
  /** Milliseconds of the sentence that have been heard up to `#since`. */
  #heardMs = 0;
  /**
   * Time at which the sentence began or went on; undefined while it stands still.
   * @type {number | undefined}
   */
  #since;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * `onWord` is called as each word begins.
   * @param {(word: Word, index: number) => void} onWord
   */
  constructor(onWord) {
    this.#onWord = onWord;
  }

  /**
   * A sentence begins to be heard in `delayMs`.
   * @param {string} text
   * @param {number} delayMs
   */
  begin(text, delayMs) {
    this.stop();
    this.#words = wordsOf(text);
    this.#next = 0;
    this.#heardMs = -delayMs;
    this.resume();
  }

  /**
   * The words of the sentence that has begun are heard at these times. A word without a time begins with the
   * one before it.
   * @param {readonly TimedPlace[]} times In the order of the text.
   */
  time(times) {
    let startMs = 0;
    this.#starts = this.#words.map(({ start, end }) => {
      startMs = times.find((timed) => timed.end > start && timed.start < end)?.startMs ?? startMs;
      return startMs;
    });
    if (this.#since === undefined) return;
    clearTimeout(this.#timer);
    this.#plan();
  }

  /** The voice pauses within the sentence. */
  pause() {
    if (this.#since !== undefined) this.#heardMs += performance.now() - this.#since;
    this.#since = undefined;
    clearTimeout(this.#timer);
  }

  resume() {
    if (this.#next >= this.#words.length) return;
    this.#since = performance.now();
    this.#plan();
  }

  /**
   * The last packet of the sentence has left: the words that are missing are told, and the pace is measured.
   */
  finish() {
    this.pause();
    const [words, ms] = [this.#words, this.#heardMs];
    while (this.#next < words.length) this.#tell();
    this.stop();
    if (ms < SHORTEST_MEASURED_MS) return;
    const weight = words.reduce((sum, word) => sum + word.weight, 0);
    const measured = Math.min(FASTEST_PACE, Math.max(SLOWEST_PACE, (1000 * weight) / ms));
    this.#pace += NEWEST_SHARE * (measured - this.#pace);
  }

  /** No more words of this sentence are heard. */
  stop() {
    this.pause();
    this.#words = [];
    this.#starts = undefined;
    this.#next = 0;
  }

  #tell() {
    const index = this.#next++;
    this.#onWord(/** @type {Word} */ (this.#words[index]), index);
  }

  #plan() {
    if (this.#since === undefined || this.#next >= this.#words.length) return;
    const dueMs = this.#startOf(this.#next) - this.#heardMs - (performance.now() - this.#since);
    this.#timer = setTimeout(
      () => {
        this.#tell();
        this.#plan();
      },
      Math.max(0, dueMs),
    );
  }

  /** Milliseconds from the beginning of the sentence. @param {number} index */
  #startOf(index) {
    const startMs = this.#starts?.[index];
    if (startMs !== undefined) return startMs;
    const before = this.#words.slice(0, index).reduce((sum, word) => sum + word.weight, 0);
    return (1000 * before) / this.#pace;
  }
}
