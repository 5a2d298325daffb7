// Exposes figures that other parts of the server hold, read at each scrape: media plane, engines, caches,
// queues, telephone.
import type { Metric } from 'prom-client';
import type { Engines } from '../engines/routing.js';

/** Figures that other parts of the server hold. */
export interface ScrapedFigures {
  readonly audioCache?: () => CacheFigures;
  readonly frameCache?: () => CacheFigures;
  /** Sentences that wait for an engine. */
  readonly queueDepth?: () => number;
  /** Sentences that wait for an engine, by class: each class has its own limit. */
  readonly queueDepthByClass?: () => Readonly<Record<string, number>>;
  /** Undefined while there is no media plane. */
  readonly plane?: (() => PlaneFigures | undefined) | undefined;
  /** True while the default engine is loaded. */
  readonly modelLoaded?: () => boolean;
  /** Work of the native engine. */
  readonly engineWork?: (() => Engines['work']) | undefined;
  /** Telephone calls. */
  readonly sip?: SipFigures;
  readonly encoders?: () => EncoderFigures;
  readonly hearing?: (() => HearingFigures) | undefined;
  readonly recordings?: () => RecordingFigures;
  /** Undefined if nothing is transcribed. */
  readonly transcription?: () => TranscriptionFigures | undefined;
}

interface TranscriptionFigures {
  /** Sounds of files that are transcribed, and that wait for their turn. */
  readonly active: number;
  readonly waiting: number;
  /** Open sessions of the recogniser: files, sockets, captions. */
  readonly sessions: number;
}

/** Recordings: in progress, begun so far, and failed so far. */
interface RecordingFigures {
  readonly open: number;
  readonly started: number;
  readonly failed: number;
}

interface HearingFigures {
  /** Calls that are heard now. */
  readonly calls: number;
  /** Share of the time in which the hearing worker works, 0 to 1. */
  readonly load: number;
  /** Windows of 32 ms so far, and those that were too quiet for the model. */
  readonly windows: number;
  readonly gated: number;
}

interface EncoderFigures {
  /** Share of the last second in which the encoder workers worked for calls, 0 to 1. */
  readonly load: number;
  /** The lowest complexity with which Opus encoders begin now. */
  readonly complexity: number;
}

const REGISTRATION_STATES = ['registering', 'registered', 'failed', 'off'] as const;
type RegistrationState = (typeof REGISTRATION_STATES)[number];

/** Numbers by name, of a closed set of names. */
type Counts = Readonly<Record<string, number>>;

/** Figures that other parts hold; absent ones have no metric. */
interface SipFigures {
  /** Rejected requests and connections, by cause. */
  readonly dropped?: () => Counts;
  readonly retransmissions?: () => number;
  /** Each trunk that registers. */
  readonly registrations?: () => readonly { readonly trunk: string; readonly state: RegistrationState }[];
  /** Pairs of RTP ports by state: free, used, resting. */
  readonly rtpPorts?: () => Counts;
  /** Number of times that the RTP of a call came from another address than the announced one. */
  readonly latchDepartures?: () => number;
  /** RTP packets of callers since the start: those that came, and those that are missing by their numbers. */
  readonly packets?: (() => { readonly received: number; readonly lost: number }) | undefined;
  /** Call records by the outcome of their webhook. */
  readonly webhooks?: () => Counts;
}

interface ScrapedValue {
  readonly value: number;
  readonly labels?: Record<string, string | number>;
  readonly metricName?: string;
}

// prom-client's counters and histograms cannot be set to a total, as counters of the media plane need. A
// registry uses only the name and get() of a metric.
function readAtScrape(
  name: string,
  help: string,
  type: 'counter' | 'gauge' | 'histogram',
  values: () => ScrapedValue[],
): Metric {
  const metric = {
    name,
    help,
    get: () => Promise.resolve({ name, help, type, values: values(), aggregator: 'sum' }),
    reset: () => undefined,
  };
  return metric as unknown as Metric;
}

/** A part that fails loses its own figure, and no other. */
function readable(read: () => number): number {
  try {
    return read();
  } catch {
    return Number.NaN;
  }
}

const METRICS = [
  ['tts_gpu_allocated_bytes', 'gauge', 'memoryUsedBytes', 'bytes of GPU memory that the engines hold'],
  [
    'parley_gpu_memory_used_bytes',
    'gauge',
    'memoryUsedBytes',
    'bytes of GPU memory that the engines hold; compare parley_gpu_memory_total_bytes',
  ],
  [
    'parley_gpu_memory_total_bytes',
    'gauge',
    'memoryTotalBytes',
    'bytes of memory that the GPU has; 0 without one',
  ],
  [
    'parley_gpu_lists_bytes',
    'gauge',
    'listBytes',
    'bytes of host memory that cached launches of GPU work take',
  ],
  ['parley_engine_streams', 'gauge', 'streams', 'sentences that the native engine is speaking'],
  [
    'parley_engine_busy_ratio',
    'gauge',
    'busyShare',
    'share of the last seconds in which the native engine worked, 0 to 1',
  ],
  [
    'parley_engine_busy_seconds_total',
    'counter',
    'busySeconds',
    'time that the native engine has worked since it was loaded',
  ],
] as const;

const LISTS = [
  ['eager', 'eager'],
  ['captured', 'captures'],
  ['launched', 'launches'],
] as const;

const CHUNKS = [
  ['cut_short', 'chunksCutShort'],
  ['repeated', 'chunksRepeated'],
  ['endless', 'chunksEndless'],
] as const;

function engineMetrics(work: () => Engines['work']): ReturnType<typeof readAtScrape>[] {
  const lists = () =>
    LISTS.map(([way, field]) => ({ value: readable(() => work()[field]), labels: { way } }));
  const help =
    'launches of GPU work since the engine was loaded: without a graph (eager), captured as a graph (captured), as a graph (launched)';
  const chunks = () =>
    CHUNKS.map(([fate, field]) => ({ value: readable(() => work()[field]), labels: { fate } }));
  const helpOfChunks =
    'parts of texts since the server started whose speech ended long before the text and was played so (cut_short), was made again for that before it was played (repeated), did not end and was stopped (endless)';
  return [
    ...METRICS.map(([name, type, field, what]) =>
      readAtScrape(name, what, type, () => [{ value: readable(() => work()[field]) }]),
    ),
    readAtScrape('parley_gpu_lists_total', help, 'counter', lists),
    readAtScrape('parley_engine_chunks_total', helpOfChunks, 'counter', chunks),
  ];
}

/** Figures of the media plane since it opened. */
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
  /** Number of packets in each bucket; not cumulative. */
  readonly latenessCounts: readonly number[];
  /** Sound of callers that was decoded, in samples of 16 kHz, and what of it replaces lost packets. */
  readonly heardSamples: number;
  readonly concealedSamples: number;
  /** Mean delay of the jitter buffers of the calls that are heard now; 0 without one. */
  readonly jitterBufferMs: number;
}

/** Figures of the cache of renderings, or of the cache of sentences of calls. */
interface CacheFigures {
  readonly entries: number;
  readonly bytes: number;
  readonly hits: number;
  readonly misses: number;
}

const AUDIO_CACHE = [
  ['parley_audio_cache_entries', 'gauge', 'entries', 'renderings kept in memory'],
  [
    'parley_audio_cache_bytes',
    'gauge',
    'bytes',
    'bytes of audio kept in memory, including renderings in progress',
  ],
  ['parley_audio_cache_hits_total', 'counter', 'hits', 'requests answered without an engine of their own'],
  ['parley_audio_cache_misses_total', 'counter', 'misses', 'requests that needed an engine'],
] as const;

const FRAME_CACHE = [
  ['parley_frame_cache_entries', 'gauge', 'entries', 'sentences of calls kept as encoded payloads'],
  ['parley_frame_cache_bytes', 'gauge', 'bytes', 'bytes of the sentences of calls that are kept'],
  ['parley_frame_cache_hits_total', 'counter', 'hits', 'sentences sent without an engine or an encoder'],
  ['parley_frame_cache_misses_total', 'counter', 'misses', 'sentences of calls that were rendered'],
] as const;

const PLANE_COUNTERS = [
  ['parley_packets_total', 'packets', 'RTP packets sent, silence included'],
  ['parley_silence_packets_total', 'silencePackets', 'RTP packets sent that carried silence'],
  ['parley_underruns_total', 'underruns', 'ticks at which a speaking stream had no frame ready'],
  ['parley_late_ticks_total', 'lateTicks', 'ticks more than one millisecond late'],
  ['parley_skipped_ticks_total', 'skippedTicks', 'ticks skipped because they were too late'],
  ['parley_send_errors_total', 'sendErrors', 'packets that the system refused to send'],
  ['parley_heard_samples_total', 'heardSamples', 'samples at 16 kHz of callers that were heard'],
  ['parley_concealed_samples_total', 'concealedSamples', 'samples of these that replaced lost packets'],
] as const;

type CacheMetrics = typeof AUDIO_CACHE | typeof FRAME_CACHE;

/**
 * Returns the metrics of the parts that `figures` names, and a function that begins a scrape: several metrics
 * of one scrape share one reading.
 */
export function scrapedMetrics(figures: ScrapedFigures): {
  readonly metrics: readonly Metric[];
  readonly beginScrape: () => void;
} {
  const { plane, engineWork, hearing, sip } = figures;
  const [planeOnce, workOnce] = [onceAScrape(plane), onceAScrape(engineWork)];
  const [hearingOnce, packetsOnce] = [onceAScrape(hearing), onceAScrape(sip?.packets)];
  const readings = [planeOnce, workOnce, hearingOnce, packetsOnce];
  const once = { plane: planeOnce?.read, engineWork: workOnce?.read, hearing: hearingOnce?.read };
  const telephone = sip === undefined ? {} : { sip: { ...sip, packets: packetsOnce?.read } };
  return {
    metrics: metricsOf({ ...figures, ...once, ...telephone }),
    beginScrape: () => readings.forEach((reading) => reading?.begin()),
  };
}

/** Keeps what was read until the next scrape begins. A reading that throws is not kept. */
function onceAScrape<T>(read: (() => T) | undefined) {
  if (read === undefined) return undefined;
  let kept: { readonly value: T } | undefined;
  return { read: () => (kept ??= { value: read() }).value, begin: () => void (kept = undefined) };
}

function metricsOf(figures: ScrapedFigures): readonly Metric[] {
  const { plane, queueDepth, queueDepthByClass, modelLoaded, engineWork, audioCache, frameCache, sip } =
    figures;
  const { encoders, hearing, recordings, transcription } = figures;
  return [
    plane === undefined ? [] : planeMetrics(plane),
    queueDepth === undefined ? [] : gauge('tts_queue_depth', 'sentences that wait for an engine', queueDepth),
    queueDepthByClass === undefined ? [] : queueMetric(queueDepthByClass),
    modelLoaded === undefined
      ? []
      : gauge('tts_model_loaded', '1 while the default engine is loaded', () => Number(modelLoaded())),
    engineWork === undefined ? [] : engineMetrics(engineWork),
    audioCache === undefined ? [] : cacheMetrics(AUDIO_CACHE, audioCache),
    frameCache === undefined ? [] : cacheMetrics(FRAME_CACHE, frameCache),
    sip === undefined ? [] : sipMetrics(sip),
    encoders === undefined ? [] : encoderMetrics(encoders),
    hearing === undefined ? [] : hearingMetrics(hearing),
    recordings === undefined ? [] : recordingMetrics(recordings),
    transcription === undefined ? [] : transcriptionMetrics(transcription),
  ].flat();
}

function counter(name: string, help: string, read: () => number): Metric {
  return readAtScrape(name, help, 'counter', () => [{ value: readable(read) }]);
}

function transcriptionMetrics(figures: () => TranscriptionFigures | undefined): Metric[] {
  return [
    gauge('asr_active', 'sounds of files that are transcribed now', () => figures()?.active ?? 0),
    gauge('asr_queue_depth', 'sounds of files that wait for their turn', () => figures()?.waiting ?? 0),
    gauge('asr_sessions', 'open sessions of the recogniser', () => figures()?.sessions ?? 0),
  ];
}

function recordingMetrics(recordings: () => RecordingFigures): Metric[] {
  return [
    gauge('parley_recordings', 'recordings in progress', () => recordings().open),
    counter('parley_recordings_total', 'recordings that have begun', () => recordings().started),
    counter('parley_recordings_failed_total', 'recordings that failed', () => recordings().failed),
  ];
}

function hearingMetrics(hearing: () => HearingFigures): Metric[] {
  const load = 'share of the time in which the worker that finds speech works, 0 to 1';
  return [
    gauge('parley_heard_calls', 'calls whose callers are heard now', () => hearing().calls),
    gauge('parley_hearing_load_ratio', load, () => hearing().load),
    counter('parley_heard_windows_total', 'windows of 32 ms that were heard', () => hearing().windows),
    counter('parley_quiet_windows_total', 'windows too quiet for the model', () => hearing().gated),
  ];
}

function encoderMetrics(encoders: () => EncoderFigures): Metric[] {
  const load = 'share of the last second in which the encoder workers worked for calls, 0 to 1';
  const complexity = 'lowest complexity with which Opus encoders of calls begin now; it falls under load';
  return [
    gauge('parley_encoder_load_ratio', load, () => encoders().load),
    gauge('parley_encoder_complexity', complexity, () => encoders().complexity),
  ];
}

function gauge(name: string, help: string, read: () => number): Metric {
  return readAtScrape(name, help, 'gauge', () => [{ value: readable(read) }]);
}

function queueMetric(byClass: () => Readonly<Record<string, number>>): Metric {
  const help = 'sentences that wait for an engine, by class: call, interactive (WebSockets), http';
  const values = () => Object.entries(byClass()).map(([name, value]) => ({ value, labels: { class: name } }));
  return readAtScrape('parley_queue_depth', help, 'gauge', values);
}

function cacheMetrics(metrics: CacheMetrics, cache: () => CacheFigures): Metric[] {
  return metrics.map(([name, type, field, help]) =>
    readAtScrape(name, help, type, () => [{ value: cache()[field] }]),
  );
}

function planeMetrics(plane: () => PlaneFigures | undefined): Metric[] {
  const pacing =
    'lateness of packets against their due time; the sum is computed from the upper bounds of the buckets';
  return [
    ...PLANE_COUNTERS.map(([name, field, help]) =>
      readAtScrape(name, help, 'counter', () => [{ value: plane()?.[field] ?? 0 }]),
    ),
    readAtScrape('parley_streams', 'RTP streams open now', 'gauge', () => [{ value: plane()?.streams ?? 0 }]),
    gauge(
      'parley_jitter_buffer_delay_seconds',
      'mean delay of the jitter buffers of the calls that are heard now',
      () => (plane()?.jitterBufferMs ?? 0) / 1000,
    ),
    readAtScrape('parley_pacing_error_seconds', pacing, 'histogram', () =>
      pacingBuckets('parley_pacing_error_seconds', plane()),
    ),
  ];
}

// Prometheus needs cumulative counts; the clock keeps one count per bucket.
function pacingBuckets(name: string, plane: PlaneFigures | undefined): ScrapedValue[] {
  const counts = plane?.latenessCounts ?? [];
  const uppersMs = (plane?.latenessUpperMs ?? []).filter((upperMs) => Number.isFinite(upperMs));
  const values: ScrapedValue[] = [];
  let total = 0;
  let sumSeconds = 0;
  counts.forEach((count, index) => {
    const upperMs = uppersMs[index];
    total += count;
    // Packets above every bound count as the highest bound.
    sumSeconds += (count * (upperMs ?? uppersMs.at(-1) ?? 0)) / 1000;
    if (upperMs === undefined) return;
    values.push({ metricName: `${name}_bucket`, labels: { le: upperMs / 1000 }, value: total });
  });
  values.push({ metricName: `${name}_bucket`, labels: { le: '+Inf' }, value: total });
  values.push({ metricName: `${name}_sum`, value: sumSeconds });
  values.push({ metricName: `${name}_count`, value: total });
  return values;
}

function sipMetrics(figures: SipFigures) {
  const { dropped, retransmissions, registrations, latchDepartures, rtpPorts, packets, webhooks } = figures;
  return [
    counted(
      'parley_sip_dropped_total',
      'SIP requests and connections that were rejected, by cause',
      'cause',
      dropped,
    ),
    total(
      'parley_sip_retransmissions_total',
      'SIP requests that were received again and absorbed',
      retransmissions,
    ),
    registrations === undefined ? [] : standing(registrations),
    total(
      'parley_rtp_latch_departures_total',
      'times that the RTP of a call came from another address than the announced one',
      latchDepartures,
    ),
    rtpPorts === undefined
      ? []
      : readAtScrape('parley_rtp_ports', 'pairs of RTP ports, by state: free, used, resting', 'gauge', () =>
          byName('state', rtpPorts),
        ),
    packets === undefined ? [] : packetMetrics(packets),
    counted('parley_webhooks_total', 'call records by the outcome of their webhook', 'outcome', webhooks),
  ].flat();
}

function packetMetrics(packets: NonNullable<SipFigures['packets']>): Metric[] {
  return [
    counter('parley_rtp_received_packets_total', 'RTP packets received', () => packets().received),
    counter(
      'parley_rtp_lost_packets_total',
      'RTP packets lost, by their sequence numbers',
      () => packets().lost,
    ),
  ];
}

function total(name: string, help: string, read: (() => number) | undefined) {
  return read === undefined ? [] : readAtScrape(name, help, 'counter', () => [{ value: readable(read) }]);
}

function counted(name: string, help: string, label: string, read: (() => Counts) | undefined) {
  return read === undefined ? [] : readAtScrape(name, help, 'counter', () => byName(label, read));
}

/** Empty if the part that holds the figures fails. */
function byName(label: string, read: () => Counts): ScrapedValue[] {
  try {
    return Object.entries(read()).map(([name, value]) => ({ value, labels: { [label]: name } }));
  } catch {
    return [];
  }
}

/** 1 for the state that a trunk is in, 0 for the others. */
function standing(read: NonNullable<SipFigures['registrations']>) {
  const values = () =>
    read().flatMap(({ trunk, state }) =>
      REGISTRATION_STATES.map((name) => ({ value: Number(name === state), labels: { trunk, state: name } })),
    );
  return readAtScrape(
    'parley_sip_registrations',
    '1 for the registration state that a trunk is in, 0 for the others',
    'gauge',
    () => {
      try {
        return values();
      } catch {
        return [];
      }
    },
  );
}
