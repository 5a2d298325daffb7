// Writes numbers in the figures of a language.
import type { NumberFormat } from '../normalize/numerals.js';
import type { Quantity } from './spoken-reading.js';

const SMALLEST_GROUPED = 10_000; // four figures may be a year or a code
const SMALLEST_SUM_GROUPED = 1000;

export function figures(
  { negative, whole, decimals, magnitude }: Quantity,
  format: NumberFormat,
  isSum = false,
): string {
  const from = isSum ? SMALLEST_SUM_GROUPED : SMALLEST_GROUPED;
  const digits = whole >= from ? grouped(String(whole), format) : String(whole);
  const rest = decimals === '' ? '' : format.decimal + decimals;
  return `${negative ? '-' : ''}${digits}${rest}${magnitude === undefined ? '' : ` ${magnitude}`}`;
}

function grouped(digits: string, { grouping }: NumberFormat): string {
  return digits.replace(/\B(?=(?:\d{3})+$)/g, grouping[0] ?? '');
}

export function twoFigures(value: number): string {
  return String(value).padStart(2, '0');
}
