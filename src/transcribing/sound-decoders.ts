// Decodes sound that arrives in pieces, in worker threads, into rings that recognisers read. The rings are
// the backpressure: a file is decoded, and its upload read, no faster than it is recognised.
//
// Each file has a thread of its own while it is decoded, so that one that hangs or crashes a decoder affects
// no other. Threads are used again, and end after a minute without a file. ffmpeg decodes the other kinds, if
// the machine has it.
import type { PcmRing } from '../audio/pcm-ring.js';
import { DecodingThread } from '../codecs/decoding-thread.js';
import { DECODED_KINDS, isDecoded, nameOfKind, type SoundKind } from '../codecs/sound-kind.js';
import { asParleyError, type ErrorCode, guarded, ParleyError } from '../errors.js';
import type { Time } from '../time.js';
import { type DecodedSound, openRings, watchProgress } from './decoded-sound.js';
import { decodeWithFfmpeg, type Ffmpeg } from './ffmpeg.js';
import { UploadedSound } from './uploaded-sound.js';

export type ToDecoder =
  /** `channel` is of a mono or stereo file, from 0; absent: all channels are averaged. */
  | { readonly type: 'open'; readonly kind: SoundKind; readonly channel?: number | undefined }
  | { readonly type: 'bytes'; readonly bytes: Uint8Array }
  | { readonly type: 'end' }
  /** Names the rings that the sound goes into. It follows `rate`. */
  | { readonly type: 'rings'; readonly rings: readonly number[]; readonly rate: number };

export type FromDecoder =
  | { readonly type: 'rate'; readonly rate: number }
  /** The bytes were decoded: the next may follow. */
  | { readonly type: 'taken' }
  /** `channels`: 1 if the file is mono, or if both are the same. */
  | { readonly type: 'done'; readonly channels: number }
  | { readonly type: 'failed'; readonly code: ErrorCode; readonly message: string };

interface SoundDecodersOptions {
  readonly time: Time;
  readonly ffmpeg: Ffmpeg | undefined;
  /** Script of the threads, replaced in tests. */
  readonly script?: URL;
  /** Milliseconds that a decoder may take for one piece of a file while there is room for its sound. */
  readonly stallMs?: number;
}

const SCRIPT = new URL('./decoding-worker.js', import.meta.url);
const STALL_MS = 20_000;
const MOST_IDLE = 4; // threads that wait for another file

type DecoderThread = DecodingThread<FromDecoder>;

export class SoundDecoders {
  readonly #options: SoundDecodersOptions;
  readonly #idle: DecoderThread[] = [];
  readonly #busy = new Set<DecoderThread>();
  #isClosed = false;

  constructor(options: SoundDecodersOptions) {
    this.#options = options;
  }

  /** Names the kinds that can be decoded, for messages. */
  get kinds(): string {
    return this.#options.ffmpeg === undefined ? DECODED_KINDS : `${DECODED_KINDS}, and what ffmpeg reads`;
  }

  /** Sounds that are being decoded. */
  get size(): number {
    return this.#busy.size;
  }

  /**
   * Resolves once the rate of the sound is known. Rejects with UNSUPPORTED_MEDIA_TYPE for what cannot be read
   * here, and as `done`. With a channel, from 0, only that one is decoded, and a file of more than two is
   * refused.
   */
  async open(
    upload: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
    withCopy = false,
    channel?: number,
  ): Promise<DecodedSound> {
    if (this.#isClosed) throw new ParleyError('WRONG_STATE', 'the decoders are closed');
    const sound = await UploadedSound.open(upload, signal);
    const { kind } = sound;
    if (kind === undefined)
      throw unsupported(`the file is no sound that is known here; ${this.kinds} are taken`);
    const { ffmpeg, stallMs = STALL_MS, time } = this.#options;
    const limits = { signal, withCopy, channel, stallMs, time };
    if (!isDecoded(kind)) {
      if (ffmpeg !== undefined) return decodeWithFfmpeg(ffmpeg, kind, sound, limits);
      throw unsupported(
        `the file is ${nameOfKind(kind)}; ${this.kinds} are taken, and others where the machine has ffmpeg`,
      );
    }
    try {
      const decoded = await this.#decodeHere(kind, sound, limits);
      sound.forget();
      return decoded;
    } catch (error) {
      const refusal = asParleyError(error, 'AUDIO_INVALID');
      if (refusal.code !== 'AUDIO_INVALID') throw refusal;
      if (ffmpeg === undefined) throw withoutFfmpeg(refusal);
      if (!sound.isKept) throw refusal;
      return decodeWithFfmpeg(ffmpeg, kind, sound, { ...limits, refusal });
    }
  }

  #decodeHere(kind: SoundKind, sound: UploadedSound, options: DecodingOptions): Promise<DecodedSound> {
    const thread = this.#take();
    const decoding = decodeIn(thread, kind, sound, options);
    const over = () => this.#giveBack(thread);
    void decoding.then(({ done }) => done.then(over, over), over);
    return decoding;
  }

  /** Ends every thread; what is being decoded rejects. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#idle.splice(0), ...this.#busy].map((thread) => thread.close()));
  }

  #take(): DecoderThread {
    const { script = SCRIPT, time } = this.#options;
    const idle = this.#idle.splice(0);
    this.#idle.push(...idle.filter(({ usable }) => usable));
    const thread = this.#idle.pop() ?? new DecodingThread(script, 'parley-decoder', time);
    this.#busy.add(thread);
    return thread;
  }

  #giveBack(thread: DecoderThread): void {
    this.#busy.delete(thread);
    const isKept = thread.usable && !this.#isClosed && this.#idle.length < MOST_IDLE;
    if (!isKept) return void thread.close();
    this.#idle.push(thread);
    thread.rest();
  }
}

/** The file may be of an encoding that only ffmpeg decodes. */
function withoutFfmpeg({ message, cause }: ParleyError): ParleyError {
  const more = 'other encodings are decoded where the machine has ffmpeg, which this one has not';
  return new ParleyError('AUDIO_INVALID', `${message}; ${more}`, { field: 'file', cause });
}

function unsupported(message: string): ParleyError {
  return new ParleyError('UNSUPPORTED_MEDIA_TYPE', message, { field: 'file' });
}

interface DecodingOptions {
  readonly signal: AbortSignal;
  readonly withCopy: boolean;
  readonly channel: number | undefined;
  readonly stallMs: number;
  readonly time: Time;
}

/** Decodes one sound. The thread is free for another when `done` has settled. */
async function decodeIn(
  thread: DecoderThread,
  kind: SoundKind,
  sound: UploadedSound,
  options: DecodingOptions,
): Promise<DecodedSound> {
  const { signal } = options;
  thread.begin();
  const run = new Decoding(thread, options);
  const hear = guarded(
    { work: 'sound file' },
    (message: FromDecoder) => run.hear(message),
    (error) => run.fail(error),
  );
  thread.onMessage = hear;
  thread.onExit = () =>
    hear({ type: 'failed', code: 'AUDIO_INVALID', message: 'the sound cannot be decoded' });
  const giveUp = () => run.fail(new ParleyError('ABORTED', 'the sound is not wanted any more'));
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  const done = run.send(kind, sound).finally(() => {
    signal.removeEventListener('abort', giveUp);
    thread.onMessage = () => undefined;
    // The thread of a sound that was given up may be in the middle of it.
    if (!run.isComplete) void thread.close();
  });
  done.catch(() => undefined); // the reader of the rings awaits it
  const rings = await Promise.race([run.rings, done.then(() => run.rings)]);
  return { ...rings, channels: () => run.channels, done };
}

/** One sound in a thread. */
class Decoding {
  /** Never settles if the sound fails before its rate is known. */
  readonly rings: Promise<{ readonly ring: PcmRing; readonly copy: PcmRing | undefined }>;
  readonly #thread: DecoderThread;
  readonly #options: DecodingOptions;
  readonly #failed: Promise<never>;
  #opened: (rings: { readonly ring: PcmRing; readonly copy: PcmRing | undefined }) => void = () => undefined;
  #rings: readonly PcmRing[] = [];
  #fail: (error: ParleyError) => void = () => undefined;
  #taken: () => void = () => undefined;
  #channels: number | undefined;
  #isDone = false;
  #isFailed = false;

  constructor(thread: DecoderThread, options: DecodingOptions) {
    this.#thread = thread;
    this.#options = options;
    this.rings = new Promise((resolve) => (this.#opened = resolve));
    this.#failed = new Promise((_, reject) => (this.#fail = reject));
    this.#failed.catch(() => undefined); // `send` awaits it
  }

  get channels(): number | undefined {
    return this.#channels;
  }

  get isComplete(): boolean {
    return this.#isDone;
  }

  fail(error: ParleyError): void {
    this.#isFailed = true;
    for (const ring of this.#rings) ring.end(error.code);
    this.#fail(error);
  }

  hear(message: FromDecoder): void {
    if (message.type === 'rate') this.#open(message.rate);
    if (message.type === 'taken') this.#taken();
    if (message.type === 'failed')
      this.fail(new ParleyError(message.code, message.message, { field: 'file' }));
    if (message.type === 'done') {
      this.#isDone = true;
      this.#channels = this.#options.channel === undefined ? undefined : message.channels;
      for (const ring of this.#rings) ring.end();
      this.#taken();
    }
  }

  /** Sends the sound piece by piece. Rejects if it cannot be decoded. */
  async send(kind: SoundKind, sound: UploadedSound): Promise<void> {
    this.#post({ type: 'open', kind, channel: this.#options.channel });
    try {
      for await (const bytes of sound.pieces()) await this.#exchange({ type: 'bytes', bytes });
      await this.#exchange({ type: 'end' });
    } catch (error) {
      const known = asParleyError(error, 'AUDIO_INVALID');
      this.fail(known);
      throw known;
    }
    if (!this.#isDone) throw new ParleyError('AUDIO_INVALID', 'the file has no sound', { field: 'file' });
  }

  #open(rate: number): void {
    if (this.#isFailed) return; // nobody would close the rings
    const [ring, copy] = openRings(rate, this.#options.withCopy);
    this.#rings = copy === undefined ? [ring] : [ring, copy];
    this.#post({ type: 'rings', rings: this.#rings.map(({ handle }) => handle), rate });
    this.#opened({ ring, copy });
  }

  async #exchange(message: ToDecoder): Promise<void> {
    const { stallMs, time } = this.#options;
    const taken = new Promise<void>((resolve) => (this.#taken = resolve));
    const forget = watchProgress({
      rings: () => this.#rings,
      stallMs,
      time,
      onStall: (why) => this.fail(why),
    });
    try {
      this.#post(message);
      await Promise.race([taken, this.#failed]);
    } finally {
      forget();
    }
  }

  #post(message: ToDecoder): void {
    this.#thread.post(message);
  }
}
