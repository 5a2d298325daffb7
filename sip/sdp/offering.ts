// Makes our offer (RFC 3264 section 5; RFC 4568 and RFC 8643 for its keys), and reads the answer to it (RFC
// 3264 section 7).
import type { Result } from '../message/refusal.js';
import {
  type AgreedAudio,
  agreedKeys,
  notAcceptable,
  sessionAttributes,
  settle,
  typesOf,
} from './agreed-audio.js';
import {
  addressOf,
  companions,
  type FormatChoice,
  type KeyChoice,
  type LocalEnd,
  type MediaPolicy,
} from './media-policy.js';
import { AUDIO_CODECS, type AudioCodecName, type AudioFormat, codecOf, keyOf } from './audio-format.js';
import {
  type AudioSection,
  audioSection,
  type OurFormat,
  readAudio,
  refusedSection,
} from './audio-section.js';
import type { IceSecret } from './ice-parameters.js';
import type { LocalSide } from './local-side.js';
import type { CryptoAttribute, DtlsParameters } from './media-keys.js';
import type { Direction, MediaDescription, SessionDescription } from './session-description.js';

/** With keys of more suites, an INVITE would not fit into a datagram. */
const MOST_SUITES = 2;

interface Offering {
  readonly policy: MediaPolicy;
  readonly end: LocalEnd;
  readonly wanted: Direction;
  readonly side: LocalSide;
  readonly current: AgreedAudio | undefined;
  /** Sections of the earlier descriptions: none of them may be removed (RFC 3264 section 8). */
  readonly sections: readonly MediaDescription[];
}

/** An offer that has no answer yet. */
export interface Offered {
  readonly description: SessionDescription;
  readonly by: Offering;
  readonly section: number;
  readonly formats: readonly OurFormat[];
  readonly secured: 'no' | 'yes' | 'dtls';
  readonly cryptos: readonly CryptoAttribute[];
  readonly dtls: DtlsParameters | undefined;
  readonly ice: IceSecret | undefined;
}

export function makeOffer(by: Offering): Offered {
  const { policy, end, wanted, side, current } = by;
  const family = current?.local.family ?? (end.ip4 === undefined ? 6 : 4);
  const section = current?.section ?? 0;
  const formats = offeredFormats(by);
  const { protocol, secured, cryptos, dtls } = offeredKeys(by);
  const local = { family, address: addressOf(end, family) ?? '' } as const;
  const { ice, mid, bundled } = offeredIce(by);
  const ours = audioSection({
    protocol,
    formats,
    packetTimeMs: current?.packetTimeMs ?? policy.packetTimeMs,
    direction: wanted,
    end,
    rtcpMux: policy.rtcpMux,
    cryptos,
    dtls,
    local,
    ice,
    mid,
    isBrief: current === undefined,
  });
  const count = Math.max(by.sections.length, 1);
  const media = Array.from({ length: count }, (_, at) => {
    const before = by.sections[at];
    return at === section || before === undefined ? ours : refusedSection(before);
  });
  const description = side.describe(local, media, sessionAttributes(ice, bundled ? mid : undefined));
  return { description, by, section, formats, secured, cryptos, dtls, ice };
}

/** The codec of the running call first, then all others, and telephone events for each clock rate. */
function offeredFormats({ policy, side, current }: Offering): OurFormat[] {
  const names = [...policy.codecs].sort(
    (a, b) => Number(b === current?.codec) - Number(a === current?.codec),
  );
  const codecs = names.map((name) => AUDIO_CODECS[name]);
  const clocks = [...new Set(codecs.map(({ clockRate }) => clockRate))];
  const noise = policy.comfortNoise && clocks.includes(8000);
  const encodings = [
    ...codecs.map(({ name, clockRate, channels }) => ({ name, clockRate, channels })),
    ...(noise ? [{ name: 'CN', clockRate: 8000, channels: 1 }] : []),
    ...(policy.telephoneEvents ? clocks : []).map((clockRate) => ({
      name: 'telephone-event',
      clockRate,
      channels: 1,
    })),
  ];
  return encodings.map((encoding) => ({ ...encoding, payloadType: side.numbering.assign(encoding) }));
}

/** A running call keeps its ICE and the name of its section; a new call has both if the policy says so. */
function offeredIce({ policy, end, side, current }: Offering) {
  const isNew = current === undefined && policy.offerIce === true && end.ice === true;
  const keeps = current?.ice !== undefined;
  return {
    ice: isNew || keeps ? side.iceFor(undefined, current?.ice) : undefined,
    mid: isNew ? '0' : current?.mid,
    bundled: isNew || current?.bundled === true,
  };
}

type OfferedKeys = Pick<Offered, 'secured' | 'cryptos' | 'dtls'> & { readonly protocol: string };

/** A running call keeps its keys: a refresh neither asks for more nor gives them up. */
function offeredKeys(by: Offering): OfferedKeys {
  const { policy, end, side, current } = by;
  const crypto = (suite: CryptoAttribute['suite'], at: number) => ({
    tag: at + 1,
    suite,
    key: side.keyFor(suite),
  });
  const dtls: DtlsParameters = { fingerprints: end.fingerprints, setup: 'actpass', tlsId: side.tlsId };
  const none = { cryptos: [], dtls: undefined };
  if (current !== undefined) {
    const secured = securedBy(current.protocol);
    const { protocol, keys } = current;
    if (keys.kind === 'sdes') return { protocol, secured, cryptos: [crypto(keys.suite, 0)], dtls: undefined };
    return { protocol, secured, ...(keys.kind === 'dtls' ? { cryptos: [], dtls } : none) };
  }
  const keyings = policy.keyings.filter((keying) => keying === 'sdes' || end.fingerprints.length > 0);
  const [keying] = keyings;
  const cryptos = policy.suites.slice(0, MOST_SUITES).map(crypto);
  if (policy.security === 'off') return { protocol: 'RTP/AVP', secured: 'no', ...none };
  if (policy.security === 'require') {
    // Browsers support only the profile with feedback (RFC 8834 section 4.2).
    const protocol = policy.offerIce === true && end.ice === true ? 'UDP/TLS/RTP/SAVPF' : 'UDP/TLS/RTP/SAVP';
    if (keying === 'dtls') return { protocol, secured: 'dtls', cryptos: [], dtls };
    return { protocol: 'RTP/SAVP', secured: 'yes', cryptos, dtls: undefined };
  }
  return {
    protocol: 'RTP/AVP', // with keys beside it: a peer that cannot use them uses plain RTP (RFC 8643)
    secured: 'no',
    cryptos: keyings.includes('sdes') ? cryptos : [],
    // Without tls-id, which few peers support: the offer has to fit into a datagram.
    dtls: keyings.includes('dtls') ? { ...dtls, tlsId: undefined } : undefined,
  };
}

function securedBy(protocol: string): Offered['secured'] {
  if (protocol.startsWith('UDP/TLS')) return 'dtls';
  return protocol.includes('SAVP') ? 'yes' : 'no';
}

/** Refuses with 488 an answer that leaves nothing to send or receive. */
export function readAnswer(answer: SessionDescription, offered: Offered): Result<AgreedAudio> {
  const { by, section: index, formats } = offered;
  const media = answer.media[index];
  const section = media === undefined ? undefined : readAudio(answer, media, offered.ice !== undefined);
  if (media === undefined || section === undefined) return notAcceptable(304, 'the answer takes no audio');
  const { rtp } = section;
  if (rtp === undefined) return notAcceptable(300, 'the answer has no address that can be sent to');
  const answered = namedByUs(media.formats, section, formats);
  const receivable = receivedFrom(answered, formats);
  const choice = chooseAnswered(answered, receivable, offered);
  if (choice === undefined) return notAcceptable(305, 'the answer takes none of the codecs');
  const keys = answeredKeys(section, offered);
  if (typeof keys === 'string') return notAcceptable(399, keys);
  const ours = (format: AudioFormat | undefined) =>
    formats.find((candidate) => format !== undefined && keyOf(candidate) === keyOf(format));
  const { family, address } = offered.description.origin;
  const receive = typesOf({
    codec: ours(choice.format) ?? choice.format,
    telephoneEvent: ours(choice.telephoneEvent),
    comfortNoise: ours(choice.comfortNoise),
  });
  const local = { family, address };
  return {
    value: settle({ index, section, rtp, choice, receive, receivable, local, keys, ice: offered.ice, ...by }),
  };
}

/** The first codec of the answer is the one that its sender prefers. */
function chooseAnswered(
  formats: readonly AudioFormat[],
  receivable: ReadonlyMap<number, AudioCodecName>,
  { by }: Offered,
): FormatChoice | undefined {
  const names = [...receivable.values()];
  const format = formats.find((candidate) => names.some((name) => codecOf(candidate)?.name === name));
  const codec = format === undefined ? undefined : codecOf(format);
  if (format === undefined || codec === undefined) return undefined;
  return { codec, format, ...companions({ formats }, codec, by.policy) };
}

/** Some answers name a dynamic payload type without repeating its rtpmap. */
function namedByUs(
  written: readonly string[],
  section: AudioSection,
  formats: readonly OurFormat[],
): AudioFormat[] {
  return written.flatMap((text): AudioFormat[] => {
    const theirs = section.formats.find(({ payloadType }) => String(payloadType) === text);
    const ours = formats.find(({ payloadType }) => String(payloadType) === text);
    return theirs !== undefined ? [theirs] : ours !== undefined ? [ours] : [];
  });
}

function receivedFrom(answered: readonly AudioFormat[], formats: readonly OurFormat[]) {
  return new Map<number, AudioCodecName>(
    formats.flatMap((ours) => {
      const codec = codecOf(ours);
      const taken = answered.some((theirs) => keyOf(theirs) === keyOf(ours));
      return codec === undefined || !taken ? [] : [[ours.payloadType, codec.name] as const];
    }),
  );
}

function answeredKeys(section: AudioSection, offered: Offered): AgreedAudio['keys'] | string {
  const [theirs] = section.cryptos;
  const crypto = offered.cryptos.find(({ tag, suite }) => tag === theirs?.tag && suite === theirs.suite);
  const choice: KeyChoice =
    theirs !== undefined && crypto !== undefined
      ? { kind: 'sdes', theirs }
      : section.dtls !== undefined && offered.dtls !== undefined
        ? { kind: 'dtls', theirs: section.dtls }
        : { kind: 'none' };
  if (choice.kind === 'none') {
    if (theirs !== undefined || section.cryptoRefusals.length > 0)
      return 'the answer has no key that fits the offer';
    return offered.secured === 'no' &&
      section.profile.secured === 'no' &&
      offered.by.policy.security !== 'require'
      ? { kind: 'none' }
      : 'the answer has no keys for SRTP';
  }
  const setup = section.dtls?.setup === 'passive' ? 'active' : 'passive';
  return agreedKeys(choice, crypto, offered.dtls === undefined ? undefined : { ...offered.dtls, setup });
}
