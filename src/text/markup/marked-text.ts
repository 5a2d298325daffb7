// Parsed SSML as plain data: pieces of text, each with one set of voice settings, and the pauses and tones
// between them.
import type { Place } from './markup-error.js';
import type { SayAsKind } from './elements.js';
import type { SourceMap } from './source-map.js';

/** Voice and delivery that markup sets for a piece of text (SSML 1.1, section 3.2 "Prosody and Style"). */
export interface MarkedStyle {
  /** BCP 47 tag. */
  readonly language?: string;
  readonly voice?: string;
  /** Times the voice's own pace. */
  readonly rate: number;
  /** Times the voice's own loudness: a factor of samples. */
  readonly gain: number;
}

export const PLAIN_STYLE: MarkedStyle = { rate: 1, gain: 1 };

/** Reading that markup prescribes for a part of a text. It overrides the normaliser. */
export type Reading =
  | { readonly kind: 'say-as'; readonly as: SayAsKind; readonly format: string; readonly detail: string }
  | { readonly kind: 'sub'; readonly words: string };

/** A part of a text that markup has said how to read. */
export interface MarkedPart {
  /** In the piece's text, or the sentence's; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
  readonly reading: Reading;
}

/** Pronunciation or delivery of a part of a text, for engines that can. It changes no word. */
export interface MarkedHint {
  /** In the piece's text, or the sentence's; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
  readonly kind: 'phoneme' | 'emphasis' | 'pitch';
  /** In the words of SSML: the phonemes in IPA, the level of emphasis, or the pitch. */
  readonly value: string;
}

export interface MarkAt {
  readonly name: string;
  /** Offset in the text: what stands before it is heard first. */
  readonly at: number;
}

export interface TextPiece {
  readonly kind: 'text';
  /** Without its markup, with its white space. */
  readonly text: string;
  readonly style: MarkedStyle;
  /** In order, not overlapping. */
  readonly parts: readonly MarkedPart[];
  readonly marks: readonly MarkAt[];
  /** Outer ones end behind those within them. */
  readonly hints: readonly MarkedHint[];
  /** The boundary that the document marks at the start of the piece. */
  readonly begins: 'anywhere' | 'sentence' | 'paragraph';
  /** Maps offsets in the text to offsets in the document. */
  readonly map: SourceMap;
}

/** Silence; adjoining ones add up. 0: there is none between what stands on its two sides. */
interface PausePiece {
  readonly kind: 'pause';
  readonly ms: number;
}

/** A tone in the place of words. */
export interface BleepPiece {
  readonly kind: 'bleep';
  readonly ms: number;
  readonly style: MarkedStyle;
}

export type MarkedPiece = TextPiece | PausePiece | BleepPiece;

/** Markup that the server does not support. The text is spoken without it. */
export interface Unheeded extends Place {
  /** Such as `<emphasis>` or `pitch of <prosody>`. */
  readonly what: string;
}

export interface MarkedText {
  readonly pieces: readonly MarkedPiece[];
  /** Without regard to the abilities of engines. */
  readonly unheeded: readonly Unheeded[];
  /** The hints among `unheeded`, with their kinds. */
  readonly hinted: ReadonlyMap<Unheeded, MarkedHint['kind']>;
}
