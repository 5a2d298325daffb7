// The contract of models that follow the sound of a turn and tell how sure they are that it is over.
//
// A listener gets the sound of one caller's turn from 700 ms before its onset on, speech and pauses without a
// gap. Between turns it is reset.

/** What a model knows of one caller's turn. Its methods are called one after another. */
export interface TurnListener {
  /** 16 kHz mono samples. They are copied. */
  push(sound: Float32Array): void | Promise<void>;
  /**
   * The probability, from 0 to 1, that the turn is over after all sound so far; undefined if the model cannot
   * tell it yet.
   */
  probability(): number | undefined | Promise<number | undefined>;
  /** The turn is over. */
  reset(): void;
}

/** A model whose listeners share its weights. */
export interface TurnModel {
  readonly name: 'turn-1-mini' | 'Smart Turn';
  open(): TurnListener;
  close(): Promise<void>;
}

/** NaN is silence, and what is too loud is clipped: one bad sample must not spoil a turn. */
export function cleaned(sample: number): number {
  return Number.isNaN(sample) ? 0 : Math.max(-1, Math.min(1, sample));
}
