// CSeq, and the other numbers of the head.
import { CHARACTERS, Scanner } from './scanner.js';

const MAX_CSEQ = 2 ** 31 - 1;

export interface CSeq {
  readonly number: number;
  readonly method: string;
}

/** Undefined where it is not well-formed, or the number is too large (RFC 3261, section 8.1.1.5). */
export function parseCSeq(value: string): CSeq | undefined {
  const scanner = new Scanner(value);
  const number = wholeNumber(scanner.space().run(CHARACTERS.DIGIT), MAX_CSEQ);
  const beforeSpace = scanner.at;
  if (number === undefined || scanner.space().at === beforeSpace) return undefined;
  const method = scanner.token();
  return method === '' || !scanner.space().done ? undefined : { number, method };
}

/** A number of digits alone, up to `most`; leading zeros are legal. */
export function wholeNumber(digits: string, most: number): number | undefined {
  if (!/^\d+$/.test(digits)) return undefined;
  const number = Number(digits);
  return number <= most ? number : undefined;
}
