// When each character of a text is heard, from the places of its sentences.
//
// The places pin characters to times: begin and end of a sentence, and the
// beginning of each word where the engine tells it. Between two pins time runs
// evenly over the characters; what stands between two sentences has their pause.
//
//   text    Hello there. How are you?
//   pins    |     |    | |   |   |   |

/** Where a sentence lies in the sound, in milliseconds. */
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
  /** Sentences that do not stand in the text as they are spoken: they share what lies before the next that does. */
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

  /** What is left of the text. */
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
    let index = 0; // of the pin that the character follows
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
 * Where each unit of a sentence stands in the text, and where the sentence ends; undefined where it does not stand
 * there. Sentences have single spaces, a text may have any.
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

/** Neither offsets nor times run backwards, whatever an engine tells of its words. */
function ascending(pins: readonly Pin[]): Pin[] {
  const ordered: Pin[] = [];
  for (const { offset, ms } of pins) {
    const before = ordered.at(-1) ?? { offset: 0, ms: 0 };
    ordered.push({ offset: Math.max(before.offset, offset), ms: Math.max(before.ms, ms) });
  }
  return ordered;
}

/** On the line from the pin at `index` to the one after it. */
function timeAt(pins: readonly Pin[], index: number, offset: number): number {
  const from = pins[index] ?? { offset: 0, ms: 0 };
  const to = pins[index + 1] ?? from;
  if (to.offset <= from.offset) return to.ms;
  const share = Math.min(1, Math.max(0, (offset - from.offset) / (to.offset - from.offset)));
  return from.ms + share * (to.ms - from.ms);
}
