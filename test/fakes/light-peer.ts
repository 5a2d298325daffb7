// A WebRTC client that costs little, so that hundreds of them fit into one process beside a measured server:
// ICE controlling with consent checks, DTLS by the addon, and a count of what arrives. It offers recvonly
// audio, unless it `speaks`, and a data channel section, but it has no SCTP.
//
//   offer ──▶ accept(answer) ──check──▶ nominated ──DTLS──▶ keys ──RTP──▶ ready ──▶ audible
//
// SRTP is decrypted only until the first packet that is not the codec's silence, unless `onRtp` wants all.
import { randomBytes } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type Codec, OPUS } from '../../src/codecs/codec.js';
import type { DtlsAssociation, DtlsCertificate } from '../../src/media/dtls-association.js';
import { MediaPlane } from '../../src/media/media-plane.js';
import {
  ATTRIBUTE,
  BINDING,
  isSealedWith,
  readStun,
  type StunMessage,
  writeStun,
  xorMappedAddress,
} from '../media/stun-message.js';
import { systemTime, type Time } from '../../src/time.js';
import { SrtpReader } from '../media/srtp-reader.js';
import { SrtpWriter } from '../media/srtp-writer.js';

const LOOPBACK = '127.0.0.1';
const CONSENT_MS = 2500; // Chromium's interval of checks on a stable pair
const CHECK_MS = 50; // the first retransmission; each further one after twice as long
const MOST_CHECKS = 8;
const MOST_EARLY = 16; // DTLS datagrams before the answer
const HOST_PRIORITY = 2_130_706_431;
const FIRST_OF_DTLS = 20; // first byte, RFC 7983 section 7
const FIRST_OF_RTP = 128;
const RTCP_TYPES = [192, 223] as const; // second byte, RFC 5761 section 4
const HALF_SEQUENCE = 0x8000;
const RECEIVE_BUFFER_BYTES = 2 ** 20; // a busy machine may stop a process of many peers for seconds

/** Its thread does the DTLS of all peers of the process, until the process ends. */
const plane = MediaPlane.open({ clock: 'real', seed: 1 });

export interface LightPeerOptions {
  /** One certificate may serve all peers of a process. */
  readonly certificate: DtlsCertificate;
  /** Opus by default. */
  readonly codec?: Codec;
  readonly payloadType?: number;
  /** False leaves the data channel section out. */
  readonly dataChannel?: boolean;
  /** True offers sendrecv audio, for `sendRtp`. */
  readonly speaks?: boolean;
  /** False leaves the candidate out, so that a full ICE server cannot send checks of its own. */
  readonly candidates?: boolean;
  readonly time?: Time;
  /** Called with each datagram of its checks and its DTLS, before it leaves. False keeps it back. */
  readonly sends?: (data: Uint8Array) => boolean;
  /** Called with each RTP packet that has arrived, decrypted. */
  readonly onRtp?: (packet: Buffer) => void;
}

/** The facts of the server's answer that the client needs. */
interface Answer {
  readonly port: number;
  readonly fragment: string;
  readonly password: string;
  readonly fingerprint: { readonly hash: string; readonly digest: string };
  readonly isActive: boolean;
}

export class LightPeer {
  readonly offer: string;
  /** Milliseconds of the clock at which each step was reached. */
  readonly at: { nominated?: number; keys?: number; ready?: number; audible?: number; ended?: number } = {};
  /** Resolves with the first RTP packet, once there are keys as well. Rejects if the set-up fails. */
  readonly ready: Promise<void>;
  /** Resolves with the first RTP packet that is not silence. Rejects if the set-up fails. */
  readonly audible: Promise<void>;
  /** RTP packets so far. */
  packets = 0;
  /** RTP packets so far that came after one with a higher sequence number. */
  disordered = 0;
  /** RTCP packets so far. */
  reports = 0;
  /** Successful responses to checks. */
  consents = 0;
  /** Milliseconds between two RTP packets, the longest so far. */
  longestGapMs = 0;
  readonly #options: LightPeerOptions;
  readonly #time: Time;
  readonly #socket: Socket;
  readonly #codec: Codec;
  #fragment = word(8);
  #password = word(24);
  readonly #tieBreaker = randomBytes(8);
  #answer: Answer | undefined;
  #dtls: DtlsAssociation | undefined;
  /** A server may begin DTLS before its answer is read, because its own checks were answered. */
  readonly #early: Buffer[] = [];
  #reader: SrtpReader | undefined;
  #writer: SrtpWriter | undefined;
  readonly #silence: Buffer;
  #transaction: Buffer | undefined;
  #cancelCheck: (() => void) | undefined;
  #firstSequence: number | undefined;
  #highestSequence = 0;
  #lastAtMs: number | undefined;
  #settleReady!: { resolve(): void; reject(error: Error): void };
  #settleAudible!: { resolve(): void; reject(error: Error): void };
  #closed: Promise<void> | undefined;

  private constructor(socket: Socket, options: LightPeerOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#time = options.time ?? systemTime;
    this.#codec = options.codec ?? OPUS;
    this.#silence = Buffer.from(this.#codec.silence(this.#codec.frameMs));
    this.offer = this.#writeOffer();
    this.ready = new Promise((resolve, reject) => (this.#settleReady = { resolve, reject }));
    this.audible = new Promise((resolve, reject) => (this.#settleAudible = { resolve, reject }));
    this.ready.catch(() => undefined);
    this.audible.catch(() => undefined);
    socket.on('message', (data, { address, port }) => this.#receive(data, address, port));
    socket.on('error', () => undefined); // the server has closed its port
  }

  static async open(options: LightPeerOptions): Promise<LightPeer> {
    const socket = createSocket({ type: 'udp4', recvBufferSize: RECEIVE_BUFFER_BYTES });
    socket.bind(0, LOOPBACK);
    await once(socket, 'listening');
    return new LightPeer(socket, options);
  }

  /** RTP packets that are missing between the first and the last one. */
  get missing(): number {
    if (this.#firstSequence === undefined) return 0;
    return this.#highestSequence - this.#firstSequence + 1 - this.packets;
  }

  /** Datagrams that Linux dropped because this process was too late to read them. */
  get unread(): number {
    const port = this.#socket.address().port.toString(16).toUpperCase().padStart(4, '0');
    for (const line of readFileSync('/proc/net/udp', 'utf8').split('\n')) {
      const fields = line.trim().split(/\s+/);
      if (fields[1]?.endsWith(`:${port}`) === true) return Number(fields.at(-1)); // the column "drops"
    }
    throw new Error(`/proc/net/udp does not list port ${port}`);
  }

  /** The description's ICE facts and SSRC, for a flood against the call. */
  get floodTarget(): { fragment: string; clientFragment: string; password: string } | undefined {
    if (this.#answer === undefined) return undefined;
    const { fragment, password } = this.#answer;
    return { fragment, password, clientFragment: this.#fragment };
  }

  /** Begins the checks. Throws if the answer lacks something. */
  accept(sdp: string): void {
    const answer = readAnswer(sdp);
    this.#answer = answer;
    this.#dtls = plane.openDtls({
      certificate: this.#options.certificate,
      role: answer.isActive ? 'passive' : 'active',
      fingerprints: [answer.fingerprint],
      time: this.#time,
      send: (data) => this.#send(data),
      onKeys: ({ receive, send }) => {
        this.at.keys = this.#time.now();
        this.#reader = new SrtpReader(receive);
        this.#writer = new SrtpWriter(send);
        this.#settleIfReady();
      },
      onFailed: (error) => this.#fail(error),
      onClosed: () => this.#fail(new Error('the server ended the call')),
    });
    for (const data of this.#early.splice(0)) this.#dtls.receive(data);
    this.check();
  }

  /** New credentials for an ICE restart; checks still have the present ones of the server. */
  restart(): { readonly ufrag: string; readonly pwd: string } {
    [this.#fragment, this.#password] = [word(8), word(24)];
    return { ufrag: this.#fragment, pwd: this.#password };
  }

  /** Begins the checks of the restarted ICE with the server's new credentials. */
  acceptRestart({ ufrag, pwd }: { readonly ufrag: string; readonly pwd: string }): void {
    if (this.#answer === undefined) throw new Error('there is no answer to restart ICE of');
    this.#answer = { ...this.#answer, fragment: ufrag, password: pwd };
    this.check();
  }

  /** Sends a connectivity check that nominates the present path, as after a network change. */
  check(): void {
    this.#transaction = randomBytes(12);
    this.#checkAgain(0, this.#transaction);
  }

  /** Sends a packet of RTP, encrypted. Packets before there are keys are lost. */
  sendRtp(packet: Buffer): void {
    if (this.#writer !== undefined) this.forge(this.#writer.rtp(packet));
  }

  /** Sends any datagram from its address, as somebody would who forges this. */
  forge(data: Uint8Array): void {
    if (this.#answer !== undefined) this.#socket.send(data, this.#answer.port, LOOPBACK);
  }

  /** Sends close_notify. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#cancelCheck?.();
    this.#dtls?.close();
    this.#fail(new Error('the client was closed'));
    const closed = once(this.#socket, 'close');
    setImmediate(() => this.#socket.close()); // the alert leaves first
    await closed;
  }

  #fail(error: Error): void {
    this.at.ended ??= this.#time.now();
    this.#settleReady.reject(error);
    this.#settleAudible.reject(error);
  }

  #checkAgain(number: number, transaction: Buffer): void {
    this.#cancelCheck?.();
    if (number >= MOST_CHECKS) return this.#fail(new Error(`the server answered none of ${number} checks`));
    this.#request(transaction, true);
    const again = () => this.#checkAgain(number + 1, transaction);
    this.#cancelCheck = this.#time.after(CHECK_MS * 2 ** number, again);
  }

  #consent(): void {
    this.#cancelCheck = this.#time.after(CONSENT_MS, () => {
      this.#transaction = randomBytes(12);
      this.#request(this.#transaction, false);
      this.#consent();
    });
  }

  #request(transaction: Buffer, nominates: boolean): void {
    const { fragment = '', password = '' } = this.#answer ?? {};
    const priority = Buffer.alloc(4);
    priority.writeUInt32BE(HOST_PRIORITY);
    const message = writeStun({
      class: 'request',
      method: BINDING,
      transaction,
      attributes: [
        { type: ATTRIBUTE.username, value: Buffer.from(`${fragment}:${this.#fragment}`) },
        { type: ATTRIBUTE.priority, value: priority },
        { type: ATTRIBUTE.iceControlling, value: this.#tieBreaker },
        ...(nominates ? [{ type: ATTRIBUTE.useCandidate, value: new Uint8Array(0) }] : []),
      ],
      key: Buffer.from(password),
    });
    this.#send(message);
  }

  #send(data: Uint8Array): void {
    if (this.#options.sends?.(data) !== false) this.forge(data);
  }

  #receive(data: Buffer, address: string, port: number): void {
    if (this.#closed !== undefined) return;
    const [first = 0, second = 0] = data;
    if (first >= FIRST_OF_RTP) {
      if (second >= RTCP_TYPES[0] && second <= RTCP_TYPES[1]) this.reports++;
      else this.#receiveRtp(data);
    } else if (first >= FIRST_OF_DTLS) {
      if (this.#dtls !== undefined) this.#dtls.receive(data);
      else if (this.#early.length < MOST_EARLY) this.#early.push(data);
    } else {
      const message = readStun(data);
      if (message?.class === 'request') this.#respond(message, address, port);
      else if (message?.class === 'success') this.#checked(message);
    }
  }

  #respond(message: StunMessage, address: string, port: number): void {
    const key = Buffer.from(this.#password);
    const mapped = xorMappedAddress(address, port, message.transaction);
    if (mapped === undefined || !isSealedWith(message, key)) return;
    const response = writeStun({
      class: 'success',
      method: BINDING,
      transaction: message.transaction,
      attributes: [{ type: ATTRIBUTE.xorMappedAddress, value: mapped }],
      key,
    });
    this.#socket.send(response, port, address);
  }

  #checked(message: StunMessage): void {
    if (this.#transaction === undefined || !this.#transaction.equals(message.transaction)) return;
    if (!isSealedWith(message, Buffer.from(this.#answer?.password ?? ''))) return;
    this.#transaction = undefined;
    this.consents++;
    this.at.nominated ??= this.#time.now();
    this.#cancelCheck?.();
    this.#consent();
    this.#dtls?.start();
  }

  #receiveRtp(data: Buffer): void {
    const nowMs = this.#time.now();
    this.packets++;
    if (this.#lastAtMs !== undefined) this.longestGapMs = Math.max(this.longestGapMs, nowMs - this.#lastAtMs);
    this.#lastAtMs = nowMs;
    const index = this.#indexOf(data.readUInt16BE(2));
    const { onRtp } = this.#options;
    if (onRtp !== undefined && this.#reader !== undefined) onRtp(this.#plain(this.#reader, data, index));
    this.#settleIfReady();
    if (this.at.audible === undefined && this.#isAudible(data, index)) {
      this.at.audible = nowMs;
      this.#settleAudible.resolve();
    }
  }

  /** A packet may come before this side has processed the end of the handshake. */
  #settleIfReady(): void {
    if (this.at.ready !== undefined || this.at.keys === undefined || this.packets === 0) return;
    this.at.ready = this.#time.now();
    this.#settleReady.resolve();
  }

  /** The roll-over counter and the sequence number as one number (RFC 3711 section 3.3.1). */
  #indexOf(sequence: number): number {
    if (this.#firstSequence === undefined) {
      this.#firstSequence = sequence;
      this.#highestSequence = sequence;
    }
    const step = (sequence - this.#highestSequence) & 0xffff;
    const index = this.#highestSequence + (step < HALF_SEQUENCE ? step : step - 2 * HALF_SEQUENCE);
    if (index < this.#highestSequence) this.disordered++;
    this.#highestSequence = Math.max(this.#highestSequence, index);
    return index;
  }

  #isAudible(data: Buffer, index: number): boolean {
    if (this.#reader === undefined) return false;
    return !this.#silence.equals(this.#plain(this.#reader, data, index).subarray(12));
  }

  #plain(reader: SrtpReader, data: Buffer, index: number): Buffer {
    return Buffer.from(reader.rtp(data, Math.floor(index / 0x10000)));
  }

  #writeOffer(): string {
    const { certificate, dataChannel = true, candidates = true, speaks = false } = this.#options;
    const { name, clockRate, sdpChannels } = this.#codec;
    const { payloadType = this.#codec.staticPayloadType ?? 111 } = this.#options;
    const { hash, digest } = certificate.fingerprint;
    const transport = [
      'c=IN IP4 0.0.0.0',
      `a=ice-ufrag:${this.#fragment}`,
      `a=ice-pwd:${this.#password}`,
      `a=fingerprint:${hash} ${digest}`,
      'a=setup:actpass',
    ];
    const { port } = this.#socket.address();
    const candidate = `a=candidate:1 1 udp ${HOST_PRIORITY} ${LOOPBACK} ${port} typ host`;
    return [
      'v=0',
      'o=- 1 2 IN IP4 127.0.0.1',
      's=-',
      't=0 0',
      `a=group:BUNDLE 0${dataChannel ? ' 1' : ''}`,
      `m=audio 9 UDP/TLS/RTP/SAVPF ${payloadType}`,
      ...transport,
      ...(candidates ? [candidate] : []),
      'a=mid:0',
      speaks ? 'a=sendrecv' : 'a=recvonly',
      'a=rtcp-mux',
      `a=rtpmap:${payloadType} ${name}/${clockRate}${sdpChannels > 1 ? `/${sdpChannels}` : ''}`,
      ...(dataChannel
        ? ['m=application 9 UDP/DTLS/SCTP webrtc-datachannel', ...transport, 'a=mid:1', 'a=sctp-port:5000']
        : []),
      '',
    ].join('\r\n');
  }
}

function readAnswer(sdp: string): Answer {
  const find = (pattern: RegExp, name: string): RegExpExecArray => {
    const found = pattern.exec(sdp);
    if (found === null) throw new Error(`the answer has no ${name}`);
    return found;
  };
  const candidate = new RegExp(
    `^a=candidate:\\S+ 1 udp \\d+ ${LOOPBACK.replaceAll('.', '\\.')} (\\d+)`,
    'im',
  );
  const [, port] = find(candidate, `UDP candidate on ${LOOPBACK}`);
  const [, fragment = ''] = find(/^a=ice-ufrag:(\S+)/m, 'ICE user fragment');
  const [, password = ''] = find(/^a=ice-pwd:(\S+)/m, 'ICE password');
  const [, hash = '', digest = ''] = find(/^a=fingerprint:(\S+) (\S+)/m, 'fingerprint');
  const [, setup] = find(/^a=setup:(\S+)/m, 'DTLS role');
  const fingerprint = { hash: hash.toLowerCase(), digest: digest.toUpperCase() };
  return { port: Number(port), fragment, password, fingerprint, isActive: setup === 'active' };
}

/** Characters that ICE allows. */
function word(length: number): string {
  return randomBytes(length).toString('hex').slice(0, length);
}
