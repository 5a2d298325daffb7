// A dialect that echoes each message and records what happened to its conversations.
import type { SocketHandler, Dialect, Handshake, Peer } from '../../../src/api/http/socket-dialect.js';

class EchoConversation implements SocketHandler {
  readonly heard: (string | Uint8Array)[] = [];
  readonly peer: Peer;
  readonly handshake: Handshake;
  closes = 0;
  /** Resolves the promise of `closed`; at once unless the test replaces it. */
  freed: Promise<void> = Promise.resolve();

  constructor(peer: Peer, handshake: Handshake) {
    this.peer = peer;
    this.handshake = handshake;
  }

  message(data: string | Uint8Array): void {
    this.heard.push(data);
    if (data === 'throw') throw new Error('asked to throw');
    if (data === 'key please') this.peer.send(String(this.handshake.authorize('a key of sixteen')));
    else if (data !== 'hush') this.peer.send(data);
  }

  closed(): Promise<void> {
    this.closes++;
    return this.freed;
  }
}

export class EchoDialect implements Dialect {
  readonly name = 'echo';
  readonly path: string;
  readonly keyInFirstMessage: boolean;
  readonly conversations: EchoConversation[] = [];

  constructor(path = '/v1/echo/{room}', keyInFirstMessage = false) {
    this.path = path;
    this.keyInFirstMessage = keyInFirstMessage;
  }

  open(peer: Peer, handshake: Handshake): EchoConversation {
    const conversation = new EchoConversation(peer, handshake);
    this.conversations.push(conversation);
    return conversation;
  }

  /** The only conversation so far. */
  get only(): EchoConversation {
    const [conversation] = this.conversations;
    if (conversation === undefined || this.conversations.length > 1) throw new Error('not one conversation');
    return conversation;
  }
}

/** The bytes with which a client asks the server at `url` for a socket of the dialect. */
export function handshake(url: string): string {
  const head = [
    'GET /v1/echo/one HTTP/1.1',
    `Host: ${new URL(url).host}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', // RFC 6455, section 1.3
  ];
  return `${head.join('\r\n')}\r\n\r\n`;
}
