// Russian names of currencies, as `noun` in declension.ts reads them.
import type { Currency } from '../language.js';
import { noun } from './declension.js';

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

export const CURRENCIES: Readonly<Record<string, Currency>> = Object.fromEntries(
  Object.entries(NAMES).map(([code, entry]) => {
    const minor = MINOR[code];
    return [code, { ...noun(entry), ...(minor && { minor }) }];
  }),
);

/** Names written out are read with their hundredths, too: 12,50 рубля. */
export const CURRENCY_SIGNS: Readonly<Record<string, string>> = {
  '₽': 'RUB', 'руб.': 'RUB', руб: 'RUB', 'р.': 'RUB', р: 'RUB', RUR: 'RUB', 'коп.': 'KOP', коп: 'KOP', $: 'USD', US$: 'USD', 'долл.': 'USD', '€': 'EUR', евро: 'EUR', '£': 'GBP', '₴': 'UAH', 'грн': 'UAH', 'грн.': 'UAH',
  '₸': 'KZT', тг: 'KZT', 'тг.': 'KZT', '¥': 'JPY', '₹': 'INR', '₩': 'KRW', '₺': 'TRY', C$: 'CAD', A$: 'AUD', R$: 'BRL', '₪': 'ILS', '₾': 'GEL', '₿': 'BTC', '¢': 'CENT', 'бел. руб.': 'BYN', 'Br': 'BYN',
}; // prettier-ignore
