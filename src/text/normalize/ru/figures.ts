// Figures that only Russian writes so, or that its own rules decide: 3.5 as in English, 16:9, 10×15 см, № 12, 192.168.1.1.
import { isWordAt } from '../characters.js';
import { LiteralTable } from '../literals.js';
import { numeralOf, readNumeral } from '../numerals.js';
import { PREPOSITIONS } from './vocabulary.js';
import { wordBefore, type Found, type Reading } from '../reading.js';
import { sayAddress } from '../recognise/addresses.js';
import { Quantities } from '../recognise/quantities.js';
import { withNoun } from './amounts.js';
import { cardinal, collective, decimal, sayGroup, spellDigits } from './numbers.js';
import { caseBefore } from './grammar.js';
import { noun } from './declension.js';
import { SPEECH } from './speech.js';
import { SYMBOLS } from './symbols.js';
import { UNITS } from './units.js';
import { WRITING } from './writing.js';

const POINTED = /(?:\d{1,3}(?:,\d{3})+\.\d+|\d{1,3}(?:,\d{3}){2,}|\d+\.\d+)(?!\d|[.,:/]\d)/y;
const RATIO = /(\d{1,3}):(\d{1,6})(?![\d:]|[.,]\d)/y;
const DIMENSIONS =
  /(\d{1,5}(?:,\d{1,3})?) ?[xхXХ×*] ?(\d{1,5}(?:,\d{1,3})?)(?: ?[xхXХ×*] ?(\d{1,5}(?:,\d{1,3})?))?(?![\d]|[.,]\d)/uy;
const IP = /(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?::(\d{1,5}))?(?![\d.]\d|\d)/y;
const POSTCODE = /[1-6]\d{5}(?=, ?(?:г\. ?)?\p{Lu}| г\.)/uy;
const SECONDS = /\d{1,6}(?:,\d{1,3})?(?= ?с(?:[.,;:!?)]|$))/uy;
const LETTER_HOUSE = /(\d{1,4}) ?([А-ЕЖИКЛ])(?![\p{L}\p{N}])/uy;
const NAMED_MONEY =
  /(\d{1,9}(?: \d{3}){0,3})[,.](\d\d) (рубл(?:ь|я|ей)|доллар(?:|а|ов)|евро|грив(?:на|ны|ен))(?!\p{L})/uy;
const NAMES: Readonly<Record<string, string>> = { руб: 'RUB', дол: 'USD', евр: 'EUR', гри: 'UAH' };

const units = new LiteralTable(Object.entries(UNITS));

/** How programs and English write numbers. */
const RUSSIAN_PARTS = { tag: 'ru', writing: WRITING, speech: SPEECH, symbols: SYMBOLS };
const english = new Quantities({
  ...RUSSIAN_PARTS,
  writing: { ...WRITING, numbers: { decimal: '.', grouping: [',', ' '] } },
});

function isInside({ text, at }: Reading): boolean {
  return /[.,:/]/.test(text[at - 1] ?? '');
}

/** 3.5 ГГц is a decimal, Python 3.11 and версия 2.5 are versions. */
export function pointed(reading: Reading): Found | undefined {
  const { text, at, runEnd } = reading;
  if (!/[.,]/.test(text[runEnd] ?? '') || isInside(reading) || reading.match(POINTED) === undefined)
    return undefined;
  const found = english.atDigit(reading);
  if (found?.rule !== 'decimal' || !isNameBefore(reading)) return found;
  const said = text.slice(at, found.end).split('.').map(sayGroup).join(' точка ');
  return { end: found.end, spoken: said, rule: 'version' };
}

function isNameBefore({ text, at }: Reading): boolean {
  const before = wordBefore(text, text[at - 1] === '-' ? at - 1 : at);
  if (
    /^(?:верси|релиз|обновлени|пункт|раздел|таблиц|рисун)/iu.test(before) ||
    /^[A-Z]|^(?:ГОСТ|ОКВЭД|ОКПД|СП|СНиП|ТУ)$/.test(before)
  )
    return true;
  return /(?:^|[\s(])(?:п|пп|подп|рис|табл|разд|гл|ст|v|вер|ver)\. ?$/u.test(
    text.slice(Math.max(0, at - 8), at),
  );
}

/** $3.50 */
export function pointedMoney(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!/^[-−]?[$€£¥₽]\d/.test(text.slice(at, at + 3)) || isWordAt(text, at - 1)) return undefined;
  const digits = at + text.slice(at, at + 3).search(/\d/);
  return reading.match(POINTED, digits) === undefined ? undefined : english.atMark(reading);
}

/** 12,50 рубля: with two decimals the name counts hundredths, too. */
export function namedMoney(reading: Reading): Found | undefined {
  const match = isInside(reading) ? undefined : reading.match(NAMED_MONEY);
  const [written = '', whole = '', decimals = '', name = ''] = match ?? [];
  const currency = WRITING.currencies[NAMES[name.slice(0, 3)] ?? ''];
  if (match === undefined || currency === undefined) return undefined;
  const end = reading.at + written.length;
  const number = { ...numeralOf(whole.replaceAll(' ', '')), decimals };
  return { end, spoken: SPEECH.money({ number }, currency, reading.around(end)), rule: 'currency' };
}

const LONGEST_GAME = 48; // units before a score that may tell of a game
const ANNOUNCED = /(?:счёт|счет|счёте|счётом|счетом|результат)\p{L}{0,3}:? ?(?:[—–-] ?)?$/iu;

/** Счёт 2:1 is "два один", a ratio 16:9 "шестнадцать к девяти". */
export function ratio(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const match = isInside(reading) ? undefined : reading.match(RATIO);
  const [written = '', one = '', two = ''] = match ?? [];
  if (match === undefined) return undefined;
  const end = at + written.length;
  const around = reading.around(end);
  const behind = [around.nextWord, around.secondNextWord].map((word) => word.toLowerCase());
  const near =
    text
      .slice(Math.max(0, at - LONGEST_GAME), at)
      .toLowerCase()
      .match(/\p{L}+/gu) ?? [];
  const told = [...near, ...behind].some((word) => WRITING.scoreWords.has(word));
  const game = two === '0' || told || ANNOUNCED.test(text.slice(Math.max(0, at - 16), at));
  const scale = /^(?:соотношени|пропорци|масштаб|курс|формат|отношени)/.test(around.previousWord);
  const clock = !scale && /^\d\d$/.test(two) && Number(two) < 60 && Number(one) < 25;
  if (clock && (!game || PREPOSITIONS.has(around.previousWord))) return undefined;
  if (game) return { end, spoken: `${cardinal(one)} ${cardinal(two)}`, rule: 'score' };
  if (/^ ?=/.test(text.slice(end, end + 2))) {
    return { end, spoken: `${cardinal(one)} разделить на ${cardinal(two)}`, rule: 'math' };
  }
  return { end, spoken: `${cardinal(one)} к ${cardinal(two, 'dative')}`, rule: 'score' };
}

/** 10×15 см: десять на пятнадцать сантиметров; with = behind it is arithmetic. */
export function dimensions(reading: Reading): Found | undefined {
  const { text } = reading;
  const match = isInside(reading) ? undefined : reading.match(DIMENSIONS);
  if (match === undefined) return undefined;
  let end = reading.at + match[0].length;
  if (/^ ?=/.test(text.slice(end, end + 2)) || (/ [×*] /.test(match[0]) && !/^ ?\p{L}/u.test(text.slice(end, end + 2)))) return undefined;
  const sizes = match.slice(1).filter((size) => size !== undefined).map(numeral);
  const last = sizes.pop();
  if (last === undefined) return undefined;
  const gap = text[end] === ' ' ? 1 : 0;
  const unit = units.at(text, end + gap);
  if (unit === undefined && isWordAt(text, end)) return undefined;
  if (unit !== undefined) end += gap + unit.written.length;
  const said = unit === undefined ? decimal(last) : withNoun({ number: last }, unit.value, 'accusative');
  return { end, spoken: [...sizes.map((size) => decimal(size)), said].join(' на '), rule: 'measure' };
} // prettier-ignore

function numeral(written: string): ReturnType<typeof numeralOf> {
  const [whole = '', decimals = ''] = written.split(',');
  return { ...numeralOf(whole), decimals };
}

/** 192.168.1.1: each part as a number. */
export function ipAddress(reading: Reading): Found | undefined {
  const match = isInside(reading) ? undefined : reading.match(IP);
  const [written = '', ...parts] = match ?? [];
  if (match === undefined || parts.slice(0, 4).some((part) => Number(part) > 255)) return undefined;
  const address = parts.slice(0, 4).map((part) => sayGroup(part ?? '')).join(' точка '); // prettier-ignore
  const port = parts[4] === undefined ? '' : ` двоеточие ${cardinal(parts[4])}`;
  return { end: reading.at + written.length, spoken: address + port, rule: 'ip-address' };
}

/** 101000, Москва */
export function postcode(reading: Reading): Found | undefined {
  const match = isInside(reading) ? undefined : reading.match(POSTCODE);
  if (match === undefined) return undefined;
  return { end: reading.at + match[0].length, spoken: spellDigits(match[0]), rule: 'digits' };
}

const PAGES = /\d{1,5}(?= ?стр\.(?! ?\d))/uy;
const PAGE = noun('f страница страницы страниц');

/** 300 стр., but not the стр. 2 behind a house. */
export function pages(reading: Reading): Found | undefined {
  const match = isInside(reading) ? undefined : reading.match(PAGES);
  if (match === undefined) return undefined;
  const end = reading.text.indexOf('стр.', reading.at) + 'стр.'.length;
  const spoken = withNoun({ number: numeralOf(match[0]) }, PAGE, caseBefore(reading.around(end)));
  return { end, spoken, rule: 'measure' };
}

const PARAGRAPH = /\d{1,4}(?:\.\d{1,3})?(?=,? ч\. ?\d)/uy;

/** Статья 105 ч. 2: not 105 hours. */
export function article(reading: Reading): Found | undefined {
  if (!/^(?:стать[яиеюё]|статей|ст|п|пункта?)$/u.test(reading.around(reading.at).previousShort))
    return undefined;
  const match = reading.match(PARAGRAPH);
  if (match === undefined) return undefined;
  return {
    end: reading.at + match[0].length,
    spoken: match[0].split('.').map(sayGroup).join(' точка '),
    rule: 'cardinal',
  };
}

const MASKED = /[*•·xх]{1,4} ?(\d{4})(?!\d)/uy;

/** Карта *1234: its last digits. */
export function masked(reading: Reading): Found | undefined {
  const match = reading.match(MASKED);
  if (match === undefined || !/^(?:карт|счёт|счет)/.test(wordBefore(reading.text, reading.at).toLowerCase()))
    return undefined;
  return { end: reading.at + match[0].length, spoken: spellDigits(match[1] ?? ''), rule: 'digits' };
}

const WEATHER = /([+−-]?)(\d{1,3}) ?(?:…|\.{2,3}|–|—) ?([+−-])(\d{1,3})(?: ?(°[CС]?)| ?(?=градус))/uy;

/** +5…+7 °C: от плюс пяти до плюс семи градусов. */
export function temperatures(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (isWordAt(text, at - 1)) return undefined;
  const match = reading.match(WEATHER);
  const [written = '', sign = '', from = '', lastSign = '', to = '', mark] = match ?? [];
  if (match === undefined) return undefined;
  const end = at + written.length;
  const [first, last] = [signed(sign, from), signed(lastSign, to)];
  const name = mark === undefined ? '' : ` градусов${mark === '°' ? '' : ' Цельсия'}`;
  return {
    end,
    spoken: `от ${first} до ${last}${name}${mark === undefined && written.endsWith(' ') ? ' ' : ''}`,
    rule: 'range',
  };
}

function signed(sign: string, digits: string): string {
  const name = sign === '+' ? 'плюс ' : sign === '' ? '' : 'минус ';
  return name + cardinal(digits, 'genitive');
}

const DOMAIN = /(?:https?:\/\/)?(?:[а-яё\d-]{1,40}\.){1,4}рф(?:\/[^\s]{0,100})?(?![\p{L}\p{N}])/iuy;

/** госуслуги.рф */
export function cyrillicDomain(reading: Reading): Found | undefined {
  const mark = reading.text[reading.runEnd] ?? '';
  if (!reading.startsChunk || !/[.\d-]/.test(mark)) return undefined;
  const match = reading.match(DOMAIN);
  if (match === undefined) return undefined;
  const address = match[0].replace(/[.,!?)»]+$/u, '');
  const spoken = sayAddress(address.replace(/^https?:\/\//, ''), RUSSIAN_PARTS);
  return { end: reading.at + address.length, spoken, rule: 'url' };
}

const NUMBERED = /\d{1,9}(?:-\d{1,9}){1,4}(?![\p{L}\p{N}-])/uy;

/** № 2024-0153: part by part. */
export function numbered(reading: Reading): Found | undefined {
  if (!/№ ?$/.test(reading.text.slice(Math.max(0, reading.at - 2), reading.at))) return undefined;
  const match = reading.match(NUMBERED);
  if (match === undefined) return undefined;
  return {
    end: reading.at + match[0].length,
    spoken: match[0].split('-').map(sayGroup).join(', '),
    rule: 'digits',
  };
}

const SERVICE = /\*(\d{1,6}(?:\*\d{1,6}){0,4})#/uy;

/** Наберите *100#. */
export function serviceCode(reading: Reading): Found | undefined {
  const match = reading.match(SERVICE);
  if (match === undefined) return undefined;
  const groups = (match[1] ?? '').split('*').map(sayGroup);
  const spoken = ['', ...groups].join(' звёздочка ').trim();
  return { end: reading.at + match[0].length, spoken: `${spoken} решётка`, rule: 'code' };
}

const DIFFERENCE = /-(?=\d{1,9} ?=)/uy;

/** 10-7=3 */
export function difference(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!/\d/.test(text[at - 1] ?? '') || reading.match(DIFFERENCE) === undefined) return undefined;
  return { end: at + 1, spoken: ' минус ', rule: 'math' };
}

const DAYS = /(\d{1,3}) ?сут\.?(?!\p{L})/uy;

/** Сутки have no singular: одни сутки, двое суток, пять суток. */
export function wholeDays(reading: Reading): Found | undefined {
  const match = isInside(reading) ? undefined : reading.match(DAYS);
  const [written = '', digits = ''] = match ?? [];
  if (match === undefined) return undefined;
  const end = reading.at + written.length;
  const grammatical = caseBefore(reading.around(end));
  if (digits === '1') return { end, spoken: 'одни сутки', rule: 'measure' };
  const direct = grammatical === 'nominative' || grammatical === 'accusative';
  const several = direct ? collective(digits) : undefined;
  return { end, spoken: `${several ?? cardinal(digits, grammatical)} суток`, rule: 'measure' };
}

const STARS = /([1-7])\*(?![\d*])/uy;

/** Отель 5*. */
export function stars(reading: Reading): Found | undefined {
  const match = reading.match(STARS);
  if (match === undefined || !/^(?:отел|гостиниц|хостел)/.test(reading.around(reading.at).previousWord))
    return undefined;
  const spoken = withNoun({ number: numeralOf(match[1] ?? '') }, STAR, 'nominative');
  return { end: reading.at + match[0].length, spoken, rule: 'measure' };
}

const STAR = noun('f звезда звезды звёзд');
const KEY = /[*#](?=\s|[.,;:!?»)]|$)/uy;
const PRESSED = /(?:нажм|нажат|набер|набра|введ|клавиш|кнопк)/iu;
const LONGEST_PROMPT = 100; // units before a key that may tell of it

/** Нажмите *. */
export function phoneKey(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!/[\s«(]/u.test(text[at - 1] ?? '') || reading.match(KEY) === undefined) return undefined;
  if (!PRESSED.test(text.slice(Math.max(0, at - LONGEST_PROMPT), at))) return undefined;
  return { end: at + 1, spoken: text[at] === '*' ? 'звёздочку' : 'решётку', rule: 'symbol' };
}

const SECOND = noun('f секунда секунды секунд');

/** A с behind a number is seconds where no word follows: 10 с, but 2 с половиной. */
export function seconds(reading: Reading): Found | undefined {
  const match = isInside(reading) ? undefined : reading.match(SECONDS);
  if (match === undefined) return undefined;
  const read = readNumeral(reading.text, reading.at, WRITING.numbers);
  if (read === undefined || read.end !== reading.at + match[0].length) return undefined;
  const end = reading.text.indexOf('с', read.end) + 1;
  const spoken = withNoun({ number: read.numeral }, SECOND, caseBefore(reading.around(end)));
  return { end, spoken, rule: 'measure' };
}

/** Дом 12А, 5 Б класс. */
export function houseLetter(reading: Reading): Found | undefined {
  const match = reading.match(LETTER_HOUSE);
  const [written = '', digits = '', letter = ''] = match ?? [];
  if (
    match === undefined ||
    (written.includes(' ') &&
      !/(?:дом|д\.|доме|дома) ?$/u.test(reading.text.slice(Math.max(0, reading.at - 6), reading.at)))
  ) {
    return undefined;
  }
  if (
    /[ВА]/.test(letter) &&
    !/(?:дом\p{L}{0,2}|д\.|корп\.|кв\.|ул\.[^,]{1,30},|класс\p{L}{0,2}) ?$/u.test(
      reading.text.slice(Math.max(0, reading.at - 40), reading.at),
    )
  ) {
    return undefined;
  }
  return {
    end: reading.at + written.length,
    spoken: `${cardinal(digits)} ${SPEECH.letters(letter)}`,
    rule: 'identifier',
  };
}
