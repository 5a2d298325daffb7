// Messages of the torture tests, from lines to bytes.

/** The session description that most of the messages carry: 150 bytes. */
export const SDP = `v=0
o=mhandley 29739 7272939 IN IP4 192.0.2.1
s=-
c=IN IP4 192.0.2.1
t=0 0
m=audio 49217 RTP/AVP 0 12
m=video 3227 RTP/AVP 31
a=rtpmap:31 LPC
`;

export function torture(head: string, body = ''): Buffer {
  return Buffer.from(`${head}\n\n${body}`.replaceAll('\n', '\r\n'));
}
