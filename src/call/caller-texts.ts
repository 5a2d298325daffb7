// Turns the speech of callers into text, turn by turn: the ear of a call feeds the recogniser, and the call's
// hearing finds the turns.
//
//   ear of the call ─▶ ring ─▶ recogniser ◀── turns ── hearing of the call
//                                 └─▶ partial and final texts ─▶ all who follow the caller
//
// If only orders end turns, the recogniser gets all sound: voice activity decides nothing.
//
// A caller is recognised while somebody follows. All who follow share one recognition.
import type { PcmRing } from '../audio/pcm-ring.js';
import type { RecognisedText, Recogniser, RecognitionSession } from '../engines/recogniser.js';
import { asParleyError, type ParleyError } from '../errors.js';
import { tagOfStated } from '../speaking/language-plan.js';
import type { MediaSocket } from '../media/media-socket.js';
import type { Time } from '../time.js';
import type { Call } from './call.js';
import type { CallEvent } from './utterance.js';

/** The words of the caller in one turn. Times are in milliseconds of the monotonic clock. */
export interface CallerText {
  /** Number of the turn in the call; each has one final text, which is empty if no words were found. */
  readonly number: number;
  readonly text: string;
  readonly isFinal: boolean;
  /** BCP 47 tag; undefined if it is not known. */
  readonly language: string | undefined;
  readonly beginMs: number;
  readonly endMs: number;
}

export interface CallerListener {
  readonly text: (text: CallerText) => void;
  /** The caller's speech is not recognised for now. */
  readonly failed: (error: ParleyError) => void;
}

/** Helps the recogniser with speech that it has not heard yet. */
export interface ExpectedSpeech {
  /** BCP 47 tag; undefined: it is found. */
  readonly language?: string | undefined;
  /** Names and words that may be said. */
  readonly context?: string | undefined;
  /**
   * Only orders end turns, and a turn has all sound while this is `open`, whether or not it is speech.
   * Undefined: voice activity finds the turns.
   */
  readonly byHand?: 'open' | 'closed' | undefined;
}

type HeardCall = Pick<Call, 'id' | 'observe' | 'follow' | 'hear' | 'closed'>;
type CallerSocket = Pick<MediaSocket, 'openEar' | 'closeEar'>;

interface CallerTextsParts {
  /** Undefined: no caller is recognised. */
  readonly recogniser: Recogniser | undefined;
  readonly time: Time;
}

const EAR_MS = 30_000; // of sound that may wait while the recogniser is loaded
const REOPEN_MS = 5000; // between a recognition that failed and the next

export class CallerTexts {
  readonly #parts: CallerTextsParts;
  readonly #callers = new Map<string, RecognisedCaller>();

  constructor(parts: CallerTextsParts) {
    this.#parts = parts;
  }

  get isCallerRecognised(): boolean {
    return this.#parts.recogniser !== undefined;
  }

  /**
   * Tells what the caller says from now on, until the returned function is called. `expected` holds for all
   * who follow, from the next turn on. While the far end sends no sound, nothing is told.
   */
  follow(call: HeardCall, listener: CallerListener, expected?: ExpectedSpeech): () => void {
    const { recogniser } = this.#parts;
    if (recogniser === undefined) return () => undefined;
    let caller = this.#callers.get(call.id);
    if (caller === undefined) {
      caller = new RecognisedCaller(call, recogniser, this.#parts.time);
      this.#callers.set(call.id, caller);
      void call.closed.then(() => this.#callers.delete(call.id));
    }
    return caller.follow(listener, expected);
  }
}

interface EarTimes {
  readonly openedMs: number;
  /** Number of its first text. */
  readonly firstNumber: number;
}

class RecognisedCaller {
  readonly #call: HeardCall;
  readonly #recogniser: Recogniser;
  readonly #time: Time;
  readonly #listeners = new Set<CallerListener>();
  #expected: ExpectedSpeech = {};
  #stopObserving: () => void = () => undefined;
  #stopHearing: () => void = () => undefined;
  #ear: CallerEar | undefined;
  /** The ear before, whose texts have not all come. */
  #earBefore: CallerEar | undefined;
  /** Texts of the ear that wait for those of the ear before. */
  #held: (() => void)[] = [];
  /** Its session does not know what is expected now. */
  #isStale = false;
  #failedAtMs = -Infinity;
  #nextNumber = 0;
  #isSpeaking = false;

  constructor(call: HeardCall, recogniser: Recogniser, time: Time) {
    this.#call = call;
    this.#recogniser = recogniser;
    this.#time = time;
    void call.closed.then(() => {
      this.#stop();
      this.#listeners.clear();
    });
  }

  follow({ text, failed }: CallerListener, expected?: ExpectedSpeech): () => void {
    const listener = { text, failed };
    this.#listeners.add(listener);
    if (expected !== undefined) this.#expect(expected);
    if (this.#listeners.size === 1) this.#start();
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#stop();
    };
  }

  #expect(expected: ExpectedSpeech): void {
    const { language, context } = this.#expected;
    const wasByHand = this.#isByHand;
    this.#expected = expected;
    if (expected.language !== language || expected.context !== context)
      this.#isStale = this.#ear !== undefined;
    if (!this.#isByHand && wasByHand) this.#detectAgain();
    this.#renewEar();
    this.#openTurn();
  }

  get #isByHand(): boolean {
    return this.#expected.byHand !== undefined;
  }

  /** True if only orders end turns. */
  #openTurn(): void {
    if (this.#expected.byHand === 'open' && this.#ear?.isTurn === false) this.#ear.speechStarted(true);
  }

  /** Sound that the client has not committed is dropped. A caller who speaks now has begun a turn. */
  #detectAgain(): void {
    this.#ear?.dropTurn();
    if (this.#isSpeaking) this.#ear?.speechStarted();
  }

  /** The recogniser gets to know what is expected with another session, between two turns. */
  #renewEar(): void {
    if (!this.#isStale || this.#ear?.isBusy === true) return;
    this.#leaveEar();
    this.#reopenEar();
  }

  /** As `#renewEar`, where the next turn begins at once: the texts of the ear before are still to come. */
  #followEar(): void {
    if (!this.#isStale || this.#earBefore !== undefined) return;
    this.#isStale = false;
    this.#earBefore = this.#ear;
    this.#ear = undefined;
    this.#reopenEar();
    this.#retire();
  }

  /** Closes the ear before once its texts have come. */
  #retire(): void {
    if (this.#earBefore?.isBusy === true) return;
    this.#earBefore?.close();
    this.#earBefore = undefined;
    for (const tell of this.#held.splice(0)) tell();
  }

  #start(): void {
    const stopObserving = this.#call.observe((event) => this.#observe(event));
    const stopFollowing = this.#call.follow(() => {
      this.#leaveEar();
      this.#hear();
      this.#reopenEar();
    });
    this.#stopObserving = () => {
      stopObserving();
      stopFollowing();
    };
  }

  #stop(): void {
    this.#stopObserving();
    this.#stopObserving = () => undefined;
    this.#isSpeaking = false;
    this.#leaveEar();
    this.#stopHearing();
    this.#stopHearing = () => undefined;
  }

  /** The far end may send no sound. */
  #hear(): void {
    try {
      this.#stopHearing();
      this.#stopHearing = this.#call.hear();
    } catch (error) {
      if (asParleyError(error, 'WRONG_STATE').code !== 'CALL_STATE') throw error;
    }
  }

  #leaveEar(): void {
    this.#isStale = false;
    this.#ear?.close();
    this.#ear = undefined;
    this.#earBefore?.close();
    this.#earBefore = undefined;
    this.#held = [];
  }

  #observe(event: CallEvent): void {
    switch (event.type) {
      case 'speech.started':
        this.#isSpeaking = true;
        this.#reopenEar();
        return this.#isByHand ? undefined : this.#ear?.speechStarted();
      case 'speech.stopped':
        this.#isSpeaking = false;
        return this.#isByHand ? undefined : this.#ear?.speechStopped();
      case 'turn.ended':
        return this.#turnEnded(event.reason === 'client');
      default:
        return undefined;
    }
  }

  /** A turn that was ended by order has a text in any case: its words may be too short to be found. */
  #turnEnded(isByOrder: boolean): void {
    if (isByOrder) {
      this.#reopenEar();
      if (this.#ear?.isTurn === false) this.#ear.speechStarted();
    }
    this.#ear?.turnEnded();
    if (!this.#isByHand) return this.#isSpeaking ? this.#ear?.speechStarted() : undefined; // the next turn
    if (this.#expected.byHand === 'open') this.#followEar();
    return this.#openTurn();
  }

  /** The ear is open before the caller speaks: a turn begins with the sound before its onset was found. */
  #reopenEar(): void {
    if (this.#ear !== undefined || this.#time.now() - this.#failedAtMs < REOPEN_MS) return;
    try {
      this.#ear = this.#openEar();
      this.#openTurn();
    } catch (error) {
      this.#failed(asParleyError(error, 'ENGINE_FAILED'));
    }
  }

  #openEar(): CallerEar | undefined {
    let socket: CallerSocket | undefined;
    this.#call.follow((port) => (socket = port.socket))();
    if (socket === undefined) return undefined;
    // The numbers of the turns whose texts the ear before still owes are taken.
    const firstNumber = this.#nextNumber + (this.#earBefore?.awaited ?? 0);
    const times = { openedMs: this.#time.now(), firstNumber };
    const { language, context } = this.#expected;
    const expected = { language: tagOfStated(language), context };
    const ear: CallerEar = new CallerEar(socket, this.#recogniser, expected, {
      text: (text, isFinal) => {
        const tell = () => this.#told(text, isFinal, times);
        if (this.#earBefore === undefined || this.#earBefore === ear) tell();
        else this.#held.push(tell);
        if (this.#earBefore === ear) this.#retire();
      },
      failed: (error) => {
        if (this.#ear === ear) this.#ear = undefined;
        this.#failed(error);
        if (this.#earBefore === ear) this.#retire();
      },
    });
    return ear;
  }

  #told({ part, text, language, beginSeconds, endSeconds }: RecognisedText, isFinal: boolean, ear: EarTimes) {
    const number = ear.firstNumber + part;
    this.#nextNumber = Math.max(this.#nextNumber, number + 1);
    const at = (seconds: number) => ear.openedMs + seconds * 1000;
    const times = { beginMs: at(beginSeconds), endMs: at(endSeconds) };
    for (const listener of this.#listeners) listener.text({ number, text, isFinal, language, ...times });
    this.#renewEar();
  }

  #failed(error: ParleyError): void {
    this.#failedAtMs = this.#time.now();
    for (const listener of this.#listeners) listener.failed(error);
  }
}

interface EarListener {
  readonly text: (text: RecognisedText, isFinal: boolean) => void;
  readonly failed: (error: ParleyError) => void;
}

/** The caller's sound on its way to the recogniser. */
class CallerEar {
  readonly #socket: CallerSocket;
  readonly #ring: PcmRing;
  readonly #session: RecognitionSession;
  readonly #listener: EarListener;
  #isTurn = false;
  /** Samples in the ring when the turn began, if it followed another one at once; else -1. */
  #openedAt = -1;
  /** Samples in the ring when the last turn ended. */
  #endedAt = -1;
  /** Number of the turn that is open, or of the next one. */
  #turn = 0;
  /** The turn of each part of the session: a turn without sound has none. */
  readonly #turnOfPart: number[] = [];
  /** Turns whose texts are not told. */
  readonly #dropped = new Set<number>();
  /** Turns that are over, and whose texts have not come. */
  readonly #over: { readonly turn: number; readonly hasSound: boolean }[] = [];
  #isClosed = false;

  /** Throws QUEUE_FULL if the call has too many listeners, and what the recogniser throws. */
  constructor(
    socket: CallerSocket,
    recogniser: Recogniser,
    { language, context }: ExpectedSpeech,
    listener: EarListener,
  ) {
    this.#socket = socket;
    this.#listener = listener;
    this.#ring = socket.openEar({ channels: 1, capacityMs: EAR_MS });
    try {
      const sampleRate = this.#ring.rate;
      this.#session = recogniser.open(
        { language, context, use: 'live', gated: true, partials: true, sampleRate },
        { partial: (text) => this.#tell(text, false), final: (text) => this.#final(text) },
      );
      this.#session.push(this.#ring);
    } catch (error) {
      this.#closeRing();
      throw error;
    }
    this.#session.ended
      .catch((error: unknown) => {
        this.#over.length = 0;
        if (!this.#isClosed) listener.failed(asParleyError(error, 'ENGINE_FAILED'));
      })
      .finally(() => this.close());
  }

  get isTurn(): boolean {
    return this.#isTurn;
  }

  /** Turns that are over, and whose texts have not come. */
  get awaited(): number {
    return this.#over.length;
  }

  /** The text of a turn is still to come. */
  get isBusy(): boolean {
    return this.#isTurn || this.awaited > 0;
  }

  /** A turn that an order ends may begin where the one before has ended, and have no sound. */
  speechStarted(isEndedByHand = false): void {
    if (!this.#isTurn) {
      this.#turnOfPart.push(this.#turn);
      this.#openedAt = isEndedByHand && this.#written === this.#endedAt ? this.#endedAt : -1;
    }
    this.#session.turn(this.#isTurn ? 'resume' : 'begin');
    this.#isTurn = true;
  }

  speechStopped(): void {
    if (this.#isTurn) this.#session.turn('pause');
  }

  turnEnded(): void {
    if (!this.#isTurn) return;
    const turn = this.#turn++;
    const hasSound = this.#hasSound;
    this.#over.push({ turn, hasSound });
    if (hasSound) this.#end();
    else this.#turnOfPart[this.#turnOfPart.length - 1] = this.#turn; // it goes on with another number
    this.#tellSilent();
  }

  /** Ends the turn, and tells nothing of it. */
  dropTurn(): void {
    if (!this.#isTurn || !this.#hasSound) return;
    this.#dropped.add(this.#turn++);
    this.#end();
  }

  /** Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#session.close();
    this.#closeRing();
  }

  get #written(): number {
    return this.#ring.status()?.written ?? 0;
  }

  /** A recogniser tells nothing of a turn without sound. Others have some from before their onset. */
  get #hasSound(): boolean {
    return this.#openedAt < 0 || this.#written > this.#openedAt;
  }

  #end(): void {
    this.#isTurn = false;
    this.#endedAt = this.#written;
    this.#session.turn('end');
  }

  #final(text: RecognisedText): void {
    if (this.#over[0]?.turn === this.#turnOf(text)) this.#over.shift();
    this.#tell(text, true);
    this.#tellSilent();
  }

  #tellSilent(): void {
    while (this.#over[0]?.hasSound === false) {
      const { turn: part = 0 } = this.#over.shift() ?? {};
      const at = Math.max(0, this.#endedAt) / this.#ring.rate;
      const times = { beginSeconds: at, endSeconds: at };
      if (!this.#isClosed)
        this.#listener.text({ part, text: '', stable: 0, language: undefined, ...times }, true);
    }
  }

  #tell(text: RecognisedText, isFinal: boolean): void {
    const part = this.#turnOf(text);
    if (!this.#isClosed && !this.#dropped.has(part)) this.#listener.text({ ...text, part }, isFinal);
  }

  #turnOf({ part }: RecognisedText): number {
    return this.#turnOfPart[part] ?? part;
  }

  #closeRing(): void {
    this.#socket.closeEar(this.#ring);
    this.#ring.close();
  }
}
