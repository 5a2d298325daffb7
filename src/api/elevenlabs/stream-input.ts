// ElevenLabs' two sockets for text. On stream-input one text, which ends with an empty message, becomes one
// stream of sound. On multi-stream-input several texts share a socket, each in a context of its own, and are
// spoken side by side.
import type { ParleyError } from '../../errors.js';
import type { Dialect } from '../http/socket-dialect.js';
import type { ElevenLabsContext } from './elevenlabs-context.js';
import { type ClientMessage, SOCKET_PARAMETERS } from './elevenlabs-request.js';
import {
  type ElevenLabsParts,
  ElevenLabsSocket,
  inactive,
  type SocketContexts,
  tooManyContexts,
} from './elevenlabs-socket.js';

export function elevenLabsDialects(parts: ElevenLabsParts): readonly Dialect[] {
  return [elevenLabsStreamInput(parts), elevenLabsMultiStreamInput(parts)];
}

function elevenLabsStreamInput(parts: ElevenLabsParts): Dialect {
  return {
    name: 'elevenlabs',
    path: '/v1/text-to-speech/{voice_id}/stream-input',
    query: SOCKET_PARAMETERS,
    keyInFirstMessage: true,
    open: (peer, handshake) =>
      new ElevenLabsSocket(parts, peer, handshake, (socket) => new OneContext(socket)),
  };
}

class OneContext implements SocketContexts {
  ended = false;
  readonly #socket: ElevenLabsSocket;
  #context: ElevenLabsContext | undefined;

  constructor(socket: ElevenLabsSocket) {
    this.#socket = socket;
  }

  get busy(): boolean {
    return this.#context !== undefined;
  }

  take(message: ClientMessage): void {
    const context = (this.#context ??= this.#open(message));
    this.ended = message.text === '';
    if (!this.ended) return context.take(message);
    context.take({ ...message, text: undefined, flush: false });
    context.finish();
  }

  async stop(): Promise<void> {
    this.#context?.stop();
    await this.#context?.freed;
  }

  #open(first: ClientMessage): ElevenLabsContext {
    return this.#socket.context({
      first,
      message: (audio, alignment) => ({ audio, isFinal: null, normalizedAlignment: alignment, alignment }),
      silent: () => {
        this.#socket.refuseSilence();
        void this.stop();
      },
      over: (error) => this.#over(error),
    });
  }

  #over(error: ParleyError | undefined): void {
    if (error !== undefined) return this.#socket.refuse(this.#socket.refusalOf(error));
    this.#socket.send({ audio: null, isFinal: true, normalizedAlignment: null, alignment: null });
    this.#socket.close(1000, '');
  }
}

// Clients interrupt by closing the context that speaks and opening the next one at once. So only open
// contexts count against the limit: a closed one has stopped, or speaks what was flushed.

const MAX_OPEN = 5;
const MAX_CLOSING = 16; // contexts that were closed and still speak what was flushed

function elevenLabsMultiStreamInput(parts: ElevenLabsParts): Dialect {
  return {
    name: 'elevenlabs-multi',
    path: '/v1/text-to-speech/{voice_id}/multi-stream-input',
    query: SOCKET_PARAMETERS,
    keyInFirstMessage: true,
    open: (peer, handshake) =>
      new ElevenLabsSocket(parts, peer, handshake, (socket) => new SeveralContexts(socket)),
  };
}

class SeveralContexts implements SocketContexts {
  ended = false;
  readonly #socket: ElevenLabsSocket;
  /** By id. */
  readonly #open = new Map<string | undefined, ElevenLabsContext>();
  readonly #closing = new Set<ElevenLabsContext>();
  /** Contexts of which something may still run. */
  readonly #unfreed = new Set<Promise<void>>();

  constructor(socket: ElevenLabsSocket) {
    this.#socket = socket;
  }

  get busy(): boolean {
    return this.#open.size + this.#closing.size > 0;
  }

  take(message: ClientMessage): void {
    if (message.closeSocket) this.#endAll();
    else if (message.closeContext) this.#close(message.contextId);
    else this.#speak(message);
  }

  async stop(): Promise<void> {
    for (const context of [...this.#open.values(), ...this.#closing]) context.stop();
    await Promise.all(this.#unfreed);
  }

  /** An empty text keeps a context that is open, and opens none; nor does a flush of nothing. */
  #speak(message: ClientMessage): void {
    const { contextId, text = '' } = message;
    const context = this.#open.get(contextId) ?? (text === '' ? undefined : this.#newContext(message));
    context?.take({ ...message, text });
  }

  #newContext(first: ClientMessage): ElevenLabsContext | undefined {
    if (this.#open.size >= MAX_OPEN) {
      this.#socket.refuse(tooManyContexts(MAX_OPEN));
      return undefined;
    }
    const { contextId } = first;
    const label = { isFinal: false, contextId };
    const context: ElevenLabsContext = this.#socket.context({
      first,
      message: (audio, alignment) => ({ audio, normalizedAlignment: alignment, alignment, ...label }),
      silent: () => this.#endSilent(context),
      over: (error) => this.#over(context, error),
      after: [...this.#closing].findLast(({ id }) => id === contextId)?.freed,
    });
    this.#open.set(contextId, context);
    this.#unfreed.add(context.freed);
    void context.freed.then(() => this.#unfreed.delete(context.freed));
    return context;
  }

  #close(contextId: string | undefined): void {
    const open = this.#open.get(contextId);
    if (open !== undefined) {
      this.#open.delete(contextId);
      this.#closing.add(open);
      open.close();
      if (this.#closing.size > MAX_CLOSING) this.#socket.refuse(tooManyContexts(MAX_OPEN + MAX_CLOSING));
    } else {
      // Closed for a second time: the flushed text is dropped too.
      for (const context of this.#closing) if (context.id === contextId) context.stop();
    }
  }

  #endAll(): void {
    this.ended = true;
    for (const context of this.#open.values()) this.#closing.add(context);
    this.#open.clear();
    for (const context of this.#closing) context.finish();
    this.#closeWhenDone();
  }

  /** A context was silent for too long. */
  #endSilent(context: ElevenLabsContext): void {
    const { id: contextId, hasText } = context;
    if (hasText) this.#socket.send({ ...inactive(this.#socket.inactivityMs), contextId });
    context.stop();
  }

  #over(context: ElevenLabsContext, error: ParleyError | undefined): void {
    const { id: contextId } = context;
    if (this.#open.get(contextId) === context) this.#open.delete(contextId);
    this.#closing.delete(context);
    this.#socket.touch();
    if (error !== undefined) {
      const refusal = this.#socket.refusalOf(error);
      if (refusal.socket) return this.#socket.refuse(refusal);
      const { message, error: name, code } = refusal;
      this.#socket.send({ message, error: name, code, contextId });
    }
    this.#socket.send({ isFinal: true, contextId });
    if (this.ended) this.#closeWhenDone();
  }

  #closeWhenDone(): void {
    if (this.#closing.size === 0) this.#socket.close(1000, '');
  }
}
