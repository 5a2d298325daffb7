// Describes how French is written: marks, months, units, currencies, and the names of signs.
import type { Currency, Magnitude, Noun, Saying, SymbolNames, Writing } from '../language.js';
import type { Around } from '../reading.js';

// French units and magnitudes: the singular, then the plural.

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

const UNITS: Readonly<Record<string, Noun>> = Object.fromEntries([
  ...nouns(MASCULINE, 'm'),
  ...nouns(FEMININE, 'f'),
]);

const MAGNITUDES: Readonly<Record<string, Magnitude>> = Object.fromEntries(
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

// French short forms and the words that are said for them.

/** Only before a name: M. Dupont, but not "M. le maire" without its capital, nor the letter. */
function beforeName(said: string): Saying {
  return (around) => (/^\p{Lu}/u.test(around.nextWord) ? said : undefined);
}

const INITIALS = /^ (?:\p{Lu}\.-\p{Lu}\. ?\p{Lu}\p{L}|\p{Lu}\.? (?:et )?\p{Ll})/u; // M. J.-P. Dupont

/** Behind a century: XIXe s. */
const century: Saying = (around) =>
  /^[ivxlc]+(?:e|er|es|ème)$/.test(around.previousWord)
    ? 'siècle'
    : /\d et $/.test(around.text.slice(Math.max(0, around.start - 5), around.start))
      ? 'suivants'
      : undefined;

/** Before a family name they are initials. */
const christ: Saying = (around) => (/^\p{Lu}\p{Ll}/u.test(around.nextWord) ? undefined : 'Jésus-Christ');

/** Chap. IV */
function beforeRoman(said: string): Saying {
  return (around) => (/^[IVXLC]+$/.test(around.nextWord) ? said : undefined);
}

/** Esc. B, esc. 2 */
const beforeCode =
  (said: string): Saying =>
  ({ text, end }) =>
    /^ ?(?:\d|[A-Z](?!\p{L}))/u.test(text.slice(end, end + 4)) ? said : undefined;

/** Sam. 9h-14h, fermé dim. */
const weekday =
  (name: string): Saying =>
  ({ text, start, end }) =>
    /^ \d/.test(text.slice(end, end + 2)) ||
    /(?:fermée?s?|ouverte?s?|et|ou|sauf)(?: le)? $/i.test(text.slice(Math.max(0, start - 12), start))
      ? name
      : undefined;

/** Th. 6 */
function beforeDigit(said: string): Saying {
  return ({ text, end }) => (/^ ?\d/.test(text.slice(end, end + 2)) ? said : undefined);
}

/** M. le maire, M. et Mme Petit, M. Dupont. */
const monsieur: Saying = (around: Around) =>
  !/\p{Lu}\. ?$/u.test(around.text.slice(Math.max(0, around.start - 3), around.start)) &&
  (/^(?:\p{Lu}\p{L}|le$|la$|l['’]|les$|et$|ou$)/u.test(around.nextWord) ||
    INITIALS.test(around.text.slice(around.end, around.end + 20)) ||
    (/^cher$|^bonjour$|^bonsoir$|^merci$/.test(around.previousWord) && around.text[around.end] === ','))
    ? 'Monsieur'
    : undefined;

/** Before a colon or behind a bracket; not the end of "mon ex." */
function example(said: string): Saying {
  return ({ text, start, end }) =>
    /^ ?:/.test(text.slice(end, end + 2)) || text[start - 1] === '(' ? said : undefined;
}

/** St Denis, St-Denis. */
function saint(said: string): Saying {
  return ({ text, end }) => (/^[ -]\p{Lu}/u.test(text.slice(end, end + 2)) ? said : undefined);
}

/** À la 45e min., but le min. requis. */
const minuteOrLeast: Saying = ({ text, start }) =>
  /\d(?:e|er|re|ème)? $/.test(text.slice(Math.max(0, start - 5), start)) ? 'minute' : 'minimum';

const BEHIND_PRICE = /(?:€|euros?)(?:\/mois)? $/;

/** 650 € cc */
function behindPrice(said: string): Saying {
  return ({ text, start }) =>
    BEHIND_PRICE.test(text.slice(Math.max(0, start - 11), start)) ? said : undefined;
}

/** Appartement 3 p. */
const rooms: Saying = ({ text, start }) =>
  /(?:appart\p{L}*\.?|maison|duplex|loft) \d{1,2} $/iu.test(text.slice(Math.max(0, start - 18), start))
    ? 'pièces'
    : undefined;

/** Exp. 12/26 */
const beforeExpiry: Saying = ({ text, end }) =>
  /^ ?:? ?\d/.test(text.slice(end, end + 4)) ? 'expiration' : undefined;

/** Av. is an avenue before a name and "avant" before a date or birth. */
const avenue: Saying = (around) =>
  /^(?:\p{Lu}|d[eu]s?$|d['’]|la$|l['’])/u.test(around.nextWord) ? 'avenue' : 'avant';

/** Pl. is a square behind a number of a house. */
function ofStreet(said: string): Saying {
  return (around) => (/^(?:\p{Lu}|d[eu]s?$|d['’]|la$|l['’]|Saint)/u.test(around.nextWord) ? said : undefined);
}

/** Art. L. 121-1: the letter alone. */
const ofCode: Saying = ({ text, start, end }) =>
  /^ ?\d/.test(text.slice(end, end + 2)) ? text[start] : undefined;

// prettier-ignore
export const SYMBOLS: SymbolNames = {
  inAddress: {
    '@': 'arobase', '.': 'point', '/': 'slash', '\\': 'antislash', '-': 'tiret', _: 'tiret bas', ':': 'deux-points', '#': 'dièse',
    '?': 'point d’interrogation', '=': 'égale', '&': 'et', '+': 'plus', '~': 'tilde', '%': 'pour cent', '*': 'étoile', '!': 'point d’exclamation',
  },
  inMath: {
    '+': 'plus', '-': 'moins', '−': 'moins', '×': 'fois', '*': 'fois', '÷': 'divisé par', '/': 'divisé par', '=': 'égale', '==': 'égale',
    '<': 'est inférieur à', '>': 'est supérieur à', '<=': 'est inférieur ou égal à', '>=': 'est supérieur ou égal à',
    '≤': 'est inférieur ou égal à', '≥': 'est supérieur ou égal à', '≠': 'est différent de', '!=': 'est différent de',
    '≈': 'est environ égal à', '~': 'environ', '±': 'plus ou moins', '√': 'racine carrée de', '→': 'vers', '∞': 'l’infini', π: 'pi',
  },
  inFront: { '<': 'moins de', '>': 'plus de', '≤': 'au plus', '≥': 'au moins', '<=': 'au plus', '>=': 'au moins', '≈': 'environ' },
  inText: {
    '&': 'et', '§': 'paragraphe', '©': 'copyright', '®': '', '™': '', '°': 'degrés', '%': 'pour cent', '→': 'vers', '←': '', '•': '', '†': '', '✓': '',
    '=': 'égale', '€': 'euros', '∞': 'l’infini', π: 'pi',
  },
  versionPoint: 'point',
  version: 'version',
  minus: 'moins',
  plus: 'plus',
  keys: { star: 'étoile', hash: 'dièse', before: /appuy|touche|compos|\btap(?:ez|er)|saisi|press|entrez|faites/i },
  hashtag: 'hashtag',
  addressWords: {
    com: 'com', org: 'org', net: 'net', gouv: 'gouv', fr: 'F R', be: 'B E', ch: 'C H', ca: 'C A', io: 'I O', co: 'co', uk: 'U K', us: 'U S',
    it: 'I T', tv: 'T V', www: 'W W W', pdf: 'P D F', js: 'J S', ts: 'T S', html: 'H T M L', csv: 'C S V', json: 'J S O N', jpg: 'J P G', jpeg: 'J P E G', png: 'P N G', mp: 'M P', xml: 'X M L',
    yaml: 'yaml', md: 'M D', txt: 'T X T', exe: 'E X E', zip: 'zip', docx: 'D O C X', xlsx: 'X L S X', pptx: 'P P T X', py: 'P Y', api: 'A P I', faq: 'F A Q', sncf: 'S N C F', rh: 'R H', sav: 'S A V',
  },
};

function noun(names: string): Noun {
  const [one = '', many = `${one}s`, gender = 'm'] = names.split('|');
  return { forms: [one, many], gender: gender === 'f' ? 'f' : 'm' };
}

const CENTIME = noun('centime');
const CENT = noun('cent');
// prettier-ignore
const MINOR: Readonly<Record<string, Noun>> = {
  EUR: CENTIME, CHF: CENTIME, MAD: CENTIME, GBP: noun('penny|pence'), RUB: noun('kopeck'), BRL: noun('centavo'), MXN: noun('centavo'),
  PLN: noun('grosz|groszy'), SEK: noun('öre|öre'), NOK: noun('øre|øre'), DKK: noun('øre|øre'), TRY: noun('kuruş|kuruş'), CNY: noun('fen|fen'),
};
const WITHOUT_MINOR = new Set([
  'JPY',
  'KRW',
  'BTC',
  'VND',
  'HUF',
  'XAF',
  'XOF',
  'XPF',
  'CENT',
  'CENTIME',
  'ETH',
]);

// prettier-ignore
const NAMES: Readonly<Record<string, string>> = {
  EUR: 'euro', USD: 'dollar', GBP: 'livre sterling|livres sterling|f', CHF: 'franc suisse|francs suisses', CAD: 'dollar canadien|dollars canadiens',
  JPY: 'yen', CNY: 'yuan', INR: 'roupie|roupies|f', KRW: 'won', RUB: 'rouble', BRL: 'real|reais', AUD: 'dollar australien|dollars australiens',
  NZD: 'dollar néo-zélandais|dollars néo-zélandais', MXN: 'peso mexicain|pesos mexicains', SEK: 'couronne suédoise|couronnes suédoises|f',
  NOK: 'couronne norvégienne|couronnes norvégiennes|f', DKK: 'couronne danoise|couronnes danoises|f', PLN: 'zloty', CZK: 'couronne tchèque|couronnes tchèques|f',
  HUF: 'forint', TRY: 'livre turque|livres turques|f', ILS: 'shekel', ZAR: 'rand', SGD: 'dollar de Singapour|dollars de Singapour',
  HKD: 'dollar de Hong Kong|dollars de Hong Kong', THB: 'baht', VND: 'dong', UAH: 'hryvnia|hryvnias|f', AED: 'dirham', MAD: 'dirham marocain|dirhams marocains',
  DZD: 'dinar algérien|dinars algériens', TND: 'dinar tunisien|dinars tunisiens', SAR: 'riyal', XAF: 'franc CFA|francs CFA', XOF: 'franc CFA|francs CFA',
  XPF: 'franc Pacifique|francs Pacifique', BTC: 'bitcoin', ETH: 'ether', CENT: 'cent', CENTIME: 'centime', FRF: 'franc',
};

const CURRENCIES: Readonly<Record<string, Currency>> = Object.fromEntries(
  Object.entries(NAMES).map(([code, names]) => {
    const minor = WITHOUT_MINOR.has(code) ? undefined : (MINOR[code] ?? CENT);
    return [code, { ...noun(names), minor }];
  }),
);

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

// prettier-ignore
export const WRITING: Writing = {
  numbers: {
    decimal: ',',
    grouping: [' ', '.', "'", '’'],
    other: { decimal: '.', grouping: ["'", '’'] }, // CHF 1'250.50
  },
  dates: {
    months: [
      ['janvier', 'janv.', 'janv', 'jan.'], ['février', 'févr.', 'fév.', 'fevrier', 'fév'], ['mars'], ['avril', 'avr.'], ['mai'], ['juin'],
      ['juillet', 'juil.', 'juill.'], ['août', 'aout'], ['septembre', 'sept.', 'sept'], ['octobre', 'oct.', 'oct'], ['novembre', 'nov.', 'nov'],
      ['décembre', 'déc.', 'decembre', 'déc'],
    ],
    weekdays: [
      ['lundi', 'lun.', 'Lun.'], ['mardi', 'mar.', 'Mar.'], ['mercredi', 'mer.', 'Mer.'], ['jeudi', 'jeu.', 'Jeu.'], ['vendredi', 'ven.', 'Ven.'], ['samedi', 'sam.', 'Sam.'], ['dimanche', 'dim.', 'Dim.'],
    ],
    orders: { '/': 'dmy', '-': 'dmy', '.': 'dmy' },
    named: ['day-month'],
    dayMark: 'er|ᵉʳ',
    between: ' ',
  },
  times: {
    marks: [':', 'h'],
    halves: {},
    words: {},
    zones: {
      UTC: 'U T C', GMT: 'G M T', TU: 'temps universel', CET: 'heure d’Europe centrale', CEST: 'heure d’été d’Europe centrale', HEC: 'heure d’Europe centrale',
      EST: 'heure de l’Est', EDT: 'heure d’été de l’Est', PST: 'heure du Pacifique', PDT: 'heure d’été du Pacifique', JST: 'heure du Japon',
    },
  },
  telephone: {
    patterns: [
      /0[1-9](?:[ .-]?\d{2}){4}(?!\d|[.-]\d)/y,
      /08\d{2}[ .-]\d{3}[ .-]\d{3}(?!\d)/y,
      /0\d{2} \d{3} \d{2} \d{2}(?!\d)/y, // Switzerland
      /0\d{1,3}[ /]\d{2,3}[ .]\d{2}[ .]\d{2}(?![\d.]\d|\d)/y, // Belgium
      /00[1-9]\d{1,2}(?:[ .-]\d)?(?:[ .-]\d{2}){4}(?!\d|[.-]\d)/y,
      /0 ?8\d{2}(?:[ .-]?\d{2}){3}(?!\d)/y,
      /\(?[2-9]\d{2}\)?[- ]\d{3}-\d{4}(?!\d|-\d)/y, // Canada
    ],
    keywords: words('contactez contacter joindre joignez appelez appeler composez composer téléphone tél tel téléphonez joignable fax mobile portable standard rappelez'),
  },
  currencies: CURRENCIES,
  currencySigns: {
    '€': 'EUR', $: 'USD', US$: 'USD', $US: 'USD', '$ US': 'USD', '£': 'GBP', '¥': 'JPY', 'CN¥': 'CNY', '₹': 'INR', '₩': 'KRW', '₽': 'RUB', R$: 'BRL',
    $CA: 'CAD', '$ CA': 'CAD', C$: 'CAD', CA$: 'CAD', $CAN: 'CAD', A$: 'AUD', AU$: 'AUD', '₺': 'TRY', '₪': 'ILS', '₴': 'UAH', '₿': 'BTC', FCFA: 'XOF',
    'F CFA': 'XOF', '¢': 'CENT', ct: 'CENTIME', cts: 'CENTIME', 'Fr.': 'CHF', DH: 'MAD', DA: 'DZD', DT: 'TND',
  },
  units: UNITS,
  per: {
    '100 g': 'les cent grammes', '100g': 'les cent grammes', '100 ml': 'les cent millilitres', 'sem.': 'par semaine', '24 h': 'par vingt-quatre heures', '24h': 'par vingt-quatre heures', s: 'par seconde', sec: 'par seconde', seconde: 'par seconde', min: 'par minute', minute: 'par minute', h: 'par heure', heure: 'par heure',
    j: 'par jour', jour: 'par jour', jr: 'par jour', sem: 'par semaine', semaine: 'par semaine', mois: 'par mois', an: 'par an', année: 'par an',
    nuit: 'par nuit', kg: 'par kilogramme', g: 'par gramme', t: 'par tonne', tonne: 'par tonne', l: 'par litre', L: 'par litre', litre: 'par litre',
    'm²': 'par mètre carré', m2: 'par mètre carré', 'm³': 'par mètre cube', m3: 'par mètre cube', 'km²': 'par kilomètre carré', ha: 'par hectare',
    kWh: 'par kilowattheure', MWh: 'par mégawattheure', km: 'par kilomètre', m: 'par mètre', Go: 'par gigaoctet', personne: 'par personne', pers: 'par personne',
    'pers.': 'par personne', utilisateur: 'par utilisateur', habitant: 'par habitant', 'hab.': 'par habitant', unité: 'par unité', pièce: 'par pièce', action: 'par action', baril: 'par baril',
    'utilisateur/mois': 'par utilisateur et par mois', 'personne/nuit': 'par personne et par nuit', 'm²/an': 'par mètre carré et par an', 'm²/mois': 'par mètre carré et par mois',
  },
  magnitudes: MAGNITUDES,
  ordinalMark: 'ers|er|ères|ère|res|re|èmes|ème|emes|eme|es|e|ᵉʳ|ʳᵉ|ᵉ|ndes|nds|nde|nd|de|d',
  abbreviations: {
    'M.': monsieur, 'MM.': 'Messieurs', Mme: 'Madame', 'Mme.': 'Madame', Mmes: 'Mesdames', Mlle: 'Mademoiselle', 'Mlle.': 'Mademoiselle', Mlles: 'Mesdemoiselles',
    Mr: beforeName('Monsieur'), 'Mr.': 'Monsieur', Dr: beforeName('docteur'), 'Dr.': beforeName('docteur'), Drs: beforeName('docteurs'), Dre: beforeName('docteure'), Pr: beforeName('professeur'), 'Pr.': beforeName('professeur'),
    'Prof.': beforeName('professeur'), Me: beforeName('maître'), Mgr: beforeName('monseigneur'), St: saint('Saint'), Ste: saint('Sainte'), Sts: saint('Saints'), 'Gal.': 'général', 'Cdt.': 'commandant',
    Vve: beforeName('veuve'), Lt: beforeName('lieutenant'), 'Lt.': beforeName('lieutenant'), Cdt: beforeName('commandant'), Col: beforeName('colonel'), 'Col.': beforeName('colonel'), Cne: beforeName('capitaine'), Cap: beforeName('capitaine'), Gal: beforeName('général'), Gén: beforeName('général'), 'Gén.': beforeName('général'), Adj: beforeName('adjudant'), Sgt: beforeName('sergent'), 's.': century, '°C': 'degrés Celsius', 'N°': 'Numéro', 'n°': 'numéro', 'M°': beforeName('métro'), 't.': beforeRoman('tome'), 'c/o': 'aux bons soins de', 'm²': 'mètres carrés', 'm³': 'mètres cubes', 'km²': 'kilomètres carrés', 'cm²': 'centimètres carrés', 'cm³': 'centimètres cubes', 'km/h': 'kilomètres par heure', kWh: 'kilowattheures', '=>': ',', '->': ',', 'chap.': beforeRoman('chapitre'), 'Chap.': beforeRoman('Chapitre'), 'vol.': beforeRoman('volume'), 'art.': beforeRoman('article'), 'arr.': 'arrondissement', 'th.': beforeDigit('thermostat'), 'S.M.': 'Sa Majesté', 'ex :': 'exemple :', 'Ex :': 'Exemple :', 'PM2.5': 'P M deux virgule cinq', 'PM2,5': 'P M deux virgule cinq', 'p.-ê.': 'peut-être', 'av. J.-C.': 'avant Jésus-Christ', 'apr. J.-C.': 'après Jésus-Christ', 'ap. J.-C.': 'après Jésus-Christ', 'av. JC': 'avant Jésus-Christ', 'ap. JC': 'après Jésus-Christ', 'J.-C.': christ,
    'av.': avenue, 'Av.': 'Avenue', 'bd.': 'boulevard', bd: ofStreet('boulevard'), Bd: 'Boulevard', 'Bd.': 'Boulevard', bld: 'boulevard', 'boul.': 'boulevard', 'bld.': 'boulevard', 'pl.': ofStreet('place'), 'Pl.': 'Place',
    'r.': ofStreet('rue'), 'rte': 'route', 'Rte': 'Route', 'all.': ofStreet('allée'), 'imp.': ofStreet('impasse'), 'fg': ofStreet('faubourg'), 'fbg': 'faubourg', 'bât.': 'bâtiment', 'Bât.': 'Bâtiment', 'appt': 'appartement', 'appt.': 'appartement', 'apt.': 'appartement', 'ét.': 'étage',
    'etc.': 'et cetera', etc: 'et cetera', 'c.-à-d.': 'c’est-à-dire', 'C.-à-d.': 'C’est-à-dire', 'P. ex.': 'Par exemple', 'c-à-d': 'c’est-à-dire', 'càd': 'c’est-à-dire', 'c.à.d.': 'c’est-à-dire', 'p. ex.': 'par exemple', 'p.ex.': 'par exemple', 'par ex.': 'par exemple', 'ex.': example('exemple'), 'Ex.': example('Exemple'), 'cf.': 'confer', 'Cf.': 'Confer',
    'i.e.': 'c’est-à-dire', 'e.g.': 'par exemple', 'env.': 'environ', 'Env.': 'Environ', 'approx.': 'approximativement', 'max.': 'maximum', 'min.': minuteOrLeast, cc: behindPrice('charges comprises'), CC: behindPrice('charges comprises'), hc: behindPrice('hors charges'), HC: behindPrice('hors charges'), FAI: behindPrice('frais d’agence inclus'), 'asc.': 'ascenseur', 'p.': rooms, 'Tél :': 'Téléphone :', 'tél :': 'téléphone :', 'Tel :': 'Téléphone :', 'Tél:': 'Téléphone :', 'Tel:': 'Téléphone :', 'exp.': beforeExpiry, 'moy.': 'moyenne', 'resp.': 'respectivement', 'hab.': 'habitants', 'dép.': 'département', 'dépt': 'département', 'tél.': 'téléphone', 'Tél.': 'Téléphone', 'tel.': 'téléphone', 'Tel.': 'Téléphone',
    'ref.': 'référence', 'réf.': 'référence', 'Réf.': 'Référence', 'adr.': 'adresse', 'qté': 'quantité', 'Qté': 'Quantité', 'nb': 'nombre', 'éd.': 'édition', 'coll.': 'collection', 'trad.': 'traduction', 'suiv.': 'suivant', 'suppl.': 'supplément', 'incl.': 'inclus', 'excl.': 'exclu',
    'L.': ofCode, 'R.': ofCode, 'D.': ofCode, 'esc.': beforeCode('escalier'), 'op.': beforeDigit('opus'), 'Op.': beforeDigit('Opus'), 'sqq.': 'et suivantes', 'T.': beforeRoman('Tome'), 'Ø': beforeDigit('diamètre'),  'sam.': weekday('samedi'), 'dim.': weekday('dimanche'), 'lun.': weekday('lundi'), 'jeu.': weekday('jeudi'), 'ven.': weekday('vendredi'), 'T°': 'température', 't°': 'température', pdt: beforeDigit('pendant'), 'C. civ.': 'Code civil', 'C. pén.': 'Code pénal', 'C. com.': 'Code de commerce', 'C. trav.': 'Code du travail', 'Cass.': 'Cassation', 'civ.': 'civile', 'N.B.': 'nota bene', 'NB': 'nota bene', 'N. B.': 'nota bene', 'P.-S.': 'post-scriptum', 'P.-D.G.': 'P D G', 'P.-D. G.': 'P D G', 'P.S.': 'post-scriptum', 'PS :': 'post-scriptum :', 'vs': 'versus', 'vs.': 'versus', Cie: 'compagnie', 'Cie.': 'compagnie', 'Sté': 'Société', 'Ets': 'Établissements', 'Éts': 'Établissements', 'Assoc.': 'Association', 'gouv.': 'gouvernement',
    svp: 's’il vous plaît', SVP: 's’il vous plaît', 's.v.p.': 's’il vous plaît', 'S.V.P.': 's’il vous plaît', stp: 's’il te plaît', STP: 's’il te plaît', rdv: 'rendez-vous', RDV: 'rendez-vous', 'R.-V.': 'rendez-vous', bcp: 'beaucoup', qqn: 'quelqu’un', qqch: 'quelque chose', qqs: 'quelques', tjs: 'toujours',
    HT: 'hors taxes', 'H.T.': 'hors taxes',
    'h/24': 'heures sur vingt-quatre', 'et/ou': 'et ou', '24/24': 'vingt-quatre sur vingt-quatre', '7/7': 'sept sur sept', '24/7': 'vingt-quatre heures sur vingt-quatre et sept jours sur sept', 'n/a': 'non applicable', 'N/A': 'non applicable',
  },
  beforeNumber: {
    'n°': 'numéro', 'N°': 'numéro', nº: 'numéro', Nº: 'numéro', 'n°s': 'numéros', 'no': 'numéro', 'No': 'numéro', 'no.': 'numéro', 'num.': 'numéro', '№': 'numéro', '#': 'numéro', 'p.': 'page', 'pp.': 'pages', 'P.': 'page',
    'vol.': 'volume', 'Vol.': 'Volume', 'chap.': 'chapitre', 'Chap.': 'Chapitre', 'ch.': 'chapitre', 'Ch.': 'Chapitre', 't.': 'tome', 'fig.': 'figure', 'Fig.': 'Figure', 'sect.': 'section', 'art.': 'article', 'Art.': 'Article', 'ann.': 'annexe', 'al.': 'alinéa', TA: 'T A', 'tab.': 'tableau',
    km: 'kilomètre', 'éq.': 'équation', '§': 'paragraphe', '§§': 'paragraphes', 'v.': 'vers', 'ext.': 'poste', 'env.': 'environ', '~': 'environ', 'ca.': 'environ', 'bât.': 'bâtiment', 'apt.': 'appartement', 'max.': 'maximum', 'min.': 'minimum', 'tél.': 'téléphone', 'Tél.': 'Téléphone', 'Tél': 'Téléphone', 'tél': 'téléphone', Tel: 'Téléphone',
  },
  spelled: words(`
    RATP TVA PDG UE USA EDF GDF RER CGT PSG OM OL OGC IA ADN ARN CDI RTT SMS GPS API URL HTML PDF USB RIB BCE FMI OMS ONG HLM IUT APL CPAM
    PME TPE ETI DRH RH BD CD DVD TV JO IRM CHU SAV SA SARL SAS SASU EURL FAQ IP ID VIP USB UV GSM RGPD AFP ARS AOC AOP AMF OPA PIB RSA
    AG BFM RTL RMC LCI DGSE DGSI OCDE OCR UMP RN LFI PS PCF EELV IVG PMA GPA QI IPO AC DC WC HD AVC IMC OVH ATM BNP HSBC EPA
    CPU GPU CEO CTO CFO LED LCD UI UX OS IBM IUFM UFR IEP ENS HEC EPFL UNSA CFE DAB PEA LEP CSG IFI ISF SCI AMU ADSL IRL UIT UHT TEOM TIPP IDF
  `),
  read: words('COP SIM PIN CAF ZAC ZEP ZUP NASA FIFA UEFA ONU OTAN INSEE PACS SIDA SAMU SMIC ENA URSSAF MEDEF RAM ROM JPEG GIF CROUS CNED WIFI'),
  romanAfter: {}, // its own recogniser knows which letters are a numeral
  romanBefore: words('siècle siècles'),
  digitsAfter: words('vol rib iban chiffres termine terminant code codes pin référence réf siret siren cvv otp isbn ean imei matricule confirmation'),
  linking: words('est par numéro no nº confirmation secret pin postal vérification'),
  letterPlural: '',
  decadeMark: '',
  yearAfter: words('en depuis avant après vers année an janvier février mars avril mai juin juillet août septembre octobre novembre décembre printemps été automne hiver rentrée saison millésime'),
  scoreWords: words(`gagné gagne gagnent gagner remporté bat battu battent perdu perd score victoire défaite match but buts mené mène menait mènent nul imposé imposée imposés impose imposent incliné inclinés incline finale
    contre face dominé domine qualifié battus vainqueur vaincu écrase écrasé`),
};
