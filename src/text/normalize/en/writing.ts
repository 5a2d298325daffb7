// Written forms of English, as data.
import type { Currency, Magnitude, Noun, Writing } from '../language.js';
import { ABBREVIATIONS, BEFORE_NUMBER, READ, SPELLED } from './abbreviations.js';

// English units, currencies and magnitudes: the singular, then the plural.

function noun(one: string, many = `${one}s`): Noun {
  return { forms: [one, many] };
}

const SAME: Readonly<Record<string, string>> = {
  hertz: 'hertz',
  kilohertz: 'kilohertz',
  megahertz: 'megahertz',
  gigahertz: 'gigahertz',
};

function units(list: Readonly<Record<string, string>>): Record<string, Noun> {
  const found: Record<string, Noun> = {};
  for (const [written, named] of Object.entries(list)) {
    const [one = '', many] = named.split('|');
    for (const form of written.split(' '))
      found[form.replaceAll('_', ' ')] = noun(one, many ?? SAME[one] ?? `${one}s`);
  }
  return found;
}

const UNITS: Readonly<Record<string, Noun>> = units({
  '% pct pct.': 'percent|percent',
  '‰': 'per mille|per mille',
  'bps bp': 'basis point',
  km: 'kilometer',
  m: 'meter',
  cm: 'centimeter',
  mm: 'millimeter',
  'µm μm': 'micrometer',
  nm: 'nanometer',
  'mi mi.': 'mile',
  'yd yd. yds': 'yard',
  'ft ft.': 'foot|feet',
  'in.': 'inch|inches',
  'sq_ft sq._ft. sq._ft ft² ft2 sqft': 'square foot|square feet',
  'sq_mi sq._mi.': 'square mile',
  'sq_m sq._m sq._m.': 'square meter',
  'cu_ft cu._ft.': 'cubic foot|cubic feet',
  kt: 'knot',
  'km² km2': 'square kilometer',
  'm² m2 sqm': 'square meter',
  'cm² cm2': 'square centimeter',
  'm³ m3': 'cubic meter',
  'cm³ cm3 cc': 'cubic centimeter',
  'km/h kph kmh': 'kilometer per hour|kilometers per hour',
  'm/s': 'meter per second|meters per second',
  'm/s²': 'meter per second squared|meters per second squared',
  'mph MPH': 'mile per hour|miles per hour',
  'mpg MPG': 'mile per gallon|miles per gallon',
  'kg kgs': 'kilogram',
  g: 'gram',
  mg: 'milligram',
  'µg μg mcg': 'microgram',
  t: 'ton',
  'lb lbs lb. lbs.': 'pound',
  'oz oz.': 'ounce',
  'fl_oz fl._oz.': 'fluid ounce',
  'l L': 'liter',
  'ml mL': 'milliliter',
  'µl µL μl μL uL': 'microliter',
  'mol/L mol/l': 'mole per liter|moles per liter',
  mM: 'millimolar|millimolar',
  'µM μM': 'micromolar|micromolar',
  nM: 'nanomolar|nanomolar',
  'cl cL': 'centiliter',
  'gal gal.': 'gallon',
  'qt qt.': 'quart',
  'tbsp tbsp. Tbsp Tbsp. TBSP': 'tablespoon',
  'tsp tsp. Tsp Tsp.': 'teaspoon',
  '°C ℃': 'degree Celsius|degrees Celsius',
  '°F ℉': 'degree Fahrenheit|degrees Fahrenheit',
  '°': 'degree',
  K: 'kelvin|kelvin',
  'h hr hrs hr. hrs.': 'hour',
  'min min. mins': 'minute',
  's sec sec. secs': 'second',
  ms: 'millisecond',
  'µs μs': 'microsecond',
  ns: 'nanosecond',
  'yr yrs yr. yrs.': 'year',
  'mo mos mos.': 'month',
  'wk wks wk. wks.': 'week',
  'doz doz.': 'dozen|dozen',
  'pcs pcs. pc.': 'piece',
  ppm: 'part per million|parts per million',
  ppb: 'part per billion|parts per billion',
  'lb-ft lb·ft lb-ft.': 'pound-foot|pound-feet',
  'ft-lb ft-lbs ft·lb ft-lb.': 'foot-pound',
  inHg: 'inch of mercury|inches of mercury',
  'req/s': 'request per second|requests per second',
  'tok/s': 'token per second|tokens per second',
  'ops/s': 'operation per second|operations per second',
  'msg/s': 'message per second|messages per second',
  'deg deg.': 'degree',
  'deg_C deg._C degC': 'degree Celsius|degrees Celsius',
  'deg_F deg._F degF': 'degree Fahrenheit|degrees Fahrenheit',
  mSv: 'millisievert',
  'µSv μSv': 'microsievert',
  'µSv/h μSv/h': 'microsievert per hour|microsieverts per hour',
  IU: 'international unit',
  mol: 'mole',
  'mmol/L mmol/l': 'millimole per liter|millimoles per liter',
  'mg/L mg/l': 'milligram per liter|milligrams per liter',
  'mg/kg': 'milligram per kilogram|milligrams per kilogram',
  'mg/mL mg/ml': 'milligram per milliliter|milligrams per milliliter',
  'mcg/kg µg/kg': 'microgram per kilogram|micrograms per kilogram',
  'µg/m³ µg/m3 μg/m³ μg/m3': 'microgram per cubic meter|micrograms per cubic meter',
  'g/dL g/dl': 'gram per deciliter|grams per deciliter',
  'kg/m³ kg/m3': 'kilogram per cubic meter|kilograms per cubic meter',
  'W/m² W/m2': 'watt per square meter|watts per square meter',
  'km/s': 'kilometer per second|kilometers per second',
  'ft/s': 'foot per second|feet per second',
  'km/L km/l': 'kilometer per liter|kilometers per liter',
  'sq_km sq._km': 'square kilometer',
  'sq_yd sq._yd.': 'square yard',
  cu_yd: 'cubic yard',
  'cu_m cu._m': 'cubic meter',
  THz: 'terahertz|terahertz',
  'N·m N-m': 'newton-meter',
  kN: 'kilonewton',
  MPa: 'megapascal',
  MJ: 'megajoule',
  mW: 'milliwatt',
  kA: 'kiloamp',
  'µA μA': 'microamp',
  MΩ: 'megohm',
  'µF μF': 'microfarad',
  nF: 'nanofarad',
  pF: 'picofarad',
  mH: 'millihenry|millihenries',
  lm: 'lumen',
  lx: 'lux|lux',
  TWh: 'terawatt-hour',
  GWh: 'gigawatt-hour',
  Kbps: 'kilobit per second|kilobits per second',
  'KB/s kB/s': 'kilobyte per second|kilobytes per second',
  'TB/s': 'terabyte per second|terabytes per second',
  TiB: 'tebibyte',
  'mm_Hg mm_Hg.': 'millimeter of mercury|millimeters of mercury',
  Hz: 'hertz',
  kHz: 'kilohertz',
  MHz: 'megahertz',
  GHz: 'gigahertz',
  'B bytes': 'byte',
  'KB kB': 'kilobyte',
  MB: 'megabyte',
  GB: 'gigabyte',
  TB: 'terabyte',
  PB: 'petabyte',
  KiB: 'kibibyte',
  MiB: 'mebibyte',
  GiB: 'gibibyte',
  'kbps kbit/s': 'kilobit per second|kilobits per second',
  'Mbps Mbit/s': 'megabit per second|megabits per second',
  'Gbps Gbit/s': 'gigabit per second|gigabits per second',
  'MB/s': 'megabyte per second|megabytes per second',
  'GB/s': 'gigabyte per second|gigabytes per second',
  W: 'watt',
  kW: 'kilowatt',
  MW: 'megawatt',
  GW: 'gigawatt',
  Wh: 'watt-hour',
  kWh: 'kilowatt-hour',
  MWh: 'megawatt-hour',
  V: 'volt',
  kV: 'kilovolt',
  mV: 'millivolt',
  A: 'amp',
  mA: 'milliamp',
  mAh: 'milliamp-hour',
  Ω: 'ohm',
  kΩ: 'kilohm',
  N: 'newton',
  Nm: 'newton-meter',
  J: 'joule',
  kJ: 'kilojoule',
  kcal: 'kilocalorie',
  cal: 'calorie',
  Pa: 'pascal',
  kPa: 'kilopascal',
  hPa: 'hectopascal',
  psi: 'pound per square inch|pounds per square inch',
  'dB dBA': 'decibel',
  rpm: 'revolution per minute|revolutions per minute',
  fps: 'frame per second|frames per second',
  dpi: 'dot per inch|dots per inch',
  px: 'pixel',
  MP: 'megapixel',
  hp: 'horsepower|horsepower',
  bpm: 'beat per minute|beats per minute',
  ha: 'hectare',
  mmHg: 'millimeter of mercury|millimeters of mercury',
  'mg/dL mg/dl': 'milligram per deciliter|milligrams per deciliter',
  'g/L g/l': 'gram per liter|grams per liter',
});

const MAGNITUDES: Readonly<Record<string, Magnitude>> = Object.fromEntries(
  (
    [
      ['thousand', 3, 'K k thousand'],
      ['million', 6, 'M MM mn mln mil million'],
      ['billion', 9, 'B bn bln billion'],
      ['trillion', 12, 'T tn trn trillion'],
      ['hundred', 2, 'hundred'],
      ['lakh', 5, 'lakh lakhs lac lacs'],
      ['crore', 7, 'crore crores'],
    ] as const
  ).flatMap(([word, power, forms]) =>
    forms.split(' ').map((form): [string, Magnitude] => [form, { forms: [word], power }]),
  ),
);

/** Behind the sum of a currency that stands in front. */
const MONEY_MAGNITUDES: Readonly<Record<string, Magnitude>> = {
  m: { forms: ['million'], power: 6 },
  b: { forms: ['billion'], power: 9 },
  t: { forms: ['trillion'], power: 12 },
  cr: { forms: ['crore'], power: 7 },
  'cr.': { forms: ['crore'], power: 7 },
  Cr: { forms: ['crore'], power: 7 },
  L: { forms: ['lakh'], power: 5 },
};

const CENT = noun('cent');
const MINOR: Readonly<Record<string, Noun>> = {
  GBP: noun('penny', 'pence'),
  RUB: noun('kopeck'),
  INR: noun('paisa', 'paise'),
  BRL: noun('centavo'),
  MXN: noun('centavo'),
  CHF: noun('centime'),
  PLN: noun('grosz', 'groszy'),
  CNY: noun('fen', 'fen'),
};
const WITHOUT_MINOR = new Set(['JPY', 'KRW', 'BTC', 'VND', 'HUF']);
// prettier-ignore
const NAMES: Readonly<Record<string, string>> = {
  USD: 'dollar', EUR: 'euro', GBP: 'pound', JPY: 'yen|yen', CNY: 'yuan|yuan', INR: 'rupee', KRW: 'won|won',
  RUB: 'ruble', BRL: 'real|reais', CHF: 'Swiss franc', CAD: 'Canadian dollar', AUD: 'Australian dollar',
  NZD: 'New Zealand dollar', MXN: 'Mexican peso', SEK: 'Swedish krona|Swedish kronor', NOK: 'Norwegian krone|Norwegian kroner',
  DKK: 'Danish krone|Danish kroner', PLN: 'zloty', CZK: 'Czech koruna', HUF: 'forint', TRY: 'Turkish lira', ILS: 'shekel',
  ZAR: 'rand|rand', SGD: 'Singapore dollar', HKD: 'Hong Kong dollar', TWD: 'Taiwan dollar', THB: 'baht|baht', VND: 'dong|dong',
  PHP: 'Philippine peso', UAH: 'hryvnia', AED: 'dirham', SAR: 'riyal', BTC: 'bitcoin', ETH: 'ether|ether', CENT: 'cent',
};

const CURRENCIES: Readonly<Record<string, Currency>> = Object.fromEntries(
  Object.entries(NAMES).map(([code, names]) => {
    const [one = '', many] = names.split('|');
    const minor = WITHOUT_MINOR.has(code) ? undefined : (MINOR[code] ?? CENT);
    return [code, { ...noun(one, many ?? `${one}s`), minor }];
  }),
);

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

// prettier-ignore
export const WRITING: Writing = {
  numbers: { decimal: '.', grouping: [','], lakhs: true },
  dates: {
    months: [
      ['January', 'Jan', 'Jan.'], ['February', 'Feb', 'Feb.'], ['March', 'Mar', 'Mar.'], ['April', 'Apr', 'Apr.'], ['May'],
      ['June', 'Jun', 'Jun.'], ['July', 'Jul', 'Jul.'], ['August', 'Aug', 'Aug.'], ['September', 'Sep', 'Sep.', 'Sept', 'Sept.'],
      ['October', 'Oct', 'Oct.'], ['November', 'Nov', 'Nov.'], ['December', 'Dec', 'Dec.'],
    ],
    weekdays: [
      ['Monday', 'Mon.', 'Mon'], ['Tuesday', 'Tue.', 'Tues.', 'Tue', 'Tues'], ['Wednesday', 'Wed.', 'Wed'], ['Thursday', 'Thu.', 'Thur.', 'Thurs.', 'Thu', 'Thur', 'Thurs'],
      ['Friday', 'Fri.', 'Fri'], ['Saturday', 'Sat.', 'Sat'], ['Sunday', 'Sun.', 'Sun'],
    ],
    orders: { '/': 'mdy', '-': 'mdy', '.': 'mdy' },
    named: ['day-month', 'month-day'],
    dayMark: 'st|nd|rd|th',
    between: ',? (?:of )?',
  },
  times: {
    marks: [':'],
    halves: { 'a.m.': 'a.m.', 'p.m.': 'p.m.', am: 'a.m.', pm: 'p.m.', 'a.m': 'a.m.', 'p.m': 'p.m.' },
    words: { "o'clock": "o'clock", 'o’clock': "o'clock" },
    zones: {
      EST: 'Eastern Standard Time', EDT: 'Eastern Daylight Time', ET: 'Eastern Time', CST: 'Central Standard Time',
      CDT: 'Central Daylight Time', CT: 'Central Time', MST: 'Mountain Standard Time', MDT: 'Mountain Daylight Time',
      MT: 'Mountain Time', PST: 'Pacific Standard Time', PDT: 'Pacific Daylight Time', PT: 'Pacific Time',
      GMT: 'G M T', UTC: 'U T C', CET: 'Central European Time', CEST: 'Central European Summer Time', BST: 'British Summer Time',
      IST: 'India Standard Time', JST: 'Japan Standard Time',
    },
  },
  telephone: {
    patterns: [
      /(?:1[-. ])?\(?[2-9]\d{2}\)?[-. ]{1,2}\d{3}[-. ]\d{4}(?!\d|[-.]\d)/y,
      /\(\d{3}\) ?\d{3}[-. ]\d{4}(?!\d)/y,
      /1-8\d{2}-[A-Z\d]{2,7}-?[A-Z\d]{2,7}(?![A-Z\d])/y,
      /[2-9]\d{2}-\d{4}(?![\d-]|\.\d)/y,
      /[2-9]\d{2}\/[2-9]\d{2}-\d{4}(?![\d-])/y,
      /[2-9]\d{2}-[A-Z]{4}(?![A-Z\d])/y,
      /0\d{2,4}[ -]\d{3,4}[ -]?\d{3,4}(?!\d|[-.]\d)/y,
    ],
    keywords: words('call phone telephone tel dial fax mobile cell text hotline ring'),
  },
  currencies: CURRENCIES,
  currencySigns: {
    $: 'USD', US$: 'USD', 'U.S.$': 'USD', '€': 'EUR', '£': 'GBP', '¥': 'JPY', 'CN¥': 'CNY', RMB: 'CNY', '₹': 'INR', 'Rs.': 'INR', Rs: 'INR',
    '₩': 'KRW', '₽': 'RUB', R$: 'BRL', C$: 'CAD', CA$: 'CAD', A$: 'AUD', AU$: 'AUD', NZ$: 'NZD', HK$: 'HKD', S$: 'SGD', NT$: 'TWD',
    MX$: 'MXN', '₺': 'TRY', '₪': 'ILS', '฿': 'THB', '₫': 'VND', '₱': 'PHP', '₴': 'UAH', '₿': 'BTC', 'Fr.': 'CHF', '¢': 'CENT',
  },
  units: UNITS,
  per: {
    s: 'per second', sec: 'per second', second: 'per second', min: 'per minute', minute: 'per minute',
    h: 'per hour', hr: 'per hour', hour: 'per hour', d: 'per day', day: 'per day', wk: 'per week', week: 'per week',
    mo: 'per month', month: 'per month', yr: 'per year', year: 'per year', night: 'per night',
    '100 km': 'per one hundred kilometers', '100km': 'per one hundred kilometers', '100 g': 'per one hundred grams', '100g': 'per one hundred grams',
    session: 'per session', visit: 'per visit', class: 'per class', shift: 'per shift', trip: 'per trip', box: 'per box', pack: 'per pack', bottle: 'per bottle', lesson: 'per lesson',
    dose: 'per dose', tablet: 'per tablet', serving: 'per serving', employee: 'per employee', page: 'per page', item: 'per item', ticket: 'per ticket',
    call: 'per call', request: 'per request', token: 'per token', sqft: 'per square foot', 'sq. ft.': 'per square foot', 'm2': 'per square meter', 'm³': 'per cubic meter', mL: 'per milliliter', ml: 'per milliliter',
    acre: 'per acre', pp: 'per person', adult: 'per adult', child: 'per child', room: 'per room', game: 'per game', yard: 'per yard', liter: 'per liter', litre: 'per litre',
    kg: 'per kilogram', g: 'per gram', lb: 'per pound', oz: 'per ounce', gal: 'per gallon', l: 'per liter', L: 'per liter',
    kWh: 'per kilowatt-hour', km: 'per kilometer', mi: 'per mile', mile: 'per mile', 'm²': 'per square meter',
    'sq ft': 'per square foot', GB: 'per gigabyte', person: 'per person', user: 'per user', seat: 'per seat', unit: 'per unit',
    'user/month': 'per user per month', 'person/night': 'per person per night', share: 'per share', bbl: 'per barrel', ea: 'each', 'ea.': 'each', doz: 'per dozen', dozen: 'per dozen', 'doz.': 'per dozen', '24 h': 'per twenty-four hours', '24h': 'per twenty-four hours', piece: 'per piece', cup: 'per cup', slice: 'per slice', guest: 'per guest', ride: 'per ride', car: 'per car', ft: 'per foot', cwt: 'per hundredweight', ton: 'per ton', barrel: 'per barrel',
  },
  magnitudes: MAGNITUDES,
  moneyMagnitudes: MONEY_MAGNITUDES,
  ordinalMark: 'st|nd|rd|th|ST|ND|RD|TH',
  abbreviations: ABBREVIATIONS,
  beforeNumber: BEFORE_NUMBER,
  letterPlural: "'s",
  spelled: SPELLED,
  read: READ,
  romanAfter: {}, // roman.ts
  romanBefore: new Set(),
  digitsAfter: words('code pin pincode passcode password flight extension ext zip id account otp confirmation routing serial tracking isbn sku cvv gate_ imei ending'),
  linking: words('is in number no code of was are with'),
  decadeMark: "['’]?s",
  yearAfter: words('in since year by until from after before during early late mid circa of spring summer autumn fall winter copyright class'),
  scoreWords: words('won win wins lost lose beat beats score scored final victory defeat lead leads led tied tie draw drew game match goals defeated vote votes voted record series majority decision ruling'),
};
