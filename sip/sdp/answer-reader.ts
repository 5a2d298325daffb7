// What an answer to our offer settles (RFC 3264 section 7).
import type { Result } from '../message/refusal.js';
import type { AgreedAudio } from './agreed-audio.js';
import { companions, type FormatChoice, type KeyChoice } from './audio-choice.js';
import { codecOf, keyOf, type AudioCodecName, type AudioFormat } from './audio-format.js';
import { readAudio, type AudioSection } from './audio-section.js';
import type { Offered } from './offering.js';
import type { OurFormat } from './our-section.js';
import type { SessionDescription } from './session-description.js';
import { agreedKeys, notAcceptable, settle, typesOf } from './settling.js';

/** 488 where the answer leaves nothing that could be spoken or heard. */
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

/** Some answers name a dynamic payload type without saying again what it means. */
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
