// What both sides of a call have agreed on, and what a new agreement changes.
import type { AudioCodecName } from './audio-format.js';
import type { MediaAddress } from './audio-section.js';
import type { CryptoSuite } from './crypto-attribute.js';
import type { Direction } from './direction.js';
import type { Fingerprint } from './dtls-parameters.js';
import type { AgreedIce } from './ice-parameters.js';
import type { OpusParameters } from './opus-parameters.js';
import type { Connection } from './session-description.js';

/** Payload types of one direction. */
export interface PayloadTypesInUse {
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
