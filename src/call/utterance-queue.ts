// Queues the utterances of one call and speaks them one after another. It interrupts them, holds them, and
// moves them with the call to another port.
import { TRACK_ENDED } from '../encoding/marks.js';
import type { WordTime } from '../engines/engine.js';
import type { InterruptibleTrack } from '../hearing/barge-in.js';
import { asParleyError, guarded, isAborted, type ParleyError } from '../errors.js';
import type { Continuity } from '../speaking/continuity.js';
import type { FrameCache } from '../speaking/frame-cache.js';
import { callPace } from '../speaking/pace.js';
import { type SpeechPipelineOptions, SpeechPipeline } from '../speaking/speech-pipeline.js';
import type { Time } from '../time.js';
import { type CallEncoders, CallRoute, CallTrack, type MediaPort } from './call-route.js';
import type { PlayoutStats } from '../media/media-addon.js';
import type { RemoteReception } from '../media/quality.js';
import { ErrorCorrection, FIRST_LOSS_PERCENT } from './error-correction.js';
import { LinkControl, type LinkShare } from './link-control.js';
import type { CallEvent } from './call-events.js';
import { type Interruptible, Utterance, type UtteranceEnd } from './utterance.js';

export interface Interruption {
  /** The text that was sent of all interrupted utterances. */
  readonly text: string;
  readonly utterances: readonly { utterance: number; text: string; sentMs: number }[];
}

interface UtteranceQueueParts {
  /** Name under which the call shares engines fairly with other clients. */
  readonly client: string;
  readonly encoders: CallEncoders;
  /** Cache of spoken sentences; absent if none are kept. */
  readonly frames?: FrameCache | undefined;
  /** If absent, each sentence is synthesised on its own. */
  readonly continuity?: Continuity | undefined;
  readonly time: Time;
  readonly onEnd: (end: UtteranceEnd['end']) => void;
  /** Called when an utterance was queued or has ended. */
  readonly onChange: () => void;
  /** Told when the packet loss to expect, or the share of the link that the voice may take, has changed. */
  readonly journal: { expectsLoss(percent: number): void; sharesLink(share: LinkShare): void };
}

const REPORTS_EVERY_MS = 1000; // less than the interval of reports: an old one is soon noticed

export interface QueuedOptions extends SpeechPipelineOptions {
  /** `none`, if absent. */
  readonly interruptible?: Interruptible | undefined;
}

interface Queued {
  readonly utterance: Utterance;
  readonly track: CallTrack;
}

export class UtteranceQueue {
  readonly #parts: UtteranceQueueParts;
  readonly #route: CallRoute;
  /** Utterances that have not ended, oldest first. */
  readonly #queued = new Map<number, Queued>();
  /** Stops while the call is held. */
  readonly #textTime: PausableTime;
  #correction = new ErrorCorrection();
  #link = new LinkControl();
  #share: LinkShare = this.#link.share;
  #expectedLossPercent = 0;
  /** The present speech began before the far end's first report. */
  #isUnreported = false;
  #cancelReports: (() => void) | undefined;
  #count = 0;
  #held = false;
  #turn: Promise<void> = Promise.resolve();

  constructor(port: MediaPort, parts: UtteranceQueueParts) {
    this.#parts = parts;
    this.#textTime = new PausableTime(parts.time);
    this.#route = new CallRoute(port, parts.encoders);
    this.#route.onPadded = (track, through, frames, padMs) =>
      this.#queued.get(track)?.track.padded(through, frames, padMs);
    this.#listen(port);
  }

  get port(): MediaPort {
    return this.#route.port;
  }

  /** The figures of the present port, with counts of the whole call. */
  stats(): PlayoutStats {
    return this.#route.stats();
  }

  /** Time for the limits on a producer of text: it stops while the call is held. */
  get textTime(): Time {
    return this.#textTime;
  }

  /** The voice takes fewer bits than usual, because the link has no room for them. */
  get isLinkThin(): boolean {
    return this.#share.bitsPerSecond < Infinity;
  }

  /** Number of utterances that have not ended. */
  get size(): number {
    return this.#queued.size;
  }

  /** Times of the words of a sentence that is being heard, from its first packet; empty if not known. */
  wordTimes(utterance: number, sentence: number): readonly WordTime[] {
    return this.#queued.get(utterance)?.utterance.wordTimes(sentence) ?? [];
  }

  /** Resolves when no utterance pushes any more. */
  get pushed(): Promise<void> {
    return this.#turn;
  }

  /** Makes an utterance behind the queued ones; the caller then passes it to `start`. */
  make(
    receivedAtMs: number,
    { interruptible = 'none', ...options }: QueuedOptions,
    emit: (event: CallEvent, failure?: ParleyError) => void,
  ): Utterance {
    const number = ++this.#count;
    const { client, frames, continuity, time, onEnd, onChange } = this.#parts;
    const track = new CallTrack(number, this.#route, frames);
    const ahead = () => [...this.#queued.keys()].indexOf(number);
    const playout = { stats: () => this.port.playout.stats() };
    const pace = callPace(client, time, playout, ahead);
    const pipeline = new SpeechPipeline(track, pace, { ...options, continuity }, track.frames);
    const utterance = new Utterance(number, { pipeline, sound: track, receivedAtMs, interruptible, emit });
    this.#queued.set(number, { utterance, track });
    void utterance.ended.then(({ end }) => {
      this.#queued.delete(number);
      if (this.#queued.size === 0) this.#stopReading();
      onEnd(end);
      onChange();
    });
    onChange();
    if (this.#cancelReports === undefined) this.#readReports(true);
    return utterance;
  }

  /** Reads the far end's reports once a second while something is spoken in Opus. */
  #readReports(isFirst = false): void {
    this.#cancelReports = undefined;
    const { port } = this.#route;
    if (port.encoding === undefined) return;
    const { time, journal } = this.#parts;
    const remote = port.remote?.();
    if (isFirst) this.#link.begin(time.now());
    const share = this.#link.update(remote, time.now());
    if (share !== this.#share) {
      this.#shareLink(share);
      port.packetMs?.(share.packetMs);
    }
    const percent = this.#lossToExpect(port, remote, isFirst);
    if (percent !== this.#expectedLossPercent) journal.expectsLoss(percent);
    this.#expectedLossPercent = percent;
    this.#route.adapt(percent, share.bitsPerSecond);
    this.#cancelReports = time.after(REPORTS_EVERY_MS, () => this.#readReports());
  }

  #shareLink(share: LinkShare): void {
    this.#share = share;
    this.#parts.journal.sharesLink(share);
  }

  /**
   * Before the first report the network is not known, and its first losses would be heard. RED costs bits, so
   * it waits for the report, and error correction takes its place until then, and on a thin link. It ends
   * with what is being spoken: a change within a sentence would keep it out of the cache.
   */
  #lossToExpect(port: MediaPort, remote: RemoteReception | undefined, isFirst: boolean): number {
    if (port.encoding?.inBandFec !== true) return 0;
    const percent = this.#correction.update(remote, this.#parts.time.now());
    if (remote === undefined) {
      this.#isUnreported = port.remote !== undefined;
      return this.#isUnreported ? FIRST_LOSS_PERCENT : 0;
    }
    if (isFirst) this.#isUnreported = false;
    const repeats = port.repeatsFrames === true && this.#share.bitsPerSecond === Infinity;
    return Math.max(repeats ? 0 : percent, this.#isUnreported ? FIRST_LOSS_PERCENT : 0);
  }

  #stopReading(): void {
    this.#cancelReports?.();
    this.#cancelReports = undefined;
  }

  start(utterance: Utterance, pieces: Parameters<Utterance['start']>[0]): void {
    utterance.start(pieces, this.#turn);
    this.#turn = utterance.pushed;
  }

  /** Resolves when each utterance that is queued now was sent or ended otherwise. */
  async spoken(): Promise<void> {
    await Promise.all([...this.#queued.values()].map(({ utterance }) => utterance.ended));
  }

  /**
   * The queued utterances that the caller's speech may interrupt. An interruption drops all of them, so there
   * is none while one of them may not be interrupted by speech.
   */
  get interruptible(): readonly InterruptibleTrack[] {
    const tracks = this.#unended.map(({ number, interruptible }) => ({ track: number, by: interruptible }));
    const isSpeech = (one: (typeof tracks)[number]): one is InterruptibleTrack =>
      one.by === 'speech' || one.by === 'any';
    return tracks.every(isSpeech) ? tracks : [];
  }

  /** True if something is queued and a key of the caller may interrupt all of it. */
  get isInterruptedByKeys(): boolean {
    const unended = this.#unended;
    return (
      unended.length > 0 && unended.every(({ interruptible }) => ['dtmf', 'any'].includes(interruptible))
    );
  }

  /** Utterances that have just ended are in the queue until the microtasks run. */
  get #unended(): readonly Utterance[] {
    const queued = [...this.#queued.values()].map(({ utterance }) => utterance);
    return queued.filter(({ state }) => state === 'waiting' || state === 'speaking');
  }

  /** The voice of this utterance has faded out and stands still. */
  faded(track: number): void {
    this.#queued.get(track)?.utterance.reportPause('utterance.paused');
  }

  /** The voice goes on from the beginning of the word in which it faded out. */
  resumeFaded(track: number): void {
    const queued = this.#queued.get(track);
    this.port.playout.resumeFade(track, queued?.utterance.unfinishedFrames ?? 0);
    queued?.utterance.reportPause('utterance.resumed');
  }

  /** Milliseconds of sent sound that the far end has not heard yet: half a round trip, and its buffer. */
  get #unheardMs(): number {
    const remote = this.port.remote?.();
    if (remote === undefined) return 0;
    return (remote.rttMs ?? 0) / 2 + this.port.frameMs + 2 * remote.jitterMs;
  }

  /** Drops everything, within one frame. */
  interrupt(): Interruption {
    const cleared = this.#route.clear();
    const unheardMs = this.#unheardMs;
    const utterances: { utterance: number; text: string; sentMs: number }[] = [];
    for (const { utterance, track } of this.#queued.values()) {
      const count = cleared.tracks.find((candidate) => candidate.track === utterance.number);
      // It reached its end before the clear, and the mark that reports this is on its way.
      if (count === undefined && track.isEnding) continue;
      const sentMs = track.sentBy(count);
      utterances.push({
        utterance: utterance.number,
        text: utterance.interrupted(sentMs, unheardMs),
        sentMs,
      });
    }
    const text = utterances
      .map((item) => item.text)
      .filter((item) => item !== '')
      .join(' ');
    return { text, utterances };
  }

  get isHeld(): boolean {
    return this.#held;
  }

  /** Pauses or resumes. Queued sound stays, and timers of texts stop meanwhile. False if nothing changed. */
  hold(held: boolean): boolean {
    const isChanged = this.#held !== held;
    this.#held = held;
    for (const part of [this.#textTime, this.port.playout]) {
      if (held) part.pause();
      else part.resume();
    }
    return isChanged;
  }

  /** Goes on through another port, within one frame of the place where it stops. */
  moveTo(port: MediaPort): void {
    this.#listen(port);
    if (this.#held) port.playout.pause();
    // Another path, with losses and room of its own.
    [this.#correction, this.#link] = [new ErrorCorrection(), new LinkControl()];
    if (this.#link.share !== this.#share) this.#shareLink(this.#link.share);
    this.#route.adapt(this.#expectedLossPercent, this.#share.bitsPerSecond);
    const moved = this.#route.moveTo(port);
    for (const { utterance, track } of this.#queued.values()) {
      track.moved(moved);
      utterance.moved();
    }
    const before = [...this.#queued.values()];
    moved.handedOver.catch((error: unknown) =>
      this.#handoverLost(before, asParleyError(error, 'ENCODER_FAILED')),
    );
  }

  /** Ends the utterances that are left: they reached their end, but no mark will report it any more. */
  endAll(): void {
    for (const { utterance } of this.#queued.values()) {
      utterance.markReached(TRACK_ENDED, this.#parts.time.now());
    }
  }

  #listen({ playout }: MediaPort): void {
    playout.onMark = (track, mark, sentAtMs) => {
      const utterance = this.#queued.get(track)?.utterance;
      const reached = () => utterance?.markReached(mark, sentAtMs);
      guarded({ work: 'utterance' }, reached, (error) => utterance?.lost(error))();
    };
  }

  #handoverLost(queued: readonly Queued[], error: ParleyError): void {
    if (isAborted(error)) return; // an interruption ended the utterances
    for (const { utterance } of queued) utterance.lost(error);
  }
}

interface Timer {
  readonly action: () => void;
  leftMs: number;
  sinceMs: number;
  cancel: (() => void) | undefined;
}

/** Time whose timers stop while it is paused. */
class PausableTime implements Time {
  readonly #time: Time;
  readonly #timers = new Set<Timer>();
  #paused = false;

  constructor(time: Time) {
    this.#time = time;
  }

  now(): number {
    return this.#time.now();
  }

  after(ms: number, action: () => void): () => void {
    const timer: Timer = { action, leftMs: ms, sinceMs: this.now(), cancel: undefined };
    this.#timers.add(timer);
    if (!this.#paused) this.#run(timer);
    return () => {
      this.#timers.delete(timer);
      timer.cancel?.();
    };
  }

  /** Idempotent, as `resume` is. */
  pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    for (const timer of this.#timers) {
      timer.cancel?.();
      timer.cancel = undefined;
      timer.leftMs -= this.now() - timer.sinceMs;
    }
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    for (const timer of this.#timers) this.#run(timer);
  }

  #run(timer: Timer): void {
    timer.sinceMs = this.now();
    timer.cancel = this.#time.after(Math.max(0, timer.leftMs), () => {
      this.#timers.delete(timer);
      timer.action();
    });
  }
}
