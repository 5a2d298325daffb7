// What must hold for any offer: whatever is answered is legal (RFC 3264
// section 6), two sides that negotiate with each other agree, and no input
// throws.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AUDIO_CODECS, type AudioCodecName } from '../../../sip/sdp/audio-format.js';
import { CRYPTO_SUITES, keyBytes } from '../../../sip/sdp/media-keys.js';
import {
  type Direction,
  hasAttribute,
  type MediaDescription,
  mirrored,
  readDescription,
  valuesOf,
} from '../../../sip/sdp/session-description.js';
import type { AgreedAudio } from '../../../sip/sdp/agreed-audio.js';
import { mutated, randomFrom } from '../../api/mutations.js';
import { keyText, negotiation, offerOf, valueOf } from './negotiation-under-test.js';

const codecs = fc.shuffledSubarray(Object.keys(AUDIO_CODECS) as AudioCodecName[], { minLength: 1 });
const directions = fc.constantFrom<Direction>('sendrecv', 'sendonly', 'recvonly', 'inactive');
const policies = fc.record({
  codecs,
  telephoneEvents: fc.boolean(),
  comfortNoise: fc.boolean(),
  rtcpMux: fc.boolean(),
  security: fc.constantFrom('require' as const, 'prefer' as const, 'off' as const),
  keyings: fc.shuffledSubarray(['sdes' as const, 'dtls' as const], { minLength: 1 }),
  suites: fc.shuffledSubarray([...CRYPTO_SUITES], { minLength: 1 }),
  packetTimeMs: fc.constantFrom(10, 20, 30, 60),
});

const formats = fc.uniqueArray(
  fc.tuple(
    fc.integer({ min: 96, max: 104 }),
    fc.constantFrom('opus/48000/2', 'G722/8000', 'PCMU/8000', 'PCMA/8000', 'telephone-event/8000', 'telephone-event/48000', 'speex/16000'),
  ),
  { minLength: 1, maxLength: 6, selector: ([type]) => type },
); // prettier-ignore
const section = fc
  .record({
    kind: fc.constantFrom('audio', 'audio', 'audio', 'video'),
    port: fc.constantFrom(0, 5004, 6004, 65_535),
    protocol: fc.constantFrom('RTP/AVP', 'RTP/AVPF', 'RTP/SAVP', 'RTP/SAVPF', 'UDP/TLS/RTP/SAVPF', 'udptl'),
    statics: fc.subarray(['0', '8', '9', '13', '18']),
    formats,
    suite: fc.constantFrom(...CRYPTO_SUITES),
    tag: fc.integer({ min: 1, max: 9 }),
    lines: fc.subarray(['a=sendonly', 'a=ptime:30', 'a=maxptime:40', 'a=rtcp-mux', 'a=crypto', 'a=fingerprint', 'c=IN IP6 2001:db8::7']),
  })
  .map((made) => [
    `m=${made.kind} ${made.port} ${made.protocol} ${[...made.statics, ...made.formats.map(([type]) => type)].join(' ')}`,
    ...made.formats.map(([type, map]) => `a=rtpmap:${type} ${map}`),
    ...made.lines.map((line) => {
      if (line === 'a=crypto') return `a=crypto:${made.tag} ${made.suite} inline:${keyText(3, keyBytes(made.suite))}`;
      return line === 'a=fingerprint' ? `a=fingerprint:sha-256 ${'AB:'.repeat(31)}AB\r\na=setup:actpass` : line;
    }),
  ]); // prettier-ignore
const offers = fc
  .array(section, { minLength: 1, maxLength: 4 })
  .map((sections) => offerOf(...sections.flat()));

function mapsOf(media: MediaDescription): Map<string, string> {
  const maps = valuesOf(media.attributes, 'rtpmap').map((text) => text.split(' '));
  return new Map(maps.map(([type = '', map = '']) => [type, map.toLowerCase()]));
}

/** The section that was taken, beside what was offered in its place. */
function checkAnswer(offerText: string, answerText: string, agreed: AgreedAudio): void {
  const [offer, answer] = [valueOf(readDescription(offerText)), valueOf(readDescription(answerText))];
  assert.equal(answer.media.length, offer.media.length);
  for (const [index, theirs] of offer.media.entries()) {
    const ours = answer.media[index];
    assert.ok(ours);
    assert.deepEqual([ours.kind, ours.protocol], [theirs.kind, theirs.protocol]);
    assert.equal(ours.port !== 0, index === agreed.section);
    if (index !== agreed.section) continue;
    assert.notEqual(theirs.port, 0, 'what was refused in the offer stays refused');
    const offered = [...mapsOf(theirs).values(), ...theirs.formats];
    for (const [type, map] of mapsOf(ours)) assert.ok(offered.includes(map) || offered.includes(type), `${map} was not offered`);
    assert.ok(!hasAttribute(ours.attributes, 'rtcp-mux') || hasAttribute(theirs.attributes, 'rtcp-mux'));
    const tag = (value: string) => value.split(' ').slice(0, 2).join(' ');
    const tags = valuesOf(theirs.attributes, 'crypto').map(tag);
    for (const crypto of valuesOf(ours.attributes, 'crypto')) assert.ok(tags.includes(tag(crypto)));
    assert.equal(agreed.keys.kind === 'none', !/SAVP/.test(theirs.protocol) && !hasAttribute(ours.attributes, 'crypto') && !hasAttribute(ours.attributes, 'fingerprint'));
    assert.ok(theirs.formats.includes(String(agreed.send.codec)) && ours.formats.includes(String(agreed.receive.codec)));
  }
} // prettier-ignore

test('an answer is a legal answer to its offer, time and again in one call', () => {
  fc.assert(
    fc.property(
      policies,
      fc.array(offers, { minLength: 1, maxLength: 4 }),
      directions,
      (policy, texts, wish) => {
        const session = negotiation(policy);
        const meanings = new Map<string, string>();
        for (const text of texts) {
          const judged = session.answer(text, wish);
          if (judged.refusal !== undefined) {
            assert.equal(judged.refusal.status, 488);
            continue;
          }
          checkAnswer(text, judged.value.answer, judged.value.agreed);
          if (policy.security === 'require') assert.notEqual(judged.value.agreed.keys.kind, 'none');
          if (policy.security === 'off') assert.equal(judged.value.agreed.keys.kind, 'none');
          const ours = valueOf(readDescription(judged.value.answer)).media[judged.value.agreed.section];
          for (const [type, map] of ours === undefined ? [] : mapsOf(ours)) {
            assert.equal(meanings.get(type) ?? map, map, 'a payload type keeps its meaning');
            meanings.set(type, map);
          }
        }
      },
    ),
    { numRuns: 500 },
  );
});

test('two of us that negotiate agree on everything, whoever offers', () => {
  fc.assert(
    fc.property(policies, policies, directions, directions, (first, second, wishA, wishB) => {
      const [a, b] = [negotiation(first, {}, 1), negotiation(second, {}, 120)];
      for (const [offerer, answerer] of [[a, b], [b, a]] as const) {
        const judged = answerer.answer(valueOf(offerer.offer(wishA)), wishB);
        if (judged.refusal !== undefined) return offerer.withdraw();
        const theirs = judged.value.agreed;
        const ours = valueOf(offerer.accept(judged.value.answer)).agreed;
        assert.deepEqual([ours.codec, ours.protocol, ours.section], [theirs.codec, theirs.protocol, theirs.section]);
        assert.equal(ours.send.codec, theirs.receive.codec);
        assert.equal(ours.receive.codec, theirs.send.codec);
        assert.equal(ours.direction, mirrored(theirs.direction, wishA));
        assert.equal(ours.remoteRtcp === undefined, theirs.remoteRtcp === undefined);
        assert.equal(ours.keys.kind, theirs.keys.kind);
        if (ours.keys.kind === 'sdes' && theirs.keys.kind === 'sdes') {
          assert.equal(ours.keys.suite, theirs.keys.suite);
          assert.deepEqual([ours.keys.send, ours.keys.receive], [theirs.keys.receive, theirs.keys.send]);
        }
        if (ours.keys.kind === 'dtls' && theirs.keys.kind === 'dtls') assert.notEqual(ours.keys.setup, theirs.keys.setup);
      }
    }),
    { numRuns: 500 },
  );
}); // prettier-ignore

test('a peer that uses up every payload type is still answered', () => {
  const session = negotiation({ codecs: ['opus', 'PCMU'] });
  for (let round = 0; round < 400; round++) {
    const map = round % 2 === 0 ? 'opus/48000/2' : 'PCMU/8000';
    const type = 96 + (Math.floor(round / 2) % 32);
    const { agreed } = valueOf(
      session.answer(offerOf(`m=audio 5004 RTP/AVP ${type}`, `a=rtpmap:${type} ${map}`)),
    );
    assert.equal(agreed.send.codec, type);
  }
});

const DAMAGED = [
  offerOf('m=audio 5004 RTP/SAVP 0 96 101', 'a=rtpmap:96 opus/48000/2', 'a=fmtp:96 useinbandfec=1', 'a=rtpmap:101 telephone-event/8000', `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${keyText(1, 30)}|2^20|1:4`, `a=crypto:2 AES_CM_128_HMAC_SHA1_80 inline:${keyText(1, 30)}`, 'a=ptime:20', 'a=rtcp:5005 IN IP4 198.51.100.7'),
  offerOf('m=audio 5004 UDP/TLS/RTP/SAVPF 9', `a=fingerprint:sha-256 ${'AB:'.repeat(31)}AB`, 'a=setup:actpass', 'a=rtcp-mux', 'm=video 0 RTP/AVP 99'),
]; // prettier-ignore

test('10,000 damaged offers and answers are each taken or refused', () => {
  const random = randomFrom(3);
  const statuses = new Set<number>();
  for (let round = 0; round < 5000; round++) {
    const text = mutated(DAMAGED[round % 2] ?? '', random);
    const [answerer, offerer] = [negotiation(), negotiation()];
    offerer.offer();
    for (const judged of [answerer.answer(text), offerer.accept(text)])
      statuses.add(judged.refusal?.status ?? 200);
  }
  assert.deepEqual([...statuses].toSorted((a, b) => a - b), [200, 400, 488]); // prettier-ignore
});
