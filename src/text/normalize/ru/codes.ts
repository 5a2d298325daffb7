// Codes and addresses in Russian: 192.168.1.1, 101000, № 2024-0153, карта *1234, *100#, госуслуги.рф, дом
// 12А, ст. 105 ч. 2.
import { classAt, SPACE } from '../characters.js';
import { certain, type Found, type Reading } from '../reading.js';
import { sayAddress } from '../recognise/addresses.js';
import type { Rules } from '../shared-forms.js';
import type { DigitRule } from './digit-rules.js';
import { cardinal, sayGroup, spellDigits } from './numbers.js';
import { SPEECH } from './speech.js';
import { SYMBOLS, WRITING } from './writing.js';

const RUSSIAN_PARTS = { tag: 'ru', writing: WRITING, speech: SPEECH, symbols: SYMBOLS };
const IP = /(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?::(\d{1,5}))?(?![\d.]\d|\d)/y;
const POSTCODE = /[1-6]\d{5}(?=, ?(?:г\. ?)?\p{Lu}| г\.)/uy;
const LETTER_HOUSE = /(\d{1,4})(?:([а-ежикл])| ?([А-ЕЖИКЛ]))(?![\p{L}\p{N}])/uy;

function isInside({ text, at }: Reading): boolean {
  return /[.,:/]/.test(text[at - 1] ?? '');
}

/** 192.168.1.1: each part as a number. */
export function ipAddress(reading: Reading): Found | undefined {
  const match = isInside(reading) ? undefined : reading.match(IP);
  const [written = '', ...parts] = match ?? [];
  if (match === undefined || parts.slice(0, 4).some((part) => Number(part) > 255)) return undefined;
  const address = parts
    .slice(0, 4)
    .map((part) => sayGroup(part ?? ''))
    .join(' точка ');
  const port = parts[4] === undefined ? '' : ` двоеточие ${cardinal(parts[4])}`;
  return { end: reading.at + written.length, spoken: address + port, rule: 'ip-address' };
}

/** 101000, Москва */
function postcode(reading: Reading): Found | undefined {
  const match = isInside(reading) ? undefined : reading.match(POSTCODE);
  if (match === undefined) return undefined;
  return { end: reading.at + match[0].length, spoken: spellDigits(match[0]), rule: 'digits' };
}

const CITY_BEFORE = /(?:^|[\s(:])(?:(?:г|с|п|д)\. ?)?\p{Lu}[\p{L}-]{2,24}, ?$/u;
const BARE_POSTCODE = /[1-6]\d{5}(?![\p{L}\p{N}]|[.,-]\d| ?[\p{Ll}%₽€$])/uy;

/** A post office is named by its code: отделение 630099. */
const OFFICE_BEFORE = /(?<!\p{L})(?:отделени[еяию]|ОПС) (?:№ ?)?$/u;
const OFFICE = /[1-6]\d{5}(?![\p{L}\p{N}]|[.,-]\d| ?[%₽€$])/uy;

/** Казань, 420111 */
function postcodeOfCity(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const before = text.slice(Math.max(0, at - 32), at);
  const isOfOffice = OFFICE_BEFORE.test(before);
  if (!isOfOffice && !CITY_BEFORE.test(before)) return undefined;
  const match = reading.match(isOfOffice ? OFFICE : BARE_POSTCODE);
  if (match === undefined) return undefined;
  return { end: at + match[0].length, spoken: spellDigits(match[0]), rule: 'address' };
}

const PARAGRAPH = /\d{1,4}(?:\.\d{1,3})?(?=,? ч\. ?\d)/uy;

/** Статья 105 ч. 2: not 105 hours. */
function article(reading: Reading): Found | undefined {
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

const DOMAIN = /(?:https?:\/\/)?(?:[а-яё\d-]{1,40}\.){1,4}рф(?:\/[^\s]{0,100})?(?![\p{L}\p{N}])/iuy;

/** госуслуги.рф */
export function cyrillicDomain(reading: Reading): Found | undefined {
  const { text, runEnd } = reading;
  if (classAt(text, runEnd + 1) === SPACE || !/[.\d-]/.test(text[runEnd] ?? '') || !reading.startsChunk)
    return undefined;
  const match = reading.match(DOMAIN);
  if (match === undefined) return undefined;
  const address = match[0].replace(/[.,!?)»]+$/u, '');
  const spoken = sayAddress(address.replace(/^https?:\/\//, ''), RUSSIAN_PARTS);
  return { end: reading.at + address.length, spoken, rule: 'url' };
}

const NUMBERED = /\d{1,9}(?:-\d{1,12}){1,4}(?![\p{L}\p{N}-])/uy;

/** № 2024-0153: part by part. */
function numbered(reading: Reading): Found | undefined {
  const match = reading.match(NUMBERED);
  if (match === undefined) return undefined;
  const long = /-\d{7,9}(?!\d)|-\d{10}/.test(match[0]); // no range
  if (!long && !/№ ?$/.test(reading.text.slice(Math.max(0, reading.at - 2), reading.at))) return undefined;
  return {
    end: reading.at + match[0].length,
    spoken: match[0]
      .split('-')
      .map((group) => (long || group.length > 6 ? spellDigits(group) : sayGroup(group)))
      .join(', '),
    rule: 'digits',
  };
}

const SERVICE = /\*(\d{1,6}(?:\*\d{1,6}){0,4})#/uy;

/** Наберите *100#. */
function serviceCode(reading: Reading): Found | undefined {
  const match = reading.match(SERVICE);
  if (match === undefined) return undefined;
  const groups = (match[1] ?? '').split('*').map(sayGroup);
  const spoken = ['', ...groups].join(' звёздочка ').trim();
  return { end: reading.at + match[0].length, spoken: `${spoken} решётка`, rule: 'code' };
}

const KEY = /[*#](?=\s|[.,;:!?»)]|$)/uy;
const PRESSED = /(?:нажм|нажат|набер|набра|введ|клавиш|кнопк)/iu;
const LONGEST_PROMPT = 100; // units before a key that may tell of it

/** Нажмите *. */
function phoneKey(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!/[\s«(]/u.test(text[at - 1] ?? '') || reading.match(KEY) === undefined) return undefined;
  if (!PRESSED.test(text.slice(Math.max(0, at - LONGEST_PROMPT), at))) return undefined;
  return { end: at + 1, spoken: text[at] === '*' ? 'звёздочку' : 'решётку', rule: 'symbol' };
}

/** Дом 12А, 5 Б класс. */
export function houseLetter(reading: Reading): Found | undefined {
  const match = reading.match(LETTER_HOUSE);
  const [written = '', digits = '', small, capital = ''] = match ?? [];
  const letter = small?.toUpperCase() ?? capital;
  if (
    match === undefined ||
    (written.includes(' ') &&
      !/(?:дом|д\.|доме|дома) ?$/u.test(reading.text.slice(Math.max(0, reading.at - 6), reading.at)))
  ) {
    return undefined;
  }
  if (
    (small !== undefined || /[ВА]/.test(letter)) &&
    !/(?:дом\p{L}{0,2}|д\.|корп(?:\.|ус\p{L}{0,2})|кв\.|каб(?:\.|инет\p{L}{0,2})|(?:ул|пр|пер)(?:\.|иц\p{L}|-т)[^,]{1,30},|класс\p{L}{0,2}|аудитори\p{L}|№) ?$/u.test(
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

const DASHED =
  /(?:(?<!\p{L})код\p{L}{0,2}(?: [\p{L}-]{1,16}){0,3}|парол\p{L}{1,2}|цифр\p{L}{1,2}(?: \p{L}{1,10}){0,2}) [—–-] $/iu;
const DICTATED = /\d{3} \d{3}(?![\d ]*\p{L})|\d{3,8}(?![\p{L}\d]|[.,:/-]\d| \p{L})/uy;
const LONGEST_LEAD = 60; // units

const LAST_FIGURES = /(?:за|о)канчива\p{L}{2,8} на $/iu;

/** Ваш код — 5521. Карта, оканчивающаяся на 4417 */
function dictated(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (text[at - 1] !== ' ' || !/[—–а-]/.test(text[at - 2] ?? '')) return undefined;
  const match = reading.match(DICTATED);
  const before = text.slice(Math.max(0, at - LONGEST_LEAD), at);
  if (match === undefined || !(DASHED.test(before) || LAST_FIGURES.test(before))) return undefined;
  const spoken = match[0].split(' ').map(spellDigits).join(', ');
  return { end: at + match[0].length, spoken, rule: 'digits' };
}

const LAW = /(\d{1,5})-([А-Я]{1,4}|[а-я])(?![\p{L}\p{N}-])/uy;

/** № 152-ФЗ */
function law(reading: Reading): Found | undefined {
  const match = reading.match(LAW);
  const known = /^(?:ФЗ|ФКЗ)$/.test(match?.[2] ?? '');
  if (
    match === undefined ||
    !(known || /№ ?$/.test(reading.text.slice(Math.max(0, reading.at - 2), reading.at)))
  )
    return undefined;
  const spoken = `${sayGroup(match[1] ?? '')} ${SPEECH.letters((match[2] ?? '').toUpperCase())}`;
  return { end: reading.at + match[0].length, spoken, rule: 'identifier' };
}

const PLATE =
  /([АВЕКМНОРСТУХABEKMHOPCTYX]) ?(\d{3}) ?([АВЕКМНОРСТУХABEKMHOPCTYX]{2}) ?(\d{2,3})(?![\p{L}\p{N}])/uy;

/** А123ВС77: the plate of a car. */
function plate(reading: Reading): Found | undefined {
  const match = reading.match(PLATE);
  if (match === undefined) return undefined;
  const [written, first = '', number = '', letters = '', region = ''] = match;
  const spoken = `${SPEECH.letters(first)} ${sayGroup(number)} ${SPEECH.letters(letters)} ${sayGroup(region)}`;
  return { end: reading.at + written.length, spoken, rule: 'identifier' };
}

const CONTRACT = /([А-ЯA-Z]{1,4})-?(\d{1,8})\/(\d{1,6})(?![\p{L}\p{N}]|[-/]\d)/uy;

/** Договор АБ-1234/56 */
function contract(reading: Reading): Found | undefined {
  const match = reading.match(CONTRACT);
  if (match === undefined) return undefined;
  const [written, letters = '', first = '', second = ''] = match;
  const spoken = `${SPEECH.letters(letters)} ${sayGroup(first)} дробь ${sayGroup(second)}`;
  return { end: reading.at + written.length, spoken, rule: 'identifier' };
}

const FORM = /(\d{2,3})(?:-\d\d)?\/у(?:-\d\d)?(?![\p{L}\d])/uy;

/** Справка 086/у */
function form(reading: Reading): Found | undefined {
  const match = reading.match(FORM);
  if (match === undefined) return undefined;
  const spoken = match[0]
    .replace('/', '-')
    .split('-')
    .map((part) => (part === 'у' ? part : sayGroup(part)));
  return { end: reading.at + match[0].length, spoken: spoken.join(' '), rule: 'identifier' };
}

const FILE = /([А-Я])(\d{1,3})-(\d{1,6})\/((?:19|20)?\d\d)(?![\p{L}\d])/uy;

/** Дело № А40-12345/2024 */
function courtFile(reading: Reading): Found | undefined {
  const match = reading.match(FILE);
  if (match === undefined) return undefined;
  const [written, letter = '', court = '', file = '', year = ''] = match;
  const spoken = `${SPEECH.letters(letter)} ${sayGroup(court)}, ${sayGroup(file)} дробь ${sayGroup(year)}`;
  return { end: reading.at + written.length, spoken, rule: 'identifier' };
}

/** In the order in which the language asks them. */
export const codeRules = {
  behindDigits: [
    [certain(article), 1, 4, /[,.ч]/, /^,? ч|^\.\d/],
    [dictated, 3, 8, /^[^-]?$/u, /^(?!-)/],
    [postcode, 6, 6, /[,г]/, /^(?:,| г)/],
    [certain(postcodeOfCity), 6, 6, /[^\d%]|^$/u, /^/],
  ],
  behindDigitsLater: [
    [form, 2, 3, /[/-]/, /^(?:-\d\d)?\/у/],
    [numbered, 1, 9, /-/, /^-\d/],
    [law, 1, 5, /-/, /^-[А-Яа-я]/],
  ],
  atLetter: [
    [/[A-ZА-Я]/, plate, /\d/],
    [/[А-Я]/, courtFile, /\d/],
    [/[A-ZА-Я]/, contract, /[-\d]/],
  ],
  atMark: [
    [/\*/, serviceCode],
    [/[*#]/, phoneKey],
  ],
} satisfies Rules<DigitRule>;
