// Recognises live sound with two recognisers: a fast one tells the texts of a turn that is not over, the main
// one the final text. Files and sessions without partial texts are the main one's alone.
import type { PcmRing } from '../audio/pcm-ring.js';
import { asParleyError, guarded, ParleyError } from '../errors.js';
import {
  checkRate,
  type Recogniser,
  type RecognitionListener,
  type RecognitionOptions,
  type RecognitionSession,
  type TurnOrder,
} from './recogniser.js';
import { RingFeed } from './ring-feed.js';

interface PairedOptions {
  readonly main: Recogniser;
  readonly fast: Recogniser;
  /** The fast recogniser failed in a session, which goes on without partial texts. */
  readonly onFastFailed: (error: ParleyError) => void;
}

export class PairedRecogniser implements Recogniser {
  readonly #options: PairedOptions;

  constructor(options: PairedOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.main.name;
  }
  get languages(): readonly string[] {
    return this.#options.main.languages;
  }
  get tellsPartials(): boolean {
    return this.#options.fast.tellsPartials || this.#options.main.tellsPartials;
  }
  get tellsPauses(): boolean {
    return this.#options.main.tellsPauses === true;
  }
  get needsSpeech(): boolean {
    return this.#options.main.needsSpeech === true;
  }
  get usable(): boolean {
    return this.#options.main.usable;
  }
  get device(): string | undefined {
    return this.#options.main.device;
  }
  get trouble(): string | undefined {
    return this.#options.main.trouble ?? this.#options.fast.trouble;
  }
  get loaded(): boolean {
    return this.#options.main.loaded && this.#options.fast.loaded;
  }
  get sessions(): number {
    return this.#options.main.sessions;
  }

  open(options: RecognitionOptions, listener: RecognitionListener): RecognitionSession {
    const { main, fast } = this.#options;
    const isPaired = options.use === 'live' && options.partials === true && fast.usable;
    return isPaired ? new PairedSession(this.#options, options, listener) : main.open(options, listener);
  }

  async load(): Promise<void> {
    await Promise.all([this.#options.main.load(), this.#options.fast.load()]);
  }

  async unload(): Promise<void> {
    await Promise.all([this.#options.main.unload(), this.#options.fast.unload()]);
  }

  async close(): Promise<void> {
    await Promise.all([this.#options.main.close(), this.#options.fast.close()]);
  }
}

const READ_SAMPLES = 4096;

class PairedSession implements RecognitionSession {
  readonly ended: Promise<void>;
  readonly #main: RecognitionSession;
  readonly #fast: RecognitionSession;
  readonly #feeds: readonly RingFeed[];
  readonly #rate: number;
  #ring: PcmRing | undefined;
  /** Samples that were read from it. */
  #read = 0;
  /** Orders whose sound was not read yet, each with its place. */
  readonly #orders: { readonly order: TurnOrder; readonly at: number }[] = [];
  /** Turns whose final text was told. */
  #told = -1;
  #isClosed = false;
  #fail: (error: ParleyError) => void = () => undefined;
  /** Rejects if the sound cannot be passed on. */
  readonly #failed = new Promise<never>((_resolve, reject) => {
    this.#fail = (error) => reject(new ParleyError('ENGINE_FAILED', error.message, { cause: error }));
  });

  /** Throws what either recogniser throws. */
  constructor(
    { main, fast, onFastFailed }: PairedOptions,
    options: RecognitionOptions,
    listener: RecognitionListener,
  ) {
    this.#rate = options.sampleRate;
    this.#main = main.open(
      { ...options, partials: false },
      {
        pause: listener.pause,
        final: (text) => {
          this.#told = text.part;
          listener.final(text);
        },
      },
    );
    try {
      this.#fast = fast.open(options, {
        // The main recogniser may find other words: nothing of them is stable.
        partial: (text) => text.part > this.#told && listener.partial?.({ ...text, stable: 0 }),
        final: () => undefined,
      });
    } catch (error) {
      this.#main.close();
      throw error;
    }
    const sessions = [this.#main, this.#fast];
    this.#feeds = sessions.map((session) => {
      const order = (one: TurnOrder) => session.turn(one);
      const failed = (error: ParleyError) => this.#fail(error);
      return new RingFeed(this.#rate, { order, drained: () => this.#pump(), failed });
    });
    for (const [n, session] of sessions.entries()) {
      const feed = this.#feeds[n];
      if (feed !== undefined) session.push(feed.ring);
    }
    this.#fast.ended.catch((error: unknown) => {
      if (this.#isClosed) return;
      this.#feeds[1]?.close();
      onFastFailed(asParleyError(error, 'ENGINE_FAILED'));
      this.#pump();
    });
    this.ended = Promise.race([this.#main.ended, this.#failed]).finally(() => this.close());
    this.ended.catch(() => undefined); // the caller awaits it
  }

  push(ring: PcmRing): void {
    checkRate(ring, this.#rate);
    this.#ring = ring;
    this.#pump();
  }

  /** The order is about the sound that the ring has had until now. */
  turn(order: TurnOrder): void {
    this.#orders.push({ order, at: this.#ring?.status()?.written ?? 0 });
    this.#pump();
  }

  end(): Promise<void> {
    this.#ring?.end();
    this.#pump();
    return this.ended;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#ring?.forget(this.#pump);
    this.#main.close();
    this.#fast.close();
    for (const feed of this.#feeds) feed.close();
  }

  readonly #pump = guarded(
    { work: 'recognition' },
    () => this.#readOn(),
    (error) => this.#fail(error),
  );

  /** Reads on while neither feed has more than a second that waits: the ring is the backpressure. */
  #readOn(): void {
    const ring = this.#ring;
    if (ring === undefined || this.#isClosed) return;
    for (;;) {
      this.#giveOrders();
      if (this.#feeds.some(({ waiting }) => waiting > this.#rate)) return; // `drained` goes on
      const samples = new Float32Array(
        Math.min(READ_SAMPLES, (this.#orders[0]?.at ?? Infinity) - this.#read),
      );
      const count = ring.read(samples);
      if (count <= 0) break;
      this.#read += count;
      for (const feed of this.#feeds) feed.push(samples.slice(0, count));
    }
    const { ended = true, readable = 0 } = ring.status() ?? {};
    if (ended && readable === 0) {
      for (const feed of this.#feeds) feed.end();
      return;
    }
    ring.forget(this.#pump);
    ring.onReadable(this.#pump);
  }

  /** Gives the orders whose sound was read. */
  #giveOrders(): void {
    for (;;) {
      const [next] = this.#orders;
      if (next === undefined || next.at > this.#read) return;
      this.#orders.shift();
      for (const feed of this.#feeds) feed.order(next.order);
    }
  }
}
