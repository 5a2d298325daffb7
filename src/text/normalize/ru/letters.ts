// Names of letters, and which words in capitals are spelled.
import { words } from './vocabulary.js';

const CYRILLIC: Readonly<Record<string, string>> = {
  А: 'а', Б: 'бэ', В: 'вэ', Г: 'гэ', Д: 'дэ', Е: 'е', Ё: 'ё', Ж: 'жэ', З: 'зэ', И: 'и', Й: 'и краткое', К: 'ка', Л: 'эль', М: 'эм', Н: 'эн', О: 'о', П: 'пэ', Р: 'эр',
  С: 'эс', Т: 'тэ', У: 'у', Ф: 'эф', Х: 'ха', Ц: 'цэ', Ч: 'че', Ш: 'ша', Щ: 'ща', Ъ: 'твёрдый знак', Ы: 'ы', Ь: 'мягкий знак', Э: 'э', Ю: 'ю', Я: 'я',
}; // prettier-ignore
const LATIN: Readonly<Record<string, string>> = {
  A: 'эй', B: 'би', C: 'си', D: 'ди', E: 'и', F: 'эф', G: 'джи', H: 'эйч', I: 'ай', J: 'джей', K: 'кей', L: 'эл', M: 'эм', N: 'эн', O: 'оу', P: 'пи', Q: 'кью', R: 'ар', S: 'эс',
  T: 'ти', U: 'ю', V: 'ви', W: 'дабл ю', X: 'икс', Y: 'уай', Z: 'зед',
}; // prettier-ignore

/** Alone, in formulas and formats, Latin letters have their school names: H2O, A4, 3D. */
const ALONE: Readonly<Record<string, string>> = {
  A: 'а', B: 'бэ', C: 'цэ', D: 'дэ', E: 'е', H: 'аш', K: 'ка', L: 'эль', O: 'о', P: 'пэ', R: 'эр', T: 'тэ', U: 'у', V: 'вэ', Y: 'игрек', Z: 'зет',
}; // prettier-ignore

/** Abbreviations that custom says in another way than by the names of their letters. */
const CUSTOMARY: Readonly<Record<string, string>> = {
  США: 'сэ шэ а', ГИБДД: 'ги бэ дэ дэ', CO: 'цэ о', ФРГ: 'фэ эр гэ', PDF: 'пэ дэ эф', HTML: 'эйч ти эм эл', BMW: 'бэ эм вэ', SMS: 'эс эм эс',
  СПб: 'Санкт-Петербург', VIP: 'вип', PIN: 'пин', SIM: 'сим',
}; // prettier-ignore

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
