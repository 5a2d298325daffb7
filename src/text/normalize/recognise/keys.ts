// Keys of a telephone: Press *, dial *67, *123#, the # key. Elsewhere these signs are Markdown, a number or a
// multiplication.
import { classAt, IDEOGRAPH, isWordAt, LETTER, SPACE, WORD_UNIT } from '../characters.js';
import { beginning, behind, type Row } from '../dispatch.js';
import type { Language } from '../language.js';
import { composed, type Found, type Reading, type TypedFound } from '../reading.js';

const CODE = new RegExp(
  String.raw`[*＊#]{1,2}\d{1,15}(?:[*＊#]{1,2}\d{1,15}){0,4}#?(?!${WORD_UNIT}|[*#_])`,
  'uy',
);
const FINISHED = new RegExp(String.raw`\d{1,15}(?:[*＊]\d{1,15}){0,3}#(?!${WORD_UNIT}|[*#_])`, 'uy');
const STAR_CODE = /^[*＊]\d{1,6}$/;
const SERVICE = /^[*＊]\d{2,3}$/; // *67: notes are not numbered so high
const PARTS = /\d+|[*＊#]/g;
const BRACKETED = /[([]([*＊#])[)\]]([.,;:]?)/y;
const PROMPT = 60; // units before or behind a key that may tell that it is one
const SENTENCE_END = /[.!?]\s|[。！？\n]/u;
const EMPHASIS = 200; // units in which Markdown would be closed

export class Keys {
  readonly #language: Language;

  constructor(language: Language) {
    this.#language = language;
  }

  /** 1#, 123*4# */
  readonly atDigit = behind(/^[#*＊]/, (reading) => {
    const { text, at } = reading;
    const match = reading.match(FINISHED);
    if (match === undefined) return undefined;
    const end = at + match[0].length;
    // 3# is a house.
    if (this.#language.unspaced === true && !this.#isPrompted(text, at, end)) return undefined;
    return composed(end, 'code', () => this.#say(match[0]));
  });

  readonly atMark: readonly Row[] = [
    beginning(/[([]/, (reading) => this.#again(reading)),
    beginning(/[*#＊]/, (reading) =>
      isWordAt(reading.text, reading.at - 1) ? undefined : (this.#code(reading) ?? this.#key(reading)),
    ),
  ];

  #code(reading: Reading): TypedFound | undefined {
    const { text, at } = reading;
    const match = reading.match(CODE);
    if (match === undefined || /[*＊#]/.test(text[at - 1] ?? '')) return undefined;
    const [written] = match;
    const end = at + written.length;
    const whole = written.endsWith('#') || /\d[*＊#]/.test(written);
    if (!whole) {
      if (!STAR_CODE.test(written) || isClosed(text, end)) return undefined;
      if (!SERVICE.test(written) && !this.#isPrompted(text, at, end)) return undefined;
    }
    return composed(end, 'code', () => this.#say(written));
  }

  #key(reading: Reading): Found | undefined {
    const { text, at } = reading;
    const end = at + 1;
    if (!isAlone(text, at, end) || (text[at] === '*' && isEmphasis(text, at))) return undefined;
    const isAll = text.trim().length === 1;
    if (!isAll && !this.#isPrompted(text, at, end)) return undefined;
    const name = this.#nameOf(text[at] ?? '');
    // 按#号键: the sign has its own word behind it
    const doubled = name.endsWith('号') && text[end] === '号' ? 1 : 0;
    return { end: end + doubled, spoken: name, rule: 'symbol' };
  }

  /** The star (*) key: once is enough. */
  #again(reading: Reading): Found | undefined {
    const match = reading.match(BRACKETED);
    if (match === undefined) return undefined;
    const name = this.#nameOf(match[1] ?? '').toLowerCase();
    const before = reading.text.slice(Math.max(0, reading.at - name.length - 8), reading.at).toLowerCase();
    if (!before.includes(name)) return undefined;
    return { end: reading.at + match[0].length, spoken: match[2] ?? '', rule: 'symbol' };
  }

  #isPrompted(text: string, at: number, end: number): boolean {
    const { before, behind } = this.#language.symbols.keys;
    const [next = ''] = text.slice(end, end + PROMPT).split(SENTENCE_END, 1);
    const last =
      text
        .slice(Math.max(0, at - PROMPT), at)
        .split(SENTENCE_END)
        .at(-1) ?? '';
    return before.test(last) || behind?.test(next) === true;
  }

  #say(code: string): string {
    const words = (code.match(PARTS) ?? []).map((part) =>
      /\d/.test(part) ? this.#language.speech.digits(part) : this.#nameOf(part),
    );
    return words.join(' ');
  }

  #nameOf(sign: string): string {
    const { star, hash } = this.#language.symbols.keys;
    return sign === '#' ? hash : star;
  }
}

/** Quotes and brackets may stand around it, and a compound may go on behind it: *-Taste. */
function isAlone(text: string, at: number, end: number): boolean {
  const opening = /[("'“‘„«‹「『（`[\\*]*$/u.exec(text.slice(Math.max(0, at - 4), at))?.[0].length ?? 0;
  const before = classAt(text, at - opening - 1);
  if (before !== SPACE && before !== IDEOGRAPH && !/[/，、：:]/.test(text[at - opening - 1] ?? ''))
    return false;
  if (text[end] === '-' && classAt(text, end + 1) === LETTER) return true;
  return !isWordAt(text, end) && !(text[at] === '#' ? /[#_]/ : /[*＊#_]/).test(text[end] ?? '');
}

/** Text that may follow a key in writing without spaces: *键, *を, *버튼. */
const BEHIND_KEY = /^(?:[号號]?[键鍵]|を|ボタン|キー|印|버튼|키|을|를|[^\p{L}\p{N}])/u;
const LONGEST_EMPHASIS = 40; // units

/** 点击*设置*: the other one of a pair stands near, and between them is no word of a key. */
function isEmphasis(text: string, at: number): boolean {
  const after = /^([^\s*][^*\n]*)\*/.exec(text.slice(at + 1, at + LONGEST_EMPHASIS))?.[1];
  if (after !== undefined && !BEHIND_KEY.test(after)) return true;
  const before = /(?:^|[^*])\*([^\s*][^*\n]*)$/.exec(text.slice(Math.max(0, at - LONGEST_EMPHASIS), at))?.[1];
  const isSecond = text.slice(Math.max(0, at - EMPHASIS), at).split('*').length % 2 === 0;
  return isSecond && before !== undefined && !BEHIND_KEY.test(before);
}

/** *67 people* came: an emphasis, not a key. */
function isClosed(text: string, from: number): boolean {
  const [line = ''] = text.slice(from, from + EMPHASIS).split(SENTENCE_END, 1);
  return /[^\s*]\*(?![\p{L}\p{N}*])/u.test(line);
}
