// vLLM-Omni's protocol of /v1/audio/speech/stream: tokens come in, and the sound of each sentence goes out as soon as
// the sentence is complete. `input.done` ends a text and not the session. `input.cancel`, an addition of this server,
// drops everything that is not sent.
//
// An utterance is the text between two `input.done`. Each of them is answered with one `session.done`, unless the
// utterance was cancelled.
//
//   audio.start ─▶ binary, once or in pieces ─▶ audio.done      for each sentence
import { ParleyError } from '../../errors.js';
import type { SpokenSentenceSound } from '../../speaking/spoken-sentences.js';
import { TokenStream, tooLong } from '../../speaking/text-source.js';
import { socketError } from '../http/error-reply.js';
import { invalid } from '../http/message-fields.js';
import type { Conversation, Dialect, Handshake, Peer } from '../http/socket-dialect.js';
import { type SpeechSocketParts, TextQueue } from '../http/speech-sockets.js';
import { type OmniConfig, type OmniMessage, readOmniMessage } from './omni-message.js';

export function omniSocket(parts: SpeechSocketParts): Dialect {
  return {
    name: 'vllm-omni',
    path: '/v1/audio/speech/stream',
    open: (peer, handshake) => new OmniConversation(parts, peer, handshake),
  };
}

const NORMAL = 1000;

class OmniConversation implements Conversation {
  readonly #parts: SpeechSocketParts;
  readonly #peer: Peer;
  readonly #handshake: Handshake;
  readonly #queue: TextQueue;
  #config: OmniConfig | undefined;
  /** The utterance whose text is still coming. */
  #open: OmniUtterance | undefined;
  /** Utterances without a `session.done`, oldest first. */
  readonly #unfinished = new Set<OmniUtterance>();
  #count = 0;
  #closing = false;

  constructor(parts: SpeechSocketParts, peer: Peer, handshake: Handshake) {
    this.#parts = parts;
    this.#peer = peer;
    this.#handshake = handshake;
    this.#queue = new TextQueue(parts.limits.maxWaitingUtterances);
  }

  message(data: string | Uint8Array): void {
    if (this.#closing) return;
    try {
      this.#act(readOmniMessage(data, this.#parts.limits));
    } catch (error) {
      this.#refuse(error);
    }
  }

  closed(): Promise<void> {
    this.#closing = true;
    this.#drop();
    this.#queue.cancel(() => undefined);
    return this.#queue.idle();
  }

  #act(message: OmniMessage): void {
    switch (message.type) {
      case 'session.config':
        return this.#configure(message.config);
      case 'input.text':
        if (message.text !== '') this.#opened().push(message.text, this.#parts.limits.maxTextLength);
        return undefined;
      case 'input.done':
        return this.#complete(this.#opened());
      case 'input.cancel':
        return this.#cancel();
      case 'session.close':
        return this.#close();
    }
  }

  #configure(config: OmniConfig): void {
    if (this.#open !== undefined) {
      throw invalid('type', 'must not be "session.config" within a text; send "input.done" first');
    }
    this.#parts.checkModel(config.model);
    this.#config = config;
  }

  /** The utterance that is open, or a new one. */
  #opened(): OmniUtterance {
    if (this.#open !== undefined) return this.#open;
    if (this.#config === undefined) throw invalid('type', 'must be "session.config" in the first message');
    const utterance = new OmniUtterance(this.#count++, this.#config);
    this.#open = utterance;
    this.#unfinished.add(utterance);
    const heardAtMs = this.#queue.isIdle ? this.#parts.time.now() : undefined;
    try {
      this.#queue.add((signal) => this.#recite(utterance, signal, heardAtMs));
    } catch (error) {
      // The rest of this text is ignored up to its `input.done`.
      utterance.tokens.end();
      utterance.over = true;
      this.#refuse(error, { utterance_index: utterance.index });
    }
    return utterance;
  }

  #complete(utterance: OmniUtterance): void {
    this.#open = undefined;
    utterance.complete = true;
    utterance.tokens.end();
    this.#finish(utterance);
  }

  async #recite(utterance: OmniUtterance, signal: AbortSignal, heardAtMs: number | undefined): Promise<void> {
    const { speaker, time, firstSound } = this.#parts;
    const { client } = this.#handshake;
    const place = { utterance_index: utterance.index };
    try {
      const sentences = speaker.speak(utterance.tokens, { ...utterance.config.speech, client }, signal);
      for await (const sentence of sentences) {
        if (heardAtMs !== undefined && sentence.index === 0) firstSound(time.now() - heardAtMs);
        await utterance.send(sentence, this.#peer, signal, (error, partial) => {
          const discard = partial ? { partial_audio: true, action: 'discard' } : {};
          this.#refuse(error, { ...place, sentence_index: sentence.index, ...discard });
        });
      }
    } catch (error) {
      const nothing = error instanceof ParleyError && error.code === 'TEXT_EMPTY' && utterance.isBlank;
      if (!signal.aborted && !nothing) this.#refuse(error, place);
    }
    utterance.over = true;
    utterance.tokens.end(); // later text of this utterance must not start another one
    this.#finish(utterance);
  }

  /** Reports the end of an utterance whose text is complete and whose speaking has ended. */
  #finish(utterance: OmniUtterance): void {
    const { index, over, complete, sentences } = utterance;
    if (!over || !complete || !this.#unfinished.delete(utterance)) return;
    this.#tell({ type: 'session.done', utterance_index: index, total_sentences: sentences });
  }

  #cancel(): void {
    const utterances = this.#drop();
    this.#queue.cancel(() => this.#tell({ type: 'input.cancelled', utterances }));
  }

  /** Forgets every utterance that is not at its end; returns which they were. */
  #drop(): number[] {
    const dropped = [...this.#unfinished];
    this.#unfinished.clear();
    this.#open = undefined;
    for (const { tokens } of dropped) tokens.end();
    return dropped.map(({ index }) => index);
  }

  /** Closes the socket once the texts received so far are spoken. */
  #close(): void {
    this.#closing = true;
    if (this.#open !== undefined) this.#complete(this.#open);
    void this.#queue.idle().then(() => this.#peer.close(NORMAL, ''));
  }

  #refuse(error: unknown, place: object = {}): void {
    const { code, message, field } = socketError(error, this.#handshake.requestId, this.#parts.failed);
    this.#tell({ type: 'error', message, code, param: field ?? null, ...place });
  }

  #tell(message: object): void {
    this.#peer.send(JSON.stringify(message));
  }
}

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024; // 5 min of the default format: no one message needs more

class OmniUtterance {
  readonly index: number;
  readonly config: OmniConfig;
  readonly tokens = new TokenStream();
  /** Sentences that were begun. */
  sentences = 0;
  /** True once its `input.done` has arrived. */
  complete = false;
  /** True once nothing more of it is spoken. */
  over = false;
  #length = 0;
  #blank = true;

  constructor(index: number, config: OmniConfig) {
    this.index = index;
    this.config = config;
  }

  /** True if its text so far is only white space. */
  get isBlank(): boolean {
    return this.#blank;
  }

  push(text: string, maxTextLength: number): void {
    this.#length += text.length;
    if (text.trim() !== '') this.#blank = false;
    if (this.#length > maxTextLength) this.tokens.fail(tooLong(maxTextLength));
    else this.tokens.push(text);
  }

  /**
   * Sends a sentence. `failed` is told what broke it off, and whether a part of it was sent; after a cancellation
   * nothing is, and its end says that it is not whole.
   */
  async send(
    { index, text, sound }: SpokenSentenceSound,
    peer: Peer,
    signal: AbortSignal,
    failed: (error: unknown, partial: boolean) => void,
  ): Promise<void> {
    const { format, sampleRate } = this.config.speech;
    const place = { utterance_index: this.index, sentence_index: index };
    const tell = (message: object) => peer.send(JSON.stringify(message));
    this.sentences++;
    tell({
      type: 'audio.start',
      ...place,
      sentence_text: text,
      format: format.name,
      sample_rate: sampleRate,
      channels: 1,
    });
    let bytes = 0;
    let broken = false;
    try {
      for await (const piece of this.#pieces(sound, signal)) {
        bytes += piece.byteLength;
        peer.send(piece);
        await peer.drained();
      }
      broken = signal.aborted;
    } catch (error) {
      broken = true;
      if (!signal.aborted) failed(error, bytes > 0);
    }
    tell({
      type: 'audio.done',
      ...place,
      total_bytes: bytes,
      error: broken,
      ...(signal.aborted ? { cancelled: true } : {}),
    });
  }

  async *#pieces(sound: SpokenSentenceSound['sound'], signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const whole: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of sound) {
      if (signal.aborted) return;
      if (this.config.streamAudio) {
        yield chunk;
        continue;
      }
      bytes += chunk.byteLength;
      if (bytes > MAX_MESSAGE_BYTES) throw tooLarge();
      whole.push(chunk);
    }
    if (whole.length === 0 || signal.aborted) return;
    const header = (await sound.outcome)?.header;
    if (signal.aborted) return;
    const file = Buffer.concat(whole);
    // The beginning of a stream cannot state the length; that of a whole file does.
    yield header === undefined ? file : Buffer.concat([header.bytes, file.subarray(header.replaced)]);
  }
}

function tooLarge(): ParleyError {
  const message = `the sound of one sentence may have ${MAX_MESSAGE_BYTES} bytes as one message; "stream_audio": true sends it in pieces`;
  return new ParleyError('TOO_LARGE', message, { field: 'stream_audio' });
}
