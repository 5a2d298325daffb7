import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Metrics } from '../../src/observe/metrics.js';
import type { EngineWorkFigures, PlaneFigures } from '../../src/observe/scraped-metrics.js';

const PLANE: PlaneFigures = {
  streams: 3,
  packets: 1000,
  silencePackets: 400,
  lateTicks: 2,
  skippedTicks: 1,
  underruns: 4,
  sendErrors: 0,
  latenessUpperMs: [0.25, 1, 20, Infinity],
  latenessCounts: [900, 90, 8, 2],
};

async function linesOf(metrics: Metrics, name: string): Promise<string[]> {
  const text = await metrics.exposition();
  return text.split('\n').filter((line) => line.startsWith(name));
}

test('calls are a gauge by door, and are counted by reason when they end', async () => {
  const metrics = new Metrics();
  metrics.callOpened('webrtc');
  metrics.callOpened('webrtc');
  metrics.callClosed('webrtc', 'hangup');
  assert.deepEqual(await linesOf(metrics, 'parley_calls'), [
    'parley_calls{door="webrtc"} 1',
    'parley_calls_total{door="webrtc",end="hangup"} 1',
  ]);
});

test('utterances are counted by their end, and the time to first audio falls into its bucket', async () => {
  const metrics = new Metrics();
  metrics.utteranceEnded('spoken');
  metrics.utteranceEnded('interrupted');
  metrics.utteranceEnded('spoken');
  metrics.firstAudio(12);
  assert.deepEqual(await linesOf(metrics, 'parley_utterances_total'), [
    'parley_utterances_total{end="spoken"} 2',
    'parley_utterances_total{end="interrupted"} 1',
  ]);
  const seconds = await linesOf(metrics, 'parley_time_to_first_audio_seconds');
  assert.ok(seconds.includes('parley_time_to_first_audio_seconds_bucket{le="0.01",door="webrtc"} 0'));
  assert.ok(seconds.includes('parley_time_to_first_audio_seconds_bucket{le="0.015",door="webrtc"} 1'));
  assert.ok(seconds.includes('parley_time_to_first_audio_seconds_sum{door="webrtc"} 0.012'));
});

test('the lateness of packets becomes a cumulative histogram in seconds at the moment of the scrape', async () => {
  let plane: PlaneFigures | undefined = PLANE;
  const metrics = new Metrics({ plane: () => plane });
  assert.deepEqual(await linesOf(metrics, 'parley_pacing_error_seconds'), [
    'parley_pacing_error_seconds_bucket{le="0.00025"} 900',
    'parley_pacing_error_seconds_bucket{le="0.001"} 990',
    'parley_pacing_error_seconds_bucket{le="0.02"} 998',
    'parley_pacing_error_seconds_bucket{le="+Inf"} 1000',
    'parley_pacing_error_seconds_sum 0.515',
    'parley_pacing_error_seconds_count 1000',
  ]);
  assert.deepEqual(await linesOf(metrics, 'parley_underruns_total'), ['parley_underruns_total 4']);
  assert.deepEqual(await linesOf(metrics, 'parley_packets_total'), ['parley_packets_total 1000']);
  assert.deepEqual(await linesOf(metrics, 'parley_late_ticks_total'), ['parley_late_ticks_total 2']);
  plane = undefined;
  assert.deepEqual(await linesOf(metrics, 'parley_packets_total'), ['parley_packets_total 0']);
});

test('a method without a route is counted under one name', async () => {
  const metrics = new Metrics();
  for (const method of ['PROPFIND', 'X1', 'X2']) {
    metrics.requestAnswered({ method, route: 'none', status: 404, seconds: 0.001 });
  }
  assert.deepEqual(await linesOf(metrics, 'parley_http_requests_total'), [
    'parley_http_requests_total{method="OTHER",route="none",status="404"} 3',
  ]);
});

test('two instances in one process do not count into each other', async () => {
  const first = new Metrics();
  const second = new Metrics();
  first.utteranceEnded('failed');
  assert.deepEqual(await linesOf(second, 'parley_utterances_total{'), []);
});

test("node's own figures are there when they are asked for", async () => {
  const text = await new Metrics({ node: true }).exposition();
  assert.match(text, /^process_cpu_user_seconds_total /m);
  assert.match(text, /^nodejs_eventloop_lag_seconds /m);
});

const WORK: EngineWorkFigures = {
  memoryUsedBytes: 2 ** 31,
  memoryTotalBytes: 2 ** 37,
  streams: 12,
  busySeconds: 34.5,
  busyShare: 0.25,
  eager: 3,
  captures: 20,
  launches: 4000,
  listBytes: 5_000_000,
};

test('what the engine is at is read at the moment of the scrape', async () => {
  const now = { loaded: false, work: { ...WORK, memoryUsedBytes: 0 } };
  const metrics = new Metrics({ modelLoaded: () => now.loaded, engineWork: () => now.work });
  assert.deepEqual(await linesOf(metrics, 'tts_model_loaded'), ['tts_model_loaded 0']);
  assert.deepEqual(await linesOf(metrics, 'tts_gpu_allocated_bytes'), ['tts_gpu_allocated_bytes 0']);
  Object.assign(now, { loaded: true, work: WORK });
  assert.deepEqual(await linesOf(metrics, 'tts_model_loaded'), ['tts_model_loaded 1']);
  assert.deepEqual(await linesOf(metrics, 'tts_gpu_allocated_bytes'), ['tts_gpu_allocated_bytes 2147483648']);
  assert.deepEqual(await linesOf(metrics, 'parley_gpu_'), [
    'parley_gpu_memory_used_bytes 2147483648',
    'parley_gpu_memory_total_bytes 137438953472',
    'parley_gpu_lists_bytes 5000000',
    'parley_gpu_lists_total{way="eager"} 3',
    'parley_gpu_lists_total{way="captured"} 20',
    'parley_gpu_lists_total{way="launched"} 4000',
  ]);
  assert.deepEqual(await linesOf(metrics, 'parley_engine_'), [
    'parley_engine_streams 12',
    'parley_engine_busy_ratio 0.25',
    'parley_engine_busy_seconds_total 34.5',
  ]);
  const text = await metrics.exposition();
  assert.match(text, /^# TYPE parley_engine_busy_seconds_total counter$/m);
  assert.match(text, /^# TYPE parley_gpu_lists_total counter$/m);
  assert.match(text, /^# TYPE parley_gpu_memory_used_bytes gauge$/m);
});

test('a figure that cannot be read leaves the others readable', async () => {
  const broken = () => {
    throw new Error('the engine is gone');
  };
  const metrics = new Metrics({ modelLoaded: broken, queueDepth: () => 3 });
  assert.deepEqual(await linesOf(metrics, 'tts_model_loaded'), ['tts_model_loaded Nan']);
  assert.deepEqual(await linesOf(metrics, 'tts_queue_depth'), ['tts_queue_depth 3']);
});

test('the queue is measured by class, each of which has its own limit', async () => {
  const metrics = new Metrics({ queueDepthByClass: () => ({ call: 1, interactive: 0, http: 7 }) });
  assert.deepEqual(await linesOf(metrics, 'parley_queue_depth'), [
    'parley_queue_depth{class="call"} 1',
    'parley_queue_depth{class="interactive"} 0',
    'parley_queue_depth{class="http"} 7',
  ]);
});
