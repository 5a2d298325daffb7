// Names of letters and figures: A320, targa AB 123 CD, ordine n. 45781, 12/B, CAP, S. Pietro, (MI).
import { tablesOf } from '../../tables/language-tables.js';
import { certain, type Found, type Reading } from '../reading.js';
import { LiteralTable } from '../literals.js';
import type { Rules } from '../shared-forms.js';
import { cardinal, spellDigits } from './numbers.js';
import { SPEECH } from './speech.js';

const THREE_FIGURES = /(\p{Lu})-?([1-9]\d{2})(?![\p{L}\p{N}]|[-.,]\d)/uy;
const VERSIONED = /(\p{Lu}\p{L}{0,15})-(\d{1,3})\.(\d{1,2})(?![\p{L}\p{N}]|[.-]\d)/uy;
const PLATE = /([A-Z]{2})[ -]?(\d{3})[ -]?([A-Z]{2})(?![\p{L}\p{N}])/uy;
const FILE_NUMBER = /\d{4,18}(?![\p{L}\p{N}]|[.,:/-]\d| \d{3})/uy;
const FILE =
  /(?:ordine|pratica|prenotazione|ticket|pacco|contratto|spedizione|cliente|abbonato|fattura|sinistro|volo|utenza|protocollo|matricola|verbale|bolletta|conto|polizza|segnalazione|pod|pdr|fiscale|IVA)(?: è)?(?: il)?(?: ?:)? ?((?:n\.|n°|nº|nr\.?|numero|no))? ?$/iu;
const LONGEST_FILE = 40; // units before the number
const TAX_CODE = /[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z](?![\p{L}\p{N}])/uy;
const EURO_NAME = /([Ee]uro) ([0-7]|20\d\d)(?![\p{L}\d]|[.,]\d| ?(?:mila|mln|mili))/uy;
const HOUSE = /(\d{1,4}) ?\/ ?([A-Za-f])(?![\p{L}\p{N}])/uy;
const SUFFIX = /(\d{1,4})[ /-]?(bis|ter|quater|quinquies|sexies)(?![\p{L}\p{N}])/uy;
const BEFORE_HYPHEN = /\d{1,4}(?= ?[-–] ?\d{5} \p{Lu}\p{Ll})/uy;
const POSTCODE = /\d{5}(?=,? \p{Lu}\p{Ll}+)/uy;
const BEFORE_POSTCODE = /(?:, |- |– |^|\n|CAP:? )$/u;
const LAW = /(\d{1,5})\/(\d{2,5})(?![\p{L}\p{N}]|[-./]\d)/uy;
const BEFORE_LAW =
  /(?:n\.|n°|legge|decreto|d\.?p\.?r\.?|d\.?m\.?|reg\.|d\.?l\.?|d\.?lgs\.?|dpcm|l\.|delibera|sentenza|regolamento|direttiva|protocollo|prot\.|rif\.|riferimento|legislativo|ordinanza|pratica|fattura|contratto|ordine|polizza|verbale|circolare|determina)(?: UE)?(?: (?:n\.|n°|nr\.?|numero))? ?$/iu;
const PROVINCE = /\(([A-Z]{2})\)/uy;
const PROVINCES = tablesOf('it').set('provinces');
const SAINT = /S\. ?(\p{Lu}\p{Ll}+)/uy;
const SAINTS = tablesOf('it').set('saints');
const FEMALE = tablesOf('it').set('female saints');

/** Written as addresses are: l.go would be a program, p.es a host. */
const DOTTED = new LiteralTable<string>(Object.entries(tablesOf('it').map('dotted short forms')));

function dottedForm(reading: Reading): Found | undefined {
  const literal = DOTTED.at(reading.text, reading.at);
  return literal && { end: reading.at + literal.written.length, spoken: literal.value, rule: 'abbreviation' };
}

/** S. Pietro, S. Maria, S. Antonio, S. Stefano: only of names that saints bear. */
function saint(reading: Reading): Found | undefined {
  const match = reading.match(SAINT);
  const [written = '', name = ''] = match ?? [];
  if (match === undefined || !SAINTS.has(name)) return undefined;
  const title = /^[AEIOU]/.test(name)
    ? "Sant'"
    : FEMALE.has(name)
      ? 'Santa '
      : /^S[tp]/.test(name)
        ? 'Santo '
        : 'San ';
  return { end: reading.at + written.length, spoken: `${title}${name}`, rule: 'abbreviation' };
}

/** Airbus A320 is "A trecentoventi". */
function namedByLetters(reading: Reading): Found | undefined {
  const match = reading.match(THREE_FIGURES);
  if (match === undefined) return undefined;
  const [written, letters = '', digits = ''] = match;
  return { end: reading.at + written.length, spoken: `${letters} ${cardinal(digits)}`, rule: 'identifier' };
}

/** GPT-4.5: the hyphen is no minus, the point no comma. */
function versionedName(reading: Reading): Found | undefined {
  const match = reading.match(VERSIONED);
  if (match === undefined) return undefined;
  const [written, name = '', whole = '', rest = ''] = match;
  const said = /^\p{Lu}{2,3}$/u.test(name) ? SPEECH.letters(name) : name;
  return {
    end: reading.at + written.length,
    spoken: `${said} ${cardinal(whole)} punto ${cardinal(rest)}`,
    rule: 'version',
  };
}

/** AB 123 CD */
function plate(reading: Reading): Found | undefined {
  const match = reading.match(PLATE);
  if (match === undefined) return undefined;
  const [written, first = '', digits = '', last = ''] = match;
  const spoken = `${SPEECH.letters(first)} ${spellDigits(digits)} ${SPEECH.letters(last)}`;
  return { end: reading.at + written.length, spoken, rule: 'identifier' };
}

/** Ordine n. 45781, pratica 20318: a name, not a count. */
function fileNumber(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const match = reading.match(FILE_NUMBER);
  if (match === undefined) return undefined;
  const before = FILE.exec(text.slice(Math.max(0, at - LONGEST_FILE), at));
  if (before === null) return undefined;
  return { end: at + match[0].length, spoken: spellDigits(match[0]), rule: 'digits' };
}

/** Via Roma 12/B, 12 bis */
function houseNumber(reading: Reading): Found | undefined {
  const slashed = reading.match(HOUSE);
  const match = slashed ?? reading.match(SUFFIX);
  if (match === undefined) return undefined;
  const [written, number = '', letter = ''] = match;
  const spoken = `${cardinal(number)} ${slashed === undefined ? '' : 'barra '}${letter}`;
  return { end: reading.at + written.length, spoken, rule: 'address' };
}

/** RSSMRA80A01H501U */
export function taxCode(reading: Reading): Found | undefined {
  const match = reading.match(TAX_CODE);
  if (match === undefined) return undefined;
  const runs = Array.from(match[0].matchAll(/\d+|\p{L}+/gu), ([run]) =>
    /\d/.test(run) ? spellDigits(run) : SPEECH.letters(run),
  );
  return { end: reading.at + match[0].length, spoken: runs.join(' '), rule: 'identifier' };
}

/** Euro 6 is a norm, Euro 2024 a championship. */
function euroName(reading: Reading): Found | undefined {
  const match = reading.match(EURO_NAME);
  if (match === undefined) return undefined;
  const [written, name = '', number = ''] = match;
  return { end: reading.at + written.length, spoken: `${name} ${cardinal(number)}`, rule: 'cardinal' };
}

/** Via Garibaldi 5 - 20121 Milano: the hyphen makes no range. */
export function beforePostcode(reading: Reading): Found | undefined {
  const match = reading.match(BEFORE_HYPHEN);
  return match && { end: reading.at + match[0].length, spoken: cardinal(match[0]), rule: 'address' };
}

/** 00184 Roma, 20121 Milano */
function postcode(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const match = reading.match(POSTCODE);
  if (match === undefined || !BEFORE_POSTCODE.test(text.slice(Math.max(0, at - 6), at))) return undefined;
  return { end: at + match[0].length, spoken: spellDigits(match[0]), rule: 'address' };
}

/** Legge 104/92, decreto n. 231/2001: the slash has a name. */
function lawNumber(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const match = reading.match(LAW);
  if (match === undefined || !BEFORE_LAW.test(text.slice(Math.max(0, at - LONGEST_FILE), at)))
    return undefined;
  const [written, number = '', year = ''] = match;
  if (/^(?:19|20)\d\d$/.test(number) && !/^(?:19|20)\d\d$/.test(year)) {
    const said = /^0|\d{4}/.test(year) ? spellDigits(year) : cardinal(year);
    return { end: at + written.length, spoken: `${cardinal(number)} barra ${said}`, rule: 'identifier' };
  }
  return {
    end: at + written.length,
    spoken: `${cardinal(number)} ${/^(?:\d\d|(?:19|20)\d\d)$/.test(year) ? 'del' : 'barra'} ${cardinal(/^0\d$/.test(year) ? `20${year}` : year)}`,
    rule: 'identifier',
  };
}

/** Monza (MB) */
export function province(reading: Reading): Found | undefined {
  const match = reading.match(PROVINCE);
  if (match === undefined || !PROVINCES.has(match[1] ?? '')) return undefined;
  return {
    end: reading.at + match[0].length,
    spoken: `(${SPEECH.letters(match[1] ?? '')})`,
    rule: 'acronym',
  };
}

/** In the order in which the language asks them. */
export const nameRules = {
  behindDigits: [
    [/\//, certain(lawNumber)],
    [/[-/btqs]/, houseNumber],
    [/[,\p{Lu}]/u, postcode],
    [[4, 16], fileNumber],
  ],
  atLetter: [
    [/[acdlps]/i, dottedForm, /\./],
    [/S/, saint, /\./],
    [/e/i, certain(euroName), /\d/],
  ],
  atLetterLater: [
    [/\p{Lu}/u, versionedName, /-/],
    [/[A-Z]/, plate, /[-\d]/],
    [/\p{Lu}/u, namedByLetters, /[-\d]/],
  ],
} satisfies Rules;
