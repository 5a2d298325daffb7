// Amounts of money, percentages and units: three dollars and fifty cents, fünf Prozent, cinco kilómetros.
import type { Language } from '../normalize/language.js';
import { figures, twoFigures } from './figures.js';
import type { Listening } from './listening.js';
import type { Quantity, SpokenReading, Written } from './spoken-reading.js';
import { WordTrie } from './word-trie.js';

/** Units that are written with their sign in running text. The words of all others stay: 30 minutes. */
// prettier-ignore
const SIGNS = [
  '%', '‰', 'km', 'm', 'cm', 'mm', 'dm', 'µm', 'nm', 'km²', 'm²', 'cm²', 'm³', 'cm³', 'ha', 'km/h', 'm/s', 'mph', 'kg', 'g', 'mg', 'µg',
  'l', 'ml', 'cl', 'dl', '°C', '°F', 'Hz', 'kHz', 'MHz', 'GHz', 'kB', 'KB', 'MB', 'GB', 'TB', 'ko', 'Mo', 'Go', 'To', 'kbit/s', 'Mbit/s',
  'Gbit/s', 'MB/s', 'GB/s', 'W', 'kW', 'MW', 'GW', 'Wh', 'kWh', 'MWh', 'GWh', 'V', 'kV', 'mV', 'A', 'mA', 'mAh', 'Pa', 'kPa', 'hPa', 'bar',
  'dB', 'J', 'kJ', 'kcal', 'N', 'Nm', 'px', 'MP', 'rpm', 'fps',
];

/** Currencies that an article counts. The words of others are words of prose, too: un sol, un real. */
const COUNTED = new Set(['EUR', 'USD', 'GBP']);

/** The codes of others are our own: the pesos of no country. */
const ISO = /^[A-Z]{3}$/;

interface Sign {
  readonly unit?: string;
  /** ISO code. */
  readonly currency?: string;
}

/** The nouns of amounts in one language. */
export class AmountNouns {
  readonly #nouns = new WordTrie<Sign>();
  readonly #minor = new WordTrie<true>();
  readonly #signOf = new Map<string, string>();

  constructor({ writing }: Language, others: Listening['units']) {
    const { currencies, currencySigns, units } = writing;
    for (const [sign, code] of Object.entries(currencySigns)) {
      if (/\p{Sc}/u.test(sign) && !this.#signOf.has(code)) this.#signOf.set(code, sign);
    }
    const signs = new Map<string, Sign>();
    const add = (form: string, sign: Sign) => signs.set(form, { ...signs.get(form), ...sign });
    for (const sign of Object.keys(units)) {
      const forms = units[sign]?.forms ?? [];
      const unit = SIGNS.includes(sign) ? sign : '';
      for (const form of forms) if (!signs.get(form)?.unit) add(form, { unit });
    }
    for (const [code, { forms, minor }] of Object.entries(currencies)) {
      for (const form of minor?.forms ?? []) this.#minor.add(form, true);
      if (!code.startsWith('CENT')) for (const form of forms) add(form, { currency: code });
    }
    for (const [form, unit] of Object.entries(others)) add(form, { unit });
    for (const [form, sign] of signs) this.#nouns.add(form, sign);
  }

  nounAt(reading: SpokenReading, at: number): { readonly value: Sign; readonly end: number } | undefined {
    return reading.isJoined(at) ? this.#nouns.at(reading.tokens, at) : undefined;
  }

  minorAt(reading: SpokenReading, at: number): number | undefined {
    return reading.isJoined(at) ? this.#minor.at(reading.tokens, at)?.end : undefined;
  }

  signOf(currency: string): string {
    return this.#signOf.get(currency) ?? currency;
  }
}

interface Amount extends Written {
  readonly sign: Sign;
}

export function amount(reading: SpokenReading, at: number, nouns: AmountNouns): Written | undefined {
  return single(reading, at, nouns) ?? range(reading, at, nouns);
}

function single(reading: SpokenReading, at: number, nouns: AmountNouns): Amount | undefined {
  const quantity = reading.quantity(at);
  if (quantity === undefined || (quantity.isArticle && !reading.listening.money.countsArticle))
    return undefined;
  const noun = nouns.nounAt(reading, quantity.end);
  if (noun === undefined) return undefined;
  const { value: sign, end } = noun;
  const unit = sign.unit === '' ? undefined : sign.unit;
  if (sign.currency === undefined) {
    if (unit === undefined) return undefined;
    const height = unit === 'm' && quantity.decimals === '' ? hundredths(reading, end) : undefined;
    const length = height === undefined ? quantity : { ...quantity, decimals: twoFigures(height.value) };
    const text = withUnit(reading, length, unit);
    return { end: height?.end ?? end, text, rule: unit === '%' ? 'percent' : 'measure', sign };
  }
  if (quantity.isArticle && !COUNTED.has(sign.currency)) return undefined;
  const minor = quantity.decimals === '' && quantity.magnitude === undefined;
  const cents = minor ? minorOf(reading, end, nouns) : undefined;
  // A pound is a weight, too.
  if (sign.unit !== undefined && cents === undefined && !isBritish(reading, sign.currency)) return undefined;
  const sum = cents === undefined ? quantity : { ...quantity, decimals: twoFigures(cents.value) };
  const words = reading.tokens.slice(quantity.end, end).map((token) => token.text);
  const code = ISO.test(sign.currency) ? nouns.signOf(sign.currency) : words.join(' ');
  const text = withCurrency(reading, sum, code);
  return { end: cents?.end ?? end, text, rule: 'currency', sign };
}

function isBritish({ tag }: SpokenReading, currency: string): boolean {
  return currency === 'GBP' && /-(?:gb|ie)\b/.test(tag);
}

/** Ein Meter achtzig */
function hundredths(reading: SpokenReading, at: number): { value: number; end: number } | undefined {
  const number = reading.nextNumber(at);
  const isPart =
    number !== undefined && number.value > 9 && number.value < 100 && reading.isClosed(number.end);
  return isPart ? number : undefined;
}

/** The hundredths behind the noun: and fifty cents, fünfzig, con cincuenta. */
function minorOf(
  reading: SpokenReading,
  at: number,
  nouns: AmountNouns,
): { readonly value: number; readonly end: number } | undefined {
  const { withMinor, zeros } = reading.listening;
  const isLinked = reading.isNext(at, withMinor);
  let from = isLinked ? at + 1 : at;
  const isZero = reading.isNext(from, zeros) && reading.nextNumber(from + 1) !== undefined;
  if (isZero) from++;
  const number = reading.nextNumber(from);
  if (number === undefined || number.value > 99 || (isZero && number.value > 9)) return undefined;
  const { value, end } = number;
  const named = nouns.minorAt(reading, end);
  if (named !== undefined) return { value, end: named };
  const isWhole = value > 9 || !isLinked;
  return isWhole && reading.isClosed(end) ? { value, end } : undefined;
}

function withCurrency({ language, listening }: SpokenReading, quantity: Quantity, sign: string): string {
  const number = figures({ ...quantity, negative: false }, language.writing.numbers, true);
  const minus = quantity.negative ? '-' : '';
  if (!listening.money.isSignFirst) return `${minus}${number} ${sign}`;
  return `${minus}${sign}${/\p{L}$/u.test(sign) ? ' ' : ''}${number}`;
}

function withUnit({ language, listening }: SpokenReading, quantity: Quantity, unit: string): string {
  const { percent, degree } = listening.space;
  const space = unit === '%' ? percent : unit.startsWith('°') ? degree : ' ';
  return `${figures(quantity, language.writing.numbers)}${space}${unit}`;
}

/** Five to ten percent: the noun of the second is the noun of the first. */
function range(reading: SpokenReading, at: number, nouns: AmountNouns): Written | undefined {
  const from = reading.quantity(at);
  if (from === undefined || from.magnitude !== undefined) return undefined;
  if (!reading.isRange(at, from.end)) return undefined;
  const to = single(reading, from.end + 1, nouns);
  if (to === undefined) return undefined;
  const { currency } = to.sign;
  const isRepeated = currency !== undefined && reading.listening.money.isSignFirst;
  const first = isRepeated
    ? withCurrency(reading, from, nouns.signOf(currency))
    : figures(from, reading.language.writing.numbers);
  const word = reading.tokens[from.end]?.text ?? '';
  return { end: to.end, text: `${first} ${word} ${to.text}`, rule: to.rule };
}
