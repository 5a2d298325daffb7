// Sessions of a recogniser behind HTTP, and the turns of a live caller. Sessions send sound to the
// transcription endpoint and tell the texts in the order of the sound. They cut out of a text what its sound
// does not explain.
import type { PcmRing } from '../../audio/pcm-ring.js';
import { asParleyError, ParleyError } from '../../errors.js';
import type { Time } from '../../time.js';
import { primaryTag, tagOfName } from '../language-names.js';
import {
  checkRate,
  type RecognisedText,
  type RecognitionListener,
  type RecognitionOptions,
  type RecognitionSession,
  type TurnOrder,
} from '../recogniser.js';
import type { RealtimeSocket, RealtimeTurn } from './realtime-client.js';
import { RingReader } from './ring-reader.js';
import { SoundPieces } from './sound-pieces.js';
import { guardText, type GuardedText } from './text-guard.js';
import {
  joinTexts,
  type Transcription,
  type TranscriptionClient,
  TRANSCRIPTION_RATE as RATE,
} from './transcription-client.js';

const LOOK_MS = 100; // between two looks into a live ring
const PRE_ROLL = RATE / 2; // samples before the order that begins a turn, which belong to it
const LONGEST_TURN_PIECE = 60; // seconds that one request carries of a turn
const REOPEN_MS = 5000; // between two realtime sockets of a session
const MOST_TURNS = 8; // turns of a live session that wait for their texts
/**
 * Least samples behind the order that begins a turn of voice activity detection, which ends no turn so soon.
 * A shorter turn has no speech: the client ended it before any was found.
 */
const LEAST_HEARD = RATE / 10;

export interface SessionParts {
  readonly client: Pick<TranscriptionClient, 'transcribe'>;
  readonly options: RecognitionOptions;
  readonly listener: RecognitionListener;
  readonly time: Time;
  /** Opens a realtime socket for the session; absent: there are no partial texts. */
  readonly openSocket?: (() => RealtimeSocket) | undefined;
  /** Called with the reason for which words of a text were cut. */
  readonly onCut: (reason: NonNullable<GuardedText['cut']>) => void;
  /** Called once when the session is over. */
  readonly onOver: () => void;
}

interface TextRequest {
  readonly text: Promise<Transcription>;
  /** Ends the request; the text rejects. */
  readonly giveUp: () => void;
}

export abstract class OpenAiSession implements RecognitionSession {
  readonly ended: Promise<void>;
  protected readonly parts: SessionParts;
  protected reader: RingReader | undefined;
  /** Samples of the sound so far. */
  protected taken = 0;
  /** Requests that are under way. */
  readonly #requests = new Set<AbortController>();
  #settle: { resolve: () => void; reject: (error: ParleyError) => void } | undefined;
  #ring: PcmRing | undefined;
  #isOver = false;
  /** The texts that are told, each after the one before. */
  #told: Promise<void> = Promise.resolve();
  #waiting = 0;
  /** The last text that was told and has words. */
  #last = '';

  constructor(parts: SessionParts) {
    this.parts = parts;
    this.ended = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    this.ended.catch(() => undefined); // whoever is interested awaits it
  }

  protected abstract readonly everyMs: number;
  protected abstract take(samples: Float32Array): void;
  protected abstract hasRoom(): boolean;
  /** Asks for the text of what is left. */
  protected abstract finish(): void | Promise<void>;
  abstract turn(order: TurnOrder): void;

  push(ring: PcmRing): void {
    if (this.#ring !== undefined) throw new ParleyError('WRONG_STATE', 'the session has a ring already');
    checkRate(ring, this.parts.options.sampleRate);
    this.#ring = ring;
    if (this.#isOver) return ring.abort(); // its writer learns that nobody reads
    this.reader = new RingReader(ring, {
      rate: RATE,
      everyMs: this.everyMs,
      time: this.parts.time,
      take: (samples) => {
        this.take(samples);
        this.taken += samples.length;
      },
      hasRoom: () => this.hasRoom(),
      over: (error) => (error === undefined ? this.orFail(this.#finish()) : this.fail(error)),
    });
  }

  end(): Promise<void> {
    if (this.#ring === undefined) this.close();
    this.#ring?.end();
    this.reader?.look();
    return this.ended;
  }

  close(): void {
    this.fail(new ParleyError('ABORTED', 'the recognition was given up'));
  }

  protected get isOver(): boolean {
    return this.#isOver;
  }

  /** Texts that were asked for and not told yet. */
  protected get waiting(): number {
    return this.#waiting;
  }

  /** Asks for the text of a sound. */
  protected ask(samples: Float32Array): TextRequest {
    const { language, context } = this.parts.options;
    const given = new AbortController();
    if (this.#isOver) given.abort();
    else this.#requests.add(given);
    const text = this.parts.client.transcribe({
      samples,
      language: language === undefined || language === '' ? undefined : primaryTag(language),
      prompt: context,
      signal: given.signal,
    });
    const over = () => void this.#requests.delete(given);
    text.then(over, over); // it may be given up before it is awaited
    return { text, giveUp: () => given.abort() };
  }

  /** Tells a text once it is there and those before it were told. The session fails if it rejects. */
  protected tell(text: Promise<RecognisedText>): void {
    this.#waiting++;
    text.catch(() => undefined);
    this.#told = this.#told.then(async () => {
      try {
        const got = await text;
        if (this.#isOver) return;
        const final = this.guarded(got, (reason) => this.parts.onCut(reason));
        if (final.text !== '') this.#last = final.text;
        this.parts.listener.final({ ...final, stable: final.text.length });
      } catch (error) {
        this.fail(asParleyError(error, 'ENGINE_FAILED'));
      } finally {
        this.#waiting--;
        if (!this.#isOver) this.reader?.look();
      }
    });
  }

  /** The text without the words that its sound does not explain. */
  protected guarded(
    got: RecognisedText,
    onCut: (reason: NonNullable<GuardedText['cut']>) => void = () => undefined,
  ): RecognisedText {
    const { beginSeconds, endSeconds, speech = [{ beginSeconds, endSeconds }] } = got;
    const seconds = speech.reduce((sum, one) => sum + one.endSeconds - one.beginSeconds, 0);
    const { context: prompt = '' } = this.parts.options;
    const { text, cut } = guardText(got.text, { seconds, prompt, last: this.#last });
    if (cut === undefined) return got;
    onCut(cut);
    return { ...got, text };
  }

  /** No partial text is stable: the final one is recognised anew. */
  protected text(part: number, first: number, end: number, got: Transcription): RecognisedText {
    const { language = this.parts.options.language } = got;
    return {
      part,
      text: got.text,
      stable: 0,
      language: language === undefined || language === '' ? undefined : tagOf(language),
      beginSeconds: first / RATE,
      endSeconds: end / RATE,
    };
  }

  /** Fails the session if the work rejects. */
  protected orFail(work: Promise<void>): void {
    work.catch((error: unknown) => this.fail(asParleyError(error, 'ENGINE_FAILED')));
  }

  protected fail(error: ParleyError): void {
    if (!this.#over()) return;
    this.reader?.stop();
    for (const request of this.#requests) request.abort();
    this.#settle?.reject(error);
  }

  async #finish(): Promise<void> {
    await this.finish();
    await this.#told;
    if (this.#over()) this.#settle?.resolve();
  }

  /** True the first time. */
  #over(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.closed();
    this.parts.onOver();
    return true;
  }

  /** Called once when the session is over. */
  protected closed(): void {
    // A file holds nothing open.
  }
}

interface Turn {
  readonly part: number;
  /** Its first sample. */
  readonly first: number;
  /** Samples before the order that began it. */
  readonly begunAt: number;
  readonly pieces: SoundPieces;
  /** Texts of the pieces that are complete. */
  readonly texts: Promise<Transcription>[];
  /** Texts of the pieces as far as they are known. */
  readonly known: string[];
  /** Takes the sound of the piece that is not complete. */
  realtime: RealtimeTurn | undefined;
  early: EarlyText | undefined;
}

/** At a pause the text is asked for as if the turn were over. */
interface EarlyText extends TextRequest {
  /** Sample of the pause. */
  readonly end: number;
}

export class LiveSession extends OpenAiSession {
  protected readonly everyMs = LOOK_MS;
  /** Sound that is in no turn yet. */
  readonly #before = new SoundPieces(RATE, Infinity);
  #socket: RealtimeSocket | undefined;
  #socketOpenedMs = -Infinity;
  readonly #isGated: boolean;
  /** Voice activity detection begins turns. */
  readonly #isDetected: boolean;
  #turn: Turn | undefined;
  #parts = 0;

  constructor(parts: SessionParts) {
    super(parts);
    this.#isGated = parts.options.gated === true;
    this.#isDetected = this.#isGated && parts.options.endedByHand !== true;
    this.#openSocket();
    if (!this.#isGated) this.#begin();
  }

  turn(order: TurnOrder): void {
    if (this.isOver) return;
    this.reader?.look(); // an order is about the sound before it
    if (order === 'begin') this.#begin();
    if (order === 'begin' || order === 'resume') this.#goOn();
    if (order === 'pause') this.#pause();
    if (order === 'end') this.#end();
  }

  protected take(samples: Float32Array): void {
    const turn = this.#turn;
    if (turn === undefined) {
      this.#before.add(samples);
      this.#before.keepLast(PRE_ROLL);
    } else {
      this.#add(turn, samples);
    }
  }

  protected hasRoom(): boolean {
    return true; // what is left in a live ring would be lost
  }

  protected finish(): void {
    this.#end();
  }

  protected override closed(): void {
    this.#socket?.close();
  }

  /** Opens the realtime socket, also one that failed, but not again at once. */
  #openSocket(): void {
    const { options, openSocket, time } = this.parts;
    if (options.partials !== true || openSocket === undefined || this.#socket?.usable === true) return;
    if (time.now() - this.#socketOpenedMs < REOPEN_MS) return;
    this.#socketOpenedMs = time.now();
    this.#socket = openSocket();
  }

  #begin(): void {
    if (this.#turn !== undefined) return;
    const before = this.#before.take();
    this.#openSocket();
    const cutAt = this.#socket?.usable === true ? 'end' : 'quiet'; // a socket has had its sound already
    const turn: Turn = {
      part: this.#parts++,
      first: this.taken - before.length,
      begunAt: this.taken,
      pieces: new SoundPieces(RATE, LONGEST_TURN_PIECE, cutAt),
      texts: [],
      known: [],
      realtime: undefined,
      early: undefined,
    };
    this.#turn = turn;
    turn.pieces.add(before);
  }

  #add(turn: Turn, samples: Float32Array): void {
    const piece = turn.pieces.add(samples);
    if (this.#socket?.usable === true && this.#isHeard(turn, samples.length)) {
      if (turn.realtime === undefined) {
        const index = turn.texts.length;
        turn.realtime = this.#socket.begin((text) => this.#partial(turn, index, text));
        turn.realtime.append(piece ?? turn.pieces.copy());
      } else {
        turn.realtime.append(samples);
      }
    }
    if (piece !== undefined) this.#complete(turn, piece);
  }

  /** Speech was found in the turn, or nobody looked for it. */
  #isHeard({ begunAt, texts, early }: Turn, added = 0): boolean {
    const isLong = this.taken + added - begunAt >= LEAST_HEARD;
    return !this.#isDetected || isLong || texts.length > 0 || early !== undefined;
  }

  /** Asks for the text of a piece. */
  #complete(turn: Turn, piece: Float32Array): void {
    const { realtime } = turn;
    turn.realtime = undefined;
    realtime?.end();
    const text =
      realtime?.text.then(
        (whole) => ({ text: whole, language: undefined }),
        () => this.ask(piece).text, // the socket failed; the sound is still here
      ) ?? this.ask(piece).text;
    const index = turn.texts.push(text) - 1;
    text.then(
      (got) => (turn.known[index] = got.text),
      () => undefined, // the session fails when the turn is told
    );
  }

  #partial(turn: Turn, index: number, text: string): void {
    turn.known[index] = text;
    const whole = { text: joinTexts(turn.known), language: undefined };
    if (this.isOver || whole.text === '' || this.#turn !== turn) return;
    const partial = this.guarded(this.text(turn.part, turn.first, this.taken, whole));
    if (partial.text !== '') this.parts.listener.partial?.(partial);
  }

  #pause(): void {
    const turn = this.#turn;
    if (turn === undefined || turn.early !== undefined || turn.realtime !== undefined) return;
    if (turn.pieces.count === 0) return;
    const early: EarlyText = { ...this.ask(turn.pieces.copy()), end: this.taken };
    turn.early = early;
    const known = Promise.all([...turn.texts, early.text]).then(joined, () => undefined);
    this.orFail(known.then((got) => this.#paused(turn, early, got)));
  }

  /** Tells the text of a pause that lasts; undefined: it could not be had. */
  #paused(turn: Turn, early: EarlyText, got: Transcription | undefined): void {
    if (got === undefined || this.isOver || this.#turn !== turn || turn.early !== early) return;
    this.parts.listener.pause?.(this.guarded(this.text(turn.part, turn.first, early.end, got)));
  }

  #goOn(): void {
    this.#turn?.early?.giveUp();
    if (this.#turn !== undefined) this.#turn.early = undefined;
  }

  #end(): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    this.#turn = undefined;
    if (this.waiting >= MOST_TURNS) {
      const message = `${MOST_TURNS} turns wait for the transcription server; it is too slow`;
      return this.fail(new ParleyError('ENGINE_BUSY', message));
    }
    const { part, first, early, pieces, texts } = turn;
    const end = early?.end ?? this.taken;
    const rest = pieces.take();
    if (!this.#isHeard(turn)) {
      this.#before.add(rest); // of the next turn, if speech is found
      if (end > first) texts.push(Promise.resolve({ text: '', language: undefined }));
    } else if (early !== undefined) {
      texts.push(early.text);
      this.#before.add(rest.subarray(rest.length - Math.min(rest.length, this.taken - end)));
    } else if (rest.length > 0) {
      this.#complete(turn, rest);
    }
    if (end > first) this.tell(Promise.all(texts).then((got) => this.text(part, first, end, joined(got))));
    else this.#parts--;
    if (this.#isGated) this.#before.keepLast(PRE_ROLL);
    else this.#begin();
  }
}

/** The pieces may be in several languages: the first counts. */
function joined(texts: readonly Transcription[]): Transcription {
  const language = texts.find((one) => one.language !== undefined)?.language;
  return { text: joinTexts(texts.map(({ text }) => text)), language };
}

/** Servers name a language by a tag or in English. */
function tagOf(language: string): string {
  const name = language.toLowerCase();
  return tagOfName(name) ?? primaryTag(name);
}
