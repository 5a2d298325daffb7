// French units and magnitudes: the singular, then the plural.
import type { Magnitude, Noun } from '../language.js';

/** "written forms": "singular" or "singular|plural"; without a plural an s is added. */
type Names = Readonly<Record<string, string>>;

const MASCULINE: Names = {
  '%': 'pour cent|pour cent',
  '‰': 'pour mille|pour mille',
  pb: 'point de base|points de base',
  'pt pts': 'point',
  km: 'kilomètre',
  m: 'mètre',
  dm: 'décimètre',
  cm: 'centimètre',
  mm: 'millimètre',
  'µm μm': 'micromètre',
  nm: 'nanomètre',
  'km² km2': 'kilomètre carré|kilomètres carrés',
  'm² m2': 'mètre carré|mètres carrés',
  'cm² cm2': 'centimètre carré|centimètres carrés',
  'm³ m3': 'mètre cube|mètres cubes',
  'cm³ cm3': 'centimètre cube|centimètres cubes',
  'km/h kmh': 'kilomètre par heure|kilomètres par heure',
  'm/s': 'mètre par seconde|mètres par seconde',
  'm/s²': 'mètre par seconde au carré|mètres par seconde au carré',
  'kg kgs': 'kilogramme',
  g: 'gramme',
  mg: 'milligramme',
  'µg μg': 'microgramme',
  'l L': 'litre',
  'dl dL': 'décilitre',
  'cl cL': 'centilitre',
  'ml mL': 'millilitre',
  'µl µL μl μL': 'microlitre',
  hl: 'hectolitre',
  ha: 'hectare',
  '°C ℃': 'degré Celsius|degrés Celsius',
  '°F ℉': 'degré Fahrenheit|degrés Fahrenheit',
  '°': 'degré',
  K: 'kelvin',
  j: 'jour',
  ans: 'an',
  Hz: 'hertz|hertz',
  kHz: 'kilohertz|kilohertz',
  MHz: 'mégahertz|mégahertz',
  GHz: 'gigahertz|gigahertz',
  o: 'octet',
  'ko Ko KB kB': 'kilooctet',
  'Mo MB': 'mégaoctet',
  'Go GB': 'gigaoctet',
  'To TB': 'téraoctet',
  'Po PB': 'pétaoctet',
  'kbit/s kb/s kbps': 'kilobit par seconde|kilobits par seconde',
  'Mbit/s Mb/s Mbps': 'mégabit par seconde|mégabits par seconde',
  'Gbit/s Gb/s Gbps': 'gigabit par seconde|gigabits par seconde',
  'Mo/s MB/s': 'mégaoctet par seconde|mégaoctets par seconde',
  'Go/s GB/s': 'gigaoctet par seconde|gigaoctets par seconde',
  W: 'watt',
  kW: 'kilowatt',
  MW: 'mégawatt',
  GW: 'gigawatt',
  Wh: 'wattheure',
  kWh: 'kilowattheure',
  MWh: 'mégawattheure',
  GWh: 'gigawattheure',
  TWh: 'térawattheure',
  kWc: 'kilowatt-crête|kilowatts-crête',
  V: 'volt',
  mV: 'millivolt',
  kV: 'kilovolt',
  A: 'ampère',
  mA: 'milliampère',
  mAh: 'milliampère-heure|milliampères-heure',
  Ah: 'ampère-heure|ampères-heure',
  Ω: 'ohm',
  kΩ: 'kilo-ohm',
  N: 'newton',
  Nm: 'newton-mètre|newtons-mètres',
  J: 'joule',
  kJ: 'kilojoule',
  Pa: 'pascal',
  kPa: 'kilopascal',
  hPa: 'hectopascal',
  bar: 'bar',
  mbar: 'millibar',
  'dB dBA': 'décibel',
  'tr/min': 'tour par minute|tours par minute',
  px: 'pixel',
  'cp cpr': 'comprimé',
  ppm: 'partie par million|parties par million',
  Mpx: 'mégapixel',
  'ch CV': 'cheval|chevaux',
  bpm: 'battement par minute|battements par minute',
  mmHg: 'millimètre de mercure|millimètres de mercure',
  'g/dL g/dl': 'gramme par décilitre|grammes par décilitre',
  'mg/dL mg/dl': 'milligramme par décilitre|milligrammes par décilitre',
  'g/L g/l': 'gramme par litre|grammes par litre',
  'g/km': 'gramme par kilomètre|grammes par kilomètre',
  'l/100·km L/100·km l/100km L/100km': 'litre aux cent kilomètres|litres aux cent kilomètres',
  'g/cm³ g/cm3': 'gramme par centimètre cube|grammes par centimètre cube',
  'kg/m³ kg/m3': 'kilogramme par mètre cube|kilogrammes par mètre cube',
  'm³/h m3/h': 'mètre cube par heure|mètres cubes par heure',
  'l/min L/min': 'litre par minute|litres par minute',
  'mol/L mol/l': 'mole par litre|moles par litre',
  'µg/m³ µg/m3 μg/m³ μg/m3': 'microgramme par mètre cube|microgrammes par mètre cube',
  'hab./km² hab/km²': 'habitant par kilomètre carré|habitants par kilomètre carré',
  'hab.': 'habitant',
  'fps ips': 'image par seconde|images par seconde',
  dpi: 'point par pouce|points par pouce',
  ft: 'pied',
  mph: 'mile par heure|miles par heure',
};

const FEMININE: Names = {
  'pers.': 'personne',
  t: 'tonne',
  'sem. sem': 'semaine',
  Mt: 'mégatonne',
  'lb lbs': 'livre',
  oz: 'once',
  'h hr hrs': 'heure',
  'min mn min.': 'minute',
  's sec sec.': 'seconde',
  ms: 'milliseconde',
  'µs μs': 'microseconde',
  ns: 'nanoseconde',
  kcal: 'kilocalorie',
  cal: 'calorie',
  'c.·à·s. c.à.s. c.à.s càs': 'cuillère à soupe|cuillères à soupe',
  'c.·à·c. c.à.c. c.à.c càc': 'cuillère à café|cuillères à café',
};

/** In a written form · stands for a space. */
function nouns(names: Names, gender: 'm' | 'f'): [string, Noun][] {
  return Object.entries(names).flatMap(([written, named]) => {
    const [one = '', many = `${one}s`] = named.split('|');
    return written
      .split(' ')
      .map((form): [string, Noun] => [form.replaceAll('·', ' '), { forms: [one, many], gender }]);
  });
}

export const UNITS: Readonly<Record<string, Noun>> = Object.fromEntries([
  ...nouns(MASCULINE, 'm'),
  ...nouns(FEMININE, 'f'),
]);

export const PER: Readonly<Record<string, string>> = {
  '100 g': 'les cent grammes', '100g': 'les cent grammes', '100 ml': 'les cent millilitres', 'sem.': 'par semaine', '24 h': 'par vingt-quatre heures', '24h': 'par vingt-quatre heures', s: 'par seconde', sec: 'par seconde', seconde: 'par seconde', min: 'par minute', minute: 'par minute', h: 'par heure', heure: 'par heure',
  j: 'par jour', jour: 'par jour', jr: 'par jour', sem: 'par semaine', semaine: 'par semaine', mois: 'par mois', an: 'par an', année: 'par an',
  nuit: 'par nuit', kg: 'par kilogramme', g: 'par gramme', t: 'par tonne', tonne: 'par tonne', l: 'par litre', L: 'par litre', litre: 'par litre',
  'm²': 'par mètre carré', m2: 'par mètre carré', 'm³': 'par mètre cube', m3: 'par mètre cube', 'km²': 'par kilomètre carré', ha: 'par hectare',
  kWh: 'par kilowattheure', MWh: 'par mégawattheure', km: 'par kilomètre', m: 'par mètre', Go: 'par gigaoctet', personne: 'par personne', pers: 'par personne',
  'pers.': 'par personne', utilisateur: 'par utilisateur', habitant: 'par habitant', 'hab.': 'par habitant', unité: 'par unité', pièce: 'par pièce', action: 'par action', baril: 'par baril',
  'utilisateur/mois': 'par utilisateur et par mois', 'personne/nuit': 'par personne et par nuit', 'm²/an': 'par mètre carré et par an', 'm²/mois': 'par mètre carré et par mois',
}; // prettier-ignore

export const MAGNITUDES: Readonly<Record<string, Magnitude>> = Object.fromEntries(
  (
    [
      ['mille|mille', 3, 'k K'],
      ['million|millions', 6, 'M million millions mio Mio'],
      ['milliard|milliards', 9, 'Md Mds Mrd milliard milliards'],
      ['billion|billions', 12, 'billion billions'],
    ] as const
  ).flatMap(([named, power, forms]) =>
    forms.split(' ').map((form): [string, Magnitude] => [form, { forms: named.split('|'), power }]),
  ),
);
