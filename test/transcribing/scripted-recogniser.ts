// A recogniser of live sound that notes each order with its place in the sound, and tells a text for each
// turn at its end.
import type { PcmRing } from '../../src/audio/pcm-ring.js';
import type {
  Recogniser,
  RecognitionListener,
  RecognitionOptions,
  RecognitionSession,
  TurnOrder,
} from '../../src/engines/recogniser.js';
import { ParleyError } from '../../src/errors.js';

export class ScriptedSession implements RecognitionSession {
  readonly options: RecognitionOptions;
  readonly listener: RecognitionListener;
  readonly ended: Promise<void>;
  /** Each order, and the samples before it. */
  readonly orders: [order: TurnOrder, at: number][] = [];
  /** All sound that was read. */
  readonly sound: number[] = [];
  closed = false;
  /** The final text of a turn; undefined: it never comes. */
  textOf = (part: number): string | undefined => `turn ${part}`;
  /** It reads only while this is true. */
  reads = true;
  #ring: PcmRing | undefined;
  #part = 0;
  #beganAt = 0;
  #settle!: { resolve: () => void; reject: (error: Error) => void };

  constructor(options: RecognitionOptions, listener: RecognitionListener) {
    this.options = options;
    this.listener = listener;
    this.ended = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    this.ended.catch(() => undefined);
  }

  push(ring: PcmRing): void {
    this.#ring = ring;
    this.read();
  }

  /** Reads what is there, and goes on when there is more. */
  read(): void {
    const ring = this.#ring;
    if (ring === undefined || !this.reads || this.closed) return;
    const chunk = new Float32Array(4096);
    for (let count = ring.read(chunk); count > 0; count = ring.read(chunk))
      this.sound.push(...chunk.subarray(0, count));
    const { ended = true, readable = 0 } = ring.status() ?? {};
    if (ended && readable === 0) return this.#settle.resolve();
    ring.onReadable(() => this.read());
    return undefined;
  }

  turn(order: TurnOrder): void {
    const at = this.#ring?.status()?.written ?? 0;
    this.orders.push([order, at]);
    if (order === 'begin') this.#beganAt = at;
    if (order !== 'end') return;
    const part = this.#part++;
    const times = { beginSeconds: this.#beganAt / 16_000, endSeconds: at / 16_000 };
    queueMicrotask(() => this.#final(this.textOf(part), part, times));
  }

  partial(text: string, stable: number, part = this.#part): void {
    const times = { beginSeconds: this.#beganAt / 16_000, endSeconds: this.#beganAt / 16_000 + 1 };
    this.listener.partial?.({ part, text, stable, language: 'en', ...times });
  }

  /** The text of all sound up to a pause. */
  pause(text: string, part = this.#part): void {
    const times = { beginSeconds: this.#beganAt / 16_000, endSeconds: this.#beganAt / 16_000 + 1 };
    this.listener.pause?.({ part, text, stable: 0, language: 'en', ...times });
  }

  #final(text: string | undefined, part: number, times: { beginSeconds: number; endSeconds: number }): void {
    if (text !== undefined && !this.closed)
      this.listener.final({ part, text, stable: text.length, language: 'en', ...times });
  }

  fail(error: ParleyError): void {
    this.#settle.reject(error);
  }

  end(): Promise<void> {
    this.#ring?.end();
    return this.ended;
  }

  close(): void {
    this.closed = true;
    this.#settle.reject(new ParleyError('ABORTED', 'closed'));
  }
}

export class ScriptedRecogniser implements Recogniser {
  readonly name = 'scripted';
  readonly languages = ['en', 'de'];
  readonly tellsPartials = true;
  tellsPauses = false;
  readonly usable = true;
  readonly loaded = true;
  readonly opened: ScriptedSession[] = [];
  refusal: ParleyError | undefined;

  get sessions(): number {
    return this.opened.filter(({ closed }) => !closed).length;
  }

  open(options: RecognitionOptions, listener: RecognitionListener): ScriptedSession {
    if (this.refusal !== undefined) throw this.refusal;
    const session = new ScriptedSession(options, listener);
    this.opened.push(session);
    return session;
  }

  load(): Promise<void> {
    return Promise.resolve();
  }
  unload(): Promise<void> {
    return Promise.resolve();
  }
  close(): Promise<void> {
    return Promise.resolve();
  }
}
