// Reads Russian names of letters and figures (Ту-154, рейс SU 245) and initials.
// It also names letters and decides which words in capitals are spelled.
import type { Found, Reading } from '../reading.js';
import { planeType } from '../shared-codes.js';
import { formula, negativePower, type Rules } from '../shared-forms.js';
import { cardinal, ordinal, sayGroup } from './numbers.js';
import { words } from './grammar.js';

// prettier-ignore
const CYRILLIC: Readonly<Record<string, string>> = {
  А: 'а', Б: 'бэ', В: 'вэ', Г: 'гэ', Д: 'дэ', Е: 'е', Ё: 'ё', Ж: 'жэ', З: 'зэ', И: 'и', Й: 'и краткое', К: 'ка', Л: 'эль', М: 'эм', Н: 'эн', О: 'о', П: 'пэ', Р: 'эр',
  С: 'эс', Т: 'тэ', У: 'у', Ф: 'эф', Х: 'ха', Ц: 'цэ', Ч: 'че', Ш: 'ша', Щ: 'ща', Ъ: 'твёрдый знак', Ы: 'ы', Ь: 'мягкий знак', Э: 'э', Ю: 'ю', Я: 'я',
};
// prettier-ignore
const LATIN: Readonly<Record<string, string>> = {
  A: 'эй', B: 'би', C: 'си', D: 'ди', E: 'и', F: 'эф', G: 'джи', H: 'эйч', I: 'ай', J: 'джей', K: 'кей', L: 'эл', M: 'эм', N: 'эн', O: 'оу', P: 'пи', Q: 'кью', R: 'ар', S: 'эс',
  T: 'ти', U: 'ю', V: 'ви', W: 'дабл ю', X: 'икс', Y: 'уай', Z: 'зед',
};

/** Alone, in formulas and formats, Latin letters have their school names: H2O, A4, 3D. */
// prettier-ignore
const ALONE: Readonly<Record<string, string>> = {
  A: 'а', B: 'бэ', C: 'цэ', D: 'дэ', E: 'е', H: 'аш', K: 'ка', L: 'эль', O: 'о', P: 'пэ', R: 'эр', T: 'тэ', U: 'у', V: 'вэ', Y: 'игрек', Z: 'зет',
};

/** Abbreviations that custom says in another way than by the names of their letters. */
// prettier-ignore
const CUSTOMARY: Readonly<Record<string, string>> = {
  США: 'сэ шэ а', ГИБДД: 'ги бэ дэ дэ', CO: 'цэ о', ФРГ: 'фэ эр гэ', PDF: 'пэ дэ эф', HTML: 'эйч ти эм эл', BMW: 'бэ эм вэ', SMS: 'эс эм эс',
  СПб: 'Санкт-Петербург', VIP: 'вип', PIN: 'пин', SIM: 'сим',
};

export function spellLetters(letters: string): string {
  const customary = CUSTOMARY[letters];
  if (customary !== undefined) return customary;
  const alone = ALONE[letters];
  if (alone !== undefined) return alone;
  return Array.from(letters.toUpperCase(), (letter) => CYRILLIC[letter] ?? LATIN[letter] ?? letter).join(' ');
}

/** They hold a vowel and are spelled all the same. */
export const SPELLED = words(`
  ЖКУ ИМТ ОРЗ ИВЛ ИБС УЗО ЭДО ОФЗ УПД ОКС УСЗН ИФНС ОВЗ АКБ АДВ ЕДВ ОНФ ЕСФ АЭХК УФНС УФСБ УФАС_ ОМВД УМВД ГУВД ОВО
  МГТУ РГГУ ФГБУ ФГАОУ ГБУ ГБОУ МБОУ МАОУ МБДОУ ГКУ НКО АНО ОБЖ МКУ КФУ УрФУ ДВФУ ЮФУ СФУ БГУ НГУ ТГУ ВГУ РГУ СГУ МГЛУ МГПУ РГПУ МГСУ ЦПУ СВО ОТП ОСАО ООС
  США ООН ЕС АО ООО ОАО ЗАО ПАО ИП УК ГК ПО ТО ТВ ИТ УФ ОС ЭВМ ЕГЭ_ МГУ СПбГУ АЭС АЗС АТС ОАЭ ЕАЭС ЦСКА ОМС ОВД УВД ГИБДД НЛО ИИ ЦБ ЭКГ ЭЭГ УВЧ ИНН ОГРН ОКПО ОКВЭД
  ВУЗ_ АПК ВТО СТО ГТО МАИ_ ЕСПЧ ОБСЕ АСУ ПВО СУ АКПП ЖЭК_ ИО ЕР ОРТ РУ УАЗ_ ЕНВД УСН НИУ ФИО_ ОЗУ ПЗУ АТР ООП ИНТ МТС_ ФА УПК АПЛ ТЮЗ_ СБУ АСВ АД ОПГ ГОСТ_ ЗАЗ_ ИТР ОТК РЕН_ ЕЭС ПМЭФ ЭЦП ЕСИА_ ИК
  CO API USB URL USA UK UN EU AI IT IP ID UI UX CEO CTO CFO IBM IOS ISO ATM FAQ AC DC AUX OLED_ LED CD DVD SUV VPN HTTP GPS GPRS HD QR PR HR NFC LTE AMD EUR_ IPO ICO ESG KPI CRM ERP VOIP_ SMS PDF SIP_ DIY
  AMOLED_ HDMI ЦРУ UEFA_ NBA ABBA_ MBA BBC CNN FBI CIA ФБР_
`);

/** They have no vowel, or few letters, and are read as words; or are no abbreviations. */
export const READ = words(`
  ГОСТ МИД ЗАГС СИЗО ОМОН СОБР НИИ ВИЧ СПИД ТАСС ГУМ ЦУМ МХАТ МКАД НАТО ЮНЕСКО НАСА ФИФА УЕФА ВИП БАМ ГЭС ТЭЦ ГРЭС МРОТ СНИЛС ОСАГО КАСКО РАН РИА АвтоВАЗ ВАЗ КАМАЗ УАЗ ГАЗ ЗИЛ РЖД_ ТЮЗ ВУЗ ЖЭК БИК СМИ ФИО ОРВИ УЗИ ЕГЭ ОГЭ МАИ
  ФАС ПИН СИМ ЮАР НЭП ГАИ КГБ_ НАТО ВОЗ МОК МАГАТЭ ОПЕК БРИКС АСЕАН ЮНИСЕФ КОВИД ИЛ ВКС_ ЕГРЮЛ ЕГРН_ МЕГА ОЗОН ИКЕА ЛУКОЙЛ ЯНДЕКС НОЛЬ NASA NATO FIFA UEFA COVID IKEA SIM PIN
`);

const NAMED = /(\p{Lu}\p{L}{0,11})-(\d{1,4})(?:-?(\p{Lu}{1,3}))?(?![\p{L}\p{N}]|[.,-]\d)/uy;
const ATTACHED = /(\p{Lu}{1,3})(\d{1,3})(?![\p{L}\p{N}]|[.,-]\d)/uy;
const CARS = /^(?:ВАЗ|ГАЗ|УАЗ|ЗАЗ|ЗИЛ|КрАЗ|МАЗ|ПАЗ|ЛиАЗ|Лада|Камаз|КАМАЗ|КамАЗ)$/; // ВАЗ-2107
const FLIGHT = /([A-Z]{2}|[А-Я]{2}|[A-Z]\d)[ -]?(\d{3,4})(?!\d)/uy;
const INITIALS = /(?:\p{Lu}\.[ ]?){1,2}(?=\p{Lu}\p{Ll})/uy;
const INITIALS_BEHIND = /\p{Lu}\.[ ]?\p{Lu}\.(?![\p{L}])/uy;
const NOT_A_NAME = words(
  'витамин витамина группа группы группе буква букву план класс тип пункт категория категории вариант корпус гепатит гепатита зал сектор блок',
);

/** Ту-154 "ту сто пятьдесят четыре": figures of a name are a number. */
function namedByNumber(reading: Reading): Found | undefined {
  const { text, runEnd } = reading;
  if (!/[-\d]/.test(text[runEnd] ?? '')) return undefined;
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

export const planes = planeType(sayGroup);

// prettier-ignore
const ELEMENTS: Readonly<Record<string, string>> = {
  Na: 'натрий', Ca: 'кальций', Cl: 'хлор', Fe: 'феррум', Mg: 'магний', Al: 'алюминий', Cu: 'купрум', Ag: 'аргентум', Zn: 'цинк', Si: 'силициум', N: 'эн',
};
/** H₂SO₄ */
export const chemical = formula((element) => ELEMENTS[element] ?? spellLetters(element), cardinal);
/** 10⁻³ */
export const negative = negativePower(
  (digits) => ` в минус ${ordinal(digits, 'prepositional', 'f')} степени`,
);

const VERSION = /[vV]\.? ?(\d{1,5}(?:\.\d{1,6}){0,4})(?![\p{L}\d]|\.\d)/uy;
const CASES_OF_VERSION: readonly (readonly [before: RegExp, form: string])[] = [
  [/^(?:верси|релиз|обновлени)/u, ''],
  [/^(?:до|из|с|со|от|для|без|после|у|в|во|на|о|об|при|к|ко|по)$/u, 'версии '],
  [/^(?:за|над|под|перед|между)$/u, 'версией '],
];

/** До v2.1.3: в версии, к версии. */
function version(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(VERSION) : undefined;
  const [written = '', digits = ''] = match ?? [];
  if (match === undefined || (written.includes(' ') && !digits.includes('.'))) return undefined;
  const before = reading.around(reading.at).previousWord;
  const name = CASES_OF_VERSION.find(([words]) => words.test(before))?.[1] ?? 'версия ';
  const spoken = name + digits.split('.').map(sayGroup).join(' точка ');
  return { end: reading.at + written.length, spoken, rule: 'version' };
}

/** Names of letters in formulas, as taught at school. */
// prettier-ignore
export const VARIABLES: Readonly<Record<string, string>> = {
  a: 'а', b: 'бэ', c: 'цэ', d: 'дэ', k: 'ка', m: 'эм', n: 'эн', p: 'пэ', q: 'ку', r: 'эр', s: 'эс', t: 'тэ', x: 'икс', y: 'игрек', z: 'зет',
};
const OPERATOR_BEHIND = /^[²³]?(?: ?[=+×÷·<>≤≥≠^]| [-−–] ?[\dxyz])/;
const OPERATOR_BEFORE = /[=+×÷·<>≤≥≠√] ?$|[\dxyz] [-−–] $/;

/** The name of a letter in a formula: x² + y. */
function letterOfFormula(text: string, at: number): string | undefined {
  const name = VARIABLES[text[at] ?? ''];
  if (name === undefined || /[\p{L}\d'’]/u.test(text[at + 1] ?? '')) return undefined;
  const known =
    OPERATOR_BEHIND.test(text.slice(at + 1, at + 5)) ||
    OPERATOR_BEFORE.test(text.slice(Math.max(0, at - 4), at));
  return known ? name : undefined;
}

function variable({ text, at, isFresh }: Reading): Found | undefined {
  const name = isFresh ? letterOfFormula(text, at) : undefined;
  return name === undefined ? undefined : { end: at + 1, spoken: name, rule: 'math' };
}

/** In the order in which the language asks them. */
export const nameRules = {
  atLetter: [
    [/[vV]/, version, /[.\d]/],
    [/[a-z]/, variable],
  ],
  atLetterLater: [
    [/[А-ЯЁ]/, initials, /\./],
    [/\p{Lu}/u, namedByNumber, /[-\d]/],
  ],
} satisfies Rules;
