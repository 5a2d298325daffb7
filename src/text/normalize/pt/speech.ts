// Speaks Portuguese as in Brazil: numbers, fractions, dates, times and amounts.
import { tablesOf } from '../../tables/language-tables.js';
import { Amounts, type Gender } from '../iberian/amounts.js';
import { DatesInWords, isLasting } from '../iberian/dates.js';
import { Fractions } from '../iberian/fractions.js';
import type { Speech } from '../language.js';
import type { Fraction, WrittenTime } from '../quantity.js';
import { integerOf, withoutZeros } from '../numerals.js';
import type { Around } from '../reading.js';
import { agreementOf, genderOf, LABELS, rangeWord, standsBeforeNoun } from './grammar.js';
import { cardinal, decimal, inForm, ordinal, spellDigits } from './numbers.js';

const PARTS = '- - meio terço quarto quinto sexto sétimo oitavo nono décimo'.split(' ');

function partName(denominator: string): string {
  const value = Number(denominator);
  if (value <= 10) return PARTS[value] ?? '';
  return (/^10+$/.test(denominator) ? ordinal(denominator) : undefined) ?? `${cardinal(denominator)} avo`;
}

export function parts({ numerator, denominator }: Fraction): string {
  return `${cardinal(numerator)} ${partName(denominator)}${numerator === '1' ? '' : 's'}`;
}

const AGED = tablesOf('pt').set('before an age');

export const FRACTIONS = new Fractions({
  cardinal,
  digits: spellDigits,
  parts,
  half: { m: 'meio', f: 'meia', alone: 'um meio', paid: 'meia' },
  paying: tablesOf('pt').set('before a half'),
  over: 'por',
  divided: 'dividido por',
  grade: 'de',
  graded: new Set('nota notas pontuação avaliação classificação tirou obteve'.split(' ')),
  points: /^(?:estrelas|pontos)$/,
  partOf: /^d[eao]s?$/,
  pressure: /(?<!\p{L})(?:pressão|arterial|PA(?!\p{L}))[^.;\d]{0,12}(?:\d{1,3}\/\d{1,3} (?:e|ou|a) )?$/iu,
  counted: /(?<!\p{L})(?:parcela|prestação|página|parte|etapa|passo|foto)s? \(?$/iu,
  ofMany: 'de',
  genderOf,
  standsBeforeNoun,
});

const NOON = 12;

/** Zero hora, uma hora, duas horas. */
function counted(value: number, noun: string): string {
  return `${cardinal(String(value), noun === 'hora' ? 'f' : 'm')} ${noun}${value < 2 ? '' : 's'}`;
}

function partOfDay(hour: number, half: string): string {
  if (half === 'am') return hour === NOON ? ' da noite' : ' da manhã';
  return hour < 6 || hour === NOON ? ' da tarde' : ' da noite';
}

/** Vinte horas e cinco minutos: "vinte e cinco" would be heard as one number. */
function hourAndMinutes(hour: number, minutes: number): string {
  if (minutes === 0) return counted(hour, 'hora');
  if (hour >= 20 && minutes < 10) return `${counted(hour, 'hora')} e ${counted(minutes, 'minuto')}`;
  const past = minutes === 30 && hour > 0 && hour <= NOON ? 'meia' : cardinal(String(minutes));
  return `${hour === 0 ? counted(hour, 'hora') : cardinal(String(hour), 'f')} e ${past}`;
}

/** "9h-18h", of which this is one end. */
function isOfRange({ text, start, end }: Around): boolean {
  return /[-–]/.test(text.slice(start, end)) || /^ ?[-–] ?\d/.test(text.slice(end, end + 4));
}

const LASTING = {
  before: tablesOf('pt').set('before a duration'),
  beforeHours: tablesOf('pt').set('before hours'),
  nouns: tablesOf('pt').set('lasting'),
  behind: tablesOf('pt').set('behind a duration'),
  clock: tablesOf('pt').set('before a clock'),
};

/** Undefined for "9 h" without "às" near it: that is how long something takes. */
function clock(
  { hours, minutes, seconds, half, word, zone }: WrittenTime,
  around: Around,
): string | undefined {
  const [hour, minute] = [Number(hours), Number(minutes || '0')];
  const tail = zone === undefined ? '' : `, ${zone}`;
  const placed =
    /^(?:às|à|as|das|pelas)$/.test(around.previousWord) || zone !== undefined || isOfRange(around);
  if (minutes === '' && word === '' && half === undefined) return cardinal(hours, 'f'); // 8-12h
  if (minutes === '' && word !== undefined && half === undefined && !placed) return undefined;
  if (minutes !== '' && half === undefined && hour > 0 && isLasting(LASTING, around))
    return minute === 0 ? counted(hour, 'hora') : `${counted(hour, 'hora')} e ${counted(minute, 'minuto')}`;
  if (seconds !== undefined)
    return `${counted(hour, 'hora')}, ${counted(minute, 'minuto')} e ${counted(Number(withoutZeros(seconds)), 'segundo')}${tail}`;
  if (half !== undefined && hour > 0 && hour <= NOON) {
    const past = minute === 0 ? '' : ` e ${minute === 30 ? 'meia' : cardinal(String(minute))}`;
    return cardinal(hours, 'f') + past + partOfDay(hour, half) + tail;
  }
  return hourAndMinutes(hour, minute) + tail;
}

const AMOUNTS = new Amounts<Gender>({
  and: 'e',
  withCents: 'e',
  half: { m: 'meio', f: 'meia' },
  decimal,
  alone: 'm',
  agreementOf,
  agreementOfNoun: ({ gender }) => (gender === 'f' ? 'f' : 'm'),
  genderOf,
  parts,
  rangeWord,
  beforeThousand: (said) => said,
  singularBelowTwo: true,
  spans: {
    h: { forms: ['hora', 'horas'], gender: 'f' },
    min: { forms: ['minuto', 'minutos'], gender: 'm' },
    s: { forms: ['segundo', 'segundos'], gender: 'm' },
  },
});

export const DATES = new DatesInWords({
  months: tablesOf('pt').dates.months.map(([name = '']) => name),
  first: 'primeiro',
  cardinal,
  rangeWord,
  and: 'e',
});

const QUEENS = tablesOf('pt').set('queens');
const GRADED = 10; // up to here a century or king has an ordinal: século quinto, século vinte e um
const DEGREE_NOUN =
  /^(?:andar|grau|lugar|colocado|prêmio|prémio|dia|aniversário|ano|semestre|trimestre|bimestre|período|turno|edição|fase|rodada|divisão|tempo|via|distrito|batalhão)$/i;

const OVEN = 120; // 180º are a heat, not a rank

const HEAT = /^(?:m[áa]x|m[íi]n|máxim[ao]s?|mínim[ao]s?|temperaturas?|forno)$/; // máx. 21º

/** Um giro de 90º, a 180º. */
function isAngle(digits: string, { text, start, end, previousWord }: Around): boolean {
  const value = Number(digits);
  if (/\d\.\d{3}/.test(text.slice(start, end))) return false; // o 1.500º cliente
  return value >= OVEN || (value % 5 === 0 && /^(?:de|a)$/.test(previousWord));
}

const BEFORE_RANK = tablesOf('pt').set('before an ordinal');

/** A 3a vez, 2o andar, o 2o B; but sala 3a and porta 2a. */
function isRank(around: Around): boolean {
  if (BEFORE_RANK.has(around.previousWord)) return true;
  return LABELS.has(around.previousWord) ? false : standsBeforeNoun(around);
}

/** Primeiro andar, terceira fila, Pedro segundo, século vinte e um. */
function sayOrdinal(digits: string, around: Around, written: string): string | undefined {
  const mark = written.replace(/\.$/, ''); // 1º. andar
  if (digits.startsWith('0')) return undefined;
  if (mark === '') return ranked(digits, around);
  const rest = around.text.slice(around.end, around.end + 3);
  if (/[°º]$/.test(mark) && (/^[CFK\d]/.test(rest) || /^ [CFNSEO](?!\p{L})/u.test(rest))) return undefined;
  if (/^[°º]$/.test(mark) && /^(?:os|uns|quase)$/.test(around.previousWord) && !standsBeforeNoun(around))
    return undefined; // entre os 12º e os 24º
  if (/^[°º]$/.test(mark) && !standsBeforeNoun(around) && isAngle(digits, around)) return undefined;
  if (/^[°º]$/.test(mark) && HEAT.test(around.previousShort)) return undefined;
  if (mark === '°' && !DEGREE_NOUN.test(around.nextWord)) return undefined;
  if (/^[oa]s?$/.test(mark) && !isRank(around)) return undefined;
  const base = ordinal(digits);
  return base && inForm(base, /(?:ªs?|as?)$/.test(mark) ? 'f' : 'm', mark.endsWith('s'));
}

/** Roman: a century, a king or queen, or what stands before its noun (II Guerra Mundial). */
function ranked(digits: string, around: Around): string | undefined {
  const { text, start, nextWord, previousWord } = around;
  const name = /\p{L}+(?= $)/u.exec(text.slice(Math.max(0, start - 24), start))?.[0] ?? '';
  const event =
    /^(?:Guerra|Congresso|Edição|Encontro|Cúpula)$/.test(nextWord) ||
    /^(?:A|O|Na|No|Da|Do|As|Os|Em)$/.test(name);
  const named = !event && (/^séculos?$/.test(previousWord) || /^\p{Lu}/u.test(name));
  const base = ordinal(digits);
  if (named && Number(digits) > GRADED) return cardinal(digits);
  if (base === undefined) return undefined;
  if (named) return inForm(base, QUEENS.has(previousWord) ? 'f' : 'm', false);
  return inForm(base, genderOf(nextWord), nextWord.endsWith('s'));
}

function sayYear(digits: string, around: Around, sure: boolean): string | undefined {
  const value = Number(digits);
  if (value < 1100 || value > 2099 || (!sure && value < 1900)) return undefined;
  const counts = /^\p{Ll}{3,}s$/u.test(around.nextWord) && standsBeforeNoun(around);
  return counts && !/^(?:em|ano|anos)$/.test(around.previousWord) ? undefined : cardinal(digits);
}

/** Os anos 80s; else 30s are seconds. */
function sayDecade(digits: string, around: Around): string | undefined {
  const named = digits.length === 4 || /^(?:os|anos|década|décadas)$/.test(around.previousWord);
  return named ? cardinal(digits === '00' ? '2000' : digits) : undefined;
}

export const SPEECH: Speech = {
  exchange: (from, to) => `${from} dois ${to}`,
  processor: (brand, series, model) => `${brand} ${cardinal(series)} ${cardinal(model)}`,
  number: (numeral, _around, noun) => decimal(numeral, noun?.gender === 'f' ? 'f' : 'm'),
  times: (number) => `${decimal(number, 'f')} ${number.whole === '1' ? 'vez' : 'vezes'}`,
  ordinal: sayOrdinal,
  digits: spellDigits,
  letters: (letters) => Array.from(letters.toUpperCase()).join(' '),
  year: sayYear,
  decade: sayDecade,
  fraction: FRACTIONS.fraction,
  fractionOf: FRACTIONS.fractionOf,
  count: AMOUNTS.count,
  measure: AMOUNTS.measure,
  money: AMOUNTS.money,
  date: DATES.date,
  time: clock,
  duration: AMOUNTS.duration,
  power: (exponent) =>
    exponent === '2'
      ? 'ao quadrado'
      : exponent === '3'
        ? 'ao cubo'
        : `elevado a ${decimal(integerOf(exponent))}`,
  range: (from, to, around) => `${from} ${rangeWord(around)} ${to}`,
  score: (home, guest) => `${home} a ${guest}`,
  outOf: (got, most) => `${cardinal(got)} de ${cardinal(most)}`,
  atLeast: (number, noun, { previousWord }) =>
    AGED.has(previousWord) ? `${number} mais${noun}` : `mais de ${number}${noun}`,
  telephone: (groups, plus) => (plus ? 'mais ' : '') + groups.map(spellDigits).join(', '),
};
