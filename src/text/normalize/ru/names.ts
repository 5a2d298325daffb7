// Reads Russian names of letters and figures (Ту-154, рейс SU 245) and initials.
// It also names letters and decides which words in capitals are spelled.
import { tablesOf } from '../../tables/language-tables.js';
import type { Found, Reading } from '../reading.js';
import { formula, type Rules } from '../shared-forms.js';
import { cardinal, sayGroup } from './numbers.js';

const CYRILLIC: Readonly<Record<string, string>> = tablesOf('ru').letterNames('spelled');
const LATIN: Readonly<Record<string, string>> = tablesOf('ru').letterNames('spelled');

/** Alone, in formulas and formats, Latin letters have their school names: H2O, A4, 3D. */
const ALONE: Readonly<Record<string, string>> = tablesOf('ru').letterNames('alone');

/** Abbreviations that custom says in another way than by the names of their letters. */
const CUSTOMARY: Readonly<Record<string, string>> = tablesOf('ru').letterNames('customary');

export function spellLetters(letters: string): string {
  const customary = CUSTOMARY[letters];
  if (customary !== undefined) return customary;
  const alone = ALONE[letters];
  if (alone !== undefined) return alone;
  return Array.from(letters.toUpperCase(), (letter) => CYRILLIC[letter] ?? LATIN[letter] ?? letter).join(' ');
}

/** Some hold a vowel and are spelled all the same; others have none, and are read as words. */
const { spelled: SPELLED, read: READ } = tablesOf('ru');

const NAMED = /(\p{Lu}\p{L}{0,11})-(\d{1,3} 000|\d{1,4})(?:-?(\p{Lu}{1,3}))?(?![\p{L}\p{N}]|[.,-]\d)/uy;
const ATTACHED = /(\p{Lu}{1,3})(\d{1,3})(?![\p{L}\p{N}]|[.,-]\d)/uy;
const CARS = /^(?:ВАЗ|ГАЗ|УАЗ|ЗАЗ|ЗИЛ|КрАЗ|МАЗ|ПАЗ|ЛиАЗ|Лада|Камаз|КАМАЗ|КамАЗ)$/; // ВАЗ-2107
const FLIGHT = /([A-Z]{2}|[А-Я]{2}|[A-Z]\d)[ -]?(\d{3,4})(?!\d)/uy;
const INITIALS = /(?:\p{Lu}\.[ ]?){1,2}(?=\p{Lu}\p{Ll})/uy;
const INITIALS_BEHIND = /\p{Lu}\.[ ]?\p{Lu}\.(?![\p{L}])/uy;
const NOT_A_NAME = tablesOf('ru').set('before a letter');

/** Ту-154 "ту сто пятьдесят четыре": figures of a name are a number. */
function namedByNumber(reading: Reading): Found | undefined {
  const match = reading.match(NAMED) ?? reading.match(ATTACHED);
  const [written = '', name = '', digits = '', tail] = match ?? [];
  if (match === undefined || (digits.length === 4 && /^[A-Z]+$/.test(name))) return undefined;
  const year = /^(?:19|20)\d\d$/.test(digits);
  if (digits.length === 4 && CARS.test(name)) {
    const pairs = `${sayGroup(digits.slice(0, 2))} ${sayGroup(digits.slice(2))}`;
    return { end: reading.at + written.length, spoken: `${said(name)} ${pairs}`, rule: 'identifier' };
  }
  if (year && name.length > 3)
    return {
      end: reading.at + written.length,
      spoken: `${said(name)} ${sayGroup(digits)}`,
      rule: 'identifier',
    };
  const behind = tail === undefined ? '' : ` ${spellLetters(tail)}`;
  return {
    end: reading.at + written.length,
    spoken: `${said(name)} ${sayGroup(digits)}${behind}`,
    rule: 'identifier',
  };
}

/** Letters of a name: one, or a few capitals, by their names. */
function said(name: string): string {
  if (name.length === 1) return spellLetters(name);
  const capitals = /^\p{Lu}+$/u.test(name) && !READ.has(name);
  const consonants = capitals && name.length <= 4 && !/[АЕЁИОУЫЭЮЯAEIOUY]/.test(name);
  return consonants || SPELLED.has(name) ? spellLetters(name) : name;
}

/** Рейс SU 1234: pairs or a number. */
export function flight(reading: Reading): Found | undefined {
  if (reading.runEnd - reading.at > 2 || !reading.around(reading.at).previousWord.startsWith('рейс'))
    return undefined;
  const match = reading.match(FLIGHT);
  const [written = '', carrier = '', digits = ''] = match ?? [];
  if (match === undefined) return undefined;
  const groups = digits.length === 4 ? [digits.slice(0, 2), digits.slice(2)] : [digits];
  return {
    end: reading.at + written.length,
    spoken: `${carrierName(carrier)} ${groups.map(sayGroup).join(' ')}`,
    rule: 'identifier',
  };
}

/** S7 is a letter and a number. */
function carrierName(carrier: string): string {
  const digit = /\d/.exec(carrier)?.[0];
  return digit === undefined
    ? spellLetters(carrier)
    : `${spellLetters(carrier.slice(0, 1))} ${sayGroup(digit)}`;
}

/** А. С. Пушкин, Пушкин А. С.: the names of the letters. */
function initials(reading: Reading): Found | undefined {
  const { text, at, runEnd } = reading;
  if (runEnd - at !== 1 || text[runEnd] !== '.') return undefined;
  const around = reading.around(at);
  if (NOT_A_NAME.has(around.previousWord) || /[А-ЯA-Z]\. ?$/u.test(text.slice(Math.max(0, at - 3), at)))
    return undefined;
  const match = reading.match(INITIALS) ?? behindName(reading);
  if (match === undefined || !/^[А-ЯЁ]/.test(match[0])) return undefined;
  const letters = match[0].replace(/[^\p{Lu}]/gu, '');
  const end = at + match[0].trimEnd().length;
  return { end, spoken: spellLetters(letters), rule: 'acronym' };
}

function behindName(reading: Reading): RegExpExecArray | undefined {
  return /^\p{Lu}\p{Ll}/u.test(reading.text.slice(wordStart(reading.text, reading.at), reading.at))
    ? reading.match(INITIALS_BEHIND)
    : undefined;
}

const LONGEST_NAME = 24;

function wordStart(text: string, at: number): number {
  let start = at - 1;
  while (start > 0 && at - start < LONGEST_NAME && /\p{L}/u.test(text[start - 1] ?? '')) start--;
  return start;
}

const ELEMENTS: Readonly<Record<string, string>> = tablesOf('ru').letterNames('element');

export function sayElement(symbol: string): string {
  return ELEMENTS[symbol] ?? spellLetters(symbol);
}

/** H₂SO₄ */
export const chemical = formula(sayElement, cardinal);

const VERSION = /[vV]\.? ?(\d{1,5}(?:\.\d{1,6}){0,4})(?![\p{L}\d]|\.\d)/uy;
const CASES_OF_VERSION: readonly (readonly [before: RegExp, form: string])[] = [
  [/^(?:верси|релиз|обновлени)/u, ''],
  [/^(?:до|из|с|со|от|для|без|после|у|в|во|на|о|об|при|к|ко|по)$/u, 'версии '],
  [/^(?:за|над|под|перед|между)$/u, 'версией '],
  [/(?:йте|ите)$/u, 'версию '], // скачайте, установите
];

/** До v2.1.3: в версии, к версии. */
function version(reading: Reading): Found | undefined {
  const match = reading.match(VERSION);
  const [written = '', digits = ''] = match ?? [];
  if (match === undefined || (written.includes(' ') && !digits.includes('.'))) return undefined;
  const before = reading.around(reading.at).previousWord;
  const name = CASES_OF_VERSION.find(([words]) => words.test(before))?.[1] ?? 'версия ';
  const spoken = name + digits.split('.').map(sayGroup).join(' точка ');
  return { end: reading.at + written.length, spoken, rule: 'version' };
}

/** Names of letters in formulas, as taught at school. */
export const VARIABLES: Readonly<Record<string, string>> = tablesOf('ru').letterNames('formula');
const OPERATOR_BEHIND =
  /^(?:[²³₀-₉]?(?: ?[=+×÷·<>≤≥≠^]| [-−–] ?[\dxyz])|[²³][-−–][\dxyz]|[²³](?![\p{L}\p{N}]))/u;
const OPERATOR_BEFORE = /[=+×÷·<>≤≥≠√] ?\d{0,4}$|[\dxyz] [-−–] \d{0,4}$/;

/** The name of a letter in a formula: x² + y. */
function letterOfFormula(text: string, at: number): string | undefined {
  const name = VARIABLES[text[at] ?? ''];
  if (name === undefined || /[\p{L}\d'’]/u.test(text[at + 1] ?? '')) return undefined;
  const known =
    OPERATOR_BEHIND.test(text.slice(at + 1, at + 7)) ||
    OPERATOR_BEFORE.test(text.slice(Math.max(0, at - 7), at));
  return known ? name : undefined;
}

function variable({ text, at }: Reading): Found | undefined {
  const name = letterOfFormula(text, at);
  return name === undefined ? undefined : { end: at + 1, spoken: name, rule: 'math' };
}

const BEFORE_SECOND = /([сСвВ]) (?=2-(?:й|го|м|ой|му|ю|ом)(?!\p{L}))/uy;

/** Со второй остановки, во втором классе */
function vocal(reading: Reading): Found | undefined {
  const [written, word = ''] = reading.match(BEFORE_SECOND) ?? [];
  if (written === undefined) return undefined;
  return { end: reading.at + written.length, spoken: `${word}о `, rule: 'ordinal' };
}

const NUMBER_CASES: readonly (readonly [before: RegExp, form: string])[] = [
  [/^(?:под|над|перед|за|с|со)$/, 'номером'],
  [/^(?:у|от|до|из|без|для|около|кроме)$/, 'номера'],
  [/^(?:к|ко)$/, 'номеру'],
  [/^(?:о|об|при)$/, 'номере'],
];

/** Под № 9: под номером девять. */
export function numberSign(before: string): string | undefined {
  return NUMBER_CASES.find(([words]) => words.test(before))?.[1];
}

const PI_AND_LETTER = /π([a-z])(?![\p{L}\d'’])/uy;

/** 2πr */
function circle(reading: Reading): Found | undefined {
  const [written, letter = ''] = reading.match(PI_AND_LETTER) ?? [];
  const name = VARIABLES[letter];
  if (written === undefined || name === undefined) return undefined;
  return { end: reading.at + written.length, spoken: `пи ${name}`, rule: 'math', isCertain: true };
}

const LETTERED =
  /(?<!\p{L})(?:терминал|витамин|групп|класс|тип|сектор|зон|категори|блок|корпус|подъезд|план|вариант|литер|выход|трибун|лини|очеред)\p{L}{0,3} $/iu;

/** Терминал B, витамин C */
function letterOfName(reading: Reading): Found | undefined {
  const { text, at, runEnd } = reading;
  if (runEnd - at !== 1 || /^['’.]\p{L}|^[-+]/u.test(text.slice(runEnd, runEnd + 2))) return undefined;
  if (!LETTERED.test(text.slice(Math.max(0, at - 16), at))) return undefined;
  return { end: runEnd, spoken: spellLetters(text.slice(at, runEnd)), rule: 'acronym' };
}

/** In the order in which the language asks them. */
export const nameRules = {
  atLetter: [
    [/[vV]/, version, /[.\d]/],
    [/[a-z]/, variable],
    [/π/, circle],
    [/[сСвВ]/, vocal, /2/],
    [/[A-Z]/, letterOfName],
  ],
  atLetterLater: [
    [/[А-ЯЁ]/, initials, /\./],
    [/\p{Lu}/u, namedByNumber, /[-\d]/],
  ],
} satisfies Rules;
