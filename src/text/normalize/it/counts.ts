// Numbers that count something: un'amica, 35enne, due ore e mezza, due milioni di abitanti, tre a uno.
import { tablesOf } from '../../tables/language-tables.js';
import { numeralOf } from '../numerals.js';
import { certain, type Found, type Reading } from '../reading.js';
import type { Rules } from '../shared-forms.js';
import { genderAhead, isFeminine, isNumbered, isPlural, one } from './grammar.js';
import { aged, cardinal, decimal } from './numbers.js';
import { SPEECH } from './speech.js';

const AND_HALF = /(\d{1,3})(?: ?½| (?:e )?1\/2) (\p{Ll}{2,24})(?![\p{L}\p{N}])/uy;
const BEFORE_HAS =
  /\d{1,6}(?= ha [\p{L}\d])(?! ha (?:di|e|a|circa|coltivati|irrigui|edificabili)(?!\p{L}))/uy;
const ELIDED = /\d{1,9}(?= [cdlmnstv]['’]\p{L})/uy;
const ROUND = /([1-9]\d{0,2}(?:[ .]\d{3}){0,3}[ .]?000[ .]?000) (\p{Ll}{3,})(?!['’])/uy;
const ONE_ELIDED = /1 (?=\p{L})/uy;
const AGED = /(?:(\d{1,3}) ?[-–/] ?)?(\d{1,3})[-‑]?(enn[ei])(?!\p{L})/uy;
const SCORE = /(\d{1,3}) ?[-–] ?(\d{1,3})(?![\p{L}\d/-]|[.,]\d| ?[=€%])/uy;
const MOST_GOALS = 30;
const ANNOUNCED =
  /(?:(?:punteggio|risultato|score|finale)[\p{L} ]{0,16}: ?|\p{Lu}\p{L}+ ?[-–] ?\p{Lu}\p{L}+:? |\d[-–]\d{1,2},? )$/u;
const LONGEST_ANNOUNCED = 32; // units before a score
const MILLIONS = /(\d{1,4})(?:,(\d{1,2}))?M (?=(di )?\p{Ll}{2,})/uy;
const AND_A_HALF = /1\/2(?![\d/]| ?\p{L})|½(?! ?\p{L})/uy;
const OF_MILLIONS = tablesOf('it').set('behind millions');

const SINGULAR: Readonly<Record<string, string>> = {
  ore: 'ora',
  tazze: 'tazza',
  litri: 'litro',
  anni: 'anno',
  chili: 'chilo',
  giorni: 'giorno',
  mesi: 'mese',
  cucchiaini: 'cucchiaino',
  volte: 'volta',
};

/** 2 1/2 ore is "due ore e mezza". */
function andHalf(reading: Reading): Found | undefined {
  const match = reading.match(AND_HALF);
  const [written = '', number = '', noun = ''] = match ?? [];
  if (match === undefined || OF_MILLIONS.has(noun) || noun.length < 3) return undefined;
  const single = number === '1' ? (SINGULAR[noun] ?? noun) : noun;
  const feminine = isFeminine(SINGULAR[noun] ?? noun.replace(/e$/, 'a'));
  const words = number === '1' ? one(single, feminine ? 'f' : 'm') : `${cardinal(number)} `;
  const spoken = `${words}${single} e ${feminine ? 'mezza' : 'mezzo'}`;
  return { end: reading.at + written.length, spoken, rule: 'fraction' };
}

/** In "1 su 4 ha votato" no hectare is counted. */
function beforeHas(reading: Reading): Found | undefined {
  const match = reading.match(BEFORE_HAS);
  return match && { end: reading.at + match[0].length, spoken: cardinal(match[0]), rule: 'cardinal' };
}

/** In "i 2 l'hanno visto" no litre is counted. */
function uncounted(reading: Reading): Found | undefined {
  const match = reading.match(ELIDED);
  return match && { end: reading.at + match[0].length, spoken: cardinal(match[0]), rule: 'cardinal' };
}

/** 2.000.000 abitanti: with "di", because the number ends with a noun. */
export function roundMillions(reading: Reading): Found | undefined {
  const match = reading.match(ROUND);
  const [written = '', number = '', noun = ''] = match ?? [];
  if (match === undefined || OF_MILLIONS.has(noun)) return undefined;
  return {
    end: reading.at + written.length,
    spoken: `${cardinal(number.replace(/\D/g, ''))} di ${noun}`,
    rule: 'cardinal',
  };
}

/** 1 amica is "un'amica": no space stands behind the apostrophe. */
function oneElided(reading: Reading): Found | undefined {
  const match = reading.match(ONE_ELIDED);
  if (match === undefined || /['’,.-]/.test(reading.text[reading.at - 1] ?? '')) return undefined;
  const around = reading.around(reading.at + 1);
  if (isNumbered(around) || genderAhead(around) !== 'f' || one(around.nextWord, 'f') !== "un'")
    return undefined;
  return { end: reading.at + match[0].length, spoken: "un'", rule: 'cardinal' };
}

/** 35enne, 20enni, 18-25enni */
function age(reading: Reading): Found | undefined {
  const match = reading.match(AGED);
  const [written = '', from, digits = '', ending = ''] = match ?? [];
  const to = match && aged(digits, ending);
  if (to === undefined) return undefined;
  const spoken = from === undefined ? to : `${cardinal(from)}-${to}`;
  return { end: reading.at + written.length, spoken, rule: 'cardinal' };
}

/** Risultato finale: 2-0, Inter-Milan 2-1; what does not grow is no range: 6-4. */
function announcedScore(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const match = reading.match(SCORE);
  if (match === undefined || /[-–/.,:]/.test(text[at - 1] ?? '')) return undefined;
  const [written, home = '', guest = ''] = match;
  const shrinking = /^\d+[-–]/.test(written) && Number(home) >= Number(guest) && Number(home) < MOST_GOALS;
  if (!shrinking && !ANNOUNCED.test(text.slice(Math.max(0, at - LONGEST_ANNOUNCED), at))) return undefined;
  return { end: at + written.length, spoken: SPEECH.score(cardinal(home), cardinal(guest)), rule: 'score' };
}

/** 3M di iscritti, 1,5M visite */
function millions(reading: Reading): Found | undefined {
  const match = reading.match(MILLIONS);
  if (match === undefined) return undefined;
  const [written, whole = '', decimals = '', of] = match;
  const number = { ...numeralOf(whole), decimals };
  const said = isPlural(number) ? `${decimal(number)} milioni` : 'un milione';
  return {
    end: reading.at + written.length,
    spoken: `${said} ${of === undefined ? 'di ' : ''}`,
    rule: 'cardinal',
  };
}

/** 1 ora e 1/2, 3 anni e ½ */
export function andAHalf(reading: Reading): Found | undefined {
  const match = reading.match(AND_A_HALF);
  const around = reading.around(reading.at);
  if (match === undefined || around.previousWord !== 'e') return undefined;
  const noun = around.secondPreviousWord;
  const feminine = isFeminine(SINGULAR[noun] ?? noun);
  return { end: reading.at + match[0].length, spoken: feminine ? 'mezza' : 'mezzo', rule: 'fraction' };
}

/** In the order in which the language asks them. */
export const countRules = {
  behindDigits: [
    [/h/, certain(beforeHas)],
    [/[,M]/, millions],
  ],
  behindDigitsLater: [
    [/\//, andAHalf],
    [/[-–‑/e]/, age],
    [/[½1e]/, andHalf],
    [/[-–]/, announcedScore],
    [/\p{L}/u, oneElided],
    [/[cdlmnstv]/, certain(uncounted)],
  ],
} satisfies Rules;
