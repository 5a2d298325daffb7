// Recordings in this thread, on a manual clock: the test feeds rings, moves the clock and reads the files.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { DISK, type RecordingFiles } from '../../src/recording/recording-file.js';
import { ActiveRecordings } from '../../src/recording/active-recordings.js';
import type {
  FromRecorder,
  KeptSound,
  RecordingOrder,
  RecordingResult,
} from '../../src/recording/recording-messages.js';
import { stated } from '../../src/stated.js';
import { temporaryFolder } from '../api/http/tls-files.js';
import { ManualTime } from '../fakes/manual-time.js';
import { until } from '../fakes/until.js';

const RING_SAMPLES = 2 * 16_000 * 10;

/** A ring of two channels that is closed with the test. */
export function openRing(t: TestContext): PcmRing {
  const ring = PcmRing.open(16_000, RING_SAMPLES);
  t.after(() => ring.close());
  return ring;
}

export class ActiveRecordingsUnderTest {
  readonly time = new ManualTime(5000);
  readonly posted: FromRecorder[] = [];
  readonly folder: string;
  readonly recordings: ActiveRecordings;
  readonly #t: TestContext;
  #count = 0;

  constructor(t: TestContext, files: Partial<RecordingFiles> = {}) {
    this.#t = t;
    this.folder = temporaryFolder(t);
    this.recordings = new ActiveRecordings({
      files: { ...DISK, ...files },
      time: this.time,
      post: (message) => this.posted.push(message),
    });
    t.after(() => this.recordings.close());
  }

  open(order: Partial<RecordingOrder> = {}): { id: number; ring: PcmRing; path: string } {
    const id = ++this.#count;
    const { format = 'wav' } = order;
    const path = join(this.folder, `recording-${id}.${format}`);
    const ring = openRing(this.#t);
    const usual = {
      path,
      format,
      ring: ring.handle,
      channels: 2,
      maxFrames: 16_000 * 3600,
      serial: id,
    } as const;
    this.recordings.take({ type: 'open', id, ...usual, ...order });
    return { id, ring, path };
  }

  /** Sound arrives in real time, 16 ms after 16 ms. */
  play(ring: PcmRing, samples: Float32Array): void {
    for (let at = 0; at < samples.length; at += 512) {
      ring.write(samples.subarray(at, at + 512));
      this.time.advance(16);
    }
  }

  async stop(id: number, kept?: KeptSound): Promise<RecordingResult> {
    this.recordings.take({ type: 'stop', id, end: 'stopped', ...stated({ kept }) });
    return this.ended(id);
  }

  /** The result of a recording that is about to end. */
  async ended(id: number): Promise<RecordingResult> {
    let result: RecordingResult | undefined;
    await until(() => (result = this.resultOf(id)) !== undefined);
    return result as unknown as RecordingResult;
  }

  resultOf(id: number): RecordingResult | undefined {
    return this.posted.filter((message) => message.type === 'ended').find((message) => message.id === id)
      ?.result;
  }
}

export function fileAt(path: string): Uint8Array {
  return new Uint8Array(readFileSync(path));
}
