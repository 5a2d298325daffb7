// Results that no word tells of: 4-3 is no range, and Betis 3-1 Celta has its teams around it.
import type { Speech } from '../language.js';
import { numeralOf } from '../numerals.js';
import { NOWHERE, type Recogniser } from '../reading.js';

const PAIR = /(\d{1,2})[-–](\d{1,2})(?![\p{L}\d/–-]|[.,:º°ª%]\d?)/uy;
const PAIR_AT_STOP = /(\d{1,2})[-–](\d{1,2})(?=[.,:;)](?!\d))/y;
const TEAM_BEFORE = /\p{Lu}[\p{L}.]* $/u;
const TEAM_BEHIND = /^ \p{Lu}\p{Ll}/u;

export function score({ number, score: say }: Pick<Speech, 'number' | 'score'>): Recogniser {
  return (reading) => {
    const { text, at, runEnd } = reading;
    if (!reading.isFresh || !/[-–]/.test(text[runEnd] ?? '') || /[-–.,:/#]/.test(text[at - 1] ?? ''))
      return undefined;
    const match = reading.match(PAIR) ?? reading.match(PAIR_AT_STOP);
    if (match === undefined) return undefined;
    const [written, home = '', guest = ''] = match;
    if (/^0\d/.test(home) || /^0\d/.test(guest)) return undefined;
    const end = at + written.length;
    const teams =
      TEAM_BEFORE.test(text.slice(Math.max(0, at - 24), at)) && TEAM_BEHIND.test(text.slice(end, end + 3));
    if (!teams && Number(home) < Number(guest)) return undefined;
    const [first = '', second = ''] = [home, guest].map((digits) => number(numeralOf(digits), NOWHERE));
    return { end, spoken: say(first, second), rule: 'score' };
  };
}
