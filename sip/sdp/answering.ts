// Answers an offer (RFC 3264 section 6): takes one audio section with one codec, and refuses every other
// section with port 0.
import { sameAssociation } from '../../src/media/media-handshake.js';
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
  chooseFormats,
  chooseKeys,
  type FormatChoice,
  type KeyChoice,
  type LocalEnd,
  type MediaPolicy,
} from './media-policy.js';
import type { AudioFormat } from './audio-format.js';
import {
  type AudioSection,
  audioSection,
  type MediaAddress,
  type OurFormat,
  readAudio,
  refusedSection,
} from './audio-section.js';
import type { CryptoAttribute, CryptoSuite, DtlsParameters } from './media-keys.js';
import type { Connection, Direction, SessionDescription } from './session-description.js';
import type { LocalSide } from './local-side.js';

interface Answering {
  readonly policy: MediaPolicy;
  readonly end: LocalEnd;
  /** The direction that we want, from our side. */
  readonly wanted: Direction;
  readonly side: LocalSide;
  readonly current: AgreedAudio | undefined;
}

interface Answered {
  readonly description: SessionDescription;
  readonly agreed: AgreedAudio;
}

interface Taken {
  readonly index: number;
  readonly section: AudioSection;
  readonly rtp: MediaAddress;
  readonly local: Connection;
  readonly choice: FormatChoice;
  readonly keyChoice: KeyChoice;
}

/** Refuses with 488; the Warning says what is missing. */
export function answerOffer(offer: SessionDescription, by: Answering): Result<Answered> {
  const taken = takeSection(offer, by);
  if (taken.refusal !== undefined) return taken;
  const { index, section, choice, keyChoice, local } = taken.value;
  const formats = ourFormats(choice, by.side);
  const dtls = keyChoice.kind === 'dtls' ? ourDtls(keyChoice.theirs, by) : undefined;
  const cryptos = keyChoice.kind === 'sdes' ? [ourCrypto(keyChoice.theirs, by.side)] : [];
  const receivable = new Map([[formats.codec.payloadType, choice.codec.name]]);
  const keys = agreedKeys(keyChoice, cryptos[0], dtls);
  const ice = section.ice === undefined ? undefined : by.side.iceFor(section.ice, by.current?.ice);
  const agreed = settle({ ...taken.value, receive: typesOf(formats), receivable, keys, ice, ...by });
  const written = audioSection({
    protocol: section.protocol,
    formats: Object.values(formats),
    packetTimeMs: agreed.packetTimeMs,
    direction: agreed.direction,
    end: by.end,
    rtcpMux: section.rtcpMux && by.policy.rtcpMux,
    cryptos,
    dtls,
    local,
    ice,
    mid: section.mid,
  });
  const media = offer.media.map((item, at) => (at === index ? written : refusedSection(item)));
  const attributes = sessionAttributes(ice, section.bundled ? section.mid : undefined);
  return { value: { description: by.side.describe(local, media, attributes), agreed } };
}

/**
 * Takes the section that carries the call already, else the first usable one; a secured one first, unless
 * SRTP is off.
 */
function takeSection(offer: SessionDescription, by: Answering): Result<Taken> {
  let reason = 'the offer has no audio section over RTP';
  let warning = 304;
  const usable: Taken[] = [];
  for (const [index, media] of offer.media.entries()) {
    const section = readAudio(offer, media, by.end.ice === true);
    if (section === undefined) continue;
    const taken = validateSection(index, section, by);
    if ('reason' in taken) ({ reason, warning } = taken);
    else usable.push(taken);
  }
  const secured = usable.filter(({ keyChoice }) => keyChoice.kind !== 'none');
  const chosen =
    usable.find(({ index }) => index === by.current?.section) ??
    (by.policy.security === 'off' ? undefined : secured[0]) ??
    usable[0];
  return chosen === undefined ? notAcceptable(warning, reason) : { value: chosen };
}

function validateSection(
  index: number,
  section: AudioSection,
  by: Answering,
): Taken | { reason: string; warning: number } {
  const { rtp } = section;
  if (section.isNamed)
    return { warning: 301, reason: 'the audio section names a host where an IP address is needed' };
  if (rtp === undefined)
    return { warning: 300, reason: 'the audio section has no address that can be sent to' };
  const address = addressOf(by.end, rtp.family);
  if (address === undefined) return { warning: 301, reason: `there is no IPv${rtp.family} here` };
  const choice = chooseFormats(section, by.policy);
  if (choice === undefined) {
    return { warning: 305, reason: `the audio section offers none of ${by.policy.codecs.join(', ')}` };
  }
  const keyChoice = chooseKeys(section, by.policy, by.end, suiteOf(by.current));
  if (typeof keyChoice === 'string')
    return { warning: 399, reason: `the audio section cannot be taken: ${keyChoice}` };
  return { index, section, rtp, local: { family: rtp.family, address }, choice, keyChoice };
}

function suiteOf(agreed: AgreedAudio | undefined): CryptoSuite | undefined {
  return agreed?.keys.kind === 'sdes' ? agreed.keys.suite : undefined;
}

interface OurFormats {
  readonly codec: OurFormat;
  readonly telephoneEvent?: OurFormat;
  readonly comfortNoise?: OurFormat;
}

/** Uses the payload types of the offer, unless one of them had another meaning in this call. */
function ourFormats(
  { codec, format, telephoneEvent, comfortNoise }: FormatChoice,
  side: LocalSide,
): OurFormats {
  const ours = ({ name, clockRate, channels }: OurFormat | AudioFormat, preferred: number): OurFormat => ({
    name,
    clockRate,
    channels,
    payloadType: side.numbering.assign({ name, clockRate, channels }, preferred),
  });
  return {
    codec: ours({ ...codec, payloadType: format.payloadType }, format.payloadType),
    ...(telephoneEvent === undefined
      ? {}
      : { telephoneEvent: ours({ ...telephoneEvent, name: 'telephone-event' }, telephoneEvent.payloadType) }),
    ...(comfortNoise === undefined
      ? {}
      : { comfortNoise: ours({ ...comfortNoise, name: 'CN' }, comfortNoise.payloadType) }),
  };
}

function ourCrypto({ tag, suite }: CryptoAttribute, side: LocalSide): CryptoAttribute {
  return { tag, suite, key: side.keyFor(suite) };
}

/**
 * We connect if the peer leaves the choice to us (RFC 5763 section 5); a running association keeps its roles.
 */
function ourDtls(theirs: DtlsParameters, { end, side, current }: Answering): DtlsParameters {
  const before = current?.keys.kind === 'dtls' ? current.keys : undefined;
  const { setup, fingerprints, tlsId } = theirs;
  const ours = setup === 'active' ? 'passive' : setup === 'passive' ? 'active' : (before?.setup ?? 'active');
  // A new association needs a new tls-id on both sides.
  const goesOn = before !== undefined && sameAssociation(before, { setup: ours, fingerprints, tlsId });
  if (current !== undefined && !goesOn) side.renameTls();
  return { fingerprints: end.fingerprints, setup: ours, tlsId: tlsId === undefined ? undefined : side.tlsId };
}
