import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Metrics } from '../../src/observe/metrics.js';
import type { SipFigures } from '../../src/observe/sip-metrics.js';
import { callRecord } from './call-records.js';

async function linesOf(metrics: Metrics, name: string): Promise<string[]> {
  const text = await metrics.exposition();
  return text.split('\n').filter((line) => line.startsWith(name));
}

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
  const figures: SipFigures = {
    dropped: () => ({ scanner: 4, flood: 1 }),
    retransmissions: () => 7,
    registrations: () => [{ trunk: 'main', state: 'registered' }],
    latchDepartures: () => 3,
    rtpPorts: () => ({ free: 90, used: 8, resting: 2 }),
    receivedPackets: () => 1000,
    lostPackets: () => lost,
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
    sip: { rtpPorts: broken, registrations: broken, lostPackets: broken, retransmissions: () => 7 },
  });
  assert.deepEqual(await linesOf(metrics, 'parley_rtp_ports'), []);
  assert.deepEqual(await linesOf(metrics, 'parley_sip_registrations'), []);
  assert.deepEqual(await linesOf(metrics, 'parley_sip_retransmissions'), [
    'parley_sip_retransmissions_total 7',
  ]);
});
