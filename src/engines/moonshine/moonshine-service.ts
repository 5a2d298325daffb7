// Serves a recogniser in a worker: opens the models once, hears the live callers and recognises the pieces
// of files. All share the graphs, whose runs the queue orders.
import { PcmRing } from '../../audio/pcm-ring.js';
import { asParleyError, isAborted, ParleyError } from '../../errors.js';
import type { Time } from '../../time.js';
import { FEATURE_SAMPLES } from './graphs.js';
import { LiveTurns } from './live-turns.js';
import type { FromMoonshine, ListenRequest, MoonshineWorkerData, ToMoonshine } from './moonshine-messages.js';
import { type MoonshineModel, openModel } from './moonshine-model.js';
import { RunQueue } from './run-queue.js';
import { SpokenTurn } from './spoken-turn.js';

const TRIALS = 3;
const TRIAL_FRAMES = 24; // of memory that a partial text adds, at 480 ms
const TRIAL_TOKENS = 3;

export interface ServiceParts {
  readonly post: (message: FromMoonshine) => void;
  /** Takes the messages that have come until now. */
  readonly takeMessages: () => void;
  /** Ends the worker. */
  readonly end: () => void;
  readonly time: Time;
}

type PieceRequest = Extract<ToMoonshine, { readonly type: 'piece' }>;

export class MoonshineService {
  readonly #parts: ServiceParts;
  readonly #partialIntervalMs: number;
  readonly #models: ReadonlyMap<string, MoonshineModel>;
  readonly #queue: RunQueue;
  readonly #live = new Map<number, LiveTurns>();
  readonly #pieces = new Map<number, AbortController>();
  /** The piece that is recognised, and those that wait: each has caches of its own while it is recognised. */
  #lastPiece: Promise<void> = Promise.resolve();

  private constructor(
    models: ReadonlyMap<string, MoonshineModel>,
    partialIntervalMs: number,
    parts: ServiceParts,
  ) {
    this.#models = models;
    this.#partialIntervalMs = partialIntervalMs;
    this.#parts = parts;
    this.#queue = new RunQueue(parts.time);
  }

  /** Opens the models and posts `loaded`, or `refused` with the defect. Undefined if a model is unusable. */
  static async open(data: MoonshineWorkerData, parts: ServiceParts): Promise<MoonshineService | undefined> {
    try {
      const models = new Map<string, MoonshineModel>();
      let passMs = 0;
      for (const folder of data.models) {
        const model = await openModel(folder);
        models.set(folder.language, model);
        passMs = Math.max(passMs, await passTime(model, parts.time));
      }
      const hashes = Object.assign({}, ...[...models.values()].map((model) => model.hashes)) as object;
      parts.post({ type: 'loaded', passMs, hashes: { ...hashes } });
      return new MoonshineService(models, data.partialIntervalMs, parts);
    } catch (error) {
      parts.post({ type: 'refused', message: asParleyError(error, 'ENGINE_UNAVAILABLE').message });
      return undefined;
    }
  }

  take(message: ToMoonshine): void {
    switch (message.type) {
      case 'listen':
        return this.#listen(message.request);
      case 'order':
        return this.#live.get(message.id)?.order(message.order);
      case 'piece':
        return this.#recognise(message);
      case 'stop':
        this.#pieces.get(message.id)?.abort();
        return this.#live.get(message.id)?.close();
      case 'ping':
        return this.#parts.post({ type: 'pong', number: message.number, runMs: this.#queue.runMs });
      case 'close':
        return this.#parts.end();
    }
  }

  #listen(request: ListenRequest): void {
    const { id, language, ring, rate } = request;
    const { post, takeMessages, time } = this.#parts;
    const turns = new LiveTurns(request, PcmRing.attach(ring, rate), {
      model: this.#model(language),
      queue: this.#queue,
      time,
      partialIntervalMs: this.#partialIntervalMs,
      tell: (turn) => post({ type: 'turn', id, turn }),
      takeMessages,
      over: (error) => {
        this.#live.delete(id);
        this.#over(id, error);
      },
    });
    this.#live.set(id, turns);
  }

  #recognise(request: PieceRequest): void {
    const { id } = request;
    const { time } = this.#parts;
    const giveUp = new AbortController();
    this.#pieces.set(id, giveUp);
    const sinceMs = time.now();
    this.#lastPiece = this.#lastPiece.then(async () => {
      try {
        const text = await this.#pieceText(request, giveUp.signal, sinceMs);
        this.#parts.post({ type: 'piece', id, text });
      } catch (error) {
        if (!isAborted(error)) this.#over(id, asParleyError(error, 'ENGINE_FAILED'));
      } finally {
        this.#pieces.delete(id);
      }
    });
  }

  async #pieceText(
    { language, samples }: PieceRequest,
    signal: AbortSignal,
    sinceMs: number,
  ): Promise<string> {
    if (signal.aborted) return '';
    const model = this.#model(language);
    const turn = new SpokenTurn(model, (work) => this.#queue.graphsFor(model.graphs, work));
    turn.add(samples);
    const rest = samples.length % FEATURE_SAMPLES;
    if (rest > 0) turn.add(new Float32Array(FEATURE_SAMPLES - rest)); // the sound ends here
    return (await turn.finalText({ rank: 'file', sinceMs, signal })).text;
  }

  #model(language: string): MoonshineModel {
    const model = this.#models.get(language);
    if (model === undefined)
      throw new ParleyError('INVALID_FIELD', `no model hears ${language}`, { field: 'language' });
    return model;
  }

  #over(id: number, error: ParleyError | undefined): void {
    if (error === undefined) return this.#parts.post({ type: 'done', id });
    return this.#parts.post({ type: 'failed', id, code: error.code, message: error.message });
  }
}

/** Milliseconds of one window of the encoder and three tokens, the least of some trials. */
async function passTime({ graphs, config }: MoonshineModel, time: Time): Promise<number> {
  const { encoder, layers } = config.sizes;
  const frames = 16 * layers + config.lookAhead + TRIAL_FRAMES;
  let least = Infinity;
  for (let trial = 0; trial < TRIALS; trial++) {
    const begin = time.now();
    const encoded = await graphs.encoder(new Float32Array(frames * encoder));
    const memory = await graphs.adapter(encoded, 0);
    const cross = await graphs.crossKv(memory);
    let step = await graphs.decoder([config.begin], undefined, cross);
    for (let token = 1; token < TRIAL_TOKENS; token++)
      step = await graphs.decoder([config.begin], step.self, cross);
    least = Math.min(least, time.now() - begin);
  }
  return least;
}
