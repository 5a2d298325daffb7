// One browser's call from its offer to its end.
//
//   answering ──▶ connecting ──▶ talking ──▶ ended
//       └──────────────┴────────────▲
//
// The port is handed out when the handshake is done: only then are there keys
// for the native stream. Until then the set-up may be given up at any moment.
import type { Call } from '../src/call/call.js';
import type { MediaPort } from '../src/call/call-route.js';
import type { Time } from '../src/time.js';
import { asParleyError, ParleyError } from '../src/errors.js';
import { ticksPerFrame } from '../src/codecs/codec.js';
import type { SrtpKeys } from '../src/media/media-addon.js';
import type { MediaPlane } from '../src/media/media-plane.js';
import type { Playout } from '../src/media/playout.js';
import type { RTCDataChannel } from 'werift';
import { DataChannelSession, type DataChannelLimits, type ServerMessage } from './data-channel.js';
import { NativeTransport } from './native-transport.js';
import type { Offer } from './offer.js';
import type { WeriftPeer } from './werift-peer.js';

interface BrowserLog {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
}

export interface BrowserCallParts {
  readonly plane: Pick<MediaPlane, 'openStream'>;
  readonly time: Time;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly log: BrowserLog;
  readonly limits: BrowserLimits;
}

interface BrowserLimits extends DataChannelLimits {
  /** Milliseconds from the offer within which media must be able to flow. */
  readonly setupTimeoutMs: number;
}

const LOW_MS = 400; // encoded audio ahead of the wire
const HIGH_MS = 1500;
const REPORT_INTERVAL_MS = 2500; // half of what RFC 3550 section 6.2 calls the minimum for large groups
const EARLY_MESSAGES = 64; // between the opening of the channel and the call's

export class BrowserCall {
  readonly id: string;
  /** Resolves once media can flow; rejects when the set-up failed or was given up. */
  readonly port: Promise<MediaPort>;
  /** Resolves when nothing of it is left. */
  readonly freed: Promise<void>;
  readonly #offer: Offer;
  readonly #peer: WeriftPeer;
  readonly #transport: NativeTransport;
  readonly #parts: BrowserCallParts;
  readonly #cancelTimeout: () => void;
  #settlePort!: { resolve(port: MediaPort): void; reject(error: ParleyError): void };
  #call: Call | undefined;
  #channel: RTCDataChannel | undefined;
  /** The page has been sent the acknowledgement of its channel (RFC 8832 section 5.2). */
  #acknowledged = false;
  #early: unknown[] = [];
  #session: DataChannelSession | undefined;
  /** Reason of an end before a call existed. */
  #reason: string | undefined;
  #freeing: Promise<void> | undefined;
  #resolveFreed!: () => void;

  /** Throws TRANSPORT_UNSUPPORTED when the peer is not as the native sender needs it. */
  constructor(id: string, offer: Offer, peer: WeriftPeer, parts: BrowserCallParts) {
    this.id = id;
    this.#offer = offer;
    this.#peer = peer;
    this.#parts = parts;
    this.#transport = new NativeTransport(peer.connection);
    this.port = new Promise((resolve, reject) => (this.#settlePort = { resolve, reject }));
    this.port.catch(() => undefined);
    this.freed = new Promise((resolve) => (this.#resolveFreed = resolve));
    const { setupTimeoutMs } = parts.limits;
    this.#cancelTimeout = parts.time.after(setupTimeoutMs, () => {
      this.#fail(new ParleyError('TIMEOUT', `the browser was not connected within ${setupTimeoutMs} ms`));
    });
    peer.onConnected = () => this.#connected();
    peer.onChannel = (channel) => this.#channelOpened(channel);
    peer.onEnded = (reason) => this.#endUnasked(reason);
    this.#transport.onBroken = (error) => this.#fail(error);
    this.#transport.onPath = (path) => parts.log.info({ call: id, path }, 'path changed');
  }

  async answer(): Promise<string> {
    try {
      const sdp = await this.#peer.answer();
      this.#transport.proveSockets();
      if (this.#reason !== undefined) throw new ParleyError('ABORTED', `the call ended: ${this.#reason}`);
      return sdp;
    } catch (error) {
      const failure = asParleyError(error, 'SDP_INVALID');
      this.#fail(failure);
      await this.#free();
      throw failure;
    }
  }

  /** The call that was made of the port. */
  join(call: Call): void {
    this.#call = call;
    if (this.#reason !== undefined) void call.close(this.#reason);
    else this.#talk();
  }

  /** Resolves when nothing of the call is left. */
  async end(reason: string): Promise<void> {
    this.#reason ??= reason;
    if (this.#call !== undefined) return this.#call.close(reason);
    this.#settlePort.reject(new ParleyError('ABORTED', `the call ended before it was set up: ${reason}`));
    await this.#free();
  }

  #endUnasked(reason: string): void {
    this.end(reason).catch((error: unknown) => {
      this.#parts.log.warn({ call: this.id, reason, err: error }, 'call not freed');
    });
  }

  #fail(error: ParleyError): void {
    const { code, message: detail } = error;
    if (this.#reason === undefined) this.#parts.log.warn({ call: this.id, code, detail }, 'transport failed');
    this.#settlePort.reject(error);
    this.#endUnasked(code === 'TIMEOUT' ? 'set-up timeout' : 'transport failed');
  }

  #connected(): void {
    if (this.#freeing !== undefined) return;
    this.#cancelTimeout();
    try {
      const playout = this.#transport.connect((srtp) => this.#openStream(srtp));
      const transport = this.#transport;
      const { codec } = this.#offer;
      this.#settlePort.resolve({
        codec,
        frameMs: codec.frameMs,
        playout,
        get path() {
          return transport.path;
        },
        close: () => this.#free(),
      });
    } catch (error) {
      this.#fail(asParleyError(error, 'TRANSPORT_UNSUPPORTED'));
    }
  }

  #openStream(srtp: SrtpKeys): Playout {
    const { codec, payloadType } = this.#offer;
    const { frameMs } = codec;
    const random = (below: number) => Math.floor(this.#parts.random() * below);
    return this.#parts.plane.openStream({
      ssrc: this.#peer.ssrc,
      cname: this.#peer.cname,
      payloadType,
      clockRate: codec.clockRate,
      ticksPerFrame: ticksPerFrame(codec, frameMs),
      frameMs,
      // Below 2^15: the receiver cannot mistake the first wrap (RFC 3711 section 3.3.1).
      sequence: random(2 ** 15),
      timestamp: random(2 ** 32),
      silence: codec.silence(frameMs),
      lowMs: LOW_MS,
      highMs: HIGH_MS,
      rtcpIntervalMs: REPORT_INTERVAL_MS,
      srtp,
    });
  }

  // werift queues the acknowledgement when this handler has returned. A page may not send before it has come,
  // so that nothing that it would answer can go first.
  #channelOpened(channel: RTCDataChannel): void {
    const unfit = unreliable(channel);
    if (unfit !== undefined || this.#channel !== undefined || this.#freeing !== undefined) {
      queueMicrotask(() => {
        if (unfit !== undefined) channel.send(JSON.stringify(unfit));
        setImmediate(() => channel.close()); // after what was sent has left
      });
      return;
    }
    this.#channel = channel;
    channel.stateChanged.subscribe((state) => {
      if (state === 'closed') this.#endUnasked('peer closed');
    });
    channel.onMessage.subscribe((data) => {
      if (this.#session !== undefined) this.#session.receive(data);
      else if (this.#early.length < EARLY_MESSAGES) this.#early.push(data);
    });
    queueMicrotask(() => {
      this.#acknowledged = true;
      this.#talk();
    });
  }

  /** Once there is a call and a channel that was acknowledged. */
  #talk(): void {
    const [call, channel] = [this.#call, this.#channel];
    if (call === undefined || channel === undefined || !this.#acknowledged) return;
    if (this.#session !== undefined || this.#freeing !== undefined) return;
    const { limits, time, log } = this.#parts;
    this.#session = new DataChannelSession(channel, call, { limits, time, log });
    for (const data of this.#early.splice(0)) this.#session.receive(data);
  }

  #free(): Promise<void> {
    this.#freeing ??= this.#freeAll();
    return this.#freeing;
  }

  async #freeAll(): Promise<void> {
    this.#cancelTimeout();
    this.#session?.close();
    try {
      this.#transport.close();
    } finally {
      await this.#peer.close().finally(() => this.#resolveFreed());
    }
  }
}

/** Error for a page whose data channel could reorder or lose tokens; undefined if the channel is reliable. */
function unreliable({
  ordered,
  maxRetransmits,
  maxPacketLifeTime,
}: RTCDataChannel): ServerMessage | undefined {
  if (ordered && maxRetransmits === null && maxPacketLifeTime === null) return undefined;
  const message =
    'the data channel must be ordered and reliable: make it with createDataChannel(label) alone';
  return { type: 'error', error: { code: 'INVALID_FIELD', message, field: 'ordered' } };
}
