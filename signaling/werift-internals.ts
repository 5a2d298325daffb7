// The undocumented members of werift 0.24.4 that the hand-over to the native
// plane stands on, looked up in one place. Whatever is missing fails the call
// at set-up, by name: nothing here is guessed.
import { Socket } from 'node:dgram';
import { SrtpSession, type RTCPeerConnection } from 'werift';
import { ParleyError } from '../src/errors.js';
import type { SrtpKeys } from '../src/media/media-addon.js';

export type Members = Record<PropertyKey, unknown>;

/** werift's DTLS transport; its methods can be replaced on the object itself. */
export interface DtlsInternals extends Members {
  sendRtp: (payload: Uint8Array, header: unknown) => Promise<number>;
  sendRtcp: (packets: readonly { serialize(): Uint8Array }[]) => Promise<void>;
}

/** werift's ICE connection. */
export interface IceInternals extends Members {
  /** The pair of candidates in use, if any. */
  nominated: unknown;
  send(data: Uint8Array): Promise<void>;
}

/** Path of packets to the browser: a UDP socket of ours, or werift's own transport. */
type MediaPath =
  | { readonly kind: 'udp'; readonly fd: number; readonly address: string; readonly port: number }
  | { readonly kind: 'carried'; readonly by: string };

const PROFILES: Readonly<Record<number, SrtpKeys['profile']>> = {
  1: 'AES_CM_128_HMAC_SHA1_80', // RFC 5764 section 4.1.2
  7: 'AEAD_AES_128_GCM', // RFC 7714 section 14.2
};

function unsupported(what: string): ParleyError {
  return new ParleyError(
    'TRANSPORT_UNSUPPORTED',
    `werift ${what}, which the native sender needs: this server is made for werift 0.24.4`,
  );
}

/** `value` as an object with members; `name` says in the error what was looked for. */
export function members(value: unknown, name: string): Members {
  if (typeof value !== 'object' || value === null) throw unsupported(`has no ${name}`);
  return value as Members;
}

export function method(holder: Members, name: string, owner: string): (...parameters: unknown[]) => unknown {
  const value = holder[name];
  if (typeof value !== 'function') throw unsupported(`has no method ${owner}.${name}`);
  return (...parameters) => Reflect.apply(value, holder, parameters) as unknown;
}

export function number(holder: Members, name: string, owner: string): number {
  const value = holder[name];
  if (typeof value !== 'number') throw unsupported(`has no number ${owner}.${name}`);
  return value;
}

export function text(holder: Members, name: string, owner: string): string {
  const value = holder[name];
  if (typeof value !== 'string') throw unsupported(`has no text ${owner}.${name}`);
  return value;
}

/** The one transport that audio and data share, from before the handshake on. */
export function dtlsOf(peer: RTCPeerConnection): DtlsInternals {
  const transports: unknown = peer.dtlsTransports;
  const dtls = members(
    Array.isArray(transports) ? transports[0] : undefined,
    'RTCPeerConnection.dtlsTransports[0]',
  );
  method(dtls, 'sendRtp', 'RTCDtlsTransport');
  method(dtls, 'sendRtcp', 'RTCDtlsTransport');
  proveSrtpConfig();
  return dtls as DtlsInternals;
}

export function iceOf(dtls: DtlsInternals): IceInternals {
  const transport = members(dtls['iceTransport'], 'RTCDtlsTransport.iceTransport');
  const ice = members(transport['connection'], 'RTCIceTransport.connection');
  method(ice, 'send', 'Connection');
  const nominated = Object.getOwnPropertyDescriptor(ice, 'nominated');
  if (nominated?.configurable !== true || !('value' in nominated)) {
    throw unsupported('keeps no property Connection.nominated of its own');
  }
  return ice as IceInternals;
}

// The keys exist only after the handshake, which is too late to find out that
// they cannot be read: a session made for the purpose is asked before it.
function proveSrtpConfig(): void {
  const [localMasterKey, localMasterSalt] = [Buffer.alloc(16, 1), Buffer.alloc(14, 2)];
  const [remoteMasterKey, remoteMasterSalt] = [Buffer.alloc(16, 3), Buffer.alloc(14, 4)];
  const keys = { localMasterKey, localMasterSalt, remoteMasterKey, remoteMasterSalt };
  const read = keysOf(new SrtpSession({ keys, profile: 1 }));
  if (read.key !== localMasterKey || read.salt !== localMasterSalt) {
    throw unsupported('gives other keys in SrtpSession.config than it was given');
  }
}

/** Returns the keys that this side encrypts with. The handshake must be complete. */
export function srtpKeysOf(dtls: DtlsInternals): SrtpKeys {
  return keysOf(dtls['srtp']);
}

function keysOf(session: unknown): SrtpKeys {
  const config = members(members(session, 'RTCDtlsTransport.srtp')['config'], 'SrtpSession.config');
  const keys = members(config['keys'], 'SrtpSession.config.keys');
  const [key, salt] = [keys['localMasterKey'], keys['localMasterSalt']];
  const profile = PROFILES[number(config, 'profile', 'SrtpSession.config')];
  if (!(key instanceof Uint8Array) || !(salt instanceof Uint8Array) || profile === undefined) {
    throw unsupported('keeps no keys of a known profile in SrtpSession.config');
  }
  return { profile, key, salt };
}

/** Makes sure that nothing in werift can use an index of the keys that the native plane owns. */
export function forbidEncryption(dtls: DtlsInternals): void {
  for (const name of ['srtp', 'srtcp']) {
    const session = members(dtls[name], `RTCDtlsTransport.${name}`);
    method(session, 'encrypt', 'Session');
    session['encrypt'] = () => {
      throw new ParleyError('WRONG_STATE', 'the native plane alone encrypts what this call sends');
    };
  }
}

/** The path of a nominated pair. */
export function pathOf(pair: unknown): MediaPath {
  const nominated = members(pair, 'Connection.nominated');
  const protocol = members(nominated['protocol'], 'CandidatePair.protocol');
  const remote = nominated['remoteAddr'];
  const [address, port]: unknown[] = Array.isArray(remote) ? remote : [];
  if (typeof address !== 'string' || typeof port !== 'number')
    throw unsupported('has no CandidatePair.remoteAddr');
  const kind = protocol['type'];
  if (kind !== 'stun') return { kind: 'carried', by: typeof kind === 'string' ? kind : 'unknown' };
  return { kind: 'udp', fd: descriptorOf(protocol), address, port };
}

/** Every socket that waits for the browser's checks, before any of them is nominated. */
export function socketsOf(ice: IceInternals): Socket[] {
  const protocols: unknown = ice['protocols'];
  if (!Array.isArray(protocols)) throw unsupported('has no Connection.protocols');
  return protocols
    .map((protocol) => members(protocol, 'Connection.protocols[]'))
    .filter((protocol) => protocol['type'] === 'stun')
    .map((protocol) => socketOf(protocol));
}

function socketOf(protocol: Members): Socket {
  const transport = members(protocol['transport'], 'StunProtocol.transport');
  const socket = transport['socket'];
  if (!(socket instanceof Socket)) throw unsupported('has no UDP socket in StunProtocol.transport');
  return socket;
}

function descriptorOf(protocol: Members): number {
  return descriptor(socketOf(protocol));
}

/** The descriptor of a bound socket, by the way that prints no deprecation warning (DEP0112). */
export function descriptor(socket: Socket): number {
  const held = socket as unknown as Members;
  const symbol = Object.getOwnPropertySymbols(socket).find(
    ({ description }) => description === 'state symbol',
  );
  const state = members(symbol === undefined ? undefined : held[symbol], 'dgram.Socket state (in Node.js)');
  const fd = number(
    members(state['handle'], 'dgram.Socket handle (in Node.js)'),
    'fd',
    'dgram.Socket handle',
  );
  if (fd < 0) throw unsupported('has no bound socket');
  return fd;
}
