// Korean tokens beside words: single letters for laughter, capitals that are spelled, numbers before a word.
import { isWordAt } from '../characters.js';
import { numeralOf, readNumeral, withoutZeros } from '../numerals.js';
import { LiteralTable } from '../literals.js';
import { certain, type Found, type Reading } from '../reading.js';
import { isWithHalf } from '../recognise/formulas.js';
import { floor } from '../recognise/names.js';
import type { Rules } from '../shared-forms.js';
import { cardinal, decimal, letterNames, spellDigits } from './numbers.js';
import { SPEECH } from './speech.js';
import { WRITING } from './writing.js';

const CAPITALS = /[A-Z]{2,3}(?![A-Za-z\d.@_/$-])/y;

/** BMI, ROI: two or three capitals between Korean words are spelled, also where they could be read. */
export function capitals(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!reading.isFresh || !/[A-Z]/.test(text[at + 1] ?? '')) return undefined;
  const word = reading.match(CAPITALS)?.[0];
  if (
    word === undefined ||
    WRITING.read.has(word) ||
    WRITING.abbreviations[word] !== undefined ||
    WRITING.currencies[word] !== undefined
  )
    return undefined;
  const before = text.slice(Math.max(0, at - 2), at);
  const after = text.slice(at + word.length, at + word.length + 2);
  if (/[A-Za-z'’.&] ?$/.test(before) || /^['’&]|^ [A-Za-z]/.test(after)) return undefined;
  return { end: at + word.length, spoken: letterNames(word), rule: 'acronym' };
}

const HANGUL_UNITS = new LiteralTable(
  Object.entries(WRITING.units)
    .filter(([written]) => /^[가-힣]$/.test(written))
    .map(([written]) => [written, written] as const),
);
// Endings that may follow a unit: particles, the copula, and words that go with amounts.
const BEHIND_UNIT =
  /^(?:[이가은는을를에의도만로와과나씩쯤째당간여반전후뒤내치차생형급식용인뿐밖임중제짜]|까지|부터|마다|정도|동안|이상|이하|미만|초과|라|보다|처럼|가량|남짓|어치|대(?!한)|예요|입니다|넘|더|덜)/;
const SPACED_MAGNITUDE =
  /\d[\d,]{0,12}(?:\.\d{1,3})? (?=(?:[십백천]?[만억조])(?:[ ,.)]|$| ?(?:원|명|달러|여|개|건|표|톤|평|회|주|유로|엔)))/y;

/** 100 만 원: the magnitude belongs to the number. */
function spacedMagnitude(reading: Reading): Found | undefined {
  const match = reading.match(SPACED_MAGNITUDE);
  const number = match && readNumeral(reading.text, reading.at, WRITING.numbers);
  const end = reading.at + (match?.[0].length ?? 0);
  if (number?.end !== end - 1) return undefined;
  return { end, spoken: decimal(number.numeral), rule: 'cardinal' };
}

const GAMES = /^ ?(경기|조각|조항)/;

/** 34경기, 3조각: no 10^16 and no 10^12. */
function longUnit(reading: Reading): Found | undefined {
  const { text, at, runEnd } = reading;
  const unit = runEnd - at <= 4 ? GAMES.exec(text.slice(runEnd, runEnd + 3)) : null;
  const noun = WRITING.units[unit?.[1] ?? ''];
  if (unit === null || text[at] === '0') return undefined;
  const end = runEnd + unit[0].length;
  const number = numeralOf(text.slice(at, runEnd));
  const spoken =
    noun === undefined
      ? `${decimal(number)} ${unit[1] ?? ''}`
      : SPEECH.measure({ number }, noun, reading.around(end));
  return { end, spoken, rule: 'measure' };
}

const SPACED = /\d(?= [가-힣])/;

/** 2 일본: a unit that is the beginning of a longer word is none. */
export function beforeWord(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!reading.isFresh || !SPACED.test(text.slice(reading.runEnd - 1, reading.runEnd + 2))) return undefined;
  const number = readNumeral(text, at, WRITING.numbers);
  if (number === undefined || number.end !== reading.runEnd || number.numeral.whole.length > 8)
    return undefined;
  const unit = HANGUL_UNITS.at(text, number.end + 1)?.written;
  const rest = text.slice(number.end + 2, number.end + 8);
  if (unit === undefined || !/^[가-힣]/.test(rest) || BEHIND_UNIT.test(rest)) return undefined;
  if (
    /^0\d/.test(text.slice(at, number.end)) ||
    WRITING.units[text.slice(number.end + 1, number.end + 3)] !== undefined
  )
    return undefined;
  return { end: number.end, spoken: decimal(number.numeral), rule: 'cardinal' };
}

const TONE = /(?:[ㅋㅎ]{2,60}|[ㅠㅜ]{1,60}|[~～]?\^{1,2}(?:_?\^)?(?![\d^])|;{2,9}) ?/y;

/** ㅋㅋㅋ, ㅠㅠ, ^^: not read aloud. */
export function tone(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!/[ㅋㅎㅠㅜ^;~～]/.test(text[at] ?? '')) return undefined;
  const match = reading.match(TONE);
  if (match === undefined || (match[0].includes('^') && isWordAt(text, at - 1))) return undefined;
  return { end: at + match[0].trimEnd().length, spoken: '', rule: 'emoji' };
}

const FLIGHT = /(\d{2,4})(?=(편|열차))/y;
const CARRIER = /(?:항공|에어|[A-Z]{2}|[A-Z]\d|\d[A-Z]|비행기|여객기) ?$/;

/** 대한항공 201편: the number of a flight is no count of films. */
function flight(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (text[reading.runEnd] !== '편' || !CARRIER.test(text.slice(Math.max(0, at - 5), at))) return undefined;
  const match = reading.match(FLIGHT);
  if (match === undefined) return undefined;
  return {
    end: at + match[0].length + 1,
    spoken: `${cardinal(numeralOf(match[1] ?? '').whole)}편`,
    rule: 'identifier',
  };
}

const PAPER =
  /([AB])([0-6])(?= ?(?:용지|사이즈|크기|규격|복사지|종이|인쇄|출력|판형|프린트|문서|\d{1,4}(?:장|매|쪽|부)))|(A)(4)(?! ?(?:번|석|열|구역|게이트|출구|블록|동|호|단지|좌석)|[\dA-Za-z.-])/y;
const SHEETS = ['제로', '원', '투', '쓰리', '포', '파이브', '식스'];

/** A4 용지: the sizes of paper have the names of English. */
function paper(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(PAPER) : undefined;
  if (match === undefined) return undefined;
  const [written, letter = match[3] ?? '', size = match[4] ?? ''] = match;
  const end = reading.at + written.length;
  const space = match[1] === undefined || reading.text[end] === ' ' ? '' : ' ';
  return { end, spoken: `${letterNames(letter)}${SHEETS[Number(size)] ?? ''}${space}`, rule: 'identifier' };
}

const LETTERED_FLIGHT = /([A-Z]{2}|[A-Z]\d|\d[A-Z]) ?(\d{2,4})편/y;

/** KE123편. */
function letteredFlight(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(LETTERED_FLIGHT) : undefined;
  if (match === undefined) return undefined;
  const letters = Array.from(match[1] ?? '', (letter) =>
    /\d/.test(letter) ? cardinal(letter) : letterNames(letter),
  ).join('');
  return {
    end: reading.at + match[0].length,
    spoken: `${letters} ${cardinal(match[2] ?? '')}편`,
    rule: 'identifier',
  };
}

const RATE = /0?\.(\d)(\d)(\d)(?!\d)/y;

/** 타율 0.325 is 삼할 이푼 오리. */
function battingRate(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (
    !/[0.]/.test(text[at] ?? '') ||
    !/(?:타율|승률|출루율|장타율)(?:은|이|:)? ?$/.test(text.slice(Math.max(0, at - 6), at))
  )
    return undefined;
  const match = reading.match(RATE);
  if (match === undefined) return undefined;
  const parts = ['할', '푼', '리'].map((name, index) =>
    match[index + 1] === '0' ? '' : cardinal(match[index + 1] ?? '') + name,
  );
  const spoken = parts.filter((part) => part !== '').join(' ');
  return spoken === '' ? undefined : { end: at + match[0].length, spoken, rule: 'decimal' };
}

const MATCH = /(\d{1,3})-(\d{1,3})(?!\d|[-./]\d)/y;
const GAME_BEHIND = /^(?: [가-힣]|[,.)]|$)/;
const EXTRA = /^ ?\((?:연장|승부차기|PK|전반|후반)/;
const HALF = /(?:전반|후반|연장|승부차기|합계|\d세트) ?$/;

/** 한국 2-0 일본: a range would rise; 2-1(1-0), 전반 0-1. */
function game(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const match = reading.match(MATCH);
  if (match === undefined) return undefined;
  const end = at + match[0].length;
  const [before, after] = [text.slice(Math.max(0, at - 6), at), text.slice(end, end + 6)];
  const falls = /[가-힣A-Z] $/.test(before) && GAME_BEHIND.test(after) && Number(match[1]) > Number(match[2]);
  if (!falls && !HALF.test(before) && !EXTRA.test(after) && !isWithHalf(text, at, end)) return undefined;
  const spoken = `${cardinal(match[1] ?? '')} 대 ${cardinal(match[2] ?? '')}`;
  return { end, spoken, rule: 'score' };
}

const MONEY = '(?:원화?|달러|엔화?|유로|위안|파운드)';
const RATE_OF = [
  new RegExp(`${MONEY}$`),
  new RegExp(`^/${MONEY} ?(?:환율|재정|시장|선물|[은이가는,]|$)`),
] as const;

/** 원/달러 환율: nothing is said for the slash. */
function perCurrency({ text, at }: Reading): Found | undefined {
  const [before, behind] = RATE_OF;
  if (!before.test(text.slice(Math.max(0, at - 3), at)) || !behind.test(text.slice(at, at + 8)))
    return undefined;
  return { end: at + 1, spoken: '', rule: 'symbol' };
}

/** 10만 원↑: from there on; behind a share the arrow is a rise. */
function orMore({ text, at }: Reading): Found | undefined {
  if (!/\d[\d만천백억 ]*(?:원|만|억|개|명|세|건|초|분|일|회|점)$/.test(text.slice(Math.max(0, at - 12), at)))
    return undefined;
  return { end: at + 1, spoken: text[at] === '↑' ? ' 이상' : ' 이하', rule: 'symbol' };
}

/** → 다음: what begins a line points at it. */
function arrow({ text, at }: Reading): Found | undefined {
  return at === 0 || text[at - 1] === '\n' ? { end: at + 1, spoken: '', rule: 'symbol' } : undefined;
}

const MODEL = /(?:아이폰|갤럭시|맥북|서피스|픽셀|아이패드|에어팟|버즈|[A-Za-z]) ?$/;
const PRO = /\d{1,4}(?= ?프로)/y;

/** 아이폰 15 프로 is no share. */
function pro(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!MODEL.test(text.slice(Math.max(0, at - 5), at))) return undefined;
  const digits = reading.match(PRO)?.[0];
  return digits === undefined
    ? undefined
    : { end: at + digits.length, spoken: cardinal(digits), rule: 'identifier' };
}

const GENERATIONS = /([1-6])0([1-6])0(?=세대)/y;

/** 2030세대: people in their twenties and thirties. */
function generations(reading: Reading): Found | undefined {
  const match = reading.match(GENERATIONS);
  if (match === undefined || Number(match[2]) !== Number(match[1]) + 1) return undefined;
  return { end: reading.at + 4, spoken: spellDigits(match[0]), rule: 'digits' };
}

const PLATE =
  /(\d{2,3})([가나다라마거너더러머버서어저고노도로모보소오조구누두루무부수우주바사아자하허호])(\d{4})(?!\d)/y;

/** 123가4567: the number of a car. */
function plate(reading: Reading): Found | undefined {
  const [written, first = '', letter = '', last = ''] = reading.match(PLATE) ?? [];
  if (written === undefined) return undefined;
  const spoken = `${spellDigits(first)}${letter} ${spellDigits(last)}`;
  return { end: reading.at + written.length, spoken, rule: 'identifier' };
}

const CLASS = /([1-6])-(\d{1,2})반/y;

/** 3-2반: the year at school and the class. */
function schoolClass(reading: Reading): Found | undefined {
  const [written, year = '', room = ''] = reading.match(CLASS) ?? [];
  if (written === undefined) return undefined;
  const spoken = `${cardinal(year)}학년 ${cardinal(withoutZeros(room))}반`;
  return { end: reading.at + written.length, spoken, rule: 'identifier' };
}

const FLOOR = floor(
  (number) => `${cardinal(number)}층`,
  '지하 ',
  (room) => ` ${spellDigits(room)}`,
);

/** In the order in which the language asks them. */
export const wordRules = {
  behindDigits: [
    [/F/, certain(FLOOR)],
    [/편/, certain(flight)],
    [/[가-힣]/, certain(plate)],
    [/-/, certain(schoolClass)],
    [/[A-Z]/, letteredFlight],
    [/\./, battingRate],
  ],
  behindDigitsLater: [
    [/-/, game],
    [/[경조]/, longUnit],
    [/프/, certain(pro)],
    [/세/, certain(generations)],
    [/[십백천만억조.,]/, spacedMagnitude],
  ],
  atLetter: [certain(FLOOR), paper, letteredFlight],
  atMark: [
    [/[\^;~～]/, tone],
    [/\./, battingRate],
    [/→/, arrow],
    [/[↑↓]/, orMore],
    [/\//, perCurrency],
  ],
} satisfies Rules;
