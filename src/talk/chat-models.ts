// Tells chat models from others by their names, since the lists of chat servers do not say it, and knows how
// to switch the thinking of a model off.
import type { Fields } from '../config/fields.js';

export const MOST_NAME = 200; // characters

/** A name that can be shown and sent: no control characters, which could write over a terminal. */
export function isModelName(name: unknown): name is string {
  return typeof name === 'string' && name.trim() === name && /^[^\p{C}\p{Zl}\p{Zp}]+$/u.test(name)
    ? name.length <= MOST_NAME
    : false;
}

/** Parts of the names of models for embeddings, ranking, sound, pictures and moderation. */
const OTHER_PARTS = [
  'embed',
  'rerank',
  'minilm',
  'whisper',
  'transcri',
  'moderation',
  'realtime',
  'dall-e',
  'stable-diffusion',
  'colbert',
  'paraphrase',
];

/** Whole words between `/`, `:`, `-`, `_` and `.`. */
const OTHER_WORDS = [
  'asr',
  'audio',
  'babbage',
  'bge',
  'clip',
  'davinci',
  'e5',
  'flux',
  'gte',
  'image',
  'kokoro',
  'moonshine',
  'parakeet',
  'sora',
  'tts',
];

export function canChat(name: string): boolean {
  const lower = name.toLowerCase();
  const words = lower.split(/[/:\-_.\s]+/);
  return (
    !OTHER_PARTS.some((part) => lower.includes(part)) && !OTHER_WORDS.some((word) => words.includes(word))
  );
}

const EFFORT: Fields = { reasoning_effort: 'none' };
const LEAST_EFFORT: Fields = { reasoning_effort: 'minimal' };
const TEMPLATE: Fields = { chat_template_kwargs: { enable_thinking: false } };

/**
 * Fields of a request that may switch thinking off, the most likely ones first. A server that knows none of
 * them ignores them or answers 400.
 */
export function thinkingOff(program: string): readonly Fields[] {
  if (program === 'Ollama' || program === 'LM Studio') return [EFFORT];
  if (program === 'api.openai.com') return [EFFORT, LEAST_EFFORT];
  return program.includes('llama.cpp') || program.includes('vLLM') ? [TEMPLATE] : [TEMPLATE, EFFORT];
}

/**
 * The model that a person means: its whole name, or the name without the tag that Ollama adds. Undefined if
 * none is meant.
 */
export function modelMeant(asked: string, models: readonly string[]): string | undefined {
  const wanted = asked.toLowerCase();
  return (
    models.find((name) => name.toLowerCase() === wanted) ??
    models.find((name) => name.toLowerCase() === `${wanted}:latest`)
  );
}
