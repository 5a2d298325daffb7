// Reads English numbers of things: status codes, rooms, aircraft, forms, cases, commits.
// It also reads emergency numbers, text numbers and extensions of telephones.
import { tablesOf } from '../../tables/language-tables.js';
import { withoutZeros } from '../numerals.js';
import { certain, type Found, type Reading, type Recogniser } from '../reading.js';
import type { Rules } from '../shared-forms.js';
import type { DigitRule } from './digit-rules.js';
import { cardinal, ofStandard, ordinal, pairs, plural, spellDigits } from './numbers.js';

const LONGEST_LEAD = 48; // units before a number that may say what it is

const STATUS = /[1-5]\d{2}(?![\p{L}\p{N}]|[.,:/-]\d)/uy;
const BEFORE_STATUS = new Set(['http', 'https', 'error', 'status', 'code']);

/** HTTP 404 is four oh four, 500 is five hundred, 418 is four eighteen. */
function httpStatus(reading: Reading): Found | undefined {
  if (!reading.isFresh || reading.runEnd - reading.at !== 3) return undefined;
  const around = reading.around(reading.runEnd);
  const before = around.previousShort;
  if (/HTTP \d{3},? (?:or|and|vs\.|&) $/.test(reading.text.slice(Math.max(0, reading.at - 16), reading.at)))
    return numberedPlace(reading, pairs, STATUS);
  const isStatus = /^(?:4(?:0[0-9]|18|29)|50[0-4])$/.test(reading.text.slice(reading.at, reading.runEnd));
  if (isStatus && /^(?:errors?|status|response|responses)$/.test(around.nextWord))
    return numberedPlace(reading, pairs, STATUS);
  if (!BEFORE_STATUS.has(before) || (before === 'code' && around.secondPreviousWord !== 'status'))
    return undefined;
  return numberedPlace(reading, pairs, STATUS);
}

const BEFORE_PLACE = tablesOf('en').set('before a numbered place');
const PLACE = /[1-9]\d{2,3}(?![\p{L}\p{N}]|[-.,:/]\d)/uy;
const STANDARDS = new Set(['iso', 'iec', 'ansi', 'bs', 'en', 'astm']);
const COURSE = /\p{Lu}\p{L}+\.? $/u;

/** Room 204 is two oh four, Suite 1500 is fifteen hundred, English 101 is one oh one. */
function place(reading: Reading): Found | undefined {
  if (!reading.isFresh || reading.runEnd - reading.at < 3) return undefined;
  const { text, at, runEnd } = reading;
  const before = reading.around(runEnd).previousShort;
  const form = /^ (?:forms?|plans?)\b/.test(text.slice(runEnd, runEnd + 7)); // a 1099 form
  if (STANDARDS.has(before)) return numberedPlace(reading, ofStandard);
  const lead = text.slice(Math.max(0, at - LONGEST_LEAD), at);
  const taxed =
    /^10(?:40|65|98|99)$/.test(text.slice(at, runEnd)) &&
    /\b(?:Sch|[fF]il|tax|IRS|return|[fF]orm)/.test(lead);
  if (form || taxed || BEFORE_PLACE.has(before)) return numberedPlace(reading, pairs);
  const course =
    text.slice(at, runEnd) === '101' &&
    COURSE.test(text.slice(Math.max(0, at - 24), at)) &&
    !/^ \p{Ll}+s\b/u.test(text.slice(runEnd, runEnd + 24));
  return course ? numberedPlace(reading, pairs) : undefined;
}

function numberedPlace(
  reading: Reading,
  say: (digits: string) => string,
  pattern = PLACE,
): Found | undefined {
  const digits = reading.match(pattern)?.[0];
  return digits === undefined
    ? undefined
    : { end: reading.at + digits.length, spoken: say(digits), rule: 'digits' };
}

const PLACES = /([1-9]\d{2,3}) ?[-–] ?([1-9]\d{2,3})(?![\p{L}\p{N}]|[-.,:/]\d)/uy;
const MANY_PLACES = /\b(?:rooms?|suites?|gates?|apartments?|offices?|buildings?) $/i;

/** Rooms 101-110 */
const places: Recogniser = (reading) => {
  const match = reading.match(PLACES);
  if (match === undefined || !MANY_PLACES.test(leadOf(reading))) return undefined;
  const spoken = `${pairs(match[1] ?? '')} to ${pairs(match[2] ?? '')}`;
  return { end: reading.at + match[0].length, spoken, rule: 'range' };
};

function leadOf({ text, at }: Reading): string {
  return text.slice(Math.max(0, at - LONGEST_LEAD), at);
}

const AIRCRAFT = /7([0-8])7-(?:(\d)00|(8|9|10))(?:[A-Z]{1,3})?(?![\p{L}\p{N}])/uy;
const BARE_AIRCRAFT =
  /7[0-8]7(?= ?(?:MAX|Max|Dreamliner|NG|jets?|jetliners?|aircraft|planes?|airliners?|freighters?)\b)/y;

/** 737-800, 787-9, a 747 jet. */
const aircraft: Recogniser = (reading) => {
  const bare = reading.match(BARE_AIRCRAFT);
  if (bare !== undefined) return { end: reading.at + 3, spoken: pairs(bare[0]), rule: 'identifier' };
  const match = reading.match(AIRCRAFT);
  if (match === undefined) return undefined;
  const [written, , hundreds, small] = match;
  const model = hundreds === undefined ? cardinal(small ?? '') : `${cardinal(hundreds)} hundred`;
  const letters = /[A-Z]+$/.exec(written)?.[0] ?? '';
  const tail = letters === '' ? '' : ` ${Array.from(letters).join(' ')}`;
  return {
    end: reading.at + written.length,
    spoken: `${pairs(written.slice(0, 3))} ${model}${tail}`,
    rule: 'identifier',
  };
};

const SCREEN = /(240|360|480|540|576|720|1080|1440|2160|4320)([pi])(?:(?=\d{2}\b)|(?![\p{L}\p{N}]))/uy;

/** 1080p */
const screen: Recogniser = (reading) => {
  const match = reading.match(SCREEN);
  if (match === undefined) return undefined;
  const [written, lines = '', letter = ''] = match;
  return {
    end: reading.at + written.length,
    spoken: `${pairs(lines)} ${letter.toUpperCase()}`,
    rule: 'identifier',
  };
};

const SUBSECTION = /(\d{1,4}[A-Z]?)((?:\([a-z\d]{1,2}\)){1,4})(?![\p{L}\p{N}(])/uy;
const PLANS = /(401|403|457|529)([kb])(?![\p{L}\p{N}])/uy;

/** A 401(k), section 501(c)(3), Rule 12(b)(6). */
const subsection: Recogniser = (reading) => {
  const plan = reading.match(PLANS);
  if (plan !== undefined) {
    const spoken = `${pairs(plan[1] ?? '')} ${(plan[2] ?? '').toUpperCase()}`;
    return { end: reading.at + plan[0].length, spoken, rule: 'identifier' };
  }
  const match = reading.match(SUBSECTION);
  const [written = '', number = '', marks = ''] = match ?? [];
  if (match === undefined || /^\((?:s|es|ies)\)$/.test(marks)) return undefined;
  const parts = Array.from(marks.matchAll(/[a-z]+|\d+/g), ([part]) =>
    /\d/.test(part) ? cardinal(withoutZeros(part)) : Array.from(part.toUpperCase()).join(' '),
  );
  const [digits, letter = ''] = [number.replace(/\D/, ''), /[A-Z]/.exec(number)?.[0]];
  const first = /^\(\d/.test(marks) && digits.length > 2 ? cardinal(digits) : pairs(withoutZeros(digits));
  const spoken = [first, letter, ...parts].filter((part) => part !== '').join(' ');
  return { end: reading.at + written.length, spoken, rule: 'identifier' };
};

const NUMBERED =
  /\b(?:case|claim|invoice|ticket|policy|member|membership|order|reference|ref|reservation|booking|license|licence|badge|customer|employee|student|loan|check|cheque|file|docket|acct|account|a\/c|card|meter|record|permit|patient|record|job|issue|receipt|transaction|phone|fax|part|model|rx|prescription|confirmation|conf|res|tracking|routing|flight|vin|serial|po|contact|mls|ord|ordinance|res(?:olution)?)(?:(?:\.? (?:number|no|num|id|nr)\b\.?| ?#)(?: is| was)?(?: ?[:#])? ?|: ?)$/i;
const LAST_DIGITS =
  /\b(?:(?:end|ends|ending) in|last (?:four|three|two|4|3|2)(?: digits| numbers)?(?: of (?:\p{L}+ ){1,4})? ?(?:is|are|:)) ?$/iu;
const CARRIER = /\b(?:card|account|acct|number|ssn|visa|phone|code|id|last)\b/i;
const GROUPED = /\d+(?:[- ]\d+){0,7}(?:-[A-Z]{1,2})?(?![\p{L}\p{N}]|[.,:/]\d)/uy;
const BOX = /\b(?:P\.? ?O\.? ?|post office )Box $/i;
/** Words directly before a reference number. */
const EXAMPLE = /\b(?:code|pin|otp|passcode)s? \((?:e\.g\.,?|for example,?|like|such as) $/i;
const ASKED = /(number|no|num|id|nr|is|was|are|in|box|ports?|[:#])[.:#]{0,2} ?#?$/i;
const BOX_NUMBER = /\d{3,7}(?![\p{L}\p{N}]|[.,:/-]\d)/uy;

/** Case No. 22-1234, Reference: 2024-00123, P.O. Box 4567. */
function numbered(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!reading.isFresh) return undefined;
  const lead = leadOf(reading);
  const asked = ASKED.exec(lead)?.[1]?.toLowerCase();
  const isExample = EXAMPLE.test(lead);
  if (asked === undefined && !isExample) return undefined;
  const boxed =
    (asked === 'box' && BOX.test(lead)) || /^ports?$/.test(asked ?? '')
      ? reading.match(BOX_NUMBER)
      : undefined;
  const isLast =
    LAST_DIGITS.test(lead) && (CARRIER.test(lead) || !/^(?:19|20)\d\d(?!\d)/.test(text.slice(at, at + 5)));
  const match = boxed ?? (isExample || NUMBERED.test(lead) || isLast ? reading.match(GROUPED) : undefined);
  if (match === undefined || match[0].length < 3 || /^(?:19|20)\d\d-\d\d?-\d\d?$/.test(match[0]))
    return undefined;
  const parts = match[0].split(/[- ]/);
  const spoken = parts.map((part) => (/\d/.test(part) ? spellDigits(part) : Array.from(part).join(' ')));
  return { end: at + match[0].length, spoken: spoken.join(', '), rule: 'digits' };
}

const HEXADECIMAL = /0x([\dA-Fa-f]{1,16})(?![\p{L}\p{N}])/uy;
const HASH = /(?=[a-f]{0,39}\d)(?=\d{0,39}[a-f])[\da-f]{6,40}(?![\p{L}\p{N}])/uy;

/** 0x80070057, and a commit such as 3f2a9bc. */
function hexadecimal(reading: Reading): Found | undefined {
  const { text, at, runEnd } = reading;
  if (!reading.isFresh || !/[a-fx\d]/.test(text[runEnd] ?? '')) return undefined;
  const match = reading.match(HEXADECIMAL);
  if (match !== undefined)
    return { end: at + match[0].length, spoken: `zero X ${spelled(match[1] ?? '')}`, rule: 'identifier' };
  const hash = reading.match(HASH)?.[0];
  if (hash === undefined || (hash.match(/[a-f]+|\d+/g)?.length ?? 0) < 4) return undefined;
  return { end: at + hash.length, spoken: spelled(hash), rule: 'identifier' };
}

function spelled(code: string): string {
  return Array.from(code, (sign) => (/\d/.test(sign) ? spellDigits(sign) : sign.toUpperCase())).join(' ');
}

const NAMED_SIGN = /#(?=(?: (?:is|was|will|for|from|on|in|of|below|above|and|or|with)\b)|: |[,.;)?]|$)/y;
const NUMBER_SIGN = /# ?(?=[A-Z]{1,4}-?\d|\d{1,3}-?[A-Z]\b)/y;
const BEFORE_SIGN = tablesOf('en').set('before a numbered sign');

/** Gate #A-12, your case # is; but #COVID19 is a hashtag. */
function numberSign(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const isNamed = /[\p{L}.] ?$/u.test(text.slice(Math.max(0, at - 2), at)) && reading.match(NAMED_SIGN);
  if (isNamed && BEFORE_SIGN.has(reading.around(at).previousShort.toLowerCase())) {
    const gap = text[at - 1] === ' ' ? '' : ' '; // Rx#
    return { end: at + 1, spoken: `${gap}number`, rule: 'symbol' };
  }
  const match = reading.match(NUMBER_SIGN);
  if (match === undefined) return undefined;
  const hyphenated = /^# ?[A-Z]{1,4}-\d/.test(text.slice(at, at + 8));
  const digit = /\d/.test(text[at + 1] ?? '');
  if (!hyphenated && !digit && !BEFORE_SIGN.has(reading.around(at).previousShort)) return undefined;
  return { end: at + 1, spoken: 'number', rule: 'symbol' };
}

const EVERY = /q ?(\d{1,2})[-–](\d{1,2}) ?h(?:rs?)?(?![\p{L}\p{N}])/uy;

/** Q4–6h */
const everyHours: Recogniser = (reading) => {
  const match = reading.match(EVERY);
  if (match === undefined) return undefined;
  const spoken = `every ${cardinal(match[1] ?? '')} to ${cardinal(match[2] ?? '')} hours`;
  return { end: reading.at + match[0].length, spoken, rule: 'measure', isCertain: true };
};

const FITTED = /(\d{1,2}(?:\.5)?) ([A-Z]{1,3})(?![\p{L}\p{N}])/uy;

/** Size 10.5 W: a width, no watts. */
const size: Recogniser = (reading) => {
  const { text, at } = reading;
  const match = /\b[sS]izes?:? $/.test(text.slice(Math.max(0, at - 8), at))
    ? reading.match(FITTED)
    : undefined;
  if (match === undefined) return undefined;
  const [written, number = '', letters = ''] = match;
  const [whole = '', half] = number.split('.');
  const said =
    half === undefined ? cardinal(withoutZeros(whole)) : `${cardinal(withoutZeros(whole))} and a half`;
  return { end: at + written.length, spoken: `${said} ${Array.from(letters).join(' ')}`, rule: 'identifier' };
};

const NUMBERED_BOOK =
  /([123]) (?=(?:Cor|Sam|Kgs|Chr|Thess|Tim|Pet|Jn|John|Corinthians|Samuel|Kings|Chronicles|Thessalonians|Timothy|Peter)\.? \d)/y;

/** 1 Cor. 13:4 */
const numberOfBook: Recogniser = (reading) => {
  const match = reading.match(NUMBERED_BOOK);
  return match && { end: reading.at + 1, spoken: ordinal(match[1] ?? ''), rule: 'ordinal' };
};

const DOCKET = /(\d{1,2})-(cv|cr|mc|md|bk)-(\d{3,6})(?![\p{L}\p{N}])/uy;

/** No. 21-cv-04567 */
const docket: Recogniser = (reading) => {
  const match = reading.match(DOCKET);
  if (match === undefined) return undefined;
  const [written, court = '', kind = '', number = ''] = match;
  const letters = Array.from(kind.toUpperCase()).join(' ');
  const spoken = `${cardinal(withoutZeros(court))} ${letters} ${spellDigits(number)}`;
  return { end: reading.at + written.length, spoken, rule: 'digits' };
};

const ZIP = /(\d{5})-(\d{4})(?![\p{L}\p{N}]|[-.,:/]\d)/uy;

/** 10018-1234: what is smaller ends no range. */
const zip: Recogniser = (reading) => {
  const match = reading.runEnd - reading.at === 5 ? reading.match(ZIP) : undefined;
  if (match === undefined) return undefined;
  const spoken = `${spellDigits(match[1] ?? '')}, ${spellDigits(match[2] ?? '')}`;
  return { end: reading.at + match[0].length, spoken, rule: 'address' };
};

const WIRELESS = /802\.(\d{1,2})([a-z]{0,2})(?![\p{L}\p{N}])/uy;

/** 802.11ac */
const wireless: Recogniser = (reading) => {
  const match = reading.match(WIRELESS);
  if (match === undefined) return undefined;
  const [written, part = '', letters = ''] = match;
  const spoken = [
    'eight oh two point',
    cardinal(withoutZeros(part)),
    ...letters.toUpperCase().split(''),
  ].join(' ');
  return { end: reading.at + written.length, spoken, rule: 'identifier' };
};

const MODELS = /([A-Z]{1,3})-?(\d{1,3})s(?![\p{L}\p{N}'’])/uy;

/** F-16s, B-52s */
const models: Recogniser = (reading) => {
  const match = reading.match(MODELS);
  if (match === undefined) return undefined;
  const [written, letters = '', number = ''] = match;
  const spoken = `${Array.from(letters).join(' ')} ${plural(pairs(withoutZeros(number)))}`;
  return { end: reading.at + written.length, spoken, rule: 'identifier' };
};

const SEVERAL = /(\d{1,3})s(?![\p{L}\p{N}'’])/uy;
const BEFORE_SEVERAL = tablesOf('en').set('before several');
const UNDER_AGE = /(?:^|[^\p{L}])(?:under|over)-$/iu;
const [OTHER_BEFORE, OTHER_BEHIND] = [
  /(\S{1,16}) \d{1,3}s(?:,| and| or) $/,
  /^(?:,| and| or) \d{1,3}s(?![\p{L}\p{N}])/u,
];
const OF_SPAN = new Set(['between', 'from']);

/** Two 6s, three 737s, under-12s, the 4s and 5s. */
const several: Recogniser = (reading) => {
  const match = reading.match(SEVERAL);
  if (match === undefined) return undefined;
  const digits = withoutZeros(match[1] ?? '');
  const { text, at } = reading;
  const before = text.slice(Math.max(0, at - 24), at);
  const { previousWord } = reading.around(at);
  const first =
    OTHER_BEFORE.exec(before)?.[1] ??
    (OTHER_BEHIND.test(text.slice(at + match[0].length, at + 12)) ? previousWord : '');
  if (OF_SPAN.has(first)) return undefined;
  if (!BEFORE_SEVERAL.has(previousWord) && !UNDER_AGE.test(before) && first.toLowerCase() !== 'the')
    return undefined;
  if (/^[2-9]0$/.test(digits)) return undefined; // decades
  const said = /^7[0-8]7$/.test(digits) ? pairs(digits) : cardinal(digits);
  return { end: reading.at + match[0].length, spoken: plural(said), rule: 'cardinal' };
};

const LETTERED_PLACE = /(\d{1,2})([a-h])(?![\p{L}\p{N}'’]|\.\p{L})/uy;
const BEFORE_LETTERED =
  /\b(?:zones?|apt|apartment|unit|room|grade|class|figure|fig\.|table|exercise|section|page|row|seat|flat|step|stage|part|gate)\.? $/i;

/** USDA zone 6b, exercise 4a */
const letteredPlace: Recogniser = (reading) => {
  const [written, digits = '', letter = ''] = reading.match(LETTERED_PLACE) ?? [];
  const lead = reading.text.slice(Math.max(0, reading.at - 14), reading.at);
  if (written === undefined || !BEFORE_LETTERED.test(lead)) return undefined;
  const spoken = `${cardinal(digits)} ${letter.toUpperCase()}`;
  return { end: reading.at + written.length, spoken, rule: 'identifier' };
};

const LETTERED_MODEL = /([A-Z]{2,5})-(\d{1,3})([a-rt-z])(?![\p{L}\p{N}])/uy;

/** GPT-4o */
const letteredModel: Recogniser = (reading) => {
  const match = reading.match(LETTERED_MODEL);
  if (match === undefined) return undefined;
  const [written, letters = '', number = '', letter = ''] = match;
  const spoken = `${Array.from(letters).join(' ')} ${pairs(withoutZeros(number))} ${letter.toUpperCase()}`;
  return { end: reading.at + written.length, spoken, rule: 'identifier' };
};

const STAGED = /(\d{1,4})\.(\d{1,4})-(alpha|beta|rc)[.-]?(\d{0,3})(?![\p{L}\p{N}])/uy;

/** 2.0-beta.1 */
const staged: Recogniser = (reading) => {
  const match = reading.match(STAGED);
  if (match === undefined) return undefined;
  const [written, major = '', minor = '', stage = '', count = ''] = match;
  const name = stage === 'rc' ? 'R C' : stage;
  const numbers = `${cardinal(withoutZeros(major))} point ${cardinal(withoutZeros(minor))}`;
  const spoken = `${numbers} ${name}${count === '' ? '' : ` ${cardinal(withoutZeros(count))}`}`;
  return { end: reading.at + written.length, spoken, rule: 'version' };
};

// units before a number that may say what it is

const SHORT_NUMBER = /(?:[2-9]11|988|999|11[0-2]|119|101|10[0-28]|000)(?![\p{L}\p{N}]|[-.,:/]\d)/uy;
const CALLING =
  /\b(?:call(?:s|ed|ing)?|dial(?:s|ed|ing)?|phone[ds]?|ring|rang|text(?:ed|ing)?)\b[^.!?]{0,40}$/i;
const LINE_BEFORE =
  /\b(?:helpline|hotline|lifeline|emergency(?: services| number)?)(?: (?:on|at|is|number is|number)|:) $/i;
const CALL_BEHIND =
  /^ (?:calls?|callers?|operators?|dispatch(?:er|ers)?|cent(?:er|re)|emergency|services?|lifeline|hotline)\b/;
const COUNTED = /^ (?:(?:\p{Ll}+ )?(?:people|\p{Ll}{3,}s)\b|(?:or|and|to) more)/u;
const FEW = /[1-9]\d{1,3}(?![\p{L}\p{N}]|[-.,:/]\d)/uy;
const CALL_WORD = /^(?:call|text|ring|mobile|cell|dial|phone|fax)$/;

/** Call 911, 411, or 311; we call 250 customers, who are counted. */
function shortNumber(reading: Reading): Found | undefined {
  const length = reading.runEnd - reading.at;
  if (length < 2 || length > 4 || !reading.isFresh) return undefined;
  const { text, at, runEnd } = reading;
  const digits = length === 3 ? reading.match(SHORT_NUMBER)?.[0] : undefined;
  const asked = CALL_WORD.test(reading.around(at).previousWord);
  if (digits === undefined && !asked) return undefined;
  const behind = text.slice(runEnd, runEnd + LONGEST_LEAD);
  const lead = text.slice(Math.max(0, at - LONGEST_LEAD), at);
  const counted = COUNTED.test(behind) && !CALL_BEHIND.test(behind);
  const called = CALLING.test(lead) || LINE_BEFORE.test(lead);
  if (digits !== undefined && !counted && (called || (digits.startsWith('9') && CALL_BEHIND.test(behind)))) {
    return { end: at + digits.length, spoken: spellDigits(digits), rule: 'telephone' };
  }
  const few = counted && asked ? reading.match(FEW)?.[0] : undefined;
  return few === undefined ? undefined : { end: at + few.length, spoken: cardinal(few), rule: 'cardinal' };
}

const POUND = /#\d{1,3}(?![\p{L}\p{N}#*])/uy;
const PRESSING = /\b(?:press|hit|push|dial|pressing)\b[^.!?]{0,24}$/i;

/** Press *1 or #2 */
function poundKey(reading: Reading): Found | undefined {
  const written = reading.match(POUND)?.[0];
  const lead = reading.text.slice(Math.max(0, reading.at - LONGEST_LEAD), reading.at);
  if (written === undefined || !PRESSING.test(lead)) return undefined;
  return { end: reading.at + written.length, spoken: `pound ${spellDigits(written.slice(1))}`, rule: 'code' };
}

const EXTENSION = /x\.? ?(\d{1,6})(?![\p{L}\p{N}])/uy;

/** 800.555.0123 x45 */
const extension: Recogniser = (reading) => {
  const match = reading.match(EXTENSION);
  if (match === undefined) return undefined;
  const lead = reading.text.slice(Math.max(0, reading.at - LONGEST_LEAD), reading.at);
  if (!/\d{4},? $/.test(lead) && !/\bext(?:ension|\.)?\b/i.test(lead)) return undefined;
  const spoken = `extension ${spellDigits(match[1] ?? '')}`;
  return { end: reading.at + match[0].length, spoken, rule: 'telephone' };
};

/** In the order in which the language asks them. */
export const codeRules = {
  behindDigits: [
    [/[pi]/, /(?!)/, screen],
    [/[-MDNjapf]/, /[MDNjapf]/, certain(aircraft)],
    [/[-–]/, /[-–]/, places],
    [/(?!)/, /[CSKTPJ]/, numberOfBook],
    [/\./, /[A-Z]/, certain(size)],
    [/[(kbA-Z]/, /(?!)/, subsection],
  ],
  behindDigitsLater: [
    [/\./, /(?!)/, staged],
    [/s/, /(?!)/, certain(several)],
    [/[a-h]/, /(?!)/, letteredPlace],
  ],
  behindDigitsLast: [
    [/-/, /(?!)/, docket],
    [/-/, /(?!)/, zip],
    [/\./, /(?!)/, wireless],
  ],
  atDigit: [httpStatus, certain(place), hexadecimal],
  atDigitLater: [numbered, shortNumber],
  atCapital: [
    [/[A-Z]/, models],
    [/[A-Z]/, letteredModel],
  ],
  atSmall: [
    [/x/, extension],
    [/q/, everyHours],
  ],
  atMark: [
    [/#/, poundKey],
    [/#/, certain(numberSign)],
  ],
} satisfies Rules<DigitRule>;
