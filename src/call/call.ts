// One conversation, by telephone or browser. It speaks its texts through its playout, one after another,
// until it is interrupted. The queue (utterance-queue.ts) owns the utterances that have not ended.
import { attempt, ParleyError } from '../errors.js';
import type { Codec } from '../codecs/codec.js';
import type { SpeechRouting } from '../engines/routing.js';
import type { Time } from '../time.js';
import type { CallEncoders, MediaPort } from './call-route.js';
import { CallJournal, type CallStats, type JournalParts } from './call-journal.js';
import { CallerSpeech, type CallHearing } from './caller-speech.js';
import { type CallRecordings, openRecording } from './recorded-call.js';
import type { CallRecording } from '../recording/call-recording.js';
import type { Continuity } from '../speaking/continuity.js';
import type { FrameCache } from '../speaking/frame-cache.js';
import { Goodbye, type LastWords } from './goodbye.js';
import { type Interruption, type QueuedOptions, UtteranceQueue } from './utterance-queue.js';
import { type PlayableSound, playedPieces } from '../speaking/sound-stream.js';
import type { TextRequest } from '../speaking/speech-request.js';
import { type FirstPiece, isMarkup, type TextLimits, TextTurns } from '../speaking/text-source.js';
import type { CallEvent } from './call-events.js';
import type { Interruptible, Utterance } from './utterance.js';
import { arrivingSentences } from '../speaking/voice-plan.js';
import { callPieces } from '../speaking/whole-text.js';

interface CallLimits extends TextLimits, LastWords {
  /** Texts that may wait behind the one being spoken. */
  readonly maxWaitingUtterances: number;
  /** `sentence`, if absent. */
  readonly firstPiece?: FirstPiece;
}

export interface CallParts extends JournalParts {
  readonly routing: SpeechRouting;
  readonly encoders: CallEncoders;
  /** Cache of spoken sentences; absent if none are kept. */
  readonly frames?: FrameCache | undefined;
  /** If absent, each sentence is synthesised on its own. */
  readonly continuity?: Continuity | undefined;
  /** Absent if this server hears no callers. */
  readonly hearing?: CallHearing | undefined;
  /** Absent if this server records no calls. */
  readonly recordings?: CallRecordings | undefined;
  readonly limits: CallLimits;
  /** Turns for long texts, shared by all calls; if absent, the call has its own. */
  readonly turns?: TextTurns;
  readonly time: Time;
}

/** A text in tokens is always plain text, whatever the format says. */
export interface SpeakOptions extends Omit<TextRequest, 'text'> {
  /** Arrival of the text in milliseconds of the monotonic clock; now, if absent. */
  readonly receivedAtMs?: number;
  /** `none`, if absent. */
  readonly interruptible?: Interruptible | undefined;
}

export class Call {
  readonly id: string;
  /** `webrtc`, `sip`, `websocket`, `audiosocket` or `room`. */
  readonly protocol: string;
  /** Resolves with the reason once everything of the call is freed. */
  readonly closed: Promise<string>;
  readonly #parts: CallParts;
  readonly #queue: UtteranceQueue;
  readonly #goodbye: Goodbye;
  readonly #caller: CallerSpeech;
  readonly #journal: CallJournal;
  readonly #turns: TextTurns;
  readonly #observers = new Set<(event: CallEvent) => void>();
  readonly #followers = new Set<(port: MediaPort) => void>();
  #recording: CallRecording | undefined;
  #closing: Promise<void> | undefined;
  #resolveClosed!: (reason: string) => void;

  constructor(id: string, protocol: string, port: MediaPort, parts: CallParts) {
    this.id = id;
    this.protocol = protocol;
    this.#parts = parts;
    this.#turns = parts.turns ?? new TextTurns();
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
    this.#journal = new CallJournal(id, protocol, parts);
    const onEnd = (end: 'spoken' | 'interrupted' | 'failed') => parts.metrics.utteranceEnded(end);
    const onChange = () => this.#caller.changed();
    this.#queue = new UtteranceQueue(port, { ...parts, client: id, onEnd, onChange, journal: this.#journal });
    this.#caller = new CallerSpeech({
      ...parts,
      call: id,
      queue: this.#queue,
      emit: (event) => this.tell(event),
      interrupt: (reason) => void this.interrupt(reason),
    });
    this.#goodbye = new Goodbye(id, parts, {
      interrupt: (reason) => this.#closing ?? this.interrupt(reason),
      say: async (phrase) => (this.#refuseClosed(), this.#say(phrase, {}).ended),
      close: (reason) => this.close(reason),
    });
    this.#journal.opened(port);
  }

  get codec(): Codec {
    return this.#queue.port.codec;
  }

  /** See UtteranceQueue. */
  readonly wordTimes: UtteranceQueue['wordTimes'] = (...at) => this.#queue.wordTimes(...at);
  readonly isLinkThin = () => this.#queue.isLinkThin;
  readonly isHeld = () => this.#queue.isHeld;
  readonly isClosing = () => this.#closing !== undefined;

  /** Calls `observer` with each event, in order, until the result is called. It may observe twice. */
  observe(observer: (event: CallEvent) => void): () => void {
    const observed = (event: CallEvent) => observer(event);
    this.#observers.add(observed);
    return () => void this.#observers.delete(observed);
  }

  /** Calls `follower` with the present port and each later one, until the returned function is called. */
  follow(follower: (port: MediaPort) => void): () => void {
    follower(this.#queue.port); // a follower that throws is not added
    this.#followers.add(follower);
    return () => void this.#followers.delete(follower);
  }

  /** Counts are those of the whole call, over all of its ports. */
  stats(): CallStats {
    const remote = this.#queue.port.remote?.();
    return { ...this.#queue.stats(), ...(remote === undefined ? {} : { remote }) };
  }

  /**
   * Queues a text behind those already given. Throws CALL_CLOSED and QUEUE_FULL. For a whole text it also
   * throws TEXT_TOO_LONG, TEXT_EMPTY, VOICE_UNKNOWN or LANGUAGE_UNAVAILABLE; a text in tokens fails with
   * these later. A long text is read in turns, so errors inside it also come later.
   */
  speak(text: string | AsyncIterable<string>, options: SpeakOptions = {}): Utterance {
    this.#refuseMore();
    return this.#say(text, options);
  }

  #say(text: string | AsyncIterable<string>, options: SpeakOptions): Utterance {
    const whole = typeof text === 'string' ? this.#whole(text, options) : undefined;
    const { interruptible = 'none' } = options;
    this.#caller.prepare(interruptible);
    const utterance = this.#newUtterance(options.receivedAtMs, { interruptible });
    const sentences =
      (typeof whole === 'function' ? whole(utterance.signal) : whole) ??
      arrivingSentences(text as AsyncIterable<string>, options, this.#parts, {
        time: this.#queue.textTime,
        signal: utterance.signal,
        onPause: () => utterance.textPauses(),
        firstPiece: this.#parts.limits.firstPiece,
        onFirst: () => utterance.sentenceArrives(this.#parts.time.now()),
      });
    this.#queue.start(utterance, sentences);
    return utterance;
  }

  #whole(text: string, options: SpeakOptions): ReturnType<typeof callPieces> {
    const markup = isMarkup(text, options.format);
    return callPieces(text, { ...options, markup, client: this.id }, { ...this.#parts, turns: this.#turns });
  }

  /**
   * Queues sound, to be played as it is: an utterance without a text. Throws CALL_CLOSED, QUEUE_FULL,
   * INVALID_FIELD and TOO_LARGE. The samples must not be changed until the utterance has ended.
   */
  play(sound: PlayableSound, interruptible: Interruptible = 'none'): Utterance {
    this.#refuseMore();
    const pieces = playedPieces(sound);
    this.#caller.prepare(interruptible);
    const utterance = this.#newUtterance(undefined, { trimSilence: false, interruptible });
    this.#queue.start(utterance, pieces(utterance.signal));
    return utterance;
  }

  /**
   * Reports when the caller speaks and has finished, from now on, with these settings. With `noInputMs` it
   * reports once if the caller says nothing for so long after what is spoken now. Undefined ends it. Throws
   * CALL_CLOSED, and CALL_STATE if there is nothing to hear.
   */
  listen(settings: Partial<CallHearing['settings']> | undefined): CallHearing['settings'] | undefined {
    this.#refuseClosed();
    return settings === undefined ? this.#caller.stop() : this.#caller.listen(settings);
  }

  readonly hear: CallerSpeech['hear'] = (settings) => this.#caller.hear(settings);
  readonly keyDown: CallerSpeech['keyDown'] = () => this.#caller.keyDown();
  readonly pressed: CallerSpeech['pressed'] = (digit) => this.#caller.pressed(digit);
  readonly onKey: CallerSpeech['onKey'] = (taker) => this.#caller.onKey(taker);
  readonly concealKeys: CallerSpeech['concealKeys'] = () => this.#caller.concealKeys();
  readonly shownKey: CallerSpeech['shownKey'] = (digit) => this.#caller.shownKey(digit);
  readonly endTurn: CallerSpeech['endTurn'] = () => this.#caller.endTurn();
  readonly words: CallerSpeech['words'] = (words) => this.#caller.words(words);
  readonly expectWords: CallerSpeech['expectWords'] = (expected) => this.#caller.expectWords(expected);
  get turn(): CallerSpeech['turn'] {
    return this.#caller.turn;
  }

  /** The recording of the call. Throws CALL_CLOSED and RECORDING_OFF. */
  get recording(): CallRecording {
    this.#refuseClosed();
    const { recordings, time } = this.#parts;
    if (recordings === undefined) throw new ParleyError('RECORDING_OFF', 'this server records no calls');
    return (this.#recording ??= openRecording(recordings, {
      call: this.id,
      port: () => this.#queue.port,
      speak: (text) => this.speak(text),
      play: (sound) => this.play(sound),
      emit: (event) => this.tell(event),
      time,
    }));
  }

  /** Names of the recordings of the call, oldest first; undefined before the first. */
  get recordings(): readonly string[] | undefined {
    return this.#recording?.names;
  }

  /** Resolves when each utterance given so far was sent to its last packet, or ended otherwise. */
  readonly spoken = (): Promise<void> => this.#queue.spoken();

  /** Pauses or resumes the speech. Texts that arrive meanwhile wait, and timeouts of texts stop. */
  hold(held: boolean): void {
    if (this.#queue.hold(held)) this.tell({ type: held ? 'call.held' : 'call.resumed' });
  }

  /**
   * Goes on through another port, within one frame of the place where it stops. Sound that was not sent yet
   * is encoded again. The caller then closes the port before, or the new one if this throws CALL_CLOSED.
   */
  moveTo(port: MediaPort): void {
    this.#refuseClosed();
    const from = this.codec.name;
    this.#queue.moveTo(port);
    this.#caller.moved(port);
    this.#recording?.follow();
    for (const follower of this.#followers) attempt({ work: 'call', call: this.id }, () => follower(port));
    this.#journal.moved(from, port);
  }

  #refuseClosed(): void {
    if (this.#closing !== undefined) throw new ParleyError('CALL_CLOSED', `call ${this.id} has ended`);
  }

  #refuseMore(): void {
    this.#refuseClosed();
    if (this.#queue.port.isUnheard === true) {
      throw new ParleyError('CALL_STATE', `the client of call ${this.id} sends sound, and hears none`);
    }
    this.#goodbye.refuseMore();
    const { maxWaitingUtterances } = this.#parts.limits;
    if (this.#queue.size <= maxWaitingUtterances) return;
    const message = `${maxWaitingUtterances} texts wait in this call already, which is what MAX_WAITING_UTTERANCES allows`;
    throw new ParleyError('QUEUE_FULL', message);
  }

  #newUtterance(receivedAtMs = this.#parts.time.now(), options: QueuedOptions = {}): Utterance {
    const metric = this.#queue.size === 0; // otherwise the time to first audio measures other speech, too
    return this.#queue.make(receivedAtMs, options, (event, failure) => this.#emit(event, metric, failure));
  }

  #emit(event: CallEvent, metric: boolean, failure?: ParleyError): void {
    this.#journal.event(event, metric, failure);
    this.tell(event);
    if (event.type === 'utterance.failed') this.#goodbye.failed(event.error);
  }

  /** Tells the observers an event of those who conduct the call. */
  tell(event: CallEvent): void {
    for (const observer of this.#observers) attempt({ work: 'call', call: this.id }, () => observer(event));
  }

  /** Stops all speech within one frame. The text is computed from the frames that were sent. */
  interrupt(reason: string): Interruption {
    const interruption = this.#queue.interrupt();
    this.#journal.interrupted(reason, interruption.utterances.length);
    return interruption;
  }

  /** Frees everything that the call owns. Idempotent: every caller gets the same promise. */
  close(reason: string): Promise<void> {
    return (this.#closing ??= this.#close(reason));
  }

  async #close(reason: string): Promise<void> {
    this.#caller.close();
    this.interrupt(reason);
    this.#queue.endAll();
    const recorded = this.#recording?.close(); // its ring can be read after the port is closed
    await this.#queue.pushed;
    try {
      await this.#queue.port.close();
    } catch (error) {
      this.#journal.notClosed(error);
    } finally {
      this.#journal.closed(reason, this.stats()); // the figures are those of the end
      await recorded;
      this.#resolveClosed(reason);
    }
  }
}
