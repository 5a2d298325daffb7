// Tokens that only Russian has, asked before the shared ones.
import type { Reading, Recogniser } from '../reading.js';
import { dayInFigures, dayInRow, monthOfYear, namedDay, shortDay, weekday } from './calendar.js';
import { dottedTime, hoursAndMinutes, oneOClock, span } from './clock.js';
import {
  dimensions,
  houseLetter,
  ipAddress,
  namedMoney,
  pointed,
  pointedMoney,
  postcode,
  ratio,
  seconds,
} from './figures.js';
import { flight, initials, namedByNumber } from './names.js';
import { beforeOrdered, compound, percentAdjective } from './ordinals.js';
import { roman } from './roman.js';
import { bareYears, year, yearInRow, years } from './years.js';

function fresh(recognise: Recogniser): Recogniser {
  return (reading: Reading) => (reading.isFresh ? recognise(reading) : undefined);
}

export const atDigit = [
  ipAddress, dayInFigures, namedDay, dayInRow, shortDay, years, year, yearInRow, span, dottedTime, hoursAndMinutes, oneOClock, ratio, dimensions, compound, percentAdjective,
  beforeOrdered, postcode, seconds, houseLetter, namedMoney, bareYears, pointed,
].map(fresh); // prettier-ignore
export const atLetter = [monthOfYear, weekday, roman, flight, initials, namedByNumber].map(fresh);
export const atMark = [pointedMoney];
