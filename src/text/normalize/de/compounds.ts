// Numbers that are part of a German word: 3fach, 10%ig, 16-jährig, 68er, 1-Zimmer-Wohnung.
import { isDigitAt } from '../characters.js';
import { digitsEnd, numeralOf, withoutZeros } from '../numerals.js';
import { certain, type Found, type Reading } from '../reading.js';
import type { Rules } from '../shared-forms.js';
import { upper } from './grammar.js';
import { cardinal, decade, decimal } from './numbers.js';
import { WRITING } from './writing.js';

const NUMBER = String.raw`\d{1,3}(?:\.\d{3})+|\d{1,4}(?:,\d{1,2})?`;
const ENDING = '(?:e[nrsm]?)?';
const KNOWN = `(?:jähr|stünd|minüt|täg|wöch|monat|stell|köpf|teil|seit|stöck|prozent|mal|spur|tür)ig${ENDING}`;
/** Behind a hyphen any word in -ig; without one only those that are written so. */
const ADJECTIVE = new RegExp(
  `(${NUMBER})(?:[-–](${NUMBER}))?(?:-(?=[\\p{L}])|(?=(?:${KNOWN}|fach|mal|jährl)))(\\p{Ll}{2,14}ig${ENDING}|(?:Jähr|Stünd|Tag|Täg|Monat|Prozent)ig${ENDING}|[fF]ach${ENDING}|mal|dimensional${ENDING}|(?:jähr|monat|stünd|wöchent|täg)lich${ENDING})(?!\\p{L})`,
  'uy',
);
const TIMES = new RegExp(`(${NUMBER})(?: ?[-–] ?(\\d{1,3}))? mal(?![\\p{L}-]| ?\\d)`, 'uy');
const LONGEST_NUMBER = 16; // units behind its first digits
const LONGEST_RANGE = 12; // units behind its first digits
const PERCENT = new RegExp(`(${NUMBER})(?:[-–](${NUMBER}))? ?%-?(ig${ENDING})(?!\\p{L})`, 'uy');
const GROUP = /(\d{1,4})er(n|s)?(?:-(\p{Lu}\p{Ll}{2,30})(?![\p{L}-]))?(?!\p{L})/uy;
const HANGING = /1(?=-(?: (?:und|bis|oder) |\p{Lu}\p{Ll}+-\p{Lu}))/uy;
const UNIT = new RegExp(`(${NUMBER})-(\\p{L}{1,4}|€|%|°C|m²|m³)-(?=\\p{Lu})`, 'uy');

/** Behind all of a number that begins with these digits: 1.000, 2,5. */
function numberEnd({ text, runEnd }: Reading): number {
  let end = runEnd;
  while (
    end - runEnd < LONGEST_NUMBER &&
    (text[end] === '.' || text[end] === ',') &&
    isDigitAt(text, end + 1)
  )
    end = digitsEnd(text, end + 1);
  return end;
}

/** 16-jährig, 3fach, 2-3-mal: one word; 18-Jährige begins with a capital. */
function adjective(reading: Reading): Found | undefined {
  const { text } = reading;
  const end = numberEnd(reading);
  if (text[end] === ' ')
    return text.startsWith('mal', end + 1) ? joined(reading, TIMES, () => 'mal') : undefined;
  if (!/[-–\p{L}]/u.test(text[end] ?? '')) return undefined;
  const found = joined(reading, ADJECTIVE, (suffix) => suffix.toLowerCase());
  return found ?? (/[-–]/.test(text[end] ?? '') ? joined(reading, TIMES, () => 'mal') : undefined);
}

/** 10%ig */
function percent(reading: Reading): Found | undefined {
  if (!reading.text.slice(reading.runEnd, reading.runEnd + LONGEST_RANGE).includes('%')) return undefined;
  return joined(reading, PERCENT, (suffix) => `prozent${suffix}`);
}

function joined(reading: Reading, pattern: RegExp, wordOf: (suffix: string) => string): Found | undefined {
  const match = reading.match(pattern);
  if (match === undefined) return undefined;
  const [written, from = '', to, suffix = ''] = match;
  const capital = /^\p{Lu}/u.test(suffix) && !from.includes(',');
  const first = (to === undefined ? '' : `${inWord(from)}- bis `) + inWord(to ?? from) + wordOf(suffix);
  return { end: reading.at + written.length, spoken: capital ? upper(first) : first, rule: 'cardinal' };
}

/** Ein, zwei, drei: one has no s within a word. */
function inWord(written: string): string {
  const [whole = '', decimals = ''] = written.replaceAll('.', '').split(',');
  if (whole === '1' && decimals === '') return 'ein';
  return decimal({ ...numeralOf(withoutZeros(whole)), decimals });
}

/** Die 68er, in den 80ern, ein 10er-Pack. */
function group(reading: Reading): Found | undefined {
  const match = reading.match(GROUP);
  if (match === undefined) return undefined;
  const [written, digits = '', ending = '', noun] = match;
  const said = groupName(digits) + ending;
  const spoken = noun === undefined ? said : upper(said) + noun.toLowerCase();
  return { end: reading.at + written.length, spoken, rule: 'decade' };
}

function groupName(digits: string): string {
  const tens = digits.length === 2 || digits.length === 4 ? decade(digits) : undefined;
  return tens ?? `${digits === '1' ? 'eins' : cardinal(digits)}er`;
}

/** 1- bis 2-mal, a 1-Zimmer-Wohnung. */
function hanging(reading: Reading): Found | undefined {
  if (reading.text[numberEnd(reading)] !== '-') return undefined;
  if (reading.match(HANGING) !== undefined) return { end: reading.at + 1, spoken: 'ein', rule: 'cardinal' };
  return undefined;
}

/** A 200-g-Packung, a 1-TB-SSD. */
function withUnit(reading: Reading): Found | undefined {
  if (reading.text[numberEnd(reading)] !== '-') return undefined;
  const match = reading.match(UNIT);
  const [written = '', number = '', unit = ''] = match ?? [];
  const { forms, gender } = WRITING.units[unit] ?? { forms: [] };
  const name = unit === '€' ? 'Euro' : forms[gender === 'f' ? 1 : 0]; // 30-Minuten-Takt
  if (match === undefined || name === undefined) return undefined;
  const spoken = `${inWord(number)} ${name}`.replaceAll(' ', '-');
  return { end: reading.at + written.length - 1, spoken, rule: 'measure' };
}

/** In the order in which the language asks them. */
export const compoundRules = {
  behindDigits: [
    [/[-–.,%\p{L}]/u, adjective],
    [/[-–.,%]/, percent],
    [/e/, group],
    [/[-.,]/, hanging],
    [/[-.,]/, certain(withUnit)],
  ],
} satisfies Rules;
