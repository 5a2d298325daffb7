// Relations as Korean says them, behind what is compared: x>5 is "엑스는 오보다 크다", ≥18세 is "십팔 세 이상".
import { readNumeral } from '../numerals.js';
import type { Found, Reading } from '../reading.js';
import { boundOf } from '../recognise/attached.js';
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

const limit = boundOf(SPEECH, WRITING, { least: ' 이상', most: ' 이하', over: ' 초과', under: ' 미만' });

/** In the order in which the language asks them. */
export const relationRules = {
  atMark: [
    [/[<>≥≤≠!]/, compared],
    [/[<>≥≤]/, limit],
  ],
} satisfies Rules;
