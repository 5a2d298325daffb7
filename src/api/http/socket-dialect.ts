// Defines the contract of a dialect: a protocol over WebSocket, such as ElevenLabs' stream-input. A dialect
// translates between the messages of one socket and Parley. It knows neither the socket library nor the HTTP
// server.

/** The client, as a dialect sees it. */
export interface Peer {
  /** Sends a text message (string) or a binary one. Does nothing once the socket is closed. */
  send(message: string | Uint8Array): void;
  /**
   * Resolves when little of what was sent is still buffered, or the socket is closed. Await it between audio
   * chunks.
   */
  drained(): Promise<void>;
  /** Bytes of what was sent that are still buffered. */
  readonly unreadBytes: number;
  /** Closes the socket. Idempotent. Calls `closed` of the handler. */
  close(code: number, reason: string): void;
}

/** The request that opened the socket. */
export interface Handshake {
  /** Path and query. The origin in it has no meaning. */
  readonly url: URL;
  /** The values of each {name} of the dialect's path. */
  readonly params: Readonly<Record<string, string>>;
  /**
   * The client that fairness and limits count: the name of an API key, or an address. Read it anew for each
   * text, because an accepted key changes it.
   */
  readonly client: string;
  /** Id of the request, for the log. */
  readonly requestId: string;
  /** See `Dialect.admits`. */
  readonly isAdmitted?: boolean;
  /** The bearer token of the request, where `takesSecrets` is true. It may be an API key. */
  readonly secret?: string | undefined;
  /**
   * True if the socket may be used with the key that a first message carries. Always true if the headers
   * sufficed. Only useful with `keyInFirstMessage`. Throws RATE_LIMITED, and QUEUE_FULL if MAX_SOCKETS allows
   * no further socket: until its key came, the socket was not counted there.
   */
  authorize(key: string): boolean;
}

/** The state of a dialect for one open socket. */
export interface SocketHandler {
  /** Must not throw: the dialect reports an invalid message to the peer in its own protocol. */
  message(data: string | Uint8Array): void;
  /** Called once, when the socket is closed: stops all work. Resolves when everything is freed. */
  closed(): Promise<void>;
}

export interface Dialect {
  /** A short fixed word, for metrics and the log. */
  readonly name: string;
  /** Path with `{name}` for variable segments, such as /v1/text-to-speech/{voice_id}/stream-input. */
  readonly path: string;
  /**
   * Names of the query parameters that it takes: another name is refused, because a client that sends one
   * expects something else. Undefined if `check` itself refuses other names.
   */
  readonly query?: readonly string[];
  /**
   * True if the key may come in the first message instead of the headers. Then the socket opens without a
   * key, and the dialect must call `peer.close(1008, …)` unless `authorize` accepts the key of the first
   * message.
   */
  readonly keyInFirstMessage?: boolean;
  /**
   * True if the request carries a credential of the dialect's own, which takes the place of an API key: `key`
   * is the bearer token of its headers.
   */
  admits?(request: Pick<Handshake, 'url' | 'params'> & { readonly key: string | undefined }): boolean;
  /** True if a client secret opens it, in place of the API key that the secret stands for. */
  readonly takesSecrets?: boolean;
  /**
   * True if its messages carry sound. A client that sends more than the limit of bytes is slowed down, and
   * never disconnected for that.
   */
  readonly carriesSound?: boolean;
  /** Throws the error that refuses the upgrade, before the socket opens. */
  check?(handshake: Handshake): void;
  open(peer: Peer, handshake: Handshake): SocketHandler;
}
