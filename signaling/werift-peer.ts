// One browser's peer connection on werift, made safe to run unattended.
//
// werift 0.24.4 has faults that a server cannot live with. Each is mended here on the object, with the reason
// beside it, and its test pins the version.
import type { Socket } from 'node:dgram';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  MediaStream,
  type PeerConfig,
  type RTCCertificate,
  type RTCDataChannel,
  RTCPeerConnection,
  RTCRtpCodecParameters,
  UdpTransport,
} from 'werift';
import { ParleyError } from '../src/errors.js';
import { MAX_MESSAGE_BYTES } from './data-channel.js';
import { guardDatagrams, isSoundSctp } from './datagram-guard.js';
import { answerForBrowser, type Offer, offerForWerift } from './offer.js';
import {
  type DtlsInternals,
  dtlsOf,
  iceOf,
  members,
  type Members,
  method,
  number,
} from './werift-internals.js';

export interface PeerNetwork {
  /** Offered instead of the machine's own addresses and loopback, unless there are none. */
  readonly hostAddresses: readonly string[];
  /** First and last UDP port; any when undefined. */
  readonly udpPorts: readonly [number, number] | undefined;
  /** Offers ICE over TCP too; what goes that way is carried by JavaScript. */
  readonly tcp?: boolean;
}

type PeerEnd = 'peer closed' | 'peer lost';

// Werift never finds it by itself, and a laptop without network has nothing else.
const LOOPBACK = '127.0.0.1';

// Above every record number that a handshake uses.
const RECORDS_AFTER_HANDSHAKE = 64;
// Past the last flight of a DTLS handshake: its retransmission ends.
const NO_MORE_FLIGHTS = 1000;
// Chunks out of order that SCTP keeps for one browser; its window allows no more than a few hundred.
const MAX_MISORDERED = 4096;

export class WeriftPeer {
  readonly connection: RTCPeerConnection;
  /** The keys are there and the path is chosen. */
  onConnected: (() => void) | undefined;
  /** Called once, unless this side closed first. */
  onEnded: ((reason: PeerEnd) => void) | undefined;
  onChannel: ((channel: RTCDataChannel) => void) | undefined;
  readonly #offer: Offer;
  readonly #dtls: DtlsInternals;
  #answering: Promise<string> | undefined;
  #closing: Promise<void> | undefined;
  #ended = false;

  /** Throws TRANSPORT_UNSUPPORTED when werift is not as expected. */
  constructor(offer: Offer, network: PeerNetwork, certificate: RTCCertificate) {
    this.#offer = offer;
    this.connection = new RTCPeerConnection(peerConfig(offer, network, certificate));
    this.connection.addTransceiver('audio', {
      direction: 'sendonly',
      streams: [new MediaStream({ id: 'parley', tracks: [] })],
    });
    this.#dtls = dtlsOf(this.connection);
    this.#mendIce();
    guardDatagrams(this.#dtls, iceOf(this.#dtls));
    this.#listen();
  }

  get ssrc(): number {
    const ssrc = this.connection.getTransceivers()[0]?.sender.ssrc;
    return number({ ssrc }, 'ssrc', 'RTCRtpSender');
  }

  get cname(): string {
    return this.connection.cname;
  }

  /** The answer for the browser, every candidate of this side in it. */
  answer(): Promise<string> {
    this.#answering ??= this.#answer();
    return this.#answering;
  }

  async #answer(): Promise<string> {
    await this.connection.setRemoteDescription({ type: 'offer', sdp: offerForWerift(this.#offer) });
    this.#mendSctp();
    // werift would answer "active" even to a browser that insists on being it.
    if (this.#offer.setup === 'active') this.#dtls['role'] = 'server';
    await this.connection.setLocalDescription(await this.connection.createAnswer());
    return answerForBrowser(this.#offer, this.connection.localDescription?.sdp ?? '');
  }

  #listen(): void {
    const ended = (reason: PeerEnd) => this.#end(reason);
    this.connection.dtlsTransports[0]?.onStateChange.subscribe((state) => {
      if (state === 'connected') this.#connected();
      else if (state === 'closed') ended('peer closed');
      else if (state === 'failed') ended('peer lost');
    });
    // Also when consent ran out: 30 s after the browser's last answer (RFC 7675 section 5.1).
    this.connection.connectionStateChange.subscribe((state) => {
      if (state === 'failed' || state === 'closed') ended('peer lost');
    });
    this.connection.onDataChannel.subscribe((channel) => this.onChannel?.(channel));
  }

  #connected(): void {
    this.#mendRecordNumbers();
    if (this.#closing === undefined) this.onConnected?.();
  }

  #end(reason: PeerEnd): void {
    if (this.#ended || this.#closing !== undefined) return;
    this.#ended = true;
    this.onEnded?.(reason);
  }

  // Without a STUN server in its settings werift asks a public one.
  #mendIce(): void {
    const ice = iceOf(this.#dtls);
    members(ice['stunServer'], 'Connection.stunServer');
    ice['stunServer'] = undefined;
  }

  // The handshake's last record and a later one get the same number, and the
  // browser takes that one for a replay: some early event would come a second
  // late, and the record would be encrypted with a nonce used before.
  #mendRecordNumbers(): void {
    const context = this.#dtlsContext();
    const used = number(context, 'recordSequenceNumber', 'DtlsContext');
    context['recordSequenceNumber'] = Math.max(used, RECORDS_AFTER_HANDSHAKE);
  }

  // A chunk without length would keep werift in an endless loop. Any other failure would become an unhandled
  // rejection, which ends the process: werift does not await the handlers of SCTP.
  #mendSctp(): void {
    const transport: unknown = this.connection.sctpTransport;
    if (transport === undefined) return;
    const channels = members(transport, 'RTCPeerConnection.sctpTransport');
    const sctp = members(channels['sctp'], 'RTCSctpTransport.sctp');
    const handle = method(sctp, 'handleData', 'SCTP');
    sctp['handleData'] = async (data: unknown) => {
      if (!(data instanceof Uint8Array) || !isSoundSctp(data)) return;
      await Promise.resolve(handle(data)).catch(() => undefined);
      if (overfilled(sctp)) this.#end('peer lost');
    };
    const received = members(sctp['onReceive'], 'SCTP.onReceive');
    const deliver = method(channels, 'datachannelReceive', 'RTCSctpTransport');
    method(received, 'allUnsubscribe', 'SCTP.onReceive')();
    method(
      received,
      'subscribe',
      'SCTP.onReceive',
    )((...message: unknown[]) => {
      Promise.resolve(deliver(...message)).catch(() => undefined);
    });
  }

  #dtlsContext(): Members {
    const socket = members(this.#dtls['dtls'], 'RTCDtlsTransport.dtls');
    return members(socket['dtls'], 'DtlsSocket.dtls');
  }

  /** Tells the browser, then frees sockets and timers. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    // Sockets that are still being made would outlive a close now.
    await this.#answering?.catch(() => undefined);
    // werift closes silently; an ABORT of the association informs the page's data channel at once.
    await this.connection.sctpTransport?.sctp.abort().catch(() => undefined);
    await nextTurn(); // the socket sends on the next turn of the loop
    this.#endHandshake();
    await this.connection.close();
  }

  // A handshake that the browser left would be repeated for half a minute.
  #endHandshake(): void {
    if (this.#dtls['dtls'] !== undefined) this.#dtlsContext()['flight'] = NO_MORE_FLIGHTS;
  }
}

function peerConfig(offer: Offer, network: PeerNetwork, certificate: RTCCertificate): Partial<PeerConfig> {
  const { codec, payloadType } = offer;
  const { name, clockRate, sdpChannels: channels } = codec;
  const everywhere = network.hostAddresses.length === 0;
  return {
    codecs: {
      audio: [new RTCRtpCodecParameters({ mimeType: `audio/${name}`, clockRate, channels, payloadType })],
      video: [],
    },
    headerExtensions: { audio: [], video: [] },
    iceServers: [],
    // Without either family werift looks up no interface.
    iceUseIpv4: everywhere,
    iceUseIpv6: everywhere,
    iceAdditionalHostAddresses: everywhere ? [LOOPBACK] : [...network.hostAddresses],
    iceUseTcp: network.tcp ?? false,
    ...(network.udpPorts === undefined ? {} : { icePortRange: [...network.udpPorts] as [number, number] }),
    bundlePolicy: 'max-bundle',
    certificates: [certificate],
    maxMessageSize: MAX_MESSAGE_BYTES,
  };
}

/** True for a browser that sends beyond the window it was given. */
function overfilled(sctp: Members): boolean {
  const misordered = sctp['sackMisOrdered'];
  return (
    Number(sctp['advertisedRwnd']) < 0 || (misordered instanceof Set && misordered.size > MAX_MISORDERED)
  );
}

const MAX_TRIES = 1000; // ports of a range that are tried for one socket

let mended = false;

/**
 * Makes werift bind its sockets through `bindUdp`. `random` is uniform in [0, 1).
 *
 * werift looks for a free port by binding and closing a socket, then binds another one to it. Two calls that
 * begin together find the same port, and the loser's error has no listener, which ends the process.
 */
export function mendUdpSockets(random: () => number): void {
  if (mended) return;
  mended = true;
  const prototype = members(UdpTransport.prototype, 'UdpTransport');
  method(prototype, 'init', 'UdpTransport');
  prototype['init'] = async function (this: BindingTransport) {
    try {
      await bindUdp(this.socket, this.options?.portRange, random);
    } catch (error) {
      this.socket.close();
      throw error;
    }
  };
}

interface BindingTransport {
  readonly socket: Socket;
  readonly options?: { readonly portRange?: readonly [number, number] | undefined };
}

/**
 * Binds to a free port of the range, or to any. What goes wrong later, a datagram that the system refuses for
 * one, is a loss like any other. Rejects with CALL_LIMIT when no port of the range is free.
 */
export async function bindUdp(
  socket: Socket,
  range: readonly [number, number] | undefined,
  random: () => number,
): Promise<void> {
  socket.on('error', () => undefined);
  if (range === undefined) {
    const error = await tryToBind(socket, 0);
    if (error !== undefined) throw error;
    return;
  }
  const [first, last] = range;
  const count = last - first + 1;
  // Calls that begin together begin at different ports.
  const start = Math.floor(random() * count);
  for (let tried = 0; tried < Math.min(count, MAX_TRIES); tried++) {
    const error = await tryToBind(socket, first + ((start + tried) % count));
    if (error === undefined) return;
    if (error.code !== 'EADDRINUSE') throw error;
  }
  throw new ParleyError('CALL_LIMIT', `no UDP port from ${first} to ${last} is free`, {
    retryAfterSeconds: 5,
  });
}

function tryToBind(socket: Socket, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const failed = (error: NodeJS.ErrnoException) => {
      socket.off('listening', bound);
      resolve(error);
    };
    const bound = () => {
      socket.off('error', failed);
      resolve(undefined);
    };
    socket.once('error', failed);
    socket.once('listening', bound);
    socket.bind(port);
  });
}
