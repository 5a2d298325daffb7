// The sound of a session: SegmentSound reads one segment from the engine's ring and cuts the silence around
// it. SegmentConcat joins segments into one sound at the sink's rate: stretched and resampled, without a seam
// while the rate stays, with pauses of exact length between them.
import { PauseFinder } from '../audio/pause-finder.js';
import { Resampler } from '../audio/resampler.js';
import { SampleQueue } from '../audio/sample-buffers.js';
import { SPEEDS, TimeStretch } from '../audio/time-stretch.js';
import { Trimmer, type TrimOptions } from '../audio/trimmer.js';
import { type ErrorCode, ParleyError } from '../errors.js';
import type { KeptFrames } from './kept-frames.js';
import type { RingPart } from './encoder-messages.js';

/** Samples taken from the ring in one piece: 10 ms at 48 kHz, 60 at 8. */
export const CHUNK_SAMPLES = 480;

interface RingState {
  readonly readable: number;
  /** Total samples written. Needed only if several segments share the ring. */
  readonly written?: number;
  readonly ended: boolean;
  readonly error: string;
}

/** The part of PcmRing that is read from. */
export interface SampleSource {
  read(into: Float32Array): number;
  status(): RingState | null;
  onReadable(callback: () => void): void;
  forget(callback: () => void): void;
  abort(): void;
}

export class SegmentSound {
  readonly index: number;
  readonly rate: number;
  readonly pauseBeforeMs: number;
  /** Its payloads are to be kept. */
  readonly keep: boolean;
  /** Times the speed at which it was spoken. */
  readonly speed: number;
  readonly #gain: number;
  readonly #source: SampleSource;
  readonly #trimmer: Trimmer;
  readonly #pauses: PauseFinder | undefined;
  readonly #scratch: Float32Array;
  /** Figures of its first rendering, if it was kept and decoded again. */
  readonly #made: Pick<KeptFrames, 'samplesIn' | 'trimmedStartMs'> | undefined;
  #samplesIn = 0;
  /** True if the segment shares its ring with others. */
  readonly isPart: boolean;
  /** End of the segment in the ring, in samples; Infinity if it ends with the ring. */
  #endAt: number;
  /** Position in the ring; undefined until the first read of a part. */
  #at: number | undefined;

  /** `scratch` holds at least CHUNK_SAMPLES and is used during `read` only, so that many may share one. */
  constructor(
    source: SampleSource,
    segment: {
      readonly index: number;
      readonly rate: number;
      readonly pauseBeforeMs: number;
      readonly keep?: boolean;
      readonly part?: RingPart | undefined;
      readonly speed?: number | undefined;
      readonly gain?: number | undefined;
      readonly made?: Pick<KeptFrames, 'samplesIn' | 'trimmedStartMs'> | undefined;
      /** See PauseFinder. All calls are made before `read` returns -1. */
      readonly onPause?: (startMs: number, endMs: number) => void;
    },
    trim: TrimOptions,
    scratch: Float32Array,
  ) {
    this.index = segment.index;
    this.rate = segment.rate;
    this.pauseBeforeMs = segment.pauseBeforeMs;
    this.keep = segment.keep === true;
    this.speed = segment.speed ?? 1;
    this.#gain = segment.gain ?? 1;
    this.#made = segment.made;
    this.isPart = segment.part !== undefined;
    this.#endAt = segment.part?.endAt ?? Infinity;
    this.#source = source;
    const begun = segment.part?.first === false;
    this.#trimmer = new Trimmer(segment.rate, CHUNK_SAMPLES, begun ? { ...trim, begun } : trim);
    this.#scratch = scratch.subarray(0, CHUNK_SAMPLES);
    const { rate, onPause } = segment;
    this.#pauses = onPause === undefined ? undefined : new PauseFinder(rate, onPause);
  }

  get samplesIn(): number {
    return this.#made?.samplesIn ?? this.#samplesIn;
  }

  get trimmedStartMs(): number {
    return this.#made?.trimmedStartMs ?? (this.#trimmer.trimmedStart * 1000) / this.rate;
  }

  /** A part ends here, or where it is if that is beyond. */
  endAt(sample: number): void {
    this.#endAt = sample;
  }

  /**
   * Writes up to CHUNK_SAMPLES to `output` and returns how many; 0 when nothing can be said yet, -1 at the
   * end. Throws the error with which the ring ended, or ABORTED.
   */
  read(output: Float32Array): number {
    const count = this.#readTrimmed(output);
    if (count < 0) {
      this.#pauses?.end();
      return count;
    }
    this.#pauses?.add(output, count);
    applyGain(output, count, this.#gain); // behind the trimmer, which knows the sound as it was made
    return count;
  }

  #readTrimmed(output: Float32Array): number {
    while (this.#trimmer.readable === 0) {
      const left = this.#left();
      if (left <= 0) {
        this.#trimmer.release();
        if (this.#trimmer.readable === 0) return -1;
        break;
      }
      const taken = this.#source.read(this.#scratch.subarray(0, Math.min(left, CHUNK_SAMPLES)));
      if (taken < 0) throw new ParleyError('ABORTED', 'the ring of the segment was aborted');
      if (taken === 0) return this.#rest();
      this.#samplesIn += taken;
      if (this.#at !== undefined) this.#at += taken;
      this.#trimmer.write(this.#scratch, taken);
    }
    return this.#trimmer.read(output, CHUNK_SAMPLES);
  }

  /** Samples up to its end, as far as that is known. */
  #left(): number {
    if (!this.isPart) return Infinity;
    if (this.#at === undefined) {
      const status = this.#source.status();
      if (status?.written !== undefined) this.#at = status.written - status.readable;
    }
    return this.#endAt - (this.#at ?? 0);
  }

  #rest(): number {
    const status = this.#source.status();
    if (status === null) throw new ParleyError('ABORTED', 'the ring of the segment was closed');
    if (!status.ended || status.readable > 0) return 0;
    if (status.error !== '') {
      throw new ParleyError(status.error as ErrorCode, `the segment's sound ended with ${status.error}`);
    }
    return -1;
  }

  /** Calls back once when `read` has more to say. */
  onReadable(callback: () => void): void {
    this.#source.onReadable(callback);
  }

  /** No longer interested; the ring itself goes on. */
  release(callback: () => void): void {
    this.#source.forget(callback);
  }

  /** Drops the ring's content and aborts its writer. */
  abort(callback: () => void): void {
    this.release(callback);
    this.#source.abort();
  }
}

// From this level on, samples that would exceed full scale are compressed into it. Clipping them would be
// heard as a crackle.
const KNEE = 0.8;

/** Multiplies the first `count` samples in place. */
export function applyGain(samples: Float32Array, count: number, gain: number): void {
  if (gain === 1) return;
  for (let index = 0; index < count; index++) {
    const louder = (samples[index] ?? 0) * gain;
    samples[index] = gain > 1 ? bent(louder) : louder;
  }
}

function bent(sample: number): number {
  const size = Math.abs(sample);
  if (size <= KNEE) return sample;
  return Math.sign(sample) * (KNEE + (1 - KNEE) * Math.tanh((size - KNEE) / (1 - KNEE)));
}

// A chunk six times longer (8 to 48 kHz) and four times slower, and what filter and stretch hold.
const QUEUE_SAMPLES = 65_536;

interface SegmentForm {
  /** Hz. */
  readonly rate: number;
  /** Times the speed at which it was spoken, besides that of the session. */
  readonly speed: number;
}

/**
 * Positions count samples at the sink's rate from the start of the session. They are known before the
 * resampler outputs the samples.
 */
export class SegmentConcat {
  readonly #sampleRate: number;
  readonly #sessionSpeed: number;
  /** Speed of the session times that of the segment. */
  #speed: number;
  readonly #queue = new SampleQueue(QUEUE_SAMPLES);
  /** Undefined at speed 1, which most calls use. */
  #stretch: TimeStretch | undefined;
  #stretched: Float32Array = new Float32Array(0);
  #resampler: Resampler;
  #resampled: Float32Array;
  /** Position of the resampler's first output. */
  #base = 0;
  #pauseLeft = 0;
  /** Sound came since the last pause: a silent segment between two others does not pause twice. */
  #sounded = false;
  #begun = false;
  /** Silence after the last sound that only fills its frame. */
  #padding = 0;

  /** @param speed times the speed at which the segments were spoken; their pitch stays. */
  constructor(sampleRate: number, speed = 1) {
    this.#sampleRate = sampleRate;
    this.#sessionSpeed = speed;
    this.#speed = speed;
    this.#resampler = new Resampler(sampleRate, sampleRate, CHUNK_SAMPLES);
    this.#resampled = new Float32Array(0);
    this.#prepare({ rate: sampleRate, speed: 1 });
  }

  /** The position after everything taken so far, pauses too: where the next sample will be. */
  get end(): number {
    const stretch = this.#stretch;
    const inputs = stretch === undefined ? this.#resampler.inputs : stretch.outputsFor(stretch.inputs);
    return this.#base + this.#resampler.outputsFor(inputs);
  }

  /** A segment follows, after a pause where sound came before, or where nothing came at all. */
  begin(segment: SegmentForm, pauseMs: number): void {
    const pause = this.#pauseSamples(pauseMs);
    const isOther = this.#isOther(segment);
    if (pause > 0 || isOther) this.finish();
    if (pause > 0) {
      this.#base += pause;
      this.#pauseLeft += pause;
      this.#sounded = false;
    }
    if (isOther) this.#prepare(segment);
  }

  /**
   * Begins a segment that shares no frame with the sound before it. The last frame of that sound is filled up
   * with silence. Returns the number of silent frames between both, which are not read from here. A segment
   * that is undefined takes no sound.
   */
  beginApart(segment: SegmentForm | undefined, pauseMs: number, frameSamples: number): number {
    const pause = this.#pauseSamples(pauseMs);
    this.pad(frameSamples);
    const frames = Math.max(0, Math.ceil((pause - this.#padding) / frameSamples));
    this.#base += frames * frameSamples;
    if (pause > 0) this.#sounded = false;
    if (segment !== undefined && this.#isOther(segment)) this.#prepare(segment);
    return frames;
  }

  /** The sound of a segment apart that does not come through here: so many frames, silent after `samples`. */
  skip(frames: number, frameSamples: number, samples: number): void {
    this.#base += frames * frameSamples;
    if (frames === 0) return;
    this.#sounded = true;
    this.#padding = frames * frameSamples - samples;
  }

  #pauseSamples(pauseMs: number): number {
    const spokenPause = (pauseMs * this.#sampleRate) / (1000 * this.#sessionSpeed);
    const pause = this.#sounded || !this.#begun ? Math.round(spokenPause) : 0;
    this.#begun = true;
    return pause;
  }

  /** Takes at most CHUNK_SAMPLES of the segment; only when `read` has nothing more. */
  take(input: Float32Array, count: number): void {
    this.#sounded = true;
    this.#padding = 0;
    if (this.#stretch === undefined) return this.#resample(input, count);
    this.#resample(this.#stretched, this.#stretch.process(input, count, this.#stretched));
  }

  /** Gives out what stretch and resampler hold. */
  finish(): void {
    const end = this.end;
    if (this.#stretch !== undefined) {
      this.#resample(this.#stretched, this.#stretch.flush(this.#stretched));
    }
    this.#queue.write(this.#resampled, this.#resampler.flush(this.#resampled));
    this.#base = end;
  }

  /**
   * Fills up with silence to a multiple of `samples`, so that nothing waits for what comes next; false if
   * nothing does.
   */
  pad(samples: number): boolean {
    this.finish();
    const over = this.#base % samples;
    if (over > 0) {
      this.#base += samples - over;
      this.#pauseLeft += samples - over;
      this.#padding += samples - over;
    }
    return this.#queue.length + this.#pauseLeft > 0;
  }

  /** Moves up to `count` samples to `output` from `offset` on; returns how many. */
  read(output: Float32Array, count: number, offset: number): number {
    const sound = this.#queue.read(output, count, offset);
    const pause = Math.min(this.#pauseLeft, count - sound);
    if (pause > 0) {
      output.fill(0, offset + sound, offset + sound + pause);
      this.#pauseLeft -= pause;
    }
    return sound + pause;
  }

  #resample(input: Float32Array, count: number): void {
    this.#queue.write(this.#resampled, this.#resampler.process(input, count, this.#resampled));
  }

  #speedOf({ speed }: SegmentForm): number {
    const [least, most] = SPEEDS;
    return Math.min(Math.max(this.#sessionSpeed * speed, least), most);
  }

  #isOther(segment: SegmentForm): boolean {
    return segment.rate !== this.#resampler.inputRate || this.#speedOf(segment) !== this.#speed;
  }

  /** New state for segments of this form; the old has been given out. */
  #prepare(segment: SegmentForm): void {
    const { rate } = segment;
    let longest = CHUNK_SAMPLES;
    this.#speed = this.#speedOf(segment);
    this.#stretch = undefined;
    if (this.#speed !== 1) {
      this.#stretch = new TimeStretch(rate, this.#speed, CHUNK_SAMPLES);
      longest = Math.max(this.#stretch.maxOutput(CHUNK_SAMPLES), this.#stretch.maxFlush);
      this.#stretched = new Float32Array(longest);
    }
    this.#resampler = new Resampler(rate, this.#sampleRate, CHUNK_SAMPLES);
    this.#resampled = new Float32Array(
      Math.max(this.#resampler.maxOutput(longest), this.#resampler.maxFlush),
    );
  }
}
