// Estimates when the words of a sentence sound, for engines that do not report it. The estimate follows the
// sentence's own sound: its pauses are matched with its punctuation, and the sound between two of them is
// divided by the length of the words.
//
//   text    Well,     the weather changes,      take something warm.
//   sound   ▆▅▇     │ ▅▇▆▇▅▇▆▅▇▆▅▇▆     │ ▅▇▆▅▇▆▅▇▆▇      │
//               pause                pause             silence at the end
//
// A pause without a match lies within a word or between two. Punctuation without a match is spoken without a
// pause. While the sound is not whole, the pauses that still follow are unknown.

/** Milliseconds from the first sample that is heard. */
export interface SoundPause {
  readonly startMs: number;
  readonly endMs: number;
}

/** The sound of a sentence, as far as it is known. */
export interface SentenceSound {
  /** An estimate while the sound is not whole. */
  readonly lengthMs: number;
  /** True if `pauses` holds all pauses. */
  readonly isWhole: boolean;
  /** In order. */
  readonly pauses: readonly SoundPause[];
}

/** UTF-16 units; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const VOWELS = /[aeiouyà-æè-ïò-öø-üýÿœаеёиоуыэюяіїєα-ωά-ώ]+/giu;
const LETTERS = /[\p{L}\p{N}]/gu;
const LETTER_WEIGHT = 0.35; // of a syllable: consonants take time

/**
 * The length of a word compared with others of its text: its syllables, and a part for each letter. If it has
 * none of the vowels, each of its characters counts as a syllable: of Chinese, a number, "TV".
 */
function weightOf(word: string): number {
  const letters = word.match(LETTERS)?.length ?? 1;
  return (word.match(VOWELS)?.length ?? letters) + LETTER_WEIGHT * letters;
}

const PUNCTUATION = /[,;:.!?…()—–،؛؟、。，；：！？「」]/u;
const EXPECTED_PAUSE_MS = 180; // after punctuation that has not been heard yet

// Costs, as shares of the voiced sound. A match costs the distance between the pause and its punctuation.
// Each that stays without a match has a cost of its own. That of a long pause is high: it must have a reason.
const COST_PER_GAP = 0.05;
const COST_PER_PAUSE_MS = 0.001;
const MOST_PAUSE_COST = 0.3;

/** A place where a pause is likely: punctuation, the beginning and the end. */
interface Gap {
  /** Index of the word after it. */
  readonly word: number;
  /** Share of the sound of all words that comes before it, from 0 to 1. */
  readonly at: number;
}

/** A pause at a known place of the text. */
interface Anchor extends Pick<Gap, 'word'> {
  readonly pause: SoundPause;
}

/** The places of the words in the sound. */
export function estimatedTimes(text: string, words: readonly Span[], sound: SentenceSound): SoundPause[] {
  const weights = words.map(({ start, end }) => weightOf(text.slice(start, end)));
  const gaps = gapsOf(text, words, weights);
  const anchors = matched(gaps, sound);
  const anchored = new Set(anchors.map(({ pause }) => pause));
  const loose = sound.pauses.filter((pause) => !anchored.has(pause));
  const times: SoundPause[] = [];
  let fromMs = 0;
  for (const { word, pause } of [...anchors, endOf(words, sound, gaps, anchors.at(-1))]) {
    times.push(
      ...divided(weights.slice(times.length, word), { startMs: fromMs, endMs: pause.startMs }, loose),
    );
    fromMs = pause.endMs;
  }
  return times;
}

function gapsOf(text: string, words: readonly Span[], weights: readonly number[]): Gap[] {
  const total = sumOf(weights);
  const gaps: Gap[] = [{ word: 0, at: 0 }];
  let before = 0;
  words.forEach(({ end }, index) => {
    before += weights[index] ?? 0;
    const next = words[index + 1];
    if (next !== undefined && !PUNCTUATION.test(text.slice(end, next.start))) return;
    gaps.push({ word: index + 1, at: before / total });
  });
  return gaps;
}

/** The end of the words. After the pauses that are still expected the sound is longer. */
function endOf(
  words: readonly Span[],
  { lengthMs, isWhole }: SentenceSound,
  gaps: readonly Gap[],
  last: Anchor | undefined,
): Anchor {
  const expected = isWhole ? 0 : gaps.filter(({ word }) => word > (last?.word ?? 0)).length;
  const ms = Math.max(lengthMs - expected * EXPECTED_PAUSE_MS, last?.pause.endMs ?? 0);
  return { word: words.length, pause: { startMs: ms, endMs: ms } };
}

interface HeardPause {
  readonly pause: SoundPause;
  /** Share of the voiced sound before it; see Gap. */
  readonly at: number;
  /** Price for leaving it without a match. */
  readonly cost: number;
}

function heardPauses({ lengthMs, isWhole, pauses }: SentenceSound, gaps: readonly Gap[]): HeardPause[] {
  const expected = isWhole ? 0 : Math.max(0, gaps.length - pauses.length);
  const voicedMs = Math.max(1, lengthMs - sumOf(pauses.map(lengthOf)) - expected * EXPECTED_PAUSE_MS);
  let silentMs = 0;
  return pauses.map((pause) => {
    const at = (pause.startMs - silentMs) / voicedMs;
    silentMs += lengthOf(pause);
    return { pause, at, cost: Math.min(MOST_PAUSE_COST, COST_PER_PAUSE_MS * lengthOf(pause)) };
  });
}

/** The pairs from some gap and pause on, and what they and all that is left without a match cost. */
interface Way {
  readonly cost: number;
  /** The first pair; undefined if there is none. */
  readonly anchor?: Anchor | undefined;
  readonly next?: Way | undefined;
}

/** The pairs of gaps and pauses, in order, with the least cost. */
function matched(gaps: readonly Gap[], sound: SentenceSound): Anchor[] {
  const heard = heardPauses(sound, gaps);
  // Punctuation after the last pause costs nothing if more pauses may follow.
  const unheardCost = sound.isWhole ? COST_PER_GAP : 0;
  // The best ways from the gaps after the present one, for each pause from the last to the first.
  let later: Way[] = [{ cost: 0 }];
  for (const { cost } of heard.toReversed()) later.push(longer(later.at(-1), cost));
  for (const gap of gaps.toReversed()) {
    const ways = [longer(later[0], unheardCost)];
    for (const [index, { pause, at, cost }] of heard.toReversed().entries()) {
      const next = later[index];
      const pair = { ...longer(next, Math.abs(gap.at - at)), anchor: { word: gap.word, pause }, next };
      ways.push([longer(ways[index], cost), longer(later[index + 1], COST_PER_GAP)].reduce(cheaper, pair));
    }
    later = ways;
  }
  const anchors: Anchor[] = [];
  for (let way = later.at(-1); way?.anchor !== undefined; way = way.next) anchors.push(way.anchor);
  return anchors;
}

function longer(way: Way = { cost: 0 }, cost: number): Way {
  return { ...way, cost: way.cost + cost };
}

function cheaper(one: Way, other: Way): Way {
  return other.cost < one.cost ? other : one;
}

/** Divides the sound between two pauses among words. Pauses within it are no part of their length. */
function divided(
  weights: readonly number[],
  { startMs, endMs }: SoundPause,
  pauses: readonly SoundPause[],
): SoundPause[] {
  const within = pauses.filter((pause) => pause.startMs >= startMs && pause.endMs <= endMs);
  const msPerWeight = (endMs - startMs - sumOf(within.map(lengthOf))) / sumOf(weights);
  const placeOf = (voicedMs: number) =>
    within.reduce((ms, pause) => (pause.startMs < ms ? ms + lengthOf(pause) : ms), startMs + voicedMs);
  let voicedMs = 0;
  return weights.map((weight) => {
    const wordMs = placeOf(voicedMs);
    voicedMs += weight * msPerWeight;
    return { startMs: wordMs, endMs: placeOf(voicedMs) };
  });
}

function lengthOf({ startMs, endMs }: SoundPause): number {
  return endMs - startMs;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
