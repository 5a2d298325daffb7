// French names of currencies: the singular, then the plural.
import type { Currency, Noun } from '../language.js';

function noun(names: string): Noun {
  const [one = '', many = `${one}s`, gender = 'm'] = names.split('|');
  return { forms: [one, many], gender: gender === 'f' ? 'f' : 'm' };
}

const CENTIME = noun('centime');
const CENT = noun('cent');
const MINOR: Readonly<Record<string, Noun>> = {
  EUR: CENTIME, CHF: CENTIME, MAD: CENTIME, GBP: noun('penny|pence'), RUB: noun('kopeck'), BRL: noun('centavo'), MXN: noun('centavo'),
  PLN: noun('grosz|groszy'), SEK: noun('öre|öre'), NOK: noun('øre|øre'), DKK: noun('øre|øre'), TRY: noun('kuruş|kuruş'), CNY: noun('fen|fen'),
}; // prettier-ignore
const WITHOUT_MINOR = new Set(['JPY', 'KRW', 'BTC', 'VND', 'HUF', 'XAF', 'XOF', 'XPF', 'CENT', 'CENTIME', 'ETH']);

const NAMES: Readonly<Record<string, string>> = {
  EUR: 'euro', USD: 'dollar', GBP: 'livre sterling|livres sterling|f', CHF: 'franc suisse|francs suisses', CAD: 'dollar canadien|dollars canadiens',
  JPY: 'yen', CNY: 'yuan', INR: 'roupie|roupies|f', KRW: 'won', RUB: 'rouble', BRL: 'real|reais', AUD: 'dollar australien|dollars australiens',
  NZD: 'dollar néo-zélandais|dollars néo-zélandais', MXN: 'peso mexicain|pesos mexicains', SEK: 'couronne suédoise|couronnes suédoises|f',
  NOK: 'couronne norvégienne|couronnes norvégiennes|f', DKK: 'couronne danoise|couronnes danoises|f', PLN: 'zloty', CZK: 'couronne tchèque|couronnes tchèques|f',
  HUF: 'forint', TRY: 'livre turque|livres turques|f', ILS: 'shekel', ZAR: 'rand', SGD: 'dollar de Singapour|dollars de Singapour',
  HKD: 'dollar de Hong Kong|dollars de Hong Kong', THB: 'baht', VND: 'dong', UAH: 'hryvnia|hryvnias|f', AED: 'dirham', MAD: 'dirham marocain|dirhams marocains',
  DZD: 'dinar algérien|dinars algériens', TND: 'dinar tunisien|dinars tunisiens', SAR: 'riyal', XAF: 'franc CFA|francs CFA', XOF: 'franc CFA|francs CFA',
  XPF: 'franc Pacifique|francs Pacifique', BTC: 'bitcoin', ETH: 'ether', CENT: 'cent', CENTIME: 'centime', FRF: 'franc',
}; // prettier-ignore

export const CURRENCIES: Readonly<Record<string, Currency>> = Object.fromEntries(
  Object.entries(NAMES).map(([code, names]) => {
    const minor = WITHOUT_MINOR.has(code) ? undefined : (MINOR[code] ?? CENT);
    return [code, { ...noun(names), ...(minor && { minor }) }];
  }),
);

export const CURRENCY_SIGNS: Readonly<Record<string, string>> = {
  '€': 'EUR', $: 'USD', US$: 'USD', $US: 'USD', '$ US': 'USD', '£': 'GBP', '¥': 'JPY', 'CN¥': 'CNY', '₹': 'INR', '₩': 'KRW', '₽': 'RUB', R$: 'BRL',
  $CA: 'CAD', '$ CA': 'CAD', C$: 'CAD', CA$: 'CAD', $CAN: 'CAD', A$: 'AUD', AU$: 'AUD', '₺': 'TRY', '₪': 'ILS', '₴': 'UAH', '₿': 'BTC', FCFA: 'XOF',
  'F CFA': 'XOF', '¢': 'CENT', ct: 'CENTIME', cts: 'CENTIME', 'Fr.': 'CHF',
}; // prettier-ignore
