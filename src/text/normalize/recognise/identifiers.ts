// Reads identifiers: versions, IP and hardware addresses, telephone numbers, hexadecimal identifiers, and
// names mixed of letters and digits.
import { CharacterSet } from '../../character-set.js';
import { ALPHABETIC, isCapitalAt, isDigitAt, isWordAt, WORD_UNIT } from '../characters.js';
import { beginning, behind, type Row } from '../dispatch.js';
import type { Language } from '../language.js';
import { numeralOf, readNumeral, withoutZeros } from '../numerals.js';
import { composed, type Found, NOWHERE, type Reading, type TypedFound } from '../reading.js';
import { cardinal } from '../say.js';

const IP = /(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?::(\d{1,5}))?(?![\d.]\d|\d)(?:\/\d{1,2}\b)?/y;
/** Any address of a network: 192.168.1.x */
const ANY_ADDRESS = /(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.([xX*])(?![\p{Lu}\p{Ll}\p{N}])/uy;
const VERSION = /\d{1,5}(?:\.\d{1,6}){2,4}(?:-?(?:alpha|beta|rc)\.?\d{0,3})?(?![\d]|\.\d)/y;
const MARKED_VERSION = endingWord(
  String.raw`(?:[vV](?:\. ?)?|[vV]er\.)(\d{1,5}(?:\.\d{1,6}){0,4}(?:-?(?:alpha|beta|rc)\.?\d{0,3})?)(?!\.\d)`,
);
/** German: vom 3.2.2025, vom 12. März */
const OF_DAY = /v\. ?\d{1,2}\. ?(?:(?:0?\d|1[0-2])\.(?:(?:20)?[2-3]\d|19\d\d)?(?![\d.])|\p{Lu}\p{Ll}{2})/uy;
const INTERNATIONAL = endingWord(String.raw`\+(\d{1,3}(?:[ ./-]?(?:\(\d{1,5}\)|\d{1,5})){1,7})(?![.-]\d)`);
const BRACKETED_COUNTRY = endingWord(String.raw`\(\+(\d{1,3})\) ?(\d[\d .-]{5,16}\d)`);
const ANY_TELEPHONE = endingWord(String.raw`\(?\+?\d(?:(?: ?\((?=\d{1,5}\))|[ ./)-]{0,2})\d){2,17}`);
const MIXED_AT_LETTER = endingWord(
  String.raw`\p{Lu}${ALPHABETIC}{0,11}(?:-?\d{1,20}(?:-?\p{Lu}{1,4}(?!${ALPHABETIC}))?){1,4}(?![.,]\d)`,
);
const MIXED_AT_DIGIT = endingWord(String.raw`\d{1,4}-?(?:\p{Lu}{1,4}\d{0,4}){1,3}`);
/** The number of a vehicle, or of a parcel in groups */
const PARCEL = endingWord(
  String.raw`(?=[A-Z\d]{0,16}\d)[A-HJ-NPR-Z\d]{17}|1Z ?[A-Z\d]{3} ?[A-Z\d]{3} ?\d{2} ?\d{4} ?\d{4}`,
);
const BANK = endingWord(String.raw`[A-Z]{6}[A-Z\d]{2}(?:[A-Z\d]{3})?`);
const CODE = endingWord(
  String.raw`(?=[A-Z\d-]{0,40}\d)(?=[A-Z\d-]{0,40}[A-Z])[A-Z\d]{1,20}(?:-[A-Z\d]{1,20}){1,6}(?!\.\d)`,
);
/** U13-U17 */
const LETTERED_RANGE = /^([A-Z]{1,2})(\d{1,2})-\1(\d{1,2})$/;
/** The /45 of TX-200B/45 */
const CODE_PART = endingWord(String.raw`\/[A-Z\d]{1,8}(?:-[A-Z\d]{1,8}){0,2}(?![/.]\d)`);
const NAME_AND_VERSION = endingWord(String.raw`(\p{Lu}${ALPHABETIC}{0,11})-?(\d{1,3})\.(\d{1,2})(?![.,]\d)`);
const SERIAL = endingWord(String.raw`(?=[A-Z]{0,2}\d)(?=[A-Z\d]{0,20}[A-Z])[A-Z\d]{6,40}`);
const IBAN = endingWord(String.raw`[A-Z]{2}\d{2}(?: ?[A-Z\d]{4}){3,7}(?: ?[A-Z\d]{1,3})?`);
/** The beginning of one: the IBAN begins with DE89 3704. */
const IBAN_PART = endingWord(String.raw`[A-Z]{2}\d{2}(?: \d{4}){1,2}`);
const NAMES_IBAN = /IBAN[^.!?\n]{0,32}$/;
/** MOVISTAR_4F2A: names without figures are left to the voice. */
const UNDERSCORED =
  /(?=[A-Za-z_-]{0,40}\d)[A-Za-z\d]{1,20}(?:[_-][A-Za-z\d]{1,20}){1,5}(?![\p{Lu}\p{Ll}\p{N}_]|\.\p{L})/uy;
/** `user_id`: a name in a program. */
const SNAKE = /[A-Za-z]{1,20}(?:_[A-Za-z\d]{1,20}){1,5}(?=`)/y;
const RUNS = /\p{L}+|\d+/gu;
const STOP = new CharacterSet('.:');
const SHORTEST_KEYED = 3; // digits of a telephone number behind a word that tells of one
const SHORTEST_ALONE = 6; // digits of any other that is not parted
const LONGEST_PARTING = 3; // units between two groups of a telephone number
const SHORTEST_CODE_NAME = 6; // units; A4 and B1 are no codes, whatever stands before them
const AS_NUMBER = 2; // digits that are said as one number

/** Matches only if a word ends behind the match. Before an ideograph a word ends, too: A380飞机. */
function endingWord(source: string): RegExp {
  return new RegExp(`${source}(?!${WORD_UNIT})`, 'uy');
}

export class Identifiers {
  readonly #language: Language;

  constructor(language: Language) {
    this.#language = language;
  }

  readonly atDigit: Row = {
    knows: ({ isFresh, digits, behind }) =>
      isFresh && (digits >= SHORTEST_KEYED || /^(?:[./()\-–−‐]|\p{Lu}| [\d./()\-–−‐])/u.test(behind)),
    recognise: (reading) => this.#atDigit(reading),
  };

  #atDigit(reading: Reading): TypedFound | undefined {
    const { text, at, runEnd } = reading;
    if (STOP.at(text, at - 1)) return undefined;
    const dotted = text[runEnd] === '.' && isDigitAt(text, runEnd + 1);
    const named = isCapitalAt(text, runEnd) || (text[runEnd] === '-' && isWordAt(text, runEnd + 1));
    return (
      (dotted ? this.#ip(reading) : undefined) ??
      (runEnd - at >= SHORTEST_KEYED || goesOn(text, runEnd) ? this.#telephone(reading) : undefined) ??
      (dotted ? this.#version(reading) : undefined) ??
      (named ? this.#mixed(reading, MIXED_AT_DIGIT) : undefined)
    );
  }

  readonly atLetter: readonly Row[] = [
    {
      knows: ({ isFresh, first, behind }) => isFresh && /[vV]/.test(first) && /[.\d-]/.test(behind),
      recognise: (reading) => this.#markedVersion(reading),
    },
    {
      knows: ({ isFresh, first, behind }) => isFresh && /\p{Lu}/u.test(first) && /[\d-]/.test(behind),
      recognise: (reading) => this.#mixed(reading, MIXED_AT_LETTER),
    },
    behind(/[_\d-]/, (reading) => this.#underscored(reading)),
  ];

  /** + and ( begin a telephone number. */
  readonly atMark = beginning(/[+(]/, (reading) =>
    isWordAt(reading.text, reading.at - 1)
      ? undefined
      : (this.#bracketedCountry(reading) ?? this.#telephone(reading)),
  );

  #any(sign: string): string {
    const { speech, symbols } = this.#language;
    return sign === '*' ? (symbols.inAddress['*'] ?? '') : speech.letters(sign.toUpperCase());
  }

  #ip(reading: Reading): TypedFound | undefined {
    const network = reading.match(ANY_ADDRESS);
    const match = network ?? reading.match(IP);
    const [written = '', ...parts] = match ?? [];
    if (isNear(reading, this.#language.writing.telephone.keywords)) return undefined;
    // 2.000.000.000 is a sum
    const outside = parts.slice(0, 4).some((part) => Number(part) > 255 || /^0\d/.test(part));
    if (match === undefined || outside) return undefined;
    const { speech, symbols } = this.#language;
    const dot = ` ${symbols.inAddress['.'] ?? ''} `;
    return composed(reading.at + written.length, 'ip-address', () => {
      const address = parts
        .slice(0, 4)
        .map((part) => (/\d/.test(part) ? speech.digits(part) : this.#any(part)));
      const port =
        parts[4] === undefined ? '' : ` ${symbols.inAddress[':'] ?? ''} ${speech.digits(parts[4])}`;
      const mask = /\/(\d+)$/.exec(written)?.[1];
      const slash = mask === undefined ? '' : ` ${symbols.inAddress['/'] ?? ''} ${this.#number(mask)}`;
      return address.join(dot) + port + slash;
    });
  }

  #version(reading: Reading): TypedFound | undefined {
    const match = reading.match(VERSION);
    if (match === undefined) return undefined;
    const end = reading.at + match[0].length;
    const number = readNumeral(reading.text, reading.at, this.#language.writing.numbers);
    if (number !== undefined && number.end >= end) return undefined; // 1.234.567 where a full stop groups
    return this.#versionOf(match[0], end, '');
  }

  #markedVersion(reading: Reading): TypedFound | undefined {
    const match = reading.match(MARKED_VERSION);
    if (match === undefined) return undefined;
    const end = reading.at + match[0].length;
    if (/^[vV]\. \d{1,2}$/.test(match[0]) && /^ ?[-–] ?\d/.test(reading.text.slice(end, end + 4)))
      return undefined;
    if (reading.match(OF_DAY) !== undefined) return undefined;
    if (/^V(?:6|8|10|12)$/.test(match[0])) return undefined; // an engine
    const { version } = this.#language.symbols;
    const before = reading.around(reading.at).previousWord === version ? '' : version;
    return this.#versionOf(match[1] ?? '', reading.at + match[0].length, before);
  }

  #versionOf(written: string, end: number, before: string): TypedFound {
    const [, numbers = '', stage = '', build = ''] =
      /^([\d.]+?)(?:-?(alpha|beta|rc)\.?(\d*))?$/.exec(written) ?? [];
    const point = this.#language.symbols.versionPoint;
    const parts = numbers.split('.');
    return {
      end,
      token: { type: 'version', before, parts, point, stage, build, around: NOWHERE },
      rule: 'version',
    };
  }

  /** (+33) 6 12 34 56 78: the bracket is the country's alone. */
  #bracketedCountry(reading: Reading): Found | undefined {
    const match = reading.match(BRACKETED_COUNTRY);
    if (match === undefined) return undefined;
    const groups = [match[1] ?? '', ...((match[2] ?? '').match(/\d+/g) ?? [])];
    const spoken = this.#language.speech.telephone(groups, true);
    return { end: reading.at + match[0].length, spoken, rule: 'telephone' };
  }

  #mayBeTelephone({ text, at, runEnd }: Reading): boolean {
    return !isDigitAt(text, at) || runEnd - at >= SHORTEST_ALONE || goesOn(text, runEnd);
  }

  #telephone(reading: Reading): TypedFound | undefined {
    const { telephone } = this.#language.writing;
    const match =
      (this.#mayBeTelephone(reading) ? firstMatch(reading, telephone.patterns) : undefined) ??
      (reading.text[reading.at] === '+' ? reading.match(INTERNATIONAL) : undefined) ??
      (isNear(reading, telephone.keywords) ? reading.match(ANY_TELEPHONE) : undefined);
    if (match === undefined) return undefined;
    const [written] = match;
    const behind = reading.text.slice(reading.at + written.length, reading.at + written.length + 3);
    if (/^\d{3,4}$/.test(written) && /^ \p{Lu}\p{Ll}/u.test(behind)) return undefined;
    const groups = written.match(/\d+|\p{Lu}+/gu) ?? []; // 1-800-FLOWERS
    const digits = groups.join('').length;
    if (digits < 3 || digits > 17 || isWordAt(reading.text, reading.at + written.length)) return undefined;
    const isInternational = written.includes('+');
    const token = { type: 'telephone', groups, isInternational, around: NOWHERE } as const;
    return { end: reading.at + written.length, token, rule: 'telephone' };
  }

  /** A380, COVID-19, B2B, 5G, ABC-1234: capitals by name, small numbers as numbers, longer ones by digit. */
  #mixed(reading: Reading, pattern: RegExp): TypedFound | undefined {
    const isNamed = NAMES_IBAN.test(reading.text.slice(Math.max(0, reading.at - 36), reading.at));
    const iban = reading.match(IBAN) ?? (isNamed ? reading.match(IBAN_PART) : undefined);
    if (iban !== undefined) return this.#serial(reading, iban[0]);
    const isBank = /^(?:bic|swift)$/.test(reading.around(reading.at).previousShort);
    const serial =
      reading.match(PARCEL) ?? (isBank ? reading.match(BANK) : undefined) ?? reading.match(SERIAL);
    if (serial !== undefined && (isBank || (serial[0].match(RUNS)?.length ?? 0) > 2))
      return this.#serial(reading, serial[0]);
    const version = reading.match(NAME_AND_VERSION);
    if (version !== undefined) return this.#nameAndVersion(reading, version);
    const match = reading.match(CODE) ?? reading.match(pattern);
    if (match === undefined) return undefined;
    const written = match[0];
    if (this.#isMagnitude(reading, written)) return undefined;
    if (isWordAt(reading.text, reading.at + written.length)) return undefined;
    const part = /-/.test(written) ? reading.match(CODE_PART, reading.at + written.length)?.[0] : undefined;
    const { speech } = this.#language;
    const named = written.length >= SHORTEST_CODE_NAME && this.#isNamed(reading);
    const sayRun = (run: string): string => (named && /\d/.test(run) ? speech.digits(run) : this.#run(run));
    const say = (runs: string): string => Array.from(runs.matchAll(RUNS), ([run]) => sayRun(run)).join(' ');
    const ends = LETTERED_RANGE.exec(written);
    if (ends !== null && Number(ends[2]) < Number(ends[3])) {
      const [from = '', to = ''] = written.split('-').map(say);
      const around = reading.around(reading.at + written.length);
      return composed(around.end, 'range', () => speech.range(from, to, around));
    }
    const slash = ` ${this.#language.symbols.inAddress['/'] ?? ''} `;
    const end = reading.at + written.length + (part?.length ?? 0);
    return composed(end, 'identifier', () => say(written) + (part === undefined ? '' : slash + say(part)));
  }

  /** 予約番号はRSV-7F3K29: behind a word for a code, in a language without spaces or inflection of it. */
  #isNamed({ text, at }: Reading): boolean {
    return this.#language.writing.codeBefore?.test(text.slice(Math.max(0, at - LEAD), at)) === true;
  }

  /** 10K likes are ten thousand, 4K is a format; 5USD is money. */
  #isMagnitude(reading: Reading, written: string): boolean {
    if (/^\d+[A-Z]{3}$/.test(written))
      return this.#language.writing.currencies[written.slice(-3)] !== undefined;
    // E = 490J, 16GB, 220V
    const isResult = /[=≈] ?$/.test(reading.text.slice(Math.max(0, reading.at - 2), reading.at));
    const unit = (isResult ? /^\d+([A-Z]{1,2})$/ : /^\d+([A-Z]{2}|[VW])$/).exec(written)?.[1];
    if (unit !== undefined && this.#language.writing.units[unit] !== undefined) return true;
    const near = reading.text.slice(Math.max(0, reading.at - 4), reading.at);
    if (/^\d+A$/.test(written) && /\d ?V[,/] ?$/.test(near)) return true; // 240V, 40A
    if (!/^\d{2,}\p{L}$/u.test(written)) return false;
    if (this.#language.writing.magnitudes[written.slice(-1)] === undefined) return false;
    return /^\p{Ll}/u.test(reading.around(reading.at + written.length).nextWord);
  }

  /** GPT-3.5 */
  #nameAndVersion(
    reading: Reading,
    [written, name = '', whole = '', decimals = '']: RegExpExecArray,
  ): TypedFound {
    const numeral = { ...numeralOf(withoutZeros(whole)), decimals };
    return composed(
      reading.at + written.length,
      'identifier',
      () => `${this.#run(name)} ${this.#language.speech.number(numeral, NOWHERE)}`,
    );
  }

  #underscored(reading: Reading): TypedFound | undefined {
    const isCode = reading.text[reading.at - 1] === '`';
    const written = ((isCode ? reading.match(SNAKE) : undefined) ?? reading.match(UNDERSCORED))?.[0];
    const sign = this.#language.symbols.inAddress['_'];
    if (written?.includes('_') !== true || sign === undefined) return undefined;
    return composed(reading.at + written.length, 'identifier', () =>
      Array.from(written.matchAll(/_|[A-Za-z]+|\d+/g), ([run]) => (run === '_' ? sign : this.#run(run))).join(
        ' ',
      ),
    );
  }

  /** 1Z999AA1012: character by character. */
  #serial(reading: Reading, written: string): TypedFound {
    const { speech } = this.#language;
    return composed(reading.at + written.length, 'identifier', () =>
      Array.from(written.matchAll(RUNS), ([run]) =>
        /\d/.test(run) ? speech.digits(run) : speech.letters(run),
      ).join(' '),
    );
  }

  #run(run: string): string {
    const { speech, writing } = this.#language;
    if (/^\d/.test(run)) {
      if (/^(?:19|20)\d\d$/.test(run)) return speech.year(run, NOWHERE, true) ?? speech.digits(run); // FY2024
      const spelled = run.length > AS_NUMBER || (run.length > 1 && run.startsWith('0'));
      return spelled ? speech.digits(run) : this.#number(run);
    }
    const capitals = /^\p{Lu}+$/u.test(run);
    if (
      run.length === 1 ||
      (capitals && !writing.read.has(run) && (run.length <= 3 || writing.spelled.has(run)))
    ) {
      return speech.letters(run);
    }
    return run;
  }

  #number(digits: string): string {
    return cardinal(digits, this.#language.speech);
  }
}

/** Another group of digits stands behind these, or the letters of a key. */
function goesOn(text: string, end: number): boolean {
  if (text[end] === '-' && isCapitalAt(text, end + 1)) return true;
  for (let at = end; at < end + LONGEST_PARTING; at++) {
    if (isDigitAt(text, at + 1)) return true;
  }
  return false;
}

function firstMatch(reading: Reading, patterns: readonly RegExp[]): RegExpExecArray | undefined {
  for (const pattern of patterns) {
    const match = reading.match(pattern);
    if (match !== undefined) return match;
  }
  return undefined;
}

/** One of the words stands before the token, or one word further away. */
export function isNear(
  reading: Reading,
  keywords: ReadonlySet<string>,
  linking?: ReadonlySet<string>,
): boolean {
  const before = reading.around(reading.at).previousShort;
  if (before === '') return false;
  if (keywords.has(before)) return true;
  if (linking !== undefined && !linking.has(before) && !isBehindCarrier(reading)) return false;
  if (keywords.has(reading.around(reading.at).secondPreviousShort)) return true;
  return (
    linking !== undefined && reading.runEnd - reading.at >= SHORTEST_CODE && isNamedCode(reading, keywords)
  );
}

const SHORTEST_CODE = 4; // digits
const LEAD = 40; // units
const MOST_BETWEEN = 5; // words

/** The PIN for your delivery is 4827: the word stands some words before, in the same clause. */
function isNamedCode({ text, at }: Reading, keywords: ReadonlySet<string>): boolean {
  const clause = /[^.,;:!?()\n]*$/.exec(text.slice(Math.max(0, at - LEAD), at))?.[0] ?? '';
  const words = clause.toLowerCase().match(/\p{L}+/gu) ?? [];
  return words.slice(-MOST_BETWEEN).some((word) => keywords.has(word));
}

/** Flight BA 203 */
function isBehindCarrier({ text, at }: Reading): boolean {
  if (!isCapitalAt(text, text[at - 1] === ' ' ? at - 2 : at - 1)) return false;
  return /(?:^|\s)\p{Lu}{1,3} ?$/u.test(text.slice(Math.max(0, at - 5), at));
}

const END = `(?!${WORD_UNIT})`;
const LONGEST_NETWORK = 80; // units before the length of a prefix
const HARDWARE = new RegExp(
  String.raw`[\dA-Fa-f]{2}([:-])(?:[\dA-Fa-f]{2}\1){4}[\dA-Fa-f]{2}${END}(?!\1)`,
  'uy',
);
const VERSION_SIX = new RegExp(
  String.raw`(?=[\dA-Fa-f:]{0,40}::|(?:[\dA-Fa-f]{1,4}:){7})[\dA-Fa-f]{0,4}(?::{1,2}[\dA-Fa-f]{1,4}){1,7}(?:::)?${END}(?!:)(?:\/\d{1,3}${END})?`,
  'uy',
);
const UNIVERSAL = new RegExp(String.raw`[\dA-Fa-f]{8}(?:-[\dA-Fa-f]{4}){3}-[\dA-Fa-f]{12}${END}`, 'uy');
const PREFIXED = new RegExp(String.raw`0[xX]([\dA-Fa-f]{2,32})${END}`, 'uy');
const HEXADECIMAL = new CharacterSet('0123456789abcdefABCDEF');
const HEX_RUNS = /\p{L}+|(?<!\/)\d+|:|\/\d+/gu;
const PREFIX_LENGTH = /\/(?:12[0-8]|1[01]\d|[1-9]?\d)(?![\p{L}\p{N}/]|[.,]\d)/uy;
const NETWORK =
  /(?:IP(?:v[46])?(?!\p{L})|CIDR|[pP]r[äeé]fi|[sS]ub-?[nr]e[td]|\d[.:]\d{1,3}(?:\/|\.\d{1,3}\/|::\/)\d)[^\n]{0,60}$|\d\.\d{1,3} \($|(?:^|\s)(?:an?|une?|ein\p{L}{0,2}|una?|um|uma) $/u;

export class MachineNames {
  readonly #language: Language;

  constructor(language: Language) {
    this.#language = language;
  }

  /** 00:1A:2B:3C:4D:5E, pair by pair; 2001:db8::1; 550e8400-e29b-… group by group. */
  readonly at: Row = {
    knows: ({ isFresh, first, behind }) =>
      isFresh && /[\da-fA-F]/.test(first) && /^[\dxX:a-fA-F-]/.test(behind),
    recognise: (reading) => this.#at(reading),
  };

  #at(reading: Reading): TypedFound | undefined {
    const { text, at } = reading;
    if (text[at + 1] === 'x' || text[at + 1] === 'X') return this.#prefixed(reading);
    if (reading.runEnd - at > 8 && text[at + 8] !== '-') return undefined;
    if (text[at + 8] === '-') {
      const universal = this.#groups(reading, UNIVERSAL, '-');
      if (universal !== undefined) return universal;
    }
    const mark = text[at + 2];
    if (mark === ':' || mark === '-') {
      const hardware = this.#groups(reading, HARDWARE, mark);
      if (hardware !== undefined) return hardware;
    }
    return this.#versionSix(reading);
  }

  /** 0x80070005: every figure of it. */
  #prefixed(reading: Reading): TypedFound | undefined {
    const match = reading.match(PREFIXED);
    if (match === undefined || !/\d/.test(match[1] ?? '')) return undefined;
    const { speech } = this.#language;
    return composed(
      reading.at + match[0].length,
      'identifier',
      () => `${speech.digits('0')} ${speech.letters('X')} ${this.#say((match[1] ?? '').toUpperCase())}`,
    );
  }

  /** ::1 */
  readonly atMark = beginning(/[:/]/, (reading) => {
    if (reading.text[reading.at] === '/') return this.#prefixLength(reading);
    if (!reading.text.startsWith('::', reading.at) || !reading.startsChunk) return undefined;
    return this.#versionSix(reading);
  });

  /** An IPv6 prefix of /64 */
  #prefixLength(reading: Reading): TypedFound | undefined {
    const { text, at } = reading;
    const match = /[\s(]/.test(text[at - 1] ?? ' ') ? reading.match(PREFIX_LENGTH) : undefined;
    const around = text.slice(Math.max(0, at - LONGEST_NETWORK), at);
    if (match === undefined) return undefined;
    if (!NETWORK.test(around) && !/^\P{L}{0,8}(?:\p{L}+ \/\d+ )?IPv[46]/u.test(text.slice(at, at + 24)))
      return undefined;
    return composed(at + match[0].length, 'ip-address', () => this.#say(match[0]));
  }

  #versionSix(reading: Reading): TypedFound | undefined {
    const { text, at } = reading;
    let end = at;
    while (end - at < 4 && HEXADECIMAL.at(text, end)) end++;
    if (text[end] !== ':') return undefined;
    const match = reading.match(VERSION_SIX);
    if (match === undefined || !/\d/.test(match[0])) return undefined;
    return composed(at + match[0].length, 'ip-address', () => this.#say(match[0]));
  }

  #groups(reading: Reading, pattern: RegExp, mark: string): TypedFound | undefined {
    const match = reading.match(pattern);
    if (match === undefined) return undefined;
    const [written] = match;
    const words = (): string =>
      written
        .split(mark)
        .map((group) => this.#say(group))
        .join(', ');
    return { ...composed(reading.at + written.length, 'identifier', words), isCertain: true };
  }

  #say(written: string): string {
    const { speech, symbols } = this.#language;
    const said = Array.from(written.matchAll(HEX_RUNS), ([run]) => {
      if (run === ':') return symbols.inAddress[':'] ?? '';
      if (run.startsWith('/')) return `${symbols.inAddress['/'] ?? ''} ${cardinal(run.slice(1), speech)}`;
      return /\d/.test(run) ? speech.digits(run) : speech.letters(run);
    });
    return said.join(' ');
  }
}
