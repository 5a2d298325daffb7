// Describes how Italian is written: marks, months, units, currencies, and the names of signs.
import type { Currency, Magnitude, Noun, Saying, SymbolNames, Writing } from '../language.js';
import type { Around } from '../reading.js';
import { words } from './grammar.js';

// Italian units and magnitudes: the singular, then the plural.

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
    const noun: Noun = { forms: named.split('|'), gender, form };
    return written.split(' ').map((name): [string, Noun] => [name.replaceAll('·', ' '), noun]);
  });
}

/** Nothing that could be counted: uno per cento. */
export const RATIO = 'ratio';

const UNITS: Readonly<Record<string, Noun>> = Object.fromEntries([
  ...nouns({ '%': 'per cento|per cento', '‰': 'per mille|per mille' }, 'm', RATIO),
  ...nouns(MASCULINE, 'm'),
  ...nouns(FEMININE, 'f'),
  ...nouns(MILES, 'f'),
]);

const MAGNITUDES: Readonly<Record<string, Magnitude>> = Object.fromEntries(
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

// Italian short forms and the words that are said for them.

function likeWritten(said: string, { text, start }: Around): string {
  return /\p{Lu}/u.test(text[start] ?? '') ? said.slice(0, 1).toUpperCase() + said.slice(1) : said;
}

/** Dottor Rossi, but "il dottore". */
function title(beforeName: string, alone = beforeName): Saying {
  return (around) => likeWritten(/^\p{Lu}/u.test(around.nextWord) ? beforeName : alone, around);
}

/** Only before a name. */
function onlyBeforeName(said: string): Saying {
  return (around) => (/^\p{Lu}/u.test(around.nextWord) ? likeWritten(said, around) : undefined);
}

/** Before a colon, or behind a bracket or comma; not the end of a sentence. */
function example(said: string): Saying {
  return ({ text, start, end }) =>
    /^ ?:/.test(text.slice(end, end + 2)) || /[(,] ?$/.test(text.slice(Math.max(0, start - 2), start))
      ? said
      : undefined;
}

/** Behind a number or before one: min. 5, 10 max. */
function byNumber(said: string): Saying {
  return ({ text, start, end }: Around) =>
    /^ ?\d/.test(text.slice(end, end + 2)) ||
    /\d\p{L}{0,12} ?$/u.test(text.slice(Math.max(0, start - 14), start))
      ? said
      : undefined;
}

/** SS. Annunziata, SS. Sacramento, SS. Pietro e Paolo */
const holy: Saying = ({ text, end, nextWord }) => {
  if (/^(?:Sacramento|Crocifisso|Salvatore|Redentore|Nome)$/.test(nextWord)) return 'Santissimo';
  if (/^(?:Annunziata|Trinità|Vergine|Madre)$/.test(nextWord)) return 'Santissima';
  return /^ \p{Lu}\p{Ll}+ e(?:d)? \p{Lu}/u.test(text.slice(end, end + 24)) ? 'Santi' : undefined;
};

/** Cap. III: before a Roman numeral. */
function beforeRoman(said: string): Saying {
  return (around) => (/^[IVXLC]+$/.test(around.nextWord) ? likeWritten(said, around) : undefined);
}

/** Inter vs. Milan, but "il vs. ordine". */
const yours: Saying = (around) => (/^\p{Ll}/u.test(around.nextWord) ? 'vostro' : 'contro');

/** A.s. 2023/24 */
function beforeYear(said: string): Saying {
  return ({ text, end }) => (/^ ?(?:19|20)\d\d/.test(text.slice(end, end + 5)) ? said : undefined);
}

/** Lotto n. A12 */
const beforeCode: Saying = ({ text, end }) =>
  /^ ?[A-Z]{1,3}-?\d/.test(text.slice(end, end + 6)) ? 'numero' : undefined;

/** Scala B */
const before =
  (what: RegExp, said: string): Saying =>
  ({ text, end }) =>
    what.test(text.slice(end, end + 6)) ? said : undefined;
const behindNumber =
  (said: string): Saying =>
  ({ text, start }) =>
    /\d[\d.,]* ?$/.test(text.slice(Math.max(0, start - 8), start)) ? said : undefined;
const behindOrdinal =
  (said: string): Saying =>
  ({ text, start }) =>
    /\d[°º] $/.test(text.slice(Math.max(0, start - 3), start)) ? said : undefined;
const staircase: Saying = (around) => (/^\p{Lu}$/u.test(around.nextWord) ? 'scala' : undefined);

/** Sec. XX, XX sec. */
const century: Saying = (around) =>
  /^[IVXLC]+$/.test(around.nextWord) || /^[ivxlc]+$/.test(around.previousWord) ? 'secolo' : undefined;

/** S.E. il Prefetto, S.E. Mons. Rossi */
function onlyBeforeHonour(said: string): Saying {
  return (around) => (/^(?:il$|la$|l['’]|mons|\p{Lu})/iu.test(around.nextWord) ? said : undefined);
}

/** C.a. Ing. Neri, but "del 3 maggio c.a." */
const attention: Saying = (around) =>
  /^(?:\p{Lu}|dott|ing|sig|avv|arch|geom|rag|prof)/u.test(around.nextWord)
    ? 'cortese attenzione'
    : 'corrente anno';

/** Al 3° p. */
const floor: Saying = ({ text, start }) =>
  /\d[°º] $/.test(text.slice(Math.max(0, start - 3), start)) ? 'piano' : undefined;

/** Reg. UE 2016/679 */
const regulation: Saying = (around) =>
  /^ (?:UE|CE|CEE|\(UE\)|\d)/.test(around.text.slice(around.end, around.end + 6))
    ? likeWritten('regolamento', around)
    : undefined;

// prettier-ignore
const TITLES: Readonly<Record<string, Saying>> = {
  'sig.': title('signor', 'signore'), 'sig.ra': 'signora', 'sig.na': 'signorina', 'sigg.': 'signori', 'sig.re': 'signore', 'sig.ri': 'signori', 'sig.re/sig.ra': 'signore o signora', 'Sig./Sig.ra': 'Signore o Signora', 'Sig.ra/Sig.': 'Signora o Signore',
  'dott.': title('dottor', 'dottore'), 'dott.ssa': 'dottoressa', 'dott.sse': 'dottoresse', 'dott.ri': 'dottori', 'dr.': title('dottor', 'dottore'), Dr: onlyBeforeName('Dottor'), 'dr.ssa': 'dottoressa', 'Dr.ssa': 'Dottoressa',
  'prof.': title('professor', 'professore'), 'prof.ssa': 'professoressa', 'proff.': 'professori', 'prof.sse': 'professoresse', 'avv.': 'avvocato', 'avv.ti': 'avvocati', 'ing.': title('ingegner', 'ingegnere'),
  'arch.': 'architetto', 'geom.': 'geometra', 'rag.': title('ragionier', 'ragioniere'), 'on.': onlyBeforeName('onorevole'), 'On.': onlyBeforeName('Onorevole'), 'on.le': 'onorevole', 'sen.': onlyBeforeName('senatore'), 'gen.': onlyBeforeName('generale'), 'col.': onlyBeforeName('colonnello'),
  'ten.': onlyBeforeName('tenente'), 'magg.': onlyBeforeName('maggiore'), 'mar.llo': 'maresciallo', 'cav.': onlyBeforeName('cavalier'), 'comm.': onlyBeforeName('commendator'), 'mons.': title('monsignor', 'monsignore'), 'card.': onlyBeforeName('cardinal'), 'rev.': 'reverendo', 'Mr.': 'Mister', 'Mrs.': 'Missis',
  'egr.': 'egregio', 'gent.mo': 'gentilissimo', 'gent.ma': 'gentilissima', 'gent.mi': 'gentilissimi', 'gent.le': 'gentile', 'gent.': 'gentile', 'spett.le': 'spettabile', 'spett.': 'spettabile', 'ill.mo': 'illustrissimo', 'ill.ma': 'illustrissima', 'chiar.mo': 'chiarissimo', 'preg.mo': 'pregiatissimo', 'f.lli': 'fratelli', 'fam.': onlyBeforeName('famiglia'),
};

// prettier-ignore
const PLACES: Readonly<Record<string, Saying>> = {
  'p.zza': 'piazza', 'p.za': 'piazza', 'pza': 'piazza', 'p.zzale': 'piazzale', 'p.le': 'piazzale', 'p.tta': 'piazzetta', 'v.le': 'viale', 'c.so': 'corso', 'l.go': 'largo', 'vic.': onlyBeforeName('vicolo'), 'c.da': 'contrada', 'loc.': onlyBeforeName('località'), 'fraz.': onlyBeforeName('frazione'), 'prov.': 'provincia', 'SS.': holy, 'S.S.': holy, 'Ss.': onlyBeforeName('santi'),
  'tel.': 'telefono', 'cell.': 'cellulare', 'c/o': 'presso', 's.n.c.': 'senza numero civico', 'l.mare': 'lungomare', 's.l.m.': 'sul livello del mare', 'P.T.': 'piano terra', 'p.t.': 'piano terra',
};

// prettier-ignore
export const SYMBOLS: SymbolNames = {
  inAddress: {
    '@': 'chiocciola', '.': 'punto', '/': 'slash', '\\': 'backslash', '-': 'trattino', _: 'trattino basso', ':': 'due punti', '#': 'cancelletto',
    '?': 'punto interrogativo', '=': 'uguale', '&': 'e', '+': 'più', '~': 'tilde', '%': 'per cento', '*': 'asterisco', '!': 'punto esclamativo',
  },
  inMath: {
    '+': 'più', '-': 'meno', '−': 'meno', '×': 'per', '*': 'per', '÷': 'diviso', '/': 'diviso', '=': 'uguale', '==': 'uguale',
    '<': 'è minore di', '>': 'è maggiore di', '<=': 'è minore o uguale a', '>=': 'è maggiore o uguale a', '≤': 'è minore o uguale a', '≥': 'è maggiore o uguale a',
    '≠': 'è diverso da', '!=': 'è diverso da', '≈': 'è circa uguale a', '~': 'circa', '±': 'più o meno', '√': 'radice quadrata di', '→': 'a', '∞': 'infinito', π: 'pi greco',
  },
  inFront: { '<': 'meno di', '>': 'più di', '≤': 'al massimo', '≥': 'almeno', '<=': 'al massimo', '>=': 'almeno', '≈': 'circa' },
  inText: {
    '&': 'e', '§': 'paragrafo', '©': 'copyright', '®': '', '™': '', '°': 'gradi', '%': 'per cento', '→': 'a', '←': '', '•': '', '†': '', '✓': '',
    '=': 'uguale', '€': 'euro', '∞': 'infinito', π: 'pi greco',
  },
  versionPoint: 'punto',
  version: 'versione',
  minus: 'meno',
  plus: 'più',
  keys: { star: 'asterisco', hash: 'cancelletto', before: /\b(?:prem|digit|tast|compon|inseri|schiacc)/i },
  hashtag: 'hashtag',
  addressWords: {
    com: 'com', org: 'org', net: 'net', gov: 'gov', it: 'it', eu: 'E U', co: 'co', uk: 'U K', us: 'U S', fr: 'F R', ch: 'C H', tv: 'T V',
    www: 'vu vu vu', pdf: 'P D F', js: 'J S', ts: 'T S', html: 'H T M L', csv: 'C S V', json: 'J S O N', jpg: 'J P G', jpeg: 'J P E G', png: 'P N G', mp: 'M P', xml: 'X M L',
    yaml: 'yaml', md: 'M D', txt: 'T X T', exe: 'E X E', zip: 'zip', doc: 'doc', docx: 'D O C X', xls: 'X L S', xlsx: 'X L S X', pptx: 'P P T X', py: 'P Y', api: 'A P I', faq: 'F A Q', gmail: 'gmail', hr: 'H R',
  },
};

function noun(names: string): Noun {
  const [one = '', many = one, gender = 'm'] = names.split('|');
  return { forms: [one, many], gender: gender === 'f' ? 'f' : 'm' };
}

const CENTESIMO = noun('centesimo|centesimi');
const MINOR: Readonly<Record<string, Noun>> = {
  GBP: noun('penny|pence'),
  RUB: noun('copeco|copechi'),
  BRL: noun('centavo|centavos'),
  MXN: noun('centavo|centavos'),
  PLN: noun('grosz|grosz'),
  SEK: noun('öre'),
  NOK: noun('øre'),
  DKK: noun('øre'),
  TRY: noun('kuruş'),
  CNY: noun('fen'),
  INR: noun('paisa'),
};
const WITHOUT_MINOR = new Set(['JPY', 'KRW', 'BTC', 'ETH', 'VND', 'HUF', 'ITL', 'CENT']);

// prettier-ignore
const NAMES: Readonly<Record<string, string>> = {
  EUR: 'euro', USD: 'dollaro|dollari', GBP: 'sterlina|sterline|f', CHF: 'franco svizzero|franchi svizzeri', CAD: 'dollaro canadese|dollari canadesi',
  JPY: 'yen', CNY: 'yuan', INR: 'rupia|rupie|f', KRW: 'won', RUB: 'rublo|rubli', BRL: 'real|real', AUD: 'dollaro australiano|dollari australiani',
  NZD: 'dollaro neozelandese|dollari neozelandesi', MXN: 'peso messicano|pesos messicani', SEK: 'corona svedese|corone svedesi|f',
  NOK: 'corona norvegese|corone norvegesi|f', DKK: 'corona danese|corone danesi|f', PLN: 'zloty', CZK: 'corona ceca|corone ceche|f',
  HUF: 'fiorino ungherese|fiorini ungheresi', RON: 'leu|lei', BGN: 'lev|leva', TRY: 'lira turca|lire turche|f', ILS: 'shekel', ZAR: 'rand',
  SGD: 'dollaro di Singapore|dollari di Singapore', HKD: 'dollaro di Hong Kong|dollari di Hong Kong', THB: 'baht', VND: 'dong', UAH: 'grivnia|grivnie|f',
  AED: 'dirham', MAD: 'dirham marocchino|dirham marocchini', TND: 'dinaro tunisino|dinari tunisini', SAR: 'riyal', EGP: 'sterlina egiziana|sterline egiziane|f',
  ALL: 'lek', RSD: 'dinaro serbo|dinari serbi', ITL: 'lira|lire|f', BTC: 'bitcoin', ETH: 'ether', CENT: 'centesimo|centesimi',
};

const CURRENCIES: Readonly<Record<string, Currency>> = Object.fromEntries(
  Object.entries(NAMES).map(([code, names]) => {
    const minor = WITHOUT_MINOR.has(code) ? undefined : (MINOR[code] ?? CENTESIMO);
    return [code, { ...noun(names), minor }];
  }),
);

/** "set" and "ago" are words of their own; see `dates.ts` for them before a year. */
// prettier-ignore
const MONTHS = [
  ['gennaio', 'gen.', 'genn.', 'gen'], ['febbraio', 'feb.', 'febb.', 'feb'], ['marzo', 'mar.', 'mar'], ['aprile', 'apr.', 'apr'], ['maggio', 'mag.', 'magg.', 'mag'],
  ['giugno', 'giu.', 'giu'], ['luglio', 'lug.', 'lug'], ['agosto', 'ago.'], ['settembre', 'sett.'], ['ottobre', 'ott.', 'ott'], ['novembre', 'nov.', 'nov'], ['dicembre', 'dic.', 'dic'],
];

// prettier-ignore
export const WRITING: Writing = {
  numbers: {
    decimal: ',',
    grouping: ['.', ' ', "'", '’'],
    other: { decimal: '.', grouping: ["'", '’'] }, // CHF 1'250.50
  },
  dates: {
    months: MONTHS,
    weekdays: [
      ['lunedì', 'lun.', 'lun', 'Lun.', 'Lun', 'LUN'], ['martedì', 'mar.', 'mar', 'Mar.', 'Mar', 'MAR'], ['mercoledì', 'mer.', 'mer', 'Mer.', 'Mer', 'MER'], ['giovedì', 'gio.', 'gio', 'Gio.', 'Gio', 'GIO'],
      ['venerdì', 'ven.', 'ven', 'Ven.', 'Ven', 'VEN'], ['sabato', 'sab.', 'sab', 'Sab.', 'Sab', 'SAB'], ['domenica', 'dom.', 'dom', 'Dom.', 'Dom', 'DOM'],
    ],
    orders: { '/': 'dmy', '-': 'dmy', '.': 'dmy' },
    named: ['day-month'],
    dayMark: '°|º',
    between: ' ',
  },
  times: {
    marks: [':'],
    halves: { 'a.m.': 'am', 'p.m.': 'pm', am: 'am', pm: 'pm' },
    words: {},
    zones: {
      UTC: 'U T C', GMT: 'G M T', CET: "ora dell'Europa centrale", CEST: "ora legale dell'Europa centrale", EST: 'ora della costa orientale', EDT: 'ora legale della costa orientale',
      PST: 'ora della costa pacifica', PDT: 'ora legale della costa pacifica', JST: 'ora del Giappone',
    },
  },
  telephone: {
    patterns: [
      /3[2-9]\d(?:[ ./-]?\d{7}|[ -]?\d{6}|[ .-]\d{3}[ .-]\d{4}|[ .-]\d{2}[ .-]\d{2}[ .-]\d{3}|[ .-]\d{3}[ .-]\d{2}[ .-]\d{2})(?!\d|[.,]\d)/y,
      /00\d{2}[ .-]\d{2,3}[ .-]?\d{5,8}(?!\d|[.,]\d)/y,
      /0\d{1,3}[ ./-]\d{5,8}(?!\d|[.,]\d)/y,
      /0\d{1,3}(?:[ .-]\d{2,4}){2,4}(?!\d|[.,-]\d)/y,
      /\(0\d{1,3}\) ?\d{5,8}(?!\d|[.,]\d)/y,
      /1(?:99|78|66)[ .-]\d{3}[ .-]\d{3}(?!\d|[.,]\d| (?:euro|€|abitanti))/y,
      /8(?:00|03|40|48|92|99)[ -]?(?!000[ -]?000)\d{3}[ -]?\d{3}(?!\d|[.,]\d| (?:euro|€))/y,
    ],
    keywords: words('tel telefono telefonare telefona chiamare chiamate chiami chiama cell cellulare fax verde contattare contatta contattate allo centralino whatsapp'),
  },
  currencies: CURRENCIES,
  currencySigns: {
    '€': 'EUR', Euro: 'EUR', euro: 'EUR', eur: 'EUR', $: 'USD', US$: 'USD', $US: 'USD', '£': 'GBP', '¥': 'JPY', 'CN¥': 'CNY', '₹': 'INR', '₩': 'KRW', '₽': 'RUB',
    R$: 'BRL', C$: 'CAD', CA$: 'CAD', A$: 'AUD', AU$: 'AUD', '₺': 'TRY', '₪': 'ILS', '₴': 'UAH', '₿': 'BTC', 'Fr.': 'CHF', '₤': 'ITL', '¢': 'CENT',
    cent: 'CENT', 'cent.': 'CENT', dollaro: 'USD', dollari: 'USD', sterlina: 'GBP', sterline: 'GBP',
  },
  units: UNITS,
  per: {
    '100 g': "all'etto", '100g': "all'etto", '100 ml': 'ogni cento millilitri', s: 'al secondo', sec: 'al secondo', secondo: 'al secondo', min: 'al minuto', minuto: 'al minuto', h: "all'ora", ora: "all'ora",
    g: 'al giorno', gg: 'al giorno', giorno: 'al giorno', die: 'al giorno', dì: 'al dì', sett: 'a settimana', 'sett.': 'a settimana', settimana: 'a settimana',
    mese: 'al mese', anno: "all'anno", notte: 'a notte', persona: 'a persona', pers: 'a persona', 'pers.': 'a persona', cad: 'cadauno', testa: 'a testa',
    kg: 'al chilo', Kg: 'al chilo', chilo: 'al chilo', etto: "all'etto", hg: "all'etto", t: 'alla tonnellata', ton: 'alla tonnellata', q: 'al quintale', l: 'al litro', lt: 'al litro', litro: 'al litro',
    m: 'al metro', 'm²': 'al metro quadrato', m2: 'al metro quadrato', mq: 'al metro quadrato', 'm³': 'al metro cubo', m3: 'al metro cubo', mc: 'al metro cubo', km: 'al chilometro',
    'km²': 'per chilometro quadrato', kmq: 'per chilometro quadrato', ha: 'per ettaro', kWh: 'al chilowattora', kwh: 'al chilowattora', MWh: 'al megawattora', GB: 'al gigabyte',
    barile: 'al barile', utente: 'a utente', pezzo: 'al pezzo', pz: 'al pezzo', unità: "all'unità", abitante: 'per abitante', 'ab.': 'per abitante', azione: 'per azione',
    'utente/mese': 'a utente al mese', 'persona/notte': 'a persona a notte', 'mq/anno': "al metro quadrato all'anno", 'mq/mese': 'al metro quadrato al mese',
  },
  magnitudes: MAGNITUDES,
  ordinalMark: '°|º|ª|\\^(?!\\d)|-?esim[oaie]|mo|ma|[oa]',
  abbreviations: {
    ...TITLES,
    ...PLACES,
    'ecc.': 'eccetera', ecc: 'eccetera', 'etc.': 'eccetera', etc: 'eccetera', 'ad es.': 'ad esempio', 'p. es.': 'per esempio', 'p.es.': 'per esempio', 'per es.': 'per esempio', 'es.': example('esempio'), 'Es.': 'Esempio', 'cfr.': 'confronta', 'cf.': 'confronta', 'v.': byNumber('vedi'),
    'i.e.': 'cioè', 'e.g.': 'per esempio', 'c.d.': 'cosiddetto', 'cd.': 'cosiddetto', 'cit.': 'citato', 'ca.': 'circa', 'approx.': 'circa', 'max.': 'massimo', 'max': 'massimo', 'min.': byNumber('minimo'), 'rif.': 'riferimento', 'C.d.A.': 'C D A', CdA: 'C D A', 'c.v.d.': 'come volevasi dimostrare', 'H/24': 'H ventiquattro', 'h/24': 'H ventiquattro', 's.r.l.': 'S R L', srl: 'S R L', 's.p.a.': 'S P A', 'op. cit.': 'opera citata', 'ibid.': 'ibidem', 'et al.': 'e altri', 'n.b.': 'nota bene', 'p.s.': 'post scriptum', 'a.s.': beforeYear('anno scolastico'), 'a.a.': beforeYear('anno accademico'), 'A.S.': beforeYear('anno scolastico'), 'A.A.': beforeYear('anno accademico'),
    'pres.': onlyBeforeName('presidente'), 'univ.': 'università', 'dip.': 'dipartimento', 'ist.': 'istituto', 'Rep.': onlyBeforeName('Repubblica'), 'uff.': 'ufficio', 'Min.': onlyBeforeName('Ministero'), 'ns.': 'nostro', 'vs.': yours, vs: 'contro', 'u.s.': 'ultimo scorso', 'p.v.': 'prossimo venturo', 'c.m.': 'corrente mese',
    'c.a.': attention, 'C.A.': 'alla cortese attenzione', 'a. C.': 'avanti Cristo', 'd. C.': 'dopo Cristo', 'S.r.l.': 'S R L', 'S.r.l': 'S R L', 'S.E.': onlyBeforeHonour('Sua Eccellenza'), 'S.E.R.': 'Sua Eccellenza Reverendissima', 'S.p.A.': 'S P A', 'S.p.A': 'S P A', 'S.p.a.': 'S P A', 'S.n.c.': 'S N C', 'S.a.s.': 'S A S', 'Srl': 'S R L', SpA: 'S P A', 'N.B.': 'nota bene', NB: 'nota bene', 'P.S.': 'post scriptum', 'q.b.': 'quanto basta',
    'P.IVA': 'partita IVA', 'P. IVA': 'partita IVA', 'p.iva': 'partita IVA', 'P.Iva': 'partita IVA', 'p. iva': 'partita IVA', 'C.F.': 'codice fiscale', 'c.f.': 'codice fiscale', 'n.d.': 'non disponibile', 'n/d': 'non disponibile', 'N/D': 'non disponibile', 's.v.p.': 'per favore', 'scad.': 'scadenza',
    'gg.': 'giorni', 'ult.': 'ultimo', 'pag.ti': 'pagamenti', 'incl.': 'incluso', 'escl.': 'escluso', 'tot.': 'totale', 'cad.': 'cadauno', 'succ.': 'successivi', 'ss.gg.': 'successivi', 'lett.': 'lettera', 'n.': beforeCode, 'D.Lgs.': 'decreto legislativo', 'd.lgs.': 'decreto legislativo', 'D.L.': 'decreto legge', 'd.l.': 'decreto legge', 'sec.': century, 'cap.': beforeRoman('capitolo'), 'art.': beforeRoman('articolo'), 'sez.': beforeRoman('sezione'), 'par.': beforeRoman('paragrafo'), 'lib.': beforeRoman('libro'), 'fasc.': beforeRoman('fascicolo'), 'A/R': 'andata e ritorno', 'a/r': 'andata e ritorno', 'n/a': 'non applicabile', 'N/A': 'non applicabile', 'ecc...': 'eccetera', 'ecc…': 'eccetera', 'etc...': 'eccetera', 'etc…': 'eccetera',
    'p.': floor, 'L.': (around) => (/^ n[.°]/.test(around.text.slice(around.end, around.end + 3)) ? 'legge' : undefined), 'Trib.': onlyBeforeName('Tribunale'), 'sent.': before(/^ (?:n|\d)/, 'sentenza'), 'op.': before(/^ \d/, 'opera'), 'T.': beforeRoman('Tomo'), 'Ø': before(/^ ?\d/, 'diametro'), Snc: 'S N C', Sas: 'S A S', 'S.ta': 'Santa', 'S.to': 'Santo', 'trim.': behindOrdinal('trimestre'), 'sem.': behindOrdinal('semestre'), 'ss.': behindNumber('e seguenti'), 'e ss.': behindNumber('e seguenti'), 'Cass. civ.': 'Cassazione civile', 'Cass. pen.': 'Cassazione penale', 'Cass.': 'Cassazione', 'reg.': regulation, 'secc.': 'secoli', 'cl. en.': 'classe energetica', 'cl. energ.': 'classe energetica', 'trad.': 'traduzione', 'ed.': onlyBeforeName('edizioni'), 'vol.': 'volume', 'voll.': 'volumi', 'pagg.': 'pagine', 'sott.': 'sottotitolo',
    'e/o': 'e o', '24/7': 'ventiquattro ore su ventiquattro, sette giorni su sette', '7/7': 'sette giorni su sette', '24h/24': 'ventiquattro ore su ventiquattro', '24/24': 'ventiquattro ore su ventiquattro', 'h24': 'H ventiquattro', '°C': 'gradi Celsius', 'm²': 'metri quadrati', mq: 'metri quadrati', 'm³': 'metri cubi', mc: behindNumber('metri cubi'), 'km²': 'chilometri quadrati', 'cm²': 'centimetri quadrati', 'km/h': 'chilometri orari', kWh: 'chilowattora', '=>': ',', '->': ',', 'PM2.5': 'P M due virgola cinque', 'PM2,5': 'P M due virgola cinque', 'cod.': 'codice', 'fisc.': 'fiscale', 'Fisc.': 'Fiscale', 'sc.': staircase,
    '16:9': 'sedici noni', '16/9': 'sedici noni', '21:9': 'ventuno noni', cmq: 'comunque', nn: 'non', xké: 'perché', xchè: 'perché', tvb: 'ti voglio bene', grz: 'grazie',
  },
  beforeNumber: {
    'bin.': 'binario', 'rit.': 'ritardo', 'n.': 'numero', 'N.': 'numero', 'n°': 'numero', 'N°': 'numero', nº: 'numero', Nº: 'numero', 'nr.': 'numero', 'Nr.': 'numero', nr: 'numero', 'num.': 'numero', '№': 'numero', '#': 'numero', 'nn.': 'numeri',
    'p.': 'pagina', 'pag.': 'pagina', 'Pag.': 'Pagina', 'pp.': 'pagine', 'pagg.': 'pagine', 'vol.': 'volume', 'Vol.': 'Volume', 'cap.': 'capitolo', 'Cap.': 'Capitolo', 'capp.': 'capitoli', 'fig.': 'figura', 'Fig.': 'Figura', 'figg.': 'figure', 'tab.': 'tabella', 'Tab.': 'Tabella', 'tav.': 'tavola',
    'art.': 'articolo', 'Art.': 'Articolo', 'artt.': 'articoli', 'Artt.': 'Articoli', 'co.': 'comma', 'c.': 'comma', 'par.': 'paragrafo', 'sez.': 'sezione', 'all.': 'allegato', 'All.': 'Allegato', 'int.': 'interno', 'prot.': 'protocollo', 'rif.': 'riferimento', 'ver.': 'versione', 'ep.': 'episodio', 'es.': 'esercizio', 'scad.': 'scadenza',
    '§': 'paragrafo', '§§': 'paragrafi', 'v.': 'verso', 'ca.': 'circa', '~': 'circa', 'h.': 'ore', 'H.': 'ore', 'h': 'ore', H: 'ore', 'max.': 'massimo', 'min.': 'minimo', min: 'minimo', 'tel.': 'telefono', 'Tel.': 'Telefono', 'L.': 'legge', 'l.': 'legge', 'D.L.': 'decreto legge', 'D.Lgs.': 'decreto legislativo', 'd.lgs.': 'decreto legislativo', 'd.l.': 'decreto legge', 'D.P.R.': 'D P R',
    'S.S.': 'strada statale', SS: 'strada statale', 'S.P.': 'strada provinciale', SP: 'strada provinciale', 'sc.': 'scala', 'pos.': 'posizione', 'lotto n.': 'lotto numero', PA: 'P A', 'km.': 'chilometro', km: 'chilometro', Km: 'chilometro', 'gr.': 'gruppo',
  },
  spelled: words(`
    UE UTC HIV FBI PD SMS CEO CFO CTO API URL PEO DNA OMS IA AI UK EU ID IP USB SRL SPA SAS SNC BCE FMI HTML PDF CGIL DPCM GPS RNA DDL IPO IVG IT ABI BEI AFP BTP CCT DVD
    CD PC TV KO SOS VPN TFR TG AD UDC FDI PDL AVS MPS BPM CNR INGV GDF UNHCR CVV OTP UI UX SEO OS ONG RFI CPU GPU ATM UV EA SS SP MIT UCLA HD LCD
  `),
  read: words('COP NASA FIFA UEFA ONU NATO RAI FIAT IVA INPS ISTAT INAIL CONI ANSA ASL PIN SIM IBAN SPID PEC TIM ENI ENEL USA PIL ISEE VIP AIDS LED SUV ROM RAM GIF JPEG CISL UIL ANAS ACI SISMI TARI IMU IRPEF'),
  romanAfter: {}, // its own recogniser knows which letters are a numeral
  romanBefore: new Set(),
  digitsAfter: words('codice cifre termina terminante codici pin puk otp cvv cvc cap matricola riferimento rif pratica conferma prenotazione volo isbn ean imei password iban conto verifica sicurezza attivazione'),
  linking: words('è con numero nr di conferma sicurezza verifica pin otp temporaneo segreto postale cliente accesso prenotazione attivazione sblocco seguente il'),
  letterPlural: '',
  decadeMark: '',
  yearAfter: words('nel del dal al anno entro gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre primavera estate autunno inverno stagione annata'),
  scoreWords: words(`vinto vince vincono vinse vincere battuto batte battono perso perde persero score vittoria sconfitta partita pareggio pareggiato pareggia finita finisce
    finì finito terminata terminato risultato finale gol rete punteggio set contro vantaggio batté superato supera travolge travolto espugna imposto imponendosi chiuso conduce conducono`),
};
