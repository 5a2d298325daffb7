// Assembles German, a language with gender and case, from its writing, speech and recognisers.
import type { Language } from '../language.js';
import type { Found, Reading, Recogniser } from '../reading.js';
import { commitHash, currencyPair, letterPair, standard } from '../shared-codes.js';
import {
  behindDigits,
  betweenAmounts,
  byFirstLetter,
  byMark,
  coefficient,
  coordinates,
  formula,
  negativePower,
  perWord,
  schoolYear,
} from '../shared-forms.js';
import * as amounts from './amounts.js';
import * as codes from './codes.js';
import * as compounds from './compounds.js';
import * as dates from './dates.js';
import { weekday } from './dates.js';
import { cardinal, year } from './numbers.js';
import { groupedOrdinal, ordinalPair, romanOrdinal } from './ordinals.js';
import * as own from './own.js';
import * as pairs from './pairs.js';
import * as places from './places.js';
import { SPEECH } from './speech.js';
import * as times from './times.js';
import { PER } from './units.js';
import { WRITING } from './writing.js';

/** By the character behind the digits, and one space. */
const atDigit: Recogniser = behindDigits([
  [/[.]/, codes.section],
  [/[.]/, groupedOrdinal],
  [/[.]/, dates.days],
  [/[.]/, ordinalPair],
  [/[.]/, dates.monthOfYear],
  [/[.]/, times.dotted],
  [/[.–-]/, times.beforeOthers],
  [/[.,'’\d]/, amounts.wholeAmount],
  [/[a-z/]/, places.door],
  [/\//, schoolYear((digits) => (digits.startsWith('19') ? year(digits) : cardinal(digits)))],
  [/\//, dates.expiry],
  [/\//, pairs.partOfInch],
  [/\//, pairs.ratio],
  [/[-–]/, pairs.pages],
  [/\./, pairs.numberOfBook],
  [/[a-z]/, coefficient(cardinal, { math: '+=×−<>≤≥' })],
  [/[-/]/, codes.order],
  [/[-–.,%\p{L}]/u, compounds.adjective],
  [/[-–.,%]/, compounds.percent],
  [/e/, compounds.group],
  [/[-.,]/, compounds.hanging],
  [/[A-Z]/, pairs.courtFile],
  [/\p{Lu}/u, places.postcode],
  [/[h,–-]/, times.hours],
  [/[-:]/, standard(cardinal, year)],
  [/:/, own.lasting],
  [/:/, times.onClock],
  [/:/, pairs.scale],
  [/[x×,]/, own.sizes],
  [/[x×,]/, own.timesAsMuch],
  [/[a-h]/, places.houseNumber],
  [/["″”]/, own.inches],
  [/[°º,.]/, own.directed],
  [/[a-f]/, commitHash(SPEECH)],
  [/\./, own.stoppageTime],
  [/v/, own.oneOf],
  [/[°º]/, coordinates((digits, part) => `${cardinal(digits)} ${{ degree: 'Grad', minute: 'Minuten', second: 'Sekunden' }[part]}`, { N: 'Nord', S: 'Süd', W: 'West', O: 'Ost', E: 'Ost' })],
  [/\//, own.perUnit],
]); // prettier-ignore
const SUBSCRIPTS = '₀₁₂₃₄₅₆₇₈₉';
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
const INITIALS = 'MDFSECsIVXNOWxGLJRKPATH';
const INITIAL = byFirstLetter([
  [/[MDFS]/, weekday],
  [/[ECFSs]/, amounts.wholeAmountBehind, /[.\d]/],
  [/[FSs]/, amounts.francs, /[.\d]/],
  [/S/, codes.sentenceOfLaw, /\./],
  [/[GELNDJRSKCPMATH]/, pairs.verse, /[.\d]/],
  [/[IVX]/, pairs.sectionOfLaw],
  [/x/, own.timesSign, /\d/],
  [/[NSOW]/, own.windward],
  [/[IVX]/, romanOrdinal, /\./],
  [/[IVX]/, pairs.courtFile, /[A-Z]/],
]);

/** Most words have none of these behind them, or before. */
function byMarkBehind(reading: Reading): Found | undefined {
  const mark = reading.text[reading.runEnd] ?? ' ';
  if (mark === ' ') return undefined;
  if (mark === '.') return places.street(reading) ?? codes.numberName(reading);
  if (mark === '-') return codes.plate(reading) ?? codes.numberName(reading);
  if (mark === '/') return TRADED(reading) ?? LETTERS(reading);
  return SUBSCRIPTS.includes(mark) ? FORMULA(reading) : undefined;
}

function atInitial(reading: Reading): Found | undefined {
  return INITIALS.includes(reading.text[reading.at] ?? ' ') ? INITIAL(reading) : undefined;
}

export const GERMAN: Language = {
  tag: 'de',
  writing: WRITING,
  speech: SPEECH,
  own: {
    atDigit: [atDigit, codes.emergency, codes.coded, own.officeNumber],
    atLetter: [byMarkBehind, atInitial],
    atMark: [
      byMark([
        [/[*#]/, own.namedKey], [/\+/, own.ticker], [/\*/, own.born], [/[-–]/, own.extension], [/€/, amounts.wholeAmountBehind], [/\//, perWord(PER)], [/\//, betweenAmounts],
        [/[⁻^]/, negativePower((digits) => `hoch minus ${cardinal(digits)}`)],
      ]),
    ],
  },
  symbols: {
    inAddress: {
      '@': 'at', '.': 'Punkt', '/': 'Schrägstrich', '\\': 'Backslash', '-': 'Bindestrich', _: 'Unterstrich', ':': 'Doppelpunkt', '#': 'Raute',
      '?': 'Fragezeichen', '=': 'gleich', '&': 'und', '+': 'plus', '~': 'Tilde', '%': 'Prozent', '*': 'Stern', '!': 'Ausrufezeichen',
    },
    inMath: {
      '+': 'plus', '-': 'minus', '−': 'minus', '×': 'mal', '*': 'mal', '·': 'mal', '÷': 'geteilt durch', ':': 'geteilt durch', '/': 'geteilt durch', '=': 'gleich', '==': 'gleich',
      '<': 'kleiner als', '>': 'größer als', '<=': 'kleiner gleich', '>=': 'größer gleich', '≤': 'kleiner gleich', '≥': 'größer gleich',
      '≠': 'ungleich', '!=': 'ungleich', '≈': 'ungefähr', '~': 'ungefähr', '±': 'plus minus', '√': 'Wurzel aus', '→': 'nach', '∞': 'unendlich', π: 'Pi',
    },
    inText: { '&': 'und', '§': 'Paragraf', '©': 'Copyright', '®': '', '™': '', '°': 'Grad', '%': 'Prozent', '→': 'nach', '←': '', '•': '', '†': 'gestorben', '✓': '', '=': 'gleich', '@': 'at', '<': '', '>': '' },
    versionPoint: 'Punkt',
    version: 'Version',
    minus: 'minus',
    plus: 'plus',
    keys: { star: 'Stern', hash: 'Raute', before: /drück|wähl|tipp|tast|gib|geben sie|eingabe/i, behind: /^["'”“`)\]]{0,2}[ -]?(?:taste|zeichen)/i },
    hashtag: 'Hashtag',
    addressWords: {
      com: 'com', org: 'org', net: 'net', de: 'D E', at: 'A T', ch: 'C H', eu: 'E U', io: 'I O', ai: 'A I', co: 'co', uk: 'U K', www: 'W W W', pdf: 'P D F', html: 'H T M L',
      jpg: 'J P G', png: 'P N G', csv: 'C S V', json: 'Jason', xml: 'X M L', txt: 'T X T', docx: 'Doc X', xlsx: 'X L S X', zip: 'Zip', mp: 'M P', exe: 'Exe', js: 'J S', ts: 'T S', gmbh: 'G M B H', gmx: 'G M X', md: 'M D',
    },
  },
}; // prettier-ignore
