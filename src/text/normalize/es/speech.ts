// Speaks Spanish with words that are right in Spain and in America.
// It covers numbers, fractions, dates, times and amounts.
import { tablesOf } from '../../tables/language-tables.js';
import { Amounts } from '../iberian/amounts.js';
import { DatesInWords, isLasting } from '../iberian/dates.js';
import { Fractions } from '../iberian/fractions.js';
import type { Speech } from '../language.js';
import type { Currency, Fraction, Quantity, WrittenTime } from '../quantity.js';
import { integerOf, withoutZeros } from '../numerals.js';
import type { Around } from '../reading.js';
import { agreementOf, genderOf, LABELS, rangeWord, standsBeforeNoun } from './grammar.js';
import { type Agreement, cardinal, decimal, inForm, ordinal, shortened, spellDigits } from './numbers.js';

const PARTS = '- - medio tercio cuarto quinto sexto séptimo octavo noveno décimo'.split(' ');

/** Onceavo, dieciseisavo, treintaidosavo, centésimo; undefined beyond. */
function partName(denominator: string): string | undefined {
  const value = Number(denominator);
  if (value <= 10) return PARTS[value];
  if (/^10+$/.test(denominator)) return ordinal(denominator);
  if (value >= 100) return undefined;
  const joined = cardinal(denominator).replace(' y ', 'i').replace('é', 'e').replace('ó', 'o');
  return `${joined.replace(/a$|(?<=un)o$/, '')}avo`;
}

export function parts({ numerator, denominator }: Fraction): string {
  const name = partName(denominator);
  if (name === undefined) return `${cardinal(numerator)} sobre ${cardinal(denominator)}`;
  return `${cardinal(numerator, 'm')} ${name}${numerator === '1' ? '' : 's'}`;
}

/** Una tercera parte, tres cuartas partes. */
function beforeParte({ numerator, denominator }: Fraction, noun: string): string | undefined {
  if (!/^partes?$/.test(noun)) return undefined;
  const part = denominator === '3' ? 'tercera' : inForm(partName(denominator) ?? '', 'f', false);
  return numerator === '1' ? `una ${part}` : `${cardinal(numerator, 'f')} ${part}s`;
}

export const FRACTIONS = new Fractions({
  cardinal,
  digits: spellDigits,
  parts,
  half: { m: 'medio', f: 'media', alone: 'un medio', paid: 'la mitad' },
  paying: tablesOf('es').set('before a half'),
  over: 'sobre',
  divided: 'entre',
  grade: 'sobre',
  graded: new Set('nota notas puntuación calificación valoración puntaje obtuvo sacó saqué un'.split(' ')),
  points: /^(?:estrellas|puntos)$/,
  partOf: /^de$/,
  pressure:
    /(?<!\p{L})(?:(?:hiper|hipo)?tensi[óo]n|presi[óo]n|arterial)[^.;\d]{0,12}(?:\d{1,3}\/\d{1,3} [aeouy] )?$/iu,
  counted: /(?<!\p{L})(?:cuota|mensualidad|página|parte|etapa|paso|foto)s? \(?$/iu,
  ofMany: 'de',
  genderOf,
  standsBeforeNoun,
  before: beforeParte,
});

const NOON = 12;

/** Quarters and halves by name, up to the half with "y". */
function past(minutes: number): string {
  if (minutes === 0) return '';
  if (minutes === 15) return ' y cuarto';
  if (minutes === 30) return ' y media';
  return `${minutes < 30 ? ' y' : ''} ${cardinal(String(minutes))}`;
}

function partOfDay(hour: number, half: string): string {
  if (half === 'm') return ' del mediodía';
  if (half === 'am') return hour === NOON ? ' de la noche' : ' de la mañana';
  if (hour === NOON) return ' del mediodía';
  return hour < 8 ? ' de la tarde' : ' de la noche';
}

function onDigitalClock(hour: number, minutes: number, noun: boolean): string {
  const said = cardinal(String(hour), 'f');
  const zero = minutes > 0 && minutes < 10 ? ' cero' : '';
  const tail = minutes === 0 ? '' : `${zero} ${cardinal(String(minutes))}`;
  const name = noun ? (hour === 1 && minutes === 0 ? ' hora' : ' horas') : '';
  return said + tail + name;
}

function toTheSecond(hour: number, minutes: number, seconds: number): string {
  const second = `${cardinal(String(seconds), 'm')} segundo${seconds === 1 ? '' : 's'}`;
  const minute = `${cardinal(String(minutes), 'm')} minuto${minutes === 1 ? '' : 's'}`;
  return `${cardinal(String(hour), 'f')} hora${hour === 1 ? '' : 's'}, ${minute} y ${second}`;
}

const LASTING = {
  before: tablesOf('es').set('before a duration'),
  beforeHours: tablesOf('es').set('before hours'),
  nouns: tablesOf('es').set('lasting'),
  behind: tablesOf('es').set('behind a duration'),
  clock: tablesOf('es').set('before a clock'),
};

/** Tarda 1h30: una hora y treinta minutos. A lead of 1:21 is a minute and 21 seconds. */
function lasting(hour: number, minutes: number, isLead: boolean): string {
  if (isLead) {
    const [first, second] = [hour, minutes].map((value) => cardinal(String(value), 'm'));
    return `${first ?? ''} minuto${hour === 1 ? '' : 's'} y ${second ?? ''} segundo${minutes === 1 ? '' : 's'}`;
  }
  const hours = `${cardinal(String(hour), 'f')} hora${hour === 1 ? '' : 's'}`;
  return minutes === 0
    ? hours
    : `${hours} y ${cardinal(String(minutes), 'm')} minuto${minutes === 1 ? '' : 's'}`;
}

/** Undefined for "9 h" without "las" near it: that is how long something takes. */
function clock(
  { hours, minutes, seconds, half, word, zone }: WrittenTime,
  around: Around,
): string | undefined {
  const [hour, minute] = [Number(hours), Number(minutes || '0')];
  const tail = zone === undefined ? '' : `${zone.startsWith('hora') ? ',' : ''} ${zone}`;
  const behindArticle = /^las?$/.test(around.previousWord);
  if (minutes === '' && word !== undefined && half === undefined && !behindArticle) return undefined;
  if (half === 'm' && !(hour === NOON && behindArticle)) return undefined; // 12 m. are metres
  if (minutes !== '' && half === undefined && hour > 0 && isLasting(LASTING, around))
    return lasting(hour, minute, /^(?:ventaja|diferencia)$/.test(around.secondNextWord));
  if (seconds !== undefined) return toTheSecond(hour, minute, Number(withoutZeros(seconds))) + tail;
  const late = hour === 0 || hour > NOON;
  if (half !== undefined && !late) return cardinal(hours, 'f') + past(minute) + partOfDay(hour, half) + tail;
  // "9:00-17:00 h" and "17:00 CET" name the hours once.
  const named =
    word !== undefined ||
    (minute === 0 &&
      zone === undefined &&
      !/^ ?[-–] ?\d/.test(around.text.slice(around.end, around.end + 4)));
  if (late || word !== undefined) return onDigitalClock(hour, minute, named) + tail;
  return cardinal(hours, 'f') + past(minute) + tail;
}

const AMOUNTS = new Amounts<Agreement>({
  and: 'y',
  withCents: 'con',
  half: { m: 'medio', f: 'media' },
  decimal,
  alone: 'alone',
  agreementOf,
  agreementOfNoun: ({ form, gender }) => (form === 'alone' ? 'alone' : gender === 'f' ? 'f' : 'm'),
  genderOf,
  parts,
  rangeWord,
  // Veintiún mil and ciento un mil, of women too.
  beforeThousand: (said) => said.replace(/veintiuna$/, 'veintiún').replace(/\buna$/, 'un'),
  singularBelowTwo: false,
  spans: {
    h: { forms: ['hora', 'horas'], gender: 'f' },
    min: { forms: ['minuto', 'minutos'], gender: 'm' },
    s: { forms: ['segundo', 'segundos'], gender: 'm' },
  },
});

const PESO: Currency = {
  forms: ['peso', 'pesos'],
  gender: 'm',
  minor: { forms: ['centavo', 'centavos'], gender: 'm' },
};
const IN_PESOS =
  /(?<!\p{L})(?:M[ée]xico|CDMX|MXN|SAT|OXXO|Argentina|Colombia|Bogotá|Medellín|Chile|Uruguay|pesos|Guadalajara|Monterrey)(?!\p{L})/u;
const NEAR_PESOS = 120; // units on either side

/** En México son $1,845.50: the sign is that of the peso, too. */
function money(quantity: Quantity, currency: Currency, around: Around): string {
  const { text, start, end } = around;
  const isSign = currency.forms[0] === 'dólar' && /(?<![A-Z])\$/.test(text.slice(start, end));
  const near = isSign ? text.slice(Math.max(0, start - NEAR_PESOS), end + NEAR_PESOS) : '';
  return AMOUNTS.money(quantity, IN_PESOS.test(near) ? PESO : currency, around);
}

export const DATES = new DatesInWords({
  months: tablesOf('es').dates.months.map(([name = '']) => name),
  first: 'primero',
  cardinal,
  rangeWord,
  and: 'y',
});

const AGED = tablesOf('es').set('before an age');
const QUEENS = tablesOf('es').set('queens');
const GRADED = 10; // a century or king up to here has an ordinal: siglo quinto, siglo veintiuno
const DEGREE_NOUN =
  /^(?:piso|grado|lugar|puesto|premio|día|aniversario|curso|año|semestre|trimestre|bachillerato|primaria|secundaria|básico|ESO|planta|edición|fase|ronda|división|tiempo|izq|dcha)$/i;

const HEATS = [120, 999] as const; // 180º are a heat, not a rank
const HEAT = /^(?:m[áa]x|m[íi]n|máxim[ao]s?|mínim[ao]s?|temperaturas?|horno)$/; // máx. 21º
const TURNED = /^(?:de|a)$/; // un giro de 90º

/** 20º C and 40º N, but not the door of "Mayor 12, 3º C" and 3.º C. */
function isDegree(around: Around, mark: string): boolean {
  const { text, start, end, previousWord } = around;
  if (!/^[°º]$/.test(mark)) return false;
  // entre los 12º y los 24º
  if (/^(?:los|unos|casi)$/.test(previousWord) && !standsBeforeNoun(around)) return true;
  if (HEAT.test(around.previousShort)) return true;
  const value = Number(text.slice(start, end).replace(/\D/g, ''));
  const isHeat = value >= HEATS[0] && value <= HEATS[1];
  if (!standsBeforeNoun(around) && (isHeat || (value % 5 === 0 && TURNED.test(previousWord)))) return true;
  const next = text.slice(end, end + 3);
  if (/^[CFK\d]/.test(next)) return true;
  return /^ [CFNSEO](?!\p{L})/u.test(next) && !/\d, ?$/.test(text.slice(Math.max(0, start - 3), start));
}

const BEFORE_RANK = tablesOf('es').set('before an ordinal');

/** La 3a vez, 2o piso, el 2o B; but aula 3a and puerta 2a. */
function isRank(around: Around): boolean {
  if (BEFORE_RANK.has(around.previousWord)) return true;
  return around.previousWord === '' || !LABELS.has(around.previousWord) ? standsBeforeNoun(around) : false;
}

/** Primer piso, tercera planta, Felipe sexto, siglo veintiuno. */
function sayOrdinal(digits: string, around: Around, written: string): string | undefined {
  const mark = written.replace(/\.$/, ''); // 1er. piso
  if (digits.startsWith('0')) return undefined;
  if (isDegree(around, mark)) return undefined;
  if (mark === '°' && !DEGREE_NOUN.test(around.nextWord)) return undefined;
  if (mark === '') return ranked(digits, around);
  if (/^[.]?[oa]s?$/.test(mark) && !isRank(around)) return undefined;
  const base = ordinal(digits);
  if (base === undefined) return undefined;
  if (/(?:ª|as?)$/.test(mark)) return inForm(base, 'f', mark.endsWith('s'));
  const plural = /(?:os)$/.test(mark);
  if (plural) return inForm(base, 'm', true);
  const short = mark.endsWith('r') && !mark.endsWith('dr');
  return short || (standsBeforeNoun(around) && /^\p{Ll}/u.test(around.nextWord)) ? shortened(base) : base;
}

/** Roman: a century, a king or queen, or what stands before its noun (II Guerra Mundial). */
function ranked(digits: string, around: Around): string | undefined {
  const before = around.previousWord;
  const named = before === 'siglo' || before === 'siglos' || /^\p{Lu}/u.test(lastName(around));
  const base = ordinal(digits);
  if (named && Number(digits) > GRADED) return cardinal(digits);
  if (base === undefined) return undefined;
  if (named) return inForm(base, QUEENS.has(before) ? 'f' : 'm', false);
  const noun = around.nextWord;
  const plural = noun.endsWith('s') && !/^(?:crisis|tesis|campus)$/i.test(noun);
  const form = inForm(base, genderOf(noun), plural);
  return plural ? form : shortened(form);
}

/** The word before a Roman numeral, as written, where no noun of an event follows. */
function lastName({ text, start, nextWord }: Around): string {
  const name = /\p{L}+(?= $)/u.exec(text.slice(Math.max(0, start - 24), start))?.[0] ?? '';
  return /^(?:La|El|En|De|Las|Los|Del|Al|Esta|Y)$/.test(name) ||
    /^(?:Guerra|Congreso|Edición|Cumbre)$/.test(nextWord)
    ? ''
    : name;
}

const FIRST_YEAR = 1100;

function sayYear(digits: string, around: Around, sure: boolean): string | undefined {
  const value = Number(digits);
  if (value < FIRST_YEAR || value > 2099) return undefined;
  if (sure || value >= 1900)
    return counts(around) && !/^(?:en|año|años)$/.test(around.previousWord) ? undefined : cardinal(digits);
  return undefined;
}

function counts(around: Around): boolean {
  return /^\p{Ll}{3,}s$/u.test(around.nextWord) && standsBeforeNoun(around);
}

/** Los 80s, 1980s; else 30s are seconds. */
function sayDecade(digits: string, around: Around): string | undefined {
  if (digits.length === 4) return cardinal(digits);
  if (!/^(?:los|años|década|décadas)$/.test(around.previousWord)) return undefined;
  return TENS[digits] ?? cardinal(digits);
}

const TENS: Readonly<Record<string, string>> = { '00': 'dos mil', '10': 'diez' };

export const SPEECH: Speech = {
  exchange: (from, to) => `${from} dos ${to}`,
  processor: (brand, series, model) => `${brand} ${cardinal(series)} ${cardinal(model)}`,
  number: (numeral, _around, noun) =>
    decimal(numeral, noun === undefined ? 'alone' : noun.gender === 'f' ? 'f' : 'm'),
  ordinal: sayOrdinal,
  digits: spellDigits,
  letters: (letters) => Array.from(letters.toUpperCase()).join(' '),
  year: sayYear,
  decade: sayDecade,
  fraction: FRACTIONS.fraction,
  fractionOf: FRACTIONS.fractionOf,
  count: AMOUNTS.count,
  measure: AMOUNTS.measure,
  money,
  date: DATES.date,
  time: clock,
  duration: AMOUNTS.duration,
  power: (exponent) =>
    exponent === '2'
      ? 'al cuadrado'
      : exponent === '3'
        ? 'al cubo'
        : `elevado a ${decimal(integerOf(exponent))}`,
  range: (from, to, around) => `${from} ${rangeWord(around)} ${to}`,
  score: (home, guest) => `${home} a ${guest}`,
  outOf: (got, most) => `${cardinal(got)} sobre ${cardinal(most)}`,
  atLeast: (number, noun, { previousWord }) =>
    AGED.has(previousWord) ? `${number} o más${noun}` : `más de ${number}${noun}`,
  telephone: (groups, plus) => (plus ? 'más ' : '') + groups.map(spellDigits).join(', '),
};
