// The signs for a number and what stands behind them: # 48213, N°. 14, № 2024, Nr. 408-2217, #N/A.
import { classAt, IDEOGRAPH, isWordAt } from '../characters.js';
import { beginning, type Row } from '../dispatch.js';
import type { Language } from '../language.js';
import { certain, type Found, NOWHERE, type Reading, type TypedFound } from '../reading.js';

const ERROR_VALUE = /#(?:([A-Z])\/([A-Z])(?![A-Za-z\d])|([A-Z]{3,6})([!?]))/uy;
const DASHED_ID = /#( ?)(\d{1,8}(?:-\d{1,8}){1,4})(?![\p{L}\d#*]|[-.,:/]\d)/uy;
const HOUSE = /\d ?\p{Lu}?(?: \p{Ll}{2,5})? ?$/u; // Calle 45 # 23-67
/** Behind the word for a number: the second part is longer, and no year of a span of years. */
const NUMBER_IN_PARTS = /(?!(?:19|20)\d\d-(?:19|20)\d\d)(\d{2,4})-(\d{4,8})(?![\p{L}\d]|[-.,:/]\d)/uy;
const LONG_NUMBER = /\d{6,20}(?<!000)(?![\p{L}\d]|[-.,:/]\d| \d)/uy;
/** A figure to check the others: nº 55210-8 */
const CHECKED = /\d{4,12}-\d{1,2}(?![\p{L}\d]|[-.,:/]\d)/uy;
const ID_SIGN = /#( ?)(\d{5,20})(?![\p{L}\d#*]|[-.,:/]\d)/uy;
const SHORT_NUMBER = /^\d{1,3}(?!\d)/;
const NUMBER_FORM = /(?:[Nn][°ºª]|№)\.? ?(?=\d)/y;

export class NumberSigns {
  readonly #language: Language;
  /** The word for a number: Nummer, número. */
  readonly #name: string | undefined;

  constructor(language: Language) {
    const { beforeNumber } = language.writing;
    this.#language = language;
    this.#name = (beforeNumber['№'] ?? beforeNumber['#'])?.trim();
  }

  readonly atLetter: Row = {
    knows: ({ isFresh, first, behind }) => isFresh && /[nN]/.test(first) && /[°ºª]/.test(behind),
    recognise: certain((reading) => this.#numberForm(reading)),
  };

  readonly atDigit: Row = {
    knows: ({ isFresh, digits, behind }) => isFresh && (digits >= 6 || /^-\d/.test(behind)),
    recognise: (reading) => this.#namedNumber(reading),
  };

  readonly atMark: readonly Row[] = [
    beginning(
      /№/,
      certain((reading) => this.#numberForm(reading)),
    ),
    beginning(
      /#/,
      certain((reading) => this.#errorValue(reading) ?? this.#numberSign(reading)),
    ),
  ];

  /** Order no. 408-2217: no range. Policy no. 458712: no amount. */
  #namedNumber(reading: Reading): TypedFound | undefined {
    const { at, tokenEnd, tokenWords } = reading;
    if (this.#name === undefined || tokenWords.trim() !== this.#name) return undefined;
    if (at - tokenEnd > 1) return undefined;
    const long = reading.match(LONG_NUMBER)?.[0];
    if (long !== undefined) return groupsOf(reading, long);
    const checked = reading.match(CHECKED)?.[0];
    if (checked !== undefined) return groupsOf(reading, checked);
    const [written, first = '', second = ''] = reading.match(NUMBER_IN_PARTS) ?? [];
    return written === undefined || first.length >= second.length ? undefined : groupsOf(reading, written);
  }

  /** #N/A, #REF!: the sign by its own name, then the letters. */
  #errorValue(reading: Reading): Found | undefined {
    const match = reading.match(ERROR_VALUE);
    if (match === undefined || isWordAt(reading.text, reading.at - 1)) return undefined;
    const [written, first, second = '', name = ''] = match;
    const { speech, symbols, writing } = this.#language;
    const isWord = first === undefined && /[AEIOU]/.test(name) && !writing.spelled.has(name);
    const said = isWord ? name : speech.letters(first === undefined ? name : first + second);
    const end = reading.at + written.length;
    return { end, spoken: `${symbols.keys.hash} ${said}`, rule: 'identifier', isCertain: true };
  }

  /** Order # 48213: a long number is a name, so its figures are said. The # of users: a number of them. */
  #numberSign(reading: Reading): Found | undefined {
    const { beforeNumber, countedOf } = this.#language.writing;
    const name = beforeNumber['#'] === undefined ? undefined : (beforeNumber['№'] ?? beforeNumber['#']);
    if (name === undefined || isWordAt(reading.text, reading.at - 1)) return undefined;
    const match = reading.match(ID_SIGN);
    if (match !== undefined && /\S\s?$/.test(reading.text.slice(Math.max(0, reading.at - 2), reading.at))) {
      const spoken = `${name.trimEnd()} ${this.#language.speech.digits(match[2] ?? '')}`;
      return { end: reading.at + match[0].length, spoken, rule: 'digits' };
    }
    const dashed = reading.match(DASHED_ID);
    const isHouse = HOUSE.test(reading.text.slice(Math.max(0, reading.at - 8), reading.at));
    if (dashed !== undefined && !isHouse) {
      const groups = (dashed[2] ?? '').split('-').map((group) => this.#language.speech.digits(group));
      return {
        end: reading.at + dashed[0].length,
        spoken: `${name.trimEnd()} ${groups.join(', ')}`,
        rule: 'digits',
      };
    }
    const end = reading.at + 1;
    const isJoined =
      classAt(reading.text, reading.at - 1) === IDEOGRAPH &&
      SHORT_NUMBER.test(reading.text.slice(end, end + 4));
    if (isJoined) return { end, spoken: name, rule: 'abbreviation' };
    const isCount = reading.text[end] === ' ' && countedOf.has(reading.around(end).nextWord);
    return isCount ? { end, spoken: name.trimEnd(), rule: 'abbreviation' } : undefined;
  }

  /** N°. 14, n° 7, №. 15 */
  #numberForm(reading: Reading): Found | undefined {
    const written = reading.match(NUMBER_FORM)?.[0];
    if (written === undefined) return undefined;
    const { beforeNumber } = this.#language.writing;
    const bare = written.replace(/[. ]/g, '');
    const said = beforeNumber[bare] ?? beforeNumber['№'] ?? beforeNumber['#'];
    if (said === undefined) return undefined;
    const { speech } = this.#language;
    const before = reading.around(reading.at).previousWord;
    const ruled = bare === '№' ? speech.numberSign?.(before) : undefined;
    const spoken = ruled === undefined ? said : `${ruled} `;
    return { end: reading.at + written.length, spoken, rule: 'abbreviation' };
  }
}

function groupsOf(reading: Reading, written: string): TypedFound {
  const token = { type: 'digits', groups: written.match(/\d+/g) ?? [], around: NOWHERE } as const;
  return { end: reading.at + written.length, token, rule: 'digits' };
}
