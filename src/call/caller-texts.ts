// Turns the speech of callers into text, turn by turn: the ear of a call feeds the recogniser, and the call's
// hearing finds the turns.
//
//   ear of the call ─▶ ring ─▶ recogniser ◀── turns ── hearing of the call
//                                 └─▶ partial and final texts ─▶ all who follow the caller
//
// It alone joins turns and texts, by the numbers that the call gives its turns. A turn that no ear heard is
// told as such when it ends.
//
// If only orders end turns, the recogniser gets all sound: voice activity decides nothing.
//
// The call learns each text before those who follow: the words decide when a turn ends and what interrupts.
//
// A caller is recognised while somebody follows. All who follow share one recognition.
import type { PcmRing } from '../audio/pcm-ring.js';
import type { RecognisedText, Recogniser, RecognitionSession } from '../engines/recogniser.js';
import { asParleyError, ParleyError } from '../errors.js';
import { tagOfStated } from '../speaking/language-plan.js';
import type { MediaSocket } from '../media/media-socket.js';
import type { Time } from '../time.js';
import type { Call } from './call.js';
import type { RecognisedWords } from './caller-speech.js';
import { CallerTurns, tellEach, type TurnListener, type TurnWords } from './caller-turns.js';
import type { CallEvent } from './call-events.js';
import { writtenWords } from './smart-format.js';

/** The words of the caller in one turn so far. Times are in milliseconds of the monotonic clock. */
export interface CallerText extends TurnWords {
  /** Number of the turn in the call. */
  readonly number: number;
  readonly isFinal: boolean;
  readonly beginMs: number;
  readonly endMs: number;
}

export interface CallerListener extends TurnListener {
  /** A text has changed, or is final. A turn that the recogniser loses has no final text. */
  text?(text: CallerText): void;
  /** The caller's speech is not recognised for now. */
  failed?(error: ParleyError): void;
  /** It gets words that are concealed, too. False, if absent. */
  readonly seesConcealed?: boolean;
  /** When it leaves, the words of a turn that is not over are dropped for all. False, if absent. */
  readonly dropsOpenTurn?: boolean;
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
  /**
   * The listener that states it gets texts with figures: 4207 for "four two oh seven". Undefined: the
   * server's default.
   */
  readonly smartFormat?: boolean | undefined;
}

export type HeardCall = Pick<
  Call,
  'id' | 'turn' | 'observe' | 'follow' | 'hear' | 'words' | 'expectWords' | 'closed'
>;
type CallerSocket = Pick<MediaSocket, 'openEar' | 'closeEar'>;

interface CallerTextsParts {
  /** Undefined: no caller is recognised. */
  readonly recogniser: Recogniser | undefined;
  readonly time: Time;
  /** Listeners that do not state it get texts with figures. False, if absent. */
  readonly smartFormat?: boolean;
}

const EAR_MS = 30_000; // of sound that may wait while the recogniser is loaded
const REOPEN_MS = 5000; // between a recognition that failed and the next
const NO_WORDS: TurnWords = { text: '', language: undefined };
const CONCEALED = '*';

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
    return this.#callerOf(call)?.follow(listener, expected) ?? (() => undefined);
  }

  /**
   * Listeners get `*` in place of the words until the returned function is called, unless they see concealed
   * ones.
   */
  conceal(call: HeardCall): () => void {
    return this.#callerOf(call)?.conceal() ?? (() => undefined);
  }

  #callerOf(call: HeardCall): RecognisedCaller | undefined {
    const { recogniser } = this.#parts;
    const known = this.#callers.get(call.id);
    if (known !== undefined || recogniser === undefined) return known;
    const caller = new RecognisedCaller(call, recogniser, this.#parts);
    this.#callers.set(call.id, caller);
    void call.closed.then(() => this.#callers.delete(call.id));
    return caller;
  }
}

/** A listener that gets the words with figures. */
export function writing(given: CallerListener, language: () => string | undefined): CallerListener {
  const listener: CallerListener = { ...given };
  if (given.text !== undefined) listener.text = (one) => given.text?.(writtenWords(one, language()));
  if (given.said !== undefined) listener.said = (turn) => given.said?.(writtenWords(turn, language()));
  return listener;
}

class RecognisedCaller {
  readonly #call: HeardCall;
  readonly #recogniser: Recogniser;
  readonly #time: Time;
  readonly #smartFormat: boolean;
  readonly #listeners = new Set<CallerListener>();
  readonly #turns: CallerTurns;
  #expected: ExpectedSpeech = {};
  #stopObserving: () => void = () => undefined;
  #stopHearing: () => void = () => undefined;
  #ear: CallerEar | undefined;
  /** The ear before, whose texts have not all come. */
  #earBefore: CallerEar | undefined;
  /** Its session does not know what is expected now. */
  #isStale = false;
  #failedAtMs = -Infinity;
  /** Why there is no ear. */
  #failure: ParleyError | undefined;
  #isStarted = false;
  #isSpeaking = false;
  /** The turn and words that the listeners were told last. */
  #lastTold = '';
  /** Calls of `conceal` that go on, and the last turn that stays concealed after them. */
  #concealers = 0;
  #concealedTurn = -1;

  constructor(call: HeardCall, recogniser: Recogniser, { time, smartFormat = false }: CallerTextsParts) {
    this.#call = call;
    this.#recogniser = recogniser;
    this.#time = time;
    this.#smartFormat = smartFormat;
    this.#turns = new CallerTurns(time, this.#listeners, (turn) => this.#late(turn));
    void call.closed.then(() => {
      this.#stop();
      this.#listeners.clear();
    });
  }

  follow(given: CallerListener, expected?: ExpectedSpeech): () => void {
    const { seesConcealed = false, dropsOpenTurn = false } = given;
    const isWritten = expected?.smartFormat ?? this.#smartFormat;
    // One may follow twice: each time is a listener of its own.
    const told = isWritten ? writing(given, () => this.#expected.language) : { ...given };
    const listener = seesConcealed ? told : this.#unlessConcealed(told);
    this.#listeners.add(listener);
    if (expected !== undefined) this.#expect(expected);
    if (this.#listeners.size === 1) this.#start();
    return () => {
      if (!this.#listeners.delete(listener)) return;
      if (dropsOpenTurn) this.#dropOpenTurn();
      if (this.#listeners.size === 0) this.#stop();
    };
  }

  conceal(): () => void {
    this.#concealers++;
    let isOver = false;
    return () => {
      if (!isOver && --this.#concealers === 0) this.#concealOpenTurn();
      isOver = true;
    };
  }

  /** Speech that goes on is the same turn, with the words from now on. */
  #dropOpenTurn(): void {
    this.#ear?.drop();
    if (!this.#isByHand) this.#isSpeaking = false;
  }

  #unlessConcealed(given: CallerListener): CallerListener {
    const shown = <T extends TurnWords & { readonly number: number }>(one: T): T => {
      const isConcealed = this.#concealers > 0 || one.number <= this.#concealedTurn;
      return isConcealed && one.text !== '' ? { ...one, text: CONCEALED } : one;
    };
    const listener: CallerListener = { ...given };
    if (given.text !== undefined) listener.text = (one) => given.text?.(shown(one));
    if (given.said !== undefined) listener.said = (turn) => given.said?.(shown(turn));
    return listener;
  }

  /** Nobody conceals the words any more. Those of a turn that is not over stay concealed. */
  #concealOpenTurn(): void {
    const { turn } = this.#call;
    this.#concealedTurn = this.#ear?.isTurn === true ? turn : turn - 1;
  }

  #expect(expected: ExpectedSpeech): void {
    const { language, context } = this.#expected;
    const wasByHand = this.#isByHand;
    this.#expected = expected;
    if (expected.language !== language || expected.context !== context)
      this.#isStale = this.#ear !== undefined;
    if (!this.#isByHand && wasByHand) this.#detectAgain();
    this.#renewEar();
    this.#reopenEar();
    this.#openTurn();
    this.#expectWords();
  }

  /** If only orders end turns, words change nothing. */
  #expectWords(): void {
    const isHeard = this.#ear !== undefined && !this.#isByHand;
    const texts = this.#recogniser.tellsPauses === true ? 'texts of pauses' : 'texts';
    this.#call.expectWords(isHeard ? texts : 'none');
  }

  get #isByHand(): boolean {
    return this.#expected.byHand !== undefined;
  }

  /** If only orders end turns, one begins where the turn before has ended. */
  #openTurn(): void {
    if (this.#expected.byHand === 'open' && this.#ear?.isTurn === false)
      this.#ear.begin(this.#call.turn, true);
  }

  /** Sound that the client has not committed is dropped. A caller who speaks now has begun a turn. */
  #detectAgain(): void {
    this.#ear?.drop();
    if (this.#isSpeaking) this.#ear?.begin(this.#call.turn);
  }

  /** The recogniser gets to know what is expected with another session, between two turns. */
  #renewEar(): void {
    if (!this.#isStale || this.#ear?.isBusy === true || this.#earBefore !== undefined) return;
    this.#leaveEars();
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
    this.#renewEar();
  }

  #start(): void {
    this.#isStarted = true;
    const stopObserving = this.#call.observe((event) => this.#observe(event));
    const stopFollowing = this.#call.follow(() => {
      this.#leaveEars();
      if (!this.#isStarted) return; // the last listener has left when it was told of a turn
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
    this.#isStarted = false;
    this.#isSpeaking = false;
    this.#turns.close();
    this.#leaveEars();
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

  /** The texts that the ears still owe do not come. */
  #leaveEars(): void {
    this.#isStale = false;
    const ears = [this.#earBefore, this.#ear];
    this.#earBefore = this.#ear = undefined;
    for (const ear of ears) {
      ear?.close();
      this.#lose(ear?.awaited ?? [], notHeard());
    }
    this.#expectWords();
  }

  /** The text of a turn is not waited for any longer: other speech may be expected now. */
  #late(turn: number): void {
    this.#earBefore?.forget(turn);
    this.#ear?.forget(turn);
    this.#retire();
  }

  #lose(turns: Iterable<number>, error: ParleyError): void {
    for (const turn of turns) {
      this.#call.words({ turn, ...NO_WORDS, upTo: 'end' }); // a voice that waits for them goes on
      this.#turns.lost(turn, error);
    }
  }

  #observe(event: CallEvent): void {
    switch (event.type) {
      case 'speech.started':
        this.#isSpeaking = true;
        this.#reopenEar();
        return this.#isByHand ? undefined : this.#ear?.begin(this.#call.turn);
      case 'speech.stopped':
        this.#isSpeaking = false;
        return this.#isByHand ? undefined : this.#ear?.pause();
      case 'turn.ended':
        return this.#turnEnded(event);
      default:
        return undefined;
    }
  }

  /** A turn that was ended by order has a text in any case: its words may be too short to be found. */
  #turnEnded(event: Extract<CallEvent, { type: 'turn.ended' }>): void {
    const { turn, reason } = event;
    this.#turns.ended(event);
    const end = this.#ear?.end(turn, reason === 'client') ?? 'not heard';
    if (end === 'silent') this.#turns.heard(turn, NO_WORDS);
    if (end === 'not heard') this.#lose([turn], this.#failure ?? notHeard());
    if (reason === 'client') this.#reopenEar();
    // Speech that goes on is the next turn.
    if (!this.#isByHand) return this.#isSpeaking ? this.#ear?.begin(this.#call.turn) : undefined;
    if (this.#expected.byHand === 'open') this.#followEar();
    return this.#openTurn();
  }

  /** The ear is open before the caller speaks: a turn begins with the sound before its onset was found. */
  #reopenEar(): void {
    if (!this.#isStarted || this.#ear !== undefined) return;
    if (this.#time.now() - this.#failedAtMs < REOPEN_MS) return;
    try {
      this.#ear = this.#openEar();
      this.#failure = undefined;
      this.#openTurn();
      this.#expectWords();
    } catch (error) {
      this.#failed(asParleyError(error, 'ENGINE_FAILED'), []);
    }
  }

  #openEar(): CallerEar | undefined {
    let socket: CallerSocket | undefined;
    this.#call.follow((port) => (socket = port.socket))();
    if (socket === undefined) return undefined;
    const openedMs = this.#time.now();
    const { language, context } = this.#expected;
    const expected = { language: tagOfStated(language), context };
    const ear: CallerEar = new CallerEar(socket, this.#recogniser, expected, {
      text: (turn, text, upTo) => {
        this.#told(turn, text, upTo, openedMs);
        if (this.#earBefore === ear) this.#retire();
        else this.#renewEar();
      },
      failed: (error, turns) => {
        if (this.#ear === ear) this.#ear = undefined;
        this.#failed(error, turns);
        if (this.#earBefore === ear) this.#retire();
      },
    });
    return ear;
  }

  #told(number: number, recognised: RecognisedText, upTo: UpTo, openedMs: number): void {
    if (upTo === 'pause' && (this.#isSpeaking || number !== this.#call.turn)) return; // the pause is over
    const { text, language, beginSeconds, endSeconds } = recognised;
    const stated = language ?? tagOfStated(this.#expected.language);
    this.#call.words({ turn: number, text, language: stated, upTo });
    const isFinal = upTo === 'end';
    const times = { beginMs: openedMs + beginSeconds * 1000, endMs: openedMs + endSeconds * 1000 };
    const told: CallerText = { number, text, isFinal, language, ...times };
    const news = `${number} ${text}`;
    // The text of a pause is often that of the last partial one, or empty.
    if (upTo !== 'pause' || (text !== '' && news !== this.#lastTold))
      tellEach(this.#listeners, (listener) => listener.text?.(told));
    this.#lastTold = news;
    if (isFinal) this.#turns.heard(number, { text, language });
  }

  /** The texts of these turns do not come. */
  #failed(error: ParleyError, turns: readonly number[]): void {
    this.#failedAtMs = this.#time.now();
    // A recogniser may fail twice with one object.
    const failure = new ParleyError(error.code, error.message, { cause: error });
    this.#failure = failure;
    this.#expectWords();
    tellEach(this.#listeners, (listener) => listener.failed?.(error));
    this.#lose(turns, failure);
  }
}

function notHeard(): ParleyError {
  return new ParleyError('HEARING_FAILED', 'no recogniser has heard the turn');
}

type UpTo = RecognisedWords['upTo'];

interface EarListener {
  readonly text: (turn: number, text: RecognisedText, upTo: UpTo) => void;
  /** The texts of these turns, which are over, do not come. */
  readonly failed: (error: ParleyError, turns: readonly number[]) => void;
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
  /** Samples in the ring when the last turn ended; 0 before the first one. */
  #endedAt = 0;
  /** Number of the turn of each part of the session; undefined: its texts are not told. */
  readonly #turnOfPart: (number | undefined)[] = [];
  /** Turns that are over, and whose texts have not come. */
  #awaited: readonly number[] = [];
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
        {
          partial: (text) => this.#tell(text, 'now'),
          pause: (text) => this.#tell(text, 'pause'),
          final: (text) => this.#tell(text, 'end'),
        },
      );
      this.#session.push(this.#ring);
    } catch (error) {
      this.#closeRing();
      throw error;
    }
    this.#session.ended
      .catch((error: unknown) => {
        const turns = this.#awaited;
        this.#awaited = [];
        if (!this.#isClosed) listener.failed(asParleyError(error, 'ENGINE_FAILED'), turns);
      })
      .finally(() => this.close());
  }

  get isTurn(): boolean {
    return this.#isTurn;
  }

  /** Turns that are over, and whose texts have not come. */
  get awaited(): readonly number[] {
    return this.#awaited;
  }

  /** The text of a turn is still to come. */
  get isBusy(): boolean {
    return !this.#isClosed && (this.#isTurn || this.#awaited.length > 0);
  }

  /**
   * The turn of this number begins, or goes on after a pause. A turn that an order ends may begin where the
   * one before has ended, and have no sound.
   */
  begin(turn: number, isEndedByHand = false): void {
    if (!this.#isTurn) {
      this.#turnOfPart.push(turn);
      this.#openedAt = isEndedByHand && this.#written === this.#endedAt ? this.#endedAt : -1;
    }
    this.#session.turn(this.#isTurn ? 'resume' : 'begin');
    this.#isTurn = true;
  }

  pause(): void {
    if (this.#isTurn) this.#session.turn('pause');
  }

  /**
   * Ends the turn of this number. Its text comes only if it is `awaited`. An order also ends a turn in which
   * no speech was found.
   */
  end(turn: number, isByOrder: boolean): 'awaited' | 'silent' | 'not heard' {
    if (this.#isClosed) return 'not heard';
    if (!this.#isTurn && isByOrder) {
      if (this.#written === this.#endedAt) return 'silent';
      this.begin(turn);
    }
    if (!this.#isTurn) return 'not heard';
    const last = this.#turnOfPart.length - 1;
    if (!this.#hasSound) {
      this.#turnOfPart[last] = turn + 1; // it goes on with another number
      return 'silent';
    }
    this.#turnOfPart[last] = turn;
    this.#awaited = [...this.#awaited, turn];
    this.#end();
    return 'awaited';
  }

  /** The text of this turn is not awaited any more. */
  forget(turn: number): void {
    this.#awaited = this.#awaited.filter((one) => one !== turn);
  }

  /** Ends the turn, and tells nothing of it. */
  drop(): void {
    if (!this.#isTurn || !this.#hasSound) return;
    this.#turnOfPart[this.#turnOfPart.length - 1] = undefined;
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

  #tell(text: RecognisedText, upTo: UpTo): void {
    const turn = this.#turnOfPart[text.part];
    if (this.#isClosed || turn === undefined) return;
    if (upTo === 'end') this.forget(turn);
    this.#listener.text(turn, text, upTo);
  }

  #closeRing(): void {
    this.#socket.closeEar(this.#ring);
    this.#ring.close();
  }
}
