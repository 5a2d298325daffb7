// Chooses among the candidates for one token: those that are proven, then the longest, then by the table.
//
// Every recogniser that knows the characters at a place offers its candidate. None of them decides. A
// candidate is proven if its recogniser has looked for words or marks around the token (`isCertain`): the
// number of "room 501" is no measure, whatever follows. Among candidates of one length the table below
// decides. Of two with one rule the recogniser that was asked first wins, and a language's own ones are asked
// before the shared ones.
import type { Speech } from './language.js';
import type { Candidate, Found, Reading, Recogniser, Rule } from './reading.js';
import { wordsOf } from './say.js';

/** Rules from the first to the last choice, each with the reason for its place. */
export const PRIORITIES: readonly (readonly [rule: Rule, reason: string])[] = [
  ['lexicon', 'the owner of the server or of the request has said how it is read'],
  ['say-as', 'markup has said what it is'],
  ['sub', 'markup has said its words'],
  ['email', 'an address is written with signs that amounts, too, may hold'],
  ['url', 'an address, likewise'],
  ['handle', 'the sign before it makes it a name'],
  ['symbol', 'a sign with a meaning of its own, such as a telephone key, before a mark of Markdown'],
  ['address', 'a house number or postcode is known by its street or town, so it is no measure or range'],
  ['abbreviation', 'a short form is listed letter by letter: 24/7, 9/11, NW'],
  ['duration', 'a clock that counts names its unit or event: in 1:05:20 is no time of day'],
  ['date', 'three figures, or two behind a word of time, are a date before a fraction, version or digits'],
  ['time', 'two figures after a colon are a time before a score, range or decimal'],
  ['telephone', 'grouped digits are a number to dial before they are digits, a version or a range'],
  ['version', 'behind a name of software figures with points are no decimal'],
  ['digits', 'behind "code" or with a leading zero digits are no amount'],
  ['ordinal', 'a mark of ordinals is no unit: 5º is fifth, not five degrees'],
  ['decimal', 'a number that a language cuts at its mark, before the whole number in front'],
  ['code', 'a telephone key sequence before a fraction'],
  ['zone', 'UTC-5 before letters and a number'],
  ['decade', '1990s before a year and a number of seconds'],
  ['roman', 'XIV behind a king before three letters'],
  ['acronym', 'letters one by one before a name with digits'],
  ['currency', 'a known currency before three letters and a number'],
  ['score', 'a result behind a word of a game before a fraction or range'],
  ['ip-address', 'four numbers up to 255 before an amount with points'],
  ['year', 'four digits behind a word of time before a count'],
  ['identifier', 'letters and digits of a code before a number with a unit of one letter: 4K'],
  ['measure', 'a number with its unit before the number alone'],
  ['percent', 'a number with its unit, likewise'],
  ['file', 'the name of a file before emphasis by underscores'],
  ['cardinal', 'a number alone before a range that only its mark makes'],
  ['range', 'two years or numbers before a fraction: 2023/24'],
  ['math', 'a division in a sum before a fraction'],
  ['fraction', 'two numbers and a stroke that nothing else has explained'],
  ['emoji', 'a picture before Markdown and repeated marks'],
  ['hashtag', 'the sign before a word'],
  ['markdown', 'a mark that nothing else has explained is typography'],
  ['punctuation', 'repeated marks'],
];

export type Ranks = ReadonlyMap<Rule, number>;

export function ranksOf(priorities: readonly (readonly [rule: Rule, reason: string])[]): Ranks {
  return new Map(priorities.map(([rule], rank) => [rule, rank]));
}

const RANKS = ranksOf(PRIORITIES);

function said(candidate: Candidate, spoken: string): Found {
  if (candidate.token === undefined) return candidate;
  const { end, rule, clings } = candidate;
  return clings === undefined ? { end, rule, spoken } : { end, rule, spoken, clings };
}

/** Chooses among the candidates for one place. */
export class Choice {
  readonly #ranks: Ranks;
  readonly #speech: Speech;

  constructor(speech: Speech, ranks = RANKS) {
    this.#speech = speech;
    this.#ranks = ranks;
  }

  /** The chosen token that begins where the reading stands; undefined if no recogniser knows one. */
  of(recognisers: readonly Recogniser[], reading: Reading): Found | undefined {
    let candidates: Candidate[] | undefined;
    for (const recognise of recognisers) {
      const found = recognise(reading);
      if (found !== undefined) (candidates ??= []).push(found);
    }
    return candidates && this.#said(candidates);
  }

  /** The best candidate that the language has words for. */
  #said(candidates: readonly Candidate[]): Found | undefined {
    let left = candidates;
    for (let best = this.#best(left); best !== undefined; best = this.#best(left)) {
      const chosen = best;
      const spoken = wordsOf(chosen, this.#speech);
      if (spoken !== undefined) return said(chosen, spoken);
      const other = chosen.otherwise?.();
      left = left.filter((candidate) => candidate !== chosen);
      if (other !== undefined) left = [...left, other];
    }
    return undefined;
  }

  #best(candidates: readonly Candidate[]): Candidate | undefined {
    let best = candidates[0];
    for (const candidate of candidates) {
      if (best !== undefined && this.#isBetter(candidate, best)) best = candidate;
    }
    return best;
  }

  #isBetter(candidate: Candidate, best: Candidate): boolean {
    if (candidate.isCertain !== best.isCertain) return candidate.isCertain === true;
    if (candidate.end !== best.end) return candidate.end > best.end;
    if (candidate.isCertain === true) return false; // the one that was asked first
    return this.#rank(candidate.rule) < this.#rank(best.rule);
  }

  #rank(rule: Rule): number {
    return this.#ranks.get(rule) ?? this.#ranks.size;
  }
}
