// Two numbers with a mark between them that is no fraction and no time: blood pressure, scales, tyres, 50/50.
import { certain, type Found, type Reading } from '../reading.js';
import { withoutZeros } from '../numerals.js';
import { romanNumeral } from '../recognise/words.js';
import type { Rules } from '../shared-forms.js';
import { cardinal } from './numbers.js';
import { SPEECH } from './speech.js';

const SLASHED = /(\d{2,3})\/(\d{2,3})(?: ?mm ?Hg)?(?![\p{L}\d/]|[.,]\d)/uy;
const SCALE = /1 ?: ?(\d{1,3}(?:[. ]\d{3})+|\d{4,9})(?![\d:]|[.,]\d)/uy;
const PRESSURE = /(?:[bB]lutdruck|\bRR\b|systolisch)/u;
const UNIT = /^ ?(?:[kMG]?Hz|[kM]?W|k?V|m?A|GB|TB|km|Mbit|MBit)(?!\p{L})/u;
const LONGEST_LEAD = 60; // units before a blood pressure that may say that it is one

/** Blutdruck 120/80; 50/50: what is no part of a whole is said as a ratio. */
function ratio(reading: Reading): Found | undefined {
  const match = reading.match(SLASHED);
  if (match === undefined) return undefined;
  const [written, first = '', second = ''] = match;
  if (/(?:Größen?|Gr\.|Konfektionsgröße) $/.test(reading.text.slice(Math.max(0, reading.at - 8), reading.at)))
    return {
      end: reading.at + written.length,
      spoken: `${cardinal(first)} ${cardinal(second)}`,
      rule: 'code',
    };
  if (
    /(?:Pl\.|[pP]lätzen?|Sitze?|Platz|Gleise?|Gl\.|[nN]rn?\.|Hausnummer|Zimmer|str\.|straße|weg|gasse|allee|platz) $/.test(
      reading.text.slice(Math.max(0, reading.at - 10), reading.at),
    )
  )
    return {
      end: reading.at + written.length,
      spoken: `${cardinal(withoutZeros(first))} und ${cardinal(withoutZeros(second))}`,
      rule: 'code',
    };
  if (first.startsWith('0') || second.startsWith('0')) return undefined;
  const isRate = UNIT.test(reading.text.slice(reading.at + written.length, reading.at + written.length + 6));
  if (isRate || !isRatio(reading, written, Number(first), Number(second))) {
    const end = reading.at + first.length + 1; // 230/400 V: the second has the unit
    return second.length > 2 || isRate
      ? { end, spoken: `${cardinal(first)} Schrägstrich`, rule: 'code' }
      : undefined;
  }
  const unit = written.endsWith('Hg') ? ' Millimeter Quecksilbersäule' : '';
  return {
    end: reading.at + written.length,
    spoken: `${cardinal(first)} zu ${cardinal(second)}${unit}`,
    rule: 'measure',
  };
}

function isRatio({ text, at }: Reading, written: string, first: number, second: number): boolean {
  if (written.endsWith('Hg') || first + second === 100) return true;
  if (PRESSURE.test(text.slice(Math.max(0, at - LONGEST_LEAD), at))) return true;
  return first > second && first >= 80 && first <= 240 && second >= 40 && second <= 140;
}

const REGISTER =
  'Z[RBA]|[AI]ZR|ARZ|StR|StB|A[ZB]R|AZ[BN]|Bv[A-Z]|KLs|Ks|NBs|Qs|[JDLC]s|OWi|UF|WF|Ca|Sa|Ta|TaBV|BV|AS|KR|[B-FK-UW]';
const COURT_FILE = new RegExp(
  `([IVX]{1,5}|\\d{1,3}) (${REGISTER}) (\\d{1,5})/(\\d{4}|\\d{2})(?![\\p{L}\\p{N}]|[.,/]\\d)`,
  'uy',
);

/** IV ZR 123/20, 1 BvR 16/13, 8 AZR 1/21: chamber, register, number and year. */
export function courtFile(reading: Reading): Found | undefined {
  const match = reading.match(COURT_FILE);
  if (match === undefined) return undefined;
  const [written, chamber = '', register = '', number = '', year = ''] = match;
  const first = /^\d/.test(chamber) ? withoutZeros(chamber) : String(romanNumeral(chamber) ?? 0);
  const of = year.startsWith('0') ? SPEECH.digits(year) : cardinal(year);
  const spoken = `${cardinal(first)} ${SPEECH.letters(register)} ${cardinal(withoutZeros(number))} Schrägstrich ${of}`;
  return { end: reading.at + written.length, spoken, rule: 'code' };
}

/** Maßstab 1:25.000 */
function scale(reading: Reading): Found | undefined {
  const match = reading.match(SCALE);
  if (match === undefined) return undefined;
  const large = cardinal((match[1] ?? '').replace(/[. ]/g, ''));
  return { end: reading.at + match[0].length, spoken: `eins zu ${large}`, rule: 'score' };
}

const PARAGRAPH_OF_LAW = /(?:§|§§|Art\.|Artikel|Paragraf|Paragraph) ?\d{1,4}[a-z]?,? $/u;
const SECTION_OF_LAW = /[IVX]{1,4}(?=[ ,.;)]|$)/y;

/** § 823 I BGB, Art. 99 II */
function sectionOfLaw(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const written = reading.match(SECTION_OF_LAW)?.[0];
  const value = written === undefined ? undefined : romanNumeral(written);
  if (written === undefined || value === undefined) return undefined;
  if (!PARAGRAPH_OF_LAW.test(text.slice(Math.max(0, at - 20), at))) return undefined;
  return { end: at + written.length, spoken: `Absatz ${cardinal(String(value))}`, rule: 'roman' };
}

const NUMBERED_BOOK = /([1-5])(?:\. ?| )(?=(?:Kor|Mose|Kön|Sam|Chr|Petr|Joh|Thess|Tim)\.? \d)/uy;

/** 1. Kor 13,4 */
function numberOfBook(reading: Reading): Found | undefined {
  const match = reading.match(NUMBERED_BOOK);
  if (match === undefined) return undefined;
  return {
    end: reading.at + match[0].length,
    spoken: `${['erster', 'zweiter', 'dritter', 'vierter', 'fünfter'][Number(match[1]) - 1] ?? ''} `,
    rule: 'ordinal',
  };
}

const PAGES = /(\d{2,4})[-–](\d{1,3})(?![\p{L}\p{N}]|[-–.,]\d)/uy;

/** S. 101–15: the end is written without its hundreds. */
function pages(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const match = /(?:S\.|Seiten?) $/.test(text.slice(Math.max(0, at - 8), at))
    ? reading.match(PAGES)
    : undefined;
  const [written = '', from = '', to = ''] = match ?? [];
  const last = from.slice(0, from.length - to.length) + to;
  if (match === undefined || to.length >= from.length || Number(last) <= Number(from)) return undefined;
  return { end: at + written.length, spoken: `${cardinal(from)} bis ${cardinal(last)}`, rule: 'range' };
}

/** In the order in which the language asks them. */
export const pairRules = {
  behindDigits: [
    [/\//, certain(ratio)],
    [/[-–]/, pages],
    [/[.KMSCPJT]/, numberOfBook],
  ],
  behindDigitsLater: [
    [/[A-Z]/, courtFile],
    [/:/, scale],
  ],
  atLetter: [[/[IVX]/, sectionOfLaw]],
} satisfies Rules;
