// What the marks in a playout mean, as one number of 32 bits each.
//
//   0x0iiiiiii  segment i started     written right after its first frame, so that
//                                     it is reached when that frame has left
//   0x4iiiiiii  segment i ended       after its last frame
//   0xffffffff  the track ended       nothing of it follows
//
// A mark is reached when everything before it in the queue was sent.

export type MarkMeaning =
  | { readonly kind: 'segment-started'; readonly index: number }
  | { readonly kind: 'segment-ended'; readonly index: number }
  | { readonly kind: 'track-ended'; readonly index: -1 };

const ENDED_BIT = 0x4000_0000;
const MAX_INDEX = ENDED_BIT - 1;

export const TRACK_ENDED = 0xffff_ffff;

export function segmentStarted(index: number): number {
  return checked(index);
}

export function segmentEnded(index: number): number {
  return checked(index) + ENDED_BIT;
}

export function decodeMark(mark: number): MarkMeaning {
  if (mark === TRACK_ENDED) return { kind: 'track-ended', index: -1 };
  if (mark >= ENDED_BIT) return { kind: 'segment-ended', index: mark - ENDED_BIT };
  return { kind: 'segment-started', index: mark };
}

function checked(index: number): number {
  if (!Number.isInteger(index) || index < 0 || index > MAX_INDEX) {
    throw new RangeError(`the index of a segment must be a whole number from 0 to ${MAX_INDEX}`);
  }
  return index;
}
