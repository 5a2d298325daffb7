// The recognisers of a language, in the order in which they are asked.
import type { Language } from './language.js';
import { numeralOf, withoutZeros } from './numerals.js';
import { followedBy, NOWHERE, type Recogniser } from './reading.js';
import { Addresses } from './recognise/addresses.js';
import { Dates } from './recognise/dates.js';
import { Identifiers } from './recognise/identifiers.js';
import { Keys } from './recognise/keys.js';
import * as markdown from './recognise/markdown.js';
import { latex } from './recognise/markdown.js';
import { MachineNames } from './recognise/machine-names.js';
import { Numbers } from './recognise/numbers.js';
import { Quantities } from './recognise/quantities.js';
import { Symbols } from './recognise/symbols.js';
import { Times } from './recognise/times.js';
import { Words } from './recognise/words.js';
import { formula } from './shared-forms.js';

/** By the class of a token's first character. */
export interface Recognisers {
  readonly atDigit: readonly Recogniser[];
  readonly atLetter: readonly Recogniser[];
  readonly atMark: readonly Recogniser[];
  readonly atIdeograph: readonly Recogniser[];
}

export function recognisersOf(language: Language): Recognisers {
  const { speech } = language;
  const [dates, times] = [new Dates(language), new Times(language)];
  const [numbers, quantities] = [new Numbers(language), new Quantities(language)];
  const [identifiers, addresses] = [new Identifiers(language), new Addresses(language)];
  const [words, symbols] = [new Words(language), new Symbols(language)];
  const [keys, machines] = [new Keys(language), new MachineNames(language)];
  const own = language.own ?? {};
  const compound = formula(
    (letters) => speech.letters(letters),
    (digits) => speech.number(numeralOf(withoutZeros(digits)), NOWHERE),
  );
  return {
    atDigit: [
      machines.at,
      ...(own.atDigit ?? []),
      keys.atDigit,
      symbols.atDigit,
      words.atDigit,
      dates.atDigit,
      times.atDigit,
      addresses.atDigit,
      identifiers.atDigit,
      numbers.atDigit,
      markdown.atDigit(language),
      quantities.atDigit,
    ],
    atLetter: [
      machines.at,
      ...(own.atLetter ?? []),
      followedBy('₀₁₂₃₄₅₆₇₈₉', compound),
      dates.atLetter,
      times.atLetter,
      quantities.atLetter,
      addresses.atLetter,
      identifiers.atLetter,
      words.atLetter,
    ],
    atMark: [
      ...(own.atMark ?? []),
      keys.atMark,
      latex(language),
      markdown.atMark(language),
      machines.atMark,
      identifiers.atMark,
      quantities.atMark,
      numbers.atMark,
      addresses.atMark,
      words.atMark,
      symbols.atMark,
    ],
    atIdeograph: own.atIdeograph ?? [],
  };
}
