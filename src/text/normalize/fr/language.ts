// Assembles French as spoken in France, and orders its own recognisers before the shared ones.
// It also reads hours (14 h 30, 24h/24, 7j/7) and months in figures (carte valable jusqu'au 03/28).
import { commitHash, currencyPair, letterPair } from '../shared-codes.js';
import type { Language } from '../language.js';
import type { Found, Reading } from '../reading.js';
import { behindDigits, betweenAmounts, byFirstLetter, byMark, expiry } from '../shared-forms.js';
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
import { of } from './grammar.js';
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
import { cardinal } from './numbers.js';
import {
  area,
  height,
  hoursAndPart,
  lawNumber,
  millions,
  relay,
  roundMillions,
  solid,
  timesPer,
  trunkZero,
} from './pairs.js';
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
import { kingOrChapter, romanOrdinal } from './roman.js';
import {
  abroad,
  american,
  andAHalf,
  attachedUnit,
  below,
  chemical,
  dates,
  days,
  dayTag,
  halfOf,
  longDurations,
  minutes,
  named,
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
import { SPEECH } from './speech.js';
import { SYMBOLS, WRITING } from './writing.js';

const MONTH = /(au|le|du) (0?[1-9]|1[0-2])\/((?:19|20)\d\d|\d\d)(?![\p{L}\d/-]|[.,]\d)/uy;
/** Behind these words two figures and two are a month and a year. */
const EXPIRING =
  /(?:expir\p{L}*|(?<!\p{L})exp\.?|validité|valable|valide|échéance|carte)[\p{L} :('’.°-]{0,24}$/iu;
const LONGEST_LEAD = 40; // units

function nameOf(reading: Reading, month: string, year: string): string | undefined {
  return SPEECH.date({ month: Number(month), year, style: 'name' }, reading.around(reading.at));
}

/** Jusqu'au 12/2025 is "jusqu'à décembre", expire le 12/26 "en décembre". */
function toMonth(reading: Reading): Found | undefined {
  const match = reading.match(MONTH);
  const [written = '', article, month = '', year = ''] = match ?? [];
  if (match === undefined || (year.length === 4 && month.length === 1)) return undefined;
  if (year.length === 2 && (Number(year) < 13 || !expires(reading))) return undefined;
  const name = nameOf(reading, month, year);
  if (name === undefined) return undefined;
  const spoken = article === 'du' ? of(name) : `${article === 'au' ? 'à' : 'en'} ${name}`;
  return { end: reading.at + written.length, spoken, rule: 'date' };
}

function expires({ text, at }: Reading): boolean {
  return EXPIRING.test(text.slice(Math.max(0, at - LONGEST_LEAD), at));
}

/** Exp. 12/26 */
const cardExpiry = expiry(EXPIRING, ({ month, year }, around) =>
  SPEECH.date({ month, year, style: 'name' }, around),
);

const HOUR = /(\d{1,2}) ?[hH](?: ?([0-5]\d))?(?! ?(?:min|mn|m)\b)(?! ?\d)(?![\p{L}\p{N}])/uy;
const TO = / ?[-–—] ?/y;
const BARE = /(\d{1,2})(?= ?[-–] ?\d{1,2} ?[hH])/y;
const ZONE = / \(?(UTC|GMT|TU|CET|CEST|EST|EDT|PST|PDT|JST)\)?(?![\p{L}\p{N}+-])/uy;
const OUT_OF = /(\d{1,2}) ?(?:([hH])|j(?:ours)?|J) ?(?:\/|sur) ?(\d{1,2})(?![\p{L}\p{N}])/uy;

interface HourAt {
  readonly spoken: string;
  readonly end: number;
}

/** One time or two; a bare "3 h" is a measure like any other. */
function hours(reading: Reading): Found | undefined {
  const { at, text } = reading;
  if (/[.,:/]/.test(text[at - 1] ?? '')) return undefined;
  const bare = reading.match(BARE);
  const from =
    hourAt(reading, at) ?? (bare && { spoken: cardinal(bare[1] ?? '', true), end: at + bare[0].length });
  if (from === undefined) return undefined;
  const dash = reading.match(TO, from.end);
  const to = dash && hourAt(reading, from.end + dash[0].length);
  const found = to === undefined ? from : { spoken: `${from.spoken} à ${to.spoken}`, end: to.end };
  if (to === undefined && bare !== undefined) return undefined;
  const zone = reading.match(ZONE, found.end);
  const name = zone && WRITING.times.zones[zone[1] ?? ''];
  if (zone === undefined || name === undefined) return { ...found, rule: 'time' };
  return { end: found.end + zone[0].length, spoken: `${found.spoken} ${name}`, rule: 'time' };
}

function hourAt(reading: Reading, at: number): HourAt | undefined {
  const match = reading.match(HOUR, at);
  if (match === undefined || Number(match[1]) > 24) return undefined;
  const end = at + match[0].length;
  const time = { hours: String(Number(match[1])), minutes: match[2] ?? '' };
  const spoken = SPEECH.time(time, reading.around(end));
  return spoken === undefined ? undefined : { spoken, end };
}

/** Vingt-quatre heures sur vingt-quatre, sept jours sur sept. */
function outOf(reading: Reading): Found | undefined {
  const match = reading.match(OUT_OF);
  if (match === undefined) return undefined;
  const [written, count = '', hour, all = ''] = match;
  const unit = hour === undefined ? 'jours' : 'heures';
  const spoken = `${cardinal(count)} ${unit} sur ${cardinal(all)}`;
  return { end: reading.at + written.length, spoken, rule: 'duration' };
}

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
const atDigit = [
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

const atLetter = [
  byFirstLetter([
    [/[A-Z]/, traded, /\//], [/[A-Z]/, letterPair(SPEECH), /\//], [/[NSEO]/, windward], [/[GELNDJRSCPQIMAHOT]/, verse, /[.\d]/], [/[acfv]/, lettersOfLaw],
    [/[A-Z]/, chemical, /[₀-₉]/], [/[ald]/, toMonth, /\d/], [/[dDqQ]/, elided, /1/], [/x/, timesEach, /\d/], [/[lmjvsd]/i, days, /[-–.aà]/i], [/[IVXLCDM]/, romanOrdinal], [/[IVXLC]/, kingOrChapter],
    [/[A-Z]/, accountNumber, /\d/], [/[A-Z]/, plate, /[-\d]/], [/\p{Lu}/u, versionedName, /-/], [/[JHD]/, dayOrHour, /[-+]/], [/\p{Lu}/u, namedByLetters, /[-\d]/],
  ]),
]; // prettier-ignore

const atMark = [
  byMark([
    [/[#*]/, keys], [/[-–]/, fewer], [/['’]/, decade], [/\(/, abroad], [/#/, dayTag], [/\(/, american], [/[<>≤≥≈]/, related],
    [/\+/, plus], [/[⁻^]/, below], [/\//, per], [/½/, andAHalf], [/½/, halfOf], [/\+/, trunkZero], [/[-−+]/, offset],
    [/[-−$€£¥]/, pointedMoney], [/\//, betweenAmounts],
  ]),
]; // prettier-ignore

export const FRENCH: Language = {
  tag: 'fr',
  writing: WRITING,
  speech: SPEECH,
  symbols: SYMBOLS,
  own: { atDigit, atLetter, atMark },
};
