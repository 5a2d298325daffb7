// Recognises one turn of a caller: cuts long speech into segments, each with a stream of its own, and joins
// their texts. It leaves segments out that cannot hold speech.
//
// A segment ends at the first pause after 6 s. Without a pause it ends at the quietest place between 10 and
// 14 s, so no word is promised by sound behind 10 s. The text and the state of a segment do not go into the
// next one: the cost of a text grows with its segment.
import { joinTexts } from '../openai/transcription-client.js';
import { FEATURE_SAMPLES, type MoonshineGraphs } from './graphs.js';
import type { MoonshineModel } from './moonshine-model.js';
import { type Hypothesis, MoonshineStream } from './moonshine-stream.js';
import type { Work } from './run-queue.js';
import { SpeechEnergy } from './speech-energy.js';

const RATE = 16_000;
const PAUSE_CUTS_FROM = 6 * RATE;
const QUIET_FROM = 10 * RATE;
const LONGEST = 14 * RATE;
const WINDOW = RATE / 10;
const LOOK_BEHIND = RATE / 5; // of the pause: a segment begins in silence
/** A quieter place is no quiet one unless its energy is so much below that of the rest: 3 dB. */
const LEAST_QUIETER = 0.5;
/** Samples of a pause that are kept. Where a client ends the turns, a pause may last for hours. */
const MOST_OF_PAUSE = 2 * RATE;
/** Samples that a longer pause is cut to. Its last ones may hold the onset of the speech that follows. */
const LAST_OF_PAUSE = RATE;
const FIRST_ROOM = 4 * RATE; // samples; it doubles when it is full
const MOST_WORDS_A_SECOND = 8;
const SPARE_WORDS = 2; // a single short word has more than eight in a second

export interface TurnText {
  readonly text: string;
  /** First UTF-16 units that later texts do not change. */
  readonly stable: number;
}

/** The graphs for the work that a function names at each run. */
export type GraphsFor = (work: () => Work) => MoonshineGraphs;

const NO_TEXT: TurnText = { text: '', stable: 0 };

export class SpokenTurn {
  readonly #model: MoonshineModel;
  readonly #graphsFor: GraphsFor;
  /** Texts of the segments that are complete. */
  #texts: string[] = [];
  /** Samples of the segment and what follows. */
  #sound = new Float32Array(FIRST_ROOM);
  #count = 0;
  /** Samples that belong to the turn: in a pause no later ones. */
  #limit = Infinity;
  /** Samples that the stream has. */
  #fed = 0;
  #energy = new SpeechEnergy();
  /** Speech was found in the segment. Later noise does not undo that. */
  #hasSpeech = false;
  #stream: MoonshineStream | undefined;
  #work: Work | undefined;
  /** Units that were promised of the text. */
  #stable = 0;
  /** The text of the pause that lasts. */
  #held: TurnText | undefined;
  #heldCount = 0;

  constructor(model: MoonshineModel, graphsFor: GraphsFor) {
    this.#model = model;
    this.#graphsFor = graphsFor;
  }

  /** Takes samples of 16 kHz. */
  add(samples: Float32Array): void {
    if (this.#count + samples.length > this.#sound.length) {
      const larger = new Float32Array(Math.max(this.#count + samples.length, 2 * this.#sound.length));
      larger.set(this.#sound.subarray(0, this.#count));
      this.#sound = larger;
    }
    this.#sound.set(samples, this.#count);
    this.#count += samples.length;
    if (this.#count - this.#limit > MOST_OF_PAUSE) this.#forgetPause();
  }

  /** Samples of the segment that is not complete. */
  get waiting(): number {
    return Math.min(this.#count, this.#limit);
  }

  get isPaused(): boolean {
    return this.#limit !== Infinity;
  }

  /** The segment is as long as one may be. */
  get isOverdue(): boolean {
    return this.waiting >= LONGEST;
  }

  /** The speech may have ended with the last sample. */
  pause(): void {
    this.#limit = this.#count;
  }

  /** The speech goes on. `resumeText` follows, once no text is being made. */
  resume(): void {
    this.#limit = Infinity;
  }

  /** Ends the turn: in a pause where that began. Returns the later samples, which are not of the turn. */
  end(): Float32Array {
    this.#limit = this.waiting;
    const rest = this.#sound.slice(this.#limit, this.#count);
    this.#count = this.#limit;
    return rest;
  }

  /** Recognises the sound so far; undefined if there is nothing new. Cuts a segment that is long enough. */
  async partialText(work: Work): Promise<TurnText | undefined> {
    while (this.isOverdue) await this.#cutLong(work);
    const end = this.waiting;
    this.#feed(end);
    if (!this.#hasSpeech) return undefined;
    const got = await this.#streamFor(work).partial();
    return got && this.#told(got);
  }

  /** Recognises the sound up to the pause, and keeps the text until the turn is resumed or ends. */
  async pauseText(work: Work): Promise<TurnText> {
    while (this.isOverdue) await this.#cutLong(work);
    const end = this.waiting;
    const { text } = joinedWith(this.#texts, { text: await this.#segmentText(end, work), stable: 0 });
    this.#held = { text, stable: Math.min(text.length, this.#stable) };
    this.#heldCount = end;
    return this.#held;
  }

  /** Goes on behind the pause, whose text is forgotten or, in a long segment, kept for good. */
  resumeText(): void {
    const held = this.#held;
    this.#held = undefined;
    if (held === undefined || this.#heldCount < PAUSE_CUTS_FROM) return this.#stream?.resume();
    this.#texts = [held.text];
    return this.#nextSegment(this.#heldCount - LOOK_BEHIND);
  }

  /** The whole text. */
  async finalText(work: Work): Promise<TurnText> {
    const { text } = this.#held ?? (await this.pauseText(work));
    return { text, stable: text.length };
  }

  /** Ends the segment. Sound may come meanwhile, so the caller looks again. */
  async #cutLong(work: Work): Promise<void> {
    const place = this.#quietPlace();
    this.#texts.push(await this.#segmentText(place, work));
    this.#nextSegment(place);
  }

  async #segmentText(end: number, work: Work): Promise<string> {
    this.#feed(end);
    const features = Math.floor(end / FEATURE_SAMPLES);
    if (features === 0 || !this.#hasSpeech) return '';
    const stream = this.#streamFor(work);
    if (this.#fed > end) stream.cut(features);
    const text = this.#model.tokenizer.text((await stream.finish()).tokens);
    // What was promised stays.
    const isPromised = this.#stable > joinTexts(this.#texts).length;
    return !isPromised && isTooFast(text, end / RATE) ? '' : text;
  }

  #feed(end: number): void {
    if (end <= this.#fed) return;
    const samples = this.#sound.slice(this.#fed, end);
    this.#energy.add(samples);
    this.#hasSpeech ||= this.#energy.hasSpeech();
    this.#openStream().add(samples);
    this.#fed = end;
  }

  #streamFor(work: Work): MoonshineStream {
    this.#work = work;
    return this.#openStream();
  }

  #openStream(): MoonshineStream {
    const { config, rules } = this.#model;
    const mostCommitFrames = QUIET_FROM / FEATURE_SAMPLES;
    this.#stream ??= new MoonshineStream(this.#graphs(), config, { ...rules, mostCommitFrames });
    return this.#stream;
  }

  /** Graphs that run on behalf of the present work. */
  #graphs(): MoonshineGraphs {
    return this.#graphsFor(() => {
      if (this.#work === undefined) throw new RangeError('no text is being made');
      return this.#work;
    });
  }

  /** Forgets the silence behind the begin of the pause, up to its last second. */
  #forgetPause(): void {
    this.#sound.copyWithin(this.#limit, this.#count - LAST_OF_PAUSE, this.#count);
    this.#count = this.#limit + LAST_OF_PAUSE;
  }

  #nextSegment(place: number): void {
    this.#sound = this.#sound.slice(place, Math.max(this.#count, place + FIRST_ROOM));
    this.#count -= place;
    if (this.#limit !== Infinity) this.#limit -= place;
    this.#fed = 0;
    this.#energy = new SpeechEnergy();
    this.#hasSpeech = false;
    this.#stream = undefined;
  }

  /**
   * The feature in the middle of the quietest tenth of a second from 10 to 14 s; 14 s if none is quieter than
   * the rest.
   */
  #quietPlace(): number {
    const square = (at: number) => (this.#sound[at] ?? 0) ** 2;
    let sum = 0;
    for (let at = QUIET_FROM; at < QUIET_FROM + WINDOW; at++) sum += square(at);
    let [least, end, all, windows] = [sum, QUIET_FROM + WINDOW, 0, 0];
    for (let at = QUIET_FROM + WINDOW; at < LONGEST; at++) {
      sum += square(at) - square(at - WINDOW);
      all += sum;
      windows++;
      if (sum < least) [least, end] = [sum, at + 1];
    }
    const isQuiet = least <= LEAST_QUIETER * (all / windows);
    const middle = end - WINDOW / 2;
    return isQuiet ? middle - (middle % FEATURE_SAMPLES) : LONGEST;
  }

  #told({ tokens, committed }: Hypothesis): TurnText {
    const { tokenizer, hasSpaces } = this.#model;
    const text = tokenizer.text(tokens);
    const stable = tokenizer.stableUnits(tokens, committed, hasSpaces);
    const whole = joinedWith(this.#texts, { text, stable });
    this.#stable = Math.min(whole.text.length, Math.max(this.#stable, whole.stable));
    return { text: whole.text, stable: this.#stable };
  }
}

/** The texts of segments, the last of which has a stable part. */
function joinedWith(texts: readonly string[], last: TurnText): TurnText {
  const before = joinTexts(texts);
  const text = joinTexts([before, last.text]);
  if (text === '') return NO_TEXT;
  const stable = last.stable > 0 ? text.length - last.text.length + last.stable : before.length;
  return { text, stable: Math.min(text.length, stable) };
}

/** Nobody says so many words in so little time: the model has invented them. */
function isTooFast(text: string, seconds: number): boolean {
  const words = text.split(' ').filter((word) => word !== '').length;
  return words > MOST_WORDS_A_SECOND * seconds + SPARE_WORDS;
}
