// Cleans text for espeak, and converts espeak's word events into word times. espeak counts in code points
// from 1, JavaScript in UTF-16 units from 0. Removed characters are replaced by as many spaces, so that
// positions stay correct.
import type { WordTime } from '../engine.js';

// espeak would obey markup, entities and [[phonemes]], and would read pictures by their names.
const OBEYED = /[<>]|\[\[|\]\]|&(?=#?\w+;)|\p{Extended_Pictographic}|\ufe0f|\p{Cc}/gu;

export function readableText(text: string): string {
  return text.replace(OBEYED, (found) =>
    /[©®™]/.test(found) ? found : ' '.repeat(Array.from(found).length),
  );
}

export interface WordEvent {
  /** Code points, from 1. */
  readonly text_position: number;
  readonly word_length: number;
  /** Milliseconds. */
  readonly audio_position: number;
}

const SILENCE = 104; // amplitude out of 32768: -50 dBFS

/** The words with the end of each: the last sample before the next word that is not silence. */
export function withEnds(words: readonly WordTime[], samples: Int16Array, rate: number): WordTime[] {
  const sampleAt = (ms: number) => Math.min(samples.length, Math.round((ms * rate) / 1000));
  return words.map((word, index) => {
    const start = sampleAt(word.startMs);
    let end = sampleAt(words[index + 1]?.startMs ?? Infinity);
    while (end > start && Math.abs(samples[end - 1] as number) < SILENCE) end--;
    return { ...word, endMs: (end * 1000) / rate };
  });
}

/** Each word once, in order; `events` may name a word several times and step back. */
export function wordTimes(text: string, events: readonly WordEvent[]): WordTime[] {
  const characters = Array.from(text); // code points
  const offsets = [0];
  for (const character of characters) offsets.push((offsets.at(-1) ?? 0) + character.length);
  const words: WordTime[] = [];
  let next = 0; // the first code point not yet covered by a word
  for (const { text_position, word_length, audio_position } of events) {
    const start = text_position - 1;
    const end = Math.min(start + word_length, characters.length);
    const textOffset = offsets[start];
    const word = characters.slice(start, end).join('');
    if (start < next || word.trim() === '' || textOffset === undefined) continue;
    words.push({ word, textOffset, startMs: audio_position });
    next = end;
  }
  return words;
}
