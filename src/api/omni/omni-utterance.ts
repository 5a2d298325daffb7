// One text of vLLM-Omni's socket: it takes the text in tokens or commits, and sends its audio as the session
// was configured.
//
//   sentence                      audio.start ─▶ binary, once or in pieces ─▶ audio.done      for each sentence
//     with word_timestamps        audio.start ─▶ audio.chunk… ─▶ audio.chunk with the times ─▶ audio.done
//   token_level, sentence_commit  audio.start ─▶ binary in pieces ─▶ audio.done               for the whole text
import { ParleyError } from '../../errors.js';
import type { SoundOutcome } from '../../speaking/sound.js';
import type { SpokenSentenceSound } from '../../speaking/spoken-sentences.js';
import { TokenStream, tooLong } from '../../speaking/text-source.js';
import type { Peer } from '../http/socket-dialect.js';
import type { OmniConfig } from './omni-message.js';

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024; // 5 min of the default format: no one message needs more
const MAX_STREAM_TITLE = 80; // characters of its text that the start of a stream quotes, as at vLLM-Omni
const BYTES_PER_SAMPLE = 2;

/** Called with an error of this text, and where it happened. */
type Failed = (error: unknown, place: object) => void;

export class OmniUtterance {
  readonly index: number;
  readonly config: OmniConfig;
  readonly tokens = new TokenStream();
  /** When its first text to speak arrived; undefined if other texts are before it. */
  receivedAtMs: number | undefined;
  /** True once its `input.done` has arrived. */
  complete = false;
  /** True once nothing more of it is spoken. */
  over = false;
  readonly #peer: Peer;
  #length = 0;
  #isBlank = true;
  /** Text that waits for a commit. */
  #uncommitted = '';
  #commits = 0;
  /** Number of `audio.start`. */
  #starts = 0;
  /** The audio of a whole text, once it has begun. */
  #stream: AudioMessages | undefined;

  constructor(index: number, config: OmniConfig, peer: Peer) {
    this.index = index;
    this.config = config;
    this.#peer = peer;
  }

  get commits(): number {
    return this.#commits;
  }

  /** Sentences as vLLM-Omni counts them: those that were begun, or the commits. */
  get total(): number {
    return this.config.streamingMode === 'sentence_commit' ? this.#commits : this.#starts;
  }

  push(text: string, maxTextLength: number): void {
    this.#length += text.length;
    if (text.trim() !== '') this.#isBlank = false;
    if (this.#length > maxTextLength) {
      this.#uncommitted = '';
      this.tokens.fail(tooLong(maxTextLength));
    } else if (this.config.streamingMode === 'sentence_commit') this.#uncommitted += text;
    else this.tokens.push(text);
  }

  /** Has the waiting text spoken; returns its number of characters, or 0 if it is blank. */
  commit(): number {
    const text = this.#uncommitted;
    if (text.trim() === '') return 0;
    this.#uncommitted = '';
    this.#commits++;
    this.tokens.push(text);
    this.tokens.endSentence();
    return text.length;
  }

  /**
   * Sends a sentence. An error costs the sentence alone if it has an end of its own; otherwise it is thrown.
   * After a cancellation nothing is reported, and the end of the sentence says that it is incomplete.
   */
  async send(sentence: SpokenSentenceSound, signal: AbortSignal, failed: Failed): Promise<void> {
    if (this.config.streamingMode !== 'sentence') return await this.#sendOn(sentence, signal);
    const { index, text, sound } = sentence;
    const audio = this.#begin(index, text);
    let isBroken = false;
    try {
      for await (const piece of this.#pieces(sound, signal)) await audio.send(piece);
      if (this.config.wordTimestamps && !signal.aborted) audio.sendWords(await sound.outcome);
    } catch (error) {
      isBroken = true;
      if (!signal.aborted) failed(error, audio.errorPlace);
    }
    audio.end(isBroken || signal.aborted, signal.aborted);
  }

  /** Ends the stream of a whole text, if there is one. */
  endStream(isBroken: boolean, { aborted }: AbortSignal): void {
    this.#stream?.end(isBroken || aborted, aborted);
  }

  /** Reports the error that ended the text. A blank text is no error. */
  fail(error: unknown, signal: AbortSignal, failed: Failed): void {
    const isNothing = error instanceof ParleyError && error.code === 'TEXT_EMPTY' && this.#isBlank;
    const place = this.#stream?.errorPlace ?? { utterance_index: this.index };
    if (!signal.aborted && !isNothing) failed(error, place);
    this.endStream(true, signal);
  }

  /** Adds a sentence to the stream of the whole text. */
  async #sendOn({ text, sound }: SpokenSentenceSound, signal: AbortSignal): Promise<void> {
    this.#stream ??= this.#begin(
      0,
      text.length > MAX_STREAM_TITLE ? `${text.slice(0, MAX_STREAM_TITLE)}...` : text,
    );
    for await (const piece of this.#pieces(sound, signal)) await this.#stream.send(piece);
  }

  #begin(sentence: number, text: string): AudioMessages {
    this.#starts++;
    const place = { utterance_index: this.index, sentence_index: sentence };
    return new AudioMessages(this.#peer, this.config, place, text);
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

interface Place {
  readonly utterance_index: number;
  readonly sentence_index: number;
}

/** The messages from one `audio.start` to its `audio.done`. */
class AudioMessages {
  readonly #peer: Peer;
  readonly #config: OmniConfig;
  readonly #place: Place;
  #bytes = 0;
  #chunks = 0;

  constructor(peer: Peer, config: OmniConfig, place: Place, text: string) {
    this.#peer = peer;
    this.#config = config;
    this.#place = place;
    const { format, sampleRate } = config.speech;
    this.#sendMessage({
      type: 'audio.start',
      ...place,
      sentence_text: text,
      format: format.name,
      sample_rate: sampleRate,
      channels: 1,
      word_timestamps: config.wordTimestamps || undefined,
    });
  }

  /** Fields of an error at this point. The client should discard audio of which only a part was sent. */
  get errorPlace(): object {
    return this.#bytes > 0 ? { ...this.#place, partial_audio: true, action: 'discard' } : this.#place;
  }

  async send(piece: Uint8Array): Promise<void> {
    const startMs = this.#lengthMs;
    this.#bytes += piece.byteLength;
    if (this.#config.wordTimestamps) this.#sendChunk(piece, startMs, null);
    else this.#peer.send(piece);
    await this.#peer.drained();
  }

  /** Sends the times of the words, from the beginning of the sentence; null if the engine reports none. */
  sendWords(outcome: SoundOutcome | undefined): void {
    const words = outcome?.sentences.flatMap((sentence) =>
      sentence.words.map(({ word, startMs, endMs }, index) => ({
        word,
        start_ms: Math.round(startMs),
        end_ms: Math.round(endMs ?? sentence.words[index + 1]?.startMs ?? sentence.endMs),
      })),
    );
    this.#sendChunk(new Uint8Array(0), 0, words === undefined || words.length === 0 ? null : words);
  }

  end(isBroken: boolean, isCancelled: boolean): void {
    const result = { total_bytes: this.#bytes, error: isBroken, cancelled: isCancelled || undefined };
    this.#sendMessage({ type: 'audio.done', ...this.#place, ...result });
  }

  get #lengthMs(): number {
    return Math.round((this.#bytes / BYTES_PER_SAMPLE / this.#config.speech.sampleRate) * 1000);
  }

  #sendChunk(audio: Uint8Array, startMs: number, timestamps: readonly object[] | null): void {
    this.#sendMessage({
      type: 'audio.chunk',
      ...this.#place,
      chunk_id: this.#chunks++,
      chunk_start_ms: startMs,
      chunk_end_ms: this.#lengthMs,
      sample_rate: this.#config.speech.sampleRate,
      channels: 1,
      audio_b64: Buffer.from(audio.buffer, audio.byteOffset, audio.byteLength).toString('base64'),
      timestamps,
    });
  }

  #sendMessage(message: object): void {
    this.#peer.send(JSON.stringify(message));
  }
}

function tooLarge(): ParleyError {
  const message = `the sound of one sentence may have ${MAX_MESSAGE_BYTES} bytes as one message; "stream_audio": true sends it in pieces`;
  return new ParleyError('TOO_LARGE', message, { field: 'stream_audio' });
}
