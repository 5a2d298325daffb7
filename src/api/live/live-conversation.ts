// The life of a socket that carries sound as binary messages and commands as texts, and that owns its
// transcription. What throws is told to the client, and a transcription that fails closes the socket.
import type { ParleyError } from '../../errors.js';
import { socketError } from '../http/error-reply.js';
import { type Fields, readFields } from '../http/message-fields.js';
import type { Dialect, Handshake, Peer, SocketHandler } from '../http/socket-dialect.js';
import { LiveClient } from './live-client.js';
import { FAILED_CLOSE, liveTranscriberOf, type LiveSocketParts } from './live-socket-parts.js';

const NORMAL = 1000;

export type SocketError = ReturnType<typeof socketError>;

type Conversation = new (parts: LiveSocketParts, peer: Peer, handshake: Handshake) => LiveConversation;

/** A dialect whose sockets are these conversations. They are refused if the server recognises no speech. */
export function liveDialect(
  { name, path }: Pick<Dialect, 'name' | 'path'>,
  parts: LiveSocketParts,
  OpenConversation: Conversation,
): Dialect {
  return {
    name,
    path,
    query: [],
    carriesSound: true,
    check: () => void liveTranscriberOf(parts),
    open: (peer, handshake) => new OpenConversation(parts, peer, handshake),
  };
}

export abstract class LiveConversation implements SocketHandler {
  protected readonly parts: LiveSocketParts;
  protected readonly client: LiveClient;
  /** Names the transcription and errors in the log. */
  protected readonly requestId: string;
  readonly #peer: Peer;

  constructor(parts: LiveSocketParts, peer: Peer, { requestId }: Handshake) {
    this.parts = parts;
    this.client = new LiveClient(parts, peer);
    this.requestId = requestId;
    this.#peer = peer;
  }

  message(data: string | Uint8Array): void {
    this.client.touch();
    try {
      if (typeof data === 'string') this.obey(readFields(data));
      else this.client.hear(data);
    } catch (error) {
      this.#refuse(error);
    }
  }

  closed(): Promise<void> {
    this.client.close();
    return Promise.resolve();
  }

  /** Follows a command. What it throws is told to the client. */
  protected abstract obey(fields: Fields): void;

  /** The message of the dialect for an error. */
  protected abstract errorMessage(error: SocketError): object;

  protected send(message: object): void {
    this.#peer.send(JSON.stringify(message));
  }

  /** Ends the sound. After the last text it sends the message that `last` makes, if any, and closes. */
  protected async end(last?: (seconds: number) => object): Promise<void> {
    const seconds = await this.client.end();
    if (last !== undefined) this.send(last(seconds));
    this.#peer.close(NORMAL, '');
  }

  /** The transcription failed: the socket is of no use any more. */
  protected fail(error: ParleyError): void {
    this.#refuse(error);
    this.#peer.close(FAILED_CLOSE, error.code.toLowerCase());
  }

  #refuse(error: unknown): void {
    this.send(this.errorMessage(socketError(error, this.requestId, this.parts.failed)));
  }
}
