// Results and codes in the forms that only Portuguese has.
import type { Around, Found, Reading } from '../reading.js';
import { SPEECH } from './speech.js';
import { WRITING } from './writing.js';

const NEARBY = 48; // units in which a word tells of a game

export function isOfGame({ text, start, end }: Around): boolean {
  const teams =
    /\p{Lu}\p{Ll}+ $/u.test(text.slice(Math.max(0, start - 24), start)) &&
    /^ \p{Lu}\p{Ll}/u.test(text.slice(end, end + 3)); // Brasil 2 x 0 Chile
  if (teams) return true;
  const near = `${text.slice(Math.max(0, start - NEARBY), start)} ${text.slice(end, end + NEARBY)}`;
  return (near.toLowerCase().match(/\p{L}+/gu) ?? []).some((word) => WRITING.scoreWords.has(word));
}

const TAX_NUMBER = /\d{3}\.\d{3}\.\d{3}-\d{2}(?!\d)|\d{2}\.\d{3}\.\d{3}\/\d{4}-\d{2}(?!\d)/y;
const ACCOUNT = /\d{1,3}\.\d{3}-[\dX](?![\p{L}\p{N}-])/uy;
const SHORT_ACCOUNT = /\d{4,8}-[\dX](?![\p{L}\p{N}-])/uy;
const BEFORE_ACCOUNT = /(?:c\/c|conta|corrente|poupança|ag[.]|agência):? (?:n\.?º )?$/iu;
const IDENTITY_CARD = /\d{1,2}\.\d{3}\.\d{3}-[\dX](?![\p{L}\p{N}])/uy;
const LAWSUIT = /\d{7}-\d{2}\.\d{4}\.\d\.\d{2}\.\d{4}(?!\d)/y;
const POSTCODE = /\d{5}-\d{3}(?!\d)|\d{4}-\d{3}(?= \p{Lu})/uy;

/** CPF, CNPJ, RG, lawsuits and postcodes: digit by digit, in the groups that are written. */
export function grouped(reading: Reading): Found | undefined {
  if (!reading.isFresh || !/[.-]/.test(reading.text[reading.runEnd] ?? '')) return undefined;
  const found = [TAX_NUMBER, IDENTITY_CARD, ACCOUNT, LAWSUIT, POSTCODE]
    .map((pattern) => reading.match(pattern))
    .find((known) => known !== undefined);
  const match = found ?? (isBehindAccount(reading) ? reading.match(SHORT_ACCOUNT) : undefined);
  if (match === undefined) return undefined;
  const spoken = (match[0].match(/\d+|X/g) ?? []).map((group) => SPEECH.digits(group)).join(', ');
  return { end: reading.at + match[0].length, spoken, rule: 'digits' };
}

function isBehindAccount({ text, at }: Reading): boolean {
  return BEFORE_ACCOUNT.test(text.slice(Math.max(0, at - 16), at));
}

const PLATE = /[A-Z]{3}\d[A-Z]\d{2}(?![\p{L}\p{N}-])/uy;

/** BRA2E19: a number plate. */
export function plate(reading: Reading): Found | undefined {
  const match = reading.isFresh && reading.runEnd === reading.at + 3 ? reading.match(PLATE) : undefined;
  if (match === undefined) return undefined;
  const spoken = Array.from(match[0], (sign) => (/\d/.test(sign) ? SPEECH.digits(sign) : sign)).join(' ');
  return { end: reading.at + match[0].length, spoken, rule: 'identifier' };
}
