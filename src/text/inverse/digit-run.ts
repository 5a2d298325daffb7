// Digits that are read out: four two oh seven, double three, zéro six douze, zweiundvierzig null sieben.
import type { SpokenReading, Written } from './spoken-reading.js';

interface Item {
  readonly digits: string;
  readonly end: number;
  readonly isZero: boolean;
  readonly isRepeated: boolean;
}

interface Run {
  /** Digits between two pauses. */
  readonly groups: readonly string[];
  readonly items: readonly Item[];
  readonly end: number;
  readonly hasPlus: boolean;
}

const MOST_ITEMS = 40;
const FEWEST = 3; // digits
const LINKING = 3; // words between a cue and its digits

/** Digits one after another, with pauses between groups of them. */
export function digitRun(reading: SpokenReading, at: number): Written | undefined {
  const run = runAt(reading, at);
  if (run === undefined || !isSure(reading, at, run)) return undefined;
  return { end: run.end, text: written(reading, run), rule: run.hasPlus ? 'telephone' : 'digits' };
}

/** All digits that stand here, also where they could be words of prose. */
export function anyDigits(reading: SpokenReading, at: number): Written | undefined {
  const run = runAt(reading, at);
  return run && { end: run.end, text: (run.hasPlus ? '+' : '') + run.groups.join(''), rule: 'digits' };
}

function runAt(reading: SpokenReading, at: number): Run | undefined {
  const hasPlus = reading.listening.plus.has(reading.key(at)) && itemAt(reading, at + 1) !== undefined;
  const items: Item[] = [];
  const groups: string[] = [];
  let end = hasPlus ? at + 1 : at;
  while (items.length < MOST_ITEMS) {
    const isPause = reading.tokens[end]?.gap === 'comma';
    if (items.length > 0 && !isPause && !reading.isJoined(end)) break;
    const item = itemAt(reading, end);
    if (item === undefined) break;
    if (groups.length === 0 || isPause) groups.push(item.digits);
    else groups.push((groups.pop() ?? '') + item.digits);
    items.push(item);
    end = item.end;
  }
  return items.length === 0 ? undefined : { groups, items, end, hasPlus };
}

function itemAt(reading: SpokenReading, at: number): Item | undefined {
  const { repeats, zeros } = reading.listening;
  const key = reading.key(at);
  const times = Object.hasOwn(repeats, key) ? repeats[key] : undefined;
  if (times !== undefined) {
    const digit = reading.isJoined(at + 1) ? digitAt(reading, at + 1) : undefined;
    if (digit?.digits.length !== 1) return undefined;
    return { ...digit, digits: digit.digits.repeat(times), isRepeated: true };
  }
  if (zeros.has(key)) return { digits: '0', end: at + 1, isZero: true, isRepeated: false };
  return digitAt(reading, at);
}

function digitAt(reading: SpokenReading, at: number): Item | undefined {
  const key = reading.key(at);
  if (reading.listening.zeros.has(key) || /^\d$/.test(key)) {
    const isZero = !/^[1-9]$/.test(key);
    return { digits: isZero ? '0' : key, end: at + 1, isZero, isRepeated: false };
  }
  const found = reading.below(at);
  if (found === undefined || (found.isArticle && found.isSaid !== true)) return undefined;
  const { value, end } = found;
  if (value > 100 && value % 100 < 10 && value % 100 > 0 && isDigit(reading, end)) {
    // Eight hundred, five five five
    return { digits: String(value - (value % 100)), end: end - 1, isZero: false, isRepeated: false };
  }
  return { digits: String(value), end, isZero: value === 0, isRepeated: false };
}

function isDigit(reading: SpokenReading, at: number): boolean {
  const found = reading.isJoined(at) ? reading.below(at) : undefined;
  return found !== undefined && found.value < 10;
}

/** "One, two, three" counts, and "ten twenty" may be anything. */
function isSure(reading: SpokenReading, at: number, { groups, items, hasPlus }: Run): boolean {
  const digits = groups.join('');
  if (items.length < 2 && !(hasPlus || items[0]?.isRepeated === true)) return isZeros(items);
  const isListed = groups.length === items.length && groups.length > 1;
  if (isListed && !hasPlus && items[0]?.isZero !== true) return false;
  if (digits.length < FEWEST) return hasCue(reading, at) && digits.length > 1;
  const singles = items.filter((item) => item.digits.length === 1).length;
  const isMarked = items.some(({ isZero, isRepeated }) => isZero || isRepeated);
  return hasPlus || isMarked || singles >= FEWEST || hasCue(reading, at);
}

/** Triple oh, and nothing else. */
function isZeros(items: readonly Item[]): boolean {
  return items.length === 1 && items[0]?.isRepeated === true && items[0].digits.length >= FEWEST;
}

/** The code is four two */
function hasCue(reading: SpokenReading, at: number): boolean {
  const { digitsAfter, linking, telephone } = reading.language.writing;
  for (let back = 1; back <= LINKING; back++) {
    const word = reading.tokens[at - back]?.text.toLowerCase() ?? '';
    if (digitsAfter.has(word) || telephone.keywords.has(word)) return true;
    if (!linking.has(word)) return false;
  }
  return false;
}

function written(reading: SpokenReading, { groups, hasPlus }: Run): string {
  const { groupMark, telephone } = reading.listening;
  const digits = groups.join('');
  if (hasPlus) return `+${groups.join(' ')}`;
  return telephone(digits) ?? groups.join(groupMark);
}
