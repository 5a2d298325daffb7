// The dialect of /v1/audio/speech/ws: a text in each message, its raw samples
// back, and an event when it ends.
//
//   in   {"input": "…", "voice": "…", "speed": 1, …}     {"event": "cancel"}
//   out  binary s16le    {"event": "done"}    {"event": "cancelled"}    {"event": "error", "detail": "…"}
//
// Texts that come while one is being spoken wait for it. What a cancellation
// drops, waiting or half spoken, has no other event than "cancelled".
import { AUDIO_FORMATS } from '../../speaking/audio-format.js';
import type { SpeechSettings } from '../../speaking/speech-request.js';
import { stated } from '../../stated.js';
import { isMarkup, TEXT_FORMATS, tooLong } from '../../speaking/text-source.js';
import type { SocketHandler, Dialect, Handshake, Peer } from '../http/socket-dialect.js';
import {
  choiceIn,
  type Fields,
  invalid,
  readFields,
  readSpeechOptions,
  readModel,
  readRate,
  stringIn,
} from '../http/message-fields.js';
import { type SpeechSocketParts, TextQueue } from '../speech/speech-sockets.js';
import { socketError } from '../http/error-reply.js';

export function legacySocket(parts: SpeechSocketParts): Dialect {
  return {
    name: 'legacy',
    path: '/v1/audio/speech/ws',
    query: [],
    open: (peer, handshake) => new LegacyConversation(parts, peer, handshake),
  };
}

// The dialect has one format, whichever a message names.
const [PCM] = AUDIO_FORMATS.filter(({ name }) => name === 'pcm');

class LegacyConversation implements SocketHandler {
  readonly #parts: SpeechSocketParts;
  readonly #peer: Peer;
  readonly #handshake: Handshake;
  readonly #queue: TextQueue;

  constructor(parts: SpeechSocketParts, peer: Peer, handshake: Handshake) {
    this.#parts = parts;
    this.#peer = peer;
    this.#handshake = handshake;
    this.#queue = new TextQueue(parts.limits.maxWaitingUtterances);
  }

  message(data: string | Uint8Array): void {
    try {
      const fields = readFields(data);
      if (isCancel(fields)) this.#queue.cancel(() => this.#send({ event: 'cancelled' }));
      else this.#take(fields);
    } catch (error) {
      this.#refuse(error);
    }
  }

  closed(): Promise<void> {
    this.#queue.cancel(() => undefined);
    return this.#queue.idle();
  }

  #take(fields: Fields): void {
    const { limits, time, checkModel } = this.#parts;
    const text = readText(fields);
    checkModel(readModel(fields));
    if (text.length > limits.maxTextLength) throw tooLong(limits.maxTextLength);
    if (PCM === undefined) throw new TypeError('there is no format for raw samples');
    const settings: SpeechSettings = {
      ...readSpeechOptions(fields, limits),
      ...stated({ markup: isMarkup(text, choiceIn(fields, 'input_format', TEXT_FORMATS)) || undefined }),
      format: PCM,
      sampleRate: readRate(fields, PCM),
      client: this.#handshake.client,
    };
    const receivedAtMs = this.#queue.isIdle ? time.now() : undefined;
    this.#queue.add((signal) => this.#speak(text, settings, signal, receivedAtMs));
  }

  async #speak(
    text: string,
    settings: SpeechSettings,
    signal: AbortSignal,
    receivedAtMs: number | undefined,
  ): Promise<void> {
    const { speaker, time, firstSound } = this.#parts;
    let waitsSinceMs = receivedAtMs;
    try {
      for await (const { sound } of speaker.speak(text, settings, signal)) {
        for await (const chunk of sound) {
          if (signal.aborted) return;
          if (waitsSinceMs !== undefined) firstSound(time.now() - waitsSinceMs);
          waitsSinceMs = undefined;
          this.#peer.send(chunk);
          await this.#peer.drained();
        }
      }
      if (!signal.aborted) this.#send({ event: 'done' });
    } catch (error) {
      if (!signal.aborted) this.#refuse(error);
    }
  }

  #refuse(error: unknown): void {
    const { code, message } = socketError(error, this.#handshake.requestId, this.#parts.failed);
    this.#send({ event: 'error', detail: message, code });
  }

  #send(message: object): void {
    this.#peer.send(JSON.stringify(message));
  }
}

function isCancel({ event, type }: Fields): boolean {
  const word = event ?? type;
  if (word === undefined || word === 'cancel') return word === 'cancel';
  throw invalid(event === undefined ? 'type' : 'event', 'must be "cancel", or absent where there is "input"');
}

/** Under the name that the HTTP body has for it, or the one that it always had here. */
function readText(fields: Fields): string {
  const text = stringIn(fields, 'input') ?? stringIn(fields, 'text');
  if (text === undefined) throw invalid('input', 'must be a string: the text to speak');
  return text;
}
