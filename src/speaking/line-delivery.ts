// How a piece is delivered within its line, which may have a speed of its own.
import { SPEEDS } from '../audio/time-stretch.js';
import type { Delivery } from './line-piece.js';

/** Of a line. */
export interface LineTempo {
  /** Silence before the first sound, in milliseconds. */
  readonly leadMs?: number;
  /** Times the speed of its sentences, of a sink of bytes; it is the sink's to do. */
  readonly speed?: number;
}

/**
 * Milliseconds of silence before a piece, at the speed of the line. What is stated is heard as long as it is stated;
 * the usual pause, absent before the first piece, goes with the speed.
 */
export function pauseBefore(
  delivery: Delivery | undefined,
  { leadMs = 0, speed = 1 }: LineTempo,
  usualMs: number | undefined,
): number {
  const stated = delivery?.pauseBeforeMs;
  if (usualMs === undefined) return leadMs + (stated ?? 0) * speed;
  return stated === undefined ? usualMs : stated * speed;
}

/** How a segment sounds; with the line's own speed it stays within what can be done. */
export function soundingOf(
  { speed, gain }: Delivery = {},
  { speed: own = 1 }: LineTempo,
): { readonly speed?: number; readonly gain?: number } {
  const [least, most] = SPEEDS;
  return {
    ...(speed === undefined ? {} : { speed: Math.min(Math.max(own * speed, least), most) / own }),
    ...(gain === undefined ? {} : { gain }),
  };
}
