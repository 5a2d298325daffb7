// The dialect of jambonz for speech from tokens (custom TTS, streaming): a socket for each call.
//
//   query  voice, language, sampleRate
//   out    {"type": "connect", "data": {"sample_rate", "base64_encoding": false}}
//   in     {"type": "stream", "text"}   {"type": "flush"}   {"type": "stop"}   {"type": "clear"}
//   out    binary sound, 16-bit little-endian samples   {"type": "error", "error", "code"}
//
// `stop` drops everything and closes the socket, as in jambonz's own example server. `clear`, an addition of
// this server, drops everything and keeps the socket.
//
// https://docs.jambonz.org/guides/features/custom-tts-providers (streaming WebSocket API)
// https://github.com/jambonz/custom-speech-example (lib/tts/streaming)
import { asParleyError } from '../../errors.js';
import { bytesPerSecond, formatNamed, hasRate, ratesOf } from '../../speaking/audio-format.js';
import { SENTENCE_PAUSE_MS } from '../../speaking/speech-pipeline.js';
import type { SpeechSettings } from '../../speaking/speech-request.js';
import { isMarkup, TokenStream, tooLong } from '../../speaking/text-source.js';
import { SentenceStream } from '../../text/sentences.js';
import { socketError } from '../http/error-reply.js';
import {
  choiceIn,
  type Fields,
  invalid,
  readFields,
  readSpeechOptions,
  stringIn,
} from '../http/message-fields.js';
import type { SpeechOptionLimits } from '../http/message-fields.js';
import type { SocketHandler, Dialect, Handshake, Peer } from '../http/socket-dialect.js';
import { type SpeechSocketParts, TextQueue } from '../speech/speech-sockets.js';

const TYPES = ['stream', 'flush', 'stop', 'clear'] as const;
const PCM = formatNamed('pcm');
const TELEPHONE_RATE = 8000; // Hz
const IDLE_MS = 500; // without a message: the text so far is spoken as if it had been flushed
const NORMAL = 1000;

export function jambonzVoiceSocket(parts: SpeechSocketParts): Dialect {
  return {
    name: 'jambonz-tts',
    path: '/v1/jambonz/tts',
    query: ['voice', 'language', 'sampleRate'],
    check: ({ url }) => void readQuery(url.searchParams, parts.limits),
    open: (peer, handshake) => new JambonzSpeech(parts, peer, handshake),
  };
}

/** Throws INVALID_FIELD. An empty parameter counts as absent. */
function readQuery(query: URLSearchParams, limits: SpeechOptionLimits): SpeechSettings {
  const given = (['voice', 'language'] as const).map((name) => [name, query.get(name) || undefined] as const);
  const sampleRate = Number(query.get('sampleRate') || TELEPHONE_RATE);
  if (!hasRate(PCM, sampleRate)) throw invalid('sampleRate', `must be ${ratesOf(PCM)} (Hz)`);
  return { ...readSpeechOptions(Object.fromEntries(given), limits), format: PCM, sampleRate };
}

/** A text whose tokens are still coming. */
interface OpenText {
  readonly tokens: TokenStream;
  /** UTF-16 units. */
  length: number;
}

class JambonzSpeech implements SocketHandler {
  readonly #parts: SpeechSocketParts;
  readonly #peer: Peer;
  readonly #handshake: Handshake;
  readonly #settings: SpeechSettings;
  readonly #queue: TextQueue;
  #open: OpenText | undefined;
  /** When the sound sent so far will have been heard, in milliseconds of the monotonic clock. */
  #heardAtMs = 0;
  #cancelIdle: () => void = () => undefined;

  constructor(parts: SpeechSocketParts, peer: Peer, handshake: Handshake) {
    this.#parts = parts;
    this.#peer = peer;
    this.#handshake = handshake;
    this.#settings = readQuery(handshake.url.searchParams, parts.limits);
    this.#queue = new TextQueue(parts.limits.maxWaitingUtterances);
    const data = { sample_rate: this.#settings.sampleRate, base64_encoding: false };
    this.#send({ type: 'connect', data });
  }

  message(data: string | Uint8Array): void {
    try {
      this.#obey(readFields(data));
    } catch (error) {
      this.#refuse(error);
    }
  }

  closed(): Promise<void> {
    this.#drop();
    return this.#queue.idle();
  }

  /** Fields that jambonz adds later are ignored. */
  #obey(fields: Fields): void {
    switch (choiceIn(fields, 'type', TYPES)) {
      case 'stream':
        return this.#stream(fields);
      case 'flush':
        return this.#flush();
      case 'stop':
        this.#drop();
        return this.#peer.close(NORMAL, '');
      case 'clear':
        return this.#drop();
      case undefined:
        throw invalid('type', `must be one of ${TYPES.map((type) => `"${type}"`).join(', ')}`);
    }
  }

  /** Throws INVALID_FIELD, TEXT_TOO_LONG and QUEUE_FULL. */
  #stream(fields: Fields): void {
    const { maxTextLength } = this.#parts.limits;
    const text = stringIn(fields, 'text')?.trim();
    if (text === undefined) throw invalid('text', 'must be a string: the text to speak');
    if (isMarkup(text)) throw invalid('text', 'must not be SSML; POST /v1/jambonz/tts takes it');
    if (text.length > maxTextLength) throw tooLong(maxTextLength);
    if (text === '') return;
    // jambonz cuts its tokens between sentences, so a long answer may be divided there.
    if ((this.#open?.length ?? 0) + 1 + text.length > maxTextLength) this.#flush();
    const open = this.#open?.tokens.ended === false ? this.#open : this.#begin();
    // FreeSWITCH takes the spaces off both ends of a text that jambonz sends through it.
    const added = open.length === 0 ? text : ` ${text}`;
    open.length += added.length;
    open.tokens.push(added);
    if (endsSentence(text, this.#settings.language)) open.tokens.endSentence();
    this.#cancelIdle();
    this.#cancelIdle = this.#parts.time.after(IDLE_MS, () => this.#flush());
  }

  /** The text so far is complete. */
  #flush(): void {
    this.#cancelIdle();
    this.#open?.tokens.end();
    this.#open = undefined;
  }

  /** Throws QUEUE_FULL. */
  #begin(): OpenText {
    const tokens = new TokenStream();
    const receivedAtMs = this.#queue.isIdle ? this.#parts.time.now() : undefined;
    this.#queue.add((signal) => this.#speak(tokens, signal, receivedAtMs));
    this.#open = { tokens, length: 0 };
    return this.#open;
  }

  /** Drops everything that is not sent. */
  #drop(): void {
    this.#flush();
    this.#queue.cancel(() => undefined);
    this.#heardAtMs = 0;
  }

  async #speak(tokens: TokenStream, signal: AbortSignal, receivedAtMs: number | undefined): Promise<void> {
    const { speaker, time, firstSound } = this.#parts;
    let waitsSinceMs = receivedAtMs;
    try {
      for await (const { sound } of speaker.speak(tokens, this.#settingsNow(), signal)) {
        for await (const chunk of sound) {
          if (signal.aborted) return;
          if (waitsSinceMs !== undefined) firstSound(time.now() - waitsSinceMs);
          waitsSinceMs = undefined;
          await this.#sendSound(chunk);
        }
      }
    } catch (error) {
      // Marks and emoji alone are nothing to speak, and nothing to complain about.
      const isEmpty = asParleyError(error, 'ENGINE_FAILED').code === 'TEXT_EMPTY';
      if (!signal.aborted && !isEmpty) this.#refuse(error);
    } finally {
      tokens.end(); // later text begins another one
    }
  }

  /** A text that follows another without a pause begins with one. */
  #settingsNow(): SpeechSettings {
    const settings = { ...this.#settings, client: this.#handshake.client };
    if (this.#heardAtMs <= this.#parts.time.now()) return settings;
    return { ...settings, leadMs: SENTENCE_PAUSE_MS, dueAtMs: this.#heardAtMs };
  }

  async #sendSound(chunk: Uint8Array): Promise<void> {
    const { format, sampleRate } = this.#settings;
    const perSecond = bytesPerSecond(format.container, sampleRate) ?? Infinity;
    const fromMs = Math.max(this.#heardAtMs, this.#parts.time.now());
    this.#heardAtMs = fromMs + (chunk.byteLength / perSecond) * 1000;
    this.#peer.send(chunk);
    await this.#peer.drained();
  }

  #refuse(error: unknown): void {
    const { code, message } = socketError(error, this.#handshake.requestId, this.#parts.failed);
    this.#send({ type: 'error', error: message, code });
  }

  #send(message: object): void {
    this.#peer.send(JSON.stringify(message));
  }
}

const NEXT = 'Next';

/**
 * True if the text ends with a sentence, whatever follows. jambonz sends a text up to a full stop as soon as
 * it has one, so the stop may be that of "Dr.".
 */
function endsSentence(text: string, language: string | undefined): boolean {
  const stream = new SentenceStream({ language });
  stream.push(`${text} ${NEXT}`);
  return stream.end()[0]?.text === NEXT;
}
