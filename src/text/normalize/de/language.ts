// Assembles German, a language with gender and case, from its writing, speech and recognisers.
import { tablesOf } from '../../tables/language-tables.js';
import { behind } from '../dispatch.js';
import type { Language } from '../language.js';
import { certain } from '../reading.js';
import { commitHash, currencyPair, letterPair, standard } from '../shared-codes.js';
import {
  behindDigits,
  byFirstLetter,
  byMark,
  coefficient,
  coordinates,
  formula,
  negativePower,
  betweenAmounts,
  perWord,
  relation,
  schoolYear,
} from '../shared-forms.js';
import { amountRules, wholeAmount, wholeAmountBehind } from './amounts.js';
import { codeRules, numberName, order, plate, section, sentenceOfLaw } from './codes.js';
import { compoundRules } from './compounds.js';
import { dateRules, monthOfYear, weekday } from './dates.js';
import { cardinal, year } from './numbers.js';
import { groupedOrdinal, ordinalPair, romanOrdinal } from './ordinals.js';
import { officeNumber, ownRules } from './own.js';
import { courtFile, pairRules } from './pairs.js';
import { door, placeRules, street } from './places.js';
import { SPEECH } from './speech.js';
import { hours, onClock, timeRules } from './times.js';
import { WRITING } from './writing.js';

const PARTS = { degree: 'Grad', minute: 'Minuten', second: 'Sekunden' };
const DIRECTIONS = { N: 'Nord', S: 'Süd', W: 'West', O: 'Ost', E: 'Ost' };
const position = coordinates((digits, part) => `${cardinal(digits)} ${PARTS[part]}`, DIRECTIONS);

/** Chooses by the character behind the digits, or behind them and one space. */
const atNumber = behindDigits([
  [/[a-z/]/, door],
  [/\//, schoolYear((digits) => (digits.startsWith('19') ? year(digits) : cardinal(digits)))],
  [/[a-z]/, coefficient(cardinal, { math: '+=×−<>≤≥' })],
  [/[.]/, certain(section)],
  [/[.]/, groupedOrdinal],
  ...dateRules.behindDigits,
  [/[.]/, ordinalPair],
  [/[.]/, monthOfYear],
  ...timeRules.behindDigits,
  [/[.,'’\d]/, wholeAmount],
  ...pairRules.behindDigits,
  [/[-/]/, order],
  ...compoundRules.behindDigits,
  [/[h,–-]/, certain(hours)],
  [/[-:]/, standard(cardinal, year)],
  ...ownRules.behindDigits,
  [/[°º]/, position],
  [/:/, onClock],
  ...pairRules.behindDigitsLater,
  ...placeRules.behindDigits,
  [/[a-f]/, commitHash(SPEECH)],
]);

const FORMULA = formula((letters) => SPEECH.letters(letters), cardinal);
const TRADED = currencyPair({
  EUR: 'Euro',
  USD: 'Dollar',
  GBP: 'Pfund',
  JPY: 'Yen',
  CHF: 'Franken',
  CNY: 'Yuan',
  BTC: 'Bitcoin',
});
const LETTERS = letterPair(SPEECH);
const atInitial = byFirstLetter([
  [/[MDFS]/, weekday],
  ...amountRules.atLetter,
  [/S/, sentenceOfLaw, /\./],
  ...pairRules.atLetter,
  ...ownRules.atLetter,
  [/[IVX]/, romanOrdinal, /\./],
  [/[IVX]/, courtFile, /[A-Z]/],
]);

const byMarkBehind = [
  behind(/\./, street),
  behind(/-/, plate),
  behind(/[.-]/, numberName),
  behind(/\//, TRADED),
  behind(/\//, LETTERS),
  behind(/[₀-₉]/, FORMULA),
];

const BEFORE_AMOUNT = tablesOf('de').set('before a compared amount');

const OWN: NonNullable<Language['own']> = {
  atDigit: [atNumber, ...codeRules.atDigit, officeNumber],
  atLetter: [byMarkBehind, atInitial],
  atMark: [
    byMark([
      [/\//, perWord(WRITING.per, 'alle')],
      [/\//, betweenAmounts],
      [/[⁻^]/, negativePower((digits) => `hoch minus ${cardinal(digits)}`)],
      [
        /[<>≤≥]/,
        relation({ '<': 'weniger als', '>': 'mehr als', '≤': 'höchstens', '≥': 'mindestens' }, BEFORE_AMOUNT),
      ],
      ...ownRules.atMark,
      [/€/, wholeAmountBehind],
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
