// Short phrases that figures make with the words around them in Italian: scade il 12/26, 2/3 tazza, 55x40x23
// cm, schermo da 27".
import { certain, type Found, type Reading } from '../reading.js';
import { expiry, keyedGroups, type Rules } from '../shared-forms.js';
import { sayFraction } from './amounts.js';
import { cardinal, decimal, spellDigits } from './numbers.js';
import { numeralOf } from '../numerals.js';
import { SPEECH } from './speech.js';
import { WRITING } from './writing.js';
import { MEASURES_OF } from './grammar.js';

/** Behind these words two figures and two are a month and a year. */
const EXPIRING = /(?:scad\p{L}*\.?|valid\p{L}*|carta|exp\.?)[\p{L} :('’.*°-]{0,24}$/iu;
const LONGEST_LEAD = 40; // units
const MONTH = /(al|il|del|dal) (0?[1-9]|1[0-2])\/((?:20)?\d\d)(?![\p{L}\d/-]|[.,]\d)/uy;
const LEADS: Readonly<Record<string, string>> = { al: 'a', il: 'a', del: 'di', dal: 'da' };
const PORTION = /(\d)\/(\d{1,2}) (\p{Ll}{4,20})(?![\p{L}'’])/uy;
const SOLID = /(\d{1,4}(?:,\d)?) ?[xX×] ?(\d{1,4}(?:,\d)?) ?[xX×] ?(\d{1,4}(?:,\d)?)(?![\p{N}]|[.,]\d)/uy;

function monthOf(month: string, year: string, reading: Reading): string | undefined {
  return SPEECH.date({ month: Number(month), year, style: 'name' }, reading.around(reading.at));
}

/** Scade il 12/26 is "a dicembre"; the day has no place there. */
function toMonth(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const match = reading.match(MONTH);
  const [written = '', article = '', month = '', year = ''] = match ?? [];
  const short = year.length === 2;
  if (match === undefined || (short && Number(year) < 13)) return undefined;
  if (short && !EXPIRING.test(text.slice(Math.max(0, at - LONGEST_LEAD), at))) return undefined;
  const name = monthOf(month, year, reading);
  if (name === undefined) return undefined;
  return { end: at + written.length, spoken: `${LEADS[article] ?? 'a'} ${name}`, rule: 'date' };
}

/** Scadenza: 12/26 */
const cardExpiry = expiry(EXPIRING, ({ month, year }, around) =>
  SPEECH.date({ month, year, style: 'name' }, around),
);

/** 2/3 tazza d'olio */
function portion(reading: Reading): Found | undefined {
  const match = reading.match(PORTION);
  const [written = '', numerator = '', denominator = '', noun = ''] = match ?? [];
  if (match === undefined || !MEASURES_OF.has(noun) || Number(numerator) >= Number(denominator))
    return undefined;
  if (numerator === '1' && denominator === '2') return undefined;
  const part = sayFraction({ numerator, denominator }, 'alone', 'm');
  return { end: reading.at + written.length, spoken: `${part} di ${noun}`, rule: 'fraction' };
}

/** 55x40x23 cm */
function solid(reading: Reading): Found | undefined {
  const match = reading.match(SOLID);
  if (match === undefined) return undefined;
  const [written, first = '', second = '', third = ''] = match;
  const said = [first, second].map((size) => {
    const [whole = '', decimals = ''] = size.split(',');
    return decimal({ ...numeralOf(whole), decimals });
  });
  // The last one is read with its unit.
  return {
    end: reading.at + written.length - third.length,
    spoken: `${said.join(' per ')} per `,
    rule: 'math',
  };
}

const codeGroups = keyedGroups(
  /(?:(?<!\p{L})codice(?: (?!civile|penale|della strada)[\p{L}’'-]{1,16}){0,4}|password|ordine|pratica|prenotazione|tracking|spedizione|rif\.|riferimento)(?: è)?(?: il)?(?: ?:)?(?: [A-Z]{2,6})?(?: (?:n\.|n°|nr\.?|numero))? ?$/iu,
  spellDigits,
);
const SCALE = /1:(\d{1,3}(?:\.\d{3}){1,2}|\d{4,7})(?![\d:]|[.,]\d)/uy;

/** Scala 1:1000 */
function scale(reading: Reading): Found | undefined {
  const match = reading.match(SCALE);
  const digits = (match?.[1] ?? '').replaceAll('.', '');
  if (match === undefined || Number(digits) < 100) return undefined;
  return { end: reading.at + match[0].length, spoken: `uno a ${cardinal(digits)}`, rule: 'score' };
}

const GRAMS = /gr?\.? ?(\d{1,4})(?= d(?:i |['’]|el))/iuy;

/** Gr. 100 di farina */
function gramsOf(reading: Reading): Found | undefined {
  const match = reading.match(GRAMS);
  if (match === undefined || match[1] === '1') return undefined;
  return { end: reading.at + match[0].length, spoken: `${cardinal(match[1] ?? '')} grammi`, rule: 'measure' };
}

const FEW = /(\d{1,2})\/(\d{1,2})(?:( ?h)(?!\p{L})|(?= ?(?:minut[oi]|min|giorni|gg|ore|persone)(?!\p{L})))/uy;

/** 20/25 minuti: from the one to the other. */
function fewOf(reading: Reading): Found | undefined {
  const match = reading.match(FEW);
  const [few, more] = [Number(match?.[1]), Number(match?.[2])];
  // lun. 3/6 ore 9
  if (/^(?:lun|mar|mer|gio|ven|sab|dom)/.test(reading.around(reading.at).previousShort)) return undefined;
  if (match === undefined || few < 2 || few >= more || more < 3) return undefined;
  const hours = match[3] !== undefined;
  if (hours && (few % 12 !== 0 || more % 12 !== 0)) return undefined;
  const words = `${cardinal(match[1] ?? '')} o ${cardinal(match[2] ?? '')}${hours ? ' ore' : ''}`;
  return { end: reading.at + match[0].length, spoken: words, rule: 'range' };
}

const WAR = /(15)-(18)|(40)-(45)/uy;

/** La guerra del 15-18 */
function greatWar(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const match = reading.match(WAR);
  if (match === undefined || !/guerra/i.test(text.slice(Math.max(0, at - LONGEST_LEAD), at)))
    return undefined;
  const [from = '', to = ''] = match.slice(1).filter((year) => year !== undefined);
  return { end: at + match[0].length, spoken: `${cardinal(from)}-${cardinal(to)}`, rule: 'year' };
}

const POSTCODE = /Cap\.?:? (?=\d{5}(?!\d))/uy;

/** Cap. 20121: no chapter has so high a number. */
function ofPostcode(reading: Reading): Found | undefined {
  const match = reading.match(POSTCODE);
  return match && { end: reading.at + match[0].length, spoken: 'CAP ', rule: 'abbreviation' };
}

const TIMES_PER = /x ?(\d{1,2})\/(die|dì|giorno|settimana|sett\.?|mese)(?!\p{L})/uy;

/** 1 cp x 3/die */
function timesPer(reading: Reading): Found | undefined {
  const match = reading.match(TIMES_PER);
  const per = WRITING.per[match?.[2] ?? ''];
  if (match === undefined || per === undefined) return undefined;
  const times = match[1] === '1' ? 'una volta' : `${cardinal(match[1] ?? '')} volte`;
  return { end: reading.at + match[0].length, spoken: `${times} ${per}`, rule: 'measure' };
}

const VERSE_NUMBER = /([12]) (?=(?:Cor|Ts|Tm|Re|Sam|Cr|Pt|Gv)\.? \d{1,3}, ?\d)/y;

/** 1 Cor 13,4 */
function verseNumber(reading: Reading): Found | undefined {
  const match = reading.match(VERSE_NUMBER);
  return (
    match && {
      end: reading.at + match[0].length,
      spoken: match[1] === '1' ? 'prima ' : 'seconda ',
      rule: 'ordinal',
    }
  );
}

/** In the order in which the language asks them. */
export const phraseRules = {
  behindDigits: [
    [/\//, cardExpiry],
    [/:/, scale],
    [/[A-Z]/, verseNumber],
    [/\//, certain(fewOf)],
    [/-/, greatWar],
    [/\//, portion],
    [/[xX×,]/, solid],
    [/[-\d]/, codeGroups],
  ],
  atLetter: [
    [/C/, ofPostcode, /[.:\d]/],
    [/x/, timesPer, /\d/],
  ],
  atLetterLater: [
    [/[aid]/, toMonth, /\d/],
    [/g/i, gramsOf, /[.\d]/],
  ],
} satisfies Rules;
