// Numbers as they are written: digits, their grouping and the decimal mark.
import { isDigitAt } from './characters.js';

export interface NumberFormat {
  /** Between the whole part and the decimals. */
  readonly decimal: '.' | ',';
  /** Each may stand between groups of three digits; a space counts as a no-break space, too. */
  readonly grouping: readonly string[];
  /** True if groups of two digits before the last three are known, too: 12,34,567. */
  readonly lakhs?: true;
  /**
   * Number format of other countries with this language. It applies if it matches more: 3.5 and 1,234.56
   * beside 1.234,56.
   */
  readonly other?: NumberFormat;
  /** True if the other one is meant where both read as far: 1,234 before a noun. */
  readonly prefersOther?: (text: string, start: number, end: number) => boolean;
}

/** A number as written, without its grouping. */
export interface Numeral {
  readonly negative: boolean;
  /** Digits of the whole part; "0" where nothing is written before the decimal mark. */
  readonly whole: string;
  /** Digits behind the decimal mark; '' if there is none. */
  readonly decimals: string;
  readonly grouped: boolean;
  /** Grouped as in India. */
  readonly lakhs?: true;
  /** Decimal mark as written, in a language that has two and names it. */
  readonly mark?: '.' | ',';
}

export interface NumeralAt {
  readonly numeral: Numeral;
  readonly end: number;
}

const SMALL_DIGITS = '₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹';
const LAKHS = /(?:,\d{2}){1,6},\d{3}(?!\d|,\d)/y;
const LONGEST = 400; // digits; longer ones are not read as a number

export function numeralOf(whole: string): Numeral {
  return { negative: false, whole, decimals: '', grouped: false };
}

/** The digits of a subscript or superscript. */
export function plainDigits(signs: string): string {
  return Array.from(signs, (sign) => SMALL_DIGITS.indexOf(sign) % 10).join('');
}

/** A whole number with its minus, if any. */
export function integerOf(written: string): Numeral {
  return { ...numeralOf(withoutZeros(written.replace('-', ''))), negative: written.startsWith('-') };
}

/** The number whose first digit (or decimal mark) stands here; it has no sign yet. */
export function readNumeral(text: string, at: number, format: NumberFormat): NumeralAt | undefined {
  const found = readOne(text, at, format);
  if (format.other === undefined) return found;
  if (found !== undefined && format.prefersOther === undefined && !goesOn(text, found.end, format.other)) {
    return named(found, format); // the other one reads no further
  }
  const other = readOne(text, at, format.other);
  if (found === undefined || other === undefined) return named(found, format) ?? named(other, format.other);
  const further = other.end > found.end;
  const meant = other.end === found.end && format.prefersOther?.(text, at, found.end) === true;
  return further || meant ? named(other, format.other) : named(found, format);
}

function goesOn(text: string, end: number, { decimal, grouping }: NumberFormat): boolean {
  const mark = text[end] ?? '';
  return (mark === decimal || grouping.includes(mark)) && isDigitAt(text, end + 1);
}

function named(found: NumeralAt | undefined, { decimal }: NumberFormat): NumeralAt | undefined {
  if (found === undefined || found.numeral.decimals === '') return found;
  return { ...found, numeral: { ...found.numeral, mark: decimal } };
}

function readOne(text: string, at: number, format: NumberFormat): NumeralAt | undefined {
  let end = digitsEnd(text, at);
  if (end - at > LONGEST) return undefined;
  let whole = text.slice(at, end);
  let grouped = false;
  let lakhs = false;
  if (whole.length <= 3 && whole.length > 0 && (whole[0] !== '0' || whole === '0')) {
    const indian = format.lakhs === true ? lakhsFrom(text, end) : undefined;
    const groups = indian ?? groupsFrom(text, end, format);
    if (groups !== undefined) {
      whole += groups.digits;
      end = groups.end;
      grouped = true;
      lakhs = indian !== undefined;
    }
  }
  const decimals = decimalsFrom(text, end, format);
  if (decimals === undefined && whole === '') return undefined;
  if (decimals !== undefined) end += 1 + decimals.length;
  const numeral = { negative: false, whole: whole || '0', decimals: decimals ?? '', grouped };
  return { numeral: lakhs ? { ...numeral, lakhs } : numeral, end };
}

function lakhsFrom(text: string, from: number): { digits: string; end: number } | undefined {
  if (text[from] !== ',') return undefined;
  LAKHS.lastIndex = from;
  const written = LAKHS.exec(text)?.[0];
  return written === undefined
    ? undefined
    : { digits: written.replaceAll(',', ''), end: from + written.length };
}

function groupsFrom(
  text: string,
  from: number,
  format: NumberFormat,
): { digits: string; end: number } | undefined {
  const mark = text[from] ?? '';
  if (!format.grouping.includes(mark)) return undefined;
  let digits = '';
  let end = from;
  while (text[end] === mark && digitsEnd(text, end + 1) === end + 4 && digits.length < LONGEST) {
    digits += text.slice(end + 1, end + 4);
    end += 4;
  }
  // 售价¥9,999,12期: one or two digits behind the groups begin another number.
  const isList =
    text[end] === mark && mark === ',' && /^,\d{1,2}\p{Script=Han}/u.test(text.slice(end, end + 4));
  if (digits === '' || (text[end] === mark && mark !== ' ' && isDigitAt(text, end + 1) && !isList))
    return undefined;
  return { digits, end };
}

function decimalsFrom(text: string, from: number, { decimal }: NumberFormat): string | undefined {
  if (text[from] !== decimal) return undefined;
  const end = digitsEnd(text, from + 1);
  if (end === from + 1 || end - from > LONGEST) return undefined;
  const again = text[end] === decimal && isDigitAt(text, end + 1); // 1.2.3 is no number
  return again ? undefined : text.slice(from + 1, end);
}

export function digitsEnd(text: string, at: number): number {
  let end = at;
  while (end < text.length && isDigitAt(text, end)) end++;
  return end;
}

/** Without zeros in front; "0" of nothing but zeros. */
export function withoutZeros(digits: string): string {
  return digits.replace(/^0+(?=\d)/, '');
}

/** The value where it is small enough to be exact, for choosing a plural. */
export function valueOf({ whole, decimals, negative }: Numeral): number {
  const value = Number(decimals === '' ? whole : `${whole}.${decimals}`);
  return negative ? -value : value;
}
