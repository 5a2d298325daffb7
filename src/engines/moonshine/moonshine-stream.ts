// Recognises one stretch of speech as it comes: the streaming loop of Moonshine, without input and output.
//
//   sound ─▶ frontend ─▶ features ─▶ encoder's window ─▶ adapter ─▶ memory ─▶ keys and values of attention
//                                                                                    │
//     previous text: committed tokens, draft ─▶ decoder, all in one run ─▶ token by token ─▶ text
//
// The frontend gives a feature for each 320 samples, and its state passes from one stretch of sound to the
// next. The encoder computes a window again for each stretch: 16 features to the left for each layer, and
// the features to the right of which a frame depends. A frame goes into the memory once all of them are
// known, or when the speech ends. So the memory of a streamed sound equals that of the whole sound.
//
// The memory grows between two passes of the decoder, so each pass begins anew. It runs the tokens of the
// pass before in one go and keeps them up to the first that is no longer the best. Tokens on which two
// passes agree are committed: later passes do not change them.
import { ParleyError } from '../../errors.js';
import {
  type AttentionCache,
  FEATURE_SAMPLES,
  firstFrames,
  type FrontendState,
  joinCaches,
  type MoonshineGraphs,
} from './graphs.js';
import { lengthWithoutLoop, lengthWithoutRepeats } from './repetition.js';
import type { StreamingConfig } from './streaming-config.js';

const FEATURES_PER_SECOND = 50;
const LAYER_WINDOW = 16; // features to the left that a layer of the encoder looks at

export interface StreamRules {
  /** Most tokens of a second of sound. */
  readonly tokensPerSecond: number;
  /** Least frames of memory between the two passes that commit a token: 240 ms unless stated. */
  readonly commitFrames?: number;
  /** Last tokens on which two passes agree, which are not committed: 1 unless stated. */
  readonly commitReserve?: number;
  /** A pass with more frames commits no token: the caller may cut the sound there. No limit unless stated. */
  readonly mostCommitFrames?: number;
  /** False tells endless repetitions as the model gives them. */
  readonly cutsLoops?: boolean;
}

/** The text of the sound so far. */
export interface Hypothesis {
  readonly tokens: readonly number[];
  /** First tokens that later passes do not change. */
  readonly committed: number;
  /** The limit of tokens ended the text. */
  readonly isCapped: boolean;
}

interface Memory {
  readonly frames: number;
  /** Absent without frames. */
  readonly cross: AttentionCache | undefined;
}

/** What two passes are compared by. */
interface PassRecord {
  readonly tokens: readonly number[];
  /** Frames of memory that the pass had. */
  readonly frames: number;
}

const NO_PASS: PassRecord = { tokens: [], frames: 0 };
const NO_MEMORY: Memory = { frames: 0, cross: undefined };

export class MoonshineStream {
  readonly #graphs: MoonshineGraphs;
  readonly #config: StreamingConfig;
  readonly #rules: Required<StreamRules>;
  #frontend: FrontendState | undefined;
  /** Samples that the frontend has not had. */
  #waiting: Float32Array[] = [];
  #waitingCount = 0;
  /** Rows of features. */
  #features = new Float32Array(0);
  #featureCount = 0;
  #memory: Memory = NO_MEMORY;
  /** Tokens of the last pass. */
  #last: readonly number[] = [];
  /** The pass that the next one is compared with. */
  #compared: PassRecord = NO_PASS;
  #committed = 0;
  /** State before `finish`. */
  #unfinished: (() => void) | undefined;

  constructor(graphs: MoonshineGraphs, config: StreamingConfig, rules: StreamRules) {
    this.#graphs = graphs;
    this.#config = config;
    this.#rules = {
      commitFrames: 12,
      commitReserve: 1,
      mostCommitFrames: Infinity,
      cutsLoops: true,
      ...rules,
    };
  }

  /** Features so far, each of 20 ms. */
  get features(): number {
    return this.#featureCount;
  }

  /** Frames of memory so far. */
  get frames(): number {
    return this.#memory.frames;
  }

  /** The keys and values of the memory; undefined without frames. */
  get cross(): AttentionCache | undefined {
    return this.#memory.cross;
  }

  /** Takes samples of 16 kHz over. Nothing is computed. */
  add(samples: Float32Array): void {
    if (samples.length === 0) return;
    this.#waiting.push(samples);
    this.#waitingCount += samples.length;
  }

  /** Adds silence up to a whole number of features. Only a sound that ends here may get it. */
  fill(): void {
    const rest = this.#waitingCount % FEATURE_SAMPLES;
    if (rest > 0) this.add(new Float32Array(FEATURE_SAMPLES - rest));
  }

  /** Recognises the sound so far; undefined if there is no new memory. What it leaves unfinished stays so. */
  async partial(): Promise<Hypothesis | undefined> {
    if (this.#unfinished !== undefined)
      throw new ParleyError('WRONG_STATE', 'the speech has ended; it must be resumed first');
    await this.#listen();
    const before = this.#memory.frames;
    await this.#encode(false);
    return this.#memory.frames === before ? undefined : this.#pass(false);
  }

  /** Recognises all of the sound as if it ended here. A rest of less than 20 ms is left out. */
  async finish(): Promise<Hypothesis> {
    this.resume();
    await this.#listen();
    const [memory, last, compared, committed] = [this.#memory, this.#last, this.#compared, this.#committed];
    this.#unfinished = () => {
      [this.#memory, this.#last, this.#compared, this.#committed] = [memory, last, compared, committed];
    };
    try {
      await this.#encode(true);
      return await this.#pass(true);
    } catch (error) {
      this.resume();
      throw error;
    }
  }

  /** Goes on as if `finish` had not been called. */
  resume(): void {
    this.#unfinished?.();
    this.#unfinished = undefined;
  }

  /** Forgets the sound behind a number of features, and the tokens of later passes. Committed ones stay. */
  cut(features: number): void {
    this.resume();
    const left = Math.max(0, features - this.#featureCount) * FEATURE_SAMPLES;
    const waiting = joined(this.#waiting, this.#waitingCount).subarray(0, left);
    this.#waiting = [waiting];
    this.#waitingCount = waiting.length;
    this.#featureCount = Math.min(this.#featureCount, features);
    this.#last = this.#last.slice(0, this.#committed);
    this.#compared = NO_PASS;
    const { frames, cross } = this.#memory;
    if (cross === undefined || frames <= features) return;
    this.#memory = { frames: features, cross: firstFrames(this.#graphs.sizes, cross, features) };
  }

  /** Computes the features of whole numbers of samples. */
  async #listen(): Promise<void> {
    const count = this.#waitingCount - (this.#waitingCount % FEATURE_SAMPLES);
    if (count === 0) return;
    const all = joined(this.#waiting, this.#waitingCount);
    const { features, state } = await this.#graphs.frontend(all.slice(0, count), this.#frontend);
    this.#frontend = state;
    this.#waiting = count === all.length ? [] : [all.slice(count)];
    this.#waitingCount = all.length - count;
    this.#append(features);
  }

  #append(features: Float32Array): void {
    const used = this.#featureCount * this.#graphs.sizes.encoder;
    if (used + features.length > this.#features.length) {
      const larger = new Float32Array(Math.max(used + features.length, 2 * this.#features.length));
      larger.set(this.#features.subarray(0, used));
      this.#features = larger;
    }
    this.#features.set(features, used);
    this.#featureCount += features.length / this.#graphs.sizes.encoder;
  }

  /** Computes the frames of memory that are new; at the end also those whose right side is not known. */
  async #encode(isEnd: boolean): Promise<void> {
    const { encoder: width, layers } = this.#graphs.sizes;
    const { frames, cross } = this.#memory;
    const known = isEnd ? this.#featureCount : this.#featureCount - this.#config.lookAhead;
    if (known <= frames) return;
    const start = Math.max(0, frames - LAYER_WINDOW * layers);
    const window = this.#features.slice(start * width, this.#featureCount * width);
    const encoded = await this.#graphs.encoder(window);
    const fresh = encoded.slice((frames - start) * width, (known - start) * width);
    const memory = await this.#graphs.adapter(fresh, frames);
    const more = await this.#graphs.crossKv(memory);
    this.#memory = { frames: known, cross: joinCaches(this.#graphs.sizes, cross, more) };
  }

  async #pass(isEnd: boolean): Promise<Hypothesis> {
    const { frames, cross } = this.#memory;
    const seconds = frames / FEATURES_PER_SECOND;
    const cap = Math.min(this.#config.mostTokens, Math.ceil(seconds * this.#rules.tokensPerSecond));
    const tokens = cross === undefined ? [] : await this.#decode(cross, cap);
    const isCapped = cap > 0 && tokens.length >= cap;
    this.#last = tokens;
    this.#commit(tokens, frames, isEnd);
    return { tokens, committed: this.#committed, isCapped };
  }

  /** The best tokens, which begin with the committed ones. */
  async #decode(cross: AttentionCache, cap: number): Promise<readonly number[]> {
    const draft = this.#last.slice(0, Math.max(cap, this.#committed));
    let step = await this.#graphs.decoder([this.#config.begin, ...draft], undefined, cross);
    let kept = this.#committed;
    while (kept < draft.length && this.#best(step.logits, kept) === draft[kept]) kept++;
    const tokens = draft.slice(0, kept);
    let best = this.#best(step.logits, kept);
    let self = firstFrames(this.#graphs.sizes, step.self, kept + 1);
    while (tokens.length < cap && best !== this.#config.end) {
      tokens.push(best);
      const length = this.#rules.cutsLoops ? lengthWithoutLoop(tokens) : tokens.length;
      if (length < tokens.length) return tokens.slice(0, Math.max(length, this.#committed));
      if (tokens.length === cap) break;
      step = await this.#graphs.decoder([best], self, cross);
      self = step.self;
      best = this.#best(step.logits, 0);
    }
    return tokens;
  }

  /** The token with the highest logit of a row, all of which must be numbers. */
  #best(logits: Float32Array, row: number): number {
    const { vocabulary } = this.#graphs.sizes;
    const first = row * vocabulary;
    let [best, highest] = [first, -Infinity];
    for (let at = first; at < first + vocabulary; at++) {
      const logit = logits[at] as number;
      if (logit <= highest && logit !== -Infinity) continue;
      if (!Number.isFinite(logit))
        throw new ParleyError(
          'ENGINE_FAILED',
          'the decoder of the speech model gave values that are no numbers',
        );
      [best, highest] = [at, logit];
    }
    return best - first;
  }

  #commit(tokens: readonly number[], frames: number, isEnd: boolean): void {
    if (isEnd) this.#committed = tokens.length;
    const { commitFrames, commitReserve, mostCommitFrames, cutsLoops } = this.#rules;
    if (isEnd || frames > mostCommitFrames || frames - this.#compared.frames < commitFrames) return;
    let agreed = 0;
    while (agreed < tokens.length && tokens[agreed] === this.#compared.tokens[agreed]) agreed++;
    // A repetition may turn out to be an endless one, which is cut.
    const sure = cutsLoops ? lengthWithoutRepeats(tokens.slice(0, agreed)) : agreed;
    this.#committed = Math.max(this.#committed, Math.min(sure, agreed - commitReserve));
    this.#compared = { tokens, frames };
  }
}

function joined(pieces: readonly Float32Array[], count: number): Float32Array {
  const [first] = pieces;
  if (pieces.length === 1 && first !== undefined) return first;
  const all = new Float32Array(count);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
