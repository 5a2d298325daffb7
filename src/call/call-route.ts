// Routes the sound of a call into the playout of its present port. CallRoute opens encoder sessions and hands
// queued sound over when the call moves to another port; CallTrack counts the sound of one utterance across
// those ports.
//
//   old playout ──take──▶ handover ──▶ new playout      at most one session pushes; a new one
//                 session ─┘                            waits until everything is handed over
//
//   port 1  ────────▶ earlier ms │ port 2  ────────▶ frames sent × frame length
import type { TrimOptions } from '../audio/trimmer.js';
import { type Codec, OPUS } from '../codecs/codec.js';
import type { OpusSettings } from '../codecs/opus.js';
import { type OpusLimits, withinLimits } from '../codecs/opus-format.js';
import { FIRST_LOSS_PERCENT } from './error-correction.js';
import type { EncoderSession, Handover } from '../encoding/encoder-session.js';
import type { EncoderOptions, EncoderPool } from '../encoding/encoder-pool.js';
import { TRACK_ENDED } from '../encoding/marks.js';
import type { PayloadForm } from '../encoding/encoder-messages.js';
import type { ParleyError } from '../errors.js';
import type { Cleared, ClearedTrack, PlayoutStats } from '../media/media-addon.js';
import type { MediaSocket } from '../media/media-socket.js';
import { NOTHING_TAKEN, type Playout } from '../media/playout.js';
import type { RemoteReception } from '../media/quality.js';
import type { FrameCache, KeptSentence, CodecFrameCache, SentenceSettings } from '../speaking/frame-cache.js';
import type { FoundSentence, SentenceFrames } from '../speaking/speech-pipeline.js';
import { type SpokenSegment, spokenText, unfinishedWordFrame } from '../speaking/spoken-text.js';

/** One call's way onto the wire. The room that made it gives it to the call, and the call closes it. */
export interface MediaPort {
  readonly codec: Codec;
  readonly frameMs: number;
  readonly playout: Playout;
  /** True if the far end only sends: speech is refused. */
  readonly isUnheard?: boolean;
  /** Why the far end cannot hear other calls, as the rest of a sentence; absent: it can. */
  readonly joinRefusal?: string | undefined;
  /** Receives the far end's sound; absent if the far end sends none. */
  readonly socket?: MediaSocket;
  /** Path of the packets, in words for the log: `udp`, `tcp`, `none`. */
  readonly path: string;
  /** Limits of the far end for Opus; absent: none. They may change while the port stands. */
  readonly encoding?: OpusLimits | undefined;
  /** Our sound as the far end reports it; undefined until its first report. */
  remote?(): RemoteReception | undefined;
  /**
   * RED is negotiated, which repairs losses where the link has room: error correction of Opus is for the
   * other times.
   */
  readonly repeatsFrames?: boolean;
  /**
   * Joins frames in packets of at most so many milliseconds, as far as the far end takes them. Longer packets
   * than one frame mean that the link is thin: nothing is repeated. Absent: packets stay as they are.
   */
  packetMs?(ms: number): void;
  close(): Promise<void>;
}

/** The payloads that a session makes. */
type Form = Pick<MediaPort, 'codec' | 'frameMs'>;

/** Encodes the sessions of calls, and hands queued sound over from playout to playout. */
export type CallEncoders = Pick<EncoderPool, 'open' | 'handOver' | 'settings' | 'complexity'>;

/** The state of the tracks at a move. */
interface Moved extends Cleared {
  readonly from: MediaPort;
  /** Resolves when the new playout has everything that the old one had queued; rejects if that is lost. */
  readonly handedOver: Promise<void>;
}

/** Figures that count from the beginning of a call. */
const COUNTS = [
  'packets',
  'octets',
  'silencePackets',
  'underruns',
  'lateTicks',
  'skippedTicks',
  'sendErrors',
  'carried',
] as const satisfies readonly (keyof PlayoutStats)[];

export class CallRoute {
  /**
   * Called when a handover added silence to a track in the playout of `port`, after `frames` frames. The
   * track's session does not count that silence.
   */
  onPadded: ((track: number, port: MediaPort, frames: number, padMs: number) => void) | undefined;
  readonly #encoders: CallEncoders;
  #port: MediaPort;
  /** The session that began last. Only this one may push. */
  #session: EncoderSession | undefined;
  /** Its payloads go into the playout as they are. */
  #isDirect = false;
  #expectedLossPercent = 0;
  #mostBitsPerSecond = Infinity;
  /** Counts of earlier ports that the present one does not contain. */
  readonly #earlier = new Map<(typeof COUNTS)[number], number>();
  /** Handovers in progress, oldest first. */
  readonly #handovers = new Set<Handover>();

  constructor(port: MediaPort, encoders: CallEncoders) {
    this.#port = port;
    this.#encoders = encoders;
  }

  get port(): MediaPort {
    return this.#port;
  }

  /** The figures of the present port, with counts of the whole call. */
  stats(): PlayoutStats {
    const stats = this.#port.playout.stats();
    const counts = COUNTS.map((name) => [name, stats[name] + (this.#earlier.get(name) ?? 0)]);
    return { ...stats, ...Object.fromEntries(counts) };
  }

  /** Opus settings that the present port asks for, with the configured complexity. */
  get opus(): OpusSettings {
    const { opus } = this.#encoders.settings;
    const limits = this.#port.encoding;
    if (limits === undefined || this.#mostBitsPerSecond === Infinity)
      return withinLimits(opus, limits, this.#expectedLossPercent);
    const maxBitsPerSecond = Math.min(limits.maxBitsPerSecond ?? Infinity, this.#mostBitsPerSecond);
    return withinLimits(opus, { ...limits, maxBitsPerSecond }, this.#expectedLossPercent);
  }

  /** Settings for a link that is wide and loses nothing. */
  get usualOpus(): OpusSettings {
    return withinLimits(this.#encoders.settings.opus, this.#port.encoding);
  }

  /** Complexity of an encoder that would begin now. */
  get complexity(): number {
    return this.#encoders.complexity;
  }

  /**
   * States the packet loss to expect in percent, where 0 ends error correction, and the bit rate that the
   * link has room for. They apply from the next frame that is encoded. A session whose payloads are
   * transcoded keeps its settings.
   */
  adapt(lossPercent: number, mostBitsPerSecond: number): void {
    if (lossPercent === this.#expectedLossPercent && mostBitsPerSecond === this.#mostBitsPerSecond) return;
    this.#expectedLossPercent = lossPercent;
    this.#mostBitsPerSecond = mostBitsPerSecond;
    const { inBandFec, expectedLossPercent, bitsPerSecond } = this.opus;
    const session = this.#isDirect ? this.#session : undefined;
    if (session === undefined) return;
    const { opus } = session;
    if (opus.expectedLossPercent === expectedLossPercent && opus.bitsPerSecond === bitsPerSecond) return;
    session.correct({ inBandFec, expectedLossPercent, bitsPerSecond });
  }

  /**
   * Waits for the handovers: a session may begin once everything that was spoken before it is in the playout.
   */
  ready(): Promise<unknown> | undefined {
    if (this.#handovers.size === 0) return undefined;
    return Promise.allSettled([...this.#handovers].map(({ done }) => done));
  }

  /**
   * Opens the session of a track. If its form differs from that of the port, its payloads are transcoded on
   * their way.
   */
  open(track: number, form: Form, trim?: TrimOptions): EncoderSession {
    const { handle: playout, generation } = this.#port.playout;
    const sink = { kind: 'playout', ...formOf(form), playout, generation, track, movable: true } as const;
    this.#isDirect = isSame(form, this.#port);
    const session = this.#encoders.open(sink, { trim, opus: this.#isDirect ? this.#forced() : {} });
    this.#session = session;
    if (!this.#isDirect) this.#handOver(form, NOTHING_TAKEN, [session]);
    return session;
  }

  /** Queues the end of a track whose session cannot; false if the playout does not take it. */
  queueEnd(track: number, mark: number): boolean {
    const { playout } = this.#port;
    return this.#handovers.size === 0 && playout.mark(playout.generation, track, mark, true) === 1;
  }

  /** Goes on through another port from the place where the present one stops. */
  moveTo(port: MediaPort): Moved {
    const from = this.#port;
    const { entries, ...cleared } = from.playout.take();
    this.#addCounts(from.playout.stats(), port.playout.stats());
    this.#port = port;
    this.#isDirect = false;
    const after = [
      ...(this.#session === undefined ? [] : [this.#session]),
      ...[...this.#handovers].toReversed(),
    ];
    try {
      const { done } = this.#handOver(from, entries, after);
      return { ...cleared, from, handedOver: done };
    } catch (error) {
      return { ...cleared, from, handedOver: Promise.reject(error as ParleyError) };
    }
  }

  /** A port that continues the RTP stream of the one before contains some of its counts. */
  #addCounts(before: PlayoutStats, present: PlayoutStats): void {
    for (const name of COUNTS) {
      const missing = Math.max(0, before[name] - present[name]);
      this.#earlier.set(name, (this.#earlier.get(name) ?? 0) + missing);
    }
  }

  /** Drops all queued sound, in the playout and in handovers. */
  clear(): Cleared {
    for (const handover of this.#handovers) handover.abort();
    return this.#port.playout.clear();
  }

  /** The worker decides about the complexity. */
  #forced(): Partial<OpusSettings> {
    const { complexity: _complexity, ...opus } = this.opus;
    return opus;
  }

  #handOver(from: Form, entries: Uint8Array, after: readonly { readonly number: number }[]): Handover {
    const port = this.#port;
    const { handle: playout, generation } = port.playout;
    const to = { ...formOf(port), playout, generation };
    const handover = this.#encoders.handOver({ from: formOf(from), to, entries }, after, this.#forced());
    handover.onPadded = (track, frames, padMs) => this.onPadded?.(track, port, frames, padMs);
    this.#handovers.add(handover);
    const remove = () => void this.#handovers.delete(handover);
    handover.done.then(remove, () => {
      remove();
      // The others push into it or wait behind it, so they cannot end either.
      for (const other of this.#handovers) other.abort();
    });
    return handover;
  }
}

function formOf({ codec, frameMs }: Form): PayloadForm {
  return { codec: codec.name, frameMs };
}

function isSame(a: Form, b: Form): boolean {
  return a.codec.name === b.codec.name && a.frameMs === b.frameMs;
}

/** The cached frames of a sentence. */
interface Place {
  readonly frames: CodecFrameCache;
  readonly reencode: boolean;
}

/** Silence that a handover added. */
interface Pad {
  readonly atMs: number;
  readonly ms: number;
}

/**
 * The sound of one utterance. A session keeps the form that it began with. Until it begins, or takes a
 * sentence from the cache, a move gives it the form of the new port.
 */
export class CallTrack implements SentenceFrames {
  readonly number: number;
  readonly #route: CallRoute;
  readonly #cache: FrameCache | undefined;
  #form: Form;
  #session: EncoderSession | undefined;
  /** The session began, or took a sentence in this form from the cache. */
  #fixed = false;
  /** Sound sent through earlier ports. */
  #earlierMs = 0;
  /** The end was sent before the call moved; its mark is not reported yet. */
  #ended = false;
  /** Milliseconds of the track at which the sound in each port began. */
  readonly #began = new Map<MediaPort, number>();
  readonly #pads: Pad[] = [];

  constructor(number: number, route: CallRoute, cache: FrameCache | undefined) {
    this.number = number;
    this.#route = route;
    this.#cache = cache;
    this.#form = route.port;
  }

  /** Its view of the sentence cache; undefined if no sentences are kept. */
  get frames(): SentenceFrames | undefined {
    return this.#cache?.enabled === true ? this : undefined;
  }

  has(sentence: SentenceSettings): boolean {
    return this.#place(sentence) !== undefined;
  }

  find(sentence: SentenceSettings): FoundSentence | undefined {
    const place = this.#place(sentence);
    const frames = place?.frames ?? this.#framesWith(this.#opus);
    const kept = frames?.find(frames.keyOf(sentence));
    if (kept === undefined) return undefined;
    this.#fixed = true;
    return { kept, reencode: place?.reencode === true };
  }

  keeper(sentence: SentenceSettings): (kept: KeptSentence) => void {
    const frames = this.#framesWith(this.#opus);
    const key = frames?.keyOf(sentence);
    return (kept) => {
      if (key !== undefined) frames?.keep(key, kept);
    };
  }

  /**
   * The settings of its payloads. Before the session begins, they are those of a session that would begin
   * now. A session whose payloads are transcoded has the server's.
   */
  get #opus(): OpusSettings {
    if (this.#session !== undefined) return this.#session.opus;
    return { ...this.#route.opus, complexity: this.#route.complexity };
  }

  /**
   * Finds the place that keeps the sentence. Payloads of the configured complexity come first. Payloads
   * without error correction, or of the usual bit rate, are encoded again for a session that has other
   * settings.
   */
  #place(sentence: SentenceSettings): Place | undefined {
    const opus = this.#opus;
    const { complexity } = this.#route.opus;
    const { inBandFec, expectedLossPercent } = this.#cache?.opus ?? opus;
    const bitsPerSecond = Math.max(opus.bitsPerSecond, this.#route.usualOpus.bitsPerSecond);
    const differs = opus.expectedLossPercent !== expectedLossPercent || opus.bitsPerSecond !== bitsPerSecond;
    for (const reencode of differs ? [false, true] : [false]) {
      const corrected = reencode ? { ...opus, inBandFec, expectedLossPercent, bitsPerSecond } : opus;
      for (const settings of [{ ...corrected, complexity }, corrected]) {
        const frames = this.#framesWith(settings);
        if (frames?.has(frames.keyOf(sentence)) === true) return { frames, reencode };
      }
    }
    return this.#placeOfFirst(sentence, opus, complexity);
  }

  /**
   * Payloads with the error correction of the time before a first report serve a session without it. They are
   * encoded again for a session that expects another loss, or has fewer bits.
   */
  #placeOfFirst(sentence: SentenceSettings, opus: OpusSettings, complexity: number): Place | undefined {
    if (this.#route.port.encoding?.inBandFec !== true) return undefined;
    const bitsPerSecond = Math.max(opus.bitsPerSecond, this.#route.usualOpus.bitsPerSecond);
    const reencode = opus.expectedLossPercent > 0 || opus.bitsPerSecond !== bitsPerSecond;
    const first = { ...opus, bitsPerSecond, inBandFec: true, expectedLossPercent: FIRST_LOSS_PERCENT };
    for (const settings of [{ ...first, complexity }, first]) {
      const frames = this.#framesWith(settings);
      if (frames?.has(frames.keyOf(sentence)) === true) return { frames, reencode };
    }
    return undefined;
  }

  #framesWith(opus: OpusSettings): CodecFrameCache | undefined {
    const { codec, frameMs } = this.#form;
    return this.#cache?.of(codec, frameMs, codec === OPUS ? opus : undefined);
  }

  /** Implements EncoderOpener: the session pushes into the call's present playout. */
  open({ trim }: EncoderOptions): EncoderSession {
    this.#fixed = true;
    this.#session = this.#route.open(this.number, this.#form, trim);
    return this.#session;
  }

  ready(): Promise<unknown> | undefined {
    return this.#route.ready();
  }

  queueEnd(): boolean {
    return this.#route.queueEnd(this.number, TRACK_ENDED);
  }

  /** Milliseconds of its sound that were sent. */
  get sentMs(): number {
    const { playout, frameMs } = this.#route.port;
    return this.#earlierMs + playout.sent(this.number) * frameMs;
  }

  /**
   * True for a track that a clear did not list if its last frame was sent and the mark is not reported yet.
   */
  get isEnding(): boolean {
    return this.#ended || this.#route.port.playout.sent(this.number) > 0;
  }

  /** Milliseconds of its sound that were sent before a clear. */
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
  }

  /** A handover added silence to its sound in a port. */
  padded(port: MediaPort, frames: number, padMs: number): void {
    const beganMs = this.#began.get(port) ?? 0;
    this.#pads.push({ atMs: beganMs + frames * port.frameMs, ms: padMs });
  }

  /** The text of the segments that is in the first `sentMs` milliseconds. */
  textSent(segments: readonly SpokenSegment[], sentMs: number): string {
    const { frameMs } = this.#form;
    return spokenText(segments, this.#withoutPads(sentMs) / frameMs, frameMs);
  }

  /** In frames of the present port, which holds no others. */
  unfinishedFrames(segments: readonly SpokenSegment[]): number {
    const { frameMs } = this.#form;
    const { frameMs: portMs } = this.#route.port;
    const sentFrames = Math.round(this.#withoutPads(this.sentMs) / frameMs);
    const backMs = (sentFrames - unfinishedWordFrame(segments, sentFrames, frameMs)) * frameMs;
    return Math.min(Math.ceil(backMs / portMs), this.#route.port.playout.sent(this.number));
  }

  #withoutPads(sentMs: number): number {
    return sentMs - this.#pads.reduce((sum, { atMs, ms }) => (atMs <= sentMs ? sum + ms : sum), 0);
  }
}
