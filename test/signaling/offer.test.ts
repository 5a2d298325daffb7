import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SdpUse } from '../../src/call/sdp-exchange.js';
import { ParleyError } from '../../src/errors.js';
import { readOffer } from '../../signaling/offer.js';
import { chromiumOffer, offerWith } from './chromium-offer.js';

function refusal(sdp: string): string {
  try {
    readOffer(sdp);
  } catch (error) {
    assert.ok(error instanceof ParleyError, String(error));
    assert.equal(error.field, 'sdp');
    return `${error.code}: ${error.message}`;
  }
  return 'accepted';
}

test("Chromium's offer is understood line by line", () => {
  const { codec, sections, ...offer } = readOffer(chromiumOffer());
  assert.equal(codec.name, 'opus');
  assert.deepEqual(
    sections.map(({ use, mid }) => [use, mid]),
    [
      ['audio', '0'],
      ['data', '1'],
    ],
  );
  assert.deepEqual(offer, {
    payloadType: 111,
    audioMid: '0',
    data: { mid: '1', form: 'sctp-port', sctpPort: 5000, maxMessageSize: 262_144 },
    bundled: true,
    setup: 'actpass',
    direction: 'recvonly',
    parameters: 'minptime=10;useinbandfec=1',
    redPayloadType: 63,
    telephoneEvent: { payloadType: 110, clockRate: 48_000 },
    ptime: undefined,
    maxptime: undefined,
    ice: { ufrag: '/e6n', pwd: 'ewvFVijD6pPw60nPV7LPjKmb' },
    fingerprints: [
      {
        hash: 'sha-256',
        digest:
          '26:CD:53:71:3D:85:B5:B4:0F:34:4E:CE:93:98:7C:E1:02:75:CA:45:85:1F:EA:5A:B6:7B:15:DD:45:F1:77:C0',
      },
    ],
  });
});

/** With the form of SCTP that was written before RFC 8841. */
function olderOffer(protocol: string, map?: string): string {
  return chromiumOffer((line) => {
    if (line.startsWith('m=application')) return `m=application 9 ${protocol}`;
    if (line.startsWith('a=sctp-port')) return map === undefined ? [] : `a=sctpmap:${map}`;
    return line;
  });
}

for (const [protocol, map, port] of [
  ['DTLS/SCTP 5000', '5000 webrtc-datachannel 65535', 5000],
  ['DTLS/SCTP 5001', '5001 webrtc-datachannel', 5001],
  ['UDP/DTLS/SCTP 5000', '5000 webrtc-datachannel 1024', 5000],
] as const) {
  test(`the older form of SCTP is understood: ${protocol} with a=sctpmap:${map}`, () => {
    assert.deepEqual(readOffer(olderOffer(protocol, map)).data, {
      mid: '1',
      form: 'sctpmap',
      sctpPort: port,
      maxMessageSize: 262_144,
    });
  });
}

test('the port of SCTP is taken from either attribute, whatever the form of the media line', () => {
  const older = chromiumOffer((line) =>
    line.startsWith('m=application') ? 'm=application 9 DTLS/SCTP 5000' : line,
  );
  for (const [offer, form] of [
    [older, 'sctp-port'],
    [olderOffer('UDP/DTLS/SCTP webrtc-datachannel', '5000 webrtc-datachannel 65535'), 'sctpmap'],
  ] as const) {
    assert.deepEqual(readOffer(offer).data, { mid: '1', form, sctpPort: 5000, maxMessageSize: 262_144 });
  }
});

test('line feeds alone end lines as well', () => {
  assert.deepEqual(readOffer(chromiumOffer().replaceAll('\r\n', '\n')), readOffer(chromiumOffer()));
});

test("the codec is the offer's first among Opus, PCMU and PCMA", () => {
  const media = 'm=audio 9 UDP/TLS/RTP/SAVPF';
  for (const [formats, name, payloadType] of [
    ['63 9 8 0 111', 'PCMA', 8],
    ['13 0 8', 'PCMU', 0],
    ['126 110 111 0', 'opus', 111],
    ['9 8', 'PCMA', 8],
  ] as const) {
    const offer = readOffer(offerWith('m=audio', `${media} ${formats}`));
    assert.deepEqual([offer.codec.name, offer.payloadType], [name, payloadType]);
  }
});

test('static payload types need no rtpmap, and a rtpmap may give them another meaning', () => {
  const bare = chromiumOffer((line) => (/^a=(rtpmap|fmtp|rtcp-fb)/.test(line) ? [] : line));
  const pcmu = bare.replace('SAVPF 111 63 9 0 8 13 110 126', 'SAVPF 0');
  assert.equal(readOffer(pcmu).codec.name, 'PCMU');
  const renamed = pcmu.replace('a=rtcp-mux\r\n', 'a=rtcp-mux\r\na=rtpmap:0 speex/8000\r\n');
  assert.match(refusal(renamed), /^NO_COMMON_CODEC: .*opus, PCMU, PCMA/);
});

test('an offer without audio or without a codec of ours has nothing in common with the server', () => {
  assert.match(
    refusal(offerWith('m=audio', 'm=video 9 UDP/TLS/RTP/SAVPF 96')),
    /^NO_COMMON_CODEC: .*no audio/,
  );
  assert.match(
    refusal(offerWith('m=audio', 'm=audio 0 UDP/TLS/RTP/SAVPF 111')),
    /^NO_COMMON_CODEC: .*no audio/,
  );
  assert.match(
    refusal(offerWith('m=audio', 'm=audio 9 UDP/TLS/RTP/SAVPF 9 63')),
    /^NO_COMMON_CODEC: .*none of/,
  );
});

test('what is malformed or missing is refused with its line', () => {
  for (const [sdp, message] of [
    ['', /line 1 is not of the form/],
    ['hello', /line 1 is not of the form/],
    ['m=audio 9 UDP/TLS/RTP/SAVPF 0', /line 1 must be v=0/],
    [offerWith('v=', 'v=1'), /line 1 must be v=0/],
    [offerWith('s=', 's=\u0007'), /line 3 is not of the form letter=value/],
    [offerWith('s=', `s=${'x'.repeat(2000)}`), /line 3 \(s=x+…\) is longer than 2000 characters/],
    ['x'.repeat(65_537), /more than 65536 characters/],
    [offerWith('s=', ...Array.from({ length: 1000 }, () => 's=-')), /more than 1000 lines/],
    [chromiumOffer() + 'm=audio 9 RTP/AVP 0\r\n'.repeat(16), /more than 16 media sections/],
    [
      offerWith('m=audio', 'm=audio nine UDP/TLS/RTP/SAVPF 111'),
      /line 8 \(m=audio nine.*\) is not a media line/,
    ],
    [
      offerWith('m=audio', 'm=audio 9 UDP/TLS/RTP/SAVPF 999'),
      /line 8 .* lists 999, which is no payload type/,
    ],
    [offerWith('m=audio', 'm=audio 9 RTP/AVP 111'), /line 8 .* must use SRTP/],
    [offerWith('a=rtpmap:111', 'a=rtpmap:opus'), /\(a=rtpmap:opus\) is not an rtpmap/],
    [offerWith('a=setup', 'a=setup:holdconn'), /\(a=setup:holdconn\) must be actpass, active or passive/],
    [offerWith('a=setup'), /no a=setup line/],
    [offerWith('a=ice-ufrag'), /no a=ice-ufrag line/],
    [offerWith('a=ice-ufrag', 'a=ice-ufrag:a b c'), /\(a=ice-ufrag:a b c\) must be 4 to 256/],
    [offerWith('a=ice-pwd'), /no a=ice-pwd line/],
    [offerWith('a=ice-pwd', 'a=ice-pwd:short'), /\(a=ice-pwd:short\) must be 22 to 256/],
    [offerWith('a=fingerprint'), /no a=fingerprint line/],
    [offerWith('a=fingerprint', 'a=fingerprint:sha-256 AB:CD'), /is not a sha-256 fingerprint/],
    [
      offerWith('a=fingerprint', 'a=fingerprint:md5 AB:CD'),
      /no fingerprint by one of sha-256, sha-384, sha-512/,
    ],
    [offerWith('a=rtcp-mux'), /must be followed by a=rtcp-mux/],
    [offerWith('a=recvonly', 'a=sendonly'), /\(a=sendonly\) means that the browser would not listen/],
    [offerWith('a=recvonly', 'a=inactive'), /\(a=inactive\) means that the browser would not listen/],
    [offerWith('a=mid'), /must be followed by a=mid/],
    [offerWith('a=mid:0', 'a=mid:a b'), /\(a=mid:a b\) is not a media id/],
    [offerWith('a=group', 'a=group:BUNDLE 0'), /BUNDLE has to list both/],
    [offerWith('a=group'), /BUNDLE has to list both/],
    [offerWith('a=sctp-port'), /must be followed by a=sctp-port/],
    [offerWith('a=sctp-port', 'a=sctp-port:0'), /must be a port from 1 to 65535/],
    [olderOffer('DTLS/SCTP 5000'), /must be followed by a=sctp-port or a=sctpmap:5000/],
    [offerWith('m=application', 'm=application 9 DTLS/SCTP 5001'), /must be the port of its m= line/],
    [
      olderOffer('DTLS/SCTP 5000', '5001 webrtc-datachannel'),
      /must be followed by a=sctp-port or a=sctpmap:5000/,
    ],
    [olderOffer('DTLS/SCTP 5000', '5000 t140 16'), /must map the port to webrtc-datachannel/],
    [olderOffer('DTLS/SCTP 0', '0 webrtc-datachannel 16'), /must be a port from 1 to 65535/],
    [olderOffer('DTLS/SCTP 65536', '65536 webrtc-datachannel'), /must be a port from 1 to 65535/],
    [offerWith('m=audio', 'm=audio 9 UDP/RTP/SAVPF 111'), /line 8 .* must use SRTP/],
    [offerWith('a=max-message-size', 'a=max-message-size:12'), /is too small/],
    [offerWith('a=max-message-size', 'a=max-message-size:many'), /must be a number of bytes/],
  ] as const) {
    const said = refusal(sdp);
    assert.match(said, /^SDP_INVALID: /);
    assert.match(said, message);
  }
});

test('a direction of the session holds only where the audio section says none', () => {
  const offer = (session: string, audio: string | undefined) =>
    chromiumOffer((line) => {
      if (line.startsWith('a=group')) return [line, `a=${session}`];
      if (line !== 'a=recvonly') return line;
      return audio === undefined ? [] : `a=${audio}`;
    });
  for (const session of ['sendonly', 'inactive']) {
    for (const audio of ['recvonly', 'sendrecv'])
      assert.equal(readOffer(offer(session, audio)).audioMid, '0');
    assert.match(refusal(offer(session, undefined)), new RegExp(`a=${session}\\) means that the browser`));
  }
  assert.match(refusal(offer('recvonly', 'sendonly')), /a=sendonly\) means that the browser/);
  assert.equal(readOffer(offer('recvonly', undefined)).audioMid, '0');
});

test('credentials may stand at the session, or with the first section of the bundle', () => {
  const session = chromiumOffer((line) => {
    if (/^a=(ice-ufrag|ice-pwd|fingerprint|setup)/.test(line)) return [];
    if (!line.startsWith('a=group')) return line;
    return [line, 'a=ice-ufrag:abcd', `a=ice-pwd:${'p'.repeat(22)}`, 'a=setup:passive', FINGERPRINT];
  });
  assert.deepEqual(readOffer(session).ice, { ufrag: 'abcd', pwd: 'p'.repeat(22) });
  assert.equal(readOffer(session).setup, 'passive');
  const bundleOnly = chromiumOffer((line) =>
    line.startsWith('m=application')
      ? ['m=application 0 UDP/DTLS/SCTP webrtc-datachannel', 'a=bundle-only']
      : line,
  );
  assert.equal(readOffer(bundleOnly).data?.mid, '1');
});

const FINGERPRINT = `a=fingerprint:SHA-256 ${Array.from({ length: 32 }, () => 'ab').join(':')}`;

test('RED is taken where its blocks are of the codec, and the lengths of packets where they are stated', () => {
  const read = (begin: string, ...instead: string[]) => readOffer(offerWith(begin, ...instead));
  assert.equal(readOffer(chromiumOffer()).redPayloadType, 63);
  assert.equal(read('a=fmtp:63', 'a=fmtp:63 0/0').redPayloadType, undefined);
  assert.equal(read('a=fmtp:63').redPayloadType, undefined);
  assert.equal(readOffer(chromiumOffer()).parameters, 'minptime=10;useinbandfec=1');
  const { ptime, maxptime } = read('a=recvonly', 'a=recvonly', 'a=ptime:40', 'a=maxptime:x');
  assert.deepEqual([ptime, maxptime], ['40', 'x']);
});

test('the use of an offer decides which directions are accepted', () => {
  const directionOf = (direction: string, use: SdpUse) =>
    readOffer(offerWith('a=recvonly', `a=${direction}`), use).direction;
  for (const use of ['talk', 'listen'] as const) {
    assert.equal(directionOf('recvonly', use), 'recvonly');
    assert.equal(directionOf('sendrecv', use), 'sendrecv');
    assert.throws(() => directionOf('sendonly', use), /would not listen/);
  }
  assert.equal(directionOf('sendonly', 'publish'), 'sendonly');
  for (const direction of ['recvonly', 'inactive']) {
    assert.throws(() => directionOf(direction, 'publish'), /would not send/);
  }
});

test('a browser that is ICE-lite too is refused, because nobody would send checks', () => {
  assert.throws(() => readOffer(offerWith('a=msid-semantic', 'a=ice-lite')), /a=ice-lite/);
});

/** Uses and `m=` lines as the answer needs them. */
function sectionsOf(sdp: string): string[] {
  return readOffer(sdp).sections.map(({ use, kind, protocol, formats }) =>
    [use, kind, protocol, ...formats].join(' '),
  );
}

test('sections of any kind, protocol and format may stand beside the audio', () => {
  const others = [
    'm=application 9 TCP/BFCP *',
    'm=image 9 udptl t38',
    'm=text 9 RTP/AVP 98',
    'm=video 9 UDP/TLS/RTP/SAVPF 96 97',
    'm=video 9/2 udp/tls/rtp/savpf 96',
    'm=message 2855 TCP/MSRP *',
    'm=X-board 9 x-proto/1.0 a:b',
    'm=video 0 RTP/AVP',
  ];
  const audio = 'm=audio 9 UDP/TLS/RTP/SAVPF 111';
  assert.deepEqual(sectionsOf(offerWith('m=audio', ...others, audio)), [
    'refused application TCP/BFCP *',
    'refused image udptl t38',
    'refused text RTP/AVP 98',
    'refused video UDP/TLS/RTP/SAVPF 96 97',
    'refused video udp/tls/rtp/savpf 96',
    'refused message TCP/MSRP *',
    'refused X-board x-proto/1.0 a:b',
    'refused video RTP/AVP',
    'audio audio UDP/TLS/RTP/SAVPF 111',
    'data application UDP/DTLS/SCTP webrtc-datachannel',
  ]);
});

test('blanks at the end of lines, more than one between formats, and small letters change nothing', () => {
  const usual = readOffer(chromiumOffer());
  assert.deepEqual(readOffer(chromiumOffer().replaceAll('\r\n', ' \t\r\n')), usual);
  assert.deepEqual(readOffer(`${chromiumOffer()}  \r\n \r\n`), usual);
  const wide = offerWith('m=audio', 'm=audio  9  UDP/TLS/RTP/SAVPF  111  63 9 0 8 13 110 126');
  assert.deepEqual(readOffer(wide), usual);
  const small = offerWith('m=audio', 'm=audio 9/1 udp/tls/rtp/savpf 111 63 110');
  assert.deepEqual(
    [readOffer(small).payloadType, sectionsOf(small)[0]],
    [111, 'audio audio udp/tls/rtp/savpf 111 63 110'],
  );
  const sendonly = offerWith('a=recvonly', 'a=sendonly ');
  assert.match(refusal(sendonly), /would not listen/);
});

test('of several audio sections the first that can be used is taken, and without one the first is refused', () => {
  const more = (...instead: string[]) =>
    chromiumOffer((line) => (line.startsWith('m=audio') ? [...instead, line] : line));
  for (const other of [
    ['m=audio 9 UDP/TLS/RTP/SAVPF 9', 'a=rtcp-mux', 'a=mid:x'],
    ['m=audio 9 RTP/AVP 0', 'a=rtcp-mux', 'a=mid:x'],
    ['m=audio 9 UDP/TLS/RTP/SAVPF 0', 'a=mid:x'],
    ['m=audio 9 UDP/TLS/RTP/SAVPF 0', 'a=rtcp-mux', 'a=mid:x', 'a=sendonly'],
    ['m=audio 9 UDP/TLS/RTP/SAVPF 500', 'a=rtcp-mux', 'a=mid:x'],
    ['m=audio 0 UDP/TLS/RTP/SAVPF 0', 'a=mid:x'],
  ]) {
    const offer = readOffer(more(...other));
    assert.deepEqual([offer.audioMid, offer.codec.name], ['0', 'opus'], other.join(' '));
    assert.deepEqual(
      offer.sections.map(({ use }) => use),
      ['refused', 'audio', 'data'],
    );
  }
  const none = offerWith('m=audio', 'm=audio 9 RTP/AVP 0', 'm=audio 9 UDP/TLS/RTP/SAVPF 9');
  assert.match(refusal(none), /line 8 .* must use SRTP/);
});

test('keys are taken with the clock of the codec, else with the first clock that is offered', () => {
  const eventOf = (audio: string, ...maps: string[]) => {
    const plain = offerWith('a=rtpmap:110', ...maps).replace('a=rtpmap:126 telephone-event/8000\r\n', '');
    return readOffer(plain.replace(/m=audio.*/, `m=audio 9 UDP/TLS/RTP/SAVPF ${audio}`)).telephoneEvent;
  };
  const eight = 'a=rtpmap:101 telephone-event/8000';
  const wide = 'a=rtpmap:102 Telephone-Event/48000';
  assert.deepEqual(eventOf('111 101 102', eight, wide), { payloadType: 102, clockRate: 48_000 });
  assert.deepEqual(eventOf('0 102 101', wide, eight), { payloadType: 101, clockRate: 8000 });
  assert.deepEqual(eventOf('111 101', eight), { payloadType: 101, clockRate: 8000 }); // as Firefox offers
  assert.equal(eventOf('111', eight, wide), undefined);
  assert.equal(eventOf('111 101', 'a=rtpmap:101 telephone-event/999'), undefined);
});
