// German as it is heard.
import type { Language } from '../normalize/language.js';
import { Around } from '../normalize/reading.js';
import { clock, hourAt, minutesAt } from './clock.js';
import { yearOfNumber } from './dates.js';
import { type Listening, words } from './listening.js';
import type { SpokenReading, Written } from './spoken-reading.js';

const ENDINGS = ['e', 'en', 'er', 'es', 'em'];

/** Its ending is that of the noun behind it: here, of none that is heard. */
function ordinals(digits: string, { speech }: Language): readonly (readonly [string, string])[] {
  const text = `der ${digits}. Tag`;
  const said = speech.ordinal(digits, new Around(text, 4, 5 + digits.length), '.');
  return said === undefined ? [] : ENDINGS.map((ending) => [said.replace(/e[nrsm]?$/, '') + ending, '.']);
}

// prettier-ignore
export const GERMAN: Listening = {
  numbers: {
    ones: ['ein', 'eine', 'einen', 'einem', 'einer'],
    others: { zwo: 2 },
    and: 'und',
    hundred: { words: ['hundert'], most: 99 },
    hasBareScales: true,
    isCompound: true,
    ordinals,
  },
  elides: false,
  zeros: words('null'),
  repeats: { doppel: 2, doppelt: 2, dreifach: 3 },
  points: words('komma'),
  minus: words('minus'),
  plus: words('plus'),
  rangeWords: words('bis'),
  beforeRange: words('zwischen von'),
  rangeEnds: words('bis und'),
  withMinor: words('und'),
  closing: words(`
    und oder aber am an auf aus bei bis bitte da dann das dass dem den denn der des die doch du er es fur hat ich im in ins ist ja kostet mehr mit nach
    nicht noch nur ob oder pro so sie sind sofort uber um vom von vor war was weil wenn wie wir wird zu zum zur zusammen insgesamt heute morgen jetzt weniger
    gezahlt bezahlt ausgegeben gekostet uberweisen zahlen bezahlen danke
  `),
  manyOf: words('mal dank'),
  groupMark: ' ',
  telephone: () => undefined,
  money: { isSignFirst: false, countsArticle: true },
  space: { percent: ' ', degree: ' ' },
  units: { Kilo: 'kg', Stundenkilometer: 'km/h', Kilometern: 'km', Metern: 'm', Zentimetern: 'cm', Litern: 'l' },
  fillers: words('meine mein die der das ist lautet nummer pin code ah ahm also es und bitte ja ich habe'),
  addresses: {
    at: ['at', 'ät', 'Klammeraffe', 'Affenschwanz'],
    signs: { minus: '-', strich: '-', slash: '/', dot: '.', unterstrich: '_', 'hoher Punkt': '.' },
    isAtInProse: false,
    isDotInProse: true,
    before: words('ist lautet adresse mail'),
    notLocal: new Set(),
    outside: words('der die das den dem ein eine einen zum am auf ist und oder unter adresse mail seite mein meine'),
  },
  spelling: {
    like: ['wie'],
    letters: { ypsilon: 'y', eszett: 'ß', 'scharfes s': 'ß' },
    alphabet: words(`
      anton casar dora emil friedrich gustav heinrich ida julius konrad kaufmann ludwig martha nordpol otto paula quelle richard samuel siegfried theodor
      ulrich viktor wilhelm xanthippe xaver zacharias zeppelin
      alfa alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar papa quebec romeo sierra tango uniform victor whiskey xray yankee zulu
    `),
    cues: words('name nachname vorname heisse buchstabiere buchstabiert geschrieben'),
    words: new Set(),
  },
};

const BEFORE_TIME = words('um gegen ab bis vor nach von seit zwischen kurz ca circa etwa so');
const HALF = words('halb');
const QUARTER = words('viertel');
const UHR = words('uhr');
const DIRECTIONS: Readonly<Record<string, 1 | -1>> = { nach: 1, vor: -1 };

interface Clock {
  readonly hour: number;
  readonly minutes: number;
  readonly end: number;
}

export function germanTime(reading: SpokenReading, at: number): Written | undefined {
  const found = besideHour(reading, at) ?? halfAt(reading, at) ?? threeQuarters(reading, at);
  if (found === undefined) return onClock(reading, at);
  const { hour, minutes, end } = found;
  const isNamed = reading.isNext(end, UHR);
  return { end: end + (isNamed ? 1 : 0), text: `${clock(hour, minutes, ':')} Uhr`, rule: 'time' };
}

/** Viertel nach drei, fünf vor halb vier, zehn nach vier. */
function besideHour(reading: SpokenReading, at: number): Clock | undefined {
  const part = partAt(reading, at);
  if (part === undefined || !reading.isJoined(part.end)) return undefined;
  const direction = DIRECTIONS[reading.key(part.end)];
  if (direction === undefined) return undefined;
  const half = reading.isJoined(part.end + 1) ? halfAt(reading, part.end + 1) : undefined;
  if (half !== undefined) return { ...half, ...moved(half, direction * part.value) };
  const hour = reading.isJoined(part.end + 1) ? hourAt(reading, part.end + 1, 24) : undefined;
  if (hour === undefined) return undefined;
  const isTime = hour.value <= 12 && reading.isClosed(hour.end); // zehn vor acht
  const isSure =
    isTime || part.isQuarter || BEFORE_TIME.has(reading.key(at - 1)) || reading.isNext(hour.end, UHR);
  return isSure ? { hour: hour.value, minutes: direction * part.value, end: hour.end } : undefined;
}

/** Five past half past three; all within the hour of the half. */
function moved({ hour, minutes }: Clock, by: number): { readonly hour: number; readonly minutes: number } {
  return { hour, minutes: minutes + by };
}

function partAt(
  reading: SpokenReading,
  at: number,
): { readonly value: number; readonly end: number; readonly isQuarter: boolean } | undefined {
  if (QUARTER.has(reading.key(at))) return { value: 15, end: at + 1, isQuarter: true };
  const found = reading.number(at);
  if (found === undefined || found.isArticle || found.value === 0 || found.value > 29) return undefined;
  const isCounted = reading.isNext(found.end, words('minuten'));
  if (!isCounted && found.value % 5 !== 0) return undefined;
  return { value: found.value, end: found.end + (isCounted ? 1 : 0), isQuarter: false };
}

/** Halb vier is half past three. */
function halfAt(reading: SpokenReading, at: number): Clock | undefined {
  if (!HALF.has(reading.key(at)) || !reading.isJoined(at + 1)) return undefined;
  const hour = hourAt(reading, at + 1, 12);
  return hour && { hour: hourBefore(hour.value), minutes: 30, end: hour.end };
}

function threeQuarters(reading: SpokenReading, at: number): Clock | undefined {
  const isParted = reading.number(at)?.value === 3 && reading.isNext(at + 1, QUARTER);
  if (!isParted && reading.key(at) !== 'dreiviertel') return undefined;
  const from = isParted ? at + 2 : at + 1;
  const hour = reading.isJoined(from) ? hourAt(reading, from, 12) : undefined;
  return hour && { hour: hourBefore(hour.value), minutes: 45, end: hour.end };
}

function hourBefore(hour: number): number {
  return hour <= 1 ? 12 : hour - 1;
}

/** Drei Uhr fünfzehn, fünfzehn Uhr. */
function onClock(reading: SpokenReading, at: number): Written | undefined {
  const hour = hourAt(reading, at, 24, true);
  if (hour === undefined || !reading.isNext(hour.end, UHR)) return undefined;
  const minutes = minutesAt(reading, hour.end + 1, 1);
  if (minutes === undefined) return { end: hour.end + 1, text: `${hour.value} Uhr`, rule: 'time' };
  return { end: minutes.end, text: `${clock(hour.value, minutes.value, ':')} Uhr`, rule: 'time' };
}

const LAST_DAY = 31;
const MONTHS = 12;

/** Am dritten März zweitausendsechsundzwanzig, am dritten dritten, im Mai neunzehnhundertneunzig. */
export function germanDate(reading: SpokenReading, at: number): Written | undefined {
  const day = reading.ordinal(at);
  if (day === undefined || day.value > LAST_DAY || !reading.isJoined(day.end))
    return monthOfYear(reading, at);
  const month = reading.month(day.end);
  const numbered = month === undefined ? reading.ordinal(day.end) : undefined;
  if (month === undefined && (numbered === undefined || numbered.value > MONTHS)) return undefined;
  const end = month?.end ?? numbered?.end ?? day.end;
  const year = reading.isJoined(end) ? yearOfNumber(reading, end) : undefined;
  const name = month === undefined ? `${numbered?.value}.` : ` ${reading.monthName(month.value)}`;
  const space = month === undefined ? '' : ' ';
  const text = `${day.value}.${name}${year === undefined ? '' : `${space}${year.value}`}`;
  return { end: year?.end ?? end, text, rule: 'date' };
}

function monthOfYear(reading: SpokenReading, at: number): Written | undefined {
  const month = reading.month(at);
  const year = month && reading.isJoined(month.end) ? yearOfNumber(reading, month.end) : undefined;
  return (
    month && year && { end: year.end, text: `${reading.monthName(month.value)} ${year.value}`, rule: 'date' }
  );
}
