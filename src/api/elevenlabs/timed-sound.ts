// Sends sound with the time of each character, as ElevenLabs' clients read it: one JSON object, or one per
// line while the sound is made. Neither is buffered: the single object, too, is written while its sound
// arrives.
import { ParleyError } from '../../errors.js';
import type { SoundOutcome, SoundSource } from '../../speaking/sound.js';
import { base64, Base64Pieces } from '../speech/sound-forms.js';

interface Alignments {
  /** Alignment of the text as requested. */
  readonly alignment: object | null;
  /** Alignment of the normalised text that was spoken. */
  readonly normalized_alignment: object | null;
}

type Words = (source: SoundSource, text: string) => AsyncGenerator<string, void, undefined>;

/** `{"audio_base64", "alignment", "normalized_alignment"}` of the whole. */
export function timedObject(source: SoundSource, text: string): SoundSource {
  return written(source, text, 'application/json; charset=utf-8', object);
}

/** The same object of each piece of sound, a line each. Times count from the beginning of the whole sound. */
export function timedLines(source: SoundSource, text: string): SoundSource {
  return written(source, text, 'application/json; charset=utf-8', lines);
}

function written(source: SoundSource, text: string, contentType: string, words: Words): SoundSource {
  return {
    contentType,
    outcome: source.outcome,
    cache: source.cache,
    cancel: () => source.cancel(),
    async *[Symbol.asyncIterator]() {
      for await (const word of words(source, text)) yield Buffer.from(word);
    },
  };
}

async function* object(source: SoundSource, text: string): AsyncGenerator<string, void, undefined> {
  const sound = new Base64Pieces();
  let head = '{"audio_base64":"';
  for await (const bytes of source) {
    yield head + sound.push(bytes);
    head = '';
  }
  const { sentences } = await outcomeOf(source);
  const times = new TimedText(text);
  yield `${head}${sound.end()}",${JSON.stringify(times.end(sentences)).slice(1)}`;
}

async function* lines(source: SoundSource, text: string): AsyncGenerator<string, void, undefined> {
  const times = new TimedText(text);
  const line = (bytes: Uint8Array, alignments: Alignments) =>
    `${JSON.stringify({ audio_base64: base64(bytes), ...alignments })}\n`;
  for await (const bytes of source) yield line(bytes, times.upTo(source.placed?.() ?? []));
  const { sentences } = await outcomeOf(source);
  const rest = times.end(sentences);
  if (rest.alignment !== null) yield line(new Uint8Array(0), rest);
}

async function outcomeOf(source: SoundSource): Promise<SoundOutcome> {
  const outcome = await source.outcome;
  if (outcome === undefined) throw new ParleyError('ABORTED', 'the sound broke off');
  return outcome;
}

/** Character times of a text: those already sent, and those still to be sent. */
class TimedText {
  readonly #text: CharacterTimeline;
  /** Number of sentences sent, and the end of the last one in milliseconds. */
  #sent = 0;
  #endMs = 0;

  constructor(text: string) {
    this.#text = new CharacterTimeline(text);
  }

  /** Returns the times that these sentences add. */
  upTo(sentences: SoundOutcome['sentences']): Alignments {
    const { alignment, normalized_alignment } = this.#add(sentences);
    return { alignment: shown(alignment), normalized_alignment: shown(normalized_alignment) };
  }

  /** Returns the times that these sentences add, and those of the remaining text. */
  end(sentences: SoundOutcome['sentences']): Alignments {
    const { alignment, normalized_alignment } = this.#add(sentences);
    return {
      alignment: shown(joined([alignment, this.#text.end()])),
      normalized_alignment: shown(normalized_alignment),
    };
  }

  #add(sentences: SoundOutcome['sentences']) {
    const added = sentences.slice(this.#sent);
    const said = added.map((sentence) => ({ ...sentence, ...sentence.spoken }));
    const spoken = said.map(({ text }) => text).join(' ');
    const normalized = new CharacterTimeline(this.#sent > 0 ? ` ${spoken}` : spoken, this.#endMs);
    this.#sent += added.length;
    this.#endMs = added.at(-1)?.endMs ?? this.#endMs;
    return { alignment: this.#text.push(added), normalized_alignment: normalized.push(said) };
  }
}

function joined(parts: readonly CharacterTimes[]): CharacterTimes {
  return {
    characters: parts.flatMap(({ characters }) => characters),
    startsMs: parts.flatMap(({ startsMs }) => startsMs),
    endsMs: parts.flatMap(({ endsMs }) => endsMs),
  };
}

function shown({ characters, startsMs, endsMs }: CharacterTimes): object | null {
  if (characters.length === 0) return null;
  return {
    characters,
    character_start_times_seconds: startsMs.map(seconds),
    character_end_times_seconds: endsMs.map(seconds),
  };
}

function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}

// Computes when each character of a text is heard, from the places of its sentences.
//
// The places pin characters to times: begin and end of a sentence, and the begin of each word if the engine
// states it. Between two pins time runs evenly over the characters; characters between two sentences have
// their pause.
//
//   text    Hello there. How are you?
//   pins    |     |    | |   |   |   |

/** A sentence with its place in the audio, in milliseconds. */
export interface TimedSentence {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Offsets in UTF-16 units of the sentence, times from the beginning of the sound. */
  readonly words: readonly { readonly textOffset: number; readonly startMs: number }[];
}

/** Three lists of one length. */
export interface CharacterTimes {
  /** Code points. */
  readonly characters: string[];
  readonly startsMs: number[];
  readonly endsMs: number[];
}

interface Pin {
  /** UTF-16 units. */
  readonly offset: number;
  readonly ms: number;
}

export class CharacterTimeline {
  readonly #text: string;
  /** Up to where times were given out. */
  #given: Pin;
  /**
   * Sentences that do not stand in the text as they are spoken: they share what lies before the next that
   * does.
   */
  #unfound: TimedSentence[] = [];

  /** Nothing of the text is heard before `startMs`. */
  constructor(text: string, startMs = 0) {
    this.#text = text;
    this.#given = { offset: 0, ms: startMs };
  }

  /** The characters up to the end of these sentences, from where the last call ended. */
  push(sentences: readonly TimedSentence[]): CharacterTimes {
    const pins: Pin[] = [this.#given];
    for (const sentence of sentences) {
      const from = pins.at(-1)?.offset ?? 0;
      const offsets = offsetsOf(sentence.text, this.#text, from);
      if (offsets === undefined) {
        this.#unfound.push(sentence);
        continue;
      }
      pins.push(...this.#sharedPins(from, offsets[0] ?? from), ...ownPins(sentence, offsets));
      this.#unfound = [];
    }
    return this.#times(pins);
  }

  /** Returns the times of the remaining text. */
  end(): CharacterTimes {
    const { offset, ms } = this.#given;
    const pins = [this.#given, ...this.#sharedPins(offset, this.#text.length)];
    return this.#times([...pins, { offset: this.#text.length, ms: pins.at(-1)?.ms ?? ms }]);
  }

  #sharedPins(from: number, to: number): Pin[] {
    const [first] = this.#unfound;
    const last = this.#unfound.at(-1);
    if (first === undefined || last === undefined) return [];
    return [
      { offset: from, ms: first.startMs },
      { offset: to, ms: last.endMs },
    ];
  }

  #times(unordered: readonly Pin[]): CharacterTimes {
    const pins = ascending(unordered);
    const times: CharacterTimes = { characters: [], startsMs: [], endsMs: [] };
    const last = pins.at(-1) ?? this.#given;
    let offset = this.#given.offset;
    let index = 0; // index of the pin that the character follows
    for (const character of this.#text.slice(offset, last.offset)) {
      const end = offset + character.length;
      while ((pins[index + 1]?.offset ?? Infinity) <= offset) index++;
      // Two pins at one place are a pause: a character ends before it, the next one begins after it.
      let endIndex = index;
      while ((pins[endIndex + 1]?.offset ?? Infinity) < end) endIndex++;
      times.characters.push(character);
      times.startsMs.push(timeAt(pins, index, offset));
      times.endsMs.push(timeAt(pins, endIndex, end));
      offset = end;
    }
    this.#given = last;
    return times;
  }
}

/**
 * Returns the offset of each unit of a sentence in the text, then the offset of its end; undefined if the
 * text does not contain the sentence. Sentences have single spaces, a text may have any.
 */
function offsetsOf(sentence: string, text: string, from: number): number[] | undefined {
  const words = sentence.split(' ');
  const pattern = new RegExp(words.map(literal).join('\\s+'), 'g');
  pattern.lastIndex = from;
  let at = pattern.exec(text)?.index;
  if (at === undefined) return undefined;
  const offsets: number[] = [];
  for (const word of words) {
    if (offsets.length > 0) {
      offsets.push(at);
      while (/\s/.test(text[at] ?? '')) at++;
    }
    for (let unit = 0; unit < word.length; unit++) offsets.push(at++);
  }
  return [...offsets, at];
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

function ownPins({ startMs, endMs, words }: TimedSentence, offsets: readonly number[]): Pin[] {
  const end = offsets.at(-1) ?? 0;
  return [
    { offset: offsets[0] ?? end, ms: startMs },
    ...words.map((word) => ({
      offset: offsets[word.textOffset] ?? end,
      ms: Math.min(word.startMs, endMs),
    })),
    { offset: end, ms: endMs },
  ];
}

/** Makes offsets and times ascend, even if an engine reports its words out of order. */
export function ascending(pins: readonly Pin[]): Pin[] {
  const ordered: Pin[] = [];
  for (const { offset, ms } of pins) {
    const before = ordered.at(-1) ?? { offset: 0, ms: 0 };
    ordered.push({ offset: Math.max(before.offset, offset), ms: Math.max(before.ms, ms) });
  }
  return ordered;
}

/** On the line from the pin at `index` to the one after it. */
export function timeAt(pins: readonly Pin[], index: number, offset: number): number {
  const from = pins[index] ?? { offset: 0, ms: 0 };
  const to = pins[index + 1] ?? from;
  if (to.offset <= from.offset) return to.ms;
  const share = Math.min(1, Math.max(0, (offset - from.offset) / (to.offset - from.offset)));
  return from.ms + share * (to.ms - from.ms);
}
