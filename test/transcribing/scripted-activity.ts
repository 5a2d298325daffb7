// Voice activity whose events the test tells.
import type { PcmRing } from '../../src/audio/pcm-ring.js';
import type { HearingSettings } from '../../src/config/hearing-config.js';
import { ParleyError } from '../../src/errors.js';
import type { VoiceActivity } from '../../src/transcribing/live-transcription.js';

type Listener = Parameters<VoiceActivity['listenToRing']>[3];

export class ScriptedStream {
  readonly ring: PcmRing;
  settings: HearingSettings;
  readonly listener: Listener;
  readonly changes: Partial<HearingSettings>[] = [];
  isClosed = false;
  #read = 0;

  constructor(ring: PcmRing, settings: HearingSettings, listener: Listener) {
    this.ring = ring;
    this.settings = settings;
    this.listener = listener;
  }

  /** Samples that were read. */
  get read(): number {
    return this.#read;
  }

  /** Reads all there is, and tells that it was analysed. */
  analyse(): void {
    const chunk = new Float32Array(4096);
    for (let count = this.ring.read(chunk); count > 0; count = this.ring.read(chunk)) this.#read += count;
    const { ended = true, readable = 0 } = this.ring.status() ?? {};
    const windows = Math.floor(this.#read / 512);
    this.listener.analysed(windows * 32, ended && readable === 0);
  }

  event(type: string, atMs: number, decidedMs = atMs): void {
    this.listener.event({ type, atMs }, decidedMs);
  }

  lose(): void {
    this.listener.lost(new ParleyError('HEARING_FAILED', 'no worker'));
  }

  change(settings: Partial<HearingSettings>): void {
    this.changes.push(settings);
  }

  close(): void {
    this.isClosed = true;
  }
}

export class ScriptedActivity implements VoiceActivity {
  readonly streams: ScriptedStream[] = [];
  refusal: ParleyError | undefined;

  listenToRing(_name: string, ring: PcmRing, settings: HearingSettings, listener: Listener): ScriptedStream {
    if (this.refusal !== undefined) throw this.refusal;
    const stream = new ScriptedStream(ring, settings, listener);
    this.streams.push(stream);
    return stream;
  }
}
