// Writes a text with its hints as espeak reads it: SSML for emphasis and pitch, and espeak's own names of
// phonemes in [[ ]] for a pronunciation. It keeps which character of the text each character stands for,
// because espeak reports the places of words in what it was given.
import type { SpeechHint } from '../engine.js';
import { readableText, type WordEvent } from './espeak-text.js';

/** Names of espeak for symbols of the International Phonetic Alphabet; the longest symbol wins. */
// prettier-ignore
const PHONEMES: ReadonlyMap<string, string> = new Map([
  ['p', 'p'], ['b', 'b'], ['t', 't'], ['d', 'd'], ['k', 'k'], ['ɡ', 'g'], ['g', 'g'], ['f', 'f'], ['v', 'v'], ['s', 's'], ['z', 'z'],
  ['m', 'm'], ['n', 'n'], ['l', 'l'], ['r', 'r'], ['w', 'w'], ['j', 'j'], ['h', 'h'], ['x', 'x'], ['ŋ', 'N'], ['θ', 'T'], ['ð', 'D'],
  ['ʃ', 'S'], ['ʒ', 'Z'], ['tʃ', 'tS'], ['dʒ', 'dZ'], ['t͡ʃ', 'tS'], ['d͡ʒ', 'dZ'], ['ʧ', 'tS'], ['ʤ', 'dZ'], ['ts', 'ts'], ['t͡s', 'ts'], ['ɹ', 'r'],
  ['ɾ', 't'], ['ʁ', 'r'], ['ɲ', 'n^'], ['ʎ', 'l^'], ['ç', 'C'], ['ɣ', 'Q'], ['β', 'B'], ['ɫ', 'l'], ['ʔ', '?'],
  ['i', 'i'], ['iː', 'i:'], ['ɪ', 'I'], ['e', 'e'], ['eː', 'e:'], ['ɛ', 'E'], ['ɛː', 'E:'], ['æ', 'a'], ['a', 'a'], ['aː', 'a:'], ['ɑ', 'A:'], ['ɑː', 'A:'],
  ['ɒ', '0'], ['ɔ', 'O'], ['ɔː', 'O:'], ['o', 'o'], ['oː', 'o:'], ['ʊ', 'U'], ['u', 'u'], ['uː', 'u:'], ['ʌ', 'V'], ['ə', '@'], ['ɐ', 'a#'],
  ['ɜ', '3:'], ['ɜː', '3:'], ['ɝ', '3:'], ['ɚ', '3'], ['y', 'y'], ['yː', 'y:'], ['ø', 'Y'], ['øː', 'Y:'], ['œ', 'W'],
  ['eɪ', 'eI'], ['aɪ', 'aI'], ['ɔɪ', 'OI'], ['aʊ', 'aU'], ['oʊ', 'oU'], ['əʊ', 'oU'], ['ɔʏ', 'OY'],
  ['ɑ̃', 'A~'], ['ɛ̃', 'E~'], ['ɔ̃', 'O~'], ['œ̃', 'W~'], ['ˈ', "'"], ["'", "'"], ['ˌ', ','], ['.', ''], [' ', '||'], ['‿', ''],
]);
const LONGEST_SYMBOL = 3; // units of the longest key

/** Undefined if the pronunciation has a symbol that espeak has no name for. */
export function phonemesOf(ipa: string): string | undefined {
  const written = ipa.normalize('NFD').replaceAll('c\u0327', 'ç').replaceAll(':', 'ː').trim();
  let phonemes = '';
  for (let at = 0; at < written.length;) {
    let length = Math.min(LONGEST_SYMBOL, written.length - at);
    while (length > 0 && !PHONEMES.has(written.slice(at, at + length))) length--;
    if (length === 0) return undefined;
    phonemes += PHONEMES.get(written.slice(at, at + length)) ?? '';
    at += length;
  }
  return phonemes === '' ? undefined : phonemes;
}

const LEVELS = new Set(['strong', 'moderate', 'reduced']);
const PITCHES = new Set(['x-low', 'low', 'medium', 'high', 'x-high', 'default']);

/** espeak knows names and per cent; a semitone is a twelfth of an octave. */
function pitchOf(written: string): string | undefined {
  if (PITCHES.has(written)) return written;
  const [, value = '', unit = ''] = /^([+-]\d{1,6}(?:\.\d{1,6})?)(%|st)$/.exec(written) ?? [];
  if (value === '') return undefined;
  const percent = unit === '%' ? Number(value) : (2 ** (Number(value) / 12) - 1) * 100;
  const bounded = Math.round(Math.max(-90, Math.min(200, percent)));
  return `${bounded < 0 ? '' : '+'}${bounded}%`;
}

/** The tags around a hint's words, or the phonemes in their place; undefined if espeak cannot say it. */
function markupOf({
  kind,
  value,
}: SpeechHint): { open: string; close: string; instead?: string } | undefined {
  switch (kind) {
    case 'phoneme': {
      const phonemes = phonemesOf(value);
      return phonemes === undefined ? undefined : { open: '', close: '', instead: `[[${phonemes}]]` };
    }
    case 'emphasis':
      return LEVELS.has(value) ? { open: `<emphasis level="${value}">`, close: '</emphasis>' } : undefined;
    case 'pitch': {
      const pitch = pitchOf(value);
      return pitch === undefined ? undefined : { open: `<prosody pitch="${pitch}">`, close: '</prosody>' };
    }
  }
}

/** A character of the input: the code points of the text that it stands for. */
interface Origin {
  readonly start: number;
  /** Code points, of a pronunciation; 0 elsewhere. */
  readonly length: number;
}

export class EspeakInput {
  #input = '';
  readonly #origins: Origin[] = [];
  readonly #characters: readonly string[];

  constructor(text: string, hints: readonly SpeechHint[] = []) {
    this.#characters = Array.from(readableText(text));
    const places = codePointPlaces(text);
    this.#write(0, this.#characters.length, nested(hints), places);
  }

  get input(): string {
    return this.#input;
  }

  /** The event with its place in the text. */
  placed(event: WordEvent): WordEvent {
    const origin = this.#origins[event.text_position - 1];
    if (origin === undefined) return event;
    return {
      ...event,
      text_position: origin.start + 1,
      word_length: origin.length === 0 ? event.word_length : origin.length,
    };
  }

  #write(from: number, to: number, hints: readonly SpeechHint[], places: ReadonlyMap<number, number>): void {
    let at = from;
    for (let index = 0; index < hints.length;) {
      const hint = hints[index] as SpeechHint;
      const [start, end] = [places.get(hint.start) ?? to, places.get(hint.end) ?? to];
      let next = index + 1;
      while (next < hints.length && (hints[next] as SpeechHint).start < hint.end) next++;
      const markup = start < at || start >= end || end > to ? undefined : markupOf(hint);
      const inner = hints.slice(index + 1, next);
      index = next;
      if (markup === undefined) {
        if (start >= at && end <= to && start < end) {
          this.#copy(at, start);
          this.#write(start, end, inner, places);
          at = end;
        }
        continue;
      }
      this.#copy(at, start);
      this.#add(markup.open, { start, length: 0 });
      if (markup.instead === undefined) this.#write(start, end, inner, places);
      else this.#add(markup.instead, { start, length: end - start });
      this.#add(markup.close, { start: end, length: 0 });
      at = end;
    }
    this.#copy(at, to);
  }

  #copy(from: number, to: number): void {
    for (let at = from; at < to; at++) this.#add(this.#characters[at] ?? '', { start: at, length: 0 });
  }

  #add(written: string, origin: Origin): void {
    this.#input += written;
    for (const _ of written) this.#origins.push(origin);
  }
}

/** Outer hints before those within them. */
function nested(hints: readonly SpeechHint[]): SpeechHint[] {
  return hints.toSorted((a, b) => a.start - b.start || b.end - a.end);
}

/** Code points before each offset in UTF-16 units at which a character begins, and at the end. */
function codePointPlaces(text: string): ReadonlyMap<number, number> {
  const places = new Map<number, number>();
  let [units, points] = [0, 0];
  for (const character of text) {
    places.set(units, points++);
    units += character.length;
  }
  return places.set(units, points);
}
