// Hears one live caller in a worker: reads the ring, applies the orders about turns at their places in the
// sound, and makes the texts one after the other.
//
//   orders ─▶ turns ─▶ jobs: pause, resume, end     a partial text is made while no job waits
//
// An order takes effect on the sound at once. Its job waits for the text that is being made; a text that the
// order makes useless is given up between two runs.
import type { PcmRing } from '../../audio/pcm-ring.js';
import { asParleyError, isAborted, ParleyError } from '../../errors.js';
import type { Time } from '../../time.js';
import { RingReader } from '../openai/ring-reader.js';
import { SoundPieces } from '../openai/sound-pieces.js';
import type { TurnOrder } from '../recogniser.js';
import type { ListenRequest, PlacedOrder, TurnMessage } from './moonshine-messages.js';
import type { MoonshineModel } from './moonshine-model.js';
import type { RunQueue, Work } from './run-queue.js';
import { SpokenTurn, type TurnText } from './spoken-turn.js';

const RATE = 16_000;
const LOOK_MS = 20; // between two looks into the ring, which gets samples 50 times a second
const PRE_ROLL = RATE / 2; // samples before the order that begins a turn, which belong to it
const MOST_WAITING = 30 * RATE; // samples of a turn that wait for runs; later ones stay in the ring
const MOST_JOBS = 32; // eight turns, each with a pause, a resumption and an end
const BUSY_MS = 300; // the oldest work has waited so long: partial texts become rarer
const BUSY_INTERVAL_MS = 960;

export interface LiveParts {
  readonly model: MoonshineModel;
  readonly queue: RunQueue;
  readonly time: Time;
  readonly partialIntervalMs: number;
  readonly tell: (turn: TurnMessage) => void;
  /** Takes the messages that have come until now. */
  readonly takeMessages: () => void;
  /** Called once: undefined if every text was told. */
  readonly over: (error: ParleyError | undefined) => void;
}

interface Turn {
  readonly part: number;
  readonly begin: number;
  readonly spoken: SpokenTurn;
  /** Samples of the session up to the pause that lasts. */
  pausedAt: number | undefined;
  /** Samples that the last partial text had. */
  heardAt: number;
}

interface Job {
  readonly turn: Turn;
  readonly what: 'pause' | 'resume' | 'end';
  readonly end: number;
  readonly sinceMs: number;
}

export class LiveTurns {
  readonly #request: ListenRequest;
  readonly #parts: LiveParts;
  readonly #reader: RingReader;
  readonly #orders: PlacedOrder[];
  /** Sound that is in no turn yet. */
  readonly #before = new SoundPieces(RATE, Infinity);
  readonly #jobs: Job[] = [];
  /** Samples so far. */
  #taken = 0;
  #turn: Turn | undefined;
  #partCount = 0;
  /** Gives the text up that is being made; undefined if none is. */
  #current: { readonly what: Job['what'] | 'partial'; readonly giveUp: AbortController } | undefined;
  #hasEnded = false;
  #isOver = false;

  constructor(request: ListenRequest, ring: PcmRing, parts: LiveParts) {
    this.#request = request;
    this.#parts = parts;
    this.#orders = [...request.orders];
    this.#reader = new RingReader(ring, {
      rate: RATE,
      everyMs: LOOK_MS,
      time: parts.time,
      take: (samples) => this.#take(samples),
      hasRoom: () => (this.#turn?.spoken.waiting ?? 0) < MOST_WAITING,
      over: (error) => this.#end(error),
    });
    if (!request.isGated) this.#begin();
  }

  /** Takes an order, which is about the sound before its place. */
  order(order: PlacedOrder): void {
    if (this.#hasEnded) return;
    this.#orders.push(order);
    queueMicrotask(() => {
      if (this.#isOver || this.#hasEnded) return;
      this.#reader.look();
      this.#applyOrders(this.#reader.taken);
      this.#go();
    });
  }

  /** Gives the session up. */
  close(): void {
    this.#finish(new ParleyError('ABORTED', 'the recognition was given up'));
  }

  #take(samples: Float32Array): void {
    this.#parts.takeMessages(); // an order came before the sound that follows it
    let rest: Float32Array = samples;
    for (let next = this.#orders[0]; next !== undefined; next = this.#orders[0]) {
      const before = Math.ceil((next.at * RATE) / this.#request.rate) - this.#taken;
      if (before > rest.length) break;
      this.#add(rest.subarray(0, Math.max(0, before)));
      rest = rest.subarray(Math.max(0, before));
      this.#orders.shift();
      this.#apply(next.order);
    }
    this.#add(rest);
    this.#applyOrders(this.#reader.taken);
    this.#go();
  }

  /** Applies the orders about samples that were read, though the resampler may hold the last of them. */
  #applyOrders(read: number): void {
    for (let next = this.#orders[0]; next !== undefined && next.at <= read; next = this.#orders[0]) {
      this.#orders.shift();
      this.#apply(next.order);
    }
  }

  #add(samples: Float32Array): void {
    if (samples.length === 0) return;
    this.#taken += samples.length;
    if (this.#turn !== undefined) return this.#turn.spoken.add(samples);
    this.#before.add(samples);
    return this.#before.keepLast(PRE_ROLL);
  }

  #apply(order: TurnOrder): void {
    const turn = this.#turn;
    if (order === 'begin' && turn === undefined) return this.#begin();
    if (turn === undefined) return undefined;
    if (order === 'end') return this.#endTurn(turn);
    if (order === 'pause' && turn.pausedAt === undefined) {
      turn.pausedAt = this.#taken;
      turn.spoken.pause();
      return this.#addJob('pause', turn, this.#taken);
    }
    if (order === 'pause' || turn.pausedAt === undefined) return undefined;
    turn.pausedAt = undefined;
    turn.spoken.resume();
    if (this.#current?.what === 'pause') this.#current.giveUp.abort();
    return this.#addJob('resume', turn, this.#taken);
  }

  #begin(): void {
    const before = this.#before.take();
    const { model, queue } = this.#parts;
    const spoken = new SpokenTurn(model, (work) => queue.graphsFor(model.graphs, work));
    spoken.add(before);
    const begin = this.#taken - before.length;
    this.#turn = { part: this.#partCount++, begin, spoken, pausedAt: undefined, heardAt: this.#taken };
  }

  #endTurn(turn: Turn): void {
    this.#turn = undefined;
    const end = turn.pausedAt ?? this.#taken;
    this.#before.add(turn.spoken.end());
    if (this.#request.isGated) this.#before.keepLast(PRE_ROLL);
    if (end > turn.begin) this.#addJob('end', turn, end);
    else this.#partCount--;
    if (!this.#request.isGated && !this.#hasEnded) this.#begin();
  }

  #addJob(what: Job['what'], turn: Turn, end: number): void {
    if (this.#jobs.length >= MOST_JOBS) {
      const message = `${MOST_JOBS} texts of a caller wait to be recognised; the machine is too slow`;
      return this.#finish(new ParleyError('ENGINE_BUSY', message, { retryAfterSeconds: 1 }));
    }
    if (this.#current?.what === 'partial') this.#current.giveUp.abort();
    this.#jobs.push({ what, turn, end, sinceMs: this.#parts.time.now() });
  }

  #end(error: ParleyError | undefined): void {
    this.#parts.takeMessages();
    if (error !== undefined) return this.#finish(error);
    this.#applyOrders(Infinity);
    this.#hasEnded = true;
    if (this.#turn !== undefined) this.#endTurn(this.#turn);
    return this.#go();
  }

  /** Begins with the next text, unless one is being made. */
  #go(): void {
    if (this.#isOver || this.#current !== undefined) return;
    const job = this.#jobs.shift();
    if (job !== undefined) this.#start(job.what, () => this.#do(job));
    else if (this.#hasEnded) this.#finish(undefined);
    else this.#goPartial();
  }

  #goPartial(): void {
    const turn = this.#turn;
    if (turn === undefined || turn.spoken.isPaused) return;
    const { partialIntervalMs, queue } = this.#parts;
    const isRare = queue.oldestMs > BUSY_MS || !this.#request.hasPartials;
    const interval = isRare ? Math.max(BUSY_INTERVAL_MS, partialIntervalMs) : partialIntervalMs;
    const isDue = this.#taken - turn.heardAt >= (interval * RATE) / 1000;
    if (!isDue && !turn.spoken.isOverdue) return;
    turn.heardAt = this.#taken;
    const [end, sinceMs] = [this.#taken, this.#parts.time.now()];
    this.#start('partial', async () => {
      const got = await turn.spoken.partialText(this.#work('partial', sinceMs));
      if (got !== undefined && got.text !== '' && this.#request.hasPartials)
        this.#tell('partial', turn, end, got);
    });
  }

  async #do({ what, turn, end, sinceMs }: Job): Promise<void> {
    if (what === 'resume') return turn.spoken.resumeText();
    // Speech that went on has made the text of the pause useless. A turn that ended in its pause keeps it.
    if (what === 'pause' && turn.pausedAt !== end) return undefined;
    const work = this.#work('final', sinceMs);
    const got = await (what === 'pause' ? turn.spoken.pauseText(work) : turn.spoken.finalText(work));
    return this.#tell(what === 'pause' ? 'pause' : 'final', turn, end, got);
  }

  #work(rank: Work['rank'], sinceMs: number): Work {
    const signal = this.#current?.giveUp.signal ?? AbortSignal.abort();
    return { rank, sinceMs, signal };
  }

  #start(what: Job['what'] | 'partial', work: () => Promise<void>): void {
    const giveUp = new AbortController();
    this.#current = { what, giveUp };
    void work()
      .catch((error: unknown) => {
        if (!giveUp.signal.aborted || !isAborted(error)) this.#finish(asParleyError(error, 'ENGINE_FAILED'));
      })
      .finally(() => {
        this.#current = undefined;
        if (this.#isOver) return;
        this.#reader.look(); // there may be room again
        this.#go();
      });
  }

  #tell(kind: TurnMessage['kind'], { part, begin }: Turn, end: number, { text, stable }: TurnText): void {
    if (this.#isOver || this.#current?.giveUp.signal.aborted === true) return;
    this.#parts.tell({ kind, part, text, stable, begin, end });
  }

  #finish(error: ParleyError | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#current?.giveUp.abort();
    if (error !== undefined) this.#reader.stop();
    this.#parts.over(error);
  }
}
