// Assembles Russian, with the cases of its numerals, and orders its own recognisers before the shared ones.
import { currencyPair } from '../shared-codes.js';
import type { Language } from '../language.js';
import { numeralOf } from '../numerals.js';
import type { Reading, Recogniser } from '../reading.js';
import { processor, scientific } from '../recognise/formulas.js';
import { byFirstLetter, byMark, coordinates, perWord, plusBetween } from '../shared-forms.js';
import { withNoun } from './amounts.js';
import {
  dayInFigures,
  dayInRow,
  monthInFigures,
  monthOfYear,
  namedDay,
  quarter,
  shortDay,
  weekday,
} from './calendar.js';
import { dottedTime, hoursAndMinutes, oneOClock, span, zoneOffset } from './clock.js';
import {
  article,
  contract,
  courtFile,
  cyrillicDomain,
  dictated,
  houseLetter,
  ipAddress,
  law,
  masked,
  numbered,
  phoneKey,
  plate,
  postcode,
  serviceCode,
} from './codes.js';
import {
  dimensions,
  minuteOfGame,
  pages,
  perLitre,
  seconds,
  stars,
  temperatures,
  wholeDays,
} from './counts.js';
import { noun } from './declension.js';
import { difference, namedMoney, pointed, pointedMoney, ratio } from './figures.js';
import { chemical, flight, initials, namedByNumber, negative, planes, variable, version } from './names.js';
import { cardinal, ordinal } from './numbers.js';
import {
  beforeOrdered,
  compound,
  kilometre,
  percentAdjective,
  rooms,
  schoolClass,
  storey,
  yearsOfStudy,
} from './ordinals.js';
import { age, howOften, inches, instalment, multiplied, points } from './prescriptions.js';
import { roman } from './roman.js';
import { SPEECH } from './speech.js';
import { PER } from './units.js';
import { SYMBOLS, WRITING } from './writing.js';
import { bareYears, decade, decades, season, year, yearInRow, yearOfEra, years } from './years.js';

/** A recogniser, the fewest and most digits before it, the first character behind them (or behind them and a space), and all that has to stand there. */
type Asked = readonly [recognise: Recogniser, fewest: number, most: number, next: RegExp, behind: RegExp];

const ANGLES = {
  degree: noun('m градус градуса градусов'),
  minute: noun('f минута минуты минут'),
  second: noun('f секунда секунды секунд'),
};
const angle = coordinates(
  (digits, part) => withNoun({ number: numeralOf(digits) }, ANGLES[part], 'nominative'),
  {},
);

const AT_DIGIT: readonly Asked[] = [
  [ipAddress, 1, 3, /\./, /^\.\d/],
  [planes, 3, 3, /-/, /^-\d/],
  [howOften, 1, 2, /р/, /^ ?р/],
  [points, 1, 3, /[\d,]/, /^(?: \d{3}){0,2},\d{1,2} ?п/],
  [age, 1, 3, /[гл]/, /^ ?[гл]\.? /],
  [inches, 1, 3, /[.,'"”″’]/, /^(?:[.,]\d)?["'”″’]/],
  [instalment, 1, 1, /[-–]/, /^[-–]0/],
  [multiplied, 1, 3, /[a-z]/, /^[a-z]/],
  [monthInFigures, 1, 2, /[./]/, /^[./]\d\d/],
  [temperatures, 1, 3, /[….–—]/, /^ ?[….–—]/], // also 21..23°
  [article, 1, 4, /[,.ч]/, /^,? ч|^\.\d/],
  [pages, 1, 5, /с/, /^ ?стр/],
  [wholeDays, 1, 3, /с/, /^ ?сут/],
  [stars, 1, 1, /\*/, /^\*/],
  [dayInFigures, 1, 2, /[./]/, /^[./]\d/],
  [
    namedDay,
    1,
    2,
    /[гоеумяфисандЯФМАИСОНД–—-]/,
    /^(?:-?[гоеум]{1,3})? ?(?:[-–—] ?\d{1,2}\S{0,4} )?[яфмаисондЯФМАИСОНД]/,
  ],
  [dayInRow, 1, 2, /[,гоеумипдн-]/, /^(?:-?[гоеум]{1,3})?(?:,| и| или| по| до| на) (?:с )?\d/],
  [shortDay, 1, 2, /\./, /^\.[01]/],
  [numbered, 1, 9, /-/, /^-\d/],
  [law, 1, 5, /-/, /^-[А-Яа-я]/],
  [dictated, 3, 8, /^[^-]?$/u, /^(?!-)/],
  [decade, 2, 4, /[ехм-]/, /^-?[ехм]/],
  [decades, 2, 4, /[-–—]/, /^ ?[-–—] ?\d/],
  [years, 3, 4, /[-–—/]/, /^ ?[-–—/] ?\d/],
  [year, 3, 4, /[гуфокбйм-]/, /^(?:-?[йгому]{1,2}|-е)? ?[гуфокб]/],
  [quarter, 1, 1, /[кпйгме-]/, /^(?:-?(?:й|го|му|м|е))? ?(?:кв|полуг)\./],
  [yearOfEra, 1, 4, /г/, /^ ?г\. ?(?:до )?н/],
  [yearInRow, 4, 4, /[,ипдв—–]/, /^(?:,| и| или| по| до| в|—|–) /],
  [season, 4, 4, /\//, /^\//],
  [span, 1, 2, /[:.–—-]/, /^(?:[:.]\d| ?[-–—])/],
  [dottedTime, 1, 2, /\./, /^\.[0-5]/],
  [hoursAndMinutes, 1, 2, /ч/, /^ ?ч/],
  [oneOClock, 1, 1, /[нд]/, /^ [нд]/],
  [ratio, 1, 3, /:/, /^:/],
  [dimensions, 1, 5, /[,xхXХ×*]/, /^(?:,\d{1,3})? ?[xхXХ×*]/],
  [rooms, 1, 1, /-/, /^-к/],
  [minuteOfGame, 1, 3, /-/, /^-й мин/],
  [compound, 1, 4, /[,–-]/, /^(?:,5)?[-–]\p{Ll}/u],
  [percentAdjective, 1, 3, /[,.%]/, /^(?:[,.]\d+)? ?%-?[ноаыйгмяюех]/],
  [beforeOrdered, 1, 3, /\p{Ll}/u, /^ \p{Ll}/u],
  [kilometre, 1, 4, /[йгм-]/, /^-?[йгм]/],
  [storey, 1, 2, /\//, /^\/\d/],
  [schoolClass, 1, 2, /["«“„'А-Я]/, /^ ?["«“„']?[А-Я]/u],
  [yearsOfStudy, 1, 2, /[-–—]/, /^ ?[-–—] ?\d/],
  [postcode, 6, 6, /[,г]/, /^(?:,| г)/],
  [
    scientific(
      SPEECH,
      (number, negative, exponent) =>
        `${number} умножить на десять в ${negative ? 'минус ' : ''}${ordinal(exponent, 'prepositional', 'f')} степени`,
    ),
    1,
    6,
    /[eE.,]/,
    /^(?:[.,]\d{1,6})?[eE]/,
  ],
  [seconds, 1, 6, /[,с]/, /^(?:,\d{1,3})? ?с(?:[ .,;:!?)]|$)/],
  [angle, 1, 3, /[°º]/, /^[°º]/],
  [houseLetter, 1, 4, /[А-Я]/, /^ ?[А-Я]/],
  [namedMoney, 1, 9, /[,.\d]/, /^(?:[,.]\d| \d{3})/],
  [bareYears, 4, 4, /[-–—]/, /^ ?[-–—]/],
  [pointed, 1, 99, /[.,]/, /^[.,]\d/],
];
const LONGEST_BEHIND = 14; // units that decide whether to ask

const byNext = new Map<string, readonly Asked[]>();

/** Most numbers are nothing special: of the many only those that know the character behind the digits. */
function askedBefore(character: string): readonly Asked[] {
  let asked = byNext.get(character);
  if (asked === undefined) {
    asked = AT_DIGIT.filter(([, , , next]) => next.test(character));
    byNext.set(character, asked);
  }
  return asked;
}

function special(reading: Reading): ReturnType<Recogniser> {
  if (!reading.isFresh) return undefined;
  const { text, at, runEnd } = reading;
  const behind = text.slice(runEnd, runEnd + LONGEST_BEHIND);
  const digits = runEnd - at;
  const first = text[runEnd] === ' ' ? text[runEnd + 1] : text[runEnd];
  for (const [recognise, fewest, most, , expected] of askedBefore(first ?? '')) {
    if (digits < fewest || digits > most || !expected.test(behind)) continue;
    const found = recognise(reading);
    if (found !== undefined) return found;
  }
  return undefined;
}

const atDigit: readonly Recogniser[] = [special];
const atLetter: readonly Recogniser[] = [
  byFirstLetter([
    [/[im]/, processor(SPEECH, cardinal, (letters) => SPEECH.letters(letters)), /\d/],
    [/[vV]/, version, /[.\d]/],
    [/[A-Z]/, currencyPair(WRITING.currencies), /\//],
    [/[a-z]/, variable],
    [/[UGМM]/, zoneOffset, /[+−-]/],
    [/[A-Z]/, chemical, /[₀-₉]/],
    [/[а-яёh]/i, cyrillicDomain, /[.\d-]/],
    [/[яфмаисонд]/i, monthOfYear, /[.\d]/],
    [/[пвсч]/i, weekday],
    [/[IVXLCDMІХСМ]/, roman],
    [/[A-ZА-Я]/, flight, /[-\d]/],
    [/[A-ZА-Я]/, plate, /\d/],
    [/[А-Я]/, courtFile, /\d/],
    [/[A-ZА-Я]/, contract, /[-\d]/],
    [/[А-ЯЁ]/, initials, /\./],
    [/\p{Lu}/u, namedByNumber, /[-\d]/],
  ]),
];
const atMark: readonly Recogniser[] = [
  byMark([
    [/[⁻^]/, negative],
    [/[+−-]/, temperatures],
    [/\*/, serviceCode],
    [/-/, difference],
    [/[*•·]/, masked],
    [/[*#]/, phoneKey],
    [/[-−$€£¥₽]/, pointedMoney],
    [/\+/, plusBetween(' плюс ')],
    [/\//, perWord(PER)],
    [/\//, perLitre],
  ]),
];

export const RUSSIAN: Language = {
  tag: 'ru',
  writing: WRITING,
  speech: SPEECH,
  symbols: SYMBOLS,
  own: { atDigit, atLetter, atMark },
};
