// One browser's connection: ICE-lite, DTLS, SRTP and, with a data channel, SCTP on one socket of the native
// plane.
//
//   answered ──check──▶ handshaking ──keys──▶ connected ⇄ interrupted ──▶ closed
//       └───────────────────┴─── failed ──────────┴──────────┴────────────▲
//
// The port is made when the handshake is done: only then are there keys for the native stream.
import type { RTCDataChannel } from 'werift';
import type { MediaPort } from '../src/call/call-route.js';
import type { IceFragment, IceRestart, SdpUse } from '../src/call/sdp-exchange.js';
import { ticksPerFrame } from '../src/codecs/codec.js';
import { asParleyError, ParleyError } from '../src/errors.js';
import type { DtlsCertificate } from '../src/media/dtls-association.js';
import type { DtlsKeys, IceCredentials, SrtpKeys } from '../src/media/media-addon.js';
import { type HandshakeTerms, MediaHandshake } from '../src/media/media-handshake.js';
import type { MediaPlane } from '../src/media/media-plane.js';
import type { MediaSocket } from '../src/media/media-socket.js';
import type { Playout } from '../src/media/playout.js';
import type { Time } from '../src/time.js';
import { answeredDirection, candidatesOf, writeAnswer } from './answer.js';
import type { BrowserSockets } from './browser-sockets.js';
import type { Offer } from './offer.js';
import { SctpAssociation } from './sctp-association.js';

export interface PeerConnectionParts {
  readonly plane: Pick<MediaPlane, 'openStream' | 'nowMs'>;
  readonly sockets: Pick<BrowserSockets, 'open' | 'hosts'>;
  readonly certificate: DtlsCertificate;
  readonly time: Time;
  /** Cryptographically strong. */
  readonly randomBytes: (count: number) => Buffer;
  /** Milliseconds from the offer within which media must be able to flow. */
  readonly setupTimeoutMs: number;
}

export interface PeerEvents {
  /** Media can flow. */
  connected(port: MediaPort): void;
  channel(channel: RTCDataChannel): void;
  /** The browser has not been heard for INTERRUPTED_MS, or is heard again. */
  interrupted(isInterrupted: boolean): void;
  /** Called once, unless this side closed first. */
  ended(reason: 'peer closed' | 'peer lost'): void;
  /** Called once, instead of `ended`. */
  failed(error: ParleyError): void;
  /** This side closes the connection, and its data channel can still be read. */
  closing(): void;
}

const LOW_MS = 400; // encoded audio ahead of the wire
const HIGH_MS = 1500;
const REPORT_INTERVAL_MS = 2500; // half of what RFC 3550 section 6.2 calls the minimum for large groups
const CONSENT_MS = 30_000; // RFC 7675 section 5.1
const INTERRUPTED_MS = 7500; // three intervals at which Chromium repeats its checks
const WATCH_MS = 2500;
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
  readonly #ssrc: number;
  readonly #cname: string;
  #terms: HandshakeTerms & { readonly ice: IceCredentials };
  #sctp: SctpAssociation | undefined;
  #playout: Playout | undefined;
  #isInterrupted = false;
  /** It ended or failed, or this side closed it: no event follows. */
  #isOver = false;
  #isClosed = false;
  #cancelTimer: () => void;

  /** Throws CALL_LIMIT when no port is free, TRANSPORT_UNSUPPORTED when werift is not as expected. */
  constructor(offer: Offer, use: SdpUse, parts: PeerConnectionParts, events: PeerEvents) {
    this.offer = offer;
    this.#use = use;
    this.#parts = parts;
    this.#events = events;
    this.#ssrc = parts.randomBytes(4).readUInt32BE();
    this.#cname = parts.randomBytes(CNAME_BYTES).toString('base64');
    this.#socket = parts.sockets.open();
    try {
      this.#terms = this.#termsWith(offer.ice);
      this.#prepareSocket();
      this.#handshake = this.#beginHandshake();
      this.answer = this.#writeAnswer();
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
   */
  patchIce({ ufrag, pwd }: IceFragment): Omit<IceRestart, 'iceSession'> | undefined {
    const { remoteUfrag, remotePwd } = this.#terms.ice;
    if ((ufrag ?? remoteUfrag) === remoteUfrag && (pwd ?? remotePwd) === remotePwd) return undefined;
    if (ufrag === undefined || pwd === undefined) {
      throw new ParleyError('SDP_INVALID', 'an ICE restart needs a=ice-ufrag and a=ice-pwd');
    }
    this.#terms = this.#termsWith({ ufrag, pwd });
    this.#handshake.renegotiate(this.#terms);
    const { localUfrag, localPwd } = this.#terms.ice;
    const candidates = candidatesOf(this.#parts.sockets.hosts(this.#socket));
    const mid = this.offer.audioMid;
    return { ufrag: localUfrag, pwd: localPwd, candidates, mid, lite: true, options: undefined };
  }

  /** Tells the browser and frees everything. No event but `closing` follows. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = this.#isOver = true;
    this.#cancelTimer();
    this.#events.closing();
    this.#sctp?.close();
    this.#playout?.close();
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
    const { codec, payloadType } = this.offer;
    const socket = this.#socket;
    const isHeard = answeredDirection(this.offer, this.#use) !== 'sendonly';
    socket.formats(isHeard ? [{ payloadType, kind: 'sound', clockRate: codec.clockRate }] : []);
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
      onNominated: (address, port) => this.#socket.learn({ address, port, announcedOnly: true }),
      onClosed: () => this.#end('peer closed'),
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
      parameters: '',
    });
  }

  #secured({ send, receive }: DtlsKeys): void {
    if (this.#isOver) return;
    try {
      this.#socket.srtp(receive);
      this.#playout = this.#openStream(send);
      this.#socket.bind(this.#playout);
      this.#openSctp();
    } catch (error) {
      return this.#fail(asParleyError(error, 'TRANSPORT_UNSUPPORTED'));
    }
    this.#cancelTimer();
    this.#watch();
    this.#events.connected(this.#portOf(this.#playout));
  }

  #portOf(playout: Playout): MediaPort {
    const { codec } = this.offer;
    const socket = this.#socket;
    return {
      codec,
      frameMs: codec.frameMs,
      playout,
      get path() {
        return socket.stats().address === '' ? 'none' : 'udp';
      },
      close: () => Promise.resolve(this.close()),
    };
  }

  #openStream(srtp: SrtpKeys): Playout {
    const { codec, payloadType } = this.offer;
    const { frameMs } = codec;
    const random = this.#parts.randomBytes(6);
    return this.#parts.plane.openStream({
      ssrc: this.#ssrc,
      cname: this.#cname,
      payloadType,
      clockRate: codec.clockRate,
      ticksPerFrame: ticksPerFrame(codec, frameMs),
      frameMs,
      // Below 2^15: the receiver cannot mistake the first wrap (RFC 3711 section 3.3.1).
      sequence: random.readUInt16BE(0) >> 1,
      timestamp: random.readUInt32BE(2),
      // To a publisher the stream sends only the reports on what it publishes (RFC 3550 section 6).
      silence: this.#use === 'publish' ? NOTHING : codec.silence(frameMs),
      lowMs: LOW_MS,
      highMs: HIGH_MS,
      rtcpIntervalMs: REPORT_INTERVAL_MS,
      srtp,
    });
  }

  #openSctp(): void {
    const { data } = this.offer;
    if (data === undefined) return;
    this.#sctp = new SctpAssociation({
      remote: data,
      send: (packet) => void this.#handshake.sendData(packet),
      onChannel: (channel) => this.#events.channel(channel),
      onOverfilled: () => this.#end('peer lost'),
    });
  }

  /** An ICE-lite side sends no checks: it consents as long as those of the browser come (RFC 7675). */
  #watch(): void {
    this.#cancelTimer = this.#parts.time.after(WATCH_MS, () => {
      const quietMs = this.#parts.plane.nowMs - (this.#handshake.lastCheckMs ?? 0);
      if (quietMs >= CONSENT_MS) return this.#end('peer lost');
      const isInterrupted = quietMs >= INTERRUPTED_MS;
      if (isInterrupted !== this.#isInterrupted) {
        this.#isInterrupted = isInterrupted;
        this.#events.interrupted(isInterrupted);
      }
      if (!this.#isOver) this.#watch();
    });
  }

  #end(reason: 'peer closed' | 'peer lost'): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelTimer();
    this.#events.ended(reason);
  }

  #fail(error: ParleyError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelTimer();
    this.#events.failed(error);
  }
}
