// A far end and its media in memory: they record what a telephone call asks of them, and the test triggers
// their callbacks.
import type { Call } from '../../../src/call/call.js';
import type { MediaPort } from '../../../src/call/call-route.js';
import type { CallEvent } from '../../../src/call/call-events.js';
import type { CallRecord, PhoneCallEvent } from '../../../src/call/phone-calls.js';
import type { ParleyError } from '../../../src/errors.js';
import { PCMU } from '../../../src/codecs/codec.js';
import type { Leg } from '../../../sip/telephone/leg.js';
import { PhoneCall, type PhoneCallParts } from '../../../sip/telephone/phone-call.js';
import type { RoutingContext } from '../../../sip/routing-file.js';
import { NO_NAMED_RELAYS } from '../../../src/config/named-relay.js';
import { HEARING_SETTINGS } from '../../fakes/hearing-settings.js';
import type { PhoneCallInfo } from '../../../sip/telephone/call-view.js';
import { refused, type Result } from '../../../sip/message/refusal.js';
import type { CallMedia } from '../../../sip/media/call-media.js';
import type { InboundSession } from '../../../sip/session/inbound-session.js';
import type { SessionEnd, SessionState, SessionUser } from '../../../sip/session/session.js';
import { parseMessage, type SipRequest } from '../../../sip/message/message.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { SILENT_LOG } from '../../../src/log.js';

export const EPOCH_MS = 1_700_000_000_000;
/** A server that records calls, and knows every key. */
export const ROUTING: RoutingContext = {
  isKey: () => true,
  isAgent: () => true,
  hearing: HEARING_SETTINGS,
  records: true,
  namedRelays: NO_NAMED_RELAYS,
  programProblem: () => undefined,
};

export const FIGURES = {
  codec: 'PCMU',
  srtp: 'none',
  received: { packets: 9, loss: 0, jitterMs: 1, mos: 4.4 },
} as const;

export class FakeSession {
  user: SessionUser = { established: () => undefined, ended: () => undefined };
  state: SessionState = 'inviting';
  /** Records the requests. */
  readonly asked: string[] = [];
  dialog = {
    callId: 'c1',
    localTag: 'l',
    remoteTag: 'r',
    remoteTarget: { text: 'sip:far@there', host: 'there' },
  };
  /** The responses. */
  reoffered: Result<void> = { value: undefined };
  referred: Result<number> = { value: 200 };
  takesInfo = true;
  accepts: Result<void> = { value: undefined };
  replaces: unknown;
  readonly flow = { local: { address: '127.0.0.1' } };
  readonly peer = { address: '127.0.0.1', port: 5060 };
  request: SipRequest = invite();
  media: FakeMedia | undefined;

  ring(): void {
    this.asked.push('ring');
    this.state = 'early';
  }

  progress(media: FakeMedia): Result<void> {
    this.asked.push('progress');
    this.state = 'early';
    media.agree();
    return { value: undefined };
  }

  accept(media: FakeMedia, user: SessionUser): Result<void> {
    if (this.accepts.refusal !== undefined) {
      this.reject(this.accepts.refusal.status);
      return this.accepts;
    }
    this.asked.push('accept');
    this.user = user;
    this.state = 'confirmed';
    this.user.accepted?.();
    media.agree();
    return { value: undefined };
  }

  reject(status: number, { headers = [] }: { headers?: readonly (readonly [string, string])[] } = {}): void {
    if (this.state === 'confirmed' || this.state === 'ended') return;
    this.asked.push(['reject', status, ...headers.map((header) => header.join('='))].join(' '));
    this.end({ by: 'us', status });
  }

  hangUp(reason?: { text?: string | undefined }): Promise<void> {
    this.asked.push(`hangUp ${reason?.text ?? ''}`.trim());
    if (this.state === 'confirmed') this.end({ by: 'us' });
    else this.end({ by: 'us', status: 480 });
    return Promise.resolve();
  }

  async reoffer(): Promise<Result<void>> {
    this.asked.push('reoffer');
    return this.reoffered;
  }

  async sendDigit(digit: string, durationMs: number): Promise<boolean> {
    this.asked.push(`info ${digit} ${durationMs}`);
    return this.takesInfo;
  }

  async refer(target: { uri: string }, seen?: (status: number) => void): Promise<Result<number>> {
    this.asked.push(`refer ${target.uri}`);
    seen?.(100);
    if (this.referred.value !== undefined) seen?.(this.referred.value);
    return this.referred;
  }

  end(end: SessionEnd): void {
    if (this.state === 'ended') return;
    this.state = 'ended';
    this.user.ended(end);
  }

  establish(): void {
    this.state = 'confirmed';
    this.user.established();
  }
}

export class FakeMedia {
  call: CallMedia['call'];
  onPort: CallMedia['onPort'];
  onDigit: CallMedia['onDigit'];
  onKeyDown: CallMedia['onKeyDown'];
  onHeld: CallMedia['onHeld'];
  onSilent: CallMedia['onSilent'];
  onFailed: CallMedia['onFailed'];
  onUnacknowledged: CallMedia['onUnacknowledged'];
  readonly asked: string[] = [];
  closed = 0;
  takesEvents = true;
  #port: MediaPort | undefined;

  /** True while the far end holds us. */
  held = false;

  get port(): MediaPort | undefined {
    return this.#port;
  }

  agree(): void {
    if (this.#port !== undefined) return;
    this.#port = newPort();
    this.onPort?.(this.#port);
  }

  signalledFrom(): void {
    // Its media comes from nowhere.
  }

  confirmed(): void {
    // It sends nothing.
  }

  acknowledged(): void {
    // It sends nothing.
  }

  awaitAck(): void {
    // It sends nothing.
  }

  /** True if media may be sent to the far end. */
  confirms = true;
  readonly #awaiting: (() => void)[] = [];

  onceConfirmed(action: () => void): void {
    if (this.confirms) action();
    else this.#awaiting.push(action);
  }

  /** The far end shows that it is there. */
  confirm(): void {
    this.confirms = true;
    for (const action of this.#awaiting.splice(0)) action();
  }

  hold(held: boolean): void {
    this.asked.push(`hold ${held}`);
  }

  press(digit: string, durationMs: number, pauseMs: number): boolean {
    if (this.takesEvents) this.asked.push(`press ${digit} ${durationMs} ${pauseMs}`);
    return this.takesEvents;
  }

  async digitsSent(): Promise<void> {}

  /** False: the key of an INFO was heard in the sound. */
  isNewKey = true;

  signalled(): boolean {
    return this.isNewKey;
  }

  figures() {
    return FIGURES;
  }

  close(): void {
    this.closed++;
  }
}

export function newPort(): MediaPort {
  return { codec: PCMU, frameMs: 20, path: 'fake', close: async () => undefined } as unknown as MediaPort;
}

export class FakeCall {
  readonly observers = new Set<(event: CallEvent) => void>();

  observe(observer: (event: CallEvent) => void): () => void {
    this.observers.add(observer);
    return () => void this.observers.delete(observer);
  }

  emit(event: CallEvent): void {
    for (const observer of this.observers) observer(event);
  }
  readonly codec = PCMU;
  recordings: readonly string[] | undefined;
  readonly asked: string[] = [];
  /** Thrown by the next speech. */
  refusal: ParleyError | undefined;
  /** Calling these ends `speak` and `play`, the oldest first. */
  readonly #speaking: (() => void)[] = [];
  #close!: (reason: string) => void;
  readonly closed = new Promise<string>((resolve) => (this.#close = resolve));
  readonly #idle: (() => void)[] = [];
  readonly id: string;
  ports: MediaPort[] = [];
  #count = 0;

  constructor(id = 'call-1') {
    this.id = id;
  }

  speak(text: string) {
    if (this.refusal !== undefined) throw this.refusal;
    this.asked.push(`speak ${text}`);
    const ended = new Promise<string>((resolve) => this.#speaking.push(() => resolve('spoken')));
    return { number: ++this.#count, ended };
  }

  play({ samples, sampleRate }: { readonly samples: Float32Array; readonly sampleRate: number }) {
    if (this.refusal !== undefined) throw this.refusal;
    this.asked.push(`play ${(samples.length * 1000) / sampleRate} ms`);
    const ended = new Promise((resolve) => this.#speaking.push(() => resolve({ end: this.playEnds })));
    return { number: ++this.#count, ended };
  }
  playEnds: 'spoken' | 'interrupted' = 'spoken';

  listen(settings: unknown): void {
    if (this.refusal !== undefined) throw this.refusal;
    this.asked.push(`listen ${JSON.stringify(settings)}`);
  }

  readonly recording = {
    start: async (options: unknown): Promise<void> => {
      this.asked.push(`record ${JSON.stringify(options)}`);
      if (this.unrecordable !== undefined) throw this.unrecordable;
    },
  };
  /** Rejects the next recording. */
  unrecordable: ParleyError | undefined;

  /** The oldest utterance has been heard. */
  heard(): void {
    this.#speaking.shift()?.();
    if (this.#speaking.length === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  spoken(): Promise<void> {
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  shownKey(digit: string): string {
    return digit;
  }

  pressed(): void {
    this.asked.push('pressed');
  }

  follow(follower: (port: MediaPort) => void): () => void {
    follower(newPort());
    return () => undefined;
  }

  tell(event: CallEvent): void {
    this.emit(event);
  }

  interrupt(reason: string) {
    this.asked.push(`interrupt ${reason}`);
    return { text: '', utterances: [] };
  }

  hold(held: boolean): void {
    this.asked.push(`hold ${held}`);
  }

  moveTo(port: MediaPort): void {
    if (this.refusal !== undefined) throw this.refusal;
    this.ports.push(port);
  }

  stats() {
    return { packets: 5, silencePackets: 2, underruns: 1, lateTicks: 0 };
  }

  async close(reason: string): Promise<void> {
    this.asked.push(`close ${reason}`);
    this.#close(reason);
  }
}

export function invite(more: readonly string[] = [], from = '<sip:anna@a>;tag=a'): SipRequest {
  const lines = [
    'INVITE sip:100@parley SIP/2.0',
    'Via: SIP/2.0/UDP 10.0.0.1;branch=z9hG4bK1',
    `From: ${from}`,
    'To: <sip:100@parley>',
    'Call-ID: 1',
    'CSeq: 1 INVITE',
    'Max-Forwards: 70',
    ...more,
  ];
  const parsed = parseMessage(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`));
  if (parsed.kind !== 'request') throw new Error('no request');
  return parsed.request;
}

/** A call under test with all its surroundings. */
export function callSurroundings() {
  const time = new ManualTime(1000);
  const records: CallRecord[] = [];
  return {
    time,
    wallMs: () => EPOCH_MS + time.now(),
    silenceLimitMs: 60_000,
    records,
    recorded: (record: CallRecord) => void records.push(record),
    log: SILENT_LOG,
  };
}

export function aCall(
  { direction = 'inbound', connected = true, ...more }: Partial<PhoneCallInfo> & { connected?: boolean } = {},
  around: Pick<PhoneCallParts, 'callerTexts'> = {},
) {
  const parts = { ...callSurroundings(), ...around };
  const [session, media, call] = [new FakeSession(), new FakeMedia(), new FakeCall()];
  const phone = new PhoneCall(
    { id: 'call-1', direction, to: 'sip:100@parley', from: 'sip:anna@a', ...more },
    parts,
  );
  const events: PhoneCallEvent[] = [];
  phone.follow(0, (event) => events.push(event));
  phone.carriedBy(legOf(session, media));
  if (connected) {
    media.agree();
    phone.talks(asCall(call));
    session.establish();
  }
  const states = () => events.flatMap((event) => (event.type === 'state' ? [event.state] : []));
  return { ...parts, parts, session, media, call, phone, events, states };
}

export const legOf = (session: FakeSession, media: FakeMedia): Leg => ({
  session: asSession(session),
  media: asMedia(media),
});
export const asCall = (call: FakeCall): Call => call as unknown as Call;
export const asMedia = (media: FakeMedia): CallMedia => media as unknown as CallMedia;
export const asSession = (session: FakeSession): InboundSession => session as unknown as InboundSession;
export const busy = refused(491, 'Request Pending');

/** Lets promises run. */
export async function settled(): Promise<void> {
  for (let n = 0; n < 20; n++) await Promise.resolve();
}
