// Converts written text to spoken words: "$3.50" becomes "three dollars and fifty cents".
//
// The text is read once from left to right. At each place where a token may begin, `dispatch.ts` asks the
// recognisers that may know it by its first character and the one behind its digits or letters. Each that
// knows a token there offers a candidate. `choose.ts` picks one of them, `say.ts` asks the language for its
// words, and the reading continues behind it. Text that no recogniser knows stays as written. No recogniser
// looks further than a few hundred characters, so the time is linear.
//
// The input is a whole sentence (`../sentences.ts`). The words then do not depend on how the text arrived.
//
// Each language has a folder. These four files are in every one:
//   `writing.ts`: a `Writing`: the words of its tables (`../tables/xx/*.tsv`), number format, telephone
//      patterns, and short forms that depend on their neighbours.
//   `numbers.ts`: number words, from n2words through `keptWords` where it is right. `speech.ts`: a `Speech`.
//   Each function gets a recognised token and its neighbours (`Around`), for grammar. It returns
//      undefined to leave the token as written.
//   `language.ts`: the `Language` itself: the two above, the names of signs, and recognisers of its own
//   (`own`). These read tokens that only this language has (一月三日, 14h30, § 3 Abs. 2).
// European languages also keep `grammar.ts` (case, gender, counted nouns). Files with other names hold the
// recognisers of one subject, such as `dates.ts`, and export its rules: which characters ask each recogniser.
// `iberian/` has the recognisers that es and pt share.
//
// To add a language, write these files, add one line to `languages.ts`, and add
// `test/text/normalize/xx.cases.tsv`: "# sentence about behaviour", then lines "written TAB spoken".
// `normalize.test.ts` reads all such files. It also pushes every case by character through `SentenceStream`,
// so abbreviations that the segmenter must know are sets of its cue words. `es/` is a small model; `de/`
// has gender and case; `zh/` is written without spaces.
import { endsSentenceAt } from '../sentence-end.js';
import type { Span } from '../markup/source-map.js';
import { type ShortForms, shortFormsOf } from '../short-forms.js';
import { classOf, DIGIT, fold, HIDDEN, IDEOGRAPH, LETTER, PAIR, SPACE } from './characters.js';
import { type Decoded, decodeEntities, ENCODED, ROMAN_SIGNS } from './entities.js';
import { Choice, type Ranks } from './choose.js';
import { behind, Dispatch } from './dispatch.js';
import type { Language } from './language.js';
import { type Found, Reading, type Rule } from './reading.js';
import { Addresses } from './recognise/addresses.js';
import { Arithmetic } from './recognise/arithmetic.js';
import { Codes } from './recognise/codes.js';
import { Calendar } from './recognise/calendar.js';
import { Commands } from './recognise/commands.js';
import { Dates } from './recognise/dates.js';
import { Identifiers, MachineNames } from './recognise/identifiers.js';
import { Keys } from './recognise/keys.js';
import { Latex } from './recognise/latex.js';
import * as markdown from './recognise/markdown.js';
import { Menus } from './recognise/menus.js';
import { Names } from './recognise/names.js';
import { NumberSigns } from './recognise/number-signs.js';
import { Numbers } from './recognise/numbers.js';
import { Quantities } from './recognise/quantities.js';
import { Shares } from './recognise/shares.js';
import { Spans } from './recognise/spans.js';
import { Symbols } from './recognise/symbols.js';
import { Times } from './recognise/times.js';
import { UnitsAlone } from './recognise/units-alone.js';
import { Verses } from './recognise/verses.js';
import { Winds } from './recognise/winds.js';
import { Words } from './recognise/words.js';
import { cardinal } from './say.js';
import { formula, loweredFormula } from './shared-forms.js';
import { endsText, type Normalized, type PlacedText, type Replacement, SpokenText } from './spoken-text.js';

/** Recognisers by the class of a token's first character. */
interface Recognisers {
  readonly atDigit: Dispatch;
  readonly atLetter: Dispatch;
  readonly atMark: Dispatch;
  readonly atIdeograph: Dispatch;
  readonly ranks?: Ranks;
}

function recognisersOf(language: Language): Recognisers {
  const { speech } = language;
  const [dates, times] = [new Dates(language), new Times(language)];
  const [numbers, quantities] = [new Numbers(language), new Quantities(language)];
  const [identifiers, addresses] = [new Identifiers(language), new Addresses(language)];
  const [words, symbols] = [new Words(language), new Symbols(language)];
  const [keys, machines] = [new Keys(language), new MachineNames(language)];
  const [codes, menus, winds] = [new Codes(language), new Menus(language), new Winds(language)];
  const [calendar, spans, shares] = [new Calendar(language), new Spans(language), new Shares(language)];
  const [arithmetic, names] = [new Arithmetic(language), new Names(language)];
  const [latex, verses] = [new Latex(language), new Verses(language)];
  const units = new UnitsAlone(language);
  const [signs, commands] = [new NumberSigns(language), new Commands(language)];
  const own = language.own ?? {};
  const compound = formula(
    (letters) => (language.unspaced === true ? letters : speech.letters(letters)),
    (digits) => cardinal(digits, speech),
    language.unspaced === true ? '' : ' ',
  );
  return {
    atDigit: new Dispatch([
      machines.at,
      codes.atDigit,
      signs.atDigit,
      latex.atDigit,
      calendar.atDigit,
      shares.atDigit,
      spans.atDigit,
      numbers.groupedAtDigit,
      ...(own.atDigit ?? []),
      numbers.minuteOfGame,
      numbers.rows,
      keys.atDigit,
      arithmetic.atDigit,
      names.atDigit,
      symbols.atDigit,
      words.atDigit,
      dates.atDigit,
      times.atDigit,
      addresses.atDigit,
      identifiers.atDigit,
      numbers.atDigit,
      markdown.atDigit(language),
      quantities.atDigit,
    ]),
    atLetter: new Dispatch([
      machines.at,
      codes.atLetter,
      signs.atLetter,
      verses.at,
      calendar.atLetter,
      spans.atLetter,
      ...(own.atLetter ?? []),
      behind(/[₀-₉]/, compound),
      behind(/~/, loweredFormula(compound)),
      arithmetic.atLetter,
      names.atLetter,
      dates.atLetter,
      times.atLetter,
      quantities.atLetter,
      units.atLetter,
      addresses.atLetter,
      identifiers.atLetter,
      words.atLetter,
      winds.atLetter,
    ]),
    atMark: new Dispatch([
      menus.atMark,
      codes.atMark,
      signs.atMark,
      commands.atMark,
      ...(own.atMark ?? []),
      keys.atMark,
      arithmetic.atMark,
      latex.atMark,
      markdown.atMark(language),
      machines.atMark,
      identifiers.atMark,
      quantities.atMark,
      units.atMark,
      numbers.atMark,
      addresses.atMark,
      words.atMark,
      symbols.atMark,
    ]),
    atIdeograph: new Dispatch([verses.at, ...(own.atIdeograph ?? [])]),
  };
}

/**
 * A part of the text that markup or a lexicon has claimed. No token reaches into what markup has claimed; a
 * word of a lexicon counts where it stands for itself, not within an address or an amount: "5 GB" is one
 * token.
 */
export interface Claim {
  readonly start: number;
  readonly end: number;
  /** The words for it, and the rule that is reported. Without them it is copied. */
  readonly spoken?: string;
  readonly rule?: Rule;
}

interface NormalizeOptions {
  /** In order, not overlapping. */
  readonly claimed?: readonly Claim[];
  /** The entities of HTML or XML in the text are decoded already. */
  readonly isDecoded?: boolean | undefined;
  /** Another order of the rules than that of `choose.ts`. */
  readonly ranks?: Ranks | undefined;
}

const recognisers = new WeakMap<Language, Recognisers>();

export function normalize(
  text: string,
  language: Language,
  { claimed = [], isDecoded = false, ranks }: NormalizeOptions = {},
): Normalized {
  let known = recognisers.get(language);
  if (known === undefined) recognisers.set(language, (known = recognisersOf(language)));
  if (ranks !== undefined) known = { ...known, ranks };
  // A word of a lexicon does not stand for itself within an entity.
  const isWithin =
    ({ start, end }: Span) =>
    (claim: Claim) =>
      isOfLexicon(claim) && claim.start > start && claim.end < end;
  const isKept = (span: Span) =>
    claimed.some((claim) => claim.start < span.end && claim.end > span.start && !isWithin(span)(claim));
  const decoded = decodeEntities(text, isKept, isDecoded ? ROMAN_SIGNS : ENCODED);
  if (decoded === undefined) return new Scan(text, language, known, claimed).run();
  const { map, placeOf } = decoded;
  const spans = decoded.entities.map(({ start, end }) => map.span(start, end));
  const moved = claimed
    .filter((claim) => !spans.some((span) => isWithin(span)(claim)))
    .map((claim) => ({ ...claim, start: placeOf(claim.start), end: placeOf(claim.end) }));
  return asWritten(new Scan(decoded.text, language, known, moved).run(), text, decoded);
}

/** With the places of the written text; an entity that was copied is a replacement, too. */
function asWritten(
  { spokenPlace, ...form }: PlacedText,
  written: string,
  { text, map, entities }: Decoded,
): Normalized {
  const placed = (one: Replacement) => {
    const { start, end } = map.span(one.start, one.end);
    return { ...one, start, end, written: written.slice(start, end) };
  };
  const isReplaced = (span: Span) =>
    form.replacements.some(({ start, end }) => start < span.end && end > span.start);
  const copied = entities
    .filter((span) => !isReplaced(span))
    .map((span): Replacement => {
      const spoken = text.slice(span.start, span.end);
      const spokenStart = spokenPlace(span.start);
      const spokenEnd = spokenPlace(span.end);
      return placed({ rule: 'markdown', ...span, written: '', spoken, spokenStart, spokenEnd });
    });
  const replacements = [...form.replacements.map(placed), ...copied].toSorted((a, b) => a.start - b.start);
  return {
    ...form,
    replacements,
    sourceSpan: (start, end) => {
      const span = form.sourceSpan(start, end);
      return map.span(span.start, span.end);
    },
  };
}

/** Behind a unit and its stop a word in capitals begins a sentence, unless it is a name with a number. */
const COUNTED: ReadonlySet<Rule> = new Set<Rule>(['measure', 'currency']);
const BEGINS = /^ (?:\p{Lu}\p{Ll}*(?![\p{L}’'.-]| \d)|(?:[CJLNS]|Qu)['’]\p{L})/u;

class Scan {
  readonly #text: string;
  readonly #known: Recognisers;
  readonly #claimed: readonly Claim[];
  readonly #choice: Choice;
  readonly #reading: Reading;
  readonly #spoken: SpokenText;
  readonly #unspaced: boolean;
  readonly #forms: ShortForms;
  readonly #respell: ((spoken: string) => string) | undefined;
  readonly #language: Language;
  #nextClaim = 0;
  #copied = 0; // text before this offset is in the result

  constructor(text: string, language: Language, known: Recognisers, claimed: readonly Claim[]) {
    this.#text = fold(text);
    this.#known = known;
    this.#claimed = claimed;
    this.#choice = new Choice(language.speech, known.ranks);
    this.#reading = new Reading(this.#text);
    this.#unspaced = language.unspaced ?? false;
    this.#forms = shortFormsOf(language.tag);
    this.#spoken = new SpokenText(text, this.#unspaced);
    this.#respell = language.respell?.(this.#text);
    this.#language = language;
  }

  run(): PlacedText {
    let at = 0;
    while (at < this.#text.length) {
      const claim = this.#claimed[this.#nextClaim];
      if (claim === undefined || at < claim.start) {
        at = this.#step(at, claim?.start ?? this.#text.length);
        continue;
      }
      const larger = this.#larger(at, claim);
      this.#nextClaim++;
      if (larger !== undefined) {
        at = this.#replace(at, larger);
      } else if (!isOfLexicon(claim) || at === claim.start) {
        at = Math.max(at, this.#claim(claim));
      } // else a token has covered it
    }
    this.#copyTo(this.#text.length);
    return this.#spoken.result();
  }

  /** Returns the offset behind it, and behind the full stop that its words end with already: "3 p.m.". */
  #claim({ start, end: ends, spoken, rule }: Claim): number {
    if (spoken === undefined || rule === undefined) return ends;
    const [stop, next] = [this.#text[ends], this.#text[ends + 1]];
    const end = spoken.endsWith('.') && stop === '.' && next !== '.' ? ends + 1 : ends;
    this.#copyTo(start);
    this.#spoken.replace(Math.max(start, this.#copied), end, spoken, rule);
    this.#copied = Math.max(end, this.#copied);
    return end;
  }

  /** The token that begins where a word of a lexicon does, and goes on behind it. */
  #larger(at: number, claim: Claim): Found | undefined {
    if (!isOfLexicon(claim) || at !== claim.start) return undefined;
    const kind = classOf(this.#text.charCodeAt(at));
    const found = this.#tokenAt(this.#reading, at, kind);
    if (found === undefined || found.end <= claim.end || !this.#mayCover(found.end)) return undefined;
    const { spoken: words = '' } = claim;
    const written = this.#text.slice(at, claim.end);
    const isItself = found.rule === 'abbreviation' && this.#text.slice(claim.end, found.end) === '.';
    if (isItself) return { ...found, spoken: words };
    // GPT-4: the entry says the letters of it
    const named = [written, this.#language.speech.letters(written)].find((name) =>
      found.spoken.startsWith(`${name} `),
    );
    if (found.rule !== 'identifier' || named === undefined) return found;
    return { ...found, spoken: words + found.spoken.slice(named.length) };
  }

  /**
   * True if every claim that begins before the token's end is a lexicon word that also ends within the token.
   */
  #mayCover(end: number): boolean {
    for (let index = this.#nextClaim; ; index++) {
      const claim = this.#claimed[index];
      if (claim === undefined || claim.start >= end) return true;
      if (!isOfLexicon(claim) || claim.end > end) return false;
    }
  }

  /** Reads one token, word or mark; returns the offset behind it. */
  #step(at: number, limit: number): number {
    const kind = classOf(this.#text.charCodeAt(at));
    if (kind === SPACE) return this.#spaces(at, limit);
    if (kind === HIDDEN) return this.#drop(at, at + 1);
    const found = this.#ask(at, kind, limit);
    if (found !== undefined) return this.#replace(at, found);
    if (kind === PAIR) return this.#pair(at);
    return kind === LETTER || kind === DIGIT ? Math.min(this.#reading.runEnd, limit) : at + 1;
  }

  #ask(at: number, kind: number, limit: number): Found | undefined {
    const found = this.#tokenAt(this.#reading, at, kind);
    if (found === undefined || found.end <= limit || this.#mayCover(found.end)) return found;
    const before = new Reading(this.#text.slice(0, limit));
    before.tokenEnd = this.#reading.tokenEnd;
    before.tokenWords = this.#reading.tokenWords;
    return this.#tokenAt(before, at, kind);
  }

  #tokenAt(reading: Reading, at: number, kind: number): Found | undefined {
    reading.at = at;
    reading.kind = kind;
    const found = this.#choice.of(this.#recognisersFor(kind).at(reading), reading);
    return found !== undefined && found.end > at ? found : undefined;
  }

  #recognisersFor(kind: number): Dispatch {
    if (kind === LETTER) return this.#known.atLetter;
    if (kind === DIGIT) return this.#known.atDigit;
    return kind === IDEOGRAPH ? this.#known.atIdeograph : this.#known.atMark;
  }

  #replace(at: number, found: Found): number {
    const { rule } = found;
    const spoken = this.#respell?.(found.spoken) ?? found.spoken;
    const doubled =
      spoken.endsWith('.') && this.#text[found.end] === '.' && this.#text[found.end + 1] !== '.';
    const end = doubled ? found.end + 1 : found.end; // the stop of "6 PM." is in "p.m." already
    this.#copyTo(at);
    const stop = spoken !== '' && !spoken.endsWith('.') && this.#isLastStop(end - 1, rule);
    this.#spoken.replace(at, end, stop ? `${spoken}.` : spoken, rule, found.clings);
    this.#copied = end;
    this.#reading.tokenEnd = end;
    this.#reading.tokenWords = spoken;
    return end;
  }

  /** "… on Main St." and "… in the U.S. He …" end with one stop for two purposes. */
  #isLastStop(at: number, rule: Rule): boolean {
    const text = this.#text;
    return (
      text[at] === '.' &&
      !/^\)?[?!,;:.]/.test(text.slice(at + 1, at + 3)) &&
      (endsText(text, at + 1) ||
        text[at + 1] === '\n' ||
        (COUNTED.has(rule) && this.#language.tag !== 'de' && BEGINS.test(text.slice(at + 1, at + 32))) ||
        endsSentenceAt(text, at, this.#forms, rule === 'abbreviation'))
    );
  }

  #spaces(at: number, limit: number): number {
    let end = at + 1;
    while (end < limit && classOf(this.#text.charCodeAt(end)) === SPACE) end++;
    // One space between words is copied with them.
    if (end === at + 1 && this.#copied < at && this.#text[at] === ' ' && !this.#unspaced) return end;
    this.#copyTo(at);
    this.#spoken.space(at, end);
    this.#copied = end;
    return end;
  }

  /** A character of two units is copied; half of one is dropped. */
  #pair(at: number): number {
    const whole = (this.#text.codePointAt(at) ?? 0) > 0xffff;
    return whole ? at + 2 : this.#drop(at, at + 1);
  }

  #drop(at: number, end: number): number {
    this.#copyTo(at);
    this.#copied = end;
    return end;
  }

  #copyTo(end: number): void {
    this.#spoken.copy(this.#text, this.#copied, end);
    this.#copied = end;
  }
}

function isOfLexicon({ rule }: Claim): boolean {
  return rule === 'lexicon';
}
