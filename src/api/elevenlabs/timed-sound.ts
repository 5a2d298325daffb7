// Sound with the time of each character, as ElevenLabs' clients read it: one
// JSON object, or one a line while the sound is being made. Neither is held
// back: the object, too, is written while its sound comes.
import { ParleyError } from '../../errors.js';
import { base64, Base64Pieces } from '../openai/base64-pieces.js';
import { CharacterTimeline, type CharacterTimes } from './character-times.js';
import type { SoundOutcome, SoundSource } from '../../speaking/sound.js';

interface Alignments {
  /** Of the text as it was asked for. */
  readonly alignment: object | null;
  /** Of what was spoken of it. */
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

/** What was told of the times of a text, and what is still to be told. */
class TimedText {
  readonly #text: CharacterTimeline;
  /** Sentences told, and where they end. */
  #told = 0;
  #endMs = 0;

  constructor(text: string) {
    this.#text = new CharacterTimeline(text);
  }

  /** What these sentences add. */
  upTo(sentences: SoundOutcome['sentences']): Alignments {
    const { alignment, normalized_alignment } = this.#add(sentences);
    return { alignment: shown(alignment), normalized_alignment: shown(normalized_alignment) };
  }

  /** What these sentences add, and the rest of the text. */
  end(sentences: SoundOutcome['sentences']): Alignments {
    const { alignment, normalized_alignment } = this.#add(sentences);
    return {
      alignment: shown(joined([alignment, this.#text.end()])),
      normalized_alignment: shown(normalized_alignment),
    };
  }

  #add(sentences: SoundOutcome['sentences']) {
    const added = sentences.slice(this.#told);
    const said = added.map((sentence) => ({ ...sentence, ...sentence.spoken }));
    const spoken = said.map(({ text }) => text).join(' ');
    const normalized = new CharacterTimeline(this.#told > 0 ? ` ${spoken}` : spoken, this.#endMs);
    this.#told += added.length;
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
