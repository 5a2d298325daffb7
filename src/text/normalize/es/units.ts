// Spanish units, currencies and magnitudes: the singular, then the plural, and the gender.
import { currencies, magnitudes, nounTables } from '../iberian/nouns.js';
import type { Currency, Magnitude, Noun } from '../language.js';

export const { noun, units } = nounTables(
  (word) => (/[aeiouéót]$/.test(word) ? `${word}s` : `${word}es`),
  /^(?:cuadrad|cúbic|náutic)/,
);

export const UNITS: Readonly<Record<string, Noun>> = {
  ...units({
    'km Km km. kms Kms': 'kilómetro', 'm mts mts. m.': 'metro', 'cm cm. cms': 'centímetro', 'mm mm.': 'milímetro', 'µm μm': 'micrómetro',
    nm: 'nanómetro',
    dm: 'decímetro', 'mi.': 'milla f', yd: 'yarda f', ft: 'pie', 'in.': 'pulgada f', '″': 'pulgada f',
    'km² km2 Km2 Km²': 'kilómetro cuadrado', 'm² m2 mts2': 'metro cuadrado', 'cm² cm2': 'centímetro cuadrado',
    'm³ m3': 'metro cúbico', 'cm³ cm3 cc c.c.': 'centímetro cúbico', 'hm³ hm3': 'hectómetro cúbico', 'ha ha.': 'hectárea f',
    'km/h Km/h kmh kph': 'kilómetro por hora', 'm/s': 'metro por segundo',
    'm/s²': 'metro por segundo al cuadrado|metros por segundo al cuadrado', mph: 'milla por hora f', 'kg kg. Kg kgs Kgs': 'kilogramo',
    'g gr gr. grs g.': 'gramo',
    'mg mg.': 'miligramo', 'µg μg mcg': 'microgramo',
    't t. Tn tn': 'tonelada f', 'lb lbs': 'libra f', 'oz oz.': 'onza f', 'l L lt lts l. lt. lts.': 'litro', 'ml mL ml.': 'mililitro',
    'cl cL': 'centilitro', 'dl dL': 'decilitro', hl: 'hectolitro', gal: 'galón|galones',
    '°C ºC ℃': 'grado Celsius', '°F ºF ℉': 'grado Fahrenheit', '° º': 'grado', K: 'kelvin|kelvin', 'h h. hr hrs hrs. hr. hs hs.': 'hora f',
    'min min. mins mins.': 'minuto', 's s. seg seg. segs': 'segundo',
    'Mb': 'megabit', 'Gb': 'gigabit', 'msnm m.s.n.m.': 'metro sobre el nivel del mar', ms: 'milisegundo', 'µs μs': 'microsegundo',
    ns: 'nanosegundo', Hz: 'hercio', kHz: 'kilohercio', MHz: 'megahercio', GHz: 'gigahercio',
    'bytes': 'byte',
    'KB kB': 'kilobyte', MB: 'megabyte', GB: 'gigabyte', TB: 'terabyte', PB: 'petabyte', 'kbps kbit/s': 'kilobit por segundo',
    'Mbps Mbit/s Mb/s': 'megabit por segundo', 'Gbps Gbit/s Gb/s': 'gigabit por segundo',
    'MB/s': 'megabyte por segundo', 'GB/s': 'gigabyte por segundo', W: 'vatio', 'kW KW': 'kilovatio', MW: 'megavatio', GW: 'gigavatio',
    Wh: 'vatio hora|vatios hora', 'kWh KWh kwh': 'kilovatio hora|kilovatios hora', MWh: 'megavatio hora|megavatios hora',
    GWh: 'gigavatio hora|gigavatios hora',
    V: 'voltio', kV: 'kilovoltio', mV: 'milivoltio', A: 'amperio', mA: 'miliamperio', mAh: 'miliamperio hora|miliamperios hora',
    'Ω': 'ohmio', 'kΩ': 'kiloohmio', N: 'newton|newtons', Nm: 'newton metro|newtons metro', J: 'julio', kJ: 'kilojulio',
    kcal: 'kilocaloría f', cal: 'caloría f', Pa: 'pascal|pascales', kPa: 'kilopascal|kilopascales', hPa: 'hectopascal|hectopascales',
    bar: 'bar|bares', psi: 'libra por pulgada cuadrada|libras por pulgada cuadrada f', 'dB dBA': 'decibelio',
    rpm: 'revolución por minuto|revoluciones por minuto f', fps: 'fotograma por segundo', dpi: 'punto por pulgada', px: 'píxel|píxeles',
    MP: 'megapíxel|megapíxeles', 'CV cv': 'caballo', HP: 'caballo de fuerza', lpm: 'latido por minuto', ppm: 'parte por millón f',
    'cda. cdas. cda cdas': 'cucharada f', 'cdta. cdtas. cdta cdtas': 'cucharadita f', mmHg: 'milímetro de mercurio',
    'mg/dL mg/dl': 'miligramo por decilitro', 'g/l g/L': 'gramo por litro', 'l/100km': 'litro cada cien kilómetros',
    'pts pts. ptos.': 'punto', 'uds uds. ud. u.': 'unidad|unidades f', 'pb p.b.': 'punto básico|puntos básicos',
    'kg/m²': 'kilogramo por metro cuadrado',
    'g/cm³': 'gramo por centímetro cúbico', 'l/min': 'litro por minuto', 'm³/s': 'metro cúbico por segundo',
    'tab. tabs.': 'tableta f', 'sem.': 'semana f', 'pers.': 'persona f', 'g/dL g/dl': 'gramo por decilitro', 'mmol/L mmol/l': 'milimol por litro', 'UI': 'unidad internacional|unidades internacionales f', 'U/L U/l': 'unidad por litro|unidades por litro f', 'ng/ml ng/mL': 'nanogramo por mililitro', 'comp. comps. comp': 'comprimido', 'cáps. cáps': 'cápsula f', 'amp.': 'ampolla f', 'gts. gtas.': 'gota f', 'r.p.m.': 'revolución por minuto|revoluciones por minuto f', nits: 'nit',
    'p.p. pp': 'punto porcentual|puntos porcentuales',
  }),
  'l/100 km': noun('litro cada cien kilómetros'),
  ...units({ 'mb mbar': 'milibar|milibares' }),
  ...units({ 'hab hab.': 'habitante', 'hab/km² hab./km² hab/km2': 'habitante por kilómetro cuadrado|habitantes por kilómetro cuadrado' }),
  mdd: noun('millón de dólares|millones de dólares'),
  mdp: noun('millón de pesos|millones de pesos'),
  'p. p.': noun('punto porcentual|puntos porcentuales'),
  'r. p. m.': noun('revolución por minuto|revoluciones por minuto f'),
  'm s. n. m.': noun('metro sobre el nivel del mar'),
  '° C': noun('grado Celsius'),
  'º C': noun('grado Celsius'),
  '%': { forms: ['por ciento', 'por ciento'], form: 'alone' },
  '‰': { forms: ['por mil', 'por mil'], form: 'alone' },
}; // prettier-ignore

export const PER: Readonly<Record<string, string>> = {
  s: 'por segundo', seg: 'por segundo', min: 'por minuto', h: 'por hora', hora: 'por hora', día: 'por día', dia: 'por día', d: 'por día',
  sem: 'por semana', semana: 'por semana',
  mes: 'al mes', año: 'al año', noche: 'por noche', kg: 'por kilo', l: 'por litro', L: 'por litro', litro: 'por litro',
  'm²': 'por metro cuadrado', m2: 'por metro cuadrado', persona: 'por persona', pers: 'por persona',
  'pers.': 'por persona', km: 'por kilómetro', 'km²': 'por kilómetro cuadrado', km2: 'por kilómetro cuadrado', kWh: 'por kilovatio hora',
  MWh: 'por megavatio hora', t: 'por tonelada', ud: 'por unidad', u: 'por unidad', 'u.': 'por unidad', 'ud.': 'por unidad',
  unidad: 'por unidad', usuario: 'por usuario', barril: 'por barril', GB: 'por gigabyte', m: 'por metro', 'm³': 'por metro cúbico',
  m3: 'por metro cúbico', noches: 'por noche', 'mm³': 'por milímetro cúbico', mm3: 'por milímetro cúbico', dosis: 'por dosis', toma: 'por toma', sesión: 'por sesión',
}; // prettier-ignore

export const MAGNITUDES: Readonly<Record<string, Magnitude>> = magnitudes([
  ['mil millones', 'mil millones', 'mil millones', 9],
  ['mil,k,K', 'mil', 'mil', 3],
  ['millón,millones,Millones,MILLONES,M,MM,mill.,mills.', 'millón', 'millones', 6],
  ['B', 'mil millones', 'mil millones', 9],
  ['mil billones', 'mil billones', 'mil billones', 15],
  ['billón,billones', 'billón', 'billones', 12],
  ['trillón,trillones', 'trillón', 'trillones', 18],
]);

const MINOR: Readonly<Record<string, Noun>> = {
  EUR: noun('céntimo'), GBP: noun('penique'), CHF: noun('céntimo'), RUB: noun('kopek|kopeks'), INR: noun('paisa f'), CRC: noun('céntimo'),
  PEN: noun('céntimo'),
  VES: noun('céntimo'), UYU: noun('centésimo'), PAB: noun('centésimo'), PYG: noun('céntimo'), SEK: noun('öre|öre'), NOK: noun('øre|øre'),
  DKK: noun('øre|øre'), CNY: noun('fen|fen'),
}; // prettier-ignore
const WITHOUT_MINOR = new Set(['JPY', 'KRW', 'CLP', 'BTC', 'ETH', 'VND', 'HUF', 'PYG', 'CENT', 'CENTAVO']);
const NAMES: Readonly<Record<string, string>> = {
  USD: 'dólar|dólares', EUR: 'euro', GBP: 'libra f', JPY: 'yen|yenes', CNY: 'yuan|yuanes', INR: 'rupia f', KRW: 'won|wones', RUB: 'rublo',
  BRL: 'real|reales', CHF: 'franco suizo|francos suizos',
  CAD: 'dólar canadiense|dólares canadienses', AUD: 'dólar australiano|dólares australianos',
  NZD: 'dólar neozelandés|dólares neozelandeses', MXN: 'peso mexicano|pesos mexicanos', ARS: 'peso argentino|pesos argentinos',
  CLP: 'peso chileno|pesos chilenos', COP: 'peso colombiano|pesos colombianos', UYU: 'peso uruguayo|pesos uruguayos',
  DOP: 'peso dominicano|pesos dominicanos', CUP: 'peso cubano|pesos cubanos', PEN: 'sol|soles', BOB: 'boliviano', PYG: 'guaraní|guaraníes',
  VES: 'bolívar|bolívares', CRC: 'colón|colones', GTQ: 'quetzal|quetzales', HNL: 'lempira f', NIO: 'córdoba', PAB: 'balboa',
  SEK: 'corona sueca|coronas suecas f', NOK: 'corona noruega|coronas noruegas f', DKK: 'corona danesa|coronas danesas f',
  CZK: 'corona checa|coronas checas f',
  PLN: 'esloti|eslotis', HUF: 'forinto', TRY: 'lira turca|liras turcas f', ILS: 'séquel|séqueles', MAD: 'dírham|dírhams',
  AED: 'dírham|dírhams', ZAR: 'rand|rands', HKD: 'dólar de Hong Kong|dólares de Hong Kong', SGD: 'dólar de Singapur|dólares de Singapur',
  TWD: 'dólar taiwanés|dólares taiwaneses',
  THB: 'bat|bats', PHP: 'peso filipino|pesos filipinos', UAH: 'grivna f', BTC: 'bitcóin|bitcoins', ETH: 'ether|ethers', PESO: 'peso',
  CENT: 'céntimo', CENTAVO: 'centavo', PTS: 'peseta f',
}; // prettier-ignore

export const CURRENCIES: Readonly<Record<string, Currency>> = currencies(NAMES, noun, {
  own: MINOR,
  usual: noun('centavo'),
  without: WITHOUT_MINOR,
});

export const CURRENCY_SIGNS: Readonly<Record<string, string>> = {
  $: 'USD', US$: 'USD', U$S: 'USD', u$s: 'USD', 'USD$': 'USD', U$D: 'USD', dólares: 'USD', dólar: 'USD', 'dls.': 'USD', '€': 'EUR',
  euros: 'EUR', euro: 'EUR', Euros: 'EUR', '£': 'GBP', libras: 'GBP', '¥': 'JPY', yenes: 'JPY', 'CN¥': 'CNY', yuanes: 'CNY',
  '₹': 'INR', rupias: 'INR', '₩': 'KRW', '₽': 'RUB', rublos: 'RUB', R$: 'BRL', C$: 'CAD', CA$: 'CAD', A$: 'AUD', AU$: 'AUD', MX$: 'MXN',
  'AR$': 'ARS', 'CLP$': 'CLP', 'COP $': 'COP', 'MXN $': 'MXN', 'ARS $': 'ARS', 'CLP $': 'CLP', 'USD $': 'USD', 'UYU $': 'UYU', MXN$: 'MXN', CLP: 'CLP', 'COP$': 'COP', 'RD$': 'DOP', '$U': 'UYU', 'S/': 'PEN', 'S/.': 'PEN', soles: 'PEN',
  'Bs.': 'BOB', 'Gs.': 'PYG', Bs: 'BOB', '₡': 'CRC', colones: 'CRC', '₲': 'PYG', '₺': 'TRY', '₪': 'ILS', '฿': 'THB', '₿': 'BTC', '₴': 'UAH',
  pesos: 'PESO', peso: 'PESO', céntimos: 'CENT', 'cts.': 'CENT', cts: 'CENT', '¢': 'CENTAVO', centavos: 'CENTAVO', 'M.N.': 'PESO',
  bolívares: 'VES', bitcoins: 'BTC', pesetas: 'PTS', 'ptas.': 'PTS', quetzales: 'GTQ', lempiras: 'HNL',
}; // prettier-ignore
