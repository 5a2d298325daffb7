// How Russian is written, as data.
import type { Writing } from '../language.js';
import { ABBREVIATIONS, BEFORE_NUMBER } from './abbreviations.js';
import { CURRENCIES, CURRENCY_SIGNS } from './currencies.js';
import { READ, SPELLED } from './letters.js';
import { ORDINAL_MARK } from './ordinals.js';
import { TELEPHONE } from './telephone.js';
import { MAGNITUDES, PER, UNITS } from './units.js';
import { words } from './vocabulary.js';

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
