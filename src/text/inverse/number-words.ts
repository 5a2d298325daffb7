// Reads number words. The words are those that the normaliser says: every number below a thousand and every
// scale word is asked from the language's own `Speech`. Only forms that the normaliser never says are data of
// their own: "oh", "zwo", "a hundred".
import type { Language } from '../normalize/language.js';
import type { Noun } from '../normalize/quantity.js';
import { numeralOf } from '../normalize/numerals.js';
import { NOWHERE } from '../normalize/reading.js';
import { keyOf, type Place, type Token } from './spoken-tokens.js';
import { joinedKey, WordTrie } from './word-trie.js';

export interface NumberAt {
  readonly value: number;
  /** Index of the token behind it. */
  readonly end: number;
  /** A one that may be an article: un, ein. */
  readonly isArticle: boolean;
  /** A power of ten in words that the normaliser does not say: a hundred, tausend. */
  readonly isLoose: boolean;
  /** A number below a thousand and one scale word from a million on. */
  readonly round: { readonly coefficient: number; readonly scale: number } | undefined;
}

export interface OrdinalAt {
  readonly value: number;
  readonly end: number;
  /** Written behind the figures. */
  readonly mark: string;
}

/** Number words that only a listener needs. */
export interface HeardNumbers {
  /** Before a noun or a scale word, where they may be articles as well. */
  readonly ones: readonly string[];
  /** Other names of numbers below a thousand: zwo, septante. */
  readonly others: Readonly<Record<string, number>>;
  /** Between a scale word, or hundreds, and the rest. */
  readonly and: string | undefined;
  /** Words of a hundred behind a number from 11 on: fifteen hundred, neunzehnhundert. */
  readonly hundred: { readonly words: readonly string[]; readonly most: number } | undefined;
  /** Scale words may stand alone: tausend. */
  readonly hasBareScales: boolean;
  /** Number words of one number are written as one word. */
  readonly isCompound: boolean;
  /** The words of an ordinal, with the mark that is written behind its figures. */
  readonly ordinals: (
    digits: string,
    language: Language,
  ) => readonly (readonly [said: string, mark: string])[];
}

interface Small {
  readonly value: number;
  readonly isArticle: boolean;
  /** An article that the normaliser says for the number, too: un. */
  readonly isSaid?: true;
}

export interface BelowThousand extends Small {
  readonly end: number;
}

interface Part {
  readonly value: number;
  /** A power of ten; 0 below a thousand. */
  readonly power: number;
}

const POWERS = [3, 6, 9, 12] as const;
const LARGEST = 9e15; // exact as a double
const LARGEST_ORDINAL = 199;
const ROUND_POWER = 6;
const GENDERS: readonly (Noun | undefined)[] = [
  undefined,
  { forms: [''], gender: 'm' },
  { forms: [''], gender: 'f' },
];

export class NumberWords {
  readonly #heard: HeardNumbers;
  readonly #small = new WordTrie<Small>();
  readonly #ordinals = new WordTrie<{ readonly value: number; readonly mark: string }>();
  readonly #scales: (readonly [key: string, power: number])[] = [];
  /** Keys of the powers of ten as the normaliser says them. */
  readonly #powers = new Set<string>();
  readonly #and: string;
  readonly #scaleBegins = (key: string, offset: number): boolean =>
    this.#heard.isCompound && this.#scaleAt(key, offset) !== undefined;

  constructor(language: Language, heard: HeardNumbers) {
    this.#heard = heard;
    this.#and = keyOf(heard.and ?? '');
    this.#addScales(language);
    this.#addSmall(language);
    for (let value = 1; value <= LARGEST_ORDINAL; value++) {
      for (const [said, mark] of heard.ordinals(String(value), language)) {
        this.#ordinals.add(said, { value, mark });
      }
    }
  }

  #addSmall(language: Language): void {
    const say = (value: number, noun?: Noun) => said(language, String(value), noun);
    for (const word of this.#heard.ones) {
      const isSaid = GENDERS.some((noun) => word === say(1, noun));
      this.#small.add(word, { value: 1, isArticle: true, ...(isSaid ? { isSaid } : {}) });
    }
    for (let value = 0; value < 1000; value++) {
      const plain = say(value);
      for (const noun of GENDERS.filter((one) => one === undefined || say(value, one) !== plain)) {
        for (const form of this.#forms(say(value, noun), value, say(1))) {
          this.#small.add(form, { value, isArticle: false });
        }
        const rest = value % 100;
        if (value < 100 || rest === 0 || this.#heard.and === undefined) continue;
        const joined = `${say(value - rest, noun)} ${this.#heard.and} ${say(rest, noun)}`;
        for (const form of this.#forms(joined, value, say(1))) {
          this.#small.add(form, { value, isArticle: false });
        }
      }
    }
    for (const [word, value] of Object.entries(this.#heard.others)) {
      this.#small.add(word, { value, isArticle: false });
    }
  }

  /** One hundred twenty, and a hundred twenty, or hundertzwanzig without its ein. */
  #forms(words: string, value: number, one: string): readonly string[] {
    const { ones, hundred, hasBareScales } = this.#heard;
    if (value < 100 || value > 199 || hundred === undefined) return [words];
    const rest = withoutStart(words, one);
    if (rest !== undefined) return [words, ...ones.map((article) => `${article} ${rest}`)];
    return hasBareScales ? [words, words.slice(Math.max(0, words.indexOf(hundred.words[0] ?? '')))] : [words];
  }

  /** A scale word is the rest of one, or of two, of its power. */
  #addScales(language: Language): void {
    const ones = [...this.#heard.ones, said(language, '1')].toSorted((a, b) => b.length - a.length);
    this.#powers.add(joinedKey(said(language, '100')));
    for (const power of POWERS) {
      const words = said(language, `1${'0'.repeat(power)}`);
      this.#powers.add(joinedKey(words));
      const first = ones.map((one) => withoutStart(words, one)).find((rest) => rest !== undefined);
      const second = withoutStart(said(language, `2${'0'.repeat(power)}`), said(language, '2'));
      for (const form of [first ?? words, second]) {
        const key = form === undefined ? '' : joinedKey(form);
        if (key !== '' && !this.isScale(key)) this.#scales.push([key, power]);
      }
    }
    this.#scales.sort(([a], [b]) => b.length - a.length);
  }

  /** A scale word; within a compound another part may follow it. */
  #scaleAt(key: string, offset: number): readonly [key: string, power: number] | undefined {
    const hundred = this.#heard.hundred;
    const known: readonly (readonly [string, number])[] =
      hundred === undefined
        ? this.#scales
        : [...this.#scales, ...hundred.words.map((word) => [word, 2] as const)];
    return known.find(
      ([word]) =>
        key.startsWith(word, offset) && (this.#heard.isCompound || offset + word.length === key.length),
    );
  }

  /** True for a word that multiplies by a thousand or more. */
  isScale(key: string): boolean {
    return this.#scales.some(([word]) => word === key);
  }

  below(tokens: readonly Token[], token: number): BelowThousand | undefined {
    const found = this.#small.at(tokens, token);
    return found && { ...found.value, end: found.end };
  }

  ordinal(tokens: readonly Token[], token: number): OrdinalAt | undefined {
    const found = this.#ordinals.at(tokens, token);
    return found && { ...found.value, end: found.end };
  }

  /** The longest whole number whose first word stands here. */
  number(tokens: readonly Token[], token: number): NumberAt | undefined {
    const parts: Part[] = [];
    let place: Place = { token, offset: 0 };
    let last: NumberAt | undefined;
    let hasArticle = false;
    for (let steps = 0; steps < 16; steps++) {
      const from = parts.length === 0 ? place : this.#behindAnd(tokens, place);
      const group = this.#group(tokens, from, parts);
      const behind = group?.end ?? place;
      const scale = this.#scale(tokens, behind, group?.value, parts);
      if (group === undefined && scale === undefined) break;
      if (group !== undefined) parts.push({ value: group.value.value, power: 0 });
      if (scale !== undefined) raise(parts, scale.power);
      hasArticle = group !== undefined && scale === undefined && group.value.isArticle;
      const isSaid = group?.value.isSaid === true;
      place = scale?.end ?? behind;
      if (hasArticle && parts.length > 1 && !isSaid) break;
      if (place.offset === 0)
        last = result(parts, place.token, hasArticle && parts.length === 1, group?.value, scale);
      if (scale === undefined || (last?.value ?? 0) > LARGEST) break;
    }
    if (last === undefined || last.value > LARGEST) return undefined;
    const isPower = last.value >= 100 && Number.isInteger(Math.log10(last.value));
    if (!isPower) return last;
    const words = tokens.slice(token, last.end).map(({ key }) => key);
    return { ...last, isLoose: !this.#powers.has(words.join('')) };
  }

  #behindAnd(tokens: readonly Token[], place: Place): Place {
    const { token, offset } = place;
    const key = tokens[token]?.key ?? '';
    if (this.#and === '' || !key.startsWith(this.#and, offset)) return place;
    if (offset + this.#and.length === key.length) return { token: token + 1, offset: 0 };
    return this.#heard.isCompound ? { token, offset: offset + this.#and.length } : place;
  }

  #group(
    tokens: readonly Token[],
    place: Place,
    parts: readonly Part[],
  ): { readonly value: Small; readonly end: Place } | undefined {
    const above = parts.at(-1)?.power;
    if (above === 0 || (parts.length > 0 && !isJoined(tokens, place))) return undefined;
    const found = this.#small.longest(tokens, place, this.#scaleBegins);
    if (found === undefined || above === undefined) return found;
    return found.value.value === 0 || (above === 2 && found.value.value > 99) ? undefined : found;
  }

  /** The scale word behind a group, or behind another scale word. */
  #scale(
    tokens: readonly Token[],
    place: Place,
    group: Small | undefined,
    parts: readonly Part[],
  ): { readonly power: number; readonly end: Place } | undefined {
    const isFirst = group === undefined && parts.length === 0;
    const token = tokens[place.token];
    if (token === undefined || (!isFirst && !isJoined(tokens, place))) return undefined;
    const [word, power] = this.#scaleAt(token.key, place.offset) ?? [];
    if (word === undefined || power === undefined) return undefined;
    if (isFirst && !(this.#heard.hasBareScales && power <= 3)) return undefined;
    if (group?.value === 0 || !this.#mayRaise(group, power, parts)) return undefined;
    const offset = place.offset + word.length;
    const isWhole = offset === token.key.length;
    return { power, end: isWhole ? { token: place.token + 1, offset: 0 } : { token: place.token, offset } };
  }

  #mayRaise(group: Small | undefined, power: number, parts: readonly Part[]): boolean {
    const { hundred } = this.#heard;
    const top = parts.at(-1)?.power;
    if (power === 2) {
      const value = group?.value ?? 0;
      return top === undefined && value > 10 && value <= (hundred?.most ?? 0) && value % 10 !== 0;
    }
    return top === undefined || top !== power;
  }
}

/** All parts below the power are its number: two thousand five hundred million. */
function raise(parts: Part[], power: number): void {
  let value = 0;
  while (parts.length > 0 && (parts.at(-1)?.power ?? power) < power) value += parts.pop()?.value ?? 0;
  parts.push({ value: (value === 0 ? 1 : value) * 10 ** power, power });
}

function result(
  parts: readonly Part[],
  end: number,
  isArticle: boolean,
  group: Small | undefined,
  scale: { readonly power: number } | undefined,
): NumberAt {
  const value = parts.reduce((sum, part) => sum + part.value, 0);
  const isRound =
    group !== undefined &&
    scale !== undefined &&
    scale.power >= ROUND_POWER &&
    value === group.value * 10 ** scale.power;
  const round = isRound ? { coefficient: group.value, scale: end - 1 } : undefined;
  return { value, end, isArticle, isLoose: false, round };
}

function isJoined(tokens: readonly Token[], { token, offset }: Place): boolean {
  return offset > 0 || tokens[token]?.gap === 'plain';
}

function said(language: Language, digits: string, noun?: Noun): string {
  return language.speech.number(numeralOf(digits), NOWHERE, noun);
}

function withoutStart(words: string, start: string): string | undefined {
  return words.startsWith(start) && words !== start ? words.slice(start.length).trim() : undefined;
}
