// One browser's connection: ICE-lite, DTLS, SRTP and, with a data channel, SCTP on one socket of the native
// plane.
//
//   answered ──check──▶ handshaking ──keys──▶ connected ⇄ interrupted ──▶ closed
//       └───────────────────┴─── failed ──────────┴──────────┴────────────▲
//
// The port is made when the handshake is done: only then are there keys for the native stream.
import type { RTCDataChannel } from 'werift';
import type { MediaPort } from '../src/call/call-route.js';
import { LinkControl } from '../src/call/link-control.js';
import type { IceFragment, IceRestart, SdpUse } from '../src/call/sdp-exchange.js';
import { ticksPerFrame } from '../src/codecs/codec.js';
import {
  DTX_INTERVAL_MS,
  opusFrameMs,
  type OpusLimits,
  opusLimits,
  opusPacketMs,
  readOpusParameters,
  writeOpusParameters,
} from '../src/codecs/opus-format.js';
import { asParleyError, ParleyError } from '../src/errors.js';
import type { DtlsCertificate } from '../src/media/dtls-association.js';
import type { DtlsKeys, IceCredentials, SrtpKeys, StreamOptions } from '../src/media/media-addon.js';
import { type HandshakeTerms, MediaHandshake } from '../src/media/media-handshake.js';
import type { MediaPlane } from '../src/media/media-plane.js';
import type { MediaSocket, PayloadFormat } from '../src/media/media-socket.js';
import { type RemoteReception, remoteReception } from '../src/media/quality.js';
import { Playout } from '../src/media/playout.js';
import type { PlayoutListener } from '../src/media/playout-listener.js';
import type { Time } from '../src/time.js';
import { answeredDirection, candidatesOf, writeAnswer } from './answer.js';
import type { BrowserSockets } from './browser-sockets.js';
import type { Offer } from './offer.js';
import { SctpAssociation } from './sctp-association.js';

export interface PeerConnectionParts {
  readonly plane: Pick<MediaPlane, 'openStream' | 'openListener' | 'nowMs'>;
  readonly sockets: Pick<BrowserSockets, 'open' | 'hosts'>;
  readonly certificate: DtlsCertificate;
  readonly time: Time;
  /** Cryptographically strong. */
  readonly randomBytes: (count: number) => Buffer;
  /** Milliseconds from the offer within which media must be able to flow. */
  readonly setupTimeoutMs: number;
}

export interface PeerEvents {
  /** Media can flow; without a source. */
  connected(port: MediaPort): void;
  /** The sound of the source can flow. */
  listening(listener: PlayoutListener): void;
  channel(channel: RTCDataChannel): void;
  /** A key of the browser goes down (RFC 4733); `digit` follows. */
  keyDown(): void;
  /** The browser has pressed a key. */
  digit(digit: string): void;
  /** The browser has not been heard for INTERRUPTED_MS, or its consent has expired; or it is heard again. */
  interrupted(isInterrupted: boolean): void;
  /** The browser's consent has expired, and nothing is sent. It may still be heard again. */
  lost(): void;
  /** The browser ended the connection. Called once, unless this side closed first. */
  ended(): void;
  /** Called once, instead of `ended`. */
  failed(error: ParleyError): void;
  /** This side closes the connection, and its data channel can still be read. */
  closing(): void;
}

// The decoder of callers' sound is mono and makes use of forward error correction.
const OUR_OPUS_PARAMETERS = writeOpusParameters({ stereo: false, useInbandFec: true });
const USUAL_PACKET_MS = 20;
const REPORTS_WITHOUT_RTT = 3; // by then a browser would have stated it
const LOW_MS = 400; // encoded audio ahead of the wire
const HIGH_MS = 1500;
const REPORT_INTERVAL_MS = 2500; // half of what RFC 3550 section 6.2 calls the minimum for large groups
const CONSENT_MS = 30_000; // RFC 7675 section 5.1
// Browsers repeat their checks each 2.5 to 6 s, and one may be lost. Reports of a browser come as well.
const INTERRUPTED_MS = 10_000;
const WATCH_MS = 2500;
const LONGEST_OUTAGE_S = 600;
const UFRAG_BYTES = 6; // 48 bits; RFC 8445 section 5.3 demands 24, and 128 of the password
const PWD_BYTES = 18;
const NOTHING = new Uint8Array(0);
const CNAME_BYTES = 12; // RFC 7022 section 4.2

export class PeerConnection {
  readonly offer: Offer;
  /** The answer, with all candidates of this side. */
  readonly answer: string;
  readonly #parts: PeerConnectionParts;
  readonly #events: PeerEvents;
  readonly #use: SdpUse;
  readonly #socket: MediaSocket;
  readonly #handshake: MediaHandshake;
  readonly #source: (() => Playout) | undefined;
  readonly #ssrc: number;
  readonly #cname: string;
  readonly #redundancy = new RedundancySwitch();
  #terms: HandshakeTerms & { readonly ice: IceCredentials };
  #sctp: SctpAssociation | undefined;
  #sender: Playout | PlayoutListener | undefined;
  /** Reads the reports of a listener; those of a call are read by the call. */
  readonly #listenerLink: LinkControl | undefined;
  #packetMs = USUAL_PACKET_MS;
  /** Frames that each packet repeats. */
  #repeated: 0 | 1 | 2 = 0;
  #isInterrupted = false;
  #isLost = false;
  /** It ended or failed, or this side closed it: no event follows. */
  #isOver = false;
  #isClosed = false;
  #cancelTimer: () => void = () => undefined;

  /**
   * The browser hears the playout that `source` returns, or, without it, a port of its own. Throws CALL_LIMIT
   * when no port is free.
   */
  constructor(
    offer: Offer,
    use: SdpUse,
    parts: PeerConnectionParts,
    events: PeerEvents,
    source?: () => Playout,
  ) {
    this.offer = offer;
    this.#source = source;
    this.#listenerLink = source === undefined ? undefined : new LinkControl();
    this.#use = use;
    this.#parts = parts;
    this.#events = events;
    this.#ssrc = parts.randomBytes(4).readUInt32BE();
    this.#cname = parts.randomBytes(CNAME_BYTES).toString('base64');
    this.#socket = parts.sockets.open();
    try {
      this.#terms = this.#termsWith(offer.ice);
      this.answer = this.#writeAnswer();
      this.#prepareSocket();
      this.#handshake = this.#beginHandshake();
    } catch (error) {
      this.#socket.close();
      throw error;
    }
    const { setupTimeoutMs, time } = parts;
    this.#cancelTimer = time.after(setupTimeoutMs, () =>
      this.#fail(new ParleyError('TIMEOUT', `the browser was not connected within ${setupTimeoutMs} ms`)),
    );
  }

  /**
   * Restarts ICE if the fragment has other credentials than the browser's present ones; the connection goes
   * on. Candidates are not used: the checks show the browser's address. Throws SDP_INVALID.
   *
   * With `receivedTimestamp` the present path is dead: sound waits for the new one, and is rewound.
   */
  patchIce(
    { ufrag, pwd }: IceFragment,
    receivedTimestamp?: number,
  ): Omit<IceRestart, 'iceSession'> | undefined {
    const { remoteUfrag, remotePwd } = this.#terms.ice;
    if ((ufrag ?? remoteUfrag) === remoteUfrag && (pwd ?? remotePwd) === remotePwd) return undefined;
    if (ufrag === undefined || pwd === undefined) {
      throw new ParleyError('SDP_INVALID', 'an ICE restart needs a=ice-ufrag and a=ice-pwd');
    }
    this.#terms = this.#termsWith({ ufrag, pwd });
    this.#handshake.renegotiate(this.#terms);
    if (receivedTimestamp !== undefined) {
      this.#socket.leavePath();
      this.rewind(receivedTimestamp);
    }
    const { localUfrag, localPwd } = this.#terms.ice;
    const candidates = candidatesOf(this.#parts.sockets.hosts(this.#socket));
    const mid = this.offer.audioMid;
    return { ufrag: localUfrag, pwd: localPwd, candidates, mid };
  }

  /**
   * The sound of this connection, which must stand still, is as if nothing had been sent after this RTP
   * timestamp. A timestamp that this connection has not sent is ignored: it is of another one.
   */
  rewind(receivedTimestamp: number): void {
    if (!(this.#sender instanceof Playout)) return;
    const sinceTicks = (this.#sender.stats().timestamp - receivedTimestamp) >>> 0;
    if (sinceTicks > LONGEST_OUTAGE_S * this.offer.codec.clockRate) return;
    this.#sender.rewind(receivedTimestamp);
  }

  /** Tells the browser and frees everything. No event but `closing` follows. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = this.#isOver = true;
    this.#cancelTimer();
    this.#events.closing();
    this.#sctp?.close();
    this.#sender?.close();
    this.#handshake.close();
    this.#socket.close();
  }

  #termsWith(remote: { readonly ufrag: string; readonly pwd: string }) {
    const { randomBytes } = this.#parts;
    const { setup, fingerprints } = this.offer;
    return {
      // The browser connects once its ICE is ready: some peers lose a handshake that begins before. Sound can
      // leave as early, because this side has the keys with the browser's last flight.
      setup: setup === 'passive' ? 'active' : 'passive',
      fingerprints,
      ice: {
        localUfrag: randomBytes(UFRAG_BYTES).toString('base64'),
        localPwd: randomBytes(PWD_BYTES).toString('base64'),
        remoteUfrag: remote.ufrag,
        remotePwd: remote.pwd,
      },
    } as const;
  }

  #prepareSocket(): void {
    const { codec, payloadType, redPayloadType, telephoneEvent } = this.offer;
    const { clockRate } = codec;
    const socket = this.#socket;
    const isHeard = answeredDirection(this.offer, this.#use) !== 'sendonly';
    const formats: PayloadFormat[] = [{ payloadType, kind: 'sound', clockRate, codec: codec.name }];
    if (redPayloadType !== undefined) {
      formats.push({ payloadType: redPayloadType, kind: 'redundant', clockRate });
    }
    if (telephoneEvent !== undefined) formats.push({ ...telephoneEvent, kind: 'digit' });
    socket.formats(isHeard ? formats : []);
    socket.onKeyDown = () => void (this.#isOver || this.#events.keyDown());
    socket.onDigit = (digit) => !this.#isOver && this.#events.digit(digit);
    socket.srtp('closed');
    // A check will show the address; until then no packet is accepted.
    socket.learn({ announcedOnly: true });
    socket.onDefect = (error) => this.#fail(asParleyError(error, 'WRONG_STATE'));
  }

  #beginHandshake(): MediaHandshake {
    const { certificate, time } = this.#parts;
    return new MediaHandshake({
      ...this.#terms,
      socket: this.#socket,
      certificate,
      time,
      onKeys: (keys) => this.#secured(keys),
      onFailed: (error) => this.#fail(error),
      onNominated: () => undefined, // the socket follows by itself
      onClosed: () => this.#end(),
      ...(this.offer.data === undefined ? {} : { onData: (data: Uint8Array) => this.#sctp?.receive(data) }),
    });
  }

  #writeAnswer(): string {
    const { certificate, randomBytes, sockets } = this.#parts;
    const { setup, ice } = this.#terms;
    return writeAnswer(this.offer, {
      use: this.#use,
      sessionId: (randomBytes(8).readBigUInt64BE() >> 1n).toString(),
      ssrc: this.#ssrc,
      cname: this.#cname,
      ice: { ufrag: ice.localUfrag, pwd: ice.localPwd },
      fingerprint: certificate.fingerprint,
      setup,
      hosts: sockets.hosts(this.#socket),
      parameters: this.offer.codec.name === 'opus' ? OUR_OPUS_PARAMETERS : '',
    });
  }

  #secured({ send, receive }: DtlsKeys): void {
    if (this.#isOver) return;
    try {
      this.#socket.srtp(receive);
      this.#openSctp();
      const tell = this.#openSender(send);
      this.#cancelTimer();
      this.#watch();
      tell();
    } catch (error) {
      this.#fail(asParleyError(error, 'TRANSPORT_UNSUPPORTED'));
    }
  }

  /** Returns the event that reports the sender. */
  #openSender(srtp: SrtpKeys): () => void {
    const { plane } = this.#parts;
    const source = this.#source?.();
    if (source === undefined) {
      const playout = plane.openStream(this.#streamOptions(srtp));
      this.#sender = playout;
      this.#socket.bind(playout);
      return () => this.#events.connected(this.#portOf(playout));
    }
    const listener = plane.openListener(source, this.#streamOptions(srtp));
    this.#sender = listener;
    this.#socket.bind(listener);
    return () => this.#events.listening(listener);
  }

  #portOf(playout: Playout): MediaPort {
    const { codec } = this.offer;
    const socket = this.#socket;
    const encoding = this.#opusLimits;
    return {
      codec,
      frameMs: playout.frameMs,
      isUnheard: this.#use === 'publish',
      playout,
      ...(answeredDirection(this.offer, this.#use) === 'sendonly' ? {} : { socket }),
      encoding,
      repeatsFrames: this.offer.redPayloadType !== undefined,
      packetMs: (ms) => this.#joinFrames(ms),
      remote: () => this.#remote(),
      get path() {
        const { address, overTcp } = socket.stats();
        return address === '' ? 'none' : overTcp ? 'tcp' : 'udp';
      },
      close: () => Promise.resolve(this.close()),
    };
  }

  #remote(): RemoteReception | undefined {
    const { packets } = this.#sender?.stats() ?? { packets: 0 };
    const { codec } = this.offer;
    return remoteReception(this.#socket.stats(), { codec: codec.name, frameMs: this.#frameMs, packets });
  }

  /** RED would double the bits of a link that has no room for them. */
  #joinFrames(ms: number): void {
    if (this.#isOver || this.offer.codec.name !== 'opus' || ms === this.#packetMs) return;
    this.#packetMs = ms;
    const mostMs = Math.min(ms, opusPacketMs(this.offer.maxptime));
    const frameMs = this.#source?.().frameMs ?? this.#frameMs;
    this.#sender?.framesPerPacket(Math.max(1, Math.floor(mostMs / frameMs)));
    this.#protect();
  }

  /** A listener gets the frames of the call: a thin link makes its packets longer, and changes no bits. */
  #fitListener(): void {
    if (this.#listenerLink === undefined) return;
    this.#joinFrames(this.#listenerLink.update(this.#remote(), this.#parts.time.now()).packetMs);
  }

  #streamOptions(srtp: SrtpKeys): StreamOptions {
    const { codec, payloadType, redPayloadType } = this.offer;
    const frameMs = this.#frameMs;
    const random = this.#parts.randomBytes(6);
    return {
      ssrc: this.#ssrc,
      cname: this.#cname,
      payloadType,
      codec: codec.name,
      clockRate: codec.clockRate,
      ticksPerFrame: ticksPerFrame(codec, frameMs),
      frameMs,
      // Below 2^15: the receiver cannot mistake the first wrap (RFC 3711 section 3.3.1).
      sequence: random.readUInt16BE(0) >> 1,
      timestamp: random.readUInt32BE(2),
      // To a publisher the stream sends only the reports on what it publishes (RFC 3550 section 6).
      silence: this.#use === 'publish' ? NOTHING : codec.silence(frameMs),
      silenceIntervalMs: this.#opusLimits?.dtx === true ? DTX_INTERVAL_MS : 0,
      lowMs: LOW_MS,
      highMs: HIGH_MS,
      rtcpIntervalMs: REPORT_INTERVAL_MS,
      srtp,
      ...(redPayloadType === undefined ? {} : { red: { payloadType: redPayloadType, distance: 2 } }),
    };
  }

  get #opusLimits(): OpusLimits | undefined {
    const { codec, parameters } = this.offer;
    return codec.name === 'opus' ? opusLimits(readOpusParameters(parameters)) : undefined;
  }

  get #frameMs(): number {
    const { codec, ptime, maxptime } = this.offer;
    return codec.name === 'opus' ? opusFrameMs(ptime, maxptime) : codec.frameMs;
  }

  #openSctp(): void {
    const { data } = this.offer;
    if (data === undefined) return;
    this.#sctp = new SctpAssociation({
      remote: data,
      send: (packet) => void (this.#isLost || this.#handshake.sendData(packet)),
      onChannel: (channel) => this.#events.channel(channel),
      onAbuse: (error) => this.#fail(error),
    });
  }

  /** An ICE-lite side sends no checks: it consents as long as those of the browser come (RFC 7675). */
  #watch(): void {
    this.#cancelTimer = this.#parts.time.after(WATCH_MS, () => {
      this.#watch(); // first: a defect must not keep the end of the consent from being noticed
      this.#look();
      this.#fitListener();
      this.#protect();
    });
  }

  #look(): void {
    const { nowMs } = this.#parts.plane;
    const { lastRtpMs, lastRtcpMs } = this.#socket.stats();
    const checkedMs = this.#handshake.lastCheckMs ?? 0;
    const isLost = nowMs - checkedMs >= CONSENT_MS;
    const heardMs = Math.max(checkedMs, lastRtpMs ?? 0, lastRtcpMs ?? 0);
    const isInterrupted = isLost || nowMs - heardMs >= INTERRUPTED_MS;
    if (isInterrupted !== this.#isInterrupted) {
      this.#isInterrupted = isInterrupted;
      this.#events.interrupted(isInterrupted);
    }
    if (isLost === this.#isLost) return;
    this.#isLost = isLost;
    // Without consent nothing may be sent (RFC 7675 section 5.1). A later check is a new consent.
    this.#socket.bind(isLost ? null : (this.#sender ?? null));
    if (isLost && !this.#isOver) this.#events.lost();
  }

  /** Repeats frames (RED) as long as the browser reports losses. */
  #protect(): void {
    if (this.offer.redPayloadType === undefined || this.#isOver) return;
    const { remoteReports, remoteFractionLost, rttMs } = this.#socket.stats();
    this.#redundancy.reported(remoteReports, remoteFractionLost);
    // Before the round trip is known, the loss may be that of a full queue.
    const mayBeQueue = rttMs === null && remoteReports < REPORTS_WITHOUT_RTT;
    const isWide = this.#packetMs <= USUAL_PACKET_MS && !mayBeQueue;
    const frames = isWide ? this.#redundancy.frames : 0;
    if (frames === this.#repeated) return;
    this.#repeated = frames;
    this.#sender?.redundancy(frames);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelTimer();
    this.#events.ended();
  }

  #fail(error: ParleyError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelTimer();
    this.#events.failed(error);
  }
}

const LOSS_ON = 0.01;
const LOSS_OFF = 0.005;
/** From here on two packets in a row are often lost together, in bursts and by chance. */
const LOSS_OF_BURSTS = 0.03;
const CALM_REPORTS = 4; // of the browser: some 20 s

/** Decides from the browser's reports how many frames each packet repeats (RFC 2198). */
export class RedundancySwitch {
  #frames: 0 | 1 | 2 = 0;
  #reports = 0;
  #calm = 0;

  get frames(): 0 | 1 | 2 {
    return this.#frames;
  }

  /**
   * The number of frames to repeat, if it changes. `reports` counts the reports so far, `loss` is the
   * fraction of the last one.
   */
  reported(reports: number, loss: number): 0 | 1 | 2 | undefined {
    if (reports === this.#reports) return undefined;
    this.#reports = reports;
    const wanted = loss >= LOSS_OF_BURSTS ? 2 : loss >= LOSS_ON ? 1 : 0;
    this.#calm = loss < LOSS_OFF ? this.#calm + 1 : 0;
    const frames = this.#calm >= CALM_REPORTS ? 0 : wanted > this.#frames ? wanted : this.#frames;
    if (frames === this.#frames) return undefined;
    this.#frames = frames;
    return frames;
  }
}
