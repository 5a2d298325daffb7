// Relations as Korean says them, behind what is compared: x>5 is "엑스는 오보다 크다", ≥18세 is "십팔 세 이상".
import { LiteralTable } from '../literals.js';
import { readNumeral } from '../numerals.js';
import { skipSpaces, type Found, type Reading } from '../reading.js';
import type { Rules } from '../shared-forms.js';
import { decimal, finalOf } from './numbers.js';
import { SPEECH } from './speech.js';
import { WRITING } from './writing.js';

const COMPARED =
  / ?(>=|<=|!=|[<>≥≤≠]) ?(-?\d{1,12}(?:\.\d{1,6})?|[a-zA-Z])(이면|면|일 ?때|인 경우|인|(?=[.,;)\n]|$))/y;
const STEMS: Readonly<Record<string, string>> = {
  '>': '보다 크',
  '<': '보다 작',
  '≥': '보다 크거나 같',
  '>=': '보다 크거나 같',
  '≤': '보다 작거나 같',
  '<=': '보다 작거나 같',
  '≠': ' 같지 않',
  '!=': ' 같지 않',
};
const CLOSED = /[같않작]$/;

/** 크다, 크면, 클 때, 큰; 같다, 같으면, 같을 때, 같은. */
function ended(stem: string, ending: string): string {
  const small = stem.endsWith('작'); // 작으면, 작을 때, 작은
  const open = !CLOSED.test(stem);
  const head = open ? stem.slice(0, -1) : stem;
  const [will, is] = open ? ['클', '큰'] : small ? ['작을', '작은'] : ['을', '은'];
  if (ending === '') return `${stem}다`;
  if (ending.endsWith('면')) return open ? `${stem}면` : `${stem}으면`;
  const tail = ending.startsWith('일') ? `${will} 때` : ending === '인' ? is : `${is} 경우`;
  return small ? stem.slice(0, -1) + tail : head + tail;
}

/** The rest of x>5 behind its left side, which is copied. */
function compared(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const left = text.slice(Math.max(0, at - 2), at).trimEnd();
  if (!/(?:^|[^A-Za-z<])[A-Za-z]$|[\d)]$/.test(left)) return undefined;
  const match = reading.match(COMPARED);
  const [written = '', sign = '', right = '', ending = ''] = match ?? [];
  const stem = STEMS[sign];
  if (match === undefined || stem === undefined) return undefined;
  const number = readNumeral(right.replace('-', ''), 0, WRITING.numbers)?.numeral;
  const said = number === undefined ? right : decimal({ ...number, negative: right.startsWith('-') });
  const with_ = stem.startsWith(' ') ? (finalOf(right.slice(-1)) === 'vowel' ? '와' : '과') : '';
  const open = finalOf(left.slice(-1)) === 'vowel';
  const topic = ending === '' ? (open ? '는' : '은') : open ? '가' : '이';
  const spoken = `${topic} ${said}${with_}${ended(stem, ending)}`;
  return { end: reading.at + written.length, spoken, rule: 'math', clings: true };
}

const LIMITS: Readonly<Record<string, string>> = {
  '≥': '이상',
  '>=': '이상',
  '≤': '이하',
  '<=': '이하',
  '>': '초과',
  '<': '미만',
};
const LIMIT = /(?:(>=|<=|[≥≤]) ?|([<>]))(?=\d)/y;
const NAMES = new LiteralTable(
  Object.entries(WRITING.units).filter(([written]) => !/^\p{Script=Hangul}/u.test(written)),
);

/** ≥60℃, <10ms: nothing on the left that could be compared. */
function limit(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!/^$|[\s(:,가-힣]$/.test(text.slice(Math.max(0, at - 1), at))) return undefined;
  const match = reading.match(LIMIT);
  const name = LIMITS[match?.[1] ?? match?.[2] ?? ''];
  const start = at + (match?.[0].length ?? 0);
  const number = match && readNumeral(text, start, WRITING.numbers);
  if (name === undefined || number === undefined || /\d ?$/.test(text.slice(Math.max(0, at - 2), at)))
    return undefined;
  const next = skipSpaces(text, number.end);
  const unit = NAMES.at(text, next);
  const end = unit === undefined ? number.end : next + unit.written.length;
  if (unit === undefined && !/^(?:[\s.,)]|$)/.test(text.slice(end, end + 1))) return undefined;
  const amount = { number: number.numeral };
  const said = unit ? SPEECH.measure(amount, unit.value, reading.around(end)) : decimal(number.numeral);
  return { end, spoken: `${said} ${name}`, rule: 'math' };
}

/** In the order in which the language asks them. */
export const relationRules = {
  atMark: [
    [/[<>≥≤≠!]/, compared],
    [/[<>≥≤]/, limit],
  ],
} satisfies Rules;
