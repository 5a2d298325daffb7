// Describes how Russian is written: marks, months, units, currencies, and the names of signs.
import type { Currency, SymbolNames, Writing } from '../language.js';
import { ABBREVIATIONS, BEFORE_NUMBER } from './abbreviations.js';
import { noun } from './declension.js';
import { READ, SPELLED } from './names.js';
import { ORDINAL_MARK } from './ordinals.js';
import { TELEPHONE } from './speech.js';
import { MAGNITUDES, PER, UNITS } from './units.js';
import { words } from './vocabulary.js';

export const SYMBOLS: SymbolNames = {
  inAddress: {
    '@': 'собака', '.': 'точка', '/': 'слэш', '\\': 'обратный слэш', '-': 'дефис', _: 'нижнее подчёркивание', ':': 'двоеточие', '#': 'решётка',
    '?': 'вопросительный знак', '=': 'равно', '&': 'амперсанд', '+': 'плюс', '~': 'тильда', '%': 'процент', '*': 'звёздочка', '!': 'восклицательный знак',
  },
  inMath: {
    '+': 'плюс', '-': 'минус', '−': 'минус', '×': 'умножить на', '*': 'умножить на', '·': 'умножить на', '÷': 'разделить на', '/': 'разделить на', ':': 'разделить на', '=': 'равно', '==': 'равно',
    '<': 'меньше', '>': 'больше', '<=': 'меньше или равно', '>=': 'больше или равно', '≤': 'меньше или равно', '≥': 'больше или равно',
    '≠': 'не равно', '!=': 'не равно', '≈': 'примерно равно', '~': 'около', '±': 'плюс-минус', '√': 'корень из', '∞': 'бесконечность', π: 'пи', '→': '',
  },
  inFront: { '<': 'менее', '>': 'более', '~': 'около', '≈': 'около', '≤': 'не более', '≥': 'не менее', '<=': 'не более', '>=': 'не менее', '=': 'равно' },
  inText: {
    '&': 'и', '§': 'параграф', '©': 'копирайт', '®': '', '™': '', '°': 'градусов', '%': 'процентов', '→': '', '←': '', '•': '', '✓': '', '=': 'равно', '₽': 'рублей', '№': 'номер', '∞': 'бесконечность', π: 'пи',
  },
  versionPoint: 'точка',
  version: 'версия',
  minus: 'минус',
  plus: 'плюс',
  keys: { star: 'звёздочка', hash: 'решётка', before: /нажм|нажат|набер|набра|введ|клавиш|кнопк/i },
  hashtag: 'хештег',
  addressWords: {
    com: 'ком', org: 'орг', net: 'нет', ru: 'ру', рф: 'эр эф', su: 'эс у', by: 'бай', kz: 'кей зет', ua: 'ю эй', info: 'инфо', mail: 'мейл', gmail: 'джимейл', yandex: 'яндекс', ya: 'я', google: 'гугл', www: 'вэ вэ вэ',
    io: 'ай оу', ai: 'эй ай', co: 'ко', me: 'ми', tv: 'ти ви', eu: 'и ю', de: 'дэ е', uk: 'ю кей', us: 'ю эс', pdf: 'пэ дэ эф', txt: 'тэ икс тэ', docx: 'док икс', doc: 'док', xlsx: 'эксель икс', xls: 'эксель', zip: 'зип', exe: 'экзе', jpg: 'джейпег', jpeg: 'джейпег',
    png: 'пэ эн гэ', csv: 'си эс ви', json: 'джейсон', xml: 'икс эм эл', html: 'эйч ти эм эл', js: 'джей эс', ts: 'ти эс', py: 'пай', md: 'эм ди', mp: 'эм пэ', api: 'эй пи ай', id: 'ай ди', vk: 'вэ ка', gov: 'гов', bk: 'би кей', inbox: 'инбокс', list: 'лист', outlook: 'аутлук', rambler: 'рамблер',
  },
}; // prettier-ignore

const KOPECK = noun('f копейка копейки копеек');
const CENT = noun('m цент цента центов');
const MINOR: Readonly<Record<string, ReturnType<typeof noun>>> = {
  RUB: KOPECK, UAH: KOPECK, BYN: KOPECK, EUR: CENT, USD: CENT, CAD: CENT, AUD: CENT, GBP: noun('m пенс пенса пенсов'), CHF: noun('m сантим сантима сантимов'),
  KZT: noun('m тиын тиына тиынов'), PLN: noun('m грош гроша грошей'), TRY: noun('m куруш куруша курушей'), CNY: noun('m фэнь фэня фэней'), INR: noun('f пайса пайсы пайс'),
}; // prettier-ignore

const NAMES: Readonly<Record<string, string>> = {
  RUB: 'm рубль рубля рублей', USD: 'm доллар доллара долларов', EUR: 'm евро', GBP: 'm фунт фунта фунтов| стерлингов', UAH: 'f гривна гривны гривен', BYN: 'm белорусский_рубль рубля рублей',
  KZT: 'm тенге', CHF: 'm швейцарский_франк франка франков', JPY: 'f иена иены иен', CNY: 'm юань юаня юаней', INR: 'f рупия рупии рупий', KRW: 'f вона воны вон', TRY: 'f лира лиры лир',
  CAD: 'm канадский_доллар доллара долларов', AUD: 'm австралийский_доллар доллара долларов', BRL: 'm реал реала реалов', MXN: 'n песо', PLN: 'm злотый злотого злотых', CZK: 'f чешская_крона кроны крон',
  SEK: 'f шведская_крона кроны крон', NOK: 'f норвежская_крона кроны крон', DKK: 'f датская_крона кроны крон', HUF: 'm форинт форинта форинтов', ILS: 'm шекель шекеля шекелей', GEL: 'm лари', AMD: 'm драм драма драмов',
  AZN: 'm манат маната манатов', UZS: 'm сум сума сумов', KGS: 'm сом сома сомов', AED: 'm дирхам дирхама дирхамов', BTC: 'm биткоин биткоина биткоинов', ETH: 'm эфир эфира эфиров', USDT: 'm юэсдити', THB: 'm бат бата батов',
  KOP: 'f копейка копейки копеек', CENT: 'm цент цента центов',
}; // prettier-ignore

const CURRENCIES: Readonly<Record<string, Currency>> = Object.fromEntries(
  Object.entries(NAMES).map(([code, entry]) => {
    const minor = MINOR[code];
    return [code, { ...noun(entry), ...(minor && { minor }) }];
  }),
);

/** Names written out are read with their hundredths, too: 12,50 рубля. */
const CURRENCY_SIGNS: Readonly<Record<string, string>> = {
  '₽': 'RUB', 'руб.': 'RUB', руб: 'RUB', 'р.': 'RUB', р: 'RUB', RUR: 'RUB', 'коп.': 'KOP', коп: 'KOP', $: 'USD', US$: 'USD', 'долл.': 'USD', '€': 'EUR', евро: 'EUR', '£': 'GBP', '₴': 'UAH', 'грн': 'UAH', 'грн.': 'UAH',
  '₸': 'KZT', тг: 'KZT', 'тг.': 'KZT', '¥': 'JPY', '₹': 'INR', '₩': 'KRW', '₺': 'TRY', C$: 'CAD', A$: 'AUD', R$: 'BRL', '₪': 'ILS', '₾': 'GEL', '₿': 'BTC', '¢': 'CENT', 'бел. руб.': 'BYN', 'Br': 'BYN',
}; // prettier-ignore

export const WRITING: Writing = {
  numbers: { decimal: ',', grouping: [' ', '.', "'"] },
  dates: {
    months: [], // its own recognisers know days, months and years: see calendar.ts
    weekdays: [],
    orders: { '.': 'dmy', '/': 'dmy', '-': 'dmy' },
    named: [],
    dayMark: '',
    between: ' ?',
  },
  times: {
    marks: [':'],
    halves: {},
    words: {},
    zones: {
      МСК: 'по московскому времени', мск: 'по московскому времени', 'по МСК': 'по московскому времени', 'по мск': 'по московскому времени', MSK: 'по московскому времени', UTC: 'по всемирному времени', GMT: 'по Гринвичу',
      CET: 'по центральноевропейскому времени', EST: 'по восточному времени', PST: 'по тихоокеанскому времени',
    },
  },
  telephone: TELEPHONE,
  currencies: CURRENCIES,
  currencySigns: CURRENCY_SIGNS,
  units: UNITS,
  per: PER,
  magnitudes: MAGNITUDES,
  ordinalMark: ORDINAL_MARK,
  abbreviations: ABBREVIATIONS,
  beforeNumber: BEFORE_NUMBER,
  spelled: SPELLED,
  read: READ,
  romanAfter: {}, // roman.ts knows cases and genders
  romanBefore: new Set(),
  digitsAfter: words(`код кода кодом коду пин пароль паролем cvv cvc инн кпп огрн бик снилс индекс ошибка карта карты карту карте договор договора полис паспорт серия билет билета билету
    цифры цифр цифрами iban vin imei артикул трек http подтверждения`),
  linking: words('это номер номера клиента подтверждения доступа карты с на по заказа безопасности ошибки ваш равен код серия'),
  decadeMark: '',
  yearAfter: new Set(),
  scoreWords: words(`счётом счетом счёт счет выиграл выиграла выиграли проиграл проиграла проиграли победил победила победили победа победой обыграл обыграла обыграли ничья ничьей вничью матч матча матче
    завершился закончился завершилась закончилась игра разгромил разгромила поражение поражением ведёт ведет лидирует победу гол голы забил забила тайм тайме пользу финал финале полуфинале четвертьфинале игру игре сыграл сыграла сыграли сборная сборной сборную гости хозяева поединок`),
}; // prettier-ignore
