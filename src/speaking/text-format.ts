// What a text is: words, or SSML that says how they are spoken.
import { looksLikeMarkup } from '../text/markup/read-markup.js';

/** `auto`: SSML where it begins with `<speak`. */
export const TEXT_FORMATS = ['auto', 'text', 'ssml'] as const;
export type TextFormat = (typeof TEXT_FORMATS)[number];

/** Of a text that is there whole; one that comes in tokens is words. */
export function isMarkup(text: string, format: TextFormat = 'auto'): boolean {
  return format === 'ssml' || (format === 'auto' && looksLikeMarkup(text));
}
