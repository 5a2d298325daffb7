// One utterance's sound on its way through a call, whatever ports it goes
// through: the form its line makes it in, and how much of it has left.
//
//   port 1  ────────▶ earlier ms │ port 2  ────────▶ frames sent × frame length
//
// A line keeps the form that it began with. Before that, and while no sentence
// of it was found in the cache, a move gives it that of the new port.
import type { TrimOptions } from '../audio/trimmer.js';
import type { EncoderLine } from '../encoding/encoder-line.js';
import type { ClearedTrack } from '../media/media-addon.js';
import { TRACK_ENDED } from '../encoding/marks.js';
import { isSame, type CallRoute, type Moved } from './call-route.js';
import type { FrameCache, KeptSentence, LineFrames, SentenceManner } from '../speaking/frame-cache.js';
import type { MediaPort } from './media-port.js';
import { spokenText, type SpokenSegment } from '../speaking/spoken-text.js';

interface Pad {
  readonly atMs: number;
  readonly ms: number;
}

export class CallTrack {
  readonly number: number;
  readonly #route: CallRoute;
  readonly #cache: FrameCache | undefined;
  #form: Pick<MediaPort, 'codec' | 'frameMs'>;
  #frames: LineFrames | undefined;
  /** Its line began, or has a sentence in this form. */
  #fixed = false;
  #earlierMs = 0;
  /** Its end had left when the call moved: that it was reached is on its way here. */
  #ended = false;
  /** When the sound in each port began, in milliseconds of the track. */
  readonly #began = new Map<MediaPort, number>();
  readonly #pads: Pad[] = [];

  constructor(number: number, route: CallRoute, cache: FrameCache | undefined) {
    this.number = number;
    this.#route = route;
    this.#cache = cache;
    this.#form = route.port;
    this.#frames = cache?.of(route.port.codec, route.port.frameMs);
  }

  /** Where its sentences are kept; undefined where none are. */
  get frames(): Pick<LineFrames, 'keyOf' | 'has' | 'find' | 'keep'> | undefined {
    return this.#frames === undefined ? undefined : this;
  }

  keyOf(manner: SentenceManner): string {
    return this.#frames?.keyOf(manner) ?? '';
  }

  has(key: string): boolean {
    return this.#frames?.has(key) === true;
  }

  find(key: string): KeptSentence | undefined {
    const kept = this.#frames?.find(key);
    if (kept !== undefined) this.#fixed = true;
    return kept;
  }

  keep(key: string, sentence: KeptSentence): void {
    this.#frames?.keep(key, sentence);
  }

  /** As LineOutlet: the line pushes into the call's playout of the moment. */
  open({ trim }: { readonly trim?: TrimOptions }): EncoderLine {
    this.#fixed = true;
    return this.#route.open(this.number, this.#form, trim);
  }

  ready(): Promise<unknown> | undefined {
    return this.#route.ready();
  }

  queueEnd(): boolean {
    return this.#route.queueEnd(this.number, TRACK_ENDED);
  }

  /** Sound that has left, in milliseconds. */
  get sentMs(): number {
    const { playout, frameMs } = this.#route.port;
    return this.#earlierMs + playout.sent(this.number) * frameMs;
  }

  /** Its last frame left, and that is not told yet. */
  get isEnding(): boolean {
    return this.#ended || this.#route.port.playout.sent(this.number) > 0;
  }

  /** What a clear left of it, in milliseconds. */
  sentBy(cleared: ClearedTrack | undefined): number {
    return this.#earlierMs + (cleared?.sentFrames ?? 0) * this.#route.port.frameMs;
  }

  moved({ from, tracks }: Moved): void {
    const count = tracks.find(({ track }) => track === this.number);
    const sentFrames = count?.sentFrames ?? from.playout.sent(this.number);
    this.#ended ||= count === undefined && sentFrames > 0;
    this.#earlierMs += sentFrames * from.frameMs;
    const { port } = this.#route;
    this.#began.set(port, this.#earlierMs);
    if (this.#fixed || isSame(this.#form, port)) return;
    this.#form = port;
    this.#frames = this.#cache?.of(port.codec, port.frameMs);
  }

  /** The sound in a port has silence that the line knows nothing of. */
  padded(port: MediaPort, frames: number, padMs: number): void {
    const beganMs = this.#began.get(port) ?? 0;
    this.#pads.push({ atMs: beganMs + frames * port.frameMs, ms: padMs });
  }

  /** The text of the segments that was heard in so many milliseconds. */
  heard(segments: readonly SpokenSegment[], sentMs: number): string {
    const { frameMs } = this.#form;
    const padMs = this.#pads.reduce((sum, { atMs, ms }) => (atMs <= sentMs ? sum + ms : sum), 0);
    return spokenText(segments, (sentMs - padMs) / frameMs, frameMs);
  }
}
