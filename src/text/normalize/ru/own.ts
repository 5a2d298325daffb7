// Tokens that only Russian has, asked before the shared ones.
import type { Reading, Recogniser } from '../reading.js';
import { dayInFigures, dayInRow, monthOfYear, namedDay, shortDay, weekday } from './calendar.js';
import { dottedTime, hoursAndMinutes, oneOClock, span } from './clock.js';
import {
  article, cyrillicDomain, dimensions, houseLetter, ipAddress, masked, namedMoney, pages, phoneKey, stars, pointed, pointedMoney, postcode, ratio, seconds, temperatures,
} from './figures.js'; // prettier-ignore
import { flight, initials, namedByNumber } from './names.js';
import { beforeOrdered, compound, percentAdjective } from './ordinals.js';
import { roman } from './roman.js';
import { bareYears, season, year, yearInRow, years } from './years.js';

function fresh(recognise: Recogniser): Recogniser {
  return (reading: Reading) => (reading.isFresh ? recognise(reading) : undefined);
}

export const atDigit = [
  ipAddress, temperatures, article, pages, stars, dayInFigures, namedDay, dayInRow, shortDay, years, year, yearInRow, season, span, dottedTime, hoursAndMinutes, oneOClock, ratio, dimensions, compound, percentAdjective,
  beforeOrdered, postcode, seconds, houseLetter, namedMoney, bareYears, pointed,
].map(fresh); // prettier-ignore
export const atLetter = [cyrillicDomain, monthOfYear, weekday, roman, flight, initials, namedByNumber].map(
  fresh,
);
export const atMark = [temperatures, masked, phoneKey, pointedMoney];
