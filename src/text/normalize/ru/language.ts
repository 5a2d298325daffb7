// Assembles Russian, with the cases of its numerals, and orders its own recognisers before the shared ones.
import type { Asked } from '../dispatch.js';
import type { Language } from '../language.js';
import { rowNoun } from './declension.js';
import { numeralOf } from '../numerals.js';
import { byFirstLetter, byMark, coordinates, perWord, plusBetween } from '../shared-forms.js';
import { withNoun } from './amounts.js';
import { calendarRules, monthInFigures, quarter } from './calendar.js';
import { clockRules, zoneOffset } from './clock.js';
import { codeRules, cyrillicDomain, houseLetter, ipAddress } from './codes.js';
import { countRules, forEach, seconds } from './counts.js';
import { noun } from './declension.js';
import { byDigits } from './digit-rules.js';
import { figureRules } from './figures.js';
import { flight, nameRules } from './names.js';
import { ordinalRules } from './ordinals.js';
import { prescriptionRules } from './prescriptions.js';
import { roman } from './roman.js';
import { SPEECH } from './speech.js';
import { SYMBOLS, WRITING } from './writing.js';
import { bareYears, yearRules } from './years.js';

const ANGLES = {
  degree: noun('m градус градуса градусов'),
  minute: noun('f минута минуты минут'),
  second: noun('f секунда секунды секунд'),
};
const angle = coordinates(
  (digits, part) => withNoun({ number: numeralOf(digits) }, ANGLES[part], 'nominative'),
  {},
);

const atNumber = byDigits([
  [ipAddress, 1, 3, /\./, /^\.\d/],
  ...prescriptionRules.behindDigits,
  [monthInFigures, 1, 2, /[./]/, /^[./]\d\d/],
  ...countRules.behindDigits,
  ...codeRules.behindDigits,
  [angle, 1, 3, /[°º]/, /^[°º]/],
  ...calendarRules.behindDigits,
  ...codeRules.behindDigitsLater,
  [quarter, 1, 1, /[кпйгме-]/, /^(?:-?(?:й|го|му|м|е))? ?(?:кв|полуг)\./],
  ...yearRules.behindDigits,
  ...clockRules.behindDigits,
  ...ordinalRules.behindDigits,
  ...countRules.behindDigitsLater,
  ...ordinalRules.behindDigitsLater,
  [seconds, 1, 6, /[,с–-]/, /^(?:,\d{1,3})?(?:[–-]\d{1,4})? ?с(?:[ .,;:!?)]|$)/],
  ...figureRules.behindDigits,
  [houseLetter, 1, 4, /[А-Яа-л]/, /^(?: ?[А-Я]|[а-л])/],
  [bareYears, 4, 4, /[-–—]/, /^ ?[-–—]/],
]);

const atDigit: readonly Asked[] = [atNumber];
const atLetter: readonly Asked[] = [
  byFirstLetter([
    ...nameRules.atLetter,
    [/[UGМM]/, zoneOffset, /[+−-]/],
    [/[а-яёh]/i, cyrillicDomain, /[.\d-]/],
    ...calendarRules.atLetter,
    [/[IVXLCDMІХСМ]/, roman],
    [/[A-ZА-Я]/, flight, /[-\d]/],
    ...codeRules.atLetter,
    ...nameRules.atLetterLater,
  ]),
];
const atMark: readonly Asked[] = [
  byMark([
    [/\//, perWord(WRITING.per, 'каждые')],
    [/\//, forEach],
    ...countRules.atMark,
    [/\+/, plusBetween(' плюс ')],
    ...codeRules.atMark,
    ...figureRules.atMark,
  ]),
];

export const RUSSIAN: Language = {
  tag: 'ru',
  writing: WRITING,
  speech: SPEECH,
  symbols: SYMBOLS,
  noun: rowNoun,
  own: { atDigit, atLetter, atMark },
};
