// An offer as Chromium 156 writes it, for a page that listens and has one data
// channel; `edit` changes lines before it is put together.

const FINGERPRINT =
  'a=fingerprint:sha-256 26:CD:53:71:3D:85:B5:B4:0F:34:4E:CE:93:98:7C:E1:02:75:CA:45:85:1F:EA:5A:B6:7B:15:DD:45:F1:77:C0';

const TRANSPORT = [
  'c=IN IP4 0.0.0.0',
  'a=ice-ufrag:/e6n',
  'a=ice-pwd:ewvFVijD6pPw60nPV7LPjKmb',
  'a=ice-options:trickle',
  FINGERPRINT,
  'a=setup:actpass',
];

const LINES = [
  'v=0',
  'o=- 3954510524784109138 2 IN IP4 127.0.0.1',
  's=-',
  't=0 0',
  'a=group:BUNDLE 0 1',
  'a=extmap-allow-mixed',
  'a=msid-semantic: WMS',
  'm=audio 9 UDP/TLS/RTP/SAVPF 111 63 9 0 8 13 110 126',
  ...TRANSPORT,
  'a=rtcp:9 IN IP4 0.0.0.0',
  'a=candidate:2140312093 1 udp 2122260223 192.0.2.7 60940 typ host generation 0 network-id 1',
  'a=candidate:3713410993 1 udp 2122194687 5a7d2f70-6a4e-4f0f-b7b3-1c7f1c0f3d55.local 55038 typ host generation 0',
  'a=candidate:1714410993 1 tcp 1518280447 192.0.2.7 9 typ host tcptype active generation 0',
  'a=mid:0',
  'a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level',
  'a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01',
  'a=recvonly',
  'a=rtcp-mux',
  'a=rtcp-rsize',
  'a=rtpmap:111 opus/48000/2',
  'a=rtcp-fb:111 transport-cc',
  'a=fmtp:111 minptime=10;useinbandfec=1',
  'a=rtpmap:63 red/48000/2',
  'a=fmtp:63 111/111',
  'a=rtpmap:9 G722/8000',
  'a=rtpmap:0 PCMU/8000',
  'a=rtpmap:8 PCMA/8000',
  'a=rtpmap:13 CN/8000',
  'a=rtpmap:110 telephone-event/48000',
  'a=rtpmap:126 telephone-event/8000',
  'm=application 9 UDP/DTLS/SCTP webrtc-datachannel',
  ...TRANSPORT,
  'a=mid:1',
  'a=sctp-port:5000',
  'a=max-message-size:262144',
];

/** `edit` returns a line's replacement, several lines, or nothing. */
export function chromiumOffer(edit: (line: string) => string | readonly string[] = (line) => line): string {
  return `${LINES.flatMap((line) => edit(line)).join('\r\n')}\r\n`;
}

/** The offer with every line that begins so replaced, or left out. */
export function offerWith(begin: string, ...instead: string[]): string {
  return chromiumOffer((line) => (line.startsWith(begin) ? instead : line));
}
