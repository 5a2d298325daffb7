// The texts and sounds of one call, one after another: whose turn it is, what
// was heard of each, and where they go on when the call does.
import type { ParleyError } from '../errors.js';
import { asParleyError, isAborted } from '../errors.js';
import { TRACK_ENDED } from '../encoding/marks.js';
import type { Time } from '../time.js';
import { CallRoute, type CallEncoders } from './call-route.js';
import { CallTrack } from './call-track.js';
import type { Continuity } from '../speaking/continuity.js';
import type { FrameCache } from '../speaking/frame-cache.js';
import type { MediaPort } from './media-port.js';
import { callPace } from '../speaking/pace.js';
import { SpeechLine, type LineManner } from '../speaking/speech-line.js';
import { Utterance, type UtteranceEnd, type UtteranceEvent } from './utterance.js';

export interface Interruption {
  /** What was heard of everything that was interrupted. */
  readonly text: string;
  readonly utterances: readonly { utterance: number; text: string; sentMs: number }[];
}

export interface UtteranceQueueParts {
  /** Of the call: who shares engines fairly with others. */
  readonly client: string;
  readonly encoders: CallEncoders;
  /** Sentences said before; absent where none are kept. */
  readonly frames?: FrameCache;
  /** Each sentence by itself where absent. */
  readonly continuity?: Continuity;
  readonly time: Time;
  readonly onEnd: (end: UtteranceEnd['end']) => void;
}

interface Queued {
  readonly utterance: Utterance;
  readonly track: CallTrack;
}

export class UtteranceQueue {
  readonly #parts: UtteranceQueueParts;
  readonly #route: CallRoute;
  /** Those that have not ended, oldest first. */
  readonly #queued = new Map<number, Queued>();
  #count = 0;
  #held = false;
  #turn: Promise<void> = Promise.resolve();

  constructor(port: MediaPort, parts: UtteranceQueueParts) {
    this.#parts = parts;
    this.#route = new CallRoute(port, parts.encoders);
    this.#route.onPadded = (track, through, frames, padMs) =>
      this.#queued.get(track)?.track.padded(through, frames, padMs);
    this.#listen(port);
  }

  get port(): MediaPort {
    return this.#route.port;
  }

  /** Those that have not ended. */
  get size(): number {
    return this.#queued.size;
  }

  /** The last one pushes no more. */
  get pushed(): Promise<void> {
    return this.#turn;
  }

  /** An utterance behind those already there; whoever asked gives it to `start`. */
  make(receivedAtMs: number, manner: LineManner, emit: (event: UtteranceEvent) => void): Utterance {
    const number = ++this.#count;
    const { client, frames, continuity, time, onEnd } = this.#parts;
    const track = new CallTrack(number, this.#route, frames);
    const ahead = () => [...this.#queued.keys()].indexOf(number);
    const playout = { stats: () => this.port.playout.stats() };
    const pace = callPace(client, time, playout, ahead);
    const line = new SpeechLine(track, pace, { ...manner, continuity }, track.frames);
    const utterance = new Utterance(number, { line, sound: track, receivedAtMs, emit });
    this.#queued.set(number, { utterance, track });
    void utterance.ended.then(({ end }) => {
      this.#queued.delete(number);
      onEnd(end);
    });
    return utterance;
  }

  start(utterance: Utterance, pieces: Parameters<Utterance['start']>[0]): void {
    utterance.start(pieces, this.#turn);
    this.#turn = utterance.pushed;
  }

  /** Resolves when everything given so far has been sent or is over. */
  async spoken(): Promise<void> {
    await Promise.all([...this.#queued.values()].map(({ utterance }) => utterance.ended));
  }

  /** Drops everything, within one frame. */
  interrupt(): Interruption {
    const cleared = this.#route.clear();
    const utterances: { utterance: number; text: string; sentMs: number }[] = [];
    for (const { utterance, track } of this.#queued.values()) {
      const count = cleared.tracks.find((candidate) => candidate.track === utterance.number);
      // It reached its end before the clear: that it was spoken is on its way here.
      if (count === undefined && track.isEnding) continue;
      const sentMs = track.sentBy(count);
      utterances.push({ utterance: utterance.number, text: utterance.interrupted(sentMs), sentMs });
    }
    const text = utterances
      .map((item) => item.text)
      .filter((item) => item !== '')
      .join(' ');
    return { text, utterances };
  }

  /** Stands still, or goes on; what waits stays. */
  hold(held: boolean): void {
    this.#held = held;
    const { playout } = this.port;
    if (held) playout.pause();
    else playout.resume();
  }

  /** Goes on through another port, within one frame of where it stops. */
  moveTo(port: MediaPort): void {
    this.#listen(port);
    if (this.#held) port.playout.pause();
    const moved = this.#route.moveTo(port);
    for (const { utterance, track } of this.#queued.values()) {
      track.moved(moved);
      utterance.moved();
    }
    const before = [...this.#queued.values()];
    moved.carried.catch((error: unknown) => this.#carryLost(before, asParleyError(error, 'ENCODER_FAILED')));
  }

  /** Those that are left had reached their end: they are told so, since no mark will come any more. */
  endAll(): void {
    for (const { utterance } of this.#queued.values()) {
      utterance.markReached(TRACK_ENDED, this.#parts.time.now());
    }
  }

  #listen({ playout }: MediaPort): void {
    playout.onMark = (track, mark, sentAtMs) =>
      this.#queued.get(track)?.utterance.markReached(mark, sentAtMs);
  }

  #carryLost(queued: readonly Queued[], error: ParleyError): void {
    if (isAborted(error)) return; // an interruption told them
    for (const { utterance } of queued) utterance.lost(error);
  }
}
