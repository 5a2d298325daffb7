// The calls of browsers, AudioSocket and WebSocket as applications see them beside telephone calls, and all
// of these calls under one interface.
import { ParleyError } from '../errors.js';
import type { HearingSettings } from '../config/hearing-config.js';
import type { PlayedSound } from '../speaking/speech-piece.js';
import { stated } from '../stated.js';
import type { Time } from '../time.js';
import { CallBook, EventLog } from './call-book.js';
import type { Call } from './call.js';
import type { HandledCall } from './call-handler.js';
import type { OpenCalls } from './open-calls.js';
import type {
  CallText,
  DigitsRequest,
  PhoneCallEnd,
  PhoneCallEvent,
  PhoneCallRequest,
  PhoneCalls,
  PhoneCallView,
  PressedDigit,
  TransferOutcome,
  TransferRequest,
} from './phone-calls.js';
import { type TurnRecogniser, TurnTexts } from './turn-texts.js';
import type { CallEvent } from './call-events.js';
import type { Interruptible } from './utterance.js';
import type { Interruption } from './utterance-queue.js';

const MOST_DIGITS = 1000;

/** Reasons of `PhoneCallEnd` by those of `Call.close`; every other one is a failure. */
const REASONS: Readonly<Record<string, PhoneCallEnd['reason']>> = {
  'we hung up': 'we hung up',
  'agent hung up': 'we hung up',
  'far end hung up': 'peer hung up',
  'client closed its socket': 'peer hung up',
  'left the room': 'peer hung up',
  'peer closed': 'peer hung up',
  'peer lost': 'media timeout',
  'not answered': 'no answer',
  'server closing': 'server closing',
};

interface ListingParts {
  readonly time: Time;
  /** Milliseconds since 1970. */
  readonly unixMs: () => number;
  /** Absent: no caller is recognised. */
  readonly callerTexts?: TurnRecogniser;
}

class ListedCall {
  readonly over: Promise<void>;
  /** The call as long as it talks, then what is left to see of it. */
  #now: { readonly handled: HandledCall } | { readonly view: PhoneCallView };
  readonly #owner: string | undefined;
  readonly #events: EventLog;
  readonly #createdAt: number;
  readonly #turns: TurnTexts;
  readonly #digits: PressedDigit[] = [];

  constructor(handled: HandledCall, owner: string | undefined, parts: ListingParts) {
    const { unixMs } = parts;
    this.#now = { handled };
    this.#owner = owner;
    this.#events = new EventLog(unixMs);
    this.#createdAt = unixMs();
    this.#events.add({ type: 'state', state: 'connected' });
    const { call } = handled;
    const tell = (event: CallEvent) => this.#events.add({ type: 'speech', event });
    this.#turns = new TurnTexts({ ...parts, call, tell });
    call.observe((event) => {
      this.#turns.take(event);
      if (event.type !== 'digit') return;
      this.#digits.push({ digit: event.digit, at: unixMs() });
      if (this.#digits.length > MOST_DIGITS) this.#digits.shift();
    });
    this.over = call.closed.then((closed) => {
      this.#turns.stop();
      const reason = REASONS[closed] ?? 'failed';
      const end = reason === 'failed' ? { reason, detail: closed } : { reason };
      this.#now = { view: { ...this.view, state: 'ended', endedAt: unixMs(), end } };
      this.#events.add({ type: 'state', state: 'ended', end });
    });
  }

  get view(): PhoneCallView {
    if ('view' in this.#now) return this.#now.view;
    const { call, direction, from = '', to = '', displayName } = this.#now.handled;
    return stated({
      id: call.id,
      owner: this.#owner,
      protocol: call.protocol,
      direction,
      state: 'connected',
      to,
      from,
      displayName,
      codec: call.codec.name,
      createdAt: this.#createdAt,
      answeredAt: this.#createdAt,
      recordings: call.recordings,
      digits: [...this.#digits],
    });
  }

  /** The call as long as it talks. Throws WRONG_STATE after it. */
  get talking(): Call {
    if ('handled' in this.#now) return this.#now.handled.call;
    throw new ParleyError('WRONG_STATE', 'the call is ended, not connected');
  }

  /** See Call. */
  listen(settings: Partial<HearingSettings> | undefined): void {
    this.talking.listen(settings);
    if (settings === undefined) this.#turns.stop();
    else this.#turns.start();
  }

  /** Throws WRONG_STATE: the protocol of the call has no such thing. */
  refuse(what: string): never {
    const { protocol } = this.talking;
    throw new ParleyError('WRONG_STATE', `the call came over ${protocol}, which ${what}`);
  }

  follow(after: number, onEvent: (event: PhoneCallEvent) => void): () => void {
    return this.#events.follow(after, onEvent);
  }
}

export class ListedCalls {
  readonly book: CallBook<ListedCall>;
  readonly #parts: ListingParts;

  constructor(parts: ListingParts) {
    this.book = new CallBook(parts.time);
    this.#parts = parts;
  }

  /** `owner`: name of the API key that the call belongs to; undefined: to every key. */
  add(handled: HandledCall, owner: string | undefined): void {
    this.book.add(new ListedCall(handled, owner, this.#parts));
  }
}

interface ApplicationCallsParts {
  /** Undefined: the server has no telephone. */
  readonly telephone: PhoneCalls | undefined;
  readonly listed: Pick<ListedCalls, 'book'>;
  /** Notes calls that an application over HTTP has spoken in, or listens to. */
  readonly openCalls: Pick<OpenCalls, 'used'>;
}

/** The calls of the telephone and those that are listed. */
export class ApplicationCalls implements PhoneCalls {
  readonly #parts: ApplicationCallsParts;

  constructor(parts: ApplicationCallsParts) {
    this.#parts = parts;
  }

  get canPlace(): boolean {
    return this.#parts.telephone !== undefined;
  }

  async place(request: PhoneCallRequest): Promise<PhoneCallView> {
    const { telephone } = this.#parts;
    if (telephone === undefined) throw telephoneOff();
    return telephone.place(request);
  }

  list(): readonly PhoneCallView[] {
    const { telephone, listed } = this.#parts;
    return [...(telephone?.list() ?? []), ...listed.book.list()].toSorted(
      (a, b) => b.createdAt - a.createdAt,
    );
  }

  get(id: string): PhoneCallView {
    return this.#listed(id)?.view ?? this.#telephone.get(id);
  }

  say(id: string, speech: CallText): { readonly utterance: number } {
    const call = this.#used(id);
    if (call === undefined) return this.#telephone.say(id, speech);
    const { text, ...options } = speech;
    return { utterance: call.speak(text, options).number };
  }

  play(id: string, sound: PlayedSound, interruptible?: Interruptible): { readonly utterance: number } {
    const call = this.#used(id);
    if (call === undefined) return this.#telephone.play(id, sound, interruptible);
    return { utterance: call.play(sound, interruptible).number };
  }

  listen(id: string, settings: Partial<HearingSettings> | undefined): void {
    const listed = this.#listed(id);
    if (listed === undefined) return this.#telephone.listen(id, settings);
    listed.listen(settings);
    return this.#parts.openCalls.used(id);
  }

  interrupt(id: string): Interruption {
    return this.#listed(id)?.talking.interrupt('application') ?? this.#telephone.interrupt(id);
  }

  async press(id: string, request: DigitsRequest): Promise<void> {
    this.#listed(id)?.refuse('carries keys from the caller only');
    await this.#telephone.press(id, request);
  }

  async hold(id: string, held: boolean): Promise<PhoneCallView> {
    this.#listed(id)?.refuse('cannot hold a call');
    return this.#telephone.hold(id, held);
  }

  async transfer(id: string, request: TransferRequest): Promise<TransferOutcome> {
    this.#listed(id)?.refuse('cannot transfer a call');
    if (request.call !== undefined) this.#listed(request.call)?.refuse('cannot be joined to another call');
    return this.#telephone.transfer(id, request);
  }

  async hangUp(id: string): Promise<PhoneCallView> {
    const listed = this.#listed(id);
    if (listed === undefined) return this.#telephone.hangUp(id);
    if (listed.view.state !== 'ended') await listed.talking.close('we hung up');
    await listed.over;
    return listed.view;
  }

  follow(id: string, after: number, onEvent: (event: PhoneCallEvent) => void): () => void {
    return this.#listed(id)?.follow(after, onEvent) ?? this.#telephone.follow(id, after, onEvent);
  }

  #listed(id: string): ListedCall | undefined {
    return this.#parts.listed.book.find(id);
  }

  /** The call, which an application uses from now on; undefined for one of the telephone. */
  #used(id: string): Call | undefined {
    const call = this.#listed(id)?.talking;
    if (call !== undefined) this.#parts.openCalls.used(id);
    return call;
  }

  /** Throws NOT_FOUND on a server without a telephone: it has no other calls. */
  get #telephone(): PhoneCalls {
    const { telephone } = this.#parts;
    if (telephone === undefined) throw new ParleyError('NOT_FOUND', 'there is no call of this id');
    return telephone;
  }
}

/** The variables that enable the telephone. */
const SWITCH = 'SIP_ENABLED=1, with a free SIP_PORT,';

export function telephoneOff(): ParleyError {
  return new ParleyError('TELEPHONE_OFF', `this server has no telephone; ${SWITCH} turns it on`);
}
