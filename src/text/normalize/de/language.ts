// Assembles German, a language with gender and case, from its writing, speech and recognisers.
import { tablesOf } from '../../tables/language-tables.js';
import { beginning, behind, type Row } from '../dispatch.js';
import type { Language } from '../language.js';
import { certain } from '../reading.js';
import {
  behindDigits,
  betweenAmounts,
  byFirstLetter,
  byMark,
  coordinates,
  perWord,
  relation,
} from '../shared-forms.js';
import { amountRules, wholeAmount } from './amounts.js';
import { codeRules, fileNumber, lawName, numberName, plate, section, sentenceOfLaw } from './codes.js';
import { compoundRules } from './compounds.js';
import { dateRules, monthOfYear, weekday } from './dates.js';
import { cardinal } from './numbers.js';
import { groupedOrdinal, ordinalPair, romanOrdinal } from './ordinals.js';
import { ownRules, twoFirstParts } from './own.js';
import { courtFile, pairRules } from './pairs.js';
import { placeRules, street } from './places.js';
import { SPEECH } from './speech.js';
import { hours, onClock, timeRules } from './times.js';
import { WRITING } from './writing.js';

const PARTS = { degree: 'Grad', minute: 'Minuten', second: 'Sekunden' };
const DIRECTIONS = { N: 'Nord', S: 'Süd', W: 'West', O: 'Ost', E: 'Ost' };
const position = coordinates((digits, part) => `${cardinal(digits)} ${PARTS[part]}`, DIRECTIONS);

/** Chooses by the character behind the digits, or behind them and one space. */
const atNumber = behindDigits([
  [/[.]/, certain(section)],
  [/[.]/, groupedOrdinal],
  ...dateRules.behindDigits,
  [/[.]/, ordinalPair],
  [/[.]/, monthOfYear],
  ...timeRules.behindDigits,
  [/[.,'’\d]/, wholeAmount],
  ...pairRules.behindDigits,
  ...compoundRules.behindDigits,
  [/[h,–-]/, certain(hours)],
  ...ownRules.behindDigits,
  [/[°º]/, position],
  [/:/, onClock],
  ...pairRules.behindDigitsLater,
  ...placeRules.behindDigits,
]);

const atInitial = byFirstLetter([
  [/[MDFS]/, weekday],
  ...amountRules.atLetter,
  [/S/, sentenceOfLaw, /\./],
  ...pairRules.atLetter,
  [/[IVX]/, romanOrdinal, /\./],
  [/[IVX]/, courtFile, /[A-Z]/],
]);

const byMarkBehind = [
  behind(/\./, street),
  behind(/-/, plate),
  behind(/[.-]/, numberName),
  {
    knows: ({ isFresh, first, behind: next, isSmallBehind }) =>
      isFresh && !isSmallBehind && /[A-Z]/.test(first) && /[ \d]/.test(next),
    recognise: fileNumber,
  },
  beginning(/\p{Lu}/u, lawName),
] satisfies readonly Row[];

const OWN: NonNullable<Language['own']> = {
  atDigit: [atNumber, ...codeRules.atDigit, fileNumber],
  atLetter: [byMarkBehind, atInitial],
  atMark: [
    byMark([
      [/-/, certain(twoFirstParts)],
      [/\//, perWord(WRITING.per, 'alle')],
      [/\//, betweenAmounts],
      [/[<>≤≥]/, relation(tablesOf('de').signs.inFront, tablesOf('de').set('before a compared amount'))],
      ...ownRules.atMark,
    ]),
  ],
};

// prettier-ignore
export const GERMAN: Language = {
  tag: 'de',
  writing: WRITING,
  speech: SPEECH,
  own: OWN,
  symbols: {
    ...tablesOf('de').signs,
    versionPoint: 'Punkt',
    version: 'Version',
    minus: 'minus',
    plus: 'plus',
    keys: { star: 'Stern', hash: 'Raute', before: /drück|wähl|tipp|tast|gib|geben sie|eingabe/i, behind: /^["'”“`)\]]{0,2}[ -]?(?:taste|zeichen)/i },
    hashtag: 'Hashtag',
    pause: ',',
    per: 'pro',
  },
};
