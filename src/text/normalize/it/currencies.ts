// Italian names of currencies: the singular, then the plural.
import type { Currency, Noun } from '../language.js';

function noun(names: string): Noun {
  const [one = '', many = one, gender = 'm'] = names.split('|');
  return { forms: [one, many], gender: gender === 'f' ? 'f' : 'm' };
}

const CENTESIMO = noun('centesimo|centesimi');
const MINOR: Readonly<Record<string, Noun>> = {
  GBP: noun('penny|pence'), RUB: noun('copeco|copechi'), BRL: noun('centavo|centavos'), MXN: noun('centavo|centavos'), PLN: noun('grosz|grosz'),
  SEK: noun('öre'), NOK: noun('øre'), DKK: noun('øre'), TRY: noun('kuruş'), CNY: noun('fen'), INR: noun('paisa'),
}; // prettier-ignore
const WITHOUT_MINOR = new Set(['JPY', 'KRW', 'BTC', 'ETH', 'VND', 'HUF', 'ITL', 'CENT']);

const NAMES: Readonly<Record<string, string>> = {
  EUR: 'euro', USD: 'dollaro|dollari', GBP: 'sterlina|sterline|f', CHF: 'franco svizzero|franchi svizzeri', CAD: 'dollaro canadese|dollari canadesi',
  JPY: 'yen', CNY: 'yuan', INR: 'rupia|rupie|f', KRW: 'won', RUB: 'rublo|rubli', BRL: 'real|real', AUD: 'dollaro australiano|dollari australiani',
  NZD: 'dollaro neozelandese|dollari neozelandesi', MXN: 'peso messicano|pesos messicani', SEK: 'corona svedese|corone svedesi|f',
  NOK: 'corona norvegese|corone norvegesi|f', DKK: 'corona danese|corone danesi|f', PLN: 'zloty', CZK: 'corona ceca|corone ceche|f',
  HUF: 'fiorino ungherese|fiorini ungheresi', RON: 'leu|lei', BGN: 'lev|leva', TRY: 'lira turca|lire turche|f', ILS: 'shekel', ZAR: 'rand',
  SGD: 'dollaro di Singapore|dollari di Singapore', HKD: 'dollaro di Hong Kong|dollari di Hong Kong', THB: 'baht', VND: 'dong', UAH: 'grivnia|grivnie|f',
  AED: 'dirham', MAD: 'dirham marocchino|dirham marocchini', TND: 'dinaro tunisino|dinari tunisini', SAR: 'riyal', EGP: 'sterlina egiziana|sterline egiziane|f',
  ALL: 'lek', RSD: 'dinaro serbo|dinari serbi', ITL: 'lira|lire|f', BTC: 'bitcoin', ETH: 'ether', CENT: 'centesimo|centesimi',
}; // prettier-ignore

export const CURRENCIES: Readonly<Record<string, Currency>> = Object.fromEntries(
  Object.entries(NAMES).map(([code, names]) => {
    const minor = WITHOUT_MINOR.has(code) ? undefined : (MINOR[code] ?? CENTESIMO);
    return [code, { ...noun(names), ...(minor && { minor }) }];
  }),
);

export const CURRENCY_SIGNS: Readonly<Record<string, string>> = {
  '€': 'EUR', Euro: 'EUR', euro: 'EUR', eur: 'EUR', $: 'USD', US$: 'USD', $US: 'USD', '£': 'GBP', '¥': 'JPY', 'CN¥': 'CNY', '₹': 'INR', '₩': 'KRW', '₽': 'RUB',
  R$: 'BRL', C$: 'CAD', CA$: 'CAD', A$: 'AUD', AU$: 'AUD', '₺': 'TRY', '₪': 'ILS', '₴': 'UAH', '₿': 'BTC', 'Fr.': 'CHF', '₤': 'ITL', '¢': 'CENT',
  cent: 'CENT', 'cent.': 'CENT', dollaro: 'USD', dollari: 'USD', sterlina: 'GBP', sterline: 'GBP',
}; // prettier-ignore
