// The queue between a line and the playout that replaced the line's own, in a worker:
//
//   unsent payloads of the old playout ─┐
//   payloads that the line still makes ─┴─▶ Recoder ─▶ outbox ─▶ new playout
//
// The line keeps its codec. This queue transcodes its payloads, after those that the old playout had not sent. Marks
// keep their exact frames. Waiting entries are handed over in slices, so that other lines get their turns. The outbox
// holds the output of at most one payload.
//
// If the playout is replaced again, the output goes into the next queue of this kind.
import type { PayloadQueue } from './payload-queue.js';
import type { TakenEntries, TakenEntry } from '../media/playout.js';
import type { Recoder } from './transcoder.js';

const SLICE_FRAMES = 10; // less than 3 ms of Opus

type Out =
  | { readonly payload: Uint8Array }
  | { readonly mark: number; readonly end: boolean }
  | { readonly rest: true };

type Outgoing = Out & { readonly track: number };

interface HandoverReports {
  /** Everything taken from the old playout is in the new one. */
  handedOver(): void;
  padded(track: number, frames: number, padMs: number): void;
  /** Nothing will be pushed any more. */
  ended(): void;
}

export class HandoverQueue implements PayloadQueue {
  /** Queues of this kind before it and itself. */
  readonly depth: number;
  #target: PayloadQueue;
  readonly #generation: number;
  readonly #entries: TakenEntries;
  readonly #recoder: Recoder;
  readonly #reports: HandoverReports;
  readonly #outbox: Outgoing[] = [];
  readonly #marks: { readonly mark: number; readonly due: number }[] = [];
  readonly #warm: TakenEntry[] = [];
  readonly #framesOf = new Map<number, number>();
  #track: number | undefined;
  /** The end of the line's track is taken and not handed over yet. */
  #ending = false;
  #handedOver = false;
  #scheduled = false;
  /** No line pushes any more. */
  #released = false;
  #over = false;
  readonly #drive = () => this.#work();
  readonly #put = (payload: Uint8Array) => this.#putPayload(payload);

  constructor(
    target: PayloadQueue,
    generation: number,
    entries: TakenEntries,
    recoder: Recoder,
    reports: HandoverReports,
    depth = 1,
  ) {
    this.#target = target;
    this.#generation = generation;
    this.#entries = entries;
    this.#recoder = recoder;
    this.#reports = reports;
    this.depth = depth;
  }

  /** Starts to hand over the waiting entries. */
  start(): void {
    this.#work();
  }

  /** Sends waiting and later output to another queue. */
  redirect(queue: PayloadQueue): void {
    this.#target.forget(this.#drive);
    this.#target = queue;
    this.#schedule();
  }

  /** Call this when no line pushes any more. The queue ends once everything is handed over. */
  released(): void {
    this.#released = true;
    this.#schedule();
  }

  /** Drops the waiting output. Idempotent. */
  stop(): void {
    if (this.#over) return;
    this.#over = true;
    this.#outbox.length = 0;
    this.#target.forget(this.#drive);
    this.#reports.ended();
    if (this.#target instanceof HandoverQueue) this.#target.released();
  }

  push(_generation: number, track: number, payload: Uint8Array): number {
    const answer = this.#ready();
    if (answer !== 1) return answer;
    this.#takePayload(track, payload);
    return this.#handOver();
  }

  mark(_generation: number, track: number, mark: number, endOfTrack: boolean): number {
    const answer = this.#ready();
    if (!endOfTrack) {
      if (answer !== 1) return answer;
      this.#takeMark(track, mark);
      return this.#handOver();
    }
    // The line is over once this is taken: then nothing may be left here.
    if (!this.#ending) {
      if (answer !== 1) return answer;
      this.#ending = true;
      this.#takeEnd(track, mark);
    }
    const handed = this.#drain();
    if (handed === 1) this.#ending = false;
    return handed;
  }

  pauseInput(_generation: number, track: number): number {
    const answer = this.#ready();
    if (answer !== 1) return answer;
    this.#takeRest(track);
    return this.#handOver();
  }

  isEmpty(): boolean {
    return this.#handedOver && this.#outbox.length === 0 && this.#recoder.isEmpty && this.#target.isEmpty();
  }

  onRoom(callback: () => void): void {
    this.#target.onRoom(callback);
  }

  forget(callback: () => void): void {
    this.#target.forget(callback);
  }

  /** Returns 1 if a payload of the line may be taken: the entries of the old playout go first. */
  #ready(): number {
    const answer = this.#slice();
    return answer === 1 && !this.#handedOver ? 0 : answer;
  }

  /** Drains the outbox as there is room. Returns 1 in any case, because the payload is already taken. */
  #handOver(): 1 {
    if (this.#drain() !== 1) this.#await();
    return 1;
  }

  #schedule(): void {
    if (this.#scheduled || this.#over) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#work();
    });
  }

  #work(): void {
    if (this.#over) return;
    const answer = this.#slice();
    if (answer === 1 && !this.#handedOver) return this.#schedule();
    if (answer === 0) return this.#await();
    // If the target is gone, entries of the old playout wait until they are redirected or stopped.
    if (this.#released && this.#handedOver) this.stop();
  }

  #await(): void {
    this.#target.forget(this.#drive);
    this.#target.onRoom(this.#drive);
  }

  /** Hands over some of the taken entries; 1 when the outbox is empty. */
  #slice(): number {
    let answer = this.#drain();
    for (let frames = 0; frames < SLICE_FRAMES && answer === 1; answer = this.#drain()) {
      const entry = this.#entries.next();
      if (entry === undefined) break;
      if (entry.kind === 'frame' || entry.kind === 'sent') frames++;
      this.#takeEntry(entry);
    }
    if (answer === 1 && this.#entries.isEmpty && !this.#handedOver) {
      this.#handedOver = true;
      this.#reports.handedOver();
    }
    return answer;
  }

  #takeEntry(entry: TakenEntry): void {
    const { kind, track, mark, payload } = entry;
    if (kind === 'sent') this.#warm.push(entry);
    else if (kind === 'frame') this.#takePayload(track, payload);
    else if (kind === 'rest') this.#takeRest(track);
    else if (kind === 'track-end') this.#takeEnd(track, mark);
    else this.#takeMark(track, mark);
  }

  #takePayload(track: number, payload: Uint8Array): void {
    this.#turnTo(track);
    this.#recoder.take(payload, this.#put);
    this.#releaseMarks();
  }

  #takeMark(track: number, mark: number): void {
    this.#turnTo(track);
    this.#marks.push({ mark, due: this.#recoder.framesDue });
    this.#releaseMarks();
  }

  #takeRest(track: number): void {
    this.#turnTo(track);
    this.#flush();
    this.#outbox.push({ track, rest: true });
  }

  #takeEnd(track: number, mark: number): void {
    this.#turnTo(track);
    this.#flush();
    this.#outbox.push({ track, mark, end: true });
    this.#recoder.restart();
    this.#warm.length = 0;
    this.#framesOf.delete(track);
    this.#track = undefined;
  }

  /**
   * Begins the payloads of another track. If a part of that track was sent before the move, its last payloads
   * prime the recoder.
   */
  #turnTo(track: number): void {
    if (this.#track === track) return;
    if (this.#track !== undefined) {
      this.#flush();
      this.#recoder.restart();
    }
    this.#track = track;
    const isBegun = this.#warm.at(-1)?.track === track;
    for (const sent of this.#warm.splice(0)) {
      if (isBegun && sent.track === track) this.#recoder.warm(sent.payload);
    }
  }

  #flush(): void {
    const padMs = this.#recoder.flush(this.#put);
    const track = this.#track;
    if (padMs > 0 && track !== undefined) {
      this.#reports.padded(track, this.#framesOf.get(track) ?? 0, padMs);
    }
    this.#releaseMarks(Infinity);
  }

  #releaseMarks(framesPut = this.#recoder.framesPut): void {
    const track = this.#track;
    for (let next = this.#marks[0]; next !== undefined && next.due <= framesPut; next = this.#marks[0]) {
      this.#marks.shift();
      if (track !== undefined) this.#outbox.push({ track, mark: next.mark, end: false });
    }
  }

  #putPayload(payload: Uint8Array): void {
    const track = this.#track;
    if (track === undefined) return;
    const frames = (this.#framesOf.get(track) ?? 0) + 1;
    this.#framesOf.set(track, frames);
    // Marks that follow an earlier frame go before this one.
    this.#releaseMarks(this.#recoder.framesPut);
    this.#outbox.push({ track, payload: payload.slice() }); // the encoder uses its memory again
  }

  /** 1 when everything is handed over, else the answer of the queue. */
  #drain(): number {
    for (let next = this.#outbox[0]; next !== undefined; next = this.#outbox[0]) {
      const answer = this.#offer(next);
      if (answer !== 1) return answer;
      this.#outbox.shift();
    }
    return 1;
  }

  #offer(next: Outgoing): number {
    const { track } = next;
    if ('payload' in next) return this.#target.push(this.#generation, track, next.payload);
    if ('rest' in next) return this.#target.pauseInput(this.#generation, track);
    return this.#target.mark(this.#generation, track, next.mark, next.end);
  }
}
