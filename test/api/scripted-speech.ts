// Renderings as a test writes them: the sound of a sentence is its own text.
import type { SpeechRequest } from '../../src/speaking/speech-request.js';
import { ParleyError } from '../../src/errors.js';
import type { SoundOutcome } from '../../src/speaking/sound.js';
import { type AskedSpeech, askedSpeech, FakeStream, OUTCOME } from './fake-speech.js';

class OpenedStream extends FakeStream {
  readonly #left: () => void;
  #over = false;

  constructor(left: () => void) {
    super('audio/pcm');
    this.#left = left;
    this.outcome = new Promise(() => undefined);
  }

  override cancel(): void {
    this.end(new ParleyError('ABORTED', 'the reader left'));
    if (!this.#over) this.#left();
    this.#over = true;
  }

  whole(outcome: Partial<SoundOutcome>): void {
    this.outcome = Promise.resolve({ ...OUTCOME, ...outcome });
    this.end();
  }
}

export class ScriptedSpeech {
  readonly requests: AskedSpeech<SpeechRequest>[] = [];
  /** Streams that were opened and not left. */
  active = 0;
  /** Sentences whose sound does not end until `finish`. */
  readonly held = new Set<string>();
  /** What the outcome of every sentence has besides its usual values. */
  outcome: Partial<SoundOutcome> = {};
  /** Sentences that fail before their first byte. */
  readonly refused = new Map<string, ParleyError>();
  /** Sentences that break off after their first half. */
  readonly broken = new Map<string, ParleyError>();
  readonly #open = new Map<string, OpenedStream>();

  find(): undefined {
    return undefined;
  }

  has(): boolean {
    return false;
  }

  openPart(): Promise<never> {
    return Promise.reject(new Error('no sentence is a part of a run here'));
  }

  get texts(): string[] {
    return this.requests.map(({ text }) => text);
  }

  openStream(request: SpeechRequest): Promise<FakeStream> {
    const { text } = request;
    this.requests.push(askedSpeech(request));
    const refusal = this.refused.get(text);
    if (refusal !== undefined) return Promise.reject(refusal);
    this.active++;
    const stream = new OpenedStream(() => this.active--);
    const middle = Math.ceil(text.length / 2);
    stream.push(text.slice(0, middle));
    this.#open.set(text, stream);
    const failure = this.broken.get(text);
    if (failure !== undefined) stream.end(failure);
    else if (!this.held.has(text)) this.finish(text);
    return Promise.resolve(stream);
  }

  /** More sound of a sentence that is held. */
  more(text: string, bytes: Uint8Array): void {
    this.#open.get(text)?.push(bytes);
  }

  /** The rest of a sentence that was held. */
  finish(text: string): void {
    const stream = this.#open.get(text);
    stream?.push(text.slice(Math.ceil(text.length / 2)));
    stream?.whole(this.outcome);
  }
}
