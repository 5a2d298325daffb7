// Holds the transcription of one socket: the decoder of its sound, and the end of a client that sends
// nothing.
import type { RecognisedText } from '../../engines/recogniser.js';
import { ParleyError } from '../../errors.js';
import type { LiveRequest } from '../../transcribing/live-transcriber.js';
import { LiveSound, type SoundEncoding } from '../../transcribing/live-sound.js';
import type { LiveTranscription } from '../../transcribing/live-transcription.js';
import type { Peer } from '../http/socket-dialect.js';
import { liveTranscriberOf, type LiveSocketParts } from './live-socket-parts.js';

const IDLE_MS = 300_000; // without a message
const MOST_ENDING = 2;
const NORMAL = 1000;

interface LiveFormat {
  readonly encoding: SoundEncoding;
  /** Hz. */
  readonly rate: number;
}

export class LiveClient {
  readonly #parts: LiveSocketParts;
  readonly #peer: Peer;
  #sound: LiveSound | undefined;
  #live: LiveTranscription | undefined;
  #endsTurns: LiveRequest['endsTurns'] = 'silence';
  /** Transcriptions that another one has followed; they leave with their last text. */
  readonly #ending = new Set<LiveTranscription>();
  #ended: Promise<number> | undefined;
  #cancelIdle: () => void = () => undefined;

  constructor(parts: LiveSocketParts, peer: Peer) {
    this.#parts = parts;
    this.#peer = peer;
    this.touch();
  }

  get isOpen(): boolean {
    return this.#live !== undefined;
  }

  /** A message came. */
  touch(): void {
    this.#cancelIdle();
    const reason = `no message came for ${IDLE_MS / 1000} s`;
    this.#cancelIdle = this.#parts.time.after(IDLE_MS, () => this.#peer.close(NORMAL, reason));
  }

  /** Opens a transcription. The one before, if any, ends here. Throws what its fields have wrong. */
  begin(format: LiveFormat, request: LiveRequest): void {
    if (this.#ending.size >= MOST_ENDING) {
      const message = `the texts of ${MOST_ENDING} earlier configurations have not come yet; wait for them`;
      throw new ParleyError('QUEUE_FULL', message);
    }
    const sound = new LiveSound(format);
    const { finalText } = this.#parts;
    const onFinal = (text: RecognisedText, ms: number) => finalText(request.name, text, ms);
    const live = liveTranscriberOf(this.#parts).open({ ...request, onFinal });
    void this.#end();
    this.#sound = sound;
    this.#live = live;
    this.#endsTurns = request.endsTurns;
  }

  /** Throws MALFORMED before `begin`, and AUDIO_INVALID. */
  hear(bytes: Uint8Array): void {
    if (this.#live === undefined || this.#sound === undefined)
      throw new ParleyError('MALFORMED', 'sound came before its description');
    this.#live.push(this.#sound.push(bytes));
  }

  /** Ends the turn here. */
  commit(): void {
    this.#passAll();
    this.#live?.commit();
  }

  /** Ends the turn here, and tells nothing more of it. */
  drop(): void {
    this.#passAll();
    this.#live?.drop();
  }

  /** A turn that the client alone ends has its last samples, too, which the converter holds back. */
  #passAll(): void {
    if (this.#endsTurns === 'commit' && this.#sound !== undefined) this.#live?.push(this.#sound.end());
  }

  /** Ends the sound and resolves with its seconds, after the last text. */
  end(): Promise<number> {
    this.#ended ??= this.#finish();
    return this.#ended;
  }

  /** Idempotent. */
  close(): void {
    this.#cancelIdle();
    this.#live?.close();
    for (const live of this.#ending) live.close();
  }

  async #finish(): Promise<number> {
    const live = this.#live;
    await this.#end();
    await Promise.all([...this.#ending].map((one) => one.end()));
    return live?.seconds ?? 0;
  }

  async #end(): Promise<void> {
    const [live, sound] = [this.#live, this.#sound];
    if (live === undefined || sound === undefined) return;
    live.push(sound.end());
    this.#ending.add(live);
    await live.end();
    this.#ending.delete(live);
  }
}
