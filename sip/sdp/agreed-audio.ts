// What both sides of a call have agreed on, and what a new agreement changes.
import { refused } from '../message/refusal.js';
import type { FormatChoice, KeyChoice, MediaPolicy } from './media-policy.js';
import { type AudioCodecName, type OpusParameters, packetTime, readOpusParameters } from './audio-format.js';
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
      /** Master key and salt of what we send, and of what comes. */
      readonly send: Uint8Array;
      readonly receive: Uint8Array;
      /** Bytes of the index (MKI) that the peer appends to its packets; 0 if it has none. */
      readonly mkiBytes: number;
      /** Packets that the peer will send with its key, where it said so. */
      readonly lifetime?: number;
    }
  | {
      readonly kind: 'dtls';
      /** Ours: `active` connects. */
      readonly setup: 'active' | 'passive';
      /** Of the peer's certificate. */
      readonly fingerprints: readonly Fingerprint[];
      readonly tlsId: string | undefined;
    };

export interface AgreedAudio {
  /** Which media section of the descriptions it is, from 0. */
  readonly section: number;
  readonly protocol: string;
  /** What we send. */
  readonly codec: AudioCodecName;
  readonly send: PayloadTypesInUse;
  readonly receive: PayloadTypesInUse;
  /** Every codec that the peer may send, by payload type. */
  readonly receivable: ReadonlyMap<number, AudioCodecName>;
  /** Hz of the durations in telephone events; undefined where there are none. */
  readonly eventClockRate: number | undefined;
  readonly packetTimeMs: number;
  /** What the peer said of its Opus. */
  readonly opus: OpusParameters | undefined;
  readonly local: Connection;
  readonly remote: MediaAddress;
  /** Undefined where RTCP travels with RTP. */
  readonly remoteRtcp: MediaAddress | undefined;
  /** As we say it: `recvonly` means that the peer holds us. */
  readonly direction: Direction;
  readonly keys: AgreedKeys;
  /**
   * Absent: there is no ICE. Otherwise nothing is sent to `remote`, which may be no address at all, but to where a
   * check of the peer asked for it.
   */
  readonly ice?: AgreedIce;
  /** How the peer names the section (RFC 5888), and whether in a bundle (RFC 9143). */
  readonly mid?: string;
  readonly bundled?: boolean;
}

const ASPECTS = {
  address: ({ remote, remoteRtcp }: AgreedAudio) => [remote, remoteRtcp ?? null],
  /** Of ours: the peer is told another address. */
  'local-address': ({ local }: AgreedAudio) => local,
  codec: ({ codec, opus }: AgreedAudio) => [codec, opus ?? null],
  'payload-types': ({ send, receive, receivable, eventClockRate }: AgreedAudio) => [
    send,
    receive,
    [...receivable],
    eventClockRate ?? null,
  ],
  'packet-time': ({ packetTimeMs }: AgreedAudio) => packetTimeMs,
  direction: ({ direction }: AgreedAudio) => direction,
  keys: ({ keys }: AgreedAudio) => keys,
  /** A restart. */
  ice: ({ ice }: AgreedAudio) => ice ?? null,
} as const;

export type MediaChange = keyof typeof ASPECTS;

/** In what the second agreement differs from the first; in everything where there was none. */
export function changesBetween(
  before: AgreedAudio | undefined,
  after: AgreedAudio,
): ReadonlySet<MediaChange> {
  const names = Object.keys(ASPECTS) as MediaChange[];
  const told = (name: MediaChange, agreed: AgreedAudio) => JSON.stringify(ASPECTS[name](agreed));
  return new Set(names.filter((name) => before === undefined || told(name, before) !== told(name, after)));
}

// From what was chosen in a section to what is agreed: the same for offers that
// we answer and for answers to ours.

export interface Settled {
  readonly index: number;
  /** The peer's section. */
  readonly section: AudioSection;
  readonly rtp: MediaAddress;
  /** Of the peer's formats. */
  readonly choice: FormatChoice;
  readonly receive: PayloadTypesInUse;
  readonly receivable: ReadonlyMap<number, AudioCodecName>;
  readonly local: Connection;
  readonly keys: AgreedKeys;
  /** Ours, where we have ICE. */
  readonly ice: IceSecret | undefined;
  readonly policy: MediaPolicy;
  readonly wish: Direction;
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
    opus: choice.codec.name === 'opus' ? readOpusParameters(choice.format.parameters) : undefined,
    local: settled.local,
    remote: settled.rtp,
    remoteRtcp: section.rtcpMux && policy.rtcpMux ? undefined : section.rtcp,
    direction: mirrored(section.direction, settled.wish),
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

/** What the session says of the section that carries the call. */
export function sessionAttributes(ice: IceSecret | undefined, bundled: string | undefined): Attribute[] {
  return [
    ...(ice === undefined ? [] : ICE_LITE),
    ...(bundled === undefined ? [] : [{ name: 'group', value: `BUNDLE ${bundled}` }]),
  ];
}

/** How long a packet of ours may be, for what the peer asked and can take. */
export function packetTimeFor(section: AudioSection, { codec }: FormatChoice, policy: MediaPolicy): number {
  return packetTime(codec, section.packetTimeMs ?? policy.packetTimeMs, section.mostPacketTimeMs);
}

type Numbered = { readonly payloadType: number } | undefined;

/** The payload types alone. */
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

/** From what the peer wrote and what we did. */
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

/** A 488 whose Warning has a code of RFC 3261 section 20.43. */
export function notAcceptable(warning: number, reason: string) {
  return refused(488, reason, [['Warning', `${warning} parley "${reason}"`]]);
}
