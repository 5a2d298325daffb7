import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnswerTerms, answeredDirection, candidatesOf, writeAnswer } from '../../signaling/answer.js';
import { readOffer } from '../../signaling/offer.js';
import { chromiumOffer, offerWith } from './chromium-offer.js';

const TERMS: AnswerTerms = {
  use: 'talk',
  sessionId: '77',
  ssrc: 1234,
  cname: 'name',
  ice: { ufrag: 'ours', pwd: 'p'.repeat(24) },
  fingerprint: { hash: 'sha-256', digest: 'AA:BB' },
  setup: 'active',
  hosts: [{ address: '192.0.2.1', port: 4000, transport: 'udp' }],
  parameters: 'useinbandfec=1',
};

const TRANSPORT = [
  'c=IN IP4 0.0.0.0',
  'a=ice-ufrag:ours',
  `a=ice-pwd:${'p'.repeat(24)}`,
  'a=fingerprint:sha-256 AA:BB',
  'a=setup:active',
];

test('an answer is written line by line, and a section that is not served has port 0', () => {
  const video = offerWith(
    'm=audio',
    'm=video 9 UDP/TLS/RTP/SAVPF 96 97',
    'a=mid:v',
    'm=audio 9 UDP/TLS/RTP/SAVPF 111 63',
  );
  assert.deepEqual(writeAnswer(readOffer(video), TERMS).split('\r\n'), [
    'v=0',
    'o=- 77 1 IN IP4 127.0.0.1',
    's=-',
    't=0 0',
    'a=ice-lite',
    'a=group:BUNDLE 0 1',
    'a=msid-semantic: WMS parley',
    'm=video 0 UDP/TLS/RTP/SAVPF 96 97',
    'c=IN IP4 0.0.0.0',
    'a=inactive',
    'a=mid:v',
    'm=audio 9 UDP/TLS/RTP/SAVPF 111 63',
    ...TRANSPORT,
    'a=candidate:1 1 udp 2126512127 192.0.2.1 4000 typ host',
    'a=end-of-candidates',
    'a=mid:0',
    'a=sendonly',
    'a=rtcp-mux',
    'a=rtpmap:111 opus/48000/2',
    'a=fmtp:111 useinbandfec=1',
    'a=rtpmap:63 red/48000/2',
    'a=fmtp:63 111/111',
    'a=msid:parley audio',
    'a=ssrc:1234 cname:name',
    'm=application 9 UDP/DTLS/SCTP webrtc-datachannel',
    ...TRANSPORT,
    'a=mid:1',
    'a=sctp-port:5000',
    'a=max-message-size:65536',
    '',
  ]);
});

test('sections that are refused keep their protocol and formats, and are in no bundle', () => {
  const offer = chromiumOffer((line) => {
    if (line.startsWith('a=group')) return 'a=group:BUNDLE v 0 b 1';
    if (!line.startsWith('m=audio')) return line;
    return [
      'm=video 9/2 UDP/TLS/RTP/SAVPF 96 97',
      'a=mid:v',
      'm=image 9 udptl t38',
      'm=text 0 RTP/AVP',
      line,
    ];
  });
  const answer = writeAnswer(readOffer(`${offer}m=application 9 TCP/BFCP * \r\na=mid:b\r\n`), TERMS);
  assert.deepEqual(
    answer.split('\r\n').filter((line) => /^(m=|a=group|a=mid)/.test(line)),
    [
      'a=group:BUNDLE 0 1',
      'm=video 0 UDP/TLS/RTP/SAVPF 96 97',
      'a=mid:v',
      'm=image 0 udptl t38',
      'm=text 0 RTP/AVP 0',
      'm=audio 9 UDP/TLS/RTP/SAVPF 111 63',
      'a=mid:0',
      'm=application 9 UDP/DTLS/SCTP webrtc-datachannel',
      'a=mid:1',
      'm=application 0 TCP/BFCP *',
      'a=mid:b',
    ],
  );
});

test('a browser that sends gets its telephone events answered at their clock rate', () => {
  const eventsOf = (sdp: string) =>
    writeAnswer(readOffer(sdp), TERMS)
      .split('\r\n')
      .filter((line) => /^m=audio|telephone-event|^a=fmtp:(101|110) /.test(line));
  const talks = (line: string) => (line === 'a=recvonly' ? 'a=sendrecv' : line);
  assert.deepEqual(eventsOf(chromiumOffer(talks)), [
    'm=audio 9 UDP/TLS/RTP/SAVPF 111 63 110',
    'a=rtpmap:110 telephone-event/48000',
    'a=fmtp:110 0-15',
  ]);
  const firefox = chromiumOffer((line) => {
    if (line.startsWith('m=audio')) return 'm=audio 9 UDP/TLS/RTP/SAVPF 109 9 0 8 101';
    if (line === 'a=rtpmap:111 opus/48000/2')
      return ['a=rtpmap:109 opus/48000/2', 'a=rtpmap:101 telephone-event/8000'];
    return talks(line);
  });
  assert.deepEqual(eventsOf(firefox), [
    'm=audio 9 UDP/TLS/RTP/SAVPF 109 101',
    'a=rtpmap:101 telephone-event/8000',
    'a=fmtp:101 0-15',
  ]);
  assert.deepEqual(eventsOf(chromiumOffer()), ['m=audio 9 UDP/TLS/RTP/SAVPF 111 63'], 'it sends nothing');
});

test('the answer sends and receives as far as the offer and its use allow', () => {
  const answered = (direction: string, use: 'talk' | 'listen' | 'publish') =>
    answeredDirection(readOffer(offerWith('a=recvonly', `a=${direction}`), use), use);
  assert.equal(answered('sendrecv', 'talk'), 'sendrecv');
  assert.equal(answered('recvonly', 'talk'), 'sendonly');
  assert.equal(answered('sendrecv', 'listen'), 'sendonly');
  assert.equal(answered('sendrecv', 'publish'), 'recvonly');
  assert.equal(answered('sendonly', 'publish'), 'recvonly');
  const sdp = writeAnswer(readOffer(offerWith('a=recvonly', 'a=sendonly'), 'publish'), {
    ...TERMS,
    use: 'publish',
  });
  assert.doesNotMatch(sdp, /a=ssrc|a=msid:/);
});

test('an offer that bundles nothing is not answered with a bundle', () => {
  const audio = chromiumOffer()
    .slice(0, chromiumOffer().indexOf('m=application'))
    .replace(/a=group.*\r\n/, '');
  assert.doesNotMatch(writeAnswer(readOffer(audio), TERMS), /BUNDLE|application/);
});

test('candidates prefer UDP to TCP and IPv6 to IPv4, and no two have the same priority', () => {
  const candidates = candidatesOf([
    { address: '192.0.2.1', port: 4000, transport: 'udp' },
    { address: '2001:db8::1', port: 4000, transport: 'udp' },
    { address: '192.0.2.1', port: 443, transport: 'tcp' },
  ]);
  assert.deepEqual(
    candidates.map((candidate) => candidate.replace(/^(\S+ 1 \w+) \d+/, '$1')),
    [
      '1 1 udp 192.0.2.1 4000 typ host',
      '2 1 udp 2001:db8::1 4000 typ host',
      '3 1 tcp 192.0.2.1 443 typ host tcptype passive',
    ],
  );
  const [first = 0, second = 0, third = 0] = candidates.map((candidate) => Number(candidate.split(' ')[3]));
  assert.ok(second > first && first > third);
});
