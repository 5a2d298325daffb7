// Offers of WHIP and WHEP clients, with the lines that a test changes.

interface OfferLines {
  readonly direction?: string;
  readonly setup?: string;
  readonly msid?: string;
  /** Further sections, each with its own attributes. */
  readonly more?: readonly string[];
}

/** An offer of one audio section, as a browser makes it. */
export function audioOffer({
  direction = 'sendonly',
  setup = 'actpass',
  msid = '- t1',
  more = [],
}: OfferLines = {}) {
  return sdpOf(['v=0', ...SESSION, ...audioSection(direction, setup, msid), ...more]);
}

/** A section of audio or video, in the form in which `more` takes it. */
export function section(kind: string, attributes: readonly string[] = [], port = 9): string[] {
  return [
    `m=${kind} ${port} UDP/TLS/RTP/SAVPF 111`,
    'c=IN IP4 0.0.0.0',
    ...attributes.map((value) => `a=${value}`),
  ];
}

/** An offer without audio. */
export function videoOffer(): string {
  return sdpOf(['v=0', ...SESSION, ...section('video', ['mid:0', 'sendonly', 'setup:actpass'])]);
}

const SESSION = ['o=- 1 1 IN IP4 127.0.0.1', 's=-', 't=0 0', 'a=group:BUNDLE 0'];

function audioSection(direction: string, setup: string, msid: string): string[] {
  const transport = ['ice-ufrag:offered', 'ice-pwd:0123456789abcdefghijklmn', `setup:${setup}`];
  const rest = ['mid:0', direction, 'rtcp-mux', 'rtcp-mux-only', 'rtpmap:111 opus/48000/2', `msid:${msid}`];
  return section('audio', [...transport, ...rest]);
}

function sdpOf(lines: readonly string[]): string {
  return `${lines.join('\r\n')}\r\n`;
}
