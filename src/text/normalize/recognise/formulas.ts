// Reads sums without spaces (3-2=1, 4x100, 250ml*24), as Chinese, Japanese and Korean write them.
// It also defines their results of games that no word announces: 2-1(1-0), 前半1-0.
import type { Speech } from '../language.js';
import { numeralOf, withoutZeros } from '../numerals.js';
import type { Noun } from '../quantity.js';
import { NOWHERE, type Recogniser } from '../reading.js';

const SUM =
  /\d{1,15}(?:\.\d{1,15})?(?: ?[-−–+×÷*/xX] ?\d{1,15}(?:\.\d{1,15})?){1,8}(?= ?={1,2} ?[-−\dA-Za-z?？]|[은는] \d)/y;
const TIMES = /(?!0[xX])(\d{1,5}(?:\.\d{1,3})?)[xX*](?=\d{1,5}(?:\.\d{1,3})?(?!\d))/y;
const PART = /\d+\/\d+|\d+(?:\.\d+)?|[-−–+×÷*/xX]/g;
const ADDED = /[-−–+]/; // 1/2+1/3 are fractions

/** 3-2 before an equals sign is no range and 12/4 no fraction; 4x100 is a product anywhere. */
export function sum(speech: Speech, names: Readonly<Record<string, string>>): Recogniser {
  return (reading) => {
    if (/\d[.:/]$/.test(reading.text.slice(Math.max(0, reading.at - 2), reading.at))) return undefined;
    const match = reading.match(SUM) ?? reading.match(TIMES);
    if (match === undefined) return undefined;
    const added = ADDED.test(match[0]);
    const number = (written: string): string => {
      const [whole = '', decimals = ''] = written.split('.');
      return speech.number({ ...numeralOf(withoutZeros(whole)), decimals }, NOWHERE);
    };
    const said = Array.from(match[0].matchAll(PART), ([part]) => {
      const [numerator = '', denominator] = part.length > 1 ? part.split('/') : [part];
      if (denominator !== undefined) {
        const isPart = (added || isFactor(match[0], part)) && Number(numerator) < Number(denominator);
        return isPart
          ? (speech.fraction({ numerator, denominator }, NOWHERE) ?? '')
          : `${number(numerator)}${names['/'] ?? ''}${number(denominator)}`;
      }
      const sign = /[xX*]/.test(part) ? '×' : part === '–' ? '−' : part;
      return /\d/.test(part) ? number(part) : (names[sign] ?? '');
    });
    return { end: reading.at + match[0].length, spoken: said.join(''), rule: 'math' };
  };
}

/** 1/2×6×8: a part that is multiplied. */
function isFactor(sum: string, part: string): boolean {
  return /^[1-9]\/[2-9]$/.test(part) && /[×xX*]/.test(sum);
}

const STAR = /\*(?=\d{1,5}(?![\d*]))/y;

/** 250ml*24瓶: behind a unit the star multiplies; a second star in sight makes it emphasis. */
export function starBetween(times: string): Recogniser {
  return (reading) => {
    const { text, at } = reading;
    if (!/\d ?[A-Za-z\p{Script=Han}\p{Script=Hangul}]{1,3}$/u.test(text.slice(Math.max(0, at - 6), at)))
      return undefined;
    const match = reading.match(STAR);
    if (match === undefined || text.slice(at + 1, at + 24).includes('*')) return undefined;
    return { end: at + 1, spoken: times, rule: 'math' };
  };
}

const CROSS = /[xX] ?(?=\d)|× ?(?=\d|[长長宽寬高深厚縦横奥]\d)/y;
const SIDE =
  /\d ?(?:[mck]?m|公尺|公分|厘米|毫米|米|吋|寸|英寸|尺|メートル|センチ|ミリ|미터|센티|센티미터)(?: )?$/;

/** 2.5米x3米, 10cm x 20cm: between two sides. */
export function crossBetween(times: string): Recogniser {
  return (reading) => {
    const { text, at } = reading;
    if (!/[xX×]/.test(text[at] ?? '') || !SIDE.test(text.slice(Math.max(0, at - 9), at))) return undefined;
    const match = reading.match(CROSS);
    return match && { end: at + match[0].length, spoken: times, rule: 'math' };
  };
}

const KEYS = /[+＋](?=[A-Za-z\p{Script=Han}\p{Script=Hangul}])/uy;

/** Ctrl+C, 5G+AI: between two names. */
export function plusOfNames(name: string): Recogniser {
  return (reading) => {
    const before = reading.text[reading.at - 1] ?? ' ';
    if (!/[A-Za-z\d\p{Script=Han}\p{Script=Hangul}]/u.test(before)) return undefined;
    const match = reading.match(KEYS);
    return match && { end: reading.at + 1, spoken: name, rule: 'math' };
  };
}

const RATIO =
  /(\d{1,5}\.\d{1,3}):(\d{1,5}(?:\.\d{1,3})?)(?![\d:]|\.\d)|(\d{1,5}):(\d\.\d{1,3})(?![\d:]|\.\d)/y;

/** 1.2:1 is no time of day. */
export function ratio(speech: Speech): Recogniser {
  const say = (written: string): string => {
    const [whole = '', decimals = ''] = written.split('.');
    return speech.number({ ...numeralOf(withoutZeros(whole)), decimals }, NOWHERE);
  };
  return (reading) => {
    const match = reading.match(RATIO);
    if (match === undefined) return undefined;
    const [written, first, second, third = '', fourth = ''] = match;
    const spoken = speech.score(say(first ?? third), say(second ?? fourth));
    return { end: reading.at + written.length, spoken, rule: 'score' };
  };
}

const DECADE = /(?:((?:1[89]|20)\d0)|['’‘](\d0))['’]?s(?![A-Za-z\d])/y;

/** 1990s, '90s as English writes them; by four digits or by two. */
export function decade(four: (digits: string) => string, two: (digits: string) => string): Recogniser {
  return (reading) => {
    const match = reading.match(DECADE);
    if (match === undefined) return undefined;
    const spoken = match[1] === undefined ? two(match[2] ?? '') : four(match[1]);
    return { end: reading.at + match[0].length, spoken, rule: 'decade' };
  };
}

const PAIR = String.raw`\d{1,3}[-–−ー]\d{1,3}`;
const ROW = String.raw`(?:${PAIR}[,、，] ?){0,5}`;
const PARTS_BEHIND = new RegExp(String.raw`^ ?[(（][^\d()（）]{0,4}${ROW}${PAIR}[)）]`);
const WHOLE_BEFORE = new RegExp(String.raw`${PAIR} ?[(（](?:[^\d()（）]{0,4}${ROW})$`);
const LONGEST = 56; // units of the results in brackets

/** 2-1(1-0): the whole, and the parts of a game that stand in brackets behind it. */
export function isWithHalf(text: string, start: number, end: number): boolean {
  if (/[(（]/.test(text.slice(end, end + 2)) && PARTS_BEHIND.test(text.slice(end, end + LONGEST)))
    return true;
  return WHOLE_BEFORE.test(text.slice(Math.max(0, start - LONGEST), start));
}

const COUNT_OF =
  /(\d{1,2})(?: [×xX✕✖] ?|[×xX✕✖] )((?![长長宽寬高深厚縦横奥幅])\p{L}[\p{L}ー・ ]{1,23}?)(?=[、。，,.」』"'”’)）（(\n]|$)/uy;
const ITEM = /(?:^|[「『"'“‘(（、，,:：\n] ?|[-*•・] )$/;

/** 2 × ピザ: how many there are of an item. */
export function countOf(say: (item: string, count: string) => string): Recogniser {
  return (reading) => {
    const { text, at } = reading;
    if (!ITEM.test(text.slice(Math.max(0, at - 2), at))) return undefined;
    const [written = '', count = '', item = ''] = reading.match(COUNT_OF) ?? [];
    if (written === '' || !IDEOGRAPHS.test(item)) return undefined;
    return {
      end: at + written.length,
      spoken: say(item, withoutZeros(count)),
      rule: 'cardinal',
      isCertain: true,
    };
  };
}

const IDEOGRAPHS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const COUNTED = /[×xX✕✖] ?(\d{1,2})(?=[、。，,.」』"'”’)）（(\n・]|と|$)/y;
const NAME = /(?:^|[^\d\p{L}])(?!\d)[\p{L}ー・]{2,16} ?$/u;
const FORMULA = /[=＝÷+＋]/;

/** ピザ×2 */
export function countedBehind(say: (item: string, count: string) => string): Recogniser {
  return (reading) => {
    const { text, at } = reading;
    if (!/[×xX✕✖]/.test(text[at] ?? '')) return undefined;
    const match = reading.match(COUNTED);
    const before = text.slice(Math.max(0, at - LEAD), at);
    if (match === undefined || !NAME.test(before) || !IDEOGRAPHS.test(before.trimEnd().slice(-1)))
      return undefined;
    const end = at + match[0].length;
    if (FORMULA.test(before + text.slice(end, end + LEAD))) return undefined;
    return { end, spoken: say('', withoutZeros(match[1] ?? '')), rule: 'cardinal', isCertain: true };
  };
}

const LEAD = 17; // units

const TWO_DEGREES = /(\d{1,2})\/(\d{1,2}) ?(?:℃|°C)/y;

/** 28/19℃: the highest and the lowest of a day. */
export function twoDegrees(speech: Speech, units: Readonly<Record<string, Noun>>): Recogniser {
  return (reading) => {
    const match = reading.match(TWO_DEGREES);
    const unit = units['℃'];
    if (match === undefined || unit === undefined) return undefined;
    const end = reading.at + match[0].length;
    const said = match
      .slice(1)
      .map((digits) => speech.measure({ number: numeralOf(digits) }, unit, reading.around(end)));
    return { end, spoken: said.join(', '), rule: 'measure', isCertain: true };
  };
}
