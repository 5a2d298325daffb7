// Describes how German is written: marks, months, units, and abbreviations with their spoken forms.
// Abbreviated adjectives take the ending that the words around them require: die dt. Bank, ein engl. Garten.
import type { Currency, Magnitude, Noun, Saying, Writing } from '../language.js';
import type { Around } from '../reading.js';
import { MONTHS, WEEKDAYS } from './dates.js';
import { genderOf, isKnown, ordinalEnding, upper } from './grammar.js';
import { ROYAL } from './ordinals.js';

// German units, currencies and magnitudes: singular, plural, and where it differs the dative plural.

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

const UNITS: Readonly<Record<string, Noun>> = units({
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

const POWERS = [
  ['Tausend|Tausend', 3, 'Tsd. Tsd T k'],
  ['Million|Millionen', 6, 'Mio. Mio Million Millionen'],
  ['Milliarde|Milliarden', 9, 'Mrd. Mrd Milliarde Milliarden'],
  ['Billion|Billionen', 12, 'Bio. Billion Billionen'],
] as const;

const MAGNITUDES: Readonly<Record<string, Magnitude>> = Object.fromEntries(
  POWERS.flatMap(([names, power, forms]) =>
    forms.split(' ').map((form): [string, Magnitude] => [form, { ...noun(`f|${names}`), power }]),
  ),
);

// prettier-ignore
const NAMES: Readonly<Record<string, string>> = {
  EUR: 'm|Euro', USD: 'm|Dollar', GBP: 'n|Pfund', CHF: 'm|Franken', JPY: 'm|Yen', CNY: 'm|Yuan', INR: 'f|Rupie|Rupien', KRW: 'm|Won',
  RUB: 'm|Rubel', BRL: 'm|Real|Reais', CAD: 'm|Kanadischer Dollar|Kanadische Dollar', AUD: 'm|Australischer Dollar|Australische Dollar',
  SEK: 'f|Schwedische Krone|Schwedische Kronen', NOK: 'f|Norwegische Krone|Norwegische Kronen', DKK: 'f|Dänische Krone|Dänische Kronen',
  PLN: 'm|Złoty', CZK: 'f|Tschechische Krone|Tschechische Kronen', HUF: 'm|Forint', TRY: 'f|Lira', BTC: 'm|Bitcoin', ETH: 'm|Ether',
  CENT: 'm|Cent', DEM: 'f|Mark',
};
const CENT = noun('m|Cent');
// prettier-ignore
const MINOR: Readonly<Record<string, Noun>> = {
  EUR: CENT, USD: CENT, CAD: CENT, AUD: CENT, GBP: noun('m|Penny|Pence'), CHF: noun('m|Rappen'), PLN: noun('m|Groschen'), DEM: noun('m|Pfennig|Pfennig'),
  DKK: noun('n|Öre'), SEK: noun('n|Öre'), NOK: noun('n|Öre'), RUB: noun('f|Kopeke|Kopeken'), BRL: noun('m|Centavo|Centavos'),
};

const CURRENCIES: Readonly<Record<string, Currency>> = Object.fromEntries(
  Object.entries(NAMES).map(([code, entry]) => {
    const minor = MINOR[code];
    return [code, { ...noun(entry), minor }];
  }),
);

// prettier-ignore
const STEMS: Readonly<Record<string, string>> = {
  'dt.': 'deutsch', 'engl.': 'englisch', 'frz.': 'französisch', 'franz.': 'französisch', 'ital.': 'italienisch', 'span.': 'spanisch', 'lat.': 'lateinisch', 'griech.': 'griechisch', 'österr.': 'österreichisch',
  'europ.': 'europäisch', 'amerik.': 'amerikanisch', 'russ.': 'russisch', 'kath.': 'katholisch', 'evang.': 'evangelisch', 'techn.': 'technisch', 'wiss.': 'wissenschaftlich', 'ehem.': 'ehemalig', 'sog.': 'sogenannt', 'lfd.': 'laufend',
  'versch.': 'verschieden', 'div.': 'divers', 'allg.': 'allgemein', 'öff.': 'öffentlich', 'gesetzl.': 'gesetzlich', 'spez.': 'speziell', 'jährl.': 'jährlich', 'monatl.': 'monatlich', 'tägl.': 'täglich', 'wöchentl.': 'wöchentlich',
  'schriftl.': 'schriftlich', 'o. g.': 'oben genannt', 'u. g.': 'unten genannt', 's. g.': 'so genannt', 'urspr.': 'ursprünglich', 'kfm.': 'kaufmännisch', 'poln.': 'polnisch', 'türk.': 'türkisch', 'vorl.': 'vorläufig', 'zusätzl.': 'zusätzlich', 'persönl.': 'persönlich',
};

const PLURAL = /(?:en|ern|eln|s|(?:ä|ö|ü)\p{Ll}{1,6}e?r?|nisse|iere|ate|ekte|are|age)$/u;
const DETERMINED =
  /^(?:die|der|den|dem|diese|dieser|diesen|alle|aller|keine|meine|ihre|seine|unsere|beide|beiden)$/;

function adjective(stem: string): Saying {
  return (around) => {
    const said = /^\p{Lu}\p{Ll}/u.test(around.nextWord) ? stem + ending(around) : stem;
    return /^\p{Lu}/u.test(around.text.slice(around.start, around.end)) ? upper(said) : said;
  };
}

function ending(around: Around): string {
  const noun = around.nextWord;
  const before = around.previousWord;
  if (!isKnown(noun) && PLURAL.test(noun)) return DETERMINED.test(before) ? 'en' : 'e';
  const gender = genderOf(noun);
  return gender === undefined && !DETERMINED.test(before) ? 'e' : ordinalEnding(before, gender);
}

const ADJECTIVES: Readonly<Record<string, Saying>> = Object.fromEntries(
  Object.entries(STEMS).map(([written, stem]) => [written, adjective(stem)]),
);

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

const OBLIQUE = words(
  'am im vom zum beim mit von bei nach dem an in aus den für gegen ohne durch um zu gegenüber neben',
);
/** Mit Hr. Meier: in German he is declined. */
const sir: Saying = ({ nextWord, previousWord }) =>
  /^\p{Lu}/u.test(nextWord) ? (OBLIQUE.has(previousWord) ? 'Herrn' : 'Herr') : undefined;
const behindOrdinal =
  (said: string): Saying =>
  (around) =>
    /\d\. $/.test(around.text.slice(Math.max(0, around.start - 3), around.start)) ? said : undefined;
/** Beside a result, or not. */
const ofGame =
  (result: string, otherwise: string): Saying =>
  ({ text, start, end }) =>
    /^ \d{1,3}:\d/.test(text.slice(end, end + 6)) ||
    /\d:\d{1,3}[ (]{1,2}$/.test(text.slice(Math.max(0, start - 8), start)) ||
    /^ (?:gewann|gewonnen|verlor|siegt|unterl|endete|stand)/.test(text.slice(end, end + 10))
      ? result
      : otherwise;
const behindDigit =
  (said: string): Saying =>
  (around) =>
    /\d $/.test(around.text.slice(Math.max(0, around.start - 2), around.start)) ? said : undefined;
const behindNothing =
  (said: string): Saying =>
  (around) =>
    /^ \d/.test(around.text.slice(around.end, around.end + 2)) ? said : undefined;
/** Des 20. Jh.: in the genitive. */
const ofCentury: Saying = ({ text, start }) =>
  `Jahrhundert${/(?:des|eines|dieses) (?:\p{Ll}+ )?(?:\d{1,2}\. )?$/u.test(text.slice(Math.max(0, start - 24), start)) ? 's' : ''}`;
const beforeName =
  (said: string): Saying =>
  (around) =>
    /^\p{Lu}/u.test(around.nextWord) ? said : undefined;

const beforeNumber =
  (said: string): Saying =>
  ({ text, end }) =>
    /^ ?\d/.test(text.slice(end, end + 2)) ? said : undefined;

/** Letters of formulas and versions. */
// prettier-ignore
const GREEK: Readonly<Record<string, string>> = {
  α: 'Alpha', β: 'Beta', γ: 'Gamma', δ: 'Delta', ε: 'Epsilon', ζ: 'Zeta', η: 'Eta', θ: 'Theta', κ: 'Kappa', λ: 'Lambda', μ: 'My', ν: 'Ny', ξ: 'Xi',
  π: 'Pi', ρ: 'Rho', σ: 'Sigma', τ: 'Tau', φ: 'Phi', χ: 'Chi', ψ: 'Psi', ω: 'Omega', Γ: 'Gamma', Δ: 'Delta', Θ: 'Theta', Λ: 'Lambda', Π: 'Pi', Σ: 'Sigma', Φ: 'Phi', Ψ: 'Psi', Ω: 'Omega',
};

// prettier-ignore
export const WRITING: Writing = {
  numbers: {
    decimal: ',',
    grouping: ['.', ' ', '’', "'"],
    other: { decimal: '.', grouping: [',', '’', "'"] },
  },
  dates: {
    months: MONTHS,
    weekdays: WEEKDAYS,
    orders: { '.': 'dmy', '/': 'dmy', '-': 'dmy' },
    named: ['day-month'],
    dayMark: '\\.',
    between: ' ?',
  },
  times: {
    marks: [':', '.', 'h'],
    halves: {},
    words: { Uhr: 'Uhr', 'Uhr.': 'Uhr', h: 'Uhr' },
    zones: { MEZ: 'mitteleuropäischer Zeit', MESZ: 'mitteleuropäischer Sommerzeit', UTC: 'U T C', GMT: 'G M T', CET: 'C E T', CEST: 'C E S T' },
  },
  telephone: {
    patterns: [
      /0(?: \d{2}){1,2}(?: \d)? ?\/ ?\d{1,8}(?:[ -]\d{1,6}){0,4}(?![\d,])/y,
      /11[67] ?\d{3}(?![\d,]|\.\d)/y,
      /0\d{2,4}\.\d{5,8}(?![\d,]|\.\d)/y,
      /0 ?\d{2,4} ?\/ ?\d{1,8}(?:[ -]\d{1,6}){1,4}(?![\d,])/y,
      /\(0\d{2,5}\) ?\d{2,8}(?:[ -]\d{1,6}){0,4}(?![\d,])/y,
      /0\d{2,5}(?: ?[/–-] ?| )\d{2,8}(?:[ -]\d{1,6}){0,4}(?![\d,]|\.\d)/y,
    ],
    keywords: words('telefon tel telefonnummer rufnummer handy handynummer mobil fax hotline durchwahl anrufen notruf rufen unter wählen notfall'),
  },
  currencies: CURRENCIES,
  currencySigns: {
    '€': 'EUR', $: 'USD', US$: 'USD', 'US-Dollar': 'USD', '£': 'GBP', '¥': 'JPY', '₹': 'INR', '₩': 'KRW', '₽': 'RUB', R$: 'BRL', C$: 'CAD', A$: 'AUD',
    'Fr.': 'CHF', SFr: 'CHF', sFr: 'CHF', '₺': 'TRY', '₿': 'BTC', DM: 'DEM', Euro: 'EUR', Dollar: 'USD', Franken: 'CHF', Ct: 'CENT', 'ct': 'CENT', 'Ct.': 'CENT', 'ct.': 'CENT', Cent: 'CENT', '¢': 'CENT',
  },
  units: UNITS,
  per: {
    s: 'pro Sekunde', min: 'pro Minute', Min: 'pro Minute', 'Min.': 'pro Minute', 'min.': 'pro Minute', 'Mon.': 'pro Monat', 'J.': 'pro Jahr', a: 'pro Jahr', Sek: 'pro Sekunde', 'Wo.': 'pro Woche', ml: 'pro Milliliter', ha: 'pro Hektar', 'm³': 'pro Kubikmeter', 'm2': 'pro Quadratmeter', Quadratmeter: 'pro Quadratmeter', Kilo: 'pro Kilo', Kind: 'pro Kind', Gast: 'pro Gast', Fahrt: 'pro Fahrt', Quartal: 'pro Quartal', Semester: 'pro Semester', Packung: 'pro Packung', Flasche: 'pro Flasche', Dose: 'pro Dose', MB: 'pro Megabyte', SMS: 'pro S M S', Anruf: 'pro Anruf', Zimmer: 'pro Zimmer', Nutzer: 'pro Nutzer', User: 'pro User', Sekunde: 'pro Sekunde', Minute: 'pro Minute', h: 'pro Stunde', 'Std.': 'pro Stunde', Std: 'pro Stunde',
    Stunde: 'pro Stunde', Tag: 'pro Tag', d: 'pro Tag', Woche: 'pro Woche', Monat: 'pro Monat', Jahr: 'pro Jahr', Nacht: 'pro Nacht',
    kg: 'pro Kilogramm', g: 'pro Gramm', '100 g': 'pro einhundert Gramm', l: 'pro Liter', Liter: 'pro Liter', m: 'pro Meter', 'm²': 'pro Quadratmeter',
    qm: 'pro Quadratmeter', kWh: 'pro Kilowattstunde', km: 'pro Kilometer', Person: 'pro Person', 'Pers.': 'pro Person', Stück: 'pro Stück',
    'Stk.': 'pro Stück', GB: 'pro Gigabyte', t: 'pro Tonne', Tonne: 'pro Tonne', Mo: 'pro Monat', 'Mt.': 'pro Monat', Barrel: 'pro Barrel',
  },
  magnitudes: MAGNITUDES,
  ordinalMark: '\\.',
  abbreviations: {
    ...GREEK,
    ...ADJECTIVES,
    OG: behindOrdinal('Obergeschoss'), 'OG.': behindOrdinal('Obergeschoss'), UG: behindOrdinal('Untergeschoss'), 'ff.': 'fortfolgende', 'f.': behindDigit('folgende'), 'z. Hd.': 'zu Händen', 'bzgl.': 'bezüglich', 'mtl.': 'monatlich',
    'Best.-Nr.': 'Bestellnummer', 'Art.-Nr.': 'Artikelnummer', 'Tel.-Nr.': 'Telefonnummer', 'Kto.-Nr.': 'Kontonummer', 'Kd.-Nr.': 'Kundennummer', 'Rg.-Nr.': 'Rechnungsnummer', 'St.-Nr.': 'Steuernummer',
    'ggfs.': 'gegebenenfalls', 'u. dgl.': 'und dergleichen', 'u. a. m.': 'und andere mehr', 'zzt.': 'zurzeit', 'gegr.': 'gegründet', 'verst.': 'verstorben', 'Frl.': 'Fräulein', 'Inh.': 'Inhaber', 'Bj.': 'Baujahr',
    'z. B.': 'zum Beispiel', 'd. h.': 'das heißt', 'u. a.': 'unter anderem', 'u. ä.': 'und Ähnliches', 'o. ä.': 'oder Ähnliches', 'u. Ä.': 'und Ähnliches', 'o. Ä.': 'oder Ähnliches',
    'i. d. R.': 'in der Regel', 'z. T.': 'zum Teil', 'z. Zt.': 'zurzeit', 'z. Z.': 'zurzeit', 'm. E.': 'meines Erachtens', 'u. U.': 'unter Umständen', 's. o.': 'siehe oben',
    's. u.': 'siehe unten', 'u. v. m.': 'und vieles mehr', 'i. A.': 'im Auftrag', 'i. V.': 'in Vertretung', 'v. a.': 'vor allem', 'n. Chr.': 'nach Christus',
    'v. Chr.': 'vor Christus', 'e. V.': 'E V', 'a. D.': 'außer Dienst', 'd. J.': 'des Jahres', 'b. Bed.': 'bei Bedarf', 'i. H. v.': 'in Höhe von', 'm. a. W.': 'mit anderen Worten', 'u. s. w.': 'und so weiter',
    'usw.': 'und so weiter', 'etc.': 'et cetera', 'bzw.': 'beziehungsweise', 'ca.': 'circa', 'evtl.': 'eventuell', 'ggf.': 'gegebenenfalls', 'inkl.': 'inklusive', 'exkl.': 'exklusive',
    'zzgl.': 'zuzüglich', 'abzgl.': 'abzüglich', 'vgl.': 'vergleiche', 'bspw.': 'beispielsweise', 'max.': 'maximal', 'min.': 'minimal', 'mind.': 'mindestens',
    'insb.': 'insbesondere', 'insbes.': 'insbesondere', 'geb.': 'geboren', 'gest.': 'gestorben', 'verh.': 'verheiratet', 'usf.': 'und so fort', 'gem.': 'gemäß',
    'lt.': 'laut', 'entspr.': 'entsprechend', 'einschl.': 'einschließlich', 'bes.': 'besonders',
    'Dr.': 'Doktor', 'Prof.': 'Professor', 'Hr.': sir, 'Hrn.': beforeName('Herrn'), 'Fr.': beforeName('Frau'), 'Dipl.-Ing.': 'Diplomingenieur', 'Ing.': 'Ingenieur', 'Mag.': 'Magister',
    'St.': beforeName('Sankt'), 'Abt.': 'Abteilung', 'Abb.': 'Abbildung', 'Tel.': 'Telefon', 'Fa.': 'Firma', 'Str.': 'Straße', 'Pl.': 'Platz', 'Hbf.': 'Hauptbahnhof', Hbf: 'Hauptbahnhof', 'Bhf.': 'Bahnhof', Bhf: 'Bahnhof',
    'MwSt.': 'Mehrwertsteuer', MwSt: 'Mehrwertsteuer', 'Min.': 'Minuten', 'Std.': 'Stunden', 'Jh.': ofCentury, 'Jhd.': ofCentury, 'Jhdt.': ofCentury, Jh: ofCentury, 'Nr.': 'Nummer',
    'Mio.': 'Millionen', 'Mrd.': 'Milliarden', 'Tsd.': 'Tausend', 'Aufl.': 'Auflage', 'Hrsg.': 'Herausgeber', 'Verf.': 'Verfasser', 'Whg.': 'Wohnung', 'Zi.': 'Zimmer', 'Bd.': 'Band', 'Kap.': 'Kapitel',
    'Abs.': 'Absatz', 'Art.': 'Artikel', 'Ziff.': 'Ziffer', 'Anm.': 'Anmerkung', 'Bsp.': 'Beispiel', GmbH: 'G M B H', 'Co.': 'Co', 'Reg.': 'Regierung', 'Rel.': 'Religion', 'Gr.': (around) => (/^ (?:\d|X{0,3}[SML](?!\p{L}))/u.test(around.text.slice(around.end, around.end + 6)) ? 'Größe' : undefined), 'Vj.': 'Vorjahr', 'Vjs.': 'Vorjahres', 'USt-IdNr.': 'Umsatzsteueridentifikationsnummer', 'USt-ID': 'Umsatzsteuer-I D', 'Vers.': 'Versicherung', 'Pkt.': 'Punkt', 'Stk.': 'Stück', 'u.': 'und',
    'Az.': 'Aktenzeichen', 'zw.': 'zwischen', 'Ri.': beforeName('Richtung'), 'op.': beforeNumber('Opus'), 'H.': beforeNumber('Heft'), 'gez.': 'gezeichnet', 'c/o': 'bei', EZ: beforeNumber('Erstzulassung'), 'Ø': beforeNumber('Durchmesser'), 'Z. n.': 'Zustand nach', 'o. B.': 'ohne Befund', '08/15': 'null acht fünfzehn', 'm ü. NN': 'Meter über Normalnull', 'ü. NN': 'über Normalnull', 'ü. NHN': 'über Normalhöhennull', 'Geb.-Datum': 'Geburtsdatum', 'Geb.-Dat.': 'Geburtsdatum', 'eff.': 'effektiv', 'Dipl.-Kffr.': 'Diplomkauffrau', 'Dipl.-Päd.': 'Diplompädagoge', 'Dipl.-Biol.': 'Diplombiologe', 'Temp.': 'Temperatur', 'ID.3': 'I D drei', 'ID.4': 'I D vier', 'ID.5': 'I D fünf', 'ID.7': 'I D sieben', GJ: (around) => (/^ (?:19|20)\d\d/.test(around.text.slice(around.end, around.end + 3 + 2)) ? 'Geschäftsjahr' : undefined), 'Dr. med. dent.': 'Doktor med dent', 'Dr. med. vet.': 'Doktor med vet', 'Dr. med.': 'Doktor med', 'Dr. rer. nat.': 'Doktor rer nat', 'Dr. rer. pol.': 'Doktor rer pol', 'Dr. rer. oec.': 'Doktor rer oec',
    'Dr. phil.': 'Doktor phil', 'Dr. jur.': 'Doktor jur', 'Dr. iur.': 'Doktor jur', 'Dr. theol.': 'Doktor theol', 'Dr. techn.': 'Doktor techn', 'Dr.-Ing.': 'Doktor-Ingenieur', 'Dr. h. c.': 'Doktor honoris causa', 'Dr. h. c. mult.': 'Doktor honoris causa multiplex',
    'Drs.': (around) => (/^ \d/.test(around.text.slice(around.end, around.end + 2)) ? 'Drucksache' : 'Doktoren'), 'Dres.': 'Doktoren', 'em.': beforeName('emeritus'), 'habil.': 'habil', 'M. Sc.': 'Master of Science', 'B. Sc.': 'Bachelor of Science', 'M. A.': 'Master of Arts', 'B. A.': 'Bachelor of Arts', 'LL. M.': 'L L M',
    'Dipl.-Kfm.': 'Diplomkaufmann', 'Dipl.-Psych.': 'Diplompsychologe', 'Dipl.-Inf.': 'Diplominformatiker', 'Pfr.': beforeName('Pfarrer'), 'Bgm.': 'Bürgermeister', 'RA': beforeName('Rechtsanwalt'), 'Univ.-Prof.': 'Universitätsprofessor', 'Priv.-Doz.': 'Privatdozent',
    'ggü.': 'gegenüber', 'tgl.': 'täglich', 'geschl.': 'geschlossen', 'durchg.': 'durchgehend', 'Kü.': 'Küche', 'EFH': 'Einfamilienhaus', 'NK': 'Nebenkosten', 'Blk.': 'Balkon', 'Mitgl.': 'Mitglied', 'Geschw.': 'Geschwindigkeit',
    'ausschl.': 'ausschließlich', 'abzügl.': 'abzüglich', 'zuzügl.': 'zuzüglich', 'voraussichtl.': 'voraussichtlich', 'telef.': 'telefonisch', 'vorm.': 'vormittags', 'nachm.': 'nachmittags',
    'vsl.': 'voraussichtlich', 'jew.': 'jeweils', 'o. Ä': 'oder Ähnliches', 'i. V. m.': 'in Verbindung mit', 'i. S. d.': 'im Sinne des', 'i. S. v.': 'im Sinne von', 'n. F.': 'neuer Fassung', 'a. F.': 'alter Fassung', 'a. a. O.': 'am angegebenen Ort', 'u. E.': 'unseres Erachtens',
    'o. J.': 'ohne Jahr', 'e. K.': 'E K', 'e. G.': 'E G', 'u. W.': 'unter Wasser', 'ü. M.': 'über dem Meer', 'ü. d. M.': 'über dem Meer', 'm. ü. M.': 'Meter über Meer', 'i. R.': 'im Ruhestand', 'i. Tr.': 'in der Trockenmasse', 'u. v. a.': 'und viele andere', 'u. v. a. m.': 'und vieles andere mehr', 's. a.': 'siehe auch',
    'i. A. v.': 'im Auftrag von', 'a. M.': 'am Main', 'a. d.': 'an der', 'o. k.': 'okay', 'b. w.': 'bitte wenden', 'g. U.': 'geschützter Ursprung', 'k. A.': 'keine Angabe', 'Urt. v.': 'Urteil vom', 'Urt.': 'Urteil', 'Beschl.': 'Beschluss', 'Hs.': behindDigit('Halbsatz'),
    'Rdnr.': 'Randnummer', 'Fn.': 'Fußnote', 'Ex.': behindDigit('Exemplare'), 'Rz.': 'Randziffer', 'lit.': 'Buchstabe', 'Buchst.': 'Buchstabe', 'Alt.': behindDigit('Alternative'), 'Var.': behindDigit('Variante'), 'Jg.': 'Jahrgang', 'Ausg.': 'Ausgabe', 'Forts.': 'Fortsetzung', 'Mrd': 'Milliarden', 'Mio': 'Millionen', 'Std': 'Stunden', 'Min': 'Minuten',
    'Hptm.': 'Hauptmann', 'Kfm.': 'Kaufmann', 'ev.': (around) => (/^\p{Ll}/u.test(around.nextWord) ? 'eventuell' : undefined),
    'gesch.': 'geschieden', 'verw.': 'verwitwet', 'verk.': 'verkaufe', 'inkl': 'inklusive', 'zzgl': 'zuzüglich', 'ca': behindNothing('circa'), 'usw': 'und so weiter', 'bzw': 'beziehungsweise',
    Pkw: 'P K W', Pkws: 'P K Ws', Lkw: 'L K W', Lkws: 'L K Ws', Kfz: 'K F Z', AfD: 'A F D', VfB: 'V F B', VfL: 'V F L', StVO: 'S T V O', StGB: 'S T G B', StPO: 'S T P O', GbR: 'G B R', KGaA: 'K G A A', UdSSR: 'U D S S R', WhatsApp: 'WhatsApp', eG: 'E G', KfW: 'K F W', VwGO: 'V W G O', EStG: 'E S T G', UStG: 'U S T G', UStID: 'U S T I D', 'USt.': 'Umsatzsteuer', USt: 'Umsatzsteuer', BetrVG: 'B E T R V G', BVerfG: 'Bundesverfassungsgericht', BVerwG: 'Bundesverwaltungsgericht', EuGH: 'E U G H', DSGVO: 'D S G V O', AWO: 'AWO', InsO: 'Insolvenzordnung', TSchG: 'T S C H G',
    'i. O.': 'in Ordnung', 'p. a.': 'pro Jahr', 'p. P.': 'pro Person', 'n. V.': ofGame('nach Verlängerung', 'nach Vereinbarung'), 'o.': 'oder', '24/7': 'rund um die Uhr',
  },
  beforeNumber: {
    'Nr.': 'Nummer', 'Nrn.': 'Nummern', '#': 'Nummer', 'S.': 'Seite', 'Abs.': 'Absatz', 'Art.': 'Artikel', 'Kap.': 'Kapitel', 'Bd.': 'Band', 'Abb.': 'Abbildung',
    'Tab.': 'Tabelle', 'Ziff.': 'Ziffer', 'Tel.': 'Telefon', Tel: 'Telefon', 'Fig.': 'Figur', '§': 'Paragraf', '§§': 'Paragrafen', 'Pos.': 'Position', 'ca.': 'circa', 'Kl.': 'Klasse', 'Gl.': 'Gleis',
    'Rn.': 'Randnummer', 'Zi.': 'Zimmer', 'Bl.': 'Blatt', 'Sp.': 'Spalte', 'Aufl.': 'Auflage', 'Hausnr.': 'Hausnummer', 'Kto.': 'Konto', 'V.': 'Version', 'vgl.': 'vergleiche', 'Nr': 'Nummer', KW: 'Kalenderwoche',
  },
  spelled: words(`
    EU USA UN ADAC AG KG BMW VW AOK ARD ZDF CDU CSU SPD FDP AFD AfD BKA BND BGB BRD DB DDR DGB DHL DKB DNA DRK DSL DVD EDV EKG EZB FAQ FBI GPS HIV IBAN_
    ICE IHK IC IP IT KI LKW PKW LED LTE MRT CT NDR NRW OP PC PDF PIN_ PS QR RB SMS SUV TAN_ TV UKW URL USB UKE VIP WDR WLAN_ WM EM XXL ABC API AI EDEKA_ UEFA_ HR CEO CFO ID OK
    EC AB OHG SAP SE TU FH VHS DM US UK UNO_ HU AU AGB EG OG UG KFZ
    ORF UPS ÖBB ÖVP SPÖ FPÖ SVP EVP AMS AK ÖAMTC BVG MVV HVV VRR SBB ZKB AHV UBS EKD DFB IOC IWF WTO WHO BIP OECD OSZE AKW EEG GEZ THW RKI PEI BSI BGH OLG LG DAK TK IKK CPU GPU VPN IBM ISBN EAN ESA ISS IAA UI UX FAZ
    AKH LKA SEK BMI BMF EKZ UHD USD EUR CAD AUD IHS AHS HTL EAV UVP RE ICN EN UCI DOSB USK KI IG ÖGB DAU FOS BOS MFA ADHS OCR ASB DLRG UKW MHD PLZ WKN UST EÜR XL XXL AE AO TDI TSI HDI BRAO GEG BEG ÖPNV MIV USV AZ
  `),
  read: words('DIN NATO UNO UNESCO UNICEF FIFA UEFA TÜV PIN TAN SIM RAM ROM IKEA ALDI LIDL REWE EDEKA IBAN BIC BAföG BAFÖG WLAN DAX MDAX AIDS GAU SARS SCHUFA ELSTER ZOB GEMA BAMF OPEC NASA LAN ISIN NABU OLED EBIT DEVK AIDA UNICEF DATEV DEKRA'),
  romanAfter: {
    ...Object.fromEntries('kapitel teil band artikel akt szene weltkrieg stufe typ klasse abschnitt buch anlage anhang ziffer tabelle abbildung version phase titel hartz pfeiler'.split(' ').map((word) => [word, 'cardinal'] as const)),
    ...Object.fromEntries(Array.from(ROYAL, (name) => [name, 'ordinal'] as const)),
  },
  romanBefore: words('jahrhundert jahrhunderts weltkrieg zivilsenat senat armee internationale'),
  digitsAfter: words('konto http fehler fehlercode statuscode pin code kennwort passwort flug flugnummer plz postleitzahl kundennummer bestellnummer auftragsnummer vertragsnummer rechnungsnummer iban sendungsnummer tan kontonummer kreditkarte ticketnummer vorgangsnummer bankleitzahl blz durchwahl endziffern aktenzeichen seriennummer ausweisnummer personalnummer versicherungsnummer geheimzahl bestätigungscode zugangscode sicherheitscode wkn prüfziffer kundennr auftragsnr mitgliedsnummer steuernummer mandatsreferenz referenznummer rezeptnummer kassennummer gutscheincode passnummer tracking zählernummer kennnummer notrufnummer artikelnummer'),
  linking: words('ist lautet nummer nr war mit der die das von für'),
  decadeMark: 'er',
  yearAfter: words('jahr jahre jahres jahren seit bis ab anfang mitte ende frühjahr sommer herbst winter um von nach vor im in zwischen und januar februar märz april mai juni juli august september oktober november dezember'),
  scoreWords: words('gewann gewinnt gewonnen siegt siegte sieg verlor verliert verloren niederlage spiel endstand halbzeit führt führte endete endet unentschieden tor tore remis auswärtssieg heimsieg steht stand gegen tabellenführer bezwang schlug besiegte punktspiel'),
};
