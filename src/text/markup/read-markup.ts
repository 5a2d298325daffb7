// Reads an SSML document and collects its text pieces.
// Every element is checked while it is read.
import type { ParleyError } from '../../errors.js';
import {
  type AttributeRule,
  breakMs,
  type ElementRule,
  ELEMENTS,
  gainOf,
  isFormal,
  isVendors,
  LONGEST_BREAK_MS,
  MOST_GAIN,
  rateOf,
  RATES,
  sayAsKind,
  unknownElement,
  vendorRule,
} from './elements.js';
import {
  type BleepPiece,
  type MarkAt,
  type MarkedHint,
  type MarkedStyle,
  type MarkedPart,
  type MarkedPiece,
  type MarkedText,
  PLAIN_STYLE,
  type Reading,
  type TextPiece,
  type Unheeded,
} from './marked-text.js';
import { markupError, PlaceFinder } from './markup-error.js';
import { SourceMap } from './source-map.js';
import { readXml, type Tag, type XmlReader } from './xml.js';

interface GrowingPiece {
  readonly kind: 'text';
  text: string;
  readonly style: MarkedStyle;
  readonly parts: MarkedPart[];
  readonly marks: MarkAt[];
  readonly hints: MarkedHint[];
  readonly begins: TextPiece['begins'];
  readonly map: SourceMap;
}

type Hint = Pick<MarkedHint, 'kind' | 'value'>;

class PieceList {
  /** The hints whose elements are open, with where they begin in the open piece. */
  readonly #hints: { readonly hint: Hint; start: number }[] = [];
  readonly #pieces: MarkedPiece[] = [];
  #open: GrowingPiece | undefined;
  #begins: TextPiece['begins'] = 'anywhere';
  /** The document says that there is no pause here. */
  #isTight = false;

  text(text: string, map: SourceMap, style: MarkedStyle): void {
    const piece = this.#piece(style);
    piece.text += text;
    piece.map.append(map);
    if (/\S/.test(text)) this.#isTight = false;
  }

  /** A text that is read in a way of its own. */
  part(text: string, map: SourceMap, style: MarkedStyle, reading: Reading): void {
    const piece = this.#piece(style);
    const start = piece.text.length;
    this.text(text, map, style);
    piece.parts.push({ start, end: piece.text.length, reading });
  }

  pause(ms: number): void {
    this.#close();
    this.#pieces.push({ kind: 'pause', ms });
  }

  /** No pause, where one would be; within a sentence there is none in any case. */
  noPause(): void {
    if (this.#begins !== 'anywhere') this.pause(0);
    else this.#isTight = true;
  }

  bleep(piece: BleepPiece): void {
    this.#close();
    this.#pieces.push(piece);
  }

  openHint(hint: Hint): void {
    this.#hints.push({ hint, start: this.#open?.text.length ?? 0 });
  }

  closeHint(): void {
    this.#note(this.#hints.pop());
  }

  #note(open: { readonly hint: Hint; readonly start: number } | undefined): void {
    const end = this.#open?.text.length ?? 0;
    if (open !== undefined && open.start < end)
      this.#open?.hints.push({ ...open.hint, start: open.start, end });
  }

  mark(name: string, style: MarkedStyle): void {
    const piece = this.#piece(style);
    piece.marks.push({ name, at: piece.text.length });
  }

  /** A sentence or paragraph begins or ends here. */
  boundary(kind: 'sentence' | 'paragraph'): void {
    this.#close();
    if (this.#isTight) this.pause(0);
    this.#isTight = false;
    if (this.#begins !== 'paragraph') this.#begins = kind;
  }

  finish(): readonly MarkedPiece[] {
    this.#close();
    return this.#pieces;
  }

  #piece(style: MarkedStyle): GrowingPiece {
    const open = this.#open;
    if (open !== undefined && isSame(open.style, style)) return open;
    this.#close();
    const piece: GrowingPiece = {
      kind: 'text',
      text: '',
      style,
      parts: [],
      marks: [],
      hints: [],
      begins: this.#begins,
      map: new SourceMap(),
    };
    this.#begins = 'anywhere';
    this.#open = piece;
    return piece;
  }

  #close(): void {
    for (const hint of this.#hints.toReversed()) this.#note(hint);
    for (const hint of this.#hints) hint.start = 0;
    if (this.#open !== undefined) this.#pieces.push(this.#open);
    this.#open = undefined;
  }
}

function isSame(a: MarkedStyle, b: MarkedStyle): boolean {
  return a.language === b.language && a.voice === b.voice && a.rate === b.rate && a.gain === b.gain;
}

/** Limit of the total length of all breaks of a document. */
export const MOST_SILENCE_MS = 300_000;

const MOST_UNHEEDED = 100; // maximum number of unsupported items that are reported
const LONGEST_SPELLED = 60; // characters that are spelled in one sentence
const SHORTEST_BLEEP_MS = 300;
const LONGEST_BLEEP_MS = 1500;
const BLEEP_MS_PER_CHARACTER = 70; // about as long as the word would last

const BEFORE_ROOT = [
  ['<?', '?>'],
  ['<!--', '-->'],
] as const;
const ROOT = /(?:<speak[\s/>]|<!DOCTYPE\s+speak\b)/y;
const SPACES = /[\s\uFEFF]*/y;

/** True if a text is meant as SSML: it begins with `<speak`, or what may stand before it in a document. */
export function looksLikeMarkup(text: string): boolean {
  for (let at = 0; ;) {
    SPACES.lastIndex = at;
    at += SPACES.exec(text)?.[0].length ?? 0;
    const mark = BEFORE_ROOT.find(([opening]) => text.startsWith(opening, at));
    if (mark === undefined) {
      ROOT.lastIndex = at;
      return ROOT.test(text);
    }
    const end = text.indexOf(mark[1], at + mark[0].length);
    if (end < 0) return false;
    at = end + mark[1].length;
  }
}

/** Throws INVALID_FIELD with line and column. */
export function readMarkup(source: string): MarkedText {
  const reader = new MarkupReader(source);
  readXml(source, reader);
  return reader.result();
}

interface Element {
  readonly tag: Tag;
  readonly rule: ElementRule;
  readonly style: MarkedStyle;
  /** Set in an element that holds only text. */
  text: string;
  readonly map: SourceMap;
  /** Something in it is spoken. */
  speaks: boolean;
}

class MarkupReader implements XmlReader {
  readonly #source: string;
  readonly #pieces = new PieceList();
  readonly #stack: Element[] = [];
  readonly #unheeded: Unheeded[] = [];
  readonly #hinted = new Map<Unheeded, MarkedHint['kind']>();
  readonly #places: PlaceFinder;
  #silenceMs = 0;
  /** Elements within one of which nothing is heard. */
  #unspoken = 0;

  constructor(source: string) {
    this.#source = source;
    this.#places = new PlaceFinder(source);
  }

  result(): MarkedText {
    return { pieces: this.#pieces.finish(), unheeded: this.#unheeded, hinted: this.#hinted };
  }

  open(tag: Tag): void {
    const parent = this.#stack.at(-1);
    if (this.#unspoken > 0 || parent?.rule.holds === 'unspoken') {
      this.#unspoken++;
      return;
    }
    const rule = this.#ruleOf(tag, parent);
    this.#checkAttributes(tag, rule);
    const hint = hintOf(tag);
    if (rule.isUnheeded === true && tag.attributes['level'] !== 'none')
      this.#tellUnheeded(`<${tag.name}>`, tag, hint);
    const style = this.#styleOf(tag, parent?.style ?? PLAIN_STYLE);
    this.#stack.push({ tag, rule, style, text: '', map: new SourceMap(), speaks: false });
    this.#begin(tag, style);
    if (hint !== undefined) this.#pieces.openHint(hint);
  }

  close(): void {
    if (this.#unspoken > 0) {
      this.#unspoken--;
      return;
    }
    const element = this.#stack.pop();
    if (element === undefined) return;
    this.#end(element);
    if (hintOf(element.tag) !== undefined) this.#pieces.closeHint();
    const parent = this.#stack.at(-1);
    if (parent !== undefined && element.speaks) parent.speaks = true;
  }

  text(text: string, map: SourceMap): void {
    const element = this.#stack.at(-1);
    if (element === undefined || this.#unspoken > 0 || element.rule.holds === 'unspoken') return;
    const hasWords = /\S/.test(text);
    if (element.rule.holds === 'nothing') {
      if (hasWords) throw this.#error(element.tag, `<${element.tag.name}> must be empty`);
      return;
    }
    if (hasWords) element.speaks = true;
    if (element.rule.holds === 'speech') return this.#pieces.text(text, map, element.style);
    // A vendor's element within <say-as> and the like is none: its text is that of the element around it.
    const holder = this.#stack.findLast(({ tag }) => !isVendors(tag.name)) ?? element;
    holder.text += text;
    holder.map.append(map);
  }

  #ruleOf(tag: Tag, parent: Element | undefined): ElementRule {
    const { name } = tag;
    if (parent === undefined ? name !== 'speak' : name === 'speak') {
      throw this.#error(tag, 'a text begins with <speak> and has no other one');
    }
    if (parent !== undefined && isVendors(name) && parent.rule.holds !== 'nothing')
      return vendorRule(parent.rule);
    const rule = Object.hasOwn(ELEMENTS, name) ? ELEMENTS[name] : undefined;
    if (rule === undefined) throw this.#error(tag, unknownElement(name));
    if (parent === undefined) return rule;
    if (parent.rule.holds !== 'speech') {
      const what = parent.rule.holds === 'text' ? 'may hold nothing but text' : 'must be empty';
      throw this.#error(tag, `<${parent.tag.name}> ${what}`);
    }
    const around = this.#stack.find((element) => rule.outside?.includes(element.tag.name));
    if (around !== undefined) throw this.#error(tag, `<${name}> must not stand within <${around.tag.name}>`);
    const holder = this.#stack.findLast((element) => !isVendors(element.tag.name));
    if (rule.within !== undefined && holder?.tag.name !== rule.within) {
      throw this.#error(tag, `<${name}> must stand directly within <${rule.within}>`);
    }
    return rule;
  }

  #checkAttributes(tag: Tag, rule: ElementRule): void {
    const names = Object.keys(rule.attributes);
    for (const name of rule.required ?? []) {
      if (tag.attributes[name] === undefined) throw this.#error(tag, `<${tag.name}> must have "${name}"`);
    }
    for (const [name, value] of Object.entries(tag.attributes)) {
      if (isFormal(name)) continue;
      const known: AttributeRule | undefined = Object.hasOwn(rule.attributes, name)
        ? rule.attributes[name]
        : undefined;
      if (known === undefined && (isVendors(name) || isVendors(tag.name))) {
        if (isVendors(name)) this.#tellUnheeded(`${name} of <${tag.name}>`, tag);
        continue;
      }
      if (known === undefined) {
        const has = names.length === 0 ? 'has none' : `has ${names.join(', ')}`;
        throw this.#error(tag, `<${tag.name}> has no attribute "${name.slice(0, 40)}"; it ${has}`);
      }
      if (!known.pattern.test(value)) {
        throw this.#error(
          tag,
          `"${name}" of <${tag.name}> must be ${known.allowed}, not "${value.slice(0, 40)}"`,
        );
      }
      if (known.isUnheeded === true)
        this.#tellUnheeded(`${name} of <${tag.name}>`, tag, name === 'pitch' ? hintOf(tag) : undefined);
    }
  }

  #styleOf(tag: Tag, around: MarkedStyle): MarkedStyle {
    const { name, attributes } = tag;
    const stated = attributes['xml:lang'];
    const language = stated === undefined ? around.language : stated === '' ? undefined : stated;
    const voice = name === 'voice' ? (attributes['name']?.trim() ?? around.voice) : around.voice;
    const { rate: pace, volume } = name === 'prosody' ? attributes : {};
    const rate = pace === undefined ? around.rate : rateOf(pace, around.rate);
    const gain = volume === undefined ? around.gain : gainOf(volume, around.gain);
    if (rate < RATES[0] || rate > RATES[1]) {
      throw this.#error(
        tag,
        `"rate" of <prosody> must come to ${RATES[0]} to ${RATES[1]} times the usual pace`,
      );
    }
    if (gain > MOST_GAIN) {
      throw this.#error(
        tag,
        `"volume" of <prosody> must come to ${MOST_GAIN} times the usual loudness at most`,
      );
    }
    return {
      rate,
      gain,
      ...(language === undefined ? {} : { language }),
      ...(voice === undefined ? {} : { voice }),
    };
  }

  #begin(tag: Tag, style: MarkedStyle): void {
    const { name, attributes } = tag;
    if (name === 'p') this.#pieces.boundary('paragraph');
    if (name === 's') this.#pieces.boundary('sentence');
    if (name === 'break') this.#pause(tag);
    if (name === 'mark') this.#pieces.mark(attributes['name']?.trim() ?? '', style);
  }

  #pause(tag: Tag): void {
    const { strength, time } = tag.attributes;
    const ms = breakMs(strength, time);
    if (ms > LONGEST_BREAK_MS) {
      throw this.#error(tag, `"time" of <break> must be ${LONGEST_BREAK_MS / 1000}s at most`);
    }
    this.#silenceMs += ms;
    if (this.#silenceMs > MOST_SILENCE_MS) {
      throw this.#error(tag, `all breaks together must be ${MOST_SILENCE_MS / 1000}s at most`);
    }
    if (ms === 0) this.#pieces.noPause();
    else this.#pieces.pause(ms);
  }

  #end(element: Element): void {
    const { tag, rule } = element;
    if (rule.holds === 'text' && !isVendors(tag.name)) this.#readPart(element);
    if (tag.name === 'p') this.#pieces.boundary('paragraph');
    if (tag.name === 's') this.#pieces.boundary('sentence');
    if (tag.name === 'audio' && !element.speaks) {
      throw this.#error(tag, '<audio> is not fetched, and must hold what is spoken in its place');
    }
  }

  /** Set in an element that holds only text. */
  #readPart(element: Element): void {
    const { tag, style, text, map } = element;
    const { name, attributes } = tag;
    if (name === 'phoneme') return this.#pieces.text(text, map, style);
    if (name === 'sub') {
      const words = attributes['alias'] ?? '';
      element.speaks = true;
      return this.#pieces.part(...standing(text, map, words, tag.at), style, { kind: 'sub', words });
    }
    if (!/\S/.test(text)) return undefined;
    const as = sayAsKind(attributes['interpret-as'] ?? '');
    if (as === 'expletive') {
      const ms = Math.min(
        Math.max(text.trim().length * BLEEP_MS_PER_CHARACTER, SHORTEST_BLEEP_MS),
        LONGEST_BLEEP_MS,
      );
      return this.#pieces.bleep({ kind: 'bleep', ms, style });
    }
    const { format = '', detail = '' } = attributes;
    const reading: Reading = { kind: 'say-as', as, format, detail };
    if (as === 'characters' && text.length > LONGEST_SPELLED) return this.#spell(element, reading);
    return this.#pieces.part(text, map, style, reading);
  }

  /** Many characters are spelled in several sentences, because an engine takes none of any length. */
  #spell({ text, map, style }: Element, reading: Reading): void {
    const characters = Array.from(text);
    for (let at = 0, from = 0; at < characters.length; at += LONGEST_SPELLED) {
      const part = characters.slice(at, at + LONGEST_SPELLED).join('');
      const own = new SourceMap();
      for (let unit = from; unit < from + part.length; unit++) {
        const { start, end } = map.span(unit, unit + 1);
        own.add(1, start, end - start);
      }
      if (at > 0) this.#pieces.boundary('sentence');
      this.#pieces.part(part, own, style, reading);
      from += part.length;
    }
  }

  #tellUnheeded(what: string, tag: Tag, hint?: Hint): void {
    if (this.#unheeded.length >= MOST_UNHEEDED) return;
    const unheeded: Unheeded = { what, ...this.#places.next(tag.at) };
    this.#unheeded.push(unheeded);
    if (hint !== undefined) this.#hinted.set(unheeded, hint.kind);
  }

  #error(tag: Tag, what: string): ParleyError {
    return markupError(this.#source, tag.at, what);
  }
}

const RELATIVE_PITCH = /^(?:x-low|low|medium|high|x-high|default|[+-][\d.]{1,13}(?:%|st))$/;

/** The hint of an element for engines; undefined if it gives none, or one that depends on the voice. */
function hintOf({ name, attributes }: Tag): Hint | undefined {
  const { ph = '', alphabet = 'ipa', level = 'moderate', pitch = '' } = attributes;
  switch (name) {
    case 'phoneme':
      return alphabet === 'ipa' ? { kind: 'phoneme', value: ph } : undefined;
    case 'emphasis':
      return level === 'none' ? undefined : { kind: 'emphasis', value: level };
    case 'prosody':
      return RELATIVE_PITCH.test(pitch) ? { kind: 'pitch', value: pitch } : undefined;
    default:
      return undefined;
  }
}

/** An alias for nothing stands for itself. */
function standing(text: string, map: SourceMap, words: string, at: number): [string, SourceMap] {
  if (/\S/.test(text)) return [text, map];
  const own = new SourceMap();
  own.add(words.length, at, 0);
  return [words, own];
}
