// Measures that have a form of their own in Russian: 10×15 см, +5…+7 °C, 3 сут., 300 стр., 10 с, отель 5*.
import { isWordAt } from '../characters.js';
import { LiteralTable } from '../literals.js';
import { numeralOf, readNumeral } from '../numerals.js';
import type { Found, Reading } from '../reading.js';
import type { Rules } from '../shared-forms.js';
import { isDirect, withNoun } from './amounts.js';
import { noun } from './declension.js';
import type { DigitRule } from './digit-rules.js';
import { caseBefore } from './grammar.js';
import { cardinal, collective, decimal, ordinal } from './numbers.js';
import { WRITING } from './writing.js';

const DIMENSIONS =
  /(\d{1,5}(?:,\d{1,3})?) ?[xхXХ×*] ?(\d{1,5}(?:,\d{1,3})?)(?: ?[xхXХ×*] ?(\d{1,5}(?:,\d{1,3})?))?(?![\d]|[.,]\d)/uy;
const SECONDS = /\d{1,6}(?:,\d{1,3})?(?:[–-]\d{1,4})?(?= ?с(?:[.,;:!?)]|$| (?:на|до|от|при|и|—) ))/uy;

const units = new LiteralTable(Object.entries(WRITING.units));

function isInside({ text, at }: Reading): boolean {
  return /[.,:/]/.test(text[at - 1] ?? '');
}

/** 10×15 см: десять на пятнадцать сантиметров; with = behind it is arithmetic. */
function dimensions(reading: Reading): Found | undefined {
  const { text } = reading;
  const match = isInside(reading) ? undefined : reading.match(DIMENSIONS);
  if (match === undefined) return undefined;
  let end = reading.at + match[0].length;
  const spaced = / [×*] /.test(match[0]) && !/^ ?\p{L}/u.test(text.slice(end, end + 2));
  if (spaced || /^ ?=/.test(text.slice(end, end + 2))) return undefined;
  const sizes = match
    .slice(1)
    .filter((size) => size !== undefined)
    .map(numeral);
  const last = sizes.pop();
  if (last === undefined) return undefined;
  const gap = text[end] === ' ' ? 1 : 0;
  const unit = units.at(text, end + gap);
  if (unit === undefined && isWordAt(text, end)) return undefined;
  if (unit !== undefined) end += gap + unit.written.length;
  const first = sizes.map((size, index) => decimal(size, index === 0 ? 'nominative' : 'accusative'));
  const said =
    unit === undefined ? decimal(last, 'accusative') : withNoun({ number: last }, unit.value, 'accusative');
  const by = reading.around(reading.at).previousWord.startsWith('эстафет') ? ' по ' : ' на ';
  return { end, spoken: [...first, said].join(by), rule: 'measure' };
}

const AREAS =
  /(\d{1,4}(?:,\d{1,2})?)\/(\d{1,4}(?:,\d{1,2})?)\/(\d{1,3}(?:,\d{1,2})?) ?(м²|м2|кв\. ?м)(?!\p{L})\.?/uy;

/** 54,3/31/9 м²: the areas of the flat, of its rooms and of its kitchen. */
function areas(reading: Reading): Found | undefined {
  const match = isInside(reading) ? undefined : reading.match(AREAS);
  const unit = WRITING.units['м²'];
  if (match === undefined || unit === undefined) return undefined;
  const [written, whole = '', rooms = '', kitchen = ''] = match;
  const [first, second] = [whole, rooms].map((area) => decimal(numeral(area), 'nominative'));
  const last = withNoun({ number: numeral(kitchen) }, unit, 'nominative');
  return { end: reading.at + written.length, spoken: `${first}, ${second}, ${last}`, rule: 'measure' };
}

function numeral(written: string): ReturnType<typeof numeralOf> {
  const [whole = '', decimals = ''] = written.split(',');
  return { ...numeralOf(whole), decimals };
}

const PAGES = /\d{1,5}(?= ?стр\.(?! ?\d))/uy;
const PAGE = noun('f страница страницы страниц');

/** 300 стр., but not the стр. 2 behind a house. */
function pages(reading: Reading): Found | undefined {
  const match = isInside(reading) ? undefined : reading.match(PAGES);
  if (match === undefined) return undefined;
  const end = reading.text.indexOf('стр.', reading.at) + 'стр.'.length;
  const spoken = withNoun({ number: numeralOf(match[0]) }, PAGE, caseBefore(reading.around(end)));
  return { end, spoken, rule: 'measure' };
}

/** 21..23° has no signs. */
const DOTTED = /()(\d{1,3})(?:…|\.{2,3})()(\d{1,3})(?: ?(°[CС]?)| ?(?=градус))/uy;
const WEATHER =
  /([+−-]?)(\d{1,3}) ?(?:…|\.{2,3}|–|—) ?([+−-])(\d{1,3})(?: ?(°[CС]?)| ?(?=градус)|(?<=(?:…|\.\.) ?[+−-]\d{1,3})(?!\d))/uy;

/** +5…+7 °C: от плюс пяти до плюс семи градусов. */
function temperatures(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (isWordAt(text, at - 1)) return undefined;
  const match = reading.match(WEATHER) ?? reading.match(DOTTED);
  const [written = '', sign = '', from = '', lastSign = '', to = '', mark] = match ?? [];
  if (match === undefined) return undefined;
  const end = at + written.length;
  const [first, last] = [signed(sign, from), signed(lastSign, to)];
  const name = mark === undefined ? '' : ` градусов${mark === '°' ? '' : ' Цельсия'}`;
  const before = reading.around(at).previousWord;
  const isRuled = /^(?:до|от|ото|около|с|со|ниже|выше|после)$/.test(before);
  const span = isRuled ? `${first} ${before === 'от' ? 'до' : '–'} ${last}` : `от ${first} до ${last}`;
  return {
    end,
    spoken: `${span}${name}${mark === undefined && written.endsWith(' ') ? ' ' : ''}`,
    rule: 'range',
  };
}

function signed(sign: string, digits: string): string {
  const name = sign === '+' ? 'плюс ' : sign === '' ? '' : 'минус ';
  return name + cardinal(digits, 'genitive');
}

const DAYS = /(\d{1,3}) ?сут\.?(?!\p{L})/uy;

/** Сутки have no singular: одни сутки, двое суток, пять суток. */
function wholeDays(reading: Reading): Found | undefined {
  const match = isInside(reading) ? undefined : reading.match(DAYS);
  const [written = '', digits = ''] = match ?? [];
  if (match === undefined) return undefined;
  const end = reading.at + written.length;
  const grammatical = caseBefore(reading.around(end));
  if (digits === '1') return { end, spoken: 'одни сутки', rule: 'measure' };
  const several = isDirect(grammatical) ? collective(digits) : undefined;
  return { end, spoken: `${several ?? cardinal(digits, grammatical)} суток`, rule: 'measure' };
}

const STARS = /([1-7])\*(?![\d*])/uy;

/** Отель 5*. */
function stars(reading: Reading): Found | undefined {
  const match = reading.match(STARS);
  if (match === undefined || !/^(?:отел|гостиниц|хостел)/.test(reading.around(reading.at).previousWord))
    return undefined;
  const spoken = withNoun({ number: numeralOf(match[1] ?? '') }, STAR, 'nominative');
  return { end: reading.at + match[0].length, spoken, rule: 'measure' };
}

const STAR = noun('f звезда звезды звёзд');

const SECOND = noun('f секунда секунды секунд');

/** A с behind a number is seconds where no word follows: 10 с, but 2 с половиной. */
export function seconds(reading: Reading): Found | undefined {
  const match = isInside(reading) ? undefined : reading.match(SECONDS);
  if (match === undefined) return undefined;
  const read = readNumeral(reading.text, reading.at, WRITING.numbers);
  const matched = reading.at + match[0].length;
  const isRange = /[–-]/.test(match[0]); // за 5–10 с
  const to =
    isRange && read !== undefined ? readNumeral(reading.text, read.end + 1, WRITING.numbers) : undefined;
  if (read === undefined || (to ?? read).end !== matched) return undefined;
  const end = reading.text.indexOf('с', matched) + 1;
  const around = reading.around(end);
  const spoken = withNoun({ number: read.numeral, to: to?.numeral }, SECOND, caseBefore(around), around);
  return { end, spoken, rule: 'measure' };
}

const MINUTE_OF_GAME = /(\d{1,3})-й мин\.?(?!\p{L})/uy;

/** На 89-й мин.: of a game. */
function minuteOfGame(reading: Reading): Found | undefined {
  const match = isInside(reading) ? undefined : reading.match(MINUTE_OF_GAME);
  if (match === undefined) return undefined;
  const before = reading.around(reading.at).previousWord;
  const name = /^(?:с|со|до|от|после|из)$/.test(before) ? 'минуты' : 'минуте';
  const spoken = `${ordinal(match[1] ?? '', 'prepositional', 'f')} ${name}`;
  return { end: reading.at + match[0].length, spoken, rule: 'ordinal' };
}

const LITRE = /\/м?л(?!\p{L})/uy;

/** 6,5×10⁹/л */
function perLitre(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!/[⁰¹²³⁴⁵⁶⁷⁸⁹]/.test(text[at - 1] ?? '')) return undefined;
  const match = reading.match(LITRE);
  const name = match?.[0] === '/мл' ? ' на миллилитр' : ' на литр';
  return match && { end: at + match[0].length, spoken: name, rule: 'measure' };
}

const PRICED = /(?:[₽$€]|(?<!\p{L})(?:руб|р)\.?|рубл(?:ь|я|ей))$/u;
const THING = /\/(?:([а-яё]{5,20}(?!\p{L})|[а-яё]{3,4}(?![\p{L}.]))|(?=\d{1,3} [а-яё]{3}))/uy;
const COUNTED = /\d \p{L}{3,20}$/u;

/** 600 ₽/створка, 4 200 ₽/8 занятий, 7 ночей/8 дней */
export function forEach(reading: Reading): Found | undefined {
  const before = reading.text.slice(Math.max(0, reading.at - 24), reading.at);
  const match = reading.match(THING);
  if (match === undefined) return undefined;
  const [written, thing] = match;
  const end = reading.at + written.length;
  if (!PRICED.test(before))
    return thing === undefined && COUNTED.test(before)
      ? { end, spoken: ', ', rule: 'symbol', clings: true }
      : undefined;
  const accusative = thing?.replace(/а$/, 'у').replace(/я$/, 'ю') ?? '';
  return { end, spoken: ` за ${accusative}`, rule: 'measure' };
}

/** In the order in which the language asks them. */
export const countRules = {
  behindDigits: [
    [temperatures, 1, 3, /[….–—]/, /^ ?[….–—]/], // also 21..23°
    [pages, 1, 5, /с/, /^ ?стр/],
    [wholeDays, 1, 3, /с/, /^ ?сут/],
    [stars, 1, 1, /\*/, /^\*/],
  ],
  behindDigitsLater: [
    [areas, 1, 4, /[,/]/, /^(?:,\d{1,2})?\/\d/],
    [dimensions, 1, 5, /[,xхXХ×*]/, /^(?:,\d{1,3})? ?[xхXХ×*]/],
    [minuteOfGame, 1, 3, /-/, /^-й мин/],
  ],
  atMark: [
    [/[+−-]/, temperatures],
    [/\//, perLitre],
  ],
} satisfies Rules<DigitRule>;
