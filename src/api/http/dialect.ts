// What a dialect is: a translator between the messages of a WebSocket and
// speech. It knows no socket library and no server; both are handed to it.

/** The peer, as a dialect sees it. */
export interface Peer {
  /** A text message (string) or a binary one. What cannot be sent any more is dropped. */
  send(message: string | Uint8Array): void;
  /** Resolves when little enough waits to be sent, or the socket is gone; await it between chunks of sound. */
  drained(): Promise<void>;
  /** Ends the conversation; `closed` of the conversation is called after it. Idempotent. */
  close(code: number, reason: string): void;
}

/** How the socket was asked for. */
export interface Visit {
  /** Path and query; the origin in it means nothing. */
  readonly url: URL;
  /** What stands in the place of each {name} of the dialect's path. */
  readonly params: Readonly<Record<string, string>>;
  /** Who shares the engine fairly with others. Read it anew for each text: a key that is accepted changes it. */
  readonly client: string;
  /** Id of the request, for the log. */
  readonly requestId: string;
  /**
   * Whether the socket may be used with the key that a first message carries; always true where the headers carried
   * what is needed. Only of use with `keyInFirstMessage`.
   */
  authorize(key: string): boolean;
}

/** One open socket's worth of a dialect. */
export interface Conversation {
  /** Must not throw: what is wrong with a message is said to the peer in the dialect's own words. */
  message(data: string | Uint8Array): void;
  /** The socket is gone: stops all work. Called once. Resolves when everything of it is freed. */
  closed(): Promise<void>;
}

export interface Dialect {
  /** For metrics and the log: a short fixed word. */
  readonly name: string;
  /** Path with `{name}` for variable segments, such as /v1/text-to-speech/{voice_id}/stream-input. */
  readonly path: string;
  /**
   * Whether a key may come in the first message instead of the headers: then the socket opens without one, and the
   * dialect must call `peer.close(1008, …)` unless `authorize` accepts what the first message carries.
   */
  readonly keyInFirstMessage?: boolean;
  open(peer: Peer, visit: Visit): Conversation;
}
