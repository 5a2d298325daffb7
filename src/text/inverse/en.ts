// English as it is heard.
import type { Language } from '../normalize/language.js';
import { NOWHERE } from '../normalize/reading.js';
import { clock, hourAt, minutesAt } from './clock.js';
import { type Listening, words } from './listening.js';
import type { SpokenReading, Written } from './spoken-reading.js';

function ordinals(digits: string, { speech }: Language): readonly (readonly [string, string])[] {
  const mark = /1\d$/.test(digits) ? 'th' : (['th', 'st', 'nd', 'rd'][Number(digits.at(-1))] ?? 'th');
  const said = speech.ordinal(digits, NOWHERE, mark);
  return said === undefined ? [] : [[said, mark]];
}

// prettier-ignore
export const ENGLISH: Listening = {
  numbers: {
    ones: ['a'],
    others: { nought: 0, naught: 0 },
    and: 'and',
    hundred: { words: ['hundred'], most: 99 },
    hasBareScales: false,
    isCompound: false,
    ordinals,
  },
  elides: false,
  zeros: words('oh o zero nought'),
  repeats: { double: 2, triple: 3, treble: 3 },
  points: words('point'),
  minus: words('minus negative'),
  plus: words('plus'),
  rangeWords: words('to'),
  beforeRange: words('between from'),
  rangeEnds: words('to and'),
  withMinor: words('and'),
  closing: words(`
    a an and are as at be because been but by can did do does for from had has have he her his i if in is it my no not of off on or our per please she so
    than that the their them then there they this to until up was we were when where which while who will with without would you your plus minus each every
    today tomorrow tonight yesterday now here only total altogether thanks thank actually again too also just
  `),
  manyOf: words('times thanks'),
  groupMark: '-',
  telephone: () => undefined,
  money: { isSignFirst: true, countsArticle: false },
  space: { percent: '', degree: '' },
  units: {
    metre: 'm', metres: 'm', kilometre: 'km', kilometres: 'km', centimetre: 'cm', centimetres: 'cm', millimetre: 'mm', millimetres: 'mm', litre: 'l', litres: 'l',
    millilitre: 'ml', millilitres: 'ml', kilo: 'kg', kilos: 'kg', 'miles an hour': 'mph', 'kilometres per hour': 'km/h', 'kilometres an hour': 'km/h',
    'kilometers an hour': 'km/h', 'square metre': 'm²', 'square metres': 'm²', 'cubic metres': 'm³', 'degrees centigrade': '°C',
  },
  fillers: words("my the its it's is number code pin um uh er that's thats that please it and yes yeah okay ok so sure well would be"),
  addresses: {
    at: ['at'],
    signs: { hyphen: '-', minus: '-', 'forward slash': '/', underline: '_', 'under score': '_', period: '.', point: '.' },
    isAtInProse: true,
    isDotInProse: false,
    before: words("is it's its email address"),
    notLocal: words(`
      me us you him her them it one that this there here look looks looking is are was were be been find visit reach call meet see stay good bad great
      available online out up in on off over based live lives work works working arrive start starts open begin and or not all least last first once
      come go shop shops check sign log arrives website site page store office home people everyone anyone someone back stop stopped
    `),
    outside: words('the a an to my is at and or on for visit see go from it email mail address website site page of in with'),
  },
  spelling: {
    like: ['as in', 'for', 'like', 'is for', 'as'],
    letters: { 'double u': 'w', 'double you': 'w' },
    alphabet: words('alfa alpha bravo charlie delta echo foxtrot golf hotel india juliet juliett kilo lima mike november oscar papa quebec romeo sierra tango uniform victor whiskey whisky xray yankee zulu'),
    cues: words('name surname spelled spelt spell spelling called spells'),
    words: words('a i o'),
  },
};

const HALVES: Readonly<Record<string, string>> = { am: 'a.m.', pm: 'p.m.' };
const BEFORE_TIME = words('at by until till before after around from about between');
/** Before hours that could begin a year. */
const BEFORE_LATE_TIME = words('at until till from');
const BEFORE_MINUTES = words("at by until till before after around from since about it's its is");
const PAST = words('past after');
const TO = words('to till before');
const PARTS: Readonly<Record<string, number>> = { half: 30, quarter: 15 };
const O_CLOCK = words("o'clock oclock");
const MINUTES = words('minutes minute');
const OF_DAY = words('morning afternoon evening');

interface Half {
  /** With the space before it; '' if none is said. */
  readonly text: string;
  readonly end: number;
}

/** A.m., pm, "p m" */
function halfAt(reading: SpokenReading, at: number): Half {
  if (!reading.isJoined(at)) return { text: '', end: at };
  const key = reading.key(at);
  const isParted = reading.key(at + 1) === 'm' && reading.isJoined(at + 1);
  const half = HALVES[isParted ? `${key}m` : key];
  return half === undefined ? { text: '', end: at } : { text: ` ${half}`, end: at + (isParted ? 2 : 1) };
}

export function englishTime(reading: SpokenReading, at: number): Written | undefined {
  return besideHour(reading, at) ?? onClock(reading, at);
}

/** Half past three, a quarter to five pm, ten past four. */
function besideHour(reading: SpokenReading, at: number): Written | undefined {
  const part = partAt(reading, at);
  if (part === undefined || !reading.isJoined(part.end)) return undefined;
  const isPast = PAST.has(reading.key(part.end));
  if (!isPast && !TO.has(reading.key(part.end))) return undefined;
  const hour = reading.isJoined(part.end + 1) ? hourAt(reading, part.end + 1, 12) : undefined;
  if (hour === undefined || hour.value === 0) return undefined;
  const half = halfAt(reading, hour.end);
  const isSure = part.isSure || isPast || half.text !== '' || BEFORE_MINUTES.has(reading.key(at - 1));
  if (!isSure || (part.value === 30 && !isPast)) return undefined;
  const time = clock(hour.value, isPast ? part.value : -part.value, ':');
  return { end: half.end, text: time + half.text, rule: 'time' };
}

function partAt(
  reading: SpokenReading,
  at: number,
): { readonly value: number; readonly end: number; readonly isSure: boolean } | undefined {
  const from = reading.key(at) === 'a' ? at + 1 : at;
  const named = PARTS[reading.key(from)];
  if (named !== undefined) return { value: named, end: from + 1, isSure: true };
  const minutes = reading.number(at);
  if (minutes === undefined || minutes.isArticle || minutes.value === 0 || minutes.value > 29)
    return undefined;
  const isCounted = reading.isNext(minutes.end, MINUTES);
  if (!isCounted && minutes.value % 5 !== 0) return undefined;
  return { value: minutes.value, end: minutes.end + (isCounted ? 1 : 0), isSure: isCounted };
}

/** Three o'clock, three thirty pm, at three fifteen, five p.m. */
function onClock(reading: SpokenReading, at: number): Written | undefined {
  const hour = hourAt(reading, at, 24);
  if (hour === undefined) return undefined;
  if (reading.isNext(hour.end, O_CLOCK)) {
    const half = halfAt(reading, hour.end + 1);
    return { end: half.end, text: clock(hour.value, 0, ':') + half.text, rule: 'time' };
  }
  const minutes = minutesAt(reading, hour.end);
  const half = halfAt(reading, minutes?.end ?? hour.end);
  if (half.text !== '') {
    if (hour.value === 0 || hour.value > 12) return undefined;
    const time = minutes === undefined ? String(hour.value) : clock(hour.value, minutes.value, ':');
    return { end: half.end, text: time + half.text, rule: 'time' };
  }
  const before = hour.value > 12 ? BEFORE_LATE_TIME : BEFORE_TIME;
  if (minutes === undefined) return undefined;
  const isOfDay = hour.value > 0 && hour.value <= 12 && isPartOfDay(reading, minutes.end);
  if (!isOfDay && !before.has(reading.key(at - 1))) return undefined;
  if (!reading.isClosed(minutes.end)) return undefined;
  return { end: minutes.end, text: clock(hour.value, minutes.value, ':'), rule: 'time' };
}

/** In the evening, at night */
function isPartOfDay(reading: SpokenReading, at: number): boolean {
  if (reading.key(at) === 'at') return reading.key(at + 1) === 'night';
  return reading.key(at) === 'in' && reading.key(at + 1) === 'the' && OF_DAY.has(reading.key(at + 2));
}

interface Year {
  readonly value: number;
  readonly end: number;
  readonly isPair: boolean;
}

/** Twenty twenty-six, nineteen oh five, two thousand and five. */
function yearAt(reading: SpokenReading, at: number): Year | undefined {
  const first = reading.number(at);
  if (first === undefined || first.isArticle) return undefined;
  if (first.value >= 1000 && first.value < 2100) return { value: first.value, end: first.end, isPair: false };
  if (first.value < 11 || first.value > 20) return undefined;
  const rest = minutesOfCentury(reading, first.end);
  return rest && { value: first.value * 100 + rest.value, end: rest.end, isPair: true };
}

function minutesOfCentury(reading: SpokenReading, at: number): { value: number; end: number } | undefined {
  const number = reading.listening.zeros.has(reading.key(at)) ? undefined : reading.nextNumber(at);
  if (number === undefined) return minutesAt(reading, at);
  return number.value > 9 && number.value < 100 && !number.isArticle
    ? { value: number.value, end: number.end }
    : undefined;
}

const SURE_CENTURY = 1800;

/** A year of two pairs; that it is one is sure from 1800 on, or behind "in" and the like. */
export function englishYear(reading: SpokenReading, at: number): Written | undefined {
  const year = yearAt(reading, at);
  if (year === undefined || !year.isPair) return undefined;
  const before = reading.tokens[at - 1]?.text.toLowerCase() ?? '';
  if (year.value < SURE_CENTURY && !reading.language.writing.yearAfter.has(before)) return undefined;
  return reading.nextNumber(year.end) === undefined
    ? { end: year.end, text: String(year.value), rule: 'year' }
    : undefined;
}

const VERBS = words('may march');
const BEFORE_DATE = words('on by since until till before after from of the around');
const LAST_DAY = 31;

/** The third of March twenty twenty-six, March third, May nineteen ninety. */
export function englishDate(reading: SpokenReading, at: number): Written | undefined {
  return dayFirst(reading, at) ?? monthFirst(reading, at);
}

function dayFirst(reading: SpokenReading, at: number): Written | undefined {
  const isNamed = reading.key(at) === 'the' && reading.isJoined(at + 1);
  const day = reading.ordinal(isNamed ? at + 1 : at);
  if (day === undefined || day.value > LAST_DAY || !reading.isJoined(day.end)) return undefined;
  const isOf = reading.key(day.end) === 'of';
  const month = reading.month(isOf ? day.end + 1 : day.end);
  if (month === undefined || (!isOf && VERBS.has(reading.key(day.end)))) return undefined;
  const year = yearBehind(reading, month.end);
  const text = `${day.value} ${reading.monthName(month.value)}`;
  return dated(text, ' ', month.end, year);
}

function monthFirst(reading: SpokenReading, at: number): Written | undefined {
  const month = reading.month(at);
  if (month === undefined) return undefined;
  const name = reading.monthName(month.value);
  const isNamed = reading.isNext(month.end, words('the'));
  const day = reading.isJoined(month.end) ? reading.ordinal(isNamed ? month.end + 1 : month.end) : undefined;
  if (day === undefined || day.value > LAST_DAY) {
    const year = reading.isJoined(month.end) ? yearAt(reading, month.end) : undefined;
    return year && dated(name, ' ', month.end, year);
  }
  const year = yearBehind(reading, day.end);
  const isVerb = VERBS.has(reading.key(at)) && !BEFORE_DATE.has(reading.key(at - 1)) && year === undefined;
  const isCapital = /^\p{Lu}/u.test(reading.tokens[at]?.text ?? '');
  if (isVerb && !(isCapital && reading.isClosed(day.end))) return undefined;
  return dated(`${name} ${day.value}`, ', ', day.end, year);
}

function yearBehind(reading: SpokenReading, at: number): Year | undefined {
  const gap = reading.tokens[at]?.gap;
  return gap === 'plain' || gap === 'comma' ? yearAt(reading, at) : undefined;
}

function dated(text: string, between: string, end: number, year: Year | undefined): Written {
  return {
    end: year?.end ?? end,
    text: year === undefined ? text : text + between + String(year.value),
    rule: 'date',
  };
}
