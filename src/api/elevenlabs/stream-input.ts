// ElevenLabs' two sockets for text. On stream-input one text, which ends with an empty message, becomes one stream of
// sound. On multi-stream-input several texts share a socket, each in a context of its own, and are spoken side by side.
import type { ParleyError } from '../../errors.js';
import type { Conversation, Dialect, Handshake, Peer } from '../http/socket-dialect.js';
import type { ElevenLabsContext } from './elevenlabs-context.js';
import type { ClientMessage } from './elevenlabs-request.js';
import {
  type ElevenLabsParts,
  ElevenLabsSocket,
  IdleTimer,
  inactive,
  tooManyContexts,
} from './elevenlabs-socket.js';

export function elevenLabsStreamInput(parts: ElevenLabsParts): Dialect {
  return {
    name: 'elevenlabs',
    path: '/v1/text-to-speech/{voice_id}/stream-input',
    keyInFirstMessage: true,
    open: (peer, handshake) => new StreamInput(parts, peer, handshake),
  };
}

class StreamInput implements Conversation {
  readonly #socket: ElevenLabsSocket;
  readonly #idle: IdleTimer;
  #context: ElevenLabsContext | undefined;
  #ended = false;

  constructor(parts: ElevenLabsParts, peer: Peer, handshake: Handshake) {
    this.#socket = new ElevenLabsSocket(parts, peer, handshake);
    const { inactivityMs } = this.#socket;
    const busy = () => this.#ended || this.#context?.busy === true;
    this.#idle = new IdleTimer(parts.time, inactivityMs, busy, () => this.#refuseSilence());
    if (this.#socket.over) this.#idle.close();
  }

  message(data: string | Uint8Array): void {
    if (this.#ended) return;
    const message = this.#socket.read(data);
    if (message === undefined) return;
    this.#idle.touch();
    this.#socket.attempt(() => this.#take(message));
  }

  async closed(): Promise<void> {
    this.#idle.close();
    this.#socket.close(1001, '');
    this.#context?.stop();
    await this.#context?.freed;
  }

  #take(message: ClientMessage): void {
    const { text, flush, trigger } = message;
    const context = (this.#context ??= this.#open(message));
    context.configure(message);
    if (text === '') {
      this.#ended = true;
      context.finish();
    } else if (text !== undefined || flush) {
      context.push(text ?? '', flush ? 'flush' : trigger ? 'now' : 'scheduled');
    }
  }

  #open(first: ClientMessage): ElevenLabsContext {
    return this.#socket.context({
      first,
      message: (audio, alignment) => ({ audio, isFinal: null, normalizedAlignment: alignment, alignment }),
      sent: () => this.#idle.touch(),
      over: (error) => this.#over(error),
    });
  }

  #over(error: ParleyError | undefined): void {
    this.#idle.close();
    if (error !== undefined) return this.#socket.refuse(this.#socket.refusalOf(error));
    this.#socket.send({ audio: null, isFinal: true, normalizedAlignment: null, alignment: null });
    this.#socket.close(1000, '');
  }

  #refuseSilence(): void {
    this.#socket.refuse(inactive(this.#socket.inactivityMs));
    this.#context?.stop();
  }
}

// Clients interrupt by closing the context that speaks and opening the next one at once. So only open contexts count
// against the limit: a closed one has stopped, or speaks what was flushed.

const MAX_OPEN = 5;
const MAX_CLOSING = 16; // contexts that were closed and still speak what was flushed

export function elevenLabsMultiStreamInput(parts: ElevenLabsParts): Dialect {
  return {
    name: 'elevenlabs-multi',
    path: '/v1/text-to-speech/{voice_id}/multi-stream-input',
    keyInFirstMessage: true,
    open: (peer, handshake) => new MultiStreamInput(parts, peer, handshake),
  };
}

interface Entry {
  /** Undefined for the context that messages without an id belong to. */
  readonly id: string | undefined;
  readonly context: ElevenLabsContext;
  readonly idle: IdleTimer;
}

class MultiStreamInput implements Conversation {
  readonly #socket: ElevenLabsSocket;
  readonly #idle: IdleTimer;
  /** By id. */
  readonly #open = new Map<string | undefined, Entry>();
  readonly #closing = new Set<Entry>();
  /** Contexts of which something may still run. */
  readonly #unfreed = new Set<Promise<void>>();
  #ending = false;

  constructor(parts: ElevenLabsParts, peer: Peer, handshake: Handshake) {
    this.#socket = new ElevenLabsSocket(parts, peer, handshake);
    const { inactivityMs } = this.#socket;
    const busy = () => this.#open.size + this.#closing.size > 0; // each of them has its own clock
    this.#idle = new IdleTimer(parts.time, inactivityMs, busy, () =>
      this.#socket.refuse(inactive(inactivityMs)),
    );
    if (this.#socket.over) this.#idle.close();
  }

  message(data: string | Uint8Array): void {
    if (this.#ending) return;
    const message = this.#socket.read(data);
    if (message === undefined) return;
    this.#idle.touch();
    this.#socket.attempt(() => this.#take(message));
  }

  async closed(): Promise<void> {
    this.#idle.close();
    this.#socket.close(1001, '');
    for (const { context } of [...this.#open.values(), ...this.#closing]) context.stop();
    await Promise.all(this.#unfreed);
  }

  #take(message: ClientMessage): void {
    if (message.closeSocket) this.#endAll();
    else if (message.closeContext) this.#close(message.contextId);
    else this.#speak(message);
  }

  /** An empty text keeps a context that is open, and opens none; nor does a flush of nothing. */
  #speak(message: ClientMessage): void {
    const { contextId, text = '', flush } = message;
    const entry = this.#open.get(contextId) ?? (text === '' ? undefined : this.#newEntry(message));
    if (entry === undefined) return;
    const { context, idle } = entry;
    idle.touch();
    try {
      context.configure(message);
      context.push(text, flush ? 'flush' : message.trigger ? 'now' : 'scheduled');
    } catch (error) {
      context.stop(error as ParleyError);
    }
  }

  #newEntry(first: ClientMessage): Entry | undefined {
    if (this.#open.size >= MAX_OPEN) {
      this.#socket.refuse(tooManyContexts(MAX_OPEN));
      return undefined;
    }
    const id = first.contextId;
    const label = id === undefined ? {} : { contextId: id };
    const before = [...this.#closing].findLast((entry) => entry.id === id);
    const context = this.#socket.context({
      first,
      message: (audio, alignment) => ({
        audio,
        isFinal: false,
        normalizedAlignment: alignment,
        alignment,
        ...label,
      }),
      sent: () => entry.idle.touch(),
      over: (error) => this.#over(entry, error),
      ...(before === undefined ? {} : { after: before.context.freed }),
    });
    const { time } = this.#socket.parts;
    const { inactivityMs } = this.#socket;
    const idle = new IdleTimer(
      time,
      inactivityMs,
      () => context.busy,
      () => this.#letGo(entry),
    );
    const entry: Entry = { id, context, idle };
    this.#open.set(id, entry);
    this.#unfreed.add(context.freed);
    void context.freed.then(() => this.#unfreed.delete(context.freed));
    return entry;
  }

  #close(id: string | undefined): void {
    const open = this.#open.get(id);
    if (open !== undefined) {
      this.#open.delete(id);
      this.#closing.add(open);
      open.context.close();
      if (this.#closing.size > MAX_CLOSING) this.#socket.refuse(tooManyContexts(MAX_OPEN + MAX_CLOSING));
    } else {
      // Closed for a second time: the flushed text is dropped too.
      for (const entry of this.#closing) if (entry.id === id) entry.context.stop();
    }
  }

  #endAll(): void {
    this.#ending = true;
    for (const entry of this.#open.values()) this.#closing.add(entry);
    this.#open.clear();
    for (const { context } of this.#closing) context.finish();
    this.#closeWhenDone();
  }

  /** A context was silent for too long. */
  #letGo({ id, context }: Entry): void {
    if (context.hasText) this.#tell(id, inactive(this.#socket.inactivityMs));
    context.stop();
  }

  #over(entry: Entry, error: ParleyError | undefined): void {
    const { id, idle } = entry;
    idle.close();
    if (this.#open.get(id) === entry) this.#open.delete(id);
    this.#closing.delete(entry);
    this.#idle.touch();
    if (error !== undefined) {
      const refusal = this.#socket.refusalOf(error);
      if (refusal.socket) return this.#socket.refuse(refusal);
      this.#tell(id, refusal);
    }
    this.#socket.send({ isFinal: true, ...(id === undefined ? {} : { contextId: id }) });
    if (this.#ending) this.#closeWhenDone();
  }

  #tell(id: string | undefined, { message, error, code }: { message: string; error: string; code: number }) {
    this.#socket.send({ message, error, code, ...(id === undefined ? {} : { contextId: id }) });
  }

  #closeWhenDone(): void {
    if (this.#closing.size === 0) this.#socket.close(1000, '');
  }
}

export function elevenLabsDialects(parts: ElevenLabsParts): readonly Dialect[] {
  return [elevenLabsStreamInput(parts), elevenLabsMultiStreamInput(parts)];
}
