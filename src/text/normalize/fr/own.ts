// Tokens that only French has, asked before the shared ones.
import type { Reading, Recogniser } from '../reading.js';
import { hours, outOf } from './hours.js';
import { accountNumber, dayOrHour, fileNumber, namedByLetters, offset, versionedName } from './names.js';
import { andHalf, announcedScore, bigMoney, dottedTelephone, houseNumber, monthYear, namedMoney, pointed, pointedMoney, rating, shortDate, uncounted } from './figures.js';
import { area, height, lawNumber, millions, roundMillions, timesPer, trunkZero } from './pairs.js';
import { kingOrChapter, romanOrdinal } from './roman.js';
import { american, andAHalf, attachedUnit, below, chemical, days, halfOf, longDurations, minutes, part, per, percents, place, plus, related, season, secondsAnd, times, toMonth } from './signs.js';

function fresh(recognise: Recogniser): Recogniser {
  return (reading: Reading) => (reading.isFresh ? recognise(reading) : undefined);
}

export const atDigit = [american, dottedTelephone, season, percents, longDurations, secondsAnd, place, minutes, times, part, andAHalf, halfOf, attachedUnit, height, timesPer, millions, roundMillions, area, lawNumber, outOf, hours, bigMoney, andHalf, announcedScore, monthYear, shortDate, rating, namedMoney, houseNumber, fileNumber, uncounted, pointed].map(fresh);
export const atLetter = [chemical, toMonth, days, romanOrdinal, kingOrChapter, accountNumber, versionedName, dayOrHour, namedByLetters].map(fresh);
export const atMark = [american, related, plus, below, per, andAHalf, halfOf, trunkZero, offset, pointedMoney];
