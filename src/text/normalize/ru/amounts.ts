// Spoken amounts in Russian: numbers with their nouns, ranges, money, fractions.
import type { Currency, Fraction, Noun, Quantity } from '../quantity.js';
import { numeralOf, withoutZeros, type Numeral } from '../numerals.js';
import { NOWHERE, type Around } from '../reading.js';
import { behindNumber, genitiveOf, inPlural, pluralOf, type Case } from './declension.js';
import { caseBefore, COUNTED_TOGETHER, countedBy, isRuled, NO_NOUN, wordAhead } from './grammar.js';
import { cardinal, collective, decimal, fractionWords, isCase, type Agreement } from './numbers.js';

const AWAY = /^ (?:от|к|над|под|ниже|выше|до|севернее|южнее|западнее|восточнее)(?!\p{L})/u;

/** Nominative and accusative of inanimate nouns: where only 1 and тысяча differ. */
export function isDirect(grammatical: Case): boolean {
  return grammatical === 'nominative' || grammatical === 'accusative';
}

/** В 5 км от города: where it is, and not how far it goes. */
function caseOfMeasure(around: Around): Case {
  const before = wordAhead(around);
  const place =
    (before === 'в' || before === 'во') &&
    (AWAY.test(around.text.slice(around.end, around.end + 12)) || isDissolved(around));
  if (place) return 'prepositional';
  if (before !== 'по') return caseBefore(around);
  return /(?:^|\D)1 ?\P{Nd}/u.test(around.text.slice(around.start, around.start + 4))
    ? 'dative'
    : 'accusative';
}

const DISSOLVED = /(?:раствор|развед|развест|развод|разб[ао]в|замоч|размеш)\p{L}*(?: \p{L}+){0,3} в $/iu;

/** Растворить в 100 мл воды: where it is, too. */
function isDissolved({ text, start }: Around): boolean {
  return DISSOLVED.test(text.slice(Math.max(0, start - 48), start));
}

function isHalfMore({ whole, decimals }: Numeral): boolean {
  return whole === '1' && /^50*$/.test(decimals);
}

/** Полтора литра, полторы тонны, до полутора литров. */
function oneAndHalf(gender: Agreement, grammatical: Case): string {
  if (!isDirect(grammatical)) return 'полутора';
  return gender === 'f' ? 'полторы' : 'полтора';
}

function numberBefore(numeral: Numeral, gender: Agreement, grammatical: Case): string {
  if (!isHalfMore(numeral)) return decimal(numeral, grammatical, gender);
  return (numeral.negative ? 'минус ' : '') + oneAndHalf(gender, grammatical);
}

/** The form of a noun behind any number: behind decimals it is the genitive. */
function nounBehind(noun: Noun, numeral: Numeral, grammatical: Case): string {
  if (numeral.decimals === '') return behindNumber(noun, numeral.whole, grammatical);
  if (!isHalfMore(numeral)) return genitiveOf(noun);
  return isDirect(grammatical) ? behindNumber(noun, '2', grammatical) : inPlural(noun, grammatical);
}

/** Пять-десять; longer numbers with a dash between spaces. */
export function join(from: string, to: string): string {
  return /[ –]/.test(from + to) ? `${from} – ${to}` : `${from}-${to}`;
}

/** A number with the noun that it counts, in a case. */
export function withNoun(
  quantity: Quantity,
  noun: Noun,
  grammatical: Case,
  around: Around = NOWHERE,
): string {
  const { magnitude } = quantity;
  if (magnitude !== undefined) {
    return `${multiplied(quantity, magnitude, grammatical, around)} ${inPlural(noun, 'genitive')}`;
  }
  const { gender } = noun;
  return counted(quantity, noun, gender ?? 'm', grammatical, around);
}

function multiplied(quantity: Quantity, magnitude: Noun, grammatical: Case, around: Around): string {
  const shown = magnitude.form !== undefined && isCase(magnitude.form) ? magnitude.form : grammatical;
  return counted(quantity, magnitude, magnitude.gender ?? 'm', shown, around);
}

function counted(
  quantity: Quantity,
  noun: Noun,
  gender: Agreement,
  grammatical: Case,
  around: Around,
): string {
  const { number, to, fraction } = quantity;
  if (fraction !== undefined) {
    const name =
      isHalf(fraction) && number.whole !== '1'
        ? behindNumber(noun, number.whole, grammatical)
        : genitiveOf(noun);
    return `${mixed(number, fraction, gender, grammatical)} ${name}`;
  }
  if (to !== undefined) return rangeOf(number, to, noun, gender, grammatical, around);
  const bare = number.whole === '1' && number.decimals === '' && noun.forms[0] === 'тысяча';
  const sign = number.negative ? 'минус ' : '';
  const said = bare ? sign : `${numberBefore(number, gender, grammatical)} `;
  return said + nounBehind(noun, number, grammatical);
}

/** От пяти до десяти километров; behind a preposition пять-десять. */
function rangeOf(
  from: Numeral,
  to: Numeral,
  noun: Noun,
  gender: Agreement,
  grammatical: Case,
  around: Around,
): string {
  if (isDirect(grammatical) && !isRuled(around)) {
    return `от ${numberBefore(from, gender, 'genitive')} до ${numberBefore(to, gender, 'genitive')} ${nounBehind(noun, to, 'genitive')}`;
  }
  const ends = join(numberBefore(from, gender, grammatical), numberBefore(to, gender, grammatical));
  return `${ends} ${nounBehind(noun, to, grammatical)}`;
}

export function measure(quantity: Quantity, unit: Noun, around: Around): string {
  return withNoun(quantity, unit, caseOfMeasure(around), around);
}

/** A plain number, with what follows it in the text. */
export function count(quantity: Quantity, around: Around): string {
  const { number, to, magnitude, fraction } = quantity;
  if (magnitude !== undefined) return multiplied(quantity, magnitude, caseBefore(around), around);
  const last = to ?? number;
  const {
    case: grammatical,
    gender,
    noun,
  } = countedBy(around, last.decimals === '' && fraction === undefined ? last.whole : '2');
  if (fraction !== undefined) return mixed(number, fraction, fewGender(gender, noun), grammatical);
  if (to !== undefined) return countRange(number, to, fewGender(gender, noun), grammatical, around);
  const together =
    isDirect(grammatical) && noun !== undefined && COUNTED_TOGETHER.has(noun) && number.decimals === '';
  if (together && !number.negative) {
    const several = collective(number.whole);
    if (several !== undefined) return several;
  }
  const spanned =
    isHalfMore(number) &&
    /^ до \d{1,3}(?:,\d{1,2})? ?[\p{L}%]/u.test(around.text.slice(around.end, around.end + 16));
  if (spanned) return numberBefore(number, gender, grammatical); // от полутора до трёх миллионов
  const level = number.negative && wordAhead(around) === 'уровне'; // на уровне минус два
  if (noun === undefined || number.decimals === '')
    return decimal(number, level ? 'nominative' : grammatical, gender);
  return numberBefore(number, fewGender(gender, noun), caseBefore(around));
}

/** Полторы минуты: behind a fraction the noun is the genitive singular, as behind two. */
function fewGender(gender: Agreement, noun: string | undefined): Agreement {
  return noun !== undefined && /[ыи]$/.test(noun) ? 'f' : gender;
}

function countRange(
  from: Numeral,
  to: Numeral,
  gender: Agreement,
  grammatical: Case,
  around: Around,
): string {
  const next = around.nextWord.toLowerCase();
  const plural = next !== '' && !NO_NOUN.has(next) && pluralOf(to.whole) === 'many' && to.decimals === '';
  if (plural && isDirect(grammatical) && !isRuled(around)) {
    return `от ${numberBefore(from, gender, 'genitive')} до ${decimal(to, 'genitive', gender)}`;
  }
  const first = next === '' ? decimal(from, grammatical, gender) : numberBefore(from, gender, grammatical);
  return join(first, decimal(to, grammatical, gender));
}

/** 12,50 ₽ двенадцать рублей пятьдесят копеек. */
export function money(quantity: Quantity, currency: Currency, around: Around): string {
  const { number, to, magnitude, fraction } = quantity;
  const { minor } = currency;
  const grammatical = caseOfMeasure(around);
  const small = number.decimals.length === 2 || to?.decimals.length === 2;
  if (!small || minor === undefined || magnitude !== undefined || fraction !== undefined) {
    return withNoun(quantity, currency, grammatical, around);
  }
  if (to === undefined) return majorAndMinor(number, currency, minor, grammatical);
  const ruled = isRuled(around) || !isDirect(grammatical);
  const ends = [number, to].map((end) =>
    majorAndMinor(end, currency, minor, ruled ? grammatical : 'genitive'),
  );
  return ruled ? ends.join(' – ') : `от ${ends.join(' до ')}`;
}

function majorAndMinor(number: Numeral, currency: Currency, minor: Noun, grammatical: Case): string {
  const major = withNoun({ number: { ...number, decimals: '' } }, currency, grammatical);
  const cents = withoutZeros(number.decimals || '0');
  if (cents === '0') return major;
  const rest = withNoun({ number: numeralOf(cents) }, minor, grammatical);
  if (withoutZeros(number.whole) === '0') return (number.negative ? 'минус ' : '') + rest;
  return `${major} ${rest}`;
}

const NAMED: Readonly<Record<string, readonly [stem: string, genitivePlural: string]>> = {
  '3': ['трет', 'третей'],
  '4': ['четверт', 'четвертей'],
};

function part({ numerator, denominator }: Fraction, grammatical: Case): string {
  const [amount, parts] = [withoutZeros(numerator), withoutZeros(denominator)];
  const named = NAMED[parts];
  if (named === undefined || pluralOf(amount) === 'many') return fractionWords(amount, parts, grammatical);
  const [stem, many] = named;
  const forms = [`${stem}ь`, `${stem}и`, `${stem}и`, `${stem}ь`, `${stem}ью`, `${stem}и`];
  const plural = [`${stem}и`, many, `${stem}ям`, `${stem}и`, `${stem}ями`, `${stem}ях`];
  return `${cardinal(amount, grammatical, 'f')} ${behindNumber({ forms: [...forms, ...plural] }, amount, grammatical)}`;
}

/** Три четверти, одна треть, две пятых; ½ литра is половина литра. */
/** Этаж 3/5 */
function isFloor({ previousWord, nextWord }: Around): boolean {
  return (
    /^(?:этаж\p{L}{0,2}|серия|серии|урок|часть|шаг|страница|стр)$/u.test(previousWord) &&
    !nextWord.startsWith('част')
  );
}

export function sayFraction(fraction: Fraction, around: Around, measured: boolean): string | undefined {
  const [amount, parts] = [Number(fraction.numerator), Number(fraction.denominator)];
  if (amount <= parts && isFloor(around))
    return `${cardinal(fraction.numerator)} из ${cardinal(fraction.denominator, 'genitive')}`;
  const shared = wordAhead(around) === 'по'; // по половине таблетки, по две трети
  const usual = shared ? (amount === 1 ? 'dative' : 'accusative') : caseBefore(around);
  const grammatical = isDissolved(around) ? 'prepositional' : usual;
  const isSmall = parts <= 100 || parts === 1000 || (amount === 1 && parts % 50 === 0); // 1/300 ставки
  if (parts < 2 || amount >= parts || !isSmall || isHouse(around))
    return spread(fraction, around, grammatical);
  const ending = /-\p{L}+$/u.exec(around.text.slice(around.start, around.end))?.[0]; // 1/3-я часть
  if (ending === '-х') return part(fraction, 'genitive');
  if (ending !== undefined) {
    const named = ending.endsWith('я') ? 'nominative' : ending.endsWith('ю') ? 'accusative' : grammatical;
    return fractionWords(fraction.numerator, fraction.denominator, named);
  }
  if (amount !== 1 || parts !== 2) return part(fraction, grammatical);
  const next = around.nextWord.toLowerCase();
  if (!measured && (next === '' || next === 'финала' || NO_NOUN.has(next)))
    return fractionWords('1', '2', grammatical);
  const half = {
    nominative: 'а',
    genitive: 'ы',
    dative: 'е',
    accusative: 'у',
    instrumental: 'ой',
    prepositional: 'е',
  };
  return `половин${half[grammatical]}`;
}

const PRESSURE = /(?:давлен|(?<!\p{L})АД(?!\p{L}))[^!?;]{0,64}$/iu;

/** 5/2 is the number of a house, 120/80 a pressure. */
function spread({ numerator, denominator }: Fraction, { text, start, end }: Around, shown: Case): string {
  const isPressure =
    numerator.length > 1 &&
    denominator.length > 1 &&
    (PRESSURE.test(text.slice(Math.max(0, start - 72), start)) ||
      /мм\.? рт/.test(text.slice(start, end + 8)));
  const on = numerator === denominator || isPressure;
  return `${cardinal(numerator, isPressure && shown === 'genitive' ? shown : 'nominative')} ${on ? 'на' : 'дробь'} ${cardinal(denominator)}`;
}

function isHouse({ text, start }: Around): boolean {
  return /(?:^|[\s,(])(?:д\.|дом|доме|дома|кв\.|№|ул\. [^,]{1,30},) ?$/iu.test(
    text.slice(Math.max(0, start - 40), start),
  );
}

function isHalf({ numerator, denominator }: Fraction): boolean {
  return numerator === '1' && denominator === '2';
}

/** Два с половиной, полтора, три целых одна четверть. */
function mixed(number: Numeral, fraction: Fraction, gender: Agreement, grammatical: Case): string {
  const sign = number.negative ? 'минус ' : '';
  if (isHalf(fraction) && number.whole === '1') return sign + oneAndHalf(gender, grammatical);
  if (isHalf(fraction)) return `${sign}${cardinal(number.whole, grammatical, gender)} с половиной`;
  const whole = decimal({ ...number, decimals: '0' }, grammatical)
    .split(' ')
    .slice(0, -2)
    .join(' ');
  return `${whole} ${part(fraction, grammatical)}`;
}
