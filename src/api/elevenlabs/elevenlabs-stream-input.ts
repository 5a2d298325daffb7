// ElevenLabs' /v1/text-to-speech/{voice_id}/stream-input: one text, which ends
// with an empty message, becomes one stream of sound.
import type { ParleyError } from '../../errors.js';
import type { Conversation, Dialect, Peer, Visit } from '../http/socket-dialect.js';
import type { ElevenLabsContext } from './elevenlabs-context.js';
import { inactive } from './elevenlabs-errors.js';
import type { ClientMessage } from './elevenlabs-message.js';
import { type ElevenLabsParts, ElevenLabsSocket } from './elevenlabs-socket.js';
import { IdleTimer } from './idle-timer.js';

export function elevenLabsStreamInput(parts: ElevenLabsParts): Dialect {
  return {
    name: 'elevenlabs',
    path: '/v1/text-to-speech/{voice_id}/stream-input',
    keyInFirstMessage: true,
    open: (peer, visit) => new StreamInput(parts, peer, visit),
  };
}

class StreamInput implements Conversation {
  readonly #socket: ElevenLabsSocket;
  readonly #idle: IdleTimer;
  #context: ElevenLabsContext | undefined;
  #ended = false;

  constructor(parts: ElevenLabsParts, peer: Peer, visit: Visit) {
    this.#socket = new ElevenLabsSocket(parts, peer, visit);
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
