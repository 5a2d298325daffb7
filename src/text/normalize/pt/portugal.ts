// Portuguese of Portugal, Angola and Mozambique: a few words are not those of Brazil, and a thousand millions
// have no name of their own. Everything else is the same, so what is said there is taken and these words are
// put in its place.
import type { Language, Speech } from '../language.js';
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

function inPortugal(said: string): string {
  return WORDS.reduce((words, [from, to]) => words.replace(from, to), said);
}

type Say = (...given: readonly unknown[]) => string | undefined;

function speechOf(speech: Speech): Speech {
  const changed = Object.entries(speech).map(([name, say]: [string, unknown]) => [
    name,
    (...given: readonly unknown[]) => {
      const said = (say as Say)(...given);
      return said === undefined ? said : inPortugal(said);
    },
  ]);
  return Object.fromEntries(changed) as unknown as Speech;
}

export const PORTUGUESE_OF_PORTUGAL: Language = {
  ...PORTUGUESE,
  speech: speechOf(PORTUGUESE.speech),
  respell: () => inPortugal,
};
