// German units, currencies and magnitudes: singular, plural, and where it differs the dative plural.
import type { Currency, Magnitude, Noun } from '../language.js';

/** In fünf Kilometern, vor drei Monaten; a Newtonmeter is a unit of one word, too. */
const IN_DATIVE = /^\S*(?:meter|liter|löffel|monate|jahre|punkte|zentner)(?= |$)/i;

/** "m Kilometer", "f Stunde Stunden": the plural is the singular where none is given. */
function noun(entry: string): Noun {
  const [gender = 'm', one = '', many = one] = entry.split('|');
  const dative = many.replace(IN_DATIVE, '$&n');
  return { forms: dative === many ? [one, many] : [one, many, dative], gender: gender as 'm' | 'f' | 'n' };
}

function units(list: Readonly<Record<string, string>>): Record<string, Noun> {
  return Object.fromEntries(
    Object.entries(list).flatMap(([forms, entry]) =>
      forms.split(' ').map((form): [string, Noun] => [form.replaceAll('_', ' '), noun(entry)]),
    ),
  );
}

export const UNITS: Readonly<Record<string, Noun>> = units({
  '%': 'n|Prozent',
  '‰': 'n|Promille',
  km: 'm|Kilometer',
  m: 'm|Meter',
  cm: 'm|Zentimeter',
  mm: 'm|Millimeter',
  dm: 'm|Dezimeter',
  'µm μm': 'm|Mikrometer',
  nm: 'm|Nanometer',
  'km² km2 qkm': 'm|Quadratkilometer',
  'm² m2 qm': 'm|Quadratmeter',
  'cm² cm2': 'm|Quadratzentimeter',
  'm³ m3 cbm': 'm|Kubikmeter',
  'cm³ cm3 ccm': 'm|Kubikzentimeter',
  'km/h kmh': 'm|Kilometer pro Stunde',
  'm/s': 'm|Meter pro Sekunde',
  'm/s²': 'm|Meter pro Sekunde zum Quadrat',
  kg: 'n|Kilogramm',
  g: 'n|Gramm',
  mg: 'n|Milligramm',
  'µg μg': 'n|Mikrogramm',
  t: 'f|Tonne|Tonnen',
  'Ztr.': 'm|Zentner',
  'Bd.': 'n|Bund',
  'Tkm Tsd._km': 'm|Tausend Kilometer',
  'l L': 'm|Liter',
  ml: 'm|Milliliter',
  mL: 'm|Milliliter',
  µl: 'm|Mikroliter',
  µL: 'm|Mikroliter',
  'mol/l': 'n|Mol pro Liter',
  cl: 'm|Zentiliter',
  dl: 'm|Deziliter',
  hl: 'm|Hektoliter',
  ha: 'm|Hektar',
  '°C ℃': 'n|Grad Celsius',
  '°F ℉': 'n|Grad Fahrenheit',
  '°': 'n|Grad',
  K: 'n|Kelvin',
  'h Std. Std': 'f|Stunde|Stunden',
  'min Min. min.': 'f|Minute|Minuten',
  's Sek. sek. sec': 'f|Sekunde|Sekunden',
  ms: 'f|Millisekunde|Millisekunden',
  'µs μs': 'f|Mikrosekunde|Mikrosekunden',
  'Wo.': 'f|Woche|Wochen',
  'Mon.': 'm|Monat|Monate',
  'J.': 'n|Jahr|Jahre',
  Hz: 'n|Hertz',
  kHz: 'n|Kilohertz',
  MHz: 'n|Megahertz',
  GHz: 'n|Gigahertz',
  B: 'n|Byte',
  'kB KB': 'n|Kilobyte',
  MB: 'n|Megabyte',
  GB: 'n|Gigabyte',
  TB: 'n|Terabyte',
  'kbit/s': 'n|Kilobit pro Sekunde',
  'Mbit/s Mbps': 'n|Megabit pro Sekunde',
  'Gbit/s Gbps': 'n|Gigabit pro Sekunde',
  'MB/s': 'n|Megabyte pro Sekunde',
  'GB/s': 'n|Gigabyte pro Sekunde',
  W: 'n|Watt',
  kW: 'n|Kilowatt',
  MW: 'n|Megawatt',
  GW: 'n|Gigawatt',
  Wh: 'f|Wattstunde|Wattstunden',
  kWh: 'f|Kilowattstunde|Kilowattstunden',
  MWh: 'f|Megawattstunde|Megawattstunden',
  V: 'n|Volt',
  kV: 'n|Kilovolt',
  mV: 'n|Millivolt',
  A: 'n|Ampere',
  mA: 'n|Milliampere',
  mAh: 'f|Milliamperestunde|Milliamperestunden',
  Ω: 'n|Ohm',
  N: 'n|Newton',
  Nm: 'n|Newtonmeter',
  J: 'n|Joule',
  kJ: 'n|Kilojoule',
  kcal: 'f|Kilokalorie|Kilokalorien',
  Pa: 'n|Pascal',
  hPa: 'n|Hektopascal',
  kPa: 'n|Kilopascal',
  bar: 'n|Bar',
  dB: 'n|Dezibel',
  PS: 'n|P S',
  ppm: 'n|P P M',
  ppb: 'n|P P B',
  'mg/dl': 'n|Milligramm pro Deziliter',
  'g/dl': 'n|Gramm pro Deziliter',
  'mmol/l': 'n|Millimol pro Liter',
  'mg/kg': 'n|Milligramm pro Kilogramm',
  'µg/m³ μg/m³': 'n|Mikrogramm pro Kubikmeter',
  'W/m²': 'n|Watt pro Quadratmeter',
  'kWh/m²': 'f|Kilowattstunde pro Quadratmeter|Kilowattstunden pro Quadratmeter',
  'l/min': 'm|Liter pro Minute',
  'ml/h': 'm|Milliliter pro Stunde',
  'm³/h': 'm|Kubikmeter pro Stunde',
  'g/km': 'n|Gramm pro Kilometer',
  mmHg: 'm|Millimeter Quecksilbersäule',
  'IE I.E.': 'f|Internationale Einheit|Internationale Einheiten',
  lx: 'n|Lux',
  lm: 'n|Lumen',
  mW: 'n|Milliwatt',
  TWh: 'f|Terawattstunde|Terawattstunden',
  GWh: 'f|Gigawattstunde|Gigawattstunden',
  kWp: 'n|Kilowatt Peak',
  kN: 'n|Kilonewton',
  Ah: 'f|Amperestunde|Amperestunden',
  VA: 'n|Voltampere',
  fps: 'n|Bilder pro Sekunde',
  dpi: 'n|D P I',
  sm: 'f|Seemeile|Seemeilen',
  kn: 'm|Knoten',
  'Pfd.': 'n|Pfund',
  'Tr.': 'm|Tropfen',
  'Tbl. Tabl.': 'f|Tablette|Tabletten',
  'Mbyte MByte': 'n|Megabyte',
  GByte: 'n|Gigabyte',
  Mbit: 'n|Megabit',
  Gbit: 'n|Gigabit',
  'GBit/s': 'n|Gigabit pro Sekunde',
  'MBit/s': 'n|Megabit pro Sekunde',
  Mpx: 'n|Megapixel',
  'U/min': 'f|Umdrehung pro Minute|Umdrehungen pro Minute',
  px: 'n|Pixel',
  MP: 'n|Megapixel',
  EL: 'm|Esslöffel',
  TL: 'm|Teelöffel',
  'Pck. Pkg. Pckg.': 'f|Packung|Packungen',
  'Stk. Stck. St.': 'n|Stück',
  'Pers.': 'f|Person|Personen',
  'Pkt.': 'm|Punkt|Punkte',
  'g/l': 'n|Gramm pro Liter',
  'mg/l': 'n|Milligramm pro Liter',
  'l/100_km l/100km': 'm|Liter auf einhundert Kilometer',
  'Zi.': 'n|Zimmer',
});

export const PER: Readonly<Record<string, string>> = {
  s: 'pro Sekunde', min: 'pro Minute', Min: 'pro Minute', 'Min.': 'pro Minute', 'min.': 'pro Minute', 'Mon.': 'pro Monat', 'J.': 'pro Jahr', a: 'pro Jahr', Sek: 'pro Sekunde', 'Wo.': 'pro Woche', ml: 'pro Milliliter', ha: 'pro Hektar', 'm³': 'pro Kubikmeter', 'm2': 'pro Quadratmeter', Quadratmeter: 'pro Quadratmeter', Kilo: 'pro Kilo', Kind: 'pro Kind', Gast: 'pro Gast', Fahrt: 'pro Fahrt', Quartal: 'pro Quartal', Semester: 'pro Semester', Packung: 'pro Packung', Flasche: 'pro Flasche', Dose: 'pro Dose', MB: 'pro Megabyte', SMS: 'pro S M S', Anruf: 'pro Anruf', Zimmer: 'pro Zimmer', Nutzer: 'pro Nutzer', User: 'pro User', Sekunde: 'pro Sekunde', Minute: 'pro Minute', h: 'pro Stunde', 'Std.': 'pro Stunde', Std: 'pro Stunde',
  Stunde: 'pro Stunde', Tag: 'pro Tag', d: 'pro Tag', Woche: 'pro Woche', Monat: 'pro Monat', Jahr: 'pro Jahr', Nacht: 'pro Nacht',
  kg: 'pro Kilogramm', g: 'pro Gramm', '100 g': 'pro einhundert Gramm', l: 'pro Liter', Liter: 'pro Liter', m: 'pro Meter', 'm²': 'pro Quadratmeter',
  qm: 'pro Quadratmeter', kWh: 'pro Kilowattstunde', km: 'pro Kilometer', Person: 'pro Person', 'Pers.': 'pro Person', Stück: 'pro Stück',
  'Stk.': 'pro Stück', GB: 'pro Gigabyte', t: 'pro Tonne', Tonne: 'pro Tonne', Mo: 'pro Monat', 'Mt.': 'pro Monat', Barrel: 'pro Barrel',
}; // prettier-ignore

const POWERS = [
  ['Tausend|Tausend', 3, 'Tsd. Tsd T k'],
  ['Million|Millionen', 6, 'Mio. Mio Million Millionen'],
  ['Milliarde|Milliarden', 9, 'Mrd. Mrd Milliarde Milliarden'],
  ['Billion|Billionen', 12, 'Bio. Billion Billionen'],
] as const;

export const MAGNITUDES: Readonly<Record<string, Magnitude>> = Object.fromEntries(
  POWERS.flatMap(([names, power, forms]) =>
    forms.split(' ').map((form): [string, Magnitude] => [form, { ...noun(`f|${names}`), power }]),
  ),
);

const NAMES: Readonly<Record<string, string>> = {
  EUR: 'm|Euro', USD: 'm|Dollar', GBP: 'n|Pfund', CHF: 'm|Franken', JPY: 'm|Yen', CNY: 'm|Yuan', INR: 'f|Rupie|Rupien', KRW: 'm|Won',
  RUB: 'm|Rubel', BRL: 'm|Real|Reais', CAD: 'm|Kanadischer Dollar|Kanadische Dollar', AUD: 'm|Australischer Dollar|Australische Dollar',
  SEK: 'f|Schwedische Krone|Schwedische Kronen', NOK: 'f|Norwegische Krone|Norwegische Kronen', DKK: 'f|Dänische Krone|Dänische Kronen',
  PLN: 'm|Złoty', CZK: 'f|Tschechische Krone|Tschechische Kronen', HUF: 'm|Forint', TRY: 'f|Lira', BTC: 'm|Bitcoin', ETH: 'm|Ether',
  CENT: 'm|Cent', DEM: 'f|Mark',
}; // prettier-ignore
const CENT = noun('m|Cent');
const MINOR: Readonly<Record<string, Noun>> = {
  EUR: CENT, USD: CENT, CAD: CENT, AUD: CENT, GBP: noun('m|Penny|Pence'), CHF: noun('m|Rappen'), PLN: noun('m|Groschen'), DEM: noun('m|Pfennig|Pfennig'),
  DKK: noun('n|Öre'), SEK: noun('n|Öre'), NOK: noun('n|Öre'), RUB: noun('f|Kopeke|Kopeken'), BRL: noun('m|Centavo|Centavos'),
}; // prettier-ignore

export const CURRENCIES: Readonly<Record<string, Currency>> = Object.fromEntries(
  Object.entries(NAMES).map(([code, entry]) => {
    const minor = MINOR[code];
    return [code, { ...noun(entry), ...(minor && { minor }) }];
  }),
);

export const CURRENCY_SIGNS: Readonly<Record<string, string>> = {
  '€': 'EUR', $: 'USD', US$: 'USD', 'US-Dollar': 'USD', '£': 'GBP', '¥': 'JPY', '₹': 'INR', '₩': 'KRW', '₽': 'RUB', R$: 'BRL', C$: 'CAD', A$: 'AUD',
  'Fr.': 'CHF', SFr: 'CHF', sFr: 'CHF', '₺': 'TRY', '₿': 'BTC', DM: 'DEM', Euro: 'EUR', Dollar: 'USD', Franken: 'CHF', Ct: 'CENT', 'ct': 'CENT', 'Ct.': 'CENT', 'ct.': 'CENT', Cent: 'CENT', '¢': 'CENT',
}; // prettier-ignore
