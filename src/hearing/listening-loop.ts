// Listens to all calls and rings: takes the windows of each 32 ms, analyses those that pass the energy gate
// in one run of the model, and lets each stream decide.
import { EAR, EAR_FIELDS, WINDOW_SAMPLES } from '../media/ears.js';
import { type EarSource, ROW_SAMPLES } from './ear-source.js';
import { EchoGuardWorkspace } from './echo-guard.js';
import type { CheckedEndOfTurnModel } from './end-of-turn.js';
import type { HearingSettings } from '../config/hearing-config.js';
import type { AnalysedStream, HearingEvent, MediaHandles, ToHearingWorker } from './hearing-messages.js';
import { type CallWindow, ListenedCall } from './listened-call.js';
import { RingSource } from './ring-source.js';
import type { TurnModels } from './turn-follower.js';
import type { VoiceMemory, VoiceModel } from './voice-model.js';

/** Windows of one take. */
const ROWS = 512;

/** Counts of one take; a listener adds them up. */
export interface LoopWork {
  readonly workedUs: number;
  readonly windows: number;
  /** Windows that the energy gate kept from the model. */
  readonly gated: number;
  readonly runs: number;
}

interface LoopOptions<M extends VoiceMemory> {
  readonly ears: EarSource;
  readonly model: VoiceModel<M>;
  /** Fades a playout out and pauses it; false if that track does not play. */
  readonly fade: (playout: number, track: number) => boolean;
  readonly onEvent: (stream: number, event: HearingEvent, decidedMs: number) => void;
  /** Called when a stream that was to be forgotten has no event any more. */
  readonly onForgotten: (stream: number) => void;
  /** Called when a defect in the work of one stream has ended it. The others go on. */
  readonly onFailed: (stream: number, error: Error) => void;
  /** Called after the events of the rings' windows that were taken together. */
  readonly onAnalysed: (streams: readonly AnalysedStream[]) => void;
  readonly onWork: (work: LoopWork) => void;
  /** Milliseconds of a clock that measures the work. */
  readonly now: () => number;
  readonly endOfTurn?: CheckedEndOfTurnModel | TurnModels | undefined;
}

interface Analysed<M extends VoiceMemory> {
  readonly call: ListenedCall<M>;
  readonly endMs: number;
}

/** A ring has neither socket nor playout. */
const NO_MEDIA: MediaHandles = { socket: 0, playout: 0 };

type StreamMessage = Exclude<ToHearingWorker, { readonly type: 'close' }>;

export class ListeningLoop<M extends VoiceMemory> {
  readonly #options: LoopOptions<M>;
  readonly #streams = new Map<number, ListenedCall<M>>();
  readonly #bySocket = new Map<number, ListenedCall<M>>();
  readonly #rings = new RingSource();
  readonly #echo = new EchoGuardWorkspace();
  readonly #samples = new Float32Array(ROWS * ROW_SAMPLES);
  readonly #fields = new Float64Array(ROWS * EAR_FIELDS);
  /** The windows in the batch of the model, in its order. */
  readonly #batch: Analysed<M>[] = [];
  readonly #inBatch = new Set<ListenedCall<M>>();
  #working: Promise<void> | undefined;
  #closed = false;

  constructor(options: LoopOptions<M>) {
    this.#options = options;
  }

  /** Begins to listen. Its failures, those of the model, are unhandled rejections: they end the worker. */
  start(): void {
    this.#options.ears.onWindows(this.#wake);
    this.#rings.onWindows(this.#wake);
  }

  readonly #wake = (): void => {
    if (this.#closed || this.#working !== undefined) return;
    this.#working = this.#work().finally(() => {
      this.#working = undefined;
      if (!this.#closed) this.start();
    });
  };

  /** Never throws: a defect ends the stream of the message. */
  handle(message: StreamMessage): void {
    try {
      this.#obey(message);
    } catch (error) {
      this.#failed(message.stream, error);
    }
  }

  #obey(message: StreamMessage): void {
    if (message.type === 'listen') return this.#listen(message);
    if (message.type === 'listen-ring') return this.#listenToRing(message);
    const call = this.#streams.get(message.stream);
    if (call === undefined) return; // it was closed while the message was on its way
    switch (message.type) {
      case 'follow':
        return this.#follow(call, message.media);
      case 'change':
        return call.change(message.settings);
      case 'interruptible':
        return call.interruptible(message.tracks);
      case 'expect-words':
        return call.expectWords(message.expected);
      case 'words':
        return call.words(message.words);
      case 'await':
        return call.awaitInput(message.atMs);
      case 'end-turn':
        return call.endTurn(message.atMs);
      case 'forget':
        call.end();
        this.#drop(message.stream);
        this.#options.onForgotten(message.stream);
    }
  }

  #drop(stream: number): void {
    const call = this.#streams.get(stream);
    if (call !== undefined) this.#detach(call);
    call?.close();
    this.#rings.remove(stream);
    this.#streams.delete(stream);
  }

  #failed(stream: number, error: unknown): void {
    this.#drop(stream);
    this.#options.onFailed(stream, error instanceof Error ? error : new Error(String(error)));
  }

  #decide(call: ListenedCall<M>, probability: number, endMs: number): void {
    try {
      call.decide(probability, endMs);
    } catch (error) {
      for (const [stream, one] of this.#streams) if (one === call) this.#failed(stream, error);
    }
  }

  /** Resolves when nothing is analysed any more. Idempotent. */
  async close(): Promise<void> {
    if (!this.#closed) this.#options.ears.close();
    this.#closed = true;
    this.#rings.close();
    await this.#working;
  }

  #listen({ stream, media, settings }: Extract<StreamMessage, { readonly type: 'listen' }>): void {
    this.#attach(this.#open(stream, media, settings));
  }

  #listenToRing(message: Extract<StreamMessage, { readonly type: 'listen-ring' }>): void {
    const { stream, ring, rate, settings } = message;
    this.#open(stream, NO_MEDIA, settings);
    this.#rings.add(stream, ring, rate);
  }

  #open(stream: number, media: MediaHandles, settings: HearingSettings): ListenedCall<M> {
    const { model, fade, onEvent, endOfTurn } = this.#options;
    const call = new ListenedCall({
      media,
      settings,
      memory: model.newMemory(),
      echo: this.#echo,
      fade,
      onEvent: (event, decidedMs) => onEvent(stream, event, decidedMs),
      endOfTurn,
    });
    this.#streams.set(stream, call);
    return call;
  }

  /** On the same socket only the playout is another one: sound and its echo go on. */
  #follow(call: ListenedCall<M>, media: MediaHandles): void {
    if (call.media.socket === media.socket) {
      call.media = media;
      return;
    }
    this.#detach(call);
    call.follow(media);
    this.#attach(call);
  }

  #attach(call: ListenedCall<M>): void {
    this.#bySocket.set(call.media.socket, call);
    this.#options.ears.add(call.media.socket);
  }

  #detach(call: ListenedCall<M>): void {
    const { socket } = call.media;
    if (this.#bySocket.get(socket) !== call) return;
    this.#bySocket.delete(socket);
    this.#options.ears.remove(socket);
  }

  async #work(): Promise<void> {
    while (!this.#closed) {
      const rows = this.#options.ears.take(this.#samples, this.#fields);
      if (rows > 0) await this.#process(rows, this.#bySocket);
      const ringRows = this.#closed ? 0 : this.#rings.take(this.#samples, this.#fields);
      const analysed = this.#placesOf(ringRows);
      if (ringRows > 0) await this.#process(ringRows, this.#streams);
      for (const stream of this.#rings.takeEnded()) {
        const atMs = analysed.get(stream)?.atMs ?? 0;
        analysed.set(stream, { stream, atMs, isOver: true });
      }
      if (analysed.size > 0) this.#options.onAnalysed([...analysed.values()]);
      if (rows + ringRows === 0) return;
    }
  }

  /** The end of the last window of each ring that was taken. */
  #placesOf(rows: number): Map<number, AnalysedStream> {
    const places = new Map<number, AnalysedStream>();
    for (let row = 0; row < rows; row++) {
      const stream = this.#field(row, EAR.socket);
      places.set(stream, { stream, atMs: this.#field(row, EAR.endMs), isOver: false });
    }
    return places;
  }

  async #process(rows: number, calls: ReadonlyMap<number, ListenedCall<M>>): Promise<void> {
    const beganMs = this.#options.now();
    let gated = 0;
    let runs = 0;
    for (let row = 0; row < rows; row++) {
      const call = calls.get(this.#field(row, EAR.socket));
      if (call === undefined) continue; // it was closed while the window waited
      if (this.#isFull(call)) {
        await this.#analyse();
        runs++;
      }
      if (!this.#enter(call, row)) gated++;
    }
    if (this.#batch.length > 0) {
      await this.#analyse();
      runs++;
    }
    const workedUs = 1000 * (this.#options.now() - beganMs);
    this.#options.onWork({ workedUs, windows: rows, gated, runs });
  }

  /** The next window of a call needs the state that its present one leaves. */
  #isFull(call: ListenedCall<M>): boolean {
    return this.#inBatch.has(call) || this.#batch.length === this.#options.model.mostWindows;
  }

  /** Puts a window into the batch; false if the model need not see it. */
  #enter(call: ListenedCall<M>, row: number): boolean {
    const window = this.#window(row);
    if (!call.isWorthModel(window)) {
      this.#decide(call, 0, window.endMs);
      return false;
    }
    this.#options.model.add(call.memory, window.caller);
    this.#batch.push({ call, endMs: window.endMs });
    this.#inBatch.add(call);
    return true;
  }

  async #analyse(): Promise<void> {
    const { model } = this.#options;
    await model.run();
    for (const [index, { call, endMs }] of this.#batch.entries()) {
      this.#decide(call, model.probability(index), endMs);
    }
    this.#batch.length = 0;
    this.#inBatch.clear();
  }

  #window(row: number): CallWindow {
    const start = row * ROW_SAMPLES;
    return {
      caller: this.#samples.subarray(start, start + WINDOW_SAMPLES),
      ours: this.#samples.subarray(start + WINDOW_SAMPLES, start + ROW_SAMPLES),
      endMs: this.#field(row, EAR.endMs),
      callerDb: this.#field(row, EAR.callerLevel),
      oursDb: this.#field(row, EAR.oursLevel),
      dropped: this.#field(row, EAR.dropped),
    };
  }

  #field(row: number, field: number): number {
    return this.#fields[row * EAR_FIELDS + field] ?? 0;
  }
}
