// Marks: emoji, signs between numbers, signs in running text, repeated punctuation.
import { CharacterSet } from '../../character-set.js';
import { classAt, emojiLength, isWordAt, SPACE } from '../characters.js';
import { behind, type Row } from '../dispatch.js';
import type { Language } from '../language.js';
import { numeralOf, plainDigits } from '../numerals.js';
import { certain, composed, type Found, isBehindWord, type Reading, type TypedFound } from '../reading.js';
import { cardinal } from '../say.js';
import { byMark } from '../shared-forms.js';

const REPEATED = /([!?！？])(?:\s?[!?！？])+|,{2,}|\.{4,}|…{2,}|;{2,}|[-=_~*#+]{4,}/uy;
// Behind a space only: ":)" but not "(see 3:)".
const EMOTICON = /(?:[:;=]['’]?-?[)(DPp\]|*]|<3|\^_?\^)(?=[\s.,!?]|$)/y;
const RULED = new CharacterSet('-=_~*#+');
const SHOUTED = new CharacterSet('!?！？');
const LISTED = /(?:[!?@#$%&*+=_/-](?:, ?| )?){2,16}(?=\))/y;
const NAMED_ALONE = new CharacterSet('@#$%&');
const ARROW = /(?:-{1,2}|=)>/y;
const TRAILING_PLUS = /\+{1,2}(?=[\s.,;:!?)*_`]|$)/y; // **Python 3.10+**
const KEY_BEFORE =
  /(?<!\p{L})(?:Ctrl|Control|Strg|Alt|AltGr|Shift|Umschalt|Maj|Mayús|Cmd|Command|Option|Win|Windows|Fn|Esc|Meta|Super|Tab)$/u;
const BESIDE = 10; // units beside a sign in which another one of a list stands
const SIGN_BEFORE = /(?:^|[\s(])[@#&*$%_!?],? (?:\p{L}{1,4} )?$/u;
const SIGN_BEHIND = /^,? (?:\p{L}{1,4} )?[@#&*$%_!?](?:[\s,.;)]|$)/u;
const POWER = /\^(?:\{([-−]?\d{1,3})\}|([-−]?\d{1,3}))/y;
const SUBSCRIPTS = new CharacterSet('₀₁₂₃₄₅₆₇₈₉');
const SUPERSCRIPTS = new CharacterSet('⁰¹²³⁴⁵⁶⁷⁸⁹');

export class Symbols {
  readonly #language: Language;

  /** First characters of the signs of formulas. */
  readonly #signs: CharacterSet;

  constructor(language: Language) {
    this.#language = language;
    this.#signs = new CharacterSet(
      Object.keys(language.symbols.inMath)
        .map((sign) => sign.slice(0, 1))
        .join(''),
    );
  }

  readonly atDigit: readonly Row[] = [
    // A digit with a keycap is an emoji.
    {
      knows: ({ behind }) => /^[\ufe0f\u20e3]/.test(behind),
      recognise: (reading) => this.#emoji(reading),
    },
    behind(
      /^\*/,
      certain((reading) => this.#stars(reading)),
      1,
    ),
  ];

  /** A hotel with 4* */
  #stars(reading: Reading): TypedFound | undefined {
    const { text, at } = reading;
    const unit = this.#language.writing.units['★'];
    if (unit === undefined || !STARS.test(text.slice(at, at + 3))) return undefined;
    const near = text.slice(Math.max(0, at - NEAR), at) + text.slice(at, at + NEAR);
    if (!HOTEL.test(near)) return undefined;
    const quantity = { number: numeralOf(text.slice(at, at + 1)) };
    const around = reading.around(at + 2);
    if (text[at + 2] !== '-')
      return { end: at + 2, token: { type: 'measure', quantity, unit, around }, rule: 'measure' };
    const { speech } = this.#language; // ein 4*-Hotel
    return composed(at + 2, 'measure', () => speech.measure(quantity, unit, around).replaceAll(' ', '-'));
  }

  readonly atMark: readonly Row[] = [
    ...byMark([
      [/[#*\ud800-\udfff]|\p{Extended_Pictographic}/u, (reading) => this.#emoji(reading)],
      [/[:;=<^]/, (reading) => this.#emoticon(reading)],
      [/[!?@#$%&*+_-]/, (reading) => this.#listed(reading)],
      [/[!?！？,.…;=_~*#+-]/, (reading) => this.#repeated(reading)],
      [/[-=]/, (reading) => this.#arrow(reading)],
      [/\+/, (reading) => this.#trailingPlus(reading)],
      [/[⁻⁰¹²³⁴⁵⁶⁷⁸⁹^]/, (reading) => this.#power(reading)],
      [/[₀-₉]/, (reading) => this.#subscript(reading)],
      [/[@#&*$%_!?]/, (reading) => this.#besideSign(reading)],
    ]),
    {
      knows: ({ first }) => this.#signs.at(first, 0) || this.#language.symbols.inText[first] !== undefined,
      recognise: (reading) => this.#math(reading) ?? this.#inText(reading),
    },
  ];

  #emoji(reading: Reading): Found | undefined {
    const length = emojiLength(reading.text, reading.at);
    return length === 0 ? undefined : { end: reading.at + length, spoken: '', rule: 'emoji' };
  }

  #emoticon(reading: Reading): Found | undefined {
    if (classAt(reading.text, reading.at - 1) !== SPACE) return undefined;
    const match = reading.match(EMOTICON);
    return match && { end: reading.at + match[0].length, spoken: '', rule: 'emoji' };
  }

  #arrow(reading: Reading): Found | undefined {
    const match = reading.match(ARROW);
    const name = this.#language.symbols.inText['→'];
    if (match === undefined || name === undefined) return undefined;
    return { end: reading.at + match[0].length, spoken: name, rule: 'symbol' };
  }

  /** 100+ people, C++, an A+, Ctrl+C. */
  #trailingPlus(reading: Reading): Found | undefined {
    const { text, at } = reading;
    const { plus } = this.#language.symbols;
    const isKey = this.#language.unspaced !== true && KEY_BEFORE.test(text.slice(Math.max(0, at - 9), at));
    if (isKey && /^\+[\p{L}\d]/u.test(text.slice(at, at + 2)))
      return { end: at + 1, spoken: plus, rule: 'symbol' };
    const match = isWordAt(text, at - 1) ? reading.match(TRAILING_PLUS) : undefined;
    if (match === undefined || /^ \d/.test(text.slice(at + 1, at + 3))) return undefined;
    return {
      end: at + match[0].length,
      spoken: match[0].length === 2 ? `${plus} ${plus}` : plus,
      rule: 'symbol',
    };
  }

  /** A sign (! ? @ #): in brackets with nothing else, signs are named. */
  #listed(reading: Reading): Found | undefined {
    if (reading.text[reading.at - 1] !== '(') return undefined;
    const match = reading.match(LISTED);
    const signs = match?.[0].match(/[^\s,]/g) ?? [];
    if (match === undefined || !signs.some((sign) => NAMED_ALONE.at(sign, 0))) return undefined;
    const { inAddress } = this.#language.symbols;
    const { currencies, currencySigns } = this.#language.writing;
    const names = signs.map(
      (sign) => inAddress[sign] ?? currencies[currencySigns[sign] ?? '']?.forms[0] ?? sign,
    );
    return { end: reading.at + match[0].length, spoken: names.join(', '), rule: 'symbol', isCertain: true };
  }

  /** "!!!" is one mark, "?!?!" a question; lines of dashes and stars are no words. */
  #repeated(reading: Reading): Found | undefined {
    const { text, at } = reading;
    if (text[at] === '+' && isWordAt(text, at - 1)) return undefined; // **C++**
    const shouted = SHOUTED.at(text, at) && (classAt(text, at + 1) === SPACE || SHOUTED.at(text, at + 1));
    const again = text[at + 1] === text[at] || (RULED.at(text, at) && RULED.at(text, at + 1));
    const match = shouted || again ? reading.match(REPEATED) : undefined;
    if (match === undefined) return undefined;
    const [written] = match;
    const first = written[0] ?? '';
    const question = /[?？]/u.exec(written)?.[0];
    const spoken = /[-=_~*#+]/.test(first) ? '' : first === '.' ? '...' : (question ?? first);
    return { end: reading.at + written.length, spoken, rule: 'punctuation' };
  }

  /** x², 10^6 */
  #power(reading: Reading): Found | undefined {
    const { text, at } = reading;
    if (!isWordAt(text, at - 1) && text[at - 1] !== ')') return undefined;
    const from = text[at] === '⁻' ? at + 1 : at;
    let end = from;
    while (end - from < 4 && SUPERSCRIPTS.at(text, end)) end++;
    const raised = plainDigits(text.slice(from, end));
    const match = raised === '' ? reading.match(POWER) : undefined;
    const digits = match?.[1] ?? match?.[2] ?? raised;
    if (digits === '') return undefined;
    const spoken = this.#language.speech.power(from > at ? `-${digits}` : digits.replace('−', '-'));
    if (spoken === undefined) return undefined;
    const gap = text[at - 1] === ')' && this.#language.unspaced !== true ? ' ' : '';
    return { end: match === undefined ? end : at + match[0].length, spoken: gap + spoken, rule: 'math' };
  }

  /** H₂O, x₁ */
  #subscript(reading: Reading): Found | undefined {
    const { text, at } = reading;
    if (!isWordAt(text, at - 1) && text[at - 1] !== ')') return undefined;
    let end = at;
    while (end - at < 4 && SUBSCRIPTS.at(text, end)) end++;
    const spoken = cardinal(plainDigits(text.slice(at, end)), this.#language.speech);
    return { end, spoken, rule: 'identifier' };
  }

  /** A sign with operands on both sides, or a relation before a number. */
  #math(reading: Reading): Found | undefined {
    const { text, at } = reading;
    const two = text.slice(at, at + 2);
    const { inMath } = this.#language.symbols;
    const sign = inMath[two] === undefined ? two.slice(0, 1) : two;
    const name = inMath[sign];
    if (name === undefined) return undefined;
    const end = at + sign.length;
    if (!isOperation(text, at, end, sign)) return undefined;
    const touches = /[\s(]/.test(text[at - 1] ?? ' ') && ATTACHED.test(text.slice(end, end + 2));
    const front = touches || (ATTACHED.test(text.slice(end + 1, end + 3)) && isBehindWord(text, at));
    const inFront = front ? this.#language.symbols.inFront[sign] : undefined;
    const said = (touches ? inFront : (this.#behindNoun(reading, sign, name) ?? inFront)) ?? name;
    return { end, spoken: text[at - 1] === ')' && sign !== '→' ? ` ${said}` : said, rule: 'math' }; // f(x)=2
  }

  /** Children < 3 years; behind "is" the name has no verb of its own. */
  #behindNoun(reading: Reading, sign: string, name: string): string | undefined {
    const { text, at } = reading;
    const said = this.#language.symbols.behindNoun[sign];
    if (said === undefined || text[at - 1] !== ' ') return undefined;
    const before = reading.around(at).previousWord;
    if (name.startsWith(`${before} `)) return name.slice(before.length + 1);
    const clause = /[^.;:!?\n]*$/.exec(text.slice(Math.max(0, at - LONGEST_CLAUSE), at))?.[0] ?? '';
    const words = clause.toLowerCase().match(/\p{L}+/gu) ?? [];
    const isCondition = words.some((word) => this.#language.writing.conditions.has(word));
    return before.length >= SHORTEST_NOUN && /\p{L} $/u.test(clause) && !isCondition ? said : undefined;
  }

  /** 1 symbol (@, # or &): signs in a list by their own names. */
  #besideSign(reading: Reading): Found | undefined {
    const { text, at } = reading;
    const before = text.slice(Math.max(0, at - BESIDE), at);
    const behind = text.slice(at + 1, at + BESIDE);
    const name = this.#language.symbols.inAddress[text[at] ?? ''];
    if (name === undefined || !/(?:^|[\s(])$/.test(before) || !/^(?:[\s,.;)]|$)/.test(behind))
      return undefined;
    if (!SIGN_BEFORE.test(before) && !SIGN_BEHIND.test(behind)) return undefined;
    return { end: at + 1, spoken: name, rule: 'symbol' };
  }

  #inText(reading: Reading): Found | undefined {
    const { text, at } = reading;
    // O₂↑: the gas that escapes
    if (/[↑↓]/.test(text[at] ?? '') && SUBSCRIPTS.at(text, at - 1))
      return { end: at + 1, spoken: '', rule: 'symbol' };
    const name = this.#language.symbols.inText[text[at] ?? ''];
    if (name === undefined) return undefined;
    const end = text.startsWith('&&', at) ? at + 2 : at + 1;
    return { end, spoken: name, rule: 'symbol' };
  }
}

const STARS = /^[1-5]\*(?![*\p{L}\p{N}])/u;
const HOTEL = /h[oôó]tel|albergo|resort|отел|гостиниц|ホテル|호텔|酒店|宾馆|旅馆/iu;
const ALWAYS_MATH = /^[×÷≈≤≥≠±√∞∑∏∫π²³¬∧∨→−]/u;
/** 3,2·10 and m·a; with spaces around it the sign parts the items of a list. */
const PRODUCT = /\d·[\d(]|(?<!\p{L})\p{L}·\p{L}(?!\p{L})/u;
const BETWEEN_WORDS =
  /^(?:\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|ー)[×÷](?:\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana})/u;
const OF_SETS = /^[∈∉⊂⊆∪∩∀∃⇒⇔]/u;
const ATTACHED = /^\p{Sc}?\p{Nd}/u;
const AMOUNT = /^\p{Sc}? ?\.?\p{Nd}/u;
const LONGEST_CLAUSE = 60; // units before a relation
const SHORTEST_NOUN = 3; // letters
const RELATION = /^[<>≈≤≥~=]/u;
const IN_A_FORMULA = /[=+×÷√^]/u;
const NEAR = 24; // units around a hyphen that may show that it is a minus

function isOperation(text: string, at: number, end: number, sign: string): boolean {
  const spaced = classAt(text, at - 1) === SPACE && classAt(text, end) === SPACE;
  const before = text
    .slice(Math.max(0, at - 3), at)
    .trimEnd()
    .slice(-1);
  const after = text.slice(end, end + 4).trimStart();
  if (sign === ':' && (text[at - 1] === ' ') !== (text[end] === ' ')) return false; // subtract 5: 2x = 12
  const left = /[\p{N})\]%°²³\p{Sc}]/u.test(before) || (spaced && /\p{L}/u.test(before));
  const right =
    /^(?:√ ?\(|[-−+√(]?(?:[A-Z]{0,3}\p{Sc})? ?\.?\p{N}|\(|\\[a-z])/u.test(after) ||
    (spaced && /^\p{L}/u.test(after));
  if (sign === '-' || sign === '*' || sign === '/') {
    const near = text.slice(Math.max(0, at - NEAR), at) + text.slice(end, end + NEAR);
    const numbers = /\p{N}/u.test(before) && /^\p{N}/u.test(after);
    if (sign === '/' && isTelephone(text, at)) return false;
    const deducted =
      sign === '-' && spaced && /\p{L}/u.test(before) && /^\p{N}/u.test(after) && / \+ /.test(near);
    if (deducted) return true; // + VAT - 19 % of tax
    const letters =
      /(?:^|[^\p{L}\p{N}])\p{L} $/u.test(text.slice(Math.max(0, at - 3), at)) &&
      /^\p{L}(?![\p{L}\p{N}])/u.test(after);
    if (sign === '/' && spaced && letters && near.includes('=')) return true; // v = s / t
    if (
      sign === '/' &&
      spaced &&
      /[\p{N}\p{L}]\) $/u.test(text.slice(Math.max(0, at - 3), at)) &&
      /^[\d(]/.test(after)
    )
      return true; // (a + b) / 2
    return numbers && (sign === '*' || (spaced && (sign === '/' || IN_A_FORMULA.test(near))));
  }
  if (sign === '+' && spaced && /\p{L}\.$/u.test(text.slice(Math.max(0, at - 3), at - 1)) && right)
    return true; // a.a. + TR
  if (
    sign === '+' &&
    /(?:^|[^\p{L}])\p{L}$|[²³\p{N}]$/u.test(text.slice(Math.max(0, at - 2), at)) &&
    /^(?:\p{L}(?!\p{L})|\p{N})/u.test(after)
  )
    return true;
  if (sign === '+' && before === ',' && spaced && /^\p{L}{3}/u.test(text.slice(end + 1, end + 4)))
    return true;
  if (OF_SETS.test(sign)) return true;
  if (sign === '·') return PRODUCT.test(text.slice(Math.max(0, at - 2), at + 3)) || isSpacedProduct(text, at);
  if (/[×÷]/.test(sign) && BETWEEN_WORDS.test(text.slice(at - 1, end + 1)))
    return IN_A_FORMULA.test(text.slice(Math.max(0, at - NEAR), at) + text.slice(end, end + NEAR)); // 底×高
  if (ALWAYS_MATH.test(sign)) return left || right;
  if (/[·⋅]/u.test(sign) && /^\p{L}/u.test(after) && /\p{L}/u.test(before)) return true; // U = R·I
  const continues = /[.)\]»”]/u.test(before) && /^[\p{L}\p{N}]/u.test(after); // €/Std. + Material
  if (sign === '+' && spaced && continues) return true;
  if (RELATION.test(sign) && right) {
    if (isWordAt(text, at - 1)) return /^\.?\d/.test(text.slice(end, end + 2)) && sign !== '~'; // p<0.05
    return AMOUNT.test(after) || left;
  }
  return left && right;
}

const FACTOR_BEFORE = /(?:[\p{N})]|(?<!\p{L})\p{L}) $/u;
const FACTOR_BEHIND = /^ (?:[\p{N}(√]|\p{L}(?!\p{L}))/u;

/** A = π · 6² and 2 · 3 = 6; elsewhere such a sign parts the items of a list. */
function isSpacedProduct(text: string, at: number): boolean {
  const [before, behind] = [text.slice(Math.max(0, at - NEAR), at), text.slice(at + 1, at + 1 + NEAR)];
  if (!FACTOR_BEFORE.test(before) || !FACTOR_BEHIND.test(behind)) return false;
  return before.endsWith('π ') || behind.startsWith(' π') || /[=≈]/.test(before + behind);
}

const GROUPS = /[\d .()-]*$/;
const THOUSANDS = /^\s*\d{1,3}(?:[ .]\d{3})+\s*$/;
const SHORTEST_TELEPHONE = 7; // digits

/** 01 23 45 67 89 / 06 12 34 56 78 */
function isTelephone(text: string, at: number): boolean {
  const before = GROUPS.exec(text.slice(Math.max(0, at - NEAR), at))?.[0] ?? '';
  return before.replace(/\D/g, '').length >= SHORTEST_TELEPHONE && !THOUSANDS.test(before);
}
