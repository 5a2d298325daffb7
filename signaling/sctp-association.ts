// One browser's SCTP association and data channels (RFC 8831, RFC 8832), on werift, over application data of
// DTLS.
//
//   DTLS ──receive──▶ valid? ──▶ werift's SCTP ──▶ data channels ──onChannel──▶ owner
//     ◀──────send─────────────────────┘
//
// werift 0.24.4 has faults that a server cannot live with. This class patches its objects, with the reason
// beside each patch. A test pins the version.
import { RTCDataChannel, RTCDataChannelParameters, type RTCDtlsTransport, RTCSctpTransport } from 'werift';
import { guarded, ParleyError } from '../src/errors.js';
import { MAX_MESSAGE_BYTES } from './data-channel.js';
import { isValidSctp } from './sctp-packet.js';

interface SctpOptions {
  /** Port and message limit that the far end's description states (RFC 8841). */
  readonly remote: { readonly sctpPort: number; readonly maxMessageSize: number };
  /** Sends one packet as DTLS application data. */
  readonly send: (packet: Uint8Array) => void;
  readonly onChannel: (channel: RTCDataChannel) => void;
  /** Called once: the far end sends more than its window allows, or opens too many channels. */
  readonly onAbuse: (error: ParleyError) => void;
}

/** The port of our side; each association has its own port numbers (RFC 8841 section 5.1). */
export const SCTP_PORT = 5000;

// Channels that one browser may open in all; a page has one. werift looks through all of them for each.
const MAX_OPENED = 16;
const DCEP = 50; // payload protocol identifier of RFC 8832
const STRING = 51; // payload protocol identifier of RFC 8831
const MESSAGES: readonly unknown[] = [STRING, 53, 56, 57]; // strings and bytes, and empty ones
const DATA_CHANNEL_OPEN = 3;
const LAST_FRAGMENT = 1; // flag of a DATA chunk (RFC 9260 section 3.3.1)
// Chunks that SCTP keeps for one browser: misordered, or of messages that are not complete. The window counts
// bytes only, and a chunk of one byte costs hundreds. It has room for about 900 chunks of the usual size.
const MAX_KEPT = 1024;
const LAST_STREAM = 65_534; // RFC 8832 section 6; werift throws beyond
const MAX_STREAMS = 64; // werift keeps the state of every stream that a browser names
const MOST_RTO_S = 6; // at most a chunk or two so often: 2 kbit/s
const TSN_MODULO = 2 ** 32; // RFC 9260 section 1.6

type Members = Record<PropertyKey, unknown>;

/** The part of werift's DTLS transport that its SCTP uses. */
interface DtlsBridge {
  readonly id: string;
  readonly iceTransport: { readonly role: 'controlled' };
  readonly onStateChange: { subscribe(): { unSubscribe(): void } };
  readonly sendData: (packet: Uint8Array) => Promise<void>;
  dataReceiver: ((packet: Buffer) => void) | undefined;
}

export class SctpAssociation {
  readonly #options: SctpOptions;
  readonly #bridge: DtlsBridge;
  readonly #transport: RTCSctpTransport;
  readonly #onChannel: SctpOptions['onChannel'];
  /** Numbers of the streams that have or had a channel. */
  readonly #streams = new Set<unknown>();
  #opened = 0;
  #closed = false;

  /** Throws TRANSPORT_UNSUPPORTED when werift is not as expected. */
  constructor(options: SctpOptions) {
    this.#options = options;
    this.#bridge = {
      id: 'native',
      // The controlled side waits for the INIT of the browser.
      iceTransport: { role: 'controlled' },
      onStateChange: { subscribe: () => ({ unSubscribe: () => undefined }) },
      sendData: (packet) => {
        if (!this.#closed) options.send(packet);
        return Promise.resolve();
      },
      dataReceiver: undefined,
    };
    this.#transport = new RTCSctpTransport(SCTP_PORT, MAX_MESSAGE_BYTES);
    this.#transport.setDtlsTransport(this.#bridge as unknown as RTCDtlsTransport);
    this.#transport.setRemoteMaxMessageSize(options.remote.maxMessageSize);
    // werift's own failures are dropped with their packet; a failure of ours ends the connection.
    const fail = (error: ParleyError) => {
      this.close();
      options.onAbuse(error);
    };
    this.#onChannel = guarded({ work: 'data channel' }, options.onChannel, fail);
    this.#transport.onDataChannel.subscribe(this.#onChannel);
    this.#patchWerift();
    this.#transport.start(options.remote.sctpPort).catch(() => undefined);
  }

  /** One message of DTLS application data. Anything that is no valid SCTP packet is dropped. */
  receive(packet: Uint8Array): void {
    if (this.#closed || !isValidSctp(packet)) return;
    this.#bridge.dataReceiver?.(Buffer.from(packet.buffer, packet.byteOffset, packet.byteLength));
  }

  /** Ends the association with ABORT and frees its timers. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#transport.stop().catch(() => undefined);
    this.#closed = true;
  }

  #abused(what: string): void {
    if (this.#closed) return;
    this.close();
    this.#options.onAbuse(new ParleyError('QUEUE_FULL', `the browser ${what}`));
  }

  // werift does not await the handlers of SCTP: any failure would become an unhandled rejection.
  #patchWerift(): void {
    const channels = members(this.#transport, 'RTCSctpTransport');
    const sctp = members(channels['sctp'], 'RTCSctpTransport.sctp');
    const handle = method(sctp, 'handleData', 'SCTP');
    sctp['handleData'] = async (data: unknown) => {
      await Promise.resolve(handle(data)).catch(() => undefined);
      if (isOverfilled(sctp)) this.#abused('sends more than the window of its SCTP association allows');
    };
    // werift retransmits ever after the same time. On a thin link each round fills the queue, and neither
    // messages nor voice get through. RFC 9260 section 6.3.3 doubles the time; an answer shortens it.
    const expired = method(sctp, 'timer3Expired', 'SCTP');
    sctp['timer3Expired'] = () => {
      sctp['rto'] = Math.min(2 * Number(sctp['rto']), MOST_RTO_S);
      expired();
    };
    method(sctp, 'markReceived', 'SCTP');
    sctp['markReceived'] = (tsn: number) => markReceived(sctp, tsn);
    const received = members(sctp['onReceive'], 'SCTP.onReceive');
    const deliver = method(channels, 'datachannelReceive', 'RTCSctpTransport');
    method(received, 'allUnsubscribe', 'SCTP.onReceive')();
    const subscribe = method(received, 'subscribe', 'SCTP.onReceive');
    subscribe((...message: unknown[]) => {
      const [stream, protocol, data] = message;
      const opens = protocol === DCEP && data instanceof Uint8Array && data[0] === DATA_CHANNEL_OPEN;
      if (opens && ++this.#opened > MAX_OPENED) return this.#abused(`opens more than ${MAX_OPENED} channels`);
      if (Number(stream) > LAST_STREAM) return;
      const isNegotiated = MESSAGES.includes(protocol) && !this.#streams.has(stream);
      if ((opens || isNegotiated) && this.#streams.size < MAX_OPENED) {
        this.#streams.add(stream);
        if (isNegotiated) this.#openNegotiated(Number(stream));
      }
      Promise.resolve(deliver(...message)).catch(() => undefined);
    });
  }

  /**
   * A page may make its channel with `negotiated: true`: no DATA_CHANNEL_OPEN comes (RFC 8831 section 6.4),
   * and the page's first message shows the channel. It has no label here.
   */
  #openNegotiated(id: number): void {
    const parameters = new RTCDataChannelParameters({ id, negotiated: true, ordered: true });
    this.#onChannel(new RTCDataChannel(this.#transport, parameters, false));
  }
}

/** Number of the channel's latest text messages that its browser has not acknowledged. */
export function unacknowledged(channel: RTCDataChannel): number {
  const transport = members(channel.sctp, 'RTCSctpTransport');
  const sctp = members(transport['sctp'], 'RTCSctpTransport.sctp');
  const waiting = listOf(transport, 'dataChannelQueue').filter((entry) => entry[0] === channel);
  const chunks = [...listOf(sctp, 'sentQueue'), ...listOf(sctp, 'outboundQueue')];
  const ends = chunks.filter(
    ({ streamId, protocol, flags }) =>
      streamId === channel.id && protocol === STRING && (Number(flags) & LAST_FRAGMENT) !== 0,
  );
  return waiting.length + ends.length;
}

/** True for a browser that sends beyond the window it was given, or more chunks than are kept. */
function isOverfilled(sctp: Members): boolean {
  const misordered = setOf(sctp, 'sackMisOrdered');
  if (Number(sctp['advertisedRwnd']) < 0 || misordered.size > MAX_KEPT) return true;
  const streams = Object.values(members(sctp['inboundStreams'], 'SCTP.inboundStreams'));
  if (streams.length > MAX_STREAMS) return true;
  const kept = streams.reduce<number>((sum, stream) => {
    const { length } = members(members(stream, 'InboundStream')['reassembly'], 'InboundStream.reassembly');
    return sum + Number(length);
  }, 0);
  return kept > MAX_KEPT;
}

/**
 * Takes the place of werift's method, which sorts all misordered chunks for each chunk that arrives, and as
 * texts, so that 10 comes before 9. True for a duplicate.
 *
 * Its SACKs still sort so: none leaves while a gap spans the wrap of TSNs, and the browser retransmits then.
 */
function markReceived(sctp: Members, tsn: number): boolean {
  const misordered = setOf(sctp, 'sackMisOrdered');
  let last = Number(sctp['lastReceivedTsn']);
  const isNew = (other: number) => isAfter(other, last);
  if (!isNew(tsn) || misordered.has(tsn)) {
    (sctp['sackDuplicates'] as number[]).push(tsn);
    return true;
  }
  misordered.add(tsn);
  for (let next = after(last); misordered.delete(next); next = after(next)) last = next;
  sctp['lastReceivedTsn'] = last;
  sctp['sackDuplicates'] = (sctp['sackDuplicates'] as number[]).filter(isNew);
  return false;
}

function after(tsn: number): number {
  return (tsn + 1) % TSN_MODULO;
}

/** Serial number arithmetic (RFC 1982). */
function isAfter(tsn: number, other: number): boolean {
  const ahead = (tsn - other + TSN_MODULO) % TSN_MODULO;
  return ahead > 0 && ahead < TSN_MODULO / 2;
}

function listOf(holder: Members, name: string): readonly Members[] {
  const value = holder[name];
  if (!Array.isArray(value)) throw unsupported(`has no list ${name}`);
  return value as readonly Members[];
}

function setOf(holder: Members, name: string): Set<number> {
  const value = holder[name];
  if (!(value instanceof Set)) throw unsupported(`has no set SCTP.${name}`);
  return value as Set<number>;
}

function unsupported(what: string): ParleyError {
  return new ParleyError(
    'TRANSPORT_UNSUPPORTED',
    `werift ${what}, which data channels need: this server is made for werift 0.24.4`,
  );
}

function members(value: unknown, name: string): Members {
  if (typeof value !== 'object' || value === null) throw unsupported(`has no ${name}`);
  return value as Members;
}

function method(holder: Members, name: string, owner: string): (...parameters: unknown[]) => unknown {
  const value = holder[name];
  if (typeof value !== 'function') throw unsupported(`has no method ${owner}.${name}`);
  return (...parameters) => Reflect.apply(value, holder, parameters) as unknown;
}
