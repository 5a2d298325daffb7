// Counts requests that transcribe sound, as Prometheus metrics.
import { Counter, Histogram, type Registry } from 'prom-client';
import type { TranscriptionAnswered } from '../api/http/http-metrics.js';

const WAIT_SECONDS = [0.001, 0.005, 0.02, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const WORK_SECONDS = [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800];
const REAL_TIME_FACTORS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 2, 5];

export class RecognitionMetrics {
  readonly #requests: Counter<'endpoint' | 'format' | 'status'>;
  readonly #errors: Counter<'code'>;
  readonly #audioSeconds: Counter;
  readonly #queueSeconds: Histogram;
  readonly #firstTextSeconds: Histogram;
  readonly #workSeconds: Histogram;
  readonly #realTimeFactor: Histogram;
  readonly #finalSeconds: Histogram;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#requests = new Counter({
      name: 'asr_requests_total',
      help: 'transcription requests answered, by endpoint, format and status',
      labelNames: ['endpoint', 'format', 'status'],
      registers,
    });
    this.#errors = new Counter({
      name: 'asr_errors_total',
      help: 'transcription requests that were refused or broke off, by error code',
      labelNames: ['code'],
      registers,
    });
    this.#audioSeconds = new Counter({
      name: 'asr_audio_seconds_total',
      help: 'length of all sound that was transcribed',
      registers,
    });
    const histogram = (name: string, help: string, buckets: number[]) =>
      new Histogram({ name, help, buckets, registers });
    this.#queueSeconds = histogram('asr_queue_seconds', 'wait of a sound for its turn', WAIT_SECONDS);
    this.#firstTextSeconds = histogram(
      'asr_first_text_seconds',
      'time from the turn of a sound to its first text',
      WORK_SECONDS,
    );
    this.#workSeconds = histogram(
      'asr_inference_duration_seconds',
      'time from the turn of a sound to its last text, its upload included',
      WORK_SECONDS,
    );
    this.#realTimeFactor = histogram(
      'asr_real_time_factor',
      'time of the work divided by the length of the sound',
      REAL_TIME_FACTORS,
    );
    this.#finalSeconds = histogram(
      'asr_final_text_seconds',
      'time from the end of a live turn to its final text',
      WAIT_SECONDS,
    );
  }

  answered({ route: endpoint, format = 'none', status, end }: TranscriptionAnswered): void {
    this.#requests.inc({ endpoint, format, status: String(status) });
    if (end === undefined) return;
    const { seconds, queuedMs, firstTextMs, workMs } = end;
    this.#audioSeconds.inc(seconds);
    this.#queueSeconds.observe(queuedMs / 1000);
    this.#workSeconds.observe(workMs / 1000);
    if (firstTextMs !== undefined) this.#firstTextSeconds.observe(firstTextMs / 1000);
    if (seconds > 0) this.#realTimeFactor.observe(workMs / 1000 / seconds);
  }

  /** Milliseconds from the end of a live turn to its final text. */
  finalText(ms: number): void {
    this.#finalSeconds.observe(ms / 1000);
  }

  /** `code` is the error code that the client received. */
  failed(code: string): void {
    this.#errors.inc({ code });
  }
}
