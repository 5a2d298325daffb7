// What stands behind a stop mark, and what is made of it.
import type { ShortForms } from './short-forms/short-forms.js';

export interface Following {
  /** White space and opening quotes. */
  readonly opening: string;
  readonly word: string;
  /** Whether all of the word is there. */
  readonly wordEnds: boolean;
  /** What stands after the word. */
  readonly tail: string;
  readonly complete: boolean;
  readonly forms: ShortForms;
  readonly isShort: boolean;
}

export type Judgement = 'end' | 'none' | 'wait';

/** A sentence ends there unless one of these words goes on with it. */
export function unless(continuing: ReadonlySet<string>, { word, wordEnds }: Following): Judgement {
  if (!wordEnds) return 'wait';
  return continuing.has(word.toLowerCase()) ? 'none' : 'end';
}
