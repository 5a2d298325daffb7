// Roman numerals behind the name of what they number, one or several: cap. III, tomos I y II, séculos XV-XVI.
import { CharacterSet } from '../../character-set.js';
import { isWordAt } from '../characters.js';
import { LiteralTable } from '../literals.js';
import { skipSpaces, type Found, type Reading, type Recogniser } from '../reading.js';
import { ROMAN, romanValue } from '../recognise/words.js';

const NUMERAL = /(?:[IVX]|[IVXLC]{2,8})(?![\p{L}\p{N}'’]|\.\p{L})/uy;
/** A name in the singular numbers two things at most: el siglo XIX y XX. */
const LINK_OF_TWO = / (?:y|e|o|ou) /y;
const LINK = / (?:y|e|o|ou|a|al|ao) | ?[-–] ?/y;
const FIGURES = new CharacterSet('IVXLC');
const MOST = 6; // numerals of one list
const LONGEST_LIST = 48; // units
// A comma is a place where a long sentence may be parted: what stands behind it is a token of its own.
const LIST_BEFORE = /(\p{L}+\.?) (?:[IVXLC]{1,8}, ?)+$/u;

/** Tomos, caps., pp. */
export function isPlural(name: string): boolean {
  return /s\.?$|^pp/i.test(name);
}

/** Knows the first letters of the names, and of the numerals that go on behind a comma. */
export function initialsOf(names: Readonly<Record<string, string>>): RegExp {
  return new RegExp(`[IVXLC${[...new Set(Object.keys(names).map((name) => name[0] ?? ''))].join('')}]`);
}

interface NumberedNames {
  /** Names as written, and the words for them; '' for a name that is no short form. */
  readonly names: Readonly<Record<string, string>>;
  readonly isPlural: (name: string) => boolean;
  readonly say: (value: string) => string;
}

export function numberedByRomans({ names, isPlural, say }: NumberedNames): Recogniser {
  const table = new LiteralTable(Object.entries(names));
  /** The II and V of "tomos I, II y V". */
  const behindComma = (reading: Reading): Found | undefined => {
    const { text, at } = reading;
    if (
      text[at - 2] !== ',' ||
      !FIGURES.at(text, at) ||
      !/[IVXLC], $/.test(text.slice(Math.max(0, at - 3), at))
    )
      return undefined;
    const written = LIST_BEFORE.exec(text.slice(Math.max(0, at - LONGEST_LIST), at))?.[1] ?? '';
    if (names[written] === undefined || !isPlural(written)) return undefined;
    const list = readList(reading, at, LINK, say);
    return list && { ...list, rule: 'roman' };
  };
  return (reading) => {
    const name = table.at(reading.text, reading.at);
    if (name === undefined) return behindComma(reading);
    const from = skipSpaces(reading.text, reading.at + name.written.length);
    if (from === reading.at + name.written.length && !name.written.endsWith('.')) return undefined;
    const list = readList(reading, from, isPlural(name.written) ? LINK : LINK_OF_TWO, say);
    if (list === undefined) return undefined;
    const spoken = `${name.value === '' ? name.written : name.value} ${list.spoken}`;
    return { end: list.end, spoken, rule: 'roman' };
  };
}

function readList(
  reading: Reading,
  from: number,
  link: RegExp,
  say: (value: string) => string,
): { spoken: string; end: number } | undefined {
  let numeral = numeralAt(reading, from);
  if (numeral === undefined) return undefined;
  let spoken = say(String(romanValue(numeral)));
  let end = from + numeral.length;
  for (let count = 1; count < MOST; count++) {
    const between = reading.match(link, end)?.[0];
    numeral = between === undefined ? undefined : numeralAt(reading, end + between.length);
    if (between === undefined || numeral === undefined) break;
    spoken += `${/[-–]/.test(between) ? ' a ' : between}${say(String(romanValue(numeral)))}`;
    end += between.length + numeral.length;
  }
  return { spoken, end };
}

function numeralAt(reading: Reading, at: number): string | undefined {
  const found = reading.match(NUMERAL, at)?.[0];
  return found !== undefined && ROMAN.test(found) && !isWordAt(reading.text, at - 1) ? found : undefined;
}
