// Quarters and halves of a year: II кв. 2025 г., в 3 кв. 2023 г., 1-е полуг. 2024 г.
import type { Found, Reading } from '../reading.js';
import { inCase, inPlural, noun, type Case } from './declension.js';
import { wordAhead } from './grammar.js';
import { ordinal } from './numbers.js';

const QUARTER = noun('m квартал квартала кварталов');
const HALF = noun('n полугодие полугодия полугодий');
const NAME = / ?(кв|полуг)\.(?! ?(?:м|км|см)(?!\p{L}))/uy;
const LONGEST_SHORT = 6; // units of a short form before

/** В III квартале, за III квартал, итоги III квартала. */
function caseOf(reading: Reading, end: number): Case {
  const around = reading.around(end);
  const before = wordAhead(around);
  if (/^(?:в|во|о|об)$/.test(before)) return 'prepositional';
  if (/^(?:к|ко)$/.test(before)) return 'dative';
  if (/^(?:по|на|за)$/.test(before)) return 'accusative';
  const short = /\.,? $/.test(around.text.slice(Math.max(0, around.start - LONGEST_SHORT), around.start));
  return before === '' || before === 'и' || short ? 'nominative' : 'genitive';
}

/** The name behind the numbers, with them. */
export function partOfYear(reading: Reading, end: number, values: readonly number[]): Found | undefined {
  const match = reading.match(NAME, end);
  const known = match?.[1] === 'полуг' ? HALF : QUARTER;
  if (match === undefined || values.some((value) => value < 1 || value > (known === HALF ? 2 : 4)))
    return undefined;
  const grammatical = caseOf(reading, end);
  const agreement = known === HALF ? 'n' : 'm';
  const said = values.map((value) => ordinal(String(value), grammatical, agreement)).join(' – ');
  const name = values.length > 1 ? pluralIn(known, grammatical) : inCase(known.forms, grammatical);
  return { end: end + match[0].length, spoken: `${said} ${name}`, rule: 'date' };
}

function pluralIn(known: typeof QUARTER, grammatical: Case): string {
  const plain = grammatical === 'nominative' || grammatical === 'accusative';
  return plain ? (known === HALF ? 'полугодия' : 'кварталы') : inPlural(known, grammatical);
}

const FIGURE =
  /([1-4])(?:(?:-?(?:й|го|му|м|е))(?= ?(?:кв|полуг)\.)|(?= ?(?:кв|полуг)\. ?(?:20\d\d|(?:этого|прошл|тек|текущ|следующ)\p{L}*\.? ?г)))/uy;

/** 3 кв. 2023 г.: a flat has no year. */
export function quarter(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(FIGURE) : undefined;
  if (match === undefined) return undefined;
  return partOfYear(reading, reading.at + match[0].length, [Number(match[1])]);
}
