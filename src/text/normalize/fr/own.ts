// Tokens that only French has, asked before the shared ones.
import { currencyPair } from '../currency-pairs.js';
import { commitHash, letterPair } from '../shared-codes.js';
import { behindDigits, betweenAmounts, byFirstLetter, byMark } from '../shared-forms.js';
import { hours, outOf } from './hours.js';
import {
  appeal,
  bare,
  decade,
  edition,
  elided,
  fewer,
  fewOf,
  firstOfMonth,
  greatWar,
  inches,
  keyed,
  keys,
  lastDigits,
  lettersOfLaw,
  multiplied,
  partOfInch,
  planes,
  portion,
  rate,
  shortNumber,
  timesEach,
  verse,
  verseNumber,
  windward,
} from './phrases.js';
import { SPEECH } from './speech.js';
import {
  accountNumber,
  dayOrHour,
  fileNumber,
  insuranceNumber,
  namedByLetters,
  offset,
  plate,
  versionedName,
} from './names.js';
import {
  andHalf,
  announcedScore,
  bigMoney,
  dottedTelephone,
  euroBetween,
  houseNumber,
  namedMoney,
  pointed,
  pointedMoney,
  rating,
  shortDate,
  uncounted,
} from './figures.js';
import { cardExpiry, toMonth } from './months.js';
import {
  area,
  height,
  hoursAndPart,
  relay,
  solid,
  lawNumber,
  millions,
  roundMillions,
  timesPer,
  trunkZero,
} from './pairs.js';
import { kingOrChapter, romanOrdinal } from './roman.js';
import {
  abroad,
  american,
  andAHalf,
  attachedUnit,
  below,
  chemical,
  dates,
  dayTag,
  days,
  halfOf,
  longDurations,
  named,
  minutes,
  part,
  per,
  place,
  plus,
  prime,
  related,
  season,
  secondsAnd,
  times,
} from './signs.js';

const ANY = /^/;
const traded = currencyPair({
  EUR: 'euro',
  USD: 'dollar',
  GBP: 'livre',
  JPY: 'yen',
  CHF: 'franc suisse',
  CNY: 'yuan',
  BTC: 'bitcoin',
});

/** By what stands behind the digits; the first that knows the token says it. */
export const atDigit = [
  behindDigits([
    [/\//, cardExpiry], [/\//, partOfInch], [/[A-Z]/, verseNumber], [/\//, fewOf], [/\//, rate], [/\//, portion], [/["'”″’,]/, inches], [/-/, greatWar], [/-/, planes], [/[-:]/, edition], [/e/, firstOfMonth], [/[a-z]/, multiplied], [ANY, shortNumber], [/[-\d]/, keyed], [ANY, lastDigits], [/[a-f]/, commitHash(SPEECH)], [/-/, appeal], [/,/, bare],
    [/[/.]/, dates], [/[A-Z]/, named], [/€/, euroBetween], [/\d/, insuranceNumber],
    [/[-.)\d]/, american], [/\./, dottedTelephone], [/h/, longDurations], [/["'’″”]/, secondsAnd], [/°/, place], [/[m'’′]/, minutes], [/['’′]/, prime],
    [/[x×]/, times], [/\//, season], [/\//, part], [/\//, andAHalf], [/\//, halfOf], [/[,KMGTWV]/, attachedUnit], [/m/, height], [/[xf]/, timesPer],
    [/[,M]/, millions], [/[\d.]/, roundMillions], [/[x×]/, relay], [/[xX×,]/, solid], [/h/, hoursAndPart], [/[x×]/, area], [/[-/]/, lawNumber], [/[hHjJ/s]/, outOf], [/[-–—hH]/, hours], [/[,.kKM\d]/, bigMoney],
    [/[½1]/, andHalf], [/[-–]/, announcedScore], [/\//, shortDate], [/,/, rating], [/[\d,.]/, namedMoney], [/[btq]/, houseNumber],
    [ANY, fileNumber], [/[cdjlmnst]/, uncounted], [/[.,]/, pointed],
  ]),
]; // prettier-ignore

export const atLetter = [
  byFirstLetter([
    [/[A-Z]/, traded, /\//], [/[A-Z]/, letterPair(SPEECH), /\//], [/[NSEO]/, windward], [/[GELNDJRSCPQIMAHOT]/, verse, /[.\d]/], [/[acfv]/, lettersOfLaw],
    [/[A-Z]/, chemical, /[₀-₉]/], [/[ald]/, toMonth, /\d/], [/[dDqQ]/, elided, /1/], [/x/, timesEach, /\d/], [/[lmjvsd]/i, days, /[-–.aà]/i], [/[IVXLCDM]/, romanOrdinal], [/[IVXLC]/, kingOrChapter],
    [/[A-Z]/, accountNumber, /\d/], [/[A-Z]/, plate, /[-\d]/], [/\p{Lu}/u, versionedName, /-/], [/[JHD]/, dayOrHour, /[-+]/], [/\p{Lu}/u, namedByLetters, /[-\d]/],
  ]),
]; // prettier-ignore

export const atMark = [
  byMark([
    [/[#*]/, keys], [/[-–]/, fewer], [/['’]/, decade], [/\(/, abroad], [/#/, dayTag], [/\(/, american], [/[<>≤≥≈]/, related],
    [/\+/, plus], [/[⁻^]/, below], [/\//, per], [/½/, andAHalf], [/½/, halfOf], [/\+/, trunkZero], [/[-−+]/, offset],
    [/[-−$€£¥]/, pointedMoney], [/\//, betweenAmounts],
  ]),
]; // prettier-ignore
