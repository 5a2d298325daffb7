// Figures in forms that only the words around them decide: 12,50 euro, 4,5/5, 3.5 as in English, 2 ore e 1/2.
import { isWordAt } from '../characters.js';
import { numeralOf, readNumeral } from '../numerals.js';
import { NOWHERE, wordBefore, type Found, type Reading } from '../reading.js';
import { Quantities } from '../recognise/quantities.js';
import { formula, hundredths, longDuration, negativePower, perWord, plusBetween, relation, schoolYear } from '../shared-forms.js';
import { money } from './amounts.js';
import { CURRENCIES, CURRENCY_SIGNS } from './currencies.js';
import { betweenNumbers, genderAhead, isFeminine, isNumbered, isPlural, one, words } from './grammar.js';
import { aged, cardinal, decimal, ordinal } from './numbers.js';
import { SPEECH } from './speech.js';
import { SYMBOLS } from './symbols.js';
import { MAGNITUDES, PER } from './units.js';
import { WRITING } from './writing.js';

const POINTED = /(?:\d{1,3}(?:,\d{3})+\.\d+|\d{1,3}(?:,\d{3}){2,}|(?:0|[1-9]\d*)\.(?:\d{1,2}|\d{4,}))(?!\d|[.,:/]\d)/y;
const RATING = /(\d{1,2},\d{1,2})\/(\d{1,3})(?![\p{L}\d/])/uy;
const NAMED_MONEY = / (euro|dollari|sterline|franchi svizzeri)(?![\p{L}\p{N}])/uy;
const BIG = / ?(k|K|M|Mln|mln|Mld|mld)([€$£])/uy;
const AND_HALF = /(\d{1,3})(?: ?½| (?:e )?1\/2) (\p{Ll}{2,24})(?![\p{L}\p{N}])/uy;
const ELIDED = /\d{1,9}(?= [cdlmnstv]['’]\p{L})/uy;
const ROUND = /([1-9]\d{0,2}(?:[ .]\d{3}){0,3}[ .]?000[ .]?000) (\p{Ll}{3,})(?!['’])/uy;
const ONE_ELIDED = /1 (?=\p{L})/uy;
const AGED = /(\d{1,3})[-‑]?(enn[ei])(?!\p{L})/uy;
const SCORE = /(\d{1,3}) ?[-–] ?(\d{1,3})(?![\p{L}\d/-]|[.,]\d| ?[=€%])/uy;
const MOST_GOALS = 30;
const ANNOUNCED = /(?:(?:punteggio|risultato|score|finale)[\p{L} ]{0,16}: ?|\p{Lu}\p{L}+ ?[-–] ?\p{Lu}\p{L}+:? )$/u;
const LONGEST_ANNOUNCED = 32; // units before a score
const AREA = /(\d{1,5}(?:,\d{1,2})?)( ?[xX] ?|×)(\d{1,5})(?![\p{N}]|[.,]\d)/uy;
const PERCENT_RANGE = /(\d{1,3}(?:,\d{1,2})?) ?% ?[-–] ?(\d{1,3}(?:,\d{1,2})?) ?%/y;
const ATTACHED = /\d{1,5}(?:,\d{1,3})?(?:[KMGTP]B|[MG]?W|V)(?![\p{L}\p{N}]|-\d)/uy;
const PRIME = /(\d{1,3})['’′](?![\p{L}\d"'’”])/uy;
const LONGEST_QUOTE = 60; // units in which an apostrophe may have opened a quote
const TIMES = /(\d{1,4}) ?[x×](?= (?:più|meno)(?!\p{L}))/uy;
const BILLIONS = /[1-9]\d{0,2}(?:\.\d{3}){3}(?![\d.:/])/y;
const MILLIONS = /(\d{1,4})(?:,(\d{1,2}))?M (?=(di )?\p{Ll}{2,})/uy;
const AND_A_HALF = /1\/2(?![\d/]| ?\p{L})|½(?! ?\p{L})/uy;
const OF_MILLIONS = words('di mila per e o ma in a da con su tra fra che sono circa più meno anche volte ogni volta');

const grouped = new Quantities({ tag: 'it', writing: WRITING, speech: SPEECH, symbols: SYMBOLS });

/** How a number is written in English, and by many programs. */
const english = new Quantities({
  tag: 'it',
  writing: { ...WRITING, numbers: { decimal: '.', grouping: [','] } },
  speech: SPEECH,
  symbols: SYMBOLS,
});

/** 21.000.000.000 is no address of the net: some of its groups begin with zero. */
export function billions(reading: Reading): Found | undefined {
  const match = reading.match(BILLIONS);
  return match?.[0].includes('.0') === true ? grouped.atDigit(reading) : undefined;
}

/** 3.5 GHz is a decimal; Python 3.11 a version. */
export function pointed(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (/[.,:/]/.test(text[at - 1] ?? '') || reading.match(POINTED) === undefined) return undefined;
  const found = english.atDigit(reading);
  if (found?.rule !== 'decimal' || !isNameBefore(reading)) return found;
  const [whole = '', rest = ''] = text.slice(at, found.end).split('.');
  return { end: found.end, spoken: `${cardinal(whole)} punto ${cardinal(rest)}`, rule: 'version' };
}

function isNameBefore({ text, at }: Reading): boolean {
  const before = wordBefore(text, text[at - 1] === '-' ? at - 1 : at);
  return before === 'versione' || /\p{Lu}/u.test(before);
}

/** $3.50, -$3.50, € 3.50 */
export function pointedMoney(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!/^[-−]?[$€£¥] ?\d/.test(text.slice(at, at + 4)) || isWordAt(text, at - 1)) return undefined;
  const digits = at + text.slice(at, at + 4).search(/\d/);
  return reading.match(POINTED, digits) === undefined ? undefined : english.atMark(reading);
}

/** 4,5/5 */
export function rating(reading: Reading): Found | undefined {
  const match = reading.match(RATING);
  if (match === undefined) return undefined;
  const [written, grade = '', best = ''] = match;
  const [whole = '', decimals = ''] = grade.split(',');
  const spoken = `${decimal({ ...numeralOf(whole), decimals })} su ${cardinal(best)}`;
  return { end: reading.at + written.length, spoken, rule: 'fraction' };
}

const NAMED: Readonly<Record<string, string>> = { euro: 'EUR', dollari: 'USD', sterline: 'GBP', 'franchi svizzeri': 'CHF' };

/** 12,50 euro, 3.50 dollari: with two decimals the name of the currency counts hundredths, too. */
export function namedMoney(reading: Reading): Found | undefined {
  const format = reading.match(POINTED) === undefined ? WRITING.numbers : { decimal: '.', grouping: [','] } as const;
  const read = readNumeral(reading.text, reading.at, format);
  if (read?.numeral.decimals.length !== 2) return undefined;
  const name = reading.match(NAMED_MONEY, read.end);
  const currency = CURRENCIES[NAMED[name?.[1] ?? ''] ?? ''];
  if (name === undefined || currency === undefined) return undefined;
  return { end: read.end + name[0].length, spoken: money({ number: read.numeral }, currency), rule: 'currency' };
}

/** 3,5 M€, 45 k€, 2 mld€ */
export function bigMoney(reading: Reading): Found | undefined {
  const read = readNumeral(reading.text, reading.at, WRITING.numbers);
  const match = read && reading.match(BIG, read.end);
  if (read === undefined || match === undefined) return undefined;
  const [written, size = '', sign = ''] = match;
  const [magnitude, currency] = [MAGNITUDES[size], CURRENCIES[CURRENCY_SIGNS[sign] ?? '']];
  if (magnitude === undefined || currency === undefined) return undefined;
  return { end: read.end + written.length, spoken: money({ number: read.numeral, magnitude }, currency), rule: 'currency' };
}

const SINGULAR: Readonly<Record<string, string>> = { ore: 'ora', tazze: 'tazza', litri: 'litro', anni: 'anno', chili: 'chilo', giorni: 'giorno', mesi: 'mese', cucchiaini: 'cucchiaino', volte: 'volta' };

/** 2 1/2 ore is "due ore e mezza". */
export function andHalf(reading: Reading): Found | undefined {
  const match = reading.match(AND_HALF);
  const [written = '', number = '', noun = ''] = match ?? [];
  if (match === undefined || OF_MILLIONS.has(noun) || noun.length < 3) return undefined;
  const single = number === '1' ? (SINGULAR[noun] ?? noun) : noun;
  const feminine = isFeminine(SINGULAR[noun] ?? noun.replace(/e$/, 'a'));
  const words = number === '1' ? one(single, feminine ? 'f' : 'm') : `${cardinal(number)} `;
  const spoken = `${words}${single} e ${feminine ? 'mezza' : 'mezzo'}`;
  return { end: reading.at + written.length, spoken, rule: 'fraction' };
}

/** In "i 2 l'hanno visto" no litre is counted. */
export function uncounted(reading: Reading): Found | undefined {
  const match = reading.match(ELIDED);
  return match && { end: reading.at + match[0].length, spoken: cardinal(match[0]), rule: 'cardinal' };
}

/** 2.000.000 abitanti: with "di", because the number ends with a noun. */
export function roundMillions(reading: Reading): Found | undefined {
  const match = reading.match(ROUND);
  const [written = '', number = '', noun = ''] = match ?? [];
  if (match === undefined || OF_MILLIONS.has(noun)) return undefined;
  return { end: reading.at + written.length, spoken: `${cardinal(number.replace(/\D/g, ''))} di ${noun}`, rule: 'cardinal' };
}

/** 1 amica is "un'amica": no space stands behind the apostrophe. */
export function oneElided(reading: Reading): Found | undefined {
  const match = reading.match(ONE_ELIDED);
  if (match === undefined || /['’,.-]/.test(reading.text[reading.at - 1] ?? '')) return undefined;
  const around = reading.around(reading.at + 1);
  if (isNumbered(around) || genderAhead(around) !== 'f' || one(around.nextWord, 'f') !== "un'") return undefined;
  return { end: reading.at + match[0].length, spoken: "un'", rule: 'cardinal' };
}

/** 35enne, 20enni */
export function age(reading: Reading): Found | undefined {
  const match = reading.match(AGED);
  const [written = '', digits = '', ending = ''] = match ?? [];
  const spoken = match && aged(digits, ending);
  return spoken === undefined ? undefined : { end: reading.at + written.length, spoken, rule: 'cardinal' };
}

/** Risultato finale: 2-0, Inter-Milan 2-1; what does not grow is no range: 6-4. */
export function announcedScore(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const match = reading.match(SCORE);
  if (match === undefined || /[-–/.,:]/.test(text[at - 1] ?? '')) return undefined;
  const [written, home = '', guest = ''] = match;
  const shrinking = /^\d+[-–]/.test(written) && Number(home) >= Number(guest) && Number(home) < MOST_GOALS;
  if (!shrinking && !ANNOUNCED.test(text.slice(Math.max(0, at - LONGEST_ANNOUNCED), at))) return undefined;
  return { end: at + written.length, spoken: SPEECH.score(cardinal(home), cardinal(guest)), rule: 'score' };
}

/** 1920x1080, 3 x 4 m: a second figure that stands apart may have a unit. */
export function area(reading: Reading): Found | undefined {
  const match = reading.match(AREA);
  if (match === undefined) return undefined;
  const [written, first = '', mark = '', second = ''] = match;
  const [whole = '', decimals = ''] = first.split(',');
  const words = `${decimal({ ...numeralOf(whole), decimals })} per `;
  const attached = /^[xX]$/.test(mark);
  const end = reading.at + written.length - (attached ? 0 : second.length);
  return { end, spoken: attached ? words + cardinal(second) : words, rule: 'math' };
}

/** 50%-60% */
export function percentRange(reading: Reading): Found | undefined {
  const match = reading.match(PERCENT_RANGE);
  if (match === undefined) return undefined;
  const [from, to] = [match[1] ?? '', match[2] ?? ''].map((written) => {
    const [whole = '', decimals = ''] = written.split(',');
    return decimal({ ...numeralOf(whole), decimals });
  });
  const end = reading.at + match[0].length;
  const spoken = `${betweenNumbers(from ?? '', to ?? '', reading.around(end), false)} per cento`;
  return { end, spoken, rule: 'percent' };
}

/** 16GB, 500W: the letters are a unit, no name. */
export function attachedUnit(reading: Reading): Found | undefined {
  return reading.match(ATTACHED) === undefined ? undefined : grouped.atDigit(reading);
}

/** 5 cm x 3 cm */
export function by({ text, at }: Reading): Found | undefined {
  if (!/^[xX] ?\d/.test(text.slice(at, at + 3)) || !/\d ?\p{L}{1,3} $/u.test(text.slice(Math.max(0, at - 8), at))) return undefined;
  return { end: at + 1, spoken: 'per', rule: 'math' };
}

/** Al 90' is "al novantesimo", 5' are five minutes. */
export function prime(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const match = reading.match(PRIME);
  if (match === undefined || /(?:^|[\s(])['‘]/.test(text.slice(Math.max(0, at - LONGEST_QUOTE), at))) return undefined;
  const [written, digits = ''] = match;
  const rank = /^(?:al|dal|del|nel|il|all['’]|dall['’])$/.test(reading.around(at).previousWord);
  const minutes = digits === '1' ? 'un minuto' : `${cardinal(digits)} minuti`;
  return { end: at + written.length, spoken: rank ? ordinal(digits) : minutes, rule: 'duration' };
}

/** 10x più veloce */
export function times(reading: Reading): Found | undefined {
  const match = reading.match(TIMES);
  if (match === undefined) return undefined;
  return { end: reading.at + match[0].length, spoken: `${cardinal(match[1] ?? '')} volte`, rule: 'cardinal' };
}

const RELATIONS: Readonly<Record<string, string>> = { '<': 'meno di', '>': 'più di', '≤': 'al massimo', '≥': 'almeno', '≈': 'circa' };
export const related = relation(RELATIONS, words('di a da in per entro con e o ogni età durata tempo'));
export const season = schoolYear(cardinal);
export const longDurations = longDuration((parts) => SPEECH.duration(parts, NOWHERE));
export const secondsAnd = hundredths((seconds, rest) => `${SPEECH.duration([[seconds, 's']], NOWHERE)} e ${cardinal(rest)}`);
export const chemical = formula(SPEECH.letters, cardinal);
export const plus = plusBetween('più');
export const below = negativePower((digits) => `alla meno ${cardinal(digits)}`);
export const per = perWord(PER);

/** 3M di iscritti, 1,5M visite */
export function millions(reading: Reading): Found | undefined {
  const match = reading.match(MILLIONS);
  if (match === undefined) return undefined;
  const [written, whole = '', decimals = '', of] = match;
  const number = { ...numeralOf(whole), decimals };
  const said = isPlural(number) ? `${decimal(number)} milioni` : 'un milione';
  return { end: reading.at + written.length, spoken: `${said} ${of === undefined ? 'di ' : ''}`, rule: 'cardinal' };
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
