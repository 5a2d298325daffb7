import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../fakes/properties.js';
import type { AgreedAudio } from '../../../sip/sdp/agreed-audio.js';
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
import { mutated, randomFrom } from '../../api/mutations.js';
import { keyText, linesOf, negotiation, offerOf, refusalOf, valueOf } from './negotiation-under-test.js';

const PLAIN = offerOf('m=audio 5004 RTP/AVP 0 8 101', 'a=rtpmap:101 telephone-event/8000', 'a=fmtp:101 0-16');

test('a plain offer is answered with one codec and its events', () => {
  const { answer, agreed, changes } = valueOf(negotiation().answer(PLAIN));
  assert.equal(
    answer,
    'v=0\r\no=parley 17665503728661 1 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\n' +
      'm=audio 40000 RTP/AVP 0 101\r\na=rtpmap:0 PCMU/8000\r\na=rtpmap:101 telephone-event/8000\r\n' +
      'a=fmtp:101 0-15\r\na=ptime:20\r\na=sendrecv\r\n',
  );
  assert.deepEqual(agreed, {
    section: 0,
    protocol: 'RTP/AVP',
    codec: 'PCMU',
    send: { codec: 0, telephoneEvent: 101 },
    receive: { codec: 0, telephoneEvent: 101 },
    receivable: new Map([[0, 'PCMU']]),
    eventClockRate: 8000,
    packetTimeMs: 20,
    opus: undefined,
    local: { family: 4, address: '192.0.2.1' },
    remote: { family: 4, address: '198.51.100.7', port: 5004 },
    remoteRtcp: { family: 4, address: '198.51.100.7', port: 5005 },
    direction: 'sendrecv',
    keys: { kind: 'none' },
  });
  assert.equal(changes.size, 8, 'everything is new');
});

for (const [preference, codec] of [
  [['PCMA', 'PCMU'], 'PCMA'],
  [['PCMU', 'PCMA'], 'PCMU'],
  [['opus', 'G722', 'PCMA'], 'PCMA'],
] as [AudioCodecName[], AudioCodecName][]) {
  test(`of PCMU and PCMA, one who prefers ${preference.join(', ')} takes ${codec}`, () => {
    assert.equal(valueOf(negotiation({ codecs: preference }).answer(PLAIN)).agreed.codec, codec);
  });
}

for (const [what, lines, codec, payloadType] of [
  ['static types without rtpmap', ['m=audio 5004 RTP/AVP 9'], 'G722', 9],
  ['G.722 with its clock of 8000', ['m=audio 5004 RTP/AVP 99', 'a=rtpmap:99 G722/8000'], 'G722', 99],
  ['G.722 with the sampling rate as clock', ['m=audio 5004 RTP/AVP 9', 'a=rtpmap:9 G722/16000'], 'G722', 9],
  ['names in small letters', ['m=audio 5004 RTP/AVP 8', 'a=rtpmap:8 pcma/8000/1'], 'PCMA', 8],
  ['Opus', ['m=audio 5004 RTP/AVP 111', 'a=rtpmap:111 opus/48000/2'], 'opus', 111],
  [
    'Opus in capitals, channels forgotten',
    ['m=audio 5004 RTP/AVP 111', 'a=rtpmap:111 OPUS/48000'],
    'opus',
    111,
  ],
  ['a static type that an rtpmap gives away', ['m=audio 5004 RTP/AVP 0', 'a=rtpmap:0 PCMA/8000'], 'PCMA', 0],
] as const) {
  test(`${what}: the answer says what will be sent`, () => {
    const { answer, agreed } = valueOf(negotiation().answer(offerOf(...lines)));
    assert.equal(agreed.codec, codec);
    assert.deepEqual([agreed.send.codec, agreed.receive.codec], [payloadType, payloadType]);
    const clock = codec === 'opus' ? '48000/2' : '8000';
    assert.deepEqual(linesOf(answer, 'a=rtpmap:'), [`${payloadType} ${codec}/${clock}`]);
  });
}

test('sections beside the audio are refused with port 0 as they were written, whatever they are', () => {
  const offer = offerOf(
    'm=application 9 TCP/BFCP *',
    'm=image 9 udptl t38 ',
    'c=TN RFC2543 +15551234',
    'a=mid:fax',
    'm=text 11000/2 RTP/AVP 98 100',
    'm=video 5006 rtp/avpf 96',
    'm=video 0 RTP/AVP',
    `m=video 5008 RTP/AVP ${Array.from({ length: 65 }, (_, type) => type).join(' ')}`,
    'm=X-board 9 x~proto!/1.0 a',
    'm=audio 5004 rtp/avp 0 96',
    'm=audio 5010 RTP/AVP 8',
  );
  const { answer, agreed } = valueOf(negotiation().answer(offer));
  assert.equal(agreed.codec, 'PCMU');
  assert.deepEqual(linesOf(answer, 'm='), [
    'application 0 TCP/BFCP *',
    'image 0 udptl t38',
    'text 0 RTP/AVP 98 100',
    'video 0 rtp/avpf 96',
    'video 0 RTP/AVP 0',
    `video 0 RTP/AVP ${Array.from({ length: 65 }, (_, type) => type).join(' ')}`,
    'X-board 0 x~proto!/1.0 a',
    'audio 40000 RTP/AVP 0',
    'audio 0 RTP/AVP 8',
  ]);
  assert.deepEqual(linesOf(answer, 'a=mid:'), ['fax']);
});

for (const [what, lines] of [
  ['no codec in common', ['m=audio 5004 RTP/AVP 18 3']],
  ['stereo PCMU', ['m=audio 5004 RTP/AVP 96', 'a=rtpmap:96 PCMU/8000/2']],
  ['no audio', ['m=video 5004 RTP/AVP 99']],
  ['audio that is switched off', ['m=audio 0 RTP/AVP 0']],
  ['fax alone', ['m=audio 0 RTP/AVP 0', 'm=image 5004 udptl t38']],
  ['audio over something else', ['m=audio 5004 TCP/RTP/AVP 0']],
  ['a multicast address', ['m=audio 5004 RTP/AVP 0', 'c=IN IP4 224.2.1.1/127']],
  ['a name for an address', ['m=audio 5004 RTP/AVP 0', 'c=IN IP4 phone.example']],
] as const) {
  test(`${what}: 488 with a warning, and nothing is agreed`, () => {
    const session = negotiation();
    const { status, headers } = refusalOf(session.answer(offerOf(...lines)));
    assert.equal(status, 488);
    assert.match(headers[0]?.join(': ') ?? '', /^Warning: 30\d parley "/);
    assert.equal(session.agreed, undefined);
  });
}

test('a name for an address is told apart from no address, and is no obstacle where the section has another', () => {
  const named = 'c=IN IP4 phone.example';
  const refusal = refusalOf(negotiation().answer(offerOf('m=audio 5004 RTP/AVP 0', named)));
  const reason = 'the audio section names a host where an IP address is needed';
  assert.deepEqual(refusal.headers, [['Warning', `301 parley "${reason}"`]]);
  const session = offerOf('m=audio 5004 RTP/AVP 0').replace('c=IN IP4 198.51.100.7', named);
  assert.equal(refusalOf(negotiation().answer(session)).status, 488);
  const own = session + 'c=IN IP4 198.51.100.8\r\n';
  assert.equal(valueOf(negotiation().answer(own)).agreed.remote.address, '198.51.100.8');
  const two = offerOf('m=audio 5004 RTP/AVP 0', named, 'm=audio 5006 RTP/AVP 0');
  assert.equal(valueOf(negotiation().answer(two)).agreed.section, 1, 'the other section is taken');
});

test('events run on the clock of the codec where the peer has them', () => {
  const lines = [
    'a=rtpmap:96 opus/48000/2',
    'a=rtpmap:97 telephone-event/8000',
    'a=rtpmap:98 telephone-event/48000',
  ];
  const both = valueOf(negotiation().answer(offerOf('m=audio 5004 RTP/AVP 96 97 98', ...lines))).agreed;
  assert.deepEqual([both.codec === 'PCMU', both.eventClockRate], [false, 48_000]);
  const order = { codecs: ['opus'] as const };
  const one = valueOf(negotiation(order).answer(offerOf('m=audio 5004 RTP/AVP 96 97', ...lines))).agreed;
  assert.deepEqual([one.send.telephoneEvent, one.eventClockRate], [97, 8000], 'better than none');
});

test('comfort noise is taken with codecs of 8000 only', () => {
  const offer = offerOf('m=audio 5004 RTP/AVP 0 96 13', 'a=rtpmap:96 opus/48000/2');
  assert.equal(valueOf(negotiation({ codecs: ['PCMU'] }).answer(offer)).agreed.send.comfortNoise, 13);
  assert.equal(valueOf(negotiation({ codecs: ['opus'] }).answer(offer)).agreed.send.comfortNoise, undefined);
  const off = negotiation({ codecs: ['PCMU'], comfortNoise: false });
  assert.deepEqual(linesOf(valueOf(off.answer(offer)).answer, 'm=audio '), ['40000 RTP/AVP 0']);
});

for (const [codec, ptime, maxptime, sent] of [
  ['PCMU', '10', undefined, 10],
  ['PCMU', '30', undefined, 30],
  ['PCMU', '40', '20', 20],
  ['PCMU', '25', undefined, 20],
  ['PCMU', '20.0', undefined, 20],
  ['PCMU', '500', undefined, 60],
  ['PCMU', '1', undefined, 10],
  ['PCMU', 'x', undefined, 20],
  ['PCMU', undefined, '10', 10],
  ['opus', '30', undefined, 20],
  ['opus', '60', undefined, 60],
] as const) {
  test(`${codec} with ptime ${ptime ?? 'unsaid'} and maxptime ${maxptime ?? 'unsaid'} goes in packets of ${sent} ms`, () => {
    const requests = [
      ...(ptime === undefined ? [] : [`a=ptime:${ptime}`]),
      ...(maxptime === undefined ? [] : [`a=maxptime:${maxptime}`]),
    ];
    const offer = offerOf('m=audio 5004 RTP/AVP 0 96', 'a=rtpmap:96 opus/48000/2', ...requests);
    const { answer, agreed } = valueOf(negotiation({ codecs: [codec] }).answer(offer));
    assert.equal(agreed.packetTimeMs, sent);
    assert.deepEqual(linesOf(answer, 'a=ptime:'), [String(sent)]);
  });
}

test('the first usable audio section is taken and every other one refused in its place', () => {
  const offer = offerOf(
    'm=video 5000 RTP/AVP 99',
    'm=audio 5002 RTP/AVP 18',
    'm=audio 5004 RTP/AVP 8',
    'm=audio 5006 RTP/AVP 8',
    'm=application 5008 UDP/BFCP *',
  );
  const { answer, agreed } = valueOf(negotiation().answer(offer));
  assert.equal(agreed.section, 2);
  assert.deepEqual(linesOf(answer, 'm='), [
    'video 0 RTP/AVP 99',
    'audio 0 RTP/AVP 18',
    'audio 40000 RTP/AVP 8',
    'audio 0 RTP/AVP 8',
    'application 0 UDP/BFCP *',
  ]);
});

for (const [line, wanted, direction] of [
  ['a=sendrecv', 'sendrecv', 'sendrecv'],
  ['a=sendonly', 'sendrecv', 'recvonly'],
  ['a=recvonly', 'sendrecv', 'sendonly'],
  ['a=inactive', 'sendrecv', 'inactive'],
  ['a=sendrecv', 'sendonly', 'sendonly'],
  ['a=sendonly', 'sendonly', 'inactive'],
  ['c=IN IP4 0.0.0.0', 'sendrecv', 'recvonly'],
] as const) {
  test(`an offer with ${line} to one who would ${wanted} is answered with ${direction}`, () => {
    const { answer, agreed } = valueOf(negotiation().answer(offerOf('m=audio 5004 RTP/AVP 0', line), wanted));
    assert.equal(agreed.direction, direction);
    assert.ok(answer.includes(`\r\na=${direction}\r\n`));
    assert.deepEqual(linesOf(answer, 'm=audio '), ['40000 RTP/AVP 0'], 'a held section is not a refused one');
  });
}

test('the direction of the session counts where the section has none', () => {
  const offer = offerOf('m=audio 5004 RTP/AVP 0').replace('t=0 0\r\n', 't=0 0\r\na=sendonly\r\n');
  assert.equal(valueOf(negotiation().answer(offer)).agreed.direction, 'recvonly');
});

test('an offer of IPv6 is answered with IPv6, and refused where there is none', () => {
  const offer = offerOf('m=audio 5004 RTP/AVP 0', 'c=IN IP6 2001:db8::7');
  const { answer, agreed } = valueOf(negotiation().answer(offer));
  assert.deepEqual(linesOf(answer, 'c='), ['IN IP6 2001:db8::1']);
  assert.deepEqual(agreed.remote, { family: 6, address: '2001:db8::7', port: 5004 });
  const without = { port: 40_000, rtcpPort: 40_001, fingerprints: [], ip4: '192.0.2.1' };
  const session = negotiation();
  session.moveTo(without);
  assert.match(refusalOf(session.answer(offer)).headers[0]?.[1] ?? '', /^301 /);
});

test('RTCP goes where the peer says, to the next port, or along with RTP', () => {
  const rtcpOf = (policy: object, ...lines: string[]) =>
    valueOf(negotiation(policy).answer(offerOf('m=audio 5004 RTP/AVP 0', ...lines)));
  assert.equal(rtcpOf({}).agreed.remoteRtcp?.port, 5005);
  assert.equal(rtcpOf({}, 'a=rtcp:6000').agreed.remoteRtcp?.port, 6000);
  assert.deepEqual(rtcpOf({}, 'a=rtcp:6000 IN IP4 198.51.100.9').agreed.remoteRtcp, {
    family: 4,
    address: '198.51.100.9',
    port: 6000,
  });
  const muxed = rtcpOf({}, 'a=rtcp-mux');
  assert.equal(muxed.agreed.remoteRtcp, undefined);
  assert.ok(muxed.answer.includes('a=rtcp-mux\r\n'));
  const apart = rtcpOf({ rtcpMux: false }, 'a=rtcp-mux');
  assert.equal(apart.agreed.remoteRtcp?.port, 5005);
  assert.ok(!apart.answer.includes('rtcp-mux'));
});

test('an answer has the protocol of its offer', () => {
  const keys = 'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:' + 'A'.repeat(40);
  for (const protocol of ['RTP/AVP', 'RTP/AVPF', 'RTP/SAVP', 'RTP/SAVPF']) {
    const secured = protocol.includes('SAVP') ? [keys] : [];
    const { answer } = valueOf(negotiation().answer(offerOf(`m=audio 5004 ${protocol} 0`, ...secured)));
    assert.deepEqual(linesOf(answer, 'm='), [`audio 40000 ${protocol} 0`]);
  }
});

test('what the peer says of its Opus is handed on', () => {
  const fmtp =
    'maxplaybackrate=16000; stereo=1;USEINBANDFEC=1;usedtx=1;maxaveragebitrate=20000;sprop-stereo=1;cbr=0';
  const offer = offerOf('m=audio 5004 RTP/AVP 96', 'a=rtpmap:96 opus/48000/2', `a=fmtp:96 ${fmtp}`);
  const { answer, agreed } = valueOf(negotiation().answer(offer));
  assert.deepEqual(agreed.opus, {
    useInbandFec: true,
    useDtx: true,
    stereo: true,
    constantBitrate: false,
    maxPlaybackRate: 16_000,
    maxAverageBitrate: 20_000,
    spropMaxCaptureRate: 48_000,
    spropStereo: true,
  });
  assert.deepEqual(linesOf(answer, 'a=fmtp:'), ['96 stereo=0;useinbandfec=1']);
});

test('an IPv4 address that is written as one of IPv6 is reached over IPv4', () => {
  for (const written of [
    'IN IP6 ::ffff:198.51.100.9',
    'IN IP6 ::FFFF:c633:6409',
    'IN IP4 ::ffff:198.51.100.9',
    'IN IP6 0:0:0:0:0:ffff:198.51.100.9',
  ]) {
    const offer = offerOf('m=audio 5004 RTP/AVP 0', `c=${written}`, `a=rtcp:6000 ${written}`);
    const { answer, agreed } = valueOf(negotiation().answer(offer));
    assert.deepEqual(agreed.remote, { family: 4, address: '198.51.100.9', port: 5004 }, written);
    assert.deepEqual(agreed.remoteRtcp, { family: 4, address: '198.51.100.9', port: 6000 });
    assert.deepEqual(linesOf(answer, 'c='), ['IN IP4 192.0.2.1']);
  }
  const held = valueOf(negotiation().answer(offerOf('m=audio 5004 RTP/AVP 0', 'c=IN IP6 ::ffff:0.0.0.0')));
  assert.equal(held.agreed.direction, 'recvonly');
});

// Properties of every answer: it is legal (RFC 3264 section 6), two sides that negotiate agree, and no input
// throws.

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
    fc.constantFrom(
      'opus/48000/2',
      'G722/8000',
      'PCMU/8000',
      'PCMA/8000',
      'telephone-event/8000',
      'telephone-event/48000',
      'speex/16000',
    ),
  ),
  { minLength: 1, maxLength: 6, selector: ([type]) => type },
);
const section = fc
  .record({
    kind: fc.constantFrom('audio', 'audio', 'audio', 'video'),
    port: fc.constantFrom(0, 5004, 6004, 65_535),
    protocol: fc.constantFrom('RTP/AVP', 'RTP/AVPF', 'RTP/SAVP', 'RTP/SAVPF', 'UDP/TLS/RTP/SAVPF', 'udptl'),
    statics: fc.subarray(['0', '8', '9', '13', '18']),
    formats,
    suite: fc.constantFrom(...CRYPTO_SUITES),
    tag: fc.integer({ min: 1, max: 9 }),
    lines: fc.subarray([
      'a=sendonly',
      'a=ptime:30',
      'a=maxptime:40',
      'a=rtcp-mux',
      'a=crypto',
      'a=fingerprint',
      'c=IN IP6 2001:db8::7',
    ]),
  })
  .map((made) => [
    `m=${made.kind} ${made.port} ${made.protocol} ${[...made.statics, ...made.formats.map(([type]) => type)].join(' ')}`,
    ...made.formats.map(([type, map]) => `a=rtpmap:${type} ${map}`),
    ...made.lines.map((line) => {
      if (line === 'a=crypto')
        return `a=crypto:${made.tag} ${made.suite} inline:${keyText(3, keyBytes(made.suite))}`;
      return line === 'a=fingerprint'
        ? `a=fingerprint:sha-256 ${'AB:'.repeat(31)}AB\r\na=setup:actpass`
        : line;
    }),
  ]);
const offers = fc
  .array(section, { minLength: 1, maxLength: 4 })
  .map((sections) => offerOf(...sections.flat()));

function mapsOf(media: MediaDescription): Map<string, string> {
  const maps = valuesOf(media.attributes, 'rtpmap').map((text) => text.split(' '));
  return new Map(maps.map(([type = '', map = '']) => [type, map.toLowerCase()]));
}

/** The section that was taken, with the section that was offered in its place. */
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
    for (const [type, map] of mapsOf(ours))
      assert.ok(offered.includes(map) || offered.includes(type), `${map} was not offered`);
    assert.ok(!hasAttribute(ours.attributes, 'rtcp-mux') || hasAttribute(theirs.attributes, 'rtcp-mux'));
    const tag = (value: string) => value.split(' ').slice(0, 2).join(' ');
    const tags = valuesOf(theirs.attributes, 'crypto').map(tag);
    for (const crypto of valuesOf(ours.attributes, 'crypto')) assert.ok(tags.includes(tag(crypto)));
    assert.equal(
      agreed.keys.kind === 'none',
      !/SAVP/.test(theirs.protocol) &&
        !hasAttribute(ours.attributes, 'crypto') &&
        !hasAttribute(ours.attributes, 'fingerprint'),
    );
    assert.ok(
      theirs.formats.includes(String(agreed.send.codec)) &&
        ours.formats.includes(String(agreed.receive.codec)),
    );
  }
}

test('an answer is a legal answer to its offer, time and again in one call', () => {
  fc.assert(
    fc.property(
      policies,
      fc.array(offers, { minLength: 1, maxLength: 4 }),
      directions,
      (policy, texts, wanted) => {
        const session = negotiation(policy);
        const meanings = new Map<string, string>();
        for (const text of texts) {
          const judged = session.answer(text, wanted);
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
      for (const [offerer, answerer] of [
        [a, b],
        [b, a],
      ] as const) {
        const judged = answerer.answer(valueOf(offerer.offer(wishA)), wishB);
        if (judged.refusal !== undefined) return offerer.withdraw();
        const theirs = judged.value.agreed;
        const ours = valueOf(offerer.accept(judged.value.answer)).agreed;
        assert.deepEqual(
          [ours.codec, ours.protocol, ours.section],
          [theirs.codec, theirs.protocol, theirs.section],
        );
        assert.equal(ours.send.codec, theirs.receive.codec);
        assert.equal(ours.receive.codec, theirs.send.codec);
        assert.equal(ours.direction, mirrored(theirs.direction, wishA));
        assert.equal(ours.remoteRtcp === undefined, theirs.remoteRtcp === undefined);
        assert.equal(ours.keys.kind, theirs.keys.kind);
        if (ours.keys.kind === 'sdes' && theirs.keys.kind === 'sdes') {
          assert.equal(ours.keys.suite, theirs.keys.suite);
          assert.deepEqual([ours.keys.send, ours.keys.receive], [theirs.keys.receive, theirs.keys.send]);
        }
        if (ours.keys.kind === 'dtls' && theirs.keys.kind === 'dtls')
          assert.notEqual(ours.keys.setup, theirs.keys.setup);
      }
    }),
    { numRuns: 500 },
  );
});

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
  offerOf(
    'm=audio 5004 RTP/SAVP 0 96 101',
    'a=rtpmap:96 opus/48000/2',
    'a=fmtp:96 useinbandfec=1',
    'a=rtpmap:101 telephone-event/8000',
    `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${keyText(1, 30)}|2^20|1:4`,
    `a=crypto:2 AES_CM_128_HMAC_SHA1_80 inline:${keyText(1, 30)}`,
    'a=ptime:20',
    'a=rtcp:5005 IN IP4 198.51.100.7',
  ),
  offerOf(
    'm=audio 5004 UDP/TLS/RTP/SAVPF 9',
    `a=fingerprint:sha-256 ${'AB:'.repeat(31)}AB`,
    'a=setup:actpass',
    'a=rtcp-mux',
    'm=video 0 RTP/AVP 99',
  ),
];

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
  assert.deepEqual(
    [...statuses].toSorted((a, b) => a - b),
    [200, 400, 488],
  );
});
