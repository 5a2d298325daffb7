// Numbers with a form of their own: fractions, scores, ordinals, decades, digits said one by one.
import { endsSentenceAt } from '../../sentence-end.js';
import { type ShortForms, shortFormsOf } from '../../short-forms.js';
import { CharacterSet } from '../../character-set.js';
import { classAt, isDigitAt, isWordAt, SPACE, WORD_UNIT } from '../characters.js';
import { beginning, behind } from '../dispatch.js';
import type { Language } from '../language.js';
import { digitsEnd, numeralOf } from '../numerals.js';
import {
  type Candidate,
  composed,
  either,
  type Found,
  NOWHERE,
  type Reading,
  type Rule,
  type TypedFound,
} from '../reading.js';
import { cardinal } from '../say.js';
import { isNear } from './identifiers.js';

const GROUPS = new RegExp(String.raw`\d{1,8}(?:-\d{1,8}){2,8}(?!${WORD_UNIT}|-)`, 'uy');
const NUMBERED_GROUPS = new RegExp(String.raw`\d{2,4}-\d{5,12}(?!${WORD_UNIT}|[-.,:/]\d| ?[%€$£])`, 'uy');
const ZERO_GROUP = new RegExp(String.raw`\d{1,8}-0\d{2,11}(?!${WORD_UNIT}|[-.,:/]\d| ?[%€$£])`, 'uy');
const CARD = new RegExp(
  String.raw`\d{4}(?: \d{4}){2,4}(?: \d{1,3}(?! ?${WORD_UNIT}))?(?!${WORD_UNIT}|[.,]\d| \d{4}(?!\d))`,
  'uy',
);
const RATIO = /(\d{1,3}):(\d{1,3})(?![\d:]|\.\d)/y;
const RESULT = /(\d{1,3})[-–](\d{1,3})(?![\d-–/]|\.\d)/y;
const MINUTE_OF_GAME = /(\d{1,3})(?:['’′]? ?\+ ?(\d{1,2})['’′]|['’′] ?\+ ?(\d{1,2})|['’′])(?![\p{L}\d"'’])/uy;
/** In the minutes 12', 78': the word stands once. */
const MINUTES_BEFORE = /(?:min|мину|分|분)\p{L}{0,6}\.?:? (?:[^.:;!?]{0,24}['’′],? ?\p{L}{0,3} ?)?$/iu;
/** The sets of a match: 6-4, 3-6, 7-6 (5). */
const SETS =
  /([0-7])[-–]([0-7])(?: ?\((\d{1,2})\))?(?:(?:, ?|、|，|; ?|\/| )[0-7][-–][0-7](?: ?\(\d{1,2}\))?){1,4}(?![\d\p{L}-]|[.,:]\d)/uy;
const SET = /([0-7])[-–]([0-7])(?: ?\((\d{1,2})\))?/g;
/** 95/100/105: figures in a row, where three are no date. */
const ROW = /\d{1,4}(?:\/\d{1,4}){2,5}(?![\p{L}\d/]|[.,:]\d)/uy;
/** 2.4/5/6 GHz: bands, no fraction */
const BANDS = /(\d(?:[.,]\d)?(?:\/\d(?:[.,]\d)?){1,2}) ?([MG]Hz)(?![\p{L}\d])/uy;
const YEARS = /(1\d{3}|20\d\d)([-–/])(\d\d|\d{4})(?![\d/.-]\d|\d)/y;
const STOP = new CharacterSet('.:');
const GROUPING = new CharacterSet('.,-–/:');
const NEVER_ORDINAL = new CharacterSet(',;:!?)%€$/+');
const PARTS_YEARS = new CharacterSet('-–/');
const DECIMAL = new CharacterSet('.,');
const LONG_CODE = 8; // ungrouped digits; longer numbers are codes, not amounts
const NUMBERED = 4; // digits behind # that are no small number
const GROUPED_CODE = /\d+(?:[- ]\d+){0,7}/y;

export class Numbers {
  readonly #language: Language;
  readonly #forms: ShortForms;
  readonly #ordinal: RegExp | undefined;
  readonly #groupedOrdinal: RegExp | undefined;
  readonly #decade: RegExp | undefined;
  /** Between the items of a row. */
  readonly #pause: string;

  constructor(language: Language) {
    const { ordinalMark, decadeMark, numbers } = language.writing;
    this.#language = language;
    this.#pause = language.symbols.pause + (language.unspaced === true ? '' : ' ');
    this.#forms = shortFormsOf(language.tag);
    if (ordinalMark !== '') this.#ordinal = new RegExp(`(\\d{1,12})(${ordinalMark})`, 'uy');
    if (ordinalMark !== '') {
      const group = numbers.grouping.map((mark) => (mark === '.' ? '\\.' : mark)).join('|');
      this.#groupedOrdinal = new RegExp(`(\\d{1,3}(?:(?:${group})\\d{3}){1,4})(${ordinalMark})`, 'uy');
    }
    if (decadeMark !== '')
      this.#decade = new RegExp(`(\\d{4}|\\d0)(?:${decadeMark})(?![\\p{L}\\p{N}])`, 'uy');
  }

  /** 1,500th, 1 500e, 2.000ª: asked before a language's own, which may cut it at its groups. */
  readonly groupedAtDigit = behind(/^.\d/, (reading) => this.#grouping(reading), 3);

  #grouping(reading: Reading): TypedFound | undefined {
    const { text, at } = reading;
    if (isDigitAt(text, at - 1) || GROUPING.at(text, at - 1)) return undefined;
    const match = this.#groupedOrdinal && reading.match(this.#groupedOrdinal);
    if (match === undefined) return undefined;
    const [written, digits = '', mark = ''] = match;
    const end = at + written.length;
    if (mark === '.' || isWordAt(text, end)) return undefined; // a stop may end the sentence
    const whole = digits.replace(/\D/g, '');
    return {
      end,
      token: { type: 'ordinal', digits: whole, mark, around: reading.around(end) },
      rule: 'ordinal',
    };
  }

  /** 78', 90'+4': the time added is said behind the minute of a game. */
  readonly minuteOfGame = behind(
    /^(?:['’′]| ?\+)/,
    (reading) => {
      const match = reading.match(MINUTE_OF_GAME);
      if (match === undefined) return undefined;
      const [written, minute = '', added = match[3]] = match;
      const { speech, symbols } = this.#language;
      const end = reading.at + written.length;
      const isNamed = MINUTES_BEFORE.test(reading.text.slice(Math.max(0, reading.at - 48), reading.at));
      if (added === undefined && !isNamed) return undefined;
      const spoken = [minute, ...(added === undefined ? [] : [added])].map((digits) =>
        cardinal(digits, speech),
      );
      return { end, spoken: spoken.join(` ${symbols.plus} `), rule: 'ordinal', isCertain: true };
    },
    3,
  );

  /** 6-4, 3-6, 7-6 (5) and S/M/L in figures: 95/100/105 */
  readonly rows = behind(
    /^[-–/.,]\d/,
    (reading) => this.#sets(reading) ?? this.#row(reading) ?? this.#bands(reading),
    4,
  );

  #sets(reading: Reading): TypedFound | undefined {
    const written = reading.match(SETS)?.[0];
    const sets = [...(written?.matchAll(SET) ?? [])];
    const isSet = ([, home = '', guest = '']: readonly string[]): boolean =>
      Math.max(Number(home), Number(guest)) >= 6 && home !== guest;
    if (written === undefined || isWordAt(reading.text, reading.at - 1) || !sets.every(isSet))
      return undefined;
    const { speech } = this.#language;
    const say = ([, home = '', guest = '', tie]: readonly string[]): string => {
      const score = speech.score(cardinal(home, speech), cardinal(guest, speech));
      return tie === undefined ? score : `${score} (${cardinal(tie, speech)})`;
    };
    const words = () => sets.map(say).join(this.#pause);
    return { ...composed(reading.at + written.length, 'score', words), isCertain: true };
  }

  #bands(reading: Reading): TypedFound | undefined {
    const [written, bands = '', name = ''] = reading.match(BANDS) ?? [];
    const { speech, writing } = this.#language;
    const unit = writing.units[name];
    if (written === undefined || unit === undefined) return undefined;
    const end = reading.at + written.length;
    const numerals = bands.split('/').map((band) => {
      const [whole = '', decimals = ''] = band.split(/[.,]/);
      return { ...numeralOf(whole), decimals };
    });
    const last = numerals.pop() ?? numeralOf('0');
    const words = (): string =>
      [
        ...numerals.map((numeral) => speech.number(numeral, NOWHERE)),
        speech.measure({ number: last }, unit, reading.around(end)),
      ].join(this.#pause);
    return { ...composed(end, 'measure', words), isCertain: true };
  }

  #row(reading: Reading): TypedFound | undefined {
    const written = reading.match(ROW)?.[0];
    const figures = written?.split('/') ?? [];
    const isDate = figures.length === 3 && figures.every((one) => Number(one) <= 31 || one.length === 4);
    if (written === undefined || isDate || PARTS_YEARS.at(reading.text, reading.at - 1)) return undefined;
    const { speech, writing } = this.#language;
    if (isNear(reading, writing.digitsAfter, writing.linking)) {
      const token = { type: 'digits', groups: figures, around: NOWHERE } as const;
      return { end: reading.at + written.length, token, rule: 'digits' };
    }
    const words = (): string => figures.map((one) => cardinal(one, speech)).join(this.#pause);
    return composed(reading.at + written.length, 'cardinal', words);
  }

  readonly atDigit = behind(/^/, (reading) => {
    const { text, at, runEnd } = reading;
    if (STOP.at(text, at - 1))
      return /\p{L}\.$/u.test(text.slice(Math.max(0, at - 2), at)) ? this.#numbered(reading) : undefined;
    const marked = classAt(text, runEnd) !== SPACE && !NEVER_ORDINAL.at(text, runEnd);
    const form = marked ? this.#withMark(reading) : undefined;
    return form === undefined ? this.#plain(reading) : either(form, () => this.#plain(reading));
  });

  #withMark(reading: Reading): TypedFound | undefined {
    const decade = this.#decades(reading);
    return decade === undefined ? this.#ordinals(reading) : either(decade, () => this.#ordinals(reading));
  }

  #plain(reading: Reading): Candidate | undefined {
    return (
      this.#keyed(reading) ??
      this.#years(reading) ??
      this.#scores(reading) ??
      this.#grouped(reading) ??
      this.#code(reading)
    );
  }

  /** The '90s: the apostrophe stands for the century. */
  readonly atMark = beginning(/['’‘]/, (reading) => {
    const { text, at } = reading;
    if (!isDigitAt(text, at + 1) || isWordAt(text, at - 1)) return undefined;
    const match = this.#decade && reading.match(this.#decade, at + 1);
    if (match === undefined || match[1]?.length !== 2) return undefined;
    const end = at + 1 + match[0].length;
    return { end, token: { type: 'decade', digits: match[1], around: reading.around(end) }, rule: 'decade' };
  });

  #decades(reading: Reading): TypedFound | undefined {
    const digits = reading.runEnd - reading.at;
    const match = digits === 2 || digits === 4 ? this.#decade && reading.match(this.#decade) : undefined;
    if (match === undefined) return undefined;
    const end = reading.at + match[0].length;
    return {
      end,
      token: { type: 'decade', digits: match[1] ?? '', around: reading.around(end) },
      rule: 'decade',
    };
  }

  #ordinals(reading: Reading): TypedFound | undefined {
    const match = this.#ordinal && reading.match(this.#ordinal);
    if (match === undefined) return undefined;
    const end = reading.at + match[0].length;
    if (isWordAt(reading.text, end) && isWordAt(reading.text, end - 1)) return undefined;
    const isYear = match[1]?.length === 4 && match[2] === '.';
    if (isYear && endsSentenceAt(reading.text, end - 1, this.#forms, false)) return undefined;
    const [, digits = '', mark = ''] = match;
    return { end, token: { type: 'ordinal', digits, mark, around: reading.around(end) }, rule: 'ordinal' };
  }

  /** Code 4711, PIN 0 815, flight 203. */
  #keyed(reading: Reading): TypedFound | undefined {
    const { text, at, runEnd } = reading;
    // #48213, a card *1234
    const numbered = runEnd - at >= NUMBERED && (text[at - 1] === '#' || isMasked(text, at, runEnd));
    const { digitsAfter, linking } = this.#language.writing;
    if (!numbered && !isNear(reading, digitsAfter, linking)) return undefined;
    if (this.#isYear(reading)) return undefined;
    // verification in 2 steps, a reference of 70 to 99 mg/dl
    if (runEnd - at === 1 && /^ \p{Ll}{3}/u.test(text.slice(runEnd, runEnd + 4))) return undefined;
    if (runEnd - at < NUMBERED && RANGE_BEHIND.test(text.slice(runEnd, runEnd + 10))) return undefined;
    const match = reading.match(GROUPED_CODE);
    if (match === undefined) return undefined;
    const end = reading.at + match[0].length;
    if (isWordAt(reading.text, end) || /^[.,:/]\d/.test(reading.text.slice(end, end + 2))) return undefined;
    return digitsOf(match[0], end);
  }

  /** Matrícula 2026, but not matrícula 2026 KLM. */
  #isYear(reading: Reading): boolean {
    const { text, at, runEnd } = reading;
    if (!/^20\d\d(?! ?\p{Lu}{2})/u.test(text.slice(at, runEnd + 3)) || runEnd - at !== 4) return false;
    return this.#language.writing.yearAfter.has(reading.around(at).previousWord);
  }

  /** 2023/24, 1939–1945. */
  #years(reading: Reading): Found | undefined {
    const isParted = reading.runEnd - reading.at === 4 && PARTS_YEARS.at(reading.text, reading.runEnd);
    const match = isParted ? reading.match(YEARS) : undefined;
    if (match === undefined) return undefined;
    const [written, from = '', mark = '', to = ''] = match;
    const isSeason = Number(to) === Number(from) + 1; // 2023-2024
    if (Number(to) <= Number(from.slice(-to.length)) || (mark === '/' && to.length === 4 && !isSeason))
      return undefined;
    const { speech } = this.#language;
    const end = reading.at + written.length;
    const around = reading.around(end);
    const first = speech.year(from, around, true);
    const last = to.length === 4 ? speech.year(to, around, true) : speech.number(numeralOf(to), around);
    if (first === undefined || last === undefined) return undefined;
    const spoken = mark === '/' ? `${first} ${last}` : speech.range(first, last, around);
    return { end, spoken, rule: 'range', ...(isSeason && mark !== '/' && { isCertain: true }) };
  }

  /** 16:9, and 3-1 where a word around it tells of a game. */
  #scores(reading: Reading): TypedFound | undefined {
    const mark = reading.text[reading.runEnd];
    const ratio = mark === ':' ? reading.match(RATIO) : undefined;
    const match = ratio ?? (mark === '-' || mark === '–' ? reading.match(RESULT) : undefined);
    if (match === undefined) return undefined;
    const [written, home = '', guest = ''] = match;
    const end = reading.at + written.length;
    if (isWordAt(reading.text, end)) return undefined;
    if (ratio === undefined && !this.#isGame(reading, end, Number(home), Number(guest))) return undefined;
    const around = reading.around(end);
    return {
      end,
      token: { type: 'score', home: numeralOf(home), guest: numeralOf(guest), around },
      rule: 'score',
    };
  }

  #isGame(reading: Reading, end: number, home: number, guest: number): boolean {
    const { scoreWords } = this.#language.writing;
    if (home > 199 || guest > 199) return false;
    const around = reading.around(end);
    const near = [around.previousWord, around.secondPreviousWord, around.nextWord, around.secondNextWord];
    return near.some((word) => scoreWords.has(word.toLowerCase()));
  }

  /** 123-45-6789, 4111 1111 1111 1111: more than two groups are no range. */
  #grouped(reading: Reading): TypedFound | undefined {
    const { text, at, runEnd } = reading;
    if (!isDigitAt(text, runEnd + 1)) return undefined;
    const isCard = text[runEnd] === ' ' && runEnd - at === 4;
    const match = text[runEnd] === '-' ? reading.match(GROUPS) : isCard ? reading.match(CARD) : undefined;
    if (match !== undefined) return digitsOf(match[0], reading.at + match[0].length);
    return text[runEnd] === '-' ? this.#numbered(reading) : undefined;
  }

  /** 2025-0918: no amount begins with a zero. 702-4418293: so long a second group makes no range. */
  #numbered(reading: Reading): TypedFound | undefined {
    const zero = reading.match(ZERO_GROUP);
    if (zero !== undefined) return digitsOf(zero[0], reading.at + zero[0].length, 'digits');
    const match = reading.match(NUMBERED_GROUPS);
    if (match === undefined || match[0].endsWith('00')) return undefined;
    return digitsOf(match[0], reading.at + match[0].length, 'telephone');
  }

  /** 007, 0800, 4006381333931: codes, not amounts. */
  #code(reading: Reading): TypedFound | undefined {
    const { text, at, runEnd } = reading;
    const digits = text.slice(at, runEnd);
    const zero = digits.length > 1 && digits.startsWith('0');
    const long = digits.length >= LONG_CODE && !digits.endsWith('000');
    if (!zero && !long) return undefined;
    if (isWordAt(text, runEnd) || (DECIMAL.at(text, runEnd) && isDigitAt(text, runEnd + 1))) return undefined;
    return digitsOf(digits, digitsEnd(text, at));
  }
}

const RANGE_BEHIND = /^ (?:a|à|to|bis) \d{1,3}(?!\d)/;

function digitsOf(written: string, end: number, rule: Rule = 'digits'): TypedFound {
  return { end, token: { type: 'digits', groups: written.split(/[- ]/), around: NOWHERE }, rule };
}

/** True for the last four digits of a number whose other digits are masked with stars. */
function isMasked(text: string, at: number, end: number): boolean {
  return (
    end - at === NUMBERED &&
    /(?:^|[\s*•])[*•]$|[*•xX]{2}[ -]?$/.test(text.slice(Math.max(0, at - 3), at)) &&
    text[end] !== '*'
  );
}
