// From what was chosen in a section to what is agreed: the same for offers that
// we answer and for answers to ours.
import { refused } from '../message/refusal.js';
import type { AgreedAudio, AgreedKeys, PayloadTypesInUse } from './agreed-audio.js';
import type { FormatChoice, KeyChoice } from './audio-choice.js';
import { packetTime, type AudioCodecName } from './audio-format.js';
import type { AudioSection, MediaAddress } from './audio-section.js';
import type { CryptoAttribute } from './crypto-attribute.js';
import { mirrored, type Direction } from './direction.js';
import { ICE_LITE, type IceSecret } from './ice-parameters.js';
import type { DtlsParameters } from './dtls-parameters.js';
import type { MediaPolicy } from './media-policy.js';
import { readOpusParameters } from './opus-parameters.js';
import type { Attribute, Connection } from './session-description.js';

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
