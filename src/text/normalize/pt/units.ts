// Portuguese units, currencies and magnitudes: the singular, then the plural, and the gender.
import { currencies, magnitudes, nounTables } from '../iberian/nouns.js';
import type { Currency, Magnitude, Noun } from '../language.js';

export const { noun, units } = nounTables((word) => `${word}s`, /^(?:quadrad|cúbic)/);

export const UNITS: Readonly<Record<string, Noun>> = {
  ...units({
    'km Km kms': 'quilômetro', 'm mts': 'metro', cm: 'centímetro', mm: 'milímetro', 'µm μm': 'micrômetro', nm: 'nanômetro',
    dm: 'decímetro', yd: 'jarda f', ft: 'pé', 'in.': 'polegada f', '″': 'polegada f',
    'km² km2': 'quilômetro quadrado', 'm² m2': 'metro quadrado', 'cm² cm2': 'centímetro quadrado', 'm³ m3': 'metro cúbico',
    'cm³ cm3 cc': 'centímetro cúbico', ha: 'hectare', 'km/h Km/h': 'quilômetro por hora', 'm/s': 'metro por segundo',
    'm/s²': 'metro por segundo ao quadrado|metros por segundo ao quadrado', mph: 'milha por hora f', 'kg Kg kgs': 'quilograma',
    'g gr': 'grama', mg: 'miligrama',
    'µg μg mcg': 'micrograma', 't ton': 'tonelada f', 'lb lbs': 'libra f', oz: 'onça f',
    'l L lt': 'litro', 'ml mL': 'mililitro', 'cl cL': 'centilitro', 'dl dL': 'decilitro', hl: 'hectolitro', gal: 'galão|galões',
    '°C ºC ℃': 'grau Celsius', '°F ºF ℉': 'grau Fahrenheit', '° º': 'grau', K: 'kelvin', 'h hr hrs': 'hora f', 'min min.': 'minuto',
    's seg seg.': 'segundo', ms: 'milissegundo', 'µs μs': 'microssegundo', ns: 'nanossegundo', Hz: 'hertz|hertz',
    Mb: 'megabit', Gb: 'gigabit', kHz: 'quilohertz|quilohertz', MHz: 'mega-hertz|mega-hertz', GHz: 'giga-hertz|giga-hertz', bytes: 'byte',
    'KB kB': 'quilobyte',
    MB: 'megabyte',
    GB: 'gigabyte', TB: 'terabyte', PB: 'petabyte', 'kbps kbit/s': 'quilobit por segundo', 'Mbps Mbit/s Mb/s': 'megabit por segundo',
    'Gbps Gbit/s': 'gigabit por segundo', 'MB/s': 'megabyte por segundo', 'GB/s': 'gigabyte por segundo', W: 'watt', kW: 'quilowatt',
    MW: 'megawatt', GW: 'gigawatt',
    Wh: 'watt-hora|watts-hora', 'kWh KWh': 'quilowatt-hora|quilowatts-hora', MWh: 'megawatt-hora|megawatts-hora',
    GWh: 'gigawatt-hora|gigawatts-hora', V: 'volt', kV: 'quilovolt', mV: 'milivolt', A: 'ampere', mA: 'miliampere',
    mAh: 'miliampere-hora|miliamperes-hora', Ω: 'ohm', kΩ: 'quilo-ohm',
    N: 'newton', J: 'joule', kJ: 'quilojoule', kcal: 'quilocaloria f', cal: 'caloria f', Pa: 'pascal|pascals',
    kPa: 'quilopascal|quilopascals', hPa: 'hectopascal|hectopascals', psi: 'libra por polegada quadrada f', 'dB dBA': 'decibel|decibéis',
    rpm: 'rotação por minuto|rotações por minuto f', fps: 'quadro por segundo',
    dpi: 'ponto por polegada', px: 'pixel|pixels', MP: 'megapixel|megapixels', 'cv CV': 'cavalo', bpm: 'batimento por minuto',
    mmHg: 'milímetro de mercúrio|milímetros de mercúrio', 'mg/dL mg/dl': 'miligrama por decilitro', 'g/l g/L': 'grama por litro', 'pts pts.': 'ponto', 'sem.': 'semana f', 'pess.': 'pessoa f', 'g/dL g/dl': 'grama por decilitro', 'mmol/L mmol/l': 'milimol por litro', 'UI': 'unidade internacional|unidades internacionais f', 'U/L U/l': 'unidade por litro|unidades por litro f', 'ng/ml ng/mL': 'nanograma por mililitro', 'comp. cp. cps.': 'comprimido', 'cáps. cáps': 'cápsula f', 'amp.': 'ampola f', 'gts.': 'gota f', 'qtos. qto.': 'quarto', nits: 'nit',
    'un. un unid. unids.': 'unidade f', 'dz dz.': 'dúzia f', 'p.p.': 'ponto percentual|pontos percentuais', 'km/l': 'quilômetro por litro',
  }),
  ...units({ 'hab hab.': 'habitante', 'hab/km² hab./km² hab/km2': 'habitante por quilômetro quadrado|habitantes por quilômetro quadrado' }),
  'l/100 km': noun('litro a cada cem quilômetros'),
  'col. (sopa)': noun('colher de sopa|colheres de sopa f'),
  'col. (chá)': noun('colher de chá|colheres de chá f'),
  'col. (sobremesa)': noun('colher de sobremesa|colheres de sobremesa f'),
  'col. sopa': noun('colher de sopa|colheres de sopa f'),
  'col. chá': noun('colher de chá|colheres de chá f'),
  'p. p.': noun('ponto percentual|pontos percentuais'),
  '° C': noun('grau Celsius'),
  'º C': noun('grau Celsius'),
  '%': { forms: ['por cento', 'por cento'] },
  '‰': { forms: ['por mil', 'por mil'] },
}; // prettier-ignore

export const PER: Readonly<Record<string, string>> = {
  s: 'por segundo', seg: 'por segundo', min: 'por minuto', h: 'por hora', hora: 'por hora', dia: 'por dia', d: 'por dia',
  semana: 'por semana', mês: 'por mês', mes: 'por mês', ano: 'por ano', noite: 'por noite', kg: 'por quilo', l: 'por litro',
  L: 'por litro', litro: 'por litro', 'm²': 'por metro quadrado',
  m2: 'por metro quadrado', m: 'por metro', km: 'por quilômetro', 'km²': 'por quilômetro quadrado', km2: 'por quilômetro quadrado',
  pessoa: 'por pessoa', kWh: 'por quilowatt-hora', MWh: 'por megawatt-hora', t: 'por tonelada', un: 'por unidade', unidade: 'por unidade',
  usuário: 'por usuário', barril: 'por barril', GB: 'por gigabyte', 'm³': 'por metro cúbico', m3: 'por metro cúbico', saca: 'por saca', 'mm³': 'por milímetro cúbico', mm3: 'por milímetro cúbico', dose: 'por dose', sessão: 'por sessão',
}; // prettier-ignore

export const MAGNITUDES: Readonly<Record<string, Magnitude>> = magnitudes([
  ['mil,k,K', 'mil', 'mil', 3],
  ['mil milhões', 'mil milhões', 'mil milhões', 9],
  ['milhão,milhões,M,mi,mi.,MM', 'milhão', 'milhões', 6],
  ['bilhão,bilhões,bi,bi.,B', 'bilhão', 'bilhões', 9],
  ['trilhão,trilhões,tri', 'trilhão', 'trilhões', 12],
  ['bilião,biliões', 'bilião', 'biliões', 12],
]);

const MINOR: Readonly<Record<string, Noun>> = {
  EUR: noun('cêntimo'),
  GBP: noun('pêni|pence'),
  CHF: noun('cêntimo'),
  USD: noun('centavo'),
};
const WITHOUT_MINOR = new Set(['JPY', 'KRW', 'CLP', 'BTC', 'ETH', 'CENT', 'CENTIMO']);
const NAMES: Readonly<Record<string, string>> = {
  BRL: 'real|reais', USD: 'dólar|dólares', EUR: 'euro', GBP: 'libra f', JPY: 'iene', CNY: 'yuan', INR: 'rupia f', KRW: 'won|wons',
  RUB: 'rublo', CHF: 'franco suíço|francos suíços', CAD: 'dólar canadense|dólares canadenses',
  AUD: 'dólar australiano|dólares australianos', MXN: 'peso mexicano|pesos mexicanos',
  ARS: 'peso argentino|pesos argentinos', CLP: 'peso chileno|pesos chilenos', COP: 'peso colombiano|pesos colombianos',
  UYU: 'peso uruguaio|pesos uruguaios', PYG: 'guarani|guaranis', AOA: 'kwanza', MZN: 'metical|meticais', CVE: 'escudo',
  SEK: 'coroa sueca|coroas suecas f', NOK: 'coroa norueguesa|coroas norueguesas f', DKK: 'coroa dinamarquesa|coroas dinamarquesas f',
  PLN: 'zloty|zlotys', TRY: 'lira turca|liras turcas f', ILS: 'shekel|shekels', ZAR: 'rand|rands', BTC: 'bitcoin|bitcoins',
  ETH: 'ether|ethers', CENT: 'centavo', CENTIMO: 'cêntimo', PESO: 'peso',
}; // prettier-ignore

export const CURRENCIES: Readonly<Record<string, Currency>> = currencies(NAMES, noun, {
  own: MINOR,
  usual: noun('centavo'),
  without: WITHOUT_MINOR,
});

export const CURRENCY_SIGNS: Readonly<Record<string, string>> = {
  R$: 'BRL', reais: 'BRL', $: 'USD', US$: 'USD', U$: 'USD', dólares: 'USD', dólar: 'USD', '€': 'EUR', euros: 'EUR', euro: 'EUR',
  '£': 'GBP', libras: 'GBP', '¥': 'JPY', ienes: 'JPY', '₹': 'INR', '₩': 'KRW', '₽': 'RUB', rublos: 'RUB', C$: 'CAD', A$: 'AUD', MX$: 'MXN',
  AR$: 'ARS',
  Kz: 'AOA', kwanzas: 'AOA', '₿': 'BTC', bitcoins: 'BTC', centavos: 'CENT', cêntimos: 'CENTIMO', '¢': 'CENT', pesos: 'PESO',
}; // prettier-ignore
