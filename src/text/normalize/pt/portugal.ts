// Portuguese of Portugal, Angola and Mozambique: a few words are not those of Brazil, and a thousand millions
// have no name of their own. Everything else is the same, so what is said there is taken and these words are
// put in its place.
import type { Language, Speech, Writing } from '../language.js';
import type { Found, Recogniser } from '../reading.js';
import { PORTUGUESE } from './language.js';

const WORDS: readonly (readonly [brazilian: RegExp, european: string])[] = [
  [/dezesse(?=is|te)/g, 'dezasse'],
  [/dezenove/g, 'dezanove'],
  [/ômetro/g, 'ómetro'],
  [/underline/g, 'underscore'],
  [/cerquilha/g, 'cardinal'],
  [/um bilhão (e )?(?=[^,]* milhões)/g, 'mil $1'],
  [/ bilhões (e )?(?=[^,]* milhões)/g, ' mil $1'],
  [/um bilhão/g, 'mil milhões'],
  [/ bilhões/g, ' mil milhões'],
  [/trilhão/g, 'bilião'],
  [/trilhões/g, 'biliões'],
];

function inPortugal<T extends string | undefined>(said: T): T | string {
  return said === undefined
    ? said
    : WORDS.reduce<string>((words, [from, to]) => words.replace(from, to), said);
}

type Say = (...given: readonly unknown[]) => string | undefined;

function speechOf(speech: Speech): Speech {
  const changed = Object.entries(speech).map(([name, say]: [string, unknown]) => [
    name,
    (...given: readonly unknown[]) => inPortugal((say as Say)(...given)),
  ]);
  return Object.fromEntries(changed) as unknown as Speech;
}

function wordsOf(forms: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(forms).map(([written, said]) => [written, inPortugal(said)]));
}

function recogniserOf(recognise: Recogniser): Recogniser {
  return (reading): Found | undefined => {
    const found = recognise(reading);
    return found && { ...found, spoken: inPortugal(found.spoken) };
  };
}

const { writing, symbols, speech, own } = PORTUGUESE;
const WRITING: Writing = {
  ...writing,
  beforeNumber: wordsOf(writing.beforeNumber),
  per: wordsOf(writing.per),
};

export const PORTUGUESE_OF_PORTUGAL: Language = {
  tag: 'pt',
  writing: WRITING,
  symbols: { ...symbols, inAddress: wordsOf(symbols.inAddress) },
  speech: speechOf(speech),
  own: {
    atDigit: (own?.atDigit ?? []).map(recogniserOf),
    atLetter: (own?.atLetter ?? []).map(recogniserOf),
    atMark: (own?.atMark ?? []).map(recogniserOf),
  },
};
