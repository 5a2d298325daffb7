// What Parley counts about itself, in Prometheus' words.
//
// Each instance has a registry of its own, so that two servers in one process
// (tests) do not count into each other. Figures of the native plane are read
// when somebody scrapes, never copied on the way.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { readable, readAtScrape, type ScrapedValue } from './scraped-metric.js';
import { engineMetrics, type EngineWorkFigures } from './engine-metrics.js';
import { SipMetrics, type SipFigures } from './sip-metrics.js';
import { SocketMetrics } from './socket-metrics.js';

/** What the media plane tells about itself since it opened. */
export interface PlaneFigures {
  readonly streams: number;
  readonly packets: number;
  readonly silencePackets: number;
  readonly lateTicks: number;
  readonly skippedTicks: number;
  readonly underruns: number;
  readonly sendErrors: number;
  /** Upper bounds of the lateness buckets, rising; the last one is Infinity. */
  readonly latenessUpperMs: readonly number[];
  /** How many packets fell into each bucket; not cumulative. */
  readonly latenessCounts: readonly number[];
}

/** What a cache tells about itself: that of renderings, or that of the sentences of calls. */
export interface CacheFigures {
  readonly entries: number;
  readonly bytes: number;
  readonly hits: number;
  readonly misses: number;
}

export interface MetricsOptions {
  readonly audioCache?: () => CacheFigures;
  readonly frameCache?: () => CacheFigures;
  /** Sentences that wait for an engine. */
  readonly queueDepth?: () => number;
  /** The same by class: each has a limit of its own. */
  readonly queueDepthByClass?: () => Readonly<Record<string, number>>;
  /** The plane's figures now; undefined while there is no plane. */
  readonly plane?: () => PlaneFigures | undefined;
  /** Whether the engine that speaks by default is loaded. */
  readonly modelLoaded?: () => boolean;
  /** What the native engine is at; nothing is told where absent. */
  readonly engineWork?: () => EngineWorkFigures;
  /** What the telephone door holds; its figures stay out of a scrape where they are absent. */
  readonly sip?: SipFigures;
  /** Node's own figures (memory, event loop, garbage collection) too. They are observed for the rest of the process. */
  readonly node?: boolean;
}

export interface RequestAnswered {
  readonly method: string;
  /** The pattern of the route, never the URL of the request: the number of label values stays bounded. */
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
}

export interface SpeechAnswered {
  readonly route: string;
  /** As requests name it; absent where the request was refused before it was known. */
  readonly format: string | undefined;
  readonly status: number;
  readonly seconds: number;
  /** What engines took for it; absent where none worked for it. */
  readonly inferSeconds: number | undefined;
  /** What engines and encoders took, and the engine's own voice and language; absent where no engine worked for it. */
  readonly synthesis?:
    { readonly voice: string; readonly language: string; readonly seconds: number } | undefined;
}

const FIRST_AUDIO_SECONDS = [0.005, 0.01, 0.015, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1, 2, 5];
const REQUEST_SECONDS = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

// Label values come from closed sets: a method that nobody routes is one value.
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

const AUDIO_CACHE = [
  ['parley_audio_cache_entries', 'gauge', 'entries', 'renderings kept in memory'],
  ['parley_audio_cache_bytes', 'gauge', 'bytes', 'bytes of sound kept in memory, those being made included'],
  ['parley_audio_cache_hits_total', 'counter', 'hits', 'requests answered without an engine of their own'],
  ['parley_audio_cache_misses_total', 'counter', 'misses', 'requests for which an engine was asked'],
] as const;

const FRAME_CACHE = [
  ['parley_frame_cache_entries', 'gauge', 'entries', 'sentences of calls kept as payloads'],
  ['parley_frame_cache_bytes', 'gauge', 'bytes', 'bytes that they take'],
  ['parley_frame_cache_hits_total', 'counter', 'hits', 'sentences sent without an engine or an encoder'],
  ['parley_frame_cache_misses_total', 'counter', 'misses', 'sentences of calls that were rendered'],
] as const;

const PLANE_COUNTERS = [
  ['parley_packets_total', 'packets', 'RTP packets sent, silence included'],
  ['parley_silence_packets_total', 'silencePackets', 'RTP packets sent that carried silence'],
  ['parley_underruns_total', 'underruns', 'ticks at which a speaking stream had no frame ready'],
  ['parley_late_ticks_total', 'lateTicks', 'ticks later than one millisecond'],
  ['parley_skipped_ticks_total', 'skippedTicks', 'ticks given up because they were too late to be of use'],
  ['parley_send_errors_total', 'sendErrors', 'packets that the system refused to send'],
] as const;

export class Metrics {
  readonly #registry = new Registry();
  readonly sockets = new SocketMetrics(this.#registry);
  readonly sip: SipMetrics;
  readonly #calls: Gauge<'door'>;
  readonly #callsTotal: Counter<'door' | 'end'>;
  readonly #utterances: Counter<'end'>;
  readonly #firstAudio: Histogram<'door'>;
  readonly #requests: Counter<'method' | 'route' | 'status'>;
  readonly #requestSeconds: Histogram<'method' | 'route'>;
  readonly #speech: SpeechMetrics;

  constructor(options: MetricsOptions = {}) {
    const registers = [this.#registry];
    this.#calls = new Gauge({
      name: 'parley_calls',
      help: 'calls open now, by the door they came through',
      labelNames: ['door'],
      registers,
    });
    this.#callsTotal = new Counter({
      name: 'parley_calls_total',
      help: 'calls that have ended, by door and reason',
      labelNames: ['door', 'end'],
      registers,
    });
    this.#utterances = new Counter({
      name: 'parley_utterances_total',
      help: 'utterances that have ended: spoken, interrupted or failed',
      labelNames: ['end'],
      registers,
    });
    this.#firstAudio = new Histogram({
      name: 'parley_time_to_first_audio_seconds',
      help: 'from the arrival of a text to its first packet (calls) or first byte of sound (HTTP)',
      labelNames: ['door'],
      buckets: FIRST_AUDIO_SECONDS,
      registers,
    });
    this.#requests = new Counter({
      name: 'parley_http_requests_total',
      help: 'HTTP requests answered, by method, route and status',
      labelNames: ['method', 'route', 'status'],
      registers,
    });
    this.#requestSeconds = new Histogram({
      name: 'parley_http_request_duration_seconds',
      help: 'from the head of an HTTP request to the end of its answer',
      labelNames: ['method', 'route'],
      buckets: REQUEST_SECONDS,
      registers,
    });
    this.#speech = new SpeechMetrics(this.#registry);
    this.sip = new SipMetrics(this.#registry, options.sip);
    if (options.plane !== undefined) this.#watchPlane(options.plane);
    const { queueDepth, modelLoaded, engineWork } = options;
    if (queueDepth !== undefined)
      this.#gauge('tts_queue_depth', 'sentences that wait for an engine', queueDepth);
    if (options.queueDepthByClass !== undefined) this.#watchQueue(options.queueDepthByClass);
    if (modelLoaded !== undefined) {
      this.#gauge('tts_model_loaded', '1 while the engine that speaks by default is loaded', () =>
        Number(modelLoaded()),
      );
    }
    if (engineWork !== undefined) {
      for (const metric of engineMetrics(engineWork)) this.#registry.registerMetric(metric);
    }
    if (options.audioCache !== undefined) this.#watchCache(AUDIO_CACHE, options.audioCache);
    if (options.frameCache !== undefined) this.#watchCache(FRAME_CACHE, options.frameCache);
    if (options.node === true) collectDefaultMetrics({ register: this.#registry });
  }

  /** The content type of `exposition()`. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Everything, in Prometheus' text format. */
  exposition(): Promise<string> {
    return this.#registry.metrics();
  }

  callOpened(door: string): void {
    this.#calls.inc({ door });
  }

  /** `end` comes from the short list of reasons that the doors and the switchboard have. */
  callClosed(door: string, end: string): void {
    this.#calls.dec({ door });
    this.#callsTotal.inc({ door, end });
  }

  utteranceEnded(end: 'spoken' | 'interrupted' | 'failed'): void {
    this.#utterances.inc({ end });
  }

  /** Milliseconds from the arrival of a text to its first sound leaving. */
  firstAudio(ms: number, door = 'webrtc'): void {
    this.#firstAudio.observe({ door }, ms / 1000);
  }

  requestAnswered({ method, route, status, seconds }: RequestAnswered): void {
    const known = METHODS.has(method) ? method : 'OTHER';
    this.#requests.inc({ method: known, route, status: String(status) });
    this.#requestSeconds.observe({ method: known, route }, seconds);
  }

  speechAnswered(answered: SpeechAnswered): void {
    this.#speech.answered(answered);
  }

  /** `code` is one of those that clients are told. */
  speechFailed(code: string): void {
    this.#speech.failed(code);
  }

  #gauge(name: string, help: string, read: () => number): void {
    this.#registry.registerMetric(readAtScrape(name, help, 'gauge', () => [{ value: readable(read) }]));
  }

  #watchQueue(byClass: () => Readonly<Record<string, number>>): void {
    const help = 'sentences that wait for an engine, by class: call, interactive (WebSockets), http';
    const values = () =>
      Object.entries(byClass()).map(([name, value]) => ({ value, labels: { class: name } }));
    this.#registry.registerMetric(readAtScrape('parley_queue_depth', help, 'gauge', values));
  }

  #watchCache(metrics: typeof AUDIO_CACHE | typeof FRAME_CACHE, cache: () => CacheFigures): void {
    for (const [name, type, field, help] of metrics) {
      this.#registry.registerMetric(readAtScrape(name, help, type, () => [{ value: cache()[field] }]));
    }
  }

  #watchPlane(plane: () => PlaneFigures | undefined): void {
    for (const [name, field, help] of PLANE_COUNTERS) {
      const values = () => [{ value: plane()?.[field] ?? 0 }];
      this.#registry.registerMetric(readAtScrape(name, help, 'counter', values));
    }
    const streams = () => [{ value: plane()?.streams ?? 0 }];
    this.#registry.registerMetric(readAtScrape('parley_streams', 'RTP streams open now', 'gauge', streams));
    this.#registry.registerMetric(
      readAtScrape(
        'parley_pacing_error_seconds',
        'how much later than due a packet left; the sum is made of upper bounds, as the clock keeps none',
        'histogram',
        () => pacingBuckets('parley_pacing_error_seconds', plane()),
      ),
    );
  }
}

/** Requests for speech, under the names that an older server had for them. */
class SpeechMetrics {
  readonly #requests: Counter<'endpoint' | 'format' | 'status'>;
  readonly #seconds: Histogram<'endpoint'>;
  readonly #inferSeconds: Histogram;
  readonly #synthesisSeconds: Histogram<'voice' | 'language' | 'format'>;
  readonly #errors: Counter<'code'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#requests = new Counter({
      name: 'tts_requests_total',
      help: 'requests for speech answered, by address, format and status',
      labelNames: ['endpoint', 'format', 'status'],
      registers,
    });
    this.#seconds = new Histogram({
      name: 'tts_request_duration_seconds',
      help: 'from the head of a request for speech to the end of its sound',
      labelNames: ['endpoint'],
      buckets: REQUEST_SECONDS,
      registers,
    });
    this.#inferSeconds = new Histogram({
      name: 'tts_inference_duration_seconds',
      help: 'time that engines took for one request, over its sentences; requests answered from the cache have none',
      buckets: REQUEST_SECONDS,
      registers,
    });
    this.#synthesisSeconds = new Histogram({
      name: 'tts_synthesis_duration_seconds',
      help: 'time that engines and encoders took for one request, by the voice and language that spoke and the format',
      labelNames: ['voice', 'language', 'format'],
      buckets: REQUEST_SECONDS,
      registers,
    });
    this.#errors = new Counter({
      name: 'tts_errors_total',
      help: 'requests for speech that were refused or broke off, by the code that their client was told',
      labelNames: ['code'],
      registers,
    });
  }

  answered({
    route: endpoint,
    format = 'none',
    status,
    seconds,
    inferSeconds,
    synthesis,
  }: SpeechAnswered): void {
    this.#requests.inc({ endpoint, format, status: String(status) });
    this.#seconds.observe({ endpoint }, seconds);
    if (inferSeconds !== undefined) this.#inferSeconds.observe(inferSeconds);
    if (synthesis === undefined) return;
    const { voice, language, seconds: synthesisSeconds } = synthesis;
    this.#synthesisSeconds.observe({ voice, language, format }, synthesisSeconds);
  }

  failed(code: string): void {
    this.#errors.inc({ code });
  }
}

// Prometheus wants cumulative counts; the clock keeps one count per bucket.
function pacingBuckets(name: string, plane: PlaneFigures | undefined): ScrapedValue[] {
  const counts = plane?.latenessCounts ?? [];
  const uppersMs = (plane?.latenessUpperMs ?? []).filter((upperMs) => Number.isFinite(upperMs));
  const values: ScrapedValue[] = [];
  let total = 0;
  let sumSeconds = 0;
  counts.forEach((count, index) => {
    const upperMs = uppersMs[index];
    total += count;
    // What is above every bound counts as the highest one.
    sumSeconds += (count * (upperMs ?? uppersMs.at(-1) ?? 0)) / 1000;
    if (upperMs === undefined) return;
    values.push({ metricName: `${name}_bucket`, labels: { le: upperMs / 1000 }, value: total });
  });
  values.push({ metricName: `${name}_bucket`, labels: { le: '+Inf' }, value: total });
  values.push({ metricName: `${name}_sum`, value: sumSeconds });
  values.push({ metricName: `${name}_count`, value: total });
  return values;
}
