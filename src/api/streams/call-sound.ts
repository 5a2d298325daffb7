// The sound of a call in chunks of 20 ms for a bot: mu-law at 8 kHz in base64, of the caller, of this server,
// or of both.
//
//   ear of the call ─▶ ring, 16 kHz ─▶ resampler ─▶ mu-law ─▶ chunk of 160 bytes ─▶ base64
//
// The ear follows the call to each of its ports. While the far end sends no sound there are no chunks.
import type { PcmRing } from '../../audio/pcm-ring.js';
import { toInt16 } from '../../audio/pcm16.js';
import { Resampler } from '../../audio/resampler.js';
import type { Call } from '../../call/call.js';
import { MU_LAW } from '../../codecs/g711.js';
import { asParleyError, guarded, ParleyError } from '../../errors.js';
import type { MediaSocket } from '../../media/media-socket.js';
import type { Time } from '../../time.js';
import { STREAM_RATE, type StreamTrack } from './stream-messages.js';

const CHUNK_BYTES = 160;
const CHUNK_MS = 20;
const EAR_MS = 2000; // longer than any pause of the event loop
const STEP = 512; // frames of the ring that are taken at once
const REOPEN_MS = 1000;

interface CallSoundParts {
  readonly call: Pick<Call, 'follow'>;
  /** One, or the caller's first and ours second. */
  readonly tracks: readonly StreamTrack[];
  readonly time: Time;
  /** `timestampMs` counts from the beginning of the stream. */
  readonly chunk: (track: StreamTrack, number: number, timestampMs: number, payload: string) => void;
  /** The sound is not heard for now. */
  readonly failed: (error: ParleyError) => void;
}

type EarSocket = Pick<MediaSocket, 'openEar' | 'closeEar'>;

export class CallSound {
  readonly #parts: CallSoundParts;
  readonly #startMs: number;
  readonly #lanes: readonly Lane[];
  /** A ring of the caller alone has one channel, any other two. */
  readonly #channels: 1 | 2;
  readonly #frames: Float32Array;
  readonly #unfollow: () => void;
  readonly #onReadable = guarded(
    { work: 'media stream' },
    () => this.#read(),
    (error) => this.#lost(error),
  );
  #socket: EarSocket | undefined;
  #ring: PcmRing | undefined;
  #cancelReopen: () => void = () => undefined;
  #isClosed = false;

  constructor(parts: CallSoundParts) {
    this.#parts = parts;
    this.#startMs = parts.time.now();
    this.#lanes = parts.tracks.map((track) => new Lane(track, parts.chunk));
    this.#channels = parts.tracks.includes('outbound') ? 2 : 1;
    this.#frames = new Float32Array(STEP * this.#channels);
    this.#unfollow = parts.call.follow(({ socket }) => this.#listen(socket));
  }

  /** Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#unfollow();
    this.#leave();
  }

  #listen(socket: EarSocket | undefined): void {
    this.#leave();
    this.#socket = socket;
    if (socket === undefined) return;
    try {
      this.#ring = socket.openEar({ channels: this.#channels, capacityMs: EAR_MS });
    } catch (error) {
      return this.#lost(asParleyError(error, 'HEARING_FAILED'));
    }
    const sinceMs = this.#parts.time.now() - this.#startMs;
    for (const lane of this.#lanes) lane.begin(sinceMs);
    this.#onReadable();
  }

  #leave(): void {
    this.#cancelReopen();
    const [ring, socket] = [this.#ring, this.#socket];
    this.#ring = this.#socket = undefined;
    if (ring === undefined) return;
    ring.forget(this.#onReadable);
    socket?.closeEar(ring);
    ring.close();
  }

  #read(): void {
    const ring = this.#ring;
    if (ring === undefined) return;
    for (;;) {
      const count = ring.read(this.#frames);
      if (count <= 0) break;
      for (const lane of this.#lanes) lane.take(this.#frames, count, this.#channels);
      if (this.#ring !== ring) return; // a chunk has ended this
    }
    const status = ring.status();
    if (status === null || status.ended || status.aborted) this.#ended(status?.error ?? '');
    else ring.onReadable(this.#onReadable);
  }

  /** Without an error the port is closed: the next one is followed. */
  #ended(error: string): void {
    if (error === '') return this.#leave();
    return this.#lost(new ParleyError('LISTENER_SLOW', 'the sound of the call was not read in time'));
  }

  #lost(error: ParleyError): void {
    const socket = this.#socket;
    this.#leave();
    this.#parts.failed(error);
    if (!this.#isClosed) this.#cancelReopen = this.#parts.time.after(REOPEN_MS, () => this.#listen(socket));
  }
}

/** One track on its way to the bot. */
class Lane {
  readonly #track: StreamTrack;
  readonly #chunk: CallSoundParts['chunk'];
  readonly #input = new Float32Array(STEP);
  readonly #bytes = Buffer.alloc(CHUNK_BYTES);
  #resampler = new Resampler(2 * STREAM_RATE, STREAM_RATE, STEP);
  readonly #output = new Float32Array(this.#resampler.maxOutput(STEP));
  readonly #values = new Int16Array(this.#output.length);
  #filled = 0;
  #count = 0;
  /** Time of the next chunk, in milliseconds. */
  #timestampMs = 0;

  constructor(track: StreamTrack, chunk: CallSoundParts['chunk']) {
    this.#track = track;
    this.#chunk = chunk;
  }

  /** Another sound begins, this long after the beginning of the stream. */
  begin(sinceMs: number): void {
    this.#resampler.reset();
    this.#filled = 0;
    this.#timestampMs = Math.max(this.#timestampMs, Math.round(sinceMs));
  }

  take(frames: Float32Array, count: number, channels: 1 | 2): void {
    const inputs = count / channels;
    const channel = channels === 2 && this.#track === 'outbound' ? 1 : 0;
    for (let n = 0; n < inputs; n++) this.#input[n] = frames[n * channels + channel] as number;
    const outputs = this.#resampler.process(this.#input, inputs, this.#output);
    toInt16(this.#output, outputs, this.#values);
    for (let n = 0; n < outputs; n++) {
      this.#bytes[this.#filled++] = MU_LAW[(this.#values[n] as number) + 32_768] as number;
      if (this.#filled === CHUNK_BYTES) this.#full();
    }
  }

  #full(): void {
    this.#filled = 0;
    this.#chunk(this.#track, ++this.#count, this.#timestampMs, this.#bytes.toString('base64'));
    this.#timestampMs += CHUNK_MS;
  }
}
