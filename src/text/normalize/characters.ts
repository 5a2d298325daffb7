// Character classes of the scan: letter, digit, white space, mark.
//
// Folding replaces characters one by one, so that every offset stays what it
// was: full-width letters and digits become narrow, all white space becomes a
// space or a line feed.

export const SPACE = 1;
export const LETTER = 2;
export const DIGIT = 3;
const MARK = 4;
/** Han, kana and Hangul: they stand beside a number without a space and do not make it part of a word. */
export const IDEOGRAPH = 5;
/** Never spoken and never a boundary: controls, zero-width and direction marks, halves of surrogate pairs. */
export const HIDDEN = 6;
/** A character of two units; see `isEmoji`. */
export const PAIR = 7;

const IDEOGRAPHS = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー`;
const IDEOGRAPHIC = new RegExp(`[${IDEOGRAPHS}]`, 'u');
/**
 * Source of an expression: a letter of an alphabet, and a letter or digit. Ideographs do not make a word
 * longer.
 */
export const ALPHABETIC = String.raw`(?:(?![${IDEOGRAPHS}])\p{L})`;
export const WORD_UNIT = String.raw`(?:(?![${IDEOGRAPHS}])[\p{L}\p{N}])`;

const classes = new Uint8Array(65_536);

export function classOf(unit: number): number {
  const known = classes[unit] ?? 0;
  if (known !== 0) return known;
  return (classes[unit] = classify(unit));
}

function classify(unit: number): number {
  if (unit >= 0xd800 && unit <= 0xdfff) return PAIR;
  const character = String.fromCharCode(unit);
  if (/[0-9]/.test(character)) return DIGIT;
  if (/\s/.test(character) && unit !== 0xfeff) return SPACE;
  if (/[\p{Cc}\p{Cf}\uFE0E\uFE0F\u20E3]/u.test(character)) return HIDDEN;
  if (IDEOGRAPHIC.test(character)) return IDEOGRAPH;
  return /[\p{L}\p{M}]/u.test(character) && !/[ªº]/.test(character) ? LETTER : MARK;
}

/** The class of the unit at an offset; outside the text there is space. */
export function classAt(text: string, at: number): number {
  return at >= 0 && at < text.length ? classOf(text.charCodeAt(at)) : SPACE;
}

/** True if a word or number goes on here. */
export function isWordAt(text: string, at: number): boolean {
  const found = classAt(text, at);
  return found === LETTER || found === DIGIT;
}

export function isDigitAt(text: string, at: number): boolean {
  return classAt(text, at) === DIGIT;
}

const cases = new Uint8Array(65_536);
const [CAPITAL, SMALL, NEITHER] = [1, 2, 3];

function caseAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  const known = cases[unit];
  if (known !== 0) return known ?? NEITHER;
  const character = String.fromCharCode(unit);
  return (cases[unit] = /\p{Lu}/u.test(character) ? CAPITAL : /\p{Ll}/u.test(character) ? SMALL : NEITHER);
}

/** True if a capital letter stands here. */
export function isCapitalAt(text: string, at: number): boolean {
  return caseAt(text, at) === CAPITAL;
}

/** True if a small letter stands here. */
export function isSmallAt(text: string, at: number): boolean {
  return caseAt(text, at) === SMALL;
}

const FOLDED =
  /[\t\v\f\r\u0085\u00A0\u1680\u2000-\u200A\u2011\u2028\u2029\u202F\u205F\u3000０-９Ａ-Ｚａ-ｚ＃＄％＆＋－／＜＝＞＠＿．｡-ﾟ￠￡￥￦∶⋅ℂℕℚℝℤ]|(?<=[0-9０-９])[：，](?=[0-9０-９])/g;
const NUMBER_MARKS = '：，';
// The first group of a number, or one more: not the 12 of 20，12，102, nor the end of a date.
const GROUP_BEFORE = /(?:^|[^0-9０-９，,./:：-])[0-9０-９]{1,3}$|[0-9０-９][，,][0-9０-９]{3}$/;

/** Returns the text with each character in its narrow form; offsets do not change. */
export function fold(text: string): string {
  const folded = text.replace(FOLDED, (character, at: number) => {
    if (character >= '｡' && character <= 'ﾟ') return foldKana(text, at);
    if (!NUMBER_MARKS.includes(character)) return foldOne(character);
    return isInNumber(text, at) ? narrow(character) : character;
  });
  return copied(RAISED.test(folded) ? folded.replace(RAISED_RUN, lowered) : folded);
}

const RAISED = /[ᵃ-ᵛᵐⁿʰʲʳˡˢʷʸᶜᶠᶻ]/u;
const RAISED_RUN = /(?<=[\p{L}\p{N}.])[ᵃᵇᶜᵈᵉᶠᵍʰʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷʸᶻ]+/gu;
const ENDINGS: Readonly<Record<string, string>> = { ᵃ: 'ª', ᵒ: 'º' };

/**
 * 2ⁿᵈ, Mᵐᵉ, sig.ʳᵃ: endings of ordinals and titles are letters. A lone one behind a small letter is a power.
 */
function lowered(run: string, at: number, text: string): string {
  const before = text[at - 1] ?? '';
  if (run.length > 1) return /[a-z]/.test(before) ? run : run.normalize('NFKC');
  if (!/[\d.]/.test(before) && !/[ᵃᵉᵒʳ]/u.test(run)) return run;
  if (/\p{Ll}/u.test(before) || run === 'ⁿ' || run === 'ᵐ') return run;
  return ENDINGS[run] ?? run.normalize('NFKC');
}

/**
 * A string of its own: what is a part of a longer one, or joined of many, takes a third longer to look at.
 */
function copied(text: string): string {
  return [text.slice(0, 1), text.slice(1)].join('');
}

/** １５：３０ and １，５００; but 有效期5，10天 is a clause and another. */
function isInNumber(text: string, at: number): boolean {
  const [before, after] = [text.slice(Math.max(0, at - 6), at), text.slice(at + 1, at + 5)];
  if (text[at] === '：') return /[0-9０-９]$/.test(before) && /^[0-9０-９]/.test(after);
  return GROUP_BEFORE.test(before) && /^[0-9０-９]{3}(?![0-9０-９])/.test(after);
}

/** ｶﾞ is two characters: the first becomes ガ and the mark behind it a hidden one. */
function foldKana(text: string, at: number): string {
  const character = text[at] ?? '';
  if (/[ﾞﾟ]/.test(character) && composed(text[at - 1] ?? '', character).length === 1) return '\u200B';
  const voiced = /[ﾞﾟ]/.test(text[at + 1] ?? '') ? composed(character, text[at + 1] ?? '') : '';
  return voiced.length === 1 ? voiced : character.normalize('NFKC').slice(0, 1);
}

function composed(kana: string, mark: string): string {
  return (kana + mark).normalize('NFKC');
}

function narrow(character: string): string {
  return String.fromCharCode(character.charCodeAt(0) - 0xfee0);
}

const CURRENCY_FORMS: Readonly<Record<string, string>> = { '￠': '¢', '￡': '£', '￥': '¥', '￦': '₩' };

function foldOne(character: string): string {
  if (/[０-９Ａ-Ｚａ-ｚ＃＄％＆＋－／＜＝＞＠＿．]/.test(character)) return narrow(character);
  if (character === '\u2011') return '-';
  if (character === '∶') return ':';
  if (character === '⋅') return '·';
  if (/[ℂℕℚℝℤ]/.test(character)) return character.normalize('NFKC');
  if (/[\v\f\r\u0085\u2028\u2029]/.test(character)) return '\n';
  return /\s/.test(character) ? ' ' : (CURRENCY_FORMS[character] ?? character);
}

const EMOJI = /(?:\p{RI}\p{RI}|[0-9#*]\uFE0F?\u20E3|\p{Extended_Pictographic})/uy;
const EMOJI_TAIL =
  /(?:[\uFE0E\uFE0F\u{E0020}-\u{E007F}]|\p{Emoji_Modifier}|\u200D\p{Extended_Pictographic})/uy;
const LONGEST_EMOJI = 40; // units; families, flags of regions

/**
 * Units of the emoji that begins here, 0 if none does. Digits and © are emoji only with a sign that says so.
 */
export function emojiLength(text: string, at: number): number {
  EMOJI.lastIndex = at;
  const first = EMOJI.exec(text)?.[0];
  if (first === undefined) return 0;
  let end = at + first.length;
  while (end - at < LONGEST_EMOJI) {
    EMOJI_TAIL.lastIndex = end;
    const next = EMOJI_TAIL.exec(text)?.[0];
    if (next === undefined) break;
    end += next.length;
  }
  const plain = /^[©®™‼⁉↔-↪]$/u.test(text.slice(at, end));
  return plain ? 0 : end - at;
}
