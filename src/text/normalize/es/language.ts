// Assembles Spanish of Spain and America, and orders its own recognisers before the shared ones.
// Its own recognisers read sums, identity cards, accounts, laws, opening marks, dates and centuries.
import { tablesOf } from '../../tables/language-tables.js';
import {
  cardExpiry,
  dayAndMonth,
  letteredPartOfYear,
  monthAndYear,
  monthRange,
  partOfYear,
  spanOfNames,
  zone,
} from '../iberian/dates.js';
import {
  bankAccount,
  lawNumber,
  mixedWithNoun,
  perCubic,
  position,
  rating,
  slashOfCode,
  unionLaw,
} from '../iberian/parts.js';
import { numberOrdered, product, score, thingsOrdered, timesOver } from '../iberian/products.js';
import { initialsOf, isPlural, numberedByRomans } from '../iberian/romans.js';
import { amountRelation, dayHashtag, inches, minutesAndSeconds, scale } from '../iberian/signs.js';
import { localNumber, serviceNumber } from '../iberian/telephone.js';
import type { Language } from '../language.js';
import type { Currency } from '../quantity.js';
import { numeralOf, readNumeral, withoutZeros } from '../numerals.js';
import { type Around, certain, type Found, type Reading, type Recogniser } from '../reading.js';
import { romanValue } from '../recognise/words.js';
import { behindDigits, betweenAmounts, byFirstLetter, byMark, perWord, primed } from '../shared-forms.js';
import { genderOf } from './grammar.js';
import { cardinal, decimal, ordinal } from './numbers.js';
import { DATES, FRACTIONS, parts, SPEECH } from './speech.js';
import { WRITING } from './writing.js';

const NAMED_MONEY =
  /\$ ?(\d[\d.,]*)( (?:mil millones|mil|millones|millón|billones))?(?: (?:de )?(pesos(?: (?:mexicanos|argentinos|chilenos|colombianos|uruguayos))?|dólares|MXN|ARS|CLP|COP|UYU|DOP|USD|M\.N\.))(?!\p{L})/uy;

/** $500 pesos, $1,200 MXN: the word behind says which money the sign means. */
function namedMoney(reading: Reading): Found | undefined {
  const match = reading.match(NAMED_MONEY);
  const [written = '', digits = '', magnitude, name = ''] = match ?? [];
  const at = reading.at + written.indexOf(digits);
  const number = match && readNumeral(reading.text, at, WRITING.numbers);
  if (number === undefined || number.end !== at + digits.length) return undefined;
  const currency = currencyOf(name);
  const known = magnitude === undefined ? undefined : WRITING.magnitudes[magnitude.trim()];
  const end = reading.at + written.length;
  const quantity = { number: number.numeral, magnitude: known };
  return { end, spoken: SPEECH.money(quantity, currency, reading.around(end)), rule: 'currency' };
}

function currencyOf(name: string): Currency {
  const { USD, PESO } = WRITING.currencies;
  const pesos = { ...PESO, forms: ['peso', 'pesos'] };
  if (name === 'dólares') return { ...USD, forms: ['dólar', 'dólares'] };
  const nation = /^pesos (\p{L}+)$/u.exec(name)?.[1];
  if (nation !== undefined) return { ...pesos, forms: [`peso ${nation.slice(0, -1)}`, name] };
  return WRITING.currencies[name] ?? pesos;
}

const APOSTROPHE = /(\d{1,4})['’´](\d{2}) ?(?:€|euros?)(?!\p{L})/uy;

/** 3'50 €, as shops write it in Spain. */
function shopPrice(reading: Reading): Found | undefined {
  const match = reading.match(APOSTROPHE);
  const { EUR } = WRITING.currencies;
  if (match === undefined || EUR === undefined) return undefined;
  const [written, whole = '', decimals = ''] = match;
  const end = reading.at + written.length;
  return {
    end,
    spoken: SPEECH.money({ number: { ...numeralOf(whole), decimals } }, EUR, reading.around(end)),
    rule: 'currency',
  };
}

const OF_HUNDRED = /(pesos?|dólares|soles) (\d{2})\/100 (?:M\. ?N\.|MN|m\. ?n\.|moneda nacional)/y;

/** Mil pesos 00/100 M.N., as bills write it in Mexico. */
function centsOfHundred(reading: Reading): Found | undefined {
  const match = reading.match(OF_HUNDRED);
  if (match === undefined) return undefined;
  const cents = withoutZeros(match[2] ?? '');
  const spoken = `${match[1] ?? ''} con ${cardinal(cents, 'm')} centavo${cents === '1' ? '' : 's'}, moneda nacional`;
  return { end: reading.at + match[0].length, spoken, rule: 'currency' };
}

const IDENTITY = /\d{7,8}-?[A-Z](?![\p{L}\p{N}])/uy;

/** 12345678Z: the number of an identity card. */
function identity(reading: Reading): Found | undefined {
  const match = reading.match(IDENTITY);
  if (match === undefined) return undefined;
  const [written] = match;
  const digits = written.replace(/\D/g, '');
  return {
    end: reading.at + written.length,
    spoken: `${SPEECH.digits(digits)} ${written.slice(-1)}`,
    rule: 'identifier',
  };
}

const GROUPED = /\d{1,2}\.\d{3}\.\d{3}-[\dkK](?![\p{L}\p{N}-])|\d{3}\.\d{3}\.\d{3}-\d(?![\p{L}\p{N}-])/uy;

/** 12.345.678-9, 900.123.456-7: a tax number of Chile or Colombia. */
function taxNumber(reading: Reading): Found | undefined {
  const match = reading.match(GROUPED);
  if (match === undefined) return undefined;
  const groups = match[0].match(/\d+|[kK]/g) ?? [];
  const spoken = groups.map((group) => (/\d/.test(group) ? SPEECH.digits(group) : 'K')).join(', ');
  return { end: reading.at + match[0].length, spoken, rule: 'identifier' };
}

const CIVIL_CODE = /[A-Z]{3,4}\d{6}(?:[HM][A-Z]{5}[A-Z\d]\d|[A-Z\d]{3})(?![\p{L}\p{N}])/uy;

/** CURP and RFC of Mexico: letters, a date, letters. */
function lettersAndDigits(reading: Reading): Found | undefined {
  const match = reading.match(CIVIL_CODE);
  if (match === undefined) return undefined;
  const runs = match[0].match(/\d+|[A-Z]+/g) ?? [];
  const spoken = runs.map((run) => (/\d/.test(run) ? SPEECH.digits(run) : SPEECH.letters(run))).join(' ');
  return { end: reading.at + match[0].length, spoken, rule: 'identifier' };
}

const POSTCODE = /\d{5}(?= (?:de )?\p{Lu}\p{Ll})/uy;

/** Calle Mayor 5, 28013 Madrid; C. P. 64000: said digit by digit. */
function postcode(reading: Reading): Found | undefined {
  const before = reading.text.slice(Math.max(0, reading.at - 8), reading.at);
  const digits = reading.text.slice(reading.at, reading.runEnd);
  const placed =
    /,\s$|^$|\n$/.test(before) && !digits.endsWith('000') && reading.match(POSTCODE) !== undefined;
  const named = /C\.? ?P\.?:? $|c[óo]digo postal[^.;\d]{0,24}$/i.test(
    reading.text.slice(Math.max(0, reading.at - 40), reading.at),
  );
  if (!placed && !named) return undefined;
  return { end: reading.runEnd, spoken: SPEECH.digits(digits), rule: 'digits' };
}

const HOUSE = /(\d{1,3})([A-Z]?)-(\d{1,3})(?![\p{L}\d-])/uy;
const STREET =
  /(?:calle|carrera|avenida|diagonal|transversal|c(?:l|ll|r|ra)\.?|kr\.?|av\.?|dg\.?|tv\.?) \d{1,3} ?[A-Z]?(?: bis| sur| norte)? (?:#|n[.º°]*º?|no\.?|nro\.) ?$/iu;

/** Calle 45 # 23-67: a house of Colombia, by its crossing and its distance. */
function house(reading: Reading): Found | undefined {
  const match = reading.match(HOUSE);
  if (match === undefined || !STREET.test(reading.text.slice(Math.max(0, reading.at - 32), reading.at)))
    return undefined;
  const [written, crossing = '', letter = '', distance = ''] = match;
  const spoken = `${cardinal(crossing)}${letter === '' ? '' : ` ${letter}`} guion ${cardinal(distance)}`;
  return { end: reading.at + written.length, spoken, rule: 'address' };
}

const OPENING = /([¿¡])\1+/uy;

/** ¡¡¡Hola!!! begins with one mark. */
function openingMarks(reading: Reading): Found | undefined {
  const match = reading.match(OPENING);
  return match && { end: reading.at + match[0].length, spoken: match[1] ?? '', rule: 'punctuation' };
}

const ROAD = /N-(I{1,3}|IV|VI?)(?![\p{L}\p{N}-])/uy;

/** The roads N-I to N-VI. */
function road(reading: Reading): Found | undefined {
  const match = reading.match(ROAD);
  if (match === undefined) return undefined;
  const spoken = `N ${cardinal(String(romanValue(match[1] ?? '')))}`;
  return { end: reading.at + match[0].length, spoken, rule: 'roman' };
}

const day = dayAndMonth({
  before: tablesOf('es').set('before a date'),
  beforeTime: /^,? (?:a las? \d|\d{1,2}[:h]\d\d)/,
  isPressure: FRACTIONS.isPressure,
  say: DATES.dayOf,
  range: (from, to, around) => SPEECH.range(from, to, around),
});

/** Abr-24, ene/2025. */
const shortMonth = monthAndYear(WRITING.dates.months, SPEECH);

const DOTTED_TIME = /(\d{1,2})[.,]([0-5]\d)(?=(?: ?h(?:oras|s)?\b)?)(?!\d|[.,/]\d| ?(?:%|€|\$|euros))/y;
const HOUR_WORD = / ?(?:horas|hrs?\.?|hs?\.?)(?![\p{L}\p{N}])/uy;

/** A las 10.30: behind "las" a point parts hours and minutes. */
function dottedTime(reading: Reading): Found | undefined {
  const match = reading.match(DOTTED_TIME);
  const [written = '', hours = '', minutes = ''] = match ?? [];
  if (match === undefined || Number(hours) > 24) return undefined;
  const around = reading.around(reading.at + written.length);
  if (
    !/^las?$/.test(around.previousWord) ||
    !/^(?:a|de|desde|hasta|sobre|hacia|entre|y|para)$/.test(around.secondPreviousWord)
  )
    return undefined;
  const word = reading.match(HOUR_WORD, around.end)?.[0] ?? '';
  const time = { hours: withoutZeros(hours), minutes, word: word === '' ? undefined : 'horas' };
  const spoken = SPEECH.time(time, around);
  return spoken === undefined ? undefined : { end: around.end + word.length, spoken, rule: 'time' };
}

/** UTC-5, GMT+2. */
const utc = zone({ plus: 'más', minus: 'menos', joint: '' }, cardinal, SPEECH);

/** Siglos XV y XVI, s. XIX, siglos XV-XVI; S. X is rather a saint. */
const centuries: Recogniser = numberedByRomans({
  names: {
    's.': 'siglo',
    'S.': 'Siglo',
    'ss.': 'siglos',
    'Ss.': 'Siglos',
    siglo: '',
    siglos: '',
    Siglo: '',
    Siglos: '',
    SIGLO: '',
    SIGLOS: '',
  },
  isPlural: (name) => /^ss|s$/i.test(name),
  say: (value) => (Number(value) <= 10 ? ordinal(value) : undefined) ?? cardinal(value),
});

const ROMAN_MONTH = /(\d{1,2})-(I{1,3}|I?V|VI{1,3}|I?X|XI{1,2})-((?:1[5-9]|20)\d\d)(?![\p{L}\p{N}-])/uy;

/** 2-V-1808. */
function romanMonth(reading: Reading): Found | undefined {
  const match = reading.match(ROMAN_MONTH);
  const [written = '', day = '', month = '', year = ''] = match ?? [];
  if (match === undefined || Number(day) < 1 || Number(day) > 31) return undefined;
  const end = reading.at + written.length;
  const date = { day: withoutZeros(day), month: romanValue(month), year, style: 'numeric' } as const;
  const spoken = SPEECH.date(date, reading.around(end));
  return spoken === undefined ? undefined : { end, spoken, rule: 'date' };
}

const SHORT_YEAR = /['’](\d{2})(?![\p{L}\p{N}])/uy;

/** Los '90, el '92. */
function shortYear(reading: Reading): Found | undefined {
  const match = reading.match(SHORT_YEAR);
  const [written = '', year = ''] = match ?? [];
  const before = reading.around(reading.at).previousWord;
  if (match === undefined || !(year.endsWith('0') ? /^(?:los|años)$/ : /^(?:el|del|al)$/).test(before))
    return undefined;
  return { end: reading.at + written.length, spoken: cardinal(withoutZeros(year)), rule: 'year' };
}

const NAMES: Readonly<Record<string, string>> = tablesOf('es').map('before several Romans');

const INITIALS = initialsOf(NAMES);

const CARD =
  /(?:venc\p{L}*|caduc\p{L}*|expir\p{L}*|exp|vto|v[áa]lid[oa]s?|validez|vigencia|vigente|tarjeta)\.?[^.;\d]{0,18}$/iu;
const CALLS = /(?:tel[ée]?f?|tfno|tlf|m[óo]vil|cel|celular|fax|whatsapp|llam|marc|comuni|contact)/iu;
const SERVICES =
  /(?:llam[ea]\p{L}*|marqu?[eca]\p{L}*)(?: gratis)? al? (?:los? )?(?:\d{3}(?:, | [oyu] )(?:al? |el |los )*)+$/iu;

/** 10'; el minuto 45'. */
function sayMinutes(digits: string, { previousShort, previousWord }: Around): string {
  const named = /^(?:minutos?|min|m)$/.test(previousShort);
  if (previousWord === 'el' || previousWord === 'del') return `minuto ${cardinal(digits)}`;
  return named ? cardinal(digits) : `${cardinal(digits, 'm')} minuto${digits === '1' ? '' : 's'}`;
}

const DIRECTIONS = { N: 'norte', S: 'sur', E: 'este', O: 'oeste', W: 'oeste' };
const LAWS =
  /(?:ley|leyes|orgánica|decreto|decreto-ley|RD|orden|resolución|expediente|circular|directiva|reglamento) $/iu;

const HALF = { m: 'medio', f: 'media' };
const NOT_COUNTED = tablesOf('es').set('not counted');
const VEZ = { forms: ['vez', 'veces'], gender: 'f' } as const;
const { numbers, units } = WRITING;

const ROOMS = /(\d) hab\.(?!\/)/y;
const ROOM = { forms: ['habitación', 'habitaciones'], gender: 'f' } as const;

/** Piso de 3 hab.: so few are no inhabitants. */
function rooms(reading: Reading): Found | undefined {
  const match = reading.match(ROOMS);
  if (match === undefined || match[1] === '0') return undefined;
  const end = reading.at + match[0].length;
  const spoken = SPEECH.measure({ number: numeralOf(match[1] ?? '') }, ROOM, reading.around(end));
  return { end, spoken, rule: 'measure' };
}

const PARTS_OF_YEAR = {
  quarter: 'trimestre',
  half: 'semestre',
  ordinals: ['primer', 'segundo', 'tercer', 'cuarto'],
  cardinal,
};

const ORDER = {
  unit: { forms: ['unidad', 'unidades'], gender: 'f' },
  count: cardinal,
  genderOf,
  noThings: new Set([...NOT_COUNTED, ...tablesOf('es').set('no things')]),
  speech: SPEECH,
} as const;

const AT_DIGIT = behindDigits([
  [/[TQS]/, partOfYear(PARTS_OF_YEAR)],
  [/h/, rooms],
  [/\//, unionLaw(cardinal, SPEECH)],
  [
    /[xX×.,]/,
    product({
      numbers,
      units,
      decimal,
      by: 'por',
      ofSum: 'por',
      score: (home, guest) => SPEECH.score(home, guest),
    }),
  ],
  [/[x×X]/, certain(thingsOrdered(ORDER))],
  [/[x×.,]/, timesOver(VEZ, numbers, WRITING.per, SPEECH)],
  [/[.,]/, dottedTime],
  [/[½¼¾⅓⅔\dey]/, mixedWithNoun({ and: 'y', half: HALF, cardinal, parts, genderOf, noNouns: NOT_COUNTED })],
  [/\//, cardExpiry(CARD, SPEECH, (month, year) => `${cardinal(month)} del ${cardinal(year)}`)],
  [/[/-]/, day],
  [/-/, romanMonth],
  [[5, 5], postcode],
  [/[-A-Z]/, house],
  [/\./, taxNumber],
  [/[-A-Z]/, identity],
  [/[/.]/, lawNumber(LAWS, cardinal)],
  [/['’´]/, shopPrice],
  [/[.,]/, rating('sobre', numbers, decimal, cardinal)],
  [/[°º]/, position({ degree: 'grado', minute: 'minuto', second: 'segundo' }, DIRECTIONS, cardinal)],
  [/-/, localNumber(CALLS, SPEECH)],
  [[3, 3], serviceNumber(SERVICES, SPEECH)],
  [/["”″/.,\d]/, inches({ forms: ['pulgada', 'pulgadas'], gender: 'f' }, numbers, SPEECH)],
  [/['’′]/, minutesAndSeconds(SPEECH)],
  [/['’′]/, primed(sayMinutes)],
  [/:/, scale(SPEECH)],
  [/[-–]/, score(SPEECH)],
]);

const SEA = /Mar(?= \d{1,4}(?!\d))/uy;

/** Avenida del Mar 9: no Tuesday and no March. */
const sea: Recogniser = (reading) => {
  const found = reading.around(reading.at).previousWord === 'del' ? reading.match(SEA)?.[0] : undefined;
  return found === undefined ? undefined : { end: reading.at + found.length, spoken: found, rule: 'address' };
};

const AT_LETTER = byFirstLetter([
  [/M/, certain(sea)],
  [/[xX]/, numberOrdered(ORDER), /\d/],
  [/[UG]/, utc, /[+−–-]/],
  [/[sSIVXLC]/, centuries],
  [/[a-zA-Z]/, shortMonth, /[-/]/],
  [/[a-zA-Z]/, monthRange(WRITING.dates.months, SPEECH), /[-–/.]/],
  [/[TQS]/, letteredPartOfYear(PARTS_OF_YEAR), /[1-4]/],
  [/[pds]/, centsOfHundred, /\d/],
  [INITIALS, numberedByRomans({ names: NAMES, isPlural, say: cardinal })],
  [/[A-Z]/, bankAccount(SPEECH), /\d/],
  [/[A-Z]/, lettersAndDigits, /\d/],
  [/N/, road, /-/],
]);

const SPAN = spanOfNames({
  weekdays: WRITING.dates.weekdays,
  ends: tablesOf('es').map('end of a span'),
  toThe: 'al',
  range: (from, to, around) => SPEECH.range(from, to, around),
});

const OWN: NonNullable<Language['own']> = {
  atDigit: [AT_DIGIT],
  atLetter: [AT_LETTER],
  atMark: [
    byMark([
      [/[¿¡]/, openingMarks],
      [/\$/, namedMoney],
      [/['’]/, shortYear],
      [/×/, numberOrdered(ORDER)],
      [/[–-]/, certain(SPAN)],
      [/[<>≤≥≈]/, amountRelation(tablesOf('es').signs.inFront, tablesOf('es').set('no plural nouns'))],
      [/#/, dayHashtag(cardinal)],
      [/\//, perWord(WRITING.per, 'cada')],
      [/\//, betweenAmounts],
      [/\//, slashOfCode],
      [/\//, perCubic('por milímetro cúbico')],
    ]),
  ],
};

// prettier-ignore
export const SPANISH: Language = {
  tag: 'es',
  writing: WRITING,
  speech: SPEECH,
  own: OWN,
  symbols: {
    ...tablesOf('es').signs,
    versionPoint: 'punto',
    version: 'versión',
    minus: 'menos',
    plus: 'más',
    keys: { star: 'asterisco', hash: 'almohadilla', before: /\b(?:puls|marc|marq|presion|oprim|digit|tecl|toque|introdu)/i },
    hashtag: 'hashtag',
    pause: ',',
    per: 'por',
  },
};
