// Tokens that only French has, asked before the shared ones.
import type { Reading, Recogniser } from '../reading.js';
import { hours, outOf } from './hours.js';
import { accountNumber, dayOrHour, fileNumber, namedByLetters, offset, versionedName } from './names.js';
import { andHalf, announcedScore, bigMoney, dottedTelephone, houseNumber, namedMoney, pointed, pointedMoney, rating, shortDate, uncounted } from './figures.js';
import { area, height, lawNumber, millions, roundMillions, timesPer, trunkZero } from './pairs.js';
import { kingOrChapter, romanOrdinal } from './roman.js';

function fresh(recognise: Recogniser): Recogniser {
  return (reading: Reading) => (reading.isFresh ? recognise(reading) : undefined);
}

export const atDigit = [dottedTelephone, height, timesPer, millions, roundMillions, area, lawNumber, outOf, hours, bigMoney, andHalf, announcedScore, shortDate, rating, namedMoney, houseNumber, fileNumber, uncounted, pointed].map(fresh);
export const atLetter = [romanOrdinal, kingOrChapter, accountNumber, versionedName, dayOrHour, namedByLetters].map(fresh);
export const atMark = [trunkZero, offset, pointedMoney];
