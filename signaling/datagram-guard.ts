// The guard checks every datagram, and every SCTP packet inside, before werift 0.24.4 reads it.
//
//   STUN          a request must carry the integrity of this call's password; werift answers any request,
//                 pairs with its sender and changes its ICE role for it
//   all others    only from an address that passed a STUN check of this call
//   DTLS          once connected, epoch 1 alone; before, also the unprotected messages of a handshake;
//                 werift ends the call for an unprotected alert and for a record of unknown type
//
// A datagram or record that fails is dropped without an answer.
import {
  DTLS_TYPE,
  type DtlsRecord,
  type DtlsSender,
  FINISHED,
  isHandshake,
  isHandshakeRecord,
  readDtlsRecords,
} from '../src/media/dtls-record.js';
import { ATTRIBUTE, BINDING, isSealedWith, readStun, valueOf } from '../src/media/stun-message.js';
import {
  type DtlsInternals,
  type IceInternals,
  members,
  type Members,
  method,
  text,
} from './werift-internals.js';

const LAST_OF_STUN = 3; // first byte, RFC 7983 section 7
const MAX_PAIRS = 256; // candidate pairs; each pair that a check adds costs a check of our own
// Unprotected; a handshake with every flight repeated ten times has a tenth.
const MAX_HANDSHAKE_BYTES = 256 * 1024;
const CLOSE_NOTIFY = 0;
const FATAL = 2;
const PROTECTED_MESSAGES: ReadonlySet<number> = new Set([FINISHED]);

/** Guards one peer connection, before it gathers candidates. Throws TRANSPORT_UNSUPPORTED. */
export function guardDatagrams(dtls: DtlsInternals, ice: IceInternals): void {
  guardIce(ice);
  guardDtls(dtls);
}

function guardIce(ice: IceInternals): void {
  const ensure = method(ice, 'ensureProtocol', 'Connection');
  pairsOf(ice);
  ice['ensureProtocol'] = (value: unknown) => {
    const protocol = members(value, 'Connection.protocols[]');
    const name = protocol['type'] === 'stun' ? 'datagramReceived' : 'handleFrame';
    const receive = method(protocol, name, 'Protocol');
    protocol[name] = (data: Uint8Array, address: readonly [string, number]) => {
      if (admits(ice, protocol, data, address)) receive(data, address);
    };
    return ensure(protocol);
  };
}

function admits(ice: Members, protocol: Members, data: Uint8Array, [host, port]: readonly [string, number]) {
  const [first] = data;
  if (first === undefined) return false;
  const pair = isPair(ice['nominated'], protocol, host, port)
    ? ice['nominated']
    : pairsOf(ice).find((item) => isPair(item, protocol, host, port));
  if (first > LAST_OF_STUN) return pair !== undefined && hasChecked(pair);
  const message = readStun(data);
  // werift verifies the integrity of responses itself, with the key of the request.
  if (message?.class === 'success' || message?.class === 'error') return true;
  if (message?.class !== 'request' || message.method !== BINDING) return false;
  const username = Buffer.from(valueOf(message, ATTRIBUTE.username) ?? []).toString('utf8');
  if (!username.startsWith(`${text(ice, 'localUsername', 'Connection')}:`)) return false;
  if (!isSealedWith(message, Buffer.from(text(ice, 'localPassword', 'Connection')))) return false;
  return pair !== undefined || pairsOf(ice).length < MAX_PAIRS;
}

function pairsOf(ice: Members): Members[] {
  const pairs: unknown = ice['checkList'];
  return Array.isArray(pairs) ? (pairs as Members[]) : [members(pairs, 'Connection.checkList')];
}

interface Pair {
  readonly protocol: unknown;
  readonly remoteCandidate?: { readonly host: string; readonly port: number };
  readonly requestsReceived: number;
  readonly responsesReceived: number;
}

function isPair(value: unknown, protocol: unknown, host: string, port: number): boolean {
  const pair = value as Pair | undefined;
  const remote = pair?.remoteCandidate;
  return pair?.protocol === protocol && remote?.host === host && remote.port === port;
}

/** A check of the browser came on the pair, or an answer to one of ours; both with the right integrity. */
function hasChecked(value: unknown): boolean {
  const pair = value as Pair;
  return pair.requestsReceived > 0 || pair.responsesReceived > 0;
}

/** werift makes its DTLS socket when ICE is connected; it is guarded in the moment in which it is made. */
function guardDtls(dtls: DtlsInternals): void {
  let socket = dtls['dtls'];
  Object.defineProperty(dtls, 'dtls', {
    configurable: true,
    enumerable: true,
    get: () => socket,
    set: (made: unknown) => {
      socket = made;
      if (made !== undefined)
        new DtlsGuard(members(made, 'RTCDtlsTransport.dtls'), dtls['role'] === 'server');
    },
  });
}

class DtlsGuard {
  readonly #socket: Members;
  readonly #receive: (data: Buffer) => unknown;
  readonly #peer: DtlsSender;
  #handshakeBytes = 0;

  constructor(socket: Members, isServer: boolean) {
    this.#socket = socket;
    this.#peer = isServer ? 'client' : 'server';
    this.#receive = method(socket, 'udpOnMessage', 'DtlsSocket');
    const transport = members(members(socket['transport'], 'DtlsSocket.transport')['socket'], 'IceTransport');
    method(transport, 'onData', 'IceTransport');
    transport['onData'] = (datagram: Uint8Array) => {
      for (const record of readDtlsRecords(datagram)) this.#take(record);
    };
  }

  #take(record: DtlsRecord): void {
    if (record.epoch === 0) {
      if (!this.#isConnected() && isHandshakeRecord(record, this.#peer)) this.#takeHandshake(record);
    } else if (record.epoch === 1) {
      this.#takeProtected(record);
    }
  }

  // werift keeps fragments until a message is complete, and forgets none of them.
  #takeHandshake(record: DtlsRecord): void {
    this.#handshakeBytes += record.bytes.length;
    if (this.#handshakeBytes <= MAX_HANDSHAKE_BYTES) this.#pass(record);
  }

  #takeProtected(record: DtlsRecord): void {
    // werift decrypts these itself and drops those that fail.
    if (record.type === DTLS_TYPE.applicationData)
      return this.#isConnected() ? this.#pass(record) : undefined;
    if (record.type !== DTLS_TYPE.alert && record.type !== DTLS_TYPE.handshake) return;
    const plain = this.#decrypted(record);
    if (plain === undefined) return;
    if (record.type === DTLS_TYPE.alert) this.#alerted(plain);
    else if (isHandshake(plain, PROTECTED_MESSAGES)) this.#pass(record);
  }

  // werift reads the first bytes of an encrypted alert as if they were not encrypted.
  #alerted([level, description]: Uint8Array): void {
    if (level !== FATAL && description !== CLOSE_NOTIFY) return;
    const closed = members(this.#socket['onClose'], 'DtlsSocket.onClose');
    method(closed, 'execute', 'DtlsSocket.onClose')();
  }

  /** Undefined where there are no keys yet, or the record was not made with them. */
  #decrypted({ type, epoch, bytes, fragment }: DtlsRecord): Uint8Array | undefined {
    const header = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const recordLayerHeader = {
      contentType: type,
      protocolVersion: { major: header.readUInt8(1), minor: header.readUInt8(2) },
      epoch,
      sequenceNumber: header.readUIntBE(5, 6),
      contentLen: fragment.length,
    };
    const decrypt = method(members(this.#socket['cipher'], 'DtlsSocket.cipher'), 'decryptPacket', 'Cipher');
    try {
      const plain = decrypt({ recordLayerHeader, fragment: header.subarray(bytes.length - fragment.length) });
      return plain instanceof Uint8Array ? plain : undefined;
    } catch {
      return undefined;
    }
  }

  #isConnected(): boolean {
    return this.#socket['connected'] === true;
  }

  #pass({ bytes }: DtlsRecord): void {
    this.#receive(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  }
}

const HEADER_BYTES = 12;
const CHUNK_HEADER_BYTES = 4;
const MAX_GAP = 10_000; // chunks beyond the acknowledged one; a window of this size holds fewer

const SACK = 3;
/** Chunks that consist of parameters, and the bytes before those. */
const PARAMETERS_AT: ReadonlyMap<number, number> = new Map([
  [1, 16], // INIT
  [2, 16], // INIT ACK
  [4, 0], // HEARTBEAT
  [5, 0], // HEARTBEAT ACK
  [6, 0], // ABORT
  [9, 0], // ERROR
  [130, 0], // RE-CONFIG (RFC 6525 section 3.1)
]);

/**
 * False for an SCTP packet (RFC 9260 section 3) that ends inside a chunk or parameter, or states impossible
 * lengths. werift's parser follows every length that it reads: a length of zero makes it run for ever, and
 * gap blocks far apart cost seconds each.
 */
export function isSoundSctp(packet: Uint8Array): boolean {
  const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength);
  return packet.length >= HEADER_BYTES && isSoundList(view, HEADER_BYTES, packet.length, isSoundChunk);
}

/** Type and length in four bytes, the length counting these, each item padded to four. */
function isSoundList(
  view: DataView,
  start: number,
  end: number,
  isSoundItem: (view: DataView, at: number, end: number) => boolean,
): boolean {
  for (let at = start; at < end;) {
    if (at + CHUNK_HEADER_BYTES > end) return isPadding(view, at, end);
    const length = view.getUint16(at + 2);
    if (length < CHUNK_HEADER_BYTES || at + length > end) return false;
    if (!isSoundItem(view, at, at + length)) return false;
    at += (length + 3) & ~3;
  }
  return true;
}

// A remainder shorter than an item header is never read as an item: only zero padding is accepted.
function isPadding(view: DataView, at: number, end: number): boolean {
  for (let byte = at; byte < end; byte++) if (view.getUint8(byte) !== 0) return false;
  return true;
}

function isSoundChunk(view: DataView, at: number, end: number): boolean {
  const type = view.getUint8(at);
  const body = at + CHUNK_HEADER_BYTES;
  if (type === SACK) return isSoundSack(view, body, end);
  const before = PARAMETERS_AT.get(type);
  return before === undefined || isSoundList(view, body + before, end, () => true);
}

function isSoundSack(view: DataView, body: number, end: number): boolean {
  if (body + 12 > end) return false;
  const gaps = view.getUint16(body + 8);
  const duplicates = view.getUint16(body + 10);
  if (body + 12 + 4 * (gaps + duplicates) > end) return false;
  let last = 0;
  for (let index = 0; index < gaps; index++) {
    const from = view.getUint16(body + 12 + 4 * index);
    const to = view.getUint16(body + 14 + 4 * index);
    if (from <= last || to < from || to > MAX_GAP) return false;
    last = to;
  }
  return true;
}
