// Numbers that are said digit by digit: emergency calls, plates of cars, orders, and sections of a text with
// a full stop.
import { tablesOf } from '../../tables/language-tables.js';
import { CharacterSet } from '../../character-set.js';
import { certain, type Found, type Reading } from '../reading.js';
import { withoutZeros } from '../numerals.js';
import type { Rules } from '../shared-forms.js';
import { cardinal } from './numbers.js';
import { SPEECH } from './speech.js';
import { WRITING } from './writing.js';

const EMERGENCY =
  /(?:11[025]|116 ?117|112|133|144|122|117|118|147)(?![\p{L}\p{N}]|[.,:/-]\d| (?:Euro|Prozent|[\p{Lu}][\p{Ll}]))/uy;
const CALLING =
  /(?:[rR]uf\p{L}*|[wW]ähl\p{L}*|[nN]otruf\p{L}*|[nN]ummer|[hH]otline|[tT]elefon\p{L}*)(?! \d)[^.!?]{0,28}(?:die|der|den|oder|und|unter|[nN]otruf|[nN]ummer|Sie|Sofort|sofort)(?: \d{3})?(?: |: )$|(?<!\p{L})unter (?:der |die )?$/u;
const LONGEST_LEAD = 56; // units before a number that may say that it is called

/** Rufen Sie die 110 oder 112. */
function emergency(reading: Reading): Found | undefined {
  const match = reading.match(EMERGENCY);
  if (match === undefined) return undefined;
  if (!CALLING.test(reading.text.slice(Math.max(0, reading.at - LONGEST_LEAD), reading.at))) return undefined;
  const spoken = SPEECH.telephone(match[0].split(' '), false);
  return { end: reading.at + match[0].length, spoken, rule: 'telephone' };
}

const PLATE = /([A-ZÄÖÜ]{1,3})-([A-Z]{1,2}) ?(\d{1,4})([EH])?(?![\p{L}\p{N}-])/uy;

/**
 * Registration codes of large towns. A plate with another code needs a keyword before it, such as
 * Kennzeichen.
 */
const TOWNS: ReadonlySet<string> = tablesOf('de').set('number plates');

/** B-MW 1234 */
export function plate(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const match = reading.match(PLATE);
  if (match === undefined) return undefined;
  const [written, town = '', letters = '', digits = '', kind = ''] = match;
  const isPlate = TOWNS.has(town) && letters.length === 2 && letters !== 'XL' && digits.length > 1;
  const before = text.slice(Math.max(0, at - LONGEST_LEAD), at);
  if (!isPlate && !/[kK]ennzeichen|Kfz|Nummernschild/.test(before)) return undefined;
  const spoken = [SPEECH.letters(town + letters), SPEECH.digits(digits), SPEECH.letters(kind)]
    .join(' ')
    .trim();
  return { end: at + written.length, spoken, rule: 'identifier' };
}

const FILE =
  /(?:[A-Z]{2} ?)?\d{1,12}(?:[ ./-](?:\d{1,12}|[A-Z]{1,4}(?=[ ./-]?\d))){0,7}(?![\p{L}\p{N}]|[.,:/-]\d| ?[€%])/uy;
const NAMES_FILE = /(?:\p{L}nr\.|-(?:Id)?Nr\.|\p{L}nummer|Az\.|(?:Akten|Geschäfts|Kassen|Kenn)zeichen):? $/u;
const NAMES_TELEPHONE =
  /(?:[tT]el\p{Ll}*|[fF]ax|[hH]andy|[mM]obil\p{Ll}*|[rR]uf|[hH]aus|Hs\.|Tel\.)-?[nN](?:r\.|ummer):? $/u;
const ZEROS = /^\d{2,10}[-/]0\d{2,9}$/;
const FEWEST_OF_FILE = 6; // digits

/** Schaden-Nr.: 2024/118-7734, VS-Nr. 65 120394 K 507; with zeros behind any word: 2024-00123. */
export function fileNumber(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!reading.isFresh) return undefined;
  const written = reading.match(FILE)?.[0];
  if (written === undefined) return undefined;
  const before = text.slice(Math.max(0, at - LONGEST_LEAD), at);
  const isNamed =
    NAMES_FILE.test(before) &&
    !NAMES_TELEPHONE.test(before) &&
    !(/ [A-Z]/.test(written) && written.includes('/'));
  const fewest = /^\d+$/.test(written) && /-Nr\.:? $/.test(before) ? FEWEST - 1 : FEWEST_OF_FILE;
  const isLong = written.replace(/\D/g, '').length >= fewest;
  if (!(isNamed && isLong) && !ZEROS.test(written)) return undefined;
  const spoken = written.replaceAll(/(\d+)|([A-Z]+)|[ ./-]/g, (mark, digits?: string, letters?: string) => {
    if (digits !== undefined) return ` ${SPEECH.digits(digits)}`;
    return letters === undefined
      ? mark === '/' && isNamed
        ? ' Schrägstrich'
        : ','
      : ` ${SPEECH.letters(letters)}`;
  });
  return { end: at + written.length, spoken: spoken.trim(), rule: 'digits' };
}

const STATUS = /[1-5]\d\d(?![\p{L}\p{N}]|[.,:/-]\d)/uy;

/** HTTP 401 bzw. 403 */
function secondStatus(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const isSecond = /HTTP \d{3},? (?:bzw\.|oder|und|u\.) $/.test(text.slice(Math.max(0, at - 16), at));
  const written = isSecond ? reading.match(STATUS)?.[0] : undefined;
  if (written === undefined) return undefined;
  return { end: at + 3, spoken: SPEECH.digits(written), rule: 'digits' };
}

const SECTION =
  /(\d{1,4}(?:\.\d{1,3}){1,4})(?![\p{L}\p{N}]|[.,]\d| ?(?:€|%|Uhr|EUR|CHF|Euro|Grad|Prozent|°))/uy;
const NUMBERED =
  /(?:^|[\s(])(?:Kapitel|Kap\.|Abschnitte?s?|Abschn\.|Version|Ver\.|Release|Punkt|Ziffer|Ziff\.|Nummer|Nr\.|Abbildung|Abb\.|Tabelle|Tab\.|Anlage|Anhang|Teil|Übung|Aufgabe|Schritt|Python|i?OS|iPadOS|macOS|Ubuntu|Android|Windows|Java|PHP|Node|Swift|Kotlin|PostgreSQL|MySQL|Debian|Fedora|Kernel|Firmware|Bluetooth|USB|HDMI|Build|Web|Industrie|Update|GPT|Raum|R\.|Zimmer|Zi\.|Büro) (?:[<>=≥≤~]{1,2} ?)?$/u;

/** Kapitel 4.10, Version 3.11: neither a date nor a decimal. */
export function section(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const match = NUMBERED.test(text.slice(Math.max(0, at - 16), at)) ? reading.match(SECTION) : undefined;
  if (match === undefined) return undefined;
  const spoken = (match[1] ?? '')
    .split('.')
    .map((part) =>
      part.length > 1 && part.startsWith('0') ? SPEECH.digits(part) : cardinal(withoutZeros(part)),
    )
    .join(' Punkt ');
  return { end: at + match[0].length, spoken, rule: 'version' };
}

const CODE =
  /\d{2,12}(?:[ -]\d{2,8}){0,5}(?![\p{L}\p{N}]|[.,:/-]\d|[ ]?[€%]| (?:Euro|Prozent|Franken|Cent))/uy;
const CODED =
  /(?:(?:\p{L}(?:code|nummer|nr\.?|passwort|kennwort|kennung|-PIN|-TAN|-ID|pin)|[zZ]iffern[^.!?\d]{0,24}(?= )):?(?: (?:ist|lautet|lauten|sind|endet auf|war|mit))?|endet auf|[eE]ndziffern?):? ?(?:die |\((?:z\. ?B\.|wie|etwa|Beispiel:) )?$|\p{L}?[cC]ode \((?:z\. ?B\.|wie|etwa|Beispiel:) $/u;
const CODED_END = new CharacterSet(' .:');
const FEWEST = 4; // digits of a number that is not counted with
const LONGEST_CODED = 48; // units before a code that may say that it is one

/** Ihr Verifizierungscode lautet 482 913; a Hausnummer is no code. */
function coded(reading: Reading): Found | undefined {
  const { text, at, runEnd } = reading;
  const match = CODED_END.at(text, at - 1) ? reading.match(CODE) : undefined;
  const before = text.slice(Math.max(0, at - LONGEST_CODED), at);
  if (match === undefined || !CODED.test(before)) return undefined;
  const [written] = match;
  const isCode = /(?:code|PIN|TAN|pin|wort|Ziffern|ziffern)/.test(before) || written.length > runEnd - at;
  if (written.length < (isCode ? FEWEST - 1 : FEWEST)) return undefined;
  const spoken = SPEECH.telephone(written.split(/[ -]/), false);
  return { end: at + written.length, spoken, rule: 'digits' };
}

const OF_NUMBER = /(\p{Lu}\p{Ll}{2,20})(?:nr|-Nr)\.(?!\p{L})/uy;

/** Bestellnr. 4711, Artikel-Nr. 12 */
export function numberName(reading: Reading): Found | undefined {
  const { text, runEnd } = reading;
  const named = text.startsWith('nr.', runEnd - 2) || text.startsWith('-Nr.', runEnd);
  const match = named ? reading.match(OF_NUMBER) : undefined;
  if (match === undefined) return undefined;
  return { end: reading.at + match[0].length, spoken: `${match[1] ?? ''}nummer`, rule: 'abbreviation' };
}

const LAW = /(?:\p{Lu}\p{Ll}{0,11}){2,7}(?<=\p{L}(?:[GOV]|GB))(?![\p{L}\p{N}])/uy;
const LAST_OF_LAW = new CharacterSet('GOVB');
const LAW_PART = /\p{Lu}\p{Ll}*/gu;

/** PAuswG, BImSchG, HeizkostenV: what a voice can read as a word stays one. */
export function lawName(reading: Reading): Found | undefined {
  const { text, runEnd } = reading;
  const match = reading.isFresh && LAST_OF_LAW.at(text, runEnd - 1) ? reading.match(LAW) : undefined;
  if (match === undefined || !/\p{Ll}/u.test(match[0]) || WRITING.read.has(match[0])) return undefined;
  const parts = match[0].match(LAW_PART) ?? [];
  const said = parts.map((part) => (/[aeiouyäöü]/i.test(part) ? part : SPEECH.letters(part.toUpperCase())));
  return { end: reading.at + match[0].length, spoken: said.join(' '), rule: 'acronym' };
}

const SENTENCE = /S\. ?(?=\d{1,2}(?!\d))/uy;
const BEHIND_PARAGRAPH =
  /(?:(?:Abs\.|Absatz) ?\d{1,4}[a-z]?,?|(?:§|Art\.|Artikel|Alt\.) ?\d{1,4}[a-z]?|Nr\. ?\d{1,3}) $/u;

/** § 5 Abs. 2 S. 1: a sentence of a law, no page. */
export function sentenceOfLaw(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const match = reading.match(SENTENCE);
  if (match === undefined || !BEHIND_PARAGRAPH.test(text.slice(Math.max(0, at - 16), at))) return undefined;
  return { end: at + 2, spoken: 'Satz', rule: 'abbreviation' };
}

/** In the order in which the language asks them. */
export const codeRules = {
  atDigit: [
    { knows: ({ isFresh, digits }) => isFresh && digits === 3, recognise: certain(emergency) },
    { knows: ({ isFresh, digits }) => isFresh && digits === 3, recognise: certain(secondStatus) },
    { knows: ({ isFresh, digits }) => isFresh && digits > 1, recognise: coded },
  ],
} satisfies Rules;
