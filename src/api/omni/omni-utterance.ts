// One text of vLLM-Omni's socket, from its first token to its `input.done`, and
// what is sent for each of its sentences.
//
//   audio.start ─▶ binary, once or in pieces ─▶ audio.done      for each sentence
import { ParleyError } from '../../errors.js';
import type { SpokenSentenceSound } from '../../speaking/spoken-sentences.js';
import { TokenStream, tooLong } from '../../speaking/text-source.js';
import type { Peer } from '../http/socket-dialect.js';
import type { OmniConfig } from './omni-message.js';

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024; // 5 min of the default format: no one message needs more

export class OmniUtterance {
  readonly index: number;
  readonly config: OmniConfig;
  readonly tokens = new TokenStream();
  /** Sentences that were begun. */
  sentences = 0;
  /** Its `input.done` has come. */
  complete = false;
  /** Nothing more of it is spoken. */
  over = false;
  #length = 0;
  #blank = true;

  constructor(index: number, config: OmniConfig) {
    this.index = index;
    this.config = config;
  }

  /** Nothing but white space has come of it. */
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
