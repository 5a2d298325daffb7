// Two figures that belong together: 1m80, 1920x1080, n° 2004-575, 3x/jour, 3M abonnés, +33 (0)6.
import { numeralOf } from '../numerals.js';
import { certain, type Found, type Reading } from '../reading.js';
import type { Rules } from '../shared-forms.js';
import { isCounted, of } from './grammar.js';
import { cardinal, decimal } from './numbers.js';
import { SPEECH } from './speech.js';
import { WRITING } from './writing.js';

const HEIGHT = /(\d{1,2}) ?m ?(\d{2})(?![\p{L}\p{N}])/uy;
const AREA = /(\d{1,5})( ?[x×] ?)(\d{1,5})(?![\p{N}]|[.,]\d)/uy;
const TIMES = /(\d{1,3}) ?(?:x|fois) ?\/ ?(\p{L}+)/uy;
const LAW = /(\d{1,4})([-/])(\d{1,5})(?:-(\d{1,3}))?(?![\p{L}\p{N}]|[-./]\d)/uy;
const BEFORE_LAW = /(?:n°|nº|numéro|articles?|art\.|décret|arrêté|loi|[LRD]\.) ?$/u;
const LONGEST_BEFORE = 12; // units before the number of a law
const MILLIONS = /(\d{1,4})(?:,(\d{1,2}))? ?(M|Md|Mds) (?:d['’]|de )?(\p{Ll}{3,})/uy;
const ROUND = /([1-9]\d{0,2}(?:[ .]\d{3}){0,3}[ .]?000[ .]?000) (\p{Ll}{3,})(?!['’])/uy;
const TRUNK = /\+(\d{2,3}) ?\(0\) ?(\d(?:[ .-]?\d{2}){4})(?!\d)/y;

function found(reading: Reading, written: string, spoken: string, rule: Found['rule']): Found {
  return { end: reading.at + written.length, spoken, rule };
}

/** 1m80 is "un mètre quatre-vingts". */
function height(reading: Reading): Found | undefined {
  const match = reading.match(HEIGHT);
  if (match === undefined) return undefined;
  const [written, metres = '', rest = ''] = match;
  const unit = Number(metres) < 2 ? 'mètre' : 'mètres';
  return found(reading, written, `${cardinal(metres)} ${unit} ${cardinal(rest)}`, 'measure');
}

/** 1920x1080, 3 x 4 m; 3 x 4 = 12 is a product. A second figure that stands apart may have a unit. */
function area(reading: Reading): Found | undefined {
  const match = reading.match(AREA);
  if (match === undefined) return undefined;
  const [written, first = '', mark = '', second = ''] = match;
  const end = reading.at + written.length;
  const product = /^ ?=/.test(reading.text.slice(end, end + 2));
  const words = `${cardinal(first)} ${product ? 'fois' : 'par'}`;
  const measured = /^ ?(?:[ckdm]?m|px|pixels?)(?!\p{L})/u.test(reading.text.slice(end, end + 8));
  if (mark === ' × ' && !measured) return undefined;
  if (mark === 'x' && !measured) return found(reading, written, `${words} ${cardinal(second)}`, 'math');
  return found(reading, written.slice(0, -second.length), `${words} `, 'math');
}

const SOLID = /(\d{1,4}(?:,\d)?) ?[xX×] ?(\d{1,4}(?:,\d)?) ?[xX×] ?(\d{1,4}(?:,\d)?)(?![\p{N}]|[.,]\d)/uy;

/** 30x20x15 cm: the last figure is read with its unit. */
function solid(reading: Reading): Found | undefined {
  const match = reading.match(SOLID);
  if (match === undefined) return undefined;
  const [written, first = '', second = '', third = ''] = match;
  const said = [first, second].map((size) => {
    const [whole = '', decimals = ''] = size.split(',');
    return decimal({ ...numeralOf(whole), decimals });
  });
  return found(reading, written.slice(0, -third.length), `${said.join(' par ')} par `, 'math');
}

const RELAY = /([2-9]|1\d) ?[x×] ?(?=(?:50|60|100|200|250|400|800|1000|1500) ?m(?!\p{L}))/uy;

/** Le relais 4x100 m */
function relay(reading: Reading): Found | undefined {
  const match = reading.match(RELAY);
  return match && found(reading, match[0], `${cardinal(match[1] ?? '', true)} fois `, 'math');
}

const HOURS_AND_PART = /(\d{1,2}) ?h ?(?:(1\/2|½)|(1\/4|¼)|(3\/4|¾))(?![\p{L}\d/])/uy;

/** 1h1/2 */
function hoursAndPart(reading: Reading): Found | undefined {
  const match = reading.match(HOURS_AND_PART);
  if (match === undefined) return undefined;
  const [written, hours = '', half, quarter] = match;
  const rest = half !== undefined ? 'demie' : quarter === undefined ? 'trois quarts' : 'quart';
  const spoken = `${cardinal(hours, true)} heure${Number(hours) > 1 ? 's' : ''} et ${rest}`;
  return found(reading, written, spoken, 'duration');
}

/** 3x/jour */
function timesPer(reading: Reading): Found | undefined {
  const match = reading.match(TIMES);
  const [written = '', number = '', period = ''] = match ?? [];
  const per = WRITING.per[period];
  if (match === undefined || per === undefined) return undefined;
  return found(reading, written, `${cardinal(number, true)} fois ${per}`, 'measure');
}

/** Loi n° 2004-575, article L. 121-1 */
function lawNumber(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const match = reading.match(LAW);
  if (match === undefined || !BEFORE_LAW.test(text.slice(Math.max(0, at - LONGEST_BEFORE), at)))
    return undefined;
  const [written, first = '', mark, second = '', third] = match;
  const part = third === undefined ? '' : ` tiret ${cardinal(third)}`;
  const rest = (second.startsWith('0') ? SPEECH.digits(second) : cardinal(second)) + part;
  return found(
    reading,
    written,
    `${cardinal(first)} ${mark === '-' ? 'tiret' : 'slash'} ${rest}`,
    'identifier',
  );
}

/** 3M abonnés, 1,5 Md d'euros */
function millions(reading: Reading): Found | undefined {
  const match = reading.match(MILLIONS);
  const [written = '', whole = '', decimals = '', size = '', noun = ''] = match ?? [];
  const magnitude = WRITING.magnitudes[size];
  if (match === undefined || magnitude === undefined || !isCounted(noun)) return undefined;
  const number = decimal({ ...numeralOf(whole), decimals });
  const name = magnitude.forms[Number(whole) < 2 ? 0 : 1] ?? '';
  return found(reading, written, `${number} ${name} ${of(noun)}`, 'cardinal');
}

/** 2 000 000 habitants: with "de", because the number ends with a noun. */
function roundMillions(reading: Reading): Found | undefined {
  const match = reading.match(ROUND);
  const [written = '', number = '', noun = ''] = match ?? [];
  if (match === undefined || !isCounted(noun)) return undefined;
  return found(reading, written, `${cardinal(number.replace(/\D/g, ''))} ${of(noun)}`, 'cardinal');
}

/** The zero of +33 (0)6 is not dialled. */
export function trunkZero(reading: Reading): Found | undefined {
  const match = reading.match(TRUNK);
  if (match === undefined) return undefined;
  const [written, country = '', rest = ''] = match;
  const digits = rest.replace(/\D/g, '');
  const groups = [country, digits.slice(0, 1), ...(digits.slice(1).match(/\d\d/g) ?? [])];
  return found(reading, written, SPEECH.telephone(groups, true), 'telephone');
}

/** In the order in which the language asks them. */
export const pairRules = {
  behindDigits: [
    [/m/, height],
    [/[xf]/, timesPer],
    [/[,M]/, millions],
    [/[\d.]/, roundMillions],
    [/[x×]/, relay],
    [/[xX×,]/, solid],
    [/h/, hoursAndPart],
    [/[x×]/, area],
    [/[-/]/, certain(lawNumber)],
  ],
} satisfies Rules;
