// One telephone call, inbound or outbound: it joins the leg (signalling and media), the speech, the digits,
// and the end.
import { AnswerDetection } from '../../src/call/answer-detection.js';
import type { Country } from '../../src/audio/country-tones.js';
import type { Call, SpeakOptions } from '../../src/call/call.js';
import type { CallHandler, HandledCall } from '../../src/call/call-handler.js';
import type { CallPrograms } from '../../src/call/call-programs.js';
import type { ProgramSource } from '../../src/config/ivr-config.js';
import type { MediaPort } from '../../src/call/call-route.js';
import type { Joining, JoinRule } from '../../src/call/joining.js';
import type { Interruption } from '../../src/call/utterance-queue.js';
import type {
  AnswerRequest,
  CallPath,
  CallRecord,
  CallText,
  DigitsRequest,
  PhoneCallAnswer,
  PhoneCallEnd,
  PhoneCallEvent,
  PhoneCallState,
  PhoneCallView,
  TransferOutcome,
  TransferRequest,
} from '../../src/call/phone-calls.js';
import type { PlayedSound } from '../../src/speaking/speech-piece.js';
import type { AnswerDetected, CallEvent } from '../../src/call/call-events.js';
import type { Interruptible, Utterance } from '../../src/call/utterance.js';
import type { HearingSettings } from '../../src/config/hearing-config.js';
import type { RelayConfig } from '../../src/config/relay-config.js';
import { asParleyError, forClient, ParleyError } from '../../src/errors.js';
import type { Time } from '../../src/time.js';
import type { ReferTarget, SessionEnd, TransferAsked } from '../session/session.js';
import { DigitKeys, PressedDigits } from './call-digits.js';
import { CallState, EventLog, sessionReason, SilenceLimit, whyEnded } from './call-state.js';
import { CallTimes, type PhoneCallInfo, type PhoneFacts, recordOf, viewOf } from './call-view.js';
import { Greeting } from './greeting.js';
import { Holding, type Leg, TransferTarget } from './leg.js';
import { type TurnRecogniser, TurnTexts } from '../../src/call/turn-texts.js';
import type { StartRecording } from '../../src/recording/call-recording.js';
import type { Log } from '../../src/log.js';

export interface PhoneCallParts {
  readonly time: Time;
  /** Milliseconds since 1970. */
  readonly wallMs: () => number;
  readonly silenceLimitMs: number;
  /** Called once, when everything of the call is closed. */
  readonly recorded: (record: CallRecord) => void;
  readonly log: Log;
  /** Absent: no agent takes calls. */
  readonly handler?: CallHandler | undefined;
  /** Absent: no caller is recognised. */
  readonly callerTexts?: TurnRecogniser | undefined;
  /** Country of the network's tones; `US`, if absent. */
  readonly toneCountry?: Country | undefined;
  /** Absent: rules join no calls. */
  readonly joining?: Pick<Joining, 'begin' | 'ring'> | undefined;
  /** Absent: this server has no call programs. */
  readonly programs?: CallPrograms | undefined;
  /** Transfers a call. */
  readonly transfer?: (phone: PhoneCall, request: TransferRequest) => Promise<TransferOutcome>;
}

const LEFT: PhoneCallEnd = {
  reason: 'peer hung up',
  detail: 'the far end closed its media and said nothing',
};

/** Applications learn of these from the events of the telephone itself. */
const TOLD_BY_STATE: ReadonlySet<string> = new Set<CallEvent['type']>(['digit', 'call.held', 'call.resumed']);

const VOICE_ENDS: ReadonlySet<string> = new Set<CallEvent['type']>([
  'utterance.spoken',
  'utterance.interrupted',
  'utterance.failed',
]);

export class PhoneCall {
  readonly info: PhoneCallInfo;
  /** Resolves when everything of the call is closed. */
  readonly over: Promise<PhoneCallEnd>;
  /** The way by which an inbound call came. */
  path: CallPath | undefined;
  /** Called when the peer asks for a transfer; without it the transfer is refused. */
  onTransferAsked: ((asked: TransferAsked) => void) | undefined;
  readonly #parts: PhoneCallParts;
  readonly #events: EventLog;
  readonly #silence: SilenceLimit;
  readonly #keys: DigitKeys;
  readonly #digits = new PressedDigits();
  readonly #times: CallTimes;
  readonly #state: CallState;
  readonly #holding: Holding;
  /** Suspends the silence limit until the answer, and while the call is held. */
  #quiet: (() => void) | undefined;
  /** Suspends it while our voice speaks. */
  #voiceOver: (() => void) | undefined;
  #firstPort = new FirstPort();
  #transferTarget: TransferTarget | undefined;
  #leg: Leg | undefined;
  #port: MediaPort | undefined;
  readonly #greeting = new Greeting();
  #lastView: PhoneCallView | undefined;
  #call: Call | undefined;
  #detection: AnswerDetection | undefined;
  #answer: PhoneCallAnswer | undefined;
  #turns: TurnTexts | undefined;
  #end: PhoneCallEnd | undefined;
  #ending: Promise<void> | undefined;
  #transferredTo: string | undefined;
  #resolveOver!: (end: PhoneCallEnd) => void;

  constructor(info: PhoneCallInfo, parts: PhoneCallParts) {
    const { time, wallMs, silenceLimitMs } = parts;
    this.info = info;
    this.#parts = parts;
    this.#events = new EventLog(wallMs);
    this.#silence = new SilenceLimit(time, silenceLimitMs, () => void this.end({ reason: 'silence' }));
    this.#keys = new DigitKeys(
      time,
      () => this.#leg,
      () => this.#talking(),
    );
    this.#holding = new Holding(
      () => this.#talkingLeg(),
      () => this.#holdChanged(),
    );
    this.#quiet = this.#silence.during();
    this.#times = new CallTimes(time, wallMs);
    this.#state = new CallState(
      this.#events,
      info.direction === 'inbound' ? 'ringing' : 'dialling',
      info.headers,
    );
    this.over = new Promise((resolve) => (this.#resolveOver = resolve));
  }

  get state(): PhoneCallState {
    return this.#state.now;
  }

  /** It is ending, or has ended. */
  get isOver(): boolean {
    return this.#end !== undefined;
  }

  /** It is outbound and not answered yet. */
  get isUnanswered(): boolean {
    return this.info.direction === 'outbound' && !this.#times.answered;
  }

  get leg(): Leg | undefined {
    return this.#leg;
  }

  get call(): Call | undefined {
    return this.#call;
  }

  get view(): PhoneCallView {
    return this.#lastView ?? viewOf(this.#facts, this.state, this.#call, this.#end);
  }

  /** Sets the leg. The caller ends the one before. A leg that comes after the end is closed. */
  carriedBy(leg: Leg): void {
    const { session, media } = leg;
    if (this.#end !== undefined) {
      void session.hangUp().finally(() => media.close());
      return;
    }
    const isOurs = (): boolean => this.#leg === leg;
    this.#leg = leg;
    media.call = this.info.id;
    media.onPort = (port) => void (isOurs() && this.#ported(port));
    media.onDigit = (digit, durationMs) => isOurs() && this.#pressed(digit, durationMs);
    media.onKeyDown = () => void (isOurs() && this.#call?.keyDown());
    media.onHeld = (held) => isOurs() && this.#holding.peer(held);
    media.onSilent = () => void (isOurs() && this.end({ reason: 'media timeout' }));
    media.onFailed = (error) =>
      void (isOurs() && this.end({ reason: 'failed', detail: forClient(error).message }));
    media.onLeft = () => void (isOurs() && this.end(LEFT));
    session.user = {
      accepted: () => isOurs() && this.#times.settled(),
      established: () => isOurs() && this.#established(),
      ended: (end) => isOurs() && this.#legEnded(end),
      progressed: (status) => isOurs() && status >= 180 && this.#state.step('ringing'),
      digit: (digit, durationMs) => isOurs() && media.signalled(digit) && this.#pressed(digit, durationMs),
      transferAsked: (asked) =>
        this.onTransferAsked === undefined ? asked.refuse(603) : this.onTransferAsked(asked),
    };
    // A leg that existed before has its media already. A hold of the leg before does not apply to it.
    this.#holding.carried(media.held);
    if (media.port !== undefined) this.#ported(media.port);
    if (session.state === 'confirmed') this.#established();
    this.#holdChanged();
  }

  /** A transfer target is being called. */
  get awaitsTransferTarget(): boolean {
    return this.#transferTarget !== undefined;
  }

  /**
   * A transfer target is being called. Until the returned function is called, the far end may leave, and
   * speech waits. Then the call ends if it has no far end. One at a time.
   */
  awaitTransferTarget(): () => void {
    const over = this.#silence.during();
    const target = new TransferTarget();
    this.#transferTarget = target;
    return () => {
      over();
      if (this.#transferTarget === target) this.#transferTarget = undefined;
      const end = target.settled(this.#leg);
      if (end !== undefined) void this.end(whyEnded(end, this.info.direction));
    };
  }

  /** The first port of its media; rejects with ABORTED if the call ends before. */
  get port(): Promise<MediaPort> {
    return this.#firstPort.promise;
  }

  /** Sets the speech of the call, which uses the port that was given. */
  talks(call: Call): void {
    this.#call = call;
    const { callerTexts, time } = this.#parts;
    const tell = (event: CallEvent): void => this.#events.add({ type: 'speech', event });
    const turns = (this.#turns = new TurnTexts({ call, callerTexts, time, tell }));
    call.observe((event) => {
      if (event.type === 'utterance.started') this.#times.spoke();
      this.#voice(event.type);
      if (event.type === 'answer.detected') this.#detected(event);
      if (event.type === 'speech.started' || event.type === 'turn.ended') this.#silence.restart();
      if (!TOLD_BY_STATE.has(event.type)) turns.take(event);
    });
    void call.closed.then((reason) =>
      this.end(reason === 'server closing' ? { reason } : { reason: 'failed', detail: reason }),
    );
    if (this.#end !== undefined) return void call.close(this.#end.reason);
    if (this.#port !== undefined && this.#port !== this.#firstPort.given) this.#move(call, this.#port);
    this.#holdChanged();
    this.#detection?.follow(call);
    this.#begin();
    this.#connect();
  }

  /** Detects who answers, from the first sound of the far end on. Called before there is a leg. */
  detect(request: AnswerRequest): void {
    this.#detection = new AnswerDetection(request, this.#parts);
  }

  #detected({ type: _type, ...answer }: AnswerDetected): void {
    this.#answer = answer;
  }

  /** The silence limit does not run while our voice speaks, whoever speaks with it. */
  #voice(event: CallEvent['type']): void {
    if (event === 'utterance.started') this.#voiceOver ??= this.#silence.during();
    if (!VOICE_ENDS.has(event)) return;
    this.#voiceOver?.();
    this.#voiceOver = undefined;
  }

  /**
   * Runs `action` once the far end can hear us, possibly before the answer; never if the call ends before.
   */
  onceAudible(action: (call: Call) => void): void {
    this.#greeting.onceAudible(action);
    this.#begin();
  }

  /** Runs `action` once the call is answered and can speak; never if it ends before. */
  onceTalking(action: (call: Call) => void): void {
    this.#greeting.onceTalking(action);
    this.#begin();
  }

  speak(text: string | AsyncIterable<string>, options?: SpeakOptions): Utterance {
    return this.#timed(this.#talking().speak(text, options));
  }

  /**
   * Speaks before the answer, as early media. Throws WRONG_STATE if nothing can be heard yet, or the call has
   * ended.
   */
  speakEarly({ text, ...options }: CallText): Utterance {
    const call = this.#end === undefined ? this.#call : undefined;
    if (call === undefined) throw new ParleyError('WRONG_STATE', 'the call cannot be heard');
    return this.#timed(call.speak(text, options));
  }

  play(sound: PlayedSound, interruptible?: Interruptible): Utterance {
    return this.#timed(this.#talking().play(sound, interruptible));
  }

  /** See Call. */
  listen(settings: Partial<HearingSettings> | undefined): void {
    this.#talking().listen(settings);
    if (settings === undefined) this.#turns?.stop();
    else this.#turns?.start();
  }

  /** Hears the caller, as a rule asks for it. A call that cannot be heard goes on, and the log says why. */
  listenIfPossible(settings: Partial<HearingSettings>): void {
    try {
      this.listen(settings);
    } catch (error) {
      const { code, message: detail } = asParleyError(error, 'HEARING_FAILED');
      this.#parts.log.warn({ call: this.info.id, code, detail }, 'call not heard');
    }
  }

  /** Records the call, as a rule asks for it. A failure is logged and an event, and the call goes on. */
  record(options: StartRecording): void {
    const start = async () => this.#talking().recording.start(options);
    start().catch((error: unknown) => {
      const { code, message: detail } = asParleyError(error, 'RECORDING_FAILED');
      this.#parts.log.warn({ call: this.info.id, code, detail }, 'call not recorded');
    });
  }

  /** An agent, by its name, or an application talks in the call from now on. */
  conductedBy(conductor: string | RelayConfig): void {
    const { handler } = this.#parts;
    const handled = this.handled(this.#talking());
    if (typeof conductor === 'string') handler?.handle(conductor, handled);
    else handler?.connect(conductor, handled);
  }

  /** The program conducts the call from now on. */
  conductedByProgram(source: ProgramSource): void {
    this.#parts.programs?.conduct(this.handled(this.#talking()), source);
  }

  /** A rule joins the call to others. `after`: what follows when it is joined to nothing any more. */
  joinedBy(rule: JoinRule, after: 'stay' | 'hangup'): void {
    const handled = this.handled(this.#talking());
    if (this.#parts.joining === undefined)
      void this.end({ reason: 'failed', detail: 'calls are not joined' });
    else this.#parts.joining.begin(handled, rule, after);
  }

  handled(call: Call): HandledCall {
    const { transfer } = this.#parts;
    const { direction, from, to, displayName, headers, route } = this.info;
    const callId = this.#leg?.session.dialog?.callId;
    const leg = {
      press: (request: DigitsRequest) => this.press(request),
      transfer: (request: TransferRequest) =>
        transfer?.(this, request) ?? Promise.resolve({ accepted: false, status: 501 }),
      suspendSilence: () => this.#silence.during(),
    };
    const hangUp = () => this.end({ reason: 'we hung up' });
    return { call, direction, from, to, displayName, headers, callId, path: this.path, route, leg, hangUp };
  }

  interrupt(): Interruption {
    this.#silence.restart();
    return this.#talking().interrupt('application');
  }

  press(request: DigitsRequest): Promise<void> {
    return this.#busyWith(async () => {
      this.#talking();
      await this.#keys.press(request);
    });
  }

  async hold(held: boolean): Promise<void> {
    this.#talking();
    await this.#holding.ask(held);
  }

  /** Transfers with REFER: when the far end reports success, this call ends. */
  async transfer(target: ReferTarget, shown: string): Promise<TransferOutcome> {
    const { session } = this.#talkingLeg();
    const onProgress = (status: number): void =>
      this.#events.add({ type: 'transfer', status, done: status >= 200 });
    const outcome = await this.#busyWith(() => session.refer(target, onProgress));
    const status = outcome.refusal === undefined ? outcome.value : outcome.refusal.status;
    if (outcome.refusal !== undefined) onProgress(status);
    const accepted = status >= 200 && status < 300;
    if (accepted) {
      this.#transferredTo = shown;
      await this.end({ reason: 'transferred' });
    }
    return { accepted, status };
  }

  follow(after: number, onEvent: (event: PhoneCallEvent) => void): () => void {
    return this.#events.follow(after, onEvent);
  }

  /**
   * Ends the call in any state. Resolves when the far end has confirmed, or some seconds later. The first
   * reason counts.
   */
  end(end: PhoneCallEnd): Promise<void> {
    if (this.#end === undefined) {
      this.#end = end; // set first: a refusal reports the end at once
      this.#ending = this.#finish(end);
    }
    return this.#ending ?? this.over.then(() => undefined);
  }

  async #finish(end: PhoneCallEnd): Promise<void> {
    this.#times.ended();
    this.#silence.close();
    this.#detection?.close();
    this.#keys.close();
    this.#firstPort.fail(
      () => new ParleyError('ABORTED', `the call ended before it was set up: ${end.reason}`),
    );
    const [leg, call] = [this.#leg, this.#call];
    const goodbye = leg?.session.hangUp(sessionReason(end));
    await call?.close(end.reason);
    leg?.media.close();
    // Nothing is sent after this point.
    const [media, sent] = [leg?.media.figures(), call?.stats()];
    await farewell(goodbye, this.#parts.time);
    this.#turns?.stop();
    this.#state.step('ended', end);
    const { recordings } = call ?? {};
    const last = { end, media, sent, transferredTo: this.#transferredTo, recordings };
    this.#parts.recorded(recordOf(this.#facts, last));
    this.#letGo();
    this.#resolveOver(end);
  }

  /** An ended call stays visible for a while: its leg and speech are released. */
  #letGo(): void {
    this.#lastView = this.view;
    this.#greeting.forget();
    [this.#leg, this.#call, this.#port] = [undefined, undefined, undefined];
    this.#firstPort = new FirstPort();
    this.#firstPort.fail(() => new ParleyError('ABORTED', 'the call has ended'));
  }

  get #facts(): PhoneFacts {
    const { info } = this;
    const [times, leg, answer] = [this.#times, this.#leg, this.#answer];
    return { info, times, leg, digits: this.#digits.latest, answer };
  }

  #established(): void {
    if (this.#times.answered || this.#end !== undefined) return;
    this.#times.established();
    this.#detection?.answered();
    this.#connect();
  }

  /** Connected: the call is answered, and its speech exists, which needs the keys of its media. */
  #connect(): void {
    if (!this.#times.answered || this.#call === undefined || this.#end !== undefined) return;
    this.#state.step('connected');
    this.#parts.handler?.opened(this.handled(this.#call));
    this.#holdChanged();
    this.#begin();
  }

  #begin(): void {
    const call = this.#call;
    if (call === undefined || this.#end !== undefined) return;
    try {
      this.#greeting.say(call, this.#isUp());
    } catch (error) {
      // The text could be spoken when the call came, but not any more.
      const failure = asParleyError(error, 'ENGINE_FAILED');
      const { code, message: detail } = failure;
      this.#parts.log.warn({ call: this.info.id, code, detail }, 'nothing to speak');
      void this.end({ reason: 'failed', detail: forClient(failure).message });
    }
  }

  #ported(port: MediaPort): void {
    this.#port = port;
    if (this.#call === undefined) this.#firstPort.give(port);
    else this.#move(this.#call, port);
  }

  /** A call that is closing is not moved: the leg closes its media. */
  #move(call: Call, port: MediaPort): void {
    try {
      call.moveTo(port);
    } catch (error) {
      const { code } = asParleyError(error, 'WRONG_STATE');
      if (code !== 'CALL_CLOSED') void this.end({ reason: 'failed', detail: 'the media could not be moved' });
    }
  }

  #legEnded(end: SessionEnd): void {
    if (this.#transferTarget?.lets(this.#leg, end)) return this.#call?.hold(true);
    if (end.by !== 'transport') this.#times.settled();
    void this.end(whyEnded(end, this.info.direction));
  }

  #pressed(digit: string, durationMs: number): void {
    this.#silence.restart();
    const shown = this.#call?.shownKey(digit) ?? digit;
    this.#digits.add({ digit: shown, durationMs, at: this.#parts.wallMs() });
    this.#events.add({ type: 'digit', digit: shown, durationMs });
    this.#call?.pressed(digit);
  }

  #holdChanged(): void {
    const { held } = this.#holding;
    this.#call?.hold(held);
    if (held || !this.#times.answered) this.#quiet ??= this.#silence.during();
    else {
      this.#quiet?.();
      this.#quiet = undefined;
    }
    if (this.#state.isUp) this.#state.step(held ? 'held' : 'connected');
  }

  /** Suspends the silence limit while the action runs. */
  async #busyWith<T>(action: () => Promise<T>): Promise<T> {
    const over = this.#silence.during();
    try {
      return await action();
    } finally {
      over();
    }
  }

  #timed(utterance: Utterance): Utterance {
    void utterance.ended.then(this.#silence.during());
    return utterance;
  }

  #talking(): Call {
    if (this.#isUp() && this.#call !== undefined) return this.#call;
    throw new ParleyError(
      'WRONG_STATE',
      `the call is ${this.#end === undefined ? this.state : 'ended'}, not connected`,
    );
  }

  #isUp(): boolean {
    return this.#end === undefined && this.#state.isUp;
  }

  #talkingLeg(): Leg {
    this.#talking();
    if (this.#leg === undefined) throw new ParleyError('WRONG_STATE', 'the call has no leg yet');
    return this.#leg;
  }
}

// The first port of a call's media: it comes with the first agreement, or never.

class FirstPort {
  readonly promise: Promise<MediaPort>;
  #settle!: { resolve(port: MediaPort): void; reject(error: ParleyError): void };
  #given: MediaPort | undefined;

  constructor() {
    this.promise = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    this.promise.catch(() => undefined);
  }

  get given(): MediaPort | undefined {
    return this.#given;
  }

  give(port: MediaPort): void {
    this.#given ??= port;
    this.#settle.resolve(port);
  }

  /** Has no effect after `give`. */
  fail(why: () => ParleyError): void {
    if (this.#given === undefined) this.#settle.reject(why());
  }
}

const FAREWELL_MS = 4000; // SIP itself retries for 32 s in the background

/** Resolves when the far end has confirmed the end, or some seconds later: it may have vanished. */
async function farewell(goodbye: Promise<void> | undefined, time: Time): Promise<void> {
  let cancelTimer = (): void => undefined;
  const limit = new Promise<void>((resolve) => (cancelTimer = time.after(FAREWELL_MS, resolve)));
  await Promise.race([goodbye, limit]);
  cancelTimer();
}
