// One telephone call as an application knows it, whichever side began it: its
// leg (signalling and media), its speech, its digits, its end.
import type { Call, Interruption, MediaPort } from '../../src/call/call.js';
import type { CallRecord } from '../../src/call/call-record.js';
import type {
  DigitsRequest,
  PhoneCallEnd,
  PhoneCallEvent,
  PhoneCallState,
  PhoneCallView,
  PlayedSound,
  PressedDigit,
  TransferOutcome,
} from '../../src/call/phone-calls.js';
import type { Utterance } from '../../src/call/utterance.js';
import type { SpeakOptions } from '../../src/call/call.js';
import { ParleyError } from '../../src/errors.js';
import type { Time } from '../../src/time.js';
import type { ReferTarget, SessionEnd, TransferAsked } from '../session/session.js';
import { sessionReason, whyEnded } from './call-end.js';
import { DigitKeys } from './digit-keys.js';
import { EventLog, type NewEvent } from './event-log.js';
import { FirstPort } from './first-port.js';
import type { Leg } from './leg.js';
import { SilenceLimit } from './silence-limit.js';

export interface PhoneCallInfo {
  readonly id: string;
  readonly direction: 'inbound' | 'outbound';
  readonly to: string;
  readonly from: string;
  readonly displayName?: string;
  readonly route?: string;
}

export interface PhoneCallParts {
  readonly time: Time;
  /** Milliseconds since 1970. */
  readonly wallMs: () => number;
  readonly silenceLimitMs: number;
  /** Told once, when nothing of the call is left. */
  readonly recorded: (record: CallRecord) => void;
  readonly log: { warn(fields: Record<string, unknown>, message: string): void };
}

const MOST_DIGITS = 1000;

export class PhoneCall {
  readonly info: PhoneCallInfo;
  /** Resolves when nothing of it is left. */
  readonly over: Promise<PhoneCallEnd>;
  /** Told when the peer wants to be put through to somebody else; refused where nobody listens. */
  onTransferAsked: ((asked: TransferAsked) => void) | undefined;
  readonly #parts: PhoneCallParts;
  readonly #events: EventLog;
  readonly #silence: SilenceLimit;
  readonly #keys: DigitKeys;
  readonly #digits: PressedDigit[] = [];
  readonly #createdAt: number;
  readonly #createdMs: number;
  #state: PhoneCallState;
  readonly #held = { us: false, peer: false };
  #firstPort = new FirstPort();
  #leg: Leg | undefined;
  #port: MediaPort | undefined;
  #firstWords: ((call: Call) => void) | undefined;
  #call: Call | undefined;
  #answeredAt: number | undefined;
  #answeredMs: number | undefined;
  #firstAudioMs: number | undefined;
  #endedAt: number | undefined;
  #end: PhoneCallEnd | undefined;
  #ending: Promise<void> | undefined;
  #transferredTo: string | undefined;
  /** What is known of it once it is over. */
  #lastView: PhoneCallView | undefined;
  #resolveOver!: (end: PhoneCallEnd) => void;

  constructor(info: PhoneCallInfo, parts: PhoneCallParts) {
    const { time, wallMs, silenceLimitMs } = parts;
    this.info = info;
    this.#parts = parts;
    this.#events = new EventLog(wallMs);
    this.#silence = new SilenceLimit(time, silenceLimitMs, () => void this.end({ reason: 'silence' }));
    this.#keys = new DigitKeys(time, () => this.#leg);
    this.#createdAt = wallMs();
    this.#createdMs = time.now();
    this.#state = info.direction === 'inbound' ? 'ringing' : 'dialling';
    this.over = new Promise((resolve) => (this.#resolveOver = resolve));
    this.#tell({ type: 'state', state: this.#state });
  }

  get state(): PhoneCallState {
    return this.#state;
  }

  get leg(): Leg | undefined {
    return this.#leg;
  }

  get call(): Call | undefined {
    return this.#call;
  }

  get view(): PhoneCallView {
    if (this.#lastView !== undefined) return this.#lastView;
    const { id, direction, to, from, displayName } = this.info;
    const trunk = this.#leg?.trunk?.();
    const codec = this.#call?.codec.name;
    const srtp = this.#leg?.media.figures().srtp;
    return {
      id, direction, to, from,
      state: this.#state,
      createdAt: this.#createdAt,
      digits: [...this.#digits],
      ...(displayName === undefined ? {} : { displayName }),
      ...(trunk === undefined ? {} : { trunk }),
      ...(codec === undefined ? {} : { codec }),
      ...(srtp === undefined || codec === undefined ? {} : { srtp }),
      ...(this.#answeredAt === undefined ? {} : { answeredAt: this.#answeredAt }),
      ...(this.#endedAt === undefined ? {} : { endedAt: this.#endedAt }),
      ...(this.#end === undefined ? {} : { end: this.#end }),
    };
  } // prettier-ignore

  /** What it is carried by from now on; the leg before is no longer listened to, and whoever replaces it ends it. */
  carriedBy(leg: Leg): void {
    const { session, media } = leg;
    const isOurs = (): boolean => this.#leg === leg;
    this.#leg = leg;
    media.onPort = (port) => void (isOurs() && this.#ported(port));
    media.onDigit = (digit, durationMs) => isOurs() && this.#pressed(digit, durationMs);
    media.onHeld = (held) => isOurs() && this.#peerHolds(held);
    media.onSilent = () => void (isOurs() && this.end({ reason: 'media timeout' }));
    media.onFailed = (error) => void (isOurs() && this.end({ reason: 'failed', detail: error.message }));
    session.user = {
      established: () => isOurs() && this.#established(),
      ended: (end) => isOurs() && this.#legEnded(end),
      progressed: (status) => isOurs() && status >= 180 && this.#step('ringing'),
      digit: (digit, durationMs) => isOurs() && this.#pressed(digit, durationMs),
      transferAsked: (asked) => this.#transferAsked(asked),
    };
    // Of a leg that was there before.
    if (session.state === 'confirmed') this.#established();
  }

  /** The first port of its media; rejects with ABORTED where it ends before. */
  get port(): Promise<MediaPort> {
    return this.#firstPort.promise;
  }

  /** The speech of it, which goes through the port that was given. */
  talks(call: Call): void {
    this.#call = call;
    if (this.#port !== undefined && this.#port !== this.#firstPort.given) call.moveTo(this.#port);
    this.#begin();
    call.onEvent = (event) => {
      if (event.type === 'utterance.started' && this.#firstAudioMs === undefined && this.#answeredMs !== undefined) {
        this.#firstAudioMs = this.#parts.time.now() - this.#answeredMs;
      }
      this.#tell({ type: 'speech', event });
    };
    void call.closed.then((reason) => this.end({ reason: reason === 'server closing' ? reason : 'failed' }));
    if (this.#ending !== undefined) void call.close(this.#end?.reason ?? 'failed');
  } // prettier-ignore

  /** Calls `action` once the call is answered and can speak; never where it ends before. */
  onceTalking(action: (call: Call) => void): void {
    this.#firstWords = action;
    this.#begin();
  }

  speak(text: string | AsyncIterable<string>, options?: SpeakOptions): Utterance {
    return this.#busy((call) => call.speak(text, options));
  }

  play(sound: PlayedSound): Utterance {
    return this.#busy((call) => call.play(sound));
  }

  interrupt(): Interruption {
    this.#silence.heard();
    return this.#talking().interrupt('application');
  }

  async press(request: DigitsRequest): Promise<void> {
    this.#talking();
    const over = this.#silence.during();
    await this.#keys.press(request).finally(over);
  }

  async hold(held: boolean): Promise<void> {
    this.#talking();
    const { session, media } = this.#carrier();
    if (this.#held.us === held) return;
    media.hold(held);
    const outcome = await session.reoffer();
    if (outcome.refusal !== undefined) {
      media.hold(!held);
      const { status, reason } = outcome.refusal;
      throw new ParleyError('WRONG_STATE', `the far end refused to be ${held ? 'held' : 'resumed'}: ${status} ${reason}`);
    }
    this.#held.us = held;
    this.#holdChanged();
  } // prettier-ignore

  /** REFER: when the far end says that it is through, this call is over. */
  async transfer(target: ReferTarget, shown: string): Promise<TransferOutcome> {
    this.#talking();
    const { session } = this.#carrier();
    const over = this.#silence.during();
    const told = (status: number): void => this.#tell({ type: 'transfer', status, done: status >= 200 });
    const outcome = await session.refer(target, told).finally(over);
    const status = outcome.refusal === undefined ? outcome.value : outcome.refusal.status;
    if (outcome.refusal !== undefined) told(status);
    const accepted = status >= 200 && status < 300;
    if (accepted) {
      this.#transferredTo = shown;
      await this.end({ reason: 'transferred' });
    }
    return { accepted, status };
  }

  follow(after: number, told: (event: PhoneCallEvent) => void): () => void {
    return this.#events.follow(after, told);
  }

  /** Ends it in whatever state; resolves when the far end was told. The first reason counts. */
  end(end: PhoneCallEnd): Promise<void> {
    this.#ending ??= this.#finish(end);
    return this.#ending;
  }

  async #finish(end: PhoneCallEnd): Promise<void> {
    this.#end = end;
    this.#endedAt = this.#parts.wallMs();
    this.#silence.close();
    this.#firstPort.fail(
      () => new ParleyError('ABORTED', `the call ended before it was set up: ${end.reason}`),
    );
    const leg = this.#leg;
    const figures = leg?.media.figures();
    const sent = this.#call?.stats();
    const told = leg?.session.hangUp(sessionReason(end));
    await this.#call?.close(end.reason);
    leg?.media.close();
    await told;
    this.#step('ended');
    this.#parts.recorded(this.#record(end, figures, sent));
    this.#letGo();
    this.#resolveOver(end);
  }

  /** It may be asked about for a while: what carried it is not kept for that. */
  #letGo(): void {
    this.#lastView = this.view;
    [this.#leg, this.#call, this.#port, this.#firstWords] = [undefined, undefined, undefined, undefined];
    this.#firstPort = new FirstPort();
    this.#firstPort.fail(() => new ParleyError('ABORTED', 'the call has ended'));
  }

  #record(end: PhoneCallEnd, figures: ReturnType<Leg['media']['figures']> | undefined, sent: ReturnType<Call['stats']> | undefined): CallRecord {
    const { id, direction, from, to, route } = this.info;
    const trunk = this.#leg?.trunk?.();
    const callId = this.#leg?.session.dialog?.callId;
    const answered = this.#answeredMs;
    return {
      id, door: 'sip', direction, from, to, startedAt: this.#createdAt, end,
      endedAt: this.#endedAt ?? this.#parts.wallMs(),
      digits: this.#digits.length,
      ...(callId === undefined ? {} : { callId }),
      ...(trunk === undefined ? {} : { trunk }),
      ...(route === undefined ? {} : { route }),
      ...(this.#answeredAt === undefined ? {} : { answeredAt: this.#answeredAt }),
      ...(answered === undefined ? {} : { setupMs: answered - this.#createdMs }),
      ...(this.#firstAudioMs === undefined ? {} : { firstAudioMs: this.#firstAudioMs }),
      ...(figures === undefined ? {} : { codec: figures.codec, srtp: figures.srtp, received: figures.received, remote: figures.remote }),
      ...(sent === undefined ? {} : { sent: { packets: sent.packets, silencePackets: sent.silencePackets, underruns: sent.underruns } }),
      ...(this.#transferredTo === undefined ? {} : { transferredTo: this.#transferredTo }),
    };
  } // prettier-ignore

  #established(): void {
    if (this.#answeredMs !== undefined) return;
    this.#answeredMs = this.#parts.time.now();
    this.#answeredAt = this.#parts.wallMs();
    this.#silence.heard();
    this.#step('connected');
    this.#holdChanged();
    this.#begin();
  }

  #begin(): void {
    const [call, action] = [this.#call, this.#firstWords];
    if (call === undefined || action === undefined || !this.#isUp()) return;
    this.#firstWords = undefined;
    action(call);
  }

  #ported(port: MediaPort): void {
    this.#port = port;
    if (this.#call === undefined) this.#firstPort.give(port);
    else this.#call.moveTo(port);
  }

  #legEnded(end: SessionEnd): void {
    void this.end(whyEnded(end));
  }

  #pressed(digit: string, durationMs: number): void {
    this.#silence.heard();
    const at = this.#parts.wallMs();
    this.#digits.push({ digit, durationMs, at });
    if (this.#digits.length > MOST_DIGITS) this.#digits.shift();
    this.#tell({ type: 'digit', digit, durationMs });
  }

  #peerHolds(held: boolean): void {
    this.#held.peer = held;
    this.#holdChanged();
  }

  #holdChanged(): void {
    const held = this.#held.us || this.#held.peer;
    this.#call?.hold(held);
    if (this.#state === 'connected' || this.#state === 'held') this.#step(held ? 'held' : 'connected');
  }

  #transferAsked(asked: TransferAsked): void {
    if (this.onTransferAsked === undefined) asked.refuse(603);
    else this.onTransferAsked(asked);
  }

  #step(state: PhoneCallState): void {
    if (this.#state === state || this.#state === 'ended') return;
    this.#state = state;
    this.#tell({ type: 'state', state, ...(state === 'ended' && this.#end !== undefined ? { end: this.#end } : {}) });
  } // prettier-ignore

  #tell(event: NewEvent): void {
    this.#events.add(event);
  }

  #busy(speak: (call: Call) => Utterance): Utterance {
    const utterance = speak(this.#talking());
    void utterance.ended.then(this.#silence.during());
    return utterance;
  }

  #talking(): Call {
    if (this.#isUp() && this.#call !== undefined) return this.#call;
    throw new ParleyError('WRONG_STATE', `the call is ${this.#ending === undefined ? this.#state : 'ended'}, not connected`);
  } // prettier-ignore

  #isUp(): boolean {
    return this.#ending === undefined && (this.#state === 'connected' || this.#state === 'held');
  }

  #carrier(): Leg {
    if (this.#leg === undefined) throw new ParleyError('WRONG_STATE', 'the call has no leg yet');
    return this.#leg;
  }
}
