// The media leg of a telephone call: it answers and makes descriptions, and audio and digits follow what they
// agree on.
//
//   offer, answer ─▶ ForkedNegotiation ─agreed─▶ IncomingVoice: formats, keys, addresses
//                                        └─────▶ OutgoingVoice: the playout of the MediaPort
//
// It holds its ports until its owner closes it.
import type { MediaPort } from '../../src/call/call-route.js';
import { type OpusLimits, opusLimits } from '../../src/codecs/opus-format.js';
import { asParleyError, ParleyError } from '../../src/errors.js';
import type { DtlsCertificate } from '../../src/media/dtls-association.js';
import type { MediaPlane } from '../../src/media/media-plane.js';
import type { IceComponent, MediaSocket, RtpPorts } from '../../src/media/media-socket.js';
import type { RemoteReception } from '../../src/media/quality.js';
import type { Time } from '../../src/time.js';
import { refused, type Result } from '../message/refusal.js';
import type { CapturedMedia, MediaQuality, MediaSource } from '../capture/taps.js';
import type { AgreedAudio } from '../sdp/agreed-audio.js';
import { parseAddress } from '../guard/address-list.js';
import { isUnknown } from '../sdp/ice-parameters.js';
import { type Direction, receives, sends } from '../sdp/session-description.js';
import type { RandomBytes } from '../sdp/local-side.js';
import type { MediaPolicy } from '../sdp/media-policy.js';
import type { SessionMedia } from '../session/session.js';
import {
  type CallFigures,
  copiesOf,
  figuresOf,
  type PacketCounts,
  qualityOf,
  remoteOf,
} from './call-figures.js';
import { DigitPresses, type EventFormat, InbandKeys } from './telephone-keys.js';
import { ForkedNegotiation } from '../sdp/media-negotiation.js';
import { IncomingVoice, SilenceWatch } from './incoming-voice.js';
import { type CallKeys, keysInDescriptions, MediaPath } from './media-path.js';
import { OutgoingVoice, type VoiceFormat } from './outgoing-voice.js';
import type { Log } from '../../src/log.js';

// Ports below belong to services that take packets for requests, except for discard (RFC 863).
const LOWEST_PORT = 1024;
const DISCARD_PORT = 9;

export interface CallMediaParts {
  readonly plane: Pick<MediaPlane, 'openStream' | 'openSocket'>;
  readonly ports: RtpPorts;
  readonly policy: MediaPolicy;
  /** Addresses for the peer; at least one. */
  readonly addresses: { readonly ip4?: string; readonly ip6?: string };
  /** Our local address for captures, if it differs. */
  readonly localAddress?: string;
  /** Networks that media may come from although neither description nor signalling names them. */
  readonly networks?: readonly string[];
  /** True if media may not be sent to this address, whatever a description says: it is our own. */
  readonly forbids?: (address: string, port: number) => boolean;
  /** Called each time the media arrives from another address than the announced one. */
  readonly departed?: () => void;
  /** Called once, when the media is closed and its figures are final. */
  readonly closed?: () => void;
  /** Certificate for DTLS; without it there is neither DTLS nor ICE. */
  readonly certificate?: DtlsCertificate;
  /** Silence of the far end in milliseconds after which `onSilent` is called; 0 never. */
  readonly rtpTimeoutMs: number;
  readonly time: Time;
  readonly randomBytes: RandomBytes;
  readonly log: Log;
}

export class CallMedia implements SessionMedia, CapturedMedia {
  /** Id of the telephone call that the media belongs to, for the log. */
  call: string | undefined;
  /** Called at the first agreement and at each change of the format; the port before is unusable then. */
  onPort: ((port: MediaPort) => void) | undefined;
  /**
   * The far end pressed a key (RFC 4733, or in its sound); `atMs` of the monotonic clock is when it went
   * down.
   */
  onDigit: ((digit: string, durationMs: number, atMs: number) => void) | undefined;
  /** A key of the far end goes down (RFC 4733); `onDigit` follows when it is released. */
  onKeyDown: (() => void) | undefined;
  /** The far end holds us: nothing is sent, and speech goes on where it stopped afterwards. */
  onHeld: ((held: boolean) => void) | undefined;
  /** Media came, and then none for `rtpTimeoutMs`. */
  onSilent: (() => void) | undefined;
  /** No keys could be agreed on. */
  onFailed: ((error: ParleyError) => void) | undefined;
  /** Sending has stopped; tapped copies can still be taken. */
  onClosing: (() => void) | undefined;
  /** The far end ended its DTLS association, and with it its media, 5 s ago. */
  onLeft: (() => void) | undefined;
  /** Media stops until an ACK or PRACK comes, or a packet of the far end's media. */
  onUnacknowledged: (() => void) | undefined;
  readonly #parts: CallMediaParts;
  readonly #socket: MediaSocket;
  readonly #negotiation: ForkedNegotiation;
  readonly #incoming: IncomingVoice;
  readonly #voice: OutgoingVoice;
  readonly #digits: DigitPresses;
  readonly #inband: InbandKeys;
  readonly #watch: SilenceWatch;
  readonly #path: MediaPath;
  /** The agreement that the media follows. */
  #applied: AgreedAudio | undefined;
  /** Milliseconds of packets that the call asked for; 0 until it does. */
  #packetMs = 0;
  #port: MediaPort | undefined;
  #holding = false;
  #held = false;
  /** The peer, or a packet of its media, has shown that it is there. */
  #confirmed = false;
  /** Address of the peer's signalling, if a connection or a password has proven it. */
  #provenAddress: string | undefined;
  #onceConfirmed: (() => void)[] = [];
  readonly #unacknowledged: UnacknowledgedLimit;
  #departures = 0;
  #closed = false;

  private constructor(parts: CallMediaParts, socket: MediaSocket) {
    const { plane, policy, addresses, randomBytes, time, rtpTimeoutMs, certificate } = parts;
    this.#parts = parts;
    this.#socket = socket;
    const fingerprints = certificate === undefined ? [] : [certificate.fingerprint];
    const ports = { port: socket.port, rtcpPort: socket.port + 1 };
    const end = { ...addresses, ...ports, fingerprints, ice: certificate !== undefined };
    this.#negotiation = new ForkedNegotiation({ policy, end, randomBytes });
    this.#incoming = new IncomingVoice(socket, parts.networks);
    this.#voice = new OutgoingVoice(plane, socket, randomBytes);
    this.#digits = new DigitPresses(time);
    this.#inband = new InbandKeys(time, (on) => socket.hearKeys(on));
    this.#watch = new SilenceWatch(
      time,
      rtpTimeoutMs,
      () => socket.stats(),
      () => this.onSilent?.(),
    );
    this.#unacknowledged = new UnacknowledgedLimit(time, () => this.#resume());
    this.#path = new MediaPath({
      socket,
      certificate,
      time,
      onKeys: (keys) => this.#keyed(keys),
      onFailed: (error) => this.onFailed?.(error),
      onLeft: () => this.onLeft?.(),
      onFound: (...where) => this.#nominated(...where),
    });
    socket.onKeyDown = () => this.onKeyDown?.();
    socket.onDigit = (digit, durationMs, atMs) => {
      this.#inband.heard(digit);
      this.onDigit?.(digit, durationMs, atMs);
    };
    socket.onTarget = () => this.#found();
    socket.onDefect = (error) => this.onFailed?.(asParleyError(error, 'WRONG_STATE'));
  }

  /** Takes a pair of ports. Throws CALL_LIMIT if none is free. */
  static open(parts: CallMediaParts): CallMedia {
    return new CallMedia(parts, parts.plane.openSocket({ ports: parts.ports, mux: false }));
  }

  signalledFrom(address: string): void {
    this.#incoming.signalledFrom(address);
  }

  confirmed(address?: string): void {
    this.#provenAddress ??= address;
    if (this.#confirmed || this.#closed) return;
    this.#confirmed = true;
    if (this.#applied !== undefined) this.#begin(this.#applied);
    for (const action of this.#onceConfirmed.splice(0)) action();
  }

  #begin(agreed: AgreedAudio): void {
    try {
      if (connects(agreed) && !this.#isKeyed(agreed)) this.#path.follow(agreed);
    } catch (error) {
      return this.onFailed?.(this.#noted(error));
    }
    this.#flow(agreed, this.#isKeyed(agreed), false);
  }

  acknowledged(by: 'ACK' | 'PRACK'): void {
    if (this.#closed) return;
    const { isOver } = this.#unacknowledged;
    this.#unacknowledged.acknowledged(by);
    if (isOver) this.#resume();
  }

  awaitAck(isAwaited: boolean): void {
    this.#unacknowledged.awaitsAck = isAwaited;
  }

  /** Calls `action` as soon as media may be sent; never if the call ends before. */
  onceConfirmed(action: () => void): void {
    if (this.#confirmed) action();
    else if (!this.#closed) this.#onceConfirmed.push(action);
  }

  get offering(): boolean {
    return this.#negotiation.offering;
  }

  /** The latest port that `onPort` was called with. */
  get port(): MediaPort | undefined {
    return this.#port;
  }

  /** The latest value that `onHeld` was called with. */
  get held(): boolean {
    return this.#held;
  }

  get agreed(): boolean {
    return this.#negotiation.agreed !== undefined;
  }

  answer(offer: Uint8Array): Result<string> {
    const proposal = this.#negotiation.answer(offer, this.#wantedDirection());
    if (proposal.refusal !== undefined) return proposal;
    const followed = this.#follow(proposal.value.agreed, proposal.value.adopt);
    return followed.refusal === undefined ? { value: proposal.value.answer } : followed;
  }

  offer(): Result<string> {
    if (this.#closed) return refused(500, 'the media of the call is closed');
    return this.#negotiation.offer(this.#wantedDirection());
  }

  accept(answer: Uint8Array, fork: string): Result<void> {
    this.confirmed(); // only a peer that received our offer can answer it
    const proposal = this.#negotiation.accept(answer, fork);
    if (proposal.refusal !== undefined) return proposal;
    const followed = this.#follow(proposal.value.agreed, proposal.value.adopt);
    if (followed.refusal !== undefined && this.agreed) this.#negotiation.withdraw();
    return followed;
  }

  settle(fork: string): void {
    this.#negotiation.settle(fork);
    const { agreed } = this.#negotiation;
    if (agreed === undefined || agreed === this.#applied) return;
    const { refusal } = this.#follow(agreed, () => undefined);
    if (refusal !== undefined) this.onFailed?.(new ParleyError('CALL_LIMIT', refusal.reason));
  }

  withdraw(): void {
    this.#negotiation.withdraw();
  }

  /** Sets whether our next offer or answer asks for hold. */
  hold(held: boolean): void {
    this.#holding = held;
  }

  /**
   * Queues a key press to the far end. Returns false if the far end does not accept telephone events, is
   * held, or 64 are queued. `durationMs` from 10 to 8000.
   */
  press(digit: string, durationMs: number, pauseMs: number): boolean {
    return !this.#held && !this.#closed && this.#digits.press(digit, durationMs, pauseMs);
  }

  /** A key came in INFO. False: it was heard in the sound as well, and reported already. */
  signalled(digit: string): boolean {
    return this.#inband.signalled(digit);
  }

  /** Resolves when the queued digits were sent, or the media is closed. */
  digitsSent(): Promise<void> {
    return this.#digits.sent();
  }

  /** Listeners hear the far end by it. */
  get socket(): MediaSocket {
    return this.#socket;
  }

  /** Figures up to now, or up to the close. */
  figures(): CallFigures {
    return figuresOf(this.#applied, this.#voice.counts(), this.#socket.stats());
  }

  /** Packets up to now, or up to the close. The losses fall if late packets come, and below 0 for repeats. */
  get packets(): PacketCounts {
    const { received, lost } = this.#socket.stats();
    return { received, lost };
  }

  /** Copies each packet that is sent or received. */
  tap(on: boolean): void {
    this.#socket.tap(on);
  }

  takeCopies(): ReturnType<MediaSource['takeCopies']> {
    return copiesOf(this.#socket, this.#address);
  }

  get quality(): MediaQuality | undefined {
    if (this.#applied === undefined) return undefined;
    return qualityOf(this.#applied, this.#socket, this.#address, this.#voice.source, this.figures());
  }

  /** Sends RTCP BYE and returns the ports. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#onceConfirmed = [];
    this.#watch.close();
    this.#unacknowledged.close();
    this.#digits.close();
    this.#voice.close();
    this.#path.close();
    this.onClosing?.();
    this.#socket.close();
    this.#parts.closed?.();
  }

  /** A packet has shown the far end's address, or another one. */
  #found(): void {
    const { departures, address, port, latched } = this.#socket.stats();
    if (latched) this.#heard();
    if (departures <= this.#departures) return;
    this.#departures = departures;
    this.#parts.departed?.();
    const announced = this.#applied?.remote;
    this.#parts.log.info(
      {
        call: this.call,
        announced: `${announced?.address}:${announced?.port}`,
        latched: `${address}:${port}`,
      },
      'media latched away from the announced address',
    );
  }

  /** The far end is where its media comes from. */
  #heard(): void {
    const { isOver } = this.#unacknowledged;
    this.#unacknowledged.heard();
    if (this.#confirmed && isOver) this.#resume();
    this.confirmed();
  }

  #resume(): void {
    const agreed = this.#applied;
    if (agreed !== undefined) this.#flow(agreed, this.#isKeyed(agreed), false);
  }

  get #address(): string {
    const { localAddress, addresses } = this.#parts;
    return localAddress ?? addresses.ip4 ?? addresses.ip6 ?? '';
  }

  #wantedDirection(): Direction {
    return this.#holding ? 'sendonly' : 'sendrecv';
  }

  /** Refuses with 500 if the media cannot follow: nothing is agreed then, and the call goes on as before. */
  #follow(agreed: AgreedAudio, adopt: () => void): Result<void> {
    if (this.#closed) return refused(500, 'the media of the call is closed');
    const forbidden = this.#forbiddenIn(agreed);
    if (forbidden !== undefined) return refused(488, `media cannot be sent to port ${forbidden}`);
    const before = this.#applied;
    const keys = keysInDescriptions(agreed.keys) ?? this.#path.keysFor(agreed);
    const opened = this.#open(agreed, keys);
    if (opened instanceof ParleyError) return refused(500, 'no stream is free for the media of this call');
    try {
      this.#applied = agreed;
      const { address, port } = agreed.remote;
      if (before?.remote.address !== address || before.remote.port !== port) this.#unacknowledged.moved();
      this.#incoming.follow(agreed, keys?.receive);
      this.#inband.agreed(agreed.receive.telephoneEvent !== undefined);
      if (this.#confirmed || !connects(agreed)) this.#path.follow(agreed);
    } catch (error) {
      return this.#halfway(before, error);
    }
    adopt();
    this.#flow(agreed, this.#isKeyed(agreed), opened);
    return { value: undefined };
  }

  #isKeyed(agreed: AgreedAudio): boolean {
    return keysInDescriptions(agreed.keys) !== undefined || this.#path.keysFor(agreed) !== undefined;
  }

  /** The port that a description may not name. With ICE nothing is sent to what it names. */
  #forbiddenIn({ remote, remoteRtcp, ice }: AgreedAudio): number | undefined {
    if (ice !== undefined) return undefined;
    const named = [remote, ...(remoteRtcp === undefined ? [] : [remoteRtcp])];
    const discarded = remote.port === DISCARD_PORT ? [DISCARD_PORT, DISCARD_PORT + 1] : [];
    const sentTo = named.filter(({ address, port }) => !isUnknown(address) && !discarded.includes(port));
    return sentTo.find(({ address, port }) => this.#isForbidden(address, port))?.port;
  }

  #isForbidden(address: string, port: number): boolean {
    return port < LOWEST_PORT || (this.#parts.forbids?.(address, port) ?? false);
  }

  /** An ICE check, or a handshake, has shown the far end's address. */
  #nominated(address: string, port: number, component: IceComponent): void {
    if (this.#isForbidden(address, port)) return;
    this.#incoming.found(address, port, component);
    this.#heard();
  }

  /**
   * The agreement cannot be carried out, which is a defect of ours: an established call has lost its media.
   */
  #halfway(before: AgreedAudio | undefined, error: unknown): Result<void> {
    this.#applied = before;
    const failure = this.#noted(error);
    if (before !== undefined) this.onFailed?.(failure);
    return refused(500, 'the media of this call cannot follow');
  }

  #noted(error: unknown): ParleyError {
    const failure = asParleyError(error, 'WRONG_STATE');
    const { code, message: detail } = failure;
    this.#parts.log.warn({ call: this.call, code, detail }, 'media not opened');
    return failure;
  }

  /** A handshake has brought the missing keys. */
  #keyed(keys: CallKeys): void {
    const agreed = this.#applied;
    if (this.#closed || agreed === undefined) return;
    const opened = this.#open(agreed, keys);
    if (opened instanceof ParleyError) return this.onFailed?.(opened);
    this.#incoming.protect(keys.receive);
    this.#unacknowledged.heard();
    this.#flow(agreed, true, opened);
    this.confirmed();
  }

  /** Returns true if there is a new playout; nothing has changed after an error. */
  #open(agreed: AgreedAudio, keys: CallKeys | undefined): boolean | ParleyError {
    const waiting = this.#digits.waiting();
    let another = false;
    try {
      if (keys !== undefined) another = this.#voice.follow(formatOf(agreed, keys));
    } catch (error) {
      return this.#noted(error);
    }
    this.#digits.follow(this.#voice.playout, eventsOf(agreed), another ? waiting : undefined);
    return another;
  }

  #flow(agreed: AgreedAudio, keyed: boolean, another: boolean): void {
    const before = this.#held;
    const nowhere = agreed.ice === undefined && isUnknown(agreed.remote.address);
    this.#held = !sends(agreed.direction) || nowhere;
    this.#watch.expect(!this.#held && receives(agreed.direction));
    if (another) this.#tellPort(agreed);
    else this.#joinFrames();
    this.#voice.leave();
    const isReady = !this.#held && keyed && this.#confirmed;
    const maySend = isReady && (this.#isProven(agreed) || this.#unacknowledged.maySend());
    if (maySend) this.#voice.flow();
    else this.#voice.stop();
    if (this.#held !== before) this.onHeld?.(this.#held);
    if (isReady && !maySend) this.onUnacknowledged?.();
  }

  /** True if the media goes to the host that signalled, by proof, or where ICE checks come from. */
  #isProven({ remote, remoteRtcp = remote, ice }: AgreedAudio): boolean {
    if (ice !== undefined) return true;
    const proven = parseAddress(this.#provenAddress ?? '')?.toString();
    if (proven === undefined) return false;
    return [remote, remoteRtcp].every(({ address }) => parseAddress(address)?.toString() === proven);
  }

  #tellPort({ keys }: AgreedAudio): void {
    const { playout, codec, frameMs } = this.#voice;
    if (playout === undefined || codec === undefined) return;
    const path = keys.kind === 'none' ? 'RTP' : `SRTP, keys by ${keys.kind.toUpperCase()}`;
    const close = async () => {
      if (this.#voice.playout === playout) this.close();
      else playout.close();
    };
    const limits = () => this.#limits;
    this.#port = {
      codec,
      frameMs,
      playout,
      socket: this.#socket,
      path,
      close,
      get encoding() {
        return limits();
      },
      remote: () => this.#remote(),
      packetMs: (ms) => {
        this.#packetMs = ms;
        this.#joinFrames();
      },
    };
    this.#packetMs = 0;
    this.onPort?.(this.#port);
  }

  /** Only as far as the far end states: a telephone that states no limit may expect its packet time. */
  #joinFrames(): void {
    this.#voice.joinFrames(Math.min(this.#packetMs, this.#applied?.mostPacketTimeMs ?? 0));
  }

  /** An agreement may change them without another port. */
  get #limits(): OpusLimits | undefined {
    const theirs = this.#applied?.opus;
    return theirs === undefined ? undefined : opusLimits(theirs);
  }

  #remote(): RemoteReception | undefined {
    const agreed = this.#applied;
    return agreed === undefined ? undefined : remoteOf(agreed, this.#voice.counts(), this.#socket.stats());
  }
}

const UNACKNOWLEDGED_MS = 1000;

/**
 * Limits the media to an address that only a description names: without ACK, and without a packet from there,
 * it ends after a second. The second is one for all addresses until the next ACK.
 */
class UnacknowledgedLimit {
  /** An ACK is to come. */
  awaitsAck = true;
  readonly #time: Time;
  readonly #onOver: () => void;
  #isAcknowledged = false;
  #isHeard = false;
  #cancelTimer: (() => void) | undefined;
  #isUsedUp = false;

  constructor(time: Time, onOver: () => void) {
    this.#time = time;
    this.#onOver = onOver;
  }

  /** No more media may be sent. */
  get isOver(): boolean {
    return this.#isUsedUp && !this.#isAcknowledged && !this.#isHeard;
  }

  /** Begins the second if it counts. */
  maySend(): boolean {
    if (this.#isAcknowledged || this.#isHeard) return true;
    if (!this.#isUsedUp) {
      this.#cancelTimer ??= this.#time.after(UNACKNOWLEDGED_MS, () => {
        this.#isUsedUp = true;
        if (this.isOver) this.#onOver();
      });
    }
    return !this.#isUsedUp;
  }

  /** The description names another address than the one before. */
  moved(): void {
    this.#isHeard = false;
    if (this.awaitsAck) this.#isAcknowledged = false;
  }

  heard(): void {
    this.#isHeard = true;
  }

  acknowledged(by: 'ACK' | 'PRACK'): void {
    this.close();
    this.#cancelTimer = undefined;
    this.#isUsedUp = false;
    this.#isAcknowledged = true;
    if (by === 'ACK') this.awaitsAck = false;
  }

  close(): void {
    this.#cancelTimer?.();
  }
}

/** True if we begin the handshake, and only the description says where. */
function connects({ keys, ice }: AgreedAudio): boolean {
  return keys.kind === 'dtls' && keys.setup === 'active' && ice === undefined;
}

function formatOf({ codec, packetTimeMs, send, opus }: AgreedAudio, { send: srtp }: CallKeys): VoiceFormat {
  const dtx = opus?.useDtx === true;
  return { codec, packetTimeMs, payloadType: send.codec, comfortNoise: send.comfortNoise, dtx, srtp };
}

function eventsOf({ send, eventClockRate: clockRate }: AgreedAudio): EventFormat | undefined {
  const { telephoneEvent: payloadType } = send;
  return payloadType === undefined || clockRate === undefined ? undefined : { payloadType, clockRate };
}
