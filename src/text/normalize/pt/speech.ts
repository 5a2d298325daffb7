// How Portuguese is said, as in Brazil.
import { Amounts, type Gender } from '../iberian/amounts.js';
import { DatesInWords } from '../iberian/dates.js';
import type { Speech } from '../language.js';
import type { Around } from '../reading.js';
import { FRACTIONS, parts } from './fractions.js';
import { agreementOf, genderOf, LABELS, rangeWord, standsBeforeNoun } from './grammar.js';
import { cardinal, decimal, inForm, ordinal, spellDigits } from './numbers.js';
import { clock } from './times.js';

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
  months: 'janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro'.split(
    ' ',
  ),
  first: 'primeiro',
  cardinal,
  rangeWord,
});

const QUEENS = new Set(
  'isabel elizabeth catarina maria margarida cristina ana beatriz vitória leopoldina'.split(' '),
);
const GRADED = 10; // up to here a century or king has an ordinal: século quinto, século vinte e um
const DEGREE_NOUN =
  /^(?:andar|grau|lugar|colocado|prêmio|prémio|dia|aniversário|ano|semestre|trimestre|bimestre|período|turno|edição|fase|rodada|divisão|tempo|via|distrito|batalhão)$/i;

const OVEN = 120; // 180º are a heat, not a rank

/** Um giro de 90º, a 180º. */
function isAngle(digits: string, { previousWord }: Around): boolean {
  const value = Number(digits);
  return value >= OVEN || (value % 5 === 0 && /^(?:de|a)$/.test(previousWord));
}

const BEFORE_RANK = new Set(
  'o a os as do da no na ao à um uma meu minha seu sua este esta esse essa pela pelo é foi'.split(' '),
);

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
  number: (numeral, _around, noun) => decimal(numeral, noun?.gender === 'f' ? 'f' : 'm'),
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
    exponent === '2' ? 'ao quadrado' : exponent === '3' ? 'ao cubo' : `elevado a ${cardinal(exponent)}`,
  range: (from, to, around) => `${from} ${rangeWord(around)} ${to}`,
  score: (home, guest) => `${home} a ${guest}`,
  telephone: (groups, plus) => (plus ? 'mais ' : '') + groups.map(spellDigits).join(', '),
};
