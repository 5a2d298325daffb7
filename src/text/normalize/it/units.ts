// Italian units and magnitudes: the singular, then the plural.
import type { Magnitude, Noun } from '../language.js';

/** "written forms": "singular|plural". */
type Names = Readonly<Record<string, string>>;

const MASCULINE: Names = {
  'km Km chilometro chilometri': 'chilometro|chilometri',
  'm mt mt. metro metri': 'metro|metri',
  dm: 'decimetro|decimetri',
  'cm centimetro centimetri': 'centimetro|centimetri',
  'mm millimetro millimetri': 'millimetro|millimetri',
  'µm μm': 'micrometro|micrometri',
  nm: 'nanometro|nanometri',
  'km² km2 kmq kmq.': 'chilometro quadrato|chilometri quadrati',
  'm² m2 mq mq.': 'metro quadrato|metri quadrati',
  'cm² cm2 cmq': 'centimetro quadrato|centimetri quadrati',
  'm³ m3 mc': 'metro cubo|metri cubi',
  'cm³ cm3 cc': 'centimetro cubo|centimetri cubi',
  'km/h Km/h kmh km/ora': 'chilometro orario|chilometri orari',
  'm/s': 'metro al secondo|metri al secondo',
  'm/s²': 'metro al secondo quadrato|metri al secondo quadrato',
  'kg Kg KG kg. Kg.': 'chilogrammo|chilogrammi',
  'chilo chili kili': 'chilo|chili',
  'etto etti hg': 'etto|etti',
  'g gr gr. grammo grammi': 'grammo|grammi',
  'mg milligrammo milligrammi': 'milligrammo|milligrammi',
  'µg μg mcg': 'microgrammo|microgrammi',
  'q q.li': 'quintale|quintali',
  'l L lt lt. litro litri': 'litro|litri',
  'dl dL': 'decilitro|decilitri',
  'cl cL': 'centilitro|centilitri',
  'ml mL': 'millilitro|millilitri',
  'µl µL μl μL': 'microlitro|microlitri',
  hl: 'ettolitro|ettolitri',
  'ha ettaro ettari': 'ettaro|ettari',
  '°C ℃ °·C': 'grado Celsius|gradi Celsius',
  '°F ℉ °·F': 'grado Fahrenheit|gradi Fahrenheit',
  '° grado gradi': 'grado|gradi',
  K: 'kelvin|kelvin',
  'min min. minuto minuti': 'minuto|minuti',
  's sec sec.': 'secondo|secondi',
  ms: 'millisecondo|millisecondi',
  'µs μs': 'microsecondo|microsecondi',
  ns: 'nanosecondo|nanosecondi',
  'gg gg. giorno giorni': 'giorno|giorni',
  'mese mesi': 'mese|mesi',
  'anno anni': 'anno|anni',
  Hz: 'hertz|hertz',
  kHz: 'kilohertz|kilohertz',
  MHz: 'megahertz|megahertz',
  GHz: 'gigahertz|gigahertz',
  'KB kB': 'kilobyte|kilobyte',
  MB: 'megabyte|megabyte',
  GB: 'gigabyte|gigabyte',
  TB: 'terabyte|terabyte',
  PB: 'petabyte|petabyte',
  'kbit/s kb/s kbps': 'kilobit al secondo|kilobit al secondo',
  'Mbit/s Mb/s Mbps': 'megabit al secondo|megabit al secondo',
  'Gbit/s Gb/s Gbps': 'gigabit al secondo|gigabit al secondo',
  'MB/s': 'megabyte al secondo|megabyte al secondo',
  'GB/s': 'gigabyte al secondo|gigabyte al secondo',
  W: 'watt|watt',
  'kW Kw kw KW': 'chilowatt|chilowatt',
  MW: 'megawatt|megawatt',
  GW: 'gigawatt|gigawatt',
  Wh: 'wattora|wattora',
  'kWh Kwh kwh KWh': 'chilowattora|chilowattora',
  MWh: 'megawattora|megawattora',
  GWh: 'gigawattora|gigawattora',
  TWh: 'terawattora|terawattora',
  V: 'volt|volt',
  mV: 'millivolt|millivolt',
  kV: 'chilovolt|chilovolt',
  A: 'ampere|ampere',
  mA: 'milliampere|milliampere',
  mAh: 'milliampere ora|milliampere ora',
  Ah: 'ampere ora|ampere ora',
  Ω: 'ohm|ohm',
  kΩ: 'kiloohm|kiloohm',
  N: 'newton|newton',
  Nm: 'newton metro|newton metri',
  J: 'joule|joule',
  kJ: 'kilojoule|kilojoule',
  Pa: 'pascal|pascal',
  kPa: 'kilopascal|kilopascal',
  hPa: 'ettopascal|ettopascal',
  bar: 'bar|bar',
  mbar: 'millibar|millibar',
  'dB dBA': 'decibel|decibel',
  'giri/min rpm': 'giro al minuto|giri al minuto',
  'px pixel': 'pixel|pixel',
  Mpx: 'megapixel|megapixel',
  dpi: 'punto per pollice|punti per pollice',
  'CV cv': 'cavallo|cavalli',
  bpm: 'battito al minuto|battiti al minuto',
  fps: 'fotogramma al secondo|fotogrammi al secondo',
  mmHg: 'millimetro di mercurio|millimetri di mercurio',
  'g/dl g/dL': 'grammo per decilitro|grammi per decilitro',
  'mg/dl mg/dL': 'milligrammo per decilitro|milligrammi per decilitro',
  'mg/kg': 'milligrammo per chilo|milligrammi per chilo',
  'g/l g/L': 'grammo per litro|grammi per litro',
  'g/cm³ g/cm3': 'grammo per centimetro cubo|grammi per centimetro cubo',
  'kg/m³ kg/m3': 'chilogrammo per metro cubo|chilogrammi per metro cubo',
  'kg/m² kg/m2': 'chilogrammo per metro quadrato|chilogrammi per metro quadrato',
  'g/km': 'grammo per chilometro|grammi per chilometro',
  'µg/m³ µg/m3 μg/m³ μg/m3': 'microgrammo per metro cubo|microgrammi per metro cubo',
  'ab./km² ab/km² ab./kmq': 'abitante per chilometro quadrato|abitanti per chilometro quadrato',
  'ab. ab': 'abitante|abitanti',
  'pb p.b.': 'punto base|punti base',
  'm·s.l.m. m·slm': 'metro sul livello del mare|metri sul livello del mare',
  'km/l': 'chilometro con un litro|chilometri con un litro',
  'l/100·km l/100km': 'litro per cento chilometri|litri per cento chilometri',
  ft: 'piede|piedi',
  'pollice pollici': 'pollice|pollici',
};

const FEMININE: Names = {
  'pers.': 'persona|persone',
  't ton. tonnellata tonnellate': 'tonnellata|tonnellate',
  'h hr ora ore': 'ora|ore',
  'volta volte': 'volta|volte',
  'sett. settimana settimane': 'settimana|settimane',
  kcal: 'chilocaloria|chilocalorie',
  cal: 'caloria|calorie',
  'lb lbs': 'libbra|libbre',
  oz: 'oncia|once',
  'cp cpr cpr.': 'compressa|compresse',
  cps: 'capsula|capsule',
  'fl fl.': 'fiala|fiale',
  'gtt gtt.': 'goccia|gocce',
  ppm: 'parte per milione|parti per milione',
};

const MILES: Names = {
  mph: 'miglio orario|miglia orarie',
};

/** In a written form · stands for a space. */
function nouns(names: Names, gender: 'm' | 'f', form?: string): [string, Noun][] {
  return Object.entries(names).flatMap(([written, named]) => {
    const noun: Noun = { forms: named.split('|'), gender, ...(form !== undefined && { form }) };
    return written.split(' ').map((name): [string, Noun] => [name.replaceAll('·', ' '), noun]);
  });
}

/** Nothing that could be counted: uno per cento. */
export const RATIO = 'ratio';

export const UNITS: Readonly<Record<string, Noun>> = Object.fromEntries([
  ...nouns({ '%': 'per cento|per cento', '‰': 'per mille|per mille' }, 'm', RATIO),
  ...nouns(MASCULINE, 'm'),
  ...nouns(FEMININE, 'f'),
  ...nouns(MILES, 'f'),
]);

export const PER: Readonly<Record<string, string>> = {
  '100 g': "all'etto", '100g': "all'etto", '100 ml': 'ogni cento millilitri', s: 'al secondo', sec: 'al secondo', secondo: 'al secondo', min: 'al minuto', minuto: 'al minuto', h: "all'ora", ora: "all'ora",
  g: 'al giorno', gg: 'al giorno', giorno: 'al giorno', die: 'al giorno', dì: 'al dì', sett: 'a settimana', 'sett.': 'a settimana', settimana: 'a settimana',
  mese: 'al mese', anno: "all'anno", notte: 'a notte', persona: 'a persona', pers: 'a persona', 'pers.': 'a persona', cad: 'cadauno', testa: 'a testa',
  kg: 'al chilo', Kg: 'al chilo', chilo: 'al chilo', etto: "all'etto", hg: "all'etto", t: 'alla tonnellata', ton: 'alla tonnellata', q: 'al quintale', l: 'al litro', lt: 'al litro', litro: 'al litro',
  m: 'al metro', 'm²': 'al metro quadrato', m2: 'al metro quadrato', mq: 'al metro quadrato', 'm³': 'al metro cubo', m3: 'al metro cubo', mc: 'al metro cubo', km: 'al chilometro',
  'km²': 'per chilometro quadrato', kmq: 'per chilometro quadrato', ha: 'per ettaro', kWh: 'al chilowattora', kwh: 'al chilowattora', MWh: 'al megawattora', GB: 'al gigabyte',
  barile: 'al barile', utente: 'a utente', pezzo: 'al pezzo', pz: 'al pezzo', unità: "all'unità", abitante: 'per abitante', 'ab.': 'per abitante', azione: 'per azione',
  'utente/mese': 'a utente al mese', 'persona/notte': 'a persona a notte', 'mq/anno': "al metro quadrato all'anno", 'mq/mese': 'al metro quadrato al mese',
}; // prettier-ignore

export const MAGNITUDES: Readonly<Record<string, Magnitude>> = Object.fromEntries(
  (
    [
      ['mille|mila', 3, 'k K mila'],
      ['milione|milioni', 6, 'mln mln. Mln milione milioni M Mio mio'],
      ['miliardo|miliardi', 9, 'mld mld. Mld mrd Mrd miliardo miliardi'],
    ] as const
  ).flatMap(([named, power, forms]) =>
    forms.split(' ').map((form): [string, Magnitude] => [form, { forms: named.split('|'), power }]),
  ),
);
