// Names from the Unicode CLDR, as `Intl` gives them: currencies and units that no table names, and how a
// language writes numbers and dates.
import type { NounMaker } from '../tables/entries.js';
import type { Language } from './language.js';
import type { Currency, Noun } from './quantity.js';
import type { NumberFormat } from './numerals.js';

/**
 * Currencies whose codes are no words: "TOP 10", "COP28" and "ALL" count nothing. A table may add others.
 */
const CODES =
  `USD EUR GBP JPY CHF CNY INR KRW RUB BRL CAD AUD NZD MXN SEK NOK DKK ISK PLN CZK HUF RON BGN TRY ILS ZAR SGD HKD TWD THB VND PHP IDR MYR UAH
  AED SAR QAR KWD EGP NGN KES ARS CLP PEN PKR LKR BDT KZT GEL AMD AZN GHS MNT CRC PYG KHR RSD UYU JOD BHD OMR`.split(
    /\s+/,
  );

/** Signs that stand for one currency everywhere. */
// prettier-ignore
const SIGNS: Readonly<Record<string, string>> = {
  '€': 'EUR', '£': 'GBP', '₩': 'KRW', '₹': 'INR', '₽': 'RUB', '₺': 'TRY', '₪': 'ILS', '฿': 'THB', '₫': 'VND', '₱': 'PHP', '₴': 'UAH', '₦': 'NGN',
  '৳': 'BDT', '₸': 'KZT', '₾': 'GEL', '֏': 'AMD', '₼': 'AZN', '₵': 'GHS', '₮': 'MNT', '₡': 'CRC', '₲': 'PYG', '៛': 'KHR', $: 'USD', US$: 'USD', '¥': 'JPY',
};

interface Money {
  readonly currencies: Readonly<Record<string, Currency>>;
  readonly currencySigns: Readonly<Record<string, string>>;
}

/**
 * The currencies of a language by code. `counts` are numbers that show each form of a noun, in the order that
 * the language expects. `make` builds the noun.
 */
export function cldrCurrencies(tag: string, counts: readonly number[], make: NounMaker): Money {
  const currencies = CODES.map((code): [string, Currency] => [
    code,
    lazyNoun(() => make({ forms: counts.map((count) => currencyName(tag, code, count)) })),
  ]);
  const local = LOCAL[tag];
  const sign = local === undefined ? '' : currencyText(tag, local, 1, 'narrowSymbol');
  const own =
    local === undefined || sign === local ? {} : { [sign]: local, [sign.replace(/\.$/, '')]: local };
  return { currencies: Object.fromEntries(currencies), currencySigns: { ...SIGNS, ...own } };
}

/** Asking `Intl` for all names takes tens of milliseconds, and most of them are never said. */
function lazyNoun(make: () => Noun): Noun {
  let noun: Noun | undefined;
  const made = (): Noun => (noun ??= make());
  const lazy = {
    get forms() {
      return made().forms;
    },
    get gender() {
      return made().gender;
    },
  };
  return lazy as Noun;
}

/** Currencies whose signs are short words that other countries write, too: kr, Rp. */
const LOCAL: Readonly<Record<string, string>> = {
  cs: 'CZK',
  da: 'DKK',
  hu: 'HUF',
  id: 'IDR',
  ms: 'MYR',
  nb: 'NOK',
  no: 'NOK',
  pl: 'PLN',
  ro: 'RON',
  sv: 'SEK',
};

/** The code is spelled where the language has no name for it. */
function currencyName(tag: string, currency: string, count: number): string {
  const name = currencyText(tag, currency, count, 'name');
  return name === currency ? Array.from(currency).join(' ') : name;
}

function currencyText(
  tag: string,
  currency: string,
  count: number,
  currencyDisplay: 'name' | 'narrowSymbol',
): string {
  const digits = Number.isInteger(count) ? 0 : 1;
  const format = new Intl.NumberFormat(tag, {
    style: 'currency',
    currency,
    currencyDisplay,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  const part = format.formatToParts(count).findLast(({ type }) => type === 'currency');
  return part?.value.trim() ?? currency;
}

const UNITS: Readonly<Record<string, string>> = {
  km: 'kilometer',
  m: 'meter',
  cm: 'centimeter',
  mm: 'millimeter',
  kg: 'kilogram',
  g: 'gram',
  l: 'liter',
  L: 'liter',
  ml: 'milliliter',
  mL: 'milliliter',
  ha: 'hectare',
  h: 'hour',
  min: 'minute',
  ms: 'millisecond',
  kB: 'kilobyte',
  MB: 'megabyte',
  GB: 'gigabyte',
  TB: 'terabyte',
  'km/h': 'kilometer-per-hour',
  '°C': 'celsius',
  '°F': 'fahrenheit',
  '°': 'degree',
  '%': 'percent',
};

/** The metric units by their signs and by the short forms of the language. */
export function cldrUnits(tag: string, counts: readonly number[], make: NounMaker): Record<string, Noun> {
  return Object.fromEntries(
    Object.entries(UNITS).flatMap(([sign, unit]): [string, Noun][] => {
      const noun = lazyNoun(() => make({ forms: counts.map((count) => unitName(tag, unit, count, 'long')) }));
      const short = unitName(tag, unit, 5, 'short');
      return [[sign, noun], ...(short.length > 1 ? [[short, noun] as [string, Noun]] : [])];
    }),
  );
}

/** The name of a unit behind, and in some languages before, a number. */
export function unitName(tag: string, unit: string, count: number, unitDisplay: 'long' | 'short'): string {
  const format = new Intl.NumberFormat(tag, { style: 'unit', unit, unitDisplay });
  const parts = format.formatToParts(count);
  return unit === 'percent' ? percentName(tag, parts) : partOf(parts, 'unit');
}

/** "Long" percent is the sign in the data of many languages. */
function percentName(tag: string, parts: readonly Intl.NumberFormatPart[]): string {
  const name = partOf(parts, 'percentSign') || partOf(parts, 'unit');
  return /\p{L}/u.test(name) ? name : (PERCENT[tag] ?? name);
}

// prettier-ignore
const PERCENT: Readonly<Record<string, string>> = {
  nl: 'procent', pl: 'procent', tr: 'yüzde', sv: 'procent', cs: 'procent', uk: 'відсотків', ar: 'بالمئة', hi: 'प्रतिशत', id: 'persen', vi: 'phần trăm',
  da: 'procent', nb: 'prosent', fi: 'prosenttia', el: 'τοις εκατό', he: 'אחוזים', hu: 'százalék', ro: 'la sută', hr: 'posto', sr: 'посто', fa: 'درصد',
  bn: 'শতাংশ', th: 'เปอร์เซ็นต์', ms: 'peratus', ur: 'فیصد', lt: 'procentų', lv: 'procenti', ta: 'சதவீதம்', te: 'శాతం', sw: 'asilimia', fil: 'porsiyento',
};

function partOf(parts: readonly Intl.NumberFormatPart[], type: Intl.NumberFormatPartTypes): string {
  return parts
    .filter((part) => part.type === type)
    .map(({ value }) => value)
    .join(' ')
    .trim();
}

/** One whole number for each plural form of a language, in the order of `pluralForms`. */
export function pluralCounts(tag: string): readonly number[] {
  const rules = new Intl.PluralRules(tag);
  const counts = new Map<string, number>();
  for (let count = 0; count <= 200; count++) {
    const form = rules.select(count);
    if (!counts.has(form)) counts.set(form, count);
  }
  return pluralForms(tag).map((form) => counts.get(form) ?? 1.5);
}

const PLURALS = ['zero', 'one', 'two', 'few', 'many', 'other'] as const;

/** The plural forms of a language: one, few, many, other and so on, in the order of a table's forms. */
export function pluralForms(tag: string): readonly Intl.LDMLPluralRule[] {
  const { pluralCategories } = new Intl.PluralRules(tag).resolvedOptions();
  return PLURALS.filter((form) => pluralCategories.includes(form));
}

/** The marks of numbers. The numerals are those of the Latin script. */
export function cldrNumbers(tag: string): NumberFormat {
  const parts = new Intl.NumberFormat(tag, { numberingSystem: 'latn' }).formatToParts(1234567.8);
  const decimal = partOf(parts, 'decimal') === ',' ? ',' : '.';
  const group = parts.find(({ type }) => type === 'group')?.value ?? '';
  const mark = /\s/.test(group) ? ' ' : group;
  const usual = decimal === ',' ? '.' : ',';
  const grouping = [...new Set([mark, usual, ' '])].filter((one) => one !== '' && one !== decimal);
  // $3.50 and 1,234.56, as others write them
  const other = decimal === ',' ? { other: { decimal: '.', grouping: [','] } as const } : {};
  const isIndian = parts.find(({ type }) => type === 'integer')?.value === '12';
  return isIndian ? { decimal, grouping, lakhs: true } : { decimal, grouping, ...other };
}

type DatePart = 'day' | 'month' | 'year';

/** Order of the parts of a date in figures. */
export function dateOrder(tag: string): 'dmy' | 'mdy' | 'ymd' {
  const format = new Intl.DateTimeFormat(tag, {
    ...GREGORIAN,
    day: 'numeric',
    month: 'numeric',
    year: 'numeric',
  });
  const order = format
    .formatToParts(DATE)
    .filter(({ type }) => type === 'day' || type === 'month' || type === 'year')
    .map(({ type }) => type.slice(0, 1))
    .join('');
  return order === 'mdy' || order === 'ymd' ? order : 'dmy';
}

const GREGORIAN = { calendar: 'gregory', numberingSystem: 'latn', timeZone: 'UTC' } as const;
const DATE = Date.UTC(2024, 0, 15);

/** Marks between hours and minutes. A full stop is none where it is the decimal mark. */
export function timeMarks(tag: string): readonly (':' | '.')[] {
  const format = new Intl.DateTimeFormat(tag, { ...GREGORIAN, hour: 'numeric', minute: '2-digit' });
  const hasStop = format.formatToParts(DATE).some(({ type, value }) => type === 'literal' && value === '.');
  return hasStop && cldrNumbers(tag).decimal === ',' ? [':', '.'] : [':'];
}

/** Names of the months: beside a day, alone, and short. The first of each list is the one that is said. */
export function monthNames(tag: string): readonly (readonly string[])[] {
  return Array.from({ length: 12 }, (_, month) => {
    const date = Date.UTC(2024, month, 15);
    const name = (options: Intl.DateTimeFormatOptions): string => {
      const parts = new Intl.DateTimeFormat(tag, { ...GREGORIAN, ...options }).formatToParts(date);
      return parts.find(({ type }) => type === 'month')?.value ?? '';
    };
    const named = [
      name({ day: 'numeric', month: 'long' }),
      name({ month: 'long' }),
      name({ day: 'numeric', month: 'short' }),
    ];
    return [...new Set(named)].filter((one) => one !== '');
  });
}

/** Names of the days of the week, from Monday. */
export function weekdayNames(tag: string): readonly (readonly string[])[] {
  return Array.from({ length: 7 }, (_, day) => {
    const format = new Intl.DateTimeFormat(tag, { ...GREGORIAN, weekday: 'long' });
    return [format.format(Date.UTC(2024, 0, 1 + day))]; // the first of January 2024 is a Monday
  });
}

/** The parts of a date in the order in which they are said, with words between them: de, of. */
export function dateWords(tag: string, words: Readonly<Partial<Record<DatePart, string>>>): string {
  const format = new Intl.DateTimeFormat(tag, {
    ...GREGORIAN,
    ...(words.day === undefined ? {} : { day: 'numeric' }),
    ...(words.month === undefined ? {} : { month: 'long' }),
    ...(words.year === undefined ? {} : { year: 'numeric' }),
  });
  const parts = format.formatToParts(DATE);
  const last = parts.findLastIndex(({ type }) => type !== 'literal');
  return parts
    .slice(0, last + 1)
    .map(({ type, value }) => {
      if (type === 'day' || type === 'month' || type === 'year') return words[type] ?? '';
      return /\p{L}{2,}/u.test(value) ? value.trim() : '';
    })
    .filter((word) => word !== '')
    .join(' ');
}

/** Number of forms that a noun has in the tables of a language, as numbers that show them. */
const TABLE_COUNTS: Readonly<Record<string, readonly number[]>> = {
  ru: [1, 2, 5],
  zh: [5],
  ja: [5],
  ko: [5],
};

/** The language with the currencies that its own tables lack. */
export function withCldrCurrencies(language: Language): Language {
  const { tag, writing, noun } = language;
  const make: NounMaker = ({ forms }) => {
    const named = tag === 'pt' ? forms.map((form) => form.charAt(0).toLowerCase() + form.slice(1)) : forms;
    const gender = genderOf(tag, named[0] ?? '');
    const row = gender === undefined ? { forms: named } : { forms: named, gender };
    return noun === undefined ? row : noun(row);
  };
  const { currencies, currencySigns } = cldrCurrencies(tag, TABLE_COUNTS[tag] ?? [1, 2], make);
  return {
    ...language,
    writing: {
      ...writing,
      currencies: { ...currencies, ...writing.currencies },
      currencySigns: { ...currencySigns, ...writing.currencySigns },
    },
  };
}

/** `Intl` knows no gender: the ending or the noun itself shows that of a currency. */
function genderOf(tag: string, name: string): 'm' | 'f' | 'n' | undefined {
  const [first = ''] = name.split(' ', 1);
  switch (tag) {
    case 'de':
      return /(?:Krone|Rupie|Rupiah|Lira|Hrywnja)$/.test(name) ? 'f' : name.endsWith('Pfund') ? 'n' : 'm';
    case 'fr':
      return /^(?:couronne|livre|roupie|rupiah|lire|hryvnia)$/.test(first) ? 'f' : 'm';
    case 'es':
    case 'it':
    case 'pt':
      return first.endsWith('a') ? 'f' : 'm';
    case 'ru':
      return /[ая]$/.test(name) ? 'f' : 'm';
    default:
      return undefined;
  }
}
