// Figures and signs that read as phrases: 3 x 4 m, 50%-60%, 90', 10x più veloce, H₂O.
import { tablesOf } from '../../tables/language-tables.js';
import { numeralOf } from '../numerals.js';
import { certain, type Found, NOWHERE, type Reading } from '../reading.js';
import {
  dayAndDay,
  hundredths,
  longDuration,
  perWord,
  plusBetween,
  primed,
  relation,
  type Rules,
  until,
} from '../shared-forms.js';
import { cardinal, decimal, ordinal } from './numbers.js';
import { SPEECH } from './speech.js';
import { WRITING } from './writing.js';

const AREA = /(\d{1,5}(?:,\d{1,2})?)( ?[xX] ?|×)(\d{1,5})(?![\p{N}]|[.,]\d)/uy;
const TIMES = /(\d{1,4}) ?[x×](?= (?:(?:più|meno|\p{L}\p{Ll}{2,})(?!\p{L})|€ ?\d|[\d.]{1,9}(?:,\d\d)? ?€))/uy;

/** 1920x1080, 3 x 4 m: a second figure that stands apart may have a unit. */
export function area(reading: Reading): Found | undefined {
  const match = reading.match(AREA);
  if (match === undefined) return undefined;
  const [written, first = '', mark = '', second = ''] = match;
  const [whole = '', decimals = ''] = first.split(',');
  const words = `${decimal({ ...numeralOf(whole), decimals })} per `;
  const behind = reading.text.slice(reading.at + written.length, reading.at + written.length + 4);
  const attached = /^[xX]$/.test(mark) && !/^ (?:[cmk]?m|px)(?!\p{L})/u.test(behind);
  const end = reading.at + written.length - (attached ? 0 : second.length);
  return { end, spoken: attached ? words + cardinal(second) : words, rule: 'math' };
}

/** 5 cm x 3 cm */
export function by({ text, at }: Reading): Found | undefined {
  if (
    !/^[xX] ?\d/.test(text.slice(at, at + 3)) ||
    !(
      /\d ?\p{L}{1,3} $/u.test(text.slice(Math.max(0, at - 8), at)) ||
      /^[xX] ?\d{1,3} ?(?:gg|giorni|settimane|mesi|volte|persone)(?!\p{L})/u.test(text.slice(at, at + 18))
    )
  )
    return undefined;
  return { end: at + 1, spoken: 'per', rule: 'math' };
}

/** 10x più veloce */
function times(reading: Reading): Found | undefined {
  const match = reading.match(TIMES);
  if (match === undefined) return undefined;
  return {
    end: reading.at + match[0].length,
    spoken: match[1] === '1' ? 'una volta' : `${cardinal(match[1] ?? '')} volte`,
    rule: 'cardinal',
  };
}

const related = relation(tablesOf('it').signs.inFront, tablesOf('it').set('before a compared amount'));
const toLast = until({
  ...tablesOf('it').dates,
  hours: tablesOf('it').set('names of hours'),
  toDay: 'al',
  toWeekday: 'a',
  toHour: 'a',
});
const longDurations = longDuration((parts) => SPEECH.duration(parts, NOWHERE));
const secondsAnd = hundredths(
  (seconds, rest, minutes) =>
    `${minutes === undefined ? '' : `${SPEECH.duration([[minutes, 'min']], NOWHERE)}, `}${SPEECH.duration([[seconds, 's']], NOWHERE)} e ${rest.startsWith('0') ? SPEECH.digits(rest) : cardinal(rest)}`,
);
const plus = plusBetween('più');
const per = perWord(WRITING.per, 'ogni');
const OF_GAME = /^(?:al|dal|del|nel|il|all['’]|dall['’])$/;
/** Al 90' is "al novantesimo", 5' are five minutes. */
const prime = primed((digits, around) => {
  if (OF_GAME.test(around.previousWord)) return ordinal(digits);
  return SPEECH.duration([[digits, 'min']], around);
});
const TIME_ADDED = /(\d{1,3})['’′] ?\+ ?(\d{1,2})['’′]?(?![\p{L}\d"'’])/uy;
/** Al 90'+4' */
const timeAdded = certain((reading: Reading): Found | undefined => {
  const match = reading.match(TIME_ADDED);
  const [written = '', minute = '', added = ''] = match ?? [];
  if (match === undefined || !OF_GAME.test(reading.around(reading.at).previousWord)) return undefined;
  return {
    end: reading.at + written.length,
    spoken: `${ordinal(minute)} più ${cardinal(added)}`,
    rule: 'ordinal',
  };
});
/** In the order in which the language asks them. */
export const signRules = {
  behindDigits: [[/["'’″”]/, secondsAnd]],
  behindDigitsLater: [[/h/, longDurations]],
  behindDigitsLast: [
    [/['’′]/, timeAdded],
    [/['’′]/, prime],
    [/[x×]/, times],
  ],
  atMark: [
    [/[-–—]/, toLast],
    [/\//, dayAndDay(tablesOf('it').dates.weekdays, 'e')],
    [/\+/, plus],
    [/[<>≤≥≈]/, related],
    [/\//, per],
  ],
} satisfies Rules;
