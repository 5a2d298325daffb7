// Tokens that only Italian has, asked before the shared ones.
import { behindDigits, byFirstLetter, byMark } from '../shared-forms.js';
import { bareRange, dottedTime, hourRange, length, offset, oneOclock } from './clock.js';
import { dateRange, shortDate, shortMonth, shortWeekday, shortWeeks, shortYear } from './dates.js';
import {
  age,
  andAHalf,
  andHalf,
  announcedScore,
  beforeHas,
  millions,
  oneElided,
  roundMillions,
  uncounted,
} from './counts.js';
import { bigMoney, billions, namedMoney, pointed, pointedMoney, rating } from './figures.js';
import {
  abroad,
  area,
  attachedUnit,
  below,
  by,
  chemical,
  dates,
  dayTag,
  longDurations,
  named,
  per,
  plus,
  prime,
  related,
  season,
  secondsAnd,
  times,
} from './signs.js';
import {
  beforePostcode,
  dottedForm,
  euroName,
  fileNumber,
  houseNumber,
  lawNumber,
  namedByLetters,
  plate,
  postcode,
  province,
  saint,
  taxCode,
  versionedName,
} from './names.js';
import {
  cardExpiry,
  codeGroups,
  inches,
  keys,
  multiplied,
  planes,
  portion,
  scale,
  solid,
  toMonth,
  fewOf,
  gramsOf,
  rate,
} from './phrases.js';
import { roman } from './roman.js';

const ANY = /^/;

/** By what stands behind the digits; the first that knows the token says it. */
export const atDigit = [
  behindDigits([
    [/\//, cardExpiry], [/:/, scale], [/\//, fewOf], [/\//, rate], [/-/, planes], [/\//, portion], [/[xX×,]/, solid], [/["'”″’,.]/, inches], [/[-\d]/, codeGroups], [/[a-z]/, multiplied],
    [/[/.]/, dates], [/[A-Z]/, named], [/h/, beforeHas],
    [/[-–/]/, dateRange], [/\//, season], [/h/, longDurations], [/["'’″”]/, secondsAnd], [/[-–]/, beforePostcode], [/[,KMGTPWV]/, attachedUnit],
    [/\./, billions], [/[,M]/, millions], [/\//, andAHalf], [/[.,:]/, dottedTime], [/[-–]/, bareRange], [/[h'’′]/, length], [/['’′]/, prime], [/s/, shortWeeks], [/[sa]/, shortMonth],
    [/\//, shortDate], [/\//, lawNumber], [/[-‑e]/, age], [/[,.kKMm\d]/, bigMoney], [/[½1e]/, andHalf], [/[-–]/, announcedScore], [/,/, rating],
    [/[\d,.'’]/, namedMoney], [/[\d.]/, roundMillions], [/\p{L}/u, oneElided], [/[cdlmnstv]/, uncounted], [/[x×]/, times], [/[,xX×]/, area], [/[-/btqs]/, houseNumber],
    [/[,\p{Lu}]/u, postcode], [ANY, fileNumber], [/[.,]/, pointed],
  ]),
]; // prettier-ignore

export const atLetter = [
  byFirstLetter([
    [/[A-Z]/, chemical, /[₀-₉]/], [/[acdlps]/i, dottedForm, /\./], [/S/, saint, /\./], [/[aid]/, toMonth, /\d/], [/g/i, gramsOf, /[.\d]/], [/e/i, euroName, /\d/], [/[A-Z]/, taxCode, /\d/], [/[lmgvsd]/i, shortWeekday],
    [/o/i, hourRange, /\d/], [/[adls]/i, oneOclock, /[o01]/i], [/[IVXLCDM]/, roman], [/x/i, by, /\d/], [/\p{Lu}/u, versionedName, /-/], [/[A-Z]/, plate, /[-\d]/], [/\p{Lu}/u, namedByLetters, /[-\d]/],
  ]),
]; // prettier-ignore

export const atMark = [
  byMark([
    [/[#*]/, keys], [/\(/, abroad], [/#/, dayTag], [/\+/, plus], [/[<>≤≥≈]/, related], [/[⁻^]/, below], [/\//, per],
    [/['’]/, shortYear], [/½/, andAHalf], [/[-−+]/, offset], [/[-−$€£¥]/, pointedMoney], [/\(/, province],
  ]),
]; // prettier-ignore
