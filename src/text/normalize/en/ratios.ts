// Two numbers with a slash between them that are no fraction: 8/10, 120/80, step 3/5, 24/7/365.
import { certain, type Found, type Reading, type Recogniser } from '../reading.js';
import { cardinal, decimal, pairs } from './numbers.js';
import { numeralOf } from '../numerals.js';
import type { Rules } from '../shared-forms.js';
import type { DigitRule } from './digit-rules.js';

const PAIR = /(\d{1,3}(?:\.\d{1,2})?)\/(\d{1,3})(?:\.0(?!\d))?(?![\d/]|\.\d)/y;
const LONGEST_LEAD = 48; // units before the numbers that may say what they are

const RATED =
  /\b(?:rat(?:e|es|ed|ing|ings)|scor(?:e|es|ed|ing)|gave|give|gives|pain|solid|grade|graded|review|marks?)\b[\p{L}'’:, *-]{0,24}$/iu;
const EARNED = /\b(?:got|gets?|earned|received|at)\b[\p{L}' ]{0,12}$/iu;
const BEHIND_RATING =
  /^ (?:ratings?|stars?|scores?|reviews?|points?|marks?|on (?:the|a|his|her|my|your) (?:\p{L}+ )?(?:quiz|test|exam|scale)|would|pain|for)\b/u;
const OF_TEN = /^ (?:people|\p{Ll}{3,}s)\b/u;
const MOST = new Set(['4', '5', '6', '10', '12', '15', '20', '25', '30', '40', '50', '60', '80', '100']);
const STEP =
  /\b(?:step|page|part|slide|question|chapter|item|stage|level|round|disc|disk|episode|lesson|task|file|attempt|try|day|week|phase|section|screen|section)s? $/i;
const PRESSURE = /\b(?:blood pressure|pressure|bp|b\.p\.|systolic|hypertension|readings?|vitals)\b/i;
const MERCURY = /^ ?mm ?Hg\b/;
const ALWAYS = /24\/7(?:\/365)?(?![\d/]|\.\d)/y;
const QUOTIENT = /(\d{1,6})\/(\d{1,6})(?= ?=)/y;

function lead({ text, at }: Reading): string {
  return text.slice(Math.max(0, at - LONGEST_LEAD), at);
}

function tail({ text }: Reading, end: number): string {
  return text.slice(end, end + LONGEST_LEAD);
}

function sayPoints(written: string): string {
  const [whole = '', decimals = ''] = written.split('.');
  return decimal({ ...numeralOf(whole), decimals });
}

/** 9.5/10 is nine point five out of ten; 8/10 is where something is rated. */
const rating: Recogniser = (reading) => {
  const match = reading.match(PAIR);
  if (match === undefined) return undefined;
  const [written, points = '', most = ''] = match;
  const end = reading.at + written.length;
  if (!MOST.has(most) || Number(points) > Number(most) || /^0\d/.test(points)) return undefined;
  const behind = tail(reading, end);
  if (/^ ?(?:of|cups?|tsp|tbsp|inch|mile|[kMG]?Hz|psi|bar|mm|cm)\b/.test(behind)) return undefined;
  const rated =
    points.includes('.') ||
    (written === '10/10' && !/\b(?:on|due|by|until) $/i.test(lead(reading))) ||
    RATED.test(lead(reading)) ||
    BEHIND_RATING.test(behind) ||
    (Number(most) >= 10 && EARNED.test(lead(reading))) ||
    (most === '10' && Number(points) > 1 && OF_TEN.test(behind));
  if (!rated) return undefined;
  return { end, spoken: `${sayPoints(points)} out of ${cardinal(most)}`, rule: 'score' };
};

const SHOTS =
  /^,? (?:for \d{1,3} (?:yds?|yards)|from (?:three|deep|downtown|the (?:field|line))|shooting|passing|FGs?)\b/;

/** 14/19 for 187 yards */
const shots: Recogniser = (reading) => {
  const match = reading.match(PAIR);
  const [written = '', made = '', all = ''] = match ?? [];
  const end = reading.at + written.length;
  if (match === undefined || Number(made) > Number(all) || !SHOTS.test(tail(reading, end))) return undefined;
  return { end, spoken: `${cardinal(made)} of ${cardinal(all)}`, rule: 'score' };
};

/** Step 3/5. */
const step: Recogniser = (reading) => {
  const match = reading.match(PAIR);
  const [written = '', part = '', all = ''] = match ?? [];
  if (match === undefined || part.includes('.') || Number(part) > Number(all) || !STEP.test(lead(reading))) {
    return undefined;
  }
  return { end: reading.at + written.length, spoken: `${cardinal(part)} of ${cardinal(all)}`, rule: 'score' };
};

/** Blood pressure: 120/80 is one twenty over eighty. */
const pressure: Recogniser = (reading) => {
  const match = reading.match(PAIR);
  const [written = '', systolic = '', diastolic = ''] = match ?? [];
  const [high, low] = [Number(systolic), Number(diastolic)];
  if (match === undefined || systolic.includes('.') || high > 260 || high < 60 || low < 30 || low >= high) {
    return undefined;
  }
  const end = reading.at + written.length;
  const named = PRESSURE.test(lead(reading)) || MERCURY.test(tail(reading, end));
  if (!named && (high < 100 || low > 120)) return undefined;
  const mercury = MERCURY.exec(tail(reading, end))?.[0] ?? '';
  const unit = mercury === '' ? '' : ' millimeters of mercury';
  return {
    end: end + mercury.length,
    spoken: `${pairs(systolic)} over ${cardinal(diastolic)}${unit}`,
    rule: 'measure',
  };
};

/** 24/7, 24/7/365 */
export const always: Recogniser = (reading) => {
  const match = reading.match(ALWAYS);
  if (match === undefined) return undefined;
  const spoken = `twenty-four seven${match[0].length > 4 ? ' three sixty-five' : ''}`;
  return { end: reading.at + match[0].length, spoken, rule: 'abbreviation' };
};

const SIGHT = /\b(?:vision|eyesight|acuity|eyes?)\b/i;
const SEEN = /20\/(\d{2,3})(?![\d/]|\.\d)/y;
const USED = /(\d{1,4}(?:\.\d{1,2})?)\/(?=\d{1,4}(?:\.\d{1,2})? ?[KMGT]i?B\b)/y;

/** Vision of 20/40, 12/16 GB */
export const pairOf: Recogniser = (reading) => {
  const used = reading.match(USED);
  if (used !== undefined) {
    return { end: reading.at + used[0].length, spoken: `${sayPoints(used[1] ?? '')} of `, rule: 'measure' };
  }
  const match = reading.match(SEEN);
  if (match === undefined) return undefined;
  const end = reading.at + match[0].length;
  if (!SIGHT.test(lead(reading)) && !SIGHT.test(tail(reading, end))) return undefined;
  return { end, spoken: `twenty ${pairs(match[1] ?? '')}`, rule: 'score' };
};

const RESULT = /(\d{1,3})[-–](\d{1,3})(?![\p{L}\p{N}]|[-–/.,:]\d|[-–]\p{L})/uy;
const NUMBERED =
  /\b(?:section|article|chapter|rule|figure|table|part|room|apt|unit|lot|title|psalm|line|building|bldg|step|item|exercise|problem|question|iso|iec|ieee|rfc|ansi|din|astm|en|pep)s?\.? $/i;
const VOTED =
  /\b(?:pass(?:ed|es)?|vot(?:e|ed|es)|won|approved|confirmed|rejected|failed|ruled|beat|polls?|leads?|led|score)\b/i;
/** Games won and lost. */
const RECORD =
  /\b(?:(?:they['’]re|they are)(?: now)?|record(?: of| is|:)?|improved to|fell to|dropped to) $/i;
/** Won, lost and drawn. */
const RECORD_OF_THREE = /(\d{1,2})-(\d{1,2})-(\d{1,2})(?![\p{L}\p{N}]|[-–/.,:]\d|[-–]\p{L})/uy;
const PLAYED = /\b(?:went|started|finished|now|team is|season at) $/i;
const OF_SEASON =
  /^ (?:record|start|mark|finish|season|on the (?:season|year)|this season|overall|at home)\b/;
const IDIOMS = new Set(['10-4', '24-7', '911-411', '9-9']);

/** 45-32: more than what follows it, so no range but a result; 80-20 and 60-40 are shares. */
export const result: Recogniser = (reading) => {
  const match = reading.match(RESULT);
  const [written = '', first = '', second = ''] = match ?? [];
  const [more, less] = [Number(first), Number(second)];
  const voted = VOTED.test(lead(reading));
  if (
    match === undefined ||
    more <= less ||
    (more + less === 100 && !voted) ||
    /^0\d/.test(first) ||
    /^0\d/.test(second)
  )
    return undefined;
  if (IDIOMS.has(written) || NUMBERED.test(lead(reading))) return undefined;
  const end = reading.at + written.length;
  const isRecord =
    RECORD.test(lead(reading)) || /^ (?:record|on the (?:season|year))\b/.test(tail(reading, end));
  const joined = isRecord ? 'and' : 'to';
  return {
    end,
    spoken: `${cardinal(first)} ${joined} ${cardinal(second)}`,
    rule: 'score',
  };
};

/** Improved to 18-7-3 */
export const recordOfThree: Recogniser = (reading) => {
  const match = reading.match(RECORD_OF_THREE);
  const [written = '', won = '', lost = '', drawn = ''] = match ?? [];
  const end = reading.at + written.length;
  const before = lead(reading);
  const isPlayed =
    RECORD.test(before) || PLAYED.test(before) || OF_SEASON.test(reading.text.slice(end, end + 16));
  if (match === undefined || !isPlayed || /(?:^|-)0\d/.test(written)) return undefined;
  const spoken = `${cardinal(won)}, ${cardinal(lost)} and ${cardinal(drawn)}`;
  return { end, spoken, rule: 'score', isCertain: true };
};

/** 100/4=25: before the sign of equality that is a division. */
function quotient(reading: Reading): Found | undefined {
  const match = reading.match(QUOTIENT);
  const [written = '', above = '', below = ''] = match ?? [];
  if (match === undefined || Number(above) <= Number(below)) return undefined;
  const spoken = `${cardinal(String(Number(above)))} divided by ${cardinal(String(Number(below)))}`;
  return { end: reading.at + written.length, spoken, rule: 'math' };
}

const TWO_RATES = /(\d{2,3})\/(\d{2,3})(?= ?(?:mpg|Hz|V|VAC)(?![\p{L}\p{N}]))/uy;

/** 20/26 mpg, 50/60 Hz, 110/220V: two amounts of one unit. */
const twoRates: Recogniser = (reading) => {
  const match = reading.match(TWO_RATES);
  if (match === undefined) return undefined;
  const [written, first = '', second = ''] = match;
  return { end: reading.at + written.length - second.length, spoken: `${cardinal(first)} `, rule: 'measure' };
};

const LIMITS = /((?:15|20|25|30|50|100|250|500)(?:\/(?:25|30|40|50|60|100|300|500)){1,2})(?![\d/]|\.\d)/y;
const INSURED = /\b(?:liability|bodily injury|insurance|coverage|policy)\b/i;

/** Liability limits of 100/300/50, in thousands. */
const limits: Recogniser = (reading) => {
  const written = reading.match(LIMITS)?.[0];
  if (written === undefined) return undefined;
  const end = reading.at + written.length;
  if (!INSURED.test(lead(reading)) && !INSURED.test(tail(reading, end))) return undefined;
  return { end, spoken: written.split('/').map(cardinal).join(' '), rule: 'identifier' };
};

const FERTILISER = /(\d{1,2})-(\d{1,2})-(\d{1,2})(?= (?:\p{Ll}+ )?(?:fertili[sz]er|plant food|feed|NPK)\b)/uy;

/** A 5-10-10 fertilizer */
const fertiliser: Recogniser = (reading) => {
  const [written, ...parts] = reading.match(FERTILISER) ?? [];
  if (written === undefined) return undefined;
  return { end: reading.at + written.length, spoken: parts.map(cardinal).join(' '), rule: 'identifier' };
};

const MANY_FOR_SUM = /([2-9]|1\d)\/(?=\$\d{1,3}(?:\.\d\d)?(?![\d,]))/y;

/** Tacos are 2/$3. */
const manyForSum: Recogniser = (reading) => {
  const match = reading.match(MANY_FOR_SUM);
  if (match === undefined) return undefined;
  return { end: reading.at + match[0].length, spoken: `${cardinal(match[1] ?? '')} for `, rule: 'currency' };
};

/** In the order in which the language asks them. */
export const ratioRules = {
  behindDigits: [
    [/\//, /(?!)/, quotient],
    [/\//, /(?!)/, certain(twoRates)],
    [/\//, /(?!)/, certain(limits)],
    [/-/, /(?!)/, certain(fertiliser)],
    [/\//, /(?!)/, manyForSum],
  ],
  behindDigitsLater: [
    [/\//, /(?!)/, pressure],
    [/\//, /(?!)/, step],
    [/\//, /(?!)/, certain(shots)],
    [/[/.]/, /(?!)/, rating],
  ],
} satisfies Rules<DigitRule>;
