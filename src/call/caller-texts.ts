// Turns the speech of callers into text, turn by turn: the ear of a call feeds the recogniser, and the call's
// hearing finds the turns.
//
//   ear of the call ─▶ ring ─▶ recogniser ◀── turns ── hearing of the call
//                                 └─▶ partial and final texts ─▶ all who follow the caller
//
// A caller is recognised while somebody follows. All who follow share one recognition.
import type { PcmRing } from '../audio/pcm-ring.js';
import type { RecognisedText, Recogniser, RecognitionSession } from '../engines/recogniser.js';
import { asParleyError, type ParleyError } from '../errors.js';
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
    if (expected.language === language && expected.context === context) return;
    this.#expected = expected;
    this.#isStale = this.#ear !== undefined;
    this.#renewEar();
  }

  /** The recogniser gets to know what is expected with another session, between two turns. */
  #renewEar(): void {
    if (!this.#isStale || this.#ear?.isBusy === true) return;
    this.#leaveEar();
    this.#reopenEar();
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
  }

  #observe(event: CallEvent): void {
    switch (event.type) {
      case 'speech.started':
        this.#isSpeaking = true;
        this.#reopenEar();
        return this.#ear?.speechStarted();
      case 'speech.stopped':
        this.#isSpeaking = false;
        return this.#ear?.speechStopped();
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
    if (this.#isSpeaking) this.#ear?.speechStarted(); // the next turn
  }

  /** The ear is open before the caller speaks: a turn begins with the sound before its onset was found. */
  #reopenEar(): void {
    if (this.#ear !== undefined || this.#time.now() - this.#failedAtMs < REOPEN_MS) return;
    try {
      this.#ear = this.#openEar();
    } catch (error) {
      this.#failed(asParleyError(error, 'ENGINE_FAILED'));
    }
  }

  #openEar(): CallerEar | undefined {
    let socket: CallerSocket | undefined;
    this.#call.follow((port) => (socket = port.socket))();
    if (socket === undefined) return undefined;
    const times = { openedMs: this.#time.now(), firstNumber: this.#nextNumber };
    const ear: CallerEar = new CallerEar(socket, this.#recogniser, this.#expected, {
      text: (text, isFinal) => this.#told(text, isFinal, times),
      failed: (error) => {
        if (this.#ear === ear) this.#ear = undefined;
        this.#failed(error);
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
  #isTurn = false;
  /** Turns that are over, and whose texts have not come. */
  #awaited = 0;
  #isClosed = false;

  /** Throws QUEUE_FULL if the call has too many listeners, and what the recogniser throws. */
  constructor(
    socket: CallerSocket,
    recogniser: Recogniser,
    expected: ExpectedSpeech,
    { text, failed }: EarListener,
  ) {
    this.#socket = socket;
    this.#ring = socket.openEar({ channels: 1, capacityMs: EAR_MS });
    try {
      this.#session = recogniser.open(
        { ...expected, use: 'live', gated: true, partials: true, sampleRate: this.#ring.rate },
        {
          partial: (one) => this.#isClosed || text(one, false),
          final: (one) => {
            this.#awaited = Math.max(0, this.#awaited - 1);
            if (!this.#isClosed) text(one, true);
          },
        },
      );
      this.#session.push(this.#ring);
    } catch (error) {
      this.#closeRing();
      throw error;
    }
    this.#session.ended
      .catch((error: unknown) => {
        if (!this.#isClosed) failed(asParleyError(error, 'ENGINE_FAILED'));
      })
      .finally(() => this.close());
  }

  get isTurn(): boolean {
    return this.#isTurn;
  }

  /** The text of a turn is still to come. */
  get isBusy(): boolean {
    return this.#isTurn || this.#awaited > 0;
  }

  speechStarted(): void {
    this.#session.turn(this.#isTurn ? 'resume' : 'begin');
    this.#isTurn = true;
  }

  speechStopped(): void {
    if (this.#isTurn) this.#session.turn('pause');
  }

  turnEnded(): void {
    if (!this.#isTurn) return;
    this.#isTurn = false;
    this.#awaited++;
    this.#session.turn('end');
  }

  /** Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#session.close();
    this.#closeRing();
  }

  #closeRing(): void {
    this.#socket.closeEar(this.#ring);
    this.#ring.close();
  }
}
