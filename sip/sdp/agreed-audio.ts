// Defines what both sides of a call have agreed on, and builds it from the choices of an offer and its
// answer.
import { type OpusParameters, readOpusParameters } from '../../src/codecs/opus-format.js';
import { refused } from '../message/refusal.js';
import type { FormatChoice, KeyChoice, MediaPolicy } from './media-policy.js';
import { type AudioCodecName, packetTime } from './audio-format.js';
import type { AudioSection, MediaAddress } from './audio-section.js';
import { type AgreedIce, ICE_LITE, type IceSecret } from './ice-parameters.js';
import type { CryptoAttribute, CryptoSuite, DtlsParameters, Fingerprint } from './media-keys.js';
import { type Attribute, type Connection, type Direction, mirrored } from './session-description.js';

/** Payload types of one direction. */
interface PayloadTypesInUse {
  readonly codec: number;
  readonly telephoneEvent?: number;
  readonly comfortNoise?: number;
}

export type AgreedKeys =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'sdes';
      readonly suite: CryptoSuite;
      /** Master keys with salts: ours for sending, the peer's for receiving. */
      readonly send: Uint8Array;
      readonly receive: Uint8Array;
      /** Length in bytes of the MKI that the peer appends to its packets; 0 if there is none. */
      readonly mkiBytes: number;
      /** Number of packets that the peer sends with its key, if it stated one. */
      readonly lifetime?: number;
    }
  | {
      readonly kind: 'dtls';
      /** Our role: `active` connects. */
      readonly setup: 'active' | 'passive';
      /** Fingerprints of the peer's certificate. */
      readonly fingerprints: readonly Fingerprint[];
      readonly tlsId: string | undefined;
    };

export interface AgreedAudio {
  /** Index of the media section in the descriptions, from 0. */
  readonly section: number;
  readonly protocol: string;
  /** The codec that we send. */
  readonly codec: AudioCodecName;
  readonly send: PayloadTypesInUse;
  readonly receive: PayloadTypesInUse;
  /** Codecs that the peer may send, by payload type. */
  readonly receivable: ReadonlyMap<number, AudioCodecName>;
  /** Clock rate of telephone events in Hz; undefined if they were not agreed on. */
  readonly eventClockRate: number | undefined;
  readonly packetTimeMs: number;
  /** The peer's `a=maxptime`; absent if it states none. */
  readonly mostPacketTimeMs?: number;
  /** The peer's Opus parameters. */
  readonly opus: OpusParameters | undefined;
  readonly local: Connection;
  readonly remote: MediaAddress;
  /** Undefined if RTCP is multiplexed with RTP. */
  readonly remoteRtcp: MediaAddress | undefined;
  /** The direction from our side: `recvonly` means that the peer holds us. */
  readonly direction: Direction;
  readonly keys: AgreedKeys;
  /**
   * Undefined without ICE. With ICE, `remote` is ignored (it may be no address): packets go to the candidate
   * that the peer nominated.
   */
  readonly ice?: AgreedIce;
  /** The name of the section (RFC 5888), and whether it is in a bundle (RFC 9143). */
  readonly mid?: string;
  readonly bundled?: boolean;
}

interface Settled {
  readonly index: number;
  /** The peer's section. */
  readonly section: AudioSection;
  readonly rtp: MediaAddress;
  /** The chosen formats, with the peer's payload types. */
  readonly choice: FormatChoice;
  readonly receive: PayloadTypesInUse;
  readonly receivable: ReadonlyMap<number, AudioCodecName>;
  readonly local: Connection;
  readonly keys: AgreedKeys;
  /** Our ICE credentials; undefined without ICE. */
  readonly ice: IceSecret | undefined;
  readonly policy: MediaPolicy;
  readonly wanted: Direction;
}

export function settle({ section, choice, policy, ...settled }: Settled): AgreedAudio {
  return {
    section: settled.index,
    protocol: section.protocol,
    codec: choice.codec.name,
    send: typesOf({ ...choice, codec: choice.format }),
    receive: settled.receive,
    receivable: settled.receivable,
    eventClockRate: choice.telephoneEvent?.clockRate,
    packetTimeMs: packetTimeFor(section, choice, policy),
    ...(section.mostPacketTimeMs === undefined ? {} : { mostPacketTimeMs: section.mostPacketTimeMs }),
    opus: choice.codec.name === 'opus' ? readOpusParameters(choice.format.parameters) : undefined,
    local: settled.local,
    remote: settled.rtp,
    remoteRtcp: section.rtcpMux && policy.rtcpMux ? undefined : section.rtcp,
    direction: mirrored(section.direction, settled.wanted),
    keys: settled.keys,
    ...agreedIce(settled.ice, section.ice),
    ...(section.mid === undefined ? {} : { mid: section.mid, bundled: section.bundled }),
  };
}

function agreedIce(ours: IceSecret | undefined, theirs: IceSecret | undefined): Pick<AgreedAudio, 'ice'> {
  if (ours === undefined || theirs === undefined) return {};
  const { ufrag: remoteUfrag, pwd: remotePwd } = theirs;
  return { ice: { localUfrag: ours.ufrag, localPwd: ours.pwd, remoteUfrag, remotePwd } };
}

/** Session-level attributes for the section that carries the call. */
export function sessionAttributes(ice: IceSecret | undefined, bundled: string | undefined): Attribute[] {
  return [
    ...(ice === undefined ? [] : ICE_LITE),
    ...(bundled === undefined ? [] : [{ name: 'group', value: `BUNDLE ${bundled}` }]),
  ];
}

/** Packet time to send with, from the peer's request and limit. */
function packetTimeFor(section: AudioSection, { codec }: FormatChoice, policy: MediaPolicy): number {
  return packetTime(codec, section.packetTimeMs ?? policy.packetTimeMs, section.mostPacketTimeMs);
}

type Numbered = { readonly payloadType: number } | undefined;

export function typesOf(formats: {
  readonly codec: { readonly payloadType: number };
  readonly telephoneEvent?: Numbered;
  readonly comfortNoise?: Numbered;
}): PayloadTypesInUse {
  const { codec, telephoneEvent, comfortNoise } = formats;
  return {
    codec: codec.payloadType,
    ...(telephoneEvent === undefined ? {} : { telephoneEvent: telephoneEvent.payloadType }),
    ...(comfortNoise === undefined ? {} : { comfortNoise: comfortNoise.payloadType }),
  };
}

/** Combines the peer's parameters with ours. */
export function agreedKeys(
  choice: KeyChoice,
  crypto: CryptoAttribute | undefined,
  dtls: DtlsParameters | undefined,
): AgreedKeys {
  if (choice.kind === 'sdes' && crypto !== undefined) {
    const { suite, key: receive, lifetime, mki } = choice.theirs;
    return {
      kind: 'sdes',
      suite,
      send: crypto.key,
      receive,
      mkiBytes: mki?.bytes ?? 0,
      ...(lifetime === undefined ? {} : { lifetime }),
    };
  }
  if (choice.kind === 'dtls' && dtls !== undefined) {
    const { fingerprints, tlsId } = choice.theirs;
    return { kind: 'dtls', setup: dtls.setup === 'passive' ? 'passive' : 'active', fingerprints, tlsId };
  }
  return { kind: 'none' };
}

/** Refuses with 488 and a Warning code of RFC 3261 section 20.43. */
export function notAcceptable(warning: number, reason: string) {
  return refused(488, reason, [['Warning', `${warning} parley "${reason}"`]]);
}
