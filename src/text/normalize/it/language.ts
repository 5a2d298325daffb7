// Assembles Italian as spoken in Italy, and orders its own recognisers before the shared ones.
import { commitHash, currencyPair, letterPair } from '../shared-codes.js';
import type { Language } from '../language.js';
import { behindDigits, betweenAmounts, byFirstLetter, byMark } from '../shared-forms.js';
import { bareRange, dottedTime, hourRange, length, offset, oneOclock } from './clock.js';
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
import { dateRange, shortDate, shortMonth, shortWeekday, shortWeeks, shortYear } from './dates.js';
import { bigMoney, billions, namedMoney, pointed, pointedMoney, rating } from './figures.js';
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
  edition,
  fewOf,
  gramsOf,
  greatWar,
  inches,
  keys,
  multiplied,
  ofPostcode,
  partOfInch,
  planes,
  portion,
  rate,
  scale,
  solid,
  timesPer,
  toMonth,
  verse,
  verseNumber,
  windward,
} from './phrases.js';
import { roman } from './roman.js';
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
import { SPEECH } from './speech.js';
import { SYMBOLS, WRITING } from './writing.js';

const ANY = /^/;
const traded = currencyPair({
  EUR: 'euro',
  USD: 'dollaro',
  GBP: 'sterlina',
  JPY: 'yen',
  CHF: 'franco svizzero',
  CNY: 'yuan',
  BTC: 'bitcoin',
});

/** By what stands behind the digits; the first that knows the token says it. */
const atDigit = [
  behindDigits([
    [/\//, cardExpiry], [/:/, scale], [/\//, partOfInch], [/[A-Z]/, verseNumber], [/\//, fewOf], [/\//, rate], [/-/, planes], [/-/, greatWar], [/[a-f]/, commitHash(SPEECH)], [/[-:]/, edition], [/\//, portion], [/[xX×,]/, solid], [/["'”″’,.]/, inches], [/[-\d]/, codeGroups], [/[a-z]/, multiplied],
    [/[/.]/, dates], [/[A-Z]/, named], [/h/, beforeHas],
    [/[-–/]/, dateRange], [/\//, season], [/h/, longDurations], [/["'’″”]/, secondsAnd], [/[-–]/, beforePostcode], [/[,KMGTPWV]/, attachedUnit],
    [/\./, billions], [/[,M]/, millions], [/\//, andAHalf], [/[.,:]/, dottedTime], [/[-–.:]/, bareRange], [/[h'’′]/, length], [/['’′]/, prime], [/s/, shortWeeks], [/[sa]/, shortMonth],
    [/\//, shortDate], [/\//, lawNumber], [/[-‑e]/, age], [/[,.kKMm\d]/, bigMoney], [/[½1e]/, andHalf], [/[-–]/, announcedScore], [/,/, rating],
    [/[\d,.'’]/, namedMoney], [/[\d.]/, roundMillions], [/\p{L}/u, oneElided], [/[cdlmnstv]/, uncounted], [/[x×]/, times], [/[,xX×]/, area], [/[-/btqs]/, houseNumber],
    [/[,\p{Lu}]/u, postcode], [ANY, fileNumber], [/[.,]/, pointed],
  ]),
]; // prettier-ignore

const atLetter = [
  byFirstLetter([
    [/C/, ofPostcode, /[.:\d]/], [/[A-Z]/, traded, /\//], [/[A-Z]/, letterPair(SPEECH), /\//], [/[NSEO]/, windward],
    [/[A-Z]/, chemical, /[₀-₉]/], [/[acdlps]/i, dottedForm, /\./], [/S/, saint, /\./], [/[aid]/, toMonth, /\d/], [/g/i, gramsOf, /[.\d]/], [/e/i, euroName, /\d/], [/[A-Z]/, taxCode, /\d/], [/[lmgvsd]/i, shortWeekday],
    [/o/i, hourRange, /\d/], [/[adls]/i, oneOclock, /[o01'’]/i], [/[IVXLCDM]/, roman], [/x/, timesPer, /\d/], [/x/i, by, /\d/], [/[GELNDSQIMACRFT]/, verse, /[.\d]/], [/\p{Lu}/u, versionedName, /-/], [/[A-Z]/, plate, /[-\d]/],
    [/\p{Lu}/u, namedByLetters, /[-\d]/],
  ]),
]; // prettier-ignore

const atMark = [
  byMark([
    [/[#*]/, keys], [/\(/, abroad], [/#/, dayTag], [/\+/, plus], [/[<>≤≥≈]/, related], [/[⁻^]/, below], [/\//, per],
    [/['’]/, shortYear], [/½/, andAHalf], [/[-−+]/, offset], [/[-−$€£¥]/, pointedMoney], [/\(/, province], [/\//, betweenAmounts],
  ]),
]; // prettier-ignore

export const ITALIAN: Language = {
  tag: 'it',
  writing: WRITING,
  speech: SPEECH,
  symbols: SYMBOLS,
  own: { atDigit, atLetter, atMark },
};
