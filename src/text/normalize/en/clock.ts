// Times and durations that English writes in ways of its own: 0630 hours, 7.30pm, 8a–5p, 9am PT/12pm ET, a
// timeout of 30s.
import { tablesOf } from '../../tables/language-tables.js';
import { withoutZeros } from '../numerals.js';
import { certain, type Found, NOWHERE, type Reading, type Recogniser } from '../reading.js';
import type { Rules } from '../shared-forms.js';
import type { DigitRule } from './digit-rules.js';
import { cardinal, ohBefore, spellDigits } from './numbers.js';
import { SPEECH } from './speech.js';
import { WRITING } from './writing.js';

const MILITARY = /([01]\d|2[0-3])([0-5]\d)(?: ?(?:hrs?\b\.?|hours\b)|Z\b)/y;
const BEFORE_TIME = new Set(['at', 'by', 'until', 'from', 'to', 'before', 'after', 'around', 'till']);
const ON_THE_HOUR = /(\d{1,2}):(\d{2}) ?(?:hrs?\b\.?|hours\b)/y;

function inHours(hours: string, minutes: string): string {
  const hour = hours === '00' ? 'zero' : ohBefore(hours);
  return `${hour} ${minutes === '00' ? 'hundred' : ohBefore(minutes)} hours`;
}

/** 0630 hours is oh six thirty; 1400 hours of work are counted. */
const military: Recogniser = (reading) => {
  if (reading.runEnd - reading.at !== 4) return undefined;
  const match = reading.match(MILITARY);
  const [written = '', hours = '', minutes = ''] = match ?? [];
  if (match === undefined) return undefined;
  if (!hours.startsWith('0') && !BEFORE_TIME.has(reading.around(reading.at).previousWord)) return undefined;
  const zulu = written.endsWith('Z') ? inHours(hours, minutes).replace(/hours$/, 'Zulu') : undefined;
  return { end: reading.at + written.length, spoken: zulu ?? inHours(hours, minutes), rule: 'time' };
};

/** 17:30 hrs */
const clockHours: Recogniser = (reading) => {
  const match = reading.match(ON_THE_HOUR);
  const [written = '', hours = '', minutes = ''] = match ?? [];
  if (match === undefined || Number(hours) > 24 || Number(minutes) > 59) return undefined;
  const spoken = inHours(withoutZeros(hours), minutes);
  return { end: reading.at + written.length, spoken, rule: 'time' };
};

const DOTTED = /(\d{1,2})\.([0-5]\d)(?: ?[-–] ?(\d{1,2})(?:[.:]([0-5]\d))?)? ?([ap])(?:m\b|\.m\.?)/iy;

/** 7.30pm */
const dottedTime: Recogniser = (reading) => {
  const match = reading.match(DOTTED);
  const [written = '', hours = '', minutes = '', hoursTo, minutesTo = '', half = ''] = match ?? [];
  if (match === undefined || Number(hours) > 12 || Number(hoursTo ?? 1) > 12) return undefined;
  const end = reading.at + written.length;
  const name = `${half.toLowerCase()}.m.`;
  const from = { hours: withoutZeros(hours), minutes };
  if (hoursTo === undefined) {
    const spoken = SPEECH.time({ ...from, half: name }, NOWHERE);
    return spoken === undefined ? undefined : { end, spoken, rule: 'time' };
  }
  const to = SPEECH.time({ hours: withoutZeros(hoursTo), minutes: minutesTo, half: name }, NOWHERE);
  return { end, spoken: `${SPEECH.time(from, NOWHERE) ?? ''} to ${to ?? ''}`, rule: 'time' };
};

const SHORT_HALVES = /(\d{1,2})(?::(\d{2}))?([ap]) ?[-–] ?(\d{1,2})(?::(\d{2}))?([ap])(?![\p{L}\p{N}]|\.m)/uy;

/** 8a–5p */
const shortHalves: Recogniser = (reading) => {
  const match = reading.match(SHORT_HALVES);
  if (match === undefined) return undefined;
  const [written, hours = '', minutes = '', half, hoursTo = '', minutesTo = '', halfTo] = match;
  const from = SPEECH.time({ hours: withoutZeros(hours), minutes, half: `${half ?? ''}.m.` }, NOWHERE);
  const to = SPEECH.time(
    { hours: withoutZeros(hoursTo), minutes: minutesTo, half: `${halfTo ?? ''}.m.` },
    NOWHERE,
  );
  return { end: reading.at + written.length, spoken: `${from ?? ''} to ${to ?? ''}`, rule: 'time' };
};

const SHORT_HALF = /(\d{1,2})(?::([0-5]\d))?([ap])(?![\p{L}\p{N}]|\.m)/uy;
const BEFORE_HOUR =
  /(?:\b(?:check-?(?:in|out)|at|by|til|till|until|opens?|closes?|starts?|ends?|arrives?|departs?|noon|(?:mon|tues?|wed|thu(?:rs)?|fri|sat|sun)\p{L}{0,6}),?|@) $/iu;

/** Sunrise 6:42a, check-in 3p */
const shortHalf: Recogniser = (reading) => {
  const match = reading.match(SHORT_HALF);
  const [written = '', hours = '', minutes = '', half = ''] = match ?? [];
  if (match === undefined || Number(hours) > 12) return undefined;
  const lead = reading.text.slice(Math.max(0, reading.at - 16), reading.at);
  if (minutes === '' && !BEFORE_HOUR.test(lead)) return undefined;
  const spoken = SPEECH.time({ hours: withoutZeros(hours), minutes, half: `${half}.m.` }, NOWHERE);
  return spoken === undefined ? undefined : { end: reading.at + written.length, spoken, rule: 'time' };
};

const OFFSET = /(UTC|GMT) ?([-+−])(\d{1,2}):(\d{2})(?!\d)/uy;

/** UTC+05:30 */
export const offset: Recogniser = (reading) => {
  const match = reading.match(OFFSET);
  if (match === undefined) return undefined;
  const [written, zone = '', sign, hours = '', minutes = ''] = match;
  const past = minutes === '00' ? '' : ` ${cardinal(withoutZeros(minutes))}`;
  const spoken = `${SPEECH.letters(zone)} ${sign === '+' ? 'plus' : 'minus'} ${cardinal(withoutZeros(hours))}${past}`;
  return { end: reading.at + written.length, spoken, rule: 'zone' };
};

const BESIDE = new RegExp(
  String.raw`/ ?(\d{1,2})(?::(\d\d))? ?([ap])\.?m\b\.?(?: (${Object.keys(WRITING.times.zones).join('|')})(?![\p{L}\p{N}]))?`,
  'iuy',
);

/** 9am PT/12pm ET: another time of day is no denominator. */
export const timeBesideTime: Recogniser = (reading) => {
  const { text, at } = reading;
  if (!/(?:\d ?[ap]\.?m\.?|[PMCE][SD]?T) ?$/i.test(text.slice(Math.max(0, at - 8), at))) return undefined;
  const match = reading.match(BESIDE);
  if (match === undefined) return undefined;
  const [written, hours = '', minutes = '', half = '', zone] = match;
  const time = { hours: withoutZeros(hours), minutes, half: `${half.toLowerCase()}.m.` };
  const name = zone === undefined ? undefined : WRITING.times.zones[zone.toUpperCase()];
  const said = SPEECH.time(name === undefined ? time : { ...time, zone: name }, NOWHERE);
  return { end: at + written.length, spoken: `, ${said ?? ''}`, rule: 'time' };
};

const SECONDS = /(\d{1,3})s(?![\p{L}\p{N}'’])/uy;
const BEFORE_SECONDS = tablesOf('en').set('before seconds');
const UNTIMED = /^ (?:of|to|are|were|was|is|and early|style|music|fashion|hits?)\b/;

/** Wait 10s, a 30s timeout; the 90s are years. */
const seconds: Recogniser = (reading) => {
  const match = reading.match(SECONDS);
  const [written = '', digits = ''] = match ?? [];
  const end = reading.at + written.length;
  if (match === undefined) return undefined;
  const compared = /[~≈<>≤≥] ?$/.test(reading.text.slice(Math.max(0, reading.at - 2), reading.at));
  if (!compared && UNTIMED.test(reading.text.slice(end, end + 12))) return undefined;
  const { previousWord, nextWord } = reading.around(end);
  const attribute = /^an?$/.test(previousWord) && /^\p{Ll}/u.test(nextWord);
  const set = /\b(?:time-?outs?|interval|delay|duration|limit|TTL|wait|lasts?)\b[^.!?;]{0,24}$/i.test(
    reading.text.slice(Math.max(0, reading.at - 40), reading.at),
  );
  if (!attribute && !compared && !set && !BEFORE_SECONDS.has(previousWord)) return undefined;
  const word = attribute || digits === '1' ? 'second' : 'seconds';
  return { end, spoken: `${cardinal(withoutZeros(digits))} ${word}`, rule: 'duration' };
};

const HOURS_AND_MINUTES = /(\d{1,2})h([0-5]\d)(?![\p{L}\p{N}])/uy;

/** The drive takes 1h10; at 14h30 is a time. */
const hoursAndMinutes: Recogniser = (reading) => {
  const match = reading.match(HOURS_AND_MINUTES);
  const [written = '', hours = '', minutes = ''] = match ?? [];
  const end = reading.at + written.length;
  const around = reading.around(end);
  if (match === undefined || BEFORE_TIME.has(around.previousWord)) return undefined;
  const parts = [[withoutZeros(hours), 'h'] as const, [withoutZeros(minutes), 'min'] as const];
  const some = parts.filter(([amount]) => amount !== '0');
  return { end, spoken: SPEECH.duration(some, around), rule: 'duration' };
};

const HUNDREDS = /(1?0|1,?000|10,?000|100(?:,?000)?|1,?000,?000)s of\b/y;
const MANY: Readonly<Record<string, string>> = {
  '10': 'tens',
  '100': 'hundreds',
  '1000': 'thousands',
  '10000': 'tens of thousands',
  '100000': 'hundreds of thousands',
  '1000000': 'millions',
};

/** 100s of hours */
const hundreds: Recogniser = (reading) => {
  const match = reading.match(HUNDREDS);
  const spoken = MANY[(match?.[1] ?? '').replaceAll(',', '')];
  if (match === undefined || spoken === undefined) return undefined;
  return { end: reading.at + match[0].length, spoken: `${spoken} of`, rule: 'cardinal' };
};

const LASTING = /(\d{1,2}):(\d{2}):(\d{2})(?![\d:])/y;
const BEFORE_LASTING = tablesOf('en').set('before a duration');
const CLOCK_LEAD =
  /\b(?:record|marathon|race|duration|runtime|length|lap|finish(?:ed)?|elapsed|total time)\b[^.!?]{0,32}$/i;
const COUNTDOWN = /00?:(\d{2})(?![\d:])/y;
const BEFORE_COUNTDOWN = /\b(?:left|remaining|duration|length|elapsed|timer|countdown)\b[^.!?]{0,8}$/i;

/** It took 1:05:20: that is no time of day. */
const lasting: Recogniser = (reading) => {
  const match = reading.match(LASTING);
  const lead = reading.text.slice(Math.max(0, reading.at - 48), reading.at);
  if (match === undefined) return countdown(reading, lead);
  const asked = reading.around(reading.at).previousWord;
  if (!BEFORE_LASTING.has(asked) || (/^(?:is|was)$/.test(asked) && !CLOCK_LEAD.test(lead))) return undefined;
  const [written, hours = '', minutes = '', rest = ''] = match;
  const parts = (
    [
      [hours, 'h'],
      [minutes, 'min'],
      [rest, 's'],
    ] as const
  )
    .map(([digits, unit]) => [withoutZeros(digits), unit] as const)
    .filter(([digits]) => digits !== '0');
  if (parts.length === 0) return undefined;
  const end = reading.at + written.length;
  return { end, spoken: SPEECH.duration(parts, reading.around(end)), rule: 'duration' };
};

function countdown(reading: Reading, lead: string): Found | undefined {
  const match = reading.match(COUNTDOWN);
  const end = reading.at + (match?.[0].length ?? 0);
  const isNamed =
    BEFORE_COUNTDOWN.test(lead) || /^ (?:left|remaining|to go)\b/.test(reading.text.slice(end, end + 11));
  if (match === undefined || !isNamed) return undefined;
  const spoken = SPEECH.duration([[withoutZeros(match[1] ?? ''), 's']], NOWHERE);
  return { end: reading.at + match[0].length, spoken, rule: 'duration' };
}

const RAN = /(\d{2}):([0-5]\d)(?![\d:]| ?[apAP]\.?[mM])/y;
const BEFORE_RAN =
  /\b(?:ran|run|finish(?:ed|es)?|swam|biked|cycled|race|5K|10K|15K|PB|PR)\b[^.!?;]{0,24}(?: in|:| of| time) $/;

/** She ran the 10K in 48:30. */
const ran: Recogniser = (reading) => {
  const { text, at } = reading;
  const match = BEFORE_RAN.test(text.slice(Math.max(0, at - 36), at)) ? reading.match(RAN) : undefined;
  if (match === undefined) return undefined;
  const spoken = SPEECH.duration(
    [
      [withoutZeros(match[1] ?? ''), 'min'],
      [withoutZeros(match[2] ?? ''), 's'],
    ],
    NOWHERE,
  );
  return { end: at + match[0].length, spoken, rule: 'duration', isCertain: true };
};

const LAP = /(\d{1,2}):([0-5]\d)\.(\d{1,3})(?![\p{L}\d])/uy;

/** A lap of 1:23.456 */
const lap: Recogniser = (reading) => {
  const match = reading.match(LAP);
  if (match === undefined) return undefined;
  const [written, minutes = '', rest = '', parts = ''] = match;
  const spoken = `${cardinal(withoutZeros(minutes))} ${ohBefore(rest)} point ${spellDigits(parts)}`;
  return { end: reading.at + written.length, spoken, rule: 'duration' };
};

const DAYS_LEFT = /(\d{1,3})d ?(\d{1,2})h(?: ?(\d{1,2})m(?:in)?)?(?![\p{L}\p{N}])/uy;

/** 1d 4h */
const daysAndHours: Recogniser = (reading) => {
  const match = reading.match(DAYS_LEFT);
  if (match === undefined) return undefined;
  const [written, days = '', hours = '', minutes] = match;
  const parts = [[hours, 'h'] as const, ...(minutes === undefined ? [] : [[minutes, 'min'] as const])];
  const rest = SPEECH.duration(
    parts.map(([digits, unit]) => [withoutZeros(digits), unit]),
    NOWHERE,
  );
  const spoken = `${cardinal(withoutZeros(days))} ${Number(days) === 1 ? 'day' : 'days'} ${rest}`;
  return { end: reading.at + written.length, spoken, rule: 'duration' };
};

const ISH = /(\d{1,4})(?=ish\b)/y;

/** 8ish */
const about: Recogniser = (reading) => {
  const match = reading.match(ISH);
  if (match === undefined) return undefined;
  return {
    end: reading.at + match[0].length,
    spoken: `${cardinal(withoutZeros(match[0]))}-`,
    rule: 'cardinal',
  };
};

const HOURS = new RegExp(
  String.raw`(\d{1,2})[-–](\d{1,2})(?: (${Object.keys(WRITING.times.zones).join('|')})(?![\p{L}\p{N}]))?(?![\p{L}\p{N}]|[-–.,:/]\d)`,
  'uy',
);
const BEFORE_HOURS = tablesOf('en').set('before hours of opening');
const BEHIND_HOURS = /^,? (?:on|daily|every|week(?:days|ends)|M|Mon|Tue|Wed|Thu|Fri|Sat|Sun)(?!\p{L})/u;

/** Open 9-5, 8–8 ET: the second hour is one of the afternoon. */
const openingHours: Recogniser = (reading) => {
  const match = reading.match(HOURS);
  const [written = '', from = '', to = '', zone = ''] = match ?? [];
  if (match === undefined || Number(from) > 12 || Number(to) > 12 || Number(to) > Number(from))
    return undefined;
  const end = reading.at + written.length;
  const isDay = from === to && BEHIND_HOURS.test(reading.text.slice(end, end + 12));
  if (zone === '' && !isDay && !BEFORE_HOURS.has(reading.around(reading.at).previousShort)) return undefined;
  const name = zone === '' ? '' : ` ${WRITING.times.zones[zone] ?? zone}`;
  const spoken = `${cardinal(withoutZeros(from))} to ${cardinal(withoutZeros(to))}${name}`;
  return { end, spoken, rule: 'time' };
};

/** In the order in which the language asks them. */
export const clockRules = {
  behindDigits: [
    [/[s,]/, /(?!)/, hundreds],
    [/:/, /(?!)/, clockHours],
  ],
  behindDigitsLater: [
    [/[hZ]/, /h/, military],
    [/\./, /(?!)/, dottedTime],
    [/[ap:]/, /(?!)/, shortHalves],
    [/[ap:]/, /(?!)/, certain(shortHalf)],
    [/:/, /(?!)/, lap],
    [/:/, /(?!)/, ran],
    [/:/, /(?!)/, lasting],
    [/s/, /(?!)/, seconds],
    [/h/, /(?!)/, hoursAndMinutes],
    [/d/, /(?!)/, daysAndHours],
    [/i/, /(?!)/, about],
    [/[-–]/, /(?!)/, openingHours],
  ],
} satisfies Rules<DigitRule>;
