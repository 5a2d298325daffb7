import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Engines } from '../../src/engines/routing.js';
import { Metrics } from '../../src/observe/metrics.js';
import type { PlaneFigures, ScrapedFigures } from '../../src/observe/scraped-metrics.js';
import { callRecord } from './call-records.js';

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
  heardSamples: 16_000,
  concealedSamples: 320,
  jitterBufferMs: 45,
};

async function linesOf(metrics: Metrics, name: string): Promise<string[]> {
  const text = await metrics.exposition();
  return text.split('\n').filter((line) => line.startsWith(name));
}

test('calls are a gauge by protocol, under its old label door too, and are counted by reason when they end', async () => {
  const metrics = new Metrics();
  metrics.callOpened('webrtc');
  metrics.callOpened('webrtc');
  metrics.callClosed('webrtc', 'hangup');
  assert.deepEqual(await linesOf(metrics, 'parley_calls'), [
    'parley_calls{protocol="webrtc",door="webrtc"} 1',
    'parley_calls_total{protocol="webrtc",door="webrtc",end="hangup"} 1',
  ]);
});

const RECEPTION = { reports: 1, recentLoss: 0 };

test('what far ends reported of ended calls falls into the buckets of their protocol', async () => {
  const metrics = new Metrics();
  for (const rttMs of [40, null]) {
    metrics.callOpened('webrtc');
    metrics.callClosed('webrtc', 'hangup', { ...RECEPTION, loss: 0.04, jitterMs: 12, rttMs, mos: 3.9 });
  }
  metrics.callOpened('sip');
  metrics.callClosed('sip', 'peer hung up');
  const lines = (await metrics.exposition()).split('\n');
  for (const line of [
    'parley_call_remote_loss_ratio_bucket{le="0.03",protocol="webrtc",door="webrtc"} 0',
    'parley_call_remote_loss_ratio_bucket{le="0.05",protocol="webrtc",door="webrtc"} 2',
    'parley_call_remote_jitter_seconds_sum{protocol="webrtc",door="webrtc"} 0.024',
    'parley_call_rtt_seconds_bucket{le="0.05",protocol="webrtc",door="webrtc"} 1',
    'parley_call_rtt_seconds_count{protocol="webrtc",door="webrtc"} 1',
    'parley_call_remote_mos_bucket{le="3.75",protocol="webrtc",door="webrtc"} 0',
    'parley_call_remote_mos_bucket{le="4",protocol="webrtc",door="webrtc"} 2',
  ]) {
    assert.ok(lines.includes(line), line);
  }
  assert.ok(!lines.some((line) => line.startsWith('parley_call_remote') && line.includes('sip')));
});

test('the load of the encoders and their complexity are read at each scrape', async () => {
  const encoders = { load: 0.25, complexity: 5 };
  const metrics = new Metrics({ encoders: () => encoders });
  assert.deepEqual(await linesOf(metrics, 'parley_encoder'), [
    'parley_encoder_load_ratio 0.25',
    'parley_encoder_complexity 5',
  ]);
  Object.assign(encoders, { load: 0.9, complexity: 3 });
  assert.deepEqual(await linesOf(metrics, 'parley_encoder'), [
    'parley_encoder_load_ratio 0.9',
    'parley_encoder_complexity 3',
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
  assert.ok(
    seconds.includes(
      'parley_time_to_first_audio_seconds_bucket{le="0.01",protocol="webrtc",door="webrtc"} 0',
    ),
  );
  assert.ok(
    seconds.includes(
      'parley_time_to_first_audio_seconds_bucket{le="0.015",protocol="webrtc",door="webrtc"} 1',
    ),
  );
  assert.ok(
    seconds.includes('parley_time_to_first_audio_seconds_sum{protocol="webrtc",door="webrtc"} 0.012'),
  );
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

const WORK: Engines['work'] = {
  memoryUsedBytes: 2 ** 31,
  memoryTotalBytes: 2 ** 37,
  streams: 12,
  busySeconds: 34.5,
  busyShare: 0.25,
  eager: 3,
  captures: 20,
  launches: 4000,
  listBytes: 5_000_000,
  chunksCutShort: 2,
  chunksRepeated: 5,
  chunksEndless: 1,
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
    'parley_engine_chunks_total{fate="cut_short"} 2',
    'parley_engine_chunks_total{fate="repeated"} 5',
    'parley_engine_chunks_total{fate="endless"} 1',
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

test('methods and statuses are counted under their names, and invented ones under few', async () => {
  const metrics = new Metrics();
  metrics.sip.request('INVITE', 'in');
  metrics.sip.request('INVITE', 'in');
  for (const method of ['invite', 'X1', 'X2']) metrics.sip.request(method, 'in');
  assert.deepEqual(await linesOf(metrics, 'parley_sip_requests_total{'), [
    'parley_sip_requests_total{method="INVITE",direction="in"} 2',
    'parley_sip_requests_total{method="OTHER",direction="in"} 3',
  ]);
  for (const status of [486, 431, 432, 699, 999, 1.5]) metrics.sip.response('INVITE', status, 'out');
  assert.deepEqual(await linesOf(metrics, 'parley_sip_responses_total{'), [
    'parley_sip_responses_total{method="INVITE",status="486",direction="out"} 1',
    'parley_sip_responses_total{method="INVITE",status="4xx",direction="out"} 2',
    'parley_sip_responses_total{method="INVITE",status="6xx",direction="out"} 1',
    'parley_sip_responses_total{method="INVITE",status="other",direction="out"} 2',
  ]);
});

test('a call that is over is counted by reason and cause, with its set-up time and how it sounded', async () => {
  const metrics = new Metrics();
  metrics.sip.callEnded(callRecord());
  metrics.sip.callEnded(callRecord({ direction: 'inbound', end: { reason: 'rejected', cause: 4000 } }));
  const { setupMs: _setup, received: _received, ...bare } = callRecord({ end: { reason: 'no answer' } });
  metrics.sip.callEnded(bare);
  assert.deepEqual(await linesOf(metrics, 'parley_sip_calls_total{'), [
    'parley_sip_calls_total{direction="outbound",end="peer hung up",cause="16"} 1',
    'parley_sip_calls_total{direction="inbound",end="rejected",cause="other"} 1',
    'parley_sip_calls_total{direction="outbound",end="no answer",cause="none"} 1',
  ]);
  assert.deepEqual(await linesOf(metrics, 'parley_sip_setup_seconds_sum'), [
    'parley_sip_setup_seconds_sum 4.8',
  ]);
  const mos = await linesOf(metrics, 'parley_call_mos');
  assert.ok(
    mos.includes('parley_call_mos_bucket{le="4.1"} 0') && mos.includes('parley_call_mos_bucket{le="4.2"} 2'),
  );
  assert.ok(mos.includes('parley_call_mos_count 2'));
});

test('what other objects hold is read at the moment of the scrape', async () => {
  let lost = 0;
  const figures: ScrapedFigures['sip'] = {
    dropped: () => ({ scanner: 4, flood: 1 }),
    retransmissions: () => 7,
    registrations: () => [{ trunk: 'main', state: 'registered' }],
    latchDepartures: () => 3,
    rtpPorts: () => ({ free: 90, used: 8, resting: 2 }),
    packets: () => ({ received: 1000, lost }),
    webhooks: () => ({ taken: 3, refused: 0 }),
  };
  const metrics = new Metrics({ sip: figures });
  lost = 12;
  const lines = (await metrics.exposition()).split('\n');
  for (const line of [
    'parley_sip_dropped_total{cause="scanner"} 4',
    'parley_sip_dropped_total{cause="flood"} 1',
    'parley_sip_retransmissions_total 7',
    'parley_sip_registrations{trunk="main",state="registering"} 0',
    'parley_sip_registrations{trunk="main",state="registered"} 1',
    'parley_rtp_latch_departures_total 3',
    'parley_rtp_ports{state="free"} 90',
    'parley_rtp_ports{state="resting"} 2',
    'parley_rtp_received_packets_total 1000',
    'parley_rtp_lost_packets_total 12',
    'parley_webhooks_total{outcome="taken"} 3',
  ]) {
    assert.ok(lines.includes(line), line);
  }
});

test('a part that fails takes its own figures out of a scrape, and no others', async () => {
  const broken = () => {
    throw new Error('closed');
  };
  const metrics = new Metrics({
    sip: { rtpPorts: broken, registrations: broken, packets: broken, retransmissions: () => 7 },
  });
  assert.deepEqual(await linesOf(metrics, 'parley_rtp_ports'), []);
  assert.deepEqual(await linesOf(metrics, 'parley_sip_registrations'), []);
  assert.deepEqual(await linesOf(metrics, 'parley_sip_retransmissions'), [
    'parley_sip_retransmissions_total 7',
  ]);
});

test('what is heard of callers has counters, and a delay', async () => {
  const hearing = () => ({ calls: 2, load: 0.25, windows: 62, gated: 31 });
  const metrics = new Metrics({ plane: () => PLANE, hearing });
  metrics.turnEnded();
  metrics.bargeIn(true);
  metrics.bargeIn(false);
  for (const line of [
    'parley_heard_samples_total 16000',
    'parley_concealed_samples_total 320',
    'parley_jitter_buffer_delay_seconds 0.045',
    'parley_heard_calls 2',
    'parley_hearing_load_ratio 0.25',
    'parley_heard_windows_total 62',
    'parley_quiet_windows_total 31',
    'parley_turns_total 1',
    'parley_barge_ins_total{speech="true"} 1',
    'parley_barge_ins_total{speech="false"} 1',
  ]) {
    assert.ok((await linesOf(metrics, line.split(/[ {]/)[0] ?? '')).includes(line), line);
  }
});

test('a scrape reads the figures of the media plane once, and the next one reads them again', async () => {
  let readings = 0;
  const plane = () => ({ ...PLANE, streams: ++readings, packets: readings });
  const metrics = new Metrics({ plane });
  const sharedBy = ['parley_streams ', 'parley_packets_total '];
  for (const reading of ['1', '2']) {
    const text = await metrics.exposition();
    const lines = text.split('\n').filter((line) => sharedBy.some((name) => line.startsWith(name)));
    assert.deepEqual(
      lines.map((line) => line.split(' ').at(-1)),
      [reading, reading],
    );
  }
  assert.equal(readings, 2);
});
