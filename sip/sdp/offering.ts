// Our offer (RFC 3264 section 5; RFC 4568 and RFC 8643 for the keys in it).
import type { AgreedAudio } from './agreed-audio.js';
import { AUDIO_CODECS } from './audio-format.js';
import type { CryptoAttribute } from './crypto-attribute.js';
import type { Direction } from './direction.js';
import type { DtlsParameters } from './dtls-parameters.js';
import type { IceSecret } from './ice-parameters.js';
import type { LocalSide } from './local-side.js';
import { addressOf, type LocalEnd, type MediaPolicy } from './media-policy.js';
import { audioSection, refusedSection, type OurFormat } from './our-section.js';
import type { MediaDescription, SessionDescription } from './session-description.js';
import { sessionAttributes } from './settling.js';

/** Keys of more suites make an INVITE too large for a datagram. */
const MOST_SUITES = 2;

export interface Offering {
  readonly policy: MediaPolicy;
  readonly end: LocalEnd;
  readonly wish: Direction;
  readonly side: LocalSide;
  readonly current: AgreedAudio | undefined;
  /** The sections of the descriptions before: none of them may ever go away (RFC 3264 section 8). */
  readonly sections: readonly MediaDescription[];
}

/** An offer that waits for its answer. */
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
  const { policy, end, wish, side, current } = by;
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
    direction: wish,
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

/** The codec of the running call first, then all that we speak, each clock with its events. */
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
    ...(policy.telephoneEvents ? clocks : []).map((clockRate) => ({ name: 'telephone-event', clockRate, channels: 1 })),
  ]; // prettier-ignore
  return encodings.map((encoding) => ({ ...encoding, payloadType: side.numbering.assign(encoding) }));
}

/** A running call keeps its ICE, and the name of its section; a new one has both where the policy says so. */
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

/** A running call keeps what it has: a refresh neither asks for more nor gives up keys. */
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
    // Browsers know the profile with feedback alone (RFC 8834 section 4.2).
    const protocol = policy.offerIce === true && end.ice === true ? 'UDP/TLS/RTP/SAVPF' : 'UDP/TLS/RTP/SAVP';
    if (keying === 'dtls') return { protocol, secured: 'dtls', cryptos: [], dtls };
    return { protocol: 'RTP/SAVP', secured: 'yes', cryptos, dtls: undefined };
  }
  return {
    protocol: 'RTP/AVP', // with keys beside it: whoever cannot use them talks in plain (RFC 8643)
    secured: 'no',
    cryptos: keyings.includes('sdes') ? cryptos : [],
    // Without tls-id, which few peers know: the offer is to fit into a datagram.
    dtls: keyings.includes('dtls') ? { ...dtls, tlsId: undefined } : undefined,
  };
}

function securedBy(protocol: string): Offered['secured'] {
  if (protocol.startsWith('UDP/TLS')) return 'dtls';
  return protocol.includes('SAVP') ? 'yes' : 'no';
}
