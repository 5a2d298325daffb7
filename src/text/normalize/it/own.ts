// Tokens that only Italian has, asked before the shared ones.
import type { Reading, Recogniser } from '../reading.js';
import { bareRange, dottedTime, hourRange, length, offset, oneOclock } from './clock.js';
import { dateRange, monthYear, shortDate, shortMonth, shortWeekdays, shortWeeks, shortYear } from './dates.js';
import { age, andAHalf, andHalf, announcedScore, area, attachedUnit, below, bigMoney, billions, by, chemical, longDurations, millions, namedMoney, oneElided, per, percentRange, plus, pointed, pointedMoney, prime, rating, related, roundMillions, season, secondsAnd, times, uncounted } from './figures.js';
import { beforePostcode, dottedForm, euroName, fileNumber, houseNumber, lawNumber, namedByLetters, plate, postcode, province, saint, taxCode, versionedName } from './names.js';
import { roman } from './roman.js';

function fresh(recognise: Recogniser): Recogniser {
  return (reading: Reading) => (reading.isFresh ? recognise(reading) : undefined);
}

export const atDigit = [dateRange, season, longDurations, secondsAnd, beforePostcode, percentRange, attachedUnit, billions, millions, andAHalf, dottedTime, bareRange, length, prime, shortWeeks, shortMonth, shortDate, lawNumber, monthYear, age, bigMoney, andHalf, announcedScore, rating, namedMoney, roundMillions, oneElided, uncounted,
  times, area, houseNumber, postcode, fileNumber, pointed].map(fresh); // prettier-ignore
export const atLetter = [chemical, dottedForm, saint, euroName, taxCode, shortWeekdays, hourRange, oneOclock, roman, by, versionedName, plate, namedByLetters].map(fresh);
export const atMark = [plus, related, below, per, shortYear, andAHalf, offset, pointedMoney, province];
