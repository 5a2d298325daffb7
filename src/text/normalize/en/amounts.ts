// Amounts that English writes in ways of its own: €5,00, 50p, a $10-million gift, 5'10", 3/8", 5 cm x 3 cm,
// 11 st 4 lb.
import { LiteralTable } from '../literals.js';
import { withoutZeros } from '../numerals.js';
import { certain, type Found, NOWHERE, type Reading, type Recogniser } from '../reading.js';
import { isInQuotation } from '../recognise/arithmetic.js';
import type { Rules } from '../shared-forms.js';
import type { DigitRule } from './digit-rules.js';
import { cardinal, decimal } from './numbers.js';
import { isAttribute, NO_NOUN, SPEECH } from './speech.js';
import { WRITING } from './writing.js';

export function sayDecimal(written: string): string {
  const [whole = '', decimals = ''] = written.split('.');
  return decimal({ negative: false, whole: withoutZeros(whole), decimals, grouped: false });
}

const COMMA = /([€$£]) ?(\d{1,3}(?:\.\d{3}){0,3}),(\d{2})(?![\d\p{L}]|[,.]\d)/uy;
const COMMA_BEHIND = /(\d{1,3}(?:\.\d{3}){0,3}),(\d{2}) ?(€|EUR\b|euros?\b)/y;

function sayComma(sign: string, whole: string, decimals: string): string | undefined {
  const currency = WRITING.currencies[WRITING.currencySigns[sign] ?? 'EUR'];
  const number = {
    negative: false,
    whole: withoutZeros(whole.replaceAll('.', '')),
    decimals,
    grouped: false,
  };
  return currency && SPEECH.money({ number }, currency, NOWHERE);
}

/** €5,00: two decimals behind a comma, as the neighbours write them. */
const commaBefore: Recogniser = (reading) => {
  const match = reading.match(COMMA);
  const spoken = match && sayComma(match[1] ?? '', match[2] ?? '', match[3] ?? '');
  return spoken === undefined || match === undefined
    ? undefined
    : { end: reading.at + match[0].length, spoken, rule: 'currency' };
};

/** 12,50 € */
const commaBehind: Recogniser = (reading) => {
  const match = reading.match(COMMA_BEHIND);
  const spoken = match && sayComma('€', match[1] ?? '', match[2] ?? '');
  return spoken === undefined || match === undefined
    ? undefined
    : { end: reading.at + match[0].length, spoken, rule: 'currency' };
};

const PER_PERIOD =
  /(\d{1,4}(?:\.\d{1,2})?)\/(day|week|wk|month|mo|year|yr|hour|hr|night|minute|min|second|person|user|employee)(?![\p{L}\p{N}])/uy;
const PERIODS: Readonly<Record<string, string>> = {
  wk: 'week',
  mo: 'month',
  yr: 'year',
  hr: 'hour',
  min: 'minute',
};

/** At most 8/day */
const perPeriod: Recogniser = (reading) => {
  const match = reading.match(PER_PERIOD);
  if (match === undefined) return undefined;
  const [written, digits = '', period = ''] = match;
  const spoken = `${sayDecimal(digits)} per ${PERIODS[period] ?? period}`;
  return { end: reading.at + written.length, spoken, rule: 'measure' };
};

const VOLTS_AND_AMPS = /(\d{1,3}(?:\.\d)?)V ?\/ ?(\d{1,3}(?:\.\d{1,2})?)A(?![\p{L}\p{N}])/uy;

/** 5V/3A */
const voltsAndAmps: Recogniser = (reading) => {
  const match = reading.match(VOLTS_AND_AMPS);
  if (match === undefined) return undefined;
  const end = reading.at + match[0].length;
  const [volts = '', amps = ''] = match.slice(1);
  const [volt, amp] = isAttribute(reading.around(end))
    ? ['volt', 'amp']
    : [volts === '1' ? 'volt' : 'volts', amps === '1' ? 'amp' : 'amps'];
  return { end, spoken: `${sayDecimal(volts)} ${volt} ${sayDecimal(amps)} ${amp}`, rule: 'measure' };
};

const HYPHENATED =
  /([€$£])(\d[\d,]{0,11}(?:\.\d{1,2})?)-(?:(thousand|million|billion|trillion)(?![\p{L}\p{N}])|(?=\p{Ll}))/uy;

/** A $10-million gift, a $5-per-month plan. */
const hyphenatedMoney: Recogniser = (reading) => {
  const match = reading.match(HYPHENATED);
  if (match === undefined) return undefined;
  const [written, sign = '', number = '', magnitude] = match;
  const currency = WRITING.currencies[WRITING.currencySigns[sign] ?? '']?.forms[0] ?? '';
  const amount = sayDecimal(number.replaceAll(',', ''));
  const end = reading.at + written.length;
  if (magnitude === undefined) return { end: end - 1, spoken: `${amount}-${currency}`, rule: 'currency' };
  return { end, spoken: `${amount} ${magnitude} ${currency}`, rule: 'currency' };
};

const PER_UNIT = new LiteralTable(Object.entries(WRITING.per));
const PENCE = /(\d{1,2}|\d{1,3}\.\d{1,2})p(?![\p{L}\p{N}]|['’]\p{L})/uy;

/** 50p, 24.5p/kWh */
const pence: Recogniser = (reading) => {
  const match = reading.text[reading.at - 1] === '.' ? undefined : reading.match(PENCE);
  if (match === undefined) return undefined;
  const end = reading.at + match[0].length;
  const [, digits = ''] = match;
  const per = reading.text[end] === '/' ? PER_UNIT.at(reading.text, end + 1) : undefined;
  const word = digits === '1' ? 'penny' : 'pence';
  const spoken = `${sayDecimal(withoutZeros(digits))} ${word}`;
  if (per === undefined) return { end, spoken, rule: 'currency' };
  return { end: end + 1 + per.written.length, spoken: `${spoken} ${per.value}`, rule: 'currency' };
};

/** Rs. 500/-: nothing follows the rupees. */
function onlyRupees({ text, at }: Reading): Found | undefined {
  const written = /^\/[-–=](?![\p{L}\p{N}])/u.exec(text.slice(at, at + 4))?.[0];
  if (written === undefined || !/\d$/.test(text.slice(Math.max(0, at - 1), at))) return undefined;
  return { end: at + written.length, spoken: '', rule: 'currency' };
}

const FEET = /(\d{1,2})['’′] ?(\d{1,2})(?:["”″]|'')/y;
const FEET_IN_WORDS = /(\d{1,2}) ?(?:ft|feet|foot)\.?,? ?(\d{1,2}) ?(?:in\b\.?|inch(?:es)?)/y;
const FEET_ALONE =
  /(\d{1,3}|\d{1,2},\d{3})['’′](?=(?<=\d,\d{3}['’′])(?!\p{L})| (?:tall|long|wide|deep|high|ladder|ceilings?|table|fence|pole|board|drop|clearance|by|x)\b)/uy;
const INCHES = /(?:(\d{1,3}(?:\.\d{1,2})?)["″]? ?[-–] ?)?(\d{1,3}(?:\.\d{1,2})?)["″](?= ?[\p{L}.,;)]|$)/uy;
const LONGEST_QUOTE = 120; // units in which an open quote is looked for

/** 5'10" is five foot ten, 6ft 2in is six feet two inches. */
const feetAndInches: Recogniser = (reading) => {
  const short = reading.match(FEET);
  const [written, feet = '', inches = ''] = short ?? reading.match(FEET_IN_WORDS) ?? [];
  if (written === undefined) return feetAlone(reading);
  const end = reading.at + written.length;
  const [whole, rest] = [withoutZeros(feet), withoutZeros(inches)];
  if (short !== undefined) {
    const said = rest === '0' ? `${cardinal(whole)} feet` : `${cardinal(whole)} foot ${cardinal(rest)}`;
    return { end, spoken: said, rule: 'measure' };
  }
  const units = [whole === '1' ? 'foot' : 'feet', rest === '1' ? 'inch' : 'inches'];
  return { end, spoken: `${cardinal(whole)} ${units[0]} ${cardinal(rest)} ${units[1]}`, rule: 'measure' };
};

/** A 6' ladder. */
function feetAlone(reading: Reading): Found | undefined {
  const match = reading.match(FEET_ALONE);
  if (match === undefined) return undefined;
  const end = reading.at + match[0].length;
  const spoken = SPEECH.measure(
    {
      number: {
        negative: false,
        whole: withoutZeros((match[1] ?? '').replace(',', '')),
        decimals: '',
        grouped: false,
      },
    },
    WRITING.units['ft'] ?? { forms: ['foot', 'feet'] },
    reading.around(end),
  );
  return { end, spoken, rule: 'measure' };
}

/** A 27" monitor, 2-3" of snow; within quotes the sign closes them. */
const inches: Recogniser = (reading) => {
  const match = reading.match(INCHES);
  if (match === undefined) return undefined;
  const [written, from, number = ''] = match;
  const { text, at } = reading;
  if (written.endsWith('"') && isInQuotation(text.slice(Math.max(0, at - LONGEST_QUOTE), at)))
    return undefined;
  const end = at + written.length;
  const noun =
    /^ (?!of\b|tall\b|long\b|wide\b|deep\b|high\b|thick\b|x\b|by\b|in\b|and\b|or\b|to\b|[WHDL](?!\p{L})|\p{Ll}+ly\b)[\p{L}]/u.test(
      text.slice(end, end + 20),
    );
  const word = number === '1' || (noun && from === undefined) ? 'inch' : 'inches';
  const range = from === undefined ? '' : `${sayDecimal(from)} to `;
  return { end, spoken: `${range}${sayDecimal(number)} ${word}`, rule: 'measure' };
};

const PART_OF_INCH = /(?:(\d{1,3})[- ])?(\d{1,2})\/(\d{1,2})["″](?![\p{L}\p{N}])/uy;

/** A 3/8" hole. */
export const partOfInch: Recogniser = (reading) => {
  const match = reading.match(PART_OF_INCH);
  const [written = '', whole, numerator = '', denominator = ''] = match ?? [];
  if (match === undefined || Number(numerator) >= Number(denominator)) return undefined;
  const fraction = SPEECH.fraction({ numerator, denominator }, NOWHERE) ?? '';
  const one = /^1$/.test(numerator) && denominator === '2' ? 'a half' : fraction;
  const spoken = whole === undefined ? fraction : `${cardinal(withoutZeros(whole))} and ${one}`;
  return { end: reading.at + written.length, spoken: `${spoken} inch`, rule: 'measure' };
};

const STONE = /(\d{1,2}) ?st\.? (\d{1,2}) ?lbs?\b\.?/y;

/** 11 st 4 lb */
export const stones: Recogniser = (reading) => {
  const match = reading.match(STONE);
  if (match === undefined) return undefined;
  const [written, stone = '', pounds = ''] = match;
  const spoken = `${cardinal(withoutZeros(stone))} stone ${cardinal(withoutZeros(pounds))} ${pounds === '1' ? 'pound' : 'pounds'}`;
  return { end: reading.at + written.length, spoken, rule: 'measure' };
};

const SIDE = String.raw`(\d{1,5}(?:\.\d{1,3})?) ?(mm|cm|km|m|in|inch|inches|ft|feet|yd|px|["″'′])\.?`;
const SIDES = new RegExp(String.raw`${SIDE} ?[x×] ?${SIDE}(?: ?[x×] ?${SIDE})?(?![\p{L}\p{N}])`, 'uy');
const SIDE_NAMES: Readonly<Record<string, string>> = {
  inch: 'in.',
  inches: 'in.',
  in: 'in.',
  feet: 'ft',
  "'": 'ft',
  '′': 'ft',
  '"': 'in.',
  '″': 'in.',
};

/** 5 cm x 3 cm */
const sides: Recogniser = (reading) => {
  const match = reading.match(SIDES);
  if (match === undefined) return undefined;
  const end = reading.at + match[0].length;
  const single = isAttribute(reading.around(end));
  const said: string[] = [];
  for (let index = 1; index < match.length; index += 2) {
    const [number, unit = ''] = [match[index], match[index + 1]];
    const forms = WRITING.units[SIDE_NAMES[unit] ?? unit]?.forms ?? ['', ''];
    if (number !== undefined)
      said.push(`${sayDecimal(number)} ${forms[single || number === '1' ? 0 : 1] ?? ''}`);
  }
  return { end, spoken: said.join(' by '), rule: 'measure' };
};

// Not "2x 500 mL", which are two.
const SIZES = /(?!\d{1,5}x )\d{1,5}(?:\.\d{1,3})?(?: ?[x×] ?\d{1,5}(?:\.\d{1,3})?){1,3}(?!\p{N}| ?=|\.\d)/uy;
const SIZE = /\d+(?:\.\d+)?(?= ?[x×])/y;

/** (8 × 5) / 2 */
function isFactor({ text, at }: Reading): boolean {
  return text[at - 1] === '(' && /^[\d.]+ ?[x×] ?[\d.]+\) ?[-+=÷×/*]/.test(text.slice(at, at + 24));
}

/** 10 x 20 ft, 3x5: all but the last number, which may have a unit. */
function sizes(reading: Reading): Found | undefined {
  const isFollowed = reading.isFresh && reading.match(SIZES) !== undefined;
  const behindOne =
    reading.at === reading.tokenEnd && /[x×] ?$/.test(reading.text.slice(reading.at - 2, reading.at));
  if (reading.text.startsWith('24x7', reading.at) || isFactor(reading)) return undefined;
  const number = isFollowed || behindOne ? reading.match(SIZE)?.[0] : undefined;
  if (number === undefined) return undefined;
  const end = reading.at + number.length;
  const mark = / ?[x×] ?/y;
  mark.lastIndex = end;
  return {
    end: end + (mark.exec(reading.text)?.[0].length ?? 0),
    spoken: `${sayDecimal(number)} by`,
    rule: 'measure',
  };
}

const LAST_SIDE =
  /(\d{1,4}(?:\.\d{1,2})?) ?in(?=[,;)]|\.(?! \p{Ll})|$| (?:and|or|to|plus|including|max|for|per|with)(?!\p{L}))/uy;

/** The 9 of 22 x 14 x 9 in */
const lastSide: Recogniser = (reading) => {
  const { text, at } = reading;
  const match = /\d ?[x×] ?$/.test(text.slice(Math.max(0, at - 4), at))
    ? reading.match(LAST_SIDE)
    : undefined;
  if (match === undefined) return undefined;
  return { end: at + match[0].length, spoken: `${sayDecimal(match[1] ?? '')} inches`, rule: 'measure' };
};

const SOME = /(\d{1,3}) ?[x×](?= \p{Ll}{3})/uy;
const ITEM = /(?:^|[\n•(]|[-*–] |: |, | and )$/u;

/** 2 x king beds, and 2x large pizza in a list: so many of them. */
const portions: Recogniser = (reading) => {
  const match = reading.match(SOME);
  if (match === undefined) return undefined;
  const end = reading.at + match[0].length;
  const { nextWord } = reading.around(end);
  const isItem = / /.test(match[0]) || ITEM.test(reading.text.slice(Math.max(0, reading.at - 5), reading.at));
  if (!isItem || NO_NOUN.has(nextWord) || /(?:er|ly)$/.test(nextWord)) return undefined;
  return { end, spoken: cardinal(withoutZeros(match[1] ?? '')), rule: 'cardinal' };
};

const PACKS =
  /(\d{1,3}) ?[x×] ?(\d{1,4}(?:\.\d{1,2})?)[ -]?(kg|mg|mcg|g|mL|ml|L|l|oz|lbs?|GB|TB|MB|min|hrs?|W|V)(?![\p{L}\p{N}/])(?: [x×])?/uy;

/** 2 x 23kg bags, 2x 200 mg: so many of that size. */
const packs: Recogniser = (reading) => {
  const match = reading.match(PACKS);
  const [written = '', count = '', size = '', name = ''] = match ?? [];
  const unit = WRITING.units[name];
  if (match === undefined || unit === undefined || /[x×]$/.test(written)) return undefined;
  const end = reading.at + written.length;
  const { nextWord } = reading.around(end);
  const isNoun = /^\p{Ll}{3}/u.test(nextWord) && reading.text[end] === ' ' && !NO_NOUN.has(nextWord);
  const one = unit.forms[isNoun || size === '1' ? 0 : 1] ?? '';
  const times = isNoun ? '' : count === '1' ? ' time' : ' times';
  return { end, spoken: `${cardinal(count)}${times} ${sayDecimal(size)} ${one}`, rule: 'measure' };
};

const HOME = /(\d{1,2}) ?(?:BR|bdr?m?|bd)(?:\/| ?[,|·] ?| )(\d(?:\.5)?) ?(?:BA|ba|bth)(?![\p{L}\p{N}])/uy;
const ROOMS = /(\d{1,2}) ?BR(?= \p{Ll}{4})/uy;

/** A 2BR/2BA unit, 3BR homes */
const home: Recogniser = (reading) => {
  const match = reading.match(HOME);
  if (match !== undefined) {
    const [written, beds = '', baths = ''] = match;
    const spoken = `${cardinal(beds)} bed, ${sayDecimal(baths)} bath`;
    return { end: reading.at + written.length, spoken, rule: 'measure' };
  }
  const rooms = reading.match(ROOMS);
  const end = reading.at + (rooms?.[0].length ?? 0);
  if (rooms === undefined || NO_NOUN.has(reading.around(end).nextWord)) return undefined;
  return { end, spoken: `${cardinal(rooms[1] ?? '')} bedroom`, rule: 'measure' };
};

const TIMES_AS_MUCH =
  /(\d{1,3}(?:,\d{3}){1,3}|\d{1,6}(?:\.\d{1,2})?)x(?:\/(day|week|wk|month|mo|year|yr))?(?![\p{L}\p{N}])/uy;
const PER: Readonly<Record<string, string>> = { wk: 'week', mo: 'month', yr: 'year' };

/** 2x faster, 3x/day */
const timesAsMuch: Recogniser = (reading) => {
  const match = reading.match(TIMES_AS_MUCH);
  if (match === undefined) return undefined;
  const [written, number = '', unit] = match;
  const word = number === '1' ? 'time' : 'times';
  const per = unit === undefined ? '' : ` per ${PER[unit] ?? unit}`;
  return {
    end: reading.at + written.length,
    spoken: `${sayDecimal(number.replaceAll(',', ''))} ${word}${per}`,
    rule: 'math',
  };
};

const TIMES_RANGE = /(\d{1,3}(?:\.\d)?) ?[-–] ?(\d{1,3}(?:\.\d)?)x(?![\p{L}\p{N}])/uy;

/** 2–3x more */
const timesRange: Recogniser = (reading) => {
  const match = reading.match(TIMES_RANGE);
  if (match === undefined) return undefined;
  const [written, from = '', to = ''] = match;
  return {
    end: reading.at + written.length,
    spoken: `${sayDecimal(from)} to ${sayDecimal(to)} times`,
    rule: 'math',
  };
};

const AGE = /(\d{1,3})(?: ?-?y\/o|yo| y\.o\.)(?![\p{L}\p{N}])(?: ([MF])(?![\p{L}\p{N}'’.]))?/uy;

/** A 45 y/o patient. */
export const age: Recogniser = (reading) => {
  const match = reading.match(AGE);
  if (match === undefined) return undefined;
  return {
    end: reading.at + match[0].length,
    spoken: `${cardinal(withoutZeros(match[1] ?? ''))}-year-old${{ M: ' male', F: ' female' }[match[2] ?? ''] ?? ''}`,
    rule: 'measure',
  };
};

const LITERS = /(\d{1,3})L(?![\p{L}\p{N}])/uy;
const NO_LITERS =
  /\b(?:seat|gate|exit|runway|lane|platform|flat|unit|apt|apartment|room|row|route|door|suite)s?\.? $/i;
const DISPLACEMENT = /(\d\.\d)L(?= (?:turbo|engine|V\d|I\d|diesel|hybrid|inline|four|six|Eco))/uy;
const FAHRENHEIT = /(\d{1,3}) ?F(?![\p{L}\p{N}])/uy;
const WARM = /\b(?:highs?|lows?|temps?|temperatures?|feels like|outside|oven)\b(?!.*\bseat\b)[^.!?]{0,24}$/i;

/** A 2L bottle, a high of 75F. */
const lettered: Recogniser = (reading) => {
  const { text, at } = reading;
  const lead = text.slice(Math.max(0, at - 40), at);
  const warm = WARM.test(lead) ? reading.match(FAHRENHEIT) : undefined;
  if (warm !== undefined) {
    return {
      end: at + warm[0].length,
      spoken: `${cardinal(withoutZeros(warm[1] ?? ''))} Fahrenheit`,
      rule: 'measure',
    };
  }
  const engine = reading.match(DISPLACEMENT);
  if (engine !== undefined)
    return { end: at + engine[0].length, spoken: `${sayDecimal(engine[1] ?? '')} liter`, rule: 'measure' };
  const match = reading.match(LITERS);
  if (match === undefined || NO_LITERS.test(lead)) return undefined;
  const end = at + match[0].length;
  const digits = withoutZeros(match[1] ?? '');
  const word = digits === '1' || isAttribute(reading.around(end)) ? 'liter' : 'liters';
  return { end, spoken: `${cardinal(digits)} ${word}`, rule: 'measure' };
};

/** Seats 14A and 14B */
const LETTERED_BEFORE = /\d[A-K](?:,|,? and|,? or| &|\/) ?$/;
const LETTERED = /(\d{1,4})([A-Z])(?![\p{L}\p{N}])/uy;

/** Exit 24A, seat 12F */
const placeLetter: Recogniser = (reading) => {
  const { text, at } = reading;
  const match = reading.match(LETTERED);
  const before = text.slice(Math.max(0, at - 16), at);
  if (match === undefined || (!NO_LITERS.test(before) && !LETTERED_BEFORE.test(before))) return undefined;
  const [written, digits = '', letter = ''] = match;
  return { end: at + written.length, spoken: `${cardinal(digits)} ${letter}`, rule: 'identifier' };
};

/** 3 x $4.50; daily x 7 days. */
export function timesSum({ text, at }: Reading): Found | undefined {
  if (text[at - 1] !== ' ') return undefined;
  const behind = text.slice(at + 1, at + 16);
  if (/^ ?[$€£]\d/.test(behind) && /\d $/.test(text.slice(Math.max(0, at - 2), at)))
    return { end: at + 1, spoken: 'times', rule: 'math' };
  return /^ ?\d{1,3} (?:days?|weeks?|months?|doses?)\b/.test(behind)
    ? { end: at + 1, spoken: 'for ', rule: 'symbol' }
    : undefined;
}

const DIRECTED = /(\d{1,3}(?:\.\d{1,6})?)[°º] ?([NSEW])(?![\p{L}\p{N}])/uy;
export const DIRECTIONS: Readonly<Record<string, string>> = { N: 'north', S: 'south', E: 'east', W: 'west' };

/** 40.7° N */
const directed: Recogniser = (reading) => {
  const match = reading.match(DIRECTED);
  if (match === undefined) return undefined;
  const [written, number = '', letter = ''] = match;
  const spoken = `${sayDecimal(number)} ${number === '1' ? 'degree' : 'degrees'} ${DIRECTIONS[letter] ?? ''}`;
  return { end: reading.at + written.length, spoken, rule: 'measure' };
};

const RACE = /(\d{1,3})[kK](?![\p{L}\p{N}])/uy;

/** A 5k run is five k. */
const race: Recogniser = (reading) => {
  const match = reading.match(RACE);
  if (match === undefined) return undefined;
  const end = reading.at + match[0].length;
  const { nextWord, previousWord } = reading.around(end);
  const run = /^(?:runs?|races?|walks?|runners?|fun|course|starts?|begins?|route|training)$/.test(nextWord);
  const ran = /\b(?:ran|run|running|walk|finished|race)\b[^.!?]{0,16}$/i.test(
    reading.text.slice(Math.max(0, reading.at - 24), reading.at),
  );
  if (!run && !(ran && /^(?:an?|the|my|first)$/.test(previousWord))) return undefined;
  return { end, spoken: `${cardinal(withoutZeros(match[1] ?? ''))} K`, rule: 'identifier' };
};

/** In the order in which the language asks them. */
export const amountRules = {
  behindDigits: [
    [/[/.]/, /(?!)/, perPeriod],
    [/V/, /(?!)/, voltsAndAmps],
  ],
  behindDigitsLater: [
    [/[,.]/, /(?!)/, commaBehind],
    [/[mcikfyp"″'′.]/, /[mcify]/, sides],
    [/["'’′f,]/, /f/, feetAndInches],
    [/["″.–-]/, /[–-]/, inches],
    [/[x×]/, /[x×]/, certain(packs)],
    [/[Bb]/, /[Bb]/, certain(home)],
    [/[x×]/, /[x×]/, portions],
    [/[x×.]/, /[x×]/, sizes],
    [/[i.]/, /i/, certain(lastSide)],
  ],
  behindDigitsLast: [
    [/[x.,]/, /(?!)/, timesAsMuch],
    [/[-–.]/, /(?!)/, timesRange],
    [/[kK]/, /(?!)/, race],
    [/[p.]/, /(?!)/, pence],
  ],
  behindDigitsAtEnd: [
    [/[°º.]/, /(?!)/, directed],
    [/[A-Z]/, /(?!)/, certain(placeLetter)],
    [/[LF.]/, /F/, certain(lettered)],
  ],
  atMark: [
    [/\//, onlyRupees],
    [/[$€£]/, commaBefore],
    [/[$€£]/, hyphenatedMoney],
  ],
} satisfies Rules<DigitRule>;
