// What captures want of a call's media: copies of its packets while they are
// wished for, and how it was in the end.
import type { Place } from '../transport/flow.js';
import type { MediaReport } from './media-report.js';

export interface MediaCopy {
  readonly from: Place;
  readonly to: Place;
  /** On the media plane's clock. */
  readonly atMs: number;
  readonly packet: Uint8Array;
}

export interface MediaSource {
  /** Copies from now on, or no longer. */
  tap(on: boolean): void;
  /** Those since the last time, and how many were never made because nobody took those before in time. */
  takeCopies(): { readonly copies: readonly MediaCopy[]; readonly missed: number };
}

export interface MediaQuality {
  readonly local: Place;
  readonly remote: Place;
  readonly report: MediaReport;
}

export interface CapturedMedia extends MediaSource {
  /** Called once, when the last packet has left and nothing is forgotten yet. */
  onClosing: (() => void) | undefined;
  /** Undefined if no media was agreed on. */
  readonly quality: MediaQuality | undefined;
}
