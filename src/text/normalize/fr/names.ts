// Names of letters and figures: A380, J-7, UTC+2, account numbers.
import type { Found, Reading } from '../reading.js';
import type { Rules } from '../shared-forms.js';
import { cardinal, spellDigits } from './numbers.js';
import { SPEECH } from './speech.js';

const THREE_FIGURES = /(\p{Lu}{1,3})-?([1-9]\d{2})(?![\p{L}\p{N}]|[-.,]\d|-\p{Lu}(?!\p{L}))/uy;
const PLATE = /([A-Z]{2})([- ])(\d{3})\2([A-Z]{2})(?![\p{L}\p{N}])/uy;
const INSURANCE = /[12] \d{2} \d{2} \d[\dAB] \d{3} \d{3}(?: \d{2})?(?![\p{L}\p{N}]| \d)/uy;
const VERSIONED = /(\p{Lu}\p{L}{0,15})-(\d{1,3})\.(\d{1,2})(?![\p{L}\p{N}]|[.-]\d)/uy;
const DAY = /([JHD])([-+])(\d{1,3})(?![\p{L}\p{N}]|[-.,]\d)/uy;
const OFFSET = /([+\-−])(\d{1,2})(?::(\d{2}))?(?![\p{L}\p{N}])/uy;
const ACCOUNT = /[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![\p{L}\p{N}])/uy;
const FILE_NUMBER = /\d{4,18}(?![\p{L}\p{N}]|[.,:/-]\d| \d{3})/uy;
const FILE =
  /(?:commande|dossier|réservation|ticket|colis|contrat|suivi|client|abonné|facture|sinistre|vol)(?: est)?(?: le)?(?: ?:)?( (?:\p{Lu}{2,5} )?(?:n°|nº|numéro|no))?[  ]?$/iu;
const LONGEST_FILE = 40; // units before the number

/** AB-123-CD; with spaces only where it is said to be a plate. */
function plate(reading: Reading): Found | undefined {
  const match = reading.match(PLATE);
  if (match === undefined) return undefined;
  const [written, first = '', mark, digits = '', last = ''] = match;
  const before = reading.around(reading.at).previousShort;
  if (mark === ' ' && !/^(?:immatriculation|immatriculée?|plaque)$/.test(before)) return undefined;
  const spoken = `${SPEECH.letters(first)} ${cardinal(digits)} ${SPEECH.letters(last)}`;
  return { end: reading.at + written.length, spoken, rule: 'identifier' };
}

/** 1 85 05 78 006 048 22: of the social insurance. */
export function insuranceNumber(reading: Reading): Found | undefined {
  const match = reading.match(INSURANCE);
  if (match === undefined) return undefined;
  return {
    end: reading.at + match[0].length,
    spoken: SPEECH.telephone(match[0].split(' '), false),
    rule: 'digits',
  };
}

/** Airbus A380 is "A trois cent quatre-vingts". */
function namedByLetters(reading: Reading): Found | undefined {
  const match = reading.match(THREE_FIGURES);
  if (match === undefined || reading.around(reading.at).previousWord === 'vol') return undefined;
  const [written, letters = '', digits = ''] = match;
  const spoken = `${SPEECH.letters(letters)} ${cardinal(digits)}`;
  return { end: reading.at + written.length, spoken, rule: 'identifier' };
}

/** GPT-4.5: the hyphen is no minus, the point no comma. */
function versionedName(reading: Reading): Found | undefined {
  const match = reading.match(VERSIONED);
  if (match === undefined) return undefined;
  const [written, name = '', whole = '', rest = ''] = match;
  const said = /^\p{Lu}{2,3}$/u.test(name) ? SPEECH.letters(name) : name;
  const spoken = `${said} ${cardinal(whole)} point ${cardinal(rest)}`;
  return { end: reading.at + written.length, spoken, rule: 'version' };
}

/** J-7, H+2 */
function dayOrHour(reading: Reading): Found | undefined {
  const match = reading.match(DAY);
  if (match === undefined) return undefined;
  const [written, letter = '', sign, days = ''] = match;
  const spoken = `${letter} ${sign === '+' ? 'plus' : 'moins'} ${cardinal(days)}`;
  return { end: reading.at + written.length, spoken, rule: 'identifier' };
}

/** Commande n° 45781, dossier 20318: a name, not a count. */
export function fileNumber(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const match = reading.match(FILE_NUMBER);
  if (match === undefined) return undefined;
  const before = FILE.exec(text.slice(Math.max(0, at - LONGEST_FILE), at));
  const next = reading.around(at + match[0].length).nextWord;
  if (before === null || (before[1] === undefined && next.endsWith('s'))) return undefined;
  return { end: at + match[0].length, spoken: spellDigits(match[0]), rule: 'digits' };
}

/** The +2 of UTC+2 */
export function offset(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!/(?:UTC|GMT)$/.test(text.slice(Math.max(0, at - 3), at))) return undefined;
  const match = reading.match(OFFSET);
  if (match === undefined) return undefined;
  const [written, sign, hours = '', minutes] = match;
  const rest = minutes === undefined || minutes === '00' ? '' : ` ${cardinal(minutes)}`;
  const spoken = `${sign === '+' ? 'plus' : 'moins'} ${cardinal(String(Number(hours)))}${rest}`;
  return { end: at + written.length, spoken, rule: 'zone' };
}

/** FR76 3000 6000 ...: each character by its name. */
function accountNumber(reading: Reading): Found | undefined {
  const match = reading.match(ACCOUNT);
  if (match === undefined) return undefined;
  const spoken = match[0]
    .split(' ')
    .map((group) =>
      group
        .replace(/\d+|[A-Z]+/g, (run) =>
          /\d/.test(run) ? ` ${spellDigits(run)}` : ` ${SPEECH.letters(run)}`,
        )
        .trim(),
    )
    .join(', ');
  return { end: reading.at + match[0].length, spoken, rule: 'digits' };
}

/** In the order in which the language asks them. */
export const nameRules = {
  atLetter: [
    [/[A-Z]/, accountNumber, /\d/],
    [/[A-Z]/, plate, /[-\d]/],
    [/\p{Lu}/u, versionedName, /-/],
    [/[JHD]/, dayOrHour, /[-+]/],
    [/\p{Lu}/u, namedByLetters, /[-\d]/],
  ],
} satisfies Rules;
