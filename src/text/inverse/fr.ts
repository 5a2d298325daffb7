// French as it is heard.
import type { Language } from '../normalize/language.js';
import { NOWHERE } from '../normalize/reading.js';
import { clock, hourAt, minutesAt } from './clock.js';
import { cardinalDate } from './dates.js';
import { type Listening, words } from './listening.js';
import type { SpokenReading, Written } from './spoken-reading.js';

function ordinals(digits: string, { speech }: Language): readonly (readonly [string, string])[] {
  const mark = digits === '1' ? 'er' : 'e';
  const said = speech.ordinal(digits, NOWHERE, mark);
  return said === undefined ? [] : [[said, mark]];
}

/** Without the s of the end, as in years and before scale words: quatre-vingt, deux cent. */
function withoutPlural(): Readonly<Record<string, number>> {
  const hundreds = 'deux trois quatre cinq six sept huit neuf'.split(' ');
  const entries = hundreds.map((word, index): [string, number] => [`${word} cent`, (index + 2) * 100]);
  const eighties = [['cent', 100], ...entries].map(([word, value]): [string, number] => [
    `${word} quatre-vingt`,
    Number(value) + 80,
  ]);
  return Object.fromEntries([...entries, ['quatre-vingt', 80], ...eighties]);
}

/** Numbers of Belgium and Switzerland: septante-deux, huitante et un, nonante-neuf. */
function regional(): Readonly<Record<string, number>> {
  const units = ' un deux trois quatre cinq six sept huit neuf'.split(' ');
  const tens: Readonly<Record<string, number>> = { septante: 70, huitante: 80, octante: 80, nonante: 90 };
  const entries = Object.entries(tens).flatMap(([word, value]) =>
    units.map((unit, index): [string, number] => [
      `${word} ${index === 1 ? 'et ' : ''}${unit}`.trim(),
      value + index,
    ]),
  );
  return Object.fromEntries(entries);
}

// prettier-ignore
export const FRENCH: Listening = {
  numbers: {
    ones: ['un', 'une'],
    others: { ...regional(), ...withoutPlural() },
    and: undefined,
    hundred: { words: ['cent', 'cents'], most: 19 },
    hasBareScales: true,
    isCompound: false,
    ordinals,
  },
  elides: true,
  zeros: words('zero'),
  repeats: { double: 2, triple: 3 },
  points: words('virgule'),
  minus: words('moins'),
  plus: words('plus'),
  rangeWords: words('a'),
  beforeRange: words('entre de'),
  rangeEnds: words('a et'),
  withMinor: words('et'),
  closing: words(`
    et ou mais a au aux avec c ce cela chez comme d dans de depuis des donc du elle en est et etait il ils j je jusque l la le les ma mais mes mon ne nous on
    par parce pas plus pour puis qu quand que qui s sa sans ses si son sur tous tout toute une un voila votre vous y environ s'il merci seulement chacun chacune
    aujourd'hui demain hier maintenant ici moins
  `),
  manyOf: words('mercis merci fois excuses pardons'),
  groupMark: ' ',
  telephone: (digits) => (/^0[1-9]\d{8}$/.test(digits) ? digits.replace(/(?<=^(?:\d\d)+)(?=\d)/g, ' ') : undefined),
  money: { isSignFirst: false, countsArticle: true },
  space: { percent: ' ', degree: ' ' },
  units: { kilo: 'kg', kilos: 'kg', 'kilomètre heure': 'km/h', 'kilomètres heure': 'km/h', 'kilomètres à l heure': 'km/h' },
  fillers: words('mon ma le la l est c numero code pin euh alors et s il vous plait'),
  addresses: {
    at: ['arobase', 'arrobase', 'at', 'chez'],
    signs: { underscore: '_', 'barre oblique': '/', "trait d'union": '-', dot: '.', moins: '-' },
    isAtInProse: false,
    isDotInProse: true,
    before: words('est c adresse mail'),
    notLocal: new Set(),
    outside: words('le la les l un une des du de ce cet cette mon ma est c et ou au sur a site adresse mail courriel en'),
  },
  spelling: {
    like: ['comme'],
    letters: { 'double v': 'w', 'i grec': 'y', 'deux l': 'll', 'deux m': 'mm', 'deux n': 'nn', 'deux p': 'pp', 'deux r': 'rr', 'deux s': 'ss', 'deux t': 'tt', 'deux f': 'ff', 'deux c': 'cc', 'deux e': 'ee' },
    alphabet: words('alfa alpha bravo charlie delta echo foxtrot golf hotel india juliet juliett kilo lima mike november oscar papa quebec romeo sierra tango uniform victor whiskey xray yankee zulu'),
    cues: words('nom prenom appelle epelle epele epeler ecrit'),
    words: words('a y l d j c s m t n o'),
  },
};

const HOUR = words('heure heures');
const DEMIE = words('demie demi');
const QUART = words('quart');
const ET = words('et');
const MOINS = words('moins');
const ARTICLE = words('le');
const OF_DAY = words('matin soir');
const NAMED: Readonly<Record<string, number>> = { midi: 12, minuit: 0 };
/** Before an hour they say that it is no duration. */
const BEFORE_TIME = words('a vers des jusque avant apres entre pour');

export function frenchTime(reading: SpokenReading, at: number): Written | undefined {
  const named = NAMED[reading.key(at)];
  const counted = named === undefined ? hourAt(reading, at, 24, true) : undefined;
  if (named === undefined && (counted === undefined || !reading.isNext(counted.end, HOUR))) return undefined;
  const hour = named ?? counted?.value ?? 0;
  const end = named === undefined ? (counted?.end ?? at) + 1 : at + 1;
  const minutes = minutesBehind(reading, end, named === undefined);
  if (minutes !== undefined) {
    return { end: minutes.end, text: clock(hour, minutes.value, ' h ', 24), rule: 'time' };
  }
  const isStated =
    BEFORE_TIME.has(reading.key(at - 1)) || isFrom(reading, at, end) || isPartOfDay(reading, end);
  const isTime = named === undefined && isStated;
  return isTime ? { end, text: `${hour} h`, rule: 'time' } : undefined;
}

/** Du matin, du soir, de l'après-midi */
function isPartOfDay(reading: SpokenReading, at: number): boolean {
  if (reading.isNext(at, words('du'))) return OF_DAY.has(reading.key(at + 1));
  return reading.key(at) === 'de' && reading.key(at + 1) === 'l' && reading.key(at + 2) === 'apres';
}

/** De neuf heures à dix-sept heures, but "un retard de deux heures". */
function isFrom(reading: SpokenReading, at: number, end: number): boolean {
  return (
    reading.key(at - 1) === 'de' && reading.key(end) === 'a' && hourAt(reading, end + 1, 24) !== undefined
  );
}

/** Et demie, et quart, moins le quart, moins dix, trente. */
function minutesBehind(
  reading: SpokenReading,
  at: number,
  mayBeBare: boolean,
): { readonly value: number; readonly end: number } | undefined {
  if (reading.isNext(at, ET)) {
    if (reading.isNext(at + 1, DEMIE)) return { value: 30, end: at + 2 };
    return reading.isNext(at + 1, QUART) ? { value: 15, end: at + 2 } : undefined;
  }
  if (reading.isNext(at, MOINS)) {
    const from = reading.isNext(at + 1, ARTICLE) ? at + 2 : at + 1;
    if (reading.isNext(from, QUART)) return { value: -15, end: from + 1 };
    const before = minutesAt(reading, from, 1);
    return before && { value: -before.value, end: before.end };
  }
  return mayBeBare ? minutesAt(reading, at, 1) : undefined;
}

export function frenchDate(reading: SpokenReading, at: number): Written | undefined {
  return cardinalDate(reading, at, { first: ['premier', '1er'], between: '', links: new Set() });
}
