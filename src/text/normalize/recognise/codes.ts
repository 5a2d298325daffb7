// Codes that every language writes alike: xk7p2q behind a word such as "code", i7-13700K, B2B, the last
// digits of a card, a number of a hotline, (415) 555-0132, FL 33602. These recognisers are asked before
// those of a language.
import { isCapitalAt, isDigitAt, isWordAt, WORD_UNIT } from '../characters.js';
import { beginning, behind, type Row } from '../dispatch.js';
import type { Language } from '../language.js';
import { numeralOf, withoutZeros } from '../numerals.js';
import {
  certain,
  composed,
  type Found,
  NOWHERE,
  type Reading,
  type Rule,
  skipSpaces,
  type TypedFound,
} from '../reading.js';
import { cardinal } from '../say.js';
import { alternatives } from './dates.js';

const END = String.raw`(?!${WORD_UNIT})`;
const SMALL_CODE = new RegExp(
  String.raw`(?!\d{1,3}(?:[hmsxv]|min|[ap]m)\d{0,2}(?![A-Za-z\d]))(?=[A-Za-z]{0,19}\d)(?=\d{0,19}[A-Za-z])[A-Za-z\d]{4,20}${END}(?![-:][A-Za-z\d])`,
  'uy',
);
const TYRE = new RegExp(String.raw`(\d{3})\/(\d{2}) ?Z?R ?\d{2}C?(?: \d{2,3}[A-Z])?${END}`, 'uy');
const RUNS = /[A-Za-z]+|\d+/g;
const READABLE = /^[A-Za-z][a-z]{3,}$/; // a run of letters that may be a word
const VOWEL = /[aeiouy]/i;
const FEWEST_RUNS = 3; // 30min, 2nd and 24h have two
const COMPOUND = /(?:^passe|code|nummer|kennwort|код|кода|коду|кодом)$/u;
const LONGEST_LEAD = 48; // units before a code that may tell what it is

const EXCHANGE = /(?!H2[OS]|N2O|K2O|B2F)([A-Z])2([A-Z])(?![A-Za-z\d])/y; // no molecule, no floor
const PROCESSOR = /([im][3579])-(\d{3,5})([A-Z]{0,2})(?![A-Za-z\d])/y;
const BRACKETED_AREA = /\(([2-9]\d{2})\) ?(\d{3})[-. ](\d{4})(?!\d|[-.]\d)/y;
const DOTTED_AREA = /([2-9]\d{2})\.([2-9]\d{2})\.(\d{4})(?!\d|[-.]\d)/y;
const POSTCODE = new RegExp(String.raw`([A-Z]{2}),? (\d{5})(?:-(\d{3,4}))?${END}(?!-?\d)`, 'uy');
const STATES = new Set(
  `AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK
   OR PA RI SC SD TN TX UT VT VA WA WV WI WY DC PR`.split(/\s+/),
);
const CITY = /\p{Lu}[\p{L}'’.-]{1,24},? $/u;
const CARD_DIGITS = /\d{3,6}(?![\p{Lu}\p{Ll}\d]|[-.,:/]\d)/uy;
const HOTLINE = /\d{5,6}(?![\p{L}\d]|[-.,:/% ]\d|%)/uy;
/** Le 116 117, al 116117: the service numbers that the countries of Europe share. */
const SHARED_SERVICE =
  /116 ?(?:006|111|117|123)(?=[,.;:!?)](?!\d)|$| (?![kcm]?[mgl] |ha )\p{Ll}{1,3}(?!\p{L}))/uy;
const MESSAGE_NUMBER = /\d{3,6}(?![\p{Lu}\p{Ll}\d]|[-.,:/% ]\d|[%€$])/uy;
/** The message itself: a word in capitals or quotes. */
const KEYWORD = /\p{Lu}{2}|["“”«»„‘「『]/u;
const ZERO_GROUPS = /0\d{2}(?:\.\d{3}){1,4}(?![\d\p{L}]|[.,]\d|-\d)/uy;
const MASKED = /[*•]{3,8}(?:[. -](?:\d{2,6}|[*•]{2,8})){1,6}(?![\d*•])/y;
const LONGEST_CUE_GAP = 4; // letters of a word that may stand between "dial" and its number
const STARRED = /(\d{4,6})\*(0\d)(?![\p{L}\d*]|[.,]\d)/uy; // Cerfa 12100*02
const ANY_RELEASE = /(\d{1,3})\.x(?![\p{L}\d]|\.\d)/uy; // version 3.x
const RELEASE = /(\d{1,5})\.(\d{1,5})(?![\p{L}\p{N}]|[.,]\d)/uy;
const LONG_RELEASE = /\d{1,5}(?:\.\d{1,5}){2,3}(?![\p{L}\p{N}]|[.,]\d)/uy;
/** Words before a version, in the languages whose dates are written with stops or strokes, too. */
const VERSION_WORD =
  /^(?:vers(?:i[oó]n|ione|ioni|ão|ionen|ions)|верси\p{L}{1,3}|прошивк\p{L}{1,3}|firmware|release)$/u;
/** Python 3.10 …, installed is 3.8.12: a name of software with its number was said before. */
const EARLIER =
  /(?<![\p{L}\p{N}])(\p{L}[\p{L}.]{1,15})(?:[- ]v?|[-‐ ]?[Vv]ersion )\d{1,3}\.\d{1,3}(?:\.\d{1,5})?[^\d]/gu;
const LONGEST_EARLIER = 160; // units
const LONG_MINOR = /^\d{1,2}\.\d{2}(?=[,;)]|\. \p{Lu}|\.?$)/u;
const IS_RELEASE = /(?<!\p{L})(?:Update|Release|Firmware)(?: (?:ist|is|est|es|è|é))? $/u;
const LETTERED = /\d{1,3}(?= [A-ZА-Я](?![\p{L}\p{N}'’]|\.\p{L}))/uy;
const PLACE_CODE = /(\d{1,2})-(\d{3})(?![\p{L}\d]|[-.,:/]\d)/uy; // room 105 on the third floor
const YEAR_NUMBER = /(?:((?:19|20)\d\d)\/(\d{5,8})|(\d\d)\/(0\d{3,7}|\d{5,8}))(?![\p{L}\d]|[-.,:/]\d)/uy;
const FILE_AND_PART = /(\d{6,9})\/(\d{1,3})(?![\p{L}\d]|[-.,:/]\d| ?[=€$£%])/uy;
const CARRIER = /([A-Z])(\d) (\d{2,4})(?![\p{L}\p{N}]|[.,:]\d)/uy;
const DOTTED_CODE = /\d{2,6}(?:\.\d{2,6}){1,4}-\d{1,2}(?![\p{L}\p{N}]|[-.,/]\d)/uy;

/** Titles by their form in capitals, with the form that the language writes. */
function inCapitals(titles: ReadonlySet<string>): ReadonlyMap<string, string> {
  return new Map(Array.from(titles, (title) => [title.toUpperCase(), title]));
}

export class Codes {
  readonly #language: Language;
  readonly #cardCue: RegExp;
  readonly #titles: ReadonlyMap<string, string>;
  readonly #longestTitle: number;

  constructor(language: Language) {
    const { digitWords, titles } = language.writing;
    // A language without such words has no cue: nothing matches (?!).
    const words = digitWords.size === 0 ? '(?!)' : alternatives(digitWords);
    this.#language = language;
    this.#cardCue = new RegExp(
      String.raw`(\d{1,2})(?: ?[^\d\s.!?。！？]{0,12}){0,2} ?(?:${words})[^\d.!?。！？]{0,36}$`,
      'u',
    );
    this.#titles = inCapitals(titles);
    this.#longestTitle = Math.max(0, ...Array.from(titles, (title) => title.length));
  }

  readonly atLetter: readonly Row[] = [
    behind(
      /\d/,
      certain(
        (reading) =>
          this.#exchange(reading) ??
          this.#processor(reading) ??
          this.#smallCode(reading) ??
          this.#carrier(reading),
      ),
    ),
    {
      knows: ({ isFresh, first, isSmallBehind }) => isFresh && !isSmallBehind && /\p{Lu}/u.test(first),
      recognise: certain(
        (reading) => this.#title(reading) ?? this.#softwareOfCode(reading) ?? this.#postcode(reading),
      ),
    },
  ];

  readonly atDigit: readonly Row[] = [
    {
      knows: ({ isFresh }) => isFresh,
      recognise: certain((reading) => this.#hidden(reading)),
    },
    behind(
      /^\/\d/,
      certain((reading) => this.#tyre(reading)),
      3,
    ),
    behind(
      /^[A-Za-z]/,
      certain((reading) => this.#smallCode(reading)),
    ),
    behind(
      /^\/\d/,
      certain((reading) => this.#yearNumber(reading)),
      9,
    ),
    behind(
      /^\.\d/,
      certain((reading) => this.#dottedCode(reading)),
    ),
    behind(
      /^\.\d/,
      certain((reading) => this.#telephone(reading, DOTTED_AREA) ?? this.#zeroGroups(reading)),
      3,
    ),
    behind(
      /^\.\d/,
      certain((reading) => this.#version(reading)),
      5,
    ),
    behind(
      /^\.x/,
      certain((reading) => this.#anyRelease(reading)),
      3,
    ),
    behind(
      /^\*0/,
      certain((reading) => this.#starred(reading)),
      6,
    ),
    behind(
      /^(?: [A-ZА-Я]|-\d)/,
      certain((reading) => this.#lettered(reading)),
      3,
    ),
    {
      knows: ({ isFresh, digits, behind: marks }) =>
        isFresh && digits >= 3 && digits <= 6 && !/^(?:[\p{Lu}\p{Ll}]|[-.,:/]\d)/u.test(marks),
      recognise: certain(
        (reading) => this.#cardDigits(reading) ?? this.#hotline(reading) ?? this.#messageNumber(reading),
      ),
    },
  ];

  readonly atMark: readonly Row[] = [
    beginning(
      /\(/,
      certain((reading) => this.#telephone(reading, BRACKETED_AREA)),
    ),
    beginning(
      /[*•]/,
      certain((reading) => this.#masked(reading)),
    ),
  ];

  /** 205/55 R16 91V: numbers and letters, no fraction and no volts. */
  #tyre(reading: Reading): Found | undefined {
    const match = reading.match(TYRE);
    if (match === undefined) return undefined;
    const { speech, unspaced } = this.#language;
    const [written, width = '', height = ''] = match;
    if (unspaced === true) {
      const end = reading.at + width.length + 1 + height.length; // the letter is read by itself
      return { end, spoken: speech.digits(width + height), rule: 'identifier' };
    }
    const parts = (written.match(/\d+|[A-Z]+/g) ?? []).map((part) =>
      /\d/.test(part) ? speech.number(numeralOf(part), NOWHERE) : speech.letters(part),
    );
    return { end: reading.at + written.length, spoken: parts.join(' '), rule: 'identifier' };
  }

  /** 56•••21: a number of which a part is hidden. */
  #hidden({ text, at, runEnd }: Reading): Found | undefined {
    if (text[at - 1] !== '•' && text[runEnd] !== '•') return undefined;
    return { end: runEnd, spoken: this.#language.speech.digits(text.slice(at, runEnd)), rule: 'digits' };
  }

  /** Promo code xk7p2q, PNR k7x9qd: letters by name, figures one by one. A word stays a word: spring24. */
  #smallCode(reading: Reading): TypedFound | undefined {
    const { text, at } = reading;
    const match = reading.match(SMALL_CODE);
    if (match === undefined || !/[a-z]/.test(match[0])) return undefined;
    const runs = match[0].match(RUNS) ?? [];
    if (runs.length < FEWEST_RUNS && (runs.length < 2 || match[0].length < 5 || isDigitAt(text, at)))
      return undefined;
    if (!this.#isBehindCodeWord(reading)) return undefined;
    const { speech } = this.#language;
    const said = (run: string): string => {
      if (/\d/.test(run)) return speech.digits(run);
      return READABLE.test(run) && VOWEL.test(run) ? run : speech.letters(run.toUpperCase());
    };
    return composed(at + match[0].length, 'identifier', () => runs.map(said).join(' '));
  }

  /** A word for a code stands in the same clause, or ends with one: Buchungscode, промокод. */
  #isBehindCodeWord(reading: Reading): boolean {
    const { digitsAfter, codeBefore } = this.#language.writing;
    const lead = reading.text.slice(Math.max(0, reading.at - LONGEST_LEAD), reading.at);
    if (codeBefore !== undefined) return codeBefore.test(lead);
    const words = (/[^.!?\n]*$/u.exec(lead)?.[0] ?? '').toLowerCase().match(/\p{L}{2,}/gu) ?? [];
    return words.slice(-5).some((word) => digitsAfter.has(word) || COMPOUND.test(word));
  }

  /** B2B, P2P */
  #exchange(reading: Reading): Found | undefined {
    const match = reading.match(EXCHANGE);
    if (match === undefined) return undefined;
    const spoken = this.#language.speech.exchange(match[1] ?? '', match[2] ?? '');
    return { end: reading.at + match[0].length, spoken, rule: 'identifier' };
  }

  /** i7-13700K: no thousands of thousands. */
  #processor(reading: Reading): Found | undefined {
    const match = reading.match(PROCESSOR);
    if (match === undefined) return undefined;
    const { speech } = this.#language;
    const [written, name = '', model = '', letters = ''] = match;
    const spoken = speech.processor(name.slice(0, 1), name.slice(1), model);
    const tail = letters === '' ? '' : ` ${speech.letters(letters)}`;
    return { end: reading.at + written.length, spoken: spoken + tail, rule: 'identifier' };
  }

  /** DR. PATEL, MME Leroy: as the language says the title that is written so in capitals. */
  #title(reading: Reading): Found | undefined {
    const { text, at } = reading;
    if (!isCapitalAt(text, at + 1) && text[at + 1] !== '-') return undefined;
    const { abbreviations } = this.#language.writing;
    for (let length = Math.min(this.#longestTitle, 12); length > 1; length--) {
      const title = this.#titles.get(text.slice(at, at + length));
      const end = at + length;
      if (title === undefined || isWordAt(text, end) || !startsName(text, end)) continue;
      const saying = abbreviations[title];
      const spoken = typeof saying === 'function' ? saying(reading.around(end)) : saying;
      if (spoken !== undefined) return { end, spoken, rule: 'abbreviation' };
    }
    return undefined;
  }

  /** Tampa, FL, 33602: the state by its name or its letters, then each figure. */
  #postcode(reading: Reading): Found | undefined {
    const { text, at, runEnd } = reading;
    const match = runEnd - at === 2 && text[at - 1] === ' ' ? reading.match(POSTCODE) : undefined;
    if (match === undefined || !CITY.test(text.slice(Math.max(0, at - 28), at))) return undefined;
    const [written, state = '', code = '', more] = match;
    if (more === undefined ? !STATES.has(state) : more.length === 4 && !STATES.has(state)) return undefined;
    const { speech, writing } = this.#language;
    const name = writing.states?.[state] ?? speech.letters(state);
    const digits = [code, ...(more === undefined ? [] : [more])].map((part) => speech.digits(part));
    return {
      end: at + written.length,
      spoken: `${name}${written[2] === ',' ? ',' : ''} ${digits.join(', ')}`,
      rule: 'address',
    };
  }

  /** The last 4 digits of your card are 8812: as many figures as the text has said. */
  #cardDigits(reading: Reading): TypedFound | undefined {
    const { text, at } = reading;
    const written = reading.match(CARD_DIGITS)?.[0];
    if (written === undefined) return undefined;
    const count = this.#cardCue.exec(text.slice(Math.max(0, at - LONGEST_LEAD), at))?.[1];
    if (count === undefined || Number(count) !== written.length) return undefined;
    return digitsOf([written], at + written.length);
  }

  /** Dial 72500, but not "call 12000 customers". */
  #hotline(reading: Reading): TypedFound | undefined {
    const { text, at } = reading;
    const shared = reading.match(SHARED_SERVICE)?.[0];
    if (shared !== undefined && /(?:^|[\s(])\p{Ll}{1,3} $/u.test(text.slice(Math.max(0, at - 6), at)))
      return {
        end: at + shared.length,
        token: { type: 'telephone', groups: shared.split(' '), isInternational: false, around: NOWHERE },
        rule: 'telephone',
      };
    const written = reading.match(HOTLINE)?.[0];
    if (written === undefined) return undefined;
    const end = at + written.length;
    const words =
      text.slice(Math.max(0, at - LONGEST_LEAD), at).match(/[\p{L}\p{M}]+|[^\p{L}\p{M}\s]/gu) ?? [];
    if (!isCalled(words.slice(-4), this.#language.writing.callWords)) return undefined;
    if (reading.around(end).nextWord.length > LONGEST_CUE_GAP) return undefined;
    return digitsOf([written], end, 'telephone');
  }

  /** Text DATA to 7726, SMS an die 2202, SIM ao 1052. */
  #messageNumber(reading: Reading): TypedFound | undefined {
    const { text, at } = reading;
    const written = reading.match(MESSAGE_NUMBER)?.[0];
    if (written === undefined) return undefined;
    const end = at + written.length;
    const { messageWords, messageTo } = this.#language.writing;
    const { unspaced } = this.#language;
    const lead = /[^.!?。！？;\n]*$/u.exec(text.slice(Math.max(0, at - LONGEST_LEAD), at))?.[0] ?? '';
    const rest = /^[^.!?。！？;,，、\n]*/u.exec(text.slice(end, end + LONGEST_LEAD / 2))?.[0] ?? '';
    const isMessage = (part: string): boolean =>
      unspaced === true
        ? Array.from(messageWords).some((word) => part.includes(word))
        : (part.toLowerCase().match(/[\p{L}\p{M}]+/gu) ?? []).some((word) => messageWords.has(word));
    if (!isMessage(lead) && !isMessage(rest)) return undefined;
    if (!KEYWORD.test(lead) && !KEYWORD.test(rest) && unspaced !== true) return undefined;
    const next = reading.around(end).nextWord;
    const leads = Array.from(messageTo).some((word) => endsWithWord(lead, word));
    const follows = Array.from(messageTo).some((word) =>
      unspaced === true ? next.startsWith(word) : next === word,
    );
    if (!leads && !follows) return undefined;
    if (leads && next.length > LONGEST_CUE_GAP && !messageWords.has(next.toLowerCase())) return undefined;
    if (this.#language.writing.units[next] !== undefined || this.#isPriced(text, end)) return undefined;
    return digitsOf([written], end);
  }

  #isPriced(text: string, end: number): boolean {
    const behind = text.slice(end, end + 2).trimStart();
    const { currencySigns } = this.#language.writing;
    return behind !== '' && currencySigns[behind.slice(0, 1)] !== undefined;
  }

  /** Flight G3 1522: the figure of an airline, then those of its flight. */
  #carrier(reading: Reading): Found | undefined {
    const match = reading.match(CARRIER);
    const { speech, writing } = this.#language;
    const before = reading.around(reading.at).previousWord;
    if (match === undefined || !writing.digitsAfter.has(before)) return undefined;
    const [written, letter = '', digit = '', flight = ''] = match;
    const spoken = `${letter} ${speech.digits(digit)}, ${speech.digits(flight)}`;
    return { end: reading.at + written.length, spoken, rule: 'identifier' };
  }

  /** Policy 0531.22.004187-1: groups that are no thousands, and a figure to check them. */
  #dottedCode(reading: Reading): TypedFound | undefined {
    const written = reading.match(DOTTED_CODE)?.[0];
    const groups = written?.split(/[.-]/).slice(0, -1) ?? [];
    if (written === undefined || !groups.some((group) => group.length > 3)) return undefined;
    return groups.at(-1)?.length === 4 && groups.length === 3 ? undefined : groupsOf(reading, written);
  }

  /** Protocol 2025/00341: a year and the number of a document in it. Policy 4587221/03: number and part. */
  #yearNumber(reading: Reading): Found | undefined {
    const { speech, symbols } = this.#language;
    const stroke = symbols.inAddress['/'];
    const parts = reading.match(FILE_AND_PART);
    if (parts !== undefined && stroke !== undefined) {
      const [written, file = '', part = ''] = parts;
      const spoken = `${speech.digits(file)} ${stroke} ${speech.digits(part)}`;
      return { end: reading.at + written.length, spoken, rule: 'identifier' };
    }
    const match = reading.match(YEAR_NUMBER);
    if (match === undefined || stroke === undefined) return undefined;
    const [written, longYear, longNumber, shortYear = '', shortNumber = ''] = match;
    const [year, number] = [longYear ?? shortYear, longNumber ?? shortNumber];
    const spoken = `${cardinal(year, speech)} ${stroke} ${speech.digits(number)}`;
    return { end: reading.at + written.length, spoken, rule: 'identifier' };
  }

  /** Nº 004.829: zeros in front make it a number of a document. */
  #zeroGroups(reading: Reading): TypedFound | undefined {
    if (!this.#language.writing.numbers.grouping.includes('.')) return undefined;
    const written = reading.match(ZERO_GROUPS)?.[0];
    return written === undefined ? undefined : groupsOf(reading, written);
  }

  /** ***.456.789-**, •••• 4242: what is hidden is not said. */
  #masked(reading: Reading): TypedFound | undefined {
    if (isWordAt(reading.text, reading.at - 1)) return undefined;
    const written = reading.match(MASKED)?.[0];
    return written === undefined || !/\d/.test(written) ? undefined : groupsOf(reading, written);
  }

  /** Python 3.12 is three point twelve. */
  #version(reading: Reading): TypedFound | undefined {
    const match = reading.match(RELEASE);
    const before = reading.around(reading.at).previousWord;
    const lead = reading.text.slice(Math.max(0, reading.at - LONGEST_LEAD), reading.at);
    const isSoftware = this.#language.writing.softwareNames.has(before) || IS_RELEASE.test(lead);
    const mayBeLong = isSoftware || VERSION_WORD.test(before) || this.#isLaterVersion(reading);
    const [long] = mayBeLong ? (reading.match(LONG_RELEASE) ?? []) : [];
    if (long !== undefined) return this.#versionOf(long.split('.'), reading.at + long.length, '');
    const isLater = LONG_MINOR.test(reading.text.slice(reading.at, reading.at + 10)) && mayBeLong;
    if (match === undefined || !(isSoftware || isLater)) return undefined;
    return this.#release(match, reading.at + match[0].length, '');
  }

  #isLaterVersion({ text, at }: Reading): boolean {
    const before = text.slice(Math.max(0, at - LONGEST_EARLIER), at);
    const { softwareNames } = this.#language.writing;
    return Array.from(before.matchAll(EARLIER), ([, name = '']) => name.toLowerCase()).some((name) =>
      softwareNames.has(name),
    );
  }

  /** PHP 8.3 is no money. */
  #softwareOfCode(reading: Reading): TypedFound | undefined {
    const { text, at, runEnd } = reading;
    const { speech, writing } = this.#language;
    const name = text.slice(at, runEnd);
    if (runEnd - at !== 3 || writing.currencies[name] === undefined) return undefined;
    if (!writing.softwareNames.has(name.toLowerCase()) || text[runEnd] !== ' ') return undefined;
    const match = reading.match(RELEASE, runEnd + 1);
    return match && this.#release(match, runEnd + 1 + match[0].length, speech.letters(name));
  }

  #release([, major = '', minor = '']: RegExpExecArray, end: number, before: string): TypedFound | undefined {
    if (minor.length > 1 && minor.startsWith('0')) return undefined; // 22.04
    return this.#versionOf([major, minor], end, before);
  }

  #versionOf(parts: readonly string[], end: number, before: string): TypedFound {
    const point = this.#language.symbols.versionPoint;
    const token = { type: 'version', before, parts, point, stage: '', build: '', around: NOWHERE } as const;
    return { end, token, rule: 'version' };
  }

  /** Room 12 B, room 3-105: behind a word for a place the letter is no unit, and the dash makes no range. */
  #lettered(reading: Reading): TypedFound | undefined {
    const code = reading.match(PLACE_CODE);
    const written = code?.[0] ?? reading.match(LETTERED)?.[0];
    if (written === undefined) return undefined;
    const before = reading.around(reading.at).previousShort.replace(/^\p{L}{1,5}['’]/u, ''); // l'aula 3 B
    const { speech, writing } = this.#language;
    if (!writing.placeWords.has(before)) return undefined;
    if (code !== undefined) {
      const [, floor = '', room = ''] = code;
      const words = () => `${cardinal(floor, speech)}, ${speech.digits(room)}`;
      return composed(reading.at + written.length, 'address', words);
    }
    const numeral = numeralOf(withoutZeros(written));
    const token = { type: 'number', numeral, around: NOWHERE } as const;
    return { end: reading.at + written.length, token, rule: 'cardinal' };
  }

  #anyRelease(reading: Reading): TypedFound | undefined {
    const [written, major = ''] = reading.match(ANY_RELEASE) ?? [];
    const { speech, symbols } = this.#language;
    if (written === undefined) return undefined;
    const words = (): string => `${cardinal(major, speech)} ${symbols.versionPoint} ${speech.letters('X')}`;
    return composed(reading.at + written.length, 'version', words);
  }

  #starred(reading: Reading): TypedFound | undefined {
    const [written, form = '', edition = ''] = reading.match(STARRED) ?? [];
    const { speech, symbols } = this.#language;
    if (written === undefined) return undefined;
    return composed(
      reading.at + written.length,
      'identifier',
      () => `${cardinal(form, speech)} ${symbols.keys.star} ${speech.digits(edition)}`,
    );
  }

  #telephone(reading: Reading, pattern: RegExp): TypedFound | undefined {
    if (isWordAt(reading.text, reading.at - 1)) return undefined;
    const match = reading.match(pattern);
    if (match === undefined) return undefined;
    const [written, ...groups] = match;
    const token = { type: 'telephone', groups, isInternational: false, around: NOWHERE } as const;
    return { end: reading.at + written.length, token, rule: 'telephone' };
  }
}

function digitsOf(groups: readonly string[], end: number, rule: Rule = 'digits'): TypedFound {
  return { end, token: { type: 'digits', groups, around: NOWHERE }, rule };
}

function groupsOf(reading: Reading, written: string): TypedFound {
  return digitsOf(written.match(/\d+/g) ?? [], reading.at + written.length);
}

const AND_TITLE = /^ \p{Ll}{1,3} \p{Lu}[\p{Lu}.]/u;

/** A name follows, or another title: MR. and MRS. Lane. */
function startsName(text: string, end: number): boolean {
  const at = skipSpaces(text, end);
  return (at > end && isCapitalAt(text, at)) || AND_TITLE.test(text.slice(end, end + 7));
}

function endsWithWord(lead: string, word: string): boolean {
  const trimmed = lead.trimEnd().toLowerCase();
  if (!trimmed.endsWith(word)) return false;
  const before = trimmed[trimmed.length - word.length - 1];
  return before === undefined || !/\p{Ll}/u.test(before) || !/^\p{Ll}/u.test(word);
}

/** The last of these words is one that is called, or only short words stand behind it. */
function isCalled(words: readonly string[], calls: ReadonlySet<string>): boolean {
  for (let index = words.length - 1; index >= 0; index--) {
    const word = words[index] ?? '';
    if (calls.has(word.toLowerCase())) return true;
    if (word.length > LONGEST_CUE_GAP || !/^\p{L}/u.test(word)) return false;
  }
  return false;
}
